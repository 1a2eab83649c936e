// SPDX-License-Identifier: Apache-2.0
// The judges of tuning: see judge.h.
#include "runner/judge.h"

#include "base/alloc.h"
#include "runner/program.h"
#include "sim/figures.h"

enum { WARM_RUNS = 2, CONFIRMED = 8 };

typedef enum { OF_MACHINE, OF_ARRAY } energy_of;

static bool judge_on(run_fidelity fidelity, unsigned times, energy_of which, const command_program *program,
                     compile_verdict *verdict, wf_diag *diag) {
  const sim_engine_options options = {.timing_only = true, .quiet = true};
  const run_config config = {.engine = run_fidelity_engine(fidelity), .options = &options, .times = times};
  void **none = WF_NEW_ARRAY((size_t)program->tensor_count + 1, void *);
  run_result run;
  const bool good = run_commands_on(program, &config, none, &run, diag);
  wf_free(none);
  if (!good) return false;
  const host_counts hart = {.instructions[HOST_COMMAND] = run.commands};
  const sim_figures figures = sim_figures_of(&run.units, &hart, program->array);
  const double energy_pj = which == OF_ARRAY ? figures.array_pj : figures.energy_pj;
  *verdict = (compile_verdict){.cycles = run.cycles, .has_energy = figures.has_energy, .energy_pj = energy_pj / times};
  return true;
}

bool run_judge(const command_program *program, compile_verdict *verdict, wf_diag *diag) {
  return judge_on(RUN_FIDELITY_CYCLE, WARM_RUNS, OF_MACHINE, program, verdict, diag);
}

bool run_judge_once(const command_program *program, compile_verdict *verdict, wf_diag *diag) {
  return judge_on(RUN_FIDELITY_CYCLE, 1, OF_MACHINE, program, verdict, diag);
}

bool run_judge_flow(const command_program *program, compile_verdict *verdict, wf_diag *diag) {
  return judge_on(RUN_FIDELITY_FLOW, 1, OF_MACHINE, program, verdict, diag);
}

bool run_judge_array(const command_program *program, compile_verdict *verdict, wf_diag *diag) {
  return judge_on(RUN_FIDELITY_CYCLE, 1, OF_ARRAY, program, verdict, diag);
}

compile_tuning run_tuning(unsigned count, run_fidelity with, compile_objective objective) {
  return (compile_tuning){.count = count,
                          .judge = run_judge,
                          .screen = with == RUN_FIDELITY_FLOW ? run_judge_flow : NULL,
                          .confirmed = CONFIRMED,
                          .objective = objective};
}
