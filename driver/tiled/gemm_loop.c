// SPDX-License-Identifier: Apache-2.0
// Matrix product through the LOOP_WS unroller: one loop per tile; a chain of loops in k leaves the sums in the
// accumulator and only the last one stores.
#include "driver/tiled/tile.h"
#include "weft/loops.h"

static size_t missing(size_t elements) { return weft_blocks(elements) * WEFT_DIM - elements; }

static void configure(const struct weft_gemm *g) {
  weft_set_execute(
      (struct weft_execute){.dataflow = WEFT_WS, .a_transpose = g->a_transpose, .b_transpose = g->b_transpose});
  weft_set_load((struct weft_load){.state = 0, .stride_bytes = g->a_stride});
  weft_set_load((struct weft_load){.state = 1, .stride_bytes = g->b_stride});
  weft_set_load((struct weft_load){.state = 2, .stride_bytes = g->bias_stride * sizeof(int32_t)});
  weft_set_store((struct weft_store){.stride_bytes = g->c_stride * (g->full ? sizeof(int32_t) : sizeof(int8_t)),
                                     .activation = g->activation,
                                     .scale = g->scale});
}

// Sizes of a tile in blocks of WEFT_DIM.
struct tile {
  size_t m, n, k;
};

static bool fits(struct tile t, size_t parts) {
  return (t.m + t.n) * t.k * WEFT_DIM <= WEFT_SP_ROWS / parts && t.m * t.n * WEFT_DIM <= WEFT_ACC_ROWS / parts;
}

static bool grow(struct tile *t, size_t *size, size_t limit, size_t parts) {
  if (*size >= limit) return false;
  ++*size;
  if (fits(*t, parts)) return true;
  --*size;
  return false;
}

// The largest balanced tile of the product whose operands fit 1/parts of the scratchpad and whose result fits 1/parts
// of the accumulator. False: not even one block does.
static bool choose_tile(const struct weft_gemm *g, size_t parts, struct tile *tile) {
  struct tile t = {1, 1, 1};
  if (!fits(t, parts)) return false;
  for (bool grown = true; grown;) {
    grown = grow(&t, &t.n, weft_blocks(g->n), parts);
    grown = grow(&t, &t.m, weft_blocks(g->m), parts) || grown;
  }
  while (grow(&t, &t.k, weft_blocks(g->k), parts)) {
  }
  *tile = t;
  return true;
}

static void run_tile(const struct weft_gemm *g, struct tile at, struct tile size) {
  size_t m = weft_min(g->m - at.m, size.m * WEFT_DIM), n = weft_min(g->n - at.n, size.n * WEFT_DIM);
  size_t k = weft_min(g->k - at.k, size.k * WEFT_DIM);
  size_t c_bytes = (at.m * g->c_stride + at.n) * (g->full ? sizeof(int32_t) : sizeof(int8_t));
  bool first = at.k == 0, last = at.k + k == g->k;
  weft_run_loop_matmul(&(struct weft_loop_matmul){
      .i = weft_blocks(m),
      .j = weft_blocks(n),
      .k = weft_blocks(k),
      .pad_i = missing(m),
      .pad_j = missing(n),
      .pad_k = missing(k),
      .a = g->a + (g->a_transpose ? at.k * g->a_stride + at.m : at.m * g->a_stride + at.k),
      .b = g->b + (g->b_transpose ? at.n * g->b_stride + at.k : at.k * g->b_stride + at.n),
      .d = first && g->bias != NULL ? g->bias + at.m * g->bias_stride + at.n : NULL,
      .c = last ? (char *)g->c + c_bytes : NULL,
      .a_stride = g->a_stride,
      .b_stride = g->b_stride,
      .d_stride = g->bias_stride,
      .c_stride = g->c_stride,
      .a_transpose = g->a_transpose,
      .b_transpose = g->b_transpose,
      .full_c = g->full,
      .accumulate = !first || g->bias != NULL,
      .activation = g->activation,
  });
}

enum weft_status weft_tiled_gemm_loop(const struct weft_gemm *gemm) {
  enum weft_status status = weft_gemm_check(gemm);
  if (status != WEFT_OK) return status;
  struct weft_gemm g = *gemm;
  g.a_stride = weft_dense(g.a_stride, g.a_transpose ? g.m : g.k);
  g.b_stride = weft_dense(g.b_stride, g.b_transpose ? g.k : g.n);
  g.bias_stride = g.bias_repeat ? 0 : weft_dense(g.bias_stride, g.n);
  g.c_stride = weft_dense(g.c_stride, g.n);
  struct tile size;
  if (!choose_tile(&g, 2, &size)) return WEFT_TOO_BIG;

  configure(&g);
  struct tile at;
  for (at.m = 0; at.m < g.m; at.m += size.m * WEFT_DIM)
    for (at.n = 0; at.n < g.n; at.n += size.n * WEFT_DIM)
      for (at.k = 0; at.k < g.k; at.k += size.k * WEFT_DIM) run_tile(&g, at, size);
  return WEFT_OK;
}
