// SPDX-License-Identifier: Apache-2.0
// See onnx_file.h.
#include "cli/onnx_file.h"

void cli_file_dims(const cli_dims *d, onnx_dim dims[CLI_DIMS_MAX]) {
  for (int i = 0; i < d->count; i++) dims[i] = (onnx_dim){d->names[i], d->values[i]};
}

bool cli_file_values(const cli_values *v, cli_constants *c, wf_diag *diag) {
  *c = (cli_constants){.arena = wf_arena_create()};
  for (int i = 0; i < v->entries.count; i++) {
    graph_tensor *tensor = &c->tensors[i];
    if (!onnx_read_tensor(v->files[i], c->arena, tensor, diag)) return false;
    c->values[c->count++] = (onnx_value){v->inputs[i] == NULL ? tensor->name : v->inputs[i], tensor};
  }
  return true;
}

void cli_file_release(cli_constants *c) {
  if (c->arena != NULL) wf_arena_destroy(c->arena);
  c->arena = NULL;
}
