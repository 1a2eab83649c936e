// SPDX-License-Identifier: Apache-2.0
// The reader keeps the part of a file that the outputs need: the file's outputs, or the tensors that the options name,
// so that a network can end in front of what is refused. The reader goes from the last node to the first: it keeps a
// node that makes a needed tensor, and then needs every tensor that the node reads.
#include <string.h>

#include "base/alloc.h"
#include "compiler/onnx/private.h"

enum { SHOWN_NAMES = 4 };

static bool is_name(const char *name) { return name != NULL && name[0] != '\0'; }

static void need(graph_names *needed, char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_name(names[i])) graph_names_add(needed, names[i], 1);
}

static void need_inner(graph_names *needed, const Onnx__GraphProto *inner);

// Branches read what stands around them.
static void need_inputs(graph_names *needed, const Onnx__NodeProto *node) {
  need(needed, node->input, node->n_input);
  for (size_t a = 0; a < node->n_attribute; a++)
    if (node->attribute[a]->g != NULL) need_inner(needed, node->attribute[a]->g);
}

static void need_inner(graph_names *needed, const Onnx__GraphProto *inner) {
  for (size_t i = 0; i < inner->n_node; i++) need_inputs(needed, inner->node[i]);
  for (size_t o = 0; o < inner->n_output; o++) need(needed, &inner->output[o]->name, 1);
}

static bool makes_needed(const graph_names *needed, const Onnx__NodeProto *node) {
  for (size_t o = 0; o < node->n_output; o++)
    if (is_name(node->output[o]) && graph_names_find(needed, node->output[o]) != GRAPH_NONE) return true;
  return false;
}

// ---- names of the options

static bool has_result(const Onnx__NodeProto *node, const char *name) {
  for (size_t o = 0; o < node->n_output; o++)
    if (is_name(node->output[o]) && strcmp(node->output[o], name) == 0) return true;
  return false;
}

static bool is_end_of(const Onnx__GraphProto *from, const char *name) {
  for (size_t i = 0; i < from->n_input; i++)
    if (is_name(from->input[i]->name) && strcmp(from->input[i]->name, name) == 0) return true;
  for (size_t i = 0; i < from->n_initializer; i++)
    if (is_name(from->initializer[i]->name) && strcmp(from->initializer[i]->name, name) == 0) return true;
  return false;
}

// The tensor of that name, or the first result of the node of that name; NULL: there is neither.
static const char *find_tensor(const Onnx__GraphProto *from, const char *name) {
  for (size_t i = 0; i < from->n_node; i++)
    if (has_result(from->node[i], name)) return name;
  if (is_end_of(from, name)) return name;
  for (size_t i = 0; i < from->n_node; i++) {
    const Onnx__NodeProto *node = from->node[i];
    if (is_name(node->name) && strcmp(node->name, name) == 0 && node->n_output > 0 && is_name(node->output[0]))
      return node->output[0];
  }
  return NULL;
}

static bool take_names(onnx_reader *r, const Onnx__GraphProto *from, onnx_cut *cut) {
  for (int i = 0; i < r->options->output_count; i++) {
    const char *name = r->options->outputs[i], *tensor = find_tensor(from, name);
    if (tensor == NULL) {
      onnx_fail(r, "no tensor and no node has the name '%s', so the network cannot end there", name);
      return false;
    }
    cut->outputs[cut->output_count++] = tensor;
  }
  return true;
}

static void mark(const Onnx__GraphProto *from, onnx_cut *cut) {
  cut->needed = graph_names_create();
  for (int i = 0; i < cut->output_count; i++) graph_names_add(cut->needed, cut->outputs[i], 1);
  for (size_t i = from->n_node; i-- > 0;) {
    cut->keep[i] = makes_needed(cut->needed, from->node[i]);
    if (cut->keep[i]) need_inputs(cut->needed, from->node[i]);
  }
}

bool onnx_cut_open(onnx_reader *r, const Onnx__GraphProto *from, onnx_cut *cut) {
  const size_t most =
      from->n_output > (size_t)r->options->output_count ? from->n_output : (size_t)r->options->output_count;
  *cut = (onnx_cut){.outputs = WF_NEW_ARRAY(most + 1, const char *), .keep = WF_NEW_ARRAY(from->n_node + 1, bool)};
  if (r->options->output_count > 0) {
    if (!take_names(r, from, cut)) return false;
    mark(from, cut);
    return true;
  }
  memset(cut->keep, 1, from->n_node);
  for (size_t i = 0; i < from->n_output; i++)
    cut->outputs[cut->output_count++] = from->output[i]->name != NULL ? from->output[i]->name : "";
  return true;
}

void onnx_cut_close(onnx_cut *cut) {
  wf_free(cut->outputs);
  wf_free(cut->keep);
  graph_names_destroy(cut->needed);
}

// ---- the way on

void onnx_cut_hint(onnx_reader *r, const Onnx__NodeProto *node) {
  char *names = wf_strdup("");
  int count = 0;
  for (size_t i = 0; i < node->n_input && count < SHOWN_NAMES; i++) {
    const int tensor = is_name(node->input[i]) ? onnx_find_value(r, node->input[i]) : GRAPH_NONE;
    if (tensor == GRAPH_NONE || r->g->tensors[tensor].data != NULL) continue;
    char *longer = wf_format("%s%s%s", names, count++ > 0 ? "," : "", node->input[i]);
    wf_free(names);
    names = longer;
  }
  if (count > 0) wf_hint(r->diag, "--outputs %s ends the network in front of it", names);
  wf_free(names);
}
