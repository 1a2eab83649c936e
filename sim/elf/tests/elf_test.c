// SPDX-License-Identifier: Apache-2.0
// The ELF reader: a good file in full, and files broken in one place, each with the message it must give.
#define _GNU_SOURCE  // memmem
#include "sim/elf/elf.h"

#include <elf.h>

#include "base/alloc.h"
#include "base/test.h"
#include "sim/elf/tests/elf_build.h"

#define BASE ARCH_MEMORY_BASE
#define DATA (BASE + 0x2000)

static const uint8_t code[64] = {0x13, 1, 2, 3};
static const uint8_t data[24] = {9, 8, 7};

static elf_build good(void) {
  return (elf_build){.entry = BASE + 8,
                     .segments = {{BASE, sizeof code, code, sizeof code, PF_R | PF_X},
                                  {DATA, 4096 + 24, data, sizeof data, PF_R | PF_W}},
                     .symbols = {{"_start", BASE + 8, 0, STT_NOTYPE},
                                 {"main", BASE + 16, 16, STT_FUNC},
                                 {"label", BASE + 20, 0, STT_NOTYPE},
                                 {"after", BASE + 40, 8, STT_FUNC},
                                 {"tohost", DATA, 8, STT_OBJECT}},
                     .note_hash = UINT64_C(0x1122334455667788),
                     .note_name = "gemmini-16"};
}

// Parses (and loads, if there is a memory); returns what was reported, to free.
static char *report(const uint8_t *bytes, size_t length, arch_memory *memory, bool *ok) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  wf_diag diag = wf_diag_to(out);
  sim_elf *elf = sim_elf_parse("test.elf", bytes, length, &diag);
  *ok = elf != NULL && (memory == NULL || sim_elf_load(elf, memory, &diag));
  assert_int_equal(*ok, diag.errors == 0);
  sim_elf_close(elf);
  fclose(out);
  return text;
}

static void a_good_file(void **state) {
  (void)state;
  elf_build b = good();
  size_t length;
  uint8_t *bytes = elf_build_file(&b, &length);
  wf_diag diag = wf_diag_to(stderr);
  sim_elf *elf = sim_elf_parse("test.elf", bytes, length, &diag);
  assert_non_null(elf);
  wf_free(bytes);  // they were copied

  arch_memory *memory = arch_memory_create(1 << 20);
  memset(arch_memory_at(memory, DATA, 8192), 0xff, 8192);
  assert_true(sim_elf_load(elf, memory, &diag));
  assert_memory_equal(arch_memory_at(memory, BASE, sizeof code), code, sizeof code);
  assert_memory_equal(arch_memory_at(memory, DATA, sizeof data), data, sizeof data);
  for (uint64_t i = sizeof data; i < 4096 + 24; i++) assert_int_equal(*arch_memory_at(memory, DATA + i, 1), 0);
  assert_int_equal(*arch_memory_at(memory, DATA + 4096 + 24, 1), 0xff);
  assert_int_equal(sim_elf_entry(elf), BASE + 8);

  uint64_t address = 0;
  assert_true(sim_elf_find(elf, "tohost", &address));
  assert_int_equal(address, DATA);
  assert_false(sim_elf_find(elf, "fromhost", &address));

  assert_int_equal(sim_elf_code_count(elf), 1);
  sim_elf_code text = sim_elf_code_at(elf, 0);
  assert_string_equal(text.name, ".text");
  assert_int_equal(text.address, BASE);
  assert_int_equal(text.length, sizeof code);
  assert_memory_equal(text.bytes, code, sizeof code);

  uint64_t hash = 0;
  const char *name = NULL;
  assert_true(sim_elf_array_note(elf, &hash, &name));
  assert_int_equal(hash, UINT64_C(0x1122334455667788));
  assert_string_equal(name, "gemmini-16");
  sim_elf_close(elf);
  arch_memory_destroy(memory);
}

static void symbols_by_address(void **state) {
  (void)state;
  elf_build b = good();
  size_t length;
  uint8_t *bytes = elf_build_file(&b, &length);
  wf_diag diag = wf_diag_to(stderr);
  sim_elf *elf = sim_elf_parse("test.elf", bytes, length, &diag);
  const struct {
    uint64_t address;
    const char *name;
  } cases[] = {{BASE + 8, "_start"}, {BASE + 15, "_start"}, {BASE + 16, "main"},  {BASE + 24, "main"},
               {BASE + 31, "main"},  {BASE + 32, "label"},  {BASE + 40, "after"}, {BASE + 100, "after"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_string_equal(sim_elf_symbol_at(elf, cases[i].address)->name, cases[i].name);
  }
  assert_null(sim_elf_symbol_at(elf, BASE));
  sim_elf_close(elf);
  wf_free(bytes);
}

// A stripped file: no sections. The code is the executable segment.
static void without_sections(void **state) {
  (void)state;
  elf_build b = good();
  size_t length;
  uint8_t *bytes = elf_build_file(&b, &length);
  memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
  wf_diag diag = wf_diag_to(stderr);
  sim_elf *elf = sim_elf_parse("test.elf", bytes, length, &diag);
  assert_non_null(elf);
  uint64_t hash;
  const char *name;
  assert_false(sim_elf_array_note(elf, &hash, &name));
  assert_null(sim_elf_symbol_at(elf, BASE + 8));
  assert_int_equal(sim_elf_code_count(elf), 1);
  assert_int_equal(sim_elf_code_at(elf, 0).address, BASE);
  sim_elf_close(elf);
  wf_free(bytes);
}

#define PHDR(i, field) (sizeof(Elf64_Ehdr) + (i) * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, field))
#define SHDR UINT64_C(0x100000000)  // plus index and field: an offset from e_shoff
#define SECTION(i, field) (SHDR + (i) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field))

typedef struct {
  uint64_t offset;  // of the bytes to change
  unsigned width;
  uint64_t value;
  const char *message;
} breakage;

static const breakage breakages[] = {
    {0, 1, 0, "test.elf: error: not an ELF file"},
    {EI_CLASS, 1, ELFCLASS32, "class is 1, not 2 (file offset 0x4)"},
    {EI_DATA, 1, ELFDATA2MSB, "byte order is 2, not 1 (file offset 0x5)"},
    {EI_VERSION, 1, 9, "version is 9"},
    {offsetof(Elf64_Ehdr, e_machine), 2, EM_X86_64, "machine is 62, not 243 (file offset 0x12)"},
    {offsetof(Elf64_Ehdr, e_type), 2, ET_DYN, "type is 3, not 2"},
    {offsetof(Elf64_Ehdr, e_phentsize), 2, 32, "size of a program header is 32, not 56"},
    {offsetof(Elf64_Ehdr, e_phnum), 2, 0, "0 program headers; 1 to 1024"},
    {offsetof(Elf64_Ehdr, e_phnum), 2, 65535, "65535 program headers; 1 to 1024"},
    {offsetof(Elf64_Ehdr, e_phnum), 2, 900, "900 program headers at 0x40 are not in the file"},
    {offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX - 8, "program headers at 0xfffffffffffffff7"},
    {offsetof(Elf64_Ehdr, e_entry), 8, BASE - 2, "the entry point 0x7ffffffe is in no loaded segment"},
    {offsetof(Elf64_Ehdr, e_entry), 8, DATA + 24, "is in no loaded segment"},
    {offsetof(Elf64_Ehdr, e_shentsize), 2, 40, "size of a section header is 40, not 64"},
    {offsetof(Elf64_Ehdr, e_shnum), 2, 60000, "60000 section headers at"},
    {offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX, "section headers at 0xffffffffffffffff"},
    {offsetof(Elf64_Ehdr, e_shstrndx), 2, 77, "section 77 is used as a string table but is none"},
    {offsetof(Elf64_Ehdr, e_shstrndx), 2, 1, "section 1 is used as a string table but is none"},
    {PHDR(0, p_offset), 8, 1 << 20, "segment 0: bytes 0x100000 to 0x100040 are not in the file"},
    {PHDR(0, p_filesz), 8, UINT64_MAX, "segment 0: bytes"},
    {PHDR(0, p_memsz), 8, 8, "segment 0: 64 bytes in the file, but only 8 in memory"},
    {PHDR(1, p_paddr), 8, UINT64_MAX - 100, "segment 1: 0x1018 bytes at 0xffffffffffffff9b pass the end"},
    {PHDR(1, p_paddr), 8, BASE + 63, "segment 1 at 0x8000003f overlaps the segment at 0x80000000"},
    {PHDR(1, p_type), 4, PT_INTERP, "program header 1 asks for dynamic linking"},
    {PHDR(1, p_paddr), 8, BASE + (1 << 20) - 4096, "the segment at 0x800ff000 of 4120 bytes is not in main memory"},
    {PHDR(1, p_paddr), 8, 0x10000, "the segment at 0x10000 of 4120 bytes is not in main memory"},
    {SECTION(2, sh_entsize), 8, 16, "the symbol table has entries of 16 bytes"},
    {SECTION(2, sh_size), 8, UINT64_C(24) << 40, "the symbol table is not in the file"},
    {SECTION(2, sh_link), 4, 1000, "section 1000 is used as a string table"},
    {SECTION(3, sh_offset), 8, UINT64_C(1) << 40, "the string table in section 3 is not in the file"},
    {SECTION(3, sh_size), 8, 3, "the string table in section 3 is not terminated"},
    {SECTION(3, sh_size), 8, 1, "of a string table of 1 bytes"},
    {SECTION(3, sh_size), 8, 0, "the string table in section 3 is not terminated"},
    {SECTION(1, sh_size), 8, UINT64_C(1) << 40, "the code of section 1 is not in the file"},
    {SECTION(1, sh_name), 4, 4000, "the name of section 1 is outside the string table"},
    {SECTION(5, sh_offset), 8, UINT64_C(1) << 40, "the notes of section 5 are not in the file"},
    {SECTION(5, sh_size), 8, 30, "a note of 5 and 19 bytes passes its section's end"},
};

static uint8_t *broken(const breakage *how, size_t *length) {
  elf_build b = good();
  uint8_t *bytes = elf_build_file(&b, length);
  uint64_t at = how->offset, section_headers;
  memcpy(&section_headers, bytes + offsetof(Elf64_Ehdr, e_shoff), 8);
  if (at >= SHDR) at = at - SHDR + section_headers;
  assert_true(at + how->width <= *length);
  memcpy(bytes + at, &how->value, how->width);
  return bytes;
}

static void every_breakage_is_told(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof breakages / sizeof breakages[0]; i++) {
    size_t length;
    uint8_t *bytes = broken(&breakages[i], &length);
    arch_memory *memory = arch_memory_create(1 << 20);
    bool ok;
    char *text = report(bytes, length, memory, &ok);
    if (ok || strstr(text, breakages[i].message) == NULL || strncmp(text, "test.elf", 8) != 0) {
      fail_msg("expected \"%s\", got \"%s\"", breakages[i].message, text);
    }
    free(text);
    arch_memory_destroy(memory);
    wf_free(bytes);
  }
}

// Cut anywhere, the file is refused without a read past its end (the sanitizers watch).
static void every_prefix_is_refused(void **state) {
  (void)state;
  elf_build b = good();
  size_t length;
  uint8_t *bytes = elf_build_file(&b, &length);
  for (size_t cut = 0; cut < length; cut++) {
    bool ok;
    char *text = report(bytes, cut, NULL, &ok);
    assert_false(ok);
    assert_true(strlen(text) > 0);
    free(text);
  }
  wf_free(bytes);
}

static void a_bad_array_note(void **state) {
  (void)state;
  elf_build b = good();
  size_t length;
  uint8_t *bytes = elf_build_file(&b, &length);
  uint8_t *name = memmem(bytes, length, "gemmini-16", 10);
  assert_non_null(name);
  name[10] = 'x';  // the terminator
  bool ok;
  char *text = report(bytes, length, NULL, &ok);
  assert_false(ok);
  assert_non_null(strstr(text, "the array note of 19 bytes is no hash and terminated name"));
  free(text);
  wf_free(bytes);
}

static void files_that_cannot_be_read(void **state) {
  (void)state;
  const char *paths[] = {"/nonexistent/program.elf", "/", "/dev/null"};
  const char *messages[] = {"No such file", "Is a directory", "not an ELF file"};
  for (size_t i = 0; i < 3; i++) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    wf_diag diag = wf_diag_to(out);
    assert_null(sim_elf_open(paths[i], &diag));
    fclose(out);
    assert_non_null(strstr(text, messages[i]));
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_good_file),
      cmocka_unit_test(symbols_by_address),
      cmocka_unit_test(without_sections),
      cmocka_unit_test(every_breakage_is_told),
      cmocka_unit_test(every_prefix_is_refused),
      cmocka_unit_test(a_bad_array_note),
      cmocka_unit_test(files_that_cannot_be_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
