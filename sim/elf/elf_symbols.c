// SPDX-License-Identifier: Apache-2.0
// What an executable says about itself beside its segments: symbols, code sections and the array note.
// A stripped file has none of them and is fine; one whose tables point outside the file is not.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "sim/elf/elf_private.h"

enum { NOTE_ARRAY = 1 };

typedef struct {
  const Elf64_Shdr *rows;
  size_t count;
  const char *names;  // of sections
  uint64_t names_length;
} section_table;

static uint64_t header_at(const sim_elf *elf, size_t index) { return elf->header.e_shoff + index * sizeof(Elf64_Shdr); }

// A string table's bytes, checked to be in the file and terminated.
static const char *strings(const sim_elf *elf, wf_diag *diag, const section_table *t, size_t index) {
  if (index >= t->count || t->rows[index].sh_type != SHT_STRTAB) {
    sim_elf_bad(elf, diag, elf->header.e_shoff, "section %zu is used as a string table but is none", index);
    return NULL;
  }
  const Elf64_Shdr *s = &t->rows[index];
  if (!sim_elf_inside(elf, s->sh_offset, s->sh_size)) {
    sim_elf_bad(elf, diag, header_at(elf, index), "the string table in section %zu is not in the file", index);
    return NULL;
  }
  const char *text = (const char *)elf->bytes + s->sh_offset;
  if (s->sh_size == 0 || text[s->sh_size - 1] != '\0') {
    sim_elf_bad(elf, diag, s->sh_offset + s->sh_size, "the string table in section %zu is not terminated", index);
    return NULL;
  }
  return text;
}

// NOTYPE symbols in code are labels of assembly files: they name code as functions do.
static bool names_code(const section_table *t, const Elf64_Sym *s, unsigned type) {
  if (type == STT_FUNC) return true;
  return type == STT_NOTYPE && s->st_shndx < t->count && (t->rows[s->st_shndx].sh_flags & SHF_EXECINSTR) != 0;
}

static bool read_symbol(sim_elf *elf, wf_diag *diag, const section_table *t, const char *names, uint64_t names_length,
                        uint64_t at) {
  Elf64_Sym s;
  memcpy(&s, elf->bytes + at, sizeof s);
  unsigned type = ELF64_ST_TYPE(s.st_info);
  if (s.st_name >= names_length) {
    return sim_elf_bad(elf, diag, at, "a symbol's name starts at %u of a string table of %" PRIu64 " bytes", s.st_name,
                       names_length);
  }
  const char *name = names + s.st_name;
  bool useful = type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE;
  if (!useful || s.st_shndx == SHN_UNDEF || *name == '\0' || *name == '$' || strncmp(name, ".L", 2) == 0) return true;
  elf->symbols[elf->symbol_count++] =
      (sim_elf_symbol){.name = name, .address = s.st_value, .size = s.st_size, .function = names_code(t, &s, type)};
  return true;
}

static bool read_symbols(sim_elf *elf, wf_diag *diag, const section_table *t, size_t index) {
  const Elf64_Shdr *s = &t->rows[index];
  uint64_t at = header_at(elf, index);
  if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_size % sizeof(Elf64_Sym) != 0) {
    return sim_elf_bad(elf, diag, at, "the symbol table has entries of %" PRIu64 " bytes in %" PRIu64 " bytes",
                       s->sh_entsize, s->sh_size);
  }
  if (!sim_elf_inside(elf, s->sh_offset, s->sh_size))
    return sim_elf_bad(elf, diag, at, "the symbol table is not in the file");
  const char *names = strings(elf, diag, t, s->sh_link);
  if (names == NULL) return false;
  size_t count = s->sh_size / sizeof(Elf64_Sym);
  elf->symbols = wf_realloc(elf->symbols, elf->symbol_count + count, sizeof *elf->symbols);
  for (size_t i = 0; i < count; i++) {
    uint64_t symbol = s->sh_offset + i * sizeof(Elf64_Sym);
    if (!read_symbol(elf, diag, t, names, t->rows[s->sh_link].sh_size, symbol)) return false;
  }
  return true;
}

static bool read_code(sim_elf *elf, wf_diag *diag, const section_table *t, size_t index) {
  const Elf64_Shdr *s = &t->rows[index];
  if (!sim_elf_inside(elf, s->sh_offset, s->sh_size)) {
    return sim_elf_bad(elf, diag, header_at(elf, index), "the code of section %zu is not in the file", index);
  }
  if (s->sh_name >= t->names_length) {
    return sim_elf_bad(elf, diag, header_at(elf, index), "the name of section %zu is outside the string table", index);
  }
  elf->code = wf_realloc(elf->code, elf->code_count + 1, sizeof *elf->code);
  elf->code[elf->code_count++] = (sim_elf_code){
      .name = t->names + s->sh_name, .address = s->sh_addr, .bytes = elf->bytes + s->sh_offset, .length = s->sh_size};
  return true;
}

static bool read_section(sim_elf *elf, wf_diag *diag, const section_table *t, size_t index) {
  const Elf64_Shdr *s = &t->rows[index];
  switch (s->sh_type) {
    case SHT_SYMTAB:
      return read_symbols(elf, diag, t, index);
    case SHT_PROGBITS:
      return (s->sh_flags & SHF_EXECINSTR) == 0 || s->sh_size == 0 || read_code(elf, diag, t, index);
    case SHT_NOTE:
      if (!sim_elf_inside(elf, s->sh_offset, s->sh_size)) {
        return sim_elf_bad(elf, diag, header_at(elf, index), "the notes of section %zu are not in the file", index);
      }
      return sim_elf_read_notes(elf, diag, s->sh_offset, s->sh_size, s->sh_addralign);
    default:
      return true;
  }
}

// Without sections, the executable segments are the code.
static void code_from_segments(sim_elf *elf) {
  elf->code = WF_NEW_ARRAY(elf->segment_count, sim_elf_code);
  for (size_t i = 0; i < elf->segment_count; i++) {
    const Elf64_Phdr *p = &elf->segments[i];
    if ((p->p_flags & PF_X) == 0 || p->p_filesz == 0) continue;
    elf->code[elf->code_count++] = (sim_elf_code){
        .name = "segment", .address = p->p_paddr, .bytes = elf->bytes + p->p_offset, .length = p->p_filesz};
  }
}

static int by_address(const void *a, const void *b) {
  const sim_elf_symbol *x = a, *y = b;
  if (x->address != y->address) return x->address < y->address ? -1 : 1;
  if (x->function != y->function) return x->function ? 1 : -1;
  return x->size != y->size ? (x->size < y->size ? -1 : 1) : strcmp(x->name, y->name);
}

static int code_by_address(const void *a, const void *b) {
  const sim_elf_code *x = a, *y = b;
  return x->address < y->address ? -1 : x->address > y->address;
}

static bool read_table(sim_elf *elf, wf_diag *diag, section_table *t) {
  const Elf64_Ehdr *h = &elf->header;
  if (h->e_shentsize != sizeof(Elf64_Shdr)) {
    return sim_elf_bad(elf, diag, offsetof(Elf64_Ehdr, e_shentsize), "size of a section header is %u, not %zu",
                       h->e_shentsize, sizeof(Elf64_Shdr));
  }
  if (!sim_elf_inside(elf, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr))) {
    return sim_elf_bad(elf, diag, offsetof(Elf64_Ehdr, e_shoff),
                       "%u section headers at 0x%" PRIx64 " are not in the file of %zu bytes", h->e_shnum, h->e_shoff,
                       elf->length);
  }
  Elf64_Shdr *rows = wf_alloc(h->e_shnum, sizeof *rows);
  memcpy(rows, elf->bytes + h->e_shoff, h->e_shnum * sizeof *rows);
  *t = (section_table){.rows = rows, .count = h->e_shnum};
  t->names = strings(elf, diag, t, h->e_shstrndx);
  if (t->names != NULL) t->names_length = rows[h->e_shstrndx].sh_size;
  return t->names != NULL;
}

bool sim_elf_read_sections(sim_elf *elf, wf_diag *diag) {
  if (elf->header.e_shoff == 0 || elf->header.e_shnum == 0) {
    code_from_segments(elf);
    return true;
  }
  section_table t = {0};
  bool ok = read_table(elf, diag, &t);
  for (size_t i = 0; ok && i < t.count; i++) ok = read_section(elf, diag, &t, i);
  wf_free((void *)t.rows);
  if (elf->symbol_count > 0) qsort(elf->symbols, elf->symbol_count, sizeof *elf->symbols, by_address);
  if (elf->code_count > 0) qsort(elf->code, elf->code_count, sizeof *elf->code, code_by_address);
  return ok;
}

// The descriptor: 8 bytes of hash, then a terminated name.
static bool read_array_note(sim_elf *elf, wf_diag *diag, uint64_t offset, uint64_t length) {
  const char *text = (const char *)elf->bytes + offset;
  if (length < sizeof elf->note_hash + 1 || memchr(text + 8, '\0', length - 8) == NULL) {
    return sim_elf_bad(elf, diag, offset, "the array note of %" PRIu64 " bytes is no hash and terminated name", length);
  }
  memcpy(&elf->note_hash, text, sizeof elf->note_hash);
  elf->note_name = text + sizeof elf->note_hash;
  elf->has_note = true;
  return true;
}

bool sim_elf_read_notes(sim_elf *elf, wf_diag *diag, uint64_t offset, uint64_t length, uint64_t alignment) {
  static const char owner[] = "Weft";
  uint64_t end = offset + length, pad = alignment == 8 ? 8 : 4;
  while (end - offset >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr n;
    memcpy(&n, elf->bytes + offset, sizeof n);
    uint64_t name = offset + sizeof n, desc = name + wf_align_up(n.n_namesz, pad),
             next = desc + wf_align_up(n.n_descsz, pad);
    if (desc + n.n_descsz > end) {
      return sim_elf_bad(elf, diag, offset, "a note of %u and %u bytes passes its section's end", n.n_namesz,
                         n.n_descsz);
    }
    bool ours =
        n.n_type == NOTE_ARRAY && n.n_namesz == sizeof owner && memcmp(elf->bytes + name, owner, sizeof owner) == 0;
    if (ours && !read_array_note(elf, diag, desc, n.n_descsz)) return false;
    if (next > end) break;
    offset = next;
  }
  return true;
}

bool sim_elf_find(const sim_elf *elf, const char *symbol, uint64_t *address) {
  for (size_t i = 0; i < elf->symbol_count; i++) {
    if (strcmp(elf->symbols[i].name, symbol) != 0) continue;
    *address = elf->symbols[i].address;
    return true;
  }
  return false;
}

// Labels inside a function do not hide it: the last function at or before the address wins if it contains it.
const sim_elf_symbol *sim_elf_symbol_at(const sim_elf *elf, uint64_t address) {
  size_t low = 0, high = elf->symbol_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (elf->symbols[middle].address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const sim_elf_symbol *last = NULL;
  for (size_t i = low; i-- > 0;) {
    const sim_elf_symbol *s = &elf->symbols[i];
    if (!s->function) continue;
    if (last == NULL) last = s;
    if (s->size == 0) continue;
    return address - s->address < s->size ? s : last;
  }
  return last;
}

bool sim_elf_array_note(const sim_elf *elf, uint64_t *hash, const char **name) {
  if (!elf->has_note) return false;
  *hash = elf->note_hash;
  *name = elf->note_name;
  return true;
}
