// SPDX-License-Identifier: Apache-2.0
// Writes seeds for the fuzzer: elf_seeds DIRECTORY.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/elf/tests/elf_build.h"

#define BASE UINT64_C(0x80000000)

static bool write_seed(const char *directory, const char *name, const elf_build *b) {
  size_t length;
  uint8_t *bytes = elf_build_file(b, &length);
  char *path = wf_format("%s/%s", directory, name);
  FILE *f = fopen(path, "wb");
  bool ok = f != NULL && fwrite(bytes, 1, length, f) == length;
  if (f != NULL) ok = fclose(f) == 0 && ok;
  if (!ok) perror(path);
  wf_free(path);
  wf_free(bytes);
  return ok;
}

int main(int argc, char **argv) {
  if (argc != 2) return EXIT_FAILURE;
  static const uint8_t code[32] = {0x6f};
  elf_build b = {.entry = BASE, .segments = {{BASE, sizeof code, code, sizeof code, PF_R | PF_X}}};
  bool ok = write_seed(argv[1], "plain.elf", &b);
  b.segments[1] = (elf_build_segment){BASE + 4096, 8192, code, 8, PF_R | PF_W};
  b.symbols[0] = (elf_build_symbol){"main", BASE, 16, STT_FUNC};
  b.symbols[1] = (elf_build_symbol){"tohost", BASE + 4096, 8, STT_OBJECT};
  ok = write_seed(argv[1], "symbols.elf", &b) && ok;
  b.note_hash = 1;
  b.note_name = "array";
  ok = write_seed(argv[1], "note.elf", &b) && ok;
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
