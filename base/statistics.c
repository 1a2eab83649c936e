// SPDX-License-Identifier: Apache-2.0
// Figures of many values: see statistics.h.
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/number.h"

void wf_summary_add(wf_summary *s, double value) {
  s->least = s->count == 0 ? value : wf_min(s->least, value);
  s->most = s->count == 0 ? value : wf_max(s->most, value);
  s->sum += value;
  s->logarithms += log(value);
  s->count++;
}

double wf_summary_mean(const wf_summary *s) { return s->count == 0 ? 0 : s->sum / (double)s->count; }

double wf_summary_geometric(const wf_summary *s) { return s->count == 0 ? 0 : exp(s->logarithms / (double)s->count); }

double wf_mean(const double *values, size_t count) {
  double mean = 0;
  for (size_t i = 0; i < count; i++) mean += values[i] / (double)count;
  return mean;
}

// ---- order

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void wf_sort(double *values, size_t count) { qsort(values, count, sizeof *values, by_value); }

double wf_median(const double *sorted, size_t count) { return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2; }

double wf_percentile(const double *sorted, size_t count, unsigned percent) { return sorted[count * percent / 100]; }

// ---- correlation

double wf_correlation(const double *x, const double *y, size_t count) {
  const double mean_x = wf_mean(x, count), mean_y = wf_mean(y, count);
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < count; i++) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return count < 3 || xx <= 0 || yy <= 0 ? 0 : xy / sqrt(xx * yy);
}

typedef struct ranked {
  double value;  // the first member: by_value compares it
  size_t index;
} ranked;

static void rank(const double *values, double *ranks, size_t count) {
  ranked *all = WF_NEW_ARRAY(count, ranked);
  for (size_t i = 0; i < count; i++) all[i] = (ranked){values[i], i};
  qsort(all, count, sizeof *all, by_value);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && all[end].value == all[i].value;) end++;
    for (size_t j = i; j < end; j++) ranks[all[j].index] = (double)(i + end - 1) / 2;
  }
  wf_free(all);
}

double wf_rank_correlation(const double *x, const double *y, size_t count) {
  if (count < 3) return 0;
  double *ranks = WF_NEW_ARRAY(2 * count, double);
  rank(x, ranks, count);
  rank(y, ranks + count, count);
  const double r = wf_correlation(ranks, ranks + count, count);
  wf_free(ranks);
  return r;
}
