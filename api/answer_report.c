// SPDX-License-Identifier: Apache-2.0
// Answers of searches by the plain model as text, JSON and files: see answer.h.
#include <string.h>

#include "api/answer.h"
#include "api/output.h"
#include "base/alloc.h"
#include "base/json.h"
#include "base/name.h"
#include "base/output.h"
#include "base/thousands.h"
#include "search/truth/truth.h"

typedef struct weft_answer search_answer;

paper_hardware api_answer_hardware(const weft_answer *a) { return a->is_exact ? a->exact.hardware : a->found.hardware; }
paper_cost api_answer_cost(const weft_answer *a) { return a->is_exact ? a->exact.cost : a->found.cost; }
static const paper_mapping *mappings_of(const weft_answer *a) {
  return a->is_exact ? a->exact.mappings : a->found.mappings;
}

// ---- the array

static void name_array(const char *of, hw_array *array) {
  size_t at = (size_t)snprintf(array->name, sizeof array->name, "found-");
  for (; *of != '\0' && at + 1 < sizeof array->name; of++) {
    const char c = *of >= 'A' && *of <= 'Z' ? (char)(*of - 'A' + 'a') : *of;
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    array->name[at++] = good ? c : '-';
  }
  array->name[at] = '\0';
}

static bool search_array(const search_answer *a, hw_array *array) {
  const paper_hardware hardware = api_answer_hardware(a);
  if (!truth_array(&a->base.array, &hardware, array)) return false;
  name_array(a->table.name, array);
  snprintf(array->description, sizeof array->description, "by weft search: %g x %g, %g and %g KiB wanted",
           api_answer_hardware(a).side, api_answer_hardware(a).side, api_answer_hardware(a).scratchpad_kib,
           api_answer_hardware(a).accumulator_kib);
  return true;
}

static void print_array(const search_answer *a, FILE *out) {
  hw_array array;
  if (!search_array(a, &array)) {
    fprintf(out, "  no array of such sizes can be built from %s\n", a->base.array.name);
    return;
  }
  fprintf(out, "  can be built from %s as %u x %u, scratchpad %u KiB (%+g), accumulator %u KiB (%+g)\n",
          a->base.array.name, hw_derive(&array).dim, hw_derive(&array).dim, array.scratchpad.capacity_kib,
          array.scratchpad.capacity_kib - api_answer_hardware(a).scratchpad_kib, array.accumulator.capacity_kib,
          array.accumulator.capacity_kib - api_answer_hardware(a).accumulator_kib);
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

// ---- how it was found

static void print_proof(const search_answer *a, FILE *out) {
  const exact_result *r = &a->exact;
  char evaluations[WF_THOUSANDS], kept[WF_THOUSANDS], boxes[WF_THOUSANDS];
  fprintf(out, "  proven with %s mappings of layers (%s kept), %s boxes of hardware, %u sides in %.2f s\n",
          wf_thousands(r->evaluations, evaluations), wf_thousands(r->kept, kept), wf_thousands(r->boxes, boxes),
          r->sides, a->seconds);
}

static void proof_json(const search_answer *a, cJSON *object) {
  const exact_result *r = &a->exact;
  wf_json_count(object, "evaluations", r->evaluations);
  wf_json_count(object, "kept", r->kept);
  wf_json_count(object, "boxes", r->boxes);
  cJSON_AddNumberToObject(object, "sides", r->sides);
}

static void print_effort(const search_answer *a, FILE *out) {
  const paper_hardware hardware = api_answer_hardware(a);
  char gradients[WF_THOUSANDS], evaluations[WF_THOUSANDS];
  fprintf(out, "  for %s, seed %llu: %s evaluations with gradients, %s without, %.2f s; %.4e before polishing\n",
          descent_plain_objective_names[a->goal.objective], (unsigned long long)a->options.seed,
          wf_thousands(a->found.gradients, gradients), wf_thousands(a->found.evaluations, evaluations), a->seconds,
          a->found.rounded);
  const descent_plain_silicon silicon = descent_plain_silicon_of(&a->goal);
  fprintf(out, "  %.3f mm2 of PEs and memories, %.1f mW at %g MHz\n", descent_plain_area_mm2(&silicon, &hardware),
          descent_plain_power_mw(&silicon, api_answer_cost(a)), silicon.clock_mhz);
}

static void effort_json(const search_answer *a, cJSON *object) {
  const paper_hardware hardware = api_answer_hardware(a);
  cJSON_AddStringToObject(object, "objective", descent_plain_objective_names[a->goal.objective]);
  wf_json_count(object, "seed", a->options.seed);
  wf_json_count(object, "gradients", a->found.gradients);
  wf_json_count(object, "evaluations", a->found.evaluations);
  cJSON_AddNumberToObject(object, "rounded", a->found.rounded);
  const descent_plain_silicon silicon = descent_plain_silicon_of(&a->goal);
  cJSON_AddNumberToObject(object, "area_mm2", descent_plain_area_mm2(&silicon, &hardware));
  cJSON_AddNumberToObject(object, "power_mw", descent_plain_power_mw(&silicon, api_answer_cost(a)));
  cJSON_AddNumberToObject(object, "clock_mhz", silicon.clock_mhz);
}

// ---- text and JSON

void api_answer_print(const search_answer *a, FILE *out) {
  char name[WF_NAME_LINE];
  fprintf(out, "%s: %g x %g array, scratchpad %g KiB, accumulator %g KiB\n", wf_name_shown(a->table.name, name),
          api_answer_hardware(a).side, api_answer_hardware(a).side, api_answer_hardware(a).scratchpad_kib,
          api_answer_hardware(a).accumulator_kib);
  fprintf(out, "  %.4e cycles, %.4e uJ, %.4e uJ x cycles: %s\n", api_answer_cost(a).cycles,
          api_answer_cost(a).energy_uj, paper_edp(api_answer_cost(a)),
          a->is_exact ? "the optimum of the plain model" : "found by gradients");
  print_array(a, out);
  if (a->is_exact)
    print_proof(a, out);
  else
    print_effort(a, out);
  fprintf(out, "  %-26s %5s %12s %12s  mapping\n", "layer", "count", "cycles", "uJ");
  for (size_t i = 0; i < a->table.count; i++) {
    const layers_layer *layer = &a->table.layers[i];
    const paper_hardware hardware = api_answer_hardware(a);
    const paper_cost cost = paper_evaluate(layer, &mappings_of(a)[i], &hardware, &a->constants);
    fputs("  ", out);
    wf_name_column(layer->name, 26, false, out);
    fprintf(out, " %5lld %12.0f %12.2f  ", (long long)layer->count, cost.cycles, cost.energy_uj);
    paper_mapping_print(&mappings_of(a)[i], out);
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
  const layers_layer *layer = &a->table.layers[i];
  const paper_hardware hardware = api_answer_hardware(a);
  const paper_cost cost = paper_evaluate(layer, &mappings_of(a)[i], &hardware, &a->constants);
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "layer", layer->name);
  cJSON_AddNumberToObject(object, "count", (double)layer->count);
  cJSON_AddNumberToObject(object, "cycles", cost.cycles);
  cJSON_AddNumberToObject(object, "energy_uj", cost.energy_uj);
  add_mapping(object, &mappings_of(a)[i]);
  return object;
}

cJSON *api_answer_json(const search_answer *a) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "network", a->table.name);
  cJSON_AddStringToObject(object, "method", a->is_exact ? "exact" : "descent");
  cJSON_AddStringToObject(object, "constants", a->constants_name);
  cJSON_AddNumberToObject(object, "side", api_answer_hardware(a).side);
  cJSON_AddNumberToObject(object, "scratchpad_kib", api_answer_hardware(a).scratchpad_kib);
  cJSON_AddNumberToObject(object, "accumulator_kib", api_answer_hardware(a).accumulator_kib);
  cJSON_AddNumberToObject(object, "cycles", api_answer_cost(a).cycles);
  cJSON_AddNumberToObject(object, "energy_uj", api_answer_cost(a).energy_uj);
  cJSON_AddNumberToObject(object, "edp", paper_edp(api_answer_cost(a)));
  cJSON_AddItemToObject(object, "array", array_json(a));
  if (a->is_exact)
    proof_json(a, object);
  else
    effort_json(a, object);
  cJSON_AddNumberToObject(object, "seconds", a->seconds);
  cJSON *layers = cJSON_AddArrayToObject(object, "layers");
  for (size_t i = 0; i < a->table.count; i++) cJSON_AddItemToArray(layers, layer_json(a, i));
  return object;
}

// ---- files

static char *path_of(const search_answer *a, const char *directory, const char *ending) {
  char *name = wf_name_file(a->table.name), *path = wf_format("%s/%s%s", directory, name, ending);
  wf_free(name);
  return path;
}

static bool write_text(const search_answer *a, const char *path, wf_diag *diag) {
  FILE *out = wf_output_open(path, diag);
  if (out != NULL) api_answer_print(a, out);
  return out != NULL && wf_output_close(out, path, diag);
}

static bool write_array(const search_answer *a, const char *path, wf_diag *diag) {
  hw_array array;
  if (!search_array(a, &array)) return true;
  FILE *out = wf_output_open(path, diag);
  if (out != NULL) hw_array_print(&array, out);
  return out != NULL && wf_output_close(out, path, diag);
}

bool api_answer_write(const search_answer *a, const char *directory, wf_diag *diag) {
  if (!api_output_folder(directory, diag)) return false;
  char *text = path_of(a, directory, ".txt"), *json = path_of(a, directory, ".json"),
       *array = path_of(a, directory, ".yaml");
  const bool good =
      write_text(a, text, diag) && api_output_json(json, api_answer_json(a), diag) && write_array(a, array, diag);
  wf_free(text);
  wf_free(json);
  wf_free(array);
  return good;
}
