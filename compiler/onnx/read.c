// SPDX-License-Identifier: Apache-2.0
// Reads a model: initializers and inputs become tensors, nodes are brought to opset 17, inferred and, where all they
// read is constant, computed. Only what is known by name so far can be read, so cycles are unknown names.
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"
#include "compiler/onnx/compose.h"
#include "compiler/onnx/onnx.h"
#include "compiler/onnx/private.h"

enum { FOLD_BYTES = 64 << 20, FOLD_ALL_BYTES = 1 << 29 };

bool onnx_fail(onnx_reader *r, const char *format, ...) {
  char message[400];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  wf_error(r->diag, wf_in_file(r->path), "%s", message);
  return false;
}

bool onnx_node_fail(onnx_reader *r, const onnx_node *n, const char *format, ...) {
  char message[300];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return onnx_fail(r, "node '%s' (%s): %s", n->name, n->op, message);
}

// ---- names

static bool is_new(onnx_reader *r, const char *name, const char *what) {
  return onnx_find_value(r, name) == GRAPH_NONE || onnx_fail(r, "%s '%s' is made a second time", what, name);
}

// ---- ends and constants of the graph

static bool initializers(onnx_reader *r, const Onnx__GraphProto *from) {
  if (from->n_sparse_initializer != 0) return onnx_fail(r, "sparse tensors are not supported");
  for (size_t i = 0; i < from->n_initializer; i++) {
    Onnx__TensorProto *proto = from->initializer[i];
    graph_tensor t;
    if (proto->name == NULL || proto->name[0] == '\0') return onnx_fail(r, "initializer %zu has no name", i);
    if (!is_new(r, proto->name, "tensor") || !onnx_tensor(r, proto, proto->name, r->g->arena, &t)) return false;
    onnx_named_tensor(r, proto->name, &t);
  }
  return true;
}

static const int64_t *given_dim(const onnx_reader *r, const char *name) {
  for (int i = 0; i < r->options->dim_count; i++)
    if (strcmp(r->options->dims[i].name, name) == 0) return &r->options->dims[i].value;
  return NULL;
}

static bool open_dim(onnx_reader *r, const char *input, int axis, const char *symbol, int64_t *value) {
  char *place = wf_format("%s:%d", input, axis);
  const int64_t *given = given_dim(r, place);
  wf_free(place);
  if (given == NULL && symbol != NULL) given = given_dim(r, symbol);
  if (given != NULL) {
    *value = *given;
  } else if (axis == 0) {
    *value = r->options->batch != 0 ? r->options->batch : 1;
  } else {
    onnx_fail(r, "input '%s': dimension %d (%s) is open", input, axis, symbol != NULL ? symbol : "without a name");
    wf_hint(r->diag, "give it with --dims %s%s=N", symbol != NULL ? symbol : input, symbol != NULL ? "" : ":AXIS");
    return false;
  }
  return *value >= 0 || onnx_fail(r, "input '%s': dimension %d is %" PRId64, input, axis, *value);
}

static bool shape_of(onnx_reader *r, const Onnx__ValueInfoProto *from, graph_tensor *t) {
  const Onnx__TypeProto *type = from->type;
  int64_t elements;
  if (type == NULL || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
    return onnx_fail(r, "input '%s' is no tensor", from->name);
  const Onnx__TypeProto__Tensor *tensor = type->tensor_type;
  if (!onnx_type(tensor->elem_type, &t->type))
    return onnx_fail(r, "input '%s': type %s is not supported", from->name, onnx_type_name(tensor->elem_type));
  if (tensor->shape == NULL) return onnx_fail(r, "input '%s' has no shape", from->name);
  if (tensor->shape->n_dim > GRAPH_RANK_MAX)
    return onnx_fail(r, "input '%s' has %zu dimensions", from->name, tensor->shape->n_dim);
  t->rank = (int)tensor->shape->n_dim;
  for (int d = 0; d < t->rank; d++) {
    const Onnx__TensorShapeProto__Dimension *dim = tensor->shape->dim[d];
    const char *symbol =
        dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && dim->dim_param[0] != '\0'
            ? dim->dim_param
            : NULL;
    t->dim[d] = dim->dim_value;
    // Some exporters write open dimensions as 0 or -1.
    bool known = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && dim->dim_value > -1;
    if (!known && !open_dim(r, from->name, d, symbol, &t->dim[d])) return false;
  }
  return graph_count_elements(t->rank, t->dim, &elements) ||
         onnx_fail(r, "input '%s' has an impossible shape", from->name);
}

static const graph_tensor *bound_value(const onnx_reader *r, const char *input) {
  for (int i = 0; i < r->options->value_count; i++)
    if (strcmp(r->options->values[i].input, input) == 0) return r->options->values[i].tensor;
  return NULL;
}

static bool has_input(const Onnx__GraphProto *from, const char *name) {
  for (size_t i = 0; i < from->n_input; i++)
    if (from->input[i]->name != NULL && strcmp(from->input[i]->name, name) == 0) return true;
  return false;
}

static bool values_have_inputs(onnx_reader *r, const Onnx__GraphProto *from) {
  for (int i = 0; i < r->options->value_count; i++)
    if (!has_input(from, r->options->values[i].input))
      return onnx_fail(r, "a value is given for '%s', which is no input", r->options->values[i].input);
  return true;
}

static bool has_type(const Onnx__ValueInfoProto *info, graph_type type) {
  graph_type found;
  return info->type != NULL && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
         onnx_type(info->type->tensor_type->elem_type, &found) && found == type;
}

// A network that ends earlier has only the inputs that it reads.
static bool is_wanted(const onnx_cut *cut, const char *name) {
  return cut->needed == NULL || graph_names_find(cut->needed, name) != GRAPH_NONE;
}

static bool read_inputs(onnx_reader *r, const Onnx__GraphProto *from, const onnx_cut *cut, int *inputs, int *count) {
  *count = 0;
  if (!values_have_inputs(r, from)) return false;
  for (size_t i = 0; i < from->n_input; i++) {
    const Onnx__ValueInfoProto *info = from->input[i];
    if (info->name == NULL || info->name[0] == '\0') return onnx_fail(r, "input %zu has no name", i);
    // Before IR version 4 initializers are inputs, too.
    int known = onnx_find_value(r, info->name);
    if ((known != GRAPH_NONE && r->g->tensors[known].data != NULL) || !is_wanted(cut, info->name)) continue;
    graph_tensor t = {0};
    const graph_tensor *bound = bound_value(r, info->name);
    if (!is_new(r, info->name, "input")) return false;
    if (bound != NULL) {
      if (!has_type(info, bound->type))
        return onnx_fail(r, "input '%s': the value given for it has another type", info->name);
      void *data = wf_arena_alloc(r->g->arena, graph_bytes(bound) + 1, 1);
      memcpy(data, bound->data, graph_bytes(bound));
      t = *bound;
      t.data = data;
      onnx_named_tensor(r, info->name, &t);
    } else if (shape_of(r, info, &t)) {
      inputs[(*count)++] = onnx_named_tensor(r, info->name, &t);
    } else {
      return false;
    }
  }
  return true;
}

static bool read_outputs(onnx_reader *r, const onnx_cut *cut, int *outputs) {
  if (cut->output_count == 0) return onnx_fail(r, "it has no outputs, so nothing of it is computed");
  for (int i = 0; i < cut->output_count; i++) {
    outputs[i] = onnx_find_value(r, cut->outputs[i]);
    if (outputs[i] == GRAPH_NONE) return onnx_fail(r, "output '%s' is made by nothing", cut->outputs[i]);
  }
  return true;
}

// ---- nodes

static size_t fold_limit(const onnx_reader *r) {
  size_t limit = r->options->fold_bytes != 0 ? r->options->fold_bytes : FOLD_BYTES;
  size_t left = FOLD_ALL_BYTES - (r->folded_bytes < FOLD_ALL_BYTES ? r->folded_bytes : FOLD_ALL_BYTES);
  return limit < left ? limit : left;
}

static bool fold_last(onnx_reader *r) {
  graph *g = r->g;
  const graph_node *node = &g->nodes[g->node_count - 1];
  if (!graph_fold_node(g, node, fold_limit(r))) return false;
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE) r->folded_bytes += graph_bytes(&g->tensors[node->outputs[o]]);
  g->node_count--;
  return true;
}

// Adds a node with results that have a place already; infers and folds.
static bool add_node(onnx_reader *r, const char *name, graph_op op, const graph_node *attributes, const int *inputs,
                     int input_count, const int *outputs, int output_count) {
  graph_node *node = graph_add_node(r->g, op, name, inputs, input_count, outputs, output_count);
  node->attributes = attributes->attributes;
  node->attribute_count = attributes->attribute_count;
  node->attribute_room = attributes->attribute_room;
  if (!graph_infer(r->g, node, r->path, r->diag)) return false;
  fold_last(r);
  return true;
}

int onnx_insert(onnx_reader *r, const onnx_node *n, graph_op op, const graph_node *attributes, const int *inputs,
                int input_count) {
  const graph_tensor open = {0};
  char *base = wf_format("%s.%s", n->name, graph_op_name(op));
  int result = onnx_new_tensor(r, base, &open);
  const char *name = onnx_unique(r, r->nodes, base);
  wf_free(base);
  return add_node(r, name, op, attributes, inputs, input_count, &result, 1) ? result : GRAPH_NONE;
}

static bool is_constant_node(const onnx_node *n) { return strcmp(n->op, "Constant") == 0; }

static bool constant_node(onnx_reader *r, onnx_node *n) {
  const graph_node *node = &n->to;
  const graph_attribute *a = node->attribute_count == 1 ? &node->attributes[0] : NULL;
  graph_tensor t = {0};
  if (n->from->n_output != 1 || n->from->output[0][0] == '\0') return onnx_node_fail(r, n, "it has no result");
  const char *name = n->from->output[0];
  if (!is_new(r, name, "tensor")) return false;
  if (n->value != NULL && a == NULL) {
    if (!onnx_tensor(r, n->value, name, r->g->arena, &t)) return false;
  } else if (a == NULL || n->value != NULL || a->kind == GRAPH_TEXT) {
    return onnx_node_fail(r, n, "its value is of a kind that is not supported");
  } else {
    bool real = a->kind == GRAPH_FLOAT || a->kind == GRAPH_FLOATS,
         list = a->kind == GRAPH_FLOATS || a->kind == GRAPH_INTS;
    t = (graph_tensor){.type = real ? GRAPH_F32 : GRAPH_I64, .rank = list ? 1 : 0, .dim = {list ? a->count : 0}};
    const void *from = a->kind == GRAPH_FLOAT ? (const void *)&a->number
                       : a->kind == GRAPH_INT ? (const void *)&a->integer
                       : real                 ? (const void *)a->numbers
                                              : (const void *)a->integers;
    void *data = wf_arena_alloc(r->g->arena, graph_bytes(&t) + 1, 1);
    if (graph_bytes(&t) != 0) memcpy(data, from, graph_bytes(&t));
    t.data = data;
  }
  onnx_named_tensor(r, name, &t);
  return true;
}

bool onnx_resolve_inputs(onnx_reader *r, onnx_node *n) {
  if (n->from->n_input > ONNX_INPUTS_MAX) return onnx_node_fail(r, n, "it has %zu inputs", n->from->n_input);
  for (size_t i = 0; i < n->from->n_input; i++) {
    const char *name = n->from->input[i];
    int tensor = name[0] == '\0' ? GRAPH_NONE : onnx_find_value(r, name);
    if (name[0] != '\0' && tensor == GRAPH_NONE)
      return onnx_node_fail(r, n, "it reads '%s', which nothing before it makes", name);
    n->inputs[n->input_count++] = tensor;
  }
  return true;
}

static bool open_outputs(onnx_reader *r, const onnx_node *n, int *outputs, int *count) {
  if (n->from->n_output > ONNX_INPUTS_MAX || n->from->n_output == 0)
    return onnx_node_fail(r, n, "it has %zu outputs", n->from->n_output);
  for (*count = 0; (size_t)*count < n->from->n_output; ++*count) {
    const char *name = n->from->output[*count];
    outputs[*count] = GRAPH_NONE;
    if (name[0] == '\0') continue;
    if (!is_new(r, name, "tensor")) return false;
    outputs[*count] = onnx_named_result(r, n, (size_t)*count);
  }
  while (*count > 1 && outputs[*count - 1] == GRAPH_NONE) --*count;
  return true;
}

// The result of a node that changes nothing is its input.
static void pass_through(onnx_reader *r, const onnx_node *n) {
  graph *g = r->g;
  const graph_node *node = &g->nodes[g->node_count - 1];
  if (!onnx_is_identity(g, node)) return;
  graph_names_add(r->scope->names, n->from->output[0], node->inputs[0]);
  g->node_count--;
}

static bool is_as_large_as_data(graph_op op) {
  return op == GRAPH_OP_NON_ZERO || op == GRAPH_OP_COMPRESS || op == GRAPH_OP_UNIQUE ||
         op == GRAPH_OP_NON_MAX_SUPPRESSION;
}

static bool supported_node(onnx_reader *r, onnx_node *n) {
  int outputs[ONNX_INPUTS_MAX], output_count;
  if (!onnx_resolve_inputs(r, n)) return false;
  graph_op op = onnx_normalise(r, n);
  if (op == GRAPH_OP_COUNT) return false;
  while (n->input_count > 0 && n->inputs[n->input_count - 1] == GRAPH_NONE) n->input_count--;
  if (n->restore != NULL) {
    const graph_node none = {0};
    int64_t dim[GRAPH_RANK_MAX];
    memcpy(dim, n->restore->dim, sizeof dim);
    graph_tensor shape = {.type = GRAPH_I64, .rank = 1, .dim = {n->restore->rank}, .data = n->restore->dim};
    int flat = onnx_insert(r, n, op, &n->to, n->inputs, n->input_count);
    if (flat == GRAPH_NONE || !open_outputs(r, n, outputs, &output_count)) return false;
    const int inputs[] = {flat, onnx_new_tensor(r, n->name, &shape)};
    return add_node(r, n->name, GRAPH_OP_RESHAPE, &none, inputs, 2, outputs, 1);
  }
  if (!open_outputs(r, n, outputs, &output_count)) return false;
  int before = r->g->node_count;
  if (!add_node(r, n->name, op, &n->to, n->inputs, n->input_count, outputs, output_count)) {
    if (is_as_large_as_data(op)) onnx_cut_hint(r, n->from);
    return false;
  }
  if (r->g->node_count > before) pass_through(r, n);
  return true;
}

// ---- a node

bool onnx_name_result(onnx_reader *r, const onnx_node *n, size_t o, int tensor) {
  const char *name = n->from->output[o];
  if (name[0] == '\0') return true;
  if (tensor == GRAPH_NONE) return onnx_node_fail(r, n, "it does not make its result %zu", o);
  if (!is_new(r, name, "tensor")) return false;
  graph_names_add(r->scope->names, name, tensor);
  return true;
}

static bool is_our_domain(const char *domain) {
  return domain == NULL || domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0;
}

// QuantizeLinear and DequantizeLinear are in both.
static const char *domain_of(const Onnx__NodeProto *from, const char *op) {
  const bool contrib = !is_our_domain(from->domain) && strcmp(from->domain, "com.microsoft") == 0;
  if (is_our_domain(from->domain)) return "";
  return contrib && (strcmp(op, "QuantizeLinear") == 0 || strcmp(op, "DequantizeLinear") == 0) ? "" : from->domain;
}

static bool refuse_operator(onnx_reader *r, const onnx_node *n, const char *domain) {
  if (domain[0] != '\0' && strcmp(domain, "com.microsoft") != 0)
    onnx_node_fail(r, n, "operators of the domain '%s' are not supported", domain);
  else
    onnx_node_fail(r, n, "operator %s is not supported", n->op);
  onnx_cut_hint(r, n->from);
  return false;
}

static bool read_node(onnx_reader *r, const Onnx__NodeProto *from, size_t index) {
  onnx_node n = {.from = from, .op = from->op_type != NULL ? from->op_type : ""};
  const bool named = from->name != NULL && from->name[0] != '\0' && !graph_names_is_number(from->name);
  char *base = named ? wf_strdup(from->name) : wf_format("%s_%zu", n.op, index);
  n.name = onnx_unique(r, r->nodes, base);
  wf_free(base);
  const char *domain = domain_of(from, n.op);
  if (domain[0] == '\0' && strcmp(n.op, "If") == 0) return onnx_branch(r, &n);
  const bool known = domain[0] == '\0' && onnx_is_supported(n.op);
  if (!known && onnx_find_composition(domain, n.op, &n.to) == NULL) return refuse_operator(r, &n, domain);
  if (!onnx_attributes(r, &n)) return false;
  const onnx_composition *composition = onnx_find_composition(domain, n.op, &n.to);
  if (composition != NULL) return onnx_resolve_inputs(r, &n) && onnx_compose(r, &n, composition);
  return is_constant_node(&n) ? constant_node(r, &n) : supported_node(r, &n);
}

bool onnx_read_nodes(onnx_reader *r, const Onnx__GraphProto *from) {
  if (!initializers(r, from)) return false;
  for (size_t i = 0; i < from->n_node; i++)
    if (!read_node(r, from->node[i], i)) return false;
  return true;
}

// ---- the whole

static bool read_ends(onnx_reader *r, const Onnx__GraphProto *from, const onnx_cut *cut) {
  int *inputs = WF_NEW_ARRAY(from->n_input + 1, int), *outputs = WF_NEW_ARRAY((size_t)cut->output_count + 1, int);
  int input_count = 0;
  bool ok = initializers(r, from) && read_inputs(r, from, cut, inputs, &input_count);
  for (size_t i = 0; i < from->n_node && ok; i++) ok = !cut->keep[i] || read_node(r, from->node[i], i);
  ok = ok && read_outputs(r, cut, outputs);
  if (ok) graph_set_ends(r->g, inputs, input_count, outputs, cut->output_count);
  wf_free(inputs);
  wf_free(outputs);
  return ok;
}

static bool read_graph(onnx_reader *r, const Onnx__GraphProto *from) {
  onnx_cut cut;
  const bool ok = onnx_cut_open(r, from, &cut) && read_ends(r, from, &cut);
  if (ok) onnx_name_outputs(r, &cut);
  onnx_cut_close(&cut);
  if (!ok) return false;
  graph_drop_unused(r->g);
  onnx_patterns(r->g);
  graph_drop_unused(r->g);
  graph_compact(r->g);
  return graph_verify(r->g, r->diag);
}

// A model with operators of other domains alone says no opset of ours; its nodes are refused by their domain.
static int64_t opset_of(const Onnx__ModelProto *model) {
  int64_t opset = model->n_opset_import > 0 ? ONNX_OPSET_WRITTEN : 0;
  for (size_t i = 0; i < model->n_opset_import; i++)
    if (is_our_domain(model->opset_import[i]->domain)) opset = model->opset_import[i]->version;
  return opset;
}

static bool read_model(onnx_reader *r, const Onnx__ModelProto *model) {
  if (model->graph == NULL) return onnx_fail(r, "it has no graph: it is empty, or no ONNX model");
  r->opset = opset_of(model);
  if (r->opset < ONNX_OPSET_LEAST || r->opset > ONNX_OPSET_MOST) {
    onnx_fail(r, "opset %" PRId64 " is not supported", r->opset);
    wf_hint(r->diag, "export the model with an opset of %d to %d", ONNX_OPSET_LEAST, ONNX_OPSET_MOST);
    return false;
  }
  if (model->n_training_info != 0) return onnx_fail(r, "it holds how it is trained, which is not supported");
  r->g = graph_create(model->graph->name != NULL && model->graph->name[0] != '\0' ? model->graph->name : "model");
  return read_graph(r, model->graph);
}

static graph *read_proto(const char *path, const char *folder, Onnx__ModelProto *model, const onnx_options *options,
                         wf_diag *diag) {
  onnx_reader r = {.path = path, .folder = folder, .options = options, .diag = diag};
  onnx_scope scope = {graph_names_create(), NULL};
  r.scope = &scope;
  r.tensors = graph_names_create();
  r.nodes = graph_names_create();
  bool ok = read_model(&r, model);
  graph_names_destroy(scope.names);
  graph_names_destroy(r.tensors);
  graph_names_destroy(r.nodes);
  if (ok) return r.g;
  graph_destroy(r.g);
  return NULL;
}

static Onnx__ModelProto *unpack(const char *path, const void *bytes, size_t length, wf_diag *diag) {
  Onnx__ModelProto *model = NULL;
  if (!onnx_is_shallow(&onnx__model_proto__descriptor, bytes, length))
    wf_error(diag, wf_in_file(path), "its messages are nested too deeply");
  else if ((model = onnx__model_proto__unpack(NULL, length, bytes)) == NULL)
    wf_error(diag, wf_in_file(path), "it is no ONNX model, or it is cut off");
  return model;
}

static const onnx_options by_default = {0};

graph *onnx_read_bytes(const char *path, const void *bytes, size_t length, const onnx_options *options, wf_diag *diag) {
  Onnx__ModelProto *model = unpack(path, bytes, length, diag);
  if (model == NULL) return NULL;
  graph *g = read_proto(path, NULL, model, options != NULL ? options : &by_default, diag);
  onnx__model_proto__free_unpacked(model, NULL);
  return g;
}

graph *onnx_read(const char *path, const onnx_options *options, wf_diag *diag) {
  onnx_file file;
  if (!onnx_file_open(path, &file, diag)) return NULL;
  Onnx__ModelProto *model = unpack(path, file.bytes, file.length, diag);
  onnx_file_close(&file);
  if (model == NULL) return NULL;
  const char *slash = strrchr(path, '/');
  char *folder = slash != NULL ? wf_format("%.*s", (int)(slash - path), path) : wf_strdup(".");
  graph *g = read_proto(path, folder, model, options != NULL ? options : &by_default, diag);
  wf_free(folder);
  onnx__model_proto__free_unpacked(model, NULL);
  return g;
}
