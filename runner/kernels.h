// SPDX-License-Identifier: Apache-2.0
// Kernels by cost: for every layer of a network the scheme (compiler/network/scheme.h) that takes the fewest cycles
// there, in place of the rules of lowering.
//
// A scheme is judged in the network, behind what the layer before it leaves in the caches, with the copies that it
// takes. The answer is timed on the cycle engine beside the network by the rules and is never slower.
#ifndef RUNNER_KERNELS_H
#define RUNNER_KERNELS_H

#include "runner/tune.h"

// A scheme that was tried for the layers of one shape.
typedef struct run_kernels_try {
  const char *text;
  double estimate;  // the mapper's, cycles of one layer
  double cycles;    // of one layer in the network on engine flow; 0: the estimate was too large, or it does not compile
} run_kernels_try;

// A layer with a choice.
typedef struct run_kernels_layer {
  const graph_node *node;
  const char *scheme;        // "rules": they stay
  const char *by_rule, *is;  // the kernels
  uint64_t before, cycles;   // on engine cycle, by the rules and by the scheme, with what follows up to the next layer
                             // with a choice
  const run_kernels_try *tries;  // of its shape; the first is by the rules
  size_t try_count;
} run_kernels_layer;

typedef struct run_kernels_result {
  wf_arena *arena;
  run_kernels_layer *layers;  // in the order of the steps
  size_t layer_count;
  const network_scheme **schemes;  // per node of the graph; NULL: by the rules
  const graph_node *nodes;         // of the graph
  uint64_t before, cycles;         // of the network, on engine cycle, not tuned and not mixed
  bool kept;                       // by run_kernels_network
  uint64_t shapes, schemes_listed, schemes_judged, runs;
  double seconds;  // of all processors
} run_kernels_result;

typedef struct run_kernels_request {
  const graph *placed;
  const network_options *options;
  const void *const *inputs;  // per input of the graph
} run_kernels_request;

// False after errors were reported. Release in any case.
bool run_kernels(const run_kernels_request *request, run_kernels_result *result, wf_diag *diag);
void run_kernels_release(run_kernels_result *result);
// run_tune_network with these schemes. Where mappings are tuned or steps are mixed as well, the network by the rules is
// tuned and mixed, too, and the faster one is the answer: `kept` says whether it has the schemes. Release the result in
// any case.
network *run_kernels_network(const run_tune_request *request, run_kernels_result *result, wf_diag *diag);

// For network_options.scheme, with a result as the context.
const network_scheme *run_kernels_scheme(void *context, const graph_node *node);

#endif
