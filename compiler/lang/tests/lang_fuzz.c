// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader and the lowering: any file gives messages or kernels, any kernel messages or a program that prints.
#include <stdint.h>
#include <stdlib.h>

#include "compiler/lang/lang.h"

static void lower(lang_file *file, const lang_kernel *kernel) {
  wf_diag diag = wf_diag_to(NULL);
  lang_instance *instance = lang_instantiate(file, kernel);
  for (int p = 0; p < kernel->param_count; p++) {
    const lang_param *param = &kernel->params[p];
    if (param->kind == LANG_POINTER && param->dtype == LANG_NO_DTYPE)
      lang_set(instance, param->name, lang_type(LANG_INT8), &diag);
    if (param->kind != LANG_POINTER && param->by_default.kind == LANG_UNSET)
      lang_set(instance, param->name, lang_int(20 + p), &diag);
  }
  if (kernel->config_count > 0) lang_set_config(instance, 0, &diag);
  const bool ready = lang_ready(instance, &diag);
  const int64_t *grid = instance->grid;
  if (!ready || grid[0] > 8 || grid[1] > 8 || grid[2] > 8) lang_set_grid(instance, 2, 2, 1);
  if (!lang_ready(instance, &diag)) return;
  diag.errors = 0;
  block_program *program = lang_lower(instance, &diag);
  if ((program == NULL) != (diag.errors != 0)) abort();
  if (program == NULL) return;
  FILE *out = fopen("/dev/null", "w");
  block_print(program, out);
  fclose(out);
  block_verify(program, &diag);
  block_destroy(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  char *messages = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&messages, &size);
  wf_diag diag = wf_diag_to(out);
  lang_file *file = lang_parse("fuzz", (const char *)bytes, length, &diag);
  if ((file == NULL) != (diag.errors != 0)) abort();
  for (int k = 0; file != NULL && k < lang_kernel_count(file); k++) lower(file, lang_kernel_at(file, k));
  lang_destroy(file);
  fclose(out);
  free(messages);
  return 0;
}
