// What the files of the converter share: the plan that is made of the model, and the forms in which each of its tensors
// exists in the new graph.
//
// A tensor of the model has at most one form of each kind: f32 or int8, in the model's order of dimensions or, with
// four dimensions, with the channels last. Forms are made when they are asked for (forms.c), so a Quantize, a
// Dequantize or a Transpose is there only if somebody needs it, and once.
//
// The plan (plan.c) knows before anything is emitted: which nodes become one product (a chain), which tensors are a
// function of each element of another one (derived: emitted as a table or as float operators where they are read), and
// the scale of every tensor's int8 form.
#ifndef COMPILER_QUANTISE_CONVERT_H
#define COMPILER_QUANTISE_CONVERT_H

#include "compiler/quantise/quantise.h"
#include "compiler/quantise/rewrite.h"

typedef enum { LAYOUT_PLAIN, LAYOUT_CHANNELS_LAST, LAYOUTS } convert_layout;

typedef struct convert_value {
  int real[LAYOUTS], quant[LAYOUTS];  // tensors of the new graph, or GRAPH_NONE
  float scale;                        // of the int8 forms
  int32_t zero;
  int flat;               // int8, an image with channels last as one row: [N, H*W*C]; or GRAPH_NONE
  int64_t flat_channels;  // C of it
} convert_value;

// A product and what is done to its sums, in this order: gain, bias, residual, relu and limit.
typedef struct convert_chain {
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
} convert_chain;

typedef struct converter {
  const graph *model;
  const quantise_pins *pins;
  const quantise_ranges *ranges;
  const quantise_options *options;
  wf_diag *diag;
  wf_arena *arena;  // of the plan
  rewrite_index index;
  // by node
  int *chain_of;  // the chain that it is part of, or GRAPH_NONE
  convert_chain *chains;
  size_t chain_count, chain_room;
  // by tensor
  int *derived;  // the tensor of which it is a function of each element, or GRAPH_NONE
  float *scale;
  int32_t *zero;
  convert_value *values;
  // the new graph
  graph *out;
  struct convert_weights *weights;  // already converted
  size_t weight_count, weight_room;
} converter;

// plan.c
void convert_plan(converter *c);
bool convert_is_elementwise(const graph *g, const graph_node *node);

// forms.c
bool convert_has_quant(const converter *c, int tensor);  // without a Quantize
bool convert_is_last(const converter *c, int tensor);    // exists with its channels last
int convert_quant(converter *c, int tensor, convert_layout layout);
int convert_quant_at(converter *c, int tensor, convert_layout layout, float scale, int32_t zero);
int convert_real(converter *c, int tensor, convert_layout layout);  // also integers, as they are
void convert_set_quant(converter *c, int tensor, convert_layout layout, int form, float scale, int32_t zero);
// A tensor of the new graph for a tensor of the model, and of its shape in that layout.
int convert_new(converter *c, int tensor, const char *suffix, graph_type type, convert_layout layout);
int convert_constant(converter *c, const char *name, graph_type type, int rank, const int64_t *dims, const void *data);
graph_node *convert_emit(converter *c, graph_op op, const char *name, const int *inputs, int count, int output);
void convert_copy_attributes(converter *c, graph_node *to, const graph_node *from);
int convert_lut(converter *c, int form, int model_tensor, convert_layout layout, const int8_t table[256]);
void convert_requantise_table(float from, int32_t from_zero, float to, int32_t to_zero, int8_t table[256]);

// table.c: what `tensor` (derived) becomes for each of the 256 values of the tensor that it is a function of.
bool convert_table(converter *c, int tensor, float scale, int32_t zero, int8_t table[256]);
bool convert_real_table(converter *c, int tensor, float table[256]);

// product.c
float convert_weight_scale(const converter *c, const graph_node *node);
void convert_emit_chain(converter *c, const convert_chain *chain);
bool convert_is_product(const converter *c, const graph_node *node);

// move.c: operators that move int8 numbers, pooling, sums. False: not theirs.
bool convert_move(converter *c, const graph_node *node);
bool convert_pool(converter *c, const graph_node *node);
bool convert_add(converter *c, const graph_node *node);

// rows.c: softmax and normalisation
bool convert_rows(converter *c, const graph_node *node);

// The dimension of an image's dimension with the channels last.
static inline int convert_axis(int axis) { return axis == 0 ? 0 : axis == 1 ? 3 : axis - 1; }

#endif
