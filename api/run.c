// SPDX-License-Identifier: Apache-2.0
// Engines, and what a run left: totals, steps, counters, outputs. See weft.h.
#include "api/run.h"

#include "api/report.h"
#include "base/alloc.h"

bool api_tell_building(void *session, const char *text) {
  weft_session *s = session;
  const char *what = s->what;
  s->what = "hardware";
  api_progress(s, 0, 0, text);
  s->what = what;
  return !wf_stop_wanted(&s->stop);
}

// ---- counters

typedef struct counters {
  weft_counter *all;
  size_t count, room;
} counters;

static void add(counters *c, const char *unit, const char *name, double value) {
  if (c->count == c->room) {
    c->room = c->room == 0 ? 64 : 2 * c->room;
    c->all = wf_realloc(c->all, c->room, sizeof *c->all);
  }
  c->all[c->count++] = (weft_counter){.unit = unit, .name = name, .value = value};
}

static counters counters_of(const sim_cycle_report *units, const sim_figures *figures) {
  counters c = {0};
  for (unsigned u = 0; u < units->units; u++)
    for (unsigned i = 0; i < units->unit[u].causes; i++)
      add(&c, units->unit[u].name, units->unit[u].cause[i], (double)units->unit[u].cycles[i]);
  add(&c, "scratchpad", "row_reads", (double)units->sp_row_reads);
  add(&c, "scratchpad", "row_writes", (double)units->sp_row_writes);
  add(&c, "accumulator", "row_reads", (double)units->acc_row_reads);
  add(&c, "accumulator", "row_writes", (double)units->acc_row_writes);
  for (unsigned part = 0; part < SIM_PARTS && figures->has_energy; part++)
    add(&c, "energy", sim_part_names[part], figures->part_pj[part]);
  return c;
}

static void take_units(weft_run *run, const sim_cycle_report *units, const host_counts *hart, const hw_array *array) {
  const sim_figures figures = sim_figures_of(units, hart, array);
  const counters c = counters_of(units, &figures);
  run->counters = c.all;
  run->counter_count = c.count;
  run->totals.read_bytes = units->bus_read_bytes;
  run->totals.written_bytes = units->bus_written_bytes;
  run->totals.energy_uj = figures.energy_pj / 1e6;
  run->totals.array_energy_uj = figures.array_pj / 1e6;
}

static double utilisation(const hw_array *array, uint64_t macs, uint64_t cycles) {
  const double dim = hw_derive(array).dim;
  return cycles == 0 ? 0 : (double)macs / (dim * dim * (double)cycles);
}

// ---- runs

weft_run *api_run_of_kernel(const hw_array *array, const run_result *r, uint64_t macs) {
  weft_run *run = WF_NEW(weft_run);
  run->totals = (weft_totals){.cycles = r->cycles,
                              .array_cycles = r->cycles,
                              .commands = r->commands,
                              .macs = macs,
                              .utilisation = utilisation(array, macs, r->cycles)};
  const host_counts hart = {.instructions[HOST_COMMAND] = r->commands};
  if (r->has_units) take_units(run, &r->units, &hart, array);
  return run;
}

weft_run *api_run_of_network(const network *net, const run_network_result *r, void *owner, void (*drop)(void *owner)) {
  weft_run *run = WF_NEW(weft_run);
  run->owner = owner;
  run->drop = drop;
  run->net = net;
  run->result = *r;
  run->totals = (weft_totals){.cycles = r->cycles,
                              .array_cycles = r->array_cycles,
                              .host_cycles = r->host_cycles,
                              .edge_cycles = r->edge_cycles,
                              .both_cycles = r->both_cycles,
                              .commands = r->commands,
                              .macs = r->macs,
                              .utilisation = utilisation(net->options.array, r->macs, r->array_cycles + r->both_cycles),
                              .compared = r->compared,
                              .wrong = r->wrong,
                              .digest = r->digest};
  if (r->has_units) take_units(run, &r->units, &r->hart, net->options.array);
  run->step_count = (size_t)net->step_count;
  run->steps = WF_NEW_ARRAY(run->step_count + 1, weft_step);
  run->texts = wf_calloc(run->step_count + 1, sizeof *run->texts);
  for (size_t i = 0; i < run->step_count; i++) run->steps[i] = api_step_of(net, (int)i, &r->steps[i], &run->texts[i]);
  return run;
}

weft_ending weft_run_ending(const weft_run *run) { return run == NULL ? WEFT_ENDED : run->ending; }

char *weft_run_report(weft_session *s, const weft_run *run, const weft_run_form *form) {
  static const api_form none[] = {{NULL, NULL}};
  return api_report(s, "run", run, run == NULL || run->report == NULL ? none : run->forms, form);
}

void weft_run_destroy(weft_run *run) {
  if (run == NULL) return;
  if (run->report != NULL) run->drop_report(run->report);
  if (run->net != NULL) {
    run_network_release(run->net, &run->result);
    run->drop(run->owner);
  }
  wf_free(run->counters);
  wf_free(run->texts);
  wf_free(run->steps);
  wf_free(run);
}

weft_status weft_run_totals(const weft_run *run, weft_totals *totals) {
  return run == NULL ? WEFT_USAGE : api_give(&run->totals, sizeof run->totals, totals);
}

size_t weft_run_steps(const weft_run *run) { return run == NULL ? 0 : run->step_count; }

weft_status weft_run_step(const weft_run *run, size_t index, weft_step *step) {
  return index >= weft_run_steps(run) ? WEFT_USAGE : api_give(&run->steps[index], sizeof *run->steps, step);
}

size_t weft_run_counters(const weft_run *run) { return run == NULL ? 0 : run->counter_count; }

weft_status weft_run_counter(const weft_run *run, size_t index, weft_counter *counter) {
  return index >= weft_run_counters(run) ? WEFT_USAGE : api_give(&run->counters[index], sizeof *run->counters, counter);
}

const void *weft_run_output(const weft_run *run, size_t index, weft_tensor *tensor) {
  if (run == NULL || run->net == NULL || run->result.outputs == NULL) return NULL;
  const graph *g = run->net->graph;
  if (index >= (size_t)g->output_count) return NULL;
  const weft_tensor full = api_tensor_of(g, g->outputs[index], true);
  if (tensor != NULL && api_give(&full, sizeof full, tensor) != WEFT_OK) return NULL;
  return run->result.outputs[index];
}
