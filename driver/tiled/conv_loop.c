// SPDX-License-Identifier: Apache-2.0
// Convolution through the LOOP_CONV_WS unroller: one loop per tile and range of input channels. The first range brings
// the bias (or zeros), the last one stores. A depthwise convolution runs channel by channel.
#include "driver/tiled/conv_tile.h"
#include "weft/loops.h"

struct run {
  struct weft_conv_plan plan;
  struct weft_conv_tile tile;
  bool downsample;    // a 1x1 kernel of stride 2 loads every second pixel only
  size_t max_pixels;  // kernel columns side by side in a local row
};

// Pixels that the unroller reserves for `out` output pixels.
static size_t input_pixels(const struct weft_conv_plan *p, size_t out) { return out * p->conv.stride + p->reach - 1; }

static bool can_downsample(const struct weft_conv_plan *p) {
  const struct weft_conv *c = &p->conv;
  return c->kernel == 1 && c->stride == 2 && c->padding == 0 && !p->pooled && c->in_rows % 2 == 0 &&
         c->in_cols % 2 == 0;
}

static bool fits(const struct weft_conv_plan *p, const struct weft_conv_tile *t) {
  size_t rows = weft_before_pool(p, t->rows), cols = weft_before_pool(p, t->cols);
  size_t shift = can_downsample(p) ? 1 : 0;
  size_t pixels = (input_pixels(p, rows) >> shift) * (input_pixels(p, cols) >> shift);
  size_t depth = weft_min(p->conv.depthwise ? 1 : p->conv.in_channels, t->in_blocks * WEFT_DIM);
  size_t weights = t->out_blocks * p->conv.kernel * p->conv.kernel * depth;
  return t->in_blocks * pixels + weights <= WEFT_SP_ROWS / 2 && rows * cols * t->out_blocks <= WEFT_ACC_ROWS / 2;
}

static enum weft_status supported(const struct weft_conv_plan *p) {
  const struct weft_conv *c = &p->conv;
  if (!WEFT_HAS_LOOP_CONV || (c->depthwise && !WEFT_HAS_DEPTHWISE_CONV)) return WEFT_UNSUPPORTED;
  if (WEFT_ISA_REVISION > 1) return WEFT_OK;
  bool square = c->in_rows == c->in_cols && c->in_stride == c->in_channels && c->out_stride == c->out_channels;
  return square ? WEFT_OK : WEFT_UNSUPPORTED;
}

// The fields that every tile of the layer shares.
static struct weft_loop_conv layer(const struct run *run) {
  const struct weft_conv *c = &run->plan.conv;
  const struct weft_conv_shape *shape = &run->plan.shape;
  return (struct weft_loop_conv){
      .batch_size = c->batch,
      .in_rows = c->in_rows,
      .in_cols = c->in_cols,
      .in_channels = c->in_channels,
      .out_rows = shape->rows,
      .out_cols = shape->cols,
      .out_channels = c->out_channels,
      .pool_out_rows = shape->pooled_rows,
      .pool_out_cols = shape->pooled_cols,
      .kernel = c->kernel,
      .stride = c->stride,
      .padding = c->padding,
      .dilation = c->dilation,
      .pool_size = c->pool_size,
      .pool_stride = c->pool_stride,
      .pool_padding = c->pool_padding,
      .in_stride = c->in_stride,
      .out_stride = c->out_stride,
      .weight_stride = c->out_channels,
      .batches = 1,
      .kernel_rows = c->kernel,
      .kernel_cols = c->kernel,
      .no_bias = c->bias == NULL,
      .depthwise = c->depthwise,
      .max_pixels = run->max_pixels,
      .pool = run->plan.pooled,
      .downsample = run->downsample,
      .activation = c->activation,
  };
}

static void set_part(const struct run *run, const struct weft_conv_part *part, struct weft_loop_conv *loop) {
  const struct weft_conv_plan *p = &run->plan;
  const struct weft_conv *c = &p->conv;
  struct weft_span rows = weft_clip((ptrdiff_t)(part->rows.first * c->stride) - (ptrdiff_t)c->padding,
                                    input_pixels(p, part->rows.count), c->in_rows);
  struct weft_span cols = weft_clip((ptrdiff_t)(part->cols.first * c->stride) - (ptrdiff_t)c->padding,
                                    input_pixels(p, part->cols.count), c->in_cols);
  loop->pool_rows = part->pooled_rows;
  loop->pool_cols = part->pooled_cols;
  loop->rows = part->rows.count;
  loop->cols = part->cols.count;
  loop->upper_pad = rows.before;
  loop->lower_pad = rows.after;
  loop->left_pad = cols.before;
  loop->right_pad = cols.after;
  loop->pool_upper_pad = part->rows.before;
  loop->pool_lower_pad = part->rows.after;
  loop->pool_left_pad = part->cols.before;
  loop->pool_right_pad = part->cols.after;
  loop->input = c->input + ((part->image * c->in_rows + rows.first) * c->in_cols + cols.first) * c->in_stride;
}

static void run_part(void *context, const struct weft_conv_part *part) {
  const struct run *run = context;
  const struct weft_conv *c = &run->plan.conv;
  struct weft_loop_conv loop = layer(run);
  set_part(run, part, &loop);
  const int8_t *input = loop.input;
  int8_t *output = weft_conv_output(&run->plan, part);
  // With no_bias the address only has to be there; nothing is read from it.
  const int32_t *bias = c->bias != NULL ? c->bias + part->out_channel : (const int32_t *)c->weights;
  loop.tile_out_channels = part->out_channels;
  size_t step = run->tile.in_blocks * WEFT_DIM;
  for (size_t k = 0; k < c->in_channels; k += step) {
    loop.tile_in_channels = weft_min(step, c->in_channels - k);
    loop.input = input + k;
    loop.weights = c->weights + k * c->out_channels + part->out_channel;
    loop.bias = k == 0 ? bias : NULL;
    loop.output = k + loop.tile_in_channels == c->in_channels ? output : NULL;
    weft_run_loop_conv(&loop);
  }
}

static void run_depthwise_part(void *context, const struct weft_conv_part *part) {
  const struct run *run = context;
  const struct weft_conv *c = &run->plan.conv;
  struct weft_loop_conv loop = layer(run);
  set_part(run, part, &loop);
  const int8_t *input = loop.input;
  loop.tile_out_channels = loop.tile_in_channels = 1;
  for (size_t i = 0; i < part->out_channels; i++) {
    size_t channel = part->out_channel + i;
    loop.input = input + channel;
    loop.weights = c->weights + channel * c->kernel * c->kernel;
    loop.bias = c->bias != NULL ? c->bias + channel : (const int32_t *)c->weights;
    loop.output = weft_conv_output(&run->plan, part) + i;
    weft_run_loop_conv(&loop);
  }
}

// How many pixels of few channels go side by side into a local row.
static size_t pixels_per_row(const struct run *run) {
  const struct weft_conv *c = &run->plan.conv;
  if (!WEFT_HAS_PIXEL_REPEAT || c->depthwise || run->downsample || c->dilation > 1) return 1;
  return weft_max(1, weft_min(c->kernel, WEFT_DIM / c->in_channels));
}

enum weft_status weft_tiled_conv_loop(const struct weft_conv *conv) {
  struct run run = {.max_pixels = 1};
  enum weft_status status = weft_conv_plan(conv, &run.plan);
  if (status == WEFT_OK) status = supported(&run.plan);
  if (status != WEFT_OK) return status;
  if (!weft_conv_grow(&run.plan, fits, &run.tile)) return WEFT_TOO_BIG;
  const struct weft_conv *c = &run.plan.conv;
  run.downsample = can_downsample(&run.plan);
  run.max_pixels = pixels_per_row(&run);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS, .a_stride = c->stride >> (run.downsample ? 1 : 0)});
  weft_set_store((struct weft_store){.stride_bytes = c->out_stride, .activation = c->activation, .scale = c->scale});
  weft_conv_parts(&run.plan, &run.tile, c->depthwise ? run_depthwise_part : run_part, &run);
  return WEFT_OK;
}
