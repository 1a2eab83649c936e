// SPDX-License-Identifier: Apache-2.0
// Fits the network (net.h): whole groups a step, the error of each row and the order of each pair of a group, weights
// moved by AdamW with a rate that rises and falls once.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/random.h"
#include "search/learn/net.h"

const learn_net_options learn_net_usual = {
    .epochs = 40, .rate = 1.5e-3, .decay = 0.01, .ranks = 0.5, .rows = 32, .seed = 1};

enum { GROUP_MAX = 256 };

typedef struct group {
  size_t first, count;
} group;

typedef struct mover {
  float *slope, *mean, *square;
  unsigned steps;
} mover;

static group *groups_of(const learn_set *set, size_t *count) {
  group *groups = WF_NEW_ARRAY(set->count + 1, group);
  *count = 0;
  for (size_t i = 0; i < set->count;) {
    const size_t end = wf_min(learn_group_end(set, i), i + GROUP_MAX);
    groups[(*count)++] = (group){i, end - i};
    i = end;
  }
  return groups;
}

static void shuffle(group *groups, size_t count, uint64_t *seed) {
  for (size_t i = count; i > 1; i--) {
    const size_t j = wf_random_below(seed, i);
    const group other = groups[i - 1];
    groups[i - 1] = groups[j];
    groups[j] = other;
  }
}

// By how much the loss changes with what is said of each row. The error counts as its square up to 0.3 and as its
// amount from there on; of a pair counts log(1 + exp(-sharp d)) / sharp, d being by how much the slower row is said to
// be slower.
static void slopes_of(const learn_set *set, const group *g, const float *said, double ranks, float *by) {
  static const float most = 0.3F, sharp = 10;
  const learn_row *rows = &set->rows[g->first];
  for (size_t i = 0; i < g->count; i++) by[i] = wf_min(wf_max(said[i] - rows[i].target, -most), most) / most;
  if (g->count < 2) return;
  const float weight = (float)ranks / (float)(g->count - 1);
  for (size_t i = 0; i < g->count; i++)
    for (size_t j = 0; j < g->count; j++) {
      if (rows[i].model + rows[i].target <= rows[j].model + rows[j].target) continue;
      const float apart = rows[i].model + said[i] - rows[j].model - said[j];
      const float pull = weight / (1 + expf(sharp * apart));
      by[i] -= pull;
      by[j] += pull;
    }
}

static void move(learn_net *net, mover *m, double rate, double decay) {
  static const float keep = 0.9F, keep_square = 0.99F;
  float *w = learn_net_weight(net);
  m->steps++;
  const float up = 1 - powf(keep, (float)m->steps), up_square = 1 - powf(keep_square, (float)m->steps);
  for (size_t i = 0; i < learn_net_weights(net); i++) {
    m->mean[i] = keep * m->mean[i] + (1 - keep) * m->slope[i];
    m->square[i] = keep_square * m->square[i] + (1 - keep_square) * m->slope[i] * m->slope[i];
    w[i] -= (float)rate * (m->mean[i] / up / (sqrtf(m->square[i] / up_square) + 1e-8F) + (float)decay * w[i]);
  }
}

// Rises through a third of the steps and falls to nothing.
static double rate_at(const learn_net_options *o, double share) {
  return o->rate * (share < 0.3 ? 0.04 + 0.96 * share / 0.3 : 0.5 * (1 + cos(acos(-1) * (share - 0.3) / 0.7)));
}

// One step goes over groups until it has its rows; each group goes through the network by itself.
static size_t step(learn_net *net, const learn_set *set, const group *groups, size_t count, const learn_net_options *o,
                   mover *m) {
  float said[GROUP_MAX], by[GROUP_MAX];
  size_t rows = 0, n = 0;
  memset(m->slope, 0, learn_net_weights(net) * sizeof *m->slope);
  for (; n < count && rows < o->rows; n++) {
    learn_net_say(net, set, groups[n].first, groups[n].count, said);
    slopes_of(set, &groups[n], said, o->ranks, by);
    learn_net_back(net, groups[n].count, by, m->slope);
    rows += groups[n].count;
  }
  for (size_t i = 0; i < learn_net_weights(net); i++) m->slope[i] /= (float)rows;
  return n;
}

void learn_net_fit(learn_net *net, const learn_set *set, const learn_net_options *o) {
  size_t count;
  const size_t weights = learn_net_weights(net);
  group *groups = groups_of(set, &count);
  mover m = {.slope = WF_NEW_ARRAY(weights, float),
             .mean = WF_NEW_ARRAY(weights, float),
             .square = WF_NEW_ARRAY(weights, float)};
  uint64_t seed = o->seed;
  for (unsigned epoch = 0; epoch < o->epochs; epoch++) {
    shuffle(groups, count, &seed);
    for (size_t at = 0; at < count;) {
      const double share = (epoch + (double)at / (double)count) / o->epochs;
      at += step(net, set, &groups[at], count - at, o, &m);
      move(net, &m, rate_at(o, share), o->decay);
    }
  }
  wf_free(groups);
  wf_free(m.slope);
  wf_free(m.mean);
  wf_free(m.square);
}
