// SPDX-License-Identifier: Apache-2.0
// `weft rtl`: the hardware of an array. `weft rtl ARRAY -o DIR` writes it with its parameters, `weft rtl build ARRAY`
// compiles it for the rtl engine ahead of its first use, `weft rtl synth ARRAY` maps it to standard cells, `weft rtl
// fit` makes a technology table of several such results.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/rtl_fit.h"
#include "hw/export/export.h"
#include "hw/export/fit.h"
#include "hw/export/synth.h"
#include "sim/rtl/build.h"

typedef struct rtl_options {
  uint64_t jobs;
  bool wave;
  const char *directory;
  const char *unit;
  char **arguments;  // after the action
  size_t count;
} rtl_options;

typedef struct rtl_action {
  const char *name;
  cli_exit (*run)(const cli_common *common, const rtl_options *options, wf_diag *diag);
  size_t arguments;  // at most; one alone names the array
} rtl_action;

static cJSON *summary_of(const hw_array *array) {
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "array", array->name);
  cli_json_hash(document, "array_hash", hw_array_hash(array));
  return document;
}

// ---- build

static bool report_model(const cli_common *common, const hw_array *array, const sim_rtl_model *model, wf_diag *diag) {
  if (cli_prints(common))
    printf("%s\n  %s, %s in %.1f s\n", model->path, array->name, model->cached ? "cached; was built" : "built",
           model->seconds);
  if (common->json == NULL) return true;
  cJSON *document = summary_of(array);
  cJSON_AddStringToObject(document, "path", model->path);
  cJSON_AddBoolToObject(document, "cached", model->cached);
  cJSON_AddNumberToObject(document, "build_seconds", model->seconds);
  return cli_write_json(common->json, document, diag);
}

static cli_exit build(const cli_common *common, const rtl_options *options, wf_diag *diag) {
  hw_array array;
  if (!cli_load_array(common, &array, diag)) return CLI_BAD_INPUT;
  const sim_rtl_build_options build_options = {
      .wave = options->wave, .jobs = (unsigned)options->jobs, .quiet = common->quiet};
  sim_rtl_model model;
  if (!sim_rtl_build(&array, &build_options, &model, diag)) return CLI_CANNOT_BUILD;
  bool good = report_model(common, &array, &model, diag);
  wf_free(model.path);
  return good ? CLI_OK : CLI_BAD_INPUT;
}

// ---- the set of files

static cJSON *limits_json(const hw_array *array) {
  hw_export_limit limits[HW_EXPORT_LIMITS_MAX];
  const size_t count = hw_export_limits(array, limits);
  cJSON *list = cJSON_CreateArray();
  for (size_t i = 0; i < count; i++) {
    cJSON *limit = cJSON_CreateObject();
    cJSON_AddStringToObject(limit, "parameter", limits[i].parameter);
    cJSON_AddStringToObject(limit, "value", limits[i].value);
    cJSON_AddStringToObject(limit, "reason", limits[i].reason);
    cJSON_AddItemToArray(list, limit);
  }
  return list;
}

static cli_exit write_set(const cli_common *common, const rtl_options *options, wf_diag *diag) {
  if (options->directory == NULL) {
    fputs("weft: error: weft rtl ARRAY needs -o DIR\n  hint: weft rtl --help\n", stderr);
    return CLI_USAGE;
  }
  hw_array array;
  size_t files;
  if (!cli_load_array(common, &array, diag)) return CLI_BAD_INPUT;
  if (!hw_export_write(&array, options->directory, &files, diag)) return CLI_BAD_INPUT;
  if (cli_prints(common)) printf("%s: %s, %zu files\n", options->directory, array.name, files);
  if (common->json == NULL) return CLI_OK;
  cJSON *document = summary_of(&array);
  cJSON_AddStringToObject(document, "directory", options->directory);
  cli_json_count(document, "files", files);
  cJSON_AddItemToObject(document, "not_expressed_by_gemmini", limits_json(&array));
  return cli_write_json(common->json, document, diag) ? CLI_OK : CLI_BAD_INPUT;
}

// ---- synthesis

static void print_synthesis(const hw_synth_result *result) {
  printf("%-24s %9s %8s %14s %10s %10s\n", "unit", "instances", "cells", "area um2", "path ns", "power mW");
  for (size_t i = 0; i < result->count; i++) {
    const hw_synth_unit *unit = &result->units[i];
    printf("%-24s %9u %8u %14.0f %10.2f %10.4f\n", unit->name, unit->instances, unit->cells, unit->area_um2,
           unit->path_ns, unit->power_mw);
  }
  printf("%-24s %9s %8s %14.0f %10s %10.4f\n", "all instances", "", "", result->area_um2, "", result->power_mw);
  printf("cells, area and power are of one instance without the units inside it; power at %g MHz, 180 nm\n",
         HW_SYNTH_CLOCK_MHZ);
  if (result->memory_bits != 0)
    printf("memory: %" PRIu64 " bits of scratchpad and accumulator, not in the area\n", result->memory_bits);
}

static cJSON *unit_json(const hw_synth_unit *unit) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "unit", unit->name);
  cJSON_AddStringToObject(object, "part", unit->part);
  cli_json_count(object, "instances", unit->instances);
  cli_json_count(object, "cells", unit->cells);
  cJSON_AddNumberToObject(object, "area_um2", unit->area_um2);
  cJSON_AddNumberToObject(object, "path_ns", unit->path_ns);
  cJSON_AddNumberToObject(object, "power_mw", unit->power_mw);
  cli_json_count(object, "memory_bits", unit->memory_bits);
  return object;
}

static bool write_synthesis(const cli_common *common, const hw_array *array, const hw_synth_result *result,
                            wf_diag *diag) {
  cJSON *document = summary_of(array), *units = cJSON_AddArrayToObject(document, "units");
  for (size_t i = 0; i < result->count; i++) cJSON_AddItemToArray(units, unit_json(&result->units[i]));
  cJSON_AddStringToObject(document, "library", "osu018");
  cJSON_AddNumberToObject(document, "clock_mhz", HW_SYNTH_CLOCK_MHZ);
  cJSON_AddNumberToObject(document, "area_um2", result->area_um2);
  cJSON_AddNumberToObject(document, "power_mw", result->power_mw);
  cli_json_count(document, "memory_bits", result->memory_bits);
  return cli_write_json(common->json, document, diag);
}

static cli_exit synth(const cli_common *common, const rtl_options *options, wf_diag *diag) {
  hw_array array;
  if (!cli_load_array(common, &array, diag)) return CLI_BAD_INPUT;
  const hw_synth_options synth_options = {.unit = options->unit, .quiet = common->quiet};
  hw_synth_result *result = WF_NEW(hw_synth_result);
  cli_exit code = CLI_CANNOT_BUILD;
  if (hw_synth(&array, &synth_options, result, diag)) {
    if (cli_prints(common)) print_synthesis(result);
    const bool good = common->json == NULL || write_synthesis(common, &array, result, diag);
    code = good ? CLI_OK : CLI_BAD_INPUT;
  }
  wf_free(result);
  return code;
}

static cli_exit fit(const cli_common *common, const rtl_options *options, wf_diag *diag) {
  (void)common;
  return cli_rtl_fit(options->directory, options->arguments, options->count, diag);
}

static const rtl_action actions[] = {{"build", build, 1}, {"synth", synth, 1}, {"fit", fit, HW_FIT_POINTS_MAX}};

// An action's name, else the name of an array whose set is written.
static const rtl_action *find_action(const char *name) {
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
    if (strcmp(actions[i].name, name) == 0) return &actions[i];
  return NULL;
}

static const wf_option rtl_rows[] = {
    {"o", WF_TEXT(rtl_options, directory), "DIR", "where the set is written; fit: the table's file"},
    {"jobs", WF_COUNT(rtl_options, jobs), "N", "build: compilers at a time (default 2)"},
    {"wave", WF_FLAG(rtl_options, wave), NULL, "build: the variant with waveforms"},
    {"unit", WF_TEXT(rtl_options, unit), "NAME", "synth: only this unit, such as pe"},
};

cli_exit cli_rtl(int argc, char **argv) {
  rtl_options options = {0};
  static const cli_usage usage = {
      .verb = "rtl",
      .synopsis = "ARRAY -o DIR | build [ARRAY] | synth [ARRAY] | fit -o FILE JSON...",
      .text =
          "ARRAY -o DIR  writes the hardware of an array with its parameters: SystemVerilog (rtl/) with\n"
          "              a file list (weft.f), a core of FuseSoC (weft.core) and a component of IP-XACT\n"
          "              (weft.xml), Gemmini's Scala configuration (gemmini_config.scala) and C header\n"
          "              (gemmini_params.h), a Timeloop architecture (timeloop.yaml, timeloop-v4.yaml) with\n"
          "              energies (accelergy-ert.yaml), one of AccelForge (accelforge.yaml), configurations of ONNXim "
          "(onnxim.json) and\n"
          "              STONNE (stonne.cfg), the description (array.yaml, array.json); README.txt says\n"
          "              what each file is\n"
          "build         compiles the hardware of an array for `weft sim --engine rtl`, which\n"
          "              otherwise does it at its first run, and prints where the model is. Models\n"
          "              are kept in $WEFT_CACHE, else $XDG_CACHE_HOME/weft, else ~/.cache/weft;\n"
          "              removing them is safe\n"
          "synth         area, critical path and power of each unit in a 180 nm cell library, for\n"
          "              arrays of up to 8 x 8; takes minutes\n"
          "fit           a technology table of areas from what synth --json wrote of three arrays or\n"
          "              more; hw/tech/180nm.yaml is one",
      .examples =
          "  weft rtl dim8 -o DIR\n"
          "  weft rtl build dim4\n",
      .options = {CLI_OPTIONS(rtl_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 1 + HW_FIT_POINTS_MAX,
      .takes_array = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  const rtl_action *action = find_action(argv[0]);
  if ((size_t)argc > (action == NULL ? 1 : 1 + action->arguments)) {
    fprintf(stderr, "weft: error: weft rtl cannot %s\n  hint: weft rtl --help\n", argv[action == NULL ? 0 : argc - 1]);
    return CLI_USAGE;
  }
  if (action == NULL || argc == 2) common.array = argv[argc - 1];
  options.arguments = argv + 1;
  options.count = (size_t)argc - 1;
  wf_diag diag = wf_diag_to(stderr);
  return action == NULL ? write_set(&common, &options, &diag) : action->run(&common, &options, &diag);
}
