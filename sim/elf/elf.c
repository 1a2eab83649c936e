// SPDX-License-Identifier: Apache-2.0
// ELF64 executables: header and segments checked, then loaded.
// After sim_elf_parse succeeded every range kept in sim_elf lies inside the file, every name is terminated, segments
// neither wrap nor overlap, and the entry point is in one of them.
#include "sim/elf/elf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "sim/elf/elf_private.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the loader copies little-endian structures as they are"
#endif

enum { MAX_SEGMENTS = 1024, ZERO_CHUNK = 4096, DEVICE_BYTES = 4096 };
#define MAX_FILE_BYTES (UINT64_C(1) << 31)

bool sim_elf_bad(const sim_elf *elf, wf_diag *diag, uint64_t offset, const char *format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_error(diag, wf_in_file(elf->file), "%s (file offset 0x%" PRIx64 ")", text, offset);
  return false;
}

typedef struct {
  const char *what;
  uint64_t value, expected;
  size_t offset;
  const char *hint;
} check;

static bool check_header(const sim_elf *elf, wf_diag *diag) {
  const Elf64_Ehdr *h = &elf->header;
  const check checks[] = {
      {"class", h->e_ident[EI_CLASS], ELFCLASS64, EI_CLASS, "only 64-bit programs can be run"},
      {"byte order", h->e_ident[EI_DATA], ELFDATA2LSB, EI_DATA, "only little-endian programs can be run"},
      {"version", h->e_ident[EI_VERSION], EV_CURRENT, EI_VERSION, NULL},
      {"machine", h->e_machine, EM_RISCV, offsetof(Elf64_Ehdr, e_machine), "243 is RISC-V"},
      {"type", h->e_type, ET_EXEC, offsetof(Elf64_Ehdr, e_type),
       "link a static executable: not an object file, not position-independent"},
      {"size of a program header", h->e_phentsize, sizeof(Elf64_Phdr), offsetof(Elf64_Ehdr, e_phentsize), NULL},
  };
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
    const check *c = &checks[i];
    if (c->value == c->expected) continue;
    sim_elf_bad(elf, diag, c->offset, "%s is %" PRIu64 ", not %" PRIu64, c->what, c->value, c->expected);
    if (c->hint != NULL) wf_hint(diag, "%s", c->hint);
    return false;
  }
  return true;
}

static bool read_header(sim_elf *elf, wf_diag *diag) {
  if (elf->length < SELFMAG || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0) {
    return sim_elf_bad(elf, diag, 0, "not an ELF file");
  }
  if (elf->length < sizeof elf->header) {
    return sim_elf_bad(elf, diag, elf->length, "truncated in the ELF header: %zu bytes", elf->length);
  }
  memcpy(&elf->header, elf->bytes, sizeof elf->header);
  return check_header(elf, diag);
}

static bool check_segment(const sim_elf *elf, wf_diag *diag, const Elf64_Phdr *p, size_t index, uint64_t at) {
  if (!sim_elf_inside(elf, p->p_offset, p->p_filesz)) {
    return sim_elf_bad(elf, diag, at,
                       "segment %zu: bytes 0x%" PRIx64 " to 0x%" PRIx64 " are not in the file of %zu bytes", index,
                       p->p_offset, p->p_offset + p->p_filesz, elf->length);
  }
  if (p->p_filesz > p->p_memsz) {
    return sim_elf_bad(elf, diag, at, "segment %zu: %" PRIu64 " bytes in the file, but only %" PRIu64 " in memory",
                       index, p->p_filesz, p->p_memsz);
  }
  if (p->p_memsz > UINT64_MAX - p->p_paddr) {
    return sim_elf_bad(elf, diag, at,
                       "segment %zu: 0x%" PRIx64 " bytes at 0x%" PRIx64 " pass the end of the address space", index,
                       p->p_memsz, p->p_paddr);
  }
  for (size_t i = 0; i < elf->segment_count; i++) {
    const Elf64_Phdr *q = &elf->segments[i];
    if (p->p_paddr < q->p_paddr + q->p_memsz && q->p_paddr < p->p_paddr + p->p_memsz) {
      return sim_elf_bad(elf, diag, at, "segment %zu at 0x%" PRIx64 " overlaps the segment at 0x%" PRIx64, index,
                         p->p_paddr, q->p_paddr);
    }
  }
  return true;
}

static bool read_segment(sim_elf *elf, wf_diag *diag, size_t index) {
  uint64_t at = elf->header.e_phoff + index * sizeof(Elf64_Phdr);
  Elf64_Phdr p;
  memcpy(&p, elf->bytes + at, sizeof p);
  if (p.p_type == PT_INTERP || p.p_type == PT_DYNAMIC) {
    sim_elf_bad(elf, diag, at, "program header %zu asks for dynamic linking", index);
    wf_hint(diag, "link with -static");
    return false;
  }
  if (p.p_type == PT_NOTE) {
    if (!sim_elf_inside(elf, p.p_offset, p.p_filesz)) {
      return sim_elf_bad(elf, diag, at, "program header %zu: its notes are not in the file", index);
    }
    return sim_elf_read_notes(elf, diag, p.p_offset, p.p_filesz, p.p_align);
  }
  if (p.p_type != PT_LOAD || p.p_memsz == 0) return true;
  if (!check_segment(elf, diag, &p, index, at)) return false;
  elf->segments[elf->segment_count++] = p;
  return true;
}

static bool check_entry(const sim_elf *elf, wf_diag *diag) {
  uint64_t entry = elf->header.e_entry;
  for (size_t i = 0; i < elf->segment_count; i++) {
    const Elf64_Phdr *p = &elf->segments[i];
    if (entry >= p->p_paddr && entry - p->p_paddr < p->p_filesz) return true;
  }
  return sim_elf_bad(elf, diag, offsetof(Elf64_Ehdr, e_entry), "the entry point 0x%" PRIx64 " is in no loaded segment",
                     entry);
}

static bool read_segments(sim_elf *elf, wf_diag *diag) {
  const Elf64_Ehdr *h = &elf->header;
  if (h->e_phnum == 0 || h->e_phnum > MAX_SEGMENTS) {
    return sim_elf_bad(elf, diag, offsetof(Elf64_Ehdr, e_phnum), "%u program headers; 1 to %d are accepted", h->e_phnum,
                       MAX_SEGMENTS);
  }
  if (!sim_elf_inside(elf, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr))) {
    return sim_elf_bad(elf, diag, offsetof(Elf64_Ehdr, e_phoff),
                       "%u program headers at 0x%" PRIx64 " are not in the file of %zu bytes", h->e_phnum, h->e_phoff,
                       elf->length);
  }
  elf->segments = WF_NEW_ARRAY(h->e_phnum, Elf64_Phdr);
  for (size_t i = 0; i < h->e_phnum; i++) {
    if (!read_segment(elf, diag, i)) return false;
  }
  return check_entry(elf, diag);
}

sim_elf *sim_elf_parse(const char *file, const void *bytes, size_t length, wf_diag *diag) {
  sim_elf *elf = WF_NEW(sim_elf);
  elf->file = wf_strdup(file);
  elf->bytes = wf_alloc(length > 0 ? length : 1, 1);
  if (length > 0) memcpy(elf->bytes, bytes, length);
  elf->length = length;
  if (read_header(elf, diag) && read_segments(elf, diag) && sim_elf_read_sections(elf, diag)) return elf;
  sim_elf_close(elf);
  return NULL;
}

// A device may have no end; what it begins with is enough to refuse it.
static bool is_device(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && (S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode));
}

sim_elf *sim_elf_open(const char *path, wf_diag *diag) {
  size_t length;
  char *bytes = wf_read_file(path, is_device(path) ? DEVICE_BYTES : MAX_FILE_BYTES, &length, diag);
  if (bytes == NULL) return NULL;
  sim_elf *elf = NULL;
  if (length > MAX_FILE_BYTES)
    wf_error(diag, wf_in_file(path), "larger than %" PRIu64 " bytes", MAX_FILE_BYTES);
  else
    elf = sim_elf_parse(path, bytes, length, diag);
  wf_free(bytes);
  return elf;
}

void sim_elf_close(sim_elf *elf) {
  if (elf == NULL) return;
  wf_free(elf->file);
  wf_free(elf->bytes);
  wf_free(elf->segments);
  wf_free(elf->symbols);
  wf_free(elf->code);
  wf_free(elf);
}

// Clears what is not zero already: writing zeros to untouched memory would allocate it.
static void clear(uint8_t *to, uint64_t length) {
  static const uint8_t zeros[ZERO_CHUNK];
  while (length > 0) {
    size_t chunk = length < ZERO_CHUNK ? (size_t)length : ZERO_CHUNK;
    if (memcmp(to, zeros, chunk) != 0) memset(to, 0, chunk);
    to += chunk;
    length -= chunk;
  }
}

bool sim_elf_load(const sim_elf *elf, arch_memory *memory, wf_diag *diag) {
  for (size_t i = 0; i < elf->segment_count; i++) {
    const Elf64_Phdr *p = &elf->segments[i];
    uint8_t *to = arch_memory_at(memory, p->p_paddr, p->p_memsz);
    if (to == NULL) {
      wf_error(diag, wf_in_file(elf->file),
               "the segment at 0x%" PRIx64 " of %" PRIu64 " bytes is not in main memory, 0x%" PRIx64 " to 0x%" PRIx64,
               p->p_paddr, p->p_memsz, ARCH_MEMORY_BASE, ARCH_MEMORY_BASE + memory->size);
      wf_hint(diag, "programs are linked at 0x%" PRIx64 " (a linker script, -T)", ARCH_MEMORY_BASE);
      return false;
    }
    memcpy(to, elf->bytes + p->p_offset, p->p_filesz);
    clear(to + p->p_filesz, p->p_memsz - p->p_filesz);
  }
  return true;
}

uint64_t sim_elf_entry(const sim_elf *elf) { return elf->header.e_entry; }
size_t sim_elf_code_count(const sim_elf *elf) { return elf->code_count; }
sim_elf_code sim_elf_code_at(const sim_elf *elf, size_t index) { return elf->code[index]; }
