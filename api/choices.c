// SPDX-License-Identifier: Apache-2.0
// Chosen kernels, for reports: see choices.h.
#include "api/choices.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/name.h"
#include "base/thousands.h"

static int64_t saved_by(const run_kernels_layer *layer) { return (int64_t)layer->before - (int64_t)layer->cycles; }

static bool is_changed(const run_kernels_layer *layer) { return strcmp(layer->scheme, layer->tries[0].text) != 0; }

static void print_layer(const run_kernels_layer *layer, FILE *out) {
  char before[WF_THOUSANDS], cycles[WF_THOUSANDS], name[WF_NAME_LINE];
  fprintf(out, "             %11s %11s %9" PRId64 "  %s: %s, %s (%s)\n", wf_thousands(layer->before, before),
          wf_thousands(layer->cycles, cycles), saved_by(layer), wf_name_shown(layer->node->name, name), layer->scheme,
          layer->is, layer->by_rule);
}

// What other layers lose or gain by what their neighbours leave in the caches.
static void print_others(const run_kernels_result *r, FILE *out) {
  int64_t others = 0;
  size_t count = 0;
  for (size_t l = 0; l < r->layer_count; l++) {
    if (is_changed(&r->layers[l])) continue;
    others += saved_by(&r->layers[l]);
    count++;
  }
  fprintf(out, "             %11s %11s %9" PRId64 "  %zu layers by the rules\n", "", "", others, count);
}

void api_choices_print(const run_kernels_result *r, FILE *out) {
  char before[WF_THOUSANDS], cycles[WF_THOUSANDS];
  fprintf(out, "kernels      %s cycles by the rules, %s with these", wf_thousands(r->before, before),
          wf_thousands(r->cycles, cycles));
  fprintf(out, "; %" PRIu64 " schemes of %" PRIu64 " shapes, %" PRIu64 " simulated, %" PRIu64 " runs, %.1f s\n",
          r->schemes_listed, r->shapes, r->schemes_judged, r->runs, r->seconds);
  if (!r->kept) {
    fputs("             the network is faster by the rules and has none of these\n", out);
    if (r->cycles == r->before) return;
  }
  fprintf(out, "             %11s %11s %9s  layer: scheme, kernels (by the rules)\n", "by rule", "chosen", "saved");
  for (size_t l = 0; l < r->layer_count; l++)
    if (is_changed(&r->layers[l])) print_layer(&r->layers[l], out);
  print_others(r, out);
}

// ---- JSON

static cJSON *tries_json(const run_kernels_layer *layer) {
  cJSON *list = cJSON_CreateArray();
  for (size_t t = 0; t < layer->try_count; t++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "scheme", layer->tries[t].text);
    if (isfinite(layer->tries[t].estimate)) cJSON_AddNumberToObject(object, "estimate", layer->tries[t].estimate);
    if (layer->tries[t].cycles > 0) cJSON_AddNumberToObject(object, "flow_cycles", layer->tries[t].cycles);
    cJSON_AddItemToArray(list, object);
  }
  return list;
}

static cJSON *layer_json(const run_kernels_layer *layer) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "node", layer->node->name);
  cJSON_AddStringToObject(object, "scheme", layer->scheme);
  cJSON_AddStringToObject(object, "kernels", layer->is);
  cJSON_AddStringToObject(object, "kernels_by_rule", layer->by_rule);
  wf_json_count(object, "cycles", layer->cycles);
  wf_json_count(object, "cycles_by_rule", layer->before);
  cJSON_AddNumberToObject(object, "saved", (double)saved_by(layer));
  cJSON_AddItemToObject(object, "tried", tries_json(layer));
  return object;
}

void api_choices_json(const run_kernels_result *r, cJSON *document) {
  cJSON *object = cJSON_AddObjectToObject(document, "kernels");
  wf_json_count(object, "cycles_by_rule", r->before);
  wf_json_count(object, "cycles", r->cycles);
  cJSON_AddBoolToObject(object, "kept", r->kept);
  wf_json_count(object, "shapes", r->shapes);
  wf_json_count(object, "schemes", r->schemes_listed);
  wf_json_count(object, "simulated", r->schemes_judged);
  wf_json_count(object, "runs", r->runs);
  cJSON_AddNumberToObject(object, "seconds", r->seconds);
  cJSON *list = cJSON_AddArrayToObject(object, "layers");
  for (size_t l = 0; l < r->layer_count; l++) cJSON_AddItemToArray(list, layer_json(&r->layers[l]));
}
