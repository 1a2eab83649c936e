// SPDX-License-Identifier: Apache-2.0
// What primitives need and touch, for the verifier.
#ifndef COMPILER_COMMAND_VERIFY_H
#define COMPILER_COMMAND_VERIFY_H

#include "arch/command.h"
#include "arch/config.h"
#include "compiler/command/command.h"
#include "hw/array.h"

// Addresses of tensors while a program is verified: far apart, nothing at and around 0.
#define COMMAND_TENSOR_DISTANCE (UINT64_C(1) << 40)
static inline uint64_t command_virtual_address(int tensor) { return (uint64_t)(tensor + 1) * COMMAND_TENSOR_DISTANCE; }

// Bytes of main memory from the first to the last that a primitive touches.
typedef struct command_range {
  uint64_t address, bytes;  // bytes 0: none
  bool writes;
} command_range;

command_range command_range_of(const hw_derived *derived, const arch_config *config, const arch_command *primitive);

// What has been configured so far.
typedef struct command_use {
  bool load[ARCH_LOAD_STATES], store, execute;
} command_use;

// Notes a primitive; what it uses without a configuration, or NULL.
const char *command_use_note(command_use *use, const arch_command *primitive);

// Of a straight program with sides (private.h): visits all but products and loads in order, then products and loads
// that are legal only if all of the program's are. Stops when `visit` returns false. False if it cannot tell: the
// program is another one, its products are no plain pairs, or of too many kinds.
bool command_walk_kinds(const command_program *program, const hw_derived *derived,
                        bool (*visit)(void *context, const command_insn *insn), void *context);

#endif
