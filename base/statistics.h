// SPDX-License-Identifier: Apache-2.0
// Figures of many values: means, extremes, places in their order, correlations.
#ifndef BASE_STATISTICS_H
#define BASE_STATISTICS_H

#include <stddef.h>

// Values that are added one by one.
typedef struct wf_summary {
  size_t count;
  double sum, logarithms;  // of the logarithms: the sum
  double least, most;      // 0 of no values
} wf_summary;

void wf_summary_add(wf_summary *summary, double value);
double wf_summary_mean(const wf_summary *summary);       // 0 of no values
double wf_summary_geometric(const wf_summary *summary);  // mean of values above 0; 0 of no values

// The mean of an array: 0 of no values.
double wf_mean(const double *values, size_t count);

void wf_sort(double *values, size_t count);
// The median is the mean of both values in the middle; a percentile is the value in front of which that many percent
// stand. Both take sorted values, at least one; percent is less than 100.
double wf_median(const double *sorted, size_t count);
double wf_percentile(const double *sorted, size_t count, unsigned percent);

// Pearson's coefficient, and Spearman's: that of the ranks, where equal values share the mean of theirs. Both are 0 of
// fewer than three values, and where all x or all y are equal.
double wf_correlation(const double *x, const double *y, size_t count);
double wf_rank_correlation(const double *x, const double *y, size_t count);

#endif
