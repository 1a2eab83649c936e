// SPDX-License-Identifier: Apache-2.0
// LOOP_WS in both revisions: ragged products, chains over k, alternating halves, pinned halves, reused operands, and
// the residual addition of revision 2.
//
// A case is one to three loops; only the first has the size that the seed states. The software contract is kept: both
// operands of a loop fit into half of the scratchpad and C into half of the accumulator, the rows of B up to the next
// whole tile exist in memory, the first loop of a chain accumulates only onto a bias.
#include "base/alloc.h"
#include "sim/tests/oracle/groups.h"
#include "sim/tests/oracle/numerics.h"

enum { MOST_LOOPS = 3 };

typedef struct loop {
  int64_t m, n, k, mt, nt, kt;
  bool a_transpose, b_transpose;
  bool bias, bias_row, low_d, full_c, relu;
  int64_t chain;          // k tiles of the first of two loops; 0: one loop
  bool reuse_a, reuse_b;  // the operand is still in its half of the scratchpad
  int64_t a_id, b_id;
  uint32_t scale, bias_scale;
  int64_t a_stride, b_stride, d_stride, c_stride;  // elements
  uint64_t a, b, d, c;
  int64_t *a_values, *b_values, *d_values;
} loop;

static int64_t tiles(int64_t elements, int64_t dim) { return (elements + dim - 1) / dim; }
static int64_t missing(int64_t elements, int64_t dim) { return tiles(elements, dim) * dim - elements; }
static uint64_t at(int64_t value, unsigned shift) { return (uint64_t)value << shift; }

static void set_tiles(loop *l, int64_t dim) {
  l->mt = tiles(l->m, dim);
  l->nt = tiles(l->n, dim);
  l->kt = tiles(l->k, dim);
}

static int64_t draw_length(bench *b, int64_t most_tiles) { return random_in(&b->random, 1, most_tiles * b->dim); }

// The first loop has the seed's size; later ones up to four tiles, as many as the accumulator's half surely holds.
static void draw_size(bench *b, loop *l, const loop *previous) {
  uint64_t span = 2 * (uint64_t)b->dim;
  if (previous == NULL) {
    l->m = 1 + (int64_t)(b->seed % span);
    l->n = 1 + (int64_t)(b->seed / span % span);
    l->k = 1 + (int64_t)(b->seed / (span * span) % span);
  } else {
    l->m = l->reuse_a ? previous->m : draw_length(b, 4);
    l->n = l->reuse_b ? previous->n : draw_length(b, 4);
    l->k = l->reuse_a || l->reuse_b ? previous->k : draw_length(b, 4);
    bool large = tiles(l->m, b->dim) * tiles(l->n, b->dim) > 8;
    if (large && l->reuse_a) l->n = draw_length(b, 2);
    if (large && !l->reuse_a) l->m = draw_length(b, 2);
  }
  set_tiles(l, b->dim);
}

static void draw_options(bench *b, loop *l) {
  oracle_random *r = &b->random;
  int64_t transposes = random_in(r, 0, 2);
  l->a_transpose = transposes == 1;
  l->b_transpose = transposes == 2;
  l->bias = !random_one_in(r, 3);
  l->bias_row = random_one_in(r, 2);
  l->low_d = random_one_in(r, 3);
  l->full_c = random_one_in(r, 3);
  l->relu = random_one_in(r, 3);
  if (l->kt > 1 && random_one_in(r, 3)) l->chain = random_in(r, 1, l->kt - 1);
  l->scale = bench_sum_scale(b);
  l->bias_scale = random_one_in(r, 2) ? FLOAT_ONE : bench_scale(b);
  if (b->array.isa.revision == 2 && random_one_in(r, 2)) {
    l->a_id = random_in(r, 0, 2);
    l->b_id = random_in(r, 0, 2);
  }
}

static int64_t *draw_values(bench *b, int64_t count) {
  fill_style style = bench_style(b);
  int64_t *values = wf_alloc((size_t)count, sizeof *values);
  for (int64_t i = 0; i < count; i++) values[i] = bench_draw8(b, style);
  return values;
}

// Lays out rows x cols values, transposed if asked; memory exists for `memory_rows` rows.
static uint64_t lay_out(bench *b, const char *name, const int64_t *values, int64_t rows, int64_t cols, bool transposed,
                        int64_t memory_rows, int64_t stride) {
  uint64_t address = bench_alloc(b, name, memory_rows * stride);
  for (int64_t n = 0; n < rows * cols; n++) {
    int64_t i = n / cols, j = n % cols;
    bench_put8(b, address + (uint64_t)(transposed ? j * stride + i : i * stride + j), values[n]);
  }
  return address;
}

static int64_t *copy_values(const int64_t *values, int64_t count) {
  int64_t *copy = wf_alloc((size_t)count, sizeof *copy);
  for (int64_t i = 0; i < count; i++) copy[i] = values[i];
  return copy;
}

static void draw_a(bench *b, loop *l) {
  l->a_values = draw_values(b, l->m * l->k);
  l->a_stride = (l->a_transpose ? l->m : l->k) + random_in(&b->random, 0, 5);
  l->a = lay_out(b, "A", l->a_values, l->m, l->k, l->a_transpose, l->a_transpose ? l->k : l->m, l->a_stride);
}

static void draw_b(bench *b, loop *l) {
  l->b_values = draw_values(b, l->k * l->n);
  l->b_stride = (l->b_transpose ? l->k : l->n) + random_in(&b->random, 0, 5);
  int64_t whole_rows = (l->b_transpose ? l->nt : l->kt) * b->dim;
  l->b = lay_out(b, "B", l->b_values, l->k, l->n, l->b_transpose, whole_rows, l->b_stride);
}

// Revision 2: an operand that the loop before pinned to a half need not be loaded again.
static void draw_reuse(bench *b, loop *l, const loop *previous) {
  if (b->array.isa.revision == 1 || previous == NULL || previous->chain != 0) return;
  l->reuse_a = previous->a_id != 0 && random_one_in(&b->random, 2);
  l->reuse_b = !l->reuse_a && previous->b_id != 0 && random_one_in(&b->random, 2);
}

static void keep_reused(loop *l, const loop *previous) {
  if (l->reuse_a) {
    l->a_id = previous->a_id;
    l->a_stride = previous->a_stride;
    l->a_transpose = previous->a_transpose;
    l->b_transpose = l->b_transpose && !l->a_transpose;
    l->a_values = copy_values(previous->a_values, l->m * l->k);
  } else {
    l->b_id = previous->b_id;
    l->b_stride = previous->b_stride;
    l->b_transpose = previous->b_transpose;
    l->a_transpose = l->a_transpose && !l->b_transpose;
    l->b_values = copy_values(previous->b_values, l->k * l->n);
  }
  l->chain = 0;
}

static void draw_bias(bench *b, loop *l) {
  if (!l->bias) return;
  fill_style style = bench_style(b);
  int64_t size = l->low_d ? 1 : 4, rows = l->bias_row ? 1 : l->m;
  l->d_stride = l->n + random_in(&b->random, 0, 3);
  l->d = bench_alloc(b, "D", rows * l->d_stride * size);
  l->d_values = wf_alloc((size_t)(l->m * l->n), sizeof *l->d_values);
  for (int64_t n = 0; n < l->m * l->n; n++) {
    int64_t i = n / l->n, j = n % l->n;
    if (i >= rows) {
      l->d_values[n] = l->d_values[j];
      continue;
    }
    int64_t value = l->low_d ? bench_draw8(b, style) : bench_draw32(b, style);
    uint64_t address = l->d + (uint64_t)((i * l->d_stride + j) * size);
    if (l->low_d) {
      bench_put8(b, address, value);
    } else {
      bench_put32(b, address, value);
    }
    l->d_values[n] = l->low_d && l->bias_scale != FLOAT_ONE ? oracle_scale(value, l->bias_scale) : value;
  }
  if (l->bias_row) l->d_stride = 0;
}

static void draw_loop(bench *b, loop *l, const loop *previous) {
  *l = (loop){0};
  draw_reuse(b, l, previous);
  draw_size(b, l, previous);
  draw_options(b, l);
  if (l->reuse_a || l->reuse_b) keep_reused(l, previous);
  if (!l->reuse_a) draw_a(b, l);
  if (!l->reuse_b) draw_b(b, l);
  draw_bias(b, l);
  l->c_stride = l->n + random_in(&b->random, 0, 5);
  l->c = bench_alloc(b, "C", l->m * l->c_stride * (l->full_c ? 4 : 1));
}

// ---- commands

static void put_configuration(bench *b, const loop *l) {
  uint32_t block = (uint32_t)b->dim;
  config_ex ex = {.ws = true, .a_transpose = l->a_transpose, .b_transpose = l->b_transpose, .a_stride = 1};
  ex.c_stride = 1;
  ex.scale = FLOAT_ONE;
  put_config_ex(&b->program, ex);
  put_config_st(
      &b->program,
      (config_st){.stride = (uint32_t)(l->c_stride * (l->full_c ? 4 : 1)), .activation = l->relu, .scale = l->scale});
  put_config_ld(&b->program, (config_ld){0, (uint64_t)l->a_stride, block, FLOAT_ONE, 1, false, false});
  put_config_ld(&b->program, (config_ld){1, (uint64_t)l->b_stride, block, FLOAT_ONE, 1, false, false});
  put_config_ld(&b->program,
                (config_ld){2, (uint64_t)(l->d_stride * (l->low_d ? 1 : 4)), block, l->bias_scale, 1, l->low_d, false});
}

// The five configuration commands may come in any order.
static void put_run(bench *b, command settings[5], uint64_t rs1, uint64_t rs2) {
  for (int64_t left = 5; left > 0; left--) {
    int64_t pick = random_in(&b->random, 0, left - 1);
    put(&b->program, settings[pick].funct, settings[pick].rs1, settings[pick].rs2);
    settings[pick] = settings[left - 1];
  }
  put(&b->program, F_LOOP_WS, rs1, rs2);
}

// The k tiles first_k .. first_k + kt of the product.
static void put_loop(bench *b, const loop *l, int64_t first_k, int64_t kt, bool last) {
  int64_t dim = b->dim;
  uint64_t a = l->reuse_a ? 0 : l->a + (uint64_t)(first_k * dim * (l->a_transpose ? l->a_stride : 1));
  uint64_t weights = l->reuse_b ? 0 : l->b + (uint64_t)(first_k * dim * (l->b_transpose ? 1 : l->b_stride));
  uint64_t d = l->bias && first_k == 0 ? l->d : 0;
  uint64_t c = last ? l->c : 0;
  int64_t pad_k = last ? missing(l->k, dim) : 0;
  command settings[5] = {
      {at(pad_k, 32) | at(missing(l->n, dim), 16) | at(missing(l->m, dim), 0),
       at(kt, 32) | at(l->nt, 16) | at(l->mt, 0), F_LOOP_WS_BOUNDS},
      {a, weights, F_LOOP_WS_ADDRS_AB},
      {d, c, F_LOOP_WS_ADDRS_DC},
      {(uint64_t)l->a_stride, (uint64_t)l->b_stride, F_LOOP_WS_STRIDES_AB},
      {(uint64_t)l->d_stride, (uint64_t)l->c_stride, F_LOOP_WS_STRIDES_DC},
  };
  bool accumulate = l->bias || first_k > 0;
  uint64_t rs1 =
      at(accumulate, 0) | at(l->full_c, 1) | at(l->low_d, 2) | at(l->relu, 8) | at(l->b_id, 16) | at(l->a_id, 18);
  put_run(b, settings, rs1, at(l->a_transpose, 0) | at(l->b_transpose, 1));
}

static void put_loops(bench *b, const loop *l) {
  put_configuration(b, l);
  if (l->chain != 0) put_loop(b, l, 0, l->chain, false);
  put_loop(b, l, l->chain, l->kt - l->chain, true);
  if (random_one_in(&b->random, 3)) put_fence(&b->program);
}

static void expect(bench *b, const loop *l) {
  oracle_gemm math = {l->m, l->n, l->k, l->a_values, l->b_values, NULL, l->d_values, b->dim, b->array.types.output_bits,
                      0};
  int64_t *result = wf_alloc((size_t)(l->m * l->n), sizeof *result);
  oracle_matmul(&math, result);
  for (int64_t n = 0; n < l->m * l->n; n++) {
    int64_t element = n / l->n * l->c_stride + n % l->n;
    if (l->full_c) {
      bench_want32(b, l->c + 4 * (uint64_t)element, result[n]);
    } else {
      bench_want8(b, l->c + (uint64_t)element, oracle_narrow(result[n], (oracle_output){l->relu, l->scale}));
    }
  }
  wf_free(result);
}

bool group_loop(bench *b) {
  loop loops[MOST_LOOPS];
  int64_t count = random_one_in(&b->random, 2) ? 1 : random_in(&b->random, 1, MOST_LOOPS);
  for (int64_t i = 0; i < count; i++) {
    loop *l = &loops[i];
    draw_loop(b, l, i > 0 ? &loops[i - 1] : NULL);
    bench_describe(b,
                   "[M %lld N %lld K %lld transposed %d%d bias %d%s%s chain %lld full %d relu %d halves %lld %lld%s] ",
                   (long long)l->m, (long long)l->n, (long long)l->k, l->a_transpose, l->b_transpose, l->bias,
                   l->bias_row ? " (one row)" : "", l->low_d ? " (int8)" : "", (long long)l->chain, l->full_c, l->relu,
                   (long long)l->a_id, (long long)l->b_id,
                   l->reuse_a   ? " A reused"
                   : l->reuse_b ? " B reused"
                                : "");
    put_loops(b, l);
    expect(b, l);
  }
  for (int64_t i = 0; i < count; i++) {
    wf_free(loops[i].a_values);
    wf_free(loops[i].b_values);
    wf_free(loops[i].d_values);
  }
  return bench_finish(b);
}

// ---- residual addition: C = act/scale(A * scale_a + B * scale_b)

typedef struct resadd {
  int64_t m, n;
  int64_t a_stride, b_stride, c_stride;
  uint64_t a, b, c;
  uint32_t a_scale, b_scale;
  oracle_output out;
} resadd;

static void draw_resadd(bench *b, resadd *r) {
  oracle_random *random = &b->random;
  int64_t span = 2 * b->dim;
  *r = (resadd){.m = 1 + (int64_t)(b->seed % (uint64_t)span), .n = 1 + (int64_t)(b->seed / (uint64_t)span) % span};
  r->a_stride = r->n + random_in(random, 0, 5);
  r->b_stride = r->n + random_in(random, 0, 5);
  r->c_stride = r->n + random_in(random, 0, 5);
  r->a_scale = random_one_in(random, 2) ? FLOAT_ONE : bench_scale(b);
  r->b_scale = random_one_in(random, 2) ? FLOAT_ONE : bench_scale(b);
  r->out = (oracle_output){random_one_in(random, 3), random_one_in(random, 2) ? FLOAT_ONE : bench_scale(b)};
  int64_t whole = tiles(r->m, b->dim) * b->dim;
  r->a = bench_alloc(b, "A", whole * r->a_stride);
  r->b = bench_alloc(b, "B", whole * r->b_stride);
  r->c = bench_alloc(b, "C", r->m * r->c_stride);
}

static int64_t scaled(int64_t value, uint32_t scale) { return scale == FLOAT_ONE ? value : oracle_scale(value, scale); }

static void fill_resadd(bench *b, const resadd *r) {
  fill_style style = bench_style(b);
  for (int64_t i = 0; i < r->m; i++) {
    for (int64_t j = 0; j < r->n; j++) {
      int64_t left = bench_draw8(b, style), right = bench_draw8(b, style);
      bench_put8(b, r->a + (uint64_t)(i * r->a_stride + j), left);
      bench_put8(b, r->b + (uint64_t)(i * r->b_stride + j), right);
      int64_t sum = scaled(left, r->a_scale) + scaled(right, r->b_scale);
      bench_want8(b, r->c + (uint64_t)(i * r->c_stride + j), oracle_narrow(sum, r->out));
    }
  }
}

bool group_resadd(bench *b) {
  resadd r;
  draw_resadd(b, &r);
  fill_resadd(b, &r);
  bench_describe(b, "resadd %lld x %lld scales %#x %#x out %#x relu %d", (long long)r.m, (long long)r.n, r.a_scale,
                 r.b_scale, r.out.scale, r.out.relu);
  uint32_t block = (uint32_t)b->dim;
  put_config_ex(&b->program, (config_ex){.ws = true, .a_stride = 1, .c_stride = 1, .scale = FLOAT_ONE});
  put_config_st(&b->program,
                (config_st){.stride = (uint32_t)r.c_stride, .activation = r.out.relu, .scale = r.out.scale});
  put_config_ld(&b->program, (config_ld){0, (uint64_t)r.a_stride, block, r.a_scale, 1, true, false});
  put_config_ld(&b->program, (config_ld){1, (uint64_t)r.b_stride, block, r.b_scale, 1, true, false});
  int64_t dim = b->dim;
  command settings[5] = {
      {at(missing(r.n, dim), 16) | at(missing(r.m, dim), 0),
       at(1, 32) | at(tiles(r.n, dim), 16) | at(tiles(r.m, dim), 0), F_LOOP_WS_BOUNDS},
      {r.a, r.b, F_LOOP_WS_ADDRS_AB},
      {0, r.c, F_LOOP_WS_ADDRS_DC},
      {(uint64_t)r.a_stride, (uint64_t)r.b_stride, F_LOOP_WS_STRIDES_AB},
      {0, (uint64_t)r.c_stride, F_LOOP_WS_STRIDES_DC},
  };
  put_run(b, settings, at(r.out.relu, 8), at(1, 2));
  return bench_finish(b);
}
