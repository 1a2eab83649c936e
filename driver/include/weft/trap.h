// SPDX-License-Identifier: Apache-2.0
// Traps of a bare-metal program. The default reports the trap and ends the program with WEFT_EXIT_TRAP;
// a program that wants to handle traps defines weft_on_trap itself.
#ifndef WEFT_TRAP_H
#define WEFT_TRAP_H

#include <stdbool.h>
#include <stdint.h>

enum { WEFT_EXIT_TRAP = 1337 };
enum { WEFT_CAUSE_ILLEGAL = 2, WEFT_CAUSE_BREAKPOINT = 3, WEFT_CAUSE_ECALL = 11 };

// The registers at the trap, as start.S saved them; changing one changes it for the resumed program.
struct weft_trap {
  uint64_t pc;     // where to resume; the trapping instruction until the handler moves it on
  uint64_t x[31];  // x1..x31
  uint64_t f[20];  // ft0..ft11, fa0..fa7
};

// True: resume at trap->pc. False: report and exit.
bool weft_on_trap(struct weft_trap *trap, uint64_t cause, uint64_t value);

// Bytes of the instruction at `pc`: 2 or 4.
static inline uint64_t weft_instruction_bytes(uint64_t pc) { return (*(const uint16_t *)pc & 3) == 3 ? 4 : 2; }

#endif
