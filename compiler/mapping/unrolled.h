// SPDX-License-Identifier: Apache-2.0
// Whether the hardware's loop unrollers can carry out a mapping of style loop: a part of map_check.
#ifndef COMPILER_MAPPING_UNROLLED_H
#define COMPILER_MAPPING_UNROLLED_H

#include "compiler/mapping/mapping.h"

// Of mappings of other styles nothing is asked. Factors, orders and residencies are in their ranges.
bool map_check_unrolled(const map_layer *layer, const map_mapping *mapping, const hw_array *array, wf_diag *diag);

#endif
