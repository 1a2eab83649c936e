// `weft rtl`: the hardware of an array. `weft rtl build ARRAY` compiles it for the rtl engine ahead of its first use.
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "hw/base/alloc.h"
#include "sim/rtl/build.h"

typedef struct rtl_options {
  uint64_t jobs;
  bool wave;
} rtl_options;

static bool report(const cli_common *common, const hw_array *array, const sim_rtl_model *model, wf_diag *diag) {
  if (!common->quiet)
    printf("%s\n  %s, %s in %.1f s\n", model->path, array->name, model->cached ? "cached; was built" : "built",
           model->seconds);
  if (common->json == NULL) return true;
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "array", array->name);
  cli_json_hash(document, "array_hash", hw_array_hash(array));
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
  bool good = report(common, &array, &model, diag);
  wf_free(model.path);
  return good ? CLI_OK : CLI_BAD_INPUT;
}

int cli_rtl(int argc, char **argv) {
  rtl_options options = {0};
  const cli_option table[] = {
      {"jobs", CLI_OPTION_COUNT, &options.jobs, "N", "compilers at a time (default 2)"},
      {"wave", CLI_OPTION_FLAG, &options.wave, NULL, "the variant with waveforms"},
  };
  const cli_usage usage = {.verb = "rtl",
                           .synopsis = "build [ARRAY]",
                           .text =
                               "build: compiles the hardware of an array for `weft sim --engine rtl`, which otherwise\n"
                               "does it at its first run, and prints where the model is. Models are kept in\n"
                               "$WEFT_CACHE, else $XDG_CACHE_HOME/weft, else ~/.cache/weft; removing them is safe.",
                           .options = table,
                           .option_count = sizeof table / sizeof table[0],
                           .min_arguments = 1,
                           .max_arguments = 2,
                           .takes_array = true};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  if (strcmp(argv[0], "build") != 0) {
    fprintf(stderr, "weft: error: weft rtl cannot %s\n  hint: weft rtl --help\n", argv[0]);
    return CLI_USAGE;
  }
  if (argc == 2) common.array = argv[1];
  wf_diag diag = wf_diag_to(stderr);
  return build(&common, &options, &diag);
}
