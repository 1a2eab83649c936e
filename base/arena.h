// SPDX-License-Identifier: Apache-2.0
// Memory that is freed all at once: a stage of the compiler takes what it needs and its owner drops the whole.
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct wf_arena wf_arena;

wf_arena *wf_arena_create(void);
void wf_arena_destroy(wf_arena *arena);

// Zeroed memory, aligned for any object, valid until the arena is destroyed. Never NULL.
void *wf_arena_alloc(wf_arena *arena, size_t count, size_t size);
// A copy of `length` characters with a final zero.
char *wf_arena_text(wf_arena *arena, const char *text, size_t length);
char *wf_arena_format(wf_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Room for one more element in an array of the arena: returns `array` or a larger copy of it. `count` elements are in
// use, *room is the capacity. What the array had before stays in the arena, so growth doubles.
void *wf_arena_grow(wf_arena *arena, void *array, size_t count, size_t *room, size_t size);

#define WF_ARENA_NEW(arena, type) ((type *)wf_arena_alloc((arena), 1, sizeof(type)))
#define WF_ARENA_ARRAY(arena, count, type) ((type *)wf_arena_alloc((arena), (count), sizeof(type)))
#define WF_ARENA_PUSH(arena, array, count, room) \
  ((array) = wf_arena_grow((arena), (array), (count), (room), sizeof *(array)), &(array)[(count)++])

#endif
