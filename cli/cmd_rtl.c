// `weft rtl`: the hardware of an array. `weft rtl ARRAY -o DIR` writes it with its parameters, `weft rtl build ARRAY`
// compiles it for the rtl engine ahead of its first use.
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "hw/base/alloc.h"
#include "hw/export/export.h"
#include "sim/rtl/build.h"

typedef struct rtl_options {
  uint64_t jobs;
  bool wave;
  const char *directory;
} rtl_options;

typedef struct rtl_action {
  const char *name;
  int (*run)(const cli_common *common, const rtl_options *options, wf_diag *diag);
} rtl_action;

static cJSON *summary_of(const hw_array *array) {
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "array", array->name);
  cli_json_hash(document, "array_hash", hw_array_hash(array));
  return document;
}

// ---- build

static bool report_model(const cli_common *common, const hw_array *array, const sim_rtl_model *model, wf_diag *diag) {
  if (!common->quiet)
    printf("%s\n  %s, %s in %.1f s\n", model->path, array->name, model->cached ? "cached; was built" : "built",
           model->seconds);
  if (common->json == NULL) return true;
  cJSON *document = summary_of(array);
  cJSON_AddStringToObject(document, "path", model->path);
  cJSON_AddBoolToObject(document, "cached", model->cached);
  cJSON_AddNumberToObject(document, "build_seconds", model->seconds);
  return cli_write_json(common->json, document, diag);
}

static int build(const cli_common *common, const rtl_options *options, wf_diag *diag) {
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

static int write_set(const cli_common *common, const rtl_options *options, wf_diag *diag) {
  if (options->directory == NULL) {
    fputs("weft: error: weft rtl ARRAY needs -o DIR\n  hint: weft rtl --help\n", stderr);
    return CLI_USAGE;
  }
  hw_array array;
  size_t files;
  if (!cli_load_array(common, &array, diag)) return CLI_BAD_INPUT;
  if (!hw_export_write(&array, options->directory, &files, diag)) return CLI_BAD_INPUT;
  if (!common->quiet) printf("%s: %s, %zu files\n", options->directory, array.name, files);
  if (common->json == NULL) return CLI_OK;
  cJSON *document = summary_of(&array);
  cJSON_AddStringToObject(document, "directory", options->directory);
  cli_json_count(document, "files", files);
  cJSON_AddItemToObject(document, "not_expressed_by_gemmini", limits_json(&array));
  return cli_write_json(common->json, document, diag) ? CLI_OK : CLI_BAD_INPUT;
}

static const rtl_action actions[] = {{"build", build}};

// An action's name, else the name of an array whose set is written.
static const rtl_action *find_action(const char *name) {
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
    if (strcmp(actions[i].name, name) == 0) return &actions[i];
  return NULL;
}

int cli_rtl(int argc, char **argv) {
  rtl_options options = {0};
  const cli_option table[] = {
      {"o", CLI_OPTION_TEXT, &options.directory, "DIR", "where the set is written"},
      {"jobs", CLI_OPTION_COUNT, &options.jobs, "N", "build: compilers at a time (default 2)"},
      {"wave", CLI_OPTION_FLAG, &options.wave, NULL, "build: the variant with waveforms"},
  };
  const cli_usage usage = {
      .verb = "rtl",
      .synopsis = "ARRAY -o DIR | build [ARRAY]",
      .text =
          "ARRAY -o DIR  writes the hardware of an array with its parameters: SystemVerilog with a\n"
          "              file list, Gemmini's Scala configuration and C header, a Timeloop\n"
          "              architecture, the description as YAML and JSON\n"
          "build         compiles the hardware of an array for `weft sim --engine rtl`, which\n"
          "              otherwise does it at its first run, and prints where the model is. Models\n"
          "              are kept in $WEFT_CACHE, else $XDG_CACHE_HOME/weft, else ~/.cache/weft;\n"
          "              removing them is safe",
      .options = table,
      .option_count = sizeof table / sizeof table[0],
      .min_arguments = 1,
      .max_arguments = 2,
      .takes_array = true};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  const rtl_action *action = find_action(argv[0]);
  if (action == NULL && argc == 2) {
    fprintf(stderr, "weft: error: weft rtl cannot %s\n  hint: weft rtl --help\n", argv[0]);
    return CLI_USAGE;
  }
  if (action == NULL || argc == 2) common.array = argv[argc - 1];
  wf_diag diag = wf_diag_to(stderr);
  return action == NULL ? write_set(&common, &options, &diag) : action->run(&common, &options, &diag);
}
