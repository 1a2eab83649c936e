// SPDX-License-Identifier: Apache-2.0
// Builds ELF64 executables in memory, for tests. What it builds is valid; a test breaks it by changing bytes.
#ifndef SIM_ELF_TESTS_ELF_BUILD_H
#define SIM_ELF_TESTS_ELF_BUILD_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_BUILD_SEGMENTS = 4, ELF_BUILD_SYMBOLS = 16 };

typedef struct elf_build_segment {
  uint64_t address, memory_bytes;
  const void *bytes;
  size_t length;
  uint32_t flags;
} elf_build_segment;

typedef struct elf_build_symbol {
  const char *name;
  uint64_t address, size;
  unsigned type;  // STT_FUNC ...
} elf_build_symbol;

typedef struct elf_build {
  uint64_t entry;
  elf_build_segment segments[ELF_BUILD_SEGMENTS];  // until the first with memory_bytes 0; the first one is the code
  elf_build_symbol symbols[ELF_BUILD_SYMBOLS];     // until the first without a name
  uint64_t note_hash;
  const char *note_name;  // NULL: no array note
} elf_build;

// The file's bytes, to free with wf_free. Sections: 0, .text, .symtab, .strtab, .shstrtab, .note.weft.
uint8_t *elf_build_file(const elf_build *b, size_t *length);

#endif
