// SPDX-License-Identifier: Apache-2.0
// Answers of simulated searches as text, JSON and files: see answer.h.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/answer.h"
#include "api/output.h"
#include "base/alloc.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/name.h"
#include "base/output.h"
#include "base/thousands.h"
#include "compiler/command/command.h"
#include "compiler/layer/layer.h"
#include "hw/export/export.h"
#include "search/sweep/store.h"
#include "search/truth/program.h"
#include "weft_version.h"

typedef struct report {
  const truth_options *options;
  const truth_result *result;
  const truth_program *program;  // NULL: a table
  const char *directory;
  const char *folder;  // in it, of the network
  wf_diag *diag;
} report;

static const truth_candidate *best_of(const report *r) { return &r->result->candidates[r->result->best]; }

static const layers_network *network_of(const report *r) { return r->options->goal.network; }

static paper_cost cost_of(const truth_candidate *c) {
  return (paper_cost){.cycles = c->cycles, .energy_uj = c->energy_uj};
}

// How many times better than the base array.
static double gain(const report *r, const truth_candidate *c) {
  const truth_candidate *base = &r->result->candidates[0];
  const descent_goal *goal = &r->options->goal;
  return truth_objective(goal, &base->array, cost_of(base)) / truth_objective(goal, &c->array, cost_of(c));
}

// ---- text

// A model's, if it was asked.
static void print_figure(double value, FILE *out) {
  if (value > 0)
    fprintf(out, "%11.4e ", value);
  else
    fprintf(out, "%11s ", "-");
}

static void print_candidates(const report *r, FILE *out) {
  fprintf(out, "    %-44s %5s %9s %9s %11s %11s %11s %11s %11s %7s\n", "candidate", "side", "spad KiB", "acc KiB",
          "cycles", r->options->whole_energy ? "whole uJ" : "array uJ", "uJ x cycles", "machine's", "model's", "gain");
  for (size_t i = 0; i < r->result->count; i++) {
    const truth_candidate *c = &r->result->candidates[i];
    fprintf(out, "%c%2zu ", i == r->result->best ? '*' : ' ', i);
    wf_name_column(c->origin, 44, false, out);
    fprintf(out, " %5u %9u %9u ", hw_derive(&c->array).dim, c->array.scratchpad.capacity_kib,
            c->array.accumulator.capacity_kib);
    if (c->good) {
      fprintf(out, "%11.4e %11.4e %11.4e ", c->cycles, c->energy_uj, c->cycles * c->energy_uj);
    } else {
      fprintf(out, "%35s ", "cannot run all layers");
    }
    print_figure(c->predicted, out);
    print_figure(paper_edp(c->model), out);
    if (c->good) fprintf(out, "%7.2f%s", gain(r, c), c->within ? "" : "  beyond the bounds");
    fputc('\n', out);
  }
}

static void print_layers(const report *r, FILE *out) {
  const layers_network *table = network_of(r);
  const truth_candidate *base = &r->result->candidates[0], *best = best_of(r);
  fprintf(out, "  %-26s %5s %12s %7s %12s %7s %7s\n", "layer", "count", "cycles, base", "util %", "cycles, best",
          "util %", "ratio");
  for (size_t i = 0; i < table->count; i++) {
    const sweep_work_result *b = &base->layers[i], *f = &best->layers[i];
    char old_cycles[WF_THOUSANDS], new_cycles[WF_THOUSANDS];
    fputs("  ", out);
    wf_name_column(table->layers[i].name, 26, false, out);
    fprintf(out, " %5" PRId64 " %12s %7.2f %12s %7.2f %7.2f\n", table->layers[i].count,
            wf_thousands(b->cycles, old_cycles), 100 * b->utilisation, wf_thousands(f->cycles, new_cycles),
            100 * f->utilisation, (double)b->cycles / (double)f->cycles);
  }
}

// The whole network, every step as `weft sim` runs it.
static void print_program(const report *r, FILE *out) {
  const truth_program *p = r->program;
  char base[WF_THOUSANDS], best[WF_THOUSANDS];
  if (p == NULL) return;
  fprintf(out, "  whole network: %s cycles and %.1f uJ on the base, %s and %.1f on the best",
          wf_thousands((uint64_t)p->base.cycles, base), p->base.energy_uj, wf_thousands((uint64_t)p->best.cycles, best),
          p->best.energy_uj);
  fprintf(out, ", with %zu mappings of its own\n", p->mappings.count);
  fprintf(out, "  the array's, as models count: %.1f uJ on the base, %.1f on the best\n", p->base.array_energy_uj,
          p->best.array_energy_uj);
}

static void print_text(const report *r, FILE *out) {
  char name[WF_NAME_LINE];
  fprintf(out, "%s: %zu candidates simulated in %.1f s, gain in %s over %s: %.2f\n",
          wf_name_shown(network_of(r)->name, name), r->result->count, r->result->seconds,
          descent_plain_objective_names[r->options->goal.objective], r->options->base->name, gain(r, best_of(r)));
  if (r->result->predicted > 0)
    fprintf(out, "  of %zu arrays that the model of the machine predicted\n", r->result->predicted);
  print_program(r, out);
  print_candidates(r, out);
  print_layers(r, out);
}

// ---- JSON

static cJSON *candidate_json(const report *r, const truth_candidate *c) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "origin", c->origin);
  wf_json_hash(object, "array_hash", hw_array_hash(&c->array));
  cJSON_AddNumberToObject(object, "side", hw_derive(&c->array).dim);
  cJSON_AddNumberToObject(object, "scratchpad_kib", c->array.scratchpad.capacity_kib);
  cJSON_AddNumberToObject(object, "accumulator_kib", c->array.accumulator.capacity_kib);
  cJSON_AddBoolToObject(object, "good", c->good);
  cJSON_AddNumberToObject(object, "seconds", c->seconds);
  if (c->model.cycles > 0) {
    cJSON_AddNumberToObject(object, "model_cycles", c->model.cycles);
    cJSON_AddNumberToObject(object, "model_energy_uj", c->model.energy_uj);
    cJSON_AddNumberToObject(object, "model_edp", paper_edp(c->model));
  }
  if (c->predicted > 0) cJSON_AddNumberToObject(object, "machine_edp", c->predicted);
  if (!c->good) return object;
  cJSON_AddBoolToObject(object, "within_bounds", c->within);
  cJSON_AddNumberToObject(object, "cycles", c->cycles);
  cJSON_AddNumberToObject(object, "energy_uj", c->energy_uj);
  cJSON_AddNumberToObject(object, "edp", c->cycles * c->energy_uj);
  cJSON_AddNumberToObject(object, "gain", gain(r, c));
  return object;
}

static cJSON *layer_json(const report *r, size_t layer) {
  const sweep_work_result *m = &best_of(r)->layers[layer];
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "layer", network_of(r)->layers[layer].name);
  cJSON_AddNumberToObject(object, "count", (double)network_of(r)->layers[layer].count);
  wf_json_count(object, "cycles", m->cycles);
  cJSON_AddNumberToObject(object, "utilisation", m->utilisation);
  cJSON_AddNumberToObject(object, "energy_uj", m->energy_pj * 1e-6);
  wf_json_hash(object, "program_digest", m->program_digest);
  cJSON_AddStringToObject(object, "mapping", m->mapping);
  return object;
}

static cJSON *program_json(const truth_program *p) {
  cJSON *object = cJSON_CreateObject();
  wf_json_count(object, "base_cycles", (uint64_t)p->base.cycles);
  cJSON_AddNumberToObject(object, "base_energy_uj", p->base.energy_uj);
  cJSON_AddNumberToObject(object, "base_array_energy_uj", p->base.array_energy_uj);
  wf_json_count(object, "cycles", (uint64_t)p->best.cycles);
  cJSON_AddNumberToObject(object, "energy_uj", p->best.energy_uj);
  cJSON_AddNumberToObject(object, "array_energy_uj", p->best.array_energy_uj);
  wf_json_count(object, "mappings", p->mappings.count);
  return object;
}

static cJSON *to_json(const report *r) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "network", network_of(r)->name);
  cJSON_AddStringToObject(object, "objective", descent_plain_objective_names[r->options->goal.objective]);
  cJSON_AddStringToObject(object, "energy_of", r->options->whole_energy ? "whole" : "array");
  cJSON_AddNumberToObject(object, "seconds", r->result->seconds);
  cJSON_AddNumberToObject(object, "best", (double)r->result->best);
  cJSON_AddNumberToObject(object, "predicted", (double)r->result->predicted);
  if (r->program != NULL) cJSON_AddItemToObject(object, "whole", program_json(r->program));
  cJSON *candidates = cJSON_AddArrayToObject(object, "candidates");
  for (size_t i = 0; i < r->result->count; i++)
    cJSON_AddItemToArray(candidates, candidate_json(r, &r->result->candidates[i]));
  cJSON *layers = cJSON_AddArrayToObject(object, "layers");
  for (size_t i = 0; i < network_of(r)->count; i++) cJSON_AddItemToArray(layers, layer_json(r, i));
  return object;
}

// ---- files

// DIR/NET/NAME; freed by the caller.
static char *path_of(const report *r, const char *name) { return wf_format("%s/%s/%s", r->directory, r->folder, name); }

typedef void file_writer(const report *r, FILE *out);

static bool write_file(const report *r, const char *name, file_writer *write) {
  char *path = path_of(r, name);
  FILE *out = wf_output_open(path, r->diag);
  if (out != NULL) write(r, out);
  const bool good = out != NULL && wf_output_close(out, path, r->diag);
  wf_free(path);
  return good;
}

static void write_mappings(const report *r, FILE *out) { network_mappings_print(&r->program->mappings, out); }
static void write_array(const report *r, FILE *out) { hw_array_print(&best_of(r)->array, out); }

// The convergence: the best value after each candidate.
static void write_curve(const report *r, FILE *out) {
  fputs("seconds,candidate,origin,side,scratchpad_kib,accumulator_kib,cycles,energy_uj,edp,best\n", out);
  double best = INFINITY;
  for (size_t i = 0; i < r->result->count; i++) {
    const truth_candidate *c = &r->result->candidates[i];
    best = fmin(best, c->value);
    fprintf(out, "%.2f,%zu,", c->seconds, i);
    wf_csv_field(c->origin, out);
    fprintf(out, ",%u,%u,%u,", hw_derive(&c->array).dim, c->array.scratchpad.capacity_kib,
            c->array.accumulator.capacity_kib);
    if (c->good) {
      fprintf(out, "%.0f,%.6g,%.6g,%.6g\n", c->cycles, c->energy_uj, c->cycles * c->energy_uj, best);
    } else {
      fprintf(out, ",,,%.6g\n", best);
    }
  }
}

static void write_layers(const report *r, FILE *out) {
  fputs("layer,count,macs,base_cycles,base_utilisation,base_energy_uj,cycles,utilisation,energy_uj,program_digest\n",
        out);
  for (size_t i = 0; i < network_of(r)->count; i++) {
    const sweep_work_result *b = &r->result->candidates[0].layers[i], *f = &best_of(r)->layers[i];
    wf_csv_field(network_of(r)->layers[i].name, out);
    fprintf(out, ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%.4f,%.6g,%" PRIu64 ",%.4f,%.6g,%016" PRIx64 "\n",
            network_of(r)->layers[i].count, f->macs, b->cycles, b->utilisation, b->energy_pj * 1e-6, f->cycles,
            f->utilisation, f->energy_pj * 1e-6, f->program_digest);
  }
}

// The name of a layer as that of a file.
static char *file_name(const char *folder, const char *layer, const char *ending) {
  char *file = wf_name_file(layer), *name = wf_format("%s/%s.%s", folder, file, ending);
  wf_free(file);
  return name;
}

static bool write_text(const report *r, const char *name, const char *text) {
  char *path = path_of(r, name);
  FILE *out = wf_output_open(path, r->diag);
  if (out != NULL) fputs(text, out);
  const bool good = out != NULL && wf_output_close(out, path, r->diag);
  wf_free(path);
  return good;
}

// The kernel of a layer as C, by the mapping that was measured.
static bool write_kernel(const report *r, size_t i) {
  const layers_layer *layer = &network_of(r)->layers[i];
  const map_layer mapped = layers_to_map(layer);
  const char *mapping_text = best_of(r)->layers[i].mapping;
  map_mapping mapping;
  const bool given =
      mapping_text[0] != '\0' && map_parse(&mapping, layer->name, mapping_text, strlen(mapping_text), r->diag);
  compile_result program;
  const layer_policy policy = {.mapping = given ? &mapping : NULL};
  bool good = layer_compile(&mapped, &best_of(r)->array, &policy, &program, r->diag);
  char *name = file_name("kernels", layer->name, "c"), *path = path_of(r, name);
  FILE *out = good ? wf_output_open(path, r->diag) : NULL;
  good = out != NULL && command_write_c(program.commands, out, r->diag);
  if (out != NULL) good = wf_output_close(out, path, r->diag) && good;
  compile_release(&program);
  wf_free(name);
  wf_free(path);
  return good;
}

static bool write_layer(const report *r, size_t i) {
  const char *mapping = best_of(r)->layers[i].mapping;
  char *name = file_name("mappings", network_of(r)->layers[i].name, "map");
  const bool good = mapping[0] == '\0' || write_text(r, name, mapping);
  wf_free(name);
  return good && write_kernel(r, i);
}

// The candidates as the store of a sweep over a list of arrays, for `weft query` and `weft report`.
static sweep_spec spec_of(const report *r, layers_network *table) {
  sweep_spec spec = {.name = table->name,
                     .text = r->options->machine ? "weft search --simulate --model machine" : "weft search --simulate",
                     .sample = SWEEP_LIST,
                     .base = *r->options->base,
                     .arrays = wf_calloc(r->result->count, sizeof(hw_array)),
                     .array_count = r->result->count,
                     .networks = table,
                     .network_count = 1,
                     .tune = r->options->tune};
  for (size_t i = 0; i < r->result->count; i++) spec.arrays[i] = r->result->candidates[i].array;
  return spec;
}

static void store_candidate(const report *r, const sweep_spec *spec, size_t index, sweep_store *s) {
  const truth_candidate *c = &r->result->candidates[index];
  char *parameters = wf_format("{\"side\":%u,\"scratchpad_kib\":%u,\"accumulator_kib\":%u}", hw_derive(&c->array).dim,
                               c->array.scratchpad.capacity_kib, c->array.accumulator.capacity_kib);
  sweep_store_point(s, index, &c->array, parameters, "");
  wf_free(parameters);
  for (size_t i = 0; i < network_of(r)->count; i++) {
    const map_layer layer = layers_to_map(&network_of(r)->layers[i]);
    sweep_store_key key = {.array = hw_array_hash(&c->array), .layer = map_layer_hash(&layer)};
    snprintf(key.policy, sizeof key.policy, "%s", sweep_policy(spec).text);
    if (!sweep_store_has(s, &key)) sweep_store_add(s, &key, WEFT_GIT_VERSION, &c->layers[i]);
  }
}

static bool write_store(const report *r) {
  layers_network table = *network_of(r);
  sweep_spec spec = spec_of(r, &table);
  char *path = path_of(r, "points.sqlite");
  remove(path);
  sweep_store *s = sweep_store_open(path, &spec, WEFT_GIT_VERSION, SWEEP_STORE_ANY_VERSION, r->diag);
  bool good = s != NULL;
  if (good) {
    sweep_store_begin(s);
    for (size_t i = r->result->count; i-- > 0;)
      store_candidate(r, &spec, i, s);  // the last mappings of an array are the best
    good = sweep_store_commit(s, r->diag);
    sweep_store_close(s);
  }
  wf_free(spec.arrays);
  wf_free(path);
  return good;
}

static bool write_directory(const report *r) {
  static const char *const folders[] = {"", "mappings", "kernels"};
  bool good = api_output_folder(r->directory, r->diag);
  for (size_t f = 0; f < sizeof folders / sizeof *folders && good; f++) {
    char *path = path_of(r, folders[f]);
    good = api_output_folder(path, r->diag);
    wf_free(path);
  }
  good = good && write_file(r, "array.yaml", write_array) && write_file(r, "curve.csv", write_curve) &&
         write_file(r, "layers.csv", write_layers) && write_file(r, "report.txt", print_text) && write_store(r);
  if (good && r->program != NULL) good = write_file(r, "program.maps", write_mappings);
  for (size_t i = 0; i < network_of(r)->count && good; i++) good = write_layer(r, i);
  char *rtl = path_of(r, "rtl"), *json = path_of(r, "result.json");
  good = good && hw_export_write(&best_of(r)->array, rtl, NULL, r->diag) && api_output_json(json, to_json(r), r->diag);
  wf_free(rtl);
  wf_free(json);
  return good;
}

// ---- of an answer

static report report_of(const weft_answer *a) {
  return (report){.options = &a->how, .result = &a->truth, .program = a->is_program ? &a->whole : NULL};
}

void api_truth_print(const weft_answer *a, FILE *out) {
  const report r = report_of(a);
  print_text(&r, out);
}

cJSON *api_truth_json(const weft_answer *a) {
  const report r = report_of(a);
  return to_json(&r);
}

bool api_truth_write(const weft_answer *a, const char *directory, wf_diag *diag) {
  report r = report_of(a);
  char *folder = wf_name_file(a->table.name);
  r.directory = directory;
  r.folder = folder;
  r.diag = diag;
  const bool good = write_directory(&r);
  wf_free(folder);
  return good;
}
