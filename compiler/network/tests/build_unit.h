// SPDX-License-Identifier: Apache-2.0
// Nodes for the normaliser, for the tests of network programs.
#ifndef COMPILER_NETWORK_TESTS_BUILD_UNIT_H
#define COMPILER_NETWORK_TESTS_BUILD_UNIT_H

#include "compiler/graph/unit_rows.h"
#include "compiler/network/tests/build.h"

// With the constants for a scale of x. Two copies where there is an offset, or a second gain.
graph_unit build_softmax(int32_t gain, int32_t offset, double scale);
graph_unit build_norm(int32_t first, int32_t second, bool centred);
graph_unit build_gelu(int32_t gain, double scale);

// `lengths` rows of softmax have lengths of their own, which repeat; 0: all have all columns.
int build_unit(graph *g, int x, const graph_unit *unit, int64_t lengths);

#endif
