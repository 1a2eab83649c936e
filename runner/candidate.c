// SPDX-License-Identifier: Apache-2.0
// See candidate.h.
#include "runner/candidate.h"

#include "base/alloc.h"
#include "sim/engine.h"

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

void run_candidate_tell_steps(const run_candidate *c, network_judgements *known) {
  uint64_t *cycles = WF_NEW_ARRAY((size_t)c->net->step_count + 1, uint64_t);
  for (int s = 0; s < c->net->step_count; s++) cycles[s] = c->took.steps[s].cycles;
  network_tell_steps(known, cycles, c->net->step_count);
  wf_free(cycles);
}

void run_candidate_keep_better(run_candidate *best, run_candidate *other) {
  if (best->net == NULL || other->took.cycles < best->took.cycles) {
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
