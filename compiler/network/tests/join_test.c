// SPDX-License-Identifier: Apache-2.0
// Parts of concatenations that need no copy of their own.
#include "compiler/network/tests/outcome.h"

// Transposes and resizes write into the concatenation that reads them, but for those that another node or an observer
// has as well, along other dimensions, or twice.
static const char joins[] =
    "graph joins\n"
    "input x i8[1, 2, 3, 4, 24]\n"
    "input z i8[1, 3, 4, 16]\n"
    "input y i8[1, 6, 8, 5]\n"
    "input f f32[7, 3, 5]\n"
    "constant scales f32[4] = [1.0, 2.0, 2.0, 1.0]\n"
    "constant rows i64[4] = [1, 6, 4, 24]\n"
    "constant wide i64[4] = [1, 6, 8, 12]\n"
    "node t Transpose(x) -> t i8[1, 3, 2, 4, 24] {perm = [0, 2, 1, 3, 4]}\n"
    "node r Reshape(t, rows) -> r i8[1, 6, 4, 24]\n"
    "node u Transpose(x) -> u i8[1, 3, 4, 2, 24] {perm = [0, 2, 3, 1, 4]}\n"
    "node v Reshape(u, wide) -> v i8[1, 6, 8, 12]\n"
    "node s Resize(z, _, scales) -> s i8[1, 6, 8, 16] {mode = \"nearest\"}\n"
    "node a Concat(y, s) -> a i8[1, 6, 8, 21] {axis = 3}\n"
    "node k Transpose(y) -> k i8[1, 8, 6, 5] {perm = [0, 2, 1, 3]}\n"
    "node l Transpose(y) -> l i8[1, 8, 6, 5] {perm = [0, 2, 1, 3]}\n"
    "node b Concat(k, l) -> b i8[1, 8, 6, 10] {axis = -1}\n"
    "node c Concat(r, r) -> c i8[1, 6, 4, 48] {axis = 3}\n"
    "node d Concat(v, y) -> d i8[1, 6, 8, 17] {axis = 3}\n"
    "node m Transpose(f) -> m f32[3, 7, 5] {perm = [1, 0, 2]}\n"
    "node n Transpose(f) -> n f32[3, 7, 5] {perm = [1, 0, 2]}\n"
    "node o Transpose(f) -> o f32[3, 7, 5] {perm = [1, 0, 2]}\n"
    "node e Concat(m, n, o) -> e f32[3, 7, 15] {axis = 2}\n"
    "node p Transpose(y) -> p i8[1, 8, 6, 5] {perm = [0, 2, 1, 3]}\n"
    "node g Concat(p, p) -> g i8[1, 16, 6, 5] {axis = 1}\n"
    "node q Transpose(y) -> q i8[1, 8, 6, 5] {perm = [0, 2, 1, 3]}\n"
    "node h Concat(q, b) -> h i8[1, 8, 6, 15] {axis = 3}\n"
    "output a\noutput c\noutput d\noutput e\noutput g\noutput h\noutput n\n";

// Copies of concatenations that are left: y, r twice, y, n, p twice, b. Those of v, whose name has other rows, too.
static void test_joins(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("joins", joins, sizeof joins - 1, &diag);
  assert_non_null(g);
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    run_both(g, arrays[a]);
    assert_int_equal(count_steps(g, arrays[a], GRAPH_OP_CONCAT), 9);
  }
  graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_joins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
