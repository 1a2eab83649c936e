// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of programs with tokens and, behind it, their run.
#include <stdint.h>
#include <stdio.h>

#include "sim/races/races.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  if (length == 0) return 0;
  wf_diag diag = wf_diag_to(NULL);
  FILE *in = fmemopen((void *)(uintptr_t)bytes, length, "r");
  races_tokens *program = races_tokens_read(in, "fuzz", &diag);
  fclose(in);
  if (program != NULL) races_tokens_run(program);
  races_tokens_destroy(program);
  return 0;
}
