// SPDX-License-Identifier: Apache-2.0
// What differs between the two builds of one source: the RISC-V program and, with WEFT_NATIVE, the same program on the
// machine that simulates, talking to an engine directly. Everything else is written on these functions.
#ifndef WEFT_PORT_H
#define WEFT_PORT_H

#include <stddef.h>
#include <stdint.h>

// Bytes to the console of the simulator or host that runs the program.
void weft_write(const char *text, size_t length);
// Ends the program; 0 is success.
_Noreturn void weft_exit(int code);

#ifdef WEFT_NATIVE

// Waits until the accelerator is idle and its stores are in memory.
void weft_fence(void);
uint64_t weft_cycles(void);        // of the accelerator's clock; 0 on an engine without time
uint64_t weft_instructions(void);  // commands given so far

#else

static inline void weft_fence(void) { __asm__ volatile("fence" ::: "memory"); }

static inline uint64_t weft_cycles(void) {
  uint64_t cycles;
  __asm__ volatile("rdcycle %0" : "=r"(cycles)::"memory");
  return cycles;
}

static inline uint64_t weft_instructions(void) {
  uint64_t instructions;
  __asm__ volatile("rdinstret %0" : "=r"(instructions)::"memory");
  return instructions;
}

#endif
#endif
