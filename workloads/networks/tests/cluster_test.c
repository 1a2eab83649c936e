// SPDX-License-Identifier: Apache-2.0
// Orders of channels: nothing is lost, the layer stays the same, and shuffled blocks are found again.
#include "workloads/networks/cluster.h"

#include "base/random.h"
#include "base/test.h"
#include "workloads/networks/prune.h"

enum { TAPS = 2, INPUTS = 64, OUTPUTS = 48, SIDE = 8, COUNT = TAPS * INPUTS * OUTPUTS };

static void shuffle(int *order, int count, uint64_t *seed) {
  for (int n = 0; n < count; n++) order[n] = n;
  for (int n = count - 1; n > 0; n--) {
    const int other = (int)(wf_random_next(seed) % (uint64_t)(n + 1)), was = order[n];
    order[n] = order[other];
    order[other] = was;
  }
}

static void fill(int8_t *weights, double density, int64_t block) {
  const networks_pruning pruning = {.density = density, .block = block, .seed = 5};
  for (int e = 0; e < COUNT; e++)
    weights[e] =
        (int8_t)(networks_keeps(&pruning, e / OUTPUTS / INPUTS, e / OUTPUTS % INPUTS, e % OUTPUTS) ? e % 7 + 1 : 0);
}

static int blocks_of(const int8_t *weights) {
  bool filled[TAPS][INPUTS / SIDE][OUTPUTS / SIDE] = {0};
  int count = 0;
  for (int e = 0; e < COUNT; e++) {
    bool *block = &filled[e / OUTPUTS / INPUTS][e / OUTPUTS % INPUTS / SIDE][e % OUTPUTS / SIDE];
    count += !*block && weights[e] != 0;
    *block |= weights[e] != 0;
  }
  return count;
}

static void assert_order(const int *order, int count) {
  bool seen[INPUTS] = {0};
  for (int n = 0; n < count; n++) {
    assert_in_range(order[n], 0, count - 1);
    assert_false(seen[order[n]]);
    seen[order[n]] = true;
  }
}

static const networks_weights shape = {.taps = TAPS, .inputs = INPUTS, .outputs = OUTPUTS};

static networks_weights weights_of(const int8_t *elements) {
  networks_weights w = shape;
  w.elements = elements;
  return w;
}

static void test_blocks_are_found(void **state) {
  (void)state;
  int8_t weights[COUNT], shuffled[COUNT], found[COUNT];
  int inputs[INPUTS], outputs[OUTPUTS];
  uint64_t seed = 9;
  fill(weights, 0.3, SIDE);
  shuffle(inputs, INPUTS, &seed);
  shuffle(outputs, OUTPUTS, &seed);
  networks_weights w = weights_of(weights);
  networks_reorder(&w, inputs, outputs, shuffled);
  assert_true(blocks_of(shuffled) > 2 * blocks_of(weights));
  w.elements = shuffled;
  networks_cluster(&w, SIDE, inputs, outputs);
  networks_reorder(&w, inputs, outputs, found);
  assert_int_equal(blocks_of(found), blocks_of(weights));
}

// Outputs in their order, of inputs in theirs.
static void test_layer_is_the_same(void **state) {
  (void)state;
  int8_t weights[COUNT], ordered[COUNT];
  int inputs[INPUTS], outputs[OUTPUTS];
  fill(weights, 0.2, 1);
  networks_weights w = weights_of(weights);
  networks_cluster(&w, SIDE, inputs, outputs);
  assert_order(inputs, INPUTS);
  assert_order(outputs, OUTPUTS);
  networks_reorder(&w, inputs, outputs, ordered);
  for (int o = 0; o < OUTPUTS; o++) {
    int was = 0, is = 0;
    for (int row = 0; row < TAPS * INPUTS; row++) {
      const int tap = row / INPUTS, i = row % INPUTS;
      was += weights[row * OUTPUTS + outputs[o]] * (tap * 100 + i * i % 31);
      is += ordered[row * OUTPUTS + o] * (tap * 100 + inputs[i] * inputs[i] % 31);
    }
    assert_int_equal(is, was);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks_are_found), cmocka_unit_test(test_layer_is_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
