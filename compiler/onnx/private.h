// SPDX-License-Identifier: Apache-2.0
// What the files of the reader share.
#ifndef COMPILER_ONNX_PRIVATE_H
#define COMPILER_ONNX_PRIVATE_H

#include "compiler/graph/names.h"
#include "compiler/graph/run.h"
#include "compiler/onnx/onnx.h"
#include "onnx.pb-c.h"

// Names in the file to tensors: of the graph, and of each branch of an If beside what stands around it.
typedef struct onnx_scope {
  graph_names *names;
  struct onnx_scope *around;
} onnx_scope;

typedef struct onnx_reader {
  const char *path, *folder;  // folder: of external data, NULL: none
  const onnx_options *options;
  wf_diag *diag;
  graph *g;
  onnx_scope *scope;
  graph_names *tensors, *nodes;  // names that are taken in the graph
  int64_t opset;
  size_t folded_bytes;  // so far
} onnx_reader;

bool onnx_fail(onnx_reader *r, const char *format, ...) WF_PRINTF(2, 3);

// ---- file.c

typedef struct onnx_file {
  void *bytes;
  size_t length;
} onnx_file;
bool onnx_file_open(const char *path, onnx_file *file, wf_diag *diag);
void onnx_file_close(onnx_file *file);
// Whether messages are nested so little that they can be read recursively.
bool onnx_is_shallow(const ProtobufCMessageDescriptor *message, const uint8_t *bytes, size_t length);

// ---- tensor.c

bool onnx_type(int32_t code, graph_type *type);
int32_t onnx_type_code(graph_type type);
const char *onnx_type_name(int32_t code);
// Data into the arena; `what` is for messages. Frees the message's raw data.
bool onnx_tensor(onnx_reader *r, Onnx__TensorProto *from, const char *what, wf_arena *arena, graph_tensor *to);

// ---- read.c: a node on its way into the graph

enum { ONNX_INPUTS_MAX = 1024 };
typedef struct onnx_node {
  const Onnx__NodeProto *from;
  const char *op;            // as in the file
  const char *name;          // unique
  graph_node to;             // only its attributes
  Onnx__TensorProto *value;  // of the attribute `value`
  graph_tensor *restore;     // the shape that the result gets back, or NULL
  int inputs[ONNX_INPUTS_MAX];
  int input_count;
} onnx_node;
bool onnx_node_fail(onnx_reader *r, const onnx_node *n, const char *format, ...) WF_PRINTF(3, 4);
// A node that stands before or behind one of the file, with one result, whose index it gives; GRAPH_NONE after an
// error.
int onnx_insert(onnx_reader *r, const onnx_node *n, graph_op op, const graph_node *attributes, const int *inputs,
                int input_count);

// Gives a tensor the name that the file has for result `o` of the node.
bool onnx_name_result(onnx_reader *r, const onnx_node *n, size_t o, int tensor);
bool onnx_resolve_inputs(onnx_reader *r, onnx_node *n);
bool onnx_read_nodes(onnx_reader *r, const Onnx__GraphProto *from);  // constants and nodes, into the scope

// ---- branch.c: If
bool onnx_branch(onnx_reader *r, onnx_node *n);

// ---- cut.c: the part of a file that is wanted

typedef struct onnx_cut {
  int output_count;
  const char **outputs;  // names of tensors
  graph_names *needed;   // by name, of tensors; NULL: all
  bool *keep;            // by node
} onnx_cut;
// Of the outputs that the options name, or all of the file.
bool onnx_cut_open(onnx_reader *r, const Onnx__GraphProto *from, onnx_cut *cut);
void onnx_cut_close(onnx_cut *cut);
// Behind the message that refuses a node: how the network could end in front of it.
void onnx_cut_hint(onnx_reader *r, const Onnx__NodeProto *node);

// ---- names.c

int onnx_find_value(const onnx_reader *r, const char *name);  // a tensor, by its name in the file; or GRAPH_NONE
// A name that begins with `base`, in the arena, from now on in the set.
const char *onnx_unique(onnx_reader *r, graph_names *taken, const char *base);
// A tensor whose name begins with `base`; only the names of a file's own tensors are found by onnx_find_value.
int onnx_new_tensor(onnx_reader *r, const char *base, const graph_tensor *tensor);
// A tensor that the file names.
int onnx_named_tensor(onnx_reader *r, const char *name, const graph_tensor *tensor);
// Result `o` of a node: where its name in the file was counted up, it has that of the node in the graph.
int onnx_named_result(onnx_reader *r, const onnx_node *n, size_t o);
// Outputs keep the names that the file gives them, also where a node was removed.
void onnx_name_outputs(onnx_reader *r, const onnx_cut *cut);

// ---- attribute.c
bool onnx_attributes(onnx_reader *r, onnx_node *n);

// ---- normalise.c

// The operator, with inputs and attributes as opset 17 has them; GRAPH_OP_COUNT after an error.
graph_op onnx_normalise(onnx_reader *r, onnx_node *n);
// For normalise.c and newer.c: input `at`, or NULL; a new input `at`; a constant with a copy of `data` as input `at`.
const graph_tensor *onnx_input(const onnx_reader *r, const onnx_node *n, int at);
bool onnx_set_input(onnx_reader *r, onnx_node *n, int at, int tensor);
bool onnx_constant_input(onnx_reader *r, onnx_node *n, int at, const char *what, graph_tensor t, const void *data);
// Forms of opsets behind 17 that 17 can express.
bool onnx_newer(onnx_reader *r, onnx_node *n);
// Whether there is an operator of this name in some opset that the graph can express.
bool onnx_is_supported(const char *op);

// ---- clean.c, pattern.c

// A node that gives its input 0 unchanged.
bool onnx_is_identity(const graph *g, const graph_node *node);
void onnx_patterns(graph *g);

#endif
