// SPDX-License-Identifier: Apache-2.0
// What the files of compiler/network share.
#ifndef COMPILER_NETWORK_PRIVATE_H
#define COMPILER_NETWORK_PRIVATE_H

#include "compiler/network/network.h"

// ---- lowering: one graph under way

// A tensor that lies in columns of a wider one: so many elements behind its beginning, and from row to row.
typedef struct network_columns {
  int whole;  // GRAPH_NONE: it lies by itself
  int64_t first, pitch;
} network_columns;

typedef struct network_lowering {
  network *net;
  const graph *g;
  const hw_array *array;
  const graph_node *node;  // at hand
  wf_diag *diag;
  const graph_node **maker, **reader;  // by tensor: the node that makes it; the one that alone reads it. NULL: none
  network_columns *columns;            // by tensor
} network_lowering;

static inline const graph_tensor *network_lower_tensor(const network_lowering *l, int tensor) {
  return &l->g->tensors[tensor];
}
static inline bool network_lower_has(const graph_node *node, int input) {
  return input < node->input_count && node->inputs[input] != GRAPH_NONE;
}
static inline const graph_tensor *network_lower_input(const network_lowering *l, int input) {
  return network_lower_tensor(l, l->node->inputs[input]);
}
static inline const graph_tensor *network_lower_output(const network_lowering *l, int output) {
  return network_lower_tensor(l, l->node->outputs[output]);
}

// Refuses the node at hand: "node NAME (Op): reason". Always false.
bool network_lower_refuse(const network_lowering *l, const char *format, ...) WF_PRINTF(2, 3);

// Where a tensor of the graph lies, its rows one behind the other; made if it is new.
network_place network_lower_place(network_lowering *l, int tensor);
// The same of one that may lie in columns: network_lower_pixel says how far apart its rows are.
network_place network_lower_rows(network_lowering *l, int tensor);
bool network_lower_is_output(const network_lowering *l, int tensor);  // of the network
// The node gives the bytes of its operand another shape.
static inline bool network_lower_is_reshape(const graph_node *node) {
  return node->op == GRAPH_OP_RESHAPE || node->op == GRAPH_OP_SQUEEZE || node->op == GRAPH_OP_UNSQUEEZE ||
         node->op == GRAPH_OP_FLATTEN;
}
static inline network_place network_lower_place_of(network_lowering *l, int input) {
  return network_lower_place(l, l->node->inputs[input]);
}
static inline network_place network_lower_result(network_lowering *l, int output) {
  return network_lower_place(l, l->node->outputs[output]);
}
// The output is the input's bytes.
void network_lower_same(network_lowering *l, int output, int input);
// The output is the bytes at a place inside of another tensor. An output of the network is copied there after all.
// Always true.
bool network_lower_part(network_lowering *l, int output, network_place place);
// Memory between steps of a node, and constants that lowering makes (`contents` from the network's arena).
network_place network_lower_scratch(network_lowering *l, uint64_t bytes);
network_place network_lower_constant(network_lowering *l, const char *name, const void *contents, uint64_t bytes);
void *network_lower_alloc(network_lowering *l, uint64_t bytes);

// An array step that calls a kernel. Operands follow with network_lower_bind.
network_step *network_lower_array(network_lowering *l, const layer_call *call);
// An array step for rows of the normaliser; x and y are bound.
network_step *network_lower_unit(network_lowering *l, const network_unit *unit, network_place x, network_place y);
void network_lower_bind(network_step *step, const char *param, network_place place);

// Where the operands of a layer lie; an operand that the layer does not have is ignored.
typedef struct network_lower_operands {
  network_place inputs, weights, bias, residual, results;
  bool beside;  // the weights have zeros between those of pixels side by side
} network_lower_operands;
// What becomes of the sums of the node at hand, a product or convolution; the layer's kind and sizes are left open.
layer_desc network_lower_sums(const network_lowering *l);
// An array step that computes a layer which the array's kernels know.
network_step *network_lower_layer(network_lowering *l, const layer_desc *layer, const network_lower_operands *operands);

// The weights of a layer if so many blocks of them are zeros that its kernel shall be its own (lower_zeros.c), with
// their share; or NULL.
const int8_t *network_lower_own_weights(const network_lowering *l, const layer_desc *layer, layer_kernel kernel,
                                        const network_lower_operands *at, double *zeros);

// So many bytes of a constant; NULL: there are not.
const int8_t *network_lower_contents(const network_lowering *l, network_place place, uint64_t bytes);

// The scheme of the node at hand.
network_scheme network_lower_scheme(const network_lowering *l);

// Puts pixels of a matrix product or a convolution side by side (lower_beside.c): `together` of them, or, 0, as many as
// take the least time. Changes the layer, and places weights, R x S x C x K, and the node's bias. False: nothing is
// changed.
bool network_lower_beside(network_lowering *l, layer_desc *layer, network_lower_operands *at, const int8_t *weights,
                          int64_t together);
// Whether so many pixels can lie side by side at all, and the layer with these.
bool network_lower_may_lie_beside(const layer_desc *layer, const hw_array *array, int64_t together);
layer_desc network_lower_beside_layer(const layer_desc *layer, int64_t together);

// Steps for a layer of LAYER_CONV2D_NARROW whose image lies without the padding left and right of it, so many columns
// left of it (lower_edges.c); the first counts `macs`. False: it is none for that, and there are no steps.
bool network_lower_edges(network_lowering *l, const layer_desc *layer, int64_t left, const network_lower_operands *at,
                         uint64_t macs);
// Whether only the first and the last window of a row leave the image.
bool network_lower_has_edges(const layer_desc *layer, int64_t left);

// A host step for the node, and a call in it: rank 0 at first.
network_step *network_lower_host(network_lowering *l);
network_call *network_lower_call(network_lowering *l, network_step *step, enum weft_host_op op);

// A strided view of a tensor: what an operand of a call is made of.
typedef struct network_lower_view {
  network_place place;
  enum weft_host_type type;
  uint32_t element_bytes;
  int rank;
  int64_t dim[WEFT_HOST_RANK];
  int64_t step[WEFT_HOST_RANK];  // bytes
} network_lower_view;

// The whole of a tensor, row by row; false (refused) for types that the hart has not.
bool network_lower_view_of(network_lowering *l, int tensor, network_lower_view *view);
network_lower_view network_lower_view_at(network_place place, enum weft_host_type type, int rank, const int64_t *dim);
uint32_t network_lower_type_bytes(enum weft_host_type type);
// Broadcast to a shape as ONNX does.
network_lower_view network_lower_broadcast(const network_lower_view *view, int rank, const int64_t *dim);
// Puts a view behind an operand of a call; operand 0 gives the call its dimensions, the others must have them.
void network_lower_set(network_call *call, int operand, const network_lower_view *view);
// Exchanged dimensions as strides (lower_strided.c). A Transpose that keeps the last dimension is no step where one
// product of several pairs alone reads the result, or alone makes the operand (or a QShare does).
void network_lower_index(network_lowering *l, wf_arena *arena);
bool network_lower_is_strided(const network_lowering *l, const graph_node *transpose);
// Parts of concatenations (lower_columns.c): which tensors lie in columns of others, whose readers and makers then have
// to know how far apart rows are.
void network_lower_find_columns(network_lowering *l, wf_arena *arena);
bool network_lower_is_columns(const network_lowering *l, int tensor);
// Elements from row to row of a tensor in columns, 0: rows lie one behind the other.
int64_t network_lower_pixel(const network_lowering *l, int tensor);
// A view whose rows of `row` elements lie one behind the other becomes one of rows that are `pixel` apart; 0: it stays.
static inline void network_lower_spread(network_lower_view *view, int64_t row, int64_t pixel) {
  for (int d = 0; d + 1 < view->rank && pixel != 0; d++) view->step[d] = view->step[d] / row * pixel;
}
// A Slice that is no step: a product of several pairs alone reads its result, perhaps behind such a Transpose.
bool network_lower_is_cut(const network_lowering *l, const graph_node *slice);
bool network_lower_sliced(network_lowering *l, const graph_node *slice, network_lower_view *view);  // of its input
// A Concat that is no step: products of several pairs (or QShare) leave all its parts where they belong.
bool network_lower_is_joined(const network_lowering *l, const graph_node *concat);
// An int8 operand of the node at hand, or its result, as it lies in memory.
bool network_lower_strided_input(network_lowering *l, int input, network_lower_view *view);
bool network_lower_strided_result(network_lowering *l, network_lower_view *view);
// The last step of the node at hand leaves the result of the Transpose behind it, too.
void network_lower_complete(network_lowering *l);
// Whether a product multiplies pairs of matrices in one kernel.
bool network_lower_is_batched(const network_lowering *l, const graph_node *product);
// The QWiden4 that a tensor is the result of, by another name or with dimensions exchanged in place: it is in memory as
// what that node reads, and nowhere else (lower_packed.c). NULL: there is none.
const graph_node *network_lower_packed(const network_lowering *l, int tensor);
// Whether the sums of a product stay in the accumulator until they leave it as the result of the QShare behind it; and
// the steps of that QShare, the node at hand, and its product (lower_held.c).
bool network_lower_is_held(const network_lowering *l, const graph_node *product);
bool network_lower_held(network_lowering *l, const graph_node *product);
// Merges dimensions that are one to all operands: fewer loops for the hart. Those from `outer` on stay apart from the
// others.
void network_lower_squeeze(network_call *call);

bool network_lower_is_dense(const network_lower_view *view);  // its elements lie one behind the other
// to = from, both of one shape; every element of `to` = one of a constant. By the array where it can.
void network_lower_copy(network_lowering *l, const network_lower_view *to, const network_lower_view *from);
void network_lower_fill(network_lowering *l, const network_lower_view *to, const void *element);
// A call in a step of the hart; the value lies in memory.
void network_lower_fill_by_hart(network_lowering *l, network_step *step, const network_lower_view *to,
                                network_place value);
// The image with `pads` (above, left, below, right) rows and columns of `value` around it, as scratch memory. `row`:
// the bytes from row to row, whole lines of the cache, each with the image's first byte at the beginning of a line;
// NULL: rows lie one behind the other.
network_place network_lower_padded(network_lowering *l, const network_lower_view *image, const int64_t *pads,
                                   int8_t value, int64_t *row);

// The hart fills the borders of a padded tensor (of bytes): `pads` has those before, then those behind.
void network_lower_borders(network_lowering *l, network_step *step, const network_lower_view *to, const int64_t *pads,
                           int8_t value);

// Max pooling of an image [N,H,W,C]; the attributes of the node with these names say how.
typedef struct network_lower_pool {
  int64_t dim[4];
  network_place x, y;
  int64_t x_pixel, y_pixel;  // elements from pixel to pixel; 0: as many as channels
  bool positive;             // nothing in the image is below 0
} network_lower_pool;
bool network_lower_pooling(network_lowering *l, const network_lower_pool *pool, const char *size, const char *strides,
                           const char *pads);

typedef bool network_lower_node(network_lowering *l);
network_lower_node network_lower_conv, network_lower_product, network_lower_add, network_lower_multiply,
    network_lower_curve, network_lower_max_pool, network_lower_average_pool, network_lower_global_average_pool;
network_lower_node network_lower_lut, network_lower_quantize, network_lower_dequantize, network_lower_requantize;
network_lower_node network_lower_unary, network_lower_binary, network_lower_compare, network_lower_where,
    network_lower_cast, network_lower_clip, network_lower_many, network_lower_mod, network_lower_shift;
network_lower_node network_lower_qsoftmax, network_lower_qlayer_norm, network_lower_qnorm_mesh, network_lower_unit_rows,
    network_lower_qheadroom, network_lower_qshare, network_lower_pack4, network_lower_widen4, network_lower_qcell,
    network_lower_qhidden;
network_lower_node network_lower_softmax, network_lower_layer_norm, network_lower_reduce, network_lower_arg;
network_lower_node network_lower_rename, network_lower_transpose, network_lower_slice, network_lower_split,
    network_lower_concat, network_lower_pad, network_lower_resize, network_lower_gather, network_lower_expand,
    network_lower_tile, network_lower_space, network_lower_gather_elements, network_lower_top_k, network_lower_scatter,
    network_lower_einsum, network_lower_grid_sample;
network_lower_node network_lower_float_product, network_lower_float_gemm, network_lower_float_conv,
    network_lower_float_max_pool;

// Steps for every node of the graph. False after errors were reported.
bool network_lower_graph(network *net, wf_diag *diag);

// ---- the rest

const char *network_host_op_name(enum weft_host_op op);

// Elements that a call of the hart goes through.
static inline int64_t network_call_elements(const struct weft_host_call *call) {
  int64_t count = 1;
  for (uint32_t d = 0; d < call->rank; d++) count *= call->dim[d];
  return count;
}

// Joins steps of the hart that go through tensors element by element.
void network_chain(network *net);

network_place network_add_buffer(network *net, const network_buffer *buffer);

// Compiles every kernel, with as many threads as the options say.
bool network_compile(network *net, wf_diag *diag);
// Mixes neighbouring steps of the array, as the options say. False after errors were reported.
bool network_fuse(network *net, wf_diag *diag);
// Where a step's operand lies; buffer -1: it has none of this name.
network_place network_operand_of(const network_step *step, const char *param);
// Places for the constants of a kernel's program.
void network_add_constants(network *net, network_kernel *kernel);
// Tells a compilation of the kernel what its weights are, where they have blocks of zeros.
void network_know_weights(const network_kernel *kernel, compile_request *request);
// Buffers become as large as what the commands of a step reach of them.
void network_widen(network *net, const network_step *step);
// Steps that hart and array do at one time, as the options say (overlap/overlap.c), and what becomes of their commands
// when everything has its place.
void network_overlap(network *net);
void network_fill_commands(network *net);
// Lives, places, addresses; reports what does not fit in main memory.
bool network_plan(network *net, wf_diag *diag);

#endif
