// SPDX-License-Identifier: Apache-2.0
// Reads axes: see axes.h. Everything wrong with a value is reported before the reader gives up.
#include "search/sweep/axes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 1000000, ERRORS_MAX = 20 };

typedef struct reader {
  wf_arena *arena;
  sweep_axis *axes;
  size_t axis_count;
  wf_diag *diag;
} reader;

// `text` is one value of a parameter, reported against `where`.
static bool value_of(const hw_param *param, const char *text, wf_location where, uint32_t *value, wf_diag *diag) {
  if (hw_param_value(param, text, value)) return true;
  wf_error(diag, where, "'%s' is no value of %s.%s", text, param->section, param->name);
  if (param->kind == HW_PARAM_ENUM) {
    wf_hint(diag, "one of %s", param->values);
  } else if (param->kind != HW_PARAM_FLAG) {
    wf_hint(diag, "%s from %u to %u", param->kind == HW_PARAM_POW2 ? "a power of two" : "a whole number", param->min,
            param->max);
  }
  return false;
}

// One entry of an axis: a scalar for all its parameters, or a list with one for each.
static bool read_entry(const sweep_axis *axis, const hw_yaml_node *node, uint32_t *values, wf_diag *diag) {
  if (node->kind == YAML_TREE_SCALAR) {
    bool good = true;
    for (int p = 0; p < axis->param_count; p++)
      good = value_of(axis->params[p], node->text, node->where, &values[p], diag) && good;
    return good;
  }
  if (!hw_yaml_tree_is(node, YAML_TREE_LIST, "the values of parameters that go together", diag)) return false;
  if (node->count != (size_t)axis->param_count) {
    wf_error(diag, node->where, "%zu values for %d parameters", node->count, axis->param_count);
    return false;
  }
  bool good = true;
  const hw_yaml_node *entry = node->first;
  for (int p = 0; p < axis->param_count; p++, entry = entry->next) {
    const char *text = hw_yaml_tree_text(entry, "a value", diag);
    good = text != NULL && value_of(axis->params[p], text, entry->where, &values[p], diag) && good;
  }
  return good;
}

static bool read_list(reader *r, sweep_axis *axis, const hw_yaml_node *node) {
  axis->value_count = node->count;
  axis->values = WF_ARENA_ARRAY(r->arena, node->count * (size_t)axis->param_count + 1, uint32_t);
  bool good = true;
  uint32_t *values = axis->values;
  for (const hw_yaml_node *entry = node->first; entry != NULL; entry = entry->next, values += axis->param_count)
    good = read_entry(axis, entry, values, r->diag) && good;
  return good;
}

// {from: 2, to: 32, step: 2} or {from: 1, to: 64, times: 2}.
static bool read_range(reader *r, sweep_axis *axis, const hw_yaml_node *node) {
  static const char *const keys[] = {"from", "to", "step", "times", NULL};
  const hw_yaml_node *from = hw_yaml_tree_find(node, "from"), *to = hw_yaml_tree_find(node, "to"),
                     *step = hw_yaml_tree_find(node, "step"), *times = hw_yaml_tree_find(node, "times");
  if (!hw_yaml_tree_keys(node, "a range", keys, r->diag)) return false;
  if (from == NULL || to == NULL || (step != NULL && times != NULL)) {
    wf_error(r->diag, node->where, "a range has `from`, `to`, and `step` or `times`");
    return false;
  }
  int64_t low, high, add = 1, factor = 1;
  if (!hw_yaml_tree_integer(from, "from", 0, UINT32_MAX, &low, r->diag) ||
      !hw_yaml_tree_integer(to, "to", low, UINT32_MAX, &high, r->diag) ||
      (step != NULL && !hw_yaml_tree_integer(step, "step", 1, UINT32_MAX, &add, r->diag)) ||
      (times != NULL && !hw_yaml_tree_integer(times, "times", 2, UINT32_MAX, &factor, r->diag)))
    return false;
  if (times != NULL) add = 0;
  if (times != NULL && low == 0) {
    wf_error(r->diag, from->where, "a range that multiplies cannot start at 0");
    return false;
  }
  size_t room = 0, count = 0;
  for (int64_t v = low; v <= high; v = v * factor + add) {
    char text[32];
    uint32_t value;
    snprintf(text, sizeof text, "%" PRId64, v);
    for (int p = 0; p < axis->param_count; p++) {
      if (!value_of(axis->params[p], text, node->where, &value, r->diag)) return false;
      *WF_ARENA_PUSH(r->arena, axis->values, count, &room) = value;
    }
    if (++axis->value_count > COUNT_MAX) {
      wf_error(r->diag, node->where, "more than %d values", COUNT_MAX);
      return false;
    }
  }
  return true;
}

static bool is_used(const reader *r, const hw_param *param) {
  for (size_t a = 0; a < r->axis_count; a++)
    for (int p = 0; p < r->axes[a].param_count; p++)
      if (r->axes[a].params[p] == param) return true;
  return false;
}

static bool add_param(reader *r, sweep_axis *axis, const char *name, wf_location where) {
  const hw_param *param = hw_param_find(name);
  if (param == NULL) {
    wf_error(r->diag, where, "no array parameter '%s'", name);
    wf_hint(r->diag, "weft array params lists them, such as scratchpad.capacity_kib");
    return false;
  }
  if (axis->param_count == SWEEP_TOGETHER_MAX) {
    wf_error(r->diag, where, "more than %d parameters together", SWEEP_TOGETHER_MAX);
    return false;
  }
  for (int p = 0; p < axis->param_count; p++)
    if (axis->params[p] == param) param = NULL;
  if (param == NULL || is_used(r, param)) {
    wf_error(r->diag, where, "parameter '%s' appears twice", name);
    return false;
  }
  axis->params[axis->param_count++] = param;
  return true;
}

// "mesh.rows, mesh.columns": parameters that go together.
static bool read_params(reader *r, sweep_axis *axis, const hw_yaml_node *node) {
  char *names = wf_arena_text(r->arena, node->key, strlen(node->key)), *rest = NULL;
  for (char *name = strtok_r(names, ", ", &rest); name != NULL; name = strtok_r(NULL, ", ", &rest))
    if (!add_param(r, axis, name, node->key_where)) return false;
  if (axis->param_count > 0) return true;
  wf_error(r->diag, node->key_where, "a parameter's name is missing");
  return false;
}

static bool read_axis(reader *r, const hw_yaml_node *node) {
  sweep_axis axis = {.where = node->key_where};
  if (!read_params(r, &axis, node)) return false;
  const bool good =
      node->kind == YAML_TREE_MAP
          ? read_range(r, &axis, node)
          : hw_yaml_tree_is(node, YAML_TREE_LIST, "the values of a parameter", r->diag) && read_list(r, &axis, node);
  if (good && axis.value_count == 0) wf_error(r->diag, node->where, "a parameter without values");
  r->axes[r->axis_count++] = axis;
  return good && axis.value_count > 0;
}

bool sweep_axes_read(wf_arena *arena, const hw_yaml_node *parameters, sweep_axis **axes, size_t *count, wf_diag *diag) {
  if (!hw_yaml_tree_is(parameters, YAML_TREE_MAP, "parameters", diag)) return false;
  reader r = {.arena = arena, .axes = WF_ARENA_ARRAY(arena, parameters->count + 1, sweep_axis), .diag = diag};
  bool good = true;
  for (const hw_yaml_node *entry = parameters->first; entry != NULL && diag->errors < ERRORS_MAX; entry = entry->next)
    good = read_axis(&r, entry) && good;
  *axes = r.axes;
  *count = r.axis_count;
  return good;
}

void sweep_axis_set(const sweep_axis *axis, size_t at, hw_array *array) {
  const uint32_t *values = &axis->values[at * (size_t)axis->param_count];
  for (int p = 0; p < axis->param_count; p++) hw_param_set(array, axis->params[p], values[p]);
}
