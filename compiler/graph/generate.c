// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors from little or nothing: Range, ConstantOfShape, OneHot, EyeLike, Trilu, windows.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

static void fill(void *to, const void *value, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; i++) graph_copy(to, i, 1, value, 0, 1, 1, size);
}

// ---- ConstantOfShape: input 1 is the value (in ONNX an attribute)

bool graph_infer_constant_of_shape(graph_call *c) {
  int64_t dim[GRAPH_RANK_MAX];
  int rank = graph_call_values(c, 0, dim, GRAPH_RANK_MAX);
  if (rank < 0) return false;
  if (c->in[1] != NULL && graph_elements(c->in[1]) != 1) return graph_call_fail(c, "its value has to be one number");
  return graph_call_result(c, 0, c->in[1] != NULL ? c->in[1]->type : GRAPH_F32, rank, dim);
}

bool graph_run_constant_of_shape(graph_call *c) {
  const uint64_t zero = 0;
  fill(c->to[0], c->in[1] != NULL ? c->in[1]->data : &zero, graph_elements(c->out[0]),
       graph_type_bytes(c->out[0]->type));
  return true;
}

// ---- Range

bool graph_infer_range(graph_call *c) {
  double value[3];
  for (int i = 0; i < 3; i++) {
    if (!graph_is_constant(c->in[i]) || graph_elements(c->in[i]) != 1 || c->in[i]->type != c->in[0]->type)
      return graph_call_fail(c, "it needs three constant numbers of one type");
    value[i] = graph_real_at(c->in[i]->type, c->in[i]->data, 0);
  }
  double count = ceil((value[1] - value[0]) / value[2]);
  if (isnan(count) || count >= 0x1p40) return graph_call_fail(c, "its numbers give no range");
  return graph_call_result(c, 0, c->in[0]->type, 1, &(int64_t){count > 0 ? (int64_t)count : 0});
}

bool graph_run_range(graph_call *c) {
  graph_type type = c->out[0]->type;
  int64_t first = graph_int_at(type, c->in[0]->data, 0), by = graph_int_at(type, c->in[2]->data, 0);
  double start = graph_real_at(type, c->in[0]->data, 0), delta = graph_real_at(type, c->in[2]->data, 0);
  for (int64_t i = 0, n = graph_elements(c->out[0]); i < n; i++) {
    if (graph_is_real(type))
      graph_put_real(type, c->to[0], (size_t)i, start + (double)i * delta);
    else
      graph_put_int(type, c->to[0], (size_t)i, (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)by));
  }
  return true;
}

// ---- OneHot

static bool one_hot_axis(graph_call *c, int *axis) {
  return graph_call_axis(c, graph_int(c->node, "axis", -1), c->in[0]->rank + 1, axis);
}

bool graph_infer_one_hot(graph_call *c) {
  const graph_tensor *indices = c->in[0], *depth = c->in[1], *values = c->in[2];
  int64_t dim[GRAPH_RANK_MAX + 1];
  int axis;
  if (!graph_is_constant(depth) || graph_elements(depth) != 1 || graph_elements(values) != 2)
    return graph_call_fail(c, "it needs one constant depth and two values");
  if (!one_hot_axis(c, &axis)) return false;
  for (int d = 0; d <= indices->rank; d++)
    dim[d] = d == axis ? graph_int_at(depth->type, depth->data, 0) : indices->dim[d - (d > axis)];
  return graph_call_result(c, 0, values->type, indices->rank + 1, dim);
}

bool graph_run_one_hot(graph_call *c) {
  const graph_tensor *indices = c->in[0], *values = c->in[2], *y = c->out[0];
  int axis;
  if (!one_hot_axis(c, &axis)) return false;
  int64_t depth = y->dim[axis], inner = graph_product(y->dim, axis + 1, y->rank);
  size_t size = graph_type_bytes(y->type);
  fill(c->to[0], values->data, graph_elements(y), size);
  for (int64_t i = 0, n = graph_elements(indices); i < n; i++) {
    int64_t index = graph_int_at(indices->type, indices->data, (size_t)i);
    if (index < -depth || index >= depth) continue;
    if (index < 0) index += depth;
    graph_copy(c->to[0], (i / inner * depth + index) * inner + i % inner, 1, values->data, 1, 1, 1, size);
  }
  return true;
}

// ---- EyeLike: the reader gives the type's name

bool graph_infer_eye_like(graph_call *c) {
  const char *name = graph_text(c->node, "dtype", graph_type_names[c->in[0]->type]);
  if (c->in[0]->rank != 2) return graph_call_fail(c, "it takes matrices");
  for (int type = 0; type < GRAPH_TYPE_COUNT; type++)
    if (strcmp(name, graph_type_names[type]) == 0) return graph_call_result(c, 0, (graph_type)type, 2, c->in[0]->dim);
  return graph_call_fail(c, "type '%s' is unknown", name);
}

bool graph_run_eye_like(graph_call *c) {
  const graph_tensor *y = c->out[0];
  int64_t k = graph_int(c->node, "k", 0);
  for (int64_t i = 0; i < y->dim[0]; i++)
    for (int64_t j = 0; j < y->dim[1]; j++) graph_put_int(y->type, c->to[0], (size_t)(i * y->dim[1] + j), j - i == k);
  return true;
}

// ---- Trilu: the rest is zero

bool graph_infer_trilu(graph_call *c) {
  if (c->in[0]->rank < 2) return graph_call_fail(c, "it takes matrices");
  if (c->in[1] != NULL && (c->in[1]->type != GRAPH_I64 || graph_elements(c->in[1]) != 1))
    return graph_call_fail(c, "its diagonal has to be one i64");
  return graph_call_like(c, 0, 0);
}

bool graph_run_trilu(graph_call *c) {
  const graph_tensor *y = c->out[0];
  bool upper = graph_int(c->node, "upper", 1) != 0;
  int64_t k = c->in[1] != NULL ? graph_int_at(GRAPH_I64, c->in[1]->data, 0) : 0;
  int64_t rows = y->dim[y->rank - 2], columns = y->dim[y->rank - 1];
  size_t size = graph_type_bytes(y->type);
  memcpy(c->to[0], c->in[0]->data, graph_bytes(y));
  for (int64_t at = 0, n = graph_elements(y); at < n; at++) {
    int64_t distance = at % columns - at / columns % rows;
    if (upper ? distance < k : distance > k) memset((char *)c->to[0] + (size_t)at * size, 0, size);
  }
  return true;
}

// ---- windows of signal processing

bool graph_infer_window(graph_call *c) {
  int64_t size;
  if (graph_call_values(c, 0, &size, 1) != 1) return graph_call_fail(c, "it needs one constant size");
  const char *name = graph_text(c->node, "output_datatype", "f32");
  return graph_call_result(c, 0, strcmp(name, "f64") == 0 ? GRAPH_F64 : GRAPH_F32, 1, &size);
}

bool graph_run_window(graph_call *c) {
  graph_op op = c->node->op;
  int64_t size = c->out[0]->dim[0];
  double period = (double)(graph_int(c->node, "periodic", 1) != 0 ? size : size - 1);
  double a = op == GRAPH_OP_HANN_WINDOW ? 0.5 : op == GRAPH_OP_HAMMING_WINDOW ? 25.0 / 46 : 0.42;
  double b = op == GRAPH_OP_HANN_WINDOW ? 0.5 : op == GRAPH_OP_HAMMING_WINDOW ? 21.0 / 46 : 0.5;
  double d = op == GRAPH_OP_BLACKMAN_WINDOW ? 0.08 : 0;
  for (int64_t i = 0; i < size; i++) {
    double phase = 2 * M_PI * (double)i / period;
    graph_put_real(c->out[0]->type, c->to[0], (size_t)i, a - b * cos(phase) + d * cos(2 * phase));
  }
  return true;
}
