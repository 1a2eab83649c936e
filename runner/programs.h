// SPDX-License-Identifier: Apache-2.0
// Programs that were compiled a short time ago: arrays that the compiler cannot tell apart (compile_array_hash) get the
// same one, which then is not compiled again.
#ifndef RUNNER_PROGRAMS_H
#define RUNNER_PROGRAMS_H

#include "compiler/layer/layer.h"
#include "runner/digest.h"

typedef struct run_programs run_programs;

run_programs *run_programs_create(void);
void run_programs_destroy(run_programs *programs);

typedef struct run_kept {
  compile_result compiled;  // its commands are for the array of the call
  run_digest digest;
  bool shared;  // nothing was compiled
} run_kept;

// As layer_compile. The program stays until the next call, and is not to be released; NULL after an error was reported.
// Tuned programs depend on all of the array: each is compiled.
const run_kept *run_programs_compile(run_programs *programs, const map_layer *layer, const hw_array *array,
                                     const layer_policy *policy, wf_diag *diag);

#endif
