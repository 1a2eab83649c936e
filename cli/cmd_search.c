// SPDX-License-Identifier: Apache-2.0
// `weft search`: hardware and mappings for networks: by gradients, or with --exact the optimum of the plain model,
// proven.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/onnx_dims.h"
#include "cli/search_joint.h"

enum { TUNE_MOST = 512 };

typedef struct search_options {
  const char *constants, *fix, *directory, *objective, *budget, *model, *energy;
  const char *area, *power, *clock, *dims, *outputs;
  bool exact, simulate;
  uint64_t side_max, kib_max;
  uint64_t seed, starts, steps, threads;
  uint64_t candidates, tune, flow;
  search_joint_options space;
} search_options;

// ---- what is fixed: "pe=16,spad=128,acc=32"

static bool fix_one(weft_search_options *o, const char *key, size_t length, unsigned value) {
  const struct {
    const char *key;
    uint32_t *value;
  } keys[] = {{"pe", &o->side}, {"spad", &o->scratchpad_kib}, {"acc", &o->accumulator_kib}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strlen(keys[i].key) == length && strncmp(keys[i].key, key, length) == 0) return *keys[i].value = value, true;
  return false;
}

static bool parse_fix(const char *text, weft_search_options *o) {
  for (const char *at = text; at != NULL && *at != '\0';) {
    const size_t length = strcspn(at, "=");
    unsigned value;
    int used = 0;
    if (at[length] != '=' || sscanf(at + length, "=%5u%n", &value, &used) != 1 || value == 0) return false;
    const char *end = at + length + used;
    if ((*end != '\0' && *end != ',') || !fix_one(o, at, length, value)) return false;
    at = *end == ',' ? end + 1 : end;
  }
  return true;
}

// ---- one network after the other

typedef struct search_job {
  const cli_common *common;
  const weft_search_options *options;
  const char *directory;
  weft_session *session;
  weft_array *array;
  char **parts;  // JSON of each network; NULL: no JSON
  int part_count;
} search_job;

static bool show_progress(void *context, const weft_progress *progress) {
  (void)context;
  cli_tell(progress->text);
  return true;
}

static weft_run_form form_of(const char *form) { return (weft_run_form){.size = sizeof(weft_run_form), .form = form}; }

static cli_exit give(search_job *j, const weft_answer *answer) {
  const weft_run_form text = form_of("text"), json = form_of("json");
  char *report = cli_prints(j->common) ? weft_answer_report(j->session, answer, &text) : NULL;
  if (report != NULL) fputs(report, stdout);
  weft_free(report);
  if (j->parts != NULL) j->parts[j->part_count++] = weft_answer_report(j->session, answer, &json);
  if (j->directory == NULL) return CLI_OK;
  weft_answer_write(j->session, answer, j->directory);
  return cli_messages(j->session) ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit search_network(search_job *j, const char *name) {
  if (!j->common->quiet) weft_session_watch(j->session, show_progress, NULL);
  weft_answer *answer = weft_search(j->session, j->array, name, j->options);
  weft_session_watch(j->session, NULL, NULL);
  cli_messages(j->session);
  const cli_exit code = answer == NULL ? (cli_exit)weft_session_status(j->session) : give(j, answer);
  weft_answer_destroy(answer);
  return code;
}

// The documents of all networks in one, as deep as they stand in it.
static bool write_json(const search_job *j) {
  cJSON *document = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(document, "networks");
  for (int i = 0; i < j->part_count; i++) {
    char *indented = cli_indented(j->parts[i], "\t\t");
    cJSON_AddItemToArray(list, cJSON_CreateRaw(indented));
    free(indented);
  }
  return cli_put_json(j->common, document) == CLI_OK;
}

static cli_exit search_networks(const cli_common *common, const weft_search_options *o, const char *directory,
                                int count, char **names) {
  search_job j = {.common = common, .options = o, .directory = directory, .session = weft_session_create()};
  j.array = cli_open_array(common, j.session);
  if (common->json != NULL) j.parts = cli_resize(NULL, (size_t)count + 1, sizeof *j.parts);
  cli_exit code = j.array == NULL ? CLI_BAD_INPUT : CLI_OK;
  for (int i = 0; i < count && code == CLI_OK; i++) code = search_network(&j, names[i]);
  if (code == CLI_OK && j.parts != NULL && !write_json(&j)) code = CLI_BAD_INPUT;
  for (int i = 0; i < j.part_count; i++) weft_free(j.parts[i]);
  free(j.parts);
  weft_array_destroy(j.array);
  weft_session_destroy(j.session);
  return code;
}

// ---- options

static cli_exit usage_error(const char *text) {
  fprintf(stderr, "weft: error: %s\n  hint: weft search --help\n", text);
  return CLI_USAGE;
}

bool search_parse_positive(const char *text, double *value) {
  if (text == NULL) return true;
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*value) && *value > 0;
}

static bool parse_budget(const char *text, weft_search_options *o) {
  char *end;
  if (!isdigit((unsigned char)*text)) return false;
  const double value = strtod(text, &end);
  if (!isfinite(value) || value <= 0) return false;
  if (strcmp(end, "s") == 0) return o->max_seconds = value, true;
  if (*end != '\0' || value > 1e15 || value != floor(value)) return false;
  o->max_evaluations = (uint64_t)value;
  return true;
}

static bool is_objective(const char *text) {
  static const char *const names[] = {"edp", "latency", "energy", "area-delay"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i]) == 0) return true;
  return false;
}

static const char *exact_with(const search_options *o) {
  if (o->simulate) return "--exact proves, --simulate measures: one of them";
  const bool other = o->budget != NULL || o->objective != NULL || o->area != NULL || o->power != NULL ||
                     o->clock != NULL || o->model != NULL || o->starts + o->steps + o->threads > 0;
  return other ? "--exact takes no budget, objective, bounds, clock, model, starts, steps or threads" : NULL;
}

static bool is_machine(const search_options *o) { return o->model != NULL && strcmp(o->model, "machine") == 0; }

static const char *simulate_with(const search_options *o) {
  if (!o->simulate && o->candidates + o->tune + o->flow > 0)
    return "--candidates, --tune and --flow are for --simulate";
  if (o->flow > 0 && !is_machine(o)) return "--flow is for --model machine";
  if (o->simulate && o->starts + o->steps > 0) return "--simulate takes no --starts and --steps";
  if (o->model != NULL && strcmp(o->model, "paper") != 0 && !is_machine(o)) return "--model is paper or machine";
  if (is_machine(o) && !o->simulate) return "--model machine proposes what --simulate measures: both of them";
  if (o->energy != NULL && strcmp(o->energy, "array") != 0 && strcmp(o->energy, "whole") != 0)
    return "--energy is array or whole";
  if (o->energy != NULL && !o->simulate) return "--energy is for --simulate: the plain model has an account of its own";
  return NULL;
}

// The options of the search by gradients; NULL, or what is wrong with them.
static const char *search_with(const search_options *o, weft_search_options *to) {
  if (o->exact) return exact_with(o);
  const char *wrong = simulate_with(o);
  if (wrong != NULL) return wrong;
  if (o->candidates > 10000 || o->flow > 10000 || o->tune > TUNE_MOST) return "at most 10000 candidates, 512 mappings";
  if (o->starts > 65536 || o->steps > 100000 || o->threads > 1024)
    return "at most 65536 starts, 100000 steps, 1024 threads";
  if (o->objective != NULL && !is_objective(o->objective)) return "--objective is edp, latency, energy or area-delay";
  if (!search_parse_positive(o->area, &to->max_area_mm2) || !search_parse_positive(o->power, &to->max_power_mw) ||
      !search_parse_positive(o->clock, &to->clock_mhz))
    return "--max-area, --max-power and --clock take numbers above 0";
  return o->budget == NULL || parse_budget(o->budget, to) ? NULL : "--budget takes a number, or seconds as 10s";
}

static weft_search_options options_of(const search_options *o) {
  return (weft_search_options){.size = sizeof(weft_search_options),
                               .objective = o->objective,
                               .constants = o->constants,
                               .simulate = o->simulate,
                               .machine = is_machine(o),
                               .whole_energy = o->energy != NULL && strcmp(o->energy, "whole") == 0,
                               .seed = o->seed,
                               .seed_is_given = true,
                               .starts = (uint32_t)o->starts,
                               .steps = (uint32_t)o->steps,
                               .threads = (uint32_t)o->threads,
                               .candidates = (uint32_t)o->candidates,
                               .tune = (uint32_t)o->tune,
                               .flow = (uint32_t)o->flow,
                               .side_max = (uint32_t)o->side_max,
                               .kib_max = (uint32_t)o->kib_max,
                               .exact = o->exact};
}

static const wf_option search_rows[] = {
    {"exact", WF_FLAG(search_options, exact), NULL, "the optimum of the plain model, proven"},
    {"budget", WF_TEXT(search_options, budget), "N|Ns", "evaluations of layers' mappings, or seconds (10s)"},
    {"objective", WF_TEXT(search_options, objective), "WHAT", "edp (default), latency, energy or area-delay"},
    {"max-area", WF_TEXT(search_options, area), "MM2", "the largest area of PEs and memories"},
    {"max-power", WF_TEXT(search_options, power), "MW", "the largest mean power"},
    {"clock", WF_TEXT(search_options, clock), "MHZ", "of which power depends (default 1000)"},
    {"seed", WF_COUNT(search_options, seed), "N", "of the random starts (default 1)"},
    {"starts", WF_COUNT(search_options, starts), "N", "how many descend (default 64)"},
    {"steps", WF_COUNT(search_options, steps), "N", "of the descent (default 240)"},
    {"threads", WF_COUNT(search_options, threads), "N", "default: one for each processor"},
    {"fix", WF_TEXT(search_options, fix), "KEY=N,..", "hardware that is given: pe (side), spad and acc (KiB)"},
    {"side-max", WF_COUNT(search_options, side_max), "N", "the largest side of the array (default 128)"},
    {"kib-max", WF_COUNT(search_options, kib_max), "N", "the largest memory in KiB (default 2048)"},
    {"constants", WF_TEXT(search_options, constants), "NAME", "of the plain model: dosa (default), 40nm"},
    {"simulate", WF_FLAG(search_options, simulate), NULL,
     "from --array on: arrays that the model proposes, and steps around the best, on the cycle engine"},
    {"model", WF_TEXT(search_options, model), "NAME",
     "--simulate: which model proposes, paper (default) or machine, which chooses mappings, too"},
    {"energy", WF_TEXT(search_options, energy), "NAME",
     "--simulate: array, as models count (default), or whole, with the hart, caches, clock and leakage"},
    {"candidates", WF_COUNT(search_options, candidates), "N", "--simulate: so many arrays at most (default 16)"},
    {"flow", WF_COUNT(search_options, flow), "N",
     "--model machine: engine flow runs the N best arrays that it proposes, with four mappings of each layer, before "
     "engine cycle runs the best of these (default 0: none)"},
    {"tune", WF_COUNT(search_options, tune), "N", "--simulate: the fastest of N mappings of each layer"},
    {"dims", WF_TEXT(search_options, dims), "NAME=N,..", "open dimensions of ONNX files (also INPUT:AXIS=N)"},
    {"outputs", WF_TEXT(search_options, outputs), "NAME,..",
     "tensors or nodes of an ONNX file at which the network ends, instead of its outputs"},
    {"o", WF_TEXT(search_options, directory), "DIR",
     "write NET.txt, NET.json and the array NET.yaml there; with --simulate NET/: array, RTL, mappings, kernels, "
     "tables"},
};

// What the joint search does not take; NULL: nothing of it is given.
static const char *spaceless(const search_options *o, const cli_common *common) {
  if (o->exact || o->simulate || o->constants != NULL || o->fix != NULL || o->side_max + o->kib_max > 0)
    return "--space and what is for it take no --exact, --simulate, --constants, --fix, --side-max and --kib-max";
  if (o->model != NULL || o->energy != NULL || o->clock != NULL || o->candidates + o->tune + o->flow > 0)
    return "--space and what is for it take no --model, --energy, --clock, --candidates, --tune and --flow";
  if (o->starts + o->steps > 0) return "--space and what is for it take no --starts and --steps";
  if (common->array != NULL || common->isa != 0)
    return "--space and what is for it take no --array and --isa: the space has the base";
  return o->threads > 1024 ? "at most 1024 threads" : NULL;
}

static cli_exit search_space(const search_options *o, const cli_common *common, const weft_graph_options *file,
                             int count, char **names) {
  const search_joint_shared shared = {.objective = o->objective,
                                      .budget = o->budget,
                                      .area = o->area,
                                      .power = o->power,
                                      .directory = o->directory,
                                      .seed = o->seed,
                                      .threads = o->threads,
                                      .file = file};
  return search_jointly(&o->space, &shared, common, count, names);
}

// What only the joint search knows asks for it, in the shipped space.
static void imply_space(search_joint_options *s) {
  const bool asked = s->method != NULL || s->weights != NULL || s->front != NULL || s->latency != NULL ||
                     s->fuse != NULL || s->whole > 0 || s->check_rtl > 0;
  if (s->space == NULL && asked) s->space = "default";
}

static cli_exit search_all(const search_options *o, weft_search_options *search, const cli_common *common, int count,
                           char **names) {
  cli_dims dims;
  cli_names outputs = {0};
  cli_exit code = CLI_USAGE;
  if (cli_dims_parse(&dims, o->dims) && cli_names_parse(&outputs, "outputs", o->outputs)) {
    const weft_graph_options file = {.dim_names = dims.names,
                                     .dim_values = dims.values,
                                     .outputs = outputs.names,
                                     .dims = (uint32_t)dims.count,
                                     .output_count = (uint32_t)outputs.count};
    search->dim_names = file.dim_names;
    search->dim_values = file.dim_values;
    search->outputs = file.outputs;
    search->dims = file.dims;
    search->output_count = file.output_count;
    code = o->space.space != NULL ? search_space(o, common, &file, count, names)
                                  : search_networks(common, search, o->directory, count, names);
  }
  cli_dims_release(&dims);
  cli_names_release(&outputs);
  return code;
}

cli_exit cli_search(int argc, char **argv) {
  search_options options = {.seed = 1};
  static const cli_usage usage = {
      .verb = "search",
      .synopsis = "NET...",
      .text =
          "Searches hardware sizes and mappings with the least energy x delay for networks: names of shipped layer\n"
          "tables (resnet50, bert, ...), or .yaml, .csv and .onnx files. Each network is searched for itself, by\n"
          "gradients from random starts unless --exact asks for the proven optimum. --space, or an option that is\n"
          "for it, searches one array for all networks together.",
      .examples =
          "  weft search resnet50 --max-area 5 -o DIR\n"
          "  weft search model.onnx --simulate -o DIR\n"
          "  weft search resnet50 bert-base --weights 3,1 --max-latency 20\n",
      .options = {CLI_OPTIONS(search_rows, 0), {search_joint_rows, SEARCH_JOINT_ROWS, offsetof(search_options, space)}},
      .min_arguments = 1,
      .max_arguments = 64,
      .takes_array = true,
      .takes_tech = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  imply_space(&options.space);
  const bool space = options.space.space != NULL;
  const char *beside = space ? spaceless(&options, &common) : NULL;
  if (beside != NULL) return usage_error(beside);
  if (options.side_max > 4096 || options.kib_max > 1 << 20 || options.side_max % 2 != 0)
    return usage_error("--side-max is an even number up to 4096, --kib-max one up to 1048576");
  weft_search_options search = options_of(&options);
  if (!parse_fix(options.fix, &search)) return usage_error("--fix takes pe=N,spad=N,acc=N");
  if (options.constants != NULL && strcmp(options.constants, "dosa") != 0 && strcmp(options.constants, "40nm") != 0)
    return usage_error("--constants is dosa or 40nm");
  const char *wrong = space ? NULL : search_with(&options, &search);
  if (wrong != NULL) return usage_error(wrong);
  if (options.directory != NULL && !cli_make_folder(options.directory)) return CLI_BAD_INPUT;
  return search_all(&options, &search, &common, argc, argv);
}
