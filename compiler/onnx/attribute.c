// SPDX-License-Identifier: Apache-2.0
// Attributes of a node in the file become attributes of the graph. Lists of texts are joined by commas; tensors are
// kept for normalise.c; what holds graphs or sequences belongs to operators that are refused.
#include <string.h>

#include "base/alloc.h"
#include "compiler/onnx/private.h"

static char *text_of(graph *g, const ProtobufCBinaryData *from) {
  char *text = wf_arena_text(g->arena, "", 0);
  return from->len == 0
             ? text
             : wf_arena_text(g->arena, (const char *)from->data, strnlen((const char *)from->data, from->len));
}

static char *joined(graph *g, const ProtobufCBinaryData *list, size_t count) {
  size_t length = 0;
  for (size_t i = 0; i < count; i++) length += list[i].len + 1;
  char *text = wf_arena_alloc(g->arena, length + 1, 1), *at = text;
  for (size_t i = 0; i < count; i++) {
    if (i != 0) *at++ = ',';
    const char *entry = text_of(g, &list[i]);
    memcpy(at, entry, strlen(entry));
    at += strlen(entry);
  }
  return text;
}

// Old files do not say the type.
static Onnx__AttributeProto__AttributeType type_of(const Onnx__AttributeProto *a) {
  if (a->has_type && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED) return a->type;
  if (a->has_i) return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
  if (a->has_f) return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
  if (a->has_s) return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
  if (a->t != NULL) return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
  if (a->n_floats != 0) return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS;
  return a->n_strings != 0 ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS
                           : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
}

static bool attribute(onnx_reader *r, onnx_node *n, const Onnx__AttributeProto *a) {
  graph *g = r->g;
  if (a->name == NULL || a->name[0] == '\0') return onnx_node_fail(r, n, "an attribute has no name");
  if (graph_find_attribute(&n->to, a->name) != NULL)
    return onnx_node_fail(r, n, "attribute '%s' is there twice", a->name);
  switch (type_of(a)) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
      graph_set_int(g, &n->to, a->name, a->i);
      return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
      graph_set_float(g, &n->to, a->name, a->f);
      return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
      graph_set_text(g, &n->to, a->name, text_of(g, &a->s));
      return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
      graph_set_ints(g, &n->to, a->name, a->ints, (int)a->n_ints);
      return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
      graph_set_floats(g, &n->to, a->name, a->floats, (int)a->n_floats);
      return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
      graph_set_text(g, &n->to, a->name, joined(g, a->strings, a->n_strings));
      return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
      if (a->t == NULL || strcmp(a->name, "value") != 0 || n->value != NULL) break;
      n->value = a->t;
      return true;
    default:
      break;
  }
  return onnx_node_fail(r, n, "attribute '%s' is of a kind that is not supported", a->name);
}

bool onnx_attributes(onnx_reader *r, onnx_node *n) {
  for (size_t i = 0; i < n->from->n_attribute; i++)
    if (!attribute(r, n, n->from->attribute[i])) return false;
  return true;
}
