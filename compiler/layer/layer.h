// SPDX-License-Identifier: Apache-2.0
// Layers as programs: which shipped kernel computes a layer, with which arguments, and its compilation.
//
// The kernels travel in the library: compiling a layer needs no checkout. This is the only place that knows the
// parameters of the kernels which compute layers.
#ifndef COMPILER_LAYER_LAYER_H
#define COMPILER_LAYER_LAYER_H

#include "compiler/compile.h"

// ---- the kernels

// X(NAME, file of workloads/kernels, its pointers to inputs, weights and results)
#define LAYER_KERNELS(X)                                             \
  X(GEMM, "gemm", "a_ptr", "b_ptr", "c_ptr")                         \
  X(BATCHED_GEMM, "batched_gemm", "a_ptr", "b_ptr", "c_ptr")         \
  X(CONV2D, "conv2d", "x_ptr", "w_ptr", "y_ptr")                     \
  X(CONV2D_NARROW, "conv2d_narrow", "x_ptr", "w_ptr", "y_ptr")       \
  X(GROUPED_CONV2D, "grouped_conv2d", "x_ptr", "w_ptr", "y_ptr")     \
  X(DEPTHWISE_CONV2D, "depthwise_conv2d", "x_ptr", "w_ptr", "y_ptr") \
  X(MAX_POOL2D, "max_pool2d", "x_ptr", NULL, "y_ptr")                \
  X(RESIDUAL_ADD, "residual_add", "a_ptr", NULL, "y_ptr")            \
  X(COPY, "copy", "x_ptr", NULL, "y_ptr")
typedef enum {
#define X(NAME, file, inputs, weights, results) LAYER_##NAME,
  LAYER_KERNELS(X)
#undef X
      LAYER_KERNEL_COUNT
} layer_kernel;

// The operands of kernels besides inputs, weights and results have one name in all kernels.
#define LAYER_BIAS "bias_ptr"
#define LAYER_RESIDUAL "res_ptr"
typedef struct layer_kernel_entry {
  const char *name, *inputs, *weights, *results;
} layer_kernel_entry;
extern const layer_kernel_entry layer_kernels[LAYER_KERNEL_COUNT];

const char *layer_kernel_text(layer_kernel kernel);

// ---- layers

// How matrices of kind batched lie: elements from row to row, and from product to product; 0: one behind the other. Of
// images of LAYER_CONV2D_NARROW: from row to row of pixels. From pixel to pixel of images, but for inputs of that
// kernel, and of products, whose rows are pixels.
typedef struct layer_lie {
  int64_t pitch, step, pixel;
} layer_lie;

// How a convolution is summed up, if it has no groups: tap by tap (conv2d), or with a row of the window at once
// (conv2d_narrow).
typedef enum { LAYER_BY_RULE, LAYER_BY_TAPS, LAYER_BY_ROWS } layer_sums;

// A layer with all that its kernel has to know.
typedef struct layer_desc {
  // Of kinds gemm, gemv, batched, conv, depthwise, and window if it takes the largest. C and K are those of one group.
  map_layer map;
  int64_t image[2];  // rows and columns of the images of inputs, without padding; 0: as many as the results need
  double scale;      // of int8 results
  bool relu;
  bool transposed;       // the weights of kind batched are N x K
  bool packed;           // weights of kinds gemm, gemv and batched are int4 in memory, two a byte
  int64_t weight_pitch;  // of products: elements from row to row of the weights, 0: K
  layer_lie inputs, weights, results;
  layer_sums sums;
  int64_t together;   // of groups: so many share a block of weights; 0: by rule
  block_style style;  // of its commands
} layer_desc;

// The kernel that computes a layer; LAYER_KERNEL_COUNT: none does. Images of LAYER_CONV2D_NARROW lie in memory with
// their padding left and right, which alone may differ from that above and below.
layer_kernel layer_kernel_of(const map_layer *layer, const hw_array *array);
// The same with what the layer says of itself in place of the rules.
layer_kernel layer_kernel_for(const layer_desc *layer, const hw_array *array);

// ---- groups (groups.c)

// How the groups of a convolution, or the channels of a depthwise one, go through the array: so many of them share a
// block of weights, which is a matrix of rows x columns for each tap, zero between different groups.
typedef struct layer_packing {
  int64_t together, blocks;
  int64_t rows, columns;
  bool square;  // DIM x DIM: the blocks of depthwise_conv2d
} layer_packing;
layer_packing layer_packing_of(const map_layer *layer, const hw_array *array);
// The same with so many groups that share a block; 0: by rule.
layer_packing layer_packing_with(const map_layer *layer, const hw_array *array, int64_t together);
// Whether so many groups can share a block.
bool layer_can_pack(const map_layer *layer, const hw_array *array, int64_t together);
// Matrices of weights, DIM x DIM, that each row of results goes through.
int64_t layer_passes(const map_layer *layer, const hw_array *array);

// Weights as the kernel of a layer in groups reads them: blocks x R x S x rows x columns, from R x S x C x (groups K),
// NULL: ones.
uint64_t layer_packed_bytes(const map_layer *layer, const layer_packing *packing);
void layer_pack_weights(const map_layer *layer, const layer_packing *packing, const int8_t *from, int8_t *to);

// ---- calls

// A kernel with values for its parameters.
enum { LAYER_ARGUMENTS = 24 };
typedef struct layer_call {
  layer_kernel kernel;
  lang_arg arguments[LAYER_ARGUMENTS];
  int argument_count;
  bool packed;        // its weights are int4 in memory
  block_style style;  // of its commands
  bool is_layer;
  map_layer layer;  // as the kernel computes it: what map_of_block finds in its program
} layer_call;

void layer_add_argument(layer_call *call, const char *name, lang_value value);
static inline lang_args layer_arguments(const layer_call *call) {
  return (lang_args){call->arguments, call->argument_count};
}
bool layer_call_equal(const layer_call *a, const layer_call *b);

// False, with the reason, for what no kernel does: dilations or paddings that differ in a direction, kinds without a
// kernel.
bool layer_call_of(const layer_desc *layer, const hw_array *array, layer_call *call, wf_diag *diag);

// Cycles of a layer as the mapper estimates its best mapping: ranks ways to compute it. INFINITY: no kernel or no
// mapping.
double layer_estimate(const layer_desc *layer, const hw_array *array);
// The same where this share of the blocks of weights alone needs products.
double layer_estimate_sparse(const layer_desc *layer, const hw_array *array, double density);

// ---- compilation

// The request for a kernel's program on an array.
compile_request layer_request(const layer_call *call, const hw_array *array);

// How the blocks are chosen.
typedef struct layer_policy {
  const map_mapping *mapping;  // given; NULL: the heuristic mapper's
  compile_tuning tuning;
  block_style style;
  const cost_constants *costs;  // as those of compile_request
  bool straight;                // the same
  const int8_t *known;          // the layer's weights, if products with zeros shall be left out; NULL: any
} layer_policy;

// A layer of a table, which says nothing of scale and relu. False after errors were reported. Release the result with
// compile_release in any case.
bool layer_compile(const map_layer *layer, const hw_array *array, const layer_policy *policy, compile_result *result,
                   wf_diag *diag);
static inline layer_desc layer_of_table(const map_layer *layer) { return (layer_desc){.map = *layer, .scale = 0.01}; }

#endif
