// SPDX-License-Identifier: Apache-2.0
// Kernels under test; see source.h.
#include "compiler/tests/source.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static bool read_text(test_source *s) {
  FILE *file = fopen(s->path, "rb");
  if (file == NULL) return false;
  enum { MOST = 1 << 20 };
  s->text = wf_alloc(MOST, 1);
  s->length = fread(s->text, 1, MOST, file);
  fclose(file);
  return s->length < MOST;
}

static bool compile_with(const test_source *s, const map_mapping *mapping, compile_result *result, wf_diag *diag) {
  const compile_request request = {.file = s->path,
                                   .text = s->text,
                                   .length = s->length,
                                   .array = s->array,
                                   .kernel = s->kernel,
                                   .arguments = s->args,
                                   .mapping = mapping};
  return compile(&request, result, diag);
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

bool test_source_open(test_source *s, const char *file, const char *kernel, const char *arguments,
                      const hw_array *array, wf_diag *diag) {
  *s = (test_source){.kernel = kernel, .array = array, .arena = wf_arena_create()};
  if (!set_arguments(s, arguments, diag)) return false;
  snprintf(s->path, sizeof s->path, "%s/%s", WEFT_KERNELS, file);
  if (!read_text(s)) {
    wf_error(diag, wf_in_file(s->path), "cannot read the file");
    return false;
  }
  compile_result result;
  const bool good = compile_with(s, NULL, &result, diag) && run_oracle_fill(&s->expected, &result, 1, diag) &&
                    run_oracle_expect(&s->expected, &result, diag);
  s->layer = result.layer;
  s->mapped = result.mapped;
  compile_release(&result);
  return good;
}

void test_source_close(test_source *s) {
  run_oracle_release(&s->expected);
  wf_free(s->text);
  if (s->arena != NULL) wf_arena_destroy(s->arena);
  *s = (test_source){0};
}

test_outcome test_source_run(const test_source *s, const map_mapping *mapping, const sim_engine_ops *engine,
                             run_oracle_verdict *verdict, wf_diag *diag) {
  compile_result result;
  test_outcome outcome = TEST_REFUSED;
  if (compile_with(s, mapping, &result, diag)) {
    const run_config config = {.engine = engine};
    const bool ran = run_oracle_judge(&s->expected, &result, &config, verdict, diag);
    outcome = ran && verdict->wrong == 0 ? TEST_GOOD : TEST_WRONG;
  }
  compile_release(&result);
  return outcome;
}
