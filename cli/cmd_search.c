// SPDX-License-Identifier: Apache-2.0
// `weft search`: hardware and mappings for networks: by gradients, or with --exact the optimum of the plain model,
// proven.
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/thousands.h"
#include "cli/cli.h"
#include "cli/onnx_file.h"
#include "cli/search_answer.h"
#include "cli/search_codesign.h"
#include "cli/search_descent.h"
#include "cli/search_truth.h"
#include "search/exact/exact.h"
#include "search/layers/graph.h"
#include "search/layers/lines.h"
#include "search/layers/network.h"
#include "search/layers/program.h"

typedef struct search_options {
  const char *constants, *fix, *directory, *objective, *budget, *model, *energy;
  const char *area, *power, *clock, *dims, *outputs;
  bool exact, simulate;
  uint64_t side_max, kib_max;
  uint64_t seed, starts, steps, threads;
  uint64_t candidates, tune, flow;
  search_space_options space;
} search_options;

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

// ---- what is fixed: "pe=16,spad=128,acc=32"

static bool fix_one(exact_options *exact, const char *key, size_t length, unsigned value) {
  const struct {
    const char *key;
    unsigned *value;
  } keys[] = {{"pe", &exact->side}, {"spad", &exact->scratchpad_kib}, {"acc", &exact->accumulator_kib}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strlen(keys[i].key) == length && strncmp(keys[i].key, key, length) == 0) return *keys[i].value = value, true;
  return false;
}

static bool parse_fix(const char *text, exact_options *exact) {
  for (const char *at = text; at != NULL && *at != '\0';) {
    const size_t length = strcspn(at, "=");
    unsigned value;
    int used = 0;
    if (at[length] != '=' || sscanf(at + length, "=%5u%n", &value, &used) != 1 || value == 0) return false;
    const char *end = at + length + used;
    if ((*end != '\0' && *end != ',') || !fix_one(exact, at, length, value)) return false;
    at = *end == ',' ? end + 1 : end;
  }
  return true;
}

// ---- the exact search

static void print_proof(const search_answer *a, FILE *out) {
  const exact_result *r = a->how;
  char evaluations[WF_THOUSANDS], kept[WF_THOUSANDS], boxes[WF_THOUSANDS];
  fprintf(out, "  proven with %s mappings of layers (%s kept), %s boxes of hardware, %u sides in %.2f s\n",
          wf_thousands(r->evaluations, evaluations), wf_thousands(r->kept, kept), wf_thousands(r->boxes, boxes),
          r->sides, a->seconds);
}

static void proof_json(const search_answer *a, cJSON *object) {
  const exact_result *r = a->how;
  cli_json_count(object, "evaluations", r->evaluations);
  cli_json_count(object, "kept", r->kept);
  cli_json_count(object, "boxes", r->boxes);
  cJSON_AddNumberToObject(object, "sides", r->sides);
}

static bool solve(const layers_network *network, const exact_options *exact, exact_result *result, search_answer *a) {
  const double start = processor_seconds();
  if (!exact_solve(network, exact, result)) return false;
  a->method = "exact";
  a->remark = "the optimum of the plain model";
  a->hardware = result->hardware;
  a->cost = result->cost;
  a->mappings = result->mappings;
  a->seconds = processor_seconds() - start;
  a->how = result;
  a->print_how = print_proof;
  a->add_how = proof_json;
  return true;
}

// ---- one network after the other

typedef struct search_job {
  const cli_common *common;
  const search_options *options;
  const exact_options *exact;
  const descent_options *descent;
  layers_program_options file;  // how ONNX files are read
  cJSON *list;                  // NULL: no JSON
  wf_diag *diag;
} search_job;

static cli_exit give_answer(const search_job *job, search_answer *a) {
  hw_array base;
  if (!cli_load_array(job->common, &base, job->diag)) return CLI_BAD_INPUT;
  a->base = &base;
  if (cli_prints(job->common)) search_print(a, stdout);
  if (job->list != NULL) cJSON_AddItemToArray(job->list, search_json(a));
  const char *directory = job->options->directory;
  return directory == NULL || search_write(a, directory, job->diag) ? CLI_OK : CLI_BAD_INPUT;
}

// The truth loop from the array of --array on.
static cli_exit simulate(const search_job *job, const layers_network *network, const layers_program *program) {
  enum { MODEL_SECONDS = 2 };
  const search_options *o = job->options;
  const descent_options *d = job->descent;
  hw_array base;
  if (!cli_load_array(job->common, &base, job->diag)) return CLI_BAD_INPUT;
  truth_options truth = {.goal = d->goal,
                         .base = &base,
                         .program = program,
                         .whole_energy = o->energy != NULL && strcmp(o->energy, "whole") == 0,
                         .machine = o->model != NULL && strcmp(o->model, "machine") == 0,
                         .seed = o->seed,
                         .model_seconds = d->max_seconds > 0 ? d->max_seconds : MODEL_SECONDS,
                         .candidates = (unsigned)o->candidates,
                         .flow = (unsigned)o->flow,
                         .tune = (unsigned)o->tune,
                         .jobs = d->threads};
  truth.goal.network = network;
  if (o->clock == NULL) truth.goal.silicon.clock_mhz = base.chip.clock_mhz;
  cJSON *object = NULL;
  const cli_exit code =
      search_simulated(&truth, job->common, o->directory, job->list == NULL ? NULL : &object, job->diag);
  if (object != NULL) cJSON_AddItemToArray(job->list, object);
  return code;
}

static cli_exit search_network(const search_job *job, const layers_network *network) {
  search_answer a = {.network = network, .constants = job->exact->constants, .constants_name = job->options->constants};
  exact_result exact = {0};
  search_descent_result descent = {0};
  const bool found = job->options->exact ? solve(network, job->exact, &exact, &a)
                                         : search_by_descent(network, job->descent, job->common, &descent, &a);
  cli_exit code = CLI_CANNOT_BUILD;
  if (found)
    code = give_answer(job, &a);
  else
    wf_error(job->diag, wf_in_file(network->name), "%s",
             job->options->exact
                 ? "no mapping of some layer fits the hardware that --fix gives"
                 : "no mapping of some layer fits the hardware that --fix gives, or the bounds on area and power");
  exact_release(&exact);
  descent_release(&descent.found);
  return code;
}

// A network as `weft sim` runs it, and the table of its layers.
static cli_exit simulate_program(const search_job *job, const char *path) {
  layers_program program;
  layers_network table;
  cli_exit code = CLI_BAD_INPUT;
  if (layers_program_load(&program, path, path, &job->file, job->diag)) {
    layers_of_graph(&table, program.placed);
    table.name = layers_lines_base_name(table.arena, path);
    if (table.count > 0)
      code = simulate(job, &table, &program);
    else
      wf_error(job->diag, wf_in_file(path), "no layer of this network runs on the array");
    layers_release(&table);
  }
  layers_program_release(&program);
  return code;
}

static cli_exit search_table(const search_job *job, const char *path) {
  layers_network network;
  cli_exit code = CLI_BAD_INPUT;
  const onnx_options file = {.dims = job->file.dims,
                             .dim_count = job->file.dim_count,
                             .outputs = job->file.outputs,
                             .output_count = job->file.output_count};
  if (layers_load_network(&network, path, &file, job->diag))
    code = job->options->simulate ? simulate(job, &network, NULL) : search_network(job, &network);
  layers_release(&network);
  return code;
}

static cli_exit search_networks(search_job *job, int count, char **names) {
  const char *path = job->common->json;
  cJSON *document = path == NULL ? NULL : cJSON_CreateObject();
  job->list = document == NULL ? NULL : cJSON_AddArrayToObject(document, "networks");
  cli_exit code = CLI_OK;
  for (int i = 0; i < count && code == CLI_OK; i++)
    code = job->options->simulate && layers_is_network(names[i]) ? simulate_program(job, names[i])
                                                                 : search_table(job, names[i]);
  if (document == NULL) return code;
  if (code == CLI_OK && !cli_write_json(path, document, job->diag)) return CLI_BAD_INPUT;
  if (code != CLI_OK) cJSON_Delete(document);
  return code;
}

static cli_exit usage_error(const char *text) {
  fprintf(stderr, "weft: error: %s\n  hint: weft search --help\n", text);
  return CLI_USAGE;
}

// The options of the search by gradients; NULL, or what is wrong with them.
static const char *descend_with(const search_options *o, const exact_options *exact, descent_options *to) {
  const double kib_max = o->kib_max > 0 ? (double)o->kib_max : 2048;
  *to = (descent_options){
      .goal = {.constants = exact->constants,
               .limits = {.side_fixed = exact->side,
                          .scratchpad_kib_fixed = exact->scratchpad_kib,
                          .accumulator_kib_fixed = exact->accumulator_kib,
                          .side_max = o->side_max > 0 ? (double)o->side_max : 128,
                          .scratchpad_kib_max = kib_max,
                          .accumulator_kib_max = kib_max}},
      .seed = o->seed,
      .starts = (unsigned)o->starts,
      .steps = (unsigned)o->steps,
      .threads = (unsigned)o->threads,
  };
  if (o->exact) {
    if (o->simulate) return "--exact proves, --simulate measures: one of them";
    const bool other = o->budget != NULL || o->objective != NULL || o->area != NULL || o->power != NULL ||
                       o->clock != NULL || o->model != NULL || o->starts + o->steps + o->threads > 0;
    return other ? "--exact takes no budget, objective, bounds, clock, model, starts, steps or threads" : NULL;
  }
  if (!o->simulate && o->candidates + o->tune + o->flow > 0)
    return "--candidates, --tune and --flow are for --simulate";
  if (o->flow > 0 && (o->model == NULL || strcmp(o->model, "machine") != 0)) return "--flow is for --model machine";
  if (o->simulate && o->starts + o->steps > 0) return "--simulate takes no --starts and --steps";
  if (o->model != NULL && strcmp(o->model, "paper") != 0 && strcmp(o->model, "machine") != 0)
    return "--model is paper or machine";
  if (o->model != NULL && strcmp(o->model, "machine") == 0 && !o->simulate)
    return "--model machine proposes what --simulate measures: both of them";
  if (o->energy != NULL && strcmp(o->energy, "array") != 0 && strcmp(o->energy, "whole") != 0)
    return "--energy is array or whole";
  if (o->energy != NULL && !o->simulate) return "--energy is for --simulate: the plain model has an account of its own";
  if (o->candidates > 10000 || o->flow > 10000 || o->tune > MAP_BEST_MAX)
    return "at most 10000 candidates, 512 mappings";
  if (o->starts > 65536 || o->steps > 100000 || o->threads > 1024)
    return "at most 65536 starts, 100000 steps, 1024 threads";
  if (o->objective != NULL && !search_parse_objective(o->objective, &to->goal.objective))
    return "--objective is edp, latency, energy or area-delay";
  to->goal.silicon = PLAIN_SILICON_DEFAULTS;
  if (!search_parse_positive(o->area, &to->goal.area_mm2_max) ||
      !search_parse_positive(o->power, &to->goal.power_mw_max) ||
      !search_parse_positive(o->clock, &to->goal.silicon.clock_mhz))
    return "--max-area, --max-power and --clock take numbers above 0";
  return o->budget == NULL || search_parse_budget(o->budget, to) ? NULL : "--budget takes a number, or seconds as 10s";
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

static cli_exit search_space(const search_options *o, const cli_common *common, const layers_program_options *file,
                             int count, char **names, wf_diag *diag) {
  const search_space_shared shared = {.objective = o->objective,
                                      .budget = o->budget,
                                      .area = o->area,
                                      .power = o->power,
                                      .directory = o->directory,
                                      .seed = o->seed,
                                      .threads = o->threads,
                                      .file = file};
  return search_by_space(&o->space, &shared, common, count, names, diag);
}

// What only the joint search knows asks for it, in the shipped space.
static void imply_space(search_space_options *s) {
  const bool asked =
      s->method != NULL || s->weights != NULL || s->front != NULL || s->latency != NULL || s->check_rtl > 0;
  if (s->space == NULL && asked) s->space = "default";
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
      .options = {CLI_OPTIONS(search_rows, 0), {search_space_rows, SEARCH_SPACE_ROWS, offsetof(search_options, space)}},
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
  if (options.constants == NULL) options.constants = "dosa";
  if (options.side_max > 4096 || options.kib_max > 1 << 20 || options.side_max % 2 != 0)
    return usage_error("--side-max is an even number up to 4096, --kib-max one up to 1048576");
  paper_constants constants;
  exact_options exact = {
      .constants = &constants, .side_max = (unsigned)options.side_max, .kib_max = (unsigned)options.kib_max};
  if (!parse_fix(options.fix, &exact)) return usage_error("--fix takes pe=N,spad=N,acc=N");
  if (!paper_constants_named(&constants, options.constants) || constants.vector_words.dram != 0)
    return usage_error("--constants is dosa or 40nm");
  descent_options descent;
  const char *wrong = space ? NULL : descend_with(&options, &exact, &descent);
  if (wrong != NULL) return usage_error(wrong);
  wf_diag diag = wf_diag_to(stderr);
  if (!cli_make_directory(options.directory, &diag)) return CLI_BAD_INPUT;
  cli_dims dims;
  cli_names outputs = {0};
  search_job job = {.common = &common, .options = &options, .exact = &exact, .descent = &descent, .diag = &diag};
  const bool parsed = cli_dims_parse(&dims, options.dims) && cli_names_parse(&outputs, "outputs", options.outputs);
  onnx_dim open[CLI_DIMS_MAX];
  cli_file_dims(&dims, open);
  job.file = (layers_program_options){
      .dims = open, .dim_count = dims.count, .outputs = outputs.names, .output_count = outputs.count};
  if (!parsed)
    code = CLI_USAGE;
  else
    code = space ? search_space(&options, &common, &job.file, argc, argv, &diag) : search_networks(&job, argc, argv);
  cli_dims_release(&dims);
  cli_names_release(&outputs);
  return code;
}
