// SPDX-License-Identifier: Apache-2.0
// What the files of the converter share: the plan that is made of the model, and the forms in which each of its tensors
// exists in the new graph.
//
// A tensor of the model has at most one form of each kind: f32 or int8, in the model's order of dimensions or, with
// four dimensions, with the channels last. Forms are made when they are asked for (forms.c), so a Quantize, a
// Dequantize or a Transpose is there only if a node reads it, and once.
//
// The plan (plan.c) knows before anything is emitted: which nodes become one product (a chain), which tensors are a
// function of each element of another one (derived: emitted as a table or as float operators where they are read), and
// the scale of every tensor's int8 form.
#ifndef COMPILER_QUANTISE_CONVERT_H
#define COMPILER_QUANTISE_CONVERT_H

#include "compiler/graph/curve.h"
#include "compiler/quantise/quantise.h"
#include "compiler/quantise/rewrite.h"

typedef enum { LAYOUT_PLAIN, LAYOUT_CHANNELS_LAST, LAYOUTS } quantise_convert_layout;

typedef struct quantise_convert_value {
  int real[LAYOUTS], quant[LAYOUTS];  // tensors of the new graph, or GRAPH_NONE
  float scale;                        // of the int8 forms
  int32_t zero;
  int flat;               // int8, an image with channels last as one row: [N, H*W*C]; or GRAPH_NONE
  int64_t flat_channels;  // C of it
  int sums;               // int8: the numbers are these bytes divided by the i32 sums of their rows; or GRAPH_NONE
} quantise_convert_value;

// A product and what is done to its sums, in this order: gain, bias, residual, relu and limit.
typedef struct quantise_convert_chain {
  int node, last;  // the product; the node whose turn it is emitted in
  int out;         // tensor of the model
  int bias;        // a constant per channel, or GRAPH_NONE
  int residual;    // a tensor, or GRAPH_NONE
  double gain;
  bool relu;
  bool wide;    // the sums themselves are the result, in int32
  float limit;  // of what relu lets through
  float weight_scale;
  int64_t factor;  // of the residual
} quantise_convert_chain;

typedef struct quantise_converter {
  const graph *model;
  const quantise_pins *pins;
  const quantise_ranges *ranges;
  const quantise_options *options;
  wf_diag *diag;
  wf_arena *arena;  // of the plan
  quantise_rewrite_index index;
  // by node
  int *chain_of;  // the chain that it is part of, or GRAPH_NONE
  quantise_convert_chain *chains;
  size_t chain_count, chain_room;
  // by tensor
  int *derived;  // the tensor of which it is a function of each element, or GRAPH_NONE
  float *scale;
  int32_t *zero;
  quantise_convert_value *values;
  int *in_table;  // of table.c, 0 otherwise
  bool refused;   // a tensor has no scale
  // the new graph
  graph *out;
  struct convert_weights *weights;  // already converted
  size_t weight_count, weight_room;
} quantise_converter;

// plan.c
void quantise_convert_plan(quantise_converter *c);
bool quantise_convert_is_elementwise(const graph *g, const graph_node *node);
// The number by which the tensor is more than what its operator reads, which has to be what it is a function of; 0: it
// is something else. Such a tensor has the other one's bytes, with a scale of its own.
float quantise_convert_factor(const quantise_converter *c, int tensor);

// forms.c
bool quantise_convert_has_quant(const quantise_converter *c, int tensor);  // without a Quantize
bool quantise_convert_is_last(const quantise_converter *c, int tensor);    // exists with its channels last
int quantise_convert_quant(quantise_converter *c, int tensor, quantise_convert_layout layout);
int quantise_convert_quant_at(quantise_converter *c, int tensor, quantise_convert_layout layout, float scale,
                              int32_t zero);
int quantise_convert_real(quantise_converter *c, int tensor,
                          quantise_convert_layout layout);  // also integers, as they are
void quantise_convert_set_quant(quantise_converter *c, int tensor, quantise_convert_layout layout, int form,
                                float scale, int32_t zero);
// A tensor of the new graph for a tensor of the model, and of its shape in that layout.
int quantise_convert_new(quantise_converter *c, int tensor, const char *suffix, graph_type type,
                         quantise_convert_layout layout);
int quantise_convert_constant(quantise_converter *c, const char *name, graph_type type, int rank, const int64_t *dims,
                              const void *data);
graph_node *quantise_convert_emit(quantise_converter *c, graph_op op, const char *name, const int *inputs, int count,
                                  int output);
void quantise_convert_copy_attributes(quantise_converter *c, graph_node *to, const graph_node *from);
int quantise_convert_lut(quantise_converter *c, int form, int model_tensor, quantise_convert_layout layout,
                         const int8_t table[256]);
void quantise_convert_requantise_table(float from, int32_t from_zero, float to, int32_t to_zero, int8_t table[256]);

// check.c: whether a tensor's numbers, or sums that become them, can have this scale; false after the tensor was named.
bool quantise_convert_check_scale(quantise_converter *c, int tensor, double scale);

// The model says how the tensor's numbers become bytes: the last passes do not make them in another way.
static inline bool quantise_convert_is_given(const quantise_converter *c, int tensor) {
  return tensor != GRAPH_NONE && quantise_pin_of(c->pins, tensor)->scale > 0;
}

// table.c: what `tensor` (derived) becomes for each of the 256 values of the tensor that it is a function of.
bool quantise_convert_table(quantise_converter *c, int tensor, float scale, int32_t zero, int8_t table[256]);
bool quantise_convert_real_table(quantise_converter *c, int tensor, float table[256]);

// product.c
float quantise_convert_weight_scale(const quantise_converter *c, const graph_node *node);
void quantise_convert_emit_chain(quantise_converter *c, const quantise_convert_chain *chain);
bool quantise_convert_is_product(const quantise_converter *c, const graph_node *node);

// move.c: operators that move int8 numbers, pooling, sums. False: not theirs.
bool quantise_convert_move(quantise_converter *c, const graph_node *node);
bool quantise_convert_pool(quantise_converter *c, const graph_node *node);
bool quantise_convert_add(quantise_converter *c, const graph_node *node);
// In which layout a tensor exists; a node with one int8 input in a layout, whose result takes over the input's scale;
// a constant of a node.
quantise_convert_layout quantise_convert_layout_of(const quantise_converter *c, int tensor);
graph_node *quantise_convert_emit_move(quantise_converter *c, const graph_node *node, graph_op op, const int *inputs,
                                       int count, quantise_convert_layout layout);
int quantise_convert_integers(quantise_converter *c, const graph_node *node, const char *what, const int64_t *values,
                              int count);

// cache.c: keys and values of earlier tokens that are inputs. The cache that a result belongs behind, or GRAPH_NONE.
bool quantise_convert_is_cache(const quantise_converter *c, int tensor);
int quantise_convert_cache_of(const quantise_converter *c, int result);
void quantise_convert_plan_caches(quantise_converter *c);  // their scales
int quantise_convert_begin_cache(quantise_converter *c, int t);
int quantise_convert_end_cache(quantise_converter *c, int result, int cache);

// multiply.c
bool quantise_convert_mul(quantise_converter *c, const graph_node *node);

// gather.c
bool quantise_convert_gather(quantise_converter *c, const graph_node *node);

// unit.c: rows in the array's normaliser, as options say. False, or GRAPH_NONE: not there.
typedef struct quantise_convert_norm {
  int x, gamma, beta, out;  // beta: or GRAPH_NONE
  float epsilon;
  bool centred;
  quantise_deviation deviation;  // largest: of what is normalised, before gamma and beta
} quantise_convert_norm;
bool quantise_convert_unit_softmax(quantise_converter *c, const graph_node *node, int x, int mask);
bool quantise_convert_unit_norm(quantise_converter *c, const graph_node *node, const quantise_convert_norm *n);
int quantise_convert_unit_gelu(quantise_converter *c, int from, int tensor, quantise_convert_layout layout);

// cells.c: the cells of LSTMs.
void quantise_convert_cells(graph *g);

// The norm's result, which is `to`, from its rows without factors and offsets, as bytes with a scale of `step`; and
// whether its factors and offsets allow that.
bool quantise_convert_scales_columns(const quantise_converter *c, const quantise_convert_norm *n, double step);
void quantise_convert_scale_columns(quantise_converter *c, const quantise_convert_norm *n, int form, double step,
                                    int to);

// mesh_norm.c: norms on the mesh. False: not so.
bool quantise_convert_mesh_norm(quantise_converter *c, const graph_node *node, const quantise_convert_norm *n);

// shares.c: softmax whose rows are divided by their sums behind the product that reads them. False: not so.
// `mask`: a constant of the new graph, of 0 and 1, for so many rows again and again; or GRAPH_NONE.
bool quantise_convert_shares(quantise_converter *c, const graph_node *softmax, int x, int mask);
int quantise_convert_share(quantise_converter *c, const quantise_convert_chain *chain, int sums, int products,
                           double scale);

// curve.c: a table as a sum of ramps; GRAPH_NONE, or false: it needs too many.
// Noise: at most as many times that of rounding.
bool quantise_convert_fit_curve(const double table[256], double noise, graph_curve *curve);
int quantise_convert_curve(quantise_converter *c, int from, int tensor, quantise_convert_layout layout);

// rows.c: softmax and normalisation
bool quantise_convert_rows(quantise_converter *c, const graph_node *node);

// The dimension of an image's dimension with the channels last.
static inline int quantise_convert_axis(int axis) { return axis == 0 ? 0 : axis == 1 ? 3 : axis - 1; }

#endif
