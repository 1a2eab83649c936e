// SPDX-License-Identifier: Apache-2.0
// Channels that are zero in the same places side by side, group by group: the first of a group is the one with most
// weights, and each next one adds the fewest places to those of the group. Outputs are grouped by the weights that they
// have, then inputs by the groups of outputs that they have weights for. Of
// channels that add as many, the one that has most in common with the group is next, so that equals stay together.
#include "workloads/networks/cluster.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

enum { WORD = 64 };

// Places of channels, a row of bits each.
typedef struct places {
  uint64_t *bits;
  int64_t channels, words;
} places;

static places places_create(int64_t channels, int64_t count) {
  const int64_t words = wf_ceil_div(count, WORD);
  return (places){WF_NEW_ARRAY((size_t)(channels * words), uint64_t), channels, words};
}

static void set(const places *p, int64_t channel, int64_t place) {
  p->bits[channel * p->words + place / WORD] |= UINT64_C(1) << place % WORD;
}

// Places of a channel that a group has not; among channels with as many, those of the group that it has not.
static int64_t added(const places *p, int64_t channel, const uint64_t *group) {
  int64_t more = 0, fewer = 0;
  for (int64_t w = 0; w < p->words; w++) {
    const uint64_t own = p->bits[channel * p->words + w];
    more += __builtin_popcountll(own & ~group[w]);
    fewer += __builtin_popcountll(group[w] & ~own);
  }
  return more * (p->words * WORD + 1) + fewer;
}

// The channel that is left with the fewest (or, at the start of a group, the most) places beside the group's.
static int64_t next_of(const places *p, const bool *taken, const uint64_t *group, bool first) {
  int64_t best = -1, least = 0;
  for (int64_t c = 0; c < p->channels; c++) {
    if (taken[c]) continue;
    const int64_t cost = first ? -added(p, c, group) : added(p, c, group);
    if (best >= 0 && cost >= least) continue;
    best = c;
    least = cost;
  }
  return best;
}

static void find_order(const places *p, int64_t side, int *order) {
  bool *taken = WF_NEW_ARRAY((size_t)p->channels, bool);
  uint64_t *group = WF_NEW_ARRAY((size_t)p->words + 1, uint64_t);
  for (int64_t n = 0; n < p->channels; n++) {
    if (n % side == 0) memset(group, 0, (size_t)p->words * sizeof *group);
    const int64_t next = next_of(p, taken, group, n % side == 0);
    for (int64_t w = 0; w < p->words; w++) group[w] |= p->bits[next * p->words + w];
    taken[next] = true;
    order[n] = (int)next;
  }
  wf_free(taken);
  wf_free(group);
}

// `of_output`: the place of each output's weights; otherwise weights are places of outputs.
static places places_of(const networks_weights *w, const int64_t *of_output, int64_t groups) {
  const bool inputs = of_output != NULL;
  const places p = places_create(inputs ? w->inputs : w->outputs, w->taps * (inputs ? groups : w->inputs));
  const int8_t *at = w->elements;
  for (int64_t tap = 0; tap < w->taps; tap++)
    for (int64_t i = 0; i < w->inputs; i++)
      for (int64_t o = 0; o < w->outputs; o++) {
        if (*at++ == 0) continue;
        if (inputs)
          set(&p, i, tap * groups + of_output[o]);
        else
          set(&p, o, tap * w->inputs + i);
      }
  return p;
}

void networks_cluster(const networks_weights *weights, int64_t side, int *inputs, int *outputs) {
  int64_t *group = WF_NEW_ARRAY((size_t)weights->outputs, int64_t);
  const places by_output = places_of(weights, NULL, 0);
  find_order(&by_output, side, outputs);
  for (int64_t n = 0; n < weights->outputs; n++) group[outputs[n]] = n / side;
  const places by_input = places_of(weights, group, wf_ceil_div(weights->outputs, side));
  find_order(&by_input, side, inputs);
  wf_free(by_output.bits);
  wf_free(by_input.bits);
  wf_free(group);
}

void networks_reorder(const networks_weights *w, const int *inputs, const int *outputs, int8_t *to) {
  for (int64_t tap = 0; tap < w->taps; tap++)
    for (int64_t i = 0; i < w->inputs; i++)
      for (int64_t o = 0; o < w->outputs; o++)
        *to++ = w->elements[(tap * w->inputs + inputs[i]) * w->outputs + outputs[o]];
}
