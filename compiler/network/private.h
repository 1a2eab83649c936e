// What the files of compiler/network share.
#ifndef COMPILER_NETWORK_PRIVATE_H
#define COMPILER_NETWORK_PRIVATE_H

#include "compiler/network/network.h"

// ---- lowering: one graph under way

typedef struct lowering {
  network *net;
  const graph *g;
  const hw_array *array;
  const graph_node *node;  // at hand
  wf_diag *diag;
} lowering;

static inline const graph_tensor *netlower_tensor(const lowering *l, int tensor) { return &l->g->tensors[tensor]; }
static inline bool netlower_has(const graph_node *node, int input) {
  return input < node->input_count && node->inputs[input] != GRAPH_NONE;
}
static inline const graph_tensor *netlower_input(const lowering *l, int input) {
  return netlower_tensor(l, l->node->inputs[input]);
}
static inline const graph_tensor *netlower_output(const lowering *l, int output) {
  return netlower_tensor(l, l->node->outputs[output]);
}

// Refuses the node at hand: "node NAME (Op): reason". Always false.
bool netlower_refuse(const lowering *l, const char *format, ...) WF_PRINTF(2, 3);

// Where a tensor of the graph lies; made if it is new.
network_place netlower_place(lowering *l, int tensor);
static inline network_place netlower_place_of(lowering *l, int input) {
  return netlower_place(l, l->node->inputs[input]);
}
static inline network_place netlower_result(lowering *l, int output) {
  return netlower_place(l, l->node->outputs[output]);
}
// The output is the input's bytes.
void netlower_same(lowering *l, int output, int input);
// Memory between steps of a node, and constants that lowering makes (`contents` from the network's arena).
network_place netlower_scratch(lowering *l, uint64_t bytes);
network_place netlower_constant(lowering *l, const char *name, const void *contents, uint64_t bytes);
void *netlower_alloc(lowering *l, uint64_t bytes);

// An array step that calls a kernel. Operands follow with netlower_bind.
network_step *netlower_array(lowering *l, const layer_call *call);
void netlower_bind(network_step *step, const char *param, network_place place);

// Where the operands of a layer lie; those that it has count.
typedef struct netlower_operands {
  network_place inputs, weights, bias, residual, results;
} netlower_operands;
// What becomes of the sums of the node at hand, a product or convolution; the layer's kind and sizes are left open.
layer_desc netlower_sums(const lowering *l);
// An array step that computes a layer which the array's kernels know.
void netlower_layer(lowering *l, const layer_desc *layer, const netlower_operands *operands);

// A host step for the node, and a call in it: rank 0 at first.
network_step *netlower_host(lowering *l);
network_call *netlower_call(lowering *l, network_step *step, enum weft_host_op op);

// A strided view of a tensor: what an operand of a call is made of.
typedef struct netlower_view {
  network_place place;
  enum weft_host_type type;
  uint32_t element_bytes;
  int rank;
  int64_t dim[WEFT_HOST_RANK];
  int64_t step[WEFT_HOST_RANK];  // bytes
} netlower_view;

// The whole of a tensor, row by row; false (refused) for types that the hart has not.
bool netlower_view_of(lowering *l, int tensor, netlower_view *view);
netlower_view netlower_view_at(network_place place, enum weft_host_type type, int rank, const int64_t *dim);
uint32_t netlower_type_bytes(enum weft_host_type type);
// Broadcast to a shape as ONNX does.
netlower_view netlower_broadcast(const netlower_view *view, int rank, const int64_t *dim);
// Puts a view behind an operand of a call; operand 0 gives the call its dimensions, the others must have them.
void netlower_set(network_call *call, int operand, const netlower_view *view);
// Merges dimensions that are one to all operands: fewer loops for the hart. Those from `outer` on stay apart from the
// others.
void netlower_squeeze(network_call *call);

// to = from, both of one shape; every element of `to` = one of a constant. By the array where it can.
void netlower_copy(lowering *l, const netlower_view *to, const netlower_view *from);
void netlower_fill(lowering *l, const netlower_view *to, const void *element);
// A call in a step of the hart; the value lies in memory.
void netlower_fill_by_hart(lowering *l, network_step *step, const netlower_view *to, network_place value);
// The image with `pads` (above, left, below, right) rows and columns of `value` around it, as scratch memory.
network_place netlower_padded(lowering *l, network_place image, const int64_t *dim, const int64_t *pads, int8_t value);

// The hart fills the borders of a padded tensor (of bytes): `pads` has those before, then those behind.
void netlower_borders(lowering *l, network_step *step, const netlower_view *to, const int64_t *pads, int8_t value);

// Max pooling of an image [N,H,W,C]; the attributes of the node with these names say how.
typedef struct netlower_pool {
  int64_t dim[4];
  network_place x, y;
  bool positive;  // nothing in the image is below 0
} netlower_pool;
bool netlower_pooling(lowering *l, const netlower_pool *pool, const char *size, const char *strides, const char *pads);

typedef bool netlower_node(lowering *l);
netlower_node netlower_conv, netlower_product, netlower_add, netlower_max_pool, netlower_average_pool,
    netlower_global_average_pool;
netlower_node netlower_lut, netlower_quantize, netlower_dequantize, netlower_requantize;
netlower_node netlower_unary, netlower_binary, netlower_compare, netlower_where, netlower_cast, netlower_clip,
    netlower_many;
netlower_node netlower_qsoftmax, netlower_qlayer_norm;
netlower_node netlower_softmax, netlower_layer_norm, netlower_reduce, netlower_arg;
netlower_node netlower_rename, netlower_transpose, netlower_slice, netlower_split, netlower_concat, netlower_pad,
    netlower_resize, netlower_gather, netlower_expand, netlower_tile, netlower_space;

// Steps for every node of the graph. False after errors were reported.
bool netlower_graph(network *net, wf_diag *diag);

// ---- the rest

network_place network_add_buffer(network *net, const network_buffer *buffer);

// Compiles every kernel, with as many threads as the options say.
bool network_compile(network *net, wf_diag *diag);
// Lives, places, addresses; reports what does not fit in main memory.
bool network_plan(network *net, wf_diag *diag);

#endif
