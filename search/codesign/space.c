// SPDX-License-Identifier: Apache-2.0
// See space.h. Everything wrong with a text is reported before the reader gives up.
#include "search/codesign/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "hw/cost.h"
#include "search/codesign/space_files.h"

enum { TEXT_MAX = 1 << 20, VALUES_MAX = 1024 };

typedef struct reader {
  codesign_space *space;
  const char *path;
  const hw_yaml_node *root;
  wf_diag *diag;
} reader;

// A name with a '.' is a file, relative to the place of the text.
static const char *beside(const reader *r, const char *name) {
  const char *slash = strrchr(r->path, '/');
  if (name[0] == '/' || slash == NULL || strchr(name, '.') == NULL) return name;
  return wf_arena_format(r->space->arena, "%.*s%s", (int)(slash - r->path + 1), r->path, name);
}

static bool read_base(reader *r) {
  const hw_yaml_node *node = hw_yaml_tree_find(r->root, "base");
  hw_array_default(&r->space->base);
  if (node == NULL) return true;
  const char *name = hw_yaml_tree_text(node, "base", r->diag);
  return name != NULL && hw_array_load(&r->space->base, beside(r, name), r->diag);
}

static bool read_name(reader *r) {
  const hw_yaml_node *node = hw_yaml_tree_find(r->root, "name");
  r->space->name = node == NULL ? r->path : hw_yaml_tree_text(node, "name", r->diag);
  return r->space->name != NULL;
}

static bool check_axis(const sweep_axis *axis, wf_diag *diag) {
  if (axis->value_count > VALUES_MAX) {
    wf_error(diag, axis->where, "%zu values; %d are the most", axis->value_count, VALUES_MAX);
    return false;
  }
  for (size_t v = 0; v < axis->value_count; v++)
    for (size_t w = v + 1; w < axis->value_count; w++) {
      const size_t size = sizeof *axis->values * (size_t)axis->param_count;
      if (memcmp(&axis->values[v * (size_t)axis->param_count], &axis->values[w * (size_t)axis->param_count], size) != 0)
        continue;
      char text[64];
      codesign_axis_value(axis, v, text, sizeof text);
      wf_error(diag, axis->where, "value %s appears twice", text);
      return false;
    }
  return true;
}

static bool read_axes(reader *r) {
  const hw_yaml_node *all = hw_yaml_tree_find(r->root, "parameters");
  codesign_space *s = r->space;
  if (all == NULL) {
    wf_error(r->diag, r->root->where, "a space needs `parameters`");
    wf_hint(r->diag, "such as  parameters: {dma.bus_bits: [64, 128]}");
    return false;
  }
  if (!sweep_axes_read(s->arena, all, &s->axes, &s->axis_count, r->diag)) return false;
  bool good = s->axis_count > 0 && s->axis_count <= CODESIGN_AXES_MAX;
  if (!good) wf_error(r->diag, all->where, "%zu parameters; a space has 1 to %d", s->axis_count, CODESIGN_AXES_MAX);
  for (size_t a = 0; a < s->axis_count && good; a++) good = check_axis(&s->axes[a], r->diag);
  return good;
}

static bool read_rules(reader *r) {
  const hw_yaml_node *all = hw_yaml_tree_find(r->root, "constraints");
  if (all == NULL) return true;
  if (!hw_yaml_tree_is(all, YAML_TREE_LIST, "constraints", r->diag)) return false;
  r->space->rules = WF_ARENA_ARRAY(r->space->arena, all->count + 1, const codesign_rule *);
  bool good = true;
  for (const hw_yaml_node *entry = all->first; entry != NULL; entry = entry->next) {
    const char *text = hw_yaml_tree_text(entry, "a constraint", r->diag);
    const codesign_rule *rule = text == NULL ? NULL : codesign_rule_parse(r->space->arena, text, entry->where, r->diag);
    if (rule != NULL) r->space->rules[r->space->rule_count++] = rule;
    good = rule != NULL && good;
  }
  return good;
}

static bool read_all(reader *r) {
  static const char *const keys[] = {"name", "description", "base", "parameters", "constraints", NULL};
  if (!hw_yaml_tree_is(r->root, YAML_TREE_MAP, "a space", r->diag) ||
      !hw_yaml_tree_keys(r->root, "a space", keys, r->diag))
    return false;
  bool good = read_base(r);
  good = read_name(r) && good;
  good = read_axes(r) && good;
  return read_rules(r) && good;
}

bool codesign_space_parse(codesign_space *space, const char *file, const char *text, size_t length, wf_diag *diag) {
  *space = (codesign_space){.arena = wf_arena_create()};
  reader r = {.space = space, .path = wf_arena_text(space->arena, file, strlen(file)), .diag = diag};
  r.root = hw_yaml_tree_parse(space->arena, r.path, text, length, diag);
  return r.root != NULL && read_all(&r);
}

static bool load_shipped(codesign_space *space, const char *name, wf_diag *diag) {
  for (size_t i = 0; i < codesign_space_file_count; i++) {
    const wf_text_file *file = &codesign_space_files[i];
    if (strcmp(file->name, name) == 0)
      return codesign_space_parse(space, file->name, file->text, strlen(file->text), diag);
  }
  wf_error(diag, wf_in_file(name), "no such space");
  for (size_t i = 0; i < codesign_space_file_count; i++)
    wf_hint(diag, "%s is one; a file's name has a '.' or a '/'", codesign_space_files[i].name);
  return false;
}

bool codesign_space_load(codesign_space *space, const char *name_or_path, wf_diag *diag) {
  *space = (codesign_space){0};
  if (strpbrk(name_or_path, "./") == NULL) return load_shipped(space, name_or_path, diag);
  size_t length;
  char *text = wf_read_file(name_or_path, TEXT_MAX, &length, diag);
  if (text == NULL) return false;
  const bool whole = length <= TEXT_MAX;
  if (!whole) wf_error(diag, wf_in_file(name_or_path), "is larger than 1 MiB");
  const bool good = whole && codesign_space_parse(space, name_or_path, text, length, diag);
  wf_free(text);
  return good;
}

void codesign_space_release(codesign_space *space) {
  if (space->arena != NULL) wf_arena_destroy(space->arena);
  *space = (codesign_space){0};
}

// ---- points

double codesign_space_points(const codesign_space *space) {
  double points = 1;
  for (size_t a = 0; a < space->axis_count; a++) points *= (double)space->axes[a].value_count;
  return points;
}

codesign_point codesign_space_point(const codesign_space *space, uint64_t number) {
  codesign_point point = {.at = {0}};
  for (size_t a = space->axis_count; a-- > 0; number /= space->axes[a].value_count)
    point.at[a] = (uint16_t)(number % space->axes[a].value_count);
  return point;
}

static bool is_open(const codesign_space *space, const hw_param *param) {
  for (size_t a = 0; a < space->axis_count; a++)
    for (int p = 0; p < space->axes[a].param_count; p++)
      if (space->axes[a].params[p] == param) return true;
  return false;
}

bool codesign_space_array(const codesign_space *space, const codesign_point *point, hw_array *array) {
  *array = space->base;
  for (size_t a = 0; a < space->axis_count; a++) sweep_axis_set(&space->axes[a], point->at[a], array);
  if (!is_open(space, hw_param_find("types.output_bits"))) hw_array_widen_sums(array);
  wf_diag silent = wf_diag_to(NULL);
  if (!hw_array_check(array, NULL, &silent)) return false;
  if (is_open(space, hw_param_find("chip.clock_mhz")) && array->chip.clock_mhz > hw_cost_clock_mhz(array)) return false;
  for (size_t i = 0; i < space->rule_count; i++)
    if (!codesign_rule_holds(space->rules[i], array)) return false;
  return true;
}

// How far a value is from the base's, in doublings.
static double distance_to_base(const codesign_space *space, const sweep_axis *axis, size_t at) {
  double sum = 0;
  for (int p = 0; p < axis->param_count; p++) {
    const double of_base = hw_param_get(&space->base, axis->params[p]),
                 value = axis->values[at * (size_t)axis->param_count + (size_t)p];
    sum += fabs(log((value + 1) / (of_base + 1)));
  }
  return sum;
}

codesign_point codesign_space_base(const codesign_space *space) {
  codesign_point point = {.at = {0}};
  for (size_t a = 0; a < space->axis_count; a++)
    for (size_t v = 1; v < space->axes[a].value_count; v++)
      if (distance_to_base(space, &space->axes[a], v) < distance_to_base(space, &space->axes[a], point.at[a]))
        point.at[a] = (uint16_t)v;
  return point;
}

double codesign_point_distance(const codesign_space *space, const codesign_point *a, const codesign_point *b) {
  double sum = 0;
  for (size_t n = 0; n < space->axis_count; n++) {
    if (space->axes[n].value_count < 2) continue;
    const double step = ((double)a->at[n] - b->at[n]) / (double)(space->axes[n].value_count - 1);
    sum += step * step;
  }
  return sqrt(sum);
}

// ---- texts

static void append(char *text, size_t size, const char *comma, const char *more) {
  const size_t length = strlen(text);
  snprintf(text + length, size - length, "%s%s", comma, more);
}

void codesign_axis_name(const sweep_axis *axis, char *text, size_t size) {
  *text = '\0';
  for (int p = 0; p < axis->param_count; p++) {
    append(text, size, p == 0 ? "" : ", ", axis->params[p]->section);
    append(text, size, ".", axis->params[p]->name);
  }
}

// One value where all parameters have the same.
void codesign_axis_value(const sweep_axis *axis, size_t at, char *text, size_t size) {
  const uint32_t *values = &axis->values[at * (size_t)axis->param_count];
  bool same = true;
  for (int p = 1; p < axis->param_count; p++) same &= values[p] == values[0];
  *text = '\0';
  for (int p = 0; p < (same ? 1 : axis->param_count); p++) {
    char value[32];
    hw_param_text(axis->params[p], values[p], value, sizeof value);
    append(text, size, p == 0 ? "" : ", ", value);
  }
}
