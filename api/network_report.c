// SPDX-License-Identifier: Apache-2.0
// Reports of network runs: see network_report.h.
#include "api/network_report.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "api/choices.h"
#include "api/steps.h"
#include "api/units.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/name.h"
#include "base/thousands.h"
#include "runner/figures.h"
#include "sim/figures.h"

#define EXACT_DB 300.0  // above: nothing has changed the numbers

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// ---- text

static uint64_t peak_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)usage.ru_maxrss;
}

static void print_cycles(const api_network_report *report, FILE *out) {
  const run_network_result *r = report->result;
  char number[WF_THOUSANDS];
  if (!report->engine->timed) return;
  const double dim = hw_derive(&report->job->array.array).dim;
  fprintf(out, "cycles       %s, utilisation %.2f %% from end to end\n", wf_thousands(r->cycles, number),
          100 * ratio((double)r->macs, dim * dim * (double)r->cycles));
  fprintf(out, "  on array   %s, utilisation %.2f %%\n", wf_thousands(r->array_cycles, number),
          100 * ratio((double)r->macs, dim * dim * (double)r->array_cycles));
  fprintf(out, "  on host    %s\n", wf_thousands(r->host_cycles, number));
  if (r->both_cycles > 0)
    fprintf(out, "  on both    %s at one time, utilisation %.2f %% of the array\n",
            wf_thousands(r->both_cycles, number),
            100 * ratio((double)r->macs, dim * dim * (double)(r->array_cycles + r->both_cycles)));
  fprintf(out, "  at ends    %s, the host's, for int8 in and out of the network\n",
          wf_thousands(r->edge_cycles, number));
  if (report->job->images > 1)
    fprintf(out, "per image    %s, of %d\n", wf_thousands(r->cycles / (uint64_t)report->job->images, number),
            report->job->images);
  fprintf(out, "time         %.3f ms at %u MHz\n", (double)r->cycles / (1e3 * report->job->array.array.chip.clock_mhz),
          report->job->array.array.chip.clock_mhz);
}

static void print_traffic(const api_network_report *report, FILE *out) {
  const run_network_result *r = report->result;
  char number[WF_THOUSANDS];
  if (!r->has_units) return;
  fprintf(out, "read         %s bytes\n", wf_thousands(r->units.bus_read_bytes, number));
  fprintf(out, "written      %s bytes\n", wf_thousands(r->units.bus_written_bytes, number));
  const sim_figures figures = sim_figures_of(&r->units, &r->hart, &report->job->array.array);
  api_units_print_energy(&figures, out);
}

static const struct {
  unsigned kind;
  const char *name;
} units[] = {{QUANTISE_UNIT_SOFTMAX, "softmax"}, {QUANTISE_UNIT_NORM, "norms"}, {QUANTISE_UNIT_GELU, "GELU"}};
enum { UNITS = sizeof units / sizeof *units };

static void print_kinds(unsigned kinds, FILE *out) {
  const char *between = "";
  for (int u = 0; u < UNITS; u++)
    if ((kinds & units[u].kind) != 0) {
      fprintf(out, "%s%s", between, units[u].name);
      between = ", ";
    }
}

static bool is_kept(const api_network_report *report, const char *node) {
  const quantise_kept *kept = &report->job->kept;
  for (int i = 0; i < kept->count; i++) {
    const size_t length = strlen(kept->names[i]);
    if (strncmp(node, kept->names[i], length) == 0 && (node[length] == '\0' || node[length] == '.')) return true;
  }
  return false;
}

static uint64_t kept_cycles(const api_network_report *report) {
  uint64_t cycles = 0;
  for (int s = 0; s < report->job->net->step_count; s++)
    if (is_kept(report, report->job->net->steps[s].name)) cycles += report->result->steps[s].cycles;
  return cycles;
}

// Of all nodes, in the order in which they run.
static void print_layers(const api_network_report *report, FILE *out) {
  const quantise_layers *layers = &report->job->layers;
  char name[WF_NAME_LINE];
  if (layers->count > 0)
    fprintf(out, "layers       %-12s %-12s %s\n", "dB", "of its inputs", "node (against the float model)");
  for (int i = 0; i < layers->count; i++) {
    const quantise_layer *layer = &layers->rows[i];
    fprintf(out, "             %-12.1f ", layer->sqnr_db);
    if (layer->input_db < EXACT_DB)
      fprintf(out, "%-12.1f ", layer->input_db);
    else
      fprintf(out, "%-12s ", "exact");
    fprintf(out, "%s (%s)\n", wf_name_shown(layer->node, name), graph_op_name(layer->op));
  }
}

// What went to the normaliser: what it keeps of the quality, and what it would keep with all.
static void print_choice(const api_network_report *report, FILE *out) {
  const quantise_choice *choice = &report->job->choice;
  if (!choice->measured) return;
  fputs("normaliser   ", out);
  print_kinds(choice->kinds, out);
  fprintf(out, "%s%.1f dB, by the hart %.1f dB", choice->kinds == 0 ? "nothing: " : ": ", choice->unit_db,
          choice->hart_db);
  if (choice->kinds != QUANTISE_UNIT_ALL) {
    fprintf(out, "; with ");
    print_kinds(QUANTISE_UNIT_ALL & ~choice->kinds, out);
    fprintf(out, " it would be %.1f dB", choice->all_db);
  }
  fputc('\n', out);
}

// The ways that were compared; a star is the one of this network.
static void print_ways(const api_network_report *report, FILE *out) {
  char cycles[WF_THOUSANDS];
  for (int w = 0; w < API_WAYS; w++) {
    const api_way *way = &report->job->ways[w];
    if (way->name == NULL) continue;
    fprintf(out, "%-12s %c %-22s ", w == 0 ? "ways" : "", way->chosen ? '*' : ' ', way->name);
    if (way->refused != NULL)
      fprintf(out, "refused: %s", way->refused);
    else
      fprintf(out, "%s cycles", wf_thousands(way->cycles, cycles));
    if (way->has_energy) fprintf(out, ", %.1f uJ", way->energy_uj);
    fputc('\n', out);
  }
}

static void print_cache(const api_network_report *report, FILE *out) {
  const quantise_cache_quality *q = &report->job->cache_quality;
  if (q->measured) fprintf(out, "cache        int4: %.1f dB, as int8 %.1f dB\n", q->int4_db, q->int8_db);
}

// What stayed in float, what that gained, and what it costs.
static void print_kept(const api_network_report *report, FILE *out) {
  const quantise_kept *kept = &report->job->kept;
  char number[WF_THOUSANDS], name[WF_NAME_LINE];
  if (kept->count == 0 && !kept->measured) return;
  fprintf(out, "in float     %d nodes", kept->count);
  if (kept->measured) fprintf(out, ": %.1f dB, without %.1f dB", kept->with_db, kept->before_db);
  if (report->engine->timed) fprintf(out, "; %s cycles on the hart", wf_thousands(kept_cycles(report), number));
  fputc('\n', out);
  for (int i = 0; i < kept->count; i++) fprintf(out, "             %s\n", wf_name_shown(kept->names[i], name));
}

static void print_quality(const api_network_report *report, FILE *out) {
  const quantise_quality *q = report->job->quality;
  for (int o = 0; q != NULL && o < report->job->placed->output_count; o++) {
    char name[WF_NAME_LINE];
    fprintf(out, "quality      %s: %.1f dB", wf_name_shown(q[o].output, name), q[o].sqnr_db);
    if (q[o].top1 >= 0) fprintf(out, ", top-1 agrees in %.1f %% of %d", 100 * q[o].top1, q[o].rows);
    fputc('\n', out);
  }
}

// ---- what the cycles depend on

static sim_flow_account account_of(const api_network_report *report, int step) {
  static const sim_flow_account nothing = {.cycles = {0}};
  return api_sensitivity_between(step == 0 ? &nothing : &report->accounts[step - 1], &report->accounts[step]);
}

static void print_sensitivity(const api_network_report *report, FILE *out) {
  const network *net = report->job->net;
  if (report->accounts == NULL || net->step_count == 0) return;
  char name[WF_NAME_LINE];
  api_sensitivity_print(&report->accounts[net->step_count - 1], out);
  fprintf(out, "\nby step, the first weights\n");
  for (int s = 0; s < net->step_count; s++) {
    const sim_flow_account account = account_of(report, s);
    fprintf(out, "%4d %-28s ", s, wf_name_shown(net->steps[s].name, name));
    api_sensitivity_print_line(&account, out);
  }
}

static void add_sensitivity(const api_network_report *report, cJSON *document, cJSON *steps) {
  const network *net = report->job->net;
  if (report->accounts == NULL || net->step_count == 0) return;
  api_sensitivity_json(&report->accounts[net->step_count - 1], document);
  for (int s = 0; s < net->step_count; s++) {
    const sim_flow_account account = account_of(report, s);
    api_sensitivity_json(&account, cJSON_GetArrayItem(steps, s));
  }
}

// Tensors between mixed steps that are in no memory.
static void print_forwarded(const network *net, FILE *out) {
  char number[WF_THOUSANDS], name[WF_NAME_LINE];
  uint64_t bytes = 0;
  int count = 0;
  for (int b = 0; b < net->buffer_count; b++) {
    count += net->buffers[b].forwarded;
    bytes += net->buffers[b].forwarded ? net->buffers[b].bytes : 0;
  }
  if (count == 0) return;
  fprintf(out, "scratchpad   keeps %d tensors of %s bytes between mixed steps:", count, wf_thousands(bytes, number));
  for (int b = 0; b < net->buffer_count; b++)
    if (net->buffers[b].forwarded) fprintf(out, " %s", wf_name_shown(net->buffers[b].name, name));
  fputc('\n', out);
}

static void add_forwarded(const network *net, cJSON *document) {
  cJSON *list = cJSON_AddArrayToObject(document, "forwarded");
  for (int b = 0; b < net->buffer_count; b++) {
    if (!net->buffers[b].forwarded) continue;
    cJSON *tensor = cJSON_CreateObject();
    cJSON_AddStringToObject(tensor, "tensor", net->buffers[b].name);
    wf_json_count(tensor, "bytes", net->buffers[b].bytes);
    cJSON_AddItemToArray(list, tensor);
  }
}

void api_network_report_totals(const api_network_report *report, FILE *out) {
  const run_network_result *r = report->result;
  const network *net = report->job->net;
  char number[WF_THOUSANDS], other[WF_THOUSANDS], least[WF_THOUSANDS], name[WF_NAME_LINE];
  fprintf(out, "network      %s\narray        %s\nengine       %s\n", wf_name_shown(report->path, name),
          report->job->array.array.name, report->engine->name);
  fprintf(out, "steps        %d, %d kernels, %s commands\n", net->step_count, net->kernel_count,
          wf_thousands(r->commands, number));
  fprintf(out, "macs         %s\n", wf_thousands(r->macs, number));
  print_cycles(report, out);
  print_traffic(report, out);
  fprintf(out, "memory       weights %s bytes, activations %s bytes, at least %s at one time\n",
          wf_thousands(net->weight_bytes, number), wf_thousands(net->arena_bytes, other),
          wf_thousands(net->arena_least_bytes, least));
  print_forwarded(net, out);
  fprintf(out, "seconds      read %.2f, quantise %.2f, compile %.2f, simulate %.2f, reference %.2f; process %s KiB\n",
          report->job->read_seconds, report->job->quantise_seconds, net->compile_seconds, r->run_seconds,
          r->check_seconds, wf_thousands(peak_kib(), number));
  if (report->job->choose_kernels) api_choices_print(&report->job->kernels, out);
  print_choice(report, out);
  print_ways(report, out);
  print_cache(report, out);
  print_kept(report, out);
  print_quality(report, out);
  print_layers(report, out);
  print_sensitivity(report, out);
  for (int o = 0; !report->timing_only && o < net->graph->output_count; o++)
    fprintf(out, "output       %s, digest %016" PRIx64 "\n",
            wf_name_shown(net->graph->tensors[net->graph->outputs[o]].name, name), r->digests[o]);
  if (report->checked)
    fprintf(out, "result       %s, %s bytes compared\n", r->wrong == 0 ? "as the int8 reference's" : "WRONG",
            wf_thousands(r->compared, number));
}

void api_network_report_wrong(const api_network_report *report, FILE *out) {
  const run_network_result *r = report->result;
  if (r->wrong == 0) return;
  const network *net = report->job->net;
  char node[WF_NAME_LINE], tensor[WF_NAME_LINE];
  fprintf(out,
          "weft: error: %" PRIu64 " elements differ from the reference; the first: node %s, tensor %s, element %" PRIu64
          ": %g, not %g\n",
          r->wrong, wf_name_shown(net->steps[r->first.step].name, node),
          wf_name_shown(net->graph->tensors[r->first.tensor].name, tensor), r->first.element, r->first.found,
          r->first.expected);
}

// ---- JSON

static cJSON *step_json(const network *net, int step, const run_step_result *r) {
  const network_step *s = &net->steps[step];
  const run_step_figures f = run_step_figures_of(net, s, r);
  char shape[64];
  api_shape_text(net->graph, s->node, shape, sizeof shape);
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "node", s->name);
  cJSON_AddStringToObject(object, "operator", graph_op_name(s->node->op));
  cJSON_AddStringToObject(object, "result", shape);
  cJSON_AddStringToObject(object, "place", network_step_place(s));
  if (s->node->reason != NULL) cJSON_AddStringToObject(object, "reason", s->node->reason);
  cJSON_AddStringToObject(object, "program", s->what);
  cJSON_AddBoolToObject(object, "edge", s->edge);
  wf_json_count(object, "macs", s->macs);
  if (r->timed) wf_json_count(object, "cycles", r->cycles);
  if (r->timed) cJSON_AddNumberToObject(object, "utilisation", f.utilisation);
  wf_json_count(object, "commands", r->commands);
  cJSON_AddStringToObject(object, "bound", f.bound);
  if (f.has_energy) cJSON_AddNumberToObject(object, "energy_uj", f.energy_uj);
  api_units_add_energy(&f.run, object);
  if (r->has_units) {
    wf_json_count(object, "read_bytes", r->units.bus_read_bytes);
    wf_json_count(object, "written_bytes", r->units.bus_written_bytes);
  }
  wf_json_count(object, "compared_bytes", r->compared);
  wf_json_count(object, "wrong", r->wrong);
  return object;
}

static void add_totals(const api_network_report *report, cJSON *document) {
  const run_network_result *r = report->result;
  const network *net = report->job->net;
  cJSON_AddStringToObject(document, "file", report->path);
  cJSON_AddStringToObject(document, "network", net->graph->name);
  cJSON_AddStringToObject(document, "array", report->job->array.array.name);
  wf_json_hash(document, "array_hash", hw_array_hash(&report->job->array.array));
  cJSON_AddStringToObject(document, "engine", report->engine->name);
  if (report->engine->timed) {
    wf_json_count(document, "cycles", r->cycles);
    wf_json_count(document, "array_cycles", r->array_cycles);
    wf_json_count(document, "host_cycles", r->host_cycles);
    wf_json_count(document, "edge_cycles", r->edge_cycles);
    wf_json_count(document, "both_cycles", r->both_cycles);
    wf_json_count(document, "images", (uint64_t)report->job->images);
  }
  wf_json_count(document, "macs", r->macs);
  wf_json_count(document, "commands", r->commands);
  if (r->has_units) {
    wf_json_count(document, "read_bytes", r->units.bus_read_bytes);
    wf_json_count(document, "written_bytes", r->units.bus_written_bytes);
    const sim_figures figures = sim_figures_of(&r->units, &r->hart, &report->job->array.array);
    if (figures.has_energy) cJSON_AddNumberToObject(document, "energy_uj", figures.energy_pj / 1e6);
    api_units_add_energy(&figures, document);
    api_units_add_hart(&r->hart, document);
    api_units_add_memory(&r->units.memory, document);
  }
  wf_json_count(document, "weight_bytes", net->weight_bytes);
  wf_json_count(document, "arena_bytes", net->arena_bytes);
  wf_json_count(document, "arena_least_bytes", net->arena_least_bytes);
  add_forwarded(net, document);
  wf_json_count(document, "process_kib", peak_kib());
}

static void add_seconds(const api_network_report *report, cJSON *document) {
  cJSON *seconds = cJSON_AddObjectToObject(document, "seconds");
  cJSON_AddNumberToObject(seconds, "read", report->job->read_seconds);
  cJSON_AddNumberToObject(seconds, "quantise", report->job->quantise_seconds);
  cJSON_AddNumberToObject(seconds, "compile", report->job->net->compile_seconds);
  cJSON_AddNumberToObject(seconds, "simulate", report->result->run_seconds);
  cJSON_AddNumberToObject(seconds, "reference", report->result->check_seconds);
}

static void add_choice(const api_network_report *report, cJSON *document) {
  const quantise_choice *choice = &report->job->choice;
  if (!choice->measured) return;
  cJSON *object = cJSON_AddObjectToObject(document, "normaliser"), *list = cJSON_AddArrayToObject(object, "operators");
  for (int u = 0; u < UNITS; u++)
    if ((choice->kinds & units[u].kind) != 0) cJSON_AddItemToArray(list, cJSON_CreateString(units[u].name));
  cJSON_AddNumberToObject(object, "sqnr_db", choice->unit_db);
  cJSON_AddNumberToObject(object, "hart_sqnr_db", choice->hart_db);
  cJSON_AddNumberToObject(object, "all_sqnr_db", choice->all_db);
}

static void add_ways(const api_network_report *report, cJSON *document) {
  if (report->job->ways[0].name == NULL) return;
  cJSON *list = cJSON_AddArrayToObject(document, "ways");
  for (int w = 0; w < API_WAYS; w++) {
    const api_way *way = &report->job->ways[w];
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(list, row);
    cJSON_AddStringToObject(row, "name", way->name);
    cJSON_AddBoolToObject(row, "chosen", way->chosen);
    if (way->refused != NULL) cJSON_AddStringToObject(row, "refused", way->refused);
    if (way->refused == NULL) wf_json_count(row, "cycles", way->cycles);
    if (way->has_energy) cJSON_AddNumberToObject(row, "energy_uj", way->energy_uj);
  }
}

static void add_cache(const api_network_report *report, cJSON *document) {
  const quantise_cache_quality *q = &report->job->cache_quality;
  if (!q->measured) return;
  cJSON *object = cJSON_AddObjectToObject(document, "cache");
  cJSON_AddStringToObject(object, "type", "int4");
  cJSON_AddNumberToObject(object, "sqnr_db", q->int4_db);
  cJSON_AddNumberToObject(object, "int8_sqnr_db", q->int8_db);
}

static void add_quality(const api_network_report *report, cJSON *document) {
  const quantise_quality *q = report->job->quality;
  if (q == NULL) return;
  cJSON *list = cJSON_AddArrayToObject(document, "quality");
  for (int o = 0; o < report->job->placed->output_count; o++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "output", q[o].output);
    cJSON_AddNumberToObject(object, "sqnr_db", q[o].sqnr_db);
    if (q[o].top1 >= 0) cJSON_AddNumberToObject(object, "top1", q[o].top1);
    cJSON_AddItemToArray(list, object);
  }
}

static void add_kept(const api_network_report *report, cJSON *document) {
  const quantise_kept *kept = &report->job->kept;
  if (kept->count == 0 && !kept->measured) return;
  cJSON *object = cJSON_AddObjectToObject(document, "in_float"), *list = cJSON_AddArrayToObject(object, "nodes");
  for (int i = 0; i < kept->count; i++) cJSON_AddItemToArray(list, cJSON_CreateString(kept->names[i]));
  if (report->engine->timed) wf_json_count(object, "cycles", kept_cycles(report));
  if (!kept->measured) return;
  cJSON_AddNumberToObject(object, "sqnr_db", kept->with_db);
  cJSON_AddNumberToObject(object, "without_sqnr_db", kept->before_db);
}

static void add_layers(const api_network_report *report, cJSON *document) {
  const quantise_layers *layers = &report->job->layers;
  if (layers->count == 0) return;
  cJSON *list = cJSON_AddArrayToObject(document, "layers");
  for (int i = 0; i < layers->count; i++) {
    const quantise_layer *layer = &layers->rows[i];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "node", layer->node);
    cJSON_AddStringToObject(object, "operator", graph_op_name(layer->op));
    cJSON_AddStringToObject(object, "tensor", layer->tensor);
    cJSON_AddNumberToObject(object, "sqnr_db", layer->sqnr_db);
    if (layer->input_db < EXACT_DB) cJSON_AddNumberToObject(object, "input_sqnr_db", layer->input_db);
    cJSON_AddItemToArray(list, object);
  }
}

cJSON *api_network_report_json(const api_network_report *report) {
  cJSON *document = cJSON_CreateObject();
  const run_network_result *r = report->result;
  add_totals(report, document);
  add_seconds(report, document);
  if (report->job->choose_kernels) api_choices_json(&report->job->kernels, document);
  add_choice(report, document);
  add_ways(report, document);
  add_cache(report, document);
  add_kept(report, document);
  add_quality(report, document);
  add_layers(report, document);
  cJSON_AddBoolToObject(document, "compared", report->checked);
  if (!report->timing_only) wf_json_hash(document, "digest", r->digest);
  if (report->checked) wf_json_count(document, "wrong", r->wrong);
  cJSON *list = cJSON_AddArrayToObject(document, "steps");
  for (int s = 0; s < report->job->net->step_count; s++)
    cJSON_AddItemToArray(list, step_json(report->job->net, s, &r->steps[s]));
  add_sensitivity(report, document, list);
  return document;
}

// ---- CSV: a row per step

void api_network_report_csv(const api_network_report *report, FILE *out) {
  const network *net = report->job->net;
  fputs("step,node,operator,place,program,macs,cycles,utilisation,read_bytes,written_bytes,energy_uj,wrong", out);
  for (unsigned part = 0; part < SIM_PARTS; part++) fprintf(out, ",%s_uj", sim_part_names[part]);
  fputs(",array_uj\n", out);
  for (int s = 0; s < net->step_count; s++) {
    const network_step *step = &net->steps[s];
    const run_step_result *r = &report->result->steps[s];
    const run_step_figures f = run_step_figures_of(net, step, r);
    fprintf(out, "%d,", s);
    wf_csv_field(step->name, out);
    fprintf(out, ",%s,%s,", graph_op_name(step->node->op), network_step_place(step));
    wf_csv_field(step->what, out);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%.4f,%" PRIu64 ",%" PRIu64 ",%.3f,%" PRIu64, step->macs, r->cycles,
            f.utilisation, r->units.bus_read_bytes, r->units.bus_written_bytes, f.energy_uj, r->wrong);
    for (unsigned part = 0; part < SIM_PARTS; part++) fprintf(out, ",%.6g", f.run.part_pj[part] / 1e6);
    fprintf(out, ",%.6g\n", f.run.array_pj / 1e6);
  }
}
