// SPDX-License-Identifier: Apache-2.0
// Any bytes as an executable: read, loaded and asked for everything; only a reported error or a usable program.
#include <stdlib.h>
#include <string.h>

#include "sim/elf/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static size_t use(const sim_elf *elf) {
  size_t sum = 0;
  uint64_t address = 0, hash = 0;
  const char *name = "";
  for (size_t i = 0; i < sim_elf_code_count(elf); i++) {
    sim_elf_code c = sim_elf_code_at(elf, i);
    sum += strlen(c.name);
    for (size_t k = 0; k < c.length; k++) sum += c.bytes[k];
    const sim_elf_symbol *s = sim_elf_symbol_at(elf, c.address + c.length / 2);
    if (s != NULL) sum += strlen(s->name);
  }
  if (sim_elf_find(elf, "tohost", &address)) sum += address;
  if (sim_elf_array_note(elf, &hash, &name)) sum += strlen(name);
  return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  FILE *out = fopen("/dev/null", "w");
  if (out == NULL) abort();
  wf_diag diag = wf_diag_to(out);
  sim_elf *elf = sim_elf_parse("fuzz.elf", bytes, length, &diag);
  if ((elf == NULL) != (diag.errors > 0)) abort();  // a refusal without a message, or a message without a refusal
  if (elf != NULL) {
    volatile size_t sum = use(elf);
    (void)sum;
    arch_memory *memory = arch_memory_create(1 << 20);
    sim_elf_load(elf, memory, &diag);
    arch_memory_destroy(memory);
  }
  sim_elf_close(elf);
  fclose(out);
  return 0;
}
