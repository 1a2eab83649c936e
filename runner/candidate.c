// SPDX-License-Identifier: Apache-2.0
// See candidate.h.
#include "runner/candidate.h"

#include "base/alloc.h"
#include "sim/engine.h"
#include "sim/figures.h"

void run_candidate_drop(run_candidate *c) {
  if (c->net != NULL) run_network_release(c->net, &c->took);
  network_destroy(c->net);
  *c = (run_candidate){0};
}

bool run_candidate_make(run_candidate *c, const graph *placed, const network_options *options, bool moves,
                        const void *const *inputs, wf_diag *diag) {
  const sim_engine_options engine = {.timing_only = !moves, .quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &engine, .inputs = inputs, .hart = RUN_HART_TIMED};
  c->net = network_create(placed, options, diag);
  return c->net != NULL && run_network(c->net, &config, &c->took, diag);
}

static compile_verdict verdict_of(const run_candidate *c, uint64_t cycles, const sim_cycle_report *units,
                                  const host_counts *hart) {
  const sim_figures figures = sim_figures_of(units, hart, c->net->options.array);
  return (compile_verdict){.cycles = cycles, .has_energy = figures.has_energy, .energy_pj = figures.energy_pj};
}

compile_verdict run_candidate_step(const run_candidate *c, int step) {
  const run_step_result *took = &c->took.steps[step];
  return verdict_of(c, took->cycles, &took->units, &took->hart);
}

void run_candidate_tell_steps(const run_candidate *c, network_judgements *known) {
  compile_verdict *steps = WF_NEW_ARRAY((size_t)c->net->step_count + 1, compile_verdict);
  for (int s = 0; s < c->net->step_count; s++) steps[s] = run_candidate_step(c, s);
  network_tell_steps(known, steps, c->net->step_count);
  wf_free(steps);
}

static double value_of(const run_candidate *c, compile_objective objective) {
  const compile_verdict all = verdict_of(c, c->took.cycles, &c->took.units, &c->took.hart);
  return compile_value(objective, &all);
}

void run_candidate_keep_better(run_candidate *best, run_candidate *other, compile_objective objective) {
  if (best->net == NULL || (other->net != NULL && value_of(other, objective) < value_of(best, objective))) {
    const run_candidate slower = *best;
    *best = *other;
    *other = slower;
  }
  run_candidate_drop(other);
}

network *run_candidate_take(run_candidate *c, const network_options *options) {
  network *net = c->net;
  if (net == NULL) return NULL;
  run_network_release(net, &c->took);
  net->options = *options;
  *c = (run_candidate){0};
  return net;
}
