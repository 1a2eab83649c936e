// SPDX-License-Identifier: Apache-2.0
// How tile splits and orders loops, as text, and what it refuses.
#include "base/test.h"
#include "compiler/passes/passes.h"

// 20 x 14 x 12 in blocks of 4 x 2 x 3 after fuse.
static const char gemm[] =
    "program gemm\n"
    "tensor a i8[240] read\ntensor b i8[168] read\ntensor c i32[280] write\n"
    "loop m 5 parallel dim P\nloop n 7 parallel dim K\nloop k 4 dim C\n"
    "buffer at i8[4, 3]\nbuffer bt i8[3, 2]\nbuffer acc i32[4, 2]\n"
    "for m {\nfor n {\nfor k {\n"
    "load at = a[m*4:4 of 20 stride 12, k*3:3 of 12 stride 1]\n"
    "load bt = b[k*3:3 of 12 stride 14, n*2:2 of 14 stride 1]\n"
    "dot acc = at * bt sum_over k\n"
    "}\n"
    "store c[m*4:4 of 20 stride 14, n*2:2 of 14 stride 1] = acc\n"
    "}\n}\n";

static const char tiled[] =
    "program gemm style loop dataflow os\n"
    "tensor a i8[240] read\ntensor b i8[168] read\ntensor c i32[280] write\n"
    "loop m 3 parallel dim P\nloop n 7 parallel dim K\nloop k 4 dim C\n"
    "loop m_in 2 parallel dim P split m limit 5\n"
    "buffer at i8[4, 3]\nbuffer bt i8[3, 2]\nbuffer acc i32[4, 2]\n"
    "for n {  # 7 parallel\n"
    "  for m {  # 3 parallel\n"
    "    for m_in {  # 2 parallel\n"
    "      for k {  # 4\n"
    "        load at = a[m*8+m_in*4:4 of 20 stride 12, k*3:3 of 12 stride 1]\n"
    "        load bt = b[k*3:3 of 12 stride 14, n*2:2 of 14 stride 1]\n"
    "        dot acc = at * bt sum_over k\n"
    "      }\n"
    "      store c[m*8+m_in*4:4 of 20 stride 14, n*2:2 of 14 stride 1] = acc\n"
    "    }\n"
    "  }\n"
    "}\n";

static const map_mapping mapping = {.tile = {1, 4, 1, 2, 3, 1, 1},
                                    .sp = {1, 2, 1, 1, 4, 1, 1},
                                    .dram = {1, 3, 1, 7, 1, 1, 1},
                                    .outer = {3, 1, 0, 2, 4, 5, 6},
                                    .inner = {0, 1, 2, 3, 4, 5, 6},
                                    .dataflow = BLOCK_OS,
                                    .style = BLOCK_STYLE_LOOP};

static block_program *program_of(const char *text) {
  wf_diag diag = wf_diag_to(stderr);
  block_program *program = block_parse("t", text, strlen(text), &diag);
  assert_non_null(program);
  if (!block_verify(program, &diag)) fail_msg("%s", text);
  return program;
}

static char *text_of(const block_program *program) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  block_print(program, out);
  fclose(out);
  return text;
}

static void loops_are_split_and_ordered(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  block_program *program = program_of(gemm);
  assert_true(pass_tile(program, &mapping, NULL, &diag));
  char *text = text_of(program);
  assert_string_equal(text, tiled);
  free(text);
  block_destroy(program);
}

static void sums_are_split(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  map_mapping m = mapping;
  m.sp[BLOCK_DIM_P] = 1, m.dram[BLOCK_DIM_P] = 5;
  m.sp[BLOCK_DIM_C] = 3, m.dram[BLOCK_DIM_C] = 2;
  block_program *program = program_of(gemm);
  assert_true(pass_tile(program, &m, NULL, &diag));
  char *text = text_of(program);
  assert_non_null(strstr(text, "loop k_in 3 dim C split k limit 4\n"));
  assert_non_null(strstr(text, "dot acc = at * bt sum_over k, k_in\n"));
  free(text);
  block_destroy(program);
}

static void says(const char *text, const map_mapping *m, const char *message) {
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  block_program *program = program_of(text);
  bool ok = pass_tile(program, m, NULL, &diag);
  fclose(out);
  if (ok || strstr(messages, message) == NULL) fail_msg("expected '%s': %s", message, messages);
  free(messages);
  block_destroy(program);
}

static void other_factors_are_refused(void **state) {
  (void)state;
  map_mapping m = mapping;
  m.dram[BLOCK_DIM_K] = 6;
  says(gemm, &m, "6 * 1 trips over K, the program has 1 loop with 7");
  m = mapping;
  m.sp[BLOCK_DIM_Q] = 2;
  says(gemm, &m, "1 * 2 trips over Q, the program has 0 loops with 1");
  m = mapping;
  m.dram[BLOCK_DIM_P] = 4;
  says(gemm, &m, "4 * 2 trips over P, the program has 1 loop with 5");
  says(tiled, &mapping, "the loop over P, 'm', is split already");
}

// Nests whose order means something. Rows and columns of the mapping's order: C outside of P.
static void order_that_matters_is_kept(void **state) {
  (void)state;
  map_mapping m = {.tile = {1, 1, 1, 1, 1, 1, 1},
                   .sp = {1, 1, 1, 1, 1, 1, 1},
                   .dram = {1, 2, 1, 1, 3, 1, 1},
                   .outer = {4, 1, 0, 2, 3, 5, 6},
                   .inner = {0, 1, 2, 3, 4, 5, 6}};
  const char head[] =
      "program p\ntensor t i8[12] read\ntensor u i32[12] write\nloop i 2 dim P\nloop j 3 dim C\nbuffer b "
      "i32[2]\nbuffer f i32[2]\n";
  const struct {
    const char *body, *message;
  } cases[] = {
      // The last store to an element stays.
      {"for i {\nfor j {\nload b = t[i*6+j*2:2 of 12 stride 1]\nstore u[i*2+j*2:2 of 12 stride 1] = b\n}\n}\n",
       "t:11:1: error: this statement does not let the loops around it run in another order"},
      // A product of values; a sum that overwrites first in one loop of two.
      {"copy b = 1\nfor i {\nfor j {\nload f = t[i*6+j*2:2 of 12 stride 1]\nadd b = b, f\n}\n}\nstore u[0:2 of 12 "
       "stride 1] = b\n",
       "t:12:1: error: this statement does not"},
      {"for i {\nfor j {\nload b = t[i*6+j*2:2 of 12 stride 1] sum_over j\n}\n}\nstore u[0:2 of 12 stride 1] = b\n",
       "t:10:1: error: this statement does not"},
      // An iteration sets a part of what all add to.
      {"copy b = 0\nfor i {\nfor j {\ncopy b[i:1] = 0\nload b += t[i*6+j*2:2 of 12 stride 1]\n}\n}\nstore u[0:2 of 12 "
       "stride 1] = b\n",
       "t:12:1: error: this statement does not"},
      // Statements between the loops.
      {"for i {\ncopy b = 0\nfor j {\nload b += t[i*6+j*2:2 of 12 stride 1]\n}\nstore u[i*2:2 of 12 stride 1] = b\n}\n",
       "t:10:1: error: the mapping has loop 'j' outside of loops around it"},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[1024];
    snprintf(text, sizeof text, "%s%s", head, cases[c].body);
    says(text, &m, cases[c].message);
  }
  wf_diag diag = wf_diag_to(stderr);
  char text[1024];
  snprintf(
      text, sizeof text, "%s%s", head,
      "for i {\nfor j {\nload b = t[i*6+j*2:2 of 12 stride 1] sum_over i, j\n}\n}\nstore u[0:2 of 12 stride 1] = b\n");
  block_program *program = program_of(text);
  assert_true(pass_tile(program, &m, NULL, &diag));
  assert_int_equal(program->body->loop.loop, 1);
  block_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_are_split_and_ordered),
      cmocka_unit_test(sums_are_split),
      cmocka_unit_test(other_factors_are_refused),
      cmocka_unit_test(order_that_matters_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
