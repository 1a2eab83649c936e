// SPDX-License-Identifier: Apache-2.0
// Orders of channels in which zeros of weights make whole blocks: cluster.c.
#ifndef WORKLOADS_NETWORKS_CLUSTER_H
#define WORKLOADS_NETWORKS_CLUSTER_H

#include <stdint.h>

// Weights of R x S taps, C x K each.
typedef struct networks_weights {
  const int8_t *elements;
  int64_t taps, inputs, outputs;
} networks_weights;

// Finds an order of the inputs and one of the outputs (order[n] is the channel that comes n-th) by which as many blocks
// of `side` x `side` weights as it can are empty. The layer is the same one: who made its inputs makes them in this
// order, and who takes its outputs takes them so.
void networks_cluster(const networks_weights *weights, int64_t side, int *inputs, int *outputs);

// The weights in these orders, of the same shape.
void networks_reorder(const networks_weights *weights, const int *inputs, const int *outputs, int8_t *to);

#endif
