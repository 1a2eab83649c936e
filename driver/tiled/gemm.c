// Matrix product from single instructions, weight-stationary.
//
// A tile of the result stays in the accumulator while k advances, a step at a time (stage). Under the products of a
// stage run the loads of the next one, the stores of the tile before and the bias of the next (feed.h). An operand
// lies in columns of blocks: element (r, c) in row c / WEFT_DIM * tile rows + r of its slot; the result in blocks of
// WEFT_DIM rows, block (r, c) at r * tile columns + c, so that a store takes several of them.
#include "driver/tiled/feed.h"
#include "driver/tiled/tile.h"
#include "weft/stream.h"

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

// A stage: tiles of m, n, k, counted, and the number of the result's tile.
struct stage {
  size_t m, n, k, tile;
};

struct run {
  struct weft_gemm g;
  struct weft_gemm_tiles t;  // sizes in blocks
  size_t m_tiles, n_tiles, k_steps;
  uint32_t b_base;
  struct weft_feed feed;
  size_t products;  // still to be done in this stage
  unsigned chores;  // the same
  struct stage before, next;
};

// What a stage prepares. Each takes the host about as long as the accelerator's queue lasts, so they are done one by
// one, between columns of products.
enum { CHORE_STORE = 1, CHORE_A = 2, CHORE_B = 4, CHORE_BIAS = 8 };

static size_t part(size_t all, size_t tile, size_t number) {
  return weft_min(all - number * tile * WEFT_DIM, tile * WEFT_DIM);
}
static size_t rows_of(const struct run *r, const struct stage *s) { return part(r->g.m, r->t.m, s->m); }
static size_t cols_of(const struct run *r, const struct stage *s) { return part(r->g.n, r->t.n, s->n); }
static size_t depth_of(const struct run *r, const struct stage *s) { return part(r->g.k, r->t.k, s->k); }

// ---- where things lie

static bool is_outer(const struct run *r, bool a) { return a != r->t.n_outer; }
static bool stays(const struct run *r, bool a) { return is_outer(r, a) ? r->t.outer_stays : r->t.inner_stays; }

// The slot of an operand in a stage. Of an outer operand that stays, each step of k follows the same step of the panel
// before, a stage or more after its last use; with one step panels take turns. No division: it takes the host as long
// as four products.
static size_t slot_of(const struct run *r, const struct stage *s, bool a) {
  const size_t slots = a ? r->t.a_slots : r->t.b_slots, number = a ? s->m : s->n;
  if (slots == 1) return 0;
  if (!stays(r, a)) return (s->tile * r->k_steps + s->k) & 1;
  if (!is_outer(r, a)) return number * r->k_steps + s->k;
  return r->k_steps > 1 ? s->k : number & 1;
}

// Whether the operand comes in this stage: what stays comes with the first tile that needs it.
static bool comes(const struct run *r, const struct stage *s, bool a) { return !stays(r, a) || (a ? s->n : s->m) == 0; }

static uint32_t a_row(const struct run *r, const struct stage *s) {
  return (uint32_t)(slot_of(r, s, true) * r->t.m * r->t.k * WEFT_DIM);
}
static uint32_t b_row(const struct run *r, const struct stage *s) {
  return r->b_base + (uint32_t)(slot_of(r, s, false) * r->t.n * r->t.k * WEFT_DIM);
}
static uint32_t c_row(const struct run *r, const struct stage *s) {
  return (uint32_t)((r->t.c_slots == 1 ? 0 : s->tile & 1) * r->t.m * r->t.n * WEFT_DIM);
}

// ---- transfers

// An operand of rows x cols elements as stored; its tile has room for `tile_rows` blocks of rows.
static void load_operand(struct run *r, unsigned state, const int8_t *from, size_t stride, size_t rows, size_t cols,
                         uint32_t local, size_t tile_rows) {
  const size_t width = WEFT_MAX_BLOCK_LEN * WEFT_DIM;
  weft_feed_add(&r->feed, &(struct weft_transfer){.unit = state,
                                                  .memory = (uintptr_t)from,
                                                  .row_bytes = stride,
                                                  .col_bytes = width,
                                                  .local = local,
                                                  .row_step = WEFT_DIM,
                                                  .col_step = (uint32_t)(tile_rows * WEFT_DIM * WEFT_MAX_BLOCK_LEN),
                                                  .rows = rows,
                                                  .cols = cols,
                                                  .width = width});
}

static void load_a(struct run *r, const struct stage *s) {
  const struct weft_gemm *g = &r->g;
  const size_t m0 = s->m * r->t.m * WEFT_DIM, k0 = s->k * r->t.k * WEFT_DIM, m = rows_of(r, s), k = depth_of(r, s);
  if (g->a_transpose)
    load_operand(r, LOAD_A, g->a + k0 * g->a_stride + m0, g->a_stride, k, m, a_row(r, s), r->t.k);
  else
    load_operand(r, LOAD_A, g->a + m0 * g->a_stride + k0, g->a_stride, m, k, a_row(r, s), r->t.m);
}

static void load_b(struct run *r, const struct stage *s) {
  const struct weft_gemm *g = &r->g;
  const size_t n0 = s->n * r->t.n * WEFT_DIM, k0 = s->k * r->t.k * WEFT_DIM, n = cols_of(r, s), k = depth_of(r, s);
  if (g->b_transpose)
    load_operand(r, LOAD_B, g->b + n0 * g->b_stride + k0, g->b_stride, n, k, b_row(r, s), r->t.n);
  else
    load_operand(r, LOAD_B, g->b + k0 * g->b_stride + n0, g->b_stride, k, n, b_row(r, s), r->t.k);
}

// Blocks of the result: WEFT_DIM rows apart in a row of them.
static struct weft_transfer result_blocks(const struct run *r, const struct stage *s, size_t width) {
  return (struct weft_transfer){.local = weft_local_acc(c_row(r, s), 0),
                                .row_step = (uint32_t)(r->t.n * WEFT_DIM),
                                .col_step = (uint32_t)width,
                                .rows = rows_of(r, s),
                                .cols = cols_of(r, s),
                                .width = width};
}

static void load_bias(struct run *r, const struct stage *s) {
  const struct weft_gemm *g = &r->g;
  struct weft_transfer t = result_blocks(r, s, WEFT_MAX_BLOCK_LEN_ACC * WEFT_DIM);
  const size_t row = g->bias_repeat ? 0 : s->m * r->t.m * WEFT_DIM;
  t.unit = LOAD_BIAS;
  t.memory = (uintptr_t)(g->bias + row * g->bias_stride + s->n * r->t.n * WEFT_DIM);
  t.row_bytes = g->bias_repeat ? 0 : g->bias_stride * sizeof(int32_t);
  t.col_bytes = t.width * sizeof(int32_t);
  weft_feed_add(&r->feed, &t);
}

static void store_result(struct run *r, const struct stage *s) {
  const struct weft_gemm *g = &r->g;
  const size_t element = g->full ? sizeof(int32_t) : sizeof(int8_t);
  struct weft_transfer t = result_blocks(r, s, (g->full ? 1 : WEFT_MAX_BLOCK_LEN) * WEFT_DIM);
  t.unit = WEFT_FEED_STORE;
  t.local |= g->full ? WEFT_ACC_FULL : 0;
  t.memory = (uintptr_t)g->c + (s->m * r->t.m * WEFT_DIM * g->c_stride + s->n * r->t.n * WEFT_DIM) * element;
  t.row_bytes = g->c_stride * element;
  t.col_bytes = t.width * element;
  weft_feed_add(&r->feed, &t);
}

static unsigned chores_of(const struct run *r, const struct stage *s) {
  return (comes(r, s, true) ? CHORE_A : 0) | (comes(r, s, false) ? CHORE_B : 0) |
         (s->k == 0 && r->g.bias != NULL ? CHORE_BIAS : 0);
}

// In this order: the bias may take the rows of the result that is stored.
static void do_chore(struct run *r) {
  const unsigned chore = r->chores & -r->chores;
  r->chores -= chore;
  switch (chore) {
    case CHORE_STORE:
      store_result(r, &r->before);
      break;
    case CHORE_A:
      load_a(r, &r->next);
      break;
    case CHORE_B:
      load_b(r, &r->next);
      break;
    default:
      load_bias(r, &r->next);
      break;
  }
}

// All that is left, and all that was prepared.
static void finish(struct run *r) {
  while (r->chores != 0) do_chore(r);
  weft_feed_drain(&r->feed);
}

// ---- products

// A column of blocks of the result: A(i) * B for all i, the weights are preloaded once. What all columns of a stage
// have in common:
struct column {
  uint64_t c_step, a_step;
  size_t full, rest;  // blocks of WEFT_DIM rows, rows behind them
};

#define NEXT_PRODUCT                          \
  c += c_step;                                \
  a += a_step;                                \
  weft_command(WEFT_FUNCT_PRELOAD, stays, c); \
  weft_command(WEFT_FUNCT_COMPUTE_ACCUMULATED, a, nothing)

// `stays` is in the place of B where it is not preloaded. Inlined, so that operands are registers.
static inline __attribute__((always_inline)) void multiply_column(struct column column, uint64_t b, uint64_t c,
                                                                  uint64_t a, uint64_t stays) {
  const uint64_t nothing = weft_operand(weft_operand_of(WEFT_GARBAGE, WEFT_DIM, WEFT_DIM));
  const uint64_t c_step = column.c_step, a_step = column.a_step, fewer = (uint64_t)(WEFT_DIM - column.rest) << 48;
  size_t more = column.full;
  if (more == 0) c -= fewer, a -= fewer;
  weft_command(WEFT_FUNCT_PRELOAD, b, c);
  weft_command(WEFT_FUNCT_COMPUTE_PRELOADED, a, nothing);
  if (more == 0) return;
  for (more--; more >= 4; more -= 4) {
    NEXT_PRODUCT;
    NEXT_PRODUCT;
    NEXT_PRODUCT;
    NEXT_PRODUCT;
  }
  for (; more != 0; more--) {
    NEXT_PRODUCT;
  }
  if (column.rest == 0) return;
  weft_command(WEFT_FUNCT_PRELOAD, stays, c + c_step - fewer);
  weft_command(WEFT_FUNCT_COMPUTE_ACCUMULATED, a + a_step - fewer, nothing);
}

// All columns of one block of depth. Operands of the last column are narrower.
static void multiply_row(struct run *r, struct column column, size_t n, size_t depth, uint64_t b, uint64_t c,
                         uint64_t a, size_t b_step) {
  const size_t blocks = column.full + (column.rest != 0);
  uint64_t stays = weft_operand_of(WEFT_GARBAGE, WEFT_DIM, depth);
  for (;; b += b_step, c += WEFT_DIM, n -= WEFT_DIM) {
    if (n < WEFT_DIM) {
      const uint64_t fewer = (uint64_t)(WEFT_DIM - n) << 32;
      b -= fewer, c -= fewer, stays -= fewer;
    }
    multiply_column(column, b, c, a, stays);
    r->products -= blocks;
    if (r->chores == 0) {
      weft_feed_pay(&r->feed, blocks);
    } else if (r->products != 0) {
      do_chore(r);
      weft_feed_spread(&r->feed, r->products);
    }
    if (n <= WEFT_DIM) return;
  }
}

// The host has little more time for a product than its two commands: everything that stays is found once per stage or
// once per column, and loads and stores come between columns.
static void multiply(struct run *r, const struct stage *s) {
  const struct weft_gemm *g = &r->g;
  const size_t m = rows_of(r, s), n = cols_of(r, s), k = depth_of(r, s);
  const size_t a_right = (g->a_transpose ? 1 : r->t.m) * WEFT_DIM, b_right = (g->b_transpose ? 1 : r->t.k) * WEFT_DIM;
  const size_t b_down = (g->b_transpose ? r->t.n : 1) * WEFT_DIM;
  uint32_t a = a_row(r, s), b = b_row(r, s);
  uint32_t c = weft_local_acc(c_row(r, s), s->k > 0 || g->bias != NULL ? WEFT_ACC_ADD : 0);
  const struct column column = {.c_step = r->t.n * WEFT_DIM,
                                .a_step = (g->a_transpose ? r->t.k : 1) * WEFT_DIM,
                                .full = m / WEFT_DIM,
                                .rest = m % WEFT_DIM};
  r->products = weft_blocks(m) * weft_blocks(n) * weft_blocks(k);
  weft_feed_spread(&r->feed, r->products);
  for (size_t i = 0; i < k; i += WEFT_DIM) {
    const size_t depth = weft_min(k - i, WEFT_DIM);
    multiply_row(r, column, n, depth, weft_operand_of(b, WEFT_DIM, depth), weft_operand_of(c, WEFT_DIM, WEFT_DIM),
                 weft_operand_of(a, depth, WEFT_DIM), b_right);
    a += (uint32_t)a_right;
    b += (uint32_t)b_down;
    c |= WEFT_ACC_ADD;
  }
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

// The stage behind; false behind the last one.
static bool advance(const struct run *r, struct stage *s) {
  size_t *outer = r->t.n_outer ? &s->n : &s->m, *inner = r->t.n_outer ? &s->m : &s->n;
  if (++s->k < r->k_steps) return true;
  s->k = 0;
  s->tile++;
  if (++*inner < (r->t.n_outer ? r->m_tiles : r->n_tiles)) return true;
  *inner = 0;
  return ++*outer < (r->t.n_outer ? r->n_tiles : r->m_tiles);
}

static void run_stages(struct run *r) {
  struct stage now = {0};
  r->chores = chores_of(r, &now);
  finish(r);
  for (bool more = true; more;) {
    r->next = now;
    more = advance(r, &r->next);
    if (r->t.ahead) {
      // The first stage of a tile: the result before goes.
      r->chores = (now.k == 0 && now.tile > 0 ? CHORE_STORE : 0) | (more ? chores_of(r, &r->next) : 0);
    }
    multiply(r, &now);
    finish(r);
    r->before = now;
    if (r->next.tile != now.tile && (!more || !r->t.ahead)) r->chores |= CHORE_STORE;
    if (more && !r->t.ahead) r->chores |= chores_of(r, &r->next);
    finish(r);
    now = r->next;
  }
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
  struct run r = {.g = complete(gemm)};
  if (!(gemm->mapping != NULL ? weft_gemm_given(&r.g, &r.t) : weft_gemm_choose(&r.g, &r.t))) return WEFT_TOO_BIG;
  r.m_tiles = (weft_blocks(r.g.m) + r.t.m - 1) / r.t.m;
  r.n_tiles = (weft_blocks(r.g.n) + r.t.n - 1) / r.t.n;
  r.k_steps = (weft_blocks(r.g.k) + r.t.k - 1) / r.t.k;
  r.b_base = (uint32_t)(r.t.m * r.t.k * r.t.a_slots * WEFT_DIM);
  configure(&r);
  run_stages(&r);
  return WEFT_OK;
}
