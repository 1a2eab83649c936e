// SPDX-License-Identifier: Apache-2.0
// A host with a little memory and a program of words, for unit tests. Registers are poked and read directly.
#ifndef SIM_HOST_TESTS_MACHINE_H
#define SIM_HOST_TESTS_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/host/rv64.h"

#define MACHINE_BASE ARCH_MEMORY_BASE
#define MACHINE_BYTES UINT64_C(0x100000)
#define MACHINE_END (MACHINE_BASE + MACHINE_BYTES)
#define MACHINE_DATA (MACHINE_BASE + 0x10000)
#define MACHINE_TOHOST (MACHINE_BASE + 0x20000)
#define MACHINE_FROMHOST (MACHINE_TOHOST + 64)
#define MACHINE_HANDLER (MACHINE_BASE + 0x30000)

typedef struct machine {
  arch_memory *memory;
  host_config config;
  host *h;  // made by the first machine_host
  FILE *console, *console_error;
  char *text, *error_text;
  size_t text_length, error_length;
} machine;

machine *machine_create(void);
void machine_destroy(machine *m);
host *machine_host(machine *m);  // with the configuration as it is now
void machine_words(machine *m, uint64_t address, const uint32_t *words, size_t count);
void machine_set64(machine *m, uint64_t address, uint64_t value);
uint64_t machine_get64(const machine *m, uint64_t address);
host_result machine_run(machine *m);  // and flushes the consoles

// The words at MACHINE_BASE, run to the end.
#define MACHINE_RUN(m, ...)                                                                                      \
  (machine_words(m, MACHINE_BASE, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4), \
   machine_run(m))
#define MACHINE_PUT(m, address, ...) \
  machine_words(m, address, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

#endif
