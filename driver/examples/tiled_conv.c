// SPDX-License-Identifier: Apache-2.0
// The tiled convolution, from single instructions and through the convolution loop: ragged channels, stride, padding,
// dilation, pooling, bias, depthwise, images and pixels with gaps. Also what it refuses.
#include "driver/examples/check.h"
#include "weft/console.h"
#include "weft/tiled.h"

enum {
  PIXELS = 18 * 40,
  CHANNELS = WEFT_DIM + 6,
  // More input channels than one tile takes: of a 5x5 kernel in the loop, of a 20x20 image without it.
  DEEP = WEFT_SP_ROWS / 2 / 25 + WEFT_DIM,
  WIDE = 24 * WEFT_DIM,
  INPUT = 20 * 20 * WIDE,
  WEIGHTS = 5 * 5 * (CHANNELS * CHANNELS + 2 * DEEP),
};

static int8_t input[INPUT], weights[WEIGHTS];
static int8_t output[PIXELS * (CHANNELS + 2)], wanted[sizeof output];
static int32_t bias[CHANNELS];
static int errors;

// A layer is a name and one or two lines.
// clang-format off
static const struct layer {
  const char *what;
  struct weft_conv conv;
} layers[] = {
    {"3x3",
     {.in_rows = 9, .in_cols = 9, .in_channels = CHANNELS, .out_channels = CHANNELS, .kernel = 3, .padding = 1,
      .bias = bias, .scale = 0.003f, .activation = WEFT_RELU}},
    {"two images, stride 2",
     {.batch = 2, .in_rows = 13, .in_cols = 13, .in_channels = 3, .out_channels = CHANNELS, .kernel = 3, .stride = 2,
      .padding = 1, .scale = 0.01f}},
    {"5x5 of one channel",
     {.in_rows = 13, .in_cols = 13, .in_channels = 1, .out_channels = 5, .kernel = 5, .padding = 2, .bias = bias,
      .scale = 0.01f}},
    {"dilated",
     {.in_rows = 11, .in_cols = 11, .in_channels = CHANNELS - 1, .out_channels = 3, .kernel = 3, .dilation = 2,
      .padding = 2, .scale = 0.004f}},
    {"1x1",
     {.in_rows = 7, .in_cols = 7, .in_channels = CHANNELS, .out_channels = CHANNELS - 1, .kernel = 1, .bias = bias,
      .scale = 0.006f}},
    {"1x1, stride 2",
     {.in_rows = 10, .in_cols = 10, .in_channels = CHANNELS, .out_channels = 4, .kernel = 1, .stride = 2,
      .scale = 0.006f}},
    {"pooled 2x2",
     {.in_rows = 12, .in_cols = 12, .in_channels = CHANNELS, .out_channels = CHANNELS, .kernel = 3, .padding = 1,
      .pool_size = 2, .pool_stride = 2, .bias = bias, .scale = 0.003f}},
    {"pooled 3x3 with padding",
     {.in_rows = 13, .in_cols = 13, .in_channels = 2, .out_channels = 3, .kernel = 3, .stride = 2, .padding = 1,
      .pool_size = 3, .pool_stride = 2, .pool_padding = 1, .scale = 0.02f}},
    {"depthwise",
     {.in_rows = 9, .in_cols = 9, .in_channels = CHANNELS, .out_channels = CHANNELS, .kernel = 3, .padding = 1,
      .depthwise = true, .bias = bias, .scale = 0.02f}},
    {"depthwise, stride 2, pooled",
     {.in_rows = 11, .in_cols = 11, .in_channels = 3, .out_channels = 3, .kernel = 3, .stride = 2, .padding = 1,
      .pool_size = 2, .pool_stride = 2, .depthwise = true, .scale = 0.02f}},
    {"oblong image",
     {.in_rows = 5, .in_cols = 13, .in_channels = 4, .out_channels = CHANNELS, .kernel = 3, .padding = 1,
      .bias = bias, .scale = 0.01f}},
    {"gaps between pixels",
     {.in_rows = 8, .in_cols = 8, .in_channels = CHANNELS, .out_channels = CHANNELS - 2, .kernel = 3,
      .in_stride = CHANNELS + 2, .out_stride = CHANNELS + 1, .scale = 0.003f}},
    {"oblong, gaps, pooled",
     {.in_rows = 9, .in_cols = 7, .in_channels = 5, .out_channels = 6, .kernel = 3, .padding = 1, .pool_size = 2,
      .pool_stride = 2, .in_stride = 7, .out_stride = 8, .scale = 0.01f}},
    {"many channels, 5x5",
     {.in_rows = 5, .in_cols = 5, .in_channels = DEEP, .out_channels = 2, .kernel = 5, .padding = 2,
      .scale = 0.001f}},
    {"many channels, many pixels",
     {.in_rows = 19, .in_cols = 20, .in_channels = WIDE, .out_channels = 1, .kernel = 1, .scale = 0.003f}},
    // Results larger than the accumulator, and weights larger than the scratchpad: tiles and steps in every direction.
    {"several tiles",
     {.in_rows = 18, .in_cols = 40, .in_channels = CHANNELS, .out_channels = CHANNELS, .kernel = 3, .padding = 1,
      .bias = bias, .scale = 0.003f, .activation = WEFT_RELU}},
    {"several tiles, stride 2",
     {.batch = 2, .in_rows = 19, .in_cols = 60, .in_channels = 5, .out_channels = CHANNELS, .kernel = 3, .stride = 2,
      .padding = 2, .scale = 0.01f}},
    {"several tiles, 1x1, stride 2",
     {.in_rows = 36, .in_cols = 80, .in_channels = 3, .out_channels = CHANNELS, .kernel = 1, .stride = 2,
      .scale = 0.01f}},
    {"several tiles, pooled",
     {.in_rows = 34, .in_cols = 70, .in_channels = 3, .out_channels = CHANNELS, .kernel = 3, .padding = 1,
      .pool_size = 3, .pool_stride = 2, .pool_padding = 1, .bias = bias, .scale = 0.01f}},
};
// Its kernel is too large for the convolution loop.
static const struct layer row_by_row = {
    "33x33, row by row",
    {.in_rows = 38, .in_cols = 40, .in_channels = 1, .out_channels = 2, .kernel = 33, .scale = 0.001f}
};
// clang-format on

typedef enum weft_status conv_function(const struct weft_conv *conv);

static int32_t sum(const struct weft_conv *c, size_t b, long row, long col, size_t out) {
  int32_t total = c->bias == NULL ? 0 : c->bias[out];
  for (size_t kr = 0; kr < c->kernel; kr++)
    for (size_t kc = 0; kc < c->kernel; kc++) {
      long r = row * (long)c->stride + (long)(kr * c->dilation) - (long)c->padding;
      long q = col * (long)c->stride + (long)(kc * c->dilation) - (long)c->padding;
      if (r < 0 || q < 0 || r >= (long)c->in_rows || q >= (long)c->in_cols) continue;
      const int8_t *pixel = c->input + ((b * c->in_rows + (size_t)r) * c->in_cols + (size_t)q) * c->in_stride;
      if (c->depthwise) {
        total += pixel[out] * c->weights[(out * c->kernel + kr) * c->kernel + kc];
        continue;
      }
      for (size_t in = 0; in < c->in_channels; in++)
        total += pixel[in] * c->weights[((kr * c->kernel + kc) * c->in_channels + in) * c->out_channels + out];
    }
  return total;
}

static size_t conv_size(const struct weft_conv *c, size_t in) {
  return (in + 2 * c->padding - (c->kernel - 1) * c->dilation - 1) / c->stride + 1;
}

static size_t pool_size(const struct weft_conv *c, size_t in) {
  return c->pool_size == 0 ? in : (in + 2 * c->pool_padding - c->pool_size) / c->pool_stride + 1;
}

static int8_t value(const struct weft_conv *c, size_t b, size_t row, size_t col, size_t out) {
  bool relu = c->activation == WEFT_RELU;
  if (c->pool_size == 0) return check_scale(sum(c, b, (long)row, (long)col, out), relu, c->scale);
  int8_t best = INT8_MIN;
  for (size_t wr = 0; wr < c->pool_size; wr++)
    for (size_t wc = 0; wc < c->pool_size; wc++) {
      long r = (long)(row * c->pool_stride + wr) - (long)c->pool_padding;
      long q = (long)(col * c->pool_stride + wc) - (long)c->pool_padding;
      bool inside = r >= 0 && q >= 0 && r < (long)conv_size(c, c->in_rows) && q < (long)conv_size(c, c->in_cols);
      int8_t v = inside ? check_scale(sum(c, b, r, q, out), relu, c->scale) : 0;
      if (v > best) best = v;
    }
  return best;
}

static void reference(const struct weft_conv *c) {
  size_t rows = pool_size(c, conv_size(c, c->in_rows)), cols = pool_size(c, conv_size(c, c->in_cols));
  for (size_t i = 0; i < sizeof wanted; i++) wanted[i] = 77;
  for (size_t b = 0; b < c->batch; b++)
    for (size_t r = 0; r < rows; r++)
      for (size_t q = 0; q < cols; q++)
        for (size_t o = 0; o < c->out_channels; o++)
          wanted[((b * rows + r) * cols + q) * c->out_stride + o] = value(c, b, r, q, o);
}

static void run_form(const char *what, conv_function *conv, const struct weft_conv *c, enum weft_status status) {
  for (size_t i = 0; i < sizeof output; i++) output[i] = 77;
  uint64_t start = weft_cycles();
  check_equal(what, conv(c), status, &errors);
  if (status != WEFT_OK) return;
  weft_fence();
  uint64_t cycles = weft_cycles() - start;
  int before = errors;
  check_int8(what, output, wanted, 1, sizeof output, sizeof output, &errors);
  if (errors == before) weft_printf("%-28s %8lu cycles\n", what, (unsigned long)cycles);
}

static struct weft_conv complete(struct weft_conv c) {
  c.input = input, c.weights = weights, c.output = output;
  if (c.batch == 0) c.batch = 1;
  if (c.stride == 0) c.stride = 1;
  if (c.dilation == 0) c.dilation = 1;
  if (c.in_stride == 0) c.in_stride = c.in_channels;
  if (c.out_stride == 0) c.out_stride = c.out_channels;
  return c;
}

static void run_instructions(const char *what, const struct weft_conv *conv) {
  const struct weft_conv c = complete(*conv);
  reference(&c);
  run_form(what, weft_tiled_conv, &c, WEFT_OK);
}

static void run(const char *what, struct weft_conv c) {
  c = complete(c);
  run_instructions(what, &c);
  bool square = c.in_rows == c.in_cols && c.in_stride == c.in_channels && c.out_stride == c.out_channels;
  bool loop = WEFT_HAS_LOOP_CONV && (square || WEFT_ISA_REVISION > 1) && (!c.depthwise || WEFT_HAS_DEPTHWISE_CONV);
  run_form(what, weft_tiled_conv_loop, &c, loop ? WEFT_OK : WEFT_UNSUPPORTED);
}

static void refusals(conv_function *conv) {
  struct weft_conv good = {.batch = 1,
                           .in_rows = 4,
                           .in_cols = 4,
                           .in_channels = 2,
                           .out_channels = 2,
                           .kernel = 3,
                           .input = input,
                           .weights = weights,
                           .output = output},
                   c = good;
  c.kernel = 0;
  check_equal("no kernel", conv(&c), WEFT_BAD_ARGUMENT, &errors);
  c = good, c.kernel = 5;
  check_equal("kernel larger than the image", conv(&c), WEFT_BAD_ARGUMENT, &errors);
  c = good, c.output = NULL;
  check_equal("no output", conv(&c), WEFT_BAD_ARGUMENT, &errors);
  c = good, c.depthwise = true, c.out_channels = 3;
  check_equal("depthwise channels", conv(&c), WEFT_BAD_ARGUMENT, &errors);
  c = good, c.pool_size = 4, c.pool_stride = 1, c.padding = 2, c.in_rows = c.in_cols = 8;
  check_equal("window of 4", conv(&c), WEFT_UNSUPPORTED, &errors);
  c = good, c.in_rows = c.in_cols = 1 << 14, c.kernel = 4000;
  check_equal("kernel larger than the memories", weft_tiled_conv_loop(&c),
              WEFT_HAS_LOOP_CONV ? WEFT_TOO_BIG : WEFT_UNSUPPORTED, &errors);
}

int main(void) {
  uint32_t seed = 9;
  check_fill(input, sizeof input, &seed);
  check_fill(weights, sizeof weights, &seed);
  check_fill_int32(bias, CHANNELS, 20000, &seed);
  weft_flush(0);
  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) run(layers[i].what, layers[i].conv);
  run_instructions(row_by_row.what, &row_by_row.conv);
  refusals(weft_tiled_conv);
  refusals(weft_tiled_conv_loop);
  return check_verdict("tiled_conv", errors);
}
