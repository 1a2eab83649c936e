// SPDX-License-Identifier: Apache-2.0
// The checked allocator: see alloc.h.
#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

enum { HUGE_PAGE_BYTES = 2 << 20, LARGE_MIN = 4 << 20, LARGE_MAX = 64 << 20 };  // beyond, memory may be sparse

// Large pages where the machine has them: at first touch the kernel takes as long for a small one as a pass of the
// compiler for what lies in it.
static void *large(void *memory, size_t count, size_t size) {
  const size_t bytes = count * size;
  const uintptr_t start = ((uintptr_t)memory + HUGE_PAGE_BYTES - 1) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
  const uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
  if (bytes >= LARGE_MIN && bytes <= LARGE_MAX && end > start)
    madvise((void *)start, end - start, MADV_HUGEPAGE);  // may fail
  return memory;
}

void *wf_alloc(size_t count, size_t size) {
  return large(checked(malloc(product(count, size)), count, size), count, size);
}

void *wf_calloc(size_t count, size_t size) { return large(checked(calloc(count, size), count, size), count, size); }

void *wf_realloc(void *old, size_t count, size_t size) {
  return large(checked(realloc(old, product(count, size)), count, size), count, size);
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
