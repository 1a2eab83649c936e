// SPDX-License-Identifier: Apache-2.0
// An arena of few bytes: addresses for pieces of memory that live from one step to another.
#ifndef COMPILER_NETWORK_ARENA_H
#define COMPILER_NETWORK_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct network_piece {
  uint64_t bytes;
  int first, until;  // steps that it lives in
  uint64_t address;
} network_piece;

// The most bytes that live in one step: no arrangement has fewer.
uint64_t network_arena_least(const network_piece *pieces, size_t count);

// Gives every piece an address at which it meets no other that lives at the same time. Returns the arena's bytes. The
// same pieces get the same addresses each time.
uint64_t network_arena_place(network_piece *pieces, size_t count);

#endif
