// SPDX-License-Identifier: Apache-2.0
// Reads the synthesis of an array for a fit: see fit.h.
#include <cjson/cJSON.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "hw/export/fit.h"

enum { FILE_MAX = 1 << 22 };

static char *read_text(const char *path, wf_diag *diag) {
  size_t length;
  char *text = wf_read_file(path, FILE_MAX, &length, diag);
  if (text == NULL || length <= FILE_MAX) return text;
  wf_error(diag, wf_in_file(path), "larger than %d bytes", FILE_MAX);
  wf_free(text);
  return NULL;
}

static hw_fit_point *point_of(hw_fit_arrays *arrays, const char *part) {
  for (size_t i = 0; hw_fit_part(i) != NULL; i++)
    if (strcmp(hw_fit_part(i), part) == 0) return &arrays->points[i][arrays->count];
  return NULL;
}

static bool add_unit(hw_fit_arrays *arrays, const cJSON *unit) {
  const cJSON *part = cJSON_GetObjectItem(unit, "part"), *instances = cJSON_GetObjectItem(unit, "instances");
  const cJSON *area = cJSON_GetObjectItem(unit, "area_um2");
  hw_fit_point *point = cJSON_IsString(part) ? point_of(arrays, part->valuestring) : NULL;
  if (point == NULL || !cJSON_IsNumber(instances) || !cJSON_IsNumber(area)) return false;
  point->area_um2 += instances->valuedouble * area->valuedouble;
  return true;
}

// A synthesis of one unit alone is not one of the array: its counters, at least, would be missing.
static bool add_units(hw_fit_arrays *arrays, const cJSON *units) {
  const cJSON *unit;
  bool whole = false;
  cJSON_ArrayForEach(unit, units) {
    const cJSON *name = cJSON_GetObjectItem(unit, "unit");
    if (!add_unit(arrays, unit)) return false;
    whole |= cJSON_IsString(name) && strcmp(name->valuestring, "weft_accel") == 0;
  }
  return whole;
}

static bool is_new(const hw_fit_arrays *arrays, double dim) {
  for (size_t n = 0; n < arrays->count; n++)
    if (arrays->points[0][n].dim == dim) return false;
  return true;
}

static bool add_array(hw_fit_arrays *arrays, const char *path, const cJSON *document, wf_diag *diag) {
  const cJSON *name = cJSON_GetObjectItem(document, "array");
  hw_array array;
  if (!cJSON_IsString(name)) {
    wf_error(diag, wf_in_file(path), "is not what weft rtl synth --json writes");
    return false;
  }
  if (!hw_array_load(&array, name->valuestring, diag)) return false;
  const double dim = hw_derive(&array).dim;
  if (!is_new(arrays, dim)) {
    wf_error(diag, wf_in_file(path), "%s has the size of another array of the fit", array.name);
    return false;
  }
  for (size_t part = 0; hw_fit_part(part) != NULL; part++)
    arrays->points[part][arrays->count] = (hw_fit_point){.dim = dim};
  if (!add_units(arrays, cJSON_GetObjectItem(document, "units"))) {
    wf_error(diag, wf_in_file(path), "does not have all units of an array");
    wf_hint(diag, "weft rtl synth %s --json %s, without --unit", array.name, path);
    return false;
  }
  snprintf(arrays->name[arrays->count++], HW_NAME_MAX, "%s", array.name);
  return true;
}

bool hw_fit_read(hw_fit_arrays *arrays, const char *path, wf_diag *diag) {
  char *text = read_text(path, diag);
  if (text == NULL) return false;
  cJSON *document = cJSON_Parse(text);
  const bool good = add_array(arrays, path, document, diag);
  cJSON_Delete(document);
  wf_free(text);
  return good;
}
