// SPDX-License-Identifier: Apache-2.0
// `weft crosscheck NET`: cycles of each layer beside the closed form of another simulator, and what the difference is.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"

typedef struct crosscheck_options {
  const char *form, *csv, *topology, *problems, *mappings;
} crosscheck_options;

typedef struct job {
  const cli_common *common;
  const crosscheck_options *options;
  weft_session *session;
  weft_array *array;
  weft_layers *layers;
  weft_crosscheck *rows;
  weft_crosscheck_row all;
} job;

static const char *form_of(const job *j) {
  return j->options->form == NULL ? weft_crosscheck_form(0) : j->options->form;
}

static bool ran(const weft_crosscheck_row *row) { return strcmp(row->status, "good") == 0; }

static bool all_ran(const job *j) {
  weft_crosscheck_row row = {.size = sizeof row};
  bool good = true;
  for (size_t i = 0; weft_crosscheck_at(j->rows, i, &row) == WEFT_OK; i++) good = ran(&row) && good;
  return good;
}

static bool run_layers(job *j) {
  enum { PAUSE = 2 };  // seconds
  cli_watch watch;
  cli_watch_begin(&watch, j->session, j->common, PAUSE, "layer");
  j->rows = weft_crosscheck_run(j->session, j->layers, j->array, j->options->form);
  cli_watch_end(&watch);
  cli_messages(j->session);
  j->all = (weft_crosscheck_row){.size = sizeof j->all};
  return weft_crosscheck_sum(j->rows, &j->all) == WEFT_OK;
}

// ---- text

static double percent(int64_t part, int64_t whole) { return whole == 0 ? 0 : 100.0 * (double)part / (double)whole; }

static void print_head(const job *j) {
  char name[CLI_NAME], array[CLI_NAME];
  weft_cause cause = {.size = sizeof cause};
  printf("%s on %s: engine cycle (cold caches) beside the closed form %s, in cycles\n",
         cli_shown(weft_layers_name(j->layers), name), cli_shown(weft_array_name(j->array), array), form_of(j));
  printf("%-24s %5s %11s %11s %11s %7s |", "layer", "count", "cycle", form_of(j), "mesh alone", "diff %");
  for (size_t c = 0; weft_crosscheck_cause(c, &cause) == WEFT_OK; c++) printf(" %9s", cause.name);
  putchar('\n');
}

static void print_numbers(const weft_crosscheck_row *r) {
  weft_cause cause = {.size = sizeof cause};
  printf(" %11" PRId64 " %11" PRId64 " %11" PRId64 " %+7.1f |", r->cycles, r->closed_form, r->mesh_cycles,
         percent(r->cycles - r->closed_form, r->closed_form));
  for (size_t c = 0; weft_crosscheck_cause(c, &cause) == WEFT_OK; c++) printf(" %9" PRId64, r->difference[c]);
  putchar('\n');
}

// Layers of a network differ at the ends of their names, so a long one loses its beginning.
static void print_name(const char *name) {
  enum { WIDTH = 24, DOTS = 2 };
  char line[CLI_NAME];
  const char *shown = cli_shown(name, line);
  const size_t length = strlen(shown);
  if (length <= WIDTH) {
    printf("%-*s", WIDTH, shown);
    return;
  }
  shown += length - (WIDTH - DOTS);
  while ((*shown & 0xc0) == 0x80) shown++;  // not in the middle of a character
  printf("..%-*s", WIDTH - DOTS, shown);
}

static void print_causes(const job *j) {
  weft_cause cause = {.size = sizeof cause};
  printf("\ncycle = %s + the columns behind the bar:\n", form_of(j));
  for (size_t c = 0; weft_crosscheck_cause(c, &cause) == WEFT_OK; c++) printf("  %-9s %s\n", cause.name, cause.meaning);
}

static void print_text(const job *j) {
  weft_crosscheck_row row = {.size = sizeof row};
  print_head(j);
  for (size_t i = 0; weft_crosscheck_at(j->rows, i, &row) == WEFT_OK; i++) {
    print_name(row.name);
    printf(" %5" PRId64, row.count);
    if (ran(&row))
      print_numbers(&row);
    else
      printf(" %s\n", row.status);
  }
  printf("%-24s %5s", "all", "");
  print_numbers(&j->all);
  print_causes(j);
}

// ---- CSV and JSON

static void csv_row(const weft_crosscheck_row *row, FILE *out) {
  weft_cause cause = {.size = sizeof cause};
  cli_csv_field_to(row->name, out);
  fprintf(out, ",%" PRId64 ",%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, row->count, row->status, row->cycles,
          row->closed_form, row->mesh_cycles, row->ideal);
  for (size_t c = 0; weft_crosscheck_cause(c, &cause) == WEFT_OK; c++) fprintf(out, ",%" PRId64, row->difference[c]);
  fputc('\n', out);
}

static bool write_csv(const job *j) {
  weft_crosscheck_row row = {.size = sizeof row};
  weft_cause cause = {.size = sizeof cause};
  FILE *out = cli_create(j->options->csv);
  if (out == NULL) return false;
  fprintf(out, "layer,count,status,cycle,%s,mesh,ideal", form_of(j));
  for (size_t c = 0; weft_crosscheck_cause(c, &cause) == WEFT_OK; c++) fprintf(out, ",%s", cause.name);
  fputc('\n', out);
  for (size_t i = 0; weft_crosscheck_at(j->rows, i, &row) == WEFT_OK; i++) csv_row(&row, out);
  return cli_finish(out, j->options->csv);
}

static void add_numbers(cJSON *object, const weft_crosscheck_row *row) {
  weft_cause cause = {.size = sizeof cause};
  wf_json_integer(object, "cycles", row->cycles);
  wf_json_integer(object, "closed_form", row->closed_form);
  wf_json_integer(object, "mesh_cycles", row->mesh_cycles);
  wf_json_integer(object, "ideal", row->ideal);
  cJSON *causes = cJSON_AddObjectToObject(object, "difference");
  for (size_t c = 0; weft_crosscheck_cause(c, &cause) == WEFT_OK; c++)
    wf_json_integer(causes, cause.name, row->difference[c]);
}

static cJSON *layer_json(const weft_crosscheck_row *row) {
  cJSON *layer = cJSON_CreateObject();
  cJSON_AddStringToObject(layer, "name", row->name);
  wf_json_integer(layer, "count", row->count);
  cJSON_AddStringToObject(layer, "status", row->status);
  if (ran(row)) add_numbers(layer, row);
  return layer;
}

static cJSON *json_of(const job *j) {
  weft_crosscheck_row row = {.size = sizeof row};
  cJSON *document = cJSON_CreateObject(), *layers = cJSON_AddArrayToObject(document, "layers");
  cJSON_AddStringToObject(document, "network", weft_layers_name(j->layers));
  cJSON_AddStringToObject(document, "array", weft_array_name(j->array));
  cJSON_AddStringToObject(document, "engine", "cycle");
  cJSON_AddStringToObject(document, "form", form_of(j));
  for (size_t i = 0; weft_crosscheck_at(j->rows, i, &row) == WEFT_OK; i++)
    cJSON_AddItemToArray(layers, layer_json(&row));
  add_numbers(cJSON_AddObjectToObject(document, "all"), &j->all);
  return document;
}

// ---- the layers for other simulators

// Writes and frees a text. NULL was reported.
static bool put(const char *path, char *text) {
  const bool good = text != NULL && cli_write_text(path, text);
  weft_free(text);
  return good;
}

static bool put_in(const char *folder, const char *name, char *text) {
  char *path = cli_format("%s/%s", folder, name);
  const bool good = put(path, text);
  free(path);
  return good;
}

static bool write_topology(const job *j) {
  char *text = weft_layers_topology(j->session, j->layers);
  const bool said = cli_messages(j->session);
  return put(j->options->topology, text) && said;
}

// Layers are numbered: names may occur twice.
static char *file_of(size_t index, const weft_layer *layer, const char *ending) {
  char *name = cli_file_name(layer->name);
  char *file = cli_format("%03zu-%s%s", index + 1, name, ending);
  free(name);
  return file;
}

static bool write_problem(const job *j, size_t i, const weft_layer *layer) {
  char *file = file_of(i, layer, ".yaml");
  char *text = weft_layers_problem(j->session, j->layers, i);
  cli_messages(j->session);
  const bool good = put_in(j->options->problems, file, text);
  free(file);
  return good;
}

static bool write_problems(const job *j) {
  weft_layer layer = {.size = sizeof layer};
  bool good = cli_make_folder(j->options->problems);
  for (size_t i = 0; good && weft_layers_at(j->layers, i, &layer) == WEFT_OK; i++) good = write_problem(j, i, &layer);
  return good;
}

// Sets `said` to false where the layer has no such mapping; the result: whether all could be written.
static bool write_mapping(const job *j, size_t i, const weft_layer *layer, bool *said) {
  char *problem, *mapping;
  weft_layers_mapping(j->session, j->layers, i, j->array, &problem, &mapping);
  if (!cli_messages(j->session)) {
    *said = false;
    return true;
  }
  char *problem_file = file_of(i, layer, ".problem.yaml"), *mapping_file = file_of(i, layer, ".mapping.yaml");
  bool good = put_in(j->options->mappings, problem_file, problem);
  good = put_in(j->options->mappings, mapping_file, mapping) && good;
  free(mapping_file);
  free(problem_file);
  return good;
}

static bool write_hardware(const job *j, const char *name, const char *of) {
  char *text = weft_hardware_file(j->session, j->array, of);
  cli_messages(j->session);
  return put_in(j->options->mappings, name, text);
}

static bool write_mappings(const job *j) {
  weft_layer layer = {.size = sizeof layer};
  bool said = true;
  bool good = cli_make_folder(j->options->mappings) && write_hardware(j, "arch.yaml", "timeloop-v4.yaml") &&
              write_hardware(j, "ert.yaml", "accelergy-ert.yaml");
  for (size_t i = 0; good && weft_layers_at(j->layers, i, &layer) == WEFT_OK; i++)
    good = write_mapping(j, i, &layer, &said);
  return good && said;
}

// What runs nothing.
static cli_exit write_layers(const job *j) {
  bool good = j->options->topology == NULL || write_topology(j);
  good = (j->options->problems == NULL || write_problems(j)) && good;
  good = (j->options->mappings == NULL || write_mappings(j)) && good;
  return good ? CLI_OK : CLI_BAD_INPUT;
}

// ---- the verb

static cli_exit compare(job *j) {
  const crosscheck_options *o = j->options;
  if (o->topology != NULL || o->problems != NULL || o->mappings != NULL) return write_layers(j);
  if (!run_layers(j)) return CLI_BAD_INPUT;
  if (cli_prints(j->common)) print_text(j);
  bool good = o->csv == NULL || write_csv(j);
  good = cli_put_json(j->common, j->common->json == NULL ? NULL : json_of(j)) == CLI_OK && good;
  return !good ? CLI_BAD_INPUT : all_ran(j) ? CLI_OK : CLI_CANNOT_BUILD;
}

static cli_exit load_and_compare(job *j, const char *network) {
  j->session = weft_session_create();
  j->array = cli_open_array(j->common, j->session);
  if (j->array == NULL) return CLI_BAD_INPUT;
  j->layers = weft_layers_load(j->session, network);
  return cli_messages(j->session) ? compare(j) : CLI_BAD_INPUT;
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

static bool form_good(const char *name) {
  for (size_t f = 0; name != NULL && weft_crosscheck_form(f) != NULL; f++)
    if (strcmp(name, weft_crosscheck_form(f)) == 0) return true;
  if (name == NULL) return true;
  fprintf(stderr, "weft: error: there is no form %s\n  hint:", name);
  for (size_t f = 0; weft_crosscheck_form(f) != NULL; f++) fprintf(stderr, " %s", weft_crosscheck_form(f));
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
  if (!layers_alone(&common, &o) || !form_good(o.form)) return CLI_USAGE;
  if (!cli_may_write(o.csv) || !cli_may_write(o.topology)) return CLI_BAD_INPUT;
  job j = {.common = &common, .options = &o};
  code = load_and_compare(&j, argv[0]);
  weft_crosscheck_destroy(j.rows);
  weft_layers_destroy(j.layers);
  weft_array_destroy(j.array);
  weft_session_destroy(j.session);
  return code;
}
