// What the files of compiler/command offer each other.
#ifndef COMPILER_COMMAND_PRIVATE_H
#define COMPILER_COMMAND_PRIVATE_H

#include "compiler/command/command.h"

// An empty program with the same name, array and tensors.
command_program *command_create_like(const command_program *program);

// Whether the instruction has a memory address in this register.
bool command_takes_tensor(const isa_insn *insn, unsigned reg);

enum { COMMAND_TEXT_MAX = ISA_TEXT_MAX + 512 };

// A command as text, its addresses relative to tensors; at most size - 1 characters.
void command_print_insn(const command_program *program, const command_insn *insn, char *text, size_t size);

// Names of programs and tensors: a letter or underscore, then letters, digits, underscores, dots and dashes (programs).
bool command_name_ok(const char *name, bool of_program);

#endif
