// SPDX-License-Identifier: Apache-2.0
// Normalisations. Means and variances are made in binary64.
#include <inttypes.h>
#include <math.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

static bool is_vector(graph_call *c, int input, int64_t size) {
  const graph_tensor *t = c->in[input];
  return (t->rank == 1 && t->dim[0] == size && graph_is_real(t->type)) ||
         graph_call_fail(c, "its input %d has to be %" PRId64 " real numbers", input, size);
}

static double at(const graph_tensor *t, int64_t i) { return graph_real_at(t->type, t->data, (size_t)i); }

// ---- BatchNormalization: x, scale, bias, mean, variance

bool graph_infer_batch_norm(graph_call *c) {
  if (graph_int(c->node, "training_mode", 0) != 0) return graph_call_fail(c, "it is in training mode");
  int64_t channels = c->in[0]->rank > 1 ? c->in[0]->dim[1] : 1;
  for (int i = 1; i < 5; i++)
    if (!is_vector(c, i, channels)) return false;
  return graph_call_like(c, 0, 0);
}

static void scale_plane(const graph_tensor *x, void *to, int64_t first, int64_t count, double scale, double bias) {
  if (x->type == GRAPH_F32) {
    const float *from = (const float *)x->data + first;
    for (int64_t i = 0; i < count; i++) ((float *)to)[first + i] = (float)((double)from[i] * scale + bias);
  } else {
    for (int64_t i = first; i < first + count; i++) graph_put_real(x->type, to, (size_t)i, at(x, i) * scale + bias);
  }
}

bool graph_run_batch_norm(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t channels = x->rank > 1 ? x->dim[1] : 1, image = x->rank > 1 ? graph_product(x->dim, 2, x->rank) : 1;
  double epsilon = (double)graph_float(c->node, "epsilon", 1e-5f);
  int64_t planes = image == 0 ? 0 : graph_elements(x) / image;
  for (int64_t p = 0; p < planes; p++) {
    int64_t k = p % channels;
    double scale = at(c->in[1], k) / sqrt(at(c->in[4], k) + epsilon);
    scale_plane(x, c->to[0], p * image, image, scale, at(c->in[2], k) - at(c->in[3], k) * scale);
  }
  return true;
}

// ---- over a run of elements

typedef struct moments {
  double mean, variance;
} moments;

static moments moments_of(const graph_tensor *x, int64_t first, int64_t count) {
  moments m = {0, 0};
  for (int64_t i = 0; i < count; i++) m.mean += at(x, first + i);
  m.mean /= (double)count;
  for (int64_t i = 0; i < count; i++) m.variance += (at(x, first + i) - m.mean) * (at(x, first + i) - m.mean);
  m.variance /= (double)count;
  return m;
}

bool graph_infer_instance_norm(graph_call *c) {
  if (c->in[0]->rank < 3) return graph_call_fail(c, "it takes images");
  return is_vector(c, 1, c->in[0]->dim[1]) && is_vector(c, 2, c->in[0]->dim[1]) && graph_call_like(c, 0, 0);
}

bool graph_run_instance_norm(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t image = graph_product(x->dim, 2, x->rank), channels = x->dim[1];
  double epsilon = (double)graph_float(c->node, "epsilon", 1e-5f);
  for (int64_t p = 0; p < x->dim[0] * channels; p++) {
    moments m = moments_of(x, p * image, image);
    double scale = at(c->in[1], p % channels) / sqrt(m.variance + epsilon);
    for (int64_t i = p * image; i < (p + 1) * image; i++)
      graph_put_real(x->type, c->to[0], (size_t)i, (at(x, i) - m.mean) * scale + at(c->in[2], p % channels));
  }
  return true;
}

// LayerNormalization: x, scale, bias?; results: y, mean, 1 / deviation. Scale and bias broadcast to the normalised
// axes.
static bool layer_axis(graph_call *c, int *axis) {
  return graph_call_axis(c, graph_int(c->node, "axis", -1), c->in[0]->rank, axis);
}

bool graph_infer_layer_norm(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX];
  int axis;
  if (!layer_axis(c, &axis)) return false;
  for (int i = 1; i < 3; i++) {
    if (c->in[i] == NULL) continue;
    int rank = x->rank - axis, whole = rank;
    for (int d = 0; d < rank; d++) dim[d] = x->dim[axis + d];
    if (c->in[i]->type != x->type || !graph_broadcast(c, &rank, dim, c->in[i]) || rank != whole ||
        graph_product(dim, 0, rank) != graph_product(x->dim, axis, x->rank))
      return graph_call_fail(c, "its input %d does not fit what it normalises", i);
  }
  for (int d = 0; d < x->rank; d++) dim[d] = d < axis ? x->dim[d] : 1;
  return graph_call_like(c, 0, 0) && graph_call_result(c, 1, GRAPH_F32, x->rank, dim) &&
         graph_call_result(c, 2, GRAPH_F32, x->rank, dim);
}

// Element of `t` for element `i` of the normalised axes.
static double broadcast_at(const graph_tensor *t, const int64_t *steps, int rank, const int64_t *dim, int64_t i) {
  int64_t from = 0;
  for (int d = rank - 1; d >= 0; d--, i /= dim[d + 1]) from += i % dim[d] * steps[d];
  return at(t, from);
}

static void norm_row(graph_call *c, int axis, int64_t row, int64_t size, moments m, double inverse) {
  const graph_tensor *x = c->in[0];
  int rank = x->rank - axis;
  int64_t scale_steps[GRAPH_RANK_MAX], bias_steps[GRAPH_RANK_MAX];
  graph_broadcast_steps(c->in[1], rank, scale_steps);
  if (c->in[2] != NULL) graph_broadcast_steps(c->in[2], rank, bias_steps);
  for (int64_t i = 0; i < size; i++) {
    double bias = c->in[2] != NULL ? broadcast_at(c->in[2], bias_steps, rank, &x->dim[axis], i) : 0;
    double scale = broadcast_at(c->in[1], scale_steps, rank, &x->dim[axis], i);
    graph_put_real(x->type, c->to[0], (size_t)(row * size + i),
                   (at(x, row * size + i) - m.mean) * inverse * scale + bias);
  }
}

bool graph_run_layer_norm(graph_call *c) {
  const graph_tensor *x = c->in[0];
  double epsilon = (double)graph_float(c->node, "epsilon", 1e-5f);
  int axis;
  if (!layer_axis(c, &axis)) return false;
  int64_t size = graph_product(x->dim, axis, x->rank), rows = graph_product(x->dim, 0, axis);
  for (int64_t row = 0; row < rows; row++) {
    moments m = moments_of(x, row * size, size);
    double inverse = 1 / sqrt(m.variance + epsilon);
    if (c->to[0] != NULL) norm_row(c, axis, row, size, m, inverse);
    if (c->to[1] != NULL) ((float *)c->to[1])[row] = (float)m.mean;
    if (c->to[2] != NULL) ((float *)c->to[2])[row] = (float)inverse;
  }
  return true;
}

// ---- LRN: over neighbouring channels

bool graph_infer_lrn(graph_call *c) {
  int64_t size = graph_int(c->node, "size", 0);
  if (c->in[0]->rank < 2 || size < 1 || size > INT32_MAX) return graph_call_fail(c, "it needs channels and a size");
  return graph_call_like(c, 0, 0);
}

bool graph_run_lrn(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t channels = x->dim[1], image = graph_product(x->dim, 2, x->rank), size = graph_int(c->node, "size", 1);
  double alpha = (double)graph_float(c->node, "alpha", 1e-4f), beta = (double)graph_float(c->node, "beta", 0.75f);
  double bias = (double)graph_float(c->node, "bias", 1);
  for (int64_t i = 0, n = graph_elements(x); i < n; i++) {
    int64_t k = i / image % channels, low = k - (size - 1) / 2, high = k + size / 2;
    double sum = 0;
    for (int64_t o = low < 0 ? 0 : low; o <= high && o < channels; o++) {
      double value = at(x, i + (o - k) * image);
      sum += value * value;
    }
    graph_put_real(x->type, c->to[0], (size_t)i, at(x, i) / pow(bias + alpha / (double)size * sum, beta));
  }
  return true;
}

// ---- LpNormalization: along one axis

bool graph_infer_lp_norm(graph_call *c) {
  int64_t p = graph_int(c->node, "p", 2);
  int axis;
  if (p != 1 && p != 2) return graph_call_fail(c, "p is %" PRId64, p);
  return layer_axis(c, &axis) && graph_call_like(c, 0, 0);
}

bool graph_run_lp_norm(graph_call *c) {
  const graph_tensor *x = c->in[0];
  bool squares = graph_int(c->node, "p", 2) == 2;
  int axis;
  if (!layer_axis(c, &axis)) return false;
  int64_t size = x->dim[axis], inner = graph_product(x->dim, axis + 1, x->rank),
          lines = graph_product(x->dim, 0, axis) * inner;
  for (int64_t l = 0; l < lines; l++) {
    int64_t first = l / inner * size * inner + l % inner;
    double sum = 0;
    for (int64_t k = 0; k < size; k++)
      sum += squares ? at(x, first + k * inner) * at(x, first + k * inner) : fabs(at(x, first + k * inner));
    double norm = squares ? sqrt(sum) : sum;
    for (int64_t k = 0; k < size; k++)
      graph_put_real(x->type, c->to[0], (size_t)(first + k * inner), norm == 0 ? 0 : at(x, first + k * inner) / norm);
  }
  return true;
}
