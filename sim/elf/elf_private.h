// SPDX-License-Identifier: Apache-2.0
// The parsed file, and the checked reading that elf.c and elf_symbols.c share; private to sim/elf.
#ifndef SIM_ELF_ELF_PRIVATE_H
#define SIM_ELF_ELF_PRIVATE_H

#include <elf.h>

#include "sim/elf/elf.h"

struct sim_elf {
  char *file;      // for messages
  uint8_t *bytes;  // the whole file
  size_t length;
  Elf64_Ehdr header;
  Elf64_Phdr *segments;  // only loaded segments with contents
  size_t segment_count;
  sim_elf_symbol *symbols;  // by address
  size_t symbol_count;
  sim_elf_code *code;  // by address
  size_t code_count;
  bool has_note;
  uint64_t note_hash;
  const char *note_name;
};

// [offset, offset + length) lies in the file.
static inline bool sim_elf_inside(const sim_elf *elf, uint64_t offset, uint64_t length) {
  return offset <= elf->length && length <= elf->length - offset;
}

// `error: file: text (file offset 0x..)`; always false.
bool sim_elf_bad(const sim_elf *elf, wf_diag *diag, uint64_t offset, const char *format, ...) WF_PRINTF(4, 5);

// elf_symbols.c: sections with code, symbols, and the array note. False after an error was reported.
bool sim_elf_read_sections(sim_elf *elf, wf_diag *diag);
bool sim_elf_read_notes(sim_elf *elf, wf_diag *diag, uint64_t offset, uint64_t length, uint64_t alignment);

#endif
