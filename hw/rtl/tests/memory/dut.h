// SPDX-License-Identifier: Apache-2.0
// A Verilated module for tests in C: its ports by name, as bytes in little-endian order.
#ifndef HW_RTL_TESTS_MEMORY_DUT_H
#define HW_RTL_TESTS_MEMORY_DUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dut dut;

dut *dut_create(void);
void dut_destroy(dut *d);
void dut_eval(dut *d);
// Storage of a port, of *bytes bytes; NULL if there is none of that name.
void *dut_port(dut *d, const char *name, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
