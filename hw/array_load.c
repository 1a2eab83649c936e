// SPDX-License-Identifier: Apache-2.0
// Finds an array description by name: a built-in, or a file (anything with a '/' or ending in .yaml or .yml).
// A file without a name gets that of the file, "array.yaml" being "array".
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "hw/array_builtin.h"
#include "hw/array_internal.h"
#include "hw/array_text.h"

const char *hw_builtin_name(size_t index) { return index < hw_builtin_count ? hw_builtins[index].name : NULL; }

const char *hw_builtin_yaml(size_t index) { return index < hw_builtin_count ? hw_builtins[index].yaml : NULL; }

static bool ends_in(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_path(const char *name) {
  return strchr(name, '/') != NULL || ends_in(name, ".yaml") || ends_in(name, ".yml");
}

// "dir/small.yaml" gives "small"; a stem that is no valid name gives "unnamed".
static void name_from_path(const char *path, char name[HW_NAME_MAX]) {
  const char *slash = strrchr(path, '/'), *stem = slash != NULL ? slash + 1 : path;
  size_t length = strcspn(stem, ".");
  snprintf(name, HW_NAME_MAX, "%.*s", (int)(length < HW_NAME_MAX ? length : 0), stem);
  if (!hw_array_name_valid(name)) snprintf(name, HW_NAME_MAX, "unnamed");
}

static bool load_file(hw_array *array, const char *path, wf_diag *diag) {
  size_t length;
  char *text = wf_read_file(path, HW_TEXT_MAX, &length, diag);
  if (text == NULL) return false;
  char name[HW_NAME_MAX];
  name_from_path(path, name);
  bool good = hw_array_parse_named(array, name, path, text, length, diag);
  wf_free(text);
  return good;
}

static void refuse_name(const char *name, wf_diag *diag) {
  wf_nearest nearest = wf_nearest_start(name);
  for (size_t i = 0; i < hw_builtin_count; i++) wf_nearest_offer(&nearest, hw_builtins[i].name);
  wf_error(diag, wf_in_file(NULL), "no built-in array is named \"%s\"", name);
  if (nearest.best[0] != '\0') {
    wf_hint(diag, "did you mean \"%s\"?", nearest.best);
  } else {
    wf_hint(diag, "`weft array list` names them; a file is given with a / or ends in .yaml");
  }
}

bool hw_array_load(hw_array *array, const char *name_or_path, wf_diag *diag) {
  if (is_path(name_or_path)) return load_file(array, name_or_path, diag);
  for (size_t i = 0; i < hw_builtin_count; i++) {
    const hw_builtin *b = &hw_builtins[i];
    if (strcmp(b->name, name_or_path) == 0) {
      return hw_array_parse_named(array, b->name, b->name, b->yaml, strlen(b->yaml), diag);
    }
  }
  refuse_name(name_or_path, diag);
  return false;
}
