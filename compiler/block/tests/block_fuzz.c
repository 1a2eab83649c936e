// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of block programs: what it accepts prints as text that reads back, prints the same and
// verifies the same.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/block/block.h"

static char *text_of(const block_program *program, size_t *length) {
  char *text = NULL;
  FILE *out = open_memstream(&text, length);
  block_print(program, out);
  fclose(out);
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  wf_diag diag = wf_diag_to(NULL);
  block_program *program = block_parse("fuzz", (const char *)bytes, length, &diag);
  if (program == NULL) return 0;
  size_t first_length, second_length;
  char *first = text_of(program, &first_length);
  block_program *again = block_parse("again", first, first_length, &diag);
  if (again == NULL) abort();
  char *second = text_of(again, &second_length);
  if (first_length != second_length || memcmp(first, second, first_length) != 0) abort();
  bool verified = block_verify(program, &diag);
  if (block_verify(again, &diag) != verified) abort();
  free(first);
  free(second);
  block_destroy(program);
  block_destroy(again);
  return 0;
}
