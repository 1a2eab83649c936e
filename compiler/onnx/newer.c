// SPDX-License-Identifier: Apache-2.0
// Forms of opsets 18 to 21, brought back to 17. What 17 cannot say is refused.
#include <inttypes.h>
#include <string.h>

#include "compiler/graph/element.h"
#include "compiler/onnx/private.h"

// A constant list of integers, as input; its length, or -1 after an error.
static int constant_list(onnx_reader *r, onnx_node *n, int at, int64_t *values) {
  const graph_tensor *t = onnx_input(r, n, at);
  if (t->data == NULL || t->rank > 1 || graph_is_real(t->type) || graph_elements(t) > GRAPH_RANK_MAX) {
    onnx_node_fail(r, n, "its input %d has to be a short constant list", at);
    return -1;
  }
  int count = (int)graph_elements(t);
  for (int i = 0; i < count; i++) values[i] = graph_int_at(t->type, t->data, (size_t)i);
  return count;
}

static bool refuse_flag(onnx_reader *r, onnx_node *n, const char *name) {
  int64_t value = graph_int(&n->to, name, 0);
  graph_remove_attribute(&n->to, name);
  return value == 0 || onnx_node_fail(r, n, "%s = %" PRId64 " is not supported", name, value);
}

// Positive axes of a tensor, from an attribute or input.
static bool check_axes(onnx_reader *r, onnx_node *n, int rank, int64_t *axes, int count) {
  for (int i = 0; i < count; i++) {
    if (axes[i] < -rank || axes[i] >= rank)
      return onnx_node_fail(r, n, "axis %" PRId64 " is outside of %d dimensions", axes[i], rank);
    if (axes[i] < 0) axes[i] += rank;
  }
  return true;
}

static bool reduce(onnx_reader *r, onnx_node *n) {
  int64_t axes[GRAPH_RANK_MAX];
  if (onnx_input(r, n, 1) == NULL) return true;
  int count = constant_list(r, n, 1, axes);
  if (count < 0) return false;
  if (count != 0) graph_set_ints(r->g, &n->to, "axes", axes, count);
  n->input_count = 1;
  return true;
}

static bool split(onnx_reader *r, onnx_node *n) {
  int64_t parts = graph_int(&n->to, "num_outputs", (int64_t)n->from->n_output);
  graph_remove_attribute(&n->to, "num_outputs");
  return parts == (int64_t)n->from->n_output ||
         onnx_node_fail(r, n, "num_outputs is %" PRId64 " of %zu", parts, n->from->n_output);
}

// Pads of some axes (input 3) become pads of all.
static bool pad(onnx_reader *r, onnx_node *n) {
  const graph_tensor *x = onnx_input(r, n, 0), *pads = onnx_input(r, n, 1);
  int64_t axes[GRAPH_RANK_MAX], all[2 * GRAPH_RANK_MAX] = {0};
  if (onnx_input(r, n, 3) == NULL) return true;
  int count = constant_list(r, n, 3, axes);
  if (count < 0) return false;
  if (x == NULL || pads == NULL || pads->data == NULL || pads->type != GRAPH_I64 || graph_elements(pads) != 2 * count)
    return onnx_node_fail(r, n, "its pads do not fit its axes");
  if (!check_axes(r, n, x->rank, axes, count)) return false;
  for (int i = 0; i < count; i++) {
    all[axes[i]] = ((const int64_t *)pads->data)[i];
    all[axes[i] + x->rank] = ((const int64_t *)pads->data)[count + i];
  }
  const graph_tensor t = {.type = GRAPH_I64, .rank = 1, .dim = {2 * x->rank}};
  n->input_count = 3;
  return onnx_constant_input(r, n, 1, "pads", t, all);
}

// Scales (input 2) or sizes (input 3) of some axes become those of all.
static bool widen(onnx_reader *r, onnx_node *n, int at, const int64_t *axes, int count) {
  const graph_tensor *given = onnx_input(r, n, at);
  graph_tensor x = *onnx_input(r, n, 0), t = {.rank = 1, .dim = {x.rank}};
  int64_t sizes[GRAPH_RANK_MAX];
  float scales[GRAPH_RANK_MAX];
  if (given == NULL || graph_elements(given) == 0) return true;
  t.type = given->type;
  if (given->data == NULL || graph_elements(given) != count || given->type != (at == 2 ? GRAPH_F32 : GRAPH_I64))
    return onnx_node_fail(r, n, "its input %d does not fit its axes", at);
  for (int d = 0; d < x.rank; d++) sizes[d] = x.dim[d], scales[d] = 1;
  for (int i = 0; i < count; i++) {
    sizes[axes[i]] = graph_int_at(given->type, given->data, (size_t)i);
    scales[axes[i]] = (float)graph_real_at(given->type, given->data, (size_t)i);
  }
  return onnx_constant_input(r, n, at, "all", t, at == 2 ? (const void *)scales : (const void *)sizes);
}

static bool resize(onnx_reader *r, onnx_node *n) {
  const graph_tensor *x = onnx_input(r, n, 0);
  int64_t axes[GRAPH_RANK_MAX];
  int count = graph_ints(&n->to, "axes", axes, GRAPH_RANK_MAX);
  if (!refuse_flag(r, n, "antialias")) return false;
  if (strcmp(graph_text(&n->to, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
    return onnx_node_fail(r, n, "its keep_aspect_ratio_policy is not supported");
  graph_remove_attribute(&n->to, "keep_aspect_ratio_policy");
  if (count == 0 || x == NULL) return true;
  if (count > GRAPH_RANK_MAX || onnx_input(r, n, 1) != NULL) return onnx_node_fail(r, n, "its axes are not supported");
  graph_remove_attribute(&n->to, "axes");
  return check_axes(r, n, x->rank, axes, count) && widen(r, n, 2, axes, count) && widen(r, n, 3, axes, count);
}

static bool dequantize(onnx_reader *r, onnx_node *n) { return refuse_flag(r, n, "block_size"); }

// Without a zero point the type of the result may be an attribute.
static bool quantize(onnx_reader *r, onnx_node *n) {
  const graph_tensor *scale = onnx_input(r, n, 1);
  int64_t code = graph_int(&n->to, "output_dtype", 0);
  graph_type type;
  if (!refuse_flag(r, n, "block_size")) return false;
  graph_remove_attribute(&n->to, "output_dtype");
  if (code == 0 || scale == NULL || onnx_input(r, n, 2) != NULL) return true;
  if (code > INT32_MAX || !onnx_type((int32_t)code, &type))
    return onnx_node_fail(r, n, "its output_dtype is not supported");
  graph_tensor zero = *scale;
  zero.type = type;
  void *data = wf_arena_alloc(r->g->arena, graph_bytes(&zero) + 1, 1);
  return onnx_constant_input(r, n, 2, "zero", zero, data);
}

static bool grid_sample(onnx_reader *r, onnx_node *n) {
  const char *mode = graph_text(&n->to, "mode", "linear");
  if (strcmp(mode, "linear") == 0) graph_set_text(r->g, &n->to, "mode", "bilinear");
  if (strcmp(mode, "cubic") == 0) graph_set_text(r->g, &n->to, "mode", "bicubic");
  return true;
}

static const struct row {
  const char *op;
  int since;
  bool (*apply)(onnx_reader *r, onnx_node *n);
} rows[] = {
    {"DequantizeLinear", 21, dequantize}, {"GridSample", 20, grid_sample}, {"Pad", 18, pad},
    {"QuantizeLinear", 21, quantize},     {"ReduceL1", 18, reduce},        {"ReduceL2", 18, reduce},
    {"ReduceLogSum", 18, reduce},         {"ReduceLogSumExp", 18, reduce}, {"ReduceMax", 18, reduce},
    {"ReduceMean", 18, reduce},           {"ReduceMin", 18, reduce},       {"ReduceProd", 18, reduce},
    {"ReduceSumSquare", 18, reduce},      {"Resize", 18, resize},          {"Split", 18, split},
};

bool onnx_newer(onnx_reader *r, onnx_node *n) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (strcmp(rows[i].op, n->op) == 0 && r->opset >= rows[i].since) return rows[i].apply(r, n);
  return true;
}
