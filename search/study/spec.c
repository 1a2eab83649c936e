// SPDX-License-Identifier: Apache-2.0
// Reads the text of a study: what it has beside the keys of a sweep. Everything wrong with a value is reported before
// the reader gives up.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "hw/yaml_tree.h"
#include "search/layers/network.h"
#include "search/study/study.h"

enum { TEXT_MAX = 1 << 24, LIST_MAX = 1000, MULTIPLE_MAX = 4096 };

typedef struct reader {
  study_spec *spec;
  const char *path;
  const hw_yaml_node *root;
  size_t room;  // of compressions
  wf_diag *diag;
} reader;

// The list under a key; NULL: there is none, or, after an error was reported, no list (*good is false then).
static const hw_yaml_node *list_of(const reader *r, const hw_yaml_node *map, const char *key, bool *good) {
  const hw_yaml_node *list = hw_yaml_tree_find(map, key);
  if (list == NULL) return NULL;
  if (!hw_yaml_tree_is(list, YAML_TREE_LIST, key, r->diag)) {
    *good = false;
    return NULL;
  }
  if (list->count > 0 && list->count <= LIST_MAX) return list;
  wf_error(r->diag, list->where, list->count == 0 ? "`%s` is an empty list" : "`%s` has more than a thousand values",
           key);
  *good = false;
  return NULL;
}

// ---- networks

static bool check_name(const reader *r, const layers_network *network, wf_location where) {
  for (const layers_network *other = r->spec->networks; other < network; other++) {
    if (other->name == NULL || strcmp(other->name, network->name) != 0) continue;
    wf_error(r->diag, where, "network '%s' appears twice", network->name);
    return false;
  }
  return true;
}

static bool read_network(reader *r, const hw_yaml_node *node) {
  const char *name = hw_yaml_tree_text(node, "a network", r->diag);
  if (name == NULL) {
    wf_hint(r->diag, "weft net NAME --layers FILE.yaml makes the table of a network with options");
    return false;
  }
  layers_network *network = &r->spec->networks[r->spec->network_count++];
  if (layers_load_network(network, sweep_spec_beside(&r->spec->base, r->path, name), NULL, r->diag))
    return check_name(r, network, node->where);
  network->name = NULL;  // it keeps its place
  return false;
}

static bool read_networks(reader *r) {
  bool good = true;
  const hw_yaml_node *all = list_of(r, r->root, "networks", &good);
  if (all == NULL) {
    if (!good) return false;
    wf_error(r->diag, r->root->where, "no networks");
    wf_hint(r->diag, "networks: [resnet50, vgg16], tables of layers, ONNX files or generated networks");
    return false;
  }
  r->spec->networks = WF_ARENA_ARRAY(r->spec->base.arena, all->count, layers_network);
  for (const hw_yaml_node *entry = all->first; entry != NULL; entry = entry->next)
    good = read_network(r, entry) && good;
  return good;
}

// ---- compression

static bool add(reader *r, study_compression c) {
  for (size_t i = 0; i < r->spec->compression_count; i++) {
    if (strcmp(r->spec->compressions[i].name, c.name) != 0) continue;
    wf_error(r->diag, c.where, "compression '%s' appears twice", c.name);
    return false;
  }
  *WF_ARENA_PUSH(r->spec->base.arena, r->spec->compressions, r->spec->compression_count, &r->room) = c;
  return true;
}

static bool add_none(reader *r) {
  return add(r, (study_compression){.kind = STUDY_NONE, .name = "none", .density = 1, .multiple = 1});
}

static bool read_density(const reader *r, const hw_yaml_node *node, const char *kind, double *density) {
  if (!hw_yaml_tree_number(node, kind, density, r->diag)) return false;
  if (*density > 0 && *density < 1) return true;
  wf_error(r->diag, node->where, "a density is above 0 and below 1");
  wf_hint(r->diag, "it is the share that stays: 0.25 is a quarter of all %ss; `none` is the whole network", kind);
  return false;
}

// `none`, `side`, or a number.
static bool read_multiple(const reader *r, const hw_yaml_node *node, int64_t *multiple) {
  static const char *const words[] = {"none", "side", NULL};
  const char *text = hw_yaml_tree_text(node, "round", r->diag);
  int choice = 0;
  if (text == NULL) return false;
  if (text[0] >= '0' && text[0] <= '9') return hw_yaml_tree_integer(node, "round", 2, MULTIPLE_MAX, multiple, r->diag);
  if (!hw_yaml_tree_choice(node, "round", words, &choice, r->diag)) return false;
  *multiple = choice == 1 ? STUDY_SIDE : 1;
  return true;
}

static const char *channel_name(wf_arena *arena, double density, int64_t multiple) {
  if (multiple == STUDY_SIDE) return wf_arena_format(arena, "channel %g side", density);
  if (multiple == 1) return wf_arena_format(arena, "channel %g", density);
  return wf_arena_format(arena, "channel %g x%d", density, (int)multiple);
}

static bool add_channel(reader *r, const hw_yaml_node *node, double density, int64_t multiple) {
  return add(r, (study_compression){.kind = STUDY_CHANNEL,
                                    .name = channel_name(r->spec->base.arena, density, multiple),
                                    .density = density,
                                    .multiple = multiple,
                                    .where = node->where});
}

static bool add_weight(reader *r, const hw_yaml_node *node, double density, study_pattern pattern) {
  return add(r, (study_compression){
                    .kind = STUDY_WEIGHT,
                    .name = wf_arena_format(r->spec->base.arena, "weight %g %s", density, study_pattern_names[pattern]),
                    .density = density,
                    .multiple = 1,
                    .pattern = pattern,
                    .where = node->where});
}

// A density with each value of the other list; NULL: with its default.
static bool add_channels(reader *r, const hw_yaml_node *node, const hw_yaml_node *rounds) {
  double density;
  if (!read_density(r, node, "channel", &density)) return false;
  if (rounds == NULL) return add_channel(r, node, density, 1);
  bool good = true;
  for (const hw_yaml_node *entry = rounds->first; entry != NULL; entry = entry->next) {
    int64_t multiple;
    good = read_multiple(r, entry, &multiple) && add_channel(r, entry, density, multiple) && good;
  }
  return good;
}

static bool add_weights(reader *r, const hw_yaml_node *node, const hw_yaml_node *patterns) {
  const char *const words[] = {study_pattern_names[STUDY_UNIFORM], study_pattern_names[STUDY_BLOCK], NULL};
  double density;
  if (!read_density(r, node, "weight", &density)) return false;
  if (patterns == NULL) return add_weight(r, node, density, STUDY_UNIFORM);
  bool good = true;
  for (const hw_yaml_node *entry = patterns->first; entry != NULL; entry = entry->next) {
    int choice;
    good = hw_yaml_tree_choice(entry, "pattern", words, &choice, r->diag) &&
           add_weight(r, entry, density, (study_pattern)choice) && good;
  }
  return good;
}

typedef bool add_densities(reader *r, const hw_yaml_node *node, const hw_yaml_node *others);

// {KIND: [densities], OTHER: [..]}
static bool read_kind(reader *r, const hw_yaml_node *map, const char *kind, const char *other, add_densities *take) {
  const char *const keys[] = {kind, other, NULL};
  bool good = hw_yaml_tree_keys(map, "a compression", keys, r->diag);
  const hw_yaml_node *densities = list_of(r, map, kind, &good), *others = list_of(r, map, other, &good);
  if (!good) return false;
  for (const hw_yaml_node *entry = densities->first; entry != NULL; entry = entry->next)
    good = take(r, entry, others) && good;
  return good;
}

static bool read_compression(reader *r, const hw_yaml_node *node) {
  static const char *const words[] = {"none", NULL};
  int choice;
  if (node->kind == YAML_TREE_SCALAR) return hw_yaml_tree_choice(node, "compress", words, &choice, r->diag);
  if (!hw_yaml_tree_is(node, YAML_TREE_MAP, "a compression", r->diag)) return false;
  const bool channel = hw_yaml_tree_find(node, "channel") != NULL, weight = hw_yaml_tree_find(node, "weight") != NULL;
  if (channel && !weight) return read_kind(r, node, "channel", "round", add_channels);
  if (weight && !channel) return read_kind(r, node, "weight", "pattern", add_weights);
  wf_error(r->diag, node->where, "a compression has `channel` or `weight`");
  wf_hint(r->diag, "{channel: [0.5], round: [none, side]} or {weight: [0.1], pattern: [uniform, block]}");
  return false;
}

// The whole network comes first, named or not: all others are compared with it.
static bool read_compressions(reader *r) {
  bool good = add_none(r);
  const hw_yaml_node *all = list_of(r, r->root, "compress", &good);
  for (const hw_yaml_node *entry = all == NULL ? NULL : all->first; entry != NULL; entry = entry->next)
    good = read_compression(r, entry) && good;
  return good;
}

// ---- lowering and mapping

static bool add_lowering(reader *r, const hw_yaml_node *node, study_lowering lowering) {
  for (size_t i = 0; i < r->spec->lowering_count; i++) {
    if (r->spec->lowerings[i] != lowering) continue;
    wf_error(r->diag, node->where, "lowering '%s' appears twice", study_lowering_names[lowering]);
    return false;
  }
  r->spec->lowerings[r->spec->lowering_count++] = lowering;
  return true;
}

static bool read_lowerings(reader *r) {
  const char *words[STUDY_LOWERING_COUNT + 1] = {NULL};
  bool good = true;
  const hw_yaml_node *all = list_of(r, r->root, "lowering", &good);
  for (int l = 0; l < STUDY_LOWERING_COUNT; l++) words[l] = study_lowering_names[l];
  if (all == NULL) {
    r->spec->lowerings[r->spec->lowering_count++] = STUDY_DIRECT;
    return good;
  }
  for (const hw_yaml_node *entry = all->first; entry != NULL; entry = entry->next) {
    int choice;
    good = hw_yaml_tree_choice(entry, "lowering", words, &choice, r->diag) &&
           add_lowering(r, entry, (study_lowering)choice) && good;
  }
  return good;
}

static bool add_mapping(reader *r, const hw_yaml_node *node) {
  sweep_mapping *next = &r->spec->mappings[r->spec->mapping_count];
  if (!sweep_mapping_read(node, next, r->diag)) return false;
  const sweep_policy_text text = study_policy(r->spec, r->spec->mapping_count);
  for (size_t m = 0; m < r->spec->mapping_count; m++) {
    if (strcmp(study_policy(r->spec, m).text, text.text) != 0) continue;
    wf_error(r->diag, node->where, "mapping '%s' appears twice", text.text);
    return false;
  }
  r->spec->mapping_count++;
  return true;
}

static bool read_mappings(reader *r) {
  bool good = true;
  const hw_yaml_node *all = list_of(r, r->root, "mapping", &good);
  r->spec->mappings = WF_ARENA_ARRAY(r->spec->base.arena, all == NULL ? 1 : all->count, sweep_mapping);
  if (all == NULL) r->spec->mapping_count = 1;
  for (const hw_yaml_node *entry = all == NULL ? NULL : all->first; entry != NULL; entry = entry->next)
    good = add_mapping(r, entry) && good;
  return good;
}

// ---- the whole

// What a sweep takes and a study does not, and what must be said together.
static bool check(const reader *r) {
  const hw_yaml_node *steps = hw_yaml_tree_find(r->root, "steps"), *objective = hw_yaml_tree_find(r->root, "objective");
  bool searched = false;
  for (size_t m = 0; m < r->spec->mapping_count; m++) searched |= r->spec->mappings[m].searched > 0;
  if (steps != NULL) {
    wf_error(r->diag, steps->where, "`steps` is for programs; a study measures tables of layers");
  } else if (objective != NULL && !searched) {
    wf_error(r->diag, objective->where, "`objective` is for mappings that are searched");
  } else if (study_row_count(r->spec) > STUDY_ROWS_MAX) {
    wf_error(r->diag, r->root->where, "more than a million configurations");
  } else {
    return true;
  }
  return false;
}

static bool read_all(reader *r) {
  static const char *const own[] = {"networks", "mapping", "compress", "lowering", NULL};
  bool good = sweep_spec_read(&r->spec->base, r->path, r->root, own, r->diag);
  if (r->root->kind != YAML_TREE_MAP) return false;
  if (hw_yaml_tree_find(r->root, "fidelity") == NULL) r->spec->base.fidelity = RUN_FIDELITY_FLOW;
  good = read_networks(r) && good;
  good = read_compressions(r) && good;
  good = read_lowerings(r) && good;
  good = read_mappings(r) && good;
  return good && check(r);
}

bool study_spec_parse(study_spec *spec, const char *path, const char *text, size_t length, wf_diag *diag) {
  *spec = (study_spec){.base = {.arena = wf_arena_create()}};
  spec->base.text = wf_arena_text(spec->base.arena, text, length);
  path = wf_arena_text(spec->base.arena, path, strlen(path));
  reader r = {.spec = spec, .path = path, .diag = diag};
  r.root = hw_yaml_tree_parse(spec->base.arena, path, text, length, diag);
  return r.root != NULL && read_all(&r);
}

bool study_spec_load(study_spec *spec, const char *path, wf_diag *diag) {
  *spec = (study_spec){0};
  size_t length;
  char *text = wf_read_file(path, TEXT_MAX, &length, diag);
  if (text == NULL) return false;
  const bool whole = length <= TEXT_MAX;
  if (!whole) wf_error(diag, wf_in_file(path), "is larger than 16 MiB");
  const bool good = whole && study_spec_parse(spec, path, text, length, diag);
  wf_free(text);
  return good;
}

void study_spec_release(study_spec *spec) {
  for (size_t n = 0; n < spec->network_count; n++) layers_release(&spec->networks[n]);
  sweep_spec_release(&spec->base);
  *spec = (study_spec){0};
}

size_t study_row_count(const study_spec *spec) {
  return spec->network_count * spec->compression_count * spec->lowering_count * spec->mapping_count *
         sweep_point_count(&spec->base);
}

sweep_policy_text study_policy(const study_spec *spec, size_t mapping) {
  sweep_spec like = spec->base;
  like.tune = spec->mappings[mapping].tune;
  like.searched = spec->mappings[mapping].searched;
  return sweep_policy(&like);
}
