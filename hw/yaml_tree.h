// SPDX-License-Identifier: Apache-2.0
// A YAML text as a tree whose nodes know their place, for readers that want to see the whole before they judge it.
//
// The accepted form is small on purpose: one document of maps, lists and plain or quoted scalars. Anchors, aliases,
// tags and repeated keys are refused, nesting and size are limited. (Array descriptions and technology tables have
// readers of their own, which go on after an error; this one stops at the first.)
#ifndef HW_YAML_TREE_H
#define HW_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

typedef enum { YAML_TREE_SCALAR, YAML_TREE_MAP, YAML_TREE_LIST } hw_yaml_tree_kind;

typedef struct hw_yaml_node {
  hw_yaml_tree_kind kind;
  wf_location where;
  const char *key;  // of an entry of a map, else NULL
  wf_location key_where;
  const char *text;                         // of a scalar
  const struct hw_yaml_node *first, *next;  // entries of a map or list, in order
  size_t count;                             // of them
} hw_yaml_node;

// The root, in the arena; NULL after an error was reported. `file` must outlive the tree.
const hw_yaml_node *hw_yaml_tree_parse(wf_arena *arena, const char *file, const char *text, size_t length,
                                       wf_diag *diag);

// The entry of a map; NULL: it has none.
const hw_yaml_node *hw_yaml_tree_find(const hw_yaml_node *map, const char *key);

// Each reports and returns false (or NULL) when the node is something else.
bool hw_yaml_tree_is(const hw_yaml_node *node, hw_yaml_tree_kind kind, const char *what, wf_diag *diag);
const char *hw_yaml_tree_text(const hw_yaml_node *node, const char *what, wf_diag *diag);
bool hw_yaml_tree_integer(const hw_yaml_node *node, const char *what, int64_t min, int64_t max, int64_t *value,
                          wf_diag *diag);
bool hw_yaml_tree_number(const hw_yaml_node *node, const char *what, double *value, wf_diag *diag);  // finite
// The place of a scalar in a NULL-terminated list of words.
bool hw_yaml_tree_choice(const hw_yaml_node *node, const char *what, const char *const *words, int *value,
                         wf_diag *diag);
// Reports the keys of a map that are not in the NULL-terminated list, and how many more after the first 20.
bool hw_yaml_tree_keys(const hw_yaml_node *map, const char *what, const char *const *keys, wf_diag *diag);

#endif
