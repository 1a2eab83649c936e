// SPDX-License-Identifier: Apache-2.0
// Weight-stationary products from single instructions: ragged sizes, transposed operands, weights kept over several
// products, accumulation, an int8 bias from the scratchpad, results to the scratchpad with saturation and ReLU, strides
// of A and C.
#include "driver/examples/check.h"
#include "weft/weft.h"

enum {
  A_ROW = 0,
  B_ROW = WEFT_SP_ROWS / 2,
  D_ROW = WEFT_SP_ROWS / 4,
  OUT_ROW = WEFT_SP_ROWS / 4 * 3,
  STEPS = 3,
  SIZE = WEFT_DIM * WEFT_DIM,
};

struct sizes {
  size_t m, n, k;
};

static const struct sizes all_sizes[] = {{WEFT_DIM, WEFT_DIM, WEFT_DIM},
                                         {1, 1, 1},
                                         {WEFT_DIM, 1, WEFT_DIM - 1},
                                         {WEFT_DIM - 1, WEFT_DIM, 1},
                                         {1, WEFT_DIM - 1, WEFT_DIM}};

static int8_t a[STEPS * SIZE], b[STEPS * SIZE], d[SIZE];
static int8_t got[STEPS * SIZE], wanted[STEPS * SIZE];
static int32_t got_wide[STEPS * SIZE], wanted_wide[STEPS * SIZE];
static int errors;

static int64_t product(const int8_t *left, const int8_t *right, size_t i, size_t j, size_t depth, bool a_t, bool b_t) {
  int64_t sum = 0;
  for (size_t k = 0; k < depth; k++) {
    int x = a_t ? left[k * WEFT_DIM + i] : left[i * WEFT_DIM + k];
    int y = b_t ? right[j * WEFT_DIM + k] : right[k * WEFT_DIM + j];
    sum += x * y;
  }
  return sum;
}

static void load_operands(void) {
  weft_set_load((struct weft_load){.state = 0, .stride_bytes = WEFT_DIM});
  for (size_t s = 0; s < STEPS; s++) {
    weft_mvin(weft_dram(a + s * SIZE), weft_local_sp(A_ROW + s * WEFT_DIM), WEFT_DIM, WEFT_DIM);
    weft_mvin(weft_dram(b + s * SIZE), weft_local_sp(B_ROW + s * WEFT_DIM), WEFT_DIM, WEFT_DIM);
  }
  weft_mvin(weft_dram(d), weft_local_sp(D_ROW), WEFT_DIM, WEFT_DIM);
}

static void preload(uint32_t weights, uint32_t c, struct sizes s) { weft_preload(weights, s.n, s.k, c, s.n, s.m); }

static void compute(size_t step, uint32_t bias, struct sizes s, bool new_weights) {
  uint32_t from = weft_local_sp(A_ROW + step * WEFT_DIM);
  if (new_weights)
    weft_compute_preloaded(from, s.k, s.m, bias, s.n, s.m);
  else
    weft_compute_accumulated(from, s.k, s.m, bias, s.n, s.m);
}

static void store_wide(size_t blocks) {
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM * sizeof(int32_t)});
  for (size_t s = 0; s < blocks; s++)
    weft_mvout(weft_dram(got_wide + s * SIZE), weft_local_acc(s * WEFT_DIM, WEFT_ACC_FULL), WEFT_DIM, WEFT_DIM);
  weft_fence();
}

// Sums start from zero outside the result too, so that whole blocks can be compared.
static void clear(size_t blocks) {
  for (size_t s = 0; s < blocks; s++) weft_mvin(0, weft_local_acc(s * WEFT_DIM, 0), WEFT_DIM, WEFT_DIM);
  for (size_t i = 0; i < STEPS * SIZE; i++) wanted_wide[i] = 0;
}

static void to_accumulator(struct sizes s, bool a_t, bool b_t) {
  clear(1);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS, .a_transpose = a_t, .b_transpose = b_t});
  for (size_t step = 0; step < STEPS; step++) {
    preload(weft_local_sp(B_ROW + step * WEFT_DIM), weft_local_acc(0, step > 0 ? WEFT_ACC_ADD : 0), s);
    compute(step, WEFT_GARBAGE, s, true);
  }
  store_wide(1);
  for (size_t i = 0; i < s.m; i++)
    for (size_t j = 0; j < s.n; j++)
      for (size_t step = 0; step < STEPS; step++)
        wanted_wide[i * WEFT_DIM + j] += (int32_t)product(a + step * SIZE, b + step * SIZE, i, j, s.k, a_t, b_t);
  check_int32("sum of three products", got_wide, wanted_wide, WEFT_DIM, WEFT_DIM, WEFT_DIM, &errors);
}

// One preload serves several products; a second set of weights waits while the first is in use.
static void keep_weights(struct sizes s) {
  clear(STEPS);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS});
  preload(weft_local_sp(B_ROW), weft_local_acc(0, 0), s);
  compute(0, WEFT_GARBAGE, s, true);
  for (size_t step = 1; step < STEPS; step++) {
    preload(WEFT_GARBAGE, weft_local_acc(step * WEFT_DIM, 0), s);
    compute(step, WEFT_GARBAGE, s, false);
  }
  store_wide(STEPS);
  for (size_t step = 0; step < STEPS; step++)
    for (size_t i = 0; i < s.m; i++)
      for (size_t j = 0; j < s.n; j++)
        wanted_wide[step * SIZE + i * WEFT_DIM + j] = (int32_t)product(a + step * SIZE, b, i, j, s.k, false, false);
  check_int32("weights kept", got_wide, wanted_wide, STEPS * WEFT_DIM, WEFT_DIM, WEFT_DIM, &errors);
}

static void to_scratchpad(struct sizes s, bool bias, enum weft_activation activation) {
  if (!WEFT_SCRATCHPAD_EXECUTE_WRITES) return;
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS, .activation = activation});
  weft_mvin(0, weft_local_sp(OUT_ROW), WEFT_DIM, WEFT_DIM);
  preload(weft_local_sp(B_ROW), weft_local_sp(OUT_ROW), s);
  compute(0, bias ? weft_local_sp(D_ROW) : WEFT_GARBAGE, s, true);
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM});
  weft_mvout(weft_dram(got), weft_local_sp(OUT_ROW), WEFT_DIM, WEFT_DIM);
  weft_fence();
  for (size_t i = 0; i < WEFT_DIM; i++)
    for (size_t j = 0; j < WEFT_DIM; j++) {
      int64_t sum = product(a, b, i, j, s.k, false, false) + (bias ? d[i * WEFT_DIM + j] : 0);
      if (activation == WEFT_RELU && sum < 0) sum = 0;
      wanted[i * WEFT_DIM + j] = i < s.m && j < s.n ? check_saturate(sum) : 0;
    }
  check_int8("result in the scratchpad", got, wanted, WEFT_DIM, WEFT_DIM, WEFT_DIM, &errors);
}

static void bias_to_accumulator(struct sizes s) {
  if (WEFT_MESH_BIAS_GARBAGE) return;
  clear(1);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS});
  preload(weft_local_sp(B_ROW), weft_local_acc(0, 0), s);
  compute(0, weft_local_sp(D_ROW), s, true);
  store_wide(1);
  for (size_t i = 0; i < s.m; i++)
    for (size_t j = 0; j < s.n; j++)
      wanted_wide[i * WEFT_DIM + j] = (int32_t)product(a, b, i, j, s.k, false, false) + d[i * WEFT_DIM + j];
  check_int32("int8 bias", got_wide, wanted_wide, WEFT_DIM, WEFT_DIM, WEFT_DIM, &errors);
}

// Every second row of A makes every second row of C.
static void strided(struct sizes s) {
  clear(2);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS, .a_stride = 2, .c_stride = 2});
  preload(weft_local_sp(B_ROW), weft_local_acc(1, 0), s);
  compute(0, WEFT_GARBAGE, s, true);
  store_wide(2);
  for (size_t i = 0; i < s.m; i++)
    for (size_t j = 0; j < s.n; j++)
      wanted_wide[(2 * i + 1) * WEFT_DIM + j] = (int32_t)product(a + 2 * i * WEFT_DIM, b, 0, j, s.k, false, false);
  check_int32("strides", got_wide, wanted_wide, 2 * WEFT_DIM, WEFT_DIM, WEFT_DIM, &errors);
}

// Operands that came out of an earlier product, through the accumulator's scale.
static void accumulator_operand(void) {
  if (!WEFT_ACCUMULATOR_EXECUTE_READS) return;
  struct sizes s = {WEFT_DIM, WEFT_DIM, WEFT_DIM};
  clear(2);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS, .activation = WEFT_RELU, .scale = 0.125f});
  preload(weft_local_sp(B_ROW), weft_local_acc(0, 0), s);
  compute(0, WEFT_GARBAGE, s, true);
  preload(weft_local_sp(B_ROW + WEFT_DIM), weft_local_acc(WEFT_DIM, 0), s);
  weft_compute_preloaded(weft_local_acc(0, 0), s.k, s.m, WEFT_GARBAGE, s.n, s.m);
  store_wide(2);
  static int8_t middle[SIZE];
  for (size_t i = 0; i < s.m; i++)
    for (size_t j = 0; j < s.n; j++) {
      wanted_wide[i * WEFT_DIM + j] = (int32_t)product(a, b, i, j, s.k, false, false);
      middle[i * WEFT_DIM + j] = check_scale(wanted_wide[i * WEFT_DIM + j], true, 0.125f);
    }
  for (size_t i = 0; i < s.m; i++)
    for (size_t j = 0; j < s.n; j++)
      wanted_wide[SIZE + i * WEFT_DIM + j] = (int32_t)product(middle, b + SIZE, i, j, s.k, false, false);
  check_int32("operand from the accumulator", got_wide, wanted_wide, 2 * WEFT_DIM, WEFT_DIM, WEFT_DIM, &errors);
}

int main(void) {
  uint32_t seed = 3;
  weft_flush(0);
  for (size_t i = 0; i < sizeof all_sizes / sizeof *all_sizes; i++) {
    bool small = i % 2 == 1;
    (small ? check_fill_small : check_fill)(a, sizeof a, &seed);
    (small ? check_fill_small : check_fill)(b, sizeof b, &seed);
    check_fill(d, sizeof d, &seed);
    load_operands();
    struct sizes s = all_sizes[i];
    to_accumulator(s, false, false);
    if (WEFT_HAS_TRANSPOSER) to_accumulator(s, true, false);
    if (WEFT_HAS_TRANSPOSER) to_accumulator(s, false, true);
    keep_weights(s);
    bias_to_accumulator(s);
    strided(s);
    to_scratchpad(s, false, WEFT_NO_ACTIVATION);
    to_scratchpad(s, !WEFT_MESH_BIAS_GARBAGE, WEFT_RELU);
    accumulator_operand();
  }
  return check_verdict("matmul_ws", errors);
}
