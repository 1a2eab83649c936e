// SPDX-License-Identifier: Apache-2.0
// Windows on one and on three dimensions, resizing and padding in terms of operators on images:
//   Conv on [N, C, D, H, W]      the planes of the kernel's depth side by side as channels: Conv on [N D', kd C, H, W]
//   ConvTranspose on [N, C, L]   on [N, C, 1, L]
//   ConvTranspose on images that no phases make (transposed.c): zeros between the elements, and Conv with the window
//   turned AveragePool that does not count all of its padding: that counts it, times a constant per place pooling on
//   [N, C, L]         on [N, C, 1, L]; on [N, C, D, H, W] over planes, then over the depth global pooling on [N, C,
//   all, 1]; the largest of an image that is no square: ReduceMax Resize, linear or cubic      a product with a
//   constant matrix per dimension, which Resize itself makes of the identity Pad, reflect, edge or wrap   Gather with
//   constant indices
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/quantise/expand.h"

// ---- attributes of windows

typedef struct windows {
  int axes;
  int64_t kernel[3], strides[3], dilations[3], pads[6];
  bool padded;  // somewhere
} windows;

// False: padding is left to auto_pad, or the kernel is not known.
static bool windows_of(const graph *g, const graph_node *node, windows *w) {
  const graph_tensor *x = &g->tensors[node->inputs[0]];
  *w = (windows){.axes = x->rank - 2, .strides = {1, 1, 1}, .dilations = {1, 1, 1}};
  const char *how = graph_text(node, "auto_pad", "NOTSET");
  if (strncmp(how, "SAME", 4) == 0 || x->rank < 3 || x->rank > 5 || graph_elements(x) == 0) return false;
  const bool given = graph_ints(node, "kernel_shape", w->kernel, 3) == w->axes;
  if (!given && (node->op == GRAPH_OP_MAX_POOL || node->op == GRAPH_OP_AVERAGE_POOL)) return false;
  for (int i = 0; !given && i < w->axes; i++) w->kernel[i] = g->tensors[node->inputs[1]].dim[2 + i];
  graph_ints(node, "strides", w->strides, 3);
  graph_ints(node, "dilations", w->dilations, 3);
  if (strcmp(how, "NOTSET") == 0) graph_ints(node, "pads", w->pads, 6);
  for (int i = 0; i < 2 * w->axes; i++) w->padded = w->padded || w->pads[i] != 0;
  return true;
}

// The attributes of a node on images: rows (r) and columns (c) are axes of `w`, or -1: one element.
static void set_window(graph *g, graph_node *node, const windows *w, int r, int c) {
  const int axes[2] = {r, c};
  int64_t kernel[2], strides[2], dilations[2], pads[4];
  for (int i = 0; i < 2; i++) {
    const int a = axes[i];
    kernel[i] = a < 0 ? 1 : w->kernel[a];
    strides[i] = a < 0 ? 1 : w->strides[a];
    dilations[i] = a < 0 ? 1 : w->dilations[a];
    pads[i] = a < 0 ? 0 : w->pads[a];
    pads[2 + i] = a < 0 ? 0 : w->pads[w->axes + a];
  }
  graph_set_ints(g, node, "kernel_shape", kernel, 2);
  graph_set_ints(g, node, "strides", strides, 2);
  graph_set_ints(g, node, "dilations", dilations, 2);
  graph_set_ints(g, node, "pads", pads, 4);
}

// ---- convolutions on three dimensions

// [N, C, D, H, W] to [N, D, C, H, W] and back.
static const int64_t swap_depth[5] = {0, 2, 1, 3, 4};

static int padded_depth(const quantise_maker *m, int x, const windows *w) {
  int64_t pads[10] = {[1] = w->pads[0], [6] = w->pads[3]};
  if (w->pads[0] == 0 && w->pads[3] == 0) return x;
  return quantise_make_binary(m, GRAPH_OP_PAD, x, quantise_make_integers(m, pads, 10), GRAPH_NONE);
}

// Planes of [N, D, C, H, W] that result plane d reads at each place of the kernel, as channels of each group in turn:
// [N, D', groups, kd, C / groups, H, W] as [N D', kd C, H, W].
static int side_by_side(const quantise_maker *m, int x, const windows *w, int64_t groups, int64_t depth) {
  const graph_tensor t = quantise_make_tensor(m, x);
  const int64_t channels = t.dim[2], grouped[6] = {t.dim[0], depth, groups, channels / groups, t.dim[3], t.dim[4]};
  const int64_t image[4] = {t.dim[0] * depth, channels * w->kernel[0], t.dim[3], t.dim[4]};
  int *parts = WF_ARENA_ARRAY(m->g->arena, (size_t)w->kernel[0], int);
  for (int64_t k = 0; k < w->kernel[0]; k++) {
    const int64_t from = k * w->dilations[0];
    const int part =
        quantise_make_slice(m, x, 1, from, from + (depth - 1) * w->strides[0] + 1, w->strides[0], GRAPH_NONE);
    parts[k] = quantise_make_reshape(m, part, 6, grouped, GRAPH_NONE);
  }
  const int all =
      w->kernel[0] == 1 ? parts[0] : quantise_make_along(m, GRAPH_OP_CONCAT, parts, (int)w->kernel[0], 3, GRAPH_NONE);
  return quantise_make_reshape(m, all, 4, image, GRAPH_NONE);
}

// [K, C / groups, kd, kh, kw] to [K, kd C / groups, kh, kw].
static int flat_weights(const quantise_maker *m, int weights) {
  const graph_tensor w = quantise_make_tensor(m, weights);
  const int64_t flat[4] = {w.dim[0], w.dim[1] * w.dim[2], w.dim[3], w.dim[4]};
  return quantise_make_reshape(m, quantise_make_transpose(m, weights, swap_depth, GRAPH_NONE), 4, flat, GRAPH_NONE);
}

bool quantise_expand_conv(graph *g, const graph_node *node) {
  enum { DEPTH_MAX = 64 };
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], y = g->tensors[node->outputs[0]];
  windows w;
  if (x.rank != 5 || quantise_rewrite_floats(g, node->inputs[1]) == NULL || !windows_of(g, node, &w) ||
      w.kernel[0] > DEPTH_MAX || graph_elements(&y) == 0)
    return false;
  const int planes = quantise_make_transpose(&m, node->inputs[0], swap_depth, GRAPH_NONE);
  const int64_t groups = graph_int(node, "group", 1), depth = y.dim[2];
  const int image = side_by_side(&m, padded_depth(&m, planes, &w), &w, groups, depth);
  const int inputs[3] = {image, flat_weights(&m, node->inputs[1]),
                         quantise_make_has(node, 2) ? node->inputs[2] : GRAPH_NONE};
  graph_node conv = {0};
  set_window(g, &conv, &w, 1, 2);
  graph_set_int(g, &conv, "group", groups);
  const int result = quantise_make(&m, GRAPH_OP_CONV, &conv, inputs, 3, GRAPH_NONE);
  const int64_t spread[5] = {y.dim[0], depth, y.dim[1], y.dim[3], y.dim[4]};
  quantise_make_transpose(&m, quantise_make_reshape(&m, result, 5, spread, GRAPH_NONE), swap_depth, node->outputs[0]);
  return true;
}

// ---- one dimension

static int as_image(const quantise_maker *m, int line) {
  const graph_tensor t = quantise_make_tensor(m, line);
  return quantise_make_reshape(m, line, 4, (int64_t[]){t.dim[0], t.dim[1], 1, t.dim[2]}, GRAPH_NONE);
}

static void as_line(const quantise_maker *m, int image) {
  const graph_tensor y = quantise_make_tensor(m, m->node->outputs[0]);
  quantise_make_reshape(m, image, 3, y.dim, m->node->outputs[0]);
}

// What auto_pad and output_shape leave to the operator, as numbers: the padding takes off what is too much, half of it
// in front.
static bool transposed_pads(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], k = g->tensors[node->inputs[1]], y = g->tensors[node->outputs[0]];
  const char *how = graph_text(node, "auto_pad", "NOTSET");
  const int axes = x.rank - 2;
  int64_t strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1}, more[3] = {0}, pads[6] = {0};
  if (graph_find_attribute(node, "output_shape") == NULL && strncmp(how, "SAME", 4) != 0) return false;
  if (axes < 1 || axes > 3) return false;
  graph_ints(node, "strides", strides, 3);
  graph_ints(node, "dilations", dilations, 3);
  graph_ints(node, "output_padding", more, 3);
  for (int i = 0; i < axes; i++) {
    const int64_t all =
        strides[i] * (x.dim[2 + i] - 1) + more[i] + (k.dim[2 + i] - 1) * dilations[i] + 1 - y.dim[2 + i];
    const int64_t half = all / 2;
    if (all < 0) more[i] -= all;
    pads[i] = all < 0 ? 0 : strcmp(how, "SAME_LOWER") == 0 ? all - half : half;
    pads[axes + i] = all < 0 ? 0 : all - pads[i];
  }
  graph_node conv = {0};
  graph_set_ints(g, &conv, "strides", strides, axes);
  graph_set_ints(g, &conv, "dilations", dilations, axes);
  graph_set_ints(g, &conv, "output_padding", more, axes);
  graph_set_ints(g, &conv, "pads", pads, 2 * axes);
  graph_set_int(g, &conv, "group", graph_int(node, "group", 1));
  quantise_make(&m, GRAPH_OP_CONV_TRANSPOSE, &conv, node->inputs, node->input_count, node->outputs[0]);
  return true;
}

// The rows' stride is that of the columns, which one row does not see: the converter takes equal ones.
bool quantise_expand_conv_transpose(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  windows w;
  int64_t more[1] = {0};
  if (transposed_pads(g, node)) return true;
  if (g->tensors[node->inputs[0]].rank != 3 || quantise_rewrite_floats(g, node->inputs[1]) == NULL ||
      graph_find_attribute(node, "auto_pad") != NULL || graph_find_attribute(node, "output_shape") != NULL ||
      !windows_of(g, node, &w))
    return false;
  graph_node conv = {0};
  set_window(g, &conv, &w, -1, 0);
  graph_set_ints(g, &conv, "strides", (int64_t[]){w.strides[0], w.strides[0]}, 2);
  graph_set_int(g, &conv, "group", graph_int(node, "group", 1));
  if (graph_ints(node, "output_padding", more, 1) == 1 && more[0] != 0)
    graph_set_ints(g, &conv, "output_padding", (int64_t[]){0, more[0]}, 2);
  const int inputs[3] = {as_image(&m, node->inputs[0]), as_image(&m, node->inputs[1]),
                         quantise_make_has(node, 2) ? node->inputs[2] : GRAPH_NONE};
  as_line(&m, quantise_make(&m, GRAPH_OP_CONV_TRANSPOSE, &conv, inputs, 3, GRAPH_NONE));
  return true;
}

// [C, K / g, R, S] to [K, C / g, R, S], each window turned round.
static int turned_weights(const quantise_maker *m, int64_t groups) {
  const graph_tensor w = quantise_make_tensor(m, m->node->inputs[1]);
  const int64_t depth = w.dim[0] / groups, results = w.dim[1], window = w.dim[2] * w.dim[3];
  const float *from = w.data;
  float *to = WF_ARENA_ARRAY(m->g->arena, (size_t)graph_elements(&w) + 1, float);
  for (int64_t k = 0; k < groups * results; k++)
    for (int64_t c = 0; c < depth; c++)
      for (int64_t t = 0; t < window; t++)
        to[(k * depth + c) * window + window - 1 - t] =
            from[((k / results * depth + c) * results + k % results) * window + t];
  return quantise_make_constant(m, GRAPH_F32, 4, (int64_t[]){groups * results, depth, w.dim[2], w.dim[3]}, to);
}

// Elements at multiples of the strides.
static int with_zeros(const quantise_maker *m, int x, const int64_t *strides) {
  const graph_tensor t = quantise_make_tensor(m, x);
  const int64_t apart[6] = {t.dim[0], t.dim[1], t.dim[2], 1, t.dim[3], 1},
                pads[12] = {[9] = strides[0] - 1, [11] = strides[1] - 1},
                joined[4] = {t.dim[0], t.dim[1], t.dim[2] * strides[0], t.dim[3] * strides[1]};
  if (strides[0] == 1 && strides[1] == 1) return x;
  const int places = quantise_make_reshape(m, x, 6, apart, GRAPH_NONE);
  const int spread = quantise_make_binary(m, GRAPH_OP_PAD, places, quantise_make_integers(m, pads, 12), GRAPH_NONE);
  return quantise_make_reshape(m, spread, 4, joined, GRAPH_NONE);
}

// What stands in front of an axis, and behind it so that there are as many results as the node has; below 0: cut off.
static int framed(const quantise_maker *m, int x, const quantise_rewrite_window *w, const graph_tensor *y) {
  const graph_tensor t = quantise_make_tensor(m, x);
  int64_t pads[8] = {0};
  for (int i = 0; i < 2; i++) {
    const int64_t reach = w->dilations[i] * (w->kernel[i] - 1);
    pads[2 + i] = reach - w->pads[i];
    pads[6 + i] = y->dim[2 + i] + reach - t.dim[2 + i] - pads[2 + i];
  }
  for (int i = 0; i < 2; i++) {
    const int64_t before = pads[2 + i] < 0 ? -pads[2 + i] : 0, behind = pads[6 + i] < 0 ? -pads[6 + i] : 0;
    if (before + behind > 0) x = quantise_make_slice(m, x, 2 + i, before, t.dim[2 + i] - behind, 1, GRAPH_NONE);
    if (before > 0) pads[2 + i] = 0;
    if (behind > 0) pads[6 + i] = 0;
  }
  return quantise_make_binary(m, GRAPH_OP_PAD, x, quantise_make_integers(m, pads, 8), GRAPH_NONE);
}

bool quantise_expand_spread(graph *g, const graph_node *node) {
  enum { SPREAD_MAX = 1 << 28 };
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], y = g->tensors[node->outputs[0]];
  quantise_rewrite_window w;
  if (x.rank != 4 || quantise_rewrite_floats(g, node->inputs[1]) == NULL || graph_elements(&x) == 0 ||
      graph_elements(&y) == 0 || graph_find_attribute(node, "auto_pad") != NULL ||
      graph_find_attribute(node, "output_shape") != NULL || !quantise_rewrite_window_of(g, node, &w))
    return false;
  if (w.groups < 1 || x.dim[1] % w.groups != 0 || w.strides[0] > SPREAD_MAX / w.strides[1] ||
      graph_elements(&x) > SPREAD_MAX / (w.strides[0] * w.strides[1]))
    return false;
  const int inputs[3] = {framed(&m, with_zeros(&m, node->inputs[0], w.strides), &w, &y), turned_weights(&m, w.groups),
                         quantise_make_has(node, 2) ? node->inputs[2] : GRAPH_NONE};
  graph_node conv = {0};
  graph_set_ints(g, &conv, "kernel_shape", w.kernel, 2);
  graph_set_ints(g, &conv, "dilations", w.dilations, 2);
  graph_set_int(g, &conv, "group", w.groups);
  quantise_make(&m, GRAPH_OP_CONV, &conv, inputs, 3, node->outputs[0]);
  return true;
}

// ---- pooling

// The array takes the largest of square windows: the rows of a line's window lie in its padding.
static void make_square(graph *g, graph_node *attributes, const windows *w, int c) {
  const int64_t size = w->kernel[c], stride = w->strides[c];
  if (w->dilations[c] != 1) return;
  graph_set_ints(g, attributes, "kernel_shape", (int64_t[]){size, size}, 2);
  graph_set_ints(g, attributes, "strides", (int64_t[]){stride, stride}, 2);
  graph_set_ints(g, attributes, "pads", (int64_t[]){0, w->pads[c], size - 1, w->pads[w->axes + c]}, 4);
}

static int pool(const quantise_maker *m, int x, const windows *w, int r, int c) {
  graph_node attributes = {0};
  set_window(m->g, &attributes, w, r, c);
  if (r < 0 && m->node->op == GRAPH_OP_MAX_POOL) make_square(m->g, &attributes, w, c);
  if (m->node->op == GRAPH_OP_AVERAGE_POOL) graph_remove_attribute(&attributes, "dilations");
  graph_set_int(m->g, &attributes, "ceil_mode", graph_int(m->node, "ceil_mode", 0));
  if (m->node->op == GRAPH_OP_AVERAGE_POOL)
    graph_set_int(m->g, &attributes, "count_include_pad", graph_int(m->node, "count_include_pad", 0));
  return quantise_make(m, m->node->op, &attributes, &x, 1, GRAPH_NONE);
}

// Behind the planes their elements are channels, and the depth is a line.
static void pool_space(const quantise_maker *m, const windows *w) {
  static const int64_t depth_last[5] = {0, 1, 3, 4, 2}, depth_back[5] = {0, 1, 4, 2, 3};
  const graph_tensor x = quantise_make_tensor(m, m->node->inputs[0]), y = quantise_make_tensor(m, m->node->outputs[0]);
  const int64_t planes[4] = {x.dim[0], x.dim[1] * x.dim[2], x.dim[3], x.dim[4]},
                space[5] = {x.dim[0], x.dim[1], x.dim[2], y.dim[3], y.dim[4]},
                line[4] = {x.dim[0], x.dim[1] * y.dim[3] * y.dim[4], 1, x.dim[2]},
                pooled[5] = {y.dim[0], y.dim[1], y.dim[3], y.dim[4], y.dim[2]};
  const int image = pool(m, quantise_make_reshape(m, m->node->inputs[0], 4, planes, GRAPH_NONE), w, 1, 2);
  const int whole = quantise_make_reshape(m, image, 5, space, GRAPH_NONE),
            turned = quantise_make_transpose(m, whole, depth_last, GRAPH_NONE);
  const int depth = pool(m, quantise_make_reshape(m, turned, 4, line, GRAPH_NONE), w, -1, 0);
  quantise_make_transpose(m, quantise_make_reshape(m, depth, 5, pooled, GRAPH_NONE), depth_back, m->node->outputs[0]);
}

// A mean over windows of all sizes is the mean of means if all windows are whole.
static bool is_separable(const graph_node *node, const windows *w) {
  if (node->op == GRAPH_OP_MAX_POOL) return true;
  return graph_int(node, "ceil_mode", 0) == 0 && (!w->padded || graph_int(node, "count_include_pad", 0) != 0);
}

// How many places of the window count, at each place of the result: those of the image, and of the padding that the
// attributes say if it counts.
static void count_places(const graph_node *node, const quantise_rewrite_window *w, int axis, int64_t size,
                         int64_t results, double *counts) {
  int64_t given[4] = {0};
  graph_ints(node, "pads", given, 4);
  const bool padding = graph_int(node, "count_include_pad", 0) != 0;
  const bool automatic = strncmp(graph_text(node, "auto_pad", "NOTSET"), "SAME", 4) == 0;
  const int64_t low = padding ? -w->pads[axis] : 0,
                high = !padding ? size : size + (automatic ? w->pads[2 + axis] : given[2 + axis]);
  for (int64_t i = 0; i < results; i++) {
    const int64_t from = i * w->strides[axis] - w->pads[axis], to = from + w->kernel[axis];
    const int64_t first = from > low ? from : low, last = to < high ? to : high;
    counts[i] = last > first ? (double)(last - first) : 1;
  }
}

static bool average_with_padding(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], y = g->tensors[node->outputs[0]];
  quantise_rewrite_window w;
  if (node->op != GRAPH_OP_AVERAGE_POOL || !quantise_make_is_float(g, node, 0) || graph_elements(&y) == 0 ||
      graph_find_attribute(node, "dilations") != NULL || !quantise_rewrite_window_of(g, node, &w))
    return false;
  const bool padded = (w.pads[0] | w.pads[1] | w.pads[2] | w.pads[3]) != 0;
  if (!padded || (graph_int(node, "count_include_pad", 0) != 0 && graph_int(node, "ceil_mode", 0) == 0)) return false;
  double *rows = WF_ARENA_ARRAY(g->arena, (size_t)y.dim[2], double),
         *columns = WF_ARENA_ARRAY(g->arena, (size_t)y.dim[3], double);
  float *factors = WF_ARENA_ARRAY(g->arena, (size_t)(y.dim[2] * y.dim[3]), float);
  count_places(node, &w, 0, x.dim[2], y.dim[2], rows);
  count_places(node, &w, 1, x.dim[3], y.dim[3], columns);
  for (int64_t i = 0; i < y.dim[2] * y.dim[3]; i++)
    factors[i] = (float)((double)(w.kernel[0] * w.kernel[1]) / (rows[i / y.dim[3]] * columns[i % y.dim[3]]));
  graph_node pooling = {0};
  graph_set_ints(g, &pooling, "kernel_shape", w.kernel, 2);
  graph_set_ints(g, &pooling, "strides", w.strides, 2);
  graph_set_ints(g, &pooling, "pads", w.pads, 4);
  graph_set_int(g, &pooling, "count_include_pad", 1);
  const int all = quantise_make(&m, node->op, &pooling, node->inputs, 1, GRAPH_NONE);
  quantise_make_binary(&m, GRAPH_OP_MUL, all,
                       quantise_make_constant(&m, GRAPH_F32, 4, (int64_t[]){1, 1, y.dim[2], y.dim[3]}, factors),
                       node->outputs[0]);
  return true;
}

// Bytes that the network is given are no quantised numbers, whose pooling stays between their scales.
static bool takes_bytes(const graph *g, const graph_node *node) {
  for (int i = 0; i < g->input_count; i++)
    if (g->inputs[i] == node->inputs[0]) return g->tensors[node->inputs[0]].type == GRAPH_U8;
  return false;
}

// Bytes become real numbers, which hold them.
static bool pool_of_bytes(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_type type = g->tensors[node->inputs[0]].type;
  if (quantise_make_wants(node, 1)) return false;
  const int x = quantise_make_cast(&m, node->inputs[0], GRAPH_F32, GRAPH_NONE),
            y = quantise_make(&m, node->op, node, &x, 1, GRAPH_NONE);
  quantise_make_cast(&m, y, type, node->outputs[0]);
  return true;
}

bool quantise_expand_pool(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const int rank = g->tensors[node->inputs[0]].rank;
  windows w;
  if (takes_bytes(g, node)) return pool_of_bytes(g, node);
  if (rank == 4) return average_with_padding(g, node);
  if ((rank != 3 && rank != 5) || quantise_make_wants(node, 1) || !windows_of(g, node, &w)) return false;
  if (rank == 3)
    as_line(&m, pool(&m, as_image(&m, node->inputs[0]), &w, -1, 0));
  else if (is_separable(node, &w))
    pool_space(&m, &w);
  else
    return false;
  return true;
}

bool quantise_expand_global(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], y = g->tensors[node->outputs[0]];
  const bool largest = node->op == GRAPH_OP_GLOBAL_MAX_POOL;
  if (x.rank < 3 || graph_elements(&x) == 0 || (x.rank == 4 && !largest)) return false;
  if (largest && x.rank == 4 && x.dim[2] == x.dim[3]) {
    graph_node attributes = {0};
    graph_set_ints(g, &attributes, "kernel_shape", &x.dim[2], 2);
    quantise_make(&m, GRAPH_OP_MAX_POOL, &attributes, node->inputs, 1, node->outputs[0]);
    return true;
  }
  const int64_t flat[4] = {x.dim[0], x.dim[1], graph_elements(&x) / x.dim[0] / x.dim[1], 1}, axes[2] = {2, 3};
  const int image = quantise_make_reshape(&m, node->inputs[0], 4, flat, GRAPH_NONE);
  const int pooled = largest ? quantise_make_reduce(&m, GRAPH_OP_REDUCE_MAX, image, axes, 2, true, GRAPH_NONE)
                             : quantise_make_unary(&m, node->op, image, GRAPH_NONE);
  quantise_make_reshape(&m, pooled, y.rank, y.dim, node->outputs[0]);
  return true;
}

// ---- resizing

enum { RESIZED_MAX = 2048 };

static bool is_mode(const graph_node *node, const char *name, const char *value) {
  return strcmp(graph_text(node, name, ""), value) == 0;
}

// [out, in]: what Resize makes of the identity along one dimension.
static int resizing_matrix(const quantise_maker *m, int axis, int64_t in, int64_t out) {
  const int64_t square[2] = {in, in}, sizes[2] = {out, in};
  float *identity = WF_ARENA_ARRAY(m->g->arena, (size_t)(in * in), float), scales[2] = {1, 1};
  for (int64_t i = 0; i < in; i++) identity[i * in + i] = 1;
  int inputs[4] = {quantise_make_constant(m, GRAPH_F32, 2, square, identity), GRAPH_NONE, GRAPH_NONE, GRAPH_NONE};
  const int given = quantise_make_has(m->node, 2) ? m->node->inputs[2] : GRAPH_NONE;
  if (given != GRAPH_NONE && graph_elements(&m->g->tensors[given]) > axis) {
    scales[0] = ((const float *)m->g->tensors[given].data)[axis];
    inputs[2] = quantise_make_constant(m, GRAPH_F32, 1, (int64_t[]){2}, scales);
  } else {
    inputs[3] = quantise_make_integers(m, sizes, 2);
  }
  return quantise_make(m, GRAPH_OP_RESIZE, m->node, inputs, 4, GRAPH_NONE);
}

// One dimension, which is `of_node` of the node's: [outer, size, inner] from the left.
static int resize_axis(const quantise_maker *m, int x, int axis, int of_node, int64_t out) {
  const graph_tensor t = quantise_make_tensor(m, x);
  const int64_t size = t.dim[axis],
                rows[3] = {graph_product(t.dim, 0, axis), size, graph_product(t.dim, axis + 1, t.rank)};
  int64_t dim[GRAPH_RANK_MAX];
  for (int d = 0; d < t.rank; d++) dim[d] = d == axis ? out : t.dim[d];
  const int matrix = resizing_matrix(m, of_node, size, out);
  const int y =
      quantise_make_binary(m, GRAPH_OP_MAT_MUL, matrix, quantise_make_reshape(m, x, 3, rows, GRAPH_NONE), GRAPH_NONE);
  return quantise_make_reshape(m, y, t.rank, dim, GRAPH_NONE);
}

// The places that nearest neighbours along one dimension come from: where the rows of the matrix have their ones. NULL:
// the matrix is too large, or places lie outside.
static const int64_t *places_along(const quantise_maker *m, int axis, int64_t in, int64_t out) {
  if (in > RESIZED_MAX || out > RESIZED_MAX) return NULL;
  const int made = resizing_matrix(m, axis, in, out);
  const float *matrix = m->g->tensors[made].data;
  int64_t *places = WF_ARENA_ARRAY(m->g->arena, (size_t)out + 1, int64_t);
  for (int64_t i = 0; i < out && matrix != NULL; i++) {
    while (places[i] < in && !(matrix[i * in + places[i]] > 0)) places[i]++;
    if (places[i] == in) return NULL;
  }
  return matrix != NULL ? places : NULL;
}

// Each place as often as the factor says, in turn: no indices are needed.
static bool is_repeated(const int64_t *places, int64_t in, int64_t out) {
  for (int64_t i = 0; i < out; i++)
    if (out % in != 0 || places[i] != i / (out / in)) return false;
  return true;
}

static bool resize_nearest(graph *g, const graph_node *node) {
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], y = g->tensors[node->outputs[0]];
  const int64_t *places[GRAPH_RANK_MAX] = {NULL};
  int now = node->inputs[0];
  bool repeated = true;
  if (is_mode(node, "coordinate_transformation_mode", "tf_crop_and_resize") || graph_elements(&x) == 0 ||
      graph_elements(&y) == 0)
    return false;
  for (int d = 0; d < x.rank; d++) {
    if (x.dim[d] == y.dim[d]) continue;
    if ((places[d] = places_along(&m, d, x.dim[d], y.dim[d])) == NULL) return false;
    repeated = repeated && is_repeated(places[d], x.dim[d], y.dim[d]);
  }
  for (int d = 0; d < x.rank && !repeated; d++)
    if (places[d] != NULL)
      now = quantise_make_along(&m, GRAPH_OP_GATHER, (int[]){now, quantise_make_integers(&m, places[d], (int)y.dim[d])},
                                2, d, GRAPH_NONE);
  if (!repeated) quantise_make_unary(&m, GRAPH_OP_IDENTITY, now, node->outputs[0]);
  return !repeated;
}

static bool can_resize(const graph *g, const graph_node *node) {
  const graph_tensor *x = &g->tensors[node->inputs[0]], *y = &g->tensors[node->outputs[0]];
  if (!quantise_make_is_float(g, node, 0) || is_mode(node, "coordinate_transformation_mode", "tf_crop_and_resize"))
    return false;
  for (int d = 0; d < x->rank; d++)
    if (x->dim[d] != y->dim[d] && (x->dim[d] > RESIZED_MAX || y->dim[d] > RESIZED_MAX)) return false;
  return graph_elements(x) > 0 && graph_elements(y) > 0;
}

// Images go with their channels last, where rows and columns have the channels behind them.
bool quantise_expand_resize(graph *g, const graph_node *node) {
  static const int64_t last[4] = {0, 2, 3, 1}, first[4] = {0, 3, 1, 2};
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]], y = g->tensors[node->outputs[0]];
  if (is_mode(node, "mode", "nearest") || graph_find_attribute(node, "mode") == NULL) return resize_nearest(g, node);
  if (!can_resize(g, node)) return false;
  const bool image = x.rank == 4 && x.dim[0] == y.dim[0] && x.dim[1] == y.dim[1];
  int now = node->inputs[0];
  if (image) now = quantise_make_transpose(&m, now, last, GRAPH_NONE);
  for (int d = 0; d < x.rank; d++) {
    if (x.dim[d] == y.dim[d]) continue;
    now = resize_axis(&m, now, image ? d - 1 : d, d, y.dim[d]);
  }
  if (image)
    quantise_make_transpose(&m, now, first, node->outputs[0]);
  else
    quantise_make_unary(&m, GRAPH_OP_IDENTITY, now, node->outputs[0]);
  return true;
}

// ---- padding

static int64_t source_of(const char *mode, int64_t i, int64_t size) {
  if (strcmp(mode, "edge") == 0) return i < 0 ? 0 : i >= size ? size - 1 : i;
  if (strcmp(mode, "wrap") == 0) return (i % size + size) % size;
  const int64_t period = size > 1 ? 2 * (size - 1) : 1, at = (i % period + period) % period;
  return at < size ? at : period - at;
}

static int pad_axis(const quantise_maker *m, const char *mode, int x, int axis, int64_t before, int64_t behind,
                    int out) {
  const int64_t size = m->g->tensors[x].dim[axis], count = before + size + behind;
  int64_t *indices = WF_ARENA_ARRAY(m->g->arena, (size_t)count, int64_t);
  for (int64_t i = 0; i < count; i++) indices[i] = source_of(mode, i - before, size);
  const int inputs[2] = {x, quantise_make_integers(m, indices, (int)count)};
  return quantise_make_along(m, GRAPH_OP_GATHER, inputs, 2, axis, out);
}

bool quantise_expand_pad(graph *g, const graph_node *node) {
  enum { PAD_MAX = 1 << 20 };
  const quantise_maker m = {g, node};
  const graph_tensor x = g->tensors[node->inputs[0]];
  int64_t pads[2 * GRAPH_RANK_MAX];
  const char *mode = graph_text(node, "mode", "constant");
  if (strcmp(mode, "constant") == 0 || graph_elements(&x) == 0 ||
      quantise_rewrite_integers(g, node->inputs[1], pads, 2 * GRAPH_RANK_MAX) != 2 * x.rank)
    return false;
  int last = -1, now = node->inputs[0];
  for (int d = 0; d < x.rank; d++) {
    if (pads[d] < 0 || pads[d] > PAD_MAX || pads[x.rank + d] < 0 || pads[x.rank + d] > PAD_MAX) return false;
    if (pads[d] + pads[x.rank + d] > 0) last = d;
  }
  if (last < 0) quantise_make_unary(&m, GRAPH_OP_IDENTITY, now, node->outputs[0]);
  for (int d = 0; d <= last; d++)
    if (pads[d] + pads[x.rank + d] > 0)
      now = pad_axis(&m, mode, now, d, pads[d], pads[x.rank + d], d == last ? node->outputs[0] : GRAPH_NONE);
  return true;
}
