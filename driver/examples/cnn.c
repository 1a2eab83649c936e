// SPDX-License-Identifier: Apache-2.0
// A small quantised network from end to end: convolution with pooling, a residual block, a depthwise and a 1x1
// convolution, a fully connected layer, and the class with the largest score. Every layer's output is compared with
// plain loops.
#include "driver/examples/check.h"
#include "weft/console.h"
#include "weft/tiled.h"

enum {
  SIDE = 12,
  HALF = SIDE / 2,
  IN = 3,
  MID = 2 * WEFT_DIM < 24 ? 2 * WEFT_DIM + 1 : 24,
  OUT = MID + 5,
  FEATURES = HALF / 2 * (HALF / 2) * OUT,
  CLASSES = 10,
  IMAGES = 2,
};

static int8_t image[IMAGES][SIDE * SIDE * IN];
static int8_t stem_weights[3 * 3 * IN * MID], left_weights[3 * 3 * MID * MID], right_weights[MID * MID];
static int8_t depth_weights[MID * 3 * 3], point_weights[MID * OUT], class_weights[FEATURES * CLASSES];
static int32_t stem_bias[MID], left_bias[MID], depth_bias[MID], point_bias[OUT], class_bias[CLASSES];

// One set of activations each for the accelerator and the reference.
struct activations {
  int8_t stem[HALF * HALF * MID], left[HALF * HALF * MID], right[HALF * HALF * MID], sum[HALF * HALF * MID];
  int8_t depth[HALF / 2 * (HALF / 2) * MID], point[FEATURES];
  int32_t score[CLASSES];
};

static struct activations got, wanted;
static int errors;

// ---- the reference: float of nothing but the scale, loops of nothing but sums

static void ref_conv(const struct weft_conv *c, const int8_t *in, int8_t *out, size_t side, size_t out_side) {
  for (size_t r = 0; r < out_side; r++)
    for (size_t q = 0; q < out_side; q++)
      for (size_t o = 0; o < c->out_channels; o++) {
        int32_t sum = c->bias == NULL ? 0 : c->bias[o];
        for (size_t kr = 0; kr < c->kernel; kr++)
          for (size_t kc = 0; kc < c->kernel; kc++) {
            long ir = (long)(r * c->stride + kr) - (long)c->padding, ic = (long)(q * c->stride + kc) - (long)c->padding;
            if (ir < 0 || ic < 0 || ir >= (long)side || ic >= (long)side) continue;
            const int8_t *pixel = in + ((size_t)ir * side + (size_t)ic) * c->in_channels;
            const int8_t *w = c->weights;
            if (c->depthwise) sum += pixel[o] * w[(o * c->kernel + kr) * c->kernel + kc];
            for (size_t i = 0; !c->depthwise && i < c->in_channels; i++)
              sum += pixel[i] * w[((kr * c->kernel + kc) * c->in_channels + i) * c->out_channels + o];
          }
        out[(r * out_side + q) * c->out_channels + o] = check_scale(sum, c->activation == WEFT_RELU, c->scale);
      }
}

static void ref_pool(const int8_t *in, int8_t *out, size_t side, size_t channels) {
  for (size_t r = 0; r < side / 2; r++)
    for (size_t q = 0; q < side / 2; q++)
      for (size_t o = 0; o < channels; o++) {
        int8_t best = INT8_MIN;
        for (size_t w = 0; w < 4; w++) {
          int8_t v = in[((2 * r + w / 2) * side + 2 * q + w % 2) * channels + o];
          if (v > best) best = v;
        }
        out[(r * (side / 2) + q) * channels + o] = best;
      }
}

// ---- the network

static const struct weft_conv stem = {.batch = 1,
                                      .in_rows = SIDE,
                                      .in_cols = SIDE,
                                      .in_channels = IN,
                                      .out_channels = MID,
                                      .kernel = 3,
                                      .stride = 1,
                                      .padding = 1,
                                      .pool_size = 2,
                                      .pool_stride = 2,
                                      .weights = stem_weights,
                                      .bias = stem_bias,
                                      .activation = WEFT_RELU,
                                      .scale = 0.0012f};
static const struct weft_conv left = {.batch = 1,
                                      .in_rows = HALF,
                                      .in_cols = HALF,
                                      .in_channels = MID,
                                      .out_channels = MID,
                                      .kernel = 3,
                                      .stride = 1,
                                      .padding = 1,
                                      .weights = left_weights,
                                      .bias = left_bias,
                                      .scale = 0.0008f};
static const struct weft_conv right = {.batch = 1,
                                       .in_rows = HALF,
                                       .in_cols = HALF,
                                       .in_channels = MID,
                                       .out_channels = MID,
                                       .kernel = 1,
                                       .stride = 1,
                                       .weights = right_weights,
                                       .scale = 0.002f};
static const struct weft_conv depth = {.batch = 1,
                                       .in_rows = HALF,
                                       .in_cols = HALF,
                                       .in_channels = MID,
                                       .out_channels = MID,
                                       .kernel = 3,
                                       .stride = 2,
                                       .padding = 1,
                                       .depthwise = true,
                                       .weights = depth_weights,
                                       .bias = depth_bias,
                                       .activation = WEFT_RELU,
                                       .scale = 0.003f};
static const struct weft_conv point = {.batch = 1,
                                       .in_rows = HALF / 2,
                                       .in_cols = HALF / 2,
                                       .in_channels = MID,
                                       .out_channels = OUT,
                                       .kernel = 1,
                                       .stride = 1,
                                       .weights = point_weights,
                                       .bias = point_bias,
                                       .activation = WEFT_RELU,
                                       .scale = 0.003f};

static void must(enum weft_status status, const char *layer) { check_equal(layer, status, WEFT_OK, &errors); }

// The next layer reads what this one stores, so each ends with a fence.
static void convolve(const char *name, struct weft_conv c, const int8_t *in, int8_t *out) {
  c.input = in, c.output = out;
  enum weft_status status = weft_tiled_conv_loop(&c);
  if (status == WEFT_UNSUPPORTED || status == WEFT_TOO_BIG) status = weft_tiled_conv(&c);
  must(status, name);
  weft_fence();
}

static void on_accelerator(const int8_t *in, struct activations *x) {
  convolve("stem", stem, in, x->stem);
  convolve("left branch", left, x->stem, x->left);
  convolve("right branch", right, x->stem, x->right);
  must(weft_tiled_resadd(&(struct weft_resadd){.m = HALF * HALF,
                                               .n = MID,
                                               .a = x->left,
                                               .b = x->right,
                                               .c = x->sum,
                                               .a_scale = 0.5f,
                                               .b_scale = 0.75f,
                                               .c_scale = 1.0f,
                                               .activation = WEFT_RELU}),
       "sum");
  weft_fence();
  convolve("depthwise", depth, x->sum, x->depth);
  convolve("pointwise", point, x->depth, x->point);
  must(weft_tiled_gemm(&(struct weft_gemm){.m = 1,
                                           .n = CLASSES,
                                           .k = FEATURES,
                                           .a = x->point,
                                           .b = class_weights,
                                           .bias = class_bias,
                                           .c = x->score,
                                           .full = true}),
       "classes");
  weft_fence();
}

static void on_host(const int8_t *in, struct activations *x) {
  static int8_t before_pool[SIDE * SIDE * MID];
  ref_conv(&stem, in, before_pool, SIDE, SIDE);
  ref_pool(before_pool, x->stem, SIDE, MID);
  ref_conv(&left, x->stem, x->left, HALF, HALF);
  ref_conv(&right, x->stem, x->right, HALF, HALF);
  for (size_t i = 0; i < HALF * HALF * MID; i++)
    x->sum[i] = check_scale(check_scale(x->left[i], false, 0.5f) + check_scale(x->right[i], false, 0.75f), true, 1.0f);
  ref_conv(&depth, x->sum, x->depth, HALF, HALF / 2);
  ref_conv(&point, x->depth, x->point, HALF / 2, HALF / 2);
  for (size_t c = 0; c < CLASSES; c++) {
    x->score[c] = class_bias[c];
    for (size_t f = 0; f < FEATURES; f++) x->score[c] += x->point[f] * class_weights[f * CLASSES + c];
  }
}

static size_t best_class(const struct activations *x) {
  size_t best = 0;
  for (size_t c = 1; c < CLASSES; c++)
    if (x->score[c] > x->score[best]) best = c;
  return best;
}

static void compare(void) {
  check_int8("stem", got.stem, wanted.stem, HALF * HALF, MID, MID, &errors);
  check_int8("left branch", got.left, wanted.left, HALF * HALF, MID, MID, &errors);
  check_int8("right branch", got.right, wanted.right, HALF * HALF, MID, MID, &errors);
  check_int8("sum", got.sum, wanted.sum, HALF * HALF, MID, MID, &errors);
  check_int8("depthwise", got.depth, wanted.depth, HALF / 2 * (HALF / 2), MID, MID, &errors);
  check_int8("pointwise", got.point, wanted.point, HALF / 2 * (HALF / 2), OUT, OUT, &errors);
  check_int32("classes", got.score, wanted.score, 1, CLASSES, CLASSES, &errors);
}

int main(void) {
  uint32_t seed = 10;
  check_fill(image[0], sizeof image, &seed);
  check_fill(stem_weights, sizeof stem_weights, &seed);
  check_fill(left_weights, sizeof left_weights, &seed);
  check_fill(right_weights, sizeof right_weights, &seed);
  check_fill(depth_weights, sizeof depth_weights, &seed);
  check_fill(point_weights, sizeof point_weights, &seed);
  check_fill(class_weights, sizeof class_weights, &seed);
  check_fill_int32(stem_bias, MID, 5000, &seed);
  check_fill_int32(left_bias, MID, 5000, &seed);
  check_fill_int32(depth_bias, MID, 2000, &seed);
  check_fill_int32(point_bias, OUT, 2000, &seed);
  check_fill_int32(class_bias, CLASSES, 20000, &seed);
  weft_flush(0);
  for (size_t i = 0; i < IMAGES; i++) {
    uint64_t start = weft_cycles();
    on_accelerator(image[i], &got);
    uint64_t cycles = weft_cycles() - start;
    on_host(image[i], &wanted);
    compare();
    weft_printf("image %zu: class %zu, %lu cycles\n", i, best_class(&got), (unsigned long)cycles);
  }
  return check_verdict("cnn", errors);
}
