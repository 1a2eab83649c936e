// SPDX-License-Identifier: Apache-2.0
// Convolutions through LOOP_CONV_WS in both revisions: random layers cut into random tiles.
//
// The software contract: a tile's input and weights fit together into half of the scratchpad, its outputs into half of
// the accumulator; the first tile of a reduction brings a bias (or no_bias with any address), only the last one stores;
// every tile contains at least one row and column of the image. Sums never wrap in the array here (gemm covers that),
// so that the result does not depend on the tiles.
#include "base/alloc.h"
#include "sim/tests/oracle/groups.h"
#include "sim/tests/oracle/numerics.h"

enum { TILES_MAX = 24, TRIES_MAX = 200 };

typedef enum { MODE_PLAIN, MODE_POOL, MODE_DEPTHWISE, MODE_DOWNSAMPLE, MODE_TRANSPOSED, MODE_DILATED, MODES } conv_mode;

// One axis of a tile, pixels. `start` is where its input begins, in padded and possibly dilated coordinates.
typedef struct axis {
  int64_t outputs, pool_before, pool_after;
  int64_t inputs, before, after, start;
} axis;

typedef struct tile {
  int64_t b, porow, pocol, poch, krow, kcol, kch;              // first
  int64_t batches, porows, pocols, pochs, krows, kcols, kchs;  // sizes
  axis row, col;
} tile;

typedef struct layer {
  oracle_conv math;
  bool trans_output_1203, trans_weight_1203, trans_weight_0132, trans_input_3120;
  bool downsample, pooled, no_bias, pixels;
  int64_t in_stride, out_stride, weight_stride;  // elements
  uint64_t input, weights, bias, output;
  tile sizes;  // of a whole tile
} layer;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t positive(int64_t a) { return a > 0 ? a : 0; }
static int64_t blocks(int64_t elements, int64_t dim) { return (elements + dim - 1) / dim; }
static uint64_t at(int64_t value, unsigned shift) { return (uint64_t)value << shift; }
static int64_t spread(const layer *l, int64_t size) { return l->math.input_dilated ? 2 * size - 1 : size; }
static int64_t dilated(int64_t kernel, int64_t dilation) { return kernel + (dilation - 1) * (kernel - 1); }

static bool draw_outputs(layer *l) {
  oracle_conv *c = &l->math;
  int64_t window = dilated(c->kernel, c->dilation);
  int64_t rows = spread(l, c->in_rows) + 2 * c->padding - window;
  int64_t cols = spread(l, c->in_cols) + 2 * c->padding - window;
  if (rows < 0 || cols < 0) return false;
  c->out_rows = rows / c->stride + 1;
  c->out_cols = cols / c->stride + 1;
  rows = c->out_rows + 2 * c->pool_padding - c->pool_size;
  cols = c->out_cols + 2 * c->pool_padding - c->pool_size;
  if (rows < 0 || cols < 0) return false;
  c->pool_rows = rows / c->pool_stride + 1;
  c->pool_cols = cols / c->pool_stride + 1;
  return true;
}

static void draw_mode(bench *b, layer *l, conv_mode mode) {
  oracle_random *r = &b->random;
  oracle_conv *c = &l->math;
  if (mode == MODE_POOL || (mode == MODE_DEPTHWISE && random_one_in(r, 3))) {
    l->pooled = true;
    c->pool_size = random_in(r, 1, 3);
    c->pool_stride = random_in(r, 1, 3);
    c->pool_padding = c->pool_size > 1 ? random_in(r, 0, 1) : 0;
  }
  if (mode == MODE_DEPTHWISE) {
    c->depthwise = true;
    c->in_channels = c->out_channels = random_in(r, 1, 5);
  }
  if (mode == MODE_DOWNSAMPLE) {
    l->downsample = true;
    c->kernel = 1;
    c->stride = 2;
    c->padding = 0;
    c->dilation = 1;
    c->in_rows += c->in_rows % 2;
    c->in_cols += c->in_cols % 2;
  }
  if (mode == MODE_TRANSPOSED) {
    int64_t which = random_in(r, 1, 7);
    l->trans_output_1203 = which & 1;
    l->trans_weight_1203 = (which & 2) != 0;
    l->trans_input_3120 = (which & 4) != 0;
    l->trans_weight_0132 = !l->trans_weight_1203 && !l->trans_input_3120 && random_one_in(r, 2);
    c->rotate = random_one_in(r, 3);
    if (l->trans_input_3120) c->batch = random_in(r, 1, 2 * b->dim);
  }
  if (mode == MODE_DILATED) {
    c->input_dilated = true;
    c->stride = 1;
    c->rotate = !random_one_in(r, 3);
    l->trans_weight_0132 = !random_one_in(r, 3);
  }
  l->pixels = mode <= MODE_DEPTHWISE && c->dilation == 1 && !random_one_in(r, 3);
}

static void draw_geometry(bench *b, layer *l, conv_mode mode) {
  oracle_random *r = &b->random;
  oracle_conv *c = &l->math;
  bool square = b->array.isa.revision == 1;  // no rectangular images, no strides
  do {
    *l = (layer){0};
    c->batch = random_in(r, 1, 3);
    c->in_rows = random_in(r, 1, 11);
    c->in_cols = square ? c->in_rows : random_in(r, 1, 11);
    c->in_channels = random_in(r, 1, random_one_in(r, 3) ? 3 : 2 * b->dim + 1);
    c->out_channels = random_in(r, 1, 2 * b->dim + 1);
    c->kernel = random_in(r, 1, 5);
    c->stride = random_in(r, 1, 3);
    c->padding = random_in(r, 0, least(3, c->kernel - 1));
    c->dilation = random_one_in(r, 3) ? random_in(r, 1, 3) : 1;
    c->pool_size = c->pool_stride = 1;
    draw_mode(b, l, mode);
  } while (!draw_outputs(l));
  bool transposed = l->trans_output_1203 || l->trans_weight_1203 || l->trans_weight_0132 || l->trans_input_3120;
  bool stretch = !square && !transposed && random_one_in(r, 2);
  l->in_stride = c->in_channels + (stretch ? random_in(r, 0, 5) : 0);
  l->out_stride = c->out_channels + (stretch ? random_in(r, 0, 5) : 0);
  l->weight_stride = c->out_channels + (stretch ? random_in(r, 0, 5) : 0);
}

// ---- operands in memory

static uint64_t input_address(const layer *l, int64_t b, int64_t row, int64_t col, int64_t channel) {
  const oracle_conv *c = &l->math;
  if (l->trans_input_3120) {
    return l->input + (uint64_t)(((channel * c->in_rows + row) * c->in_cols + col) * c->batch + b);
  }
  return l->input + (uint64_t)(((b * c->in_rows + row) * c->in_cols + col) * l->in_stride + channel);
}

static uint64_t weight_address(const layer *l, int64_t row, int64_t col, int64_t in, int64_t out) {
  const oracle_conv *c = &l->math;
  int64_t index = ((row * c->kernel + col) * c->in_channels + in) * l->weight_stride + out;
  if (l->trans_weight_1203) index = ((in * c->kernel + row) * c->kernel + col) * l->weight_stride + out;
  if (l->trans_weight_0132) index = ((row * c->kernel + col) * c->out_channels + out) * c->in_channels + in;
  if (c->depthwise) index = (out * c->kernel + row) * c->kernel + col;
  return l->weights + (uint64_t)index;
}

static uint64_t output_address(const layer *l, int64_t b, int64_t row, int64_t col, int64_t channel) {
  const oracle_conv *c = &l->math;
  if (l->trans_output_1203) {
    return l->output + (uint64_t)(((row * c->pool_cols + col) * c->batch + b) * c->out_channels + channel);
  }
  return l->output + (uint64_t)(((b * c->pool_rows + row) * c->pool_cols + col) * l->out_stride + channel);
}

static const int64_t *draw_input(bench *b, layer *l) {
  const oracle_conv *c = &l->math;
  int64_t count = c->batch * c->in_rows * c->in_cols * c->in_channels;
  int64_t *values = wf_alloc((size_t)count, sizeof *values);
  fill_style style = bench_style(b);
  l->input = bench_alloc(b, "input", c->batch * c->in_rows * c->in_cols * l->in_stride);
  for (int64_t n = 0; n < count; n++) {
    int64_t position = n / c->in_channels;
    int64_t image = position / c->in_cols;
    values[n] = bench_draw8(b, style);
    bench_put8(b, input_address(l, image / c->in_rows, image % c->in_rows, position % c->in_cols, n % c->in_channels),
               values[n]);
  }
  return values;
}

static const int64_t *draw_weights(bench *b, layer *l) {
  const oracle_conv *c = &l->math;
  int64_t ins = c->depthwise ? 1 : c->in_channels;
  int64_t count = c->kernel * c->kernel * ins * c->out_channels;
  int64_t *values = wf_alloc((size_t)count, sizeof *values);
  fill_style style = bench_style(b);
  l->weights = bench_alloc(b, "weights", c->kernel * c->kernel * ins * l->weight_stride);
  for (int64_t n = 0; n < count; n++) {
    int64_t in = n / c->out_channels % ins;
    int64_t position = n / c->out_channels / ins;
    values[n] = bench_draw8(b, style);
    bench_put8(b, weight_address(l, position / c->kernel, position % c->kernel, in, n % c->out_channels), values[n]);
  }
  return values;
}

static const int64_t *draw_bias(bench *b, layer *l) {
  const oracle_conv *c = &l->math;
  l->bias = bench_alloc(b, "bias", 4 * c->out_channels);
  l->no_bias = random_one_in(&b->random, 3);
  if (l->no_bias) return NULL;
  int64_t *values = wf_alloc((size_t)c->out_channels, sizeof *values);
  fill_style style = bench_style(b);
  for (int64_t o = 0; o < c->out_channels; o++) {
    values[o] = bench_draw32(b, style);
    bench_put32(b, l->bias + 4 * (uint64_t)o, values[o]);
  }
  return values;
}

static void draw_layer(bench *b, layer *l) {
  conv_mode mode = (conv_mode)random_in(&b->random, 0, MODES - 1);
  draw_geometry(b, l, mode);
  oracle_conv *c = &l->math;
  c->output = (oracle_output){random_one_in(&b->random, 3), bench_sum_scale(b)};
  c->input = draw_input(b, l);
  c->weights = draw_weights(b, l);
  c->bias = draw_bias(b, l);
  int64_t channels = l->trans_output_1203 ? c->out_channels : l->out_stride;
  l->output = bench_alloc(b, "output", c->batch * c->pool_rows * c->pool_cols * channels);
}

// ---- tiles

static axis axis_of(const layer *l, int64_t pool_first, int64_t pool_count, int64_t kernel_first, int64_t kernel_count,
                    int64_t outputs, int64_t inputs) {
  const oracle_conv *c = &l->math;
  int64_t first = pool_first * c->pool_stride - c->pool_padding;
  int64_t span = pool_count * c->pool_stride + c->pool_size - 1;
  axis a = {.pool_before = positive(-first), .pool_after = positive(first + span - outputs)};
  a.outputs = span - a.pool_before - a.pool_after;
  a.start = positive(first) * c->stride + kernel_first * c->dilation - c->padding;
  a.inputs = a.outputs * c->stride + dilated(kernel_count, c->dilation) - 1;
  int64_t end = a.start + a.inputs;
  a.before = positive(-a.start);
  a.after = positive(end - spread(l, inputs));
  if (!c->input_dilated) return a;
  // A tile that begins or ends between two pixels begins or ends with a row of padding.
  if (a.before == 0 && a.start % 2 != 0) a.before = 1;
  if (a.after == 0 && end % 2 != 1) a.after = 1;
  return a;
}

static void set_axes(const layer *l, tile *t) {
  const oracle_conv *c = &l->math;
  t->row = axis_of(l, t->porow, t->porows, t->krow, t->krows, c->out_rows, c->in_rows);
  t->col = axis_of(l, t->pocol, t->pocols, t->kcol, t->kcols, c->out_cols, c->in_cols);
}

static int64_t held(const layer *l, const axis *a) {
  if (!l->math.input_dilated) return a->inputs >> l->downsample;
  return (a->inputs - a->before - a->after + 1) / 2 + (a->before + 1) / 2 + (a->after + 1) / 2;
}

static bool tile_fits(const bench *b, const layer *l, const tile *t) {
  int64_t dim = b->dim, pixels = held(l, &t->row) * held(l, &t->col);
  if (t->row.inputs - t->row.before - t->row.after < 1 || t->col.inputs - t->col.before - t->col.after < 1)
    return false;
  int64_t input = blocks(t->kchs, dim) * t->batches * pixels;
  if (l->trans_input_3120) input = blocks(t->batches, dim) * t->kchs * pixels;
  int64_t weights = blocks(t->pochs, dim) * t->krows * t->kcols * t->kchs;
  int64_t turned = blocks(t->kchs, dim) * t->krows * t->kcols * t->pochs;
  if (l->trans_weight_0132 && turned > weights) weights = turned;
  int64_t outputs = blocks(t->pochs, dim) * t->batches * t->row.outputs * t->col.outputs;
  return input + weights <= b->size.sp_rows / 2 && outputs <= b->size.acc_rows / 2;
}

// Visits the tiles in the order of software: reductions innermost. Stops at the first false.
typedef bool (*tile_visitor)(bench *b, const layer *l, const tile *t, void *context);

static bool next_tile(const layer *l, tile *t, const int64_t totals[7]) {
  int64_t *first[] = {&t->kch, &t->kcol, &t->krow, &t->poch, &t->pocol, &t->porow, &t->b};
  const tile *s = &l->sizes;
  const int64_t steps[] = {s->kchs, s->kcols, s->krows, s->pochs, s->pocols, s->porows, s->batches};
  for (int i = 0; i < 7; i++) {
    *first[i] += steps[i];
    if (*first[i] < totals[i]) return true;
    *first[i] = 0;
  }
  return false;
}

static bool visit_tiles(bench *b, const layer *l, tile_visitor visit, void *context) {
  const oracle_conv *c = &l->math;
  const tile *s = &l->sizes;
  const int64_t totals[7] = {
      c->depthwise ? 1 : c->in_channels, c->kernel, c->kernel, c->out_channels, c->pool_cols, c->pool_rows, c->batch};
  tile t = {0};
  do {
    t.kchs = least(s->kchs, totals[0] - t.kch);
    t.kcols = least(s->kcols, totals[1] - t.kcol);
    t.krows = least(s->krows, totals[2] - t.krow);
    t.pochs = least(s->pochs, totals[3] - t.poch);
    t.pocols = least(s->pocols, totals[4] - t.pocol);
    t.porows = least(s->porows, totals[5] - t.porow);
    t.batches = least(s->batches, totals[6] - t.b);
    set_axes(l, &t);
    if (!visit(b, l, &t, context)) return false;
  } while (next_tile(l, &t, totals));
  return true;
}

static bool count_fitting(bench *b, const layer *l, const tile *t, void *context) {
  int64_t *count = context;
  return ++*count <= TILES_MAX && tile_fits(b, l, t);
}

static int64_t draw_step(bench *b, int64_t total) {
  return random_one_in(&b->random, 3) ? random_in(&b->random, 1, total) : total;
}

// False if no legal cut into few tiles was found; the caller draws another layer.
static bool draw_tiles(bench *b, layer *l) {
  const oracle_conv *c = &l->math;
  tile *s = &l->sizes;
  for (int64_t i = 0; i < TRIES_MAX; i++) {
    // The loop finds a pixel of a 3120 input by the tile's batches, so that these must be the layer's.
    s->batches = l->trans_input_3120 ? c->batch : draw_step(b, c->batch);
    s->porows = draw_step(b, c->pool_rows);
    s->pocols = draw_step(b, c->pool_cols);
    s->pochs = c->depthwise ? 1 : draw_step(b, c->out_channels);
    s->krows = draw_step(b, c->kernel);
    s->kcols = draw_step(b, c->kernel);
    s->kchs = c->depthwise ? 1 : draw_step(b, c->in_channels);
    int64_t count = 0;
    if (visit_tiles(b, l, count_fitting, &count)) return true;
  }
  return false;
}

// ---- commands

static uint64_t tile_input(const layer *l, const tile *t) {
  int64_t half = l->math.input_dilated;
  return input_address(l, t->b, (t->row.start + t->row.before) >> half, (t->col.start + t->col.before) >> half,
                       l->math.depthwise ? t->poch : t->kch);
}

static uint64_t tile_weights(const layer *l, const tile *t) {
  const oracle_conv *c = &l->math;
  int64_t row = c->rotate ? c->kernel - t->krow - t->krows : t->krow;
  int64_t col = c->rotate ? c->kernel - t->kcol - t->kcols : t->kcol;
  return weight_address(l, row, col, t->kch, t->poch);
}

static void put_sizes_1(bench *b, const layer *l, const tile *t) {
  const oracle_conv *c = &l->math;
  command_list *p = &b->program;
  put(p, F_LOOP_CONV_CONFIG, at(c->out_channels, 48) | at(c->in_channels, 32) | at(c->in_rows, 16) | at(c->batch, 0),
      at(c->padding, 48) | at(c->stride, 32) | at(c->pool_rows, 16) | at(c->out_rows, 0));
  put(p, F_LOOP_CONV_CONFIG + 1,
      at(c->kernel, 48) | at(c->pool_size, 32) | at(c->pool_stride, 16) | at(c->pool_padding, 0),
      at(t->batches, 48) | at(t->porows, 32) | at(t->pocols, 16) | at(t->pochs, 0));
  put(p, F_LOOP_CONV_CONFIG + 2, at(t->krows, 48) | at(t->kcols, 32) | at(t->kchs, 16) | at(t->col.before, 0),
      at(t->col.after, 48) | at(t->row.before, 32) | at(t->row.after, 16) | at(t->col.pool_before, 0));
  put(p, F_LOOP_CONV_CONFIG + 3,
      at(t->row.outputs, 48) | at(t->col.pool_after, 32) | at(t->row.pool_before, 16) | at(t->row.pool_after, 0),
      at(c->dilation, 16) | at(t->col.outputs, 0));
}

static void put_sizes_2(bench *b, const layer *l, const tile *t) {
  const oracle_conv *c = &l->math;
  command_list *p = &b->program;
  put(p, F_LOOP_CONV_CONFIG, at(c->out_channels, 48) | at(c->in_channels, 32) | at(c->in_rows, 16) | at(c->batch, 0),
      at(c->padding, 56) | at(c->stride, 48) | at(c->out_cols, 32) | at(c->pool_rows, 16) | at(c->out_rows, 0));
  put(p, F_LOOP_CONV_CONFIG + 1,
      at(c->kernel, 48) | at(c->pool_cols, 32) | at(c->pool_size, 16) | at(c->pool_stride, 8) | at(c->pool_padding, 0),
      at(t->batches, 48) | at(t->porows, 32) | at(t->pocols, 16) | at(t->pochs, 0));
  put(p, F_LOOP_CONV_CONFIG + 2, at(t->krows, 48) | at(t->kcols, 32) | at(t->kchs, 16) | at(t->col.before, 0),
      at(t->col.after, 48) | at(t->row.before, 32) | at(t->row.after, 24) | at(t->col.pool_before, 16) |
          at(c->in_cols, 0));
  put(p, F_LOOP_CONV_CONFIG + 3,
      at(t->row.outputs, 48) | at(t->col.pool_after, 32) | at(t->row.pool_before, 21) | at(t->row.pool_after, 10) |
          at(c->dilation, 0),
      at(l->in_stride, 48) | at(l->weight_stride, 32) | at(l->out_stride, 16) | at(t->col.outputs, 0));
}

// Kernel columns folded into one product. Zero means one.
static int64_t draw_pixels(bench *b, const layer *l, const tile *t) {
  if (!l->pixels || t->kchs > b->dim) return random_in(&b->random, 0, 1);
  return random_in(&b->random, 1, least(t->kcols, b->dim / t->kchs));
}

// What the run before left in pinned halves of the scratchpad (revision 2).
typedef struct residue {
  bool any;
  tile tile;
  int64_t a_id, b_id, pixels;
} residue;

static bool same_reduction(const tile *a, const tile *b) {
  return a->krow == b->krow && a->krows == b->krows && a->kcol == b->kcol && a->kcols == b->kcols && a->kch == b->kch &&
         a->kchs == b->kchs;
}

static bool same_input(const layer *l, const tile *a, const tile *b) {
  return !l->math.depthwise && same_reduction(a, b) && a->b == b->b && a->batches == b->batches &&
         a->porow == b->porow && a->porows == b->porows && a->pocol == b->pocol && a->pocols == b->pocols;
}

static bool same_weights(const tile *a, const tile *b) {
  return same_reduction(a, b) && a->poch == b->poch && a->pochs == b->pochs;
}

// Chooses halves, and which operands need no load. A reused input keeps its folding.
static void draw_residue(bench *b, const layer *l, const tile *t, residue *r, bool *skip_input, bool *skip_weights) {
  residue next = {.any = true, .tile = *t, .pixels = draw_pixels(b, l, t)};
  *skip_input = r->any && r->a_id != 0 && same_input(l, t, &r->tile) && random_one_in(&b->random, 2);
  *skip_weights = r->any && r->b_id != 0 && same_weights(t, &r->tile) && random_one_in(&b->random, 2);
  if (b->array.isa.revision == 2 && random_one_in(&b->random, 2)) {
    next.a_id = random_in(&b->random, 0, 2);
    next.b_id = random_in(&b->random, 0, 2);
  }
  if (*skip_input) {
    next.a_id = r->a_id;
    next.pixels = r->pixels;
  }
  if (*skip_weights) next.b_id = r->b_id;
  *r = next;
}

static bool put_tile(bench *b, const layer *l, const tile *t, void *context) {
  const oracle_conv *c = &l->math;
  residue *r = context;
  int64_t ins = c->depthwise ? 1 : c->in_channels;
  bool first = t->krow == 0 && t->kcol == 0 && t->kch == 0;
  bool last = t->krow + t->krows == c->kernel && t->kcol + t->kcols == c->kernel && t->kch + t->kchs == ins;
  bool skip_input, skip_weights;
  draw_residue(b, l, t, r, &skip_input, &skip_weights);
  if (b->array.isa.revision == 1) {
    put_sizes_1(b, l, t);
  } else {
    put_sizes_2(b, l, t);
  }
  put(&b->program, F_LOOP_CONV_CONFIG + 4, skip_weights ? 0 : tile_weights(l, t),
      last ? output_address(l, t->b, t->porow, t->pocol, t->poch) : 0);
  put(&b->program, F_LOOP_CONV_CONFIG + 5, first ? l->bias + 4 * (uint64_t)t->poch : 0,
      skip_input ? 0 : tile_input(l, t));
  put(&b->program, F_LOOP_CONV,
      at(l->no_bias, 0) | at(c->rotate, 1) | at(l->trans_output_1203, 2) | at(l->trans_weight_1203, 3) |
          at(l->trans_weight_0132, 4) | at(l->trans_input_3120, 5) | at(c->depthwise, 6) | at(r->pixels, 8) |
          at(r->b_id, 16) | at(r->a_id, 18),
      at(!l->pooled, 0) | at(l->downsample, 1) | at(c->input_dilated, 2) | at(c->output.relu, 3));
  return true;
}

static void put_configuration(bench *b, const layer *l) {
  const oracle_conv *c = &l->math;
  int64_t out_bytes = l->trans_output_1203 ? c->batch * c->out_channels : l->out_stride;
  config_ex ex = {.ws = true, .a_transpose = l->trans_input_3120, .b_transpose = l->trans_weight_0132};
  ex.a_stride = (uint32_t)(c->stride >> l->downsample);
  ex.c_stride = c->input_dilated ? 2 : 1;
  ex.scale = FLOAT_ONE;
  put_config_ex(&b->program, ex);
  put_config_st(&b->program,
                (config_st){.stride = (uint32_t)out_bytes, .activation = c->output.relu, .scale = c->output.scale});
}

static void expect(bench *b, const layer *l) {
  const oracle_conv *c = &l->math;
  int64_t count = c->batch * c->pool_rows * c->pool_cols * c->out_channels;
  int64_t *result = wf_alloc((size_t)count, sizeof *result);
  oracle_convolution(c, result);
  for (int64_t n = 0; n < count; n++) {
    int64_t position = n / c->out_channels;
    int64_t image = position / c->pool_cols;
    bench_want8(
        b, output_address(l, image / c->pool_rows, image % c->pool_rows, position % c->pool_cols, n % c->out_channels),
        result[n]);
  }
  wf_free(result);
}

static void describe(bench *b, const layer *l) {
  const oracle_conv *c = &l->math;
  const tile *s = &l->sizes;
  bench_describe(
      b, "batch %lld in %lldx%lldx%lld out %lldx%lldx%lld k %lld stride %lld pad %lld dil %lld pool %lld/%lld/%lld ",
      (long long)c->batch, (long long)c->in_rows, (long long)c->in_cols, (long long)c->in_channels,
      (long long)c->out_rows, (long long)c->out_cols, (long long)c->out_channels, (long long)c->kernel,
      (long long)c->stride, (long long)c->padding, (long long)c->dilation, (long long)c->pool_size,
      (long long)c->pool_stride, (long long)c->pool_padding);
  bench_describe(
      b, "out1203 %d w1203 %d w0132 %d in3120 %d dw %d rot %d dilated %d down %d no_bias %d pixels %d tile %lld",
      l->trans_output_1203, l->trans_weight_1203, l->trans_weight_0132, l->trans_input_3120, c->depthwise, c->rotate,
      c->input_dilated, l->downsample, l->no_bias, l->pixels, (long long)s->batches);
  bench_describe(b, "/%lldx%lldx%lld/%lldx%lldx%lld", (long long)s->porows, (long long)s->pocols, (long long)s->pochs,
                 (long long)s->krows, (long long)s->kcols, (long long)s->kchs);
}

static void free_layer(layer *l) {
  wf_free((void *)l->math.input);
  wf_free((void *)l->math.weights);
  wf_free((void *)l->math.bias);
}

bool group_conv(bench *b) {
  uint32_t enough = b->dim > 16 ? 24 : 20;  // sums of dim products must not wrap
  if (b->array.types.output_bits < enough) b->array.types.output_bits = enough;
  layer l;
  draw_layer(b, &l);
  while (!draw_tiles(b, &l)) {
    free_layer(&l);
    b->region_count = 0;
    draw_layer(b, &l);
  }
  describe(b, &l);
  put_configuration(b, &l);
  residue left = {0};
  visit_tiles(b, &l, put_tile, &left);
  expect(b, &l);
  free_layer(&l);
  return bench_finish(b);
}
