// SPDX-License-Identifier: Apache-2.0
// The text of a study, what compression and lowering make of layers, bounds of layers, and what is refused where.
#include <math.h>

#include "base/test.h"
#include "search/study/floors.h"
#include "search/study/parts.h"

#define NETWORK "networks: [" TINY "]\n"

static study_spec parsed(const char *text) {
  study_spec spec;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(study_spec_parse(&spec, "s.yaml", text, strlen(text), &diag));
  return spec;
}

static void crossed(void **state) {
  (void)state;
  static const char *const names[] = {"none",
                                      "channel 0.5",
                                      "channel 0.5 side",
                                      "channel 0.5 x12",
                                      "channel 0.3",
                                      "channel 0.3 side",
                                      "channel 0.3 x12",
                                      "weight 0.1 uniform",
                                      "weight 0.1 block"};
  study_spec spec = parsed(NETWORK
                           "arrays: [dim4, dim8, gemmini-side8]\n"
                           "compress: [none, {channel: [0.5, 0.3], round: [none, side, 12]},\n"
                           "           {weight: [0.1], pattern: [uniform, block]}]\n"
                           "lowering: [direct, unfold]\nmapping: [default, {tune: 4}, searched]\n");
  assert_int_equal(spec.compression_count, 9);
  for (size_t c = 0; c < 9; c++) assert_string_equal(spec.compressions[c].name, names[c]);
  assert_int_equal(study_row_count(&spec), 9 * 2 * 3 * 3);
  assert_string_equal(study_policy(&spec, 2).text, "search 8 latency");
  assert_int_equal(spec.base.fidelity, RUN_FIDELITY_FLOW);
  study_parts parts = study_parts_of(&spec);
  assert_int_equal(parts.count, 6);  // three mappings, two sides
  assert_string_equal(parts.part[3].file, "tune-4-dim8.sqlite");
  assert_int_equal(parts.part[3].spec.array_count, 2);
  assert_int_equal(parts.part[3].spec.network_count, 7 * 2);  // pruned weights have no layers of their own
  assert_string_equal(parts.part[3].spec.networks[study_part_network(&spec, 0, 2, 1)].name,
                      "tiny channel 0.5 side unfold");
  assert_int_equal(study_part_network(&spec, 0, 8, 1), study_part_network(&spec, 0, 0, 1));
  study_parts_release(&parts);
  study_spec_release(&spec);
}

static void bare(void **state) {
  (void)state;
  study_spec spec = parsed(NETWORK "fidelity: cycle\n");
  assert_int_equal(study_row_count(&spec), 1);
  assert_int_equal(spec.base.fidelity, RUN_FIDELITY_CYCLE);
  study_spec_release(&spec);
}

static void channels(void **state) {
  (void)state;
  static const struct {
    int64_t channels;
    double density;
    int64_t multiple;
    int64_t stay;
  } cases[] = {{64, 0.5, 1, 32},          {64, 0.3, 1, 19},           {64, 0.3, STUDY_SIDE, 16},
               {3, 0.5, STUDY_SIDE, 3},   {10, 0.01, 1, 1},           {40, 0.9, 16, 32},
               {48, 0.1, STUDY_SIDE, 16}, {20, 0.99, STUDY_SIDE, 16}, {24, 0.99, STUDY_SIDE, 16},
               {12, 0.99, STUDY_SIDE, 12}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const study_compression c = {.kind = STUDY_CHANNEL, .density = cases[i].density, .multiple = cases[i].multiple};
    assert_int_equal(study_channels(cases[i].channels, &c, 16), cases[i].stay);
  }
  assert_int_equal(study_channels(64, &(study_compression){.kind = STUDY_WEIGHT, .density = 0.5}, 16), 64);
}

static void blocks(void **state) {
  (void)state;
  const study_compression alone = {.kind = STUDY_WEIGHT, .density = 0.25, .pattern = STUDY_UNIFORM},
                          whole = {.kind = STUDY_WEIGHT, .density = 0.25, .pattern = STUDY_BLOCK};
  assert_true(study_blocks(&whole, 16) == 0.25);
  assert_true(study_blocks(&alone, 1) == 0.25);
  assert_true(fabs(study_blocks(&alone, 2) - (1 - 0.75 * 0.75 * 0.75 * 0.75)) < 1e-12);
  assert_true(study_blocks(&alone, 16) > 0.9999);
}

static void sizes(const layers_layer *l, int64_t c, int64_t k, int64_t groups) {
  assert_int_equal(layers_whole_size(l, BLOCK_DIM_C), c);
  assert_int_equal(layers_whole_size(l, BLOCK_DIM_K), k);
  assert_int_equal(layers_groups(l), groups);
}

// The image and the classes stay; what one layer makes, the next one takes.
static void pruned(void **state) {
  (void)state;
  study_spec spec = parsed(NETWORK "compress: [{channel: [0.5], round: [side]}]\n");
  const layers_network made =
      study_variant(&spec.networks[0], &spec.compressions[1], STUDY_DIRECT, 8, spec.base.arena, NULL);
  sizes(&made.layers[0], 3, 16, 1);  // 12 is as near to 8; halves go up
  sizes(&made.layers[1], 16, 24, 1);
  sizes(&made.layers[2], 24, 32, 1);
  sizes(&made.layers[3], 32, 32, 32);
  sizes(&made.layers[4], 32, 32, 4);
  sizes(&made.layers[5], 32, 10, 1);
  assert_int_equal(made.layers[1].count, 2);
  study_spec_release(&spec);
}

static void unfolded(void **state) {
  (void)state;
  study_spec spec = parsed(NETWORK "lowering: [unfold]\n");
  const layers_network *whole = &spec.networks[0];
  study_copy copies[6];
  const layers_network made = study_variant(whole, &spec.compressions[0], STUDY_UNFOLD, 8, spec.base.arena, copies);
  for (size_t i = 0; i < made.count; i++) assert_true(layers_macs(&made.layers[i]) == layers_macs(&whole->layers[i]));
  assert_int_equal(made.layers[1].size[BLOCK_DIM_P], 100);
  assert_int_equal(made.layers[1].size[BLOCK_DIM_C], 24 * 9);
  assert_int_equal(layers_to_map(&made.layers[1]).kind, MAP_GEMM);
  assert_true(copies[1].read_bytes == 12 * 12 * 24 && copies[1].written_bytes == 100 * 24 * 9);
  assert_true(copies[2].read_bytes == 25 * 48 && copies[2].written_bytes == 25 * 48);  // every second row and column
  for (size_t i = 3; i < 6; i++) assert_true(copies[i].written_bytes == 0);
  assert_true(made.layers[3].depthwise);
  study_spec_release(&spec);
}

// By hand, on a side of 16 with a bus of 16 bytes.
static void floors(void **state) {
  (void)state;
  study_spec spec = parsed(NETWORK);
  hw_array array;
  hw_array_default(&array);
  const study_floors stem = study_floors_of(&spec.networks[0].layers[0], &array),
                     deep = study_floors_of(&spec.networks[0].layers[3], &array),
                     product = study_floors_of(&spec.networks[0].layers[5], &array);
  assert_true(stem.ideal == 144.0 * 24 * 27 / 256);
  assert_true(stem.mesh == 9 * 2 * 27);  // 144 results fill 9 blocks, which stay while 27 rows pass
  assert_true(stem.memory == fmax(14 * 14 * 3 + 27 * 24, 144 * 24) / 16.0);
  assert_true(deep.ideal == 25.0 * 64 * 9 / 256);
  assert_true(deep.mesh == 4 * 9 * 25);                                                // 16 channels share a block
  assert_true(product.mesh == 4 * 40 && product.memory == (40 * 64 + 64 * 10) / 8.0);  // main memory: 8 bytes a cycle
  study_spec_release(&spec);
}

static void bounds(void **state) {
  (void)state;
  const study_floors full = {.ideal = 100, .mesh = 105, .memory = 10},
                     ragged = {.ideal = 100, .mesh = 130, .memory = 10},
                     bytes = {.ideal = 100, .mesh = 105, .memory = 110};
  assert_int_equal(study_bound_of(&full, 150, 50), STUDY_BY_ARRAY);
  assert_int_equal(study_bound_of(&full, 160, 50), STUDY_BY_WAITS);
  assert_int_equal(study_bound_of(&full, 160, 120), STUDY_BY_MEMORY);
  assert_int_equal(study_bound_of(&bytes, 160, 50), STUDY_BY_MEMORY);
  assert_int_equal(study_bound_of(&ragged, 150, 50), STUDY_BY_EDGES);
  assert_true(study_roof(&bytes) == 110 && study_roof(&ragged) == 100);
}

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *message, *hint;
  } cases[] = {
      {"arrays: [dim4]\n", "s.yaml:1:1: error: no networks", "hint: networks: [resnet50"},
      {"networks: [no-such]\n", "no table of layers has this name", "one of"},
      {"networks: [{net: lstm}]\n", "s.yaml:1:12: error", "weft net NAME --layers"},
      {"networks: [" TINY ", " TINY "]\n", "network 'tiny' appears twice", ""},
      {NETWORK "compres: [none]\n", "s.yaml:2:1: error: unknown key 'compres' in a study", ""},
      {NETWORK "compress: none\n", "s.yaml:2:11: error: compress must be a list", ""},
      {NETWORK "compress: []\n", "s.yaml:2:11: error: `compress` is an empty list", ""},
      {NETWORK "compress: [prune]\n", "'prune' is no value for compress", ""},
      {NETWORK "compress: [{density: 0.5}]\n", "s.yaml:2:12: error: a compression has `channel` or `weight`",
       "{channel: [0.5], round: [none, side]}"},
      {NETWORK "compress: [{channel: [0.5], weight: [0.5]}]\n", "a compression has `channel` or `weight`", "hint"},
      {NETWORK "compress: [{channel: [1.5]}]\n", "s.yaml:2:23: error: a density is above 0 and below 1",
       "0.25 is a quarter of all channels"},
      {NETWORK "compress: [{weight: [0]}]\n", "a density is above 0", "of all weights"},
      {NETWORK "compress: [{weight: [half]}]\n", "s.yaml:2:22: error", ""},
      {NETWORK "compress: [{weight: [0.5], round: [side]}]\n", "unknown key 'round' in a compression", ""},
      {NETWORK "compress: [{channel: [0.5], round: [sides]}]\n", "'sides' is no value for round", ""},
      {NETWORK "compress: [{channel: [0.5], round: [1]}]\n", "s.yaml:2:37: error: round must be", ""},
      {NETWORK "compress: [{channel: [0.5, 0.50]}]\n", "s.yaml:2:28: error: compression 'channel 0.5' appears twice",
       ""},
      {NETWORK "compress: [{weight: [0.5], pattern: [random]}]\n", "'random' is no value for pattern", ""},
      {NETWORK "lowering: [im2col]\n", "s.yaml:2:12: error: 'im2col' is no value for lowering", "unfold"},
      {NETWORK "lowering: [direct, direct]\n", "lowering 'direct' appears twice", ""},
      {NETWORK "mapping: default\n", "s.yaml:2:10: error: mapping must be a list", ""},
      {NETWORK "mapping: [{tune: 0}]\n", "tune must be", ""},
      {NETWORK "mapping: [searched, {search: 8}]\n", "s.yaml:2:21: error: mapping 'search 8 latency' appears twice",
       ""},
      {NETWORK "objective: energy\n", "s.yaml:2:12: error: `objective` is for", ""},
      {NETWORK "steps: all\n", "s.yaml:2:8: error: `steps` is for programs", ""},
      {NETWORK "arrays: [dim4]\nparameters: {load.queue: [1]}\n", "has no `parameters`", ""},
      {"- a\n", "a study must be a map", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *said;
    size_t length;
    wf_diag diag = wf_diag_to(open_memstream(&said, &length));
    study_spec spec;
    assert_false(study_spec_parse(&spec, "s.yaml", cases[i].text, strlen(cases[i].text), &diag));
    fclose(diag.out);
    if (strstr(said, cases[i].message) == NULL || strstr(said, cases[i].hint) == NULL)
      fail_msg("case %zu: %s", i, said);
    free(said);
    study_spec_release(&spec);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(crossed), cmocka_unit_test(bare),   cmocka_unit_test(channels),
                                     cmocka_unit_test(blocks),  cmocka_unit_test(pruned), cmocka_unit_test(unfolded),
                                     cmocka_unit_test(floors),  cmocka_unit_test(bounds), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
