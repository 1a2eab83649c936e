// SPDX-License-Identifier: Apache-2.0
// Whether a graph can lie in main memory: see network.h.
#include <inttypes.h>

#include "compiler/network/network.h"

// Floats may become int8.
static uint64_t least_bytes(const graph_tensor *t) {
  return (uint64_t)graph_elements(t) * (t->type == GRAPH_F32 || t->type == GRAPH_F64 ? 1 : graph_type_bytes(t->type));
}

static uint64_t constant_bytes(const graph *g) {
  uint64_t sum = 0;
  for (int t = 0; t < g->tensor_count; t++)
    if (g->tensors[t].data != NULL) sum += least_bytes(&g->tensors[t]);
  return sum;
}

static uint64_t bytes_of(const graph *g, int tensor) {
  return tensor == GRAPH_NONE || g->tensors[tensor].data != NULL ? 0 : least_bytes(&g->tensors[tensor]);
}

static bool is_repeated(const int *tensors, int at) {
  for (int i = 0; i < at; i++)
    if (tensors[i] == tensors[at]) return true;
  return false;
}

// Of a node's operands, each once; of long lists the largest will do.
static uint64_t operand_bytes(const graph *g, const int *tensors, int count) {
  enum { SHORT = 16 };
  uint64_t sum = 0, largest = 0;
  for (int i = 0; i < count; i++) {
    const uint64_t bytes = bytes_of(g, tensors[i]);
    if (bytes > largest) largest = bytes;
    if (count <= SHORT && !is_repeated(tensors, i)) sum += bytes;
  }
  return count <= SHORT ? sum : largest;
}

static bool fits(const graph *g, const hw_array *array, uint64_t constants, uint64_t others, const char *what,
                 wf_diag *diag) {
  const uint64_t size = (uint64_t)array->memory.capacity_mib << 20;
  if (constants <= size && others <= size - constants) return true;
  wf_error(diag, wf_in_file(g->name),
           "%s: at least %" PRIu64 " bytes, and weights of at least %" PRIu64
           " bytes, do not fit in main memory of %u MiB",
           what, others, constants, array->memory.capacity_mib);
  wf_hint(diag, "raise memory.capacity_mib of the array");
  return false;
}

static uint64_t end_bytes(const graph *g, const int *ends, int count, bool int8) {
  uint64_t sum = 0;
  for (int i = 0; i < count; i++)
    sum += int8 || bytes_of(g, ends[i]) == 0 ? bytes_of(g, ends[i]) : graph_bytes(&g->tensors[ends[i]]);
  return sum;
}

bool network_check_size(const graph *g, const hw_array *array, bool int8_ends, wf_diag *diag) {
  const uint64_t constants = constant_bytes(g);
  if (!fits(g, array, constants, end_bytes(g, g->inputs, g->input_count, int8_ends), "inputs", diag)) return false;
  if (!fits(g, array, constants, end_bytes(g, g->outputs, g->output_count, int8_ends), "outputs", diag)) return false;
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    // Names of the same bytes take no room of their own.
    const uint64_t read = operand_bytes(g, node->inputs, node->input_count),
                   made = operand_bytes(g, node->outputs, node->output_count), most = read > made ? read : made;
    const bool computes = node->op == GRAPH_OP_MAT_MUL || node->op == GRAPH_OP_GEMM || node->op == GRAPH_OP_CONV ||
                          node->op == GRAPH_OP_QMAT_MUL || node->op == GRAPH_OP_QCONV;
    if (!fits(g, array, constants, computes ? read + made : most, node->name, diag)) return false;
  }
  return true;
}
