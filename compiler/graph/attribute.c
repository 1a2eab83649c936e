// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes: a short list per node, searched by name.
#include <string.h>

#include "compiler/graph/graph.h"

const graph_attribute *graph_find_attribute(const graph_node *node, const char *name) {
  for (int a = 0; a < node->attribute_count; a++)
    if (strcmp(node->attributes[a].name, name) == 0) return &node->attributes[a];
  return NULL;
}

static const graph_attribute *find(const graph_node *node, const char *name, graph_attribute_kind kind) {
  const graph_attribute *a = graph_find_attribute(node, name);
  return a != NULL && a->kind == kind ? a : NULL;
}

int64_t graph_int(const graph_node *node, const char *name, int64_t by_default) {
  const graph_attribute *a = find(node, name, GRAPH_INT);
  return a != NULL ? a->integer : by_default;
}

float graph_float(const graph_node *node, const char *name, float by_default) {
  const graph_attribute *a = find(node, name, GRAPH_FLOAT);
  return a != NULL ? a->number : by_default;
}

const char *graph_text(const graph_node *node, const char *name, const char *by_default) {
  const graph_attribute *a = find(node, name, GRAPH_TEXT);
  return a != NULL ? a->text : by_default;
}

int graph_ints(const graph_node *node, const char *name, int64_t *values, int room) {
  const graph_attribute *a = find(node, name, GRAPH_INTS);
  if (a == NULL) return 0;
  for (int i = 0; i < a->count && i < room; i++) values[i] = a->integers[i];
  return a->count;
}

int graph_floats(const graph_node *node, const char *name, float *values, int room) {
  const graph_attribute *a = find(node, name, GRAPH_FLOATS);
  if (a == NULL) return 0;
  for (int i = 0; i < a->count && i < room; i++) values[i] = a->numbers[i];
  return a->count;
}

// The attribute of that name, with its old value or new.
static graph_attribute *take(graph *g, graph_node *node, const char *name, graph_attribute_kind kind) {
  graph_attribute *a = (graph_attribute *)(uintptr_t)graph_find_attribute(node, name);
  if (a == NULL) {
    size_t room = (size_t)node->attribute_room;
    node->attributes = wf_arena_grow(g->arena, node->attributes, (size_t)node->attribute_count, &room, sizeof *a);
    node->attribute_room = (int)room;
    a = &node->attributes[node->attribute_count++];
  }
  *a = (graph_attribute){.name = wf_arena_text(g->arena, name, strlen(name)), .kind = kind};
  return a;
}

void graph_set_int(graph *g, graph_node *node, const char *name, int64_t value) {
  take(g, node, name, GRAPH_INT)->integer = value;
}

void graph_set_float(graph *g, graph_node *node, const char *name, float value) {
  take(g, node, name, GRAPH_FLOAT)->number = value;
}

void graph_set_text(graph *g, graph_node *node, const char *name, const char *value) {
  take(g, node, name, GRAPH_TEXT)->text = wf_arena_text(g->arena, value, strlen(value));
}

void graph_set_ints(graph *g, graph_node *node, const char *name, const int64_t *values, int count) {
  int64_t *copy = WF_ARENA_ARRAY(g->arena, (size_t)count, int64_t);
  if (count != 0) memcpy(copy, values, (size_t)count * sizeof copy[0]);
  graph_attribute *a = take(g, node, name, GRAPH_INTS);
  a->integers = copy;
  a->count = count;
}

void graph_set_floats(graph *g, graph_node *node, const char *name, const float *values, int count) {
  float *copy = WF_ARENA_ARRAY(g->arena, (size_t)count, float);
  if (count != 0) memcpy(copy, values, (size_t)count * sizeof copy[0]);
  graph_attribute *a = take(g, node, name, GRAPH_FLOATS);
  a->numbers = copy;
  a->count = count;
}

void graph_remove_attribute(graph_node *node, const char *name) {
  for (int a = 0; a < node->attribute_count; a++) {
    if (strcmp(node->attributes[a].name, name) != 0) continue;
    memmove(&node->attributes[a], &node->attributes[a + 1],
            (size_t)(node->attribute_count - a - 1) * sizeof node->attributes[0]);
    node->attribute_count--;
    return;
  }
}
