// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution from single instructions: one matrix product per kernel position and block of channels,
// weight-stationary.
//
// The rows of A are output pixels of a tile in row-major order, its columns input channels; for a kernel position the
// load picks every stride-th input pixel of a row straight from the image, and null-pointer loads supply the padding.
// Nothing is copied by the processor. Partial sums stay in the accumulator: pixel p of channel block j in row j *
// pixels + p, which is also the layout that the pooling store expects.
//
// Weights are a diagonal matrix, made in the scratchpad row by row. Row r takes r + 1 bytes that end
// with the weight of channel r, then zeros over the first r of them.
#include "driver/tiled/conv_plan.h"

enum { LOAD_INPUT, LOAD_WEIGHTS, LOAD_BIAS };

struct run {
  struct weft_conv_plan plan;
  struct weft_conv_tile tile;
  size_t parts;  // of each memory: 2 when double-buffered
  size_t sp_turn, acc_turn;
};

// One kernel position and one range of input channels of a part.
struct step {
  const struct weft_conv_part *part;
  size_t pixels;  // of the part
  size_t kernel_row, kernel_col;
  size_t in_channel, in_channels;
  uint32_t a, b, c;  // first local rows
};

static bool fits(const struct weft_conv_plan *p, const struct weft_conv_tile *t, size_t parts) {
  size_t pixels = weft_before_pool(p, t->rows) * weft_before_pool(p, t->cols);
  return pixels * t->in_blocks + t->in_blocks * t->out_blocks * WEFT_DIM <= WEFT_SP_ROWS / parts &&
         pixels * t->out_blocks <= WEFT_ACC_ROWS / parts;
}

static bool fits_half(const struct weft_conv_plan *p, const struct weft_conv_tile *t) { return fits(p, t, 2); }
static bool fits_whole(const struct weft_conv_plan *p, const struct weft_conv_tile *t) { return fits(p, t, 1); }

// rows x cols elements from `from` (NULL: zeros) to local rows from `local`, column blocks `pixels` rows apart.
static void load_pixels(const int8_t *from, size_t stride, uint32_t local, size_t rows, size_t cols, size_t pixels) {
  for (size_t r = 0; r < rows; r += WEFT_DIM)
    for (size_t c = 0; c < cols; c += WEFT_MAX_BLOCK_LEN * WEFT_DIM)
      weft_load_rows(LOAD_INPUT, from == NULL ? NULL : from + r * stride + c,
                     local + (uint32_t)(c / WEFT_DIM * pixels + r), weft_min(cols - c, WEFT_MAX_BLOCK_LEN * WEFT_DIM),
                     weft_min(rows - r, WEFT_DIM));
}

// The pixels of output columns first..first+count of which the kernel column reads inside the image.
static struct weft_span columns_inside(const struct weft_conv *c, const struct step *s) {
  ptrdiff_t start = (ptrdiff_t)(s->part->cols.first * c->stride + s->kernel_col * c->dilation) - (ptrdiff_t)c->padding;
  size_t count = s->part->cols.count, before = 0, inside = 0;
  while (before < count && start + (ptrdiff_t)(before * c->stride) < 0) before++;
  while (before + inside < count && start + (ptrdiff_t)((before + inside) * c->stride) < (ptrdiff_t)c->in_cols)
    inside++;
  return (struct weft_span){.first = (size_t)(start + (ptrdiff_t)(before * c->stride)),
                            .count = inside,
                            .before = before,
                            .after = count - before - inside};
}

static void load_input_row(const struct weft_conv *c, const struct step *s, size_t row) {
  struct weft_span cols = columns_inside(c, s);
  ptrdiff_t in_row =
      (ptrdiff_t)((s->part->rows.first + row) * c->stride + s->kernel_row * c->dilation) - (ptrdiff_t)c->padding;
  uint32_t local = s->a + (uint32_t)(row * s->part->cols.count);
  if (in_row < 0 || in_row >= (ptrdiff_t)c->in_rows || cols.count == 0) {
    load_pixels(NULL, 0, local, s->part->cols.count, s->in_channels, s->pixels);
    return;
  }
  size_t pixel = (s->part->image * c->in_rows + (size_t)in_row) * c->in_cols + cols.first;
  load_pixels(NULL, 0, local, cols.before, s->in_channels, s->pixels);
  load_pixels(c->input + pixel * c->in_stride + s->in_channel, c->stride * c->in_stride, local + (uint32_t)cols.before,
              cols.count, s->in_channels, s->pixels);
  load_pixels(NULL, 0, local + (uint32_t)(cols.before + cols.count), cols.after, s->in_channels, s->pixels);
}

static void load_diagonal(const struct weft_conv *c, const struct step *s) {
  size_t taps = c->kernel * c->kernel, channels = s->in_channels;
  const int8_t *weight = c->weights + s->in_channel * taps + s->kernel_row * c->kernel + s->kernel_col;
  weft_load_rows(LOAD_WEIGHTS, NULL, s->b, channels, channels);
  for (size_t r = 0; r < channels; r++) {
    // Starts inside the weights: r * taps is at least r.
    weft_load_rows(LOAD_WEIGHTS, weight + r * taps - r, s->b + (uint32_t)r, r + 1, 1);
    if (r > 0) weft_load_rows(LOAD_WEIGHTS, NULL, s->b + (uint32_t)r, r, 1);
  }
}

static void multiply(const struct step *s, bool add) {
  size_t blocks = weft_blocks(s->part->out_channels);
  for (size_t k = 0; k < weft_blocks(s->in_channels); k++)
    for (size_t j = 0; j < blocks; j++) {
      size_t depth = weft_min(s->in_channels - k * WEFT_DIM, WEFT_DIM);
      size_t cols = weft_min(s->part->out_channels - j * WEFT_DIM, WEFT_DIM);
      for (size_t i = 0; i < s->pixels; i += WEFT_DIM) {
        size_t rows = weft_min(s->pixels - i, WEFT_DIM);
        uint32_t c = weft_local_acc(s->c + j * s->pixels + i, add || k > 0 ? WEFT_ACC_ADD : 0);
        uint32_t a = s->a + (uint32_t)(k * s->pixels + i);
        weft_preload(i == 0 ? s->b + (uint32_t)((k * blocks + j) * WEFT_DIM) : WEFT_GARBAGE, cols, depth, c, cols,
                     rows);
        if (i == 0)
          weft_compute_preloaded(a, depth, rows, WEFT_GARBAGE, cols, rows);
        else
          weft_compute_accumulated(a, depth, rows, WEFT_GARBAGE, cols, rows);
      }
    }
}

static void load_bias(const struct weft_conv *c, const struct step *s) {
  weft_set_load((struct weft_load){.state = LOAD_BIAS, .block_stride = s->pixels});
  for (size_t j = 0; j < s->part->out_channels; j += WEFT_MAX_BLOCK_LEN_ACC * WEFT_DIM)
    for (size_t i = 0; i < s->pixels; i += WEFT_DIM)
      weft_load_rows(
          LOAD_BIAS, c->bias + s->part->out_channel + j, weft_local_acc(s->c + j / WEFT_DIM * s->pixels + i, 0),
          weft_min(s->part->out_channels - j, WEFT_MAX_BLOCK_LEN_ACC * WEFT_DIM), weft_min(s->pixels - i, WEFT_DIM));
}

static void store_pooled(const struct weft_conv_plan *p, const struct step *s) {
  const struct weft_conv_part *part = s->part;
  weft_set_store((struct weft_store){.stride_bytes = p->conv.out_stride,
                                     .activation = p->conv.activation,
                                     .keep_scale = true,
                                     .pool = {.size = p->conv.pool_size,
                                              .stride = p->conv.pool_stride,
                                              .upper_padding = part->rows.before,
                                              .left_padding = part->cols.before,
                                              .rows = part->rows.count,
                                              .cols = part->cols.count,
                                              .pooled_rows = part->pooled_rows,
                                              .pooled_cols = part->pooled_cols,
                                              .image_cols = p->shape.pooled_cols}});
  for (size_t j = 0; j < part->out_channels; j += WEFT_DIM)
    weft_mvout(weft_dram(weft_conv_output(p, part) + j), weft_local_acc(s->c + j / WEFT_DIM * s->pixels, 0),
               weft_min(part->out_channels - j, WEFT_DIM), 1);
}

static void store(const struct weft_conv_plan *p, const struct step *s) {
  const struct weft_conv_part *part = s->part;
  // Rows as wide as the image lie end to end in memory too.
  bool whole = part->cols.count == p->shape.cols;
  size_t rows = whole ? 1 : part->rows.count, cols = whole ? s->pixels : part->cols.count;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < cols; i += WEFT_DIM)
      for (size_t j = 0; j < part->out_channels; j += WEFT_DIM)
        weft_mvout(weft_dram(weft_conv_output(p, part) + (r * p->shape.cols + i) * p->conv.out_stride + j),
                   weft_local_acc(s->c + j / WEFT_DIM * s->pixels + r * cols + i, 0),
                   weft_min(part->out_channels - j, WEFT_DIM), weft_min(cols - i, WEFT_DIM));
}

// All kernel positions for one range of input channels.
static void run_channels(struct run *run, struct step *s, bool add) {
  const struct weft_conv *c = &run->plan.conv;
  for (s->kernel_row = 0; s->kernel_row < c->kernel; s->kernel_row++)
    for (s->kernel_col = 0; s->kernel_col < c->kernel; s->kernel_col++) {
      s->a = (uint32_t)(run->sp_turn++ % run->parts * (WEFT_SP_ROWS / run->parts));
      s->b = s->a + (uint32_t)(s->pixels * weft_blocks(s->in_channels));
      for (size_t row = 0; row < s->part->rows.count; row++) load_input_row(c, s, row);
      load_diagonal(c, s);
      multiply(s, add);
      add = true;
    }
}

static void run_part(void *context, const struct weft_conv_part *part) {
  struct run *run = context;
  const struct weft_conv *c = &run->plan.conv;
  struct step s = {.part = part, .pixels = part->rows.count * part->cols.count};
  s.c = (uint32_t)(run->acc_turn++ % run->parts * (WEFT_ACC_ROWS / run->parts));
  weft_set_load(
      (struct weft_load){.state = LOAD_INPUT, .stride_bytes = c->stride * c->in_stride, .block_stride = s.pixels});
  if (c->bias != NULL) load_bias(c, &s);
  const size_t step = run->tile.in_blocks * WEFT_DIM, first = part->out_channel, end = first + part->out_channels;
  for (s.in_channel = first; s.in_channel < end; s.in_channel += step) {
    s.in_channels = weft_min(step, end - s.in_channel);
    run_channels(run, &s, c->bias != NULL || s.in_channel > first);
  }
  if (run->plan.pooled)
    store_pooled(&run->plan, &s);
  else
    store(&run->plan, &s);
}

enum weft_status weft_tiled_depthwise(const struct weft_conv_plan *plan) {
  struct run run = {.plan = *plan, .parts = 2};
  if (!weft_conv_grow(&run.plan, fits_half, &run.tile)) {
    run.parts = 1;
    if (!weft_conv_grow(&run.plan, fits_whole, &run.tile)) return WEFT_TOO_BIG;
  }
  const struct weft_conv *c = &run.plan.conv;
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS});
  weft_set_load((struct weft_load){.state = LOAD_WEIGHTS, .stride_bytes = c->out_channels});
  weft_set_store((struct weft_store){.stride_bytes = c->out_stride, .activation = c->activation, .scale = c->scale});
  weft_conv_parts(&run.plan, &run.tile, run_part, &run);
  return WEFT_OK;
}
