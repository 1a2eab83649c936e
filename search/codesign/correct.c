// SPDX-License-Identifier: Apache-2.0
// What is believed of points: the highest rung that a point climbed, corrected by what the rungs above it said of other
// points.
//
// A correction is the logarithm of (figure of a rung / figure of the rung below), of cycles and of energy, for each
// layer. That of a point is a mean over the points that have it, near ones counting more:
//
//   mean   = sum c_i / (n + 1)                             over all points; 1: as if one point had none
//   c(x)   = mean + sum w_i (c_i - mean) / (sum w_i + 1/4) w_i = exp(-(distance / 0.5)^2 / 2)
//
// The spread of a point is that of the corrections' own errors, each point's from all others; near points make it
// smaller. With no other point it is PRIOR, what the rungs are known to err (docs/search-model.md, flow-engine.md).
#include <math.h>

#include "base/alloc.h"
#include "search/codesign/internal.h"

static const double prior[CODESIGN_RUNGS] = {0.15, 0.02, 0};  // of a rung below engine cycle
static const double reach = 0.5, doubt = 0.25, trusted = 0.7;

typedef struct weights {
  size_t *sites;  // that have the rung
  double *weight;
  size_t count;
  double sum;
} weights;

// Points that have climbed a rung, as they count for a point; not the point itself.
static weights weigh(const codesign_loop *l, const codesign_site *site, codesign_rung rung) {
  const codesign_result *r = l->result;
  weights w = {.sites = WF_NEW_ARRAY(r->count + 1, size_t), .weight = WF_NEW_ARRAY(r->count + 1, double)};
  for (size_t i = 0; i < r->count; i++) {
    const codesign_site *other = &r->sites[i];
    if (other == site || other->failed || other->rungs <= (unsigned)rung) continue;
    const double distance = codesign_point_distance(l->options->space, &site->point, &other->point) / reach;
    w.sites[w.count] = i;
    w.weight[w.count] = exp(-distance * distance / 2);
    w.sum += w.weight[w.count++];
  }
  return w;
}

static void release(weights *w) {
  wf_free(w->sites);
  wf_free(w->weight);
}

static double ratio(const codesign_site *site, codesign_rung rung, size_t layer, bool energy) {
  const codesign_figure *above = &site->layers[rung][layer], *below = &site->layers[rung - 1][layer];
  return energy ? log(above->energy_uj / below->energy_uj) : log(above->cycles / below->cycles);
}

static double correction(const codesign_result *r, const weights *w, codesign_rung rung, size_t layer, bool energy) {
  double mean = 0, sum = 0;
  for (size_t i = 0; i < w->count; i++) mean += ratio(&r->sites[w->sites[i]], rung, layer, energy);
  mean /= (double)w->count + 1;
  for (size_t i = 0; i < w->count; i++)
    sum += w->weight[i] * (ratio(&r->sites[w->sites[i]], rung, layer, energy) - mean);
  return mean + sum / (w->sum + doubt);
}

// Corrects figures of the rung below to this one.
static void raise(const codesign_loop *l, const codesign_site *site, codesign_rung rung, codesign_figure *figures,
                  double *cover) {
  weights w = weigh(l, site, rung);
  for (size_t i = 0; i < l->result->layer_count; i++) {
    figures[i].cycles *= exp(correction(l->result, &w, rung, i, false));
    figures[i].energy_uj *= exp(correction(l->result, &w, rung, i, true));
  }
  *cover = w.sum / (w.sum + doubt);
  release(&w);
}

// What was believed of a point one rung below the one it has, from all others: its error, as a logarithm.
static double error_of(codesign_loop *l, const codesign_site *site, codesign_rung rung, codesign_figure *figures) {
  double cover;
  for (size_t i = 0; i < l->result->layer_count; i++) figures[i] = site->layers[rung - 1][i];
  raise(l, site, rung, figures, &cover);
  return codesign_goal(l, codesign_sum(l->result, site, figures)) - codesign_goal(l, site->cost[rung]);
}

// Of what rung - 1 says of rung.
static double spread_of(codesign_loop *l, codesign_rung rung, codesign_figure *figures) {
  double sum = prior[rung - 1] * prior[rung - 1];
  size_t count = 1;
  for (size_t i = 0; i < l->result->count; i++) {
    const codesign_site *site = &l->result->sites[i];
    if (site->failed || site->rungs <= (unsigned)rung) continue;
    const double error = error_of(l, site, rung, figures);
    if (fabs(error) > 3) continue;  // on the other side of a bound
    sum += error * error;
    count++;
  }
  return sqrt(sum / (double)count);
}

static void believe(codesign_loop *l, codesign_site *site, const double spread[CODESIGN_RUNGS],
                    codesign_figure *figures) {
  double variance = 0;
  if (site->failed || site->rungs == 0) {
    site->mean = INFINITY;
    site->spread = 0;
    return;
  }
  for (size_t i = 0; i < l->result->layer_count; i++) figures[i] = site->layers[site->rungs - 1][i];
  for (unsigned rung = site->rungs; rung < CODESIGN_RUNGS; rung++) {
    double cover;
    raise(l, site, (codesign_rung)rung, figures, &cover);
    const double own = spread[rung] * (1 - trusted * cover);
    variance += own * own;
  }
  site->mean = codesign_goal(l, codesign_sum(l->result, site, figures));
  site->spread = sqrt(variance);
}

void codesign_correct(codesign_loop *l) {
  codesign_figure *figures = WF_NEW_ARRAY(l->result->layer_count + 1, codesign_figure);
  double spread[CODESIGN_RUNGS] = {0};
  for (unsigned rung = CODESIGN_FLOW; rung < CODESIGN_RUNGS; rung++)
    spread[rung] = spread_of(l, (codesign_rung)rung, figures);
  for (size_t i = 0; i < l->result->count; i++) believe(l, &l->result->sites[i], spread, figures);
  wf_free(figures);
}
