// Correlations and errors: see judge.h.
#include "search/model/judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double correlation(const double *x, const double *y, size_t count) {
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  const double n = (double)count;
  for (size_t i = 0; i < count; i++) sx += x[i] / n, sy += y[i] / n;
  for (size_t i = 0; i < count; i++) {
    sxx += (x[i] - sx) * (x[i] - sx);
    syy += (y[i] - sy) * (y[i] - sy);
    sxy += (x[i] - sx) * (y[i] - sy);
  }
  return count < 3 || sxx <= 0 || syy <= 0 ? 0 : sxy / sqrt(sxx * syy);
}

typedef struct ranked {
  double value;
  size_t index;
} ranked;

// Equal values share the mean of their ranks.
static void rank(const double *values, double *ranks, size_t count) {
  ranked *all = WF_NEW_ARRAY(count, ranked);
  for (size_t i = 0; i < count; i++) all[i] = (ranked){values[i], i};
  qsort(all, count, sizeof *all, by_value);  // the value is the first member
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && all[end].value == all[i].value;) end++;
    for (size_t j = i; j < end; j++) ranks[all[j].index] = (double)(i + end - 1) / 2;
  }
  wf_free(all);
}

static void judge_errors(const judge_pair *pairs, size_t count, judge_verdict *v) {
  double *errors = WF_NEW_ARRAY(count, double);
  for (size_t i = 0; i < count; i++) {
    errors[i] = fabs(pairs[i].predicted / pairs[i].simulated - 1);
    v->mean += errors[i] / (double)count;
    v->bias += log(pairs[i].predicted / pairs[i].simulated) / (double)count;
  }
  qsort(errors, count, sizeof *errors, by_value);
  v->median = errors[count / 2];
  v->p90 = errors[count * 9 / 10];
  v->max = errors[count - 1];
  wf_free(errors);
}

judge_verdict judge_pairs(const judge_pair *pairs, size_t count) {
  judge_verdict v = {.count = count};
  if (count == 0) return v;
  double *x = WF_NEW_ARRAY(4 * count, double), *y = x + count, *rx = y + count, *ry = rx + count;
  for (size_t i = 0; i < count; i++) {
    x[i] = log(pairs[i].predicted);
    y[i] = log(pairs[i].simulated);
  }
  v.pearson = correlation(x, y, count);
  rank(x, rx, count);
  rank(y, ry, count);
  v.spearman = correlation(rx, ry, count);
  wf_free(x);
  judge_errors(pairs, count, &v);
  return v;
}
