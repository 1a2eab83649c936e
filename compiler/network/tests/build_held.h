// SPDX-License-Identifier: Apache-2.0
// A QShare behind its product, for the tests of network programs.
#ifndef COMPILER_NETWORK_TESTS_BUILD_HELD_H
#define COMPILER_NETWORK_TESTS_BUILD_HELD_H

#include "compiler/network/tests/build.h"

typedef struct build_held_sizes {
  int64_t images, heads, rows, cols, depth;
} build_held_sizes;

// Rows times values of each head, which the tensor of values has behind its tokens, divided by the sums of the rows;
// and something else for the hart.
graph *build_held(const build_held_sizes *n, float scale);

#endif
