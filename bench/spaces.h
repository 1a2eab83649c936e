// SPDX-License-Identifier: Apache-2.0
// Small spaces of mappings that are simulated whole: whether the best of what the model of the machine prefers is the
// best there is. `weft bench model --spaces`.
#ifndef BENCH_SPACES_H
#define BENCH_SPACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

enum { SPACES_NAME = 48, SPACES_TOP = 10 };

typedef struct bench_space_verdict {
  char name[SPACES_NAME];  // "gemmini-default 32 x 32 x 32"
  size_t count;            // of legal mappings, all simulated
  double first, top;       // cycles of the model's first, and of the best of its first ten, over the least of all
  double worst;            // the most cycles of all over the least
} bench_space_verdict;

// `verdicts` has room for bench_spaces_count(). False after an error was reported.
size_t bench_spaces_count(void);
bool bench_spaces(bench_space_verdict *verdicts, wf_diag *diag);

#endif
