// SPDX-License-Identifier: Apache-2.0
// Calls of the hart in pieces: along their outermost dimension, where that changes no result.
#ifndef COMPILER_NETWORK_OVERLAP_PIECES_H
#define COMPILER_NETWORK_OVERLAP_PIECES_H

#include "compiler/network/network.h"

// Calls that go together: one by itself, or a chain.
typedef struct network_calls_of_one {
  const network_call *calls;
  int count;
  int64_t elements;
} network_calls_of_one;

// How many calls from `calls` on go together, and how large they are.
network_calls_of_one network_calls_together(const network_call *calls);
// Into how many pieces they are cut where so many are wanted: 1 where they cannot be cut, and at most as many as they
// have points along their first dimensions.
int64_t network_count_pieces(const network_calls_of_one *together, int64_t wanted);
// Piece `number` of so many, as a turn of the call `first`.
struct weft_host_turn network_piece_turn(const network_calls_of_one *together, int64_t number, int64_t pieces,
                                         uint32_t first);

#endif
