// SPDX-License-Identifier: Apache-2.0
// Networks for images out of the parts of transformers: ConvNeXt-T and Swin-T. Structures follow torchvision's exports:
// rolled windows are gathers with constant indices, the mask of a rolled window is added to its scores.
#include <math.h>

#include "base/alloc.h"
#include "workloads/networks/build.h"

#define W(...) ((net_window){__VA_ARGS__})

static int to_last(net *n, const char *name, int x) { return net_transpose(n, name, x, (int64_t[]){0, 2, 3, 1}); }
static int to_first(net *n, const char *name, int x) { return net_transpose(n, name, x, (int64_t[]){0, 3, 1, 2}); }

// ---- ConvNeXt

// Over the channels of an image.
static int image_norm(net *n, const char *name, int x) {
  char text[2][96];
  snprintf(text[0], sizeof text[0], "%s.last", name);
  snprintf(text[1], sizeof text[1], "%s.first", name);
  return to_first(n, text[1], net_layer_norm(n, name, to_last(n, text[0], x)));
}

static int layer_scale(net *n, int x) {
  const int64_t channels = net_tensor(n, x)->dim[1];
  float *factors = wf_alloc((size_t)channels, sizeof *factors);
  for (int64_t i = 0; i < channels; i++) factors[i] = (float)net_uniform(n, 0.1, 0.6);
  const int scales = net_floats(n, "layer_scale", 3, (int64_t[]){channels, 1, 1}, factors);
  wf_free(factors);
  return net_binary(n, GRAPH_OP_MUL, "scaled", x, scales, 0.14 * n->power[x]);
}

static int convnext_block(net *n, int x) {
  const int64_t channels = net_tensor(n, x)->dim[1];
  int y = to_last(n, "block.1", net_conv(n, "block.0", x, channels, W(7, 1, 3, channels), true));
  y = net_linear(n, "block.3", net_layer_norm(n, "block.2", y), 4 * channels, true);
  y = net_linear(n, "block.5", net_gelu(n, "block.4", y), channels, true);
  return net_add(n, "add", layer_scale(n, to_first(n, "block.6", y)), x);
}

void net_convnext(net *n) {
  static const int blocks[] = {3, 3, 9, 3};
  net_prefix(n, "%s", "features.0.");
  int x = image_norm(n, "1", net_conv(n, "0", net_image(n), net_width(n, 96), W(4, 4, 0, 1), true));
  for (int stage = 0; stage < 4; stage++) {
    net_prefix(n, "features.%d.", 2 * stage);
    if (stage != 0) x = net_conv(n, "1", image_norm(n, "0", x), net_width(n, 96 << stage), W(2, 2, 0, 1), true);
    for (int i = 0; i < blocks[stage]; i++) {
      net_prefix(n, "features.%d.%d.", 2 * stage + 1, i);
      x = convnext_block(n, x);
    }
  }
  net_prefix(n, "%s", "");
  x = image_norm(n, "classifier.0", net_global_pool(n, "avgpool", x));
  net_output(n, net_gemm(n, "classifier.2", net_flatten(n, "classifier.1", x), 1000));
}

// ---- Swin

enum { HEAD = 32, PATCH = 4, STAGES = 4 };

// An image [B,H,W,C] rolled by `shift` rows and columns.
static int roll(net *n, const char *name, int x, int64_t shift) {
  char text[2][96];
  const int64_t size = net_tensor(n, x)->dim[1];
  int64_t *order = wf_alloc((size_t)size, sizeof *order);
  for (int64_t i = 0; i < size; i++) order[i] = (i + shift + size) % size;
  snprintf(text[0], sizeof text[0], "%s.rows", name);
  snprintf(text[1], sizeof text[1], "%s.columns", name);
  x = net_gather(n, text[1], net_gather(n, text[0], x, 1, order), 2, order);
  wf_free(order);
  return x;
}

static const int64_t swap_inner[] = {0, 1, 3, 2, 4, 5};

// [B,H,W,C] to [B * windows, side * side, C].
static int to_windows(net *n, int x, int64_t side) {
  const graph_tensor in = *net_tensor(n, x);
  const int64_t b = in.dim[0], count = in.dim[1] / side, c = in.dim[3];
  x = net_reshape(n, "windows.split", x, 6, (int64_t[]){b, count, side, count, side, c});
  x = net_transpose(n, "windows.permute", x, swap_inner);
  return net_reshape(n, "windows", x, 3, (int64_t[]){b * count * count, side * side, c});
}

static int from_windows(net *n, int x, const graph_tensor *image, int64_t side) {
  const int64_t b = image->dim[0], count = image->dim[1] / side, c = image->dim[3];
  x = net_reshape(n, "image.split", x, 6, (int64_t[]){b, count, count, side, side, c});
  x = net_transpose(n, "image.permute", x, swap_inner);
  return net_reshape(n, "image", x, 4, image->dim);
}

// Which of the parts that rolling puts together a row (or column) is of.
static int64_t part_of(int64_t row, int64_t size, int64_t side, int64_t shift) {
  return row < size - side ? 0 : row < size - shift ? 1 : 2;
}

// [1,windows,1,T,T]: elements of one window that were not neighbours do not see each other.
static int window_mask(net *n, int64_t size, int64_t side, int64_t shift) {
  const int64_t count = size / side, tokens = side * side;
  float *values = wf_alloc((size_t)(count * count * tokens * tokens), sizeof *values), *to = values;
  int64_t *part = wf_alloc((size_t)tokens, sizeof *part);
  for (int64_t w = 0; w < count * count; w++) {
    for (int64_t t = 0; t < tokens; t++)
      part[t] = 3 * part_of(w / count * side + t / side, size, side, shift) +
                part_of(w % count * side + t % side, size, side, shift);
    for (int64_t i = 0; i < tokens * tokens; i++) *to++ = part[i / tokens] == part[i % tokens] ? 0.0F : -100.0F;
  }
  const int mask = net_floats(n, "attn.mask", 5, (int64_t[]){1, count * count, 1, tokens, tokens}, values);
  wf_free(part);
  wf_free(values);
  return mask;
}

// Offsets of the scores, [1,heads,T,T]: one number per head and distance of two tokens.
static int position_bias(net *n, int64_t heads, int64_t side) {
  const int64_t tokens = side * side, wide = 2 * side - 1;
  float *table = wf_alloc((size_t)(heads * wide * wide), sizeof *table);
  float *values = wf_alloc((size_t)(heads * tokens * tokens), sizeof *values), *to = values;
  for (int64_t i = 0; i < heads * wide * wide; i++) table[i] = (float)(0.5 * net_normal(n));
  for (int64_t h = 0; h < heads; h++)
    for (int64_t i = 0; i < tokens; i++)
      for (int64_t j = 0; j < tokens; j++)
        *to++ = table[(h * wide + i / side - j / side + side - 1) * wide + i % side - j % side + side - 1];
  const int bias = net_floats(n, "attn.position", 4, (int64_t[]){1, heads, tokens, tokens}, values);
  wf_free(values);
  wf_free(table);
  return bias;
}

// The scores of rolled windows with their mask; `windows` of an image.
static int masked(net *n, int scores, int64_t windows, int mask) {
  const graph_tensor in = *net_tensor(n, scores);
  const int64_t *d = in.dim;
  int x = net_reshape(n, "attn.split", scores, 5, (int64_t[]){d[0] / windows, windows, d[1], d[2], d[3]});
  x = net_binary(n, GRAPH_OP_ADD, "attn.masked", x, mask, n->power[scores]);
  return net_reshape(n, "attn.join", x, 4, d);
}

// Attention inside windows [B * windows, T, C].
static int window_attention(net *n, int x, int64_t windows, int64_t side, int mask) {
  const graph_tensor in = *net_tensor(n, x);
  const int64_t tokens = in.dim[1], width = in.dim[2], heads = width / HEAD;
  static const char *const names[] = {"attn.q", "attn.k", "attn.v"};
  int part[3];
  x = net_linear(n, "attn.qkv", x, 3 * width, true);
  x = net_reshape(n, "attn.qkv.view", x, 5, (int64_t[]){in.dim[0], tokens, 3, heads, HEAD});
  x = net_transpose(n, "attn.qkv.permute", x, (int64_t[]){2, 0, 3, 1, 4});
  for (int i = 0; i < 3; i++) part[i] = net_pick(n, names[i], x, 0, i);
  const double root = 1 / sqrt(HEAD);
  const int q = net_binary(n, GRAPH_OP_MUL, "attn.scaled", part[0], net_number(n, "attn.root", root),
                           n->power[part[0]] * root * root);
  x = net_mat_mul(n, "attn.scores", q, net_transpose(n, "attn.k.transpose", part[1], (int64_t[]){0, 1, 3, 2}));
  x = net_add(n, "attn.biased", x, position_bias(n, heads, side));
  if (mask != GRAPH_NONE) x = masked(n, x, windows, mask);
  x = net_mat_mul(n, "attn.context", net_softmax(n, "attn.softmax", x), part[2]);
  n->power[x] = 0.15;  // values of some tokens, averaged
  x = net_transpose(n, "attn.context.permute", x, (int64_t[]){0, 2, 1, 3});
  x = net_reshape(n, "attn.context.view", x, 3, in.dim);
  return net_linear(n, "attn.proj", x, width, true);
}

static int swin_block(net *n, int x, int64_t side, int64_t shift) {
  const graph_tensor image = *net_tensor(n, x);
  const int64_t size = image.dim[1], count = size / side;
  int y = net_layer_norm(n, "norm1", x), mask = GRAPH_NONE;
  if (shift != 0) {
    mask = window_mask(n, size, side, shift);
    y = roll(n, "roll", y, shift);
  }
  y = window_attention(n, to_windows(n, y, side), count * count, side, mask);
  y = from_windows(n, y, &image, side);
  if (shift != 0) y = roll(n, "unroll", y, -shift);
  x = net_add(n, "add_1", x, y);
  y = net_linear(n, "mlp.0", net_layer_norm(n, "norm2", x), 4 * image.dim[3], true);
  return net_add(n, "add_2", x, net_linear(n, "mlp.3", net_gelu(n, "mlp.1", y), image.dim[3], true));
}

// Every second row and column of an image [B,H,W,C], from `row` and `column` on.
static int every_second(net *n, const char *name, int x, int64_t row, int64_t column) {
  char text[96];
  graph_tensor out = *net_tensor(n, x);
  const int64_t rows = out.dim[1], columns = out.dim[2];
  out.dim[1] /= 2, out.dim[2] /= 2;
  static const char *const names[] = {"starts", "ends", "axes", "steps"};
  const int64_t values[4][2] = {{row, column}, {rows, columns}, {1, 2}, {2, 2}};
  int inputs[5] = {x};
  for (int i = 0; i < 4; i++) {
    snprintf(text, sizeof text, "%s.%s", name, names[i]);
    inputs[1 + i] = net_ints(n, text, values[i], 2);
  }
  return net_node(n, GRAPH_OP_SLICE, name, inputs, 5, out.rank, out.dim, n->power[x]);
}

// Four neighbours become one with twice the channels.
static int merge_patches(net *n, int x) {
  const int64_t channels = net_tensor(n, x)->dim[3];
  int parts[4];
  for (int i = 0; i < 4; i++) {
    char name[32];
    snprintf(name, sizeof name, "part%d", i);
    parts[i] = every_second(n, name, x, i % 2, i / 2);
  }
  x = net_layer_norm(n, "norm", net_concat(n, "concat", parts, 4, 3));
  return net_linear(n, "reduction", x, 2 * channels, false);
}

void net_swin(net *n) {
  static const int blocks[STAGES] = {2, 2, 6, 2};
  const int64_t side = n->options.size / PATCH >> (STAGES - 1), heads = 3 / n->options.divisor;
  const int64_t width = (heads < 1 ? 1 : heads) * HEAD;
  int x = net_conv(n, "features.0.0", net_image(n), width, W(PATCH, PATCH, 0, 1), true);
  x = net_layer_norm(n, "features.0.2", to_last(n, "features.0.1", x));
  for (int stage = 0; stage < STAGES; stage++) {
    net_prefix(n, "features.%d.", 2 * stage);
    if (stage != 0) x = merge_patches(n, x);
    for (int i = 0; i < blocks[stage]; i++) {
      net_prefix(n, "features.%d.%d.", 2 * stage + 1, i);
      x = swin_block(n, x, side, i % 2 == 1 && net_tensor(n, x)->dim[1] > side ? side / 2 : 0);
    }
  }
  net_prefix(n, "%s", "");
  net_classify(n, "head", to_first(n, "permute", net_layer_norm(n, "norm", x)));
}
