// SPDX-License-Identifier: Apache-2.0
// See build_held.h.
#include "compiler/network/tests/build_held.h"

#include "base/test.h"

graph *build_held(const build_held_sizes *n, float scale) {
  wf_diag diag = wf_diag_to(stderr);
  char ones[8192], text[16384];
  int at = 0;
  for (int64_t k = 0; k < n->depth; k++) at += snprintf(ones + at, sizeof ones - (size_t)at, "%s1", k == 0 ? "" : ", ");
  snprintf(text, sizeof text,
           "graph held\n"
           "input e i8[%lld, %lld, %lld, %lld]\n"
           "input v i8[%lld, %lld, %lld, %lld]\n"
           "constant ones i8[%lld, 1] = [%s]\n"
           "node t Transpose(v) -> t i8[%lld, %lld, %lld, %lld] {perm = [0, 2, 1, 3]}\n"
           "node m QMatMul(e, ones) -> m i32[%lld, %lld, %lld, 1]\n"
           "node n QMatMul(e, t) -> n i32[%lld, %lld, %lld, %lld]\n"
           "node d QShare(n, m) -> d i8[%lld, %lld, %lld, %lld] {scale = %.9g}\n"
           "node b Transpose(d) -> b i8[%lld, %lld, %lld, %lld] {perm = [0, 2, 1, 3]}\n"
           "node h QHeadroom(e) -> h i8[%lld, %lld, %lld, 1]\n"
           "output b\noutput h\n",
#define D(x) (long long)n->x
           D(images), D(heads), D(rows), D(depth), D(images), D(depth), D(heads), D(cols), D(depth), ones, D(images),
           D(heads), D(depth), D(cols), D(images), D(heads), D(rows), D(images), D(heads), D(rows), D(cols), D(images),
           D(heads), D(rows), D(cols), (double)scale, D(images), D(rows), D(heads), D(cols), D(images), D(heads),
           D(rows));
#undef D
  graph *g = graph_parse("held", text, strlen(text), &diag);
  assert_non_null(g);
  return g;
}
