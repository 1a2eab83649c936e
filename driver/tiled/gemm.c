// SPDX-License-Identifier: Apache-2.0
// Matrix product from single instructions, weight-stationary: tiles as stages.h has them.
//
// An operand lies in columns of blocks: element (r, c) in row c / WEFT_DIM * tile rows + r of its slot; the result in
// blocks of WEFT_DIM rows, block (r, c) at r * tile columns + c, so that a store takes several of them.
#include "driver/tiled/products.h"
#include "driver/tiled/stages.h"
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
  const struct weft_mapping *m = g->mapping;
  if (m != NULL && (m->m == 0 || m->n == 0 || m->k == 0)) return WEFT_BAD_ARGUMENT;
  return WEFT_OK;
}

struct run {
  struct weft_stages stages;
  struct weft_gemm g;
  struct weft_mapping t;  // sizes of a tile in blocks
  size_t column_rows;     // that its runs are for
  size_t rest;            // depth of the last block of depth, if it is to come
};

static void measure_tile(struct weft_stages *stages, struct weft_tile *tile) {
  const struct run *r = (const struct run *)(const void *)stages;
  tile->m_first = tile->m * r->t.m * WEFT_DIM;
  tile->n_first = tile->n * r->t.n * WEFT_DIM;
  tile->m_size = weft_min(r->g.m - tile->m_first, r->t.m * WEFT_DIM);
  tile->n_size = weft_min(r->g.n - tile->n_first, r->t.n * WEFT_DIM);
  tile->products = weft_blocks(tile->m_size) * weft_blocks(tile->n_size);
}

static void measure(struct weft_stages *stages, struct weft_stage *s) {
  const struct run *r = (const struct run *)(const void *)stages;
  s->k_first = s->k * r->t.k * WEFT_DIM;
  s->k_size = weft_min(r->g.k - s->k_first, r->t.k * WEFT_DIM);
  s->products = s->tile->products * weft_blocks(s->k_size);
  const uint32_t c = weft_local_acc(s->tile->c, s->k > 0 || stages->has_bias ? WEFT_ACC_ADD : 0);
  weft_set_rows(&s->rows, weft_max(s->k_size / WEFT_DIM, 1), s->a, s->b, c, weft_min(s->k_size, WEFT_DIM),
                s->tile->n_size);
}

// ---- transfers

// What of transfers is the same in all stages. `tile_rows`: blocks of rows that the slot of an operand, as stored, has
// room for.
static void prepare_operand(struct weft_transfer *t, unsigned state, size_t stride, size_t tile_rows) {
  *t = (struct weft_transfer){.unit = state,
                              .row_bytes = stride,
                              .col_bytes = WEFT_MAX_BLOCK_LEN * WEFT_DIM,
                              .row_step = WEFT_DIM,
                              .col_step = (uint32_t)(tile_rows * WEFT_DIM * WEFT_MAX_BLOCK_LEN),
                              .planes = 1,
                              .height = WEFT_DIM,
                              .width = WEFT_MAX_BLOCK_LEN * WEFT_DIM};
}

// Blocks of the result are WEFT_DIM rows apart in a row of them.
static void prepare_result(struct weft_transfer *t, unsigned unit, size_t stride, size_t element, size_t width,
                           size_t tile_cols) {
  *t = (struct weft_transfer){.unit = unit,
                              .row_bytes = stride * element,
                              .col_bytes = width * element,
                              .row_step = (uint32_t)(tile_cols * WEFT_DIM),
                              .col_step = (uint32_t)width,
                              .planes = 1,
                              .height = WEFT_DIM,
                              .width = width};
}

static bool transfer(struct weft_stages *stages, enum weft_chore chore, unsigned number, const struct weft_stage *s,
                     struct weft_transfer *t) {
  const struct weft_gemm *g = &((const struct run *)(const void *)stages)->g;
  const struct weft_tile *tile = s->tile;
  if (number > 0) return false;
  if (chore == WEFT_CHORE_A) {
    t->memory = (uintptr_t)g->a +
                (g->a_transpose ? s->k_first * g->a_stride + tile->m_first : tile->m_first * g->a_stride + s->k_first);
    t->local = s->a;
    t->rows = g->a_transpose ? s->k_size : tile->m_size;
    t->cols = g->a_transpose ? tile->m_size : s->k_size;
  } else if (chore == WEFT_CHORE_B) {
    t->memory = (uintptr_t)g->b +
                (g->b_transpose ? tile->n_first * g->b_stride + s->k_first : s->k_first * g->b_stride + tile->n_first);
    t->local = s->b;
    t->rows = g->b_transpose ? tile->n_size : s->k_size;
    t->cols = g->b_transpose ? s->k_size : tile->n_size;
  } else {
    const bool store = chore == WEFT_CHORE_STORE;
    const size_t element = store && !g->full ? sizeof(int8_t) : sizeof(int32_t);
    t->memory = (store ? (uintptr_t)g->c : (uintptr_t)g->bias) + tile->m_first * t->row_bytes + tile->n_first * element;
    t->local = weft_local_acc(tile->c, store && g->full ? WEFT_ACC_FULL : 0);
    t->rows = tile->m_size;
    t->cols = tile->n_size;
  }
  return true;
}

// ---- products

// A column of blocks of the result: A(i) * B for all i.
static void set_column(struct run *r, size_t rows) {
  struct weft_products *p = &r->stages.products;
  const size_t full = rows / WEFT_DIM, rest = rows % WEFT_DIM;
  const uint64_t fewer = (uint64_t)(WEFT_DIM - rest) << 48;
  r->column_rows = rows;
  weft_clear_runs(p, (r->g.a_transpose ? r->t.k : 1) * WEFT_DIM, r->t.n * WEFT_DIM);
  if (full != 0) weft_add_run(p, full, 0, 0);
  if (rest != 0) weft_add_run(p, 1, full * p->a_step - fewer, full * p->c_step - fewer);
}

static void begin(struct weft_stages *stages, const struct weft_stage *s) {
  struct run *r = (struct run *)(void *)stages;
  if (s->tile->m_size != r->column_rows) set_column(r, s->tile->m_size);
  r->rest = s->k_size < WEFT_DIM ? 0 : s->k_size % WEFT_DIM;
}

// The block of depth that is not as deep as any, then the next stage.
static bool next_rows(struct weft_products *p) {
  struct run *r = (struct run *)(void *)((char *)p - offsetof(struct run, stages.products));
  const struct weft_stage *s = r->stages.now;
  const size_t depth = r->rest;
  if (depth == 0) return weft_stages_next(&r->stages);
  r->rest = 0;
  weft_set_rows(&p->row, 1, (uint32_t)(p->row.a + p->a_down), (uint32_t)(p->row.b + p->b_down), (uint32_t)p->row.c,
                depth, s->tile->n_size);
  return true;
}

// ---- the whole

static void configure(const struct run *r) {
  const struct weft_gemm *g = &r->g;
  weft_set_execute(
      (struct weft_execute){.dataflow = WEFT_WS, .a_transpose = g->a_transpose, .b_transpose = g->b_transpose});
  weft_set_load((struct weft_load){
      .state = LOAD_A, .stride_bytes = g->a_stride, .block_stride = (g->a_transpose ? r->t.k : r->t.m) * WEFT_DIM});
  weft_set_load((struct weft_load){
      .state = LOAD_B, .stride_bytes = g->b_stride, .block_stride = (g->b_transpose ? r->t.n : r->t.k) * WEFT_DIM});
  weft_set_load(
      (struct weft_load){.state = LOAD_BIAS, .stride_bytes = g->bias_repeat ? 0 : g->bias_stride * sizeof(int32_t)});
  weft_set_store((struct weft_store){.stride_bytes = g->c_stride * (g->full ? sizeof(int32_t) : sizeof(int8_t)),
                                     .activation = g->activation,
                                     .scale = g->scale});
}

static void prepare(struct run *r) {
  const struct weft_gemm *g = &r->g;
  r->stages.products.a_down = (g->a_transpose ? 1 : r->t.m) * WEFT_DIM;
  r->stages.products.b_down = (g->b_transpose ? r->t.n : 1) * WEFT_DIM;
  r->stages.products.b_next = (g->b_transpose ? 1 : r->t.k) * WEFT_DIM;
  r->stages.products.c_next = WEFT_DIM;
  r->stages.products.next_rows = next_rows;
  struct weft_transfer *t = r->stages.transfers;
  prepare_operand(&t[WEFT_CHORE_A], LOAD_A, g->a_stride, g->a_transpose ? r->t.k : r->t.m);
  prepare_operand(&t[WEFT_CHORE_B], LOAD_B, g->b_stride, g->b_transpose ? r->t.n : r->t.k);
  prepare_result(&t[WEFT_CHORE_BIAS], LOAD_BIAS, g->bias_repeat ? 0 : g->bias_stride, sizeof(int32_t),
                 WEFT_MAX_BLOCK_LEN_ACC * WEFT_DIM, r->t.n);
  prepare_result(&t[WEFT_CHORE_STORE], WEFT_FEED_STORE, g->c_stride, g->full ? sizeof(int32_t) : sizeof(int8_t),
                 (g->full ? 1 : WEFT_MAX_BLOCK_LEN) * WEFT_DIM, r->t.n);
}

static struct weft_gemm complete(const struct weft_gemm *gemm) {
  struct weft_gemm g = *gemm;
  g.a_stride = weft_dense(g.a_stride, g.a_transpose ? g.m : g.k);
  g.b_stride = weft_dense(g.b_stride, g.b_transpose ? g.k : g.n);
  g.bias_stride = weft_dense(g.bias_stride, g.n);
  g.c_stride = weft_dense(g.c_stride, g.n);
  return g;
}

enum weft_status weft_tiled_gemm(const struct weft_gemm *gemm) {
  const enum weft_status status = weft_gemm_check(gemm);
  if (status != WEFT_OK) return status;
  static const struct weft_operator operator= {measure_tile, measure, transfer, begin};
  struct run r = {.stages = {.op = &operator, .has_bias = gemm->bias != NULL }, .g = complete(gemm)};
  if (!weft_gemm_tiles(&r.g, &r.t, &r.stages.tiles)) return WEFT_TOO_BIG;
  configure(&r);
  prepare(&r);
  weft_stages_run(&r.stages);
  return WEFT_OK;
}
