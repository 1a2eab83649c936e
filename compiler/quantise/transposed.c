// SPDX-License-Identifier: Apache-2.0
// A transposed convolution as a convolution: y[s q + b] = sum over t of x[q - t] w[b + s t], for each phase b of the
// stride s. All phases are one convolution with s * s times the channels and a kernel of T = ceil(R / s), whose results
// DepthToSpace puts in their places; what padding cuts off is sliced away.
#include "compiler/quantise/prepare.h"

typedef struct transposed {
  quantise_rewrite_window w;
  int64_t stride, kernel[2];  // of the convolution
  int64_t channels, results;
  int64_t from[2], size[2], extra[2];
} transposed;

static bool describe(const graph *g, const graph_node *node, transposed *t) {
  const graph_tensor *weights = &g->tensors[node->inputs[1]], *x = &g->tensors[node->inputs[0]],
                     *y = &g->tensors[node->outputs[0]];
  if (quantise_rewrite_floats(g, node->inputs[1]) == NULL || x->rank != 4 ||
      graph_find_attribute(node, "auto_pad") != NULL)
    return false;
  if (node->input_count > 2 && node->inputs[2] != GRAPH_NONE && quantise_rewrite_floats(g, node->inputs[2]) == NULL)
    return false;
  if (!quantise_rewrite_window_of(g, node, &t->w) || t->w.groups != 1 || t->w.strides[0] != t->w.strides[1])
    return false;
  if (t->w.dilations[0] != 1 || t->w.dilations[1] != 1) return false;
  t->stride = t->w.strides[0];
  t->channels = weights->dim[0];
  t->results = weights->dim[1];
  for (int i = 0; i < 2; i++) {
    t->kernel[i] = (t->w.kernel[i] + t->stride - 1) / t->stride;
    t->from[i] = t->w.pads[i];
    t->size[i] = y->dim[2 + i];
    const int64_t missing = t->from[i] + t->size[i] - (x->dim[2 + i] + t->kernel[i] - 1) * t->stride;
    t->extra[i] = missing <= 0 ? 0 : (missing + t->stride - 1) / t->stride;
  }
  return true;
}

// [s*s*K, C, T, T]: row (bh * s + bw) * K + k is phase (bh, bw) of result channel k, its window turned round.
static int make_weights(graph *g, const graph_node *node, const transposed *t) {
  const graph_tensor w = g->tensors[node->inputs[1]];
  const float *old = w.data;
  const int64_t s = t->stride, dims[4] = {s * s * t->results, t->channels, t->kernel[0], t->kernel[1]};
  float *values = WF_ARENA_ARRAY(g->arena, (size_t)(dims[0] * dims[1] * dims[2] * dims[3]), float), *to = values;
  for (int64_t row = 0; row < dims[0]; row++)
    for (int64_t c = 0; c < dims[1]; c++)
      for (int64_t u = 0; u < dims[2]; u++)
        for (int64_t v = 0; v < dims[3]; v++, to++) {
          const int64_t k = row % t->results, phase = row / t->results;
          const int64_t r = phase / s + s * (dims[2] - 1 - u), q = phase % s + s * (dims[3] - 1 - v);
          if (r < w.dim[2] && q < w.dim[3]) *to = old[((c * t->results + k) * w.dim[2] + r) * w.dim[3] + q];
        }
  return quantise_rewrite_add_floats(g, w.name, 4, dims, values);
}

static int make_bias(graph *g, const graph_node *node, const transposed *t) {
  if (node->input_count < 3 || node->inputs[2] == GRAPH_NONE) return GRAPH_NONE;
  const float *old = quantise_rewrite_floats(g, node->inputs[2]);
  const int64_t count = t->stride * t->stride * t->results;
  float *values = WF_ARENA_ARRAY(g->arena, (size_t)count, float);
  for (int64_t i = 0; i < count; i++) values[i] = old[i % t->results];
  return quantise_rewrite_add_floats(g, g->tensors[node->inputs[2]].name, 1, &count, values);
}

static int slice(graph *g, const graph_node *node, const transposed *t, int x) {
  const graph_tensor full = g->tensors[x];
  if (full.dim[2] == t->size[0] && full.dim[3] == t->size[1]) return x;
  const int64_t ends[2] = {t->from[0] + t->size[0], t->from[1] + t->size[1]}, axes[2] = {2, 3};
  const int inputs[4] = {
      x, quantise_rewrite_add_integers(g, wf_arena_format(g->arena, "%s.starts", node->name), t->from, 2),
      quantise_rewrite_add_integers(g, wf_arena_format(g->arena, "%s.ends", node->name), ends, 2),
      quantise_rewrite_add_integers(g, wf_arena_format(g->arena, "%s.axes", node->name), axes, 2)};
  graph_add_node(g, GRAPH_OP_SLICE, quantise_rewrite_name(g, node->name, ".cut"), inputs, 4, node->outputs, 1);
  return node->outputs[0];
}

bool quantise_prepare_conv_transpose(graph *g, const quantise_rewrite_index *index, const graph_node *node) {
  (void)index;
  transposed t;
  if (!describe(g, node, &t)) return false;
  const graph_tensor x = g->tensors[node->inputs[0]];
  const int64_t s = t.stride;
  const int64_t dims[4] = {x.dim[0], s * s * t.results, x.dim[2] + t.kernel[0] - 1 + t.extra[0],
                           x.dim[3] + t.kernel[1] - 1 + t.extra[1]};
  const int64_t spread[4] = {dims[0], t.results, dims[2] * s, dims[3] * s};
  const int inputs[3] = {node->inputs[0], make_weights(g, node, &t), make_bias(g, node, &t)};
  const int phases = quantise_rewrite_tensor(g, node->name, ".phases", GRAPH_F32, 4, dims);
  graph_node *conv = graph_add_node(g, GRAPH_OP_CONV, node->name, inputs, inputs[2] == GRAPH_NONE ? 2 : 3, &phases, 1);
  graph_set_ints(g, conv, "kernel_shape", t.kernel, 2);
  graph_set_ints(
      g, conv, "pads",
      (int64_t[]){t.kernel[0] - 1, t.kernel[1] - 1, t.kernel[0] - 1 + t.extra[0], t.kernel[1] - 1 + t.extra[1]}, 4);
  const bool whole = spread[2] == t.size[0] && spread[3] == t.size[1];
  const int placed = whole ? node->outputs[0] : quantise_rewrite_tensor(g, node->name, ".spread", GRAPH_F32, 4, spread);
  graph_node *move = graph_add_node(g, GRAPH_OP_DEPTH_TO_SPACE, quantise_rewrite_name(g, node->name, ".places"),
                                    &phases, 1, &placed, 1);
  graph_set_int(g, move, "blocksize", s);
  graph_set_text(g, move, "mode", "DCR");
  slice(g, node, &t, placed);
  return true;
}
