// SPDX-License-Identifier: Apache-2.0
// A layer compiled and run: see measure.h.
#include "runner/measure.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "runner/program.h"

const char *const run_measure_status_names[RUN_MEASURE_STATUSES] = {"good", "cannot map", "fault"};

// The counts of a report are of all runs; a layer's runs are alike but for what the caches hold, so they are shared
// out evenly.
static void take_counts(const run_known_run *run, unsigned times, const hw_array *array, run_measured *m) {
  const host_counts hart = {.instructions[HOST_COMMAND] = run->commands};
  const sim_figures figures = sim_figures_of(&run->units, &hart, array);
  m->cycles = run->cycles;
  m->commands = run->commands / times;
  m->read_bytes = run->units.bus_read_bytes / times;
  m->written_bytes = run->units.bus_written_bytes / times;
  m->has_energy = figures.has_energy;
  m->energy_pj = figures.energy_pj / times;
  m->array_pj = figures.array_pj / times;
  for (unsigned part = 0; part < SIM_PARTS; part++) m->part_pj[part] = figures.part_pj[part] / times;
  m->utilisation = (double)m->macs / ((double)run->cycles * (double)figures.processing_elements);
  sim_figures_bound(&run->units, m->bound);
  m->mesh_cycles = sim_figures_working(&run->units, "mesh") / times;
  m->units = run->units;
}

static void take_account(void *context, const sim_engine *engine, uint64_t cycle) {
  sim_flow_account_to(engine, cycle, context);
}

static bool simulate(const run_measure_request *request, const command_program *program, unsigned times,
                     const sim_events *events, run_known_run *known, wf_diag *diag) {
  const sim_engine_options options = {.timing_only = true, .quiet = true};
  const run_config config = {
      .engine = request->account != NULL ? &sim_flow_recording_engine : run_fidelity_engine(request->fidelity),
      .options = &options,
      .times = times,
      .events = events,
      .ended = request->account != NULL ? take_account : NULL,
      .context = request->account};
  void **none = wf_calloc((size_t)program->tensor_count, sizeof *none);
  run_result run;
  const bool good = run_commands_on(program, &config, none, &run, diag);
  wf_free(none);
  if (good) *known = (run_known_run){.cycles = run.cycles, .commands = run.commands, .units = run.units};
  return good;
}

static bool simulate_with_waits(const run_measure_request *request, const command_program *program, unsigned times,
                                run_known_run *run, wf_diag *diag) {
  run_waits_state *state = run_waits_open(request->array);
  const sim_events events = run_waits_sink(state);
  const bool good = simulate(request, program, times, &events, run, diag);
  *request->waits = run_waits_close(state, good ? run->units.cycles : 0);
  return good;
}

// Only single runs are kept: others are rare.
static bool run_of(const run_measure_request *request, const run_kept *program, run_measured *m, wf_diag *diag) {
  const unsigned times = request->times == 0 ? 1 : request->times;
  run_known *known = times == 1 && request->waits == NULL && request->account == NULL ? request->known : NULL;
  run_digest digest = program->digest;
  digest.machine ^= request->fidelity;
  run_known_run run;
  m->program_digest = digest.commands;
  m->known = run_known_find(known, &digest, &run);
  if (request->waits != NULL) {
    if (!simulate_with_waits(request, program->compiled.commands, times, &run, diag)) return false;
  } else if (!m->known && !simulate(request, program->compiled.commands, times, NULL, &run, diag)) {
    return false;
  }
  if (!m->known) run_known_add(known, &digest, &run);
  take_counts(&run, times, request->array, m);
  return true;
}

// Its own programs, for a request that brings none.
static run_measured measure_with(const run_measure_request *request, run_programs *programs, wf_diag *diag) {
  run_measured m = {.status = RUN_MEASURE_CANNOT_MAP, .macs = (uint64_t)map_macs(request->layer)};
  layer_policy policy = request->policy;
  policy.straight = true;
  const double start = wf_thread_seconds();
  const run_kept *program = run_programs_compile(programs, request->layer, request->array, &policy, diag);
  const double compiled = wf_thread_seconds();
  if (program == NULL) return m;
  m.compile_seconds = compiled - start;
  m.shared = program->shared;
  m.mapped = program->compiled.mapped;
  m.mapping = program->compiled.mapping;
  m.status = run_of(request, program, &m, diag) ? RUN_MEASURE_GOOD : RUN_MEASURE_FAULT;
  m.simulate_seconds = wf_thread_seconds() - compiled;
  return m;
}

run_measured run_measure(const run_measure_request *request, wf_diag *diag) {
  if (request->programs != NULL) return measure_with(request, request->programs, diag);
  run_programs *own = run_programs_create();
  const run_measured m = measure_with(request, own, diag);
  run_programs_destroy(own);
  return m;
}
