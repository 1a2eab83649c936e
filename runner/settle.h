// SPDX-License-Identifier: Apache-2.0
// Mixed steps judged where they run: in the network.
//
// The planner of mixes (compiler/network/fuse.c) judges a window behind the step before it alone, and in the network
// the caches hold other lines. So the network runs with its mixes and without; those that take longer there, with what
// they leave to the step behind them, are refused, and the best of all these networks is the answer.
#ifndef RUNNER_SETTLE_H
#define RUNNER_SETTLE_H

#include "compiler/network/network.h"

// network_create; with fuse auto never slower than without; with overlap that of runner/overlap.h. `inputs`: per input
// of the graph.
network *run_settle_network(const graph *placed, const network_options *options, const void *const *inputs,
                            wf_diag *diag);

#endif
