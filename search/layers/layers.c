// SPDX-License-Identifier: Apache-2.0
// Layer tables: loading, printing, and what follows from a layer. The readers are yaml.c and csv.c.
#include "search/layers/layers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "search/layers/tables.h"

enum { TEXT_MAX = 1 << 26 };

static bool ends_in(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcmp(path + length - tail, ending) == 0;
}

// ---- shipped tables

const char *layers_builtin_name(size_t index) {
  return index < layers_table_file_count ? layers_table_files[index].name : NULL;
}

static void list_names(wf_diag *diag) {
  char names[512] = "";
  for (size_t i = 0, used = 0; i < layers_table_file_count && used < sizeof names; i++) {
    const char *name = layers_table_files[i].name;
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", name);
  }
  wf_hint(diag, "a .yaml or .csv file, or one of %s", names);
}

static bool load_builtin(layers_network *network, const char *name, wf_diag *diag) {
  for (size_t i = 0; i < layers_table_file_count; i++) {
    const wf_text_file *file = &layers_table_files[i];
    if (strcmp(file->name, name) == 0)
      return layers_parse_yaml(network, file->name, file->text, strlen(file->text), diag);
  }
  wf_error(diag, wf_in_file(name), "no table of layers has this name");
  list_names(diag);
  return false;
}

bool layers_load(layers_network *network, const char *name_or_path, wf_diag *diag) {
  *network = (layers_network){0};
  const bool csv = ends_in(name_or_path, ".csv");
  if (!csv && !ends_in(name_or_path, ".yaml") && !ends_in(name_or_path, ".yml"))
    return load_builtin(network, name_or_path, diag);
  size_t length;
  char *text = wf_read_file(name_or_path, TEXT_MAX, &length, diag);
  if (text == NULL) return false;
  if (length > TEXT_MAX) wf_error(diag, wf_in_file(name_or_path), "is larger than 64 MiB");
  const bool good = length > TEXT_MAX ? false
                    : csv             ? layers_parse_csv(network, name_or_path, text, length, diag)
                                      : layers_parse_yaml(network, name_or_path, text, length, diag);
  wf_free(text);
  return good;
}

void layers_release(layers_network *network) {
  if (network->arena != NULL) wf_arena_destroy(network->arena);
  *network = (layers_network){0};
}

static void print_pair(const char *key, const int64_t pair[2], FILE *out) {
  if (pair[0] == 1 && pair[1] == 1) return;
  if (pair[0] == pair[1])
    fprintf(out, ", %s: %" PRId64, key, pair[0]);
  else
    fprintf(out, ", %s: [%" PRId64 ", %" PRId64 "]", key, pair[0], pair[1]);
}

static void print_groups(const layers_layer *layer, FILE *out) {
  const int64_t groups = layers_groups(layer);
  if (groups != 1) fprintf(out, ", groups: %" PRId64, groups);
}

void layers_print_yaml(const layers_network *network, FILE *out) {
  fprintf(out, "name: %s\ndescription: %s\nlayers:\n", network->name, network->description);
  for (size_t i = 0; i < network->count; i++) {
    const layers_layer *layer = &network->layers[i];
    fprintf(out, "  - {name: %s", layer->name);
    for (int d = 0; d < BLOCK_DIMS; d++) {
      const int64_t size = layers_whole_size(layer, (block_dim_id)d);
      if (size != 1) fprintf(out, ", %s: %" PRId64, block_dim_names[d], size);
    }
    print_groups(layer, out);
    print_pair("stride", layer->stride, out);
    print_pair("dilation", layer->dilation, out);
    if (layer->count != 1) fprintf(out, ", count: %" PRId64, layer->count);
    fputs("}\n", out);
  }
}

int64_t layers_groups(const layers_layer *layer) {
  if (layer->depthwise) return layer->size[BLOCK_DIM_K];
  return layer->groups == 0 ? 1 : layer->groups;
}

int64_t layers_whole_size(const layers_layer *layer, block_dim_id dim) {
  if (dim == BLOCK_DIM_C) return layer->size[dim] * layers_groups(layer);
  return dim == BLOCK_DIM_K && !layer->depthwise ? layer->size[dim] * layers_groups(layer) : layer->size[dim];
}

bool layers_set_groups(layers_layer *layer, int64_t groups) {
  int64_t *c = &layer->size[BLOCK_DIM_C], *k = &layer->size[BLOCK_DIM_K];
  if (*c % groups != 0 || *k % groups != 0) return false;
  layer->depthwise = groups > 1 && *c == groups && *k == groups;
  layer->groups = layer->depthwise || groups == 1 ? 0 : groups;
  *c /= groups;
  if (!layer->depthwise) *k /= groups;
  return true;
}

double layers_product_macs(const layers_layer *layer) {
  double macs = 1;
  for (int d = 0; d < BLOCK_DIMS; d++) macs *= (double)layer->size[d];
  return macs;
}

double layers_macs(const layers_layer *layer) {
  return layers_product_macs(layer) * (layer->depthwise ? 1 : (double)layers_groups(layer));
}

double layers_products(const layers_layer *layer) {
  return (double)layer->count * (layer->depthwise ? 1 : (double)layers_groups(layer));
}

map_layer layers_to_map(const layers_layer *layer) {
  map_layer map = {.result_bytes = 1, .groups = layer->depthwise || layer->groups == 0 ? 1 : layer->groups};
  memcpy(map.size, layer->size, sizeof map.size);
  memcpy(map.stride, layer->stride, sizeof map.stride);
  memcpy(map.dilation, layer->dilation, sizeof map.dilation);
  const int64_t *size = layer->size;
  const bool product = !layer->depthwise && map.groups == 1 && size[BLOCK_DIM_Q] == 1 && size[BLOCK_DIM_R] == 1 &&
                       size[BLOCK_DIM_S] == 1 && size[BLOCK_DIM_N] == 1 && layer->stride[0] == 1 &&
                       layer->stride[1] == 1;
  // An axis with one result and one element of the window has no stride: that of the other keeps the layer square.
  for (int axis = 0; axis < 2; axis++) {
    const bool single =
        size[axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q] == 1 && size[axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S] == 1;
    if (!single) continue;
    map.stride[axis] = map.stride[1 - axis];
    map.dilation[axis] = map.dilation[1 - axis];
  }
  map.kind = layer->depthwise ? MAP_DEPTHWISE : !product ? MAP_CONV : size[BLOCK_DIM_P] == 1 ? MAP_GEMV : MAP_GEMM;
  return map;
}
