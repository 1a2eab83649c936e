// SPDX-License-Identifier: Apache-2.0
// Random tensors, expected results, comparison; see oracle.h.
#include "runner/oracle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/random.h"
#include "weft/data.h"

static size_t command_bytes(const compile_result *program, int t) {
  return program->commands->tensors[t].elements * program->commands->tensors[t].element_bytes;
}

// Constants are the compiler's own: the source need not have them.
static bool is_constant(const compile_result *program, int t) { return program->commands->tensors[t].contents != NULL; }

// What the source knows of a tensor. Commands may read some bytes behind it, how many depends on the mapping.
static size_t tensor_bytes(const compile_result *program, int t) {
  if (program->block == NULL || is_constant(program, t)) return command_bytes(program, t);
  const block_tensor *b = &program->block->tensors[t];
  return (size_t)b->elements * block_type_bytes(b->type);
}

// An int8 over its range; an int32 of the size of a sum of some hundred products; a float in [-2, 2).
static void fill(uint8_t *bytes, size_t count, const command_tensor *tensor, uint64_t *seed) {
  if (tensor->element_bytes != 4) {
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)wf_random_next(seed);
    return;
  }
  for (size_t i = 0; i + 4 <= count; i += 4) {
    const int32_t value = (int32_t)(uint32_t)wf_random_next(seed) >> 14;
    const float number = (float)value / (1 << 16);
    memcpy(bytes + i, tensor->is_float ? (const void *)&number : (const void *)&value, 4);
  }
}

// Memory for the tensors, of as many bytes as `size` says.
static bool allocate(run_oracle *o, const compile_result *program, size_t (*size)(const compile_result *program, int t),
                     wf_diag *diag) {
  *o = (run_oracle){.tensors = program->commands->tensor_count};
  if (o->tensors > RUN_ORACLE_TENSORS) {
    wf_error(diag, wf_in_file(NULL), "a program of %d tensors is not run, at most %d", o->tensors, RUN_ORACLE_TENSORS);
    o->tensors = 0;
    return false;
  }
  for (int t = 0; t < o->tensors; t++) {
    o->bytes[t] = size(program, t);
    o->before[t] = wf_calloc(o->bytes[t] + 1, 1);
    o->after[t] = wf_calloc(o->bytes[t] + 1, 1);
  }
  return true;
}

static void fill_constant(run_oracle *o, const compile_result *program, int t) {
  memcpy(o->before[t], program->commands->tensors[t].contents, o->bytes[t]);
}

bool run_oracle_fill(run_oracle *o, const compile_result *program, uint64_t seed, wf_diag *diag) {
  if (!allocate(o, program, tensor_bytes, diag)) return false;
  for (int t = 0; t < o->tensors; t++) {
    uint64_t own = seed + (uint64_t)t;
    if (is_constant(program, t))
      fill_constant(o, program, t);
    else
      fill(o->before[t], o->bytes[t], &program->commands->tensors[t], &own);
    memcpy(o->after[t], o->before[t], o->bytes[t]);
  }
  return true;
}

static size_t all_bytes(const compile_result *program, int t) {
  return wf_max(tensor_bytes(program, t), command_bytes(program, t));
}

bool run_oracle_fill_as_elf(run_oracle *o, const compile_result *program, uint64_t seed, wf_diag *diag) {
  if (!allocate(o, program, all_bytes, diag)) return false;
  for (int t = 0; t < o->tensors; t++) {
    const command_tensor *tensor = &program->commands->tensors[t];
    if (is_constant(program, t))
      fill_constant(o, program, t);
    else if (tensor->read)
      weft_fill(o->before[t], command_bytes(program, t), tensor->element_bytes, seed + (uint64_t)t);
    memcpy(o->after[t], o->before[t], o->bytes[t]);
  }
  return true;
}

static bool is_working(const compile_result *program, int t) {
  return t < program->block->tensor_count && program->block->tensors[t].working;
}

// Working memory, of which the source knows nothing, as the block program leaves it.
static bool expect_working(run_oracle *o, const compile_result *program, wf_diag *diag) {
  void *tensors[RUN_ORACLE_TENSORS] = {0};
  bool any = false;
  for (int t = 0; t < program->block->tensor_count; t++) any |= is_working(program, t);
  if (!any) return true;
  for (int t = 0; t < o->tensors; t++) {
    tensors[t] = wf_calloc(o->bytes[t] + 1, 1);
    memcpy(tensors[t], o->before[t], o->bytes[t]);
  }
  const bool good = block_run(program->block, tensors, diag);
  for (int t = 0; t < o->tensors; t++) {
    if (is_working(program, t)) memcpy(o->after[t], tensors[t], o->bytes[t]);
    wf_free(tensors[t]);
  }
  return good;
}

static bool expect_of_kernel(run_oracle *o, const compile_result *program, wf_diag *diag) {
  lang_tensor tensors[RUN_ORACLE_TENSORS];
  for (int t = 0; t < program->block->tensor_count; t++)
    tensors[t] = (lang_tensor){.data = o->after[t], .elements = program->block->tensors[t].elements};
  return lang_run(program->instance, tensors, diag) && expect_working(o, program, diag);
}

bool run_oracle_expect(run_oracle *o, const compile_result *program, wf_diag *diag) {
  if (program->instance != NULL) return expect_of_kernel(o, program, diag);
  void *tensors[RUN_ORACLE_TENSORS];
  for (int t = 0; t < o->tensors; t++) tensors[t] = o->after[t];
  return program->block != NULL && block_run(program->block, tensors, diag);
}

static void compare(const run_oracle *o, int t, const uint8_t *found, size_t bytes, run_oracle_verdict *v) {
  for (size_t i = 0; i < bytes; i++) {
    const uint8_t expected = i < o->bytes[t] ? o->after[t][i] : 0;
    if (found[i] == expected || v->wrong++ != 0) continue;
    v->tensor = t;
    v->at = i;
    v->expected = expected;
    v->found = found[i];
  }
}

// A tensor as it was before, with zeros behind it where commands may read.
static uint8_t *copy_before(const run_oracle *o, int t, size_t bytes) {
  uint8_t *copy = wf_calloc(bytes + 1, 1);
  memcpy(copy, o->before[t], o->bytes[t]);
  return copy;
}

bool run_oracle_judge(const run_oracle *o, const compile_result *program, const run_config *config,
                      run_oracle_verdict *verdict, wf_diag *diag) {
  *verdict = (run_oracle_verdict){.digest = WF_HASH_START};
  void *tensors[RUN_ORACLE_TENSORS] = {0};
  size_t bytes[RUN_ORACLE_TENSORS];
  const int count = o->tensors < program->commands->tensor_count ? o->tensors : program->commands->tensor_count;
  for (int t = 0; t < count; t++) {
    bytes[t] = wf_max(o->bytes[t], command_bytes(program, t));
    tensors[t] = copy_before(o, t, bytes[t]);
  }
  const bool good = run_commands_on(program->commands, config, tensors, &verdict->run, diag);
  for (int t = 0; t < count; t++) {
    if (good) compare(o, t, tensors[t], bytes[t], verdict);
    if (good && program->commands->tensors[t].written)
      verdict->digest = wf_hash(verdict->digest, tensors[t], o->bytes[t]);
    wf_free(tensors[t]);
  }
  return good;
}

void run_oracle_release(run_oracle *o) {
  for (int t = 0; t < o->tensors; t++) {
    wf_free(o->before[t]);
    wf_free(o->after[t]);
  }
  *o = (run_oracle){0};
}
