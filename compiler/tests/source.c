// SPDX-License-Identifier: Apache-2.0
// Kernels under test; see source.h.
#include "compiler/tests/source.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "compiler/cost/cost.h"
#include "compiler/schedule/schedule.h"

static bool read_text(test_source *s) {
  FILE *file = fopen(s->path, "rb");
  if (file == NULL) return false;
  enum { MOST = 1 << 20 };
  s->text = wf_alloc(MOST, 1);
  s->length = fread(s->text, 1, MOST, file);
  fclose(file);
  return s->length < MOST;
}

static compile_request request_of(const test_source *s, const map_mapping *mapping) {
  return (compile_request){.file = s->path,
                           .text = s->text,
                           .length = s->length,
                           .array = s->array,
                           .kernel = s->kernel,
                           .arguments = s->args,
                           .mapping = mapping,
                           .known_tensor = s->known_tensor,
                           .known = s->known};
}

static bool compile_with(const test_source *s, const map_mapping *mapping, compile_result *result, wf_diag *diag) {
  const compile_request request = request_of(s, mapping);
  return compile(&request, result, diag);
}

// The heuristic mapping, weights as they lie in their tensor.
static bool compile_unpacked(const test_source *s, compile_result *result, wf_diag *diag) {
  const compile_request request = request_of(s, NULL);
  const sched_options options = {.array = s->array, .costs = &cost_fitted};
  block_program *placed = compile_placed(&request, result, diag);
  if (placed == NULL) return false;
  result->commands = sched_source_commands(&(sched_source){.program = placed}, &options, diag);
  block_destroy(placed);
  return result->commands != NULL;
}

// The arguments with the array's DIM for that word.
static bool set_arguments(test_source *s, const char *arguments, wf_diag *diag) {
  const char *text = "";
  for (const char *dim = strstr(arguments, "DIM"); dim != NULL; dim = strstr(arguments, "DIM")) {
    text = wf_arena_format(s->arena, "%s%.*s%u", text, (int)(dim - arguments), arguments, hw_derive(s->array).dim);
    arguments = dim + strlen("DIM");
  }
  s->arguments = wf_arena_format(s->arena, "%s%s", text, arguments);
  return lang_read_args(s->arguments, s->arena, &s->args, diag);
}

static void clear_block(uint8_t *bytes, size_t count, int64_t columns, int64_t row, int64_t column, int64_t dim) {
  for (int64_t r = row; r < row + dim; r++)
    for (int64_t c = column; c < column + dim && c < columns; c++)
      if ((size_t)(r * columns + c) < count) bytes[r * columns + c] = 0;
}

static void prune(test_source *s, const compile_result *result, const test_zeros *zeros) {
  const int64_t dim = hw_derive(s->array).dim;
  uint64_t seed = zeros->seed;
  for (int t = 0; t < s->expected.tensors; t++) {
    uint8_t *bytes = s->expected.before[t];
    const size_t count = s->expected.bytes[t];
    if (strcmp(result->commands->tensors[t].name, zeros->tensor) != 0) continue;
    for (int64_t row = 0; (size_t)(row * zeros->columns) < count; row += dim)
      for (int64_t column = 0; column < zeros->columns; column += dim)
        if (wf_random_next(&seed) % 100 < zeros->percent) clear_block(bytes, count, zeros->columns, row, column, dim);
    memcpy(s->expected.after[t], bytes, count);
    s->known = (const int8_t *)bytes;
    s->known_tensor = zeros->tensor;
  }
}

static bool open_with(test_source *s, const char *file, const char *kernel, const char *arguments,
                      const hw_array *array, const test_zeros *zeros, wf_diag *diag) {
  *s = (test_source){.kernel = kernel, .array = array, .arena = wf_arena_create()};
  if (!set_arguments(s, arguments, diag)) return false;
  snprintf(s->path, sizeof s->path, "%s/%s", WEFT_KERNELS, file);
  if (!read_text(s)) {
    wf_error(diag, wf_in_file(s->path), "cannot read the file");
    return false;
  }
  compile_result result;
  bool good = compile_with(s, NULL, &result, diag) && run_oracle_fill(&s->expected, &result, 1, diag);
  if (good && zeros != NULL) prune(s, &result, zeros);
  good = good && run_oracle_expect(&s->expected, &result, diag);
  s->layer = result.layer;
  s->mapped = result.mapped;
  compile_release(&result);
  return good;
}

bool test_source_open(test_source *s, const char *file, const char *kernel, const char *arguments,
                      const hw_array *array, wf_diag *diag) {
  return open_with(s, file, kernel, arguments, array, NULL, diag);
}

bool test_source_open_pruned(test_source *s, const char *file, const char *arguments, const hw_array *array,
                             const test_zeros *zeros, wf_diag *diag) {
  return open_with(s, file, NULL, arguments, array, zeros, diag);
}

void test_source_close(test_source *s) {
  run_oracle_release(&s->expected);
  wf_free(s->text);
  if (s->arena != NULL) wf_arena_destroy(s->arena);
  *s = (test_source){0};
}

static test_outcome judge(const test_source *s, bool compiled, const compile_result *result,
                          const sim_engine_ops *engine, run_oracle_verdict *verdict, wf_diag *diag) {
  const run_config config = {.engine = engine};
  if (!compiled) return TEST_REFUSED;
  return run_oracle_judge(&s->expected, result, &config, verdict, diag) && verdict->wrong == 0 ? TEST_GOOD : TEST_WRONG;
}

test_outcome test_source_run(const test_source *s, const map_mapping *mapping, const sim_engine_ops *engine,
                             run_oracle_verdict *verdict, wf_diag *diag) {
  compile_result result;
  const bool compiled = compile_with(s, mapping, &result, diag);
  const test_outcome outcome = judge(s, compiled, &result, engine, verdict, diag);
  compile_release(&result);
  return outcome;
}

test_outcome test_source_run_unpacked(const test_source *s, const sim_engine_ops *engine, run_oracle_verdict *verdict,
                                      wf_diag *diag) {
  compile_result result;
  const bool compiled = compile_unpacked(s, &result, diag);
  const test_outcome outcome = judge(s, compiled, &result, engine, verdict, diag);
  compile_release(&result);
  return outcome;
}
