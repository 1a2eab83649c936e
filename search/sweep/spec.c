// SPDX-License-Identifier: Apache-2.0
// Reads the text of a sweep: see spec.h. Everything wrong with a value is reported before the reader gives up.
#include "search/sweep/spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "hw/yaml_tree.h"
#include "search/layers/network.h"

enum { SIZE_OPTION_MAX = 1 << 24 };
enum { TEXT_MAX = 1 << 24, TUNE_MAX = MAP_BEST_MAX, NAME_CHARS = 256 };

typedef struct reader {
  sweep_spec *spec;
  const char *path;
  const hw_yaml_node *root;
  const char *const *others;  // keys that the caller reads; NULL: there are none
  wf_diag *diag;
} reader;

// Whether the caller reads what stands under the key.
static bool is_other(const reader *r, const char *key) {
  for (const char *const *other = r->others; other != NULL && *other != NULL; other++)
    if (strcmp(*other, key) == 0) return true;
  return false;
}

// ---- axes

static bool read_axes(reader *r) {
  const hw_yaml_node *all = hw_yaml_tree_find(r->root, "parameters");
  return all == NULL || sweep_axes_read(r->spec->arena, all, &r->spec->axes, &r->spec->axis_count, r->diag);
}

// ---- files that the text names

const char *sweep_spec_beside(const sweep_spec *spec, const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  if (name[0] == '/' || slash == NULL || strchr(name, '.') == NULL) return name;
  return wf_arena_format(spec->arena, "%.*s%s", (int)(slash - path + 1), path, name);
}

static const char *beside(const reader *r, const char *name) { return sweep_spec_beside(r->spec, r->path, name); }

static bool read_base(reader *r) {
  const hw_yaml_node *node = hw_yaml_tree_find(r->root, "base");
  hw_array_default(&r->spec->base);
  if (node == NULL) return true;
  const char *name = hw_yaml_tree_text(node, "base", r->diag);
  return name != NULL && hw_array_load(&r->spec->base, beside(r, name), r->diag);
}

static bool read_arrays(reader *r) {
  const hw_yaml_node *all = hw_yaml_tree_find(r->root, "arrays");
  if (all == NULL) return true;
  if (!hw_yaml_tree_is(all, YAML_TREE_LIST, "arrays", r->diag)) return false;
  r->spec->arrays = WF_ARENA_ARRAY(r->spec->arena, all->count + 1, hw_array);
  bool good = true;
  for (const hw_yaml_node *entry = all->first; entry != NULL; entry = entry->next) {
    const char *name = hw_yaml_tree_text(entry, "an array", r->diag);
    good = name != NULL && hw_array_load(&r->spec->arrays[r->spec->array_count++], beside(r, name), r->diag) && good;
  }
  return good;
}

// The store has integers of 64 bits.
static bool check_macs(const layers_network *network, wf_location where, wf_diag *diag) {
  double macs = 0;
  for (size_t i = 0; i < network->count; i++)
    macs += (double)network->layers[i].count * layers_macs(&network->layers[i]);
  if (macs < 0x1p63) return true;
  wf_error(diag, where, "network '%s' has %g multiply-accumulates; 2^63 is too many", network->name, macs);
  return false;
}

// How often networks read so far have the name.
static size_t count_name(const sweep_spec *spec, const char *name) {
  size_t count = 0;
  for (size_t n = 0; n < spec->network_count; n++)
    count += spec->networks[n].name != NULL && strcmp(spec->networks[n].name, name) == 0;
  for (size_t n = 0; n < spec->program_count; n++) count += strcmp(spec->programs[n].name, name) == 0;
  return count;
}

static bool check_name(const reader *r, const char *name, wf_location where) {
  if (count_name(r->spec, name) <= 1) return true;
  wf_error(r->diag, where, "network '%s' appears twice", name);
  wf_hint(r->diag, "{net: FILE.onnx, name: another} gives it a name");
  return false;
}

static bool read_table(reader *r, const char *path, wf_location where) {
  layers_network *network = &r->spec->networks[r->spec->network_count++];
  if (!layers_load(network, path, r->diag)) {
    network->name = NULL;  // it keeps its place
    return false;
  }
  return check_macs(network, where, r->diag) && check_name(r, network->name, where);
}

static const char *base_name(wf_arena *arena, const char *path) {
  const char *slash = strrchr(path, '/'), *start = slash == NULL ? path : slash + 1, *dot = strrchr(start, '.');
  return wf_arena_text(arena, start, dot == NULL || dot == start ? strlen(start) : (size_t)(dot - start));
}

static bool read_program(reader *r, const char *path, const char *name, const layers_program_options *options,
                         wf_location where) {
  layers_program *program = &r->spec->programs[r->spec->program_count++];
  if (name == NULL) name = base_name(r->spec->arena, path);
  return layers_program_load(program, path, name, options, r->diag) && check_name(r, name, where);
}

// {net: mobilenetv2, name: small, size: 64, float-ends: true, dims: {tokens: 64}}: the options of `weft sim`.
static bool read_dims(reader *r, const hw_yaml_node *node, layers_program_options *options) {
  if (node == NULL) return true;
  if (!hw_yaml_tree_is(node, YAML_TREE_MAP, "dims", r->diag)) return false;
  onnx_dim *dims = WF_ARENA_ARRAY(r->spec->arena, node->count + 1, onnx_dim);
  bool good = true;
  for (const hw_yaml_node *entry = node->first; entry != NULL; entry = entry->next) {
    onnx_dim *dim = &dims[options->dim_count++];
    dim->name = entry->key;
    good = hw_yaml_tree_integer(entry, entry->key, 1, SIZE_OPTION_MAX, &dim->value, r->diag) && good;
  }
  options->dims = dims;
  return good;
}

// outputs: [NAME, ..]
static bool read_outputs(reader *r, const hw_yaml_node *node, layers_program_options *options) {
  if (node == NULL) return true;
  if (!hw_yaml_tree_is(node, YAML_TREE_LIST, "outputs", r->diag)) return false;
  const char **names = WF_ARENA_ARRAY(r->spec->arena, node->count + 1, const char *);
  options->outputs = names;
  for (const hw_yaml_node *entry = node->first; entry != NULL; entry = entry->next) {
    names[options->output_count] = hw_yaml_tree_text(entry, "a name", r->diag);
    if (names[options->output_count++] == NULL) return false;
  }
  return true;
}

static bool read_sizes(reader *r, const hw_yaml_node *node, layers_program_options *options) {
  networks_options *made = &options->network;
  const struct {
    const char *key;
    int64_t *value;
  } sizes[] = {{"size", &made->size},
               {"seq", &made->sequence},
               {"batch", &made->batch},
               {"divisor", &made->divisor},
               {"depth", &made->layers}};
  bool good = true;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const hw_yaml_node *entry = hw_yaml_tree_find(node, sizes[i].key);
    if (entry == NULL) continue;
    good = hw_yaml_tree_integer(entry, sizes[i].key, 1, SIZE_OPTION_MAX, sizes[i].value, r->diag) && good;
  }
  return good;
}

static bool read_ends(reader *r, const hw_yaml_node *node, layers_program_options *options) {
  static const char *const flags[] = {"false", "true", NULL}, *const types[] = {"int8", "uint8", NULL};
  const hw_yaml_node *ends = hw_yaml_tree_find(node, "float-ends"), *type = hw_yaml_tree_find(node, "input-type");
  int floats = 0, images = 0;
  if (ends != NULL && !hw_yaml_tree_choice(ends, "float-ends", flags, &floats, r->diag)) return false;
  if (type != NULL && !hw_yaml_tree_choice(type, "input-type", types, &images, r->diag)) return false;
  if (floats == 1 && type != NULL) {
    wf_error(r->diag, type->where, "input-type is for ends of integers, not with float-ends");
    return false;
  }
  options->float_ends = floats == 1;
  options->uint8_images = images == 1;
  return true;
}

static bool read_options(reader *r, const hw_yaml_node *node) {
  static const char *const keys[] = {"net",   "name", "size",    "seq",        "batch",      "divisor",
                                     "depth", "dims", "outputs", "float-ends", "input-type", NULL};
  const hw_yaml_node *net = hw_yaml_tree_find(node, "net"), *name = hw_yaml_tree_find(node, "name");
  layers_program_options options = {.dim_count = 0};
  if (!hw_yaml_tree_keys(node, "a network", keys, r->diag)) return false;
  if (net == NULL) {
    wf_error(r->diag, node->where, "a network with options has `net`");
    return false;
  }
  const char *path = hw_yaml_tree_text(net, "net", r->diag),
             *its_name = name == NULL ? NULL : hw_yaml_tree_text(name, "name", r->diag);
  if (path == NULL || (name != NULL && its_name == NULL) || !read_sizes(r, node, &options) ||
      !read_dims(r, hw_yaml_tree_find(node, "dims"), &options) ||
      !read_outputs(r, hw_yaml_tree_find(node, "outputs"), &options) || !read_ends(r, node, &options))
    return false;
  if (!layers_is_program(path)) {
    wf_error(r->diag, net->where, "'%s' is no ONNX file and no generated network", path);
    wf_hint(r->diag, "weft net --list names the generated ones; a layer table stands without options");
    return false;
  }
  return read_program(r, beside(r, path), its_name, &options, net->where);
}

// A shipped table goes before the generated network of its name, which {net: NAME} is.
static bool read_network(reader *r, const hw_yaml_node *node) {
  if (node->kind == YAML_TREE_MAP) return read_options(r, node);
  const char *name = hw_yaml_tree_text(node, "a network", r->diag);
  if (name == NULL) return false;
  if (!layers_is_network(name)) return read_table(r, beside(r, name), node->where);
  return read_program(r, beside(r, name), NULL, &(layers_program_options){.dim_count = 0}, node->where);
}

static bool read_networks(reader *r) {
  const hw_yaml_node *all = hw_yaml_tree_find(r->root, "networks");
  if (all == NULL) {
    wf_error(r->diag, r->root->where, "no networks");
    wf_hint(r->diag, "networks: [resnet50], or the paths of layer tables and ONNX files");
    return false;
  }
  if (!hw_yaml_tree_is(all, YAML_TREE_LIST, "networks", r->diag)) return false;
  r->spec->networks = WF_ARENA_ARRAY(r->spec->arena, all->count + 1, layers_network);
  r->spec->programs = WF_ARENA_ARRAY(r->spec->arena, all->count + 1, layers_program);
  bool good = true;
  for (const hw_yaml_node *entry = all->first; entry != NULL; entry = entry->next)
    good = read_network(r, entry) && good;
  return good;
}

// ---- the rest

// {tune: N} or {search: N}.
static bool read_mapping_number(const hw_yaml_node *node, sweep_mapping *mapping, wf_diag *diag) {
  static const char *const keys[] = {"tune", "search", NULL};
  if (!hw_yaml_tree_is(node, YAML_TREE_MAP, "mapping", diag) || !hw_yaml_tree_keys(node, "mapping", keys, diag))
    return false;
  const hw_yaml_node *tune = hw_yaml_tree_find(node, "tune"), *search = hw_yaml_tree_find(node, "search");
  int64_t number = 0;
  if ((tune == NULL) == (search == NULL)) {
    wf_error(diag, node->where, "mapping has `tune` or `search`");
    return false;
  }
  if (!hw_yaml_tree_integer(tune != NULL ? tune : search, tune != NULL ? "tune" : "search", 1, TUNE_MAX, &number, diag))
    return false;
  *(tune != NULL ? &mapping->tune : &mapping->searched) = (unsigned)number;
  return true;
}

bool sweep_mapping_read(const hw_yaml_node *node, sweep_mapping *mapping, wf_diag *diag) {
  enum { SEARCHED = 8 };
  static const char *const words[] = {"default", "searched", NULL};
  int choice = 0;
  *mapping = (sweep_mapping){0};
  if (node->kind != YAML_TREE_SCALAR) return read_mapping_number(node, mapping, diag);
  if (!hw_yaml_tree_choice(node, "mapping", words, &choice, diag)) return false;
  if (choice == 1) mapping->searched = SEARCHED;
  return true;
}

static bool read_mapping(reader *r) {
  const hw_yaml_node *node = hw_yaml_tree_find(r->root, "mapping");
  sweep_mapping mapping = {0};
  if (node != NULL && !sweep_mapping_read(node, &mapping, r->diag)) return false;
  r->spec->tune = mapping.tune;
  r->spec->searched = mapping.searched;
  return true;
}

// Which steps of programs run: some of equal ones, or all.
static bool read_steps(reader *r) {
  static const char *const words[] = {"equal", "all", NULL};
  const hw_yaml_node *node = hw_yaml_tree_find(r->root, "steps");
  int choice = 0;
  if (node != NULL && !hw_yaml_tree_choice(node, "steps", words, &choice, r->diag)) return false;
  r->spec->all_steps = choice == 1;
  return true;
}

static bool read_fidelity(reader *r) {
  const hw_yaml_node *node = hw_yaml_tree_find(r->root, "fidelity");
  int choice = RUN_FIDELITY_CYCLE;
  if (node != NULL && !hw_yaml_tree_choice(node, "fidelity", run_fidelity_names, &choice, r->diag)) return false;
  r->spec->fidelity = (run_fidelity)choice;
  return true;
}

static bool read_objective(reader *r) {
  const char *words[PLAIN_OBJECTIVES + 1] = {NULL};
  const hw_yaml_node *node = hw_yaml_tree_find(r->root, "objective");
  int choice = PLAIN_LATENCY;
  for (int n = 0; n < PLAIN_OBJECTIVES; n++) words[n] = descent_plain_objective_names[n];
  if (node != NULL && !hw_yaml_tree_choice(node, "objective", words, &choice, r->diag)) return false;
  r->spec->objective = (descent_plain_objective)choice;
  if (node == NULL || r->spec->searched > 0 || is_other(r, "mapping")) return true;
  wf_error(r->diag, node->where, "`objective` is for mappings that are searched");
  return false;
}

static bool read_sample(reader *r) {
  static const char *const words[] = {"grid", "random", "latin", "list", NULL};
  sweep_spec *spec = r->spec;
  const hw_yaml_node *sample = hw_yaml_tree_find(r->root, "sample"), *count = hw_yaml_tree_find(r->root, "count"),
                     *seed = hw_yaml_tree_find(r->root, "seed"), *timeout = hw_yaml_tree_find(r->root, "timeout");
  int choice = spec->array_count > 0 ? SWEEP_LIST : SWEEP_GRID;
  int64_t number = 0, start = 1;
  if (sample != NULL && !hw_yaml_tree_choice(sample, "sample", words, &choice, r->diag)) return false;
  if (count != NULL && !hw_yaml_tree_integer(count, "count", 1, SWEEP_POINTS_MAX, &number, r->diag)) return false;
  if (seed != NULL && !hw_yaml_tree_integer(seed, "seed", 0, INT64_MAX, &start, r->diag)) return false;
  if (timeout != NULL && !hw_yaml_tree_number(timeout, "timeout", &spec->timeout, r->diag)) return false;
  spec->sample = (sweep_sample)choice;
  spec->count = (uint64_t)number;
  spec->seed = (uint64_t)start;
  return true;
}

// What must be said together.
static bool check(reader *r) {
  const sweep_spec *spec = r->spec;
  const bool drawn = spec->sample == SWEEP_RANDOM || spec->sample == SWEEP_LATIN;
  const char *what = NULL;
  if (drawn && spec->count == 0) what = "this sample needs `count`";
  if (!drawn && spec->count != 0) what = "`count` is for samples that are drawn: random, latin";
  if (spec->sample == SWEEP_LIST && spec->array_count == 0) what = "a list needs `arrays`";
  if (spec->sample == SWEEP_LIST && spec->axis_count > 0) what = "a list of arrays has no `parameters`";
  if (spec->sample != SWEEP_LIST && spec->array_count > 0) what = "`arrays` is for `sample: list`";
  if (spec->program_count > 0 && spec->searched > 0) what = "searched mappings are for tables of layers";
  if (spec->timeout < 0) what = "a timeout is not negative";
  if (what == NULL && sweep_point_count(spec) > SWEEP_POINTS_MAX) what = "more than a million points";
  if (what == NULL) return true;
  wf_error(r->diag, r->root->where, "%s", what);
  return false;
}

static bool read_technology(reader *r) {
  const hw_yaml_node *node = hw_yaml_tree_find(r->root, "technology");
  if (node == NULL) return true;
  const char *name = hw_yaml_tree_text(node, "technology", r->diag);
  hw_tech *loaded = name == NULL ? NULL : hw_tech_load(beside(r, name), r->diag);
  if (loaded == NULL) return false;
  hw_tech *tech = WF_ARENA_ARRAY(r->spec->arena, 1, hw_tech);
  *tech = *loaded;
  r->spec->tech = tech;
  wf_free(loaded);
  return true;
}

// The keys of a sweep and the caller's in one list.
static bool check_keys(const reader *r) {
  static const char *const own[] = {"name",   "base",      "sample",  "count", "seed",       "parameters",
                                    "arrays", "objective", "timeout", "steps", "technology", "fidelity"};
  static const char *const alone[] = {"networks", "mapping", NULL};
  enum { OWN = sizeof own / sizeof *own };
  const char *const *others = r->others == NULL ? alone : r->others;
  size_t count = 0;
  while (others[count] != NULL) count++;
  const char **keys = WF_ARENA_ARRAY(r->spec->arena, OWN + count + 1, const char *);
  for (size_t i = 0; i < OWN; i++) keys[i] = own[i];
  for (size_t i = 0; i < count; i++) keys[OWN + i] = others[i];
  return hw_yaml_tree_keys(r->root, r->others == NULL ? "a sweep" : "a study", keys, r->diag);
}

static bool read_all(reader *r) {
  if (!hw_yaml_tree_is(r->root, YAML_TREE_MAP, r->others == NULL ? "a sweep" : "a study", r->diag)) return false;
  const hw_yaml_node *name = hw_yaml_tree_find(r->root, "name");
  r->spec->name = name == NULL ? base_name(r->spec->arena, r->path) : hw_yaml_tree_text(name, "name", r->diag);
  bool good = check_keys(r) && r->spec->name != NULL;
  good = read_base(r) && good;
  good = read_axes(r) && good;
  good = read_arrays(r) && good;
  good = (is_other(r, "networks") || read_networks(r)) && good;
  good = (is_other(r, "mapping") || read_mapping(r)) && good;
  good = read_steps(r) && good;
  good = read_fidelity(r) && good;
  good = read_technology(r) && good;
  good = read_objective(r) && good;
  good = read_sample(r) && good;
  return good && check(r);
}

bool sweep_spec_read(sweep_spec *spec, const char *path, const hw_yaml_node *root, const char *const *others,
                     wf_diag *diag) {
  reader r = {.spec = spec, .path = path, .root = root, .others = others, .diag = diag};
  return read_all(&r);
}

bool sweep_spec_parse(sweep_spec *spec, const char *path, const char *text, size_t length, wf_diag *diag) {
  *spec = (sweep_spec){.arena = wf_arena_create()};
  spec->text = wf_arena_text(spec->arena, text, length);
  path = wf_arena_text(spec->arena, path, strlen(path));
  const hw_yaml_node *root = hw_yaml_tree_parse(spec->arena, path, text, length, diag);
  return root != NULL && sweep_spec_read(spec, path, root, NULL, diag);
}

bool sweep_spec_load(sweep_spec *spec, const char *path, wf_diag *diag) {
  *spec = (sweep_spec){0};
  size_t length;
  char *text = wf_read_file(path, TEXT_MAX, &length, diag);
  if (text == NULL) return false;
  const bool whole = length <= TEXT_MAX;
  if (!whole) wf_error(diag, wf_in_file(path), "is larger than 16 MiB");
  const bool good = whole && sweep_spec_parse(spec, path, text, length, diag);
  wf_free(text);
  return good;
}

void sweep_spec_release(sweep_spec *spec) {
  for (size_t n = 0; n < spec->network_count; n++) layers_release(&spec->networks[n]);
  for (size_t n = 0; n < spec->program_count; n++) layers_program_release(&spec->programs[n]);
  if (spec->arena != NULL) wf_arena_destroy(spec->arena);
  *spec = (sweep_spec){0};
}
