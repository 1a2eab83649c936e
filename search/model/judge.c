// SPDX-License-Identifier: Apache-2.0
// Correlations and errors: see judge.h.
#include "search/model/judge.h"

#include <math.h>

#include "base/alloc.h"
#include "base/statistics.h"

static void judge_errors(const judge_pair *pairs, size_t count, double *errors, judge_verdict *v) {
  for (size_t i = 0; i < count; i++) errors[i] = log(pairs[i].predicted / pairs[i].simulated);
  v->bias = wf_mean(errors, count);
  for (size_t i = 0; i < count; i++) errors[i] = fabs(pairs[i].predicted / pairs[i].simulated - 1);
  v->mean = wf_mean(errors, count);
  wf_sort(errors, count);
  v->median = wf_percentile(errors, count, 50);
  v->p90 = wf_percentile(errors, count, 90);
  v->max = errors[count - 1];
}

judge_verdict judge_pairs(const judge_pair *pairs, size_t count) {
  judge_verdict v = {.count = count};
  if (count == 0) return v;
  double *x = WF_NEW_ARRAY(2 * count, double), *y = x + count;
  for (size_t i = 0; i < count; i++) {
    x[i] = log(pairs[i].predicted);
    y[i] = log(pairs[i].simulated);
  }
  v.pearson = wf_correlation(x, y, count);
  v.spearman = wf_rank_correlation(x, y, count);
  judge_errors(pairs, count, x, &v);
  wf_free(x);
  return v;
}
