// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of command programs. What it takes prints and reads back to the same text, and verifying, folding
// and rolling it does no harm and keeps its executions.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/command/private.h"

enum { EXECUTIONS = 4096 };

static char *text_of(const command_program *program, size_t *size) {
  char *text;
  FILE *out = open_memstream(&text, size);
  command_print(program, out);
  fclose(out);
  return text;
}

static void check_text(const command_program *program, const hw_array *array, wf_diag *diag) {
  size_t size, again_size;
  char *text = text_of(program, &size);
  command_program *again = command_parse("again", text, size, array, diag);
  if (again == NULL) abort();
  char *second = text_of(again, &again_size);
  if (strcmp(text, second) != 0) abort();
  command_destroy(again);
  free(text);
  free(second);
}

static void check_passes(const command_program *program, wf_diag *diag) {
  if (command_walk_length(program) > EXECUTIONS) return;
  command_verify(program, diag);
  command_program *folded = command_fold_config(program), *rolled = command_roll(folded);
  if (command_executions(folded) != command_executions(rolled)) abort();
  command_destroy(rolled);
  command_destroy(folded);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(NULL);
  command_program *program = command_parse("fuzz", (const char *)bytes, length, &array, &diag);
  if (program == NULL) return 0;
  check_text(program, &array, &diag);
  check_passes(program, &diag);
  command_destroy(program);
  return 0;
}
