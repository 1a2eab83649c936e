// SPDX-License-Identifier: Apache-2.0
// The tiled matrix product with ragged sizes, both forms of it, every bias, int32 results, transposes, padded strides;
// sizes chosen so that several tiles are needed in each direction. Also what it refuses.
#include "driver/examples/check.h"
#include "weft/console.h"
#include "weft/tiled.h"

enum {
  SIDE = (WEFT_DIM > 32 ? 2 : 5) * WEFT_DIM + 40,  // the reference takes its time on the largest arrays
  // Longer than one tile of 2 x 2 blocks of C can have.
  LONG = WEFT_SP_ROWS / 8 + 5,
  SQUARE = (SIDE + 3) * SIDE,
  SIZE = SQUARE > (WEFT_DIM + 1) * LONG ? SQUARE : (WEFT_DIM + 1) * LONG,
};

// The loop reads whole blocks of rows of B, so there is memory behind it.
static int8_t a[SIZE], b[SIZE + WEFT_DIM * SIDE], c[SIZE], wanted[SIZE];
static int32_t bias[SIZE], full_c[SIZE], wanted_full[SIZE];
static int errors;

typedef enum weft_status gemm_function(const struct weft_gemm *gemm);

static int32_t sum(const struct weft_gemm *g, size_t i, size_t j) {
  int32_t total = 0;
  if (g->bias != NULL) total = g->bias[g->bias_repeat ? j : i * g->bias_stride + j];
  for (size_t k = 0; k < g->k; k++)
    total += g->a[g->a_transpose ? k * g->a_stride + i : i * g->a_stride + k] *
             g->b[g->b_transpose ? j * g->b_stride + k : k * g->b_stride + j];
  return total;
}

static void reference(const struct weft_gemm *g) {
  for (size_t i = 0; i < SIZE; i++) wanted[i] = 77, wanted_full[i] = 77;
  for (size_t i = 0; i < g->m; i++)
    for (size_t j = 0; j < g->n; j++) {
      int32_t total = sum(g, i, j);
      if (g->full)
        wanted_full[i * g->c_stride + j] = total;
      else
        wanted[i * g->c_stride + j] = check_scale(total, g->activation == WEFT_RELU, g->scale);
    }
}

static void run_form(const char *what, gemm_function *gemm, const struct weft_gemm *g) {
  for (size_t i = 0; i < SIZE; i++) c[i] = 77, full_c[i] = 77;
  uint64_t start = weft_cycles();
  check_equal("status", gemm(g), WEFT_OK, &errors);
  weft_fence();
  uint64_t cycles = weft_cycles() - start;
  int before = errors;
  check_int8(what, c, wanted, 1, SIZE, SIZE, &errors);
  check_int32(what, full_c, wanted_full, 1, SIZE, SIZE, &errors);
  if (errors == before)
    weft_printf("%-24s %3zu x %3zu x %3zu %8lu cycles\n", what, g->m, g->n, g->k, (unsigned long)cycles);
}

static void run(const char *what, struct weft_gemm g) {
  g.a = a, g.b = b, g.c = g.full ? (void *)full_c : (void *)c;
  if (g.scale == 0.0f) g.scale = 1.0f;
  if (g.a_stride == 0) g.a_stride = g.a_transpose ? g.m : g.k;
  if (g.b_stride == 0) g.b_stride = g.b_transpose ? g.k : g.n;
  if (g.bias_stride == 0) g.bias_stride = g.n;
  if (g.c_stride == 0) g.c_stride = g.n;
  reference(&g);
  run_form(what, weft_tiled_gemm, &g);
  if (WEFT_HAS_LOOP_MATMUL) run_form(what, weft_tiled_gemm_loop, &g);
  // Many small tiles: every way in which operands stay, are replaced, and wait for each other.
  static const struct weft_mapping mappings[] = {
      {.m = WEFT_DIM, .n = WEFT_DIM, .k = WEFT_DIM},
      {.m = 2 * WEFT_DIM, .n = WEFT_DIM, .k = 2 * WEFT_DIM, .n_outer = true},
      {.m = WEFT_DIM, .n = 3 * WEFT_DIM, .k = 16 * WEFT_DIM},
      {.m = 3 * WEFT_DIM, .n = 2 * WEFT_DIM, .k = WEFT_DIM, .n_outer = true}};
  for (size_t i = 0; i < sizeof mappings / sizeof *mappings; i++) {
    g.mapping = &mappings[i];
    run_form(what, weft_tiled_gemm, &g);
  }
}

static void refusals(gemm_function *gemm) {
  struct weft_gemm good = {.m = 1, .n = 2, .k = 3, .a = a, .b = b, .c = c}, g = good;
  g.m = 0;
  check_equal("no rows", gemm(&g), WEFT_BAD_ARGUMENT, &errors);
  g = good, g.b = NULL;
  check_equal("no B", gemm(&g), WEFT_BAD_ARGUMENT, &errors);
  g = good, g.a_stride = 2;
  check_equal("stride of A", gemm(&g), WEFT_BAD_ARGUMENT, &errors);
  g = good, g.a_transpose = g.b_transpose = true;
  check_equal("two transposes", gemm(&g), WEFT_UNSUPPORTED, &errors);
  g = good, g.full = true, g.scale = 0.5f;
  check_equal("scaled int32", gemm(&g), WEFT_UNSUPPORTED, &errors);
}

int main(void) {
  enum { S = SIDE };
  uint32_t seed = 8;
  check_fill(a, sizeof a, &seed);
  check_fill(b, sizeof b, &seed);
  check_fill_int32(bias, SIZE, 200000, &seed);
  weft_flush(0);
  run("one element", (struct weft_gemm){.m = 1, .n = 1, .k = 1});
  run("row times matrix", (struct weft_gemm){.m = 1, .n = S, .k = S - 1, .scale = 0.003f});
  run("matrix times column", (struct weft_gemm){.m = S, .n = 1, .k = S - 2, .scale = 0.003f});
  run("outer product", (struct weft_gemm){.m = S - 1, .n = S, .k = 1, .scale = 0.1f});
  run("ragged", (struct weft_gemm){.m = S - 1, .n = S - 2, .k = S - 3, .scale = 0.002f, .activation = WEFT_RELU});
  run("bias", (struct weft_gemm){.m = WEFT_DIM + 1, .n = S, .k = WEFT_DIM, .bias = bias, .scale = 0.002f});
  run("bias row", (struct weft_gemm){.m = S, .n = S - 1, .k = 7, .bias = bias, .bias_repeat = true, .scale = 0.01f});
  run("int32", (struct weft_gemm){.m = S, .n = S - 1, .k = S, .bias = bias, .full = true});
  run("long sums", (struct weft_gemm){.m = WEFT_DIM + 1, .n = WEFT_DIM + 1, .k = LONG, .full = true});
  run("long sums and bias",
      (struct weft_gemm){.m = WEFT_DIM + 1, .n = WEFT_DIM, .k = LONG - 1, .bias = bias, .full = true});
  run("padded rows", (struct weft_gemm){.m = S - 5,
                                        .n = S - 4,
                                        .k = S - 3,
                                        .a_stride = S,
                                        .b_stride = S,
                                        .c_stride = S,
                                        .bias = bias,
                                        .bias_stride = S,
                                        .scale = 0.002f});
  if (WEFT_HAS_TRANSPOSER) {
    run("A transposed", (struct weft_gemm){.m = S - 1, .n = S - 2, .k = S - 3, .a_transpose = true, .full = true});
    run("B transposed", (struct weft_gemm){.m = S - 3, .n = S - 1, .k = S - 2, .b_transpose = true, .full = true});
  }
  refusals(weft_tiled_gemm);
  const struct weft_mapping huge = {.m = WEFT_ACC_ROWS, .n = 2 * WEFT_DIM, .k = 1}, none = {.m = 1, .n = 0, .k = 1};
  struct weft_gemm g = {.m = WEFT_ACC_ROWS, .n = 2 * WEFT_DIM, .k = 1, .a = a, .b = b, .c = c, .mapping = &huge};
  check_equal("tile over the accumulator", weft_tiled_gemm(&g), WEFT_TOO_BIG, &errors);
  g.mapping = &none;
  check_equal("tile of nothing", weft_tiled_gemm(&g), WEFT_BAD_ARGUMENT, &errors);
  refusals(weft_tiled_gemm_loop);
  return check_verdict("tiled_gemm", errors);
}
