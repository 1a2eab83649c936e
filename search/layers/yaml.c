// SPDX-License-Identifier: Apache-2.0
// The reader of our own form of layer tables:
//
//   name: resnet50
//   description: one line
//   layers:
//     - {name: conv1, P: 112, Q: 112, K: 64, C: 3, R: 7, S: 7, stride: 2}
//
// Sizes, strides, dilations, counts and groups that are absent are 1; C and K are those of all groups. A stride or
// dilation is one number, or [rows, columns]. A file whose root is `problem` is one of Timeloop's: see timeloop.c.
#include <string.h>

#include "hw/yaml_tree.h"
#include "search/layers/lines.h"
#include "search/layers/timeloop.h"

enum { SIZE_MAX_ELEMENTS = 1 << 24 };

static const char *const layer_keys[] = {"name", "N",      "P",        "Q",     "K",      "C", "R",
                                         "S",    "stride", "dilation", "count", "groups", NULL};
static const char *const network_keys[] = {"name", "description", "layers", NULL};

static bool read_optional(const hw_yaml_node *map, const char *key, int64_t *value, wf_diag *diag) {
  const hw_yaml_node *node = hw_yaml_tree_find(map, key);
  *value = 1;
  return node == NULL || hw_yaml_tree_integer(node, key, 1, SIZE_MAX_ELEMENTS, value, diag);
}

static bool read_pair(const hw_yaml_node *map, const char *key, int64_t pair[2], wf_diag *diag) {
  const hw_yaml_node *node = hw_yaml_tree_find(map, key);
  if (node == NULL || node->kind == YAML_TREE_SCALAR) {
    const bool good = read_optional(map, key, &pair[0], diag);
    pair[1] = pair[0];
    return good;
  }
  if (!hw_yaml_tree_is(node, YAML_TREE_LIST, key, diag)) return false;
  if (node->count != 2) {
    wf_error(diag, node->where, "%s is one number, or two for rows and columns", key);
    return false;
  }
  return hw_yaml_tree_integer(node->first, key, 1, SIZE_MAX_ELEMENTS, &pair[0], diag) &&
         hw_yaml_tree_integer(node->first->next, key, 1, SIZE_MAX_ELEMENTS, &pair[1], diag);
}

static bool read_text(const hw_yaml_node *map, const char *key, const char *what, const char **text, wf_diag *diag) {
  const hw_yaml_node *node = hw_yaml_tree_find(map, key);
  if (node == NULL) {
    wf_error(diag, map->where, "%s has no \"%s\"", what, key);
    return false;
  }
  *text = hw_yaml_tree_text(node, key, diag);
  return *text != NULL;
}

static bool read_groups(const hw_yaml_node *node, layers_layer *layer, wf_diag *diag) {
  int64_t groups;
  if (!read_optional(node, "groups", &groups, diag)) return false;
  if (layers_set_groups(layer, groups)) return true;
  wf_error(diag, hw_yaml_tree_find(node, "groups")->where, "groups must divide C and K");
  return false;
}

static bool read_layer(const hw_yaml_node *node, layers_layer *layer, wf_diag *diag) {
  if (!hw_yaml_tree_is(node, YAML_TREE_MAP, "a layer", diag)) return false;
  bool good =
      hw_yaml_tree_keys(node, "a layer", layer_keys, diag) && read_text(node, "name", "a layer", &layer->name, diag);
  for (int d = 0; d < BLOCK_DIMS; d++) good &= read_optional(node, block_dim_names[d], &layer->size[d], diag);
  good &= read_pair(node, "stride", layer->stride, diag) && read_pair(node, "dilation", layer->dilation, diag);
  return read_optional(node, "count", &layer->count, diag) && good && read_groups(node, layer, diag);
}

static bool read_layers(layers_network *network, const hw_yaml_node *root, wf_diag *diag) {
  const hw_yaml_node *list = hw_yaml_tree_find(root, "layers");
  if (list == NULL || list->count == 0) {
    wf_error(diag, list == NULL ? root->where : list->where, "a network has a list of \"layers\"");
    return false;
  }
  if (!hw_yaml_tree_is(list, YAML_TREE_LIST, "layers", diag)) return false;
  network->layers = WF_ARENA_ARRAY(network->arena, list->count, layers_layer);
  bool good = true;
  for (const hw_yaml_node *node = list->first; node != NULL; node = node->next)
    good &= read_layer(node, &network->layers[network->count++], diag);
  return good;
}

bool layers_parse_yaml(layers_network *network, const char *file, const char *text, size_t length, wf_diag *diag) {
  *network = (layers_network){.arena = wf_arena_create(), .description = ""};
  const char *name = wf_arena_text(network->arena, file, strlen(file));
  const hw_yaml_node *root = hw_yaml_tree_parse(network->arena, name, text, length, diag);
  if (root != NULL && layers_timeloop_is(root))
    return layers_timeloop_read(network, layers_lines_base_name(network->arena, file), root, diag);
  return root != NULL && hw_yaml_tree_is(root, YAML_TREE_MAP, "a table of layers", diag) &&
         hw_yaml_tree_keys(root, "a table of layers", network_keys, diag) &&
         read_text(root, "name", "a table of layers", &network->name, diag) &&
         (hw_yaml_tree_find(root, "description") == NULL ||
          read_text(root, "description", "a table of layers", &network->description, diag)) &&
         read_layers(network, root, diag);
}
