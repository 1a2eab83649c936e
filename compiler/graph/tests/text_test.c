// SPDX-License-Identifier: Apache-2.0
// The text of graphs: what is printed reads back as the same graph, what is wrong is refused where it stands.
#include "base/test.h"
#include "compiler/graph/graph.h"

static const char good[] =
    "graph small\n"
    "input x f32[1, 3, 4, 4]\n"
    "input \"1\" i8[] scale 0.5 zero -3\n"
    "constant w f32[2, 3, 1, 1] = [1.0, -0.5, inf, nan, 1e-30, 3.0]\n"
    "constant big u8[9] = hex \"000102030405060708\"\n"
    "constant none i64[0] = []\n"
    "constant top u64[1] = [18446744073709551615]\n"
    "constant s f32[4] = [1.0, 1.0, 1.0, 1.0]\n"
    "node conv Conv(x, w, _) -> y f32[1, 2, 4, 4] {strides = [1, 1], alpha = 0.5, note = \"VA\\\"LID\", f = [0.5, "
    "2.0], g = "
    "[.], one = 1} host \"no \\\\ unit\"\n"
    "node \"relu 1\" Relu(y) -> z f32[1, 2, 4, 4] array\n"
    "node norm LayerNormalization(z, s) -> n f32[1, 2, 4, 4], _, v f32[1, 2, 4, 1]\n"
    "output z\n"
    "output n\n";

static char *print(const graph *g, bool all) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  graph_print(g, all, out);
  fclose(out);
  return text;
}

static void prints_what_it_reads(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("good", good, strlen(good), &diag);
  assert_non_null(g);
  assert_true(graph_verify(g, &diag));
  char *text = print(g, true);
  assert_string_equal(text, good);
  free(text);
  text = print(g, false);
  assert_non_null(strstr(text, "digest \""));
  wf_diag quiet = wf_diag_to(NULL);
  assert_null(graph_parse("digest", text, strlen(text), &quiet));
  free(text);
  const graph_node *conv = &g->nodes[0];
  float numbers[2];
  assert_int_equal(graph_floats(conv, "f", numbers, 2), 2);
  assert_true(numbers[1] == 2.0f);
  assert_int_equal(graph_int(conv, "one", 7), 1);
  assert_int_equal(graph_int(conv, "two", 7), 7);
  assert_string_equal(graph_text(conv, "note", ""), "VA\"LID");
  graph_destroy(g);
}

// The message of the first error that reading or verifying reports.
static void refuse(const char *text, const char *expected) {
  char *message;
  size_t length;
  FILE *out = open_memstream(&message, &length);
  wf_diag diag = wf_diag_to(out);
  graph *g = graph_parse("bad", text, strlen(text), &diag);
  bool ok = g != NULL && graph_verify(g, &diag);
  fclose(out);
  assert_false(ok);
  if (strstr(message, expected) == NULL) fail_msg("'%s' lacks '%s'", message, expected);
  graph_destroy(g);
  free(message);
}

static void refuses(void **state) {
  (void)state;
  refuse("", "expected graph");
  refuse("graph g\ninput x f33[1]\n", "bad:2:9: error: expected a type instead of 'f33'");
  refuse("graph g\ninput x f32[1]\ninput x f32[1]\n", "bad:3:7: error: a second tensor 'x'");
  refuse("graph g\ninput x f32[-1]\n", "an impossible shape");
  refuse("graph g\ninput x f32[9999999999, 9999999999]\n", "an impossible shape");
  refuse("graph g\ninput x f32[0, 999999999]\n", "an impossible shape");
  refuse("graph g\ninput x f32[1,1,1,1,1,1,1,1,1]\n", "more than 8 dimensions");
  refuse("graph g\nconstant x f32[2] = [1.0]\n", "expected , instead of ']'");
  refuse("graph g\nconstant x f32[1000000000] = [1.0]\n", "is missing");
  refuse("graph g\nconstant x u8[2] = hex \"0g00\"\n", "hexadecimal digits");
  refuse("graph g\nconstant x u8[2] = hex \"00\"\n", "expected 2 bytes");
  refuse("graph g\nnode n Frob() -> y f32[1]\n", "expected an operator instead of 'Frob'");
  refuse("graph g\nnode n Relu(x) -> y f32[1]\n", "no tensor 'x' so far");
  refuse("graph g\ninput x f32[1]\nnode n Relu(x, x) -> y f32[1]\n", "has 2 inputs instead of 1 to 1");
  refuse("graph g\ninput x f32[1]\nnode n Relu(x) -> y f32[1] {a = 1, a = 2}\n", "a second attribute 'a'");
  refuse("graph g\ninput x f32[2]\nnode n Relu(x) -> y f32[3]\n", "tensor 'y' is not what node 'n' (Relu) makes");
  refuse("graph g\ninput x f32[2]\ninput z f32[3]\nnode n Add(x, z) -> y f32[3]\n", "sizes 2 and 3 in one dimension");
  refuse("graph g\ninput x bool[2]\nnode n Sin(x) -> y bool[2]\n", "does not take bool");
  refuse("graph g\ninput x i8[2, 0]\ninput t u8[8, 256]\ninput m i8[1, 0]\nnode n QSoftmax(x, t, m) -> y i8[2, 0]\n",
         "its mask does not fit its rows");
  refuse("graph g\ninput x i8[2, 2]\ninput t i32[256]\nnode n QSoftmax(x, t) -> y i8[2, 2]\n",
         "its table has to be 8 times 256 numbers of u8");
  refuse("graph g\ninput \"x f32[1]\n", "a text without its end");
  refuse("graph g\ninput \"\" f32[1]\n", "an empty name");
  refuse("graph g\noutput y\n", "no tensor 'y' so far");
  refuse("graph g\ninput x f32[99999999999999999999]\n", "no integer of 64 bits");
}

// The seeds of the fuzz target are graphs that the verifier accepts.
static void seeds_are_good(void **state) {
  (void)state;
  static const char *const names[] = {"qconv", "qmatmul", "pool", "float", "sequence", "rows"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[300], text[8192];
    snprintf(path, sizeof path, SEEDS "/%s.graph", names[i]);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t length = fread(text, 1, sizeof text, in);
    fclose(in);
    wf_diag diag = wf_diag_to(stderr);
    graph *g = graph_parse(path, text, length, &diag);
    assert_non_null(g);
    assert_true(graph_verify(g, &diag));
    graph_destroy(g);
  }
}

static void verify_sees_what_text_cannot_say(void **state) {
  (void)state;
  wf_diag quiet = wf_diag_to(NULL);
  graph *g = graph_create("g");
  graph_tensor t = {.name = "x", .type = GRAPH_F32};
  int x = graph_add_tensor(g, &t);
  t.name = "y";
  int y = graph_add_tensor(g, &t);
  graph_add_node(g, GRAPH_OP_RELU, "n", &x, 1, &y, 1);
  graph_set_ends(g, NULL, 0, &y, 1);
  assert_false(graph_verify(g, &quiet));  // x is not made
  graph_set_ends(g, &x, 1, &y, 1);
  assert_true(graph_verify(g, &quiet));
  graph_add_node(g, GRAPH_OP_RELU, "m", &x, 1, &y, 1);
  assert_false(graph_verify(g, &quiet));  // y is made twice
  g->nodes[1].outputs[0] = 7;
  assert_false(graph_verify(g, &quiet));
  g->node_count = 1;
  g->tensors[y].name = "x";
  assert_false(graph_verify(g, &quiet));
  graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(prints_what_it_reads), cmocka_unit_test(refuses),
                                     cmocka_unit_test(seeds_are_good),
                                     cmocka_unit_test(verify_sees_what_text_cannot_say)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
