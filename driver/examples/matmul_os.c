// SPDX-License-Identifier: Apache-2.0
// Output-stationary products: sums stay in the array over a chain of products and leave it shifted, rounded and
// saturated. Bias, transposed operands, results to both memories, and sums that leave the range of the array's adders.
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

static int8_t a[STEPS * SIZE], b[STEPS * SIZE], d[SIZE], got[SIZE], wanted[SIZE];
static int32_t got_wide[SIZE], wanted_wide[SIZE];
static int errors;

struct chain {
  size_t m, n, k, steps;
  unsigned shift;
  bool a_transpose, b_transpose, bias;
};

// Sums are as wide as the rows that leave the array, and wrap.
static int64_t wrap(int64_t value) {
  int64_t range = (int64_t)1 << WEFT_TYPES_OUTPUT_BITS;
  value &= range - 1;
  return value >= range / 2 ? value - range : value;
}

static int64_t round_shift(int64_t value, unsigned shift) {
  int64_t unit = (int64_t)1 << shift, floor = value >> shift, rest = value - floor * unit;
  if (2 * rest > unit || (2 * rest == unit && (floor & 1) != 0)) floor++;
  return floor;
}

static int64_t sum(const struct chain *c, size_t i, size_t j) {
  int64_t total = c->bias ? d[i * WEFT_DIM + j] : 0;
  for (size_t s = 0; s < c->steps; s++)
    for (size_t k = 0; k < c->k; k++) {
      int x = a[s * SIZE + (c->a_transpose ? k * WEFT_DIM + i : i * WEFT_DIM + k)];
      int y = b[s * SIZE + (c->b_transpose ? j * WEFT_DIM + k : k * WEFT_DIM + j)];
      total = wrap(total + x * y);
    }
  return round_shift(total, c->shift);
}

static void load_operands(void) {
  weft_set_load((struct weft_load){.state = 0, .stride_bytes = WEFT_DIM});
  for (size_t s = 0; s < STEPS; s++) {
    weft_mvin(weft_dram(a + s * SIZE), weft_local_sp(A_ROW + s * WEFT_DIM), WEFT_DIM, WEFT_DIM);
    weft_mvin(weft_dram(b + s * SIZE), weft_local_sp(B_ROW + s * WEFT_DIM), WEFT_DIM, WEFT_DIM);
  }
  weft_mvin(weft_dram(d), weft_local_sp(D_ROW), WEFT_DIM, WEFT_DIM);
}

static void multiply(const struct chain *c, uint32_t out) {
  for (size_t s = 0; s < c->steps; s++) {
    uint32_t from_a = weft_local_sp(A_ROW + s * WEFT_DIM), from_b = weft_local_sp(B_ROW + s * WEFT_DIM);
    bool first = s == 0, last = s + 1 == c->steps;
    weft_preload(first && c->bias ? weft_local_sp(D_ROW) : WEFT_GARBAGE, c->n, c->m, last ? out : WEFT_GARBAGE, c->n,
                 c->m);
    if (first)
      weft_compute_preloaded(from_a, c->k, c->m, from_b, c->n, c->k);
    else
      weft_compute_accumulated(from_a, c->k, c->m, from_b, c->n, c->k);
  }
}

static void configure(const struct chain *c, enum weft_activation activation) {
  weft_set_execute((struct weft_execute){.dataflow = WEFT_OS,
                                         .activation = activation,
                                         .shift = c->shift,
                                         .a_transpose = c->a_transpose,
                                         .b_transpose = c->b_transpose});
}

static void to_accumulator(const char *what, struct chain c) {
  configure(&c, WEFT_NO_ACTIVATION);
  weft_mvin(0, weft_local_acc(0, 0), WEFT_DIM, WEFT_DIM);
  multiply(&c, weft_local_acc(0, 0));
  multiply(&c, weft_local_acc(0, WEFT_ACC_ADD));
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM * sizeof(int32_t)});
  weft_mvout(weft_dram(got_wide), weft_local_acc(0, WEFT_ACC_FULL), WEFT_DIM, WEFT_DIM);
  weft_fence();
  for (size_t i = 0; i < WEFT_DIM; i++)
    for (size_t j = 0; j < WEFT_DIM; j++)
      wanted_wide[i * WEFT_DIM + j] = i < c.m && j < c.n ? (int32_t)(2 * sum(&c, i, j)) : 0;
  check_int32(what, got_wide, wanted_wide, WEFT_DIM, WEFT_DIM, WEFT_DIM, &errors);
}

static void to_scratchpad(const char *what, struct chain c, enum weft_activation activation) {
  if (!WEFT_SCRATCHPAD_EXECUTE_WRITES) return;
  configure(&c, activation);
  weft_mvin(0, weft_local_sp(OUT_ROW), WEFT_DIM, WEFT_DIM);
  multiply(&c, weft_local_sp(OUT_ROW));
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM});
  weft_mvout(weft_dram(got), weft_local_sp(OUT_ROW), WEFT_DIM, WEFT_DIM);
  weft_fence();
  for (size_t i = 0; i < WEFT_DIM; i++)
    for (size_t j = 0; j < WEFT_DIM; j++) {
      int64_t value = sum(&c, i, j);
      if (activation == WEFT_RELU && value < 0) value = 0;
      wanted[i * WEFT_DIM + j] = i < c.m && j < c.n ? check_saturate(value) : 0;
    }
  check_int8(what, got, wanted, WEFT_DIM, WEFT_DIM, WEFT_DIM, &errors);
}

static void chains(size_t steps) {
  enum { D = WEFT_DIM };
  static const unsigned shifts[] = {0, 1, 2, 5, 9};
  for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
    struct chain whole = {.m = D, .n = D, .k = D, .steps = steps, .shift = shifts[i], .bias = i % 2 == 0};
    struct chain ragged = {.m = D - 1, .n = D, .k = D - 1, .steps = steps, .shift = shifts[i], .bias = i % 2 == 1};
    struct chain thin = {.m = 1, .n = D - 1, .k = D, .steps = steps, .shift = shifts[i]};
    to_accumulator("whole", whole);
    to_accumulator("ragged", ragged);
    to_accumulator("thin", thin);
    to_scratchpad("whole to the scratchpad", whole, WEFT_NO_ACTIVATION);
    to_scratchpad("ragged to the scratchpad", ragged, WEFT_RELU);
    if (!WEFT_HAS_TRANSPOSER) continue;
    whole.a_transpose = ragged.a_transpose = true;
    to_accumulator("A transposed", whole);
    to_accumulator("ragged A transposed", ragged);
    whole.b_transpose = ragged.b_transpose = true;
    to_accumulator("both transposed", whole);
    to_accumulator("ragged both transposed", ragged);
  }
}

static void overflow(void) {
  for (size_t i = 0; i < STEPS * SIZE; i++) a[i] = b[i] = INT8_MAX;
  load_operands();
  struct chain c = {.m = WEFT_DIM, .n = WEFT_DIM, .k = WEFT_DIM, .steps = STEPS};
  to_accumulator("sums that wrap", c);
  c.shift = 4;
  to_accumulator("sums that wrap, shifted", c);
}

int main(void) {
  if (!WEFT_HAS_OS) return check_verdict("matmul_os", errors);
  uint32_t seed = 4;
  weft_flush(0);
  for (size_t steps = 1; steps <= STEPS; steps++) {
    (steps == 2 ? check_fill_small : check_fill)(a, sizeof a, &seed);
    check_fill(b, sizeof b, &seed);
    check_fill(d, sizeof d, &seed);
    load_operands();
    chains(steps);
  }
  overflow();
  return check_verdict("matmul_os", errors);
}
