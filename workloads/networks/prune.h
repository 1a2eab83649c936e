// SPDX-License-Identifier: Apache-2.0
// Zeros in weights: prune.c.
#ifndef WORKLOADS_NETWORKS_PRUNE_H
#define WORKLOADS_NETWORKS_PRUNE_H

#include "workloads/networks/networks.h"

typedef struct networks_pruning {
  double density;  // the share that is left
  int64_t block;   // inputs and outputs of a block; 1: single weights
  uint64_t seed;
} networks_pruning;

// "weights:DENSITY", "blocks:DENSITY" or "blocks:DENSITY:SIDE". False after the reason was reported.
bool networks_read_pruning(const char *text, uint64_t seed, networks_pruning *pruning, wf_diag *diag);
// Whether a weight stays.
bool networks_keeps(const networks_pruning *pruning, int64_t tap, int64_t input, int64_t output);
// Clears weights of the graph's products with constants and of its convolutions that are not in groups.
void networks_prune(const networks_pruning *pruning, graph *g);

#endif
