// SPDX-License-Identifier: Apache-2.0
// DenseNet-121: each layer reads all features before it, concatenated. Names follow torchvision's exports.
#include "workloads/networks/build.h"

#define W(...) ((net_window){__VA_ARGS__})

enum { LAYERS_MAX = 24, NAME = 32 };

static int norm_relu(net *n, const char *norm, const char *relu, int x) {
  return net_relu(n, relu, net_batch_norm(n, norm, x, 1.4));
}

// The new features of a layer.
static int dense_layer(net *n, const int *features, int count) {
  const int64_t growth = net_width(n, 32);
  int x = count == 1 ? features[0] : net_concat(n, "concat", features, count, 1);
  x = net_conv(n, "conv1", norm_relu(n, "norm1", "relu1", x), 4 * growth, W(1, 1, 0, 1), false);
  return net_conv(n, "conv2", norm_relu(n, "norm2", "relu2", x), growth, W(3, 1, 1, 1), false);
}

static int dense_block(net *n, int x, int block, int layers) {
  int features[LAYERS_MAX + 1] = {x};
  for (int i = 0; i < layers; i++) {
    net_prefix(n, "features.denseblock%d.denselayer%d.", block, i + 1);
    features[i + 1] = dense_layer(n, features, i + 1);
  }
  net_prefix(n, "features.denseblock%d.", block);
  return net_concat(n, "concat", features, layers + 1, 1);
}

// Half the channels, half the rows and columns.
static int transition(net *n, int x, int block) {
  net_prefix(n, "features.transition%d.", block);
  x = net_conv(n, "conv", norm_relu(n, "norm", "relu", x), net_tensor(n, x)->dim[1] / 2, W(1, 1, 0, 1), false);
  const graph_tensor in = *net_tensor(n, x);
  const int y = net_node(n, GRAPH_OP_AVERAGE_POOL, "pool", &x, 1, 4,
                         (int64_t[]){in.dim[0], in.dim[1], in.dim[2] / 2, in.dim[3] / 2}, n->power[x] / 2);
  graph_set_ints(n->g, net_last(n), "kernel_shape", (int64_t[]){2, 2}, 2);
  graph_set_ints(n->g, net_last(n), "strides", (int64_t[]){2, 2}, 2);
  graph_set_ints(n->g, net_last(n), "pads", (int64_t[]){0, 0, 0, 0}, 4);
  return y;
}

void net_densenet(net *n) {
  static const int layers[] = {6, 12, 24, 16};
  enum { BLOCKS = sizeof layers / sizeof layers[0] };
  net_prefix(n, "%s", "features.");
  int x = net_conv(n, "conv0", net_image(n), net_width(n, 64), W(7, 2, 3, 1), false);
  x = net_max_pool(n, "pool0", norm_relu(n, "norm0", "relu0", x), W(3, 2, 1, 1));
  for (int b = 0; b < BLOCKS; b++) {
    x = dense_block(n, x, b + 1, layers[b]);
    if (b + 1 < BLOCKS) x = transition(n, x, b + 1);
  }
  net_prefix(n, "%s", "features.");
  x = norm_relu(n, "norm5", "relu", x);
  net_prefix(n, "%s", "");
  net_classify(n, "classifier", x);
}
