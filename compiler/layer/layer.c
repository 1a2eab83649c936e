// SPDX-License-Identifier: Apache-2.0
// Layers as calls of kernels: which kernel, one function per kernel that gives its arguments. See layer.h.
#include "compiler/layer/layer.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "compiler/layer/kernel_files.h"

const layer_kernel_entry layer_kernels[LAYER_KERNEL_COUNT] = {
#define X(NAME, file, inputs, weights, results) {file, inputs, weights, results},
    LAYER_KERNELS(X)
#undef X
};

const char *layer_kernel_text(layer_kernel kernel) {
  const char *name = layer_kernels[kernel].name;
  const size_t length = strlen(name);
  for (size_t i = 0; i < layer_kernel_file_count; i++) {
    const char *file = layer_kernel_files[i].name;
    if (strncmp(file, name, length) == 0 && strcmp(file + length, ".py") == 0) return layer_kernel_files[i].text;
  }
  return NULL;
}

// ---- calls

void layer_add_argument(layer_call *call, const char *name, lang_value value) {
  assert(call->argument_count < LAYER_ARGUMENTS);
  call->arguments[call->argument_count++] = (lang_arg){name, value};
}

static void add(layer_call *call, const char *name, int64_t value) { layer_add_argument(call, name, lang_int(value)); }
static void add_bool(layer_call *call, const char *name, bool value) {
  layer_add_argument(call, name, lang_bool(value));
}

bool layer_call_equal(const layer_call *a, const layer_call *b) {
  const lang_args x = layer_arguments(a), y = layer_arguments(b);
  return a->kernel == b->kernel && a->packed == b->packed && a->style == b->style && lang_args_equal(&x, &y);
}

static int64_t or_one(int64_t value) { return value == 0 ? 1 : value; }

// ---- the kernel of a layer

// Few channels: a row of the window is summed over at once, which takes fewer blocks of depth. Then the inputs are
// loaded once per column of the window, and padding left and right lies with them; where single taps fill whole blocks
// too, this pays only if a third of the blocks is saved.
static bool is_narrow(const map_layer *layer, const hw_array *array) {
  const int64_t dim = hw_derive(array).dim, channels = layer->size[BLOCK_DIM_C], taps = layer->size[BLOCK_DIM_S];
  const int64_t together = wf_ceil_div(taps * channels, dim), apart = taps * wf_ceil_div(channels, dim);
  if (or_one(layer->dilation[0]) != 1 || layer->residual != 0 || layer->result_bytes == 4) return false;
  return channels <= dim ? together < apart : 3 * together <= 2 * apart;
}

layer_kernel layer_kernel_of(const map_layer *layer, const hw_array *array) {
  switch (layer->kind) {
    case MAP_GEMM:
    case MAP_GEMV:
      return LAYER_GEMM;
    case MAP_BATCHED:
      return LAYER_BATCHED_GEMM;
    case MAP_CONV:
      if (layer->groups > 1)
        return layer_packing_of(layer, array).square ? LAYER_DEPTHWISE_CONV2D : LAYER_GROUPED_CONV2D;
      return is_narrow(layer, array) ? LAYER_CONV2D_NARROW : LAYER_CONV2D;
    case MAP_DEPTHWISE:
      return LAYER_DEPTHWISE_CONV2D;
    case MAP_WINDOW:
      return layer->pool_size != 0 ? LAYER_MAX_POOL2D : LAYER_KERNEL_COUNT;
    default:
      return LAYER_KERNEL_COUNT;
  }
}

layer_kernel layer_kernel_for(const layer_desc *layer, const hw_array *array) {
  const layer_kernel by_rule = layer_kernel_of(&layer->map, array);
  const bool plain = by_rule == LAYER_CONV2D || by_rule == LAYER_CONV2D_NARROW;
  if (plain && layer->sums != LAYER_BY_RULE) return layer->sums == LAYER_BY_TAPS ? LAYER_CONV2D : LAYER_CONV2D_NARROW;
  if (plain || layer->map.kind != MAP_CONV || layer->together == 0) return by_rule;
  return layer_packing_with(&layer->map, array, layer->together).square ? LAYER_DEPTHWISE_CONV2D : LAYER_GROUPED_CONV2D;
}

// ---- what kernels have in common

// Rows (axis 0) or columns of the images, without padding.
static int64_t image_size(const layer_desc *layer, int axis) {
  const block_dim_id results = axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q, window = axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S;
  const map_layer *map = &layer->map;
  if (layer->image[axis] != 0) return layer->image[axis];
  return map_window(map, axis, map->size[results], map->size[window]) - 2 * map->padding[2 * axis];
}

// `border`: columns left and right of the image that lie in memory with it.
static void add_image(const layer_desc *layer, int64_t border, layer_call *call) {
  add(call, "N", layer->map.size[BLOCK_DIM_N]);
  add(call, "H", image_size(layer, 0));
  add(call, "W", image_size(layer, 1) + 2 * border);
}

static void add_window(const map_layer *map, layer_call *call) {
  const int64_t rows = or_one(map->stride[0]), columns = or_one(map->stride[1]);
  add(call, "R", map->size[BLOCK_DIM_R]);
  add(call, "S", map->size[BLOCK_DIM_S]);
  add(call, "stride", rows);
  if (rows != columns) add(call, "column_stride", columns);
}

static void add_padding(const map_layer *map, layer_call *call) {
  add(call, "padding", map->padding[0]);
  add(call, "dilation", or_one(map->dilation[0]));
}

// What becomes of the sums: int32 results are the sums.
static void add_results(const layer_desc *layer, layer_call *call) {
  const bool wide = layer->map.result_bytes == 4;
  if (!wide) layer_add_argument(call, "scale", lang_float(layer->scale));
  add_bool(call, "bias", layer->map.bias);
  add_bool(call, "relu", layer->relu);
  if (layer->map.residual != 0) add(call, "residual", layer->map.residual);
  if (wide) layer_add_argument(call, "out", lang_type(LANG_INT32));
}

static void add_pixels(const layer_desc *layer, const char *inputs, const char *results, layer_call *call) {
  if (layer->inputs.pixel != 0) add(call, inputs, layer->inputs.pixel);
  if (layer->results.pixel != 0) add(call, results, layer->results.pixel);
}

static bool is_pooled(const map_layer *map) { return map->kind != MAP_WINDOW && map->pool_stride != 0; }

static void add_pooling(const map_layer *map, layer_call *call) {
  if (!is_pooled(map)) return;
  add(call, "pool", map->pool_size);
  add(call, "pool_stride", map->pool_stride);
  if (map->pool_padding != 0) add(call, "pool_padding", map->pool_padding);
}

// The product as the kernel computes it; functions of kernels say where it differs from the layer.
static map_layer product_of(const map_layer *map) {
  map_layer product = {.kind = map->kind,
                       .groups = 1,
                       .result_bytes = map->result_bytes == 4 ? 4 : 1,
                       .bias = map->bias,
                       .residual = map->residual < 0 ? -map->residual : map->residual,
                       .pool_size = map->pool_size};
  if (is_pooled(map)) product.pool_stride = map->pool_stride, product.pool_padding = map->pool_padding;
  memcpy(product.size, map->size, sizeof map->size);
  return product;
}

// An axis of the window as the kernel finds it: behind the image there is as much padding as the results need.
static void set_axis(const layer_desc *layer, int axis, map_layer *product) {
  product->stride[axis] = or_one(layer->map.stride[axis]);
  product->dilation[axis] = or_one(layer->map.dilation[axis]);
  const int64_t needed = map_window(product, axis, product->size[axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q],
                                    product->size[axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S]);
  const int64_t border = (int64_t)product->pool_padding * product->stride[axis];
  const int64_t before = layer->map.padding[0] + border, after = needed - before - image_size(layer, axis);
  product->padding[2 * axis] = before;
  product->padding[2 * axis + 1] = after > 0 ? after : 0;
}

static void set_window(const layer_desc *layer, map_layer *product) {
  for (int axis = 0; axis < 2; axis++) set_axis(layer, axis, product);
}

// ---- kernels

static void call_gemm(const layer_desc *layer, layer_call *call) {
  const int64_t *size = layer->map.size, rows = size[BLOCK_DIM_N] * size[BLOCK_DIM_P] * size[BLOCK_DIM_Q];
  add(call, "M", rows);
  add(call, "N", size[BLOCK_DIM_K]);
  add(call, "K", size[BLOCK_DIM_C]);
  add_results(layer, call);
  if (layer->weight_pitch != 0) add(call, "pitch", layer->weight_pitch);
  add_pixels(layer, "a_pitch", "c_pitch", call);
  call->packed = layer->packed;
  call->layer.kind = rows == 1 ? MAP_GEMV : MAP_GEMM;
  call->layer.size[BLOCK_DIM_N] = call->layer.size[BLOCK_DIM_Q] = 1;
  call->layer.size[BLOCK_DIM_P] = rows;
}

static void add_lie(layer_call *call, const char *pitch, const char *step, layer_lie lie) {
  if (lie.pitch != 0) add(call, pitch, lie.pitch);
  if (lie.step != 0) add(call, step, lie.step);
}

static void call_batched(const layer_desc *layer, layer_call *call) {
  const int64_t *size = layer->map.size;
  add(call, "B", size[BLOCK_DIM_N]);
  add(call, "M", size[BLOCK_DIM_P]);
  add(call, "N", size[BLOCK_DIM_K]);
  add(call, "K", size[BLOCK_DIM_C]);
  add_bool(call, "trans_b", layer->transposed);
  call->packed = layer->packed;
  add_results(layer, call);
  add_lie(call, "a_pitch", "a_step", layer->inputs);
  add_lie(call, "b_pitch", "b_step", layer->weights);
  add_lie(call, "c_pitch", "c_step", layer->results);
  if (size[BLOCK_DIM_N] == 1) call->layer.kind = size[BLOCK_DIM_P] == 1 ? MAP_GEMV : MAP_GEMM;
}

static void call_conv2d(const layer_desc *layer, layer_call *call) {
  add_image(layer, 0, call);
  add(call, "C", layer->map.size[BLOCK_DIM_C]);
  add(call, "K", layer->map.size[BLOCK_DIM_K]);
  add_window(&layer->map, call);
  add_padding(&layer->map, call);
  add_pixels(layer, "x_pixel", "y_pixel", call);
  add_results(layer, call);
  add_pooling(&layer->map, call);
  set_window(layer, &call->layer);
}

static void call_narrow(const layer_desc *layer, layer_call *call) {
  const map_layer *map = &layer->map;
  add_image(layer, map->padding[2], call);
  add(call, "C", map->size[BLOCK_DIM_C]);
  add(call, "K", map->size[BLOCK_DIM_K]);
  add_window(map, call);
  if (map->padding[0] != 0) add(call, "padding", map->padding[0]);
  if (layer->inputs.pitch != 0) add(call, "x_row", layer->inputs.pitch);
  if (layer->results.pitch != 0) add(call, "y_row", layer->results.pitch);
  if (layer->results.pixel != 0) add(call, "y_pixel", layer->results.pixel);
  add_results(layer, call);
  add_pooling(map, call);
  set_axis(layer, 0, &call->layer);
  call->layer.size[BLOCK_DIM_C] *= map->size[BLOCK_DIM_S];
  call->layer.size[BLOCK_DIM_S] = 1;
  call->layer.stride[1] = 1;
  call->layer.padding[2] = map->pool_padding;
}

// A block of groups is a group of the kernel. Where the last one lacks some, the kernel knows where tensors end.
static void call_grouped(const layer_desc *layer, const hw_array *array, layer_call *call) {
  const map_layer *map = &layer->map;
  const layer_packing packing = layer_packing_with(map, array, layer->together);
  add_image(layer, 0, call);
  add(call, "G", packing.blocks);
  add(call, "C", packing.rows);
  add(call, "K", packing.columns);
  if (map->groups % packing.together != 0) {
    add(call, "channels", map->groups * map->size[BLOCK_DIM_C]);
    add(call, "results", map->groups * map->size[BLOCK_DIM_K]);
  }
  add_window(map, call);
  add_padding(map, call);
  add_results(layer, call);
  call->layer.kind = packing.blocks == 1 ? MAP_CONV : MAP_GROUPED;
  call->layer.size[BLOCK_DIM_N] *= packing.blocks;
  call->layer.size[BLOCK_DIM_C] = packing.rows;
  call->layer.size[BLOCK_DIM_K] = packing.columns;
  set_window(layer, &call->layer);
}

// Groups of as many channels as results, which divide the side, are channels in blocks.
static void call_depthwise(const layer_desc *layer, const hw_array *array, layer_call *call) {
  const map_layer *map = &layer->map;
  const int64_t channels = map->kind == MAP_DEPTHWISE ? map->size[BLOCK_DIM_K] : map->groups * map->size[BLOCK_DIM_K];
  add_image(layer, 0, call);
  add(call, "C", channels);
  add(call, "D", hw_derive(array).dim);
  add_window(map, call);
  add_padding(map, call);
  add_pixels(layer, "x_pixel", "y_pixel", call);
  add_results(layer, call);
  call->layer.kind = MAP_DEPTHWISE;
  call->layer.size[BLOCK_DIM_C] = 1;
  call->layer.size[BLOCK_DIM_K] = channels;
  set_window(layer, &call->layer);
}

static void call_max_pool(const layer_desc *layer, layer_call *call) {
  add_image(layer, 0, call);
  add(call, "C", layer->map.size[BLOCK_DIM_K]);
  add_window(&layer->map, call);
  add(call, "padding", layer->map.padding[0]);
  add_pixels(layer, "x_pixel", "y_pixel", call);
  set_window(layer, &call->layer);
}

static void write_call(const layer_desc *layer, const hw_array *array, layer_call *call) {
  switch (call->kernel) {
    case LAYER_GEMM:
      return call_gemm(layer, call);
    case LAYER_BATCHED_GEMM:
      return call_batched(layer, call);
    case LAYER_CONV2D:
      return call_conv2d(layer, call);
    case LAYER_CONV2D_NARROW:
      return call_narrow(layer, call);
    case LAYER_GROUPED_CONV2D:
      return call_grouped(layer, array, call);
    case LAYER_DEPTHWISE_CONV2D:
      return call_depthwise(layer, array, call);
    default:
      return call_max_pool(layer, call);
  }
}

// Pooling inside of a convolution is that of the store unit.
static const char *why_no_pooling(const map_layer *layer, const hw_array *array) {
  enum { POOL_MOST = 3 };
  if (!array->units.max_pool) return "the array has no pooling unit";
  if (layer->kind != MAP_CONV || or_one(layer->groups) != 1) return "pooling of groups or products";
  if (layer->residual != 0 || layer->result_bytes == 4) return "pooling with a residual or of int32 results";
  const bool fits = layer->pool_size >= 1 && layer->pool_size <= POOL_MOST && layer->pool_stride <= POOL_MOST &&
                    layer->pool_padding < layer->pool_size;
  return fits ? NULL : "pooling that the store unit has not";
}

static const char *why_no_kernel(const layer_desc *described, layer_kernel kernel, const hw_array *array) {
  const map_layer *layer = &described->map;
  const int64_t *pad = layer->padding;
  if (layer->kind < MAP_CONV) return NULL;
  if (or_one(layer->dilation[0]) != or_one(layer->dilation[1])) return "dilations of rows and columns differ";
  const bool alike = pad[0] == pad[2] || kernel == LAYER_CONV2D_NARROW;
  if (pad[0] != pad[1] || pad[2] != pad[3] || !alike) return "paddings of the sides differ";
  return is_pooled(layer) ? why_no_pooling(layer, array) : NULL;
}

double layer_estimate_sparse(const layer_desc *layer, const hw_array *array, double density) {
  wf_diag silent = wf_diag_to(NULL);
  layer_call call;
  map_mapping best;
  if (!layer_call_of(layer, array, &call, &silent)) return INFINITY;
  if (map_best(&call.layer, array, NULL, layer->style, &best, 1) == 0) return INFINITY;
  map_footprint f = map_measure(&call.layer, &best, array);
  f.mesh_cycles = (int64_t)ceil((double)f.mesh_cycles * density);
  f.products = (int64_t)ceil((double)f.products * density);
  return map_estimate(&call.layer, &best, array, &f, &cost_fitted, INFINITY);
}

double layer_estimate(const layer_desc *layer, const hw_array *array) { return layer_estimate_sparse(layer, array, 1); }

bool layer_call_of(const layer_desc *layer, const hw_array *array, layer_call *call, wf_diag *diag) {
  const map_layer *map = &layer->map;
  *call = (layer_call){
      .kernel = layer_kernel_for(layer, array), .style = layer->style, .is_layer = true, .layer = product_of(map)};
  call->layer.zeros = map->zeros;
  for (int d = 0; d < BLOCK_DIMS; d++) {
    if (map->size[d] >= 1) continue;
    wf_error(diag, wf_in_file("layer"), "dimension %s is %" PRId64, block_dim_names[d], map->size[d]);
    return false;
  }
  if (call->kernel == LAYER_KERNEL_COUNT) {
    wf_error(diag, wf_in_file("layer"), "no kernel for layers of kind %s", map_kind_names[map->kind]);
    return false;
  }
  const char *why = why_no_kernel(layer, call->kernel, array);
  if (why != NULL) {
    wf_error(diag, wf_in_file("layer"), "no kernel for this convolution: %s", why);
    return false;
  }
  write_call(layer, array, call);
  return true;
}

// ---- compilation

compile_request layer_request(const layer_call *call, const hw_array *array) {
  const char *text = layer_kernel_text(call->kernel);
  return (compile_request){.file = layer_kernels[call->kernel].name,
                           .text = text,
                           .length = strlen(text),
                           .array = array,
                           .arguments = layer_arguments(call),
                           .packed_tensor = call->packed ? layer_kernels[call->kernel].weights : NULL,
                           .style = call->style,
                           .layer = call->is_layer ? &call->layer : NULL};
}

bool layer_compile(const map_layer *layer, const hw_array *array, const layer_policy *policy, compile_result *result,
                   wf_diag *diag) {
  layer_call call;
  const layer_desc described = layer_of_table(layer);
  *result = (compile_result){.config = -1};
  if (!layer_call_of(&described, array, &call, diag)) return false;
  compile_request request = layer_request(&call, array);
  request.mapping = policy->mapping;
  request.tuning = policy->tuning;
  request.style = policy->style;
  request.costs = policy->costs;
  request.straight = policy->straight;
  request.known_tensor = layer_kernels[call.kernel].weights;
  request.known = policy->known;
  return compile(&request, result, diag);
}
