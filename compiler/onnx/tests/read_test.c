// SPDX-License-Identifier: Apache-2.0
// The reader: what is written and read again, patterns, folding, and damaged files.
#include <math.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/onnx/onnx.h"

static graph *parse(const char *text) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("test", text, strlen(text), &diag);
  assert_non_null(g);
  assert_true(graph_verify(g, &diag));
  return g;
}

static char *print(const graph *g) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  graph_print(g, true, out);
  fclose(out);
  return text;
}

static char *temporary(const char *name) { return wf_format("onnx_read_test.%d.%s", (int)getpid(), name); }

// Written to a file and read again.
static graph *through_file(const graph *g, const onnx_options *options) {
  wf_diag diag = wf_diag_to(stderr);
  char *path = temporary("model.onnx");
  assert_true(onnx_write(g, path, &diag));
  graph *read = onnx_read(path, options, &diag);
  assert_non_null(read);
  unlink(path);
  wf_free(path);
  return read;
}

static const char network[] =
    "graph net\n"
    "input x f32[1, 3, 8, 8]\n"
    "constant w f32[2, 3, 1, 1] = [1.0, -0.5, 0.25, 2.0, 1e-3, 3.0]\n"
    "constant low f32[] = [0.0]\n"
    "constant high f32[] = [6.0]\n"
    "constant shape i64[2] = [1, -1]\n"
    "constant scale f32[] = [0.05]\n"
    "constant zero u8[] = [128]\n"
    "node conv Conv(x, w) -> c f32[1, 2, 8, 8] {pads = [0, 0, 0, 0], group = 1, auto_pad = \"NOTSET\"}\n"
    "node clip Clip(c, low, high) -> r f32[1, 2, 8, 8]\n"
    "node pool MaxPool(r) -> p f32[1, 2, 4, 4] {kernel_shape = [2, 2], strides = [2, 2]}\n"
    "node leaky LeakyRelu(p) -> l f32[1, 2, 4, 4] {alpha = 0.125}\n"
    "node flat Reshape(l, shape) -> f f32[1, 32]\n"
    "node q QuantizeLinear(f, scale, zero) -> b u8[1, 32]\n"
    "node int Cast(b) -> i i32[1, 32] {to = \"i32\"}\n"
    "output i\n"
    "output f\n";

static void writes_and_reads(void **state) {
  (void)state;
  graph *g = parse(network), *read = through_file(g, NULL);
  char *before = print(g), *after = print(read);
  assert_string_equal(before, after);
  free(before);
  free(after);
  graph_destroy(g);
  graph_destroy(read);
  g = parse(
      "graph rnn\ninput x f32[2, 1, 3]\ninput w f32[1, 4, 3]\ninput r f32[1, 4, 4]\n"
      "node rnn RNN(x, w, r) -> _, y f32[1, 1, 4] {activations = \"Relu\", hidden_size = 4, activation_alpha = [0.5, "
      "1.0]}\n"
      "output y\n");
  read = through_file(g, NULL);
  before = print(g), after = print(read);
  assert_string_equal(before, after);
  free(before);
  free(after);
  graph_destroy(g);
  graph_destroy(read);
}

static void refuses_to_write_what_onnx_has_not(void **state) {
  (void)state;
  wf_diag quiet = wf_diag_to(NULL);
  graph *g = parse("graph g\ninput x i8[4]\nconstant b i8[4] = [1, 2, 3, 4]\nnode n QAdd(x, b) -> y i8[4]\noutput y\n");
  assert_false(onnx_write(g, "never.onnx", &quiet));
  assert_int_equal(access("never.onnx", F_OK), -1);
  graph_destroy(g);
}

// ---- patterns: what a text becomes when it is read; the result has to stay the same

static void becomes(const char *text, const char *operator, int nodes) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = parse(text), *read = through_file(g, NULL);
  size_t count = (size_t)graph_elements(&g->tensors[g->inputs[0]]);
  float *x = wf_alloc(count, sizeof x[0]), *a = wf_alloc(count, sizeof a[0]), *b = wf_alloc(count, sizeof b[0]);
  for (size_t i = 0; i < count; i++) x[i] = (float)i * 0.37f - 2;
  if (read->node_count != nodes) graph_print(read, false, stderr);
  assert_int_equal(read->node_count, nodes);
  assert_string_equal(graph_op_name(read->nodes[nodes - 1].op), operator);
  assert_true(graph_run(g, (const void *[]){x}, (void *[]){a}, NULL, &diag));
  assert_true(graph_run(read, (const void *[]){x}, (void *[]){b}, NULL, &diag));
  for (size_t i = 0; i < count; i++) assert_true(fabsf(a[i] - b[i]) <= 1e-5f + 1e-5f * fabsf(a[i]));
  wf_free(x);
  wf_free(a);
  wf_free(b);
  graph_destroy(g);
  graph_destroy(read);
}

#define GELU_HEAD                                                                                                    \
  "graph g\ninput x f32[12]\nconstant root f32[] = [1.41421354]\nconstant one f32[] = [1.0]\nconstant half f32[] = " \
  "[0.5]\n"                                                                                                          \
  "node d Div(x, root) -> d f32[12]\nnode e Erf(d) -> e f32[12]\nnode a Add(e, one) -> a f32[12]\n"
#define NORM_HEAD(square)                                                                       \
  "graph g\ninput x f32[2, 3]\nconstant two f32[] = [2.0]\nconstant eps f32[] = [0.01]\n"       \
  "constant gamma f32[3] = [1.0, 2.0, 3.0]\nconstant beta f32[3] = [0.5, 0.25, 0.0]\n"          \
  "node m ReduceMean(x) -> m f32[2, 1] {axes = [-1]}\nnode c Sub(x, m) -> c f32[2, 3]\n" square \
  "node v ReduceMean(s) -> v f32[2, 1] {axes = [-1]}\nnode ve Add(v, eps) -> ve f32[2, 1]\n"    \
  "node r Sqrt(ve) -> r f32[2, 1]\nnode n Div(c, r) -> n f32[2, 3]\n"

static void recognises_chains(void **state) {
  (void)state;
  becomes(GELU_HEAD "node p Mul(x, a) -> p f32[12]\nnode y Mul(p, half) -> y f32[12]\noutput y\n", "Gelu", 1);
  becomes(GELU_HEAD "node p Mul(half, x) -> p f32[12]\nnode y Mul(p, a) -> y f32[12]\noutput y\n", "Gelu", 1);
  becomes(GELU_HEAD "node p Mul(a, half) -> p f32[12]\nnode y Mul(p, x) -> y f32[12]\noutput y\n", "Gelu", 1);
  // one factor is another tensor: no Gelu
  becomes(GELU_HEAD "node p Mul(d, a) -> p f32[12]\nnode y Mul(p, half) -> y f32[12]\noutput y\n", "Mul", 5);
  becomes(
      "graph g\ninput x f32[12]\nconstant three f32[] = [3.0]\nconstant k f32[] = [0.044715]\nconstant c f32[] = "
      "[0.797884583]\nconstant one f32[] = [1.0]\nconstant half f32[] = [0.5]\nnode p Pow(x, three) -> p f32[12]\n"
      "node q Mul(p, k) -> q f32[12]\nnode s Add(x, q) -> s f32[12]\nnode t Mul(s, c) -> t f32[12]\nnode u Tanh(t) -> "
      "u "
      "f32[12]\nnode v Add(u, one) -> v f32[12]\nnode w Mul(x, half) -> w f32[12]\nnode y Mul(w, v) -> y "
      "f32[12]\noutput y\n",
      "Gelu", 1);
  becomes(NORM_HEAD("node s Pow(c, two) -> s f32[2, 3]\n") "node g Mul(n, gamma) -> g f32[2, 3]\nnode y Add(g, beta) -> y f32[2, 3]\noutput y\n",
          "LayerNormalization", 1);
  becomes(NORM_HEAD("node s Mul(c, c) -> s f32[2, 3]\n") "node g Mul(gamma, n) -> g f32[2, 3]\nnode y Add(beta, g) -> y f32[2, 3]\noutput y\n",
          "LayerNormalization", 1);
  // squares of something else
  becomes(NORM_HEAD("node s Mul(x, x) -> s f32[2, 3]\n") "node g Mul(n, gamma) -> g f32[2, 3]\nnode y Add(g, beta) -> y f32[2, 3]\noutput y\n", "Add", 9);
}

static void folds_and_drops(void **state) {
  (void)state;
  becomes(
      "graph g\ninput x f32[2, 3]\nconstant i i64[] = [0]\nconstant minus i64[1] = [-1]\nconstant zero i64[1] = [0]\n"
      "node s Shape(x) -> s i64[2]\nnode n Gather(s, i) -> n i64[]\nnode u Unsqueeze(n, zero) -> u i64[1]\n"
      "node k Concat(u, minus) -> k i64[2] {axis = 0}\nnode same Identity(x) -> same f32[2, 3]\n"
      "node r Relu(same) -> r f32[2, 3]\nnode y Identity(r) -> y f32[2, 3]\noutput y\n",
      "Relu", 1);
}

// ---- damage: whatever is done to the bytes, reading ends with a graph or an error

static void survives_damage(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr), quiet = wf_diag_to(NULL);
  graph *g = parse(network);
  char *path = temporary("damage.onnx");
  assert_true(onnx_write(g, path, &diag));
  graph_destroy(g);
  uint8_t bytes[4096], damaged[sizeof bytes];
  FILE *in = fopen(path, "rb");
  size_t length = fread(bytes, 1, sizeof bytes, in);
  fclose(in);
  unlink(path);
  wf_free(path);
  assert_true(length < sizeof bytes);
  for (size_t cut = 0; cut < length; cut++) graph_destroy(onnx_read_bytes("cut", bytes, cut, NULL, &quiet));
  unsigned read = 0;
  uint32_t seed = 1;
  for (int round = 0; round < 4000; round++) {
    memcpy(damaged, bytes, length);
    for (int flips = 0; flips <= round % 3; flips++) {
      seed = seed * 1664525u + 1013904223u;
      damaged[(seed >> 8) % length] ^= (uint8_t)(1u << (seed & 7));
    }
    g = onnx_read_bytes("damaged", damaged, length, NULL, &quiet);
    read += g != NULL;
    graph_destroy(g);
  }
  assert_true(read > 100 && read < 3900);
}

// Attributes that hold graphs that hold attributes ...
static void refuses_deep_nesting(void **state) {
  (void)state;
  enum { LEVELS = 100000 };
  uint8_t *bytes = wf_alloc(LEVELS * 24, 1), *at = bytes + LEVELS * 24;
  // From the inside out: node (field 1 of a graph), attribute (5 of a node), graph (6 of an attribute).
  static const uint8_t keys[] = {0x0a, 0x2a, 0x32};
  size_t length = 0;
  for (int level = 0; level < LEVELS; level++) {
    uint8_t head[12];
    size_t head_length = 0, left = length;
    head[head_length++] = level + 1 == LEVELS ? 0x3a : keys[level % 3];
    for (; left > 127; left >>= 7) head[head_length++] = (uint8_t)(left | 0x80);
    head[head_length++] = (uint8_t)left;
    at -= head_length;
    memcpy(at, head, head_length);
    length += head_length;
  }
  wf_diag quiet = wf_diag_to(NULL);
  assert_null(onnx_read_bytes("deep", at, length, NULL, &quiet));
  wf_free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writes_and_reads),  cmocka_unit_test(refuses_to_write_what_onnx_has_not),
      cmocka_unit_test(recognises_chains), cmocka_unit_test(folds_and_drops),
      cmocka_unit_test(survives_damage),   cmocka_unit_test(refuses_deep_nesting),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
