// SPDX-License-Identifier: Apache-2.0
// Networks whose hart and array work at one time, for tests.
#ifndef COMPILER_NETWORK_TESTS_SLOTS_H
#define COMPILER_NETWORK_TESTS_SLOTS_H

#include "compiler/network/overlap/overlap.h"

// As many steps as a rule finds share slots, whether that is faster or not. The array must live as long.
network *network_in_slots(const graph *g, const hw_array *array, network_slot_rule rule);

#endif
