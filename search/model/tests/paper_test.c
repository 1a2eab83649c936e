// SPDX-License-Identifier: Apache-2.0
// The plain model against the loops themselves: the words that move are counted by walking the nest; text and orders
// round-trip; cost follows the formulas.
#include "search/model/paper.h"

#include <math.h>

#include "base/test.h"

static uint64_t next_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 33;
}

static void shuffle(uint8_t order[BLOCK_DIMS], uint64_t *seed) {
  for (unsigned i = BLOCK_DIMS - 1; i > 0; i--) {
    const unsigned j = (unsigned)(next_random(seed) % (i + 1));
    const uint8_t kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

static paper_mapping random_mapping(const layers_layer *layer, uint64_t *seed) {
  paper_mapping m = paper_mapping_random(layer, 128, seed);
  for (int l = 0; l < PAPER_LEVELS; l++) shuffle(m.order[l], seed);
  return m;
}

static layers_layer random_layer(uint64_t *seed) {
  static const int64_t sizes[] = {1, 2, 3, 4, 6};
  layers_layer layer = {.name = "random", .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
  for (int d = 0; d < BLOCK_DIMS; d++) layer.size[d] = sizes[next_random(seed) % 5];
  layer.size[BLOCK_DIM_N] = 1;
  return layer;
}

// Walks the loops outside of a level, outermost slowest, and counts how often the tile of an operand changes.
static double tile_changes(const paper_mapping *m, paper_level level, const char *dims) {
  unsigned trips[PAPER_LEVELS * BLOCK_DIMS], at[PAPER_LEVELS * BLOCK_DIMS] = {0};
  bool uses[PAPER_LEVELS * BLOCK_DIMS];
  int count = 0;  // innermost first
  for (int l = (int)level + 1; l < PAPER_LEVELS; l++)
    for (int i = 0; i < BLOCK_DIMS; i++, count++) {
      const unsigned d = m->order[l][i];
      trips[count] = (unsigned)m->temporal[l][d];
      uses[count] = strchr(dims, block_dim_names[d][0]) != NULL;
    }
  double changes = 1;
  for (;;) {
    int i = 0;
    bool changed = false;
    for (; i < count && ++at[i] == trips[i]; i++) {
      changed |= uses[i] && trips[i] > 1;
      at[i] = 0;
    }
    if (i == count) return changes;
    changes += changed || uses[i];
  }
}

static void words_are_those_of_the_loops(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 300; i++) {
    const layers_layer layer = random_layer(&seed);
    const paper_mapping m = random_mapping(&layer, &seed);
    assert_true(paper_mapping_legal(&layer, &m));
    const paper_traffic t = paper_traffic_of(&layer, &m);
    const paper_need need = paper_need_of(&layer, &m);
    assert_true(t.weight_fills0 == tile_changes(&m, PAPER_REGISTERS, "RSCK") * m.rows * m.columns);
    assert_true(t.result_fills1 == tile_changes(&m, PAPER_ACCUMULATOR, "PQKN") * m.columns * need.column_words);
    const double weights = m.temporal[1][BLOCK_DIM_R] * m.temporal[1][BLOCK_DIM_S] * m.temporal[1][BLOCK_DIM_C] *
                           m.temporal[1][BLOCK_DIM_K] * m.rows * m.columns;
    assert_true(t.weight_fills2 == weights * tile_changes(&m, PAPER_SCRATCHPAD, "RSCK"));
    assert_true(need.scratchpad_words > weights);
  }
}

static void texts_read_back(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int i = 0; i < 300; i++) {
    const layers_layer layer = random_layer(&seed);
    const paper_mapping m = random_mapping(&layer, &seed);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    paper_mapping_print(&m, out);
    fclose(out);
    paper_mapping again;
    assert_true(paper_mapping_parse(&again, text));
    assert_memory_equal(again.temporal, m.temporal, sizeof m.temporal);
    assert_true(again.rows == m.rows && again.columns == m.columns);
    const paper_traffic a = paper_traffic_of(&layer, &m), b = paper_traffic_of(&layer, &again);
    assert_memory_equal(&a, &b, sizeof a);
    free(text);
  }
  paper_mapping m;
  static const char *const wrong[] = {"",
                                      "L3[WIO] K48",
                                      "L3[WIO] K2X - L2[WI] N1 - L1[O] N1 - L0[W] N1",
                                      "L3[WIO] K2 K2 - L2[WI] N1 - L1[O] N1 - L0[W] N1",
                                      "L3[WIO] X2 - L2[WI] N1 - L1[O] N1 - L0[W] N1",
                                      "L3[WIO] K0 - L2[WI] N1 - L1[O] N1 - L0[W] N1",
                                      "L3[WIO] K2 - L2[WI] N1 - L1[O] N1 - L0[W] N1 x"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(paper_mapping_parse(&m, wrong[i]));
}

static void illegal_mappings_are_seen(void **state) {
  (void)state;
  const layers_layer layer = {.size = {1, 4, 1, 8, 8, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
  const paper_mapping good = paper_mapping_start(&layer);
  assert_true(paper_mapping_legal(&layer, &good));
  paper_mapping m = good;
  m.rows = 2;
  assert_false(paper_mapping_legal(&layer, &m));
  m.temporal[PAPER_DRAM][BLOCK_DIM_C] = 4;
  assert_true(paper_mapping_legal(&layer, &m));
  m.temporal[PAPER_REGISTERS][BLOCK_DIM_C] = 4;
  m.temporal[PAPER_DRAM][BLOCK_DIM_C] = 1;
  assert_false(paper_mapping_legal(&layer, &m));
  m = good;
  m.order[PAPER_DRAM][0] = m.order[PAPER_DRAM][1];
  assert_false(paper_mapping_legal(&layer, &m));
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

// A product of 4 x 8 x 16 by hand: a 2 x 4 array, tiles of 2 x 4 x 8 results in the accumulator.
static void a_product_by_hand(void **state) {
  (void)state;
  const layers_layer layer = {.size = {1, 4, 1, 8, 16, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
  paper_mapping m;
  assert_true(paper_mapping_parse(&m, "L3[WIO] K2 C4 P2 - L2[WI] K4X - L1[O] C2 C2X - L0[W] P2"));
  assert_true(paper_mapping_legal(&layer, &m));
  const paper_need need = paper_need_of(&layer, &m);
  assert_true(need.side == 4 && need.scratchpad_words == 16 + 8 && need.column_words == 2);
  const paper_traffic t = paper_traffic_of(&layer, &m);
  assert_true(t.macs == 512 && t.results == 32);
  assert_true(t.weight_fills0 == 8 * 2 * (2 * 4 * 2));  // the tiles of C inside of P: loaded again for the second half
  assert_true(t.weight_fills2 == 16 * (2 * 4) && t.input_fills2 == 8 * (2 * 4 * 2));
  assert_true(t.result_fills1 == 2 * 4 * (2 * 4 * 2));
  const paper_hardware hardware = paper_minimal_hardware(&need, 1);
  assert_true(hardware.side == 4 && hardware.scratchpad_kib == 1 && hardware.accumulator_kib == 1);
  paper_constants c;
  assert_true(paper_constants_named(&c, "dosa"));
  const double accumulator = 2 * 512.0 / 2 - 32 + 128, scratchpad = 256 + 128 + 512.0 / 4 + 128;
  const double dram = 128 + 128 + 2 * 128 - 32, registers = 512 + 256;
  const paper_cost cost = paper_evaluate(&layer, &m, &hardware, &c);
  assert_true(near(cost.cycles, fmax(fmax(512.0 / 8, accumulator / 8), fmax(scratchpad / 8, dram / 8))));
  assert_true(near(cost.energy_uj, 1e-6 * (0.5608 * 512 + 0.48746172 * registers + (1.94 + 0.1005 / 4) * accumulator +
                                           (0.49 + 0.02513) * scratchpad + 100 * dram)));
}

static void constants_have_names(void **state) {
  (void)state;
  static const char *const names[] = {"dosa", "timeloop", "40nm"};
  paper_constants c;
  for (size_t i = 0; i < 3; i++) {
    assert_true(paper_constants_named(&c, names[i]));
    assert_true(c.energy_pj.dram == 100 && c.words_per_cycle.dram == 8 && c.words_per_cycle.scratchpad_per_row == 2);
  }
  assert_true(c.words_per_cycle.registers_per_pe == 2 && c.words_per_cycle.registers == 0);
  assert_false(paper_constants_named(&c, "180nm"));
  assert_false(paper_constants_named(&c, "dos"));
}

static void wrong_constants_are_refused(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"energy_pj: {mac: 1}", "the key \"energy_pj.registers\" is missing"},
      {"energy: {mac: 1}", "unknown key 'energy' in a table"},
      {"energy_pj: {mack: 1}", "unknown key 'mack' in energy_pj"},
      {"energy_pj: 3", "energy_pj must be a map"},
      {"energy_pj: {mac: -1}", "t:1:18: error: mac is 0 or more"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char *messages;
    size_t size;
    FILE *out = open_memstream(&messages, &size);
    assert_non_null(out);
    wf_diag diag = wf_diag_to(out);
    paper_constants c;
    assert_false(paper_constants_parse(&c, "t", wrong[i][0], strlen(wrong[i][0]), &diag));
    fclose(out);
    if (strstr(messages, wrong[i][1]) == NULL) fail_msg("%s gave: %s", wrong[i][0], messages);
    free(messages);
  }
}

static void a_network_is_the_sum_of_its_layers(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  layers_network n;
  assert_true(layers_load(&n, LAYERS "/bert.yaml", &diag));
  paper_constants c;
  assert_true(paper_constants_named(&c, "dosa"));
  paper_mapping mappings[8];
  paper_cost sum = {0};
  paper_hardware hardware;
  for (size_t i = 0; i < n.count; i++) mappings[i] = paper_mapping_start(&n.layers[i]);
  const paper_cost all = paper_network_minimal(&n, mappings, &hardware, &c);
  assert_true(hardware.side == 2 && hardware.scratchpad_kib == 1 && hardware.accumulator_kib == 1);
  for (size_t i = 0; i < n.count; i++) {
    const paper_cost one = paper_evaluate(&n.layers[i], &mappings[i], &hardware, &c);
    sum.cycles += (double)n.layers[i].count * one.cycles;
    sum.energy_uj += (double)n.layers[i].count * one.energy_uj;
    const paper_need need = paper_need_of(&n.layers[i], &mappings[i]);
    assert_true(paper_fits(&need, &hardware));
  }
  assert_true(near(paper_edp(all), sum.cycles * sum.energy_uj));
  assert_false(paper_fits(&(paper_need){.side = 3}, &hardware));
  assert_false(paper_fits(&(paper_need){.scratchpad_words = 1025}, &hardware));
  assert_false(paper_fits(&(paper_need){.column_words = 129}, &hardware));
  layers_release(&n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_those_of_the_loops),
      cmocka_unit_test(texts_read_back),
      cmocka_unit_test(illegal_mappings_are_seen),
      cmocka_unit_test(a_product_by_hand),
      cmocka_unit_test(constants_have_names),
      cmocka_unit_test(wrong_constants_are_refused),
      cmocka_unit_test(a_network_is_the_sum_of_its_layers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
