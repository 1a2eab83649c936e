// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of graphs' text, the verifier behind it, and the interpreter on what that accepts.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/run.h"

enum { BYTES_MAX = 1 << 14, NODES_MAX = 50 };

static bool is_small(const graph *g) {
  size_t bytes = 0;
  for (int t = 0; t < g->tensor_count && bytes < BYTES_MAX; t++) bytes += graph_bytes(&g->tensors[t]);
  return bytes < BYTES_MAX && g->node_count < NODES_MAX;
}

static char *print(const graph *g) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  graph_print(g, true, out);
  fclose(out);
  return text;
}

// What is printed reads back as the same text.
static void check_text(const graph *g, wf_diag *diag) {
  char *text = print(g);
  graph *again = graph_parse("again", text, strlen(text), diag);
  if (again == NULL) abort();
  char *second = print(again);
  if (strcmp(text, second) != 0) abort();
  graph_destroy(again);
  free(text);
  free(second);
}

static void run(const graph *g, wf_diag *diag) {
  void **inputs = WF_NEW_ARRAY((size_t)g->input_count + 1, void *);
  void **outputs = WF_NEW_ARRAY((size_t)g->output_count + 1, void *);
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
  graph *g = graph_parse("fuzz", (const char *)bytes, length, &diag);
  if (g != NULL) check_text(g, &diag);
  if (g != NULL && graph_verify(g, &diag) && is_small(g)) run(g, &diag);
  graph_destroy(g);
  return 0;
}
