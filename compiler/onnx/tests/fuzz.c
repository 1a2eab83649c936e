// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of ONNX files and, for what it accepts, the text form and the interpreter.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "compiler/graph/run.h"
#include "compiler/onnx/onnx.h"

enum { BYTES_MAX = 1 << 14, FOLD_BYTES = 1 << 20, NODES_MAX = 100 };

// Small enough to be run many times a second.
static bool is_small(const graph *g) {
  size_t bytes = 0;
  for (int t = 0; t < g->tensor_count && bytes < BYTES_MAX; t++) bytes += graph_bytes(&g->tensors[t]);
  return bytes < BYTES_MAX && g->node_count < NODES_MAX;
}

// What graph_parse reads is what was printed.
static void check_text(const graph *g, wf_diag *diag) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  graph_print(g, true, out);
  fclose(out);
  graph *again = graph_parse("text", text, length, diag);
  if (again == NULL) abort();
  graph_destroy(again);
  free(text);
}

static void run(const graph *g, wf_diag *diag) {
  void **inputs = WF_NEW_ARRAY((size_t)g->input_count + 1, void *),
       **outputs = WF_NEW_ARRAY((size_t)g->output_count + 1, void *);
  for (int i = 0; i < g->input_count; i++) inputs[i] = wf_calloc(graph_bytes(&g->tensors[g->inputs[i]]) + 1, 1);
  for (int o = 0; o < g->output_count; o++) outputs[o] = wf_calloc(graph_bytes(&g->tensors[g->outputs[o]]) + 1, 1);
  graph_run(g, (const void *const *)inputs, outputs, NULL, diag);
  for (int i = 0; i < g->input_count; i++) wf_free(inputs[i]);
  for (int o = 0; o < g->output_count; o++) wf_free(outputs[o]);
  wf_free(inputs);
  wf_free(outputs);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  wf_diag diag = wf_diag_to(NULL);
  const onnx_options options = {.fold_bytes = FOLD_BYTES};
  graph *g = onnx_read_bytes("fuzz.onnx", bytes, length, &options, &diag);
  if (g != NULL && is_small(g)) {
    check_text(g, &diag);
    run(g, &diag);
  }
  graph_destroy(g);
  return 0;
}
