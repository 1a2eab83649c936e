// SPDX-License-Identifier: Apache-2.0
// The judge of tuning: see judge.h.
#include "runner/judge.h"

#include "base/alloc.h"
#include "runner/program.h"

bool run_judge(const command_program *program, uint64_t *cycles, wf_diag *diag) {
  const sim_engine_options options = {.timing_only = true, .quiet = true};
  const run_config config = {.engine = &sim_cycle_engine, .options = &options, .times = 2};
  void **none = WF_NEW_ARRAY((size_t)program->tensor_count + 1, void *);
  run_result run;
  const bool good = run_commands_on(program, &config, none, &run, diag);
  wf_free(none);
  *cycles = run.cycles;
  return good;
}
