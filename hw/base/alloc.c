// The checked allocator: see alloc.h.
#include "hw/base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void out_of_memory(size_t count, size_t size) {
  fprintf(stderr, "weft: out of memory (%zu x %zu bytes)\n", count, size);
  exit(WF_EXIT_NO_MEMORY);
}

static void *checked(void *memory, size_t count, size_t size) {
  if (memory == NULL && count != 0 && size != 0) out_of_memory(count, size);
  return memory;
}

static size_t product(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) out_of_memory(count, size);
  return count * size;
}

void *wf_alloc(size_t count, size_t size) { return checked(malloc(product(count, size)), count, size); }

void *wf_calloc(size_t count, size_t size) { return checked(calloc(count, size), count, size); }

void *wf_realloc(void *old, size_t count, size_t size) {
  return checked(realloc(old, product(count, size)), count, size);
}

char *wf_strdup(const char *text) {
  size_t length = strlen(text) + 1;
  return memcpy(wf_alloc(length, 1), text, length);
}

char *wf_format(const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length < 0) out_of_memory(1, 1);
  char *text = wf_alloc((size_t)length + 1, 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

void wf_free(void *memory) { free(memory); }
