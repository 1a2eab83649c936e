// SPDX-License-Identifier: Apache-2.0
// See elf_build.h. Layout: header, program headers, segments' bytes, tables, section headers.
#include "sim/elf/tests/elf_build.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

enum { SECTION_NULL, SECTION_TEXT, SECTION_SYMTAB, SECTION_STRTAB, SECTION_SHSTRTAB, SECTION_NOTE, SECTION_COUNT };

typedef struct {
  uint8_t *bytes;
  size_t length;
} buffer;

static uint64_t append(buffer *b, const void *bytes, size_t length) {
  size_t at = (b->length + 7) / 8 * 8;
  b->bytes = wf_realloc(b->bytes, at + length + 1, 1);
  memset(b->bytes + b->length, 0, at - b->length);
  if (length > 0) memcpy(b->bytes + at, bytes, length);
  b->length = at + length;
  return at;
}

static size_t add_name(char *table, size_t room, size_t *used, const char *name) {
  size_t at = *used, length = strlen(name) + 1;
  assert(at + length <= room);
  memcpy(table + at, name, length);
  *used += length;
  return at;
}

static void add_symbols(const elf_build *b, buffer *file, Elf64_Shdr *sections) {
  Elf64_Sym rows[ELF_BUILD_SYMBOLS + 1] = {{0}};
  char names[1024] = "";
  size_t used = 1, count = 1;
  for (size_t i = 0; i < ELF_BUILD_SYMBOLS && b->symbols[i].name != NULL; i++) {
    const elf_build_symbol *s = &b->symbols[i];
    rows[count++] = (Elf64_Sym){.st_name = (uint32_t)add_name(names, sizeof names, &used, s->name),
                                .st_info = ELF64_ST_INFO(STB_GLOBAL, s->type & 15),
                                .st_shndx = SECTION_TEXT,
                                .st_value = s->address,
                                .st_size = s->size};
  }
  sections[SECTION_SYMTAB] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                          .sh_offset = append(file, rows, count * sizeof rows[0]),
                                          .sh_size = count * sizeof rows[0],
                                          .sh_entsize = sizeof rows[0],
                                          .sh_link = SECTION_STRTAB};
  sections[SECTION_STRTAB] =
      (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = append(file, names, used), .sh_size = used};
}

static void add_note(const elf_build *b, buffer *file, Elf64_Shdr *sections) {
  if (b->note_name == NULL) return;
  Elf64_Nhdr header = {.n_namesz = 5, .n_descsz = (uint32_t)(9 + strlen(b->note_name)), .n_type = 1};
  uint8_t packed[128] = {0};
  size_t length = 28 + (strlen(b->note_name) + 4) / 4 * 4;
  assert(length <= sizeof packed);
  memcpy(packed, &header, sizeof header);
  memcpy(packed + 12, "Weft", 5);
  memcpy(packed + 20, &b->note_hash, 8);
  memcpy(packed + 28, b->note_name, strlen(b->note_name) + 1);
  sections[SECTION_NOTE] = (Elf64_Shdr){
      .sh_type = SHT_NOTE, .sh_offset = append(file, packed, length), .sh_size = length, .sh_addralign = 4};
}

static void add_section_names(buffer *file, Elf64_Shdr *sections) {
  static const char *const titles[SECTION_COUNT] = {"", ".text", ".symtab", ".strtab", ".shstrtab", ".note.weft"};
  char names[128] = "";
  size_t used = 0;
  for (int i = 0; i < SECTION_COUNT; i++) {
    sections[i].sh_name = (uint32_t)add_name(names, sizeof names, &used, titles[i]);
  }
  sections[SECTION_SHSTRTAB].sh_type = SHT_STRTAB;
  sections[SECTION_SHSTRTAB].sh_offset = append(file, names, used);
  sections[SECTION_SHSTRTAB].sh_size = used;
}

uint8_t *elf_build_file(const elf_build *b, size_t *length) {
  buffer file = {0};
  Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_EXEC,
                       .e_machine = EM_RISCV,
                       .e_version = EV_CURRENT,
                       .e_entry = b->entry,
                       .e_phoff = sizeof header,
                       .e_ehsize = sizeof header,
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = b->note_name != NULL ? SECTION_COUNT : SECTION_NOTE,
                       .e_shstrndx = SECTION_SHSTRTAB};
  Elf64_Phdr segments[ELF_BUILD_SEGMENTS] = {{0}};
  Elf64_Shdr sections[SECTION_COUNT] = {{0}};
  while (header.e_phnum < ELF_BUILD_SEGMENTS && b->segments[header.e_phnum].memory_bytes > 0) header.e_phnum++;
  append(&file, &header, sizeof header);
  append(&file, segments, header.e_phnum * sizeof segments[0]);
  for (unsigned i = 0; i < header.e_phnum; i++) {
    const elf_build_segment *s = &b->segments[i];
    segments[i] = (Elf64_Phdr){.p_type = PT_LOAD,
                               .p_flags = s->flags,
                               .p_offset = append(&file, s->bytes, s->length),
                               .p_vaddr = s->address,
                               .p_paddr = s->address,
                               .p_filesz = s->length,
                               .p_memsz = s->memory_bytes};
  }
  sections[SECTION_TEXT] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                        .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                        .sh_addr = segments[0].p_vaddr,
                                        .sh_offset = segments[0].p_offset,
                                        .sh_size = segments[0].p_filesz};
  add_symbols(b, &file, sections);
  add_note(b, &file, sections);
  add_section_names(&file, sections);
  header.e_shoff = append(&file, sections, header.e_shnum * sizeof sections[0]);
  memcpy(file.bytes, &header, sizeof header);
  memcpy(file.bytes + sizeof header, segments, header.e_phnum * sizeof segments[0]);
  *length = file.length;
  return file.bytes;
}
