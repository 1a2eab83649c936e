// SPDX-License-Identifier: Apache-2.0
// Any bytes as command text and as instruction words: what parses must print to text that parses to the same operands.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

static void check_text(const char *text) {
  uint64_t rs1, rs2, back1, back2;
  isa_text_error error;
  const isa_insn *insn = isa_parse(2, text, &rs1, &rs2, &error);
  if (insn == NULL) {
    assert(error.column >= 1 && error.column <= strlen(text) + 1);
    return;
  }
  char printed[ISA_TEXT_MAX];
  size_t length = isa_print(insn, rs1, rs2, printed, sizeof printed);
  assert(length < sizeof printed);
  const isa_insn *again = isa_parse(2, printed, &back1, &back2, &error);
  assert(again == insn && back1 == rs1 && back2 == rs2);
  (void)again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  check_text(text);
  free(text);
  for (size_t i = 0; i + 4 <= size; i += 4) {
    uint32_t word;
    char line[16];
    memcpy(&word, data + i, sizeof word);
    isa_rv64_disasm(word, 0, line, sizeof line);
  }
  return 0;
}
