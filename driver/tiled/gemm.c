// Matrix product from single instructions, weight-stationary.
//
// A tile of m x n blocks of C stays in the accumulator while k advances; the operands of one k step fill one half of
// the scratchpad while the other half is loaded (the accelerator's own hazard checks keep the order). Block (r, c) of a
// stored operand tile with `cols` block columns lies at row (r * cols + c) * WEFT_DIM of its part of the memory.
#include "driver/tiled/tile.h"

enum { LOAD_A, LOAD_B, LOAD_BIAS };

enum weft_status weft_gemm_check(const struct weft_gemm *g) {
  if (g->m == 0 || g->n == 0 || g->k == 0) return WEFT_BAD_ARGUMENT;
  if (g->a == NULL || g->b == NULL || g->c == NULL) return WEFT_BAD_ARGUMENT;
  if (weft_dense(g->a_stride, SIZE_MAX) < (g->a_transpose ? g->m : g->k)) return WEFT_BAD_ARGUMENT;
  if (weft_dense(g->b_stride, SIZE_MAX) < (g->b_transpose ? g->k : g->n)) return WEFT_BAD_ARGUMENT;
  if (weft_dense(g->c_stride, SIZE_MAX) < g->n) return WEFT_BAD_ARGUMENT;
  if (g->bias != NULL && !g->bias_repeat && weft_dense(g->bias_stride, SIZE_MAX) < g->n) return WEFT_BAD_ARGUMENT;
  if (g->a_transpose && g->b_transpose) return WEFT_UNSUPPORTED;
  if (g->full && (g->activation != WEFT_NO_ACTIVATION || weft_scale_bits(g->scale) != weft_f32(1.0f)))
    return WEFT_UNSUPPORTED;
  if (g->full && !WEFT_ACCUMULATOR_FULL_READS) return WEFT_UNSUPPORTED;
  return WEFT_OK;
}

static bool fits(struct weft_tile t, size_t parts) {
  return (t.m + t.n) * t.k * WEFT_DIM <= WEFT_SP_ROWS / parts && t.m * t.n * WEFT_DIM <= WEFT_ACC_ROWS / parts;
}

static bool grow(struct weft_tile *t, size_t *size, size_t limit, size_t parts) {
  if (*size >= limit) return false;
  ++*size;
  if (fits(*t, parts)) return true;
  --*size;
  return false;
}

bool weft_gemm_tile(const struct weft_gemm *g, size_t parts, struct weft_tile *tile) {
  struct weft_tile t = {1, 1, 1};
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

// The part of the product that is being worked on: first element and number of elements in each direction.
struct part {
  size_t m0, n0, k0, m, n, k;
  uint32_t a, b, c;  // first local rows
};

static uint32_t block_at(uint32_t base, size_t row, size_t cols, size_t col) {
  return base + (uint32_t)((row * weft_blocks(cols) + col) * WEFT_DIM);
}

// Loads rows x cols elements as blocks.
static void load_blocks(unsigned state, const int8_t *from, size_t stride, size_t rows, size_t cols, uint32_t base) {
  for (size_t r = 0; r < weft_blocks(rows); r++)
    for (size_t c = 0; c < weft_blocks(cols); c += WEFT_MAX_BLOCK_LEN)
      weft_load_rows(state, from + r * WEFT_DIM * stride + c * WEFT_DIM, block_at(base, r, cols, c),
                     weft_min(cols - c * WEFT_DIM, WEFT_MAX_BLOCK_LEN * WEFT_DIM),
                     weft_min(rows - r * WEFT_DIM, WEFT_DIM));
}

static void load_operands(const struct weft_gemm *g, const struct part *p) {
  if (g->a_transpose)
    load_blocks(LOAD_A, g->a + p->k0 * g->a_stride + p->m0, g->a_stride, p->k, p->m, p->a);
  else
    load_blocks(LOAD_A, g->a + p->m0 * g->a_stride + p->k0, g->a_stride, p->m, p->k, p->a);
  if (g->b_transpose)
    load_blocks(LOAD_B, g->b + p->n0 * g->b_stride + p->k0, g->b_stride, p->n, p->k, p->b);
  else
    load_blocks(LOAD_B, g->b + p->k0 * g->b_stride + p->n0, g->b_stride, p->k, p->n, p->b);
}

static void load_bias(const struct weft_gemm *g, const struct part *p) {
  for (size_t r = 0; r < p->m; r += WEFT_DIM)
    for (size_t c = 0; c < p->n; c += WEFT_MAX_BLOCK_LEN_ACC * WEFT_DIM) {
      size_t row = g->bias_repeat ? 0 : p->m0 + r;
      weft_load_rows(LOAD_BIAS, g->bias + row * g->bias_stride + p->n0 + c,
                     weft_local_acc(block_at(p->c, r / WEFT_DIM, p->n, c / WEFT_DIM), 0),
                     weft_min(p->n - c, WEFT_MAX_BLOCK_LEN_ACC * WEFT_DIM), weft_min(p->m - r, WEFT_DIM));
    }
}

// C block (i, j) gets A(i, k) * B(k, j) for all i: the weights are preloaded once.
static void multiply_column(const struct weft_gemm *g, const struct part *p, size_t k, size_t j, bool add) {
  size_t depth = weft_min(p->k - k * WEFT_DIM, WEFT_DIM), cols = weft_min(p->n - j * WEFT_DIM, WEFT_DIM);
  for (size_t i = 0; i < weft_blocks(p->m); i++) {
    size_t rows = weft_min(p->m - i * WEFT_DIM, WEFT_DIM);
    uint32_t a = g->a_transpose ? block_at(p->a, k, p->m, i) : block_at(p->a, i, p->k, k);
    uint32_t b = g->b_transpose ? block_at(p->b, j, p->k, k) : block_at(p->b, k, p->n, j);
    uint32_t c = weft_local_acc(block_at(p->c, i, p->n, j), add ? WEFT_ACC_ADD : 0);
    weft_preload(i == 0 ? b : WEFT_GARBAGE, cols, depth, c, cols, rows);
    if (i == 0)
      weft_compute_preloaded(a, depth, rows, WEFT_GARBAGE, cols, rows);
    else
      weft_compute_accumulated(a, depth, rows, WEFT_GARBAGE, cols, rows);
  }
}

static void multiply(const struct weft_gemm *g, const struct part *p) {
  for (size_t k = 0; k < weft_blocks(p->k); k++)
    for (size_t j = 0; j < weft_blocks(p->n); j++) multiply_column(g, p, k, j, p->k0 > 0 || k > 0 || g->bias != NULL);
}

static void store(const struct weft_gemm *g, const struct part *p) {
  size_t width = (g->full ? 1 : WEFT_MAX_BLOCK_LEN) * WEFT_DIM;
  size_t element = g->full ? sizeof(int32_t) : sizeof(int8_t);
  for (size_t r = 0; r < p->m; r += WEFT_DIM)
    for (size_t c = 0; c < p->n; c += width)
      weft_mvout(weft_dram((char *)g->c + ((p->m0 + r) * g->c_stride + p->n0 + c) * element),
                 weft_local_acc(block_at(p->c, r / WEFT_DIM, p->n, c / WEFT_DIM), g->full ? WEFT_ACC_FULL : 0),
                 weft_min(p->n - c, width), weft_min(p->m - r, WEFT_DIM));
}

static void configure(const struct weft_gemm *g) {
  weft_set_execute(
      (struct weft_execute){.dataflow = WEFT_WS, .a_transpose = g->a_transpose, .b_transpose = g->b_transpose});
  weft_set_load((struct weft_load){.state = LOAD_A, .stride_bytes = g->a_stride});
  weft_set_load((struct weft_load){.state = LOAD_B, .stride_bytes = g->b_stride});
  weft_set_load(
      (struct weft_load){.state = LOAD_BIAS, .stride_bytes = g->bias_repeat ? 0 : g->bias_stride * sizeof(int32_t)});
  weft_set_store((struct weft_store){.stride_bytes = g->c_stride * (g->full ? sizeof(int32_t) : sizeof(int8_t)),
                                     .activation = g->activation,
                                     .scale = g->scale});
}

enum weft_status weft_tiled_gemm(const struct weft_gemm *gemm) {
  enum weft_status status = weft_gemm_check(gemm);
  if (status != WEFT_OK) return status;
  struct weft_gemm g = *gemm;
  g.a_stride = weft_dense(g.a_stride, g.a_transpose ? g.m : g.k);
  g.b_stride = weft_dense(g.b_stride, g.b_transpose ? g.k : g.n);
  g.bias_stride = weft_dense(g.bias_stride, g.n);
  g.c_stride = weft_dense(g.c_stride, g.n);
  size_t parts = 2;
  struct weft_tile t;
  if (!weft_gemm_tile(&g, parts, &t) && !weft_gemm_tile(&g, parts = 1, &t)) return WEFT_TOO_BIG;

  configure(&g);
  size_t sp_turn = 0, acc_turn = 0;
  struct part p;
  for (p.m0 = 0; p.m0 < g.m; p.m0 += t.m * WEFT_DIM)
    for (p.n0 = 0; p.n0 < g.n; p.n0 += t.n * WEFT_DIM) {
      p.m = weft_min(g.m - p.m0, t.m * WEFT_DIM);
      p.n = weft_min(g.n - p.n0, t.n * WEFT_DIM);
      p.c = (uint32_t)(acc_turn++ % parts * (WEFT_ACC_ROWS / parts));
      if (g.bias != NULL) load_bias(&g, &p);
      for (p.k0 = 0; p.k0 < g.k; p.k0 += t.k * WEFT_DIM) {
        p.k = weft_min(g.k - p.k0, t.k * WEFT_DIM);
        p.a = (uint32_t)(sp_turn++ % parts * (WEFT_SP_ROWS / parts));
        p.b = p.a + (uint32_t)(t.m * t.k * WEFT_DIM);
        load_operands(&g, &p);
        multiply(&g, &p);
      }
      store(&g, &p);
    }
  return WEFT_OK;
}
