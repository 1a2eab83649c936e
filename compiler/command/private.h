// SPDX-License-Identifier: Apache-2.0
// What the files of compiler/command offer each other.
#ifndef COMPILER_COMMAND_PRIVATE_H
#define COMPILER_COMMAND_PRIVATE_H

#include "arch/command.h"
#include "compiler/command/command.h"

// An empty program with the same name, array and tensors.
command_program *command_create_like(const command_program *program);

// What a walk goes through: commands, fences and iterations; UINT64_MAX if there are more.
uint64_t command_walk_length(const command_program *program);

// The same with the first and the last iteration only of each loop for whose node `in_full` does not stand; NULL: all
// do.
bool command_walk_ends(const command_program *program, const bool *in_full,
                       bool (*visit)(void *context, const command_insn *insn), void *context);

// The program without loops: itself if it has none, otherwise a new one.
const command_program *command_straight(const command_program *program);

// Whether the instruction has a memory address in this register.
bool command_takes_tensor(const isa_insn *insn, unsigned reg);

enum { COMMAND_TEXT_MAX = ISA_TEXT_MAX + 512 };

// A command as text, its addresses relative to tensors; at most size - 1 characters.
void command_print_insn(const command_program *program, const command_insn *insn, char *text, size_t size);

// Names of programs and tensors: a letter or underscore, then letters, digits, underscores, dots and dashes (programs).
bool command_name_ok(const char *name, bool of_program);

// Whether every tensor lies in main memory; reports each that does not.
bool command_layout_ok(const command_program *program, const command_layout *layout, wf_diag *diag);

// A command of the program with the addresses of a layout.
static inline arch_command command_placed(const command_program *program, const command_insn *insn,
                                          const command_layout *layout, uint64_t index) {
  arch_command command = {
      .insn = command_isa(program, insn), .rs1 = insn->rs1, .rs2 = insn->rs2, .index = index, .funct = insn->funct};
  if (insn->tensor_rs1 != COMMAND_NO_TENSOR) command.rs1 += layout->tensor_address[insn->tensor_rs1];
  if (insn->tensor_rs2 != COMMAND_NO_TENSOR) command.rs2 += layout->tensor_address[insn->tensor_rs2];
  return command;
}

// Products on one side, loads and stores on the other do not know of each other but by rows and by their order: each
// has configuration of its own.
typedef enum { COMMAND_NO_SIDE, COMMAND_PRODUCTS, COMMAND_MOVES } command_side;

// Per funct, of all instructions but configuration; of these by the bits that select them.
typedef struct command_sides {
  uint8_t of[128], of_config[4];
} command_sides;

command_sides command_sides_of(const hw_array *array);
static inline command_side command_side_of(const command_sides *sides, const command_insn *insn) {
  return (command_side)(insn->funct == ISA_FUNCT_CONFIG_EX ? sides->of_config[insn->rs1 & 3] : sides->of[insn->funct]);
}
// Whether a program is made of these two only: no loops, no loop unrollers, no fence but at the end.
bool command_has_sides(const command_program *program);
// Behind it a product is complete.
static inline bool command_is_compute(const command_insn *insn) {
  return insn->funct == ISA_FUNCT_COMPUTE_PRELOADED || insn->funct == ISA_FUNCT_COMPUTE_ACCUMULATED;
}
// The products of such a program, rolled.
command_program *command_roll_products(const command_program *program);

// Whether the host's instruction cache holds the program with room to spare.
bool command_stays_cached(const command_program *program);
// Short loops unrolled, for the host.
command_program *command_unroll(const command_program *program);

// The program's function in C, and the names of its parameters.
char *command_c_name(wf_arena *arena, const command_program *program);
char **command_c_tensor_names(wf_arena *arena, const command_program *program);

#endif
