// SPDX-License-Identifier: Apache-2.0
// The page of a network's run: see network_page.h. Its data are the JSON of the run, and besides of every step where
// its units' cycles went and the parts of its energy, the plan of memory, what the array could do at most, and the
// graph.
#include "api/network_page.h"

#include <string.h>

#include "api/network_graph.h"
#include "api/steps.h"
#include "api/units.h"
#include "base/alloc.h"
#include "base/json.h"
#include "runner/figures.h"
#include "search/report/page.h"
#include "weft_version.h"

// ---- data

static cJSON *units_json(const sim_cycle_report *report) {
  cJSON *units = cJSON_CreateObject();
  for (unsigned u = 0; u < report->units; u++) {
    const sim_cycle_unit_report *unit = &report->unit[u];
    cJSON *causes = cJSON_AddObjectToObject(units, unit->name);
    for (unsigned c = 0; c < unit->causes; c++)
      if (unit->cycles[c] > 0) wf_json_count(causes, unit->cause[c], unit->cycles[c]);
  }
  return units;
}

static void add_step(const api_network_report *report, int step, cJSON *object) {
  const network_step *s = &report->job->net->steps[step];
  const run_step_result *r = &report->result->steps[step];
  const run_step_figures f = run_step_figures_of(report->job->net, s, r);
  cJSON_AddBoolToObject(object, "makes", s->makes);
  if (r->timed) wf_json_count(object, "start", r->start);
  cJSON_AddItemToObject(object, "nodes", api_network_graph_step_json(report->job->net, s));
  if (r->has_units && r->units.units > 0) cJSON_AddItemToObject(object, "units", units_json(&r->units));
  if (f.has_energy) cJSON_AddItemToObject(object, "parts", cJSON_CreateDoubleArray(f.run.part_pj, SIM_PARTS));
}

static bool is_of_arena(const network_buffer *b) { return b->contents == NULL && b->bytes > 0; }

// Where each buffer of the arena lies, from its first byte on, and from which step to which.
static cJSON *buffers_json(const network *net) {
  cJSON *list = cJSON_CreateArray();
  uint64_t base = UINT64_MAX;
  for (int b = 0; b < net->buffer_count; b++)
    if (is_of_arena(&net->buffers[b]) && net->buffers[b].address < base) base = net->buffers[b].address;
  for (int b = 0; b < net->buffer_count; b++) {
    const network_buffer *buffer = &net->buffers[b];
    if (!is_of_arena(buffer)) continue;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", buffer->name);
    wf_json_count(object, "offset", buffer->address - base);
    wf_json_count(object, "bytes", buffer->bytes);
    wf_json_integer(object, "first", buffer->first);
    wf_json_integer(object, "last", buffer->last);
    cJSON_AddItemToArray(list, object);
  }
  return list;
}

static void add_prefix(const network *net, cJSON *document) {
  const size_t length = api_steps_prefix(net);
  const network_step *step = net->steps;
  for (int s = 0; s < net->step_count && step->edge; s++) step++;
  char *prefix = wf_format("%.*s", (int)length, length == 0 ? "" : step->name);
  cJSON_AddStringToObject(document, "prefix", prefix);
  wf_free(prefix);
}

static void add_machine(const hw_array *array, cJSON *document) {
  const double dim = hw_derive(array).dim;
  cJSON_AddNumberToObject(document, "processing_elements", dim * dim);
  cJSON_AddNumberToObject(document, "bus_bytes", array->dma.bus_bits / 8.0);
  cJSON_AddNumberToObject(document, "clock_mhz", array->chip.clock_mhz);
}

static cJSON *page_json(const api_network_report *report) {
  const network *net = report->job->net;
  cJSON *document = api_network_report_json(report), *steps = cJSON_GetObjectItemCaseSensitive(document, "steps");
  cJSON_AddStringToObject(document, "writer", WEFT_GIT_VERSION);
  add_prefix(net, document);
  add_machine(&report->job->array.array, document);
  cJSON *parts = cJSON_AddArrayToObject(document, "parts");
  for (unsigned part = 0; part < SIM_PARTS; part++)
    cJSON_AddItemToArray(parts, cJSON_CreateString(sim_part_names[part]));
  for (int s = 0; s < net->step_count; s++) add_step(report, s, cJSON_GetArrayItem(steps, s));
  cJSON_AddItemToObject(document, "buffers", buffers_json(net));
  cJSON_AddItemToObject(document, "graph", api_network_graph_json(net));
  return document;
}

void api_network_page_print(const api_network_report *report, FILE *out) {
  cJSON *document = page_json(report);
  char *json = cJSON_PrintUnformatted(document);
  cJSON_Delete(document);
  report_page_write(REPORT_PAGE_NETWORK, json, NULL, out);
  cJSON_free(json);
}
