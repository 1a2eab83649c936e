// SPDX-License-Identifier: Apache-2.0
// Resize: one dimension after the other. A table gives for every index of the result the elements of the input and
// their weights: one for nearest, two for linear, four for cubic.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

enum { TAPS = 4 };

typedef struct resized {
  int64_t out[GRAPH_RANK_MAX];
  double scale[GRAPH_RANK_MAX];  // result / input
  double start[GRAPH_RANK_MAX], end[GRAPH_RANK_MAX];
} resized;

typedef struct sample {
  int64_t from[TAPS];
  double weight[TAPS];
  bool outside;  // extrapolation_value instead
} sample;

static bool is(const graph_call *c, const char *name, const char *by_default, const char *value) {
  return strcmp(graph_text(c->node, name, by_default), value) == 0;
}

static bool is_cropped(const graph_call *c) {
  return is(c, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize");
}

// A list of real numbers, constant, one for each dimension; false after a failure.
static bool numbers(graph_call *c, int input, int64_t count, double *values) {
  const graph_tensor *t = c->in[input];
  if (!graph_is_constant(t) || graph_elements(t) != count)
    return graph_call_fail(c, "its input %d has to be %" PRId64 " constant numbers", input, count);
  for (int64_t i = 0; i < count; i++) values[i] = graph_real_at(t->type, t->data, (size_t)i);
  return true;
}

static bool is_given(const graph_tensor *t) { return t != NULL && graph_elements(t) != 0; }

// x, roi, scales, sizes
static bool find(graph_call *c, resized *r) {
  const graph_tensor *x = c->in[0];
  double roi[2 * GRAPH_RANK_MAX] = {0};
  bool sized = is_given(c->in[3]);
  if (!sized && !is_given(c->in[2])) return graph_call_fail(c, "it has neither scales nor sizes");
  if (!numbers(c, sized ? 3 : 2, x->rank, r->scale)) return false;
  if (is_cropped(c) && !numbers(c, 1, 2 * x->rank, roi)) return false;
  for (int d = 0; d < x->rank; d++) {
    r->start[d] = roi[d];
    r->end[d] = roi[d + x->rank];
    double part = is_cropped(c) ? r->end[d] - r->start[d] : 1;
    double out = sized ? r->scale[d] : floor((double)x->dim[d] * part * r->scale[d]);
    if (!(r->scale[d] > 0) || !(out >= 0) || out > 0x1p31)
      return graph_call_fail(c, "dimension %d cannot be scaled by %g", d, r->scale[d]);
    r->out[d] = (int64_t)out;
    if (sized) r->scale[d] = out / (double)x->dim[d];
  }
  return true;
}

bool graph_infer_resize(graph_call *c) {
  static const char *const modes[] = {"nearest", "linear", "cubic"};
  static const char *const places[] = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                       "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"};
  static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  bool mode = false, place = false, rounding = false;
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) mode |= is(c, "mode", "nearest", modes[i]);
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    place |= is(c, "coordinate_transformation_mode", "half_pixel", places[i]);
  for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++)
    rounding |= is(c, "nearest_mode", "round_prefer_floor", roundings[i]);
  if (!mode || !place || !rounding) return graph_call_fail(c, "its modes are unknown");
  resized r;
  return find(c, &r) && graph_call_result(c, 0, c->in[0]->type, c->in[0]->rank, r.out);
}

// Where index i of the result lies in the input.
static double place(const graph_call *c, const resized *r, int d, int64_t i, int64_t size) {
  const char *mode = graph_text(c->node, "coordinate_transformation_mode", "half_pixel");
  double x = (double)i, scale = r->scale[d], last = (double)size * scale - 1;
  if (strcmp(mode, "asymmetric") == 0) return x / scale;
  if (strcmp(mode, "tf_half_pixel_for_nn") == 0) return (x + 0.5) / scale;
  if (strcmp(mode, "align_corners") == 0) return last == 0 ? 0 : x * (double)(size - 1) / last;
  if (strcmp(mode, "pytorch_half_pixel") == 0) return last > 0 ? (x + 0.5) / scale - 0.5 : 0;
  if (strcmp(mode, "tf_crop_and_resize") == 0) {
    double span = (r->end[d] - r->start[d]) * (double)(size - 1);
    return last > 0 ? r->start[d] * (double)(size - 1) + x * span / last
                    : 0.5 * (r->start[d] + r->end[d]) * (double)(size - 1);
  }
  return (x + 0.5) / scale - 0.5;
}

static double nearest(const graph_call *c, double x) {
  const char *mode = graph_text(c->node, "nearest_mode", "round_prefer_floor");
  if (strcmp(mode, "floor") == 0) return floor(x);
  if (strcmp(mode, "ceil") == 0) return ceil(x);
  return strcmp(mode, "round_prefer_ceil") == 0 ? floor(x + 0.5) : ceil(x - 0.5);
}

static double cubic(double a, double t) {
  t = fabs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

static sample sample_at(const graph_call *c, double x, int64_t size) {
  bool cubical = is(c, "mode", "nearest", "cubic"), linear = is(c, "mode", "nearest", "linear");
  double base = cubical || linear ? floor(x) : nearest(c, x), a = (double)graph_float(c->node, "cubic_coeff_a", -0.75f),
         sum = 0;
  sample s = {.outside = is_cropped(c) && (x < 0 || x > (double)(size - 1))};
  for (int t = 0; t < TAPS; t++) {
    double at = base + (cubical ? t - 1 : t);
    s.weight[t] = cubical ? cubic(a, x - at) : linear && t < 2 ? 1 - fabs(x - at) : t == 0;
    if (graph_int(c->node, "exclude_outside", 0) != 0 && (at < 0 || at >= (double)size)) s.weight[t] = 0;
    s.from[t] = at < 0 ? 0 : at >= (double)size ? size - 1 : (int64_t)at;
    sum += s.weight[t];
  }
  for (int t = 0; t < TAPS && sum != 0 && graph_int(c->node, "exclude_outside", 0) != 0; t++) s.weight[t] /= sum;
  return s;
}

// One dimension of `from` ([outer][size][inner]) resized.
static void resize_axis(const double *from, double *to, int64_t outer, int64_t size, int64_t inner,
                        const sample *samples, int64_t out, double extrapolation) {
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < out; i++, to += inner)
      for (int64_t e = 0; e < inner; e++) {
        const sample *s = &samples[i];
        double sum = 0;
        for (int t = 0; t < TAPS; t++)
          if (s->weight[t] != 0) sum += s->weight[t] * from[(o * size + s->from[t]) * inner + e];
        to[e] = s->outside ? extrapolation : sum;
      }
}

static double *next_axis(graph_call *c, const resized *r, int d, int64_t *dim, double *values) {
  int64_t outer = graph_product(dim, 0, d), inner = graph_product(dim, d + 1, c->in[0]->rank), size = dim[d];
  sample *samples = graph_call_scratch(c, r->out[d], sizeof samples[0]);
  dim[d] = r->out[d];
  double *next = samples == NULL ? NULL : graph_call_scratch(c, outer * r->out[d] * inner, sizeof next[0]);
  for (int64_t i = 0; i < r->out[d] && next != NULL; i++) samples[i] = sample_at(c, place(c, r, d, i, size), size);
  if (next != NULL)
    resize_axis(values, next, outer, size, inner, samples, r->out[d],
                (double)graph_float(c->node, "extrapolation_value", 0));
  wf_free(samples);
  wf_free(values);
  return next;
}

bool graph_run_resize(graph_call *c) {
  const graph_tensor *x = c->in[0], *y = c->out[0];
  int64_t dim[GRAPH_RANK_MAX], elements = graph_elements(x);
  resized r;
  if (!find(c, &r)) return false;
  if (elements == 0) return graph_elements(y) == 0 || graph_call_fail(c, "its image is empty");
  double *values = graph_call_scratch(c, elements, sizeof values[0]);
  if (values == NULL) return false;
  memcpy(dim, x->dim, sizeof dim);
  graph_load_reals(x->type, x->data, 0, 1, elements, values);
  for (int d = 0; d < x->rank && values != NULL; d++)
    if (r.out[d] != x->dim[d] || is_cropped(c)) values = next_axis(c, &r, d, dim, values);
  if (values == NULL) return false;
  for (int64_t i = 0, n = graph_elements(y); i < n; i++)
    graph_put_real(y->type, c->to[0], (size_t)i, graph_is_real(y->type) ? values[i] : rint(values[i]));
  wf_free(values);
  return true;
}
