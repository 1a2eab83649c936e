// SPDX-License-Identifier: Apache-2.0
// What the tests of whole kernels share: instances from text, tensors with random contents.
#ifndef COMPILER_LANG_TESTS_KERNELS_H
#define COMPILER_LANG_TESTS_KERNELS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lang/lang.h"

enum { TENSORS_MAX = 8 };

typedef struct kernel_case {
  lang_file *file;
  lang_instance *instance;
  block_program *program;
  lang_tensor tensors[TENSORS_MAX];  // one per pointer parameter, of the sizes that the program needs
  int count;
} kernel_case;

static inline uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

// int8 over its whole range; int32 small enough that sums with products do not always saturate.
static inline void fill_random(const block_tensor *tensor, void *data, uint32_t *state) {
  for (int64_t i = 0; i < tensor->elements; i++) {
    if (tensor->type == BLOCK_I8)
      ((int8_t *)data)[i] = (int8_t)next_random(state);
    else
      ((int32_t *)data)[i] = (int32_t)(next_random(state) % 20001) - 10000;
  }
}

static inline size_t tensor_bytes(const kernel_case *c, int t) {
  return (size_t)c->tensors[t].elements * block_type_bytes(c->program->tensors[t].type);
}

// Arguments as text.
static inline bool set_text(lang_instance *instance, const char *text, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  lang_args args;
  const bool good = lang_read_args(text, arena, &args, diag) && lang_set_args(instance, &args, diag);
  wf_arena_destroy(arena);
  return good;
}

// Ends the process with the messages if the kernel does not compile.
// `programs` 0: the grid of the file.
static inline kernel_case open_instance(lang_file *file, const char *kernel, const char *args, int programs,
                                        uint32_t seed) {
  wf_diag diag = wf_diag_to(stderr);
  kernel_case c = {.file = file};
  const lang_kernel *found = file == NULL ? NULL : lang_find_kernel(file, kernel, &diag);
  if (found != NULL) c.instance = lang_instantiate(file, found);
  if (c.instance != NULL && programs > 0) lang_set_grid(c.instance, programs, 1, 1);
  if (c.instance != NULL && set_text(c.instance, args, &diag) && lang_ready(c.instance, &diag))
    c.program = lang_lower(c.instance, &diag);
  if (c.program == NULL) {
    fprintf(stderr, "in: %s %s\n", kernel == NULL ? "" : kernel, args);
    abort();
  }
  for (; c.count < c.program->tensor_count; c.count++) {
    const block_tensor *tensor = &c.program->tensors[c.count];
    c.tensors[c.count].elements = tensor->elements;
    c.tensors[c.count].data = malloc((size_t)tensor->elements * 4 + 4);
    fill_random(tensor, c.tensors[c.count].data, &seed);
  }
  return c;
}

static inline kernel_case open_file(const char *path, const char *args, uint32_t seed) {
  wf_diag diag = wf_diag_to(stderr);
  return open_instance(lang_load(path, &diag), NULL, args, 0, seed);
}

static inline void close_kernel(kernel_case *c) {
  for (int t = 0; t < c->count; t++) free(c->tensors[t].data);
  block_destroy(c->program);
  lang_destroy(c->file);
}

// The tensors after block_run, to be freed; the case keeps its own.
static inline void **run_blocks(const kernel_case *c) {
  wf_diag diag = wf_diag_to(stderr);
  void **data = calloc(TENSORS_MAX, sizeof *data);
  for (int t = 0; t < c->count; t++) {
    data[t] = malloc((size_t)c->tensors[t].elements * 4 + 4);
    memcpy(data[t], c->tensors[t].data, tensor_bytes(c, t));
  }
  if (!block_run(c->program, data, &diag)) abort();
  return data;
}

// The same by the oracle.
static inline void **run_oracle(const kernel_case *c) {
  wf_diag diag = wf_diag_to(stderr);
  void **data = calloc(TENSORS_MAX, sizeof *data);
  lang_tensor tensors[TENSORS_MAX];
  for (int t = 0; t < c->count; t++) {
    data[t] = malloc((size_t)c->tensors[t].elements * 4 + 4);
    memcpy(data[t], c->tensors[t].data, tensor_bytes(c, t));
    tensors[t] = (lang_tensor){data[t], c->tensors[t].elements};
  }
  if (!lang_run(c->instance, tensors, &diag)) abort();
  return data;
}

static inline void free_tensors(const kernel_case *c, void **data) {
  for (int t = 0; t < c->count; t++) free(data[t]);
  free(data);
}

// The loops of a program that a statement stands in.
static inline int used_loops(const block_statement *list) {
  int count = 0;
  for (; list != NULL; list = list->next)
    if (list->kind == BLOCK_FOR) count += 1 + used_loops(list->loop.body);
  return count;
}

// Whether block_run and the oracle leave the same tensors, which they changed.
static inline bool agrees(const kernel_case *c) {
  void **blocks = run_blocks(c), **oracle = run_oracle(c);
  bool changed = false, same = true;
  for (int t = 0; t < c->count; t++) {
    if (!c->program->tensors[t].working) same &= memcmp(blocks[t], oracle[t], tensor_bytes(c, t)) == 0;
    changed |= memcmp(oracle[t], c->tensors[t].data, tensor_bytes(c, t)) != 0;
  }
  if (!same || !changed) block_print(c->program, stderr);
  free_tensors(c, blocks);
  free_tensors(c, oracle);
  return same && changed;
}

#endif
