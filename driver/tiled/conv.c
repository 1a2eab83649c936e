// SPDX-License-Identifier: Apache-2.0
// Convolution from single instructions, weight-stationary: tiles as stages.h has them, one matrix product per position
// of the kernel.
//
// The rows of A are pixels of a patch of the image in the scratchpad, its columns input channels; the output pixels of
// a row take theirs `step` apart. Null-pointer loads supply the padding, and nothing is copied by the processor. A
// block of input channels lies in patch rows x patch columns local rows, the weights as for a product, position by
// position; the result in pieces of rows, a block of WEFT_DIM local rows each, or, for the pooling store, pixel by
// pixel.
//
// A 1x1 kernel without gaps is a product of matrices.
#include "driver/tiled/conv_plan.h"

enum { LOAD_INPUT, LOAD_WEIGHTS, LOAD_BIAS };

// A tile at hand, before pooling.
struct part {
  size_t image, pooled_row, pooled_col, pooled_rows, pooled_cols;
  struct weft_span rows, cols;
};

struct run {
  struct weft_stages stages;
  struct weft_conv_plan plan;
  struct weft_conv_cut cut;
  struct part parts[WEFT_TILES_AT_HAND];
  size_t run_rows, run_cols;  // that the runs of products are for
  // Of the step at hand: rows of the kernel, and of those and of channels what is left from the row of weights at hand
  // on; operands of the first row with its block of channels.
  size_t kernel_rows, kernel_rows_left, depth;
  uint64_t block_a, block_b;
  uint64_t a_turn;  // from the end of a row of the kernel to the next row
};

static struct run *run_of(struct weft_stages *stages) { return (struct run *)(void *)stages; }

static struct weft_span before_pool(const struct weft_conv_plan *p, size_t pooled, size_t count, size_t limit) {
  return weft_clip((ptrdiff_t)(pooled * p->conv.pool_stride) - (ptrdiff_t)p->conv.pool_padding,
                   weft_before_pool(p, count), limit);
}

// ---- tiles and stages

static void measure_tile(struct weft_stages *stages, struct weft_tile *tile) {
  struct run *r = run_of(stages);
  const struct weft_conv_plan *p = &r->plan;
  const struct weft_conv_cut *t = &r->cut;
  struct part *part = &r->parts[weft_tile_number(stages, tile)];
  const size_t down = t->col_tiles == 1 ? tile->m : tile->m / t->col_tiles;
  part->image = down / t->row_tiles;
  part->pooled_row = (down - part->image * t->row_tiles) * t->rows;
  part->pooled_col = (tile->m - down * t->col_tiles) * t->cols;
  part->pooled_rows = weft_min(t->rows, p->shape.pooled_rows - part->pooled_row);
  part->pooled_cols = weft_min(t->cols, p->shape.pooled_cols - part->pooled_col);
  part->rows = before_pool(p, part->pooled_row, part->pooled_rows, p->shape.rows);
  part->cols = before_pool(p, part->pooled_col, part->pooled_cols, p->shape.cols);
  tile->n_first = tile->n * t->out_blocks * WEFT_DIM;
  tile->n_size = weft_min(p->conv.out_channels - tile->n_first, t->out_blocks * WEFT_DIM);
  const size_t rows = part->rows.count, cols = part->cols.count;
  const size_t products = t->flat ? weft_blocks(rows * cols) : rows * ((cols + t->piece - 1) / t->piece);
  tile->products = products * weft_blocks(tile->n_size) * p->conv.kernel;
}

// Rows of the kernel that a step takes, from the first one on.
static size_t kernel_rows(const struct run *r, const struct weft_stage *s, size_t *first) {
  *first = r->cut.kernel_steps == 1 ? 0 : s->k % r->cut.kernel_steps * r->cut.kernel_rows;
  return weft_min(r->plan.conv.kernel - *first, r->cut.kernel_rows);
}

static void measure(struct weft_stages *stages, struct weft_stage *s) {
  const struct run *r = run_of(stages);
  size_t first;
  s->k_first = (r->cut.kernel_steps == 1 ? s->k : s->k / r->cut.kernel_steps) * r->cut.in_blocks * WEFT_DIM;
  s->k_size = weft_min(r->plan.conv.in_channels - s->k_first, r->cut.in_blocks * WEFT_DIM);
  s->products = s->tile->products * weft_blocks(s->k_size) * kernel_rows(r, s, &first);
  weft_set_rows(&s->rows, r->plan.conv.kernel, s->a, s->b,
                weft_local_acc(s->tile->c, s->k > 0 || stages->has_bias ? WEFT_ACC_ADD : 0),
                weft_min(s->k_size, WEFT_DIM), s->tile->n_size);
}

// ---- transfers

// Pixels of the patch: inside the image, then the padding above, below, left and right of them.
static bool load_patch(const struct run *r, const struct weft_stage *s, const struct part *part, unsigned number,
                       struct weft_transfer *t) {
  const struct weft_conv *c = &r->plan.conv;
  const struct weft_conv_cut *cut = &r->cut;
  size_t kernel_row;
  const size_t reach = (kernel_rows(r, s, &kernel_row) - 1) * c->dilation + 1, wide = cut->patch_cols;
  const size_t gap = cut->step == 1 && r->plan.reach == 1 ? c->stride : 1;  // pixels from one loaded pixel to the next
  const size_t patch_rows = (part->rows.count - 1) * cut->step + reach;
  const size_t patch_cols = (part->cols.count - 1) * cut->step + r->plan.reach;
  const ptrdiff_t top = (ptrdiff_t)(part->rows.first * c->stride + kernel_row * c->dilation) - (ptrdiff_t)c->padding;
  const ptrdiff_t left = (ptrdiff_t)(part->cols.first * c->stride) - (ptrdiff_t)c->padding;
  struct weft_span rows = {.first = (size_t)top, .count = patch_rows};
  struct weft_span cols = {.first = (size_t)left, .count = patch_cols};
  if (gap == 1) rows = weft_clip(top, patch_rows, c->in_rows), cols = weft_clip(left, patch_cols, c->in_cols);
  *t = (struct weft_transfer){.unit = LOAD_INPUT,
                              .local = s->a,
                              .row_step = WEFT_DIM,
                              .plane_step = (uint32_t)wide,
                              .col_step = (uint32_t)(WEFT_MAX_BLOCK_LEN * cut->patch_rows * wide),
                              .cols = s->k_size,
                              .planes = 1,
                              .height = WEFT_DIM,
                              .width = WEFT_MAX_BLOCK_LEN * WEFT_DIM};
  const uint32_t inside = s->a + (uint32_t)(rows.before * wide);
  switch (number) {
    case 0:
      t->memory = (uintptr_t)c->input +
                  ((part->image * c->in_rows + rows.first) * c->in_cols + cols.first) * c->in_stride + s->k_first;
      t->row_bytes = gap * c->in_stride;
      t->plane_bytes = gap * c->in_cols * c->in_stride;
      t->col_bytes = t->width;
      t->local = inside + (uint32_t)cols.before;
      t->rows = cols.count;
      t->planes = rows.count;
      break;
    case 1:
      t->rows = rows.before * wide;
      break;
    case 2:
      t->local = inside + (uint32_t)(rows.count * wide);
      t->rows = rows.after * wide;
      break;
    case 3:
      t->local = inside;
      t->rows = cols.before;
      t->planes = rows.count;
      break;
    case 4:
      t->local = inside + (uint32_t)(cols.before + cols.count);
      t->rows = cols.after;
      t->planes = rows.count;
      break;
    default:
      return false;
  }
  return true;
}

static void load_weights(const struct run *r, const struct weft_stage *s, struct weft_transfer *t) {
  const struct weft_conv *c = &r->plan.conv;
  size_t kernel_row;
  t->planes = kernel_rows(r, s, &kernel_row) * c->kernel;
  t->memory = (uintptr_t)c->weights + (kernel_row * c->kernel * c->in_channels + s->k_first) * c->out_channels +
              s->tile->n_first;
  t->local = s->b;
  t->rows = s->k_size;
  t->cols = s->tile->n_size;
}

static size_t pieces_of(const struct run *r, const struct part *part) {
  return r->cut.flat ? weft_blocks(part->rows.count * part->cols.count) : part->rows.count * r->cut.pieces;
}

static void load_bias(const struct run *r, const struct weft_stage *s, const struct part *part,
                      struct weft_transfer *t) {
  t->memory = (uintptr_t)(r->plan.conv.bias + s->tile->n_first);
  t->local = weft_local_acc(s->tile->c, 0);
  t->rows = r->plan.pooled ? part->rows.count * part->cols.count : pieces_of(r, part) * WEFT_DIM;
  t->cols = s->tile->n_size;
}

static void configure_pool(const struct run *r, const struct part *part) {
  const struct weft_conv *c = &r->plan.conv;
  weft_set_store((struct weft_store){.stride_bytes = c->out_stride,
                                     .activation = c->activation,
                                     .keep_scale = true,
                                     .pool = {.size = c->pool_size,
                                              .stride = c->pool_stride,
                                              .upper_padding = part->rows.before,
                                              .left_padding = part->cols.before,
                                              .rows = part->rows.count,
                                              .cols = part->cols.count,
                                              .pooled_rows = part->pooled_rows,
                                              .pooled_cols = part->pooled_cols,
                                              .image_cols = r->plan.shape.pooled_cols}});
}

static void store_result(const struct run *r, const struct weft_stage *s, const struct part *part,
                         struct weft_transfer *t) {
  const struct weft_conv_shape *shape = &r->plan.shape;
  const size_t row = part->image * shape->pooled_rows + part->pooled_row;
  t->memory = (uintptr_t)r->plan.conv.output + (row * shape->pooled_cols + part->pooled_col) * r->plan.conv.out_stride +
              s->tile->n_first;
  t->local = weft_local_acc(s->tile->c, 0);
  t->cols = s->tile->n_size;
  if (r->plan.pooled) {
    configure_pool(r, part);
    return;
  }
  t->rows = r->cut.flat ? part->rows.count * part->cols.count : part->cols.count;
  t->planes = r->cut.flat ? 1 : part->rows.count;
}

static bool transfer(struct weft_stages *stages, enum weft_chore chore, unsigned number, const struct weft_stage *s,
                     struct weft_transfer *t) {
  const struct run *r = run_of(stages);
  const struct part *part = &r->parts[weft_tile_number(stages, s->tile)];
  if (chore == WEFT_CHORE_A) return load_patch(r, s, part, number, t);
  if (number > 0) return false;
  if (chore == WEFT_CHORE_B)
    load_weights(r, s, t);
  else if (chore == WEFT_CHORE_BIAS)
    load_bias(r, s, part, t);
  else
    store_result(r, s, part, t);
  return true;
}

// ---- products

// Runs go down the rows of the result for a piece of each, or along the rows if there are fewer of these than pieces.
static void set_runs(struct run *r, size_t rows, size_t cols) {
  struct weft_products *p = &r->stages.products;
  const struct weft_conv_cut *t = &r->cut;
  const size_t full = cols / t->piece, rest = cols % t->piece;
  const size_t a_piece = t->piece * t->step, a_row = t->patch_cols * t->step, c_row = r->plan.pooled ? cols : t->c_row;
  const uint64_t fewer = (uint64_t)(WEFT_DIM - t->piece) << 48, least = (uint64_t)(WEFT_DIM - rest) << 48;
  r->run_rows = rows;
  r->run_cols = cols;
  if (rows < full) {
    weft_clear_runs(p, a_piece, t->c_piece);
    for (size_t n = 0; n < rows; n++) weft_add_run(p, full, n * a_row - fewer, n * c_row - fewer);
    for (size_t n = 0; n < rows && rest != 0; n++)
      weft_add_run(p, 1, n * a_row + full * a_piece - least, n * c_row + full * t->c_piece - least);
    return;
  }
  weft_clear_runs(p, a_row, c_row);
  for (size_t n = 0; n < full; n++) weft_add_run(p, rows, n * a_piece - fewer, n * t->c_piece - fewer);
  if (rest != 0) weft_add_run(p, rows, full * a_piece - least, full * t->c_piece - least);
}

static void begin(struct weft_stages *stages, const struct weft_stage *s) {
  struct run *r = run_of(stages);
  const struct part *part = &r->parts[weft_tile_number(stages, s->tile)];
  const size_t rows = r->cut.flat ? 1 : part->rows.count;
  const size_t cols = r->cut.flat ? part->rows.count * part->cols.count : part->cols.count;
  size_t first;
  if (rows != r->run_rows || cols != r->run_cols) set_runs(r, rows, cols);
  r->kernel_rows = r->kernel_rows_left = kernel_rows(r, s, &first);
  r->depth = s->k_size;
  r->block_a = s->rows.a;
  r->block_b = s->rows.b;
}

// The next row of the kernel, then the next block of input channels, then the next stage.
static bool next_rows(struct weft_products *p) {
  struct run *r = (struct run *)(void *)((char *)p - offsetof(struct run, stages.products));
  p->row.rows = r->plan.conv.kernel;
  if (--r->kernel_rows_left != 0) {
    p->row.a += r->a_turn;
    p->row.b += p->b_down;
    return true;
  }
  if (r->depth <= WEFT_DIM) return weft_stages_next(&r->stages);
  r->depth -= WEFT_DIM;
  r->kernel_rows_left = r->kernel_rows;
  p->row.a = r->block_a += r->cut.patch_rows * r->cut.patch_cols;
  p->row.b = r->block_b += WEFT_DIM;
  if (r->depth < WEFT_DIM) {
    const uint64_t fewer = WEFT_DIM - r->depth;
    p->row.a -= fewer << 32;
    p->row.b -= fewer << 48;
    p->row.stays -= fewer << 48;
  }
  return true;
}

// ---- the whole

static void configure(const struct run *r) {
  const struct weft_conv *c = &r->plan.conv;
  const struct weft_conv_cut *t = &r->cut;
  const size_t gap = r->plan.reach == 1 ? c->stride : 1;
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS, .a_stride = t->step});
  weft_set_load((struct weft_load){
      .state = LOAD_INPUT, .stride_bytes = gap * c->in_stride, .block_stride = t->patch_rows * t->patch_cols});
  weft_set_load((struct weft_load){
      .state = LOAD_WEIGHTS, .stride_bytes = c->out_channels, .block_stride = r->stages.products.b_next});
  weft_set_load((struct weft_load){.state = LOAD_BIAS, .block_stride = t->c_block});
  weft_set_store((struct weft_store){.stride_bytes = c->out_stride, .activation = c->activation, .scale = c->scale});
}

// What is the same in all stages.
static void prepare(struct run *r) {
  const struct weft_conv *c = &r->plan.conv;
  const struct weft_conv_cut *t = &r->cut;
  struct weft_products *p = &r->stages.products;
  const size_t width = WEFT_MAX_BLOCK_LEN * WEFT_DIM, acc_width = WEFT_MAX_BLOCK_LEN_ACC * WEFT_DIM;
  const bool pooled = r->plan.pooled;
  p->a_down = c->dilation;
  p->b_down = t->in_blocks * WEFT_DIM;
  p->b_next = t->kernel_rows * c->kernel * p->b_down;
  p->c_next = t->c_block;
  p->next_rows = next_rows;
  r->a_turn = (uint64_t)(t->patch_cols - (c->kernel - 1)) * c->dilation;
  r->stages.transfers[WEFT_CHORE_B] = (struct weft_transfer){.unit = LOAD_WEIGHTS,
                                                             .row_bytes = c->out_channels,
                                                             .plane_bytes = c->in_channels * c->out_channels,
                                                             .col_bytes = width,
                                                             .row_step = WEFT_DIM,
                                                             .plane_step = (uint32_t)p->b_down,
                                                             .col_step = (uint32_t)(WEFT_MAX_BLOCK_LEN * p->b_next),
                                                             .height = WEFT_DIM,
                                                             .width = width};
  r->stages.transfers[WEFT_CHORE_BIAS] =
      (struct weft_transfer){.unit = LOAD_BIAS,
                             .col_bytes = acc_width * sizeof(int32_t),
                             .row_step = (uint32_t)(pooled ? WEFT_DIM : t->c_piece),
                             .col_step = (uint32_t)(WEFT_MAX_BLOCK_LEN_ACC * t->c_block),
                             .planes = 1,
                             .height = WEFT_DIM,
                             .width = acc_width};
  r->stages.transfers[WEFT_CHORE_STORE] = (struct weft_transfer){.unit = WEFT_FEED_STORE,
                                                                 .row_bytes = c->out_stride,
                                                                 .plane_bytes = r->plan.shape.cols * c->out_stride,
                                                                 .col_bytes = pooled ? WEFT_DIM : width,
                                                                 .row_step = (uint32_t)t->c_piece,
                                                                 .plane_step = (uint32_t)t->c_row,
                                                                 .col_step = (uint32_t)(pooled ? t->c_block : width),
                                                                 .rows = 1,  // what the pooling store takes
                                                                 .planes = 1,
                                                                 .height = t->piece,
                                                                 .width = pooled ? WEFT_DIM : width};
}

static bool is_product(const struct weft_conv_plan *p) {
  const struct weft_conv *c = &p->conv;
  return c->kernel == 1 && c->stride == 1 && !p->pooled;
}

static enum weft_status run_product(const struct weft_conv_plan *p) {
  const struct weft_conv *c = &p->conv;
  return weft_tiled_gemm(&(struct weft_gemm){.m = c->batch * c->in_rows * c->in_cols,
                                             .n = c->out_channels,
                                             .k = c->in_channels,
                                             .a = c->input,
                                             .b = c->weights,
                                             .bias = c->bias,
                                             .bias_repeat = true,
                                             .c = c->output,
                                             .a_stride = c->in_stride,
                                             .c_stride = c->out_stride,
                                             .activation = c->activation,
                                             .scale = c->scale});
}

enum weft_status weft_tiled_conv(const struct weft_conv *conv) {
  static const struct weft_operator operator= {measure_tile, measure, transfer, begin};
  struct run r = {.stages = {.op = &operator, .has_bias = conv->bias != NULL } };
  const enum weft_status status = weft_conv_plan(conv, &r.plan);
  if (status != WEFT_OK) return status;
  if (r.plan.conv.depthwise) return weft_tiled_depthwise(&r.plan);
  if (is_product(&r.plan)) return run_product(&r.plan);
  if (!weft_conv_choose(&r.plan, &r.cut, &r.stages.tiles)) return WEFT_TOO_BIG;
  prepare(&r);
  configure(&r);
  weft_stages_run(&r.stages);
  return WEFT_OK;
}
