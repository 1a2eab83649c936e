// SPDX-License-Identifier: Apache-2.0
// Every generated network, in its small variant, as a file: what is read computes what was written.
#include "workloads/networks/networks.h"

#include <math.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/element.h"
#include "compiler/graph/run.h"
#include "compiler/onnx/onnx.h"

enum { ENDS_MAX = 32 };

static void fill(const graph_tensor *t, void *data, uint32_t seed) {
  for (size_t i = 0; i < (size_t)graph_elements(t); i++) {
    seed = seed * 1664525u + 1013904223u;
    if (graph_is_real(t->type))
      graph_put_real(t->type, data, i, (double)(int32_t)seed * 0x1p-31);
    else
      graph_put_int(t->type, data, i, seed >> 30);
  }
}

static void run(const graph *g, void *outputs[ENDS_MAX]) {
  wf_diag diag = wf_diag_to(stderr);
  void *inputs[ENDS_MAX];
  for (int i = 0; i < g->input_count; i++) {
    const graph_tensor *t = &g->tensors[g->inputs[i]];
    inputs[i] = wf_alloc(graph_bytes(t) + 1, 1);
    fill(t, inputs[i], (uint32_t)i);
  }
  for (int o = 0; o < g->output_count; o++) outputs[o] = wf_alloc(graph_bytes(&g->tensors[g->outputs[o]]) + 1, 1);
  assert_true(graph_run(g, (const void *const *)inputs, outputs, NULL, &diag));
  for (int i = 0; i < g->input_count; i++) wf_free(inputs[i]);
}

// Patterns replace chains by operators that round once: equal but for that.
static void compare(const graph_tensor *t, const void *a, const void *b) {
  double most = 0;
  for (size_t i = 0; i < (size_t)graph_elements(t); i++) most = fmax(most, fabs(graph_real_at(t->type, a, i)));
  for (size_t i = 0; i < (size_t)graph_elements(t); i++)
    assert_true(fabs(graph_real_at(t->type, a, i) - graph_real_at(t->type, b, i)) <= 1e-4 * most);
  assert_true(most > 0);
}

static void check(const networks_row *row) {
  wf_diag diag = wf_diag_to(stderr);
  const networks_options options = {.size = row->size == 0            ? 0
                                            : row->size_multiple > 32 ? row->size_multiple
                                                                      : 64,
                                    .sequence = row->sequence == 0 ? 0 : 8,
                                    .layers = row->layers == 0 ? 0 : 1,
                                    .divisor = 8,
                                    .seed = 3};
  graph *made = networks_create(row->name, &options, &diag);
  assert_non_null(made);
  char *path = wf_format("onnx_networks_test.%d.onnx", (int)getpid());
  assert_true(onnx_write(made, path, &diag));
  graph *read = onnx_read(path, NULL, &diag);
  assert_non_null(read);
  unlink(path);
  wf_free(path);
  assert_true(read->node_count <= made->node_count);
  assert_int_equal(read->output_count, made->output_count);
  void *a[ENDS_MAX], *b[ENDS_MAX];
  run(made, a);
  run(read, b);
  for (int o = 0; o < made->output_count; o++) {
    const graph_tensor *t = &made->tensors[made->outputs[o]], *other = &read->tensors[read->outputs[o]];
    assert_string_equal(t->name, other->name);
    assert_true(graph_same_shape(t, other));
    compare(t, a[o], b[o]);
    wf_free(a[o]);
    wf_free(b[o]);
  }
  graph_destroy(made);
  graph_destroy(read);
}

static void networks_survive_the_file(void **state) {
  (void)state;
  for (size_t i = 0; i < networks_count(); i++) check(networks_at(i));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(networks_survive_the_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
