// SPDX-License-Identifier: Apache-2.0
// Writes a graph of stage `model` as an ONNX model of opset 17: what the reader turned into inputs, names or types is
// turned back. Q operators are ours alone and are refused.
#include <string.h>

#include "base/alloc.h"
#include "base/output.h"
#include "compiler/onnx/private.h"

// Everything of the messages is in one arena and dropped at once.
typedef struct writer {
  const graph *g;
  const char *path;
  wf_arena *arena;
  wf_diag *diag;
} writer;

#define NEW(w, type, init)                       \
  ({                                             \
    type *made = WF_ARENA_NEW((w)->arena, type); \
    init(made);                                  \
    made;                                        \
  })

static char *text(writer *w, const char *from) { return wf_arena_text(w->arena, from, strlen(from)); }

static Onnx__TensorProto *tensor(writer *w, const graph_tensor *t, const char *name) {
  Onnx__TensorProto *to = NEW(w, Onnx__TensorProto, onnx__tensor_proto__init);
  if (name != NULL) to->name = text(w, name);
  to->has_data_type = 1;
  to->data_type = onnx_type_code(t->type);
  to->n_dims = (size_t)t->rank;
  to->dims = WF_ARENA_ARRAY(w->arena, (size_t)t->rank, int64_t);
  memcpy(to->dims, t->dim, (size_t)t->rank * sizeof t->dim[0]);
  to->has_raw_data = 1;
  to->raw_data = (ProtobufCBinaryData){graph_bytes(t), (uint8_t *)(uintptr_t)t->data};
  return to;
}

static Onnx__ValueInfoProto *end(writer *w, int index) {
  const graph_tensor *t = &w->g->tensors[index];
  Onnx__ValueInfoProto *info = NEW(w, Onnx__ValueInfoProto, onnx__value_info_proto__init);
  Onnx__TypeProto *type = NEW(w, Onnx__TypeProto, onnx__type_proto__init);
  Onnx__TypeProto__Tensor *inner = NEW(w, Onnx__TypeProto__Tensor, onnx__type_proto__tensor__init);
  Onnx__TensorShapeProto *shape = NEW(w, Onnx__TensorShapeProto, onnx__tensor_shape_proto__init);
  info->name = text(w, t->name);
  info->type = type;
  type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  type->tensor_type = inner;
  inner->has_elem_type = 1;
  inner->elem_type = onnx_type_code(t->type);
  inner->shape = shape;
  shape->n_dim = (size_t)t->rank;
  shape->dim = WF_ARENA_ARRAY(w->arena, (size_t)t->rank, Onnx__TensorShapeProto__Dimension *);
  for (int d = 0; d < t->rank; d++) {
    shape->dim[d] = NEW(w, Onnx__TensorShapeProto__Dimension, onnx__tensor_shape_proto__dimension__init);
    shape->dim[d]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    shape->dim[d]->dim_value = t->dim[d];
  }
  return info;
}

// ---- attributes

static void set_type(Onnx__AttributeProto *a, Onnx__AttributeProto__AttributeType type) {
  a->has_type = 1;
  a->type = type;
}

static ProtobufCBinaryData bytes(writer *w, const char *from, size_t length) {
  return (ProtobufCBinaryData){length, (uint8_t *)wf_arena_text(w->arena, from, length)};
}

static void set_texts(writer *w, Onnx__AttributeProto *a, const char *list) {
  set_type(a, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
  a->strings = WF_ARENA_ARRAY(w->arena, strlen(list) + 1, ProtobufCBinaryData);
  for (const char *at = list; *at != '\0'; at += *at == ',') {
    size_t length = strcspn(at, ",");
    a->strings[a->n_strings++] = bytes(w, at, length);
    at += length;
  }
}

static bool is_type_name(const char *name) {
  return strcmp(name, "to") == 0 || strcmp(name, "dtype") == 0 || strcmp(name, "output_datatype") == 0;
}

static int64_t type_code(const char *name) {
  for (int t = 0; t < GRAPH_TYPE_COUNT; t++)
    if (strcmp(graph_type_names[t], name) == 0) return onnx_type_code((graph_type)t);
  return 0;
}

static void set_text(writer *w, Onnx__AttributeProto *a, const graph_attribute *from) {
  if (is_type_name(from->name)) {
    set_type(a, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    a->has_i = 1;
    a->i = type_code(from->text);
  } else if (strcmp(from->name, "activations") == 0) {
    set_texts(w, a, from->text);
  } else {
    set_type(a, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    a->has_s = 1;
    a->s = bytes(w, from->text, strlen(from->text));
  }
}

static Onnx__AttributeProto *attribute(writer *w, const graph_attribute *from) {
  Onnx__AttributeProto *a = NEW(w, Onnx__AttributeProto, onnx__attribute_proto__init);
  a->name = text(w, from->name);
  switch (from->kind) {
    case GRAPH_INT:
      set_type(a, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
      a->has_i = 1;
      a->i = from->integer;
      break;
    case GRAPH_FLOAT:
      set_type(a, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
      a->has_f = 1;
      a->f = from->number;
      break;
    case GRAPH_TEXT:
      set_text(w, a, from);
      break;
    case GRAPH_INTS:
      set_type(a, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
      a->n_ints = (size_t)from->count;
      a->ints = (int64_t *)(uintptr_t)from->integers;
      break;
    case GRAPH_FLOATS:
      set_type(a, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
      a->n_floats = (size_t)from->count;
      a->floats = (float *)(uintptr_t)from->numbers;
      break;
  }
  return a;
}

// ---- nodes

static bool has_value(const writer *w, const graph_node *node) {
  return node->op == GRAPH_OP_CONSTANT_OF_SHAPE && node->input_count == 2 && node->inputs[1] != GRAPH_NONE &&
         w->g->tensors[node->inputs[1]].data != NULL;
}

static char **names(writer *w, const int *tensors, int count) {
  char **to = WF_ARENA_ARRAY(w->arena, (size_t)count, char *);
  for (int i = 0; i < count; i++) to[i] = text(w, tensors[i] == GRAPH_NONE ? "" : w->g->tensors[tensors[i]].name);
  return to;
}

static Onnx__NodeProto *node(writer *w, const graph_node *from) {
  Onnx__NodeProto *to = NEW(w, Onnx__NodeProto, onnx__node_proto__init);
  bool value = has_value(w, from);
  to->name = text(w, from->name);
  to->op_type = text(w, graph_op_name(from->op));
  to->n_input = (size_t)(value ? 1 : from->input_count);
  to->input = names(w, from->inputs, (int)to->n_input);
  to->n_output = (size_t)from->output_count;
  to->output = names(w, from->outputs, from->output_count);
  to->attribute = WF_ARENA_ARRAY(w->arena, (size_t)from->attribute_count + 1, Onnx__AttributeProto *);
  for (int a = 0; a < from->attribute_count; a++) to->attribute[to->n_attribute++] = attribute(w, &from->attributes[a]);
  if (value) {
    Onnx__AttributeProto *a = NEW(w, Onnx__AttributeProto, onnx__attribute_proto__init);
    a->name = text(w, "value");
    set_type(a, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
    graph_tensor t = w->g->tensors[from->inputs[1]];
    t.rank = 1;
    t.dim[0] = 1;
    a->t = tensor(w, &t, NULL);
    to->attribute[to->n_attribute++] = a;
  }
  return to;
}

// Operators of the graph that opset 17 has not.
static bool is_writable(writer *w, const graph_node *from) {
  if (graph_op_info(from->op)->of_onnx && from->op != GRAPH_OP_GELU && from->op != GRAPH_OP_MISH) return true;
  wf_error(w->diag, wf_in_file(w->path), "node '%s': opset %d has no operator %s", from->name, ONNX_OPSET_WRITTEN,
           graph_op_name(from->op));
  return false;
}

static Onnx__GraphProto *whole(writer *w) {
  const graph *g = w->g;
  Onnx__GraphProto *to = NEW(w, Onnx__GraphProto, onnx__graph_proto__init);
  to->name = text(w, g->name);
  to->initializer = WF_ARENA_ARRAY(w->arena, (size_t)g->tensor_count, Onnx__TensorProto *);
  for (int t = 0; t < g->tensor_count; t++)
    if (g->tensors[t].data != NULL)
      to->initializer[to->n_initializer++] = tensor(w, &g->tensors[t], g->tensors[t].name);
  to->input = WF_ARENA_ARRAY(w->arena, (size_t)g->input_count, Onnx__ValueInfoProto *);
  for (int i = 0; i < g->input_count; i++) to->input[to->n_input++] = end(w, g->inputs[i]);
  to->output = WF_ARENA_ARRAY(w->arena, (size_t)g->output_count, Onnx__ValueInfoProto *);
  for (int o = 0; o < g->output_count; o++) to->output[to->n_output++] = end(w, g->outputs[o]);
  to->node = WF_ARENA_ARRAY(w->arena, (size_t)g->node_count, Onnx__NodeProto *);
  for (int n = 0; n < g->node_count; n++) to->node[to->n_node++] = node(w, &g->nodes[n]);
  return to;
}

static Onnx__ModelProto *model(writer *w) {
  Onnx__ModelProto *to = NEW(w, Onnx__ModelProto, onnx__model_proto__init);
  Onnx__OperatorSetIdProto *opset = NEW(w, Onnx__OperatorSetIdProto, onnx__operator_set_id_proto__init);
  opset->has_version = 1;
  opset->version = ONNX_OPSET_WRITTEN;
  opset->domain = text(w, "");
  to->has_ir_version = 1;
  to->ir_version = ONNX__VERSION__IR_VERSION;
  to->producer_name = text(w, "weft");
  to->n_opset_import = 1;
  to->opset_import = WF_ARENA_NEW(w->arena, Onnx__OperatorSetIdProto *);
  to->opset_import[0] = opset;
  to->graph = whole(w);
  return to;
}

// Messages go to the file as they are packed, so that weights are not in memory twice.
typedef struct file_buffer {
  ProtobufCBuffer base;
  FILE *out;
} file_buffer;

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *data) {
  fwrite(data, 1, length, ((file_buffer *)buffer)->out);
}

static void write_model(writer *w, FILE *out) {
  file_buffer buffer = {{append}, out};
  onnx__model_proto__pack_to_buffer(model(w), &buffer.base);
}

bool onnx_write(const graph *g, const char *path, wf_diag *diag) {
  writer w = {.g = g, .path = path, .diag = diag};
  bool ok = true;
  for (int n = 0; n < g->node_count; n++) ok &= is_writable(&w, &g->nodes[n]);
  if (!ok) return false;
  FILE *out = wf_output_open(path, diag);
  w.arena = wf_arena_create();
  ok = out != NULL;
  if (ok) write_model(&w, out);
  if (ok) ok = wf_output_close(out, path, diag);
  wf_arena_destroy(w.arena);
  return ok;
}
