// SPDX-License-Identifier: Apache-2.0
// What is believed of points: the highest rung that a point climbed, corrected by what the rungs above it said of other
// points.
//
// A correction is the logarithm of (figure of a rung / figure of the rung below), y, of cycles and of energy, for each
// layer: a Gaussian process over the points that have climbed the rung. Its covariance knows that points with the same
// value of one axis (the side, say) err alike in part, and near points in all; and that two programs of which the model
// says the same, layer by layer, are near each other whatever their memories:
//
//   k(x, x')  = (mean over axes of g_a + weights (work + likeness) / 2) / 2,  g_a = exp(-(distance along a / reach)^2 /
//   2) work      = product of g_a over axes that change the work (side, capacities), whose reach is 0.35 weights   =
//   product of g_a over axes that engine flow has weights for, whose reach is 1 likeness  = exp(-(mean over layers of
//   (ln of the model's cycles, apart / 0.03)^2) / 2) mean(x)   = m + k(x)^T A,  A = (K + 0.05 I)^-1 (y - m),  m = sum y
//   / (n + 1): as if one point had no error doubt(x)  = 1 - k(x)^T (K + 0.05 I)^-1 k(x), of the variance
//
// The variance itself is that of the corrections' own errors, each point's from all others, and at least what the rungs
// are known to err (docs/search-model.md, docs/flow-engine.md): points that climbed are near each other, as the best
// are, so they know each other better than they know the rest.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "search/codesign/internal.h"

static const double prior[CODESIGN_RUNGS] = {0.15, 0.02, 0};  // of a rung below engine cycle
static const double noise = 0.05;

enum { FIGURES = 2 };  // of a layer: cycles, energy

typedef struct correction {
  codesign_rung rung;
  size_t *sites;    // that have climbed it
  size_t count;     // of them
  double *inverse;  // of K + noise, count x count
  double *offset;   // m of each figure of each layer
  double *weights;  // A of each, count of them
  double variance;
} correction;

// How alike the model finds two points: by the cycles of their layers.
static double model_likeness(const codesign_loop *l, const codesign_site *a, const codesign_site *b) {
  static const double near = 0.03;
  const size_t layers = l->result->layer_count;
  double sum = 0;
  for (size_t i = 0; i < layers; i++) {
    const double apart = log(a->layers[CODESIGN_MODEL][i].cycles / b->layers[CODESIGN_MODEL][i].cycles) / near;
    sum += apart * apart;
  }
  return exp(-sum / (double)layers / 2);
}

double codesign_covariance(const codesign_loop *l, const codesign_site *a, const codesign_site *b) {
  const codesign_space *space = l->options->space;
  double sum = 0, work = 1, weights = 1, axes = 0;
  for (size_t n = 0; n < space->axis_count; n++) {
    if (space->axes[n].value_count < 2) continue;
    const double step = ((double)a->point.at[n] - b->point.at[n]) / (double)(space->axes[n].value_count - 1);
    const double alike = exp(-step * step / l->reach[n] / l->reach[n] / 2);
    sum += alike;
    *(l->reach[n] < 1 ? &work : &weights) *= alike;
    axes++;
  }
  if (axes == 0) return 1;
  return (sum / axes + weights * (work + model_likeness(l, a, b)) / 2) / 2;
}

// By Gauss and Jordan: the matrix is symmetric and positive definite, so no row needs to change places.
void codesign_invert(double *m, size_t n) {
  for (size_t p = 0; p < n; p++) {
    const double pivot = 1 / m[p * n + p];
    m[p * n + p] = 1;
    for (size_t c = 0; c < n; c++) m[p * n + c] *= pivot;
    for (size_t r = 0; r < n; r++) {
      const double factor = m[r * n + p];
      if (r == p) continue;
      m[r * n + p] = 0;
      for (size_t c = 0; c < n; c++) m[r * n + c] -= factor * m[p * n + c];
    }
  }
}

static double ratio(const codesign_site *site, codesign_rung rung, size_t figure) {
  const codesign_figure *above = &site->layers[rung][figure / FIGURES],
                        *below = &site->layers[rung - 1][figure / FIGURES];
  return figure % FIGURES == 0 ? log(above->cycles / below->cycles) : log(above->energy_uj / below->energy_uj);
}

static const codesign_site *site_at(const codesign_loop *l, const correction *c, size_t i) {
  return &l->result->sites[c->sites[i]];
}

static void fit_figure(const codesign_loop *l, correction *c, size_t figure) {
  double *weights = &c->weights[figure * c->count], *y = WF_NEW_ARRAY(c->count + 1, double), sum = 0;
  for (size_t i = 0; i < c->count; i++) sum += y[i] = ratio(site_at(l, c, i), c->rung, figure);
  c->offset[figure] = sum / ((double)c->count + 1);
  for (size_t i = 0; i < c->count; i++) {
    weights[i] = 0;
    for (size_t k = 0; k < c->count; k++) weights[i] += c->inverse[i * c->count + k] * (y[k] - c->offset[figure]);
  }
  wf_free(y);
}

// The error of what was believed of a point one rung below, from all others: leaving a point out takes its weight over
// its entry of the inverse away from the correction.
static double error_of(codesign_loop *l, const correction *c, size_t i, codesign_figure *figures) {
  const codesign_site *site = site_at(l, c, i);
  const double own = c->inverse[i * c->count + i];
  for (size_t n = 0; n < l->result->layer_count; n++) {
    const double *weights = &c->weights[FIGURES * n * c->count];
    figures[n].cycles = site->layers[c->rung][n].cycles * exp(-weights[i] / own);
    figures[n].energy_uj = site->layers[c->rung][n].energy_uj * exp(-weights[c->count + i] / own);
  }
  return codesign_goal(l, codesign_sum(l->result, site, figures)) - codesign_goal(l, site->cost[c->rung]);
}

static double variance_of(codesign_loop *l, const correction *c, codesign_figure *figures) {
  static const double beyond = 3;  // on the other side of a bound
  const double least = prior[c->rung - 1] * prior[c->rung - 1];
  double sum = least;
  size_t count = 1;
  for (size_t i = 0; i < c->count; i++) {
    const double error = error_of(l, c, i, figures);
    if (fabs(error) > beyond) continue;
    sum += error * error * fmin(1, c->inverse[i * c->count + i]);  // the less was known of it, the less it counts
    count++;
  }
  return fmax(least, sum / (double)count);
}

static correction fit(codesign_loop *l, codesign_rung rung, codesign_figure *figures) {
  const codesign_result *r = l->result;
  correction c = {.rung = rung, .sites = WF_NEW_ARRAY(r->count + 1, size_t)};
  for (size_t i = 0; i < r->count; i++)
    if (!r->sites[i].failed && r->sites[i].rungs > (unsigned)rung) c.sites[c.count++] = i;
  c.inverse = WF_NEW_ARRAY(c.count * c.count + 1, double);
  for (size_t i = 0; i < c.count; i++)
    for (size_t k = 0; k < c.count; k++)
      c.inverse[i * c.count + k] = codesign_covariance(l, site_at(l, &c, i), site_at(l, &c, k)) + (i == k ? noise : 0);
  codesign_invert(c.inverse, c.count);
  c.offset = WF_NEW_ARRAY(FIGURES * r->layer_count + 1, double);
  c.weights = WF_NEW_ARRAY(FIGURES * r->layer_count * c.count + 1, double);
  for (size_t figure = 0; figure < FIGURES * r->layer_count; figure++) fit_figure(l, &c, figure);
  c.variance = variance_of(l, &c, figures);
  return c;
}

static void release(correction *c) {
  wf_free(c->sites);
  wf_free(c->inverse);
  wf_free(c->offset);
  wf_free(c->weights);
}

static double dot(const double *a, const double *b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

// Corrects figures of the rung below to this one; the variance that is left.
static double raise(const codesign_loop *l, const correction *c, const codesign_site *site, codesign_figure *figures) {
  double *k = WF_NEW_ARRAY(c->count + 1, double), known = 0;
  for (size_t i = 0; i < c->count; i++) k[i] = codesign_covariance(l, site, site_at(l, c, i));
  for (size_t i = 0; i < c->count; i++) known += k[i] * dot(&c->inverse[i * c->count], k, c->count);
  for (size_t n = 0; n < l->result->layer_count; n++) {
    const size_t figure = FIGURES * n;
    figures[n].cycles *= exp(c->offset[figure] + dot(&c->weights[figure * c->count], k, c->count));
    figures[n].energy_uj *= exp(c->offset[figure + 1] + dot(&c->weights[(figure + 1) * c->count], k, c->count));
  }
  wf_free(k);
  return c->variance * fmax(1 - known, noise);
}

// What the account of engine flow says of a site that only the model has looked at, by the point whose word is the
// surest; its variance. INFINITY: no point that flow ran has the same program.
static double account_of(const codesign_loop *l, const codesign_site *site, double *cycles) {
  // Errors: of flow, of each axis, of each time that one is halved, of what moves.
  static const double known = 0.02, axis = 0.03, halving = 0.05, first_order = 0.5;
  double least = INFINITY;
  for (size_t i = 0; i < l->result->count; i++) {
    const codesign_site *from = &l->result->sites[i];
    codesign_account_word word;
    if (from->failed || from->rungs <= CODESIGN_FLOW || !codesign_account_says(l->options, from, &site->point, &word))
      continue;
    const double variance =
        known * known + word.axes * axis * axis + pow(halving * word.halvings, 2) + pow(first_order * word.moved, 2);
    if (variance < least) least = variance, *cycles = word.cycles;
  }
  return least;
}

// Cycles that the model's correction and an account say, the surer the more; the variance of both together.
static double join_account(const codesign_loop *l, const codesign_site *site, double variance,
                           codesign_figure *figures) {
  double cycles = 0;
  const double of_account = account_of(l, site, &cycles);
  if (of_account == INFINITY) return variance;
  const double share = variance / (variance + of_account),
               factor = pow(cycles / codesign_sum(l->result, site, figures).cycles, share);
  for (size_t n = 0; n < l->result->layer_count; n++) figures[n].cycles *= factor;
  return share * of_account;
}

static void believe(codesign_loop *l, codesign_site *site, const correction *corrections, codesign_figure *figures) {
  double variance = 0;
  if (site->failed || site->rungs == 0) {
    site->mean = INFINITY;
    site->spread = 0;
    return;
  }
  memcpy(figures, site->layers[site->rungs - 1], l->result->layer_count * sizeof *figures);
  for (unsigned rung = site->rungs; rung < CODESIGN_RUNGS; rung++) {
    variance += raise(l, &corrections[rung], site, figures);
    if (rung == CODESIGN_FLOW) variance = join_account(l, site, variance, figures);
  }
  site->mean = codesign_goal(l, codesign_sum(l->result, site, figures));
  site->spread = sqrt(variance);
}

void codesign_correct(codesign_loop *l) {
  codesign_figure *figures = WF_NEW_ARRAY(l->result->layer_count + 1, codesign_figure);
  correction corrections[CODESIGN_RUNGS];
  for (unsigned rung = CODESIGN_FLOW; rung < CODESIGN_RUNGS; rung++)
    corrections[rung] = fit(l, (codesign_rung)rung, figures);
  for (size_t i = 0; i < l->result->count; i++) believe(l, &l->result->sites[i], corrections, figures);
  for (unsigned rung = CODESIGN_FLOW; rung < CODESIGN_RUNGS; rung++) release(&corrections[rung]);
  wf_free(figures);
}
