// SPDX-License-Identifier: Apache-2.0
// ConvTranspose: for each image and group a product gives what every element of the input adds to every tap of its
// window (columns[filter, tap][pixel]), and the columns are added into the result.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/kernels.h"
#include "compiler/graph/window.h"

#define SIZE_LIMIT (INT64_C(1) << 32)

// The window is that of the convolution which this one inverts: `in` is the result, `out` the input. With output_shape
// or auto_pad the padding follows from the size of the result.
typedef struct inverse {
  graph_window w;
  int64_t groups, extra[GRAPH_AXES];
} inverse;

static int64_t full_size(const inverse *v, int d) {
  const graph_window *w = &v->w;
  return w->stride[d] * (w->out[d] - 1) + v->extra[d] + (w->kernel[d] - 1) * w->dilation[d] + 1;
}

static void pad_to(inverse *v, int d, int64_t size, bool upper) {
  int64_t total = full_size(v, d) - size;
  if (total < 0) total = 0;
  v->w.before[d] = upper ? total / 2 : total - total / 2;
  v->w.after[d] = total - v->w.before[d];
  v->w.in[d] = size;
}

static bool find_sizes(graph_call *c, inverse *v) {
  graph_window *w = &v->w;
  const char *mode = graph_text(c->node, "auto_pad", "NOTSET");
  int64_t shape[GRAPH_AXES], pads[2 * GRAPH_AXES] = {0};
  bool same = strncmp(mode, "SAME_", 5) == 0, given = graph_find_attribute(c->node, "output_shape") != NULL;
  if (!graph_window_list(c, "output_shape", w->rank, 1, 1, shape)) return false;
  int count = graph_ints(c->node, "pads", pads, 2 * GRAPH_AXES);
  if (count != 0 && count != 2 * w->rank) return graph_call_fail(c, "its pads do not fit its images");
  for (int d = 0; d < GRAPH_AXES; d++) {
    int from = d - (GRAPH_AXES - w->rank);
    if (given || same) {
      pad_to(v, d, given ? shape[d] : w->out[d] * w->stride[d], strcmp(mode, "SAME_UPPER") == 0 || !same);
      continue;
    }
    if (from >= 0 && count != 0) w->before[d] = pads[from], w->after[d] = pads[from + w->rank];
    if (w->before[d] < 0 || w->after[d] < 0 || w->before[d] > SIZE_LIMIT || w->after[d] > SIZE_LIMIT)
      return graph_call_fail(c, "its pads are impossible");
    w->in[d] = full_size(v, d) - w->before[d] - w->after[d];
  }
  return true;
}

static bool find(graph_call *c, inverse *v) {
  const graph_tensor *x = c->in[0], *k = c->in[1];
  *v = (inverse){.groups = graph_int(c->node, "group", 1)};
  graph_window *w = &v->w;
  w->rank = x->rank - 2;
  if (w->rank < 1 || w->rank > GRAPH_AXES || k->rank != x->rank)
    return graph_call_fail(c, "it takes images and kernels of 1 to %d dimensions", GRAPH_AXES);
  if (v->groups < 1 || k->dim[0] != x->dim[1] || x->dim[1] % v->groups != 0 || k->dim[1] == 0 || v->groups > INT32_MAX)
    return graph_call_fail(c, "%" PRId64 " channels and %" PRId64 " groups do not match its weights", x->dim[1],
                           v->groups);
  for (int d = 0; d < GRAPH_AXES; d++) w->kernel[d] = w->out[d] = 1;
  for (int d = 0; d < w->rank; d++) {
    int to = GRAPH_AXES - w->rank + d;
    w->kernel[to] = k->dim[2 + d];
    w->out[to] = x->dim[2 + d];
    if (k->dim[2 + d] < 1 || k->dim[2 + d] > INT32_MAX / 1024 || x->dim[2 + d] < 1 || x->dim[2 + d] > INT32_MAX)
      return graph_call_fail(c, "its image or its window is empty");
  }
  if (!graph_window_list(c, "strides", w->rank, 1, 1, w->stride) ||
      !graph_window_list(c, "dilations", w->rank, 1, 1, w->dilation) ||
      !graph_window_list(c, "output_padding", w->rank, 0, 0, v->extra))
    return false;
  for (int d = 0; d < GRAPH_AXES; d++)
    if (w->stride[d] > INT32_MAX || w->dilation[d] > INT32_MAX / 1024)
      return graph_call_fail(c, "its strides are too large");
  return find_sizes(c, v);
}

bool graph_infer_conv_transpose(graph_call *c) {
  const graph_tensor *x = c->in[0], *k = c->in[1], *bias = c->in[2];
  inverse v;
  if (k->type != GRAPH_F32 || (bias != NULL && bias->type != GRAPH_F32))
    return graph_call_fail(c, "its weights and bias have to be f32");
  if (!find(c, &v)) return false;
  int64_t filters, dim[GRAPH_RANK_MAX] = {x->dim[0]};
  if (__builtin_mul_overflow(k->dim[1], v.groups, &filters)) return graph_call_fail(c, "it has too many groups");
  dim[1] = filters;
  if (bias != NULL && (bias->rank != 1 || bias->dim[0] != filters))
    return graph_call_fail(c, "its bias does not fit its weights");
  for (int d = 0; d < v.w.rank; d++) dim[2 + d] = v.w.in[GRAPH_AXES - v.w.rank + d];
  return graph_call_result(c, 0, GRAPH_F32, x->rank, dim);
}

// y[filter][image] += columns[filter, tap][pixel]
static void add_columns(const graph_window *w, const float *columns, int64_t filters, float *y) {
  int64_t image = graph_product(w->in, 0, GRAPH_AXES), pixels = graph_window_pixels(w), tap = 0;
  for (int64_t f = 0; f < filters; f++, y += image)
    for (int64_t a = 0; a < w->kernel[0]; a++)
      for (int64_t b = 0; b < w->kernel[1]; b++)
        for (int64_t e = 0; e < w->kernel[2]; e++, tap++)
          for (int64_t p = 0; p < pixels; p++) {
            int64_t d = graph_window_source(w, 0, p / w->out[2] / w->out[1], a);
            int64_t h = graph_window_source(w, 1, p / w->out[2] % w->out[1], b);
            int64_t v = graph_window_source(w, 2, p % w->out[2], e);
            if (d >= 0 && d < w->in[0] && h >= 0 && h < w->in[1] && v >= 0 && v < w->in[2])
              y[(d * w->in[1] + h) * w->in[2] + v] += columns[tap * pixels + p];
          }
}

// Weights [channels][filters, taps] of a group, transposed.
static void turn(const float *from, int64_t channels, int64_t rows, float *to) {
  for (int64_t r = 0; r < rows; r++) graph_copy(to, r * channels, 1, from, r, rows, channels, sizeof to[0]);
}

static void run_group(const inverse *v, const float *x, int64_t channels, const float *weights, int64_t filters,
                      float *turned, float *columns, float *y) {
  int64_t rows = filters * graph_window_taps(&v->w), pixels = graph_window_pixels(&v->w);
  turn(weights, channels, rows, turned);
  memset(columns, 0, (size_t)(rows * pixels) * sizeof columns[0]);
  graph_kernel_f32(rows, pixels, channels, turned, channels, x, pixels, columns, pixels);
  add_columns(&v->w, columns, filters, y);
}

bool graph_run_conv_transpose(graph_call *c) {
  const graph_tensor *x = c->in[0], *k = c->in[1];
  inverse v;
  if (!find(c, &v)) return false;
  int64_t channels = x->dim[1] / v.groups, filters = k->dim[1], rows = filters * graph_window_taps(&v.w);
  int64_t pixels = graph_window_pixels(&v.w), image = graph_product(v.w.in, 0, GRAPH_AXES);
  float *turned = graph_call_scratch(c, rows * channels, sizeof(float));
  float *columns = graph_call_scratch(c, rows * pixels, sizeof(float));
  for (int64_t g = 0; g < x->dim[0] * v.groups && turned != NULL && columns != NULL; g++) {
    float *y = (float *)c->to[0] + g * filters * image;
    for (int64_t i = 0; i < filters * image; i++)
      y[i] = c->in[2] != NULL ? ((const float *)c->in[2]->data)[g % v.groups * filters + i / image] : 0;
    run_group(&v, (const float *)x->data + g * channels * pixels, channels,
              (const float *)k->data + g % v.groups * channels * rows, filters, turned, columns, y);
  }
  bool ok = turned != NULL && columns != NULL;
  wf_free(turned);
  wf_free(columns);
  return ok;
}
