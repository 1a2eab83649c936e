// SPDX-License-Identifier: Apache-2.0
// An array as the quantiser sees it.
#ifndef COMPILER_NETWORK_TARGET_H
#define COMPILER_NETWORK_TARGET_H

#include "compiler/quantise/quantise.h"
#include "hw/array.h"

quantise_target network_target(const hw_array *array);

#endif
