// SPDX-License-Identifier: Apache-2.0
// The fronts that two engines find in one sweep: whether the one that is quicker shows the same points.
#ifndef SEARCH_REPORT_FRONTS_H
#define SEARCH_REPORT_FRONTS_H

#include "search/report/data.h"

// A point on either front. `off` is by the figures of the exact engine: of a point on its front alone how much worse,
// in the worst figure, the nearest point on the other front is; of one on the other front alone how much worse it is
// than the nearest point on the exact front.
typedef struct report_fronts_point {
  size_t point;
  double cycles[2], energy_pj[2];  // exact, near
  bool on[2];
  double off;
} report_fronts_point;

typedef struct report_fronts {
  const char *network;
  report_fronts_point *points;
  size_t count;
  size_t compared, on[2], both;      // points that are good in both; on each front, on both
  double mean_cycles, worst_cycles;  // errors of the near engine over all points: without sign, part of one
  double worst_off;
} report_fronts;

// Of a network, by its place, in data of one store by two engines. Release the points with wf_free.
report_fronts report_compare_fronts(const report_data *exact, const report_data *near, size_t network);

#endif
