// SPDX-License-Identifier: Apache-2.0
// Convolutions: how their weights lie, and what has to happen around them. Kernels know one padding for all sides;
// other paddings are put around the image first. A given scheme (scheme.h) takes the place of the rules.
#include <string.h>

#include "compiler/network/conv.h"

static void ints_or(const graph_node *node, const char *name, int count, int64_t by_default, int64_t *values) {
  for (int i = 0; i < count; i++) values[i] = by_default;
  graph_ints(node, name, values, count);
}

// Results along an axis if `before` and `behind` elements of padding stand around the image.
static int64_t results(const network_conv *c, int axis, int64_t before, int64_t behind) {
  const map_layer *map = &c->layer.map;
  const int64_t window = map->size[axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S];
  return (c->layer.image[axis] + before + behind - map->dilation[axis] * (window - 1) - 1) / map->stride[axis] + 1;
}

// The layer of an image and a window; c->pads are set.
static void set_sizes(network_conv *c, const graph_tensor *image, int64_t rows, int64_t columns) {
  map_layer *map = &c->layer.map;
  c->layer.image[0] = image->dim[1], c->layer.image[1] = image->dim[2];
  map->size[BLOCK_DIM_N] = image->dim[0];
  map->size[BLOCK_DIM_R] = rows, map->size[BLOCK_DIM_S] = columns;
  map->size[BLOCK_DIM_P] = results(c, 0, c->pads[0], c->pads[2]);
  map->size[BLOCK_DIM_Q] = results(c, 1, c->pads[1], c->pads[3]);
}

static bool is_padded(const network_conv *c) { return (c->pads[0] | c->pads[1] | c->pads[2] | c->pads[3]) != 0; }

// A product of pixels and weights.
static bool is_product(const network_conv *c) {
  const map_layer *map = &c->layer.map;
  return map->groups == 1 && map->size[BLOCK_DIM_R] == 1 && map->size[BLOCK_DIM_S] == 1 && map->stride[0] == 1 &&
         map->stride[1] == 1 && !is_padded(c);
}

network_conv network_conv_of(network_lowering *l) {
  const graph_node *node = l->node;
  const graph_tensor *x = network_lower_input(l, 0), *w = network_lower_input(l, 1);
  network_conv c = {.layer = network_lower_sums(l)};
  map_layer *map = &c.layer.map;
  c.layer.inputs.pixel = network_lower_pixel(l, node->inputs[0]);
  c.layer.results.pixel = network_lower_pixel(l, node->outputs[0]);
  if (c.layer.inputs.pixel != 0) c.layer.sums = LAYER_BY_TAPS;
  map->groups = graph_int(node, "groups", 1);
  ints_or(node, "strides", 2, 1, map->stride);
  ints_or(node, "dilations", 2, 1, map->dilation);
  ints_or(node, "pads", 4, 0, c.pads);
  set_sizes(&c, x, w->dim[0], w->dim[1]);
  map->size[BLOCK_DIM_C] = x->dim[3] / map->groups;
  map->size[BLOCK_DIM_K] = w->dim[3] / map->groups;
  map->kind = is_product(&c) ? MAP_GEMM : MAP_CONV;
  if (map->groups > 1 && map->groups == x->dim[3] && map->groups == w->dim[3]) {
    map->kind = MAP_DEPTHWISE;
    map->size[BLOCK_DIM_K] = map->groups;
    map->groups = 1;
  }
  c.macs = (uint64_t)map_macs(map);
  c.weights = w->data;
  return c;
}

// ---- padding

// Whether the kernels can say the padding of rows: one number.
bool network_conv_is_regular_in(const network_conv *c, int axis, int64_t pads) {
  return results(c, axis, pads, pads) == c->layer.map.size[axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q];
}

bool network_conv_is_regular(const network_conv *c) {
  return c->pads[0] == c->pads[1] && network_conv_is_regular_in(c, 0, c->pads[0]) &&
         network_conv_is_regular_in(c, 1, c->pads[0]);
}

static network_lower_view image_of(network_lowering *l, const network_conv *c) {
  network_lower_view image = network_lower_view_at(c->at.inputs, WEFT_I8, 4, network_lower_input(l, 0)->dim);
  network_lower_spread(&image, image.dim[3], network_lower_pixel(l, l->node->inputs[0]));
  return image;
}

static void pad_image(network_lowering *l, network_conv *c) {
  const network_lower_view image = image_of(l, c);
  c->at.inputs = network_lower_padded(l, &image, c->pads, 0, NULL);
  c->layer.inputs.pixel = 0;
  c->layer.image[0] += c->pads[0] + c->pads[2];
  c->layer.image[1] += c->pads[1] + c->pads[3];
  memset(c->pads, 0, sizeof c->pads);
}

// Left and right alone, if kernels can say the rest.
static void pad_columns(network_lowering *l, network_conv *c) {
  const network_lower_view image = image_of(l, c);
  const bool all = !network_conv_is_regular_in(c, 0, c->pads[0]);
  const int64_t pads[4] = {all ? c->pads[0] : 0, c->pads[1], all ? c->pads[2] : 0, c->pads[3]};
  c->at.inputs = network_lower_padded(l, &image, pads, 0, &c->layer.inputs.pitch);
  c->layer.image[0] += pads[0] + pads[2];
  c->layer.image[1] += pads[1] + pads[3];
  c->layer.map.padding[0] = c->layer.map.padding[1] = all ? 0 : c->pads[0];
  c->layer.map.padding[2] = c->layer.map.padding[3] = 0;
}

// ---- weights

// Groups side by side, as their kernel reads them; ones if there are none.
static network_place packed_weights(network_lowering *l, const layer_desc *layer, const graph_tensor *w) {
  const layer_packing packing = layer_packing_with(&layer->map, l->array, layer->together);
  const uint64_t bytes = layer_packed_bytes(&layer->map, &packing);
  int8_t *to = network_lower_alloc(l, bytes);
  layer_pack_weights(&layer->map, &packing, w == NULL ? NULL : w->data, to);
  return network_lower_constant(l, w == NULL ? l->node->name : w->name, to, bytes);
}

// The layer in groups as one without, whose weights between different groups are zeros.
void network_conv_set_dense(network_conv *c) {
  map_layer *map = &c->layer.map;
  const bool depthwise = map->kind == MAP_DEPTHWISE;
  const int64_t groups = depthwise ? map->size[BLOCK_DIM_K] : map->groups;
  map->size[BLOCK_DIM_C] *= groups;
  if (!depthwise) map->size[BLOCK_DIM_K] *= groups;
  map->groups = 1;
  map->kind = is_product(c) ? MAP_GEMM : MAP_CONV;
}

static void place_dense(network_lowering *l, network_conv *c) {
  const graph_tensor *w = network_lower_input(l, 1);
  const int64_t groups = graph_int(l->node, "groups", 1), taps = w->dim[0] * w->dim[1], channels = w->dim[2],
                results = w->dim[3], own = results / groups;
  const uint64_t bytes = (uint64_t)(taps * channels * groups * results);
  int8_t *to = network_lower_alloc(l, bytes);
  memset(to, 0, bytes);
  for (int64_t i = 0; i < taps * channels * groups; i++) {
    const int64_t group = i % groups, channel = i / groups % channels, tap = i / groups / channels;
    memcpy(to + ((tap * groups + group) * channels + channel) * results + group * own,
           c->weights + (tap * channels + channel) * results + group * own, (size_t)own);
  }
  c->weights = to;
  c->at.weights = network_lower_constant(l, w->name, to, bytes);
}

// ---- pooling

// The convolution with its results pooled; the image is padded already where its kernel has no padding.
static layer_desc pooled(const network_conv *c) {
  layer_desc layer = c->layer;
  map_layer *map = &layer.map;
  map->kind = MAP_CONV;
  map->pool_size = (uint32_t)c->pool_size, map->pool_stride = (uint32_t)c->pool_stride;
  map->pool_padding = (uint32_t)c->pool_padding;
  for (int axis = 0; axis < 2; axis++) {
    int64_t *results = &map->size[axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q];
    *results = (*results + c->pool_padding - c->pool_size) / c->pool_stride + 1;
  }
  return layer;
}

static layer_desc window_of(const network_conv *c) {
  layer_desc layer = pooled(c);
  const int64_t *size = c->layer.map.size, pad = c->pool_padding;
  layer.map = (map_layer){.kind = MAP_WINDOW,
                          .size = {size[BLOCK_DIM_N], layer.map.size[BLOCK_DIM_P], layer.map.size[BLOCK_DIM_Q],
                                   size[BLOCK_DIM_K], 1, c->pool_size, c->pool_size},
                          .stride = {c->pool_stride, c->pool_stride},
                          .padding = {pad, pad, pad, pad},
                          .pool_size = (uint32_t)c->pool_size};
  layer.image[0] = size[BLOCK_DIM_P], layer.image[1] = size[BLOCK_DIM_Q];
  return layer;
}

// Whether the windows are the store unit's: square, with padding only above and to the left, where relu leaves nothing
// below the zeros.
bool network_conv_take_pooling(const network_lowering *l, network_conv *c) {
  int64_t window[2] = {1, 1}, stride[2] = {1, 1}, pad[4] = {0};
  const int64_t *size = c->layer.map.size;
  graph_ints(l->node, "pool_size", window, 2);
  graph_ints(l->node, "pool_strides", stride, 2);
  graph_ints(l->node, "pool_pads", pad, 4);
  if (window[0] != window[1] || stride[0] != stride[1] || pad[0] != pad[1]) return false;
  if (pad[0] >= window[0] || (pad[0] != 0 && !c->layer.relu)) return false;
  for (int axis = 0; axis < 2; axis++) {
    const int64_t image = size[axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q], room = image + pad[0] - window[0];
    if (room < 0 || room / stride[0] != (room + pad[2 + axis]) / stride[0]) return false;
  }
  c->pool_size = window[0], c->pool_stride = stride[0], c->pool_padding = pad[0];
  return true;
}

// Whether pooling leaves with the results: neighbouring blocks compute the sums between them twice where windows
// overlap, which must take less than a pass of its own.
static bool fuses(const network_lowering *l, const network_conv *c) {
  network_conv with = *c;
  if (c->scheme.pool == NETWORK_POOL_APART || !network_conv_take_pooling(l, &with)) return false;
  if (c->scheme.pool == NETWORK_POOL_WITH) return true;
  for (int side = 0; side < 4; side++) with.layer.map.padding[side] = c->pads[0];
  const layer_desc all = pooled(&with), window = window_of(&with);
  with.layer.map.kind = c->layer.map.kind;
  return layer_estimate(&all, l->array) < layer_estimate(&with.layer, l->array) + layer_estimate(&window, l->array);
}

// Max pooling behind the convolution as a step of its own.
static bool add_pooling(network_lowering *l, const network_conv *c) {
  const int64_t *size = c->layer.map.size;
  const network_lower_pool pool = {
      .dim = {size[BLOCK_DIM_N], size[BLOCK_DIM_P], size[BLOCK_DIM_Q], network_lower_input(l, 1)->dim[3]},
      .x = c->at.results,
      .y = network_lower_rows(l, l->node->outputs[0]),
      .y_pixel = network_lower_pixel(l, l->node->outputs[0]),
      .positive = c->layer.relu};
  return network_lower_pooling(l, &pool, "pool_size", "pool_strides", "pool_pads");
}

// ---- steps

bool network_conv_check(const network_lowering *l, const network_conv *c) {
  const map_layer *map = &c->layer.map;
  const bool grouped = map->groups > 1 || map->kind == MAP_DEPTHWISE;
  if (map->dilation[0] != map->dilation[1]) return network_lower_refuse(l, "dilations of rows and columns differ");
  if (network_lower_input(l, 1)->data == NULL) return network_lower_refuse(l, "weights are no constant");
  if (map->result_bytes == 4 && (c->layer.relu || map->residual != 0))
    return network_lower_refuse(l, "int32 results with relu or a residual");
  if (!grouped) return true;
  if (map->result_bytes == 4) return network_lower_refuse(l, "int32 results in groups");
  if (map->residual != 0) return network_lower_refuse(l, "a residual in groups");
  return true;
}

// The steps of a convolution of few channels, padding left and right of whose image has to lie in memory.
static void add_narrow_steps(network_lowering *l, network_conv *c) {
  map_layer *map = &c->layer.map;
  const int64_t *pads = c->pads;
  map->padding[0] = map->padding[1] = pads[0];
  map->padding[2] = map->padding[3] = 0;
  if ((pads[1] | pads[3]) != 0 && network_conv_is_regular_in(c, 0, pads[0]) && c->pool_stride == 0 &&
      c->scheme.way != NETWORK_BY_PADDED_ROWS && network_lower_edges(l, &c->layer, pads[1], &c->at, c->macs))
    return;
  if ((pads[1] | pads[3]) != 0 || !network_conv_is_regular_in(c, 0, pads[0])) pad_columns(l, c);
  const layer_desc layer = c->pool_stride != 0 ? pooled(c) : c->layer;
  network_lower_layer(l, &layer, &c->at)->macs = c->macs;
}

// Every window as a row in memory, and a product of these rows.
static void add_columns(network_lowering *l, network_conv *c) {
  map_layer *map = &c->layer.map;
  int64_t *size = map->size;
  if (is_padded(c)) pad_image(l, c);
  const int64_t channels = size[BLOCK_DIM_C], row = c->layer.image[1] * channels,
                dim[] = {size[BLOCK_DIM_N], size[BLOCK_DIM_P], size[BLOCK_DIM_Q], size[BLOCK_DIM_R],
                         size[BLOCK_DIM_S] * channels},
                step[] = {c->layer.image[0] * row, map->stride[0] * row, map->stride[1] * channels, row, 1};
  network_lower_view from = network_lower_view_at(c->at.inputs, WEFT_I8, 5, dim);
  memcpy(from.step, step, sizeof step);
  const uint64_t bytes = (uint64_t)(dim[0] * dim[1] * dim[2] * dim[3] * dim[4]);
  const network_lower_view to = network_lower_view_at(network_lower_scratch(l, bytes), WEFT_I8, 5, dim);
  network_lower_copy(l, &to, &from);
  c->at.inputs = to.place;
  map->kind = MAP_GEMM;
  size[BLOCK_DIM_C] = dim[3] * dim[4];
  size[BLOCK_DIM_R] = size[BLOCK_DIM_S] = map->stride[0] = map->stride[1] = 1;
  network_lower_layer(l, &c->layer, &c->at)->macs = c->macs;
}

// The steps of a convolution whose inputs, bias, residual and results have their places; `weights`: of the node.
static void add_steps(network_lowering *l, network_conv *c, const graph_tensor *weights) {
  map_layer *map = &c->layer.map;
  if (c->scheme.way == NETWORK_BY_COLUMNS) {
    add_columns(l, c);
    return;
  }
  if (c->pool_stride != 0) map->kind = MAP_CONV;
  const layer_kernel kernel = layer_kernel_for(&c->layer, l->array);
  if (kernel == LAYER_CONV2D_NARROW) {
    add_narrow_steps(l, c);
    return;
  }
  if (map->kind != MAP_GEMM && !network_conv_is_regular(c)) pad_image(l, c);
  for (int side = 0; side < 4; side++) map->padding[side] = c->pads[0];
  if (kernel == LAYER_GROUPED_CONV2D || kernel == LAYER_DEPTHWISE_CONV2D)
    c->at.weights = packed_weights(l, &c->layer, weights);
  const layer_desc layer = c->pool_stride != 0 ? pooled(c) : c->layer;
  network_lower_layer(l, &layer, &c->at)->macs = c->macs;
}

// ---- all of it

// Pixels side by side, where that takes less time; else weights and bias as the node has them.
static void place_weights(network_lowering *l, network_conv *c, bool may_lie_beside) {
  map_layer *map = &c->layer.map;
  for (int side = 0; side < 4; side++) map->padding[side] = c->pads[side];
  if (may_lie_beside && network_lower_beside(l, &c->layer, &c->at, c->weights, c->scheme.beside)) {
    if (c->scheme.dense) c->at.beside = false;  // the estimate has to know of so many zeros
    return;
  }
  if (!c->scheme.dense) c->at.weights = network_lower_place_of(l, 1);
  if (map->bias) c->at.bias = network_lower_place_of(l, 2);
}

bool network_lower_conv(network_lowering *l) {
  network_conv c = network_conv_of(l);
  const map_layer *map = &c.layer.map;
  if (!network_conv_check(l, &c)) return false;
  const bool pooled_after = graph_find_attribute(l->node, "pool_size") != NULL;
  if (!network_conv_take_scheme(l, &c)) return false;
  if (c.scheme.dense) place_dense(l, &c);
  c.at.inputs = network_lower_rows(l, l->node->inputs[0]);
  place_weights(l, &c, !pooled_after && c.scheme.way != NETWORK_BY_GROUPS && !network_conv_is_in_columns(&c));
  if (map->residual != 0) c.at.residual = network_lower_place_of(l, 3);
  if (pooled_after && map->result_bytes == 4) return network_lower_refuse(l, "pooling of int32 results");
  const bool fused = pooled_after && fuses(l, &c) && network_conv_take_pooling(l, &c);
  const int64_t elements = map->size[BLOCK_DIM_N] * map->size[BLOCK_DIM_P] * map->size[BLOCK_DIM_Q];
  const bool apart = pooled_after && !fused;
  c.at.results = apart ? network_lower_scratch(l, (uint64_t)(elements * network_lower_input(l, 1)->dim[3]))
                       : network_lower_rows(l, l->node->outputs[0]);
  if (apart) c.layer.results.pixel = 0;
  add_steps(l, &c, network_lower_input(l, 1));
  return !apart || add_pooling(l, &c);
}

// The mean over windows is a convolution of each channel with ones.
bool network_lower_average_pool(network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0);
  network_conv c = {
      .layer = {.map = {.kind = MAP_DEPTHWISE, .dilation = {1, 1}}, .scale = (double)graph_float(l->node, "scale", 1)}};
  int64_t window[2];
  ints_or(l->node, "kernel_shape", 2, 1, window);
  ints_or(l->node, "strides", 2, 1, c.layer.map.stride);
  ints_or(l->node, "pads", 4, 0, c.pads);
  set_sizes(&c, x, window[0], window[1]);
  c.layer.map.size[BLOCK_DIM_K] = x->dim[3];
  c.layer.map.size[BLOCK_DIM_C] = 1;
  c.macs = (uint64_t)map_macs(&c.layer.map);
  c.at.inputs = network_lower_rows(l, l->node->inputs[0]);
  c.at.results = network_lower_rows(l, l->node->outputs[0]);
  c.layer.inputs.pixel = network_lower_pixel(l, l->node->inputs[0]);
  c.layer.results.pixel = network_lower_pixel(l, l->node->outputs[0]);
  add_steps(l, &c, NULL);
  return true;
}
