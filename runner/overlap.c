// SPDX-License-Identifier: Apache-2.0
// See overlap.h.
#include "runner/overlap.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "compiler/network/overlap/overlap.h"
#include "compiler/network/steps.h"
#include "runner/candidate.h"

typedef struct overlapper {
  const graph *placed;
  const network_options *options;
  const void *const *inputs;
  wf_diag *diag;
  wf_arena *arena;
  run_candidate apart, best;
  bool moves;        // there are numbers on which the hart's cycles depend
  uint64_t *cycles;  // by step of `apart`
  bool *alone;
  int64_t *lost;  // by step of the hart: what the slots with steps like it lost
} overlapper;

static bool make(overlapper *o, const network_slots *slots, run_candidate *c) {
  network_options with = *o->options;
  with.loops = true;
  with.slots = slots;
  return run_candidate_make(c, o->placed, &with, o->moves, o->inputs, o->diag);
}

static bool has_numbers(const graph *g) {
  for (int t = 0; t < g->tensor_count; t++)
    if (g->tensors[t].data == NULL && (g->tensors[t].type == GRAPH_F32 || g->tensors[t].type == GRAPH_F64)) return true;
  return false;
}

// ---- what slots lose

// Steps of the hart that are alike lose or gain alike: the hart's data, which it would find in the L2, are driven out
// by what the array reads beside it.
static void add_lost(const overlapper *o, int step, int64_t lost) {
  const network *net = o->apart.net;
  const uint64_t shape = network_step_shape(net, &net->steps[step]);
  for (int s = 0; s < net->step_count; s++)
    if (net->steps[s].place == GRAPH_ON_HOST && network_step_shape(net, &net->steps[s]) == shape) o->lost[s] += lost;
}

static void find_lost(const overlapper *o, const network_slots *slots, const run_candidate *c) {
  const int *steps = slots->steps;
  for (int n = 0; n < slots->count; steps += slots->counts[n], n++) {
    if (slots->counts[n] == 1) continue;
    int64_t lost = (int64_t)c->took.steps[n].cycles;
    for (int i = 0; i < slots->counts[n]; i++) lost -= (int64_t)o->cycles[steps[i]];
    for (int i = 0; i < slots->counts[n]; i++)
      if (o->apart.net->steps[steps[i]].place == GRAPH_ON_HOST) add_lost(o, steps[i], lost);
  }
}

// ---- candidates

// Tries the slots by a rule. False after an error was reported.
static bool try_rule(overlapper *o, network_slot_rule rule) {
  const network_slot_request request = {.cycles = o->cycles, .alone = o->alone, .rule = rule};
  const network_slots slots = network_find_slots(o->apart.net, &request, o->arena);
  if (slots.count == o->apart.net->step_count) return true;
  run_candidate c = {0};
  const bool good = make(o, &slots, &c);
  if (good) find_lost(o, &slots, &c);
  if (good)
    run_candidate_keep_better(&o->best, &c, COMPILE_CYCLES);
  else
    run_candidate_drop(&c);
  return good;
}

// All rules; then again without the steps of the hart that lost by it.
static bool try_all(overlapper *o) {
  const size_t steps = (size_t)o->apart.net->step_count + 1;
  o->cycles = WF_ARENA_ARRAY(o->arena, steps, uint64_t);
  o->alone = WF_ARENA_ARRAY(o->arena, steps, bool);
  o->lost = WF_ARENA_ARRAY(o->arena, steps, int64_t);
  for (size_t s = 0; s + 1 < steps; s++) o->cycles[s] = o->apart.took.steps[s].cycles;
  bool good = true, any = false;
  for (network_slot_rule rule = 0; rule < NETWORK_SLOT_RULES && good; rule++) good = try_rule(o, rule);
  for (size_t s = 0; s + 1 < steps; s++) any = (o->alone[s] = o->lost[s] > 0) || any;
  for (network_slot_rule rule = 0; rule < NETWORK_SLOT_RULES && good && any; rule++) good = try_rule(o, rule);
  return good;
}

network *run_overlap_network(const graph *placed, const network_options *options, const void *const *inputs,
                             wf_diag *diag) {
  const double start = wf_process_seconds();
  overlapper o = {.placed = placed,
                  .options = options,
                  .inputs = inputs,
                  .diag = diag,
                  .arena = wf_arena_create(),
                  .moves = has_numbers(placed)};
  network *net = NULL;
  if (make(&o, NULL, &o.apart) && try_all(&o)) {
    const bool gains = o.best.net != NULL && o.best.took.cycles < o.apart.took.cycles;
    net = gains ? run_candidate_take(&o.best, options) : network_create(placed, options, diag);
  }
  run_candidate_drop(&o.best);
  run_candidate_drop(&o.apart);
  if (net != NULL) net->compile_seconds = wf_process_seconds() - start;
  wf_arena_destroy(o.arena);
  return net;
}
