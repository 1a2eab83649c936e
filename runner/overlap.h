// SPDX-License-Identifier: Apache-2.0
// Networks whose hart and array work at one time where that is faster (compiler/network/overlap/overlap.h).
#ifndef RUNNER_OVERLAP_H
#define RUNNER_OVERLAP_H

#include "compiler/network/network.h"

// network_create, never slower than without: the network runs one step after the other, what its steps take says which
// share a slot, and the faster of both networks is the answer. Mixes exclude it. `inputs`: per input of the graph.
network *run_overlap_network(const graph *placed, const network_options *options, const void *const *inputs,
                             wf_diag *diag);

#endif
