// SPDX-License-Identifier: Apache-2.0
// Random streams of primitive commands, compared with the oracle machine: memory and the whole of both local memories.
//
// A stream fills the local memories, issues random legal commands and stores everything. It keeps to what the
// instruction set defines: rows inside the memories, no garbage A, C apart from the operands of its own product,
// output-stationary chains closed by a result and followed by compute_preloaded, memory that is loaded from is never
// stored to.
#include "sim/tests/oracle/groups.h"
#include "sim/tests/oracle/machine.h"
#include "sim/tests/oracle/numerics.h"

enum { INPUT_BYTES = 16384, OUTPUT_BYTES = 16384, POOL_SIDE_MAX = 8 };

typedef struct stream {
  bench *b;
  oracle_random *r;
  command_list *p;
  int64_t dim;
  uint64_t input, output;
  config_ld load[3];
  config_st store;
  config_ex execute;
} stream;

static bool chance(stream *s, int64_t n) { return random_one_in(s->r, n); }
static int64_t draw(stream *s, int64_t low, int64_t high) { return random_in(s->r, low, high); }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t rows_of(const stream *s, bool acc) { return acc ? s->b->size.acc_rows : s->b->size.sp_rows; }

// A place with `extent` rows; now and then with noise in the address bits that are ignored. The garbage bit, the first
// one above the row number, stays clear: set, it makes a row that does not exist.
static uint32_t draw_local(stream *s, bool acc, int64_t extent) {
  uint32_t local = (uint32_t)draw(s, 0, rows_of(s, acc) - extent);
  if (acc) local |= LOCAL_ACC;
  if (chance(s, 4)) {
    uint32_t ignored = (UINT32_C(1) << 26) - (UINT32_C(2) << s->b->size.row_bits);
    local |= (uint32_t)random_u64(s->r) & ignored;
  }
  return local;
}

// ---- loads

static void stream_config_ld(stream *s, uint32_t state) {
  static const uint32_t repeats[] = {0, 1, 1, 1, 2, 3};
  config_ld c = {.state = state, .scale = FLOAT_ONE, .repeats = RANDOM_PICK(s->r, repeats)};
  c.stride = (uint64_t)draw(s, 0, chance(s, 4) ? 700 : 4 * s->dim);
  if (chance(s, 6)) c.stride = 0;
  c.block_stride = (uint32_t)draw(s, s->dim, 3 * s->dim);
  c.shrink = chance(s, 3);
  if (chance(s, 2)) c.scale = bench_wild_scale(s->b);
  if (s->b->array.load.packed_int4) c.packed = chance(s, 2);
  s->load[state] = c;
  put_config_ld(s->p, c);
}

static void stream_mvin(stream *s) {
  uint32_t state = (uint32_t)draw(s, 0, 2);
  const config_ld *c = &s->load[state];
  bool repeats = c->repeats > 1;
  bool acc = !repeats && !c->packed && chance(s, 2);
  bool wide = acc && !c->shrink;
  int64_t size = wide ? 4 : 1;
  int64_t most = repeats ? s->dim / c->repeats : wide ? s->b->size.max_cols_acc : s->b->size.max_cols;
  if (most < 1) return;  // more copies than lanes
  operand to = {0, draw(s, 1, s->dim), draw(s, 1, most)};
  if (c->packed) to.cols &= ~INT64_C(1);
  if (to.cols == 0) return;
  int64_t row_bytes = c->packed ? to.cols / 2 : to.cols * size, bytes = (to.rows - 1) * (int64_t)c->stride + row_bytes;
  if (bytes > INPUT_BYTES) {
    to.rows = 1;
    bytes = row_bytes;
  }
  int64_t extent = to.rows + (to.cols - 1) / s->dim * c->block_stride;
  if (extent > rows_of(s, acc)) return;
  to.local = draw_local(s, acc, extent);
  if (acc) to.local |= (chance(s, 3) ? LOCAL_ACCUMULATE : 0) | (chance(s, 8) ? LOCAL_FULL : 0);
  put_mvin(s->p, state, chance(s, 6) ? 0 : s->input + (uint64_t)draw(s, 0, INPUT_BYTES - bytes), to);
}

// ---- stores

static void stream_config_st(stream *s) {
  config_st c = {.stride = (uint32_t)draw(s, 0, 4 * s->dim), .activation = (uint32_t)draw(s, 0, 1)};
  c.scale = chance(s, 4) ? SCALE_KEEP : chance(s, 2) ? bench_scale(s->b) : bench_wild_scale(s->b);
  if (chance(s, 3)) {
    c.pool_size = (uint32_t)draw(s, 1, 3);
    c.pool_stride = (uint32_t)draw(s, 0, 3);  // 0: the 1-D mode
    c.upad = (uint32_t)draw(s, 0, 3);
    c.lpad = (uint32_t)draw(s, 0, 3);
    c.orows = (uint32_t)draw(s, 1, POOL_SIDE_MAX);
    c.ocols = (uint32_t)draw(s, 1, POOL_SIDE_MAX);
    c.porows = (uint32_t)draw(s, 1, POOL_SIDE_MAX);
    c.pocols = (uint32_t)draw(s, 1, POOL_SIDE_MAX);
    c.out_dim = (uint32_t)draw(s, 1, POOL_SIDE_MAX + 2);
  }
  s->store = c;
  put_config_st(s->p, c);
}

static void stream_mvout(stream *s) {
  const config_st *c = &s->store;
  bool acc = chance(s, 2), pool = c->pool_stride != 0, one = !pool && c->pool_size != 0;
  bool full = acc && !pool && chance(s, 3);
  operand from = {0, draw(s, 1, s->dim), draw(s, 1, full || pool || one ? s->dim : s->b->size.max_cols)};
  int64_t rows = pool || one ? (int64_t)c->orows * c->ocols : from.rows;
  int64_t extent = rows + (from.cols - 1) / s->dim * s->dim;
  int64_t last = from.rows - 1;
  if (pool) last = (int64_t)(c->porows - 1) * c->out_dim + c->pocols - 1;
  if (one) last = (int64_t)(c->orows - 1) * c->out_dim + c->ocols - 1;
  int64_t bytes = last * c->stride + from.cols * (full ? 4 : 1);
  if (extent > rows_of(s, acc) || bytes > OUTPUT_BYTES) return;
  from.local = draw_local(s, acc, extent);
  if (full) from.local |= LOCAL_FULL;
  put_mvout(s->p, s->output + (uint64_t)draw(s, 0, OUTPUT_BYTES - bytes), from);
}

// A store between a gate that is on and one that is off. Full rows pass it as they are.
static void stream_gated(stream *s) {
  if (!s->b->array.units.gate || s->store.pool_stride != 0 || s->store.pool_size != 0) return;
  operand from = {0, draw(s, 1, s->dim), draw(s, 1, s->b->size.max_cols)};
  const int64_t extent = from.rows + (from.cols - 1) / s->dim * s->dim;
  const int64_t bytes = (from.rows - 1) * s->store.stride + from.cols;
  if (extent > rows_of(s, true) || extent > rows_of(s, false) || bytes > OUTPUT_BYTES) return;
  from.local = draw_local(s, true, extent);
  const uint32_t rows = (UINT32_C(2) << s->b->size.row_bits) - 1;
  const int32_t to_factors = (int32_t)(draw_local(s, false, extent) & rows) - (int32_t)(from.local & rows);
  const uint32_t scale = chance(s, 2) ? bench_scale(s->b) : bench_wild_scale(s->b);
  put_config_gate(s->p, (config_gate){true, to_factors, scale});
  put_mvout(s->p, s->output + (uint64_t)draw(s, 0, OUTPUT_BYTES - bytes), from);
  put_config_gate(s->p, (config_gate){false, 0, scale});
}

// ---- products

// Rows that an operand touches in its local memory.
typedef struct span {
  bool used;
  bool acc;
  int64_t first, last;
} span;

static span span_of(const stream *s, operand o, int64_t steps, int64_t stride) {
  if (o.local == LOCAL_GARBAGE) return (span){0};
  int64_t first = o.local & ((UINT32_C(1) << s->b->size.row_bits) - 1);
  return (span){true, (o.local & LOCAL_ACC) != 0, first, first + (steps - 1) * stride};
}

static bool apart(span a, span b) {
  return !a.used || !b.used || a.acc != b.acc || a.last < b.first || b.last < a.first;
}

static operand draw_source(stream *s, bool garbage_allowed, bool transposed, int64_t stride, span *rows) {
  operand o = {LOCAL_GARBAGE, draw(s, 1, s->dim), draw(s, 1, s->dim)};
  if (chance(s, 2)) o.rows = o.cols = s->dim;
  int64_t steps = transposed ? o.cols : o.rows;
  if (!garbage_allowed || !chance(s, 3)) o.local = draw_local(s, chance(s, 4), (steps - 1) * stride + 1);
  *rows = span_of(s, o, steps, stride);
  return o;
}

static operand draw_destination(stream *s, int64_t most_rows, const span *sources, int count) {
  operand c = {LOCAL_GARBAGE, draw(s, 1, most_rows), draw(s, 1, s->dim)};
  int64_t stride = s->execute.c_stride;
  for (int tries = 0; tries < 8; tries++) {
    bool acc = chance(s, 2);
    uint32_t flags = acc ? (chance(s, 2) ? LOCAL_ACCUMULATE : 0) | (chance(s, 8) ? LOCAL_FULL : 0) : 0;
    c.local = draw_local(s, acc, (c.rows - 1) * stride + 1) | flags;
    span rows = span_of(s, c, c.rows, stride);
    bool free = true;
    for (int i = 0; i < count; i++) free = free && apart(rows, sources[i]);
    if (free) return c;
  }
  c.local = LOCAL_GARBAGE;
  return c;
}

static void stream_config_ex(stream *s, bool ws) {
  int64_t transposes = draw(s, 0, 2);
  config_ex c = {.ws = ws, .activation = (uint32_t)draw(s, 0, 1), .shift = (uint32_t)draw(s, 0, chance(s, 4) ? 31 : 8)};
  c.a_transpose = transposes == 1 || (transposes == 2 && !ws);
  c.b_transpose = transposes == 2;
  c.a_stride = (uint32_t)draw(s, chance(s, 8) ? 0 : 1, 3);
  c.c_stride = ws ? (uint32_t)draw(s, 1, 3) : 1;
  c.scale = chance(s, 2) ? FLOAT_ONE : bench_wild_scale(s->b);
  s->execute = c;
  put_config_ex(s->p, c);
  if (!chance(s, 6)) return;
  // The rest of the command's fields must be ignored.
  c.ws = !ws;
  c.a_transpose = !c.a_transpose;
  c.strides_only = true;
  c.a_stride = s->execute.a_stride = (uint32_t)draw(s, 1, 2);
  put_config_ex(s->p, c);
}

static void stream_ws(stream *s) {
  stream_config_ex(s, true);
  int64_t count = draw(s, 1, 6);
  for (int64_t n = 0; n < count; n++) {
    span rows[3];
    operand weights = draw_source(s, true, s->execute.b_transpose, 1, &rows[0]);
    operand a = draw_source(s, false, s->execute.a_transpose, s->execute.a_stride, &rows[1]);
    operand d = draw_source(s, true, false, 1, &rows[2]);
    // As many rows leave the array as enter it, unless D brings more.
    operand c = chance(s, 6) ? garbage_operand(s->dim, s->dim) : draw_destination(s, a.rows, rows, 3);
    put_preload(s->p, weights, c);
    put_compute(s->p, n == 0 || chance(s, 2), a, d);
  }
}

static void stream_os(stream *s) {
  stream_config_ex(s, false);
  int64_t chains = draw(s, 1, 3);
  for (int64_t chain = 0; chain < chains; chain++) {
    int64_t count = draw(s, 1, 4);
    for (int64_t n = 0; n < count; n++) {
      span rows[3] = {0};
      operand bias = garbage_operand(s->dim, s->dim);
      if (n == 0) bias = draw_source(s, true, false, 1, &rows[0]);
      operand a = draw_source(s, false, s->execute.a_transpose, s->execute.a_stride, &rows[1]);
      operand weights = draw_source(s, true, s->execute.b_transpose, 1, &rows[2]);
      operand c = n + 1 < count ? garbage_operand(s->dim, s->dim) : draw_destination(s, s->dim, rows, 3);
      put_preload(s->p, bias, c);
      put_compute(s->p, n == 0, a, weights);
    }
  }
}

static void stream_odd(stream *s) {
  switch (draw(s, 0, 3)) {
    case 0:
      put(s->p, F_FLUSH, (uint64_t)draw(s, 0, 1), 0);
      return;
    case 1:
      put(s->p, F_CLOCK_GATE, (uint64_t)draw(s, 0, 1), 0);
      return;
    case 2:
      put(s->p, F_COUNTER, 8 | (uint64_t)draw(s, 0, 7) << 4 | (uint64_t)draw(s, 1, 44) << 12, 0);
      return;
    default:
      put_fence(s->p);
  }
}

// ---- a stream

static void fill_local(stream *s) {
  for (uint32_t state = 0; state < 3; state++) {
    s->load[state] = (config_ld){state, (uint64_t)draw(s, 1, s->dim * 4), (uint32_t)s->dim, FLOAT_ONE, 1, false, false};
    put_config_ld(s->p, s->load[state]);
  }
  for (int acc = 0; acc < 2; acc++) {
    for (int64_t row = 0; row < rows_of(s, acc != 0); row += s->dim) {
      int64_t rows = least(s->dim, rows_of(s, acc != 0) - row);
      operand to = {(uint32_t)row | (acc ? LOCAL_ACC : 0), rows, s->dim};
      put_mvin(s->p, (uint32_t)draw(s, 0, 2), s->input + (uint64_t)draw(s, 0, INPUT_BYTES / 2), to);
    }
  }
}

static void store_local(stream *s, uint64_t scratchpad, uint64_t accumulator) {
  put_config_st(s->p, (config_st){.stride = (uint32_t)s->dim, .scale = FLOAT_ONE});
  for (int64_t row = 0; row < rows_of(s, false); row += s->dim) {
    operand from = {(uint32_t)row, least(s->dim, rows_of(s, false) - row), s->dim};
    put_mvout(s->p, scratchpad + (uint64_t)(row * s->dim), from);
  }
  put_config_st(s->p, (config_st){.stride = (uint32_t)(4 * s->dim), .scale = FLOAT_ONE});
  for (int64_t row = 0; row < rows_of(s, true); row += s->dim) {
    operand from = {(uint32_t)row | LOCAL_ACC | LOCAL_FULL, least(s->dim, rows_of(s, true) - row), s->dim};
    put_mvout(s->p, accumulator + (uint64_t)(4 * row * s->dim), from);
  }
}

static void put_random(stream *s, bool products) {
  switch (draw(s, 0, products ? 12 : 8)) {
    case 0:
      stream_config_ld(s, (uint32_t)draw(s, 0, 2));
      return;
    case 1:
    case 2:
    case 3:
      stream_mvin(s);
      return;
    case 4:
      stream_config_st(s);
      return;
    case 5:
    case 6:
      stream_mvout(s);
      return;
    case 7:
      stream_odd(s);
      return;
    case 8:
      stream_gated(s);
      return;
    case 9:
    case 10:
      stream_ws(s);
      return;
    default:
      stream_os(s);
  }
}

static void fill_input(stream *s) {
  fill_style style = bench_style(s->b);
  int64_t part = INPUT_BYTES / 2;
  for (int64_t i = 0; i < part; i++) bench_put8(s->b, s->input + (uint64_t)i, bench_draw8(s->b, style));
}

static bool run_stream(bench *b, bool products) {
  stream s = {.b = b, .r = &b->random, .p = &b->program, .dim = b->dim};
  s.input = bench_alloc(b, "input", INPUT_BYTES);
  s.output = bench_alloc(b, "output", OUTPUT_BYTES);
  uint64_t scratchpad = bench_alloc(b, "scratchpad", rows_of(&s, false) * b->dim);
  uint64_t accumulator = bench_alloc(b, "accumulator", rows_of(&s, true) * b->dim * 4);
  fill_input(&s);
  fill_local(&s);
  s.store = (config_st){.stride = (uint32_t)b->dim, .scale = FLOAT_ONE};
  put_config_st(s.p, s.store);
  int64_t steps = draw(&s, 1, chance(&s, 4) ? 60 : 12);
  for (int64_t i = 0; i < steps; i++) put_random(&s, products);
  store_local(&s, scratchpad, accumulator);
  bench_describe(b, "%lld steps, %zu commands", (long long)steps, b->program.count);
  char text[512];
  if (!bench_execute(b, &oracle_machine_ops, b->want, text, sizeof text)) {
    bench_describe(b, "; the generator broke the contract: %s", text);
  }
  return bench_finish(b);
}

bool group_stream(bench *b) { return run_stream(b, true); }
bool group_move(bench *b) { return run_stream(b, false); }
