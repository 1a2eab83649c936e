// SPDX-License-Identifier: Apache-2.0
// The graph IR: operators on tensors of known shape, in an order in which they can be computed.
//
// A graph has three stages with one data structure. `model`: operators of ONNX (normalised to opset 17) on float or
// integer tensors, as read. `quantised`: products, convolutions and what surrounds them are Q operators on int8 tensors
// whose results are defined to the bit; what stays float lies between Dequantize and Quantize. `placed`: Q operators
// are fused, activations of images are NHWC, each node says where it runs and why.
//
// The meaning of a graph is what graph_run (run.h) does with it, in all three stages; it is plain loops and shares
// nothing with the accelerator. Shapes are numbers: dimensions that the model leaves open are set when it is read.
#ifndef COMPILER_GRAPH_GRAPH_H
#define COMPILER_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"

enum { GRAPH_RANK_MAX = 8, GRAPH_NONE = -1 };
#define GRAPH_ELEMENTS_MAX (UINT64_C(1) << 40)  // of one tensor
#define GRAPH_EMPTY_MAX (UINT64_C(1) << 24)     // product of the other dimensions of a tensor without elements

// X(NAME, text, bytes)
#define GRAPH_TYPES(X) \
  X(F32, "f32", 4)     \
  X(F64, "f64", 8)     \
  X(I8, "i8", 1)       \
  X(U8, "u8", 1)       \
  X(I16, "i16", 2)     \
  X(U16, "u16", 2)     \
  X(I32, "i32", 4)     \
  X(U32, "u32", 4)     \
  X(I64, "i64", 8)     \
  X(U64, "u64", 8)     \
  X(BOOL, "bool", 1)
typedef enum {
#define X(NAME, text, bytes) GRAPH_##NAME,
  GRAPH_TYPES(X)
#undef X
      GRAPH_TYPE_COUNT
} graph_type;
size_t graph_type_bytes(graph_type type);
extern const char *const graph_type_names[GRAPH_TYPE_COUNT];

// Operators: ops.def has a row for each, with the number of its inputs and outputs and whether it is of ONNX.
typedef enum {
#define GRAPH_OP(NAME, text, ...) GRAPH_OP_##NAME,
#include "compiler/graph/ops.def"
#undef GRAPH_OP
  GRAPH_OP_COUNT
} graph_op;
typedef struct graph_op_row {
  const char *name;
  int least_inputs, most_inputs, least_outputs, most_outputs;
  bool of_onnx;
} graph_op_row;
const graph_op_row *graph_op_info(graph_op op);
const char *graph_op_name(graph_op op);
graph_op graph_find_op(const char *name);  // or GRAPH_OP_COUNT

typedef struct graph_tensor {
  const char *name;  // unique; "" never
  graph_type type;
  int rank;
  int64_t dim[GRAPH_RANK_MAX];
  const void *data;  // of a constant, row by row, little-endian; NULL: an activation or an input
  // Of an int8 tensor that stands for real numbers: value = scale * (q - zero). scale 0: plain numbers.
  float scale;
  int32_t zero;
} graph_tensor;

// Attributes by ONNX's names.
typedef enum { GRAPH_INT, GRAPH_FLOAT, GRAPH_TEXT, GRAPH_INTS, GRAPH_FLOATS } graph_attribute_kind;
typedef struct graph_attribute {
  const char *name;
  graph_attribute_kind kind;
  int64_t integer;
  float number;
  const char *text;
  const int64_t *integers;
  const float *numbers;
  int count;  // of integers or numbers
} graph_attribute;

typedef enum { GRAPH_UNPLACED, GRAPH_ON_ARRAY, GRAPH_ON_HOST } graph_place;

typedef struct graph_node {
  graph_op op;
  const char *name;  // unique
  int *inputs;       // tensors; GRAPH_NONE: an optional one that is left out
  int input_count;
  int *outputs;
  int output_count;
  graph_attribute *attributes;
  int attribute_count, attribute_room;
  graph_place place;
  const char *reason;  // of its place: "group of one channel", "no such unit"; NULL: none needed
} graph_node;

struct graph_names;

typedef struct graph {
  wf_arena *arena;
  struct graph_names *tensor_names, *node_names;  // of all of them; kept up by what follows
  const char *name;
  graph_tensor *tensors;
  int tensor_count;
  size_t tensor_room;
  graph_node *nodes;  // in an order in which they can be computed
  int node_count;
  size_t node_room;
  int *inputs, *outputs;  // tensors
  int input_count, output_count;
} graph;

// Adding a tensor or a node invalidates pointers to others.
graph *graph_create(const char *name);
void graph_destroy(graph *g);
int graph_add_tensor(graph *g, const graph_tensor *tensor);  // copies the name, not the data
graph_node *graph_add_node(graph *g, graph_op op, const char *name, const int *inputs, int input_count,
                           const int *outputs, int output_count);
void graph_rename_tensor(graph *g, int tensor, const char *name);  // copies the name
// After nodes or tensors were taken out of the arrays by hand.
void graph_index_nodes(graph *g);
void graph_index_tensors(graph *g);
void graph_set_ends(graph *g, const int *inputs, int input_count, const int *outputs, int output_count);

int graph_find_tensor(const graph *g, const char *name);  // or GRAPH_NONE
int64_t graph_elements(const graph_tensor *tensor);
size_t graph_bytes(const graph_tensor *tensor);
bool graph_count_elements(int rank, const int64_t *dim, int64_t *elements);  // false: negative or too many
bool graph_same_shape(const graph_tensor *a, const graph_tensor *b);

const graph_attribute *graph_find_attribute(const graph_node *node, const char *name);
int64_t graph_int(const graph_node *node, const char *name, int64_t by_default);
float graph_float(const graph_node *node, const char *name, float by_default);
const char *graph_text(const graph_node *node, const char *name, const char *by_default);
// Copies at most `room` integers; the number that there are (0: no such attribute).
int graph_ints(const graph_node *node, const char *name, int64_t *values, int room);
int graph_floats(const graph_node *node, const char *name, float *values, int room);
void graph_set_int(graph *g, graph_node *node, const char *name, int64_t value);
void graph_set_float(graph *g, graph_node *node, const char *name, float value);
void graph_set_text(graph *g, graph_node *node, const char *name, const char *value);
void graph_set_ints(graph *g, graph_node *node, const char *name, const int64_t *values, int count);
void graph_set_floats(graph *g, graph_node *node, const char *name, const float *values, int count);
void graph_remove_attribute(graph_node *node, const char *name);

// The text form. Constants of more than a few elements are printed as a digest, or in hexadecimal if `all`; only
// the latter reads back.
void graph_print(const graph *g, bool all, FILE *out);
graph *graph_parse(const char *file, const char *text, size_t length, wf_diag *diag);

// Names unique, tensors made once and before their use, types and shapes as the operators say. Reports each violation.
bool graph_verify(const graph *g, wf_diag *diag);

#endif
