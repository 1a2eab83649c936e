// SPDX-License-Identifier: Apache-2.0
// A reference engine with memory for the tests. Commands are given as text (isa_parse); fields left out are zero.
#ifndef SIM_REF_TESTS_MACHINE_H
#define SIM_REF_TESTS_MACHINE_H

#include "base/test.h"
#include "hw/array.h"
#include "sim/engine.h"

typedef struct machine {
  hw_array array;
  arch_memory *memory;
  sim_engine *engine;
  uint64_t commands;
} machine;

// Fails the test if the array is not legal.
machine *machine_create(const hw_array *array);
void machine_destroy(machine *m);
hw_array machine_default_array(void);

// The command must pass; returns the response.
uint64_t give(machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The command must fault with this kind and text. The engine takes nothing more.
void refuse(machine *m, arch_fault_kind kind, const char *text, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Memory at an address that the tests write as 0x80000000 + offset.
int8_t *bytes_at(machine *m, uint64_t address);
int32_t *words_at(machine *m, uint64_t address);
void fill_bytes(machine *m, uint64_t address, size_t count, int value);

// "1 2 3": the elements as decimal numbers.
void expect_bytes(machine *m, uint64_t address, const char *elements);
void expect_words(machine *m, uint64_t address, const char *elements);

#endif
