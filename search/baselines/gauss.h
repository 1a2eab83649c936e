// SPDX-License-Identifier: Apache-2.0
// Gaussian processes: a mean and a spread at points that were not evaluated, from points that were. The covariance is
// exp(-|x - y|^2 / (2 length^2)) over inputs scaled to unit spread, plus noise; outputs are centred and scaled.
#ifndef SEARCH_BASELINES_GAUSS_H
#define SEARCH_BASELINES_GAUSS_H

#include <stddef.h>

typedef struct baseline_gauss baseline_gauss;

// points: count x inputs numbers. The length is the median distance of the points.
baseline_gauss *baseline_gauss_fit(const double *points, const double *outputs, size_t count, size_t inputs);
void baseline_gauss_destroy(baseline_gauss *process);
void baseline_gauss_predict(const baseline_gauss *process, const double *point, double *mean, double *spread);

#endif
