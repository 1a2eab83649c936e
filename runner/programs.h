// SPDX-License-Identifier: Apache-2.0
// Programs that were compiled a short time ago: arrays that the compiler cannot tell apart (compile_array_hash) get the
// same one, which then is not compiled again.
#ifndef RUNNER_PROGRAMS_H
#define RUNNER_PROGRAMS_H

#include "compiler/layer/layer.h"

typedef struct run_programs run_programs;

run_programs *run_programs_create(void);
void run_programs_destroy(run_programs *programs);

// As layer_compile; the result stays until the next call and is not to be released. Its commands are for this array.
// `shared`: nothing was compiled. Tuned programs depend on all of the array: each is compiled.
bool run_programs_compile(run_programs *programs, const map_layer *layer, const hw_array *array,
                          const layer_policy *policy, const compile_result **result, bool *shared, wf_diag *diag);

#endif
