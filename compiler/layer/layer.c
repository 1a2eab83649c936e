// Layers as calls of kernels: one function per kind of layer writes the arguments of its kernel. See layer.h.
#include "compiler/layer/layer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/layer/kernel_files.h"

const char *layer_kernel_text(const char *kernel) {
  const size_t length = strlen(kernel);
  for (size_t i = 0; i < layer_kernel_file_count; i++) {
    const char *name = layer_kernel_files[i].name;
    if (strncmp(name, kernel, length) == 0 && strcmp(name + length, ".py") == 0) return layer_kernel_files[i].text;
  }
  return NULL;
}

static WF_PRINTF(2, 3) void add(layer_call *call, const char *format, ...) {
  const size_t used = strlen(call->arguments);
  va_list list;
  va_start(list, format);
  vsnprintf(call->arguments + used, sizeof call->arguments - used, format, list);
  va_end(list);
}

static int64_t or_one(int64_t value) { return value == 0 ? 1 : value; }

// ---- what convolutions have in common

// Rows (axis 0) or columns of the input image without its padding.
static int64_t image_size(const map_layer *layer, int axis) {
  const block_dim_id results = axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q, window = axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S;
  return (layer->size[results] - 1) * or_one(layer->stride[axis]) +
         (layer->size[window] - 1) * or_one(layer->dilation[axis]) + 1 - 2 * layer->padding[0];
}

static bool is_square(const map_layer *layer, wf_diag *diag) {
  const int64_t *pad = layer->padding;
  const char *what = NULL;
  if (or_one(layer->dilation[0]) != or_one(layer->dilation[1])) what = "dilations of rows and columns differ";
  if (pad[0] != pad[1] || pad[0] != pad[2] || pad[0] != pad[3]) what = "paddings of the sides differ";
  if (layer->pool_stride != 0) what = "pooling inside a convolution";
  if (what == NULL) return true;
  wf_error(diag, wf_in_file("layer"), "no kernel for this convolution: %s", what);
  return false;
}

// `border`: what of its padding the image has.
static void add_image(const map_layer *layer, int64_t border, layer_call *call) {
  add(call, "N=%" PRId64 ",H=%" PRId64 ",W=%" PRId64 ",R=%" PRId64 ",S=%" PRId64 ",stride=%" PRId64,
      layer->size[BLOCK_DIM_N], image_size(layer, 0) + 2 * border, image_size(layer, 1) + 2 * border,
      layer->size[BLOCK_DIM_R], layer->size[BLOCK_DIM_S], or_one(layer->stride[0]));
  if (or_one(layer->stride[0]) != or_one(layer->stride[1]))
    add(call, ",column_stride=%" PRId64, or_one(layer->stride[1]));
}

static const char *python_bool(bool value) { return value ? "True" : "False"; }

// What becomes of the sums, of kernels that have both kinds of results.
static void add_results(const map_layer *layer, layer_call *call) {
  if (layer->result_bytes == 4) {
    add(call, ",relu=False,out=int32");
    return;
  }
  add(call, ",relu=False,scale=0.01");
  if (layer->residual != 0) add(call, ",residual=%" PRId64, layer->residual);
}

// Blocks of depth that a kernel element (or a row of them) takes in all.
static int64_t depth_blocks(const map_layer *layer, int64_t depth, int64_t dim) {
  return layer->size[BLOCK_DIM_R] * layer->size[BLOCK_DIM_S] * layer->size[BLOCK_DIM_C] / depth *
         ((depth + dim - 1) / dim);
}

// Whether rows of the kernel had better be summed over as one dimension, which takes an image that has its padding: if
// that saves a third of the products.
static bool is_narrow(const map_layer *layer, const hw_array *array) {
  const int64_t dim = hw_derive(array).dim, channels = layer->size[BLOCK_DIM_C];
  if (or_one(layer->dilation[0]) != 1 || layer->residual != 0 || layer->result_bytes == 4) return false;
  return 3 * depth_blocks(layer, channels * layer->size[BLOCK_DIM_S], dim) <= 2 * depth_blocks(layer, channels, dim);
}

// ---- kinds

static bool call_gemm(const map_layer *layer, const hw_array *array, layer_call *call, wf_diag *diag) {
  (void)array, (void)diag;
  call->kernel = "gemm";
  add(call, "M=%" PRId64 ",N=%" PRId64 ",K=%" PRId64 ",bias=%s",
      layer->size[BLOCK_DIM_N] * layer->size[BLOCK_DIM_P] * layer->size[BLOCK_DIM_Q], layer->size[BLOCK_DIM_K],
      layer->size[BLOCK_DIM_C], python_bool(layer->bias));
  add_results(layer, call);
  return true;
}

static bool call_batched(const map_layer *layer, const hw_array *array, layer_call *call, wf_diag *diag) {
  (void)array, (void)diag;
  call->kernel = "batched_gemm";
  add(call, "B=%" PRId64 ",M=%" PRId64 ",N=%" PRId64 ",K=%" PRId64 ",scale=0.01", layer->size[BLOCK_DIM_N],
      layer->size[BLOCK_DIM_P], layer->size[BLOCK_DIM_K], layer->size[BLOCK_DIM_C]);
  return true;
}

static bool call_grouped(const map_layer *layer, layer_call *call) {
  call->kernel = "grouped_conv2d";
  add_image(layer, 0, call);
  add(call, ",padding=%" PRId64 ",dilation=%" PRId64 ",G=%" PRId64 ",C=%" PRId64 ",K=%" PRId64 ",bias=%s,scale=0.01",
      layer->padding[0], or_one(layer->dilation[0]), layer->groups, layer->size[BLOCK_DIM_C], layer->size[BLOCK_DIM_K],
      python_bool(layer->bias));
  return true;
}

static bool call_narrow(const map_layer *layer, layer_call *call) {
  call->kernel = "conv2d_narrow";
  add_image(layer, layer->padding[0], call);
  add(call, ",C=%" PRId64 ",K=%" PRId64 ",bias=%s,relu=False,scale=0.01", layer->size[BLOCK_DIM_C],
      layer->size[BLOCK_DIM_K], python_bool(layer->bias));
  return true;
}

static bool call_conv(const map_layer *layer, const hw_array *array, layer_call *call, wf_diag *diag) {
  if (!is_square(layer, diag)) return false;
  if (layer->groups > 1) return call_grouped(layer, call);
  if (is_narrow(layer, array)) return call_narrow(layer, call);
  call->kernel = "conv2d";
  add_image(layer, 0, call);
  add(call, ",padding=%" PRId64 ",dilation=%" PRId64 ",C=%" PRId64 ",K=%" PRId64 ",bias=%s", layer->padding[0],
      or_one(layer->dilation[0]), layer->size[BLOCK_DIM_C], layer->size[BLOCK_DIM_K], python_bool(layer->bias));
  add_results(layer, call);
  return true;
}

static bool call_depthwise(const map_layer *layer, const hw_array *array, layer_call *call, wf_diag *diag) {
  if (!is_square(layer, diag)) return false;
  call->kernel = "depthwise_conv2d";
  add_image(layer, 0, call);
  add(call, ",padding=%" PRId64 ",dilation=%" PRId64 ",C=%" PRId64 ",D=%u,bias=%s,scale=0.01", layer->padding[0],
      or_one(layer->dilation[0]), layer->size[BLOCK_DIM_K], hw_derive(array).dim, python_bool(layer->bias));
  return true;
}

typedef bool call_writer(const map_layer *layer, const hw_array *array, layer_call *call, wf_diag *diag);
static call_writer *const writers[MAP_KIND_COUNT] = {
    [MAP_GEMM] = call_gemm, [MAP_GEMV] = call_gemm,           [MAP_BATCHED] = call_batched,
    [MAP_CONV] = call_conv, [MAP_DEPTHWISE] = call_depthwise,
};

bool layer_call_of(const map_layer *layer, const hw_array *array, layer_call *call, wf_diag *diag) {
  *call = (layer_call){0};
  for (int d = 0; d < BLOCK_DIMS; d++) {
    if (layer->size[d] >= 1) continue;
    wf_error(diag, wf_in_file("layer"), "dimension %s is %" PRId64, block_dim_names[d], layer->size[d]);
    return false;
  }
  if (writers[layer->kind] == NULL) {
    wf_error(diag, wf_in_file("layer"), "no kernel for layers of kind %s", map_kind_names[layer->kind]);
    return false;
  }
  return writers[layer->kind](layer, array, call, diag);
}

bool layer_compile(const map_layer *layer, const hw_array *array, const layer_policy *policy, compile_result *result,
                   wf_diag *diag) {
  layer_call call;
  *result = (compile_result){.config = -1};
  if (!layer_call_of(layer, array, &call, diag)) return false;
  const char *text = layer_kernel_text(call.kernel);
  const compile_request request = {.file = call.kernel,
                                   .text = text,
                                   .length = strlen(text),
                                   .array = array,
                                   .arguments = call.arguments,
                                   .mapping = policy->mapping,
                                   .tune = policy->tune,
                                   .judge = policy->judge,
                                   .style = policy->style,
                                   .costs = policy->costs};
  return compile(&request, result, diag);
}
