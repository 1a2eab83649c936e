// SPDX-License-Identifier: Apache-2.0
// `weft crosscheck NET`: cycles of each layer beside the closed form of another simulator, and what the difference is.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/name.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "hw/export/export.h"
#include "search/crosscheck/crosscheck.h"
#include "search/crosscheck/nest.h"
#include "search/layers/network.h"

typedef struct crosscheck_options {
  const char *form, *csv, *topology, *problems, *mappings;
} crosscheck_options;

// Of all layers, each as often as the network has it.
typedef struct totals {
  int64_t cycles, mesh_cycles, ideal, said, by[CROSSCHECK_CAUSE_COUNT];
} totals;

typedef struct job {
  const cli_common *common;
  const crosscheck_options *options;
  const hw_array *array;
  const layers_network *network;
  crosscheck_form form;
  crosscheck_result *results;  // by layer
  totals all;
} job;

// ---- running

static void add(totals *all, const crosscheck_result *r, int64_t count) {
  all->cycles += count * r->cycles;
  all->mesh_cycles += count * r->mesh_cycles;
  all->ideal += count * r->ideal;
  all->said += count * r->said.cycles;
  for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++) all->by[cause] += count * r->by[cause];
}

static bool run_layers(job *j, wf_diag *diag) {
  enum { PAUSE = 2 };  // seconds
  wf_progress line = wf_progress_begin(j->common->quiet, PAUSE, PAUSE);
  bool good = true;
  for (size_t i = 0; i < j->network->count; i++) {
    char name[WF_NAME_LINE];
    if (wf_progress_due(&line))
      wf_progress_line(&line, "layer %zu of %zu: %s", i + 1, j->network->count,
                       wf_name_shown(j->network->layers[i].name, name));
    j->results[i] = crosscheck_layer(&j->network->layers[i], j->array, j->form, diag);
    if (j->results[i].status == RUN_MEASURE_GOOD)
      add(&j->all, &j->results[i], j->network->layers[i].count);
    else
      good = false;
  }
  wf_progress_end(&line, false);
  return good;
}

// ---- text

static double percent(int64_t part, int64_t whole) { return whole == 0 ? 0 : 100.0 * (double)part / (double)whole; }

static void print_head(const job *j) {
  char name[WF_NAME_LINE], array[WF_NAME_LINE];
  printf("%s on %s: engine cycle (cold caches) beside the closed form %s, in cycles\n",
         wf_name_shown(j->network->name, name), wf_name_shown(j->array->name, array), crosscheck_form_names[j->form]);
  printf("%-24s %5s %11s %11s %11s %7s |", "layer", "count", "cycle", crosscheck_form_names[j->form], "mesh alone",
         "diff %");
  for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++) printf(" %9s", crosscheck_cause_names[cause]);
  putchar('\n');
}

static void print_numbers(int64_t cycles, int64_t said, int64_t mesh, const int64_t *by) {
  printf(" %11" PRId64 " %11" PRId64 " %11" PRId64 " %+7.1f |", cycles, said, mesh, percent(cycles - said, said));
  for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++) printf(" %9" PRId64, by[cause]);
  putchar('\n');
}

// Layers of a network differ at the ends of their names, so a long one loses its beginning.
static void print_name(const char *name) {
  enum { WIDTH = 24, DOTS = 2 };
  char line[WF_NAME_LINE];
  const char *shown = wf_name_shown(name, line);
  const size_t length = strlen(shown);
  if (length <= WIDTH) {
    printf("%-*s", WIDTH, shown);
    return;
  }
  shown += length - (WIDTH - DOTS);
  while ((*shown & 0xc0) == 0x80) shown++;  // not in the middle of a character
  printf("..%-*s", WIDTH - DOTS, shown);
}

static void print_text(const job *j) {
  print_head(j);
  for (size_t i = 0; i < j->network->count; i++) {
    const layers_layer *layer = &j->network->layers[i];
    const crosscheck_result *r = &j->results[i];
    print_name(layer->name);
    printf(" %5" PRId64, layer->count);
    if (r->status == RUN_MEASURE_GOOD)
      print_numbers(r->cycles, r->said.cycles, r->mesh_cycles, r->by);
    else
      printf(" %s\n", run_measure_status_names[r->status]);
  }
  printf("%-24s %5s", "all", "");
  print_numbers(j->all.cycles, j->all.said, j->all.mesh_cycles, j->all.by);
  printf("\ncycle = %s + the columns behind the bar:\n", crosscheck_form_names[j->form]);
  for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++)
    printf("  %-9s %s\n", crosscheck_cause_names[cause], crosscheck_cause_texts[cause]);
}

// ---- CSV and JSON

static bool write_csv(const job *j, wf_diag *diag) {
  FILE *out = cli_open_output(j->options->csv, diag);
  if (out == NULL) return false;
  fprintf(out, "layer,count,status,cycle,%s,mesh,ideal", crosscheck_form_names[j->form]);
  for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++) fprintf(out, ",%s", crosscheck_cause_names[cause]);
  fputc('\n', out);
  for (size_t i = 0; i < j->network->count; i++) {
    const crosscheck_result *r = &j->results[i];
    wf_csv_field(j->network->layers[i].name, out);
    fprintf(out, ",%" PRId64 ",%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, j->network->layers[i].count,
            run_measure_status_names[r->status], r->cycles, r->said.cycles, r->mesh_cycles, r->ideal);
    for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++) fprintf(out, ",%" PRId64, r->by[cause]);
    fputc('\n', out);
  }
  return cli_close(out, j->options->csv, diag);
}

static void add_causes(cJSON *object, const int64_t *by) {
  cJSON *causes = cJSON_AddObjectToObject(object, "difference");
  for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++)
    cli_json_integer(causes, crosscheck_cause_names[cause], by[cause]);
}

static void add_numbers(cJSON *object, int64_t cycles, int64_t said, int64_t mesh, int64_t ideal, const int64_t *by) {
  cli_json_integer(object, "cycles", cycles);
  cli_json_integer(object, "closed_form", said);
  cli_json_integer(object, "mesh_cycles", mesh);
  cli_json_integer(object, "ideal", ideal);
  add_causes(object, by);
}

static cJSON *json_of(const job *j) {
  cJSON *document = cJSON_CreateObject(), *layers = cJSON_AddArrayToObject(document, "layers");
  cJSON_AddStringToObject(document, "network", j->network->name);
  cJSON_AddStringToObject(document, "array", j->array->name);
  cJSON_AddStringToObject(document, "engine", "cycle");
  cJSON_AddStringToObject(document, "form", crosscheck_form_names[j->form]);
  for (size_t i = 0; i < j->network->count; i++) {
    const crosscheck_result *r = &j->results[i];
    cJSON *layer = cJSON_CreateObject();
    cJSON_AddStringToObject(layer, "name", j->network->layers[i].name);
    cli_json_integer(layer, "count", j->network->layers[i].count);
    cJSON_AddStringToObject(layer, "status", run_measure_status_names[r->status]);
    if (r->status == RUN_MEASURE_GOOD) add_numbers(layer, r->cycles, r->said.cycles, r->mesh_cycles, r->ideal, r->by);
    cJSON_AddItemToArray(layers, layer);
  }
  cJSON *all = cJSON_AddObjectToObject(document, "all");
  add_numbers(all, j->all.cycles, j->all.said, j->all.mesh_cycles, j->all.ideal, j->all.by);
  return document;
}

// ---- the verb

static bool write_topology(const job *j, wf_diag *diag) {
  FILE *out = cli_open_output(j->options->topology, diag);
  if (out == NULL) return false;
  const bool said = crosscheck_write_topology(j->network, out, diag);
  return cli_close(out, j->options->topology, diag) && said;
}

// Layers are numbered: names may occur twice.
static bool write_problem(const job *j, size_t layer, wf_diag *diag) {
  char *name = wf_name_file(j->network->layers[layer].name);
  char *path = wf_format("%s/%03zu-%s.yaml", j->options->problems, layer + 1, name);
  FILE *out = cli_open_output(path, diag);
  if (out != NULL) crosscheck_write_problem(&j->network->layers[layer], out);
  const bool good = out != NULL && cli_close(out, path, diag);
  wf_free(path);
  wf_free(name);
  return good;
}

static bool write_problems(const job *j, wf_diag *diag) {
  bool good = cli_make_directory(j->options->problems, diag);
  for (size_t i = 0; i < j->network->count && good; i++) good = write_problem(j, i, diag);
  return good;
}

// ---- the layers as Timeloop runs them again: architecture, energies, and of each layer problem and mapping

typedef void text_writer(const void *what, const void *more, FILE *out);

static bool write_text(const job *j, const char *name, text_writer *write, const void *what, const void *more,
                       wf_diag *diag) {
  char *path = wf_format("%s/%s", j->options->mappings, name);
  FILE *out = cli_open_output(path, diag);
  if (out != NULL) write(what, more, out);
  const bool good = out != NULL && cli_close(out, path, diag);
  wf_free(path);
  return good;
}

static void put_architecture(const void *array, const void *none, FILE *out) {
  (void)none;
  hw_export_timeloop_v4(array, out);
}
static void put_energies(const void *array, const void *none, FILE *out) {
  (void)none;
  hw_export_accelergy(array, out);
}
static void put_problem(const void *layer, const void *nest, FILE *out) {
  crosscheck_write_padded(layer, ((const crosscheck_nest *)nest)->size, out);
}
static void put_mapping(const void *layer, const void *nest, FILE *out) {
  (void)layer;
  crosscheck_write_nest(nest, out);
}

// Sets `said` to false where the layer has no such mapping; the result: whether all could be written.
static bool write_mapping(const job *j, size_t i, bool *said, wf_diag *diag) {
  const layers_layer *layer = &j->network->layers[i];
  crosscheck_nest nest;
  if (!crosscheck_nest_of(layer, j->array, &nest, diag)) {
    *said = false;
    return true;
  }
  char *name = wf_name_file(layer->name);
  char *problem = wf_format("%03zu-%s.problem.yaml", i + 1, name);
  char *mapping = wf_format("%03zu-%s.mapping.yaml", i + 1, name);
  const bool good = write_text(j, problem, put_problem, layer, &nest, diag) &&
                    write_text(j, mapping, put_mapping, layer, &nest, diag);
  wf_free(mapping);
  wf_free(problem);
  wf_free(name);
  return good;
}

static bool write_mappings(const job *j, wf_diag *diag) {
  bool said = true;
  bool good = cli_make_directory(j->options->mappings, diag) &&
              write_text(j, "arch.yaml", put_architecture, j->array, NULL, diag) &&
              write_text(j, "ert.yaml", put_energies, j->array, NULL, diag);
  for (size_t i = 0; i < j->network->count && good; i++) good = write_mapping(j, i, &said, diag);
  return good && said;
}

// What runs nothing.
static cli_exit write_layers(const job *j, wf_diag *diag) {
  bool good = j->options->topology == NULL || write_topology(j, diag);
  good = (j->options->problems == NULL || write_problems(j, diag)) && good;
  good = (j->options->mappings == NULL || write_mappings(j, diag)) && good;
  return good ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit compare(job *j, wf_diag *diag) {
  const crosscheck_options *o = j->options;
  if (o->topology != NULL || o->problems != NULL || o->mappings != NULL) return write_layers(j, diag);
  j->results = wf_calloc(j->network->count, sizeof *j->results);
  const bool ran = run_layers(j, diag);
  if (cli_prints(j->common)) print_text(j);
  bool good = j->options->csv == NULL || write_csv(j, diag);
  good = (j->common->json == NULL || cli_write_json(j->common->json, json_of(j), diag)) && good;
  wf_free(j->results);
  return !good ? CLI_BAD_INPUT : ran ? CLI_OK : CLI_CANNOT_BUILD;
}

// A topology and problems are written without running anything: these would have nothing to say.
static bool layers_alone(const cli_common *common, const crosscheck_options *o) {
  const char *written = o->topology != NULL   ? "--topology"
                        : o->problems != NULL ? "--problems"
                        : o->mappings != NULL ? "--mappings"
                                              : NULL;
  const char *unused = o->csv != NULL ? "--csv" : common->json != NULL ? "--json" : o->form != NULL ? "--form" : NULL;
  if (written == NULL || unused == NULL) return true;
  fprintf(stderr, "weft: error: %s runs nothing, so it takes no %s\n  hint: a second call without it\n", written,
          unused);
  return false;
}

static bool find_form(const char *name, crosscheck_form *form) {
  *form = crosscheck_form_named(name);
  if (*form != CROSSCHECK_FORM_COUNT) return true;
  fprintf(stderr, "weft: error: there is no form %s\n  hint:", name);
  for (int f = 0; f < CROSSCHECK_FORM_COUNT; f++) fprintf(stderr, " %s", crosscheck_form_names[f]);
  fputc('\n', stderr);
  return false;
}

static const wf_option crosscheck_rows[] = {
    {"form", WF_TEXT(crosscheck_options, form), "NAME", "scale-sim (default), scale-sim-os or stonne"},
    {"topology", WF_TEXT(crosscheck_options, topology), "FILE|-",
     "run nothing: write the layers as SCALE-Sim reads them"},
    {"problems", WF_TEXT(crosscheck_options, problems), "DIR",
     "run nothing: write each layer as a problem of Timeloop 0.4"},
    {"mappings", WF_TEXT(crosscheck_options, mappings), "DIR",
     "run nothing: write architecture, energies, and each layer's problem and compiled mapping for Timeloop 0.4"},
    {"csv", WF_TEXT(crosscheck_options, csv), "FILE|-", "write a line for each layer"},
};

cli_exit cli_crosscheck(int argc, char **argv) {
  crosscheck_options o = {0};
  static const cli_usage usage = {
      .verb = "crosscheck",
      .synopsis = "NET",
      .text =
          "Runs each layer of a network (a layer table, an ONNX file or the name of a generated network) on\n"
          "engine cycle, each by itself with cold caches, and prints its cycles beside the closed form of\n"
          "another simulator. The difference is split into causes that add up to it (docs/crosscheck.md).",
      .options = {CLI_OPTIONS(crosscheck_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 1,
      .takes_array = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &o, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  job j = {.common = &common, .options = &o};
  hw_array array;
  layers_network network = {0};
  if (!layers_alone(&common, &o)) return CLI_USAGE;
  j.form = CROSSCHECK_SCALE_SIM;
  if (o.form != NULL && !find_form(o.form, &j.form)) return CLI_USAGE;
  if (!cli_check_output(o.csv, &diag) || !cli_check_output(o.topology, &diag) ||
      !cli_load_array(&common, &array, &diag))
    return CLI_BAD_INPUT;
  j.array = &array;
  j.network = &network;
  code = layers_load_network(&network, argv[0], NULL, &diag) ? compare(&j, &diag) : CLI_BAD_INPUT;
  layers_release(&network);
  return code;
}
