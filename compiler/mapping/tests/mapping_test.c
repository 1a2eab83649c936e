// SPDX-License-Identifier: Apache-2.0
// Text, hash, footprint and legality of mappings.
#include "compiler/mapping/mapping.h"

#include "base/test.h"

static const map_layer gemm = {.kind = MAP_GEMM, .size = {1, 512, 1, 512, 512, 1, 1}};
// 3 x 3, padded by 1, 14 x 14 x 256 -> 256, four images.
static const map_layer conv = {.kind = MAP_CONV, .size = {4, 14, 14, 256, 256, 3, 3}, .padding = {1, 1, 1, 1}};

static const char *const good_text =
    "mapping primitive ws\n"
    "tile  N 1 P 128 Q 1 K 64 C 64 R 1 S 1\n"
    "sp    N 1 P 1 Q 1 K 1 C 2 R 1 S 1\n"
    "dram  N 1 P 4 Q 1 K 8 C 4 R 1 S 1\n"
    "outer N P Q K C R S\n"
    "inner N P Q K C R S\n"
    "weights depth 2 inside outer C\n"
    "inputs depth 2 inside outer P\n"
    "results depth 2\n";

static hw_array default_array(void) {
  hw_array array;
  hw_array_default(&array);
  return array;
}

// What a function reported.
typedef struct report {
  char *text;
  size_t size;
  FILE *file;
  wf_diag diag;
} report;

static void report_open(report *r) {
  r->file = open_memstream(&r->text, &r->size);
  r->diag = wf_diag_to(r->file);
}

static void report_expect(report *r, const char *part) {
  fclose(r->file);
  if (strstr(r->text, part) == NULL) fail_msg("expected \"%s\" in:\n%s", part, r->text);
  free(r->text);
}

static map_mapping good(void) {
  map_mapping m;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(map_parse(&m, "good", good_text, strlen(good_text), &diag));
  return m;
}

static void test_text_is_read_and_printed(void **state) {
  (void)state;
  map_mapping m = good();
  assert_int_equal(m.tile[BLOCK_DIM_P], 128);
  assert_int_equal(m.sp[BLOCK_DIM_C], 2);
  assert_int_equal(m.dram[BLOCK_DIM_K], 8);
  assert_int_equal(m.residency[MAP_WEIGHTS], 5);
  assert_int_equal(m.residency[MAP_INPUTS], 2);
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  map_print(&m, out);
  fclose(out);
  assert_string_equal(text, good_text);
  free(text);
}

static void test_errors_of_text_are_located(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *error;
  } cases[] = {
      {"primitive", "primitiv", "m.map:1:9: error: expected primitive or loop, found primitiv"},
      {"P 128", "P x", "m.map:2:13: error: expected a number from 1 up, found x"},
      {"P 128", "P 0", "m.map:2:13: error: expected a number from 1 up, found 0"},
      {"P 128", "N 128", "m.map:2:11: error: expected each dimension once, found N"},
      {"dram ", "drum ", "m.map:4:1: error: expected dram, found drum"},
      {"inner N P Q K C R S", "inner N P Q K C R", "expected a dimension (N P Q K C R S), found the end of the line"},
      {"outer P", "outer M", "m.map:8:29: error: expected a dimension (N P Q K C R S), found M"},
      {"results depth 2", "results depth 9", "expected a number from 1 up, found 9"},
      {"results depth 2\n", "", "expected results, found the end of the line"},
      {"results depth 2\n", "results depth 2\nmore\n", "m.map:10:1: error: expected the end of the file, found more"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[512];
    const char *at = strstr(good_text, cases[i].from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good_text), good_text, cases[i].to, at + strlen(cases[i].from));
    report r;
    report_open(&r);
    map_mapping m;
    assert_false(map_parse(&m, "m.map", text, strlen(text), &r.diag));
    assert_int_equal(r.diag.errors, 1);
    report_expect(&r, cases[i].error);
  }
}

static void test_comments_and_blank_lines(void **state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, "# a mapping\n\n  %s\n# end", good_text);
  map_mapping m, plain = good();
  wf_diag diag = wf_diag_to(stderr);
  assert_true(map_parse(&m, "m.map", text, strlen(text), &diag));
  assert_true(map_equal(&m, &plain));
}

static void test_equality_and_hash_see_every_field(void **state) {
  (void)state;
  const map_mapping m = good();
  map_mapping other[9];
  for (int i = 0; i < 9; i++) other[i] = m;
  assert_true(map_equal(&m, &other[0]));
  assert_true(map_hash(&m) == map_hash(&other[0]));
  other[0].tile[3]++, other[1].sp[4]++, other[2].dram[1]++, other[3].outer[0]++, other[4].inner[6]--;
  other[5].residency[1]++, other[6].depth[2]++, other[7].dataflow++, other[8].style++;
  for (int i = 0; i < 9; i++) {
    assert_false(map_equal(&m, &other[i]));
    assert_false(map_hash(&m) == map_hash(&other[i]));
  }
}

static void test_footprint_of_a_product(void **state) {
  (void)state;
  const hw_array array = default_array();
  const map_mapping m = good();
  const map_footprint f = map_measure(&gemm, &m, &array);
  assert_int_equal(f.slot_rows[MAP_RESULTS], 128 * 4);
  assert_int_equal(f.slot_rows[MAP_WEIGHTS], 128 * 4);  // two steps of 64 channels, 64 columns
  assert_int_equal(f.slot_rows[MAP_INPUTS], 128 * 32);  // all 512 channels
  assert_int_equal(f.rows[MAP_INPUTS], 2 * 128 * 32);
  assert_int_equal(f.dram_bytes[MAP_INPUTS], 512 * 512);       // once
  assert_int_equal(f.dram_bytes[MAP_WEIGHTS], 4 * 512 * 512);  // for each block of rows
  assert_int_equal(f.dram_bytes[MAP_RESULTS], 512 * 512);
  assert_int_equal(f.products, 32 * 32 * 32);
  assert_int_equal(f.stores, 32 * 8);
}

static void test_footprint_of_windows(void **state) {
  (void)state;
  const hw_array array = default_array();
  map_mapping m = {.tile = {1, 7, 14, 64, 64, 1, 1},
                   .sp = {1, 1, 1, 1, 1, 1, 1},
                   .dram = {4, 2, 1, 4, 4, 3, 3},
                   .outer = {0, 1, 2, 3, 4, 5, 6},
                   .inner = {0, 1, 2, 3, 4, 5, 6},
                   .residency = {7, 5},
                   .depth = {2, 2, 2}};
  map_footprint f = map_measure(&conv, &m, &array);
  assert_int_equal(f.slot_rows[MAP_INPUTS], 9 * 16 * 4);  // 7 x 14 with the halo
  assert_int_equal(f.slot_rows[MAP_WEIGHTS], 64 * 4);
  assert_int_equal(f.slot_rows[MAP_RESULTS], 112 * 4);  // 98 rows in tiles of 16
  // Rows -1..7 and 6..14 of 14, columns -1..14: 8 + 8 rows of 14 columns; again for each of four blocks of columns.
  assert_int_equal(f.dram_bytes[MAP_INPUTS], 4 * 16 * 14 * 256 * 4);
  assert_int_equal(f.dram_bytes[MAP_WEIGHTS], 9 * 256 * 256 * 4 * 2);
  m.residency[MAP_INPUTS] = 0;  // everything at once: no halo is read twice
  f = map_measure(&conv, &m, &array);
  assert_int_equal(f.dram_bytes[MAP_INPUTS], 4 * 14 * 14 * 256);
  assert_int_equal(f.slot_rows[MAP_INPUTS], 4 * 16 * 16 * 16);
}

// Each rule: a mapping that breaks it alone, and what is said.
static void test_violations_have_reasons(void **state) {
  (void)state;
  const hw_array array = default_array();
  const map_mapping legal = good();
  wf_diag loud = wf_diag_to(stderr);
  assert_true(map_check(&gemm, &legal, &array, &loud));
  enum { CASES = 16 };
  map_mapping m[CASES];
  for (int i = 0; i < CASES; i++) m[i] = legal;
  const char *error[CASES];
  int n = 0;
  m[n].residency[MAP_INPUTS] = 0;
  error[n++] = "scratchpad: needs 33792 rows of 16384 (weights 2 x 512, inputs 2 x 16384)";
  m[n].tile[BLOCK_DIM_P] = 512, m[n].dram[BLOCK_DIM_P] = 1, m[n].residency[MAP_INPUTS] = 5;
  error[n++] = "accumulator: needs 4096 rows of 1024 (results 2 x 2048)";
  m[n].tile[BLOCK_DIM_K] = 40, m[n].dram[BLOCK_DIM_K] = 13;
  error[n++] = "tile of K: 40 is no multiple of 16 and does not cover 512";
  m[n].tile[BLOCK_DIM_C] = 8, m[n].dram[BLOCK_DIM_C] = 32;
  error[n++] = "tile of C: 8 is no multiple of 16 and does not cover 512";
  m[n].dram[BLOCK_DIM_P] = 3;
  error[n++] = "factors of P: 128 * 1 * 3 do not cover 512";
  m[n].dram[BLOCK_DIM_P] = 5;
  error[n++] = "dram of P: the last of 5 trips has nothing left of 512";
  m[n].sp[BLOCK_DIM_C] = 9, m[n].dram[BLOCK_DIM_C] = 1;
  error[n++] = "sp of C: 9 trips where 8 blocks are left";
  m[n].tile[BLOCK_DIM_R] = 0;
  error[n++] = "factors of R: 0, 1, 1 are not all 1 to";
  m[n].sp[BLOCK_DIM_P] = 2, m[n].dram[BLOCK_DIM_P] = 2, m[n].residency[MAP_INPUTS] = 5;
  error[n++] = "accumulator: the inner loop over P runs inside the outer loop over C, whose sums are not complete";
  m[n].outer[0] = BLOCK_DIM_P;
  error[n++] = "outer: does not name each dimension once";
  m[n].depth[MAP_RESULTS] = 0;
  error[n++] = "results: depth 0 is not 1 to 8";
  m[n].residency[MAP_WEIGHTS] = 15;
  error[n++] = "weights: residency 15 of 14";
  m[n] = legal, m[n].dataflow = BLOCK_OS, m[n].style = BLOCK_STYLE_LOOP;
  m[n].residency[MAP_WEIGHTS] = m[n].residency[MAP_INPUTS] = MAP_POSITIONS;
  error[n++] = "style loop: the unroller is weight-stationary";
  m[n].style = BLOCK_STYLE_LOOP, m[n].residency[MAP_WEIGHTS] = MAP_POSITIONS;
  error[n++] = "style loop: the unroller loads inputs for every block, inside all loops";
  m[n].style = BLOCK_STYLE_LOOP, m[n].residency[MAP_WEIGHTS] = m[n].residency[MAP_INPUTS] = MAP_POSITIONS;
  m[n].tile[BLOCK_DIM_K] = 128, m[n].dram[BLOCK_DIM_K] = 4;
  error[n++] = "style loop: accumulator: a block needs 1024 rows of 512, a half";
  m[n] = m[n - 1], m[n].tile[BLOCK_DIM_P] = 64, m[n].dram[BLOCK_DIM_P] = 8, m[n].depth[MAP_RESULTS] = 1;
  error[n++] = "style loop: depth of results is 2";
  assert_int_equal(n, CASES);
  for (int i = 0; i < CASES; i++) {
    report r;
    report_open(&r);
    assert_false(map_check(&gemm, &m[i], &array, &r.diag));
    assert_int_equal(r.diag.errors, 1);
    report_expect(&r, error[i]);
  }
}

// Of 3 x 3 kernels on 14 x 14 images, for the loop unrollers: the unroller goes through Q, K and C.
static const map_mapping unrolled = {.tile = {1, 7, 14, 64, 64, 1, 1},
                                     .sp = {1, 1, 1, 1, 1, 1, 1},
                                     .dram = {4, 2, 1, 1, 1, 3, 3},
                                     .outer = {0, 1, 2, 3, 4, 5, 6},
                                     .inner = {0, 1, 2, 3, 4, 5, 6},
                                     .residency = {5, 5},
                                     .depth = {2, 2, 2},
                                     .style = BLOCK_STYLE_LOOP};

// What the unroller of convolutions asks, and what it says.
static void test_unrolled_convolutions_have_reasons(void **state) {
  (void)state;
  const hw_array built = default_array();
  hw_array without = built;
  without.units.loop_conv = false;
  const map_layer layer = {.kind = MAP_CONV,
                           .size = {4, 14, 14, 64, 64, 3, 3},
                           .stride = {1, 1},
                           .dilation = {1, 1},
                           .padding = {1, 1, 1, 1}};
  const map_mapping legal = unrolled;
  wf_diag loud = wf_diag_to(stderr);
  assert_int_equal(map_unrolled(&layer, &legal), 2);  // Q, K and C have no loops
  assert_true(map_check(&layer, &legal, &built, &loud));
  enum { CASES = 12 };
  map_mapping m[CASES];
  map_layer l[CASES];
  const hw_array *array[CASES];
  for (int i = 0; i < CASES; i++) m[i] = legal, l[i] = layer, array[i] = &built;
  const char *error[CASES];
  int n = 0;
  m[n].residency[MAP_WEIGHTS] = 1;
  error[n++] = "style loop: the unroller loads weights for every block, inside all loops but those over the kernel";
  m[n].residency[MAP_WEIGHTS] = 6;
  error[n++] = "style loop: the unroller loads weights and inputs inside of the same loops";
  m[n].tile[BLOCK_DIM_P] = 14, m[n].dram[BLOCK_DIM_P] = 1;
  error[n++] = "style loop: accumulator: a block needs 784 rows of 512, a half";
  l[n].size[BLOCK_DIM_C] = m[n].tile[BLOCK_DIM_C] = 512;  // 32 * 9 * 16 of inputs, 4 * 9 * 512 of weights
  error[n++] = "style loop: scratchpad: a block needs 23040 rows of 8192, a half";
  l[n].result_bytes = 4;
  error[n++] = "style loop: the unroller stores int8 results, not int32";
  l[n].stride[1] = 2;
  error[n++] = "style loop: the unroller has one stride, not 1 and 2";
  l[n].dilation[0] = 2;
  error[n++] = "style loop: the unroller has one dilation, not 2 and 1";
  l[n].kind = MAP_GROUPED;
  error[n++] = "style loop: groups lie side by side, which revision 1 of the unroller cannot tell from their weights";
  l[n].kind = MAP_DEPTHWISE, l[n].size[BLOCK_DIM_C] = m[n].tile[BLOCK_DIM_C] = 1;
  error[n++] =
      "style loop: depthwise: 64 channels in matrices of 16, which revision 1 of the unroller has one register";
  l[n].pool_size = 2;
  error[n++] = "style loop: results of convolutions are not pooled";
  array[n] = &without;
  error[n++] = "style loop: the array has no unroller for convolutions";
  // Four blocks of columns, each of 98 rows of the residual and 64 of the unit matrix.
  hw_array small = built;
  small.scratchpad.capacity_kib = 16;
  l[n].residual = 1, l[n].size[BLOCK_DIM_R] = l[n].size[BLOCK_DIM_S] = 1;
  l[n].size[BLOCK_DIM_C] = m[n].tile[BLOCK_DIM_C] = 16;
  m[n].dram[BLOCK_DIM_R] = m[n].dram[BLOCK_DIM_S] = 1;
  array[n] = &small;
  error[n++] = "style loop: scratchpad: a block needs 648 rows of 512, a half";
  assert_int_equal(n, CASES);
  for (int i = 0; i < CASES; i++) {
    report r;
    report_open(&r);
    assert_false(map_check(&l[i], &m[i], array[i], &r.diag));
    assert_int_equal(r.diag.errors, 1);
    report_expect(&r, error[i]);
  }
}

// Revision 2 has registers of their own for pixels and weights.
static void test_revision_2_unrolls_groups(void **state) {
  (void)state;
  hw_array array = default_array();
  array.isa.revision = 2;
  wf_diag loud = wf_diag_to(stderr);
  map_layer layer = {.kind = MAP_GROUPED, .size = {4, 14, 14, 64, 64, 3, 3}, .padding = {1, 1, 1, 1}};
  map_mapping m = unrolled;
  assert_true(map_check(&layer, &m, &array, &loud));
  layer.kind = MAP_DEPTHWISE, layer.size[BLOCK_DIM_C] = m.tile[BLOCK_DIM_C] = 1;
  assert_true(map_check(&layer, &m, &array, &loud));
}

static void test_dataflow_must_be_built(void **state) {
  (void)state;
  static const bool legal[3][2] = {
      [HW_DATAFLOW_WS] = {true, false}, [HW_DATAFLOW_OS] = {false, true}, [HW_DATAFLOW_BOTH] = {true, true}};
  hw_array array = default_array();
  map_mapping m = good();
  for (uint32_t built = 0; built < 3; built++)
    for (uint8_t flow = BLOCK_WS; flow <= BLOCK_OS; flow++) {
      array.mesh.dataflow = built;
      m.dataflow = flow;
      assert_int_equal(map_check(&gemm, &m, &array, NULL), legal[built][flow]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_is_read_and_printed),  cmocka_unit_test(test_errors_of_text_are_located),
      cmocka_unit_test(test_comments_and_blank_lines),  cmocka_unit_test(test_equality_and_hash_see_every_field),
      cmocka_unit_test(test_footprint_of_a_product),    cmocka_unit_test(test_footprint_of_windows),
      cmocka_unit_test(test_violations_have_reasons),   cmocka_unit_test(test_unrolled_convolutions_have_reasons),
      cmocka_unit_test(test_revision_2_unrolls_groups), cmocka_unit_test(test_dataflow_must_be_built),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
