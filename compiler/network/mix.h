// SPDX-License-Identifier: Apache-2.0
// Neighbouring steps of the array as one: their kernels compiled for shares of both local memories, mixed into one
// stream (compiler/schedule/mix.h).
#ifndef COMPILER_NETWORK_MIX_H
#define COMPILER_NETWORK_MIX_H

#include "compiler/network/network.h"

typedef struct network_window {
  int first, count;  // steps
} network_window;

// How the accumulator is shared: parts for each step; and which of a layer's mappings by rows it has, counted from the
// best by estimate. The scratchpad is shared by what weights take of it.
enum { NETWORK_MIXED_MAPPINGS = 6 };
typedef struct network_shares {
  uint8_t accumulator[NETWORK_MIXED_MAX];
  uint8_t mapping[NETWORK_MIXED_MAX];  // less than NETWORK_MIXED_MAPPINGS
  bool forward;                        // tensors between the steps go through the scratchpad where they can,
  bool deep;                           // where a later step has as many slots for them as there is room for
} network_shares;

// Whether the steps may be mixed: layers of the array in single commands, whose operands in memory are equal or apart,
// and each written once and read behind that.
bool network_can_mix(const network *net, network_window window);
// Whether a step of the window reads what another one writes.
bool network_is_linked(const network *net, network_window window);

// A program for a window whose steps may be mixed.
typedef struct network_mix_request {
  network_window window;
  int alone;              // so many of its first steps run by themselves, each with all of both memories
  network_shares shares;  // of the others
} network_mix_request;

enum { NETWORK_MIXED_TENSORS = (NETWORK_MIXED_MAX + 1) * (NETWORK_OPERANDS + 2) };

// Tensors that nothing but the window needs, and that are forwarded, the program neither reads nor writes.
// `places` has room for NETWORK_MIXED_TENSORS: per tensor where it lies, buffer -1: a constant of the program. At most
// NETWORK_MIXED_MAX steps are mixed, at most one more stands in the window. NULL if they do not fit.
command_program *network_mix(const network *net, const network_mix_request *request, network_place *places);

#endif
