// SPDX-License-Identifier: Apache-2.0
// See target.h.
#include "compiler/network/target.h"

#include "compiler/network/held.h"
#include "compiler/network/unit.h"

quantise_target network_target(const hw_array *array) {
  return (quantise_target){.unit_columns = network_unit_columns(array),
                           .near_bytes = array->l2.present ? (int64_t)array->l2.capacity_kib * 1024 : 0,
                           .gate = array->units.gate,
                           .row_scales = network_held_fits(1, 1, array),
                           .bytes_only = !array->accumulator.full_reads};
}
