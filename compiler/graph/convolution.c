// SPDX-License-Identifier: Apache-2.0
// Convolutions: images become matrices of windows, a block of image rows at a time, and the rest is a product.
//
// f32: columns[channel, tap][pixel], channels first. Integers: columns[pixel][tap, channel] of 16 bits with the zero
// point taken off, in any layout, for ConvInteger, QLinearConv and QConv.
#include "compiler/graph/convolution.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "compiler/graph/kernels.h"

enum { BLOCK_ELEMENTS = 1 << 20 };

// Image rows of the result per block, so that the columns of a block stay in the cache.
static int64_t block_rows(const graph_window *w, int64_t depth) {
  int64_t rows = BLOCK_ELEMENTS / (depth * w->out[2] + 1);
  return rows < 1 ? 1 : rows;
}

// Row `row` of the result's images is at (d, h): where its window begins in the input.
static bool source_row(const graph_window *w, int64_t row, const int64_t tap[GRAPH_AXES], int64_t *at) {
  int64_t d = graph_window_source(w, 0, row / w->out[1], tap[0]);
  int64_t h = graph_window_source(w, 1, row % w->out[1], tap[1]);
  *at = d * w->in[1] + h;
  return d >= 0 && d < w->in[0] && h >= 0 && h < w->in[1];
}

static void split_tap(const graph_window *w, int64_t index, int64_t tap[GRAPH_AXES]) {
  tap[2] = index % w->kernel[2];
  tap[1] = index / w->kernel[2] % w->kernel[1];
  tap[0] = index / w->kernel[2] / w->kernel[1];
}

// ---- f32

static void row_f32(const graph_window *w, const float *x, int64_t tap, float *to) {
  int64_t first = graph_window_source(w, 2, 0, tap), stride = w->stride[2], count = w->out[2];
  int64_t low = first < 0 ? wf_min((-first + stride - 1) / stride, count) : 0;
  int64_t high = first >= w->in[2] ? 0 : wf_min((w->in[2] - 1 - first) / stride + 1, count);
  for (int64_t i = 0; i < low; i++) to[i] = 0;
  if (stride == 1 && high > low)
    memcpy(to + low, x + first + low, (size_t)(high - low) * sizeof to[0]);
  else
    for (int64_t i = low; i < high; i++) to[i] = x[first + i * stride];
  for (int64_t i = high > low ? high : low; i < count; i++) to[i] = 0;
}

static void columns_f32(const graph_window *w, const float *x, int64_t channels, int64_t from, int64_t to,
                        float *columns) {
  int64_t taps = graph_window_taps(w), image = graph_product(w->in, 0, GRAPH_AXES), tap[GRAPH_AXES], at;
  for (int64_t c = 0; c < channels; c++)
    for (int64_t t = 0; t < taps; t++) {
      split_tap(w, t, tap);
      for (int64_t row = from; row < to; row++, columns += w->out[2]) {
        if (source_row(w, row, tap, &at))
          row_f32(w, x + c * image + at * w->in[2], tap[2], columns);
        else
          memset(columns, 0, (size_t)w->out[2] * sizeof columns[0]);
      }
    }
}

// One image and group: y[filters][pixels] += weights[filters][channels, taps] * columns.
static void group_f32(const graph_window *w, const float *x, int64_t channels, const float *weights, int64_t filters,
                      float *y, float *columns) {
  int64_t depth = channels * graph_window_taps(w), pixels = graph_window_pixels(w), rows = w->out[0] * w->out[1];
  int64_t step = block_rows(w, depth);
  for (int64_t row = 0; row < rows; row += step) {
    int64_t end = wf_min(rows, row + step), count = (end - row) * w->out[2];
    columns_f32(w, x, channels, row, end, columns);
    graph_kernel_f32(filters, count, depth, weights, depth, columns, count, y + row * w->out[2], pixels);
  }
}

static bool check_conv(graph_call *c, graph_window *w, const graph_tensor *x, const graph_tensor *k, int64_t *groups) {
  *groups = graph_int(c->node, "group", 1);
  if (x->rank < 3 || k->rank != x->rank)
    return graph_call_fail(c, "it takes images and kernels of the same number of dimensions, at least 3");
  if (*groups < 1 || k->dim[0] % *groups != 0 || k->dim[0] == 0 || k->dim[1] > INT64_C(1) << 32 ||
      *groups > (INT64_C(1) << 30) || k->dim[1] * *groups != x->dim[1])
    return graph_call_fail(c, "%" PRId64 " channels, kernels for %" PRId64 ", and %" PRId64 " groups do not match",
                           x->dim[1], k->dim[1], *groups);
  int64_t given[GRAPH_AXES];
  int count = graph_ints(c->node, "kernel_shape", given, GRAPH_AXES);
  for (int d = 0; d < count && d < GRAPH_AXES; d++)
    if (d + 2 >= k->rank || given[d] != k->dim[2 + d])
      return graph_call_fail(c, "kernel_shape contradicts its weights");
  return graph_window_find(c, w, x->rank - 2, &x->dim[2], &k->dim[2]);
}

static bool conv_result(graph_call *c, const graph_window *w, graph_type type, const graph_tensor *x,
                        const graph_tensor *k, const graph_tensor *bias) {
  int64_t dim[GRAPH_RANK_MAX] = {x->dim[0], k->dim[0]};
  if (bias != NULL && (bias->rank != 1 || bias->dim[0] != k->dim[0]))
    return graph_call_fail(c, "its bias does not have %" PRId64 " elements", k->dim[0]);
  for (int d = 0; d < w->rank; d++) dim[2 + d] = w->out[GRAPH_AXES - w->rank + d];
  return graph_call_result(c, 0, type, x->rank, dim);
}

bool graph_infer_conv(graph_call *c) {
  graph_window w;
  int64_t groups;
  if (c->in[1]->type != GRAPH_F32 || (c->in[2] != NULL && c->in[2]->type != GRAPH_F32))
    return graph_call_fail(c, "its weights and bias have to be f32");
  return check_conv(c, &w, c->in[0], c->in[1], &groups) && conv_result(c, &w, GRAPH_F32, c->in[0], c->in[1], c->in[2]);
}

static void fill_bias(float *y, const graph_tensor *bias, int64_t filters, int64_t pixels) {
  for (int64_t f = 0; f < filters; f++) {
    float value = bias != NULL ? ((const float *)bias->data)[f] : 0;
    for (int64_t p = 0; p < pixels; p++) y[f * pixels + p] = value;
  }
}

bool graph_run_conv(graph_call *c) {
  const graph_tensor *x = c->in[0], *k = c->in[1];
  graph_window w;
  int64_t groups;
  if (!check_conv(c, &w, x, k, &groups)) return false;
  int64_t channels = k->dim[1], filters = k->dim[0] / groups, depth = channels * graph_window_taps(&w);
  int64_t image = graph_product(w.in, 0, GRAPH_AXES), pixels = graph_window_pixels(&w);
  int64_t rows = wf_min(block_rows(&w, depth), w.out[0] * w.out[1]);
  float *columns = graph_call_scratch(c, depth * rows * w.out[2], sizeof columns[0]);
  if (columns == NULL) return false;
  for (int64_t n = 0; n < x->dim[0]; n++) {
    float *y = (float *)c->to[0] + n * k->dim[0] * pixels;
    fill_bias(y, c->in[2], k->dim[0], pixels);
    for (int64_t g = 0; g < groups; g++)
      group_f32(&w, (const float *)x->data + (n * groups + g) * channels * image, channels,
                (const float *)k->data + g * filters * depth, filters, y + g * filters * pixels, columns);
  }
  wf_free(columns);
  return true;
}

// ---- integers

static void copy_channels(const graph_conv_int *v, int64_t from, int16_t *to) {
  if (v->x_type == GRAPH_I8) {
    const int8_t *x = (const int8_t *)v->x + from;
    for (int64_t c = 0; c < v->channels; c++) to[c] = (int16_t)(x[c * v->x_channel] - v->zero);
  } else {
    const uint8_t *x = (const uint8_t *)v->x + from;
    for (int64_t c = 0; c < v->channels; c++) to[c] = (int16_t)(x[c * v->x_channel] - v->zero);
  }
}

static void columns_int(const graph_conv_int *v, int64_t base, int64_t from, int64_t to, int16_t *columns) {
  const graph_window *w = &v->window;
  int64_t taps = graph_window_taps(w), tap[GRAPH_AXES], at;
  for (int64_t row = from; row < to; row++)
    for (int64_t q = 0; q < w->out[2]; q++)
      for (int64_t t = 0; t < taps; t++, columns += v->channels) {
        split_tap(w, t, tap);
        int64_t column = graph_window_source(w, 2, q, tap[2]);
        if (source_row(w, row, tap, &at) && column >= 0 && column < w->in[2])
          copy_channels(v, base + (at * w->in[2] + column) * v->x_pixel, columns);
        else
          memset(columns, 0, (size_t)v->channels * sizeof columns[0]);
      }
}

// One channel and one filter per group, channels last: all groups of a pixel at once. `turned` has the weights by tap.
static void depthwise(const graph_conv_int *v, const int16_t *turned) {
  const graph_window *w = &v->window;
  int64_t taps = graph_window_taps(w), rows = w->out[0] * w->out[1], tap[GRAPH_AXES], at;
  for (int64_t n = 0; n < v->batch; n++)
    for (int64_t pixel = 0; pixel < rows * w->out[2]; pixel++) {
      int32_t *y = v->y + n * v->y_batch + pixel * v->y_pixel;
      memset(y, 0, (size_t)v->groups * sizeof y[0]);
      for (int64_t t = 0; t < taps; t++) {
        split_tap(w, t, tap);
        int64_t column = graph_window_source(w, 2, pixel % w->out[2], tap[2]);
        if (!source_row(w, pixel / w->out[2], tap, &at) || column < 0 || column >= w->in[2]) continue;
        const int8_t *x = (const int8_t *)v->x + n * v->x_batch + (at * w->in[2] + column) * v->x_pixel;
        graph_kernel_multiply_add(v->groups, x, turned + t * v->groups, y);
      }
    }
}

static bool is_depthwise(const graph_conv_int *v) {
  return v->channels == 1 && v->filters == 1 && v->x_channel == 1 && v->y_filter == 1 && v->x_type == GRAPH_I8 &&
         v->zero == 0;
}

static bool run_depthwise(graph_call *c, const graph_conv_int *v) {
  int64_t taps = graph_window_taps(&v->window);
  int16_t *turned = graph_call_scratch(c, taps * v->groups, sizeof turned[0]);
  if (turned == NULL) return false;
  for (int64_t t = 0; t < taps; t++)
    for (int64_t g = 0; g < v->groups; g++) turned[t * v->groups + g] = v->weights[g * taps + t];
  depthwise(v, turned);
  wf_free(turned);
  return true;
}

bool graph_conv_int_run(graph_call *c, const graph_conv_int *v) {
  if (is_depthwise(v)) return run_depthwise(c, v);
  const graph_window *w = &v->window;
  int64_t depth = v->channels * graph_window_taps(w), rows = w->out[0] * w->out[1], step = block_rows(w, depth);
  int16_t *columns = graph_call_scratch(c, depth * wf_min(step, rows) * w->out[2], sizeof columns[0]);
  if (columns == NULL) return false;
  for (int64_t n = 0; n < v->batch; n++)
    for (int64_t g = 0; g < v->groups; g++)
      for (int64_t row = 0; row < rows; row += step) {
        int64_t end = wf_min(rows, row + step);
        columns_int(v, n * v->x_batch + g * v->channels * v->x_channel, row, end, columns);
        graph_kernel_i16((end - row) * w->out[2], v->filters, depth, columns, v->weights + g * v->filters * depth,
                         v->y + n * v->y_batch + g * v->filters * v->y_filter + row * w->out[2] * v->y_pixel,
                         v->y_pixel, v->y_filter);
      }
  wf_free(columns);
  return true;
}

// Weights [filters][channels][taps] of bytes to [filters][taps][channels]; a zero point for all or one for each filter.
static int16_t *weights_of(graph_call *c, const graph_tensor *k, const graph_tensor *zero, int64_t taps) {
  int16_t *to = graph_call_scratch(c, graph_elements(k), sizeof to[0]);
  int64_t channels = k->dim[1];
  for (int64_t f = 0; f < k->dim[0] && to != NULL; f++) {
    int64_t z = zero == NULL ? 0 : graph_int_at(zero->type, zero->data, graph_elements(zero) > 1 ? (size_t)f : 0);
    for (int64_t ch = 0; ch < channels; ch++)
      for (int64_t t = 0; t < taps; t++)
        to[(f * taps + t) * channels + ch] =
            (int16_t)(graph_int_at(k->type, k->data, (size_t)((f * channels + ch) * taps + t)) - z);
  }
  return to;
}

// y[n][filter][pixel] of sums, for tensors as ONNX has them: channels first.
static bool sums_of(graph_call *c, const graph_tensor *x, const graph_tensor *k, const graph_tensor *x_zero,
                    const graph_tensor *k_zero, int32_t *y) {
  graph_conv_int v = {.batch = x->dim[0], .channels = k->dim[1], .x_type = x->type, .x = x->data, .y = y};
  if (!check_conv(c, &v.window, x, k, &v.groups)) return false;
  int64_t image = graph_product(v.window.in, 0, GRAPH_AXES), pixels = graph_window_pixels(&v.window);
  int16_t *weights = weights_of(c, k, k_zero, graph_window_taps(&v.window));
  if (weights == NULL) return false;
  v.weights = weights;
  v.filters = k->dim[0] / v.groups;
  v.zero = x_zero == NULL ? 0 : (int32_t)graph_int_at(x_zero->type, x_zero->data, 0);
  v.x_batch = x->dim[1] * image;
  v.x_channel = image;
  v.x_pixel = v.y_pixel = 1;
  v.y_batch = k->dim[0] * pixels;
  v.y_filter = pixels;
  bool ok = graph_conv_int_run(c, &v);
  wf_free(weights);
  return ok;
}

static bool check_zero(graph_call *c, int input, graph_type type, int64_t most) {
  const graph_tensor *zero = c->in[input];
  if (zero == NULL) return true;
  int64_t count = graph_elements(zero);
  return (zero->type == type && (count == 1 || count == most)) ||
         graph_call_fail(c, "its zero point (input %d) does not fit its tensor", input);
}

bool graph_infer_conv_integer(graph_call *c) {
  const graph_tensor *x = c->in[0], *k = c->in[1];
  graph_window w;
  int64_t groups;
  if ((GRAPH_SET_BYTE >> k->type & 1) == 0) return graph_call_fail(c, "its weights have to be bytes");
  return check_conv(c, &w, x, k, &groups) && check_zero(c, 2, x->type, 1) && check_zero(c, 3, k->type, k->dim[0]) &&
         conv_result(c, &w, GRAPH_I32, x, k, NULL);
}

bool graph_run_conv_integer(graph_call *c) { return sums_of(c, c->in[0], c->in[1], c->in[2], c->in[3], c->to[0]); }

// QLinearConv: x, scale, zero, w, scale, zero, scale and zero of the result, bias.
bool graph_infer_qlinear_conv(graph_call *c) {
  const graph_tensor *x = c->in[0], *k = c->in[3];
  graph_window w;
  int64_t groups;
  if ((GRAPH_SET_BYTE >> k->type & 1) == 0) return graph_call_fail(c, "its weights have to be bytes");
  if (!check_conv(c, &w, x, k, &groups) || !check_zero(c, 2, x->type, 1) || !check_zero(c, 5, k->type, k->dim[0]) ||
      !check_zero(c, 7, x->type, 1) || !check_zero(c, 1, GRAPH_F32, 1) || !check_zero(c, 4, GRAPH_F32, k->dim[0]) ||
      !check_zero(c, 6, GRAPH_F32, 1))
    return false;
  if (c->in[8] != NULL && c->in[8]->type != GRAPH_I32) return graph_call_fail(c, "its bias has to be i32");
  return conv_result(c, &w, c->in[7]->type, x, k, c->in[8]);
}

bool graph_run_qlinear_conv(graph_call *c) {
  const graph_tensor *x = c->in[0], *k = c->in[3], *y = c->out[0], *bias = c->in[8];
  int64_t filters = k->dim[0], pixels = graph_product(y->dim, 2, y->rank);
  int32_t *sums = graph_call_scratch(c, graph_elements(y), sizeof sums[0]);
  if (sums == NULL) return false;
  bool ok = sums_of(c, x, k, c->in[2], c->in[5], sums);
  float x_scale = *(const float *)c->in[1]->data, y_scale = *(const float *)c->in[6]->data;
  int64_t zero = graph_int_at(y->type, c->in[7]->data, 0), per_filter = graph_elements(c->in[4]) > 1;
  for (int64_t f = 0; f < x->dim[0] * filters && ok; f++) {
    float scale = x_scale * ((const float *)c->in[4]->data)[per_filter != 0 ? f % filters : 0] / y_scale;
    uint32_t offset = bias != NULL ? (uint32_t)((const int32_t *)bias->data)[f % filters] : 0;
    for (int64_t p = f * pixels; p < (f + 1) * pixels; p++)
      graph_put_int(
          y->type, c->to[0], (size_t)p,
          graph_saturate(y->type, graph_rounded(scale * (float)(int32_t)((uint32_t)sums[p] + offset)) + zero));
  }
  wf_free(sums);
  return ok;
}
