// SPDX-License-Identifier: Apache-2.0
// ELF64 RISC-V executables: checked, then loaded into main memory. Every offset and size in the file is distrusted.
#ifndef SIM_ELF_ELF_H
#define SIM_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/memory.h"
#include "base/diag.h"

typedef struct sim_elf_symbol {
  const char *name;  // in the file's string table
  uint64_t address;
  uint64_t size;
  bool function;
} sim_elf_symbol;

// A section with code, for the disassembler.
typedef struct sim_elf_code {
  const char *name;
  uint64_t address;
  const uint8_t *bytes;
  size_t length;
} sim_elf_code;

typedef struct sim_elf sim_elf;

// Reads and checks the file (class, machine, header and program-header ranges); NULL after an error was reported.
sim_elf *sim_elf_open(const char *path, wf_diag *diag);
// The same for bytes in memory, which are copied; `file` is for messages.
sim_elf *sim_elf_parse(const char *file, const void *bytes, size_t length, wf_diag *diag);
void sim_elf_close(sim_elf *elf);

// Copies the segments; false (reported) if one does not fit the memory.
bool sim_elf_load(const sim_elf *elf, arch_memory *memory, wf_diag *diag);

uint64_t sim_elf_entry(const sim_elf *elf);
bool sim_elf_find(const sim_elf *elf, const char *symbol, uint64_t *address);
// The function that contains `address` (or the last one before it); NULL when there is none.
const sim_elf_symbol *sim_elf_symbol_at(const sim_elf *elf, uint64_t address);
size_t sim_elf_code_count(const sim_elf *elf);
sim_elf_code sim_elf_code_at(const sim_elf *elf, size_t index);
// Contents of the note of owner "Weft", type 1: the hash of the array the program was built for, and its name
// (in the file's bytes, zero-terminated). False when the program carries none.
bool sim_elf_array_note(const sim_elf *elf, uint64_t *hash, const char **name);

#endif
