// SPDX-License-Identifier: Apache-2.0
// See drawn.h.
#include "compiler/tests/drawn.h"

#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "sim/run.h"

drawn_options drawn_options_of(int argc, char **argv, int programs, int rtl_programs) {
  if (argc < 2) return (drawn_options){.programs = programs};
  if (strcmp(argv[1], "rtl") == 0) return (drawn_options){.programs = rtl_programs, .rtl = true};
  return (drawn_options){.programs = atoi(argv[1])};
}

bool drawn_array(const drawn_options *options, int number, hw_array *array) {
  static const char *const names[] = {"dim4", "dim8", "transformer-16", "dim32"};
  wf_diag diag = wf_diag_to(stderr);
  return hw_array_load(array, options->rtl ? "transformer-16" : names[number % 4], &diag);
}

static bool judge(const compile_result *compiled, const run_oracle *oracle, const char *engine) {
  wf_diag diag = wf_diag_to(stderr);
  const run_config config = {.engine = sim_engine_find(engine)};
  run_oracle_verdict verdict;
  if (run_oracle_judge(oracle, compiled, &config, &verdict, &diag) && verdict.wrong == 0) return true;
  print_error("engine %s\n", engine);
  return false;
}

static bool holds(const drawn_kernel *k, const compile_result *compiled, const run_oracle *oracle) {
  if (k->holds == NULL || k->holds(k->program, compiled, oracle)) return true;
  print_error("what the interpreter says is not what the kernel means\n");
  return false;
}

bool drawn_run(const drawn_kernel *k) {
  wf_diag diag = wf_diag_to(stderr);
  const compile_request request = {
      .file = k->file, .text = k->text, .length = strlen(k->text), .array = k->array, .arguments = k->arguments};
  compile_result compiled;
  run_oracle oracle = {0};
  const bool good = compile(&request, &compiled, &diag) && run_oracle_fill(&oracle, &compiled, k->seed, &diag) &&
                    run_oracle_expect(&oracle, &compiled, &diag) && holds(k, &compiled, &oracle) &&
                    judge(&compiled, &oracle, "ref") && judge(&compiled, &oracle, "cycle") &&
                    (!k->rtl || judge(&compiled, &oracle, "rtl"));
  if (!good) print_error("array %s:\n%s", k->array->name, k->text);
  run_oracle_release(&oracle);
  compile_release(&compiled);
  return good;
}
