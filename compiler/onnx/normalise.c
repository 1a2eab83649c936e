// SPDX-License-Identifier: Apache-2.0
// Older forms of operators, brought to opset 17: the first row of an operator whose opset is above the file's applies.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/element.h"
#include "compiler/onnx/private.h"

const graph_tensor *onnx_input(const onnx_reader *r, const onnx_node *n, int at) {
  return at < n->input_count && n->inputs[at] != GRAPH_NONE ? &r->g->tensors[n->inputs[at]] : NULL;
}

bool onnx_set_input(onnx_reader *r, onnx_node *n, int at, int tensor) {
  if (at >= ONNX_INPUTS_MAX) return onnx_node_fail(r, n, "it has too many inputs");
  while (n->input_count <= at) n->inputs[n->input_count++] = GRAPH_NONE;
  n->inputs[at] = tensor;
  return true;
}

// A constant in the graph's arena as input `at`; its data is copied.
bool onnx_constant_input(onnx_reader *r, onnx_node *n, int at, const char *what, graph_tensor t, const void *data) {
  size_t bytes = graph_bytes(&t);
  void *copy = wf_arena_alloc(r->g->arena, bytes + 1, 1);
  if (bytes != 0) memcpy(copy, data, bytes);
  t.data = copy;
  char *name = wf_format("%s.%s", n->name, what);
  int tensor = onnx_new_tensor(r, name, &t);
  wf_free(name);
  return onnx_set_input(r, n, at, tensor);
}

// ---- attributes that became inputs

static bool ints_to_input(onnx_reader *r, onnx_node *n, const char *name, int at) {
  const graph_attribute *a = graph_find_attribute(&n->to, name);
  if (a == NULL) return true;
  if (a->kind != GRAPH_INTS) return onnx_node_fail(r, n, "%s is no list of integers", name);
  const graph_tensor t = {.type = GRAPH_I64, .rank = 1, .dim = {a->count}};
  bool ok = onnx_constant_input(r, n, at, name, t, a->integers);
  graph_remove_attribute(&n->to, name);
  return ok;
}

// A number of the type of input 0.
static bool float_to_input(onnx_reader *r, onnx_node *n, const char *name, int at) {
  const graph_attribute *a = graph_find_attribute(&n->to, name);
  const graph_tensor *x = onnx_input(r, n, 0);
  double value;
  if (a == NULL || x == NULL) return true;
  if (a->kind != GRAPH_FLOAT) return onnx_node_fail(r, n, "%s is no number", name);
  graph_put_real(x->type, &value, 0, (double)a->number);
  bool ok = onnx_constant_input(r, n, at, name, (graph_tensor){.type = x->type}, &value);
  graph_remove_attribute(&n->to, name);
  return ok;
}

static bool clip(onnx_reader *r, onnx_node *n) {
  return float_to_input(r, n, "min", 1) && float_to_input(r, n, "max", 2);
}

static bool pad(onnx_reader *r, onnx_node *n) {
  return ints_to_input(r, n, "pads", 1) && float_to_input(r, n, "value", 2);
}

static bool slice(onnx_reader *r, onnx_node *n) {
  return ints_to_input(r, n, "starts", 1) && ints_to_input(r, n, "ends", 2) && ints_to_input(r, n, "axes", 3);
}

static bool axes(onnx_reader *r, onnx_node *n) { return ints_to_input(r, n, "axes", 1); }
static bool split(onnx_reader *r, onnx_node *n) { return ints_to_input(r, n, "split", 1); }

// Pad of opset 1 had another name for its pads.
static bool old_pad(onnx_reader *r, onnx_node *n) { return ints_to_input(r, n, "paddings", 1) && pad(r, n); }

static bool reshape(onnx_reader *r, onnx_node *n) { return ints_to_input(r, n, "shape", 1); }

static bool top_k(onnx_reader *r, onnx_node *n) {
  int64_t k = graph_int(&n->to, "k", -1);
  graph_remove_attribute(&n->to, "k");
  return onnx_constant_input(r, n, 1, "k", (graph_tensor){.type = GRAPH_I64, .rank = 1, .dim = {1}}, &k);
}

static bool dropout(onnx_reader *r, onnx_node *n) {
  if (r->opset < 7 && graph_int(&n->to, "is_test", 0) == 0) return onnx_node_fail(r, n, "it is in training mode");
  graph_remove_attribute(&n->to, "is_test");
  graph_remove_attribute(&n->to, "ratio");
  return true;
}

// ---- types: numbers of the file become names

static bool type_attribute(onnx_reader *r, onnx_node *n, const char *name) {
  const graph_attribute *a = graph_find_attribute(&n->to, name);
  graph_type type;
  if (a == NULL) return true;
  if (a->kind != GRAPH_INT || a->integer > INT32_MAX || a->integer < 0)
    return onnx_node_fail(r, n, "%s is no type", name);
  if (!onnx_type((int32_t)a->integer, &type))
    return onnx_node_fail(r, n, "type %s is not supported", onnx_type_name((int32_t)a->integer));
  graph_set_text(r->g, &n->to, name, graph_type_names[type]);
  return true;
}

// Before opset 6 types had names.
static bool old_cast(onnx_reader *r, onnx_node *n) {
  const char *name = graph_text(&n->to, "to", "");
  const ProtobufCEnumValue *value =
      protobuf_c_enum_descriptor_get_value_by_name(&onnx__tensor_proto__data_type__descriptor, name);
  if (value == NULL) return onnx_node_fail(r, n, "type '%s' is unknown", name);
  graph_set_int(r->g, &n->to, "to", value->value);
  return type_attribute(r, n, "to");
}

static bool cast(onnx_reader *r, onnx_node *n) { return type_attribute(r, n, "to"); }
static bool eye_like(onnx_reader *r, onnx_node *n) { return type_attribute(r, n, "dtype"); }
static bool window(onnx_reader *r, onnx_node *n) { return type_attribute(r, n, "output_datatype"); }

static bool cast_like(onnx_reader *r, onnx_node *n) {
  const graph_tensor *like = onnx_input(r, n, 1);
  if (like == NULL) return onnx_node_fail(r, n, "it has no input 1");
  graph_set_text(r->g, &n->to, "to", graph_type_names[like->type]);
  n->input_count = 1;
  return true;
}

// ---- others

static bool constant_of_shape(onnx_reader *r, onnx_node *n) {
  graph_tensor value;
  if (n->value == NULL) return true;
  if (!onnx_tensor(r, n->value, n->name, r->g->arena, &value)) return false;
  value.name = NULL;
  return onnx_constant_input(r, n, 1, "value", value, value.data);
}

// Resize of opset 10 and Upsample: scales are input 1.
static bool resize(onnx_reader *r, onnx_node *n) {
  const graph_attribute *scales = graph_find_attribute(&n->to, "scales");
  if (scales != NULL && scales->kind == GRAPH_FLOATS) {
    const graph_tensor t = {.type = GRAPH_F32, .rank = 1, .dim = {scales->count}};
    if (!onnx_constant_input(r, n, 1, "scales", t, scales->numbers)) return false;
    graph_remove_attribute(&n->to, "scales");
  }
  if (n->input_count < 2) return onnx_node_fail(r, n, "it has no scales");
  if (!onnx_set_input(r, n, 2, n->inputs[1])) return false;
  n->inputs[1] = GRAPH_NONE;
  if (strcmp(graph_text(&n->to, "mode", "nearest"), "bilinear") == 0) graph_set_text(r->g, &n->to, "mode", "linear");
  graph_set_text(r->g, &n->to, "coordinate_transformation_mode", "asymmetric");
  graph_set_text(r->g, &n->to, "nearest_mode", "floor");
  return true;
}

// Before opset 13 everything from the axis on is one dimension.
static bool softmax(onnx_reader *r, onnx_node *n) {
  const graph_tensor *x = onnx_input(r, n, 0);
  int64_t axis = graph_int(&n->to, "axis", 1);
  if (x == NULL) return true;
  if (axis < 0) axis += x->rank;
  if (axis == x->rank - 1 || axis < 0 || axis >= x->rank) {
    graph_set_int(r->g, &n->to, "axis", axis);
    return true;
  }
  graph_node flatten = {0};
  graph_set_int(r->g, &flatten, "axis", axis);
  n->restore = WF_ARENA_NEW(r->g->arena, graph_tensor);
  *n->restore = *x;
  int flat = onnx_insert(r, n, GRAPH_OP_FLATTEN, &flatten, n->inputs, 1);
  graph_set_int(r->g, &n->to, "axis", 1);
  return flat != GRAPH_NONE && onnx_set_input(r, n, 0, flat);
}

// Before opset 7 input 1 was broadcast on request only, and along given dimensions: ones are added behind its own.
static bool broadcast(onnx_reader *r, onnx_node *n) {
  const graph_tensor *a = onnx_input(r, n, 0), *b = onnx_input(r, n, 1);
  bool wanted = graph_int(&n->to, "broadcast", 0) != 0;
  if (a == NULL || b == NULL) return true;
  if (!wanted && !graph_same_shape(a, b)) return onnx_node_fail(r, n, "its inputs have different shapes");
  int64_t axis = graph_int(&n->to, "axis", a->rank - b->rank);
  if (axis < 0) axis += a->rank;
  graph_remove_attribute(&n->to, "broadcast");
  graph_remove_attribute(&n->to, "axis");
  int64_t behind = a->rank - b->rank - axis;
  if (!wanted || behind <= 0) return true;
  if (behind + b->rank > GRAPH_RANK_MAX) return onnx_node_fail(r, n, "its axis is outside of its shape");
  int64_t dim[GRAPH_RANK_MAX];
  for (int d = 0; d < GRAPH_RANK_MAX; d++) dim[d] = d < b->rank ? b->dim[d] : 1;
  const graph_tensor shape = {.type = GRAPH_I64, .rank = 1, .dim = {b->rank + behind}};
  int old = n->inputs[1];
  const graph_node none = {0};
  if (!onnx_constant_input(r, n, 1, "shape", shape, dim)) return false;
  int wide = onnx_insert(r, n, GRAPH_OP_RESHAPE, &none, (const int[]){old, n->inputs[1]}, 2);
  return wide != GRAPH_NONE && onnx_set_input(r, n, 1, wide);
}

// One slope per channel: its dimension is the second.
static bool prelu(onnx_reader *r, onnx_node *n) {
  const graph_tensor *a = onnx_input(r, n, 0), *b = onnx_input(r, n, 1);
  if (a == NULL || b == NULL || b->rank != 1 || b->dim[0] == 1) return true;
  graph_set_int(r->g, &n->to, "broadcast", 1);
  graph_set_int(r->g, &n->to, "axis", 1);
  return broadcast(r, n);
}

// Before opset 16 boxes were not moved by half a pixel.
static bool roi_align(onnx_reader *r, onnx_node *n) {
  graph_set_text(r->g, &n->to, "coordinate_transformation_mode", "output_half_pixel");
  return true;
}

// Statistics per image instead of per channel have gone with opset 9.
static bool batch_norm(onnx_reader *r, onnx_node *n) {
  if (r->opset < 7 && graph_int(&n->to, "is_test", 0) == 0) return onnx_node_fail(r, n, "it is in training mode");
  graph_remove_attribute(&n->to, "is_test");
  if (graph_int(&n->to, "spatial", 1) != 1) return onnx_node_fail(r, n, "spatial = 0 is not supported");
  graph_remove_attribute(&n->to, "spatial");
  return true;
}

// y = (x - mean) / (deviation + 1e-9) over axes (0, 2, 3)
static int mean_of(onnx_reader *r, const onnx_node *n, int x) {
  const int64_t by_default[] = {0, 2, 3};
  int64_t given[GRAPH_RANK_MAX];
  int count = graph_ints(&n->to, "axes", given, GRAPH_RANK_MAX);
  if (count > GRAPH_RANK_MAX) count = GRAPH_RANK_MAX;
  graph_node mean = {0};
  graph_set_ints(r->g, &mean, "axes", count != 0 ? given : by_default, count != 0 ? count : 3);
  return onnx_insert(r, n, GRAPH_OP_REDUCE_MEAN, &mean, &x, 1);
}

static int insert(onnx_reader *r, const onnx_node *n, graph_op op, int a, int b) {
  const graph_node none = {0};
  if (a == GRAPH_NONE || b == GRAPH_NONE) return GRAPH_NONE;
  return onnx_insert(r, n, op, &none, (const int[]){a, b}, op == GRAPH_OP_SQRT ? 1 : 2);
}

static bool mean_variance(onnx_reader *r, onnx_node *n) {
  const graph_tensor *x = onnx_input(r, n, 0);
  const float epsilon = 1e-9f;
  if (x == NULL || x->type != GRAPH_F32) return onnx_node_fail(r, n, "it takes one tensor of f32");
  int mean = mean_of(r, n, n->inputs[0]);
  int centred = insert(r, n, GRAPH_OP_SUB, n->inputs[0], mean);
  int square = insert(r, n, GRAPH_OP_MUL, centred, centred);
  int variance = square == GRAPH_NONE ? square : mean_of(r, n, square);
  int deviation = insert(r, n, GRAPH_OP_SQRT, variance, variance);
  if (deviation == GRAPH_NONE || !onnx_constant_input(r, n, 1, "epsilon", (graph_tensor){.type = GRAPH_F32}, &epsilon))
    return false;
  int divisor = insert(r, n, GRAPH_OP_ADD, deviation, n->inputs[1]);
  graph_remove_attribute(&n->to, "axes");
  return divisor != GRAPH_NONE && onnx_set_input(r, n, 0, centred) && onnx_set_input(r, n, 1, divisor);
}

// ---- the table

typedef bool normaliser(onnx_reader *r, onnx_node *n);

static const struct row {
  const char *op;
  const char *becomes;  // NULL: the same
  int before;           // applies to opsets below
  normaliser *apply;
} rows[] = {
    {"Add", NULL, 7, broadcast},
    {"And", NULL, 7, broadcast},
    {"BatchNormalization", NULL, 9, batch_norm},
    {"BlackmanWindow", NULL, 99, window},
    {"Cast", NULL, 6, old_cast},
    {"Cast", NULL, 99, cast},
    {"CastLike", "Cast", 99, cast_like},
    {"Clip", NULL, 11, clip},
    {"ConstantOfShape", NULL, 99, constant_of_shape},
    {"Div", NULL, 7, broadcast},
    {"Dropout", NULL, 12, dropout},
    {"Equal", NULL, 7, broadcast},
    {"EyeLike", NULL, 99, eye_like},
    {"Greater", NULL, 7, broadcast},
    {"HammingWindow", NULL, 99, window},
    {"HannWindow", NULL, 99, window},
    {"Hardmax", NULL, 13, softmax},
    {"Less", NULL, 7, broadcast},
    {"LogSoftmax", NULL, 13, softmax},
    {"MeanVarianceNormalization", "Div", 99, mean_variance},
    {"Mul", NULL, 7, broadcast},
    {"Or", NULL, 7, broadcast},
    {"PRelu", NULL, 7, prelu},
    {"Pad", NULL, 2, old_pad},
    {"Pad", NULL, 11, pad},
    {"Pow", NULL, 7, broadcast},
    {"ReduceSum", NULL, 13, axes},
    {"Reshape", NULL, 5, reshape},
    {"Resize", NULL, 11, resize},
    {"RoiAlign", NULL, 16, roi_align},
    {"Scatter", "ScatterElements", 99, NULL},
    {"Slice", NULL, 10, slice},
    {"Softmax", NULL, 13, softmax},
    {"Split", NULL, 13, split},
    {"Squeeze", NULL, 13, axes},
    {"Sub", NULL, 7, broadcast},
    {"TopK", NULL, 10, top_k},
    {"Unsqueeze", NULL, 13, axes},
    {"Upsample", "Resize", 99, resize},
    {"Xor", NULL, 7, broadcast},
};

bool onnx_is_supported(const char *op) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (strcmp(rows[i].op, op) == 0) return true;
  graph_op known = graph_find_op(op);
  return strcmp(op, "Constant") == 0 || (known != GRAPH_OP_COUNT && graph_op_info(known)->of_onnx);
}

graph_op onnx_normalise(onnx_reader *r, onnx_node *n) {
  const char *name = n->op;
  if (!onnx_newer(r, n)) return GRAPH_OP_COUNT;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(rows[i].op, n->op) != 0 || r->opset >= rows[i].before) continue;
    if (rows[i].apply != NULL && !rows[i].apply(r, n)) return GRAPH_OP_COUNT;
    if (rows[i].becomes != NULL) name = rows[i].becomes;
    break;
  }
  return graph_find_op(name);
}
