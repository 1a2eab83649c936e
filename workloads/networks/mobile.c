// SPDX-License-Identifier: Apache-2.0
// Small networks for images with gates and shuffled channels: EfficientNet-B0, MobileNetV3-small, ShuffleNetV2.
// Structures and names follow torchvision's exports.
#include "workloads/networks/build.h"

#define W(...) ((net_window){__VA_ARGS__})

// ---- blocks with a gate per channel

typedef int activation(net *n, const char *name, int x);

static int hard_swish(net *n, const char *name, int x) {
  return net_unary(n, GRAPH_OP_HARD_SWISH, name, x, 0.35 * n->power[x]);
}

static int sigmoid(net *n, const char *name, int x) { return net_unary(n, GRAPH_OP_SIGMOID, name, x, 0.3); }

static int hard_sigmoid(net *n, const char *name, int x) {
  const int y = net_unary(n, GRAPH_OP_HARD_SIGMOID, name, x, 0.3);
  graph_set_float(n->g, net_last(n), "alpha", 1.0F / 6);
  graph_set_float(n->g, net_last(n), "beta", 0.5F);
  return y;
}

// What a block is made of. `squeezed`: channels in the middle of the gate, 0: it has none.
typedef struct block {
  int64_t kernel, stride, hidden, results, squeezed;
  activation *act, *inside, *gate;
} block;

static int squeeze_and_excite(net *n, int x, const block *b) {
  int y = net_conv(n, "se.fc1", net_global_pool(n, "se.avgpool", x), b->squeezed, W(1, 1, 0, 1), true);
  y = net_conv(n, "se.fc2", b->inside(n, "se.activation", y), net_tensor(n, x)->dim[1], W(1, 1, 0, 1), true);
  return net_binary(n, GRAPH_OP_MUL, "se.mul", b->gate(n, "se.scale_activation", y), x, 0.3 * n->power[x]);
}

static int gated_block(net *n, int x, const block *b) {
  const int64_t channels = net_tensor(n, x)->dim[1];
  int y = x;
  if (b->hidden != channels)
    y = b->act(n, "expand.2", net_conv_bn(n, "expand.0", "expand.1", y, b->hidden, W(1, 1, 0, 1), 1.5));
  const net_window window = W(b->kernel, b->stride, b->kernel / 2, b->hidden);
  y = b->act(n, "depthwise.2", net_conv_bn(n, "depthwise.0", "depthwise.1", y, b->hidden, window, 1.5));
  if (b->squeezed != 0) y = squeeze_and_excite(n, y, b);
  y = net_conv_bn(n, "project.0", "project.1", y, b->results, W(1, 1, 0, 1), 0.7);
  return b->stride == 1 && channels == b->results ? net_add(n, "add", x, y) : y;
}

void net_efficientnet(net *n) {
  static const int64_t stages[][5] = {// expansion, kernel, stride, channels, blocks
                                      {1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                                      {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
  int x = net_conv_bn(n, "features.0.0", "features.0.1", net_image(n), net_width(n, 32), W(3, 2, 1, 1), 1.5);
  x = net_silu(n, "features.0.2", x);
  for (int s = 0; s < (int)(sizeof stages / sizeof stages[0]); s++)
    for (int i = 0; i < (int)stages[s][4]; i++) {
      const int64_t channels = net_tensor(n, x)->dim[1], *row = stages[s];
      net_prefix(n, "features.%d.%d.", s + 1, i);
      x = gated_block(n, x,
                      &(block){row[1], i == 0 ? row[2] : 1, row[0] * channels, net_width(n, row[3]), channels / 4,
                               net_silu, net_silu, sigmoid});
    }
  net_prefix(n, "%s", "");
  x = net_conv_bn(n, "features.8.0", "features.8.1", x, net_width(n, 1280), W(1, 1, 0, 1), 1.5);
  net_classify(n, "classifier.1", net_silu(n, "features.8.2", x));
}

// A quarter, to the nearest multiple of eight that is not below 0.9 of it.
static int64_t quarter(int64_t channels) {
  const int64_t wanted = channels / 4, near = (wanted + 4) / 8 * 8, least = near < 8 ? 8 : near;
  return 10 * least < 9 * wanted ? least + 8 : least;
}

void net_mobilenetv3(net *n) {
  static const struct {
    int64_t kernel, hidden, channels, gated, swish, stride;
  } rows[] = {{3, 16, 16, 1, 0, 2},  {3, 72, 24, 0, 0, 2},  {3, 88, 24, 0, 0, 1},  {5, 96, 40, 1, 1, 2},
              {5, 240, 40, 1, 1, 1}, {5, 240, 40, 1, 1, 1}, {5, 120, 48, 1, 1, 1}, {5, 144, 48, 1, 1, 1},
              {5, 288, 96, 1, 1, 2}, {5, 576, 96, 1, 1, 1}, {5, 576, 96, 1, 1, 1}};
  int x = net_conv_bn(n, "features.0.0", "features.0.1", net_image(n), net_width(n, 16), W(3, 2, 1, 1), 1.5);
  x = hard_swish(n, "features.0.2", x);
  for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
    const int64_t hidden = net_width(n, rows[i].hidden);
    net_prefix(n, "features.%d.", i + 1);
    x = gated_block(
        n, x,
        &(block){rows[i].kernel, rows[i].stride, hidden, net_width(n, rows[i].channels),
                 rows[i].gated ? quarter(hidden) : 0, rows[i].swish ? hard_swish : net_relu, net_relu, hard_sigmoid});
  }
  net_prefix(n, "%s", "");
  x = net_conv_bn(n, "features.12.0", "features.12.1", x, net_width(n, 576), W(1, 1, 0, 1), 1.5);
  x = net_global_pool(n, "avgpool", hard_swish(n, "features.12.2", x));
  x = net_gemm(n, "classifier.0", net_flatten(n, "flatten", x), net_width(n, 1024));
  net_output(n, net_gemm(n, "classifier.3", hard_swish(n, "classifier.1", x), 1000));
}

// ---- ShuffleNetV2

static int pointwise(net *n, const char *conv, const char *bn, const char *relu, int x, int64_t channels) {
  return net_relu(n, relu, net_conv_bn(n, conv, bn, x, channels, W(1, 1, 0, 1), 1.4));
}

static int depthwise(net *n, const char *conv, const char *bn, int x, int64_t stride) {
  const int64_t channels = net_tensor(n, x)->dim[1];
  return net_conv_bn(n, conv, bn, x, channels, W(3, stride, 1, channels), 1);
}

// The two halves of the channels go to every other place.
static int shuffle(net *n, int x) {
  const graph_tensor in = *net_tensor(n, x);
  const int64_t b = in.dim[0], c = in.dim[1], h = in.dim[2], w = in.dim[3];
  x = net_reshape(n, "shuffle.split", x, 5, (int64_t[]){b, 2, c / 2, h, w});
  x = net_transpose(n, "shuffle.transpose", x, (int64_t[]){0, 2, 1, 3, 4});
  return net_reshape(n, "shuffle.join", x, 4, in.dim);
}

static int shuffled_block(net *n, int x, int64_t channels, int64_t stride) {
  int first = x, y = x;
  if (stride == 1) {
    first = net_slice(n, "chunk.0", x, 1, 0, channels / 2);
    y = net_slice(n, "chunk.1", x, 1, channels / 2, channels);
  } else {
    first = depthwise(n, "branch1.0", "branch1.1", x, stride);
    first = pointwise(n, "branch1.2", "branch1.3", "branch1.4", first, channels / 2);
  }
  y = pointwise(n, "branch2.0", "branch2.1", "branch2.2", y, channels / 2);
  y = depthwise(n, "branch2.3", "branch2.4", y, stride);
  y = pointwise(n, "branch2.5", "branch2.6", "branch2.7", y, channels / 2);
  return shuffle(n, net_concat(n, "concat", (int[]){first, y}, 2, 1));
}

// The mean over rows and columns, [B,C], as a reduction.
static int mean(net *n, const char *name, int x) {
  const graph_tensor in = *net_tensor(n, x);
  const int y = net_node(n, GRAPH_OP_REDUCE_MEAN, name, &x, 1, 2, in.dim, n->power[x] / 3);
  graph_set_ints(n->g, net_last(n), "axes", (int64_t[]){2, 3}, 2);
  graph_set_int(n->g, net_last(n), "keepdims", 0);
  return y;
}

void net_shufflenetv2(net *n) {
  static const int64_t stages[][2] = {{116, 4}, {232, 8}, {464, 4}};  // channels, blocks
  int x = net_conv_bn(n, "conv1.0", "conv1.1", net_image(n), net_width(n, 24), W(3, 2, 1, 1), 1.4);
  x = net_max_pool(n, "maxpool", net_relu(n, "conv1.2", x), W(3, 2, 1, 1));
  for (int s = 0; s < 3; s++)
    for (int i = 0; i < (int)stages[s][1]; i++) {
      net_prefix(n, "stage%d.%d.", s + 2, i);
      x = shuffled_block(n, x, net_width(n, stages[s][0]), i == 0 ? 2 : 1);
    }
  net_prefix(n, "%s", "");
  x = pointwise(n, "conv5.0", "conv5.1", "conv5.2", x, net_width(n, 1024));
  net_output(n, net_gemm(n, "fc", mean(n, "mean", x), 1000));
}
