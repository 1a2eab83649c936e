// SPDX-License-Identifier: Apache-2.0
// The reader composes operators that the graph lacks of operators that it has. A function for each takes a node of the
// file and adds nodes to the graph; their tensors are the results of the file's node.
#ifndef COMPILER_ONNX_COMPOSE_H
#define COMPILER_ONNX_COMPOSE_H

#include "compiler/onnx/private.h"

enum { ONNX_RESULTS_MAX = 4 };

typedef struct onnx_composer {
  onnx_reader *r;
  onnx_node *n;
  bool failed;  // the reason was reported; what is asked for afterwards is GRAPH_NONE and adds nothing
  int results[ONNX_RESULTS_MAX];
} onnx_composer;

typedef struct onnx_composition {
  const char *op;
  int least_inputs, most_inputs, most_outputs;
  unsigned needed;  // inputs that may not be left out, by bit
  void (*compose)(onnx_composer *c);
} onnx_composition;

// The one of an operator of that domain ("": ONNX's own), or NULL.
const onnx_composition *onnx_find_composition(const char *domain, const char *op, const graph_node *attributes);
// Of the domain com.microsoft: contrib.c.
const onnx_composition *onnx_find_contrib(const char *op);
// Adds the nodes and names their tensors as the node's results.
bool onnx_compose(onnx_reader *r, onnx_node *n, const onnx_composition *composition);

void onnx_compose_fail(onnx_composer *c, const char *format, ...) WF_PRINTF(2, 3);
const graph_tensor *onnx_compose_tensor(const onnx_composer *c, int tensor);
// Input `at`; GRAPH_NONE: left out.
int onnx_compose_input(const onnx_composer *c, int at);
// A node with `count` inputs (a last one may be GRAPH_NONE) and one result; attributes: or NULL.
int onnx_compose_node(onnx_composer *c, graph_op op, const graph_node *attributes, const int *inputs, int count);
int onnx_compose_unary(onnx_composer *c, graph_op op, int x);
int onnx_compose_binary(onnx_composer *c, graph_op op, int a, int b);
// Constants: their data is copied.
int onnx_compose_constant(onnx_composer *c, graph_type type, int rank, const int64_t *dim, const void *data);
// One number without dimensions.
int onnx_compose_number(onnx_composer *c, graph_type type, double value);
int onnx_compose_integer(onnx_composer *c, graph_type type, int64_t value);
int onnx_compose_reshape(onnx_composer *c, int x, int rank, const int64_t *dim);
// With one attribute.
int onnx_compose_along(onnx_composer *c, graph_op op, int x, int64_t axis);  // `axis`
int onnx_compose_cast(onnx_composer *c, int x, graph_type type);

#endif
