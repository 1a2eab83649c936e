// SPDX-License-Identifier: Apache-2.0
// Operators of the generators, with shapes and the power of what comes out: see build.h.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "workloads/networks/build.h"

enum { NAME = 96 };

// "conv1.weight"
static const char *part(char text[NAME], const char *name, const char *suffix) {
  snprintf(text, NAME, "%s.%s", name, suffix);
  return text;
}

static double power_of(const net *n, int tensor) { return n->power[tensor]; }

static int64_t windows(int64_t size, net_window w) { return (size + 2 * w.pad - w.kernel) / w.stride + 1; }

static void set_window(net *n, net_window w) {
  graph_node *node = net_last(n);
  graph_set_ints(n->g, node, "kernel_shape", (int64_t[]){w.kernel, w.kernel}, 2);
  graph_set_ints(n->g, node, "pads", (int64_t[]){w.pad, w.pad, w.pad, w.pad}, 4);
  graph_set_ints(n->g, node, "strides", (int64_t[]){w.stride, w.stride}, 2);
}

int net_conv(net *n, const char *name, int x, int64_t channels, net_window w, bool bias) {
  char text[NAME];
  const graph_tensor *in = net_tensor(n, x);
  const int64_t depth = in->dim[1] / w.groups, fan = depth * w.kernel * w.kernel;
  const int64_t dims[4] = {in->dim[0], channels, windows(in->dim[2], w), windows(in->dim[3], w)};
  int inputs[3] = {x};
  inputs[1] = net_weights(n, part(text, name, "weight"), 4, (int64_t[]){channels, depth, w.kernel, w.kernel},
                          1 / sqrt((double)fan));
  if (bias) inputs[2] = net_weights(n, part(text, name, "bias"), 1, &channels, 0.05);
  const int out = net_node(n, GRAPH_OP_CONV, name, inputs, bias ? 3 : 2, 4, dims, power_of(n, x));
  set_window(n, w);
  graph_set_ints(n->g, net_last(n), "dilations", (int64_t[]){1, 1}, 2);
  graph_set_int(n->g, net_last(n), "group", w.groups);
  return out;
}

int net_conv_transpose(net *n, const char *name, int x, int64_t channels, net_window w) {
  char text[NAME];
  const graph_tensor *in = net_tensor(n, x);
  const double fan = (double)in->dim[1] * (double)(w.kernel * w.kernel) / (double)(w.stride * w.stride);
  const int64_t dims[4] = {in->dim[0], channels, (in->dim[2] - 1) * w.stride + w.kernel - 2 * w.pad,
                           (in->dim[3] - 1) * w.stride + w.kernel - 2 * w.pad};
  const int64_t shape[4] = {in->dim[1], channels, w.kernel, w.kernel};
  int inputs[3] = {x};
  inputs[1] = net_weights(n, part(text, name, "weight"), 4, shape, 1 / sqrt(fan));
  inputs[2] = net_weights(n, part(text, name, "bias"), 1, &channels, 0.05);
  const int out = net_node(n, GRAPH_OP_CONV_TRANSPOSE, name, inputs, 3, 4, dims, power_of(n, x));
  set_window(n, w);
  return out;
}

// A vector of C numbers: base + spread * normal, or uniform between the two factors of base.
static int vector(net *n, const char *name, const char *suffix, int64_t count, double low, double high, bool normal) {
  char text[NAME];
  float *values = wf_alloc((size_t)count, sizeof *values);
  for (int64_t i = 0; i < count; i++)
    values[i] = (float)(normal ? low + high * net_normal(n) : net_uniform(n, low, high));
  const int tensor = net_floats(n, part(text, name, suffix), 1, &count, values);
  wf_free(values);
  return tensor;
}

int net_batch_norm(net *n, const char *name, int x, double gain) {
  const graph_tensor in = *net_tensor(n, x);
  const int64_t channels = in.dim[1];
  const double power = power_of(n, x);
  const int inputs[5] = {x, vector(n, name, "weight", channels, 0.6 * gain, 1.4 * gain, false),
                         vector(n, name, "bias", channels, 0, 0.2 * gain, true),
                         vector(n, name, "running_mean", channels, 0, 0.1 * sqrt(power), true),
                         vector(n, name, "running_var", channels, 0.7 * power, 1.3 * power, false)};
  const int out = net_node(n, GRAPH_OP_BATCH_NORMALIZATION, name, inputs, 5, in.rank, in.dim, 1.15 * gain * gain);
  graph_set_float(n->g, net_last(n), "epsilon", 1e-5F);
  return out;
}

int net_unary(net *n, graph_op op, const char *name, int x, double power) {
  const graph_tensor in = *net_tensor(n, x);
  return net_node(n, op, name, &x, 1, in.rank, in.dim, power);
}

int net_relu(net *n, const char *name, int x) { return net_unary(n, GRAPH_OP_RELU, name, x, power_of(n, x) / 2); }

int net_relu6(net *n, const char *name, int x) {
  char text[NAME];
  const graph_tensor in = *net_tensor(n, x);
  int inputs[3] = {x};
  inputs[1] = net_number(n, part(text, name, "min"), 0);
  inputs[2] = net_number(n, part(text, name, "max"), 6);
  return net_node(n, GRAPH_OP_CLIP, name, inputs, 3, in.rank, in.dim, power_of(n, x) / 2);
}

int net_max_pool(net *n, const char *name, int x, net_window w) {
  const graph_tensor *in = net_tensor(n, x);
  const int64_t dims[4] = {in->dim[0], in->dim[1], windows(in->dim[2], w), windows(in->dim[3], w)};
  const int out = net_node(n, GRAPH_OP_MAX_POOL, name, &x, 1, 4, dims, 1.5 * power_of(n, x));
  set_window(n, w);
  return out;
}

int net_global_pool(net *n, const char *name, int x) {
  const graph_tensor *in = net_tensor(n, x);
  const int64_t dims[4] = {in->dim[0], in->dim[1], 1, 1};
  return net_node(n, GRAPH_OP_GLOBAL_AVERAGE_POOL, name, &x, 1, 4, dims, power_of(n, x) / 3);
}

int net_flatten(net *n, const char *name, int x) {
  const graph_tensor *in = net_tensor(n, x);
  const int64_t dims[2] = {in->dim[0], graph_elements(in) / in->dim[0]};
  const int out = net_node(n, GRAPH_OP_FLATTEN, name, &x, 1, 2, dims, power_of(n, x));
  graph_set_int(n->g, net_last(n), "axis", 1);
  return out;
}

int net_gemm(net *n, const char *name, int x, int64_t features) {
  char text[NAME];
  const graph_tensor *in = net_tensor(n, x);
  const int64_t depth = in->dim[1], dims[2] = {in->dim[0], features};
  int inputs[3] = {x};
  inputs[1] = net_weights(n, part(text, name, "weight"), 2, (int64_t[]){features, depth}, 1 / sqrt((double)depth));
  inputs[2] = net_weights(n, part(text, name, "bias"), 1, &features, 0.05);
  const int out = net_node(n, GRAPH_OP_GEMM, name, inputs, 3, 2, dims, power_of(n, x));
  graph_set_int(n->g, net_last(n), "transB", 1);
  return out;
}

int net_mat_mul(net *n, const char *name, int a, int b) {
  const graph_tensor *left = net_tensor(n, a), *right = net_tensor(n, b);
  const bool wide = left->rank >= right->rank;
  graph_tensor out = wide ? *left : *right;
  const int64_t depth = left->dim[left->rank - 1];
  assert(right->dim[right->rank - 2] == depth);
  out.dim[out.rank - 2] = left->dim[left->rank - 2];
  out.dim[out.rank - 1] = right->dim[right->rank - 1];
  const double power = power_of(n, a) * power_of(n, b) * (double)depth;
  return net_node(n, GRAPH_OP_MAT_MUL, name, (int[]){a, b}, 2, out.rank, out.dim, power);
}

int net_linear(net *n, const char *name, int x, int64_t features, bool bias) {
  char text[NAME];
  const graph_tensor *in = net_tensor(n, x);
  const int64_t depth = in->dim[in->rank - 1];
  const int weight =
      net_weights(n, part(text, name, "weight"), 2, (int64_t[]){depth, features}, 1 / sqrt((double)depth));
  if (!bias) return net_mat_mul(n, name, x, weight);
  const int product = net_mat_mul(n, part(text, name, "MatMul"), x, weight);
  const int offset = net_weights(n, part(text, name, "bias"), 1, &features, 0.05);
  return net_binary(n, GRAPH_OP_ADD, name, product, offset, power_of(n, product));
}

int net_binary(net *n, graph_op op, const char *name, int a, int b, double power) {
  const graph_tensor *left = net_tensor(n, a), *right = net_tensor(n, b);
  graph_tensor out = left->rank >= right->rank ? *left : *right;
  for (int i = 1; i <= left->rank && i <= right->rank; i++) {
    const int64_t l = left->dim[left->rank - i], r = right->dim[right->rank - i];
    assert(l == r || l == 1 || r == 1);
    out.dim[out.rank - i] = l == 1 ? r : l;
  }
  return net_node(n, op, name, (int[]){a, b}, 2, out.rank, out.dim, power);
}

int net_add(net *n, const char *name, int a, int b) {
  return net_binary(n, GRAPH_OP_ADD, name, a, b, power_of(n, a) + power_of(n, b));
}

int net_reshape(net *n, const char *name, int x, int rank, const int64_t *dims) {
  char text[NAME];
  const int shape = net_ints(n, part(text, name, "shape"), dims, rank);
  return net_node(n, GRAPH_OP_RESHAPE, name, (int[]){x, shape}, 2, rank, dims, power_of(n, x));
}

int net_transpose(net *n, const char *name, int x, const int64_t *perm) {
  const graph_tensor *in = net_tensor(n, x);
  int64_t dims[GRAPH_RANK_MAX];
  const int rank = in->rank;
  for (int i = 0; i < rank; i++) dims[i] = in->dim[perm[i]];
  const int out = net_node(n, GRAPH_OP_TRANSPOSE, name, &x, 1, rank, dims, power_of(n, x));
  graph_set_ints(n->g, net_last(n), "perm", perm, rank);
  return out;
}

int net_concat(net *n, const char *name, const int *inputs, int count, int axis) {
  graph_tensor out = *net_tensor(n, inputs[0]);
  double power = power_of(n, inputs[0]);
  for (int i = 1; i < count; i++) {
    out.dim[axis] += net_tensor(n, inputs[i])->dim[axis];
    power = fmax(power, power_of(n, inputs[i]));
  }
  const int tensor = net_node(n, GRAPH_OP_CONCAT, name, inputs, count, out.rank, out.dim, power);
  graph_set_int(n->g, net_last(n), "axis", axis);
  return tensor;
}

int net_slice(net *n, const char *name, int x, int axis, int64_t from, int64_t to) {
  char text[NAME];
  graph_tensor out = *net_tensor(n, x);
  out.dim[axis] = to - from;
  int inputs[4] = {x};
  inputs[1] = net_ints(n, part(text, name, "starts"), &from, 1);
  inputs[2] = net_ints(n, part(text, name, "ends"), &to, 1);
  inputs[3] = net_ints(n, part(text, name, "axes"), &(int64_t){axis}, 1);
  return net_node(n, GRAPH_OP_SLICE, name, inputs, 4, out.rank, out.dim, power_of(n, x));
}

int net_softmax(net *n, const char *name, int x) {
  const graph_tensor *in = net_tensor(n, x);
  const double width = (double)in->dim[in->rank - 1];
  const int out = net_unary(n, GRAPH_OP_SOFTMAX, name, x, 2 / (width * width));
  graph_set_int(n->g, net_last(n), "axis", -1);
  return out;
}

int net_layer_norm(net *n, const char *name, int x) {
  const graph_tensor in = *net_tensor(n, x);
  const int64_t width = in.dim[in.rank - 1];
  const int inputs[3] = {x, vector(n, name, "weight", width, 0.8, 1.2, false),
                         vector(n, name, "bias", width, 0, 0.1, true)};
  const int out = net_node(n, GRAPH_OP_LAYER_NORMALIZATION, name, inputs, 3, in.rank, in.dim, 1);
  graph_set_int(n->g, net_last(n), "axis", -1);
  graph_set_float(n->g, net_last(n), "epsilon", 1e-5F);
  return out;
}

int net_upsample(net *n, const char *name, int x, int64_t rows, int64_t columns) {
  char text[NAME];
  const graph_tensor *in = net_tensor(n, x);
  const int64_t dims[4] = {in->dim[0], in->dim[1], rows, columns};
  const int sizes = net_ints(n, part(text, name, "sizes"), dims, 4);
  const int inputs[4] = {x, GRAPH_NONE, GRAPH_NONE, sizes};
  const int out = net_node(n, GRAPH_OP_RESIZE, name, inputs, 4, 4, dims, power_of(n, x));
  graph_set_text(n->g, net_last(n), "mode", "nearest");
  graph_set_text(n->g, net_last(n), "coordinate_transformation_mode", "asymmetric");
  graph_set_text(n->g, net_last(n), "nearest_mode", "floor");
  return out;
}

static int gather(net *n, const char *name, int x, int axis, int indices, const graph_tensor *out) {
  const int tensor = net_node(n, GRAPH_OP_GATHER, name, (int[]){x, indices}, 2, out->rank, out->dim, power_of(n, x));
  graph_set_int(n->g, net_last(n), "axis", axis);
  return tensor;
}

int net_gather(net *n, const char *name, int x, int axis, const int64_t *indices) {
  char text[NAME];
  const graph_tensor out = *net_tensor(n, x);
  return gather(n, name, x, axis, net_ints(n, part(text, name, "indices"), indices, (int)out.dim[axis]), &out);
}

int net_pick(net *n, const char *name, int x, int axis, int64_t index) {
  char text[NAME];
  graph_tensor out = *net_tensor(n, x);
  out.rank--;
  for (int i = axis; i < out.rank; i++) out.dim[i] = out.dim[i + 1];
  const int indices = net_ints(n, part(text, name, "index"), &index, 1);
  n->g->tensors[indices].rank = 0;
  return gather(n, name, x, axis, indices, &out);
}

int net_silu(net *n, const char *name, int x) {
  char text[NAME];
  const int gate = net_unary(n, GRAPH_OP_SIGMOID, part(text, name, "sigmoid"), x, 0.3);
  return net_binary(n, GRAPH_OP_MUL, name, x, gate, 0.35 * power_of(n, x));
}
