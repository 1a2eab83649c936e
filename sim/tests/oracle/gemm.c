// SPDX-License-Identifier: Apache-2.0
// Matrix products of every ragged size up to two tiles, from primitive commands, weight- and output-stationary.
//
// Local layout: scratchpad A, B, D, C tiles one after the other, each matrix tile by tile in row-major order of tiles;
// the accumulator holds the C tiles. A transposed operand lies transposed in memory and in the scratchpad.
#include "base/alloc.h"
#include "sim/tests/oracle/groups.h"
#include "sim/tests/oracle/numerics.h"

typedef enum { BIAS_NONE, BIAS_INT32, BIAS_SHRUNK, BIAS_OPERAND, BIAS_KINDS } bias_kind;
typedef enum { OUT_NARROW, OUT_FULL, OUT_SCRATCHPAD, OUT_KINDS } out_kind;

typedef struct gemm {
  bool ws;
  int64_t m, n, k, mt, nt, kt;  // sizes and tiles
  bool a_transpose, b_transpose;
  bias_kind bias;
  bool bias_row;  // one row for all
  bool relu;
  uint32_t scale, bias_scale;
  uint32_t shift;
  out_kind out;
  int64_t a_stride, b_stride, d_stride, c_stride;  // in memory, bytes
  uint64_t a, b, d, c;                             // in memory
  uint32_t a_row, b_row, d_row, c_row;             // first local rows
  int64_t *a_values, *b_values, *d_values, *result;
} gemm;

static int64_t tiles(int64_t elements, int64_t dim) { return (elements + dim - 1) / dim; }
static int64_t part(int64_t elements, int64_t tile, int64_t dim) {
  int64_t left = elements - tile * dim;
  return left < dim ? left : dim;
}

static void draw_shape(bench *b, gemm *g) {
  int64_t span = 2 * b->dim;
  g->m = 1 + (int64_t)(b->seed % (uint64_t)span);
  g->n = 1 + (int64_t)(b->seed / (uint64_t)span) % span;
  g->k = 1 + (int64_t)(b->seed / (uint64_t)(span * span)) % span;
  g->mt = tiles(g->m, b->dim);
  g->nt = tiles(g->n, b->dim);
  g->kt = tiles(g->k, b->dim);
}

static void draw_options(bench *b, gemm *g) {
  oracle_random *r = &b->random;
  int64_t transposes = random_in(r, 0, 2);
  g->a_transpose = transposes == 1 || (transposes == 2 && !g->ws);
  g->b_transpose = transposes == 2;
  g->bias = (bias_kind)random_in(r, 0, BIAS_KINDS - 1);
  g->bias_row = random_one_in(r, 3);
  g->relu = random_one_in(r, 3);
  g->scale = bench_sum_scale(b);
  g->bias_scale = random_one_in(r, 2) ? FLOAT_ONE : bench_scale(b);
  g->shift = g->ws ? 0 : (uint32_t)random_in(r, 0, random_one_in(r, 4) ? 31 : 10);
  g->out = (out_kind)random_in(r, 0, OUT_KINDS - 1);
  // Weight-stationary results reach the scratchpad after one pass; a bias in the accumulator needs a result there.
  if (g->ws && g->kt > 1 && g->out == OUT_SCRATCHPAD) g->out = OUT_NARROW;
  if (g->out == OUT_SCRATCHPAD && (g->bias == BIAS_INT32 || g->bias == BIAS_SHRUNK)) g->bias = BIAS_OPERAND;
}

// ---- operands in memory

static int64_t *draw_matrix(bench *b, const char *name, int64_t rows, int64_t cols, bool transposed, uint64_t *address,
                            int64_t *stride) {
  fill_style style = bench_style(b);
  int64_t *values = wf_alloc((size_t)(rows * cols), sizeof *values);
  *stride = (transposed ? rows : cols) + random_in(&b->random, 0, 5);
  *address = bench_alloc(b, name, (transposed ? cols : rows) * *stride);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++) {
      int64_t value = values[i * cols + j] = bench_draw8(b, style);
      bench_put8(b, *address + (uint64_t)(transposed ? j * *stride + i : i * *stride + j), value);
    }
  }
  return values;
}

// d_values[i][j] is what reaches the sum: after scale and with the one row repeated.
static void draw_bias(bench *b, gemm *g) {
  if (g->bias == BIAS_NONE) return;
  int64_t size = g->bias == BIAS_INT32 ? 4 : 1;
  fill_style style = bench_style(b);
  int64_t rows = g->bias_row ? 1 : g->m;
  g->d_stride = g->n * size + random_in(&b->random, 0, 3);
  g->d = bench_alloc(b, "D", rows * g->d_stride);
  g->d_values = wf_alloc((size_t)(g->m * g->n), sizeof *g->d_values);
  for (int64_t n = 0; n < g->m * g->n; n++) {
    int64_t i = n / g->n, j = n % g->n;
    if (i >= rows) {
      g->d_values[n] = g->d_values[j];
      continue;
    }
    int64_t value = size == 4 ? bench_draw32(b, style) : bench_draw8(b, style);
    uint64_t address = g->d + (uint64_t)(i * g->d_stride + j * size);
    if (size == 4) {
      bench_put32(b, address, value);
    } else {
      bench_put8(b, address, value);
    }
    g->d_values[n] = size == 4 || g->bias_scale == FLOAT_ONE ? value : oracle_scale(value, g->bias_scale);
  }
  if (g->bias_row) g->d_stride = 0;
}

static void place_tiles(bench *b, gemm *g) {
  uint32_t dim = (uint32_t)b->dim;
  uint32_t spare = b->size.sp_rows - 16 * dim;  // at most four tiles each
  g->a_row = (uint32_t)random_in(&b->random, 0, spare);
  g->b_row = g->a_row + 4 * dim;
  g->d_row = g->b_row + 4 * dim;
  g->c_row = g->d_row + 4 * dim;
  if (g->out != OUT_SCRATCHPAD) {
    g->c_row = LOCAL_ACC | (uint32_t)random_in(&b->random, 0, b->size.acc_rows - 4 * dim);
  }
}

static void draw_gemm(bench *b, gemm *g, bool ws) {
  *g = (gemm){.ws = ws};
  draw_shape(b, g);
  draw_options(b, g);
  g->a_values = draw_matrix(b, "A", g->m, g->k, g->a_transpose, &g->a, &g->a_stride);
  g->b_values = draw_matrix(b, "B", g->k, g->n, g->b_transpose, &g->b, &g->b_stride);
  draw_bias(b, g);
  int64_t size = g->out == OUT_FULL ? 4 : 1;
  g->c_stride = g->n * size + random_in(&b->random, 0, 7);
  g->c = bench_alloc(b, "C", g->m * g->c_stride);
  g->result = wf_alloc((size_t)(g->m * g->n), sizeof *g->result);
  place_tiles(b, g);
}

static void free_gemm(gemm *g) {
  wf_free(g->a_values);
  wf_free(g->b_values);
  wf_free(g->d_values);
  wf_free(g->result);
}

// ---- commands

// A matrix of rows x cols elements into tiles; wide loads cover up to `most` tiles of a row of tiles.
static void load_tiles(bench *b, uint32_t state, uint64_t dram, int64_t stride, int64_t size, uint32_t local,
                       int64_t rows, int64_t cols, int64_t most) {
  int64_t dim = b->dim, across = tiles(cols, dim);
  for (int64_t r = 0; r < tiles(rows, dim); r++) {
    for (int64_t c = 0; c < across;) {
      int64_t blocks = random_in(&b->random, 1, most);
      if (blocks > across - c) blocks = across - c;
      int64_t width = cols - c * dim < blocks * dim ? cols - c * dim : blocks * dim;
      operand to = {local + (uint32_t)((r * across + c) * dim), part(rows, r, dim), width};
      put_mvin(&b->program, state, dram + (uint64_t)(r * dim * stride + c * dim * size), to);
      c += blocks;
    }
  }
}

static void load_operands(bench *b, const gemm *g) {
  uint32_t block = (uint32_t)b->dim;
  put_config_ld(&b->program, (config_ld){0, (uint64_t)g->a_stride, block, FLOAT_ONE, 1, false, false});
  put_config_ld(&b->program, (config_ld){1, (uint64_t)g->b_stride, block, FLOAT_ONE, 0, false, false});
  load_tiles(b, 0, g->a, g->a_stride, 1, g->a_row, g->a_transpose ? g->k : g->m, g->a_transpose ? g->m : g->k,
             b->size.max_block_len);
  load_tiles(b, 1, g->b, g->b_stride, 1, g->b_row, g->b_transpose ? g->n : g->k, g->b_transpose ? g->k : g->n,
             b->size.max_block_len);
}

static void load_bias(bench *b, const gemm *g) {
  if (g->bias == BIAS_NONE) return;
  bool wide = g->bias == BIAS_INT32;
  put_config_ld(&b->program, (config_ld){2, (uint64_t)g->d_stride, (uint32_t)b->dim, g->bias_scale, 1,
                                         g->bias == BIAS_SHRUNK, false});
  load_tiles(b, 2, g->d, g->d_stride, wide ? 4 : 1, g->bias == BIAS_OPERAND ? g->d_row : g->c_row, g->m, g->n,
             wide ? b->size.max_block_len_acc : b->size.max_block_len);
}

static operand tile(const bench *b, uint32_t base, int64_t row, int64_t col, int64_t across, int64_t rows,
                    int64_t cols) {
  return (operand){base + (uint32_t)((row * across + col) * b->dim), part(rows, row, b->dim), part(cols, col, b->dim)};
}

// Sizes are logical; the place of a transposed operand's tile is that of its transpose.
static operand a_tile(const bench *b, const gemm *g, int64_t i, int64_t k) {
  operand t = tile(b, g->a_row, i, k, g->kt, g->m, g->k);
  if (g->a_transpose) t.local = tile(b, g->a_row, k, i, g->mt, g->k, g->m).local;
  return t;
}

static operand b_tile(const bench *b, const gemm *g, int64_t k, int64_t j) {
  operand t = tile(b, g->b_row, k, j, g->nt, g->k, g->n);
  if (g->b_transpose) t.local = tile(b, g->b_row, j, k, g->kt, g->n, g->k).local;
  return t;
}

static operand d_tile(const bench *b, const gemm *g, int64_t i, int64_t j) {
  operand t = tile(b, g->d_row, i, j, g->nt, g->m, g->n);
  if (g->bias != BIAS_OPERAND) t.local = LOCAL_GARBAGE;
  return t;
}

static operand c_tile(const bench *b, const gemm *g, int64_t i, int64_t j, bool accumulate) {
  operand t = tile(b, g->c_row, i, j, g->nt, g->m, g->n);
  if (accumulate) t.local |= LOCAL_ACCUMULATE;
  return t;
}

static bool bias_in_accumulator(const gemm *g) { return g->bias == BIAS_INT32 || g->bias == BIAS_SHRUNK; }

static void compute_ws(bench *b, const gemm *g) {
  for (int64_t k = 0; k < g->kt; k++) {
    for (int64_t j = 0; j < g->nt; j++) {
      for (int64_t i = 0; i < g->mt; i++) {
        bool reload = i == 0 || random_one_in(&b->random, 4);
        operand weights = b_tile(b, g, k, j);
        operand first = d_tile(b, g, i, j);
        if (!reload) weights.local = LOCAL_GARBAGE;
        if (k > 0) first.local = LOCAL_GARBAGE;
        put_preload(&b->program, weights, c_tile(b, g, i, j, k > 0 || bias_in_accumulator(g)));
        put_compute(&b->program, reload, a_tile(b, g, i, k), first);
      }
    }
  }
}

static void compute_os(bench *b, const gemm *g) {
  for (int64_t i = 0; i < g->mt; i++) {
    for (int64_t j = 0; j < g->nt; j++) {
      for (int64_t k = 0; k < g->kt; k++) {
        operand bias = k == 0 ? d_tile(b, g, i, j) : garbage_operand(b->dim, b->dim);
        operand c = c_tile(b, g, i, j, bias_in_accumulator(g));
        if (k + 1 < g->kt) c.local = LOCAL_GARBAGE;
        put_preload(&b->program, bias, c);
        put_compute(&b->program, k == 0, a_tile(b, g, i, k), b_tile(b, g, k, j));
      }
    }
  }
}

static void store_results(bench *b, const gemm *g) {
  int64_t dim = b->dim, size = g->out == OUT_FULL ? 4 : 1;
  put_config_st(&b->program, (config_st){.stride = (uint32_t)g->c_stride, .activation = g->relu, .scale = g->scale});
  for (int64_t i = 0; i < g->mt; i++) {
    for (int64_t j = 0; j < g->nt;) {
      int64_t most = g->out == OUT_FULL ? 1 : b->size.max_block_len;
      int64_t blocks = random_in(&b->random, 1, most);
      if (blocks > g->nt - j) blocks = g->nt - j;
      operand from = c_tile(b, g, i, j, false);
      from.cols = g->n - j * dim < blocks * dim ? g->n - j * dim : blocks * dim;
      if (g->out == OUT_FULL) from.local |= LOCAL_FULL;
      put_mvout(&b->program, g->c + (uint64_t)(i * dim * g->c_stride + j * dim * size), from);
      j += blocks;
    }
  }
}

// ---- the right result

static void expect(bench *b, gemm *g) {
  oracle_gemm math = {g->m, g->n, g->k, g->a_values, g->b_values, NULL, NULL, b->dim, b->array.types.output_bits, 0};
  if (g->bias == BIAS_OPERAND) math.first = g->d_values;
  if (bias_in_accumulator(g)) math.base = g->d_values;
  if (!g->ws) {
    math.chunk = g->k;
    math.shift = g->shift;
  }
  oracle_matmul(&math, g->result);
  for (int64_t n = 0; n < g->m * g->n; n++) {
    int64_t value = g->result[n];
    uint64_t row = g->c + (uint64_t)(n / g->n * g->c_stride);
    uint64_t col = (uint64_t)(n % g->n);
    if (g->out == OUT_FULL) bench_want32(b, row + 4 * col, value);
    if (g->out == OUT_NARROW) bench_want8(b, row + col, oracle_narrow(value, (oracle_output){g->relu, g->scale}));
    if (g->out == OUT_SCRATCHPAD) {
      int64_t clipped = oracle_clip8(value);
      bench_want8(b, row + col, g->relu ? oracle_relu(clipped) : clipped);
    }
  }
}

static bool run_gemm(bench *b, bool ws) {
  gemm g;
  draw_gemm(b, &g, ws);
  bench_describe(b,
                 "%s M %lld N %lld K %lld transposed %d%d bias %d%s relu %d scale %#x bias scale %#x shift %u out %d",
                 ws ? "WS" : "OS", (long long)g.m, (long long)g.n, (long long)g.k, g.a_transpose, g.b_transpose, g.bias,
                 g.bias_row ? " (one row)" : "", g.relu, g.scale, g.bias_scale, g.shift, g.out);
  config_ex config = {.ws = ws, .activation = g.relu, .shift = g.shift, .a_stride = 1, .c_stride = 1};
  config.a_transpose = g.a_transpose;
  config.b_transpose = g.b_transpose;
  config.scale = FLOAT_ONE;
  put_config_ex(&b->program, config);
  load_operands(b, &g);
  load_bias(b, &g);
  if (ws) {
    compute_ws(b, &g);
  } else {
    compute_os(b, &g);
  }
  store_results(b, &g);
  expect(b, &g);
  free_gemm(&g);
  return bench_finish(b);
}

bool group_gemm_ws(bench *b) { return run_gemm(b, true); }
bool group_gemm_os(bench *b) { return run_gemm(b, false); }
