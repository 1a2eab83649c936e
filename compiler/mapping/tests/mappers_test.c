// SPDX-License-Identifier: Apache-2.0
// The mappers: default mappings are legal and no worse than what an enumeration of small spaces finds; random ones are
// legal and spread over the space.
#include <math.h>

#include "base/test.h"
#include "compiler/mapping/mapping.h"

static hw_array array_of(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

static const char *const arrays[] = {"dim4", "dim8", "gemmini-default", "dim32", "dim64"};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static void expect_default(const map_layer *layer, const hw_array *array) {
  wf_diag diag = wf_diag_to(stderr);
  map_mapping m;
  assert_true(map_default(layer, array, NULL, BLOCK_STYLE_PRIMITIVE, &m, &diag));
  assert_true(map_check(layer, &m, array, &diag));
}

static void test_default_maps_ragged_products(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 3, 16, 17, 31, 49, 197, 300, 4096, 70000};
  enum { SIZES = sizeof sizes / sizeof sizes[0] };
  for (int a = 0; a < ARRAYS; a++) {
    const hw_array array = array_of(arrays[a]);
    for (int m = 0; m < SIZES; m += 2)
      for (int n = 1; n < SIZES; n += 2)
        for (int k = 0; k < SIZES; k += 3) {
          const map_layer layer = {.kind = MAP_GEMM, .size = {1, sizes[m], 1, sizes[n], sizes[k], 1, 1}};
          expect_default(&layer, &array);
        }
  }
}

static void test_default_maps_convolutions(void **state) {
  (void)state;
  static const map_layer layers[] = {
      {.kind = MAP_CONV, .size = {4, 56, 56, 64, 64, 3, 3}},
      {.kind = MAP_CONV, .size = {1, 112, 112, 64, 3, 7, 7}, .stride = {2, 2}, .padding = {3, 3, 3, 3}},
      {.kind = MAP_CONV, .size = {2, 7, 7, 512, 512, 3, 3}, .padding = {1, 1, 1, 1}},
      {.kind = MAP_CONV, .size = {1, 5, 300, 17, 31, 1, 5}, .dilation = {1, 2}},
      {.kind = MAP_DEPTHWISE, .size = {1, 56, 56, 64, 1, 3, 3}, .padding = {1, 1, 1, 1}},
      {.kind = MAP_BATCHED, .size = {12, 197, 1, 197, 64, 1, 1}},
  };
  for (int a = 0; a < ARRAYS; a++) {
    const hw_array array = array_of(arrays[a]);
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) expect_default(&layers[i], &array);
  }
}

static void test_default_keeps_given_tiles(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer layer = {.kind = MAP_GEMM, .size = {1, 512, 1, 512, 512, 1, 1}};
  int64_t tile[BLOCK_DIMS] = {[BLOCK_DIM_P] = 32, [BLOCK_DIM_K] = 48, [BLOCK_DIM_C] = 16};
  wf_diag diag = wf_diag_to(NULL);
  map_mapping m;
  assert_true(map_default(&layer, &array, tile, BLOCK_STYLE_PRIMITIVE, &m, &diag));
  assert_int_equal(m.tile[BLOCK_DIM_P], 32);
  assert_int_equal(m.tile[BLOCK_DIM_K], 48);
  assert_int_equal(m.tile[BLOCK_DIM_C], 16);
  tile[BLOCK_DIM_K] = 40;  // blocks that no mapping can use
  assert_false(map_default(&layer, &array, tile, BLOCK_STYLE_PRIMITIVE, &m, &diag));
  assert_int_equal(diag.errors, 2);  // the reason, and that there is none
}

// A tile of the whole accumulator reads the inputs half as often as one of its half.
static void test_one_slot_of_results_where_it_reads_less(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer layers[] = {
      {.kind = MAP_GEMM, .size = {1, 128, 1, 768, 3072, 1, 1}, .bias = true},
      {.kind = MAP_CONV, .size = {1, 7, 7, 512, 512, 3, 3}, .padding = {1, 1, 1, 1}, .bias = true},
  };
  wf_diag diag = wf_diag_to(stderr);
  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
    map_mapping m;
    assert_true(map_default(&layers[i], &array, NULL, BLOCK_STYLE_PRIMITIVE, &m, &diag));
    assert_int_equal(m.depth[MAP_RESULTS], 1);
  }
  const map_layer pooling = {
      .kind = MAP_WINDOW, .size = {1, 56, 56, 64, 1, 3, 3}, .stride = {2, 2}, .pool_size = 3, .pool_stride = 2};
  const int64_t window[BLOCK_DIMS] = {[BLOCK_DIM_R] = 3, [BLOCK_DIM_S] = 3};
  map_mapping m;
  assert_true(map_default(&pooling, &array, window, BLOCK_STYLE_PRIMITIVE, &m, &diag));
  assert_int_equal(m.depth[MAP_RESULTS], 2);
}

static void test_best_mappings_differ_and_start_with_the_default(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer layer = {.kind = MAP_GEMM, .size = {1, 512, 1, 512, 512, 1, 1}};
  map_mapping best[20], first;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(map_default(&layer, &array, NULL, BLOCK_STYLE_PRIMITIVE, &first, &diag));
  assert_int_equal(map_best(&layer, &array, NULL, BLOCK_STYLE_PRIMITIVE, best, 20), 20);
  assert_true(map_equal(&first, &best[0]));
  for (int i = 0; i < 20; i++) {
    assert_true(map_check(&layer, &best[i], &array, &diag));
    for (int j = 0; j < i; j++) assert_false(map_equal(&best[i], &best[j]));
  }
}

// Weights are loaded once for a band of rows and a tile of columns; none stands in the list twice, or is illegal.
static void test_bands_keep_weights(void **state) {
  (void)state;
  enum { FROM = 10, ROOM = 40 };
  const hw_array array = array_of("gemmini-default");
  const map_layer layer = {.kind = MAP_CONV, .size = {1, 56, 56, 256, 64, 3, 3}, .padding = {1, 1, 1, 1}};
  map_mapping list[ROOM];
  wf_diag diag = wf_diag_to(stderr);
  const size_t best = map_best(&layer, &array, NULL, BLOCK_STYLE_PRIMITIVE, list, FROM);
  const size_t count = map_add_bands(&layer, &array, list, best, ROOM);
  assert_int_equal(best, FROM);
  assert_true(count > best);
  for (size_t i = best; i < count; i++) {
    const map_mapping *m = &list[i];
    const int64_t columns = m->dram[BLOCK_DIM_K] * m->dram[BLOCK_DIM_N], bands = m->dram[BLOCK_DIM_P];
    assert_true(map_check(&layer, m, &array, &diag));
    assert_true(m->sp[BLOCK_DIM_P] > 1);
    assert_int_equal(map_measure(&layer, m, &array).fills[MAP_WEIGHTS], columns * bands);
    for (size_t k = 0; k < i; k++) assert_false(map_equal(m, &list[k]));
  }
  assert_int_equal(map_add_bands(&layer, &array, list, best, best), best);
}

static void test_random_mappings_are_legal_and_spread(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer layer = {.kind = MAP_CONV, .size = {4, 28, 28, 128, 128, 3, 3}, .padding = {1, 1, 1, 1}};
  enum { COUNT = 2000 };
  unsigned depth[MAP_DEPTH_MAX + 1] = {0}, resident[MAP_POSITIONS + 1] = {0}, first[BLOCK_DIMS] = {0};
  uint64_t seed = 7, hashes[COUNT];
  for (int i = 0; i < COUNT; i++) {
    map_mapping m;
    assert_true(map_random(&layer, &array, &seed, &m));
    assert_true(map_check(&layer, &m, &array, NULL));
    hashes[i] = map_hash(&m);
    depth[m.depth[MAP_WEIGHTS]]++, resident[m.residency[MAP_INPUTS]]++, first[m.outer[0]]++;
  }
  for (int d = 1; d <= 4; d++) assert_true(depth[d] > COUNT / 50);
  for (int r = 1; r <= MAP_POSITIONS; r++) assert_true(resident[r] > 0);
  for (int d = BLOCK_DIM_N; d <= BLOCK_DIM_K; d++) assert_true(first[d] > COUNT / 10);
  unsigned repeated = 0;
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < i; j++) repeated += hashes[i] == hashes[j];
  assert_true(repeated < COUNT / 20);
}

// No mapping is quicker than its products, however ragged its rows are, with a cache and without.
static void test_estimates_are_no_less_than_the_products(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 17, 49, 300, 1000};
  enum { SIZES = sizeof sizes / sizeof sizes[0], COUNT = 40 };
  uint64_t seed = 11;
  for (int with = 0; with < 2; with++) {
    hw_array array = array_of("gemmini-default");
    array.l2.present = with != 0;
    for (int i = 0; i < SIZES * SIZES * SIZES * COUNT; i++) {
      const int64_t m = sizes[i % SIZES], n = sizes[i / SIZES % SIZES], k = sizes[i / (SIZES * SIZES) % SIZES];
      const map_layer layer = {.kind = MAP_GEMM, .size = {1, m, 1, n, k, 1, 1}};
      map_mapping mapping;
      assert_true(map_random(&layer, &array, &seed, &mapping));
      const map_footprint f = map_measure(&layer, &mapping, &array);
      // Not less, and a number.
      assert_true(map_estimate(&layer, &mapping, &array, &f, &cost_fitted, INFINITY) >= (double)f.mesh_cycles);
    }
  }
}

static void test_random_mappings_of_any_kind_are_often_illegal(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer layer = {.kind = MAP_GEMM, .size = {1, 300, 1, 200, 100, 1, 1}};
  uint64_t seed = 3;
  unsigned legal = 0;
  for (int i = 0; i < 2000; i++) {
    map_mapping m;
    wf_diag diag = wf_diag_to(NULL);
    map_random_any(&layer, &array, &seed, &m);
    const bool good = map_check(&layer, &m, &array, &diag);
    assert_int_equal(good, diag.errors == 0);
    legal += good;
  }
  assert_true(legal > 0 && legal < 1000);
}

// ---- the enumeration

typedef struct best {
  const map_layer *layer;
  const hw_array *array;
  int64_t bytes;
  uint64_t seen;
} best;

static int64_t total_bytes(const map_layer *layer, const map_mapping *m, const hw_array *array) {
  const map_footprint f = map_measure(layer, m, array);
  return f.dram_bytes[MAP_WEIGHTS] + f.dram_bytes[MAP_INPUTS] + f.dram_bytes[MAP_RESULTS];
}

static bool keep_best(void *context, const map_mapping *m) {
  best *b = context;
  assert_true(map_check(b->layer, m, b->array, NULL));
  const int64_t bytes = total_bytes(b->layer, m, b->array);
  if (bytes < b->bytes) b->bytes = bytes;
  return ++b->seen < 2000000;
}

static void test_enumeration_counts_what_can_be_counted(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer one = {.kind = MAP_GEMM, .size = {1, 16, 1, 16, 16, 1, 1}};
  best b = {.layer = &one, .array = &array, .bytes = INT64_MAX};
  assert_int_equal(map_enumerate(&one, &array, BLOCK_STYLE_PRIMITIVE, keep_best, &b), 8);  // depths alone
  // Two blocks of rows: the tile is 32 (8), or an outer or an inner loop with 2 x 2 residencies (32 each).
  const map_layer two = {.kind = MAP_GEMM, .size = {1, 32, 1, 16, 16, 1, 1}};
  b = (best){.layer = &two, .array = &array, .bytes = INT64_MAX};
  assert_int_equal(map_enumerate(&two, &array, BLOCK_STYLE_PRIMITIVE, keep_best, &b), 72);
  assert_int_equal(b.seen, 72);
  // The unrollers leave the factors alone: 32, 2 x 16 outer, 2 x 16 inner.
  assert_int_equal(map_enumerate(&two, &array, BLOCK_STYLE_LOOP, keep_best, &b), 3);
  assert_int_equal(b.bytes, 32 * 16 + 16 * 16 + 32 * 16);
}

// One element of results under a kernel of three columns: its loop is an outer or an inner one, and the unroller goes
// through it or not.
static void test_enumeration_of_unrolled_convolutions(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer alone = {.kind = MAP_CONV, .size = {1, 1, 1, 16, 16, 1, 3}};
  best b = {.layer = &alone, .array = &array, .bytes = INT64_MAX};
  assert_int_equal(map_enumerate(&alone, &array, BLOCK_STYLE_LOOP, keep_best, &b), 2 * 2);
}

// Those that are drawn are of both kinds, too.
static void test_random_unrolled_convolutions(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer row = {.kind = MAP_CONV, .size = {1, 1, 4, 16, 16, 1, 3}};
  uint64_t seed = 1;
  unsigned unrolled = 0, loops = 0;
  for (int n = 0; n < 400; n++) {
    map_mapping m;
    assert_true(map_random(&row, &array, &seed, &m));
    if (m.style != BLOCK_STYLE_LOOP) continue;
    loops++;
    unrolled += map_position(&m, BLOCK_DIM_S, m.sp[BLOCK_DIM_S] > 1) >= m.residency[MAP_WEIGHTS];
  }
  assert_true(unrolled > 0 && unrolled < loops);
}

static bool stop(void *context, const map_mapping *m) {
  (void)m;
  return ++*(int *)context < 5;
}

static void test_enumeration_stops(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  const map_layer layer = {.kind = MAP_GEMM, .size = {1, 64, 1, 64, 64, 1, 1}};
  int seen = 0;
  assert_int_equal(map_enumerate(&layer, &array, BLOCK_STYLE_PRIMITIVE, stop, &seen), 5);
}

// A scratchpad of 4 KiB cannot keep an operand of 96 x 96 and stream the other with room to spare.
static void test_default_is_near_the_least_bytes(void **state) {
  (void)state;
  hw_array array = array_of("gemmini-default");
  array.scratchpad.capacity_kib = 4;
  array.accumulator.capacity_kib = 2;
  const map_layer layer = {.kind = MAP_GEMM, .size = {1, 96, 1, 96, 96, 1, 1}};
  best b = {.layer = &layer, .array = &array, .bytes = INT64_MAX};
  assert_true(map_enumerate(&layer, &array, BLOCK_STYLE_PRIMITIVE, keep_best, &b) > 1000);
  map_mapping m;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(map_default(&layer, &array, NULL, BLOCK_STYLE_PRIMITIVE, &m, &diag));
  assert_true(total_bytes(&layer, &m, &array) >= b.bytes);
  assert_true(total_bytes(&layer, &m, &array) <= 4 * b.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_default_maps_ragged_products),
      cmocka_unit_test(test_default_maps_convolutions),
      cmocka_unit_test(test_default_keeps_given_tiles),
      cmocka_unit_test(test_one_slot_of_results_where_it_reads_less),
      cmocka_unit_test(test_best_mappings_differ_and_start_with_the_default),
      cmocka_unit_test(test_bands_keep_weights),
      cmocka_unit_test(test_random_mappings_are_legal_and_spread),
      cmocka_unit_test(test_estimates_are_no_less_than_the_products),
      cmocka_unit_test(test_random_mappings_of_any_kind_are_often_illegal),
      cmocka_unit_test(test_enumeration_counts_what_can_be_counted),
      cmocka_unit_test(test_enumeration_of_unrolled_convolutions),
      cmocka_unit_test(test_random_unrolled_convolutions),
      cmocka_unit_test(test_enumeration_stops),
      cmocka_unit_test(test_default_is_near_the_least_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
