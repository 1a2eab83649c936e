// A layer compiled and run: see measure.h.
#include "search/measure/measure.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "compiler/command/run.h"

const char *const measure_status_names[MEASURE_STATUSES] = {"good", "cannot map", "fault"};

// The counts of a report are of all runs; a layer's runs are alike but for what the caches hold, so they are shared
// out evenly.
static void take_counts(const measure_run *run, unsigned times, const hw_array *array, measure_result *m) {
  const sim_figures figures = sim_figures_of(&run->units, array);
  m->cycles = run->cycles;
  m->commands = run->commands / times;
  m->read_bytes = run->units.bus_read_bytes / times;
  m->written_bytes = run->units.bus_written_bytes / times;
  m->has_energy = figures.has_energy;
  m->energy_pj = figures.energy_pj / times;
  m->utilisation = (double)m->macs / ((double)run->cycles * (double)figures.processing_elements);
  sim_figures_bound(&run->units, m->bound);
  m->units = run->units;
}

static bool simulate(const command_program *program, unsigned times, measure_run *known, wf_diag *diag) {
  const sim_engine_options options = {.timing_only = true, .quiet = true};
  const command_run_config config = {.engine = &sim_cycle_engine, .options = &options, .times = times};
  void **none = wf_calloc((size_t)program->tensor_count, sizeof *none);
  command_run_result run;
  const bool good = command_run_on(program, &config, none, &run, diag);
  wf_free(none);
  if (good) *known = (measure_run){.cycles = run.cycles, .commands = run.commands, .units = run.units};
  return good;
}

// Only single runs are kept: others are rare.
static bool run_of(const measure_request *request, const command_program *program, measure_result *m, wf_diag *diag) {
  const unsigned times = request->times == 0 ? 1 : request->times;
  measure_known *known = times == 1 ? request->known : NULL;
  const measure_digest digest = measure_digest_of(program);
  measure_run run;
  m->program_digest = digest.commands;
  m->known = measure_known_find(known, &digest, &run);
  if (!m->known && !simulate(program, times, &run, diag)) return false;
  if (!m->known) measure_known_add(known, &digest, &run);
  take_counts(&run, times, request->array, m);
  return true;
}

measure_result measure_layer(const measure_request *request, wf_diag *diag) {
  measure_result m = {.status = MEASURE_CANNOT_MAP, .macs = (uint64_t)map_macs(request->layer)};
  compile_result program;
  const double start = wf_thread_seconds();
  if (layer_compile(request->layer, request->array, &request->policy, &program, diag)) {
    const double compiled = wf_thread_seconds();
    m.compile_seconds = compiled - start;
    m.mapped = program.mapped;
    m.mapping = program.mapping;
    m.status = run_of(request, program.commands, &m, diag) ? MEASURE_GOOD : MEASURE_FAULT;
    m.simulate_seconds = wf_thread_seconds() - compiled;
  }
  compile_release(&program);
  return m;
}
