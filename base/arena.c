// SPDX-License-Identifier: Apache-2.0
// Blocks in a list, each twice the last up to a limit; large requests get a block of their own. See arena.h.
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { FIRST_BYTES = 4096, LARGEST_BYTES = 8 << 20, ALIGNMENT = 16 };

typedef struct block {
  struct block *next;
  size_t used, size;
  _Alignas(ALIGNMENT) unsigned char bytes[];
} block;

struct wf_arena {
  block *blocks;  // the first one has room
  size_t next_bytes;
};

wf_arena *wf_arena_create(void) {
  wf_arena *arena = WF_NEW(wf_arena);
  arena->next_bytes = FIRST_BYTES;
  return arena;
}

void wf_arena_destroy(wf_arena *arena) {
  if (arena == NULL) return;
  for (block *b = arena->blocks, *next; b != NULL; b = next) {
    next = b->next;
    wf_free(b);
  }
  wf_free(arena);
}

static void add_block(wf_arena *arena, size_t bytes) {
  size_t size = bytes > arena->next_bytes ? bytes : arena->next_bytes;
  block *b = wf_calloc(1, sizeof(block) + size);
  b->size = size;
  b->next = arena->blocks;
  arena->blocks = b;
  if (arena->next_bytes < LARGEST_BYTES) arena->next_bytes *= 2;
}

void *wf_arena_alloc(wf_arena *arena, size_t count, size_t size) {
  size_t bytes;
  // A product that does not fit is more than there can be: the checked allocator says so.
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) return wf_alloc(SIZE_MAX, SIZE_MAX);
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (arena->blocks == NULL || arena->blocks->size - arena->blocks->used < bytes) add_block(arena, bytes);
  void *memory = arena->blocks->bytes + arena->blocks->used;
  arena->blocks->used += bytes;
  return memory;
}

char *wf_arena_text(wf_arena *arena, const char *text, size_t length) {
  char *copy = wf_arena_alloc(arena, length + 1, 1);
  memcpy(copy, text, length);
  return copy;
}

char *wf_arena_format(wf_arena *arena, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = wf_arena_alloc(arena, (size_t)length + 1, 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

void *wf_arena_grow(wf_arena *arena, void *array, size_t count, size_t *room, size_t size) {
  if (count < *room) return array;
  *room = *room == 0 ? 8 : *room * 2;
  void *larger = wf_arena_alloc(arena, *room, size);
  if (count != 0) memcpy(larger, array, count * size);
  return larger;
}
