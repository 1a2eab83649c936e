// SPDX-License-Identifier: Apache-2.0
// See gauss.h. K = L L^T by Cholesky; mean = k^T K^-1 y, variance = 1 + noise - |L^-1 k|^2.
#include "search/baselines/gauss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const double noise = 1e-3;

struct baseline_gauss {
  size_t count, inputs;
  double *points;  // scaled
  double *offset, *scale;
  double length, output_mean, output_scale;
  double *lower;    // L, count x count
  double *weights;  // K^-1 y
  double *scratch;  // for predictions: count + inputs
};

static double distance2(const baseline_gauss *g, const double *a, const double *b) {
  double sum = 0;
  for (size_t n = 0; n < g->inputs; n++) sum += (a[n] - b[n]) * (a[n] - b[n]);
  return sum;
}

static double covariance(const baseline_gauss *g, const double *a, const double *b) {
  return exp(-0.5 * distance2(g, a, b) / (g->length * g->length));
}

static void spread_of(const double *values, size_t count, size_t stride, double *mean, double *scale) {
  double sum = 0, squares = 0;
  for (size_t n = 0; n < count; n++) sum += values[n * stride];
  *mean = sum / (double)count;
  for (size_t n = 0; n < count; n++) squares += (values[n * stride] - *mean) * (values[n * stride] - *mean);
  *scale = squares > 0 ? sqrt(squares / (double)count) : 1;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_distance(const baseline_gauss *g) {
  const size_t pairs = g->count * (g->count - 1) / 2;
  if (pairs == 0) return 1;
  double *all = wf_alloc(pairs, sizeof *all);
  size_t at = 0;
  for (size_t i = 0; i < g->count; i++)
    for (size_t k = 0; k < i; k++) all[at++] = distance2(g, &g->points[i * g->inputs], &g->points[k * g->inputs]);
  qsort(all, pairs, sizeof *all, by_size);
  const double median = sqrt(all[pairs / 2]);
  wf_free(all);
  return median > 0 ? median : 1;
}

static void factorise(baseline_gauss *g) {
  const size_t n = g->count;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k <= i; k++) {
      double sum = covariance(g, &g->points[i * g->inputs], &g->points[k * g->inputs]) + (i == k ? noise : 0);
      for (size_t j = 0; j < k; j++) sum -= g->lower[i * n + j] * g->lower[k * n + j];
      g->lower[i * n + k] = i == k ? sqrt(fmax(sum, 1e-12)) : sum / g->lower[k * n + k];
    }
}

static void solve_lower(const baseline_gauss *g, double *x) {
  for (size_t i = 0; i < g->count; i++) {
    for (size_t k = 0; k < i; k++) x[i] -= g->lower[i * g->count + k] * x[k];
    x[i] /= g->lower[i * g->count + i];
  }
}

static void solve_upper(const baseline_gauss *g, double *x) {
  for (size_t i = g->count; i-- > 0;) {
    for (size_t k = i + 1; k < g->count; k++) x[i] -= g->lower[k * g->count + i] * x[k];
    x[i] /= g->lower[i * g->count + i];
  }
}

baseline_gauss *baseline_gauss_fit(const double *points, const double *outputs, size_t count, size_t inputs) {
  baseline_gauss *g = WF_NEW(baseline_gauss);
  g->count = count;
  g->inputs = inputs;
  g->points = wf_alloc(count * inputs, sizeof *g->points);
  g->offset = wf_alloc(inputs, sizeof *g->offset);
  g->scale = wf_alloc(inputs, sizeof *g->scale);
  g->lower = wf_calloc(count * count, sizeof *g->lower);
  g->weights = wf_alloc(count, sizeof *g->weights);
  g->scratch = wf_alloc(count + inputs, sizeof *g->scratch);
  for (size_t d = 0; d < inputs; d++) spread_of(points + d, count, inputs, &g->offset[d], &g->scale[d]);
  for (size_t i = 0; i < count; i++)
    for (size_t d = 0; d < inputs; d++)
      g->points[i * inputs + d] = (points[i * inputs + d] - g->offset[d]) / g->scale[d];
  spread_of(outputs, count, 1, &g->output_mean, &g->output_scale);
  g->length = median_distance(g);
  factorise(g);
  for (size_t i = 0; i < count; i++) g->weights[i] = (outputs[i] - g->output_mean) / g->output_scale;
  solve_lower(g, g->weights);
  solve_upper(g, g->weights);
  return g;
}

void baseline_gauss_destroy(baseline_gauss *g) {
  if (!g) return;
  wf_free(g->points);
  wf_free(g->offset);
  wf_free(g->scale);
  wf_free(g->lower);
  wf_free(g->weights);
  wf_free(g->scratch);
  wf_free(g);
}

void baseline_gauss_predict(const baseline_gauss *g, const double *point, double *mean, double *spread) {
  double *k = g->scratch, *scaled = g->scratch + g->count, sum = 0, explained = 0;
  for (size_t d = 0; d < g->inputs; d++) scaled[d] = (point[d] - g->offset[d]) / g->scale[d];
  for (size_t i = 0; i < g->count; i++) {
    k[i] = covariance(g, scaled, &g->points[i * g->inputs]);
    sum += k[i] * g->weights[i];
  }
  solve_lower(g, k);
  for (size_t i = 0; i < g->count; i++) explained += k[i] * k[i];
  *mean = g->output_mean + g->output_scale * sum;
  *spread = g->output_scale * sqrt(fmax(0, 1 + noise - explained));
}
