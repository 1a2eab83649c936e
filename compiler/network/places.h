// SPDX-License-Identifier: Apache-2.0
// What lies where in an arena, and the lowest free place for what comes next.
#ifndef COMPILER_NETWORK_PLACES_H
#define COMPILER_NETWORK_PLACES_H

#include <stdint.h>

#include "base/arena.h"

typedef struct network_places network_places;

network_places *network_places_create(wf_arena *arena);
// Takes the lowest address at which `bytes` bytes meet nothing that lives in one of the steps `first` to `until`.
uint64_t network_places_take(network_places *places, uint64_t bytes, int first, int until);

#endif
