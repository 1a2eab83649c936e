// SPDX-License-Identifier: Apache-2.0
// See search_answer.h.
#include "cli/search_answer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/name.h"
#include "search/truth/truth.h"

// ---- the array

static void name_array(const char *network, hw_array *array) {
  size_t at = (size_t)snprintf(array->name, sizeof array->name, "found-");
  for (; *network != '\0' && at + 1 < sizeof array->name; network++) {
    const char c = *network >= 'A' && *network <= 'Z' ? (char)(*network - 'A' + 'a') : *network;
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    array->name[at++] = good ? c : '-';
  }
  array->name[at] = '\0';
}

bool search_array(const search_answer *a, hw_array *array) {
  if (!truth_array(a->base, &a->hardware, array)) return false;
  name_array(a->network->name, array);
  snprintf(array->description, sizeof array->description, "by weft search: %g x %g, %g and %g KiB wanted",
           a->hardware.side, a->hardware.side, a->hardware.scratchpad_kib, a->hardware.accumulator_kib);
  return true;
}

static void print_array(const search_answer *a, FILE *out) {
  hw_array array;
  if (!search_array(a, &array)) {
    fprintf(out, "  no array of such sizes can be built from %s\n", a->base->name);
    return;
  }
  fprintf(out, "  can be built from %s as %u x %u, scratchpad %u KiB (%+g), accumulator %u KiB (%+g)\n", a->base->name,
          hw_derive(&array).dim, hw_derive(&array).dim, array.scratchpad.capacity_kib,
          array.scratchpad.capacity_kib - a->hardware.scratchpad_kib, array.accumulator.capacity_kib,
          array.accumulator.capacity_kib - a->hardware.accumulator_kib);
}

static cJSON *array_json(const search_answer *a) {
  hw_array array;
  if (!search_array(a, &array)) return cJSON_CreateNull();
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "name", array.name);
  cJSON_AddNumberToObject(object, "side", hw_derive(&array).dim);
  cJSON_AddNumberToObject(object, "scratchpad_kib", array.scratchpad.capacity_kib);
  cJSON_AddNumberToObject(object, "accumulator_kib", array.accumulator.capacity_kib);
  return object;
}

// ---- text and JSON

void search_print(const search_answer *a, FILE *out) {
  char name[WF_NAME_LINE];
  fprintf(out, "%s: %g x %g array, scratchpad %g KiB, accumulator %g KiB\n", wf_name_shown(a->network->name, name),
          a->hardware.side, a->hardware.side, a->hardware.scratchpad_kib, a->hardware.accumulator_kib);
  fprintf(out, "  %.4e cycles, %.4e uJ, %.4e uJ x cycles: %s\n", a->cost.cycles, a->cost.energy_uj, paper_edp(a->cost),
          a->remark);
  print_array(a, out);
  a->print_how(a, out);
  fprintf(out, "  %-26s %5s %12s %12s  mapping\n", "layer", "count", "cycles", "uJ");
  for (size_t i = 0; i < a->network->count; i++) {
    const layers_layer *layer = &a->network->layers[i];
    const paper_cost cost = paper_evaluate(layer, &a->mappings[i], &a->hardware, a->constants);
    fputs("  ", out);
    wf_name_column(layer->name, 26, false, out);
    fprintf(out, " %5lld %12.0f %12.2f  ", (long long)layer->count, cost.cycles, cost.energy_uj);
    paper_mapping_print(&a->mappings[i], out);
    fputc('\n', out);
  }
}

static void add_mapping(cJSON *object, const paper_mapping *mapping) {
  char text[512] = "";
  FILE *out = fmemopen(text, sizeof text, "w");
  if (out == NULL) return;
  paper_mapping_print(mapping, out);
  fclose(out);
  cJSON_AddStringToObject(object, "mapping", text);
}

static cJSON *layer_json(const search_answer *a, size_t i) {
  const layers_layer *layer = &a->network->layers[i];
  const paper_cost cost = paper_evaluate(layer, &a->mappings[i], &a->hardware, a->constants);
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "layer", layer->name);
  cJSON_AddNumberToObject(object, "count", (double)layer->count);
  cJSON_AddNumberToObject(object, "cycles", cost.cycles);
  cJSON_AddNumberToObject(object, "energy_uj", cost.energy_uj);
  add_mapping(object, &a->mappings[i]);
  return object;
}

cJSON *search_json(const search_answer *a) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "network", a->network->name);
  cJSON_AddStringToObject(object, "method", a->method);
  cJSON_AddStringToObject(object, "constants", a->constants_name);
  cJSON_AddNumberToObject(object, "side", a->hardware.side);
  cJSON_AddNumberToObject(object, "scratchpad_kib", a->hardware.scratchpad_kib);
  cJSON_AddNumberToObject(object, "accumulator_kib", a->hardware.accumulator_kib);
  cJSON_AddNumberToObject(object, "cycles", a->cost.cycles);
  cJSON_AddNumberToObject(object, "energy_uj", a->cost.energy_uj);
  cJSON_AddNumberToObject(object, "edp", paper_edp(a->cost));
  cJSON_AddItemToObject(object, "array", array_json(a));
  a->add_how(a, object);
  cJSON_AddNumberToObject(object, "seconds", a->seconds);
  cJSON *layers = cJSON_AddArrayToObject(object, "layers");
  for (size_t i = 0; i < a->network->count; i++) cJSON_AddItemToArray(layers, layer_json(a, i));
  return object;
}

// ---- files

static char *path_of(const search_answer *a, const char *directory, const char *ending) {
  char *name = wf_name_file(a->network->name), *path = wf_format("%s/%s%s", directory, name, ending);
  wf_free(name);
  return path;
}

static bool write_text(const search_answer *a, const char *path, wf_diag *diag) {
  FILE *out = cli_open_output(path, diag);
  if (out != NULL) search_print(a, out);
  return out != NULL && cli_close(out, path, diag);
}

static bool write_array(const search_answer *a, const char *path, wf_diag *diag) {
  hw_array array;
  if (!search_array(a, &array)) return true;
  FILE *out = cli_open_output(path, diag);
  if (out != NULL) hw_array_print(&array, out);
  return out != NULL && cli_close(out, path, diag);
}

bool search_write(const search_answer *a, const char *directory, wf_diag *diag) {
  if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
    wf_error(diag, wf_in_file(directory), "cannot make the folder: %s", strerror(errno));
    return false;
  }
  char *text = path_of(a, directory, ".txt"), *json = path_of(a, directory, ".json"),
       *array = path_of(a, directory, ".yaml");
  const bool good =
      write_text(a, text, diag) && cli_write_json(json, search_json(a), diag) && write_array(a, array, diag);
  wf_free(text);
  wf_free(json);
  wf_free(array);
  return good;
}
