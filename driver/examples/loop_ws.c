// SPDX-License-Identifier: Apache-2.0
// The matrix loop: ragged tiles, every kind of bias, int32 results, transposes, chains of loops in k, loops that follow
// each other through both halves of the memories, residual add on revision 2.
#include "driver/examples/check.h"
#include "weft/loops.h"

enum {
  // Most tiles in each direction; all of them fit half of the accumulator.
  I = 9 * WEFT_DIM <= WEFT_ACC_ROWS / 2 ? 3 : 2,
  M = I * WEFT_DIM,
  // The loop reads whole tiles of B, so the matrices have room for that.
  SIZE = M * (M + 1),
  STRIDE = M + 1,
};

static int8_t a[SIZE], b[SIZE], low_d[SIZE], c[SIZE], wanted[SIZE];
static int32_t d[SIZE], full_c[SIZE], wanted_full[SIZE];
static int errors;

enum bias { NO_BIAS, WIDE, REPEATED, NARROW };

struct product {
  size_t m, n, k;
  enum bias bias;
  bool full, a_transpose, b_transpose;
  size_t chain;  // tiles of k in one loop; 0: all
  enum weft_activation activation;
  float scale;
};

static int32_t expected(const struct product *p, size_t i, size_t j) {
  int32_t sum = 0;
  if (p->bias == WIDE) sum = d[i * STRIDE + j];
  if (p->bias == REPEATED) sum = d[j];
  if (p->bias == NARROW) sum = low_d[i * STRIDE + j];
  for (size_t k = 0; k < p->k; k++)
    sum += a[p->a_transpose ? k * STRIDE + i : i * STRIDE + k] * b[p->b_transpose ? j * STRIDE + k : k * STRIDE + j];
  return sum;
}

static void configure(const struct product *p) {
  size_t bias_bytes = p->bias == NARROW ? sizeof(int8_t) : sizeof(int32_t);
  weft_set_execute(
      (struct weft_execute){.dataflow = WEFT_WS, .a_transpose = p->a_transpose, .b_transpose = p->b_transpose});
  weft_set_load((struct weft_load){.state = 0, .stride_bytes = STRIDE});
  weft_set_load((struct weft_load){.state = 1, .stride_bytes = STRIDE});
  weft_set_load((struct weft_load){
      .state = 2, .stride_bytes = p->bias == REPEATED ? 0 : STRIDE * bias_bytes, .shrink = p->bias == NARROW});
  weft_set_store((struct weft_store){.stride_bytes = STRIDE * (p->full ? sizeof(int32_t) : sizeof(int8_t)),
                                     .activation = p->activation,
                                     .scale = p->scale});
}

static size_t tiles(size_t elements) { return (elements + WEFT_DIM - 1) / WEFT_DIM; }

static void issue(const struct product *p) {
  size_t step = p->chain == 0 ? tiles(p->k) * WEFT_DIM : p->chain * WEFT_DIM;
  const void *bias[] = {NULL, d, d, low_d};
  for (size_t k = 0; k < p->k; k += step) {
    size_t depth = p->k - k < step ? p->k - k : step;
    bool first = k == 0, last = k + depth == p->k;
    weft_run_loop_matmul(&(struct weft_loop_matmul){.i = tiles(p->m),
                                                    .j = tiles(p->n),
                                                    .k = tiles(depth),
                                                    .pad_i = tiles(p->m) * WEFT_DIM - p->m,
                                                    .pad_j = tiles(p->n) * WEFT_DIM - p->n,
                                                    .pad_k = tiles(depth) * WEFT_DIM - depth,
                                                    .a = a + (p->a_transpose ? k * STRIDE : k),
                                                    .b = b + (p->b_transpose ? k : k * STRIDE),
                                                    .d = first ? bias[p->bias] : NULL,
                                                    .c = !last     ? NULL
                                                         : p->full ? (void *)full_c
                                                                   : (void *)c,
                                                    .a_stride = STRIDE,
                                                    .b_stride = STRIDE,
                                                    .d_stride = p->bias == REPEATED ? 0 : STRIDE,
                                                    .c_stride = STRIDE,
                                                    .a_transpose = p->a_transpose,
                                                    .b_transpose = p->b_transpose,
                                                    .full_c = p->full,
                                                    .low_d = p->bias == NARROW,
                                                    .accumulate = !first || p->bias != NO_BIAS,
                                                    .activation = p->activation});
  }
}

static void run(const char *what, struct product p) {
  for (size_t i = 0; i < SIZE; i++) c[i] = wanted[i] = 77, full_c[i] = wanted_full[i] = 77;
  configure(&p);
  issue(&p);
  weft_fence();
  for (size_t i = 0; i < p.m; i++)
    for (size_t j = 0; j < p.n; j++) {
      int32_t sum = expected(&p, i, j);
      if (p.full)
        wanted_full[i * STRIDE + j] = sum;
      else
        wanted[i * STRIDE + j] = check_scale(sum, p.activation == WEFT_RELU, p.scale == 0.0f ? 1.0f : p.scale);
    }
  check_int8(what, c, wanted, M, STRIDE, STRIDE, &errors);
  check_int32(what, full_c, wanted_full, M, STRIDE, STRIDE, &errors);
}

static void products(void) {
  enum { D = WEFT_DIM };
  run("one tile", (struct product){.m = D, .n = D, .k = D, .scale = 0.01f});
  run("one element", (struct product){.m = 1, .n = 1, .k = 1});
  run("whole tiles", (struct product){.m = M, .n = M, .k = M, .scale = 0.003f});
  run("ragged", (struct product){.m = M - 1, .n = 2 * D - 1, .k = D + 1, .scale = 0.01f, .activation = WEFT_RELU});
  run("wide bias", (struct product){.m = M - 1, .n = M - 1, .k = 2 * D - 1, .bias = WIDE, .scale = 0.01f});
  run("repeated bias", (struct product){.m = D + 1, .n = M, .k = D, .bias = REPEATED, .scale = 0.02f});
  run("narrow bias", (struct product){.m = M, .n = M - 1, .k = D, .bias = NARROW, .scale = 0.02f});
  run("int32 result", (struct product){.m = M - 1, .n = M - 1, .k = M - 1, .bias = WIDE, .full = true});
  run("chain in k", (struct product){.m = M - 1, .n = M, .k = M - 1, .chain = 1, .full = true});
  run("chain in k with bias",
      (struct product){.m = M, .n = M - 1, .k = M, .chain = 2, .bias = REPEATED, .scale = 0.01f});
  if (!WEFT_HAS_TRANSPOSER) return;
  run("A transposed", (struct product){.m = M - 1, .n = M, .k = 2 * D - 1, .a_transpose = true, .full = true});
  run("B transposed", (struct product){.m = M, .n = M - 1, .k = 2 * D - 1, .b_transpose = true, .full = true});
}

// Several loops in flight; each has its own result.
static void sequence(void) {
  enum { LOOPS = 5 };
  static int32_t out[LOOPS][WEFT_DIM * WEFT_DIM], reference[LOOPS][WEFT_DIM * WEFT_DIM];
  struct product p = {.m = WEFT_DIM, .n = WEFT_DIM, .k = 2 * WEFT_DIM, .full = true};
  configure(&p);
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM * sizeof(int32_t)});
  for (size_t l = 0; l < LOOPS; l++)
    weft_run_loop_matmul(&(struct weft_loop_matmul){.i = 1,
                                                    .j = 1,
                                                    .k = 2,
                                                    .a = a + l * STRIDE,
                                                    .b = b + l,
                                                    .c = out[l],
                                                    .a_stride = STRIDE,
                                                    .b_stride = STRIDE,
                                                    .c_stride = WEFT_DIM,
                                                    .full_c = true});
  weft_fence();
  for (size_t l = 0; l < LOOPS; l++)
    for (size_t i = 0; i < WEFT_DIM; i++)
      for (size_t j = 0; j < WEFT_DIM; j++)
        for (size_t k = 0; k < 2 * WEFT_DIM; k++)
          reference[l][i * WEFT_DIM + j] += a[(l + i) * STRIDE + k] * b[k * STRIDE + l + j];
  check_int32("loops in a row", out[0], reference[0], LOOPS, WEFT_DIM * WEFT_DIM, WEFT_DIM * WEFT_DIM, &errors);
}

int main(void) {
  if (!WEFT_HAS_LOOP_MATMUL) return check_verdict("loop_ws", errors);
  uint32_t seed = 5;
  check_fill(a, sizeof a, &seed);
  check_fill(b, sizeof b, &seed);
  check_fill(low_d, sizeof low_d, &seed);
  check_fill_int32(d, SIZE, 100000, &seed);
  weft_flush(0);
  products();
  sequence();
  return check_verdict("loop_ws", errors);
}
