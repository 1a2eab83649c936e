// SPDX-License-Identifier: Apache-2.0
// Any bytes as an instruction table: read, checked, and emitted when sound.
#include "isa/gen/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FILE *null = fopen("/dev/null", "w");
  if (null == NULL) return 0;
  wf_diag diag = wf_diag_to(null);
  gen_table table = {0};
  gen_read(&table, "fuzz", (const char *)data, size, &diag);
  if (diag.errors == 0) gen_check(&table, &diag);
  if (diag.errors == 0) {
    gen_emitter *const emitters[] = {gen_emit_fields, gen_emit_table, gen_emit_driver, gen_emit_package, gen_emit_text};
    for (size_t i = 0; i < sizeof emitters / sizeof *emitters; i++) emitters[i](null, &table);
  }
  gen_table_free(&table);
  fclose(null);
  return 0;
}
