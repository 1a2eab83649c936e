// SPDX-License-Identifier: Apache-2.0
// `weft disasm`: base instructions and custom instructions of a program together, by symbol.
#include <inttypes.h>
#include <string.h>

#include "base/name.h"
#include "cli/cli.h"
#include "isa/isa.h"
#include "sim/elf/elf.h"

static uint32_t half_at(const sim_elf_code *code, size_t offset) {
  return (uint32_t)code->bytes[offset] | (uint32_t)code->bytes[offset + 1] << 8;
}

// The instruction's bits: 16 or 32 of them; a word cut off by the section's end reads as a half.
static uint32_t bits_at(const sim_elf_code *code, size_t offset) {
  uint32_t low = half_at(code, offset);
  if ((low & 3) != 3 || offset + 4 > code->length) return low;
  return low | half_at(code, offset + 2) << 16;
}

static void print_label(const sim_elf *elf, uint64_t address, uint64_t section) {
  const sim_elf_symbol *symbol = sim_elf_symbol_at(elf, address);
  char name[WF_NAME_LINE];
  if (symbol != NULL && symbol->address == address)
    printf("\n%016" PRIx64 " <%s>:\n", address, wf_name_shown(symbol->name, name));
  else if (address == section)
    printf("\n%016" PRIx64 ":\n", address);
}

static void print_code(const sim_elf *elf, const sim_elf_code *code) {
  char name[WF_NAME_LINE];
  printf("\nsection %s\n", wf_name_shown(code->name, name));
  for (size_t offset = 0; offset + 2 <= code->length;) {
    uint64_t pc = code->address + offset;
    uint32_t bits = bits_at(code, offset);
    char text[128];
    int length = isa_rv64_disasm(bits, pc, text, sizeof text);
    print_label(elf, pc, code->address);
    printf("  %8" PRIx64 ":  %0*" PRIx32 "%*s  %s\n", pc, 2 * length, bits, 8 - 2 * length, "", text);
    offset += (size_t)length;
  }
}

cli_exit cli_disasm(int argc, char **argv) {
  static const cli_usage usage = {
      .verb = "disasm",
      .synopsis = "PROG.elf",
      .text =
          "Prints the code of a RISC-V program: base instructions and the custom instructions\n"
          "of the accelerator, with the program's symbols.",
      .min_arguments = 1,
      .max_arguments = 1,
      .no_json = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, NULL, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  sim_elf *elf = sim_elf_open(argv[0], &diag);
  if (elf == NULL) return CLI_BAD_INPUT;
  for (size_t i = 0; i < sim_elf_code_count(elf); i++) {
    sim_elf_code section = sim_elf_code_at(elf, i);
    print_code(elf, &section);
  }
  sim_elf_close(elf);
  return CLI_OK;
}
