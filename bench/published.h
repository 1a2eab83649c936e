// SPDX-License-Identifier: Apache-2.0
// Shapes that others published, with their figures: workloads/published.csv.
#ifndef BENCH_PUBLISHED_H
#define BENCH_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

typedef struct bench_published_row {
  const char *set, *name, *kernel;
  const char *plain_shape;                    // "M=512 N=512 K=512"
  char *shape;                                // "M=512,N=512,K=512"
  uint64_t published_cycles, library_cycles;  // 0: none
  double target_percent;                      // of utilisation; 0: none
} bench_published_row;

typedef struct bench_published {
  char *text;  // that the rows point into
  bench_published_row *rows;
  size_t count;
} bench_published;

// Without a path the table that travels in the program. False after the reason was reported.
bool bench_published_load(bench_published *table, const char *path, wf_diag *diag);
void bench_published_release(bench_published *table);

#endif
