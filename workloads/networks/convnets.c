// SPDX-License-Identifier: Apache-2.0
// Networks for images: ResNet, ResNeXt, MobileNetV2, VGG, U-Net, RetinaNet. Structures and names follow torchvision's
// exports.
#include <math.h>

#include "workloads/networks/build.h"

#define W(...) ((net_window){__VA_ARGS__})

int net_image(net *n) {
  return net_input(n, "input", 4, (int64_t[]){n->options.batch, 3, n->options.size, n->options.size});
}

int net_conv_bn(net *n, const char *conv, const char *bn, int x, int64_t channels, net_window window, double gain) {
  return net_batch_norm(n, bn, net_conv(n, conv, x, channels, window, false), gain);
}

int net_resnet_stem(net *n) {
  int x = net_conv_bn(n, "conv1", "bn1", net_image(n), net_width(n, 64), W(7, 2, 3, 1), 1);
  return net_max_pool(n, "maxpool", net_relu(n, "relu", x), W(3, 2, 1, 1));
}

static int basic_block(net *n, int x, int64_t channels, int64_t stride) {
  int y = net_conv_bn(n, "conv1", "bn1", x, channels, W(3, stride, 1, 1), 1);
  y = net_conv_bn(n, "conv2", "bn2", net_relu(n, "relu1", y), channels, W(3, 1, 1, 1), 0.4);
  return y;
}

// `inner` channels in as many groups as divide them, at most `groups`; four times as many channels as a plain ResNet's
// inner ones come out.
static int bottleneck_block(net *n, int x, int64_t channels, int64_t stride, int64_t inner, int64_t groups) {
  while (inner % groups != 0) groups--;
  int y = net_conv_bn(n, "conv1", "bn1", x, inner, W(1, 1, 0, 1), 1);
  y = net_conv_bn(n, "conv2", "bn2", net_relu(n, "relu1", y), inner, W(3, stride, 1, groups), 1);
  return net_conv_bn(n, "conv3", "bn3", net_relu(n, "relu2", y), 4 * channels, W(1, 1, 0, 1), 0.4);
}

static int block(net *n, net_block kind, int x, int64_t channels, int64_t stride) {
  enum { GROUPS = 32 };
  if (kind == NET_BASIC) return basic_block(n, x, channels, stride);
  if (kind == NET_BOTTLENECK) return bottleneck_block(n, x, channels, stride, channels, 1);
  const int64_t groups = GROUPS / n->options.divisor;
  return bottleneck_block(n, x, channels, stride, 2 * channels, groups < 1 ? 1 : groups);
}

int net_residual_stage(net *n, int x, int stage, int blocks, int64_t channels, int64_t stride, net_block kind) {
  const int64_t results = kind == NET_BASIC ? channels : 4 * channels;
  for (int i = 0; i < blocks; i++) {
    net_prefix(n, "layer%d.%d.", stage, i);
    const int64_t step = i == 0 ? stride : 1;
    int around = x;
    const int y = block(n, kind, x, channels, step);
    if (step != 1 || net_tensor(n, x)->dim[1] != results)
      around = net_conv_bn(n, "downsample.0", "downsample.1", x, results, W(1, step, 0, 1), 0.7);
    x = net_relu(n, "relu", net_add(n, "add", y, around));
  }
  net_prefix(n, "%s", "");
  return x;
}

static int stage_of_50(net *n, int x, int stage, net_block kind) {
  static const int blocks[] = {3, 4, 6, 3};
  return net_residual_stage(n, x, stage, blocks[stage - 1], net_width(n, 32 << stage), stage == 1 ? 1 : 2, kind);
}

int net_resnet50_stage(net *n, int x, int stage) { return stage_of_50(n, x, stage, NET_BOTTLENECK); }

void net_classify(net *n, const char *name, int x) {
  net_output(n, net_gemm(n, name, net_flatten(n, "flatten", net_global_pool(n, "avgpool", x)), 1000));
}

void net_resnet18(net *n) {
  int x = net_resnet_stem(n);
  for (int stage = 1; stage <= 4; stage++)
    x = net_residual_stage(n, x, stage, 2, net_width(n, 32 << stage), stage == 1 ? 1 : 2, NET_BASIC);
  net_classify(n, "fc", x);
}

void net_resnet50(net *n) {
  int x = net_resnet_stem(n);
  for (int stage = 1; stage <= 4; stage++) x = net_resnet50_stage(n, x, stage);
  net_classify(n, "fc", x);
}

void net_bottleneck(net *n) {
  const int64_t size = n->options.size, dims[] = {n->options.batch, net_width(n, 256), size, size};
  net_output(n, bottleneck_block(n, net_input(n, "input", 4, dims), net_width(n, 64), 1, net_width(n, 64), 1));
}

void net_resnext50(net *n) {
  int x = net_resnet_stem(n);
  for (int stage = 1; stage <= 4; stage++) x = stage_of_50(n, x, stage, NET_GROUPED);
  net_classify(n, "fc", x);
}

static int inverted_residual(net *n, int x, int64_t results, int64_t stride, int64_t expansion) {
  const int64_t channels = net_tensor(n, x)->dim[1], hidden = channels * expansion;
  int y = x;
  if (expansion != 1)
    y = net_relu6(n, "conv.0.2", net_conv_bn(n, "conv.0.0", "conv.0.1", y, hidden, W(1, 1, 0, 1), 1.5));
  y = net_conv_bn(n, "conv.1.0", "conv.1.1", y, hidden, W(3, stride, 1, hidden), 1.5);
  y = net_conv_bn(n, "conv.2", "conv.3", net_relu6(n, "conv.1.2", y), results, W(1, 1, 0, 1), 0.7);
  return stride == 1 && channels == results ? net_add(n, "add", x, y) : y;
}

void net_mobilenetv2(net *n) {
  static const int64_t stages[][4] = {
      // expansion, channels, blocks, stride
      {1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  int x = net_conv_bn(n, "features.0.0", "features.0.1", net_image(n), net_width(n, 32), W(3, 2, 1, 1), 1.5);
  x = net_relu6(n, "features.0.2", x);
  int feature = 1;
  for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++)
    for (int64_t i = 0; i < stages[s][2]; i++) {
      net_prefix(n, "features.%d.", feature++);
      x = inverted_residual(n, x, net_width(n, stages[s][1]), i == 0 ? stages[s][3] : 1, stages[s][0]);
    }
  net_prefix(n, "%s", "");
  x = net_relu6(n, "features.18.2",
                net_conv_bn(n, "features.18.0", "features.18.1", x, net_width(n, 1280), W(1, 1, 0, 1), 1.5));
  net_classify(n, "classifier.1", x);
}

void net_vgg16(net *n) {
  static const int channels[] = {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0};
  int x = net_image(n);
  net_prefix(n, "%s", "features.");
  for (int i = 0; i < (int)(sizeof channels / sizeof channels[0]); i++) {
    char name[2][16];
    snprintf(name[0], sizeof name[0], "%d", 2 * i);
    snprintf(name[1], sizeof name[1], "%d", 2 * i + 1);
    x = channels[i] == 0
            ? net_max_pool(n, name[0], x, W(2, 2, 0, 1))
            : net_relu(n, name[1], net_conv(n, name[0], x, net_width(n, channels[i]), W(3, 1, 1, 1), true));
  }
  net_prefix(n, "%s", "classifier.");
  x = net_relu(n, "1", net_gemm(n, "0", net_flatten(n, "flatten", x), net_width(n, 4096)));
  x = net_relu(n, "4", net_gemm(n, "3", x, net_width(n, 4096)));
  net_output(n, net_gemm(n, "6", x, 1000));
}

static int double_conv(net *n, int x, int64_t channels) {
  x = net_relu(n, "2", net_conv_bn(n, "0", "1", x, channels, W(3, 1, 1, 1), 1));
  return net_relu(n, "5", net_conv_bn(n, "3", "4", x, channels, W(3, 1, 1, 1), 1));
}

void net_unet(net *n) {
  enum { LEVELS = 5 };
  int level[LEVELS], x = net_image(n);
  for (int i = 0; i < LEVELS; i++) {
    net_prefix(n, "down%d.", i);
    if (i != 0) x = net_max_pool(n, "maxpool", x, W(2, 2, 0, 1));
    x = level[i] = double_conv(n, x, net_width(n, 64 << i));
  }
  for (int i = LEVELS - 2; i >= 0; i--) {
    net_prefix(n, "up%d.", LEVELS - 1 - i);
    x = net_conv_transpose(n, "up", x, net_width(n, 64 << i), W(2, 2, 0, 1));
    x = double_conv(n, net_concat(n, "concat", (int[]){level[i], x}, 2, 1), net_width(n, 64 << i));
  }
  net_prefix(n, "%s", "");
  net_output(n, net_conv(n, "outc", x, 2, W(1, 1, 0, 1), true));
}

enum { LEVELS = 5, ANCHORS = 9, CLASSES = 91 };

// The heads are shared by all levels: weights are made once, the convolutions of each level use them.
typedef struct head {
  const char *name;
  int64_t results;  // per anchor
  int weights[LEVELS], biases[LEVELS];
} head;

static int shared_conv(net *n, const char *name, int x, int weight, int bias) {
  const graph_tensor *in = net_tensor(n, x), *w = net_tensor(n, weight);
  const int64_t dims[4] = {in->dim[0], w->dim[0], in->dim[2], in->dim[3]};
  const int out = net_node(n, GRAPH_OP_CONV, name, (int[]){x, weight, bias}, 3, 4, dims, n->power[x]);
  graph_set_ints(n->g, net_last(n), "kernel_shape", (int64_t[]){3, 3}, 2);
  graph_set_ints(n->g, net_last(n), "pads", (int64_t[]){1, 1, 1, 1}, 4);
  graph_set_ints(n->g, net_last(n), "strides", (int64_t[]){1, 1}, 2);
  graph_set_int(n->g, net_last(n), "group", 1);
  return out;
}

static void head_weights(net *n, head *h) {
  const int64_t channels = net_width(n, 256);
  for (int i = 0; i < LEVELS; i++) {
    char name[2][64];
    snprintf(name[0], sizeof name[0], "%s.%d.weight", h->name, i);
    snprintf(name[1], sizeof name[1], "%s.%d.bias", h->name, i);
    const int64_t shape[4] = {i == LEVELS - 1 ? h->results * ANCHORS : channels, channels, 3, 3};
    h->weights[i] = net_weights(n, name[0], 4, shape, sqrt(2.0 / (double)(9 * channels)));
    h->biases[i] = net_weights(n, name[1], 1, shape, 0.05);
  }
}

// [B,A*R,H,W] to [B,H*W*A,R].
static int flatten_head(net *n, int x, int64_t results) {
  const graph_tensor in = *net_tensor(n, x);
  const int64_t b = in.dim[0], h = in.dim[2], w = in.dim[3];
  x = net_reshape(n, "view", x, 5, (int64_t[]){b, ANCHORS, results, h, w});
  x = net_transpose(n, "permute", x, (int64_t[]){0, 3, 4, 1, 2});
  return net_reshape(n, "reshape", x, 3, (int64_t[]){b, h * w * ANCHORS, results});
}

static int run_head(net *n, const head *h, const int *features, bool sigmoid) {
  int results[LEVELS];
  for (int level = 0; level < LEVELS; level++) {
    net_prefix(n, "%s.p%d.", h->name, level + 3);
    int x = features[level];
    for (int i = 0; i < LEVELS; i++) {
      char name[2][16];
      snprintf(name[0], sizeof name[0], "conv%d", i);
      snprintf(name[1], sizeof name[1], "relu%d", i);
      x = shared_conv(n, name[0], x, h->weights[i], h->biases[i]);
      if (i != LEVELS - 1) x = net_relu(n, name[1], x);
    }
    results[level] = flatten_head(n, x, h->results);
  }
  net_prefix(n, "%s.", h->name);
  const int all = net_concat(n, "concat", results, LEVELS, 1);
  return sigmoid ? net_unary(n, GRAPH_OP_SIGMOID, "scores", all, 0.3) : all;
}

static void pyramid(net *n, const int *stages, int *features) {
  const int64_t channels = net_width(n, 256);
  int above = GRAPH_NONE;
  net_prefix(n, "%s", "fpn.");
  for (int i = 2; i >= 0; i--) {
    char name[4][16];
    static const char *const kinds[] = {"inner", "up", "add", "layer"};
    for (int k = 0; k < 4; k++) snprintf(name[k], sizeof name[k], "%s%d", kinds[k], i);
    int x = net_conv(n, name[0], stages[i], channels, W(1, 1, 0, 1), true);
    if (above != GRAPH_NONE) {
      const graph_tensor size = *net_tensor(n, x);
      x = net_add(n, name[2], x, net_upsample(n, name[1], above, size.dim[2], size.dim[3]));
    }
    above = x;
    features[i] = net_conv(n, name[3], x, channels, W(3, 1, 1, 1), true);
  }
  features[3] = net_conv(n, "p6", features[2], channels, W(3, 2, 1, 1), true);
  features[4] = net_conv(n, "p7", net_relu(n, "p6relu", features[3]), channels, W(3, 2, 1, 1), true);
}

void net_retinanet(net *n) {
  int stages[3], features[LEVELS], x = net_resnet50_stage(n, net_resnet_stem(n), 1);
  for (int i = 0; i < 3; i++) x = stages[i] = net_resnet50_stage(n, x, i + 2);
  pyramid(n, stages, features);
  net_prefix(n, "%s", "");
  head classes = {.name = "classification", .results = CLASSES}, boxes = {.name = "regression", .results = 4};
  head_weights(n, &classes);
  head_weights(n, &boxes);
  const int scores = run_head(n, &classes, features, true), places = run_head(n, &boxes, features, false);
  net_output(n, scores);
  net_output(n, places);
}
