// SPDX-License-Identifier: Apache-2.0
// Compares what a node left in memory with what the interpreter of the graph says: every byte of integers; numbers of
// floating point within a tolerance, because the hart's functions are other ones than the C library's. Then the
// interpreter goes on with the hart's numbers, so that differences do not add up and everything that is quantised from
// them is exact again.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "runner/machine.h"

static const double tolerance = 3e-5;  // of the largest magnitude in the tensor

static void note(run_network_result *result, int step, int tensor, uint64_t element, double expected, double found) {
  if (result->wrong++ == 0) result->first = (run_mismatch){step, tensor, element, expected, found};
}

static double integer_at(graph_type type, const void *values, uint64_t i) {
  switch (type) {
    case GRAPH_I8:
      return ((const int8_t *)values)[i];
    case GRAPH_I16:
      return ((const int16_t *)values)[i];
    case GRAPH_U16:
      return ((const uint16_t *)values)[i];
    case GRAPH_I32:
      return ((const int32_t *)values)[i];
    case GRAPH_U32:
      return ((const uint32_t *)values)[i];
    case GRAPH_U64:
      return (double)((const uint64_t *)values)[i];
    case GRAPH_I64:
      return (double)((const int64_t *)values)[i];
    default:
      return ((const uint8_t *)values)[i];
  }
}

static void compare_integers(run_network_result *result, int step, int tensor, const graph_tensor *t,
                             const uint8_t *want, const uint8_t *found) {
  const size_t bytes = graph_bytes(t), each = graph_type_bytes(t->type);
  result->compared += bytes;
  if (memcmp(want, found, bytes) == 0) return;
  for (size_t at = 0; at < bytes; at++) {
    if (want[at] == found[at]) continue;
    const uint64_t element = at / each;
    note(result, step, tensor, element, integer_at(t->type, want, element), integer_at(t->type, found, element));
  }
}

#define COMPARE_NUMBERS(type)                                                                                     \
  static void compare_##type(run_network_result *result, int step, int tensor, const graph_tensor *t, type *want, \
                             const type *found) {                                                                 \
    const uint64_t count = (uint64_t)graph_elements(t);                                                           \
    double largest = 1e-30;                                                                                       \
    for (uint64_t i = 0; i < count; i++)                                                                          \
      if (fabs((double)want[i]) > largest && isfinite(want[i])) largest = fabs((double)want[i]);                  \
    for (uint64_t i = 0; i < count; i++) {                                                                        \
      const double x = (double)want[i], y = (double)found[i];                                                     \
      if (want[i] == found[i] || (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance * largest) continue;          \
      note(result, step, tensor, i, x, y);                                                                        \
    }                                                                                                             \
    result->compared += count * sizeof *want;                                                                     \
    memcpy(want, found, (size_t)count * sizeof *want);                                                            \
  }
COMPARE_NUMBERS(float)
COMPARE_NUMBERS(double)

void run_check_node(const run_machine *m, const graph_node *node, int step, void *const *values,
                    run_network_result *result) {
  for (int o = 0; o < node->output_count; o++) {
    const int tensor = node->outputs[o];
    if (tensor == GRAPH_NONE || values[tensor] == NULL || m->net->tensors[tensor].buffer < 0) continue;
    const graph_tensor *t = &m->net->graph->tensors[tensor];
    void *found = wf_alloc(graph_bytes(t), 1);
    run_machine_take(m, tensor, found);
    if (t->type == GRAPH_F32)
      compare_float(result, step, tensor, t, values[tensor], found);
    else if (t->type == GRAPH_F64)
      compare_double(result, step, tensor, t, values[tensor], found);
    else
      compare_integers(result, step, tensor, t, values[tensor], found);
    wf_free(found);
  }
}
