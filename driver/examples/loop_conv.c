// SPDX-License-Identifier: Apache-2.0
// The convolution loop, one loop for a whole small layer, and every option of it: bias or zeros, stride, padding,
// dilation, pooling, activation, partial sums over input channels, 1x1 downsampling, pixels folded into a row,
// depthwise, rotated and transposed weights, transposed input and output, dilated input.
#include "driver/examples/check.h"
#include "weft/loops.h"

enum {
  BATCH = 2,
  SIDE = 8,  // most pixels per side of any image
  KERNEL = 3,
  CHANNELS = WEFT_DIM + 2,
};

static int8_t input[BATCH * SIDE * SIDE * CHANNELS], weights[KERNEL * KERNEL * CHANNELS * CHANNELS];
static int32_t bias[CHANNELS];
static int8_t got[BATCH * SIDE * SIDE * CHANNELS], wanted[sizeof got];
static int errors;

struct layer {
  size_t in_side, in_channels, out_channels, kernel, stride, padding, dilation;
  size_t pool_size, pool_stride, pool_padding;  // size 0: none
  size_t in_channel_step;                       // channels per loop; 0: all
  size_t max_pixels;
  bool no_bias, downsample, rotate, depthwise, weight_1203, weight_0132, output_1203, input_3120, input_dilated;
  enum weft_activation activation;
  float scale;
};

// ---- the reference

static size_t out_side(const struct layer *l) {
  size_t in = l->input_dilated ? 2 * l->in_side - 1 : l->in_side;
  return (in + 2 * l->padding - ((l->kernel - 1) * l->dilation + 1)) / l->stride + 1;
}

static size_t pooled_side(const struct layer *l) {
  return l->pool_size == 0 ? out_side(l) : (out_side(l) + 2 * l->pool_padding - l->pool_size) / l->pool_stride + 1;
}

static int8_t input_at(const struct layer *l, size_t b, long row, long col, size_t channel) {
  if (l->input_dilated) {
    if (row % 2 != 0 || col % 2 != 0) return 0;
    row /= 2, col /= 2;
  }
  if (row < 0 || col < 0 || row >= (long)l->in_side || col >= (long)l->in_side) return 0;
  size_t r = (size_t)row, c = (size_t)col;
  if (l->input_3120) return input[((channel * l->in_side + r) * l->in_side + c) * BATCH + b];
  return input[((b * l->in_side + r) * l->in_side + c) * l->in_channels + channel];
}

static int8_t weight_at(const struct layer *l, size_t row, size_t col, size_t in, size_t out) {
  if (l->rotate) row = l->kernel - 1 - row, col = l->kernel - 1 - col;
  if (l->depthwise) return in == out ? weights[(out * l->kernel + row) * l->kernel + col] : 0;
  if (l->weight_1203) return weights[((in * l->kernel + row) * l->kernel + col) * l->out_channels + out];
  if (l->weight_0132) return weights[((row * l->kernel + col) * l->out_channels + out) * l->in_channels + in];
  return weights[((row * l->kernel + col) * l->in_channels + in) * l->out_channels + out];
}

static int8_t pixel(const struct layer *l, size_t b, size_t row, size_t col, size_t out) {
  int32_t sum = l->no_bias ? 0 : bias[out];
  for (size_t kr = 0; kr < l->kernel; kr++)
    for (size_t kc = 0; kc < l->kernel; kc++)
      for (size_t in = 0; in < l->in_channels; in++) {
        long r = (long)(row * l->stride + kr * l->dilation) - (long)l->padding;
        long c = (long)(col * l->stride + kc * l->dilation) - (long)l->padding;
        sum += input_at(l, b, r, c, in) * weight_at(l, kr, kc, in, out);
      }
  return check_scale(sum, l->activation == WEFT_RELU, l->scale);
}

static int8_t pooled_pixel(const struct layer *l, size_t b, size_t row, size_t col, size_t out) {
  if (l->pool_size == 0) return pixel(l, b, row, col, out);
  int8_t best = INT8_MIN;
  for (size_t wr = 0; wr < l->pool_size; wr++)
    for (size_t wc = 0; wc < l->pool_size; wc++) {
      long r = (long)(row * l->pool_stride + wr) - (long)l->pool_padding;
      long c = (long)(col * l->pool_stride + wc) - (long)l->pool_padding;
      bool inside = r >= 0 && c >= 0 && r < (long)out_side(l) && c < (long)out_side(l);
      int8_t value = inside ? pixel(l, b, (size_t)r, (size_t)c, out) : 0;
      if (value > best) best = value;
    }
  return best;
}

static void reference(const struct layer *l) {
  size_t side = pooled_side(l);
  for (size_t b = 0; b < BATCH; b++)
    for (size_t r = 0; r < side; r++)
      for (size_t c = 0; c < side; c++)
        for (size_t o = 0; o < l->out_channels; o++) {
          size_t at = l->output_1203 ? (r * side + c) * BATCH + b : (b * side + r) * side + c;
          wanted[at * l->out_channels + o] = pooled_pixel(l, b, r, c, o);
        }
}

// ---- the accelerator

static struct weft_loop_conv whole_layer(const struct layer *l) {
  size_t out = out_side(l), pooled = pooled_side(l);
  size_t in = l->input_dilated ? 2 * l->in_side - 1 : l->in_side;
  size_t reach = (l->kernel - 1) * l->dilation + 1;
  // The loop loads this many pixels per side, starting in the padding.
  size_t loaded = out * l->stride + reach - 1;
  size_t behind = loaded > l->padding + in ? loaded - l->padding - in : 0;
  size_t pool_behind = 0;
  if (l->pool_size > 0) {
    size_t covered = (pooled - 1) * l->pool_stride + l->pool_size;
    pool_behind = covered > l->pool_padding + out ? covered - l->pool_padding - out : 0;
  }
  return (struct weft_loop_conv){.batch_size = BATCH,
                                 .in_rows = l->in_side,
                                 .in_cols = l->in_side,
                                 .in_channels = l->in_channels,
                                 .out_rows = out,
                                 .out_cols = out,
                                 .out_channels = l->out_channels,
                                 .pool_out_rows = pooled,
                                 .pool_out_cols = pooled,
                                 .kernel = l->kernel,
                                 .stride = l->stride,
                                 .padding = l->padding,
                                 .dilation = l->dilation,
                                 .pool_size = l->pool_size == 0 ? 1 : l->pool_size,
                                 .pool_stride = l->pool_size == 0 ? 1 : l->pool_stride,
                                 .pool_padding = l->pool_padding,
                                 .in_stride = l->in_channels,
                                 .out_stride = l->out_channels,
                                 .weight_stride = l->out_channels,
                                 .batches = BATCH,
                                 .pool_rows = pooled,
                                 .pool_cols = pooled,
                                 .tile_out_channels = l->out_channels,
                                 .kernel_rows = l->kernel,
                                 .kernel_cols = l->kernel,
                                 .tile_in_channels = l->in_channels,
                                 .rows = out,
                                 .cols = out,
                                 .left_pad = l->padding,
                                 .upper_pad = l->padding,
                                 .right_pad = behind,
                                 .lower_pad = behind,
                                 .pool_left_pad = l->pool_padding,
                                 .pool_upper_pad = l->pool_padding,
                                 .pool_right_pad = pool_behind,
                                 .pool_lower_pad = pool_behind,
                                 .weights = weights,
                                 .input = input,
                                 .bias = bias,
                                 .output = got,
                                 .no_bias = l->no_bias,
                                 .rotate_weights = l->rotate,
                                 .trans_output_1203 = l->output_1203,
                                 .trans_weight_1203 = l->weight_1203,
                                 .trans_weight_0132 = l->weight_0132,
                                 .trans_input_3120 = l->input_3120,
                                 .depthwise = l->depthwise,
                                 .max_pixels = l->max_pixels == 0 ? 1 : l->max_pixels,
                                 .pool = l->pool_size > 0,
                                 .downsample = l->downsample,
                                 .input_dilated = l->input_dilated,
                                 .activation = l->activation};
}

// Depthwise runs channel by channel; otherwise a loop takes a range of input channels and the last one stores.
static void issue(const struct layer *l) {
  struct weft_loop_conv loop = whole_layer(l);
  size_t step = l->in_channel_step == 0 ? l->in_channels : l->in_channel_step;
  for (size_t k = 0; l->depthwise && k < l->in_channels; k++) {
    loop.tile_in_channels = loop.tile_out_channels = 1;
    loop.input = input + k;
    loop.weights = weights + k * l->kernel * l->kernel;
    loop.bias = bias + k;
    loop.output = got + k;
    weft_run_loop_conv(&loop);
  }
  for (size_t k = 0; !l->depthwise && k < l->in_channels; k += step) {
    loop.tile_in_channels = weft_min(step, l->in_channels - k);
    loop.input = input + k;
    loop.weights = weights + k * l->out_channels;
    loop.bias = k == 0 ? bias : NULL;
    loop.output = k + step >= l->in_channels ? got : NULL;
    weft_run_loop_conv(&loop);
  }
}

static void run(const char *what, struct layer l) {
  if (l.dilation == 0) l.dilation = 1;
  if (l.stride == 0) l.stride = 1;
  for (size_t i = 0; i < sizeof got; i++) got[i] = wanted[i] = 77;
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS,
                                         .a_transpose = l.input_3120,
                                         .b_transpose = l.weight_0132,
                                         .a_stride = l.stride >> (l.downsample ? 1 : 0),
                                         .c_stride = l.input_dilated ? 2 : 1});
  weft_set_store((struct weft_store){
      .stride_bytes = l.out_channels * (l.output_1203 ? BATCH : 1), .activation = l.activation, .scale = l.scale});
  issue(&l);
  weft_fence();
  reference(&l);
  check_int8(what, got, wanted, BATCH * SIDE * SIDE, CHANNELS, CHANNELS, &errors);
}

static void forward(void) {
  enum { C = CHANNELS };
  run("plain", (struct layer){.in_side = 5, .in_channels = C, .out_channels = C, .kernel = 3, .scale = 0.004f});
  run("padding and bias, few channels",
      (struct layer){.in_side = 5, .in_channels = 1, .out_channels = 3, .kernel = 3, .padding = 1, .scale = 0.02f});
  run("stride 2, ReLU", (struct layer){.in_side = 8,
                                       .in_channels = C - 1,
                                       .out_channels = C,
                                       .kernel = 3,
                                       .stride = 2,
                                       .padding = 1,
                                       .scale = 0.004f,
                                       .activation = WEFT_RELU});
  run("no bias", (struct layer){.in_side = 5,
                                .in_channels = C,
                                .out_channels = 1,
                                .kernel = 3,
                                .padding = 1,
                                .no_bias = true,
                                .scale = 0.004f});
  run("dilated kernel", (struct layer){.in_side = 7,
                                       .in_channels = C,
                                       .out_channels = C,
                                       .kernel = 3,
                                       .dilation = 2,
                                       .padding = 1,
                                       .scale = 0.004f});
  run("pooled", (struct layer){.in_side = 6,
                               .in_channels = C,
                               .out_channels = 3,
                               .kernel = 3,
                               .pool_size = 2,
                               .pool_stride = 2,
                               .scale = 0.004f,
                               .activation = WEFT_RELU});
  run("pooled with padding", (struct layer){.in_side = 5,
                                            .in_channels = 3,
                                            .out_channels = 3,
                                            .kernel = 3,
                                            .padding = 1,
                                            .pool_size = 3,
                                            .pool_stride = 2,
                                            .pool_padding = 1,
                                            .scale = 0.01f});
  run("input channels one block at a time", (struct layer){.in_side = 5,
                                                           .in_channels = C,
                                                           .out_channels = C,
                                                           .kernel = 3,
                                                           .padding = 1,
                                                           .in_channel_step = WEFT_DIM,
                                                           .scale = 0.004f});
  run("1x1", (struct layer){.in_side = 5, .in_channels = C, .out_channels = C, .kernel = 1, .scale = 0.01f});
  run("1x1 with stride",
      (struct layer){.in_side = 8, .in_channels = C, .out_channels = C, .kernel = 1, .stride = 2, .scale = 0.01f});
  run("1x1 downsampled", (struct layer){.in_side = 8,
                                        .in_channels = C,
                                        .out_channels = C,
                                        .kernel = 1,
                                        .stride = 2,
                                        .downsample = true,
                                        .scale = 0.01f});
}

static void folded(void) {
  enum { IN = WEFT_DIM / 3 < 3 ? 1 : 3 };
  const size_t pixels = weft_min(WEFT_DIM / IN, 3);
  run("folded pixels", (struct layer){.in_side = 5,
                                      .in_channels = IN,
                                      .out_channels = 3,
                                      .kernel = 3,
                                      .padding = 1,
                                      .max_pixels = pixels,
                                      .scale = 0.02f});
  run("folded pixels, stride 2", (struct layer){.in_side = 7,
                                                .in_channels = IN,
                                                .out_channels = 3,
                                                .kernel = 3,
                                                .stride = 2,
                                                .padding = 1,
                                                .max_pixels = pixels,
                                                .scale = 0.02f});
}

static void training(void) {
  enum { C = CHANNELS };
  run("rotated weights", (struct layer){.in_side = 5,
                                        .in_channels = C,
                                        .out_channels = C,
                                        .kernel = 3,
                                        .padding = 1,
                                        .rotate = true,
                                        .scale = 0.004f});
  run("weights 1203", (struct layer){.in_side = 5,
                                     .in_channels = C,
                                     .out_channels = 3,
                                     .kernel = 3,
                                     .padding = 1,
                                     .weight_1203 = true,
                                     .scale = 0.004f});
  run("weights 0132", (struct layer){.in_side = 5,
                                     .in_channels = C,
                                     .out_channels = C - 1,
                                     .kernel = 3,
                                     .padding = 1,
                                     .weight_0132 = true,
                                     .scale = 0.004f});
  run("output 1203", (struct layer){.in_side = 5,
                                    .in_channels = C,
                                    .out_channels = C,
                                    .kernel = 3,
                                    .padding = 1,
                                    .output_1203 = true,
                                    .scale = 0.004f});
  run("input 3120", (struct layer){.in_side = 5,
                                   .in_channels = C,
                                   .out_channels = 3,
                                   .kernel = 3,
                                   .padding = 1,
                                   .input_3120 = true,
                                   .scale = 0.004f});
  run("dilated input", (struct layer){.in_side = 3,
                                      .in_channels = C,
                                      .out_channels = C,
                                      .kernel = 3,
                                      .padding = 1,
                                      .input_dilated = true,
                                      .scale = 0.004f});
  run("dilated input, wide padding, rotated weights", (struct layer){.in_side = 3,
                                                                     .in_channels = C,
                                                                     .out_channels = 2,
                                                                     .kernel = 3,
                                                                     .padding = 2,
                                                                     .input_dilated = true,
                                                                     .rotate = true,
                                                                     .no_bias = true,
                                                                     .scale = 0.004f});
}

int main(void) {
  if (!WEFT_HAS_LOOP_CONV) return check_verdict("loop_conv", errors);
  uint32_t seed = 7;
  check_fill(input, sizeof input, &seed);
  check_fill(weights, sizeof weights, &seed);
  check_fill_int32(bias, CHANNELS, 20000, &seed);
  weft_flush(0);
  forward();
  if (WEFT_HAS_PIXEL_REPEAT) folded();
  if (WEFT_HAS_DEPTHWISE_CONV)
    run("depthwise", (struct layer){.in_side = 5,
                                    .in_channels = 3,
                                    .out_channels = 3,
                                    .kernel = 3,
                                    .padding = 1,
                                    .depthwise = true,
                                    .scale = 0.05f});
  if (WEFT_HAS_TRAINING_CONV) training();
  return check_verdict("loop_conv", errors);
}
