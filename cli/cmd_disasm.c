// SPDX-License-Identifier: Apache-2.0
// `weft disasm`: base instructions and custom instructions of a program together, by symbol.
#include <inttypes.h>

#include "api/include/weft/weft.h"
#include "cli/cli.h"

static void print_label(const weft_instruction *i, uint64_t section) {
  if (i->labelled)
    printf("\n%016" PRIx64 " <%s>:\n", i->address, i->symbol);
  else if (i->address == section)
    printf("\n%016" PRIx64 ":\n", i->address);
}

static void print_section(const weft_code *code, size_t index) {
  weft_section section = {.size = sizeof section};
  weft_instruction i = {.size = sizeof i};
  weft_code_section(code, index, &section);
  printf("\nsection %s\n", section.name);
  for (uint64_t offset = 0; weft_code_instruction(code, index, offset, &i) == WEFT_OK; offset += i.bytes) {
    print_label(&i, section.address);
    const int digits = 2 * (int)i.bytes;
    printf("  %8" PRIx64 ":  %0*" PRIx32 "%*s  %s\n", i.address, digits, i.bits, 8 - digits, "", i.text);
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
  cli_exit exit;
  if (!cli_parse(&usage, NULL, &argc, argv, &common, &exit)) return exit;
  weft_session *session = weft_session_create();
  weft_code *code = weft_code_open(session, argv[0]);
  cli_messages(session);
  exit = code == NULL ? CLI_BAD_INPUT : CLI_OK;
  for (size_t i = 0; i < weft_code_sections(code); i++) print_section(code, i);
  weft_code_destroy(code);
  weft_session_destroy(session);
  return exit;
}
