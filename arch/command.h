// SPDX-License-Identifier: Apache-2.0
// A command as the accelerator receives it, and why it refused one.
#ifndef ARCH_COMMAND_H
#define ARCH_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

// A RoCC instruction, and what it was found to be. The maker of a command finds that once: the port for a hart, the
// reader of a trace, a walk through a program, a loop for its primitives. All that take the command go by it.
typedef struct arch_command {
  const isa_insn *insn;  // NULL: no such instruction in the array's revision
  uint64_t rs1;
  uint64_t rs2;
  uint64_t pc;     // of the instruction; 0 when there is no host
  uint64_t index;  // 0, 1, 2, ... in program order
  uint8_t funct;   // 7 bits
  bool returns;    // the instruction writes rd
} arch_command;

static inline void arch_command_find(arch_command *command, unsigned revision) {
  command->insn = isa_find(revision, command->funct, command->rs1);
}

typedef enum {
  ARCH_FAULT_NONE,
  ARCH_FAULT_ILLEGAL,  // no such command, an illegal field value, or a unit that the array lacks
  ARCH_FAULT_LOCAL,    // scratchpad or accumulator rows that do not exist
  ARCH_FAULT_MEMORY,   // an access outside main memory
  ARCH_FAULT_STUCK,    // an engine that made no progress for very long, or whose own assertions failed
} arch_fault_kind;

// Why an engine stopped. After a fault it accepts nothing more.
typedef struct arch_fault {
  arch_fault_kind kind;
  arch_command command;  // the command given by the program (for a loop: the loop's run command)
  char text[256];        // "scratchpad rows 16380..16395 of 16384"
} arch_fault;

#endif
