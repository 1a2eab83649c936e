// SPDX-License-Identifier: Apache-2.0
// The step list of a network program: the steps that `weft sim` runs, equal ones as one entry with a count. It is what
// sweep, search and report count in (docs/steps.md).
//
// Two steps are equal if they do the same to caches that start alike: the same kernel with the same arguments but for
// scales, or the same calls of the hart but for their numbers, both behind an equal step.
#ifndef COMPILER_NETWORK_STEPS_H
#define COMPILER_NETWORK_STEPS_H

#include "compiler/network/network.h"

typedef struct network_entry {
  int first;       // the step that comes first; the others are equal to it
  int64_t count;   // of the steps
  uint64_t shape;  // hash of kernel and arguments, or of the hart's calls; the same on every machine
  uint64_t key;    // hash of the shape and of that of the step before
  uint64_t macs;   // of one step
} network_entry;

typedef struct network_step_list {
  network_entry *entries;  // in the order of their first steps
  int count;
  int *entry_of;  // per step of the network
} network_step_list;

network_step_list network_list_steps(const network *net);
void network_list_release(network_step_list *list);

// The shape of a kernel of the array, and of any step.
uint64_t network_shape_of(const layer_call *call);
uint64_t network_step_shape(const network *net, const network_step *step);
// The layer that the kernel of a step computes; NULL: a step of the hart, or a kernel that is no layer.
const map_layer *network_layer_of(const network *net, const network_step *step);
// Bytes of the buffers that a step uses.
uint64_t network_bytes_of(const network *net, const network_step *step);

#endif
