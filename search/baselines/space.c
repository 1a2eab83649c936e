// SPDX-License-Identifier: Apache-2.0
// See internal.h.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/baselines/internal.h"
#include "search/descent/moves.h"

static double power_of_two(uint64_t *rng, unsigned low, double limit) {
  const unsigned high = limit > 0 ? (unsigned)floor(log2(limit)) : 11;
  return ldexp(1, (int)(low + wf_random_below(rng, high - low + 1)));
}

paper_hardware baseline_random_hardware(const descent_goal *goal, uint64_t *rng) {
  return (paper_hardware){.side = power_of_two(rng, 1, goal->limits.side_max),
                          .scratchpad_kib = power_of_two(rng, 0, goal->limits.scratchpad_kib_max),
                          .accumulator_kib = power_of_two(rng, 0, goal->limits.accumulator_kib_max)};
}

// A few outer factors go in first: with all factors at random, small memories would hold next to nothing that is drawn.
static void scatter(const layers_layer *layer, double outside, uint64_t *rng, paper_mapping *m) {
  *m = paper_mapping_start(layer);
  for (unsigned d = 0; d < BLOCK_DIMS; d++) {
    int64_t rest = layer->size[d];
    const bool spatial = descent_moves_factor(m, d, MOVE_SPATIAL) != NULL;
    for (int64_t prime = 2; rest > 1; prime = rest % prime == 0 ? prime : prime * prime > rest ? rest : prime + 1)
      for (; rest % prime == 0; rest /= prime) {
        if (wf_random_unit(rng) < outside) continue;
        const descent_moves_place to = spatial && wf_random_below(rng, 2) == 0 ? MOVE_SPATIAL : MOVE_INSIDE;
        const descent_moves_move move = {(uint8_t)d, MOVE_OUTSIDE, (uint8_t)to, (double)prime};
        descent_moves_apply(m, &move);
      }
  }
}

void baseline_random_mapping(const layers_layer *layer, const paper_hardware *hardware, uint64_t *rng,
                             paper_mapping *m) {
  enum { TRIES = 100 };
  for (int n = 0; n < TRIES; n++) {
    scatter(layer, wf_random_unit(rng), rng, m);
    const paper_need need = paper_need_of(layer, m);
    if (paper_fits(&need, hardware)) break;
    if (n == TRIES - 1) *m = paper_mapping_start(layer);
  }
  paper_set_order(m, (paper_order)wf_random_below(rng, PAPER_ORDERS));
}

double baseline_layer_value(const descent_goal *goal, size_t layer, const paper_mapping *m,
                            const paper_hardware *hardware) {
  const paper_cost cost = paper_evaluate(&goal->network->layers[layer], m, hardware, goal->constants);
  return descent_goal_value(goal, hardware, cost);
}

void baseline_offer(const descent_goal *goal, const paper_mapping *mappings, const paper_hardware *hardware,
                    baseline_result *result) {
  const paper_cost cost = paper_network(goal->network, mappings, hardware, goal->constants);
  const double value = descent_goal_value(goal, hardware, cost);
  if (!(value < result->value)) return;
  const size_t count = goal->network->count;
  if (!result->mappings) result->mappings = WF_NEW_ARRAY(count, paper_mapping);
  memcpy(result->mappings, mappings, count * sizeof *mappings);
  result->hardware = *hardware;
  result->cost = cost;
  result->value = value;
}
