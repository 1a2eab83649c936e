// SPDX-License-Identifier: Apache-2.0
// Shapes that others published, with their figures: workloads/published.csv.
#ifndef BENCH_PUBLISHED_H
#define BENCH_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

typedef struct published_row {
  const char *set, *name, *kernel;
  const char *plain_shape;                    // "M=512 N=512 K=512"
  char *shape;                                // "M=512,N=512,K=512"
  uint64_t published_cycles, library_cycles;  // 0: none
  double target_percent;                      // of utilisation; 0: none
} published_row;

typedef struct published {
  char *text;  // that the rows point into
  published_row *rows;
  size_t count;
} published;

// Without a path the table that travels in the program. False after the reason was reported.
bool published_load(published *table, const char *path, wf_diag *diag);
void published_release(published *table);

#endif
