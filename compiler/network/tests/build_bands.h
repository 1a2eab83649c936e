// SPDX-License-Identifier: Apache-2.0
// Attention as the quantiser leaves it, for tests of bands.
#ifndef COMPILER_NETWORK_TESTS_BUILD_BANDS_H
#define COMPILER_NETWORK_TESTS_BUILD_BANDS_H

#include "compiler/graph/graph.h"

typedef enum build_bands_kind {
  BUILD_BANDS_SOFTMAX,  // on the hart, with a mask for the rows of each matrix
  BUILD_BANDS_SHARES,   // largest numbers by pooling, exponentials as a curve, rows divided behind the product
  BUILD_BANDS_MASKED,   // the same with positions for each head and a mask
  BUILD_BANDS_UNIT,     // in the normaliser, with a length for each row
  BUILD_BANDS_KINDS
} build_bands_kind;

typedef struct build_bands_sizes {
  int64_t images, heads, rows, columns, depth, results;  // columns: a multiple of 4
  bool turned;  // queries, keys, values and results lie by rows, and heads are exchanged with these
} build_bands_sizes;

graph *build_bands(const build_bands_sizes *n, build_bands_kind kind);

#endif
