// SPDX-License-Identifier: Apache-2.0
// Corners with results in closed form: scales at every special value, rounding of shifts, wrap and saturation at the
// width of the array's sums, 32-bit wrap of the accumulator, kept scales, activations without their unit, repeated
// pixels.
//
// The seed is the corner's number: a table gives each kind its count of variants.
#include <string.h>

#include "sim/tests/oracle/groups.h"
#include "sim/tests/oracle/numerics.h"

static const uint32_t scales[] = {
    0x3f800000, 0x3f000000, 0x3e800000, 0x3eaaaaab, 0x3fc00000, 0x40000000, 0xbf800000, 0xbf000000,
    0x33800000, 0x34000000, 0x3f7fffff, 0x3f800001, 0x3b800000, 0x3c010204, 0x00000000, 0x80000000,
    0x00000001, 0x007fffff, 0x00800000, 0x807fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
    0x7fc00000, 0xffc00000, 0x7f800001, 0x4f000000, 0x2f800000, 0x30000000, 0x42fe0000, 0x3dcccccd,
};
enum { SCALE_COUNT = sizeof scales / sizeof scales[0] };

static const int32_t wide_values[] = {
    0,
    1,
    -1,
    2,
    3,
    -3,
    5,
    7,
    126,
    127,
    128,
    129,
    -127,
    -128,
    -129,
    253,
    254,
    255,
    256,
    257,
    -255,
    -256,
    -257,
    1000,
    16777215,
    16777216,
    16777217,
    16777219,
    33554433,
    33554434,
    33554435,
    -16777217,
    -16777219,
    524287,
    524288,
    -524288,
    -524289,
    65535,
    65536,
    -65537,
    INT32_MAX,
    INT32_MIN,
    INT32_MAX - 63,
    INT32_MAX - 64,
    INT32_MAX - 65,
    INT32_MIN + 1,
    1 << 30,
    -(1 << 30),
    85,
    341,
};
enum { WIDE_COUNT = sizeof wide_values / sizeof wide_values[0] };

static void config_rows(bench *b, uint32_t scale, bool shrink, int64_t stride) {
  put_config_ld(&b->program, (config_ld){0, (uint64_t)stride, (uint32_t)b->dim, scale, 1, shrink, false});
}

static void config_out(bench *b, int64_t stride, uint32_t activation, uint32_t scale) {
  put_config_st(&b->program, (config_st){.stride = (uint32_t)stride, .activation = activation, .scale = scale});
}

static uint64_t row_at(uint64_t base, int64_t row, int64_t bytes) { return base + (uint64_t)(row * bytes); }

// All 256 values through a scaled load: into the scratchpad, or shrunk into the accumulator and stored full.
static bool corner_load_scale(bench *b, uint64_t variant) {
  uint32_t scale = scales[variant / 2];
  bool acc = variant % 2;
  int64_t rows = 256 / b->dim, size = acc ? 4 : 1;
  uint64_t from = bench_alloc(b, "values", 256), to = bench_alloc(b, "loaded", 256 * size);
  config_rows(b, scale, true, b->dim);
  config_out(b, b->dim * size, 0, FLOAT_ONE);
  for (int64_t i = 0; i < 256; i++) {
    bench_put8(b, from + (uint64_t)i, i);
    int64_t value = oracle_wrap(i, 8);
    int64_t want = scale == FLOAT_ONE ? value : oracle_scale(value, scale);
    if (acc) bench_want32(b, to + 4 * (uint64_t)i, want);
    if (!acc) bench_want8(b, to + (uint64_t)i, want);
  }
  for (int64_t row = 0; row < rows; row++) {
    put_mvin(&b->program, 0, row_at(from, row, b->dim), (operand){acc ? LOCAL_ACC : 0, 1, b->dim});
    put_mvout(&b->program, row_at(to, row, b->dim * size), (operand){acc ? LOCAL_ACC | LOCAL_FULL : 0, 1, b->dim});
  }
  bench_describe(b, "load scale %#x to %s", scale, acc ? "accumulator" : "scratchpad");
  return bench_finish(b);
}

// Accumulator values through the store's scale, or through the execute unit's as D of a product with zero weights.
static bool corner_store_scale(bench *b, uint64_t variant) {
  uint32_t scale = scales[variant / 4];
  bool relu = variant % 2, execute = variant / 2 % 2;
  int64_t rows = (WIDE_COUNT + b->dim - 1) / b->dim, count = rows * b->dim;
  uint64_t from = bench_alloc(b, "values", 4 * count), to = bench_alloc(b, "stored", count);
  config_rows(b, FLOAT_ONE, false, 4 * b->dim);
  config_out(b, b->dim, relu, execute ? FLOAT_ONE : scale);
  put_config_ex(&b->program, (config_ex){.ws = true, .activation = relu, .a_stride = 1, .c_stride = 1, .scale = scale});
  for (int64_t i = 0; i < count; i++) {
    int64_t value = wide_values[i % WIDE_COUNT];
    int64_t want = oracle_narrow(value, (oracle_output){relu, scale});
    bench_put32(b, from + 4 * (uint64_t)i, value);
    // On its way through the array the value meets the scratchpad's ReLU a second time.
    bench_want8(b, to + (uint64_t)i, execute && relu ? oracle_relu(want) : want);
  }
  for (int64_t row = 0; row < rows; row++) {
    operand place = {LOCAL_ACC, 1, b->dim};
    put_mvin(&b->program, 0, row_at(from, row, 4 * b->dim), place);
    if (execute) {
      put_preload(&b->program, garbage_operand(b->dim, b->dim), (operand){1, 1, b->dim});
      put_compute(&b->program, true, (operand){0, 1, b->dim}, place);
      place.local = 1;
    }
    put_mvout(&b->program, row_at(to, row, b->dim), place);
  }
  bench_describe(b, "%s scale %#x relu %d", execute ? "execute" : "store", scale, relu);
  return bench_finish(b);
}

// Fills dim rows at `local` with one int8 value.
static void constant_tile(bench *b, uint32_t local, int64_t value) {
  uint64_t from = bench_alloc(b, "constant", b->dim);
  for (int64_t i = 0; i < b->dim; i++) bench_put8(b, from + (uint64_t)i, value);
  config_rows(b, FLOAT_ONE, false, 0);
  put_mvin(&b->program, 0, from, (operand){local, b->dim, b->dim});
}

static operand whole(const bench *b, uint32_t local) { return (operand){local, b->dim, b->dim}; }

// Sums of `passes` tiles of left * right: chained in the array (OS) or in the accumulator (WS).
static void constant_product(bench *b, bool ws, uint32_t shift, int64_t passes, int64_t left, int64_t right) {
  uint32_t weights = (uint32_t)b->dim;
  constant_tile(b, 0, left);
  constant_tile(b, weights, right);
  put_config_ex(&b->program, (config_ex){.ws = ws, .shift = shift, .a_stride = 1, .c_stride = 1, .scale = FLOAT_ONE});
  for (int64_t i = 0; i < passes; i++) {
    bool first = i == 0, last = i == passes - 1;
    uint32_t c = first ? LOCAL_ACC : LOCAL_ACC | LOCAL_ACCUMULATE;
    if (!ws) c = last ? LOCAL_ACC : LOCAL_GARBAGE;
    put_preload(&b->program, whole(b, ws && first ? weights : LOCAL_GARBAGE), whole(b, c));
    put_compute(&b->program, first, whole(b, 0), whole(b, ws ? LOCAL_GARBAGE : weights));
  }
}

static void store_constant(bench *b, int64_t want) {
  uint64_t to = bench_alloc(b, "sums", 4 * b->dim * b->dim);
  config_out(b, 4 * b->dim, 0, FLOAT_ONE);
  put_mvout(&b->program, to, whole(b, LOCAL_ACC | LOCAL_FULL));
  for (int64_t i = 0; i < b->dim * b->dim; i++) bench_want32(b, to + 4 * (uint64_t)i, want);
}

enum { PASSES = 6 };
static const uint32_t widths[] = {17, 18, 20, 24, 32};

// Long chains at every width: the sum wraps in the array (OS), or per tile before the accumulator (WS).
static bool corner_wrap(bench *b, uint64_t variant) {
  static const int64_t pairs[][2] = {{127, 127}, {-128, -128}, {-128, 127}};
  static const uint32_t shifts[] = {0, 4};
  const int64_t *pair = pairs[variant % 3];
  int64_t passes = (int64_t)(variant / 3 % PASSES) + 1;
  unsigned bits = widths[variant / 3 / PASSES % 5];
  bool ws = variant / 3 / PASSES / 5 % 2;
  uint32_t shift = ws ? 0 : shifts[passes % 2];
  b->array.types.output_bits = bits;
  constant_product(b, ws, shift, passes, pair[0], pair[1]);
  int64_t tile = b->dim * pair[0] * pair[1];
  int64_t want = ws ? oracle_wrap(passes * oracle_wrap(tile, bits), 32)
                    : oracle_shift_even(oracle_wrap(passes * tile, bits), shift);
  store_constant(b, want);
  bench_describe(b, "%s %u bits: %lld passes of %lld * %lld, shift %u", ws ? "WS" : "OS", bits, (long long)passes,
                 (long long)pair[0], (long long)pair[1], shift);
  return bench_finish(b);
}

// base + sum in the accumulator beyond 32 bits, by a product and by an accumulating load.
static bool corner_wrap32(bench *b, uint64_t variant) {
  static const int64_t bases[] = {INT32_MAX, INT32_MIN, INT32_MAX - 100, -1};
  int64_t base = bases[variant / 2];
  int64_t right = base < 0 ? -128 : 127;
  bool load = variant % 2;
  uint64_t from = bench_alloc(b, "base", 4 * b->dim), more = bench_alloc(b, "more", 4 * b->dim);
  int64_t added = load ? (base < 0 ? INT32_MIN : INT32_MAX) : b->dim * 127 * right;
  b->array.types.output_bits = 32;
  for (int64_t i = 0; i < b->dim; i++) {
    bench_put32(b, from + 4 * (uint64_t)i, base);
    bench_put32(b, more + 4 * (uint64_t)i, added);
  }
  constant_tile(b, 0, 127);
  constant_tile(b, (uint32_t)b->dim, right);
  put_mvin(&b->program, 0, from, whole(b, LOCAL_ACC));
  if (load) put_mvin(&b->program, 0, more, whole(b, LOCAL_ACC | LOCAL_ACCUMULATE));
  if (!load) {
    put_config_ex(&b->program, (config_ex){.ws = true, .a_stride = 1, .c_stride = 1, .scale = FLOAT_ONE});
    put_preload(&b->program, whole(b, (uint32_t)b->dim), whole(b, LOCAL_ACC | LOCAL_ACCUMULATE));
    put_compute(&b->program, true, whole(b, 0), garbage_operand(b->dim, b->dim));
  }
  store_constant(b, oracle_wrap(base + added, 32));
  bench_describe(b, "32-bit wrap: %lld + %lld by a %s", (long long)base, (long long)added, load ? "load" : "product");
  return bench_finish(b);
}

// Every shift of values around its halves, from the array to scratchpad and accumulator. Row i holds D = v, A = 0.
static bool corner_shift(bench *b, uint64_t variant) {
  uint32_t shift = (uint32_t)(variant / 2);
  bool acc = variant % 2;
  int64_t rows = 256 / b->dim, size = acc ? 4 : 1;
  uint64_t from = bench_alloc(b, "values", 256), to = bench_alloc(b, "shifted", 256 * size);
  constant_tile(b, 0, 0);
  config_rows(b, FLOAT_ONE, false, b->dim);
  config_out(b, b->dim * size, 0, FLOAT_ONE);
  put_config_ex(&b->program, (config_ex){.shift = shift, .a_stride = 1, .c_stride = 1, .scale = FLOAT_ONE});
  uint32_t d = (uint32_t)b->dim, c = acc ? LOCAL_ACC : 2 * d;
  for (int64_t i = 0; i < 256; i++) {
    bench_put8(b, from + (uint64_t)i, i);
    int64_t want = oracle_shift_even(oracle_wrap(i, 8), shift);
    if (acc) bench_want32(b, to + 4 * (uint64_t)i, want);
    if (!acc) bench_want8(b, to + (uint64_t)i, want);
  }
  for (int64_t row = 0; row < rows; row++) {
    put_mvin(&b->program, 0, row_at(from, row, b->dim), (operand){d, 1, b->dim});
    put_preload(&b->program, (operand){d, 1, b->dim}, (operand){c, 1, b->dim});
    put_compute(&b->program, true, whole(b, 0), garbage_operand(b->dim, b->dim));
    put_mvout(&b->program, row_at(to, row, b->dim * size), (operand){acc ? c | LOCAL_FULL : c, 1, b->dim});
  }
  bench_describe(b, "shift %u to %s", shift, acc ? "accumulator" : "scratchpad");
  return bench_finish(b);
}

// All ones keep the scale; activations whose unit the array lacks do nothing.
static bool corner_keep(bench *b, uint64_t variant) {
  uint32_t activation = (uint32_t)variant;  // 0 none, 1 ReLU, 2 layer norm, 3 integer GELU
  static const int64_t values[] = {-7, 9, -300, 5};
  uint64_t from = bench_alloc(b, "values", 16), to = bench_alloc(b, "stored", 4);
  config_rows(b, FLOAT_ONE, false, 16);
  config_out(b, 4, 0, 0x3f000000);
  config_out(b, 4, activation, SCALE_KEEP);
  for (int i = 0; i < 4; i++) {
    bench_put32(b, from + 4 * (uint64_t)i, values[i]);
    bench_want8(b, to + (uint64_t)i, oracle_narrow(values[i], (oracle_output){activation == 1, 0x3f000000}));
  }
  for (uint32_t i = 0; i < 4; i += 2) {
    put_mvin(&b->program, 0, from + 4 * i, (operand){LOCAL_ACC, 1, 2});
    put_mvout(&b->program, to + i, (operand){LOCAL_ACC, 1, 2});
  }
  bench_describe(b, "kept scale, activation %u", activation);
  return bench_finish(b);
}

// A store of one row from the garbage address writes int8 zeros, although the address has the bit of a full-width row.
static bool corner_garbage(bench *b, uint64_t variant) {
  int64_t cols = variant == 0 ? b->dim : 1;
  uint64_t to = bench_alloc(b, "zeros", 4 * b->dim);
  config_out(b, 4 * b->dim, 0, FLOAT_ONE);
  put_mvout(&b->program, to, garbage_operand(1, cols));
  for (int64_t i = 0; i < cols; i++) bench_want8(b, to + (uint64_t)i, 0);
  bench_describe(b, "a garbage row of %lld", (long long)cols);
  return bench_finish(b);
}

// Row r, copy q: row r - q, lanes q * cols and up; what would leave the half of the scratchpad is dropped. The tile
// below the half must keep its old values.
static bool corner_pixels(bench *b, uint64_t variant) {
  enum { TILES = 3, OLD = -1 };
  int64_t dim = b->dim, repeats = 2 + (int64_t)(variant % 3), half = variant / 3 % 2 ? b->size.sp_rows / 2 : 0;
  int64_t first = half + (int64_t)(variant / 6);
  if (repeats > dim) repeats = dim;
  int64_t cols = dim / repeats, below = half == 0 ? 0 : half - dim;
  uint64_t from = bench_alloc(b, "pixels", dim * cols), old = bench_alloc(b, "old", dim);
  uint64_t to = bench_alloc(b, "rows", TILES * dim * dim);
  for (int64_t i = 0; i < dim; i++) bench_put8(b, old + (uint64_t)i, OLD);
  config_rows(b, FLOAT_ONE, false, 0);
  for (int64_t t = 0; t < TILES; t++) put_mvin(&b->program, 0, old, whole(b, (uint32_t)(below + t * dim)));
  put_config_ld(&b->program, (config_ld){0, (uint64_t)cols, (uint32_t)dim, FLOAT_ONE, (uint32_t)repeats, false, false});
  put_mvin(&b->program, 0, from, (operand){(uint32_t)first, dim, cols});
  config_out(b, dim, 0, FLOAT_ONE);
  for (int64_t t = 0; t < TILES; t++) {
    put_mvout(&b->program, row_at(to, t * dim, dim), whole(b, (uint32_t)(below + t * dim)));
  }
  for (int64_t n = 0; n < TILES * dim * dim; n++) {
    // Lane of copy q in a row comes from the pixel q rows further on.
    int64_t row = below + n / dim, q = n % dim / cols, source = row - first + q, want = OLD;
    if (row >= half && q < repeats && source >= 0 && source < dim) {
      want = *arch_memory_at(b->memory, from + (uint64_t)(source * cols + n % dim % cols), 1);
    }
    bench_want8(b, to + (uint64_t)n, want);
  }
  bench_describe(b, "%lld copies of %lld lanes from row %lld", (long long)repeats, (long long)cols, (long long)first);
  return bench_finish(b);
}

static const struct {
  uint64_t variants;
  bool (*run)(bench *b, uint64_t variant);
} corners[] = {
    {2 * SCALE_COUNT, corner_load_scale},
    {4 * SCALE_COUNT, corner_store_scale},
    {UINT64_C(2) * 3 * PASSES * 5, corner_wrap},
    {8, corner_wrap32},
    {2 * 32, corner_shift},
    {4, corner_keep},
    {2, corner_garbage},
    {12, corner_pixels},
};
enum { CORNER_KINDS = sizeof corners / sizeof corners[0] };

uint64_t group_corner_count(void) {
  uint64_t total = 0;
  for (int i = 0; i < CORNER_KINDS; i++) total += corners[i].variants;
  return total;
}

bool group_corner(bench *b) {
  uint64_t number = b->seed % group_corner_count();
  int kind = 0;
  while (number >= corners[kind].variants) number -= corners[kind++].variants;
  return corners[kind].run(b, number);
}
