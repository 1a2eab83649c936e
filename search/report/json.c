// SPDX-License-Identifier: Apache-2.0
// The data of a page as JSON, in two documents: points with their sums, which the page shows at once, and their layers,
// which are most of the bytes and are read when it is drawn. See json.h.
#include "search/report/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

// So many points carry their description and what each unit did, and the best ones of each network: first those on a
// front, then others, each evenly.
enum { DETAILED_MAX = 300, RESULT_MAX = 1 << 28 };

static cJSON *layers_json(const report_network *network) {
  cJSON *layers = cJSON_CreateArray();
  for (size_t i = 0; i < network->layer_count; i++) {
    const report_layer *layer = &network->layers[i];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", layer->name);
    cJSON_AddNumberToObject(object, "unique", (double)layer->unique);
    cJSON_AddNumberToObject(object, "count", (double)layer->count);
    cJSON_AddNumberToObject(object, "macs", (double)layer->macs);
    if (layer->is_program) cJSON_AddTrueToObject(object, "program");
    if (layer->is_step) cJSON_AddTrueToObject(object, "step");
    cJSON_AddItemToArray(layers, object);
  }
  return layers;
}

static cJSON *networks_json(const report_data *d) {
  cJSON *networks = cJSON_CreateArray();
  for (size_t n = 0; n < d->network_count; n++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", d->networks[n].name);
    cJSON_AddStringToObject(object, "description", d->networks[n].description);
    cJSON_AddNumberToObject(object, "macs", (double)d->networks[n].macs);
    cJSON_AddItemToObject(object, "layers", layers_json(&d->networks[n]));
    cJSON_AddItemToArray(networks, object);
  }
  return networks;
}

// Enough digits for a table: most of a page is these.
static cJSON *rounded(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.7g", value);
  return isfinite(value) ? cJSON_CreateRaw(text) : cJSON_CreateNull();
}

static void add_count(cJSON *list, int64_t value) { cJSON_AddItemToArray(list, cJSON_CreateNumber((double)value)); }

static cJSON *failure_json(const report_measurement *m) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "status", m->status);
  cJSON_AddStringToObject(object, "reason", m->reason);
  return object;
}

static void add_units(cJSON *list, const report_measurement *m) {
  cJSON *units = cJSON_Parse(m->units);
  cJSON_AddItemToArray(list, cJSON_CreateString(m->bound));
  cJSON_AddItemToArray(list, units != NULL ? units : cJSON_CreateObject());
}

// A list, as there are many: its order is that of `readMeasurement` in page.js.
static cJSON *measurement_json(const report_measurement *m, bool detailed) {
  if (m->status == NULL) return cJSON_CreateNull();
  if (strcmp(m->status, "good") != 0) return failure_json(m);
  cJSON *list = cJSON_CreateArray();
  add_count(list, m->cycles);
  add_count(list, m->read_bytes);
  add_count(list, m->written_bytes);
  cJSON_AddItemToArray(list, rounded(m->utilisation));
  cJSON_AddItemToArray(list, m->has_energy ? rounded(m->energy_pj) : cJSON_CreateNull());
  cJSON_AddItemToArray(list, m->has_energy ? rounded(m->array_pj) : cJSON_CreateNull());
  if (detailed) add_units(list, m);
  return list;
}

static cJSON *sums_json(const report_data *d, const report_point *p) {
  cJSON *sums = cJSON_CreateArray();
  for (size_t n = 0; n < d->network_count; n++) {
    if (!p->sums[n].good) {
      cJSON_AddItemToArray(sums, cJSON_CreateNull());
      continue;
    }
    cJSON *pair = cJSON_CreateArray();
    cJSON_AddItemToArray(pair, cJSON_CreateNumber(p->sums[n].cycles));
    cJSON_AddItemToArray(pair, p->sums[n].has_energy ? cJSON_CreateNumber(p->sums[n].energy_pj) : cJSON_CreateNull());
    cJSON_AddItemToArray(pair, p->sums[n].has_energy ? cJSON_CreateNumber(p->sums[n].array_pj) : cJSON_CreateNull());
    cJSON_AddItemToArray(pair, cJSON_CreateDoubleArray(p->sums[n].part_pj, SIM_PARTS));
    cJSON_AddItemToArray(sums, pair);
  }
  return sums;
}

static cJSON *point_json(const report_data *d, size_t index) {
  const report_point *p = &d->points[index];
  cJSON *object = cJSON_CreateObject(), *parameters = cJSON_Parse(p->parameters);
  cJSON_AddNumberToObject(object, "id", (double)index);
  cJSON_AddStringToObject(object, "array", p->array);
  cJSON_AddItemToObject(object, "values", parameters != NULL ? parameters : cJSON_CreateObject());
  if (p->yaml == NULL) {
    cJSON_AddStringToObject(object, "status", p->status);
    cJSON_AddStringToObject(object, "reason", p->reason);
    return object;
  }
  cJSON_AddNumberToObject(object, "dim", (double)p->dim);
  cJSON_AddNumberToObject(object, "scratchpad", (double)p->scratchpad_kib);
  cJSON_AddNumberToObject(object, "accumulator", (double)p->accumulator_kib);
  cJSON_AddNumberToObject(object, "area", p->logic_um2 / 1e6);
  cJSON_AddNumberToObject(object, "memory", (double)p->memory_bits / 8192);
  cJSON_AddNumberToObject(object, "bus", p->bus_bytes);
  cJSON_AddStringToObject(object, "technology", p->technology);
  if (p->area_um2 > 0) cJSON_AddNumberToObject(object, "whole_area", p->area_um2 / 1e6);
  cJSON_AddBoolToObject(object, "area_whole", p->area_whole);
  cJSON_AddItemToObject(object, "sums", sums_json(d, p));
  return object;
}

static cJSON *point_layers_json(const report_data *d, const report_point *p, bool detailed) {
  if (p->yaml == NULL) return cJSON_CreateNull();
  cJSON *object = cJSON_CreateObject(), *layers = cJSON_AddArrayToObject(object, "layers");
  for (size_t u = 0; u < d->unique_count; u++)
    cJSON_AddItemToArray(layers, measurement_json(&p->measurements[u], detailed));
  if (detailed) cJSON_AddStringToObject(object, "yaml", p->yaml);
  return object;
}

// Cycles, energy (area, without energies), or their product.
static double cost(const report_point *p, size_t network, unsigned what) {
  const report_sum *s = &p->sums[network];
  const double second = s->has_energy ? s->energy_pj : p->logic_um2;
  return what == 0 ? s->cycles : what == 1 ? second : s->cycles * second;
}

// The good point of a network that has least of it.
static void keep_best(const report_data *d, size_t network, unsigned what, bool *kept) {
  size_t best = d->point_count;
  for (size_t i = 0; i < d->point_count; i++) {
    const report_point *p = &d->points[i];
    if (p->yaml == NULL || !p->sums[network].good) continue;
    if (best == d->point_count || cost(p, network, what) < cost(&d->points[best], network, what)) best = i;
  }
  if (best < d->point_count) kept[best] = true;
}

// At most `most` of those on a front, or of the others, evenly.
static void keep_some(const report_data *d, bool front, size_t most, bool *kept) {
  size_t all = 0, seen = 0;
  for (size_t i = 0; i < d->point_count; i++) all += d->points[i].front == front;
  for (size_t i = 0; i < d->point_count; i++) {
    if (d->points[i].front != front) continue;
    kept[i] |= all <= most || seen * most / all != (seen + 1) * most / all;
    seen++;
  }
}

// Which points carry details; to be freed.
static bool *choose_detailed(const report_data *d) {
  bool *kept = wf_calloc(d->point_count + 1, sizeof *kept);
  size_t on_front = 0;
  for (size_t i = 0; i < d->point_count; i++) on_front += d->points[i].front;
  keep_some(d, true, DETAILED_MAX, kept);
  keep_some(d, false, on_front < DETAILED_MAX ? DETAILED_MAX - on_front : 0, kept);
  for (size_t n = 0; n < d->network_count; n++)
    for (unsigned what = 0; what < 3; what++) keep_best(d, n, what, kept);
  return kept;
}

// What a search says of its candidates, beside the store: result.json of `weft search --simulate`.
static cJSON *search_json(const char *dir) {
  char *path = wf_format("%s/result.json", dir);
  size_t length;
  wf_diag silent = wf_diag_to(NULL);
  char *text = wf_read_file(path, RESULT_MAX, &length, &silent);
  wf_free(path);
  if (text == NULL) return NULL;
  cJSON *object = length > RESULT_MAX ? NULL : cJSON_Parse(text);
  wf_free(text);
  return object;
}

static void add_points(cJSON *object, const report_data *d) {
  cJSON *parts = cJSON_AddArrayToObject(object, "parts"), *points = cJSON_AddArrayToObject(object, "points");
  for (unsigned part = 0; part < SIM_PARTS; part++)
    cJSON_AddItemToArray(parts, cJSON_CreateString(sim_part_names[part]));
  for (size_t i = 0; i < d->point_count; i++) cJSON_AddItemToArray(points, point_json(d, i));
}

static char *print(cJSON *document) {
  char *text = cJSON_PrintUnformatted(document), *copy = wf_strdup(text);
  cJSON_free(text);
  cJSON_Delete(document);
  return copy;
}

char *report_json_points(const report_data *d, const char *search_dir, const report_options *options) {
  cJSON *object = cJSON_CreateObject(), *search = search_dir == NULL ? NULL : search_json(search_dir);
  cJSON_AddStringToObject(object, "title", options->title == NULL ? d->name : options->title);
  cJSON_AddStringToObject(object, "version", d->version);
  cJSON_AddStringToObject(object, "writer", options->version);
  cJSON_AddStringToObject(object, "policy", d->policy);
  cJSON_AddStringToObject(object, "engine", d->engine);
  if (search != NULL) cJSON_AddItemToObject(object, "search", search);
  cJSON_AddItemToObject(object, "networks", networks_json(d));
  add_points(object, d);
  return print(object);
}

char *report_json_layers(const report_data *d) {
  cJSON *object = cJSON_CreateObject(), *points = cJSON_AddArrayToObject(object, "points");
  bool *detailed = choose_detailed(d);
  for (size_t i = 0; i < d->point_count; i++)
    cJSON_AddItemToArray(points, point_layers_json(d, &d->points[i], detailed[i]));
  wf_free(detailed);
  return print(object);
}
