// SPDX-License-Identifier: Apache-2.0
// Two accelerators in one Verilated model, of side 4 and side 8, which share a clock: it ticks when both were clocked.
#ifndef HW_RTL_TESTS_FRONT_TWO_ARRAYS_H
#define HW_RTL_TESTS_FRONT_TWO_ARRAYS_H

#include "hw/rtl/tests/front/dut.h"

#ifdef __cplusplus
extern "C" {
#endif

void two_arrays_create(accel_dut *duts[2]);  // after reset; each is destroyed by itself

#ifdef __cplusplus
}
#endif
#endif
