// SPDX-License-Identifier: Apache-2.0
// How well predictions agree with what was simulated.
#ifndef SEARCH_MODEL_JUDGE_H
#define SEARCH_MODEL_JUDGE_H

#include <stddef.h>

typedef struct judge_pair {
  double predicted, simulated;  // both above 0
} judge_pair;

typedef struct judge_verdict {
  size_t count;
  double pearson;  // of the logarithms
  double spearman;
  double mean, median, p90, max;  // of |predicted / simulated - 1|
  double bias;                    // mean of log(predicted / simulated)
} judge_verdict;

// All zeros if there are none; correlations are 0 of fewer than three.
judge_verdict judge_pairs(const judge_pair *pairs, size_t count);

#endif
