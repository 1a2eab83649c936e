// SPDX-License-Identifier: Apache-2.0
// Options of networks, and their compilation: see network_args.h.
#include "cli/network_args.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/onnx_dims.h"
#include "cli/schedule_store.h"

const wf_option network_arg_rows[NETWORK_ARGS] = {
    {"input", WF_TEXT(network_args, inputs), "FILE,..", "networks: .npy or .pb files of the inputs (default: random)"},
    {"calibrate", WF_TEXT(network_args, calibrate), "minmax|percentile|DIR",
     "networks: ranges of float activations; DIR has .npy or .ppm files to take them from, also percentile,DIR"},
    {"mean", WF_TEXT(network_args, mean), "R,G,B", "networks: taken off the pictures of --calibrate, of 0 .. 1"},
    {"deviation", WF_TEXT(network_args, deviation), "R,G,B", "networks: what they are divided by"},
    {"keep-float", WF_TEXT(network_args, keep_float), "NODE,..", "networks: nodes that stay in float, on the hart"},
    {"quality-at-least", WF_TEXT(network_args, quality_at_least), "DB",
     "networks: as few nodes stay in float as make every output that good"},
    {"samples", WF_COUNT(network_args, samples), "N", "networks: random inputs of the calibration (default 2)"},
    {"residual-products", WF_COUNT(network_args, residual_products), "N",
     "networks: the most products that adding a residual may take, 1 to 8 (default: by the length of sums)"},
    {"int8-ends", WF_FLAG(network_args, int8_ends), NULL,
     "networks: inputs and outputs are int8, images channels last: nothing is converted at the ends (default, but with "
     "--input and --quality)"},
    {"float-ends", WF_FLAG(network_args, float_ends), NULL,
     "networks: inputs and outputs are f32, as in the model; the hart converts them"},
    {"input-type", WF_TEXT(network_args, input_type), "int8|uint8",
     "networks: images are int8 (default) or a camera's bytes, 128 more; the ends are int8 then, with --input, too"},
    {"mappings", WF_TEXT(network_args, mappings), "FILE",
     "networks: mappings of kernels, as `weft search NET --simulate -o DIR` leaves them"},
    {"fuse", WF_TEXT(network_args, fuse), "off|auto|all",
     "networks: mix neighbouring layers into one stream of commands: auto where simulating both ways says that it is "
     "faster, all wherever it is possible (default off)"},
    {"kernels", WF_TEXT(network_args, kernels), "rules|auto",
     "networks: which kernel computes a layer: auto takes the fastest in the network of all that are legal, simulated "
     "(default rules)"},
    {"images", WF_POSITIVE(network_args, images), "N",
     "networks: N runs, each with inputs of its own, in one program (default 1)"},
    {"overlap", WF_TEXT(network_args, overlap), "off|auto",
     "networks: hart and array work at one time where that is faster (default: auto for several images)"},
    {"normaliser", WF_TEXT(network_args, normaliser), "on|off|auto",
     "networks: softmax, norms and GELU in the array's normaliser (default: on where the array has one); auto: there, "
     "by the hart or by the hart beside the array, each simulated, the best of them (--tune-objective)"},
    {"dims", WF_TEXT(network_args, dims), "NAME=N,..", "networks: open dimensions of a file (also INPUT:AXIS=N)"},
    {"outputs", WF_TEXT(network_args, outputs), "NAME,..",
     "networks: tensors or nodes of a file at which the network ends, instead of its outputs"},
    {"values", WF_TEXT(network_args, values), "FILE,..",
     "networks: .pb files of inputs that are constants (also INPUT=FILE)"},
    {"size", WF_POSITIVE(network_args, size), "N", "generated networks: rows and columns of images"},
    {"seq", WF_POSITIVE(network_args, sequence), "N", "generated networks: tokens or time steps"},
    {"past", WF_POSITIVE(network_args, past), "N",
     "generated decoders: keys and values of N tokens are inputs, --seq is 1"},
    {"cache", WF_TEXT(network_args, cache), "int8|int4",
     "decoders: the new token's keys and values are results in the form of those of --past: int8, or int4, two a byte, "
     "which an array with load.packed_int4 widens"},
    {"batch", WF_POSITIVE(network_args, batch), "N", "networks: batch (of files that leave it open)"},
    {"divisor", WF_POSITIVE(network_args, divisor), "N", "generated networks: widths are divided by N"},
    {"depth", WF_POSITIVE(network_args, layers), "N", "generated networks: layers of transformers and recurrent ones"},
    {"prune", WF_TEXT(network_args, prune), "KIND:DENSITY",
     "generated networks: zeros in weights (weights:0.5, blocks:0.25)"},
};

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_generated(const char *name) {
  for (size_t i = 0; weft_network_generated(i) != NULL; i++)
    if (strcmp(weft_network_generated(i), name) == 0) return true;
  return false;
}

bool network_job_is(const char *path) { return ends_with(path, ".onnx") || is_generated(path); }

bool network_job_is_misspelt(const char *path) {
  if (strpbrk(path, "./") != NULL || access(path, F_OK) == 0) return false;
  enum { NAMES_MAX = 256 };
  const char *names[NAMES_MAX];
  size_t count = 0;
  for (; count < NAMES_MAX && weft_network_generated(count) != NULL; count++)
    names[count] = weft_network_generated(count);
  cli_error(path, "no such file, and no generated network has this name");
  cli_hint_nearest(path, names, count);
  cli_hint("`weft net --list` names them");
  return true;
}

// ---- choices

// Texts that the options of the library point into.
typedef struct lists {
  cli_dims dims;
  cli_names outputs, keep, inputs;
  cli_values values;
} lists;

static void release_lists(lists *l) {
  cli_dims_release(&l->dims);
  cli_names_release(&l->outputs);
  cli_names_release(&l->keep);
  cli_names_release(&l->inputs);
  cli_values_release(&l->values);
}

// Files hold numbers as the model has them, and the float model is compared with numbers.
static bool has_int8_ends(const network_args *args) {
  return args->int8_ends || args->input_type != NULL ||
         (!args->float_ends && args->inputs == NULL && args->quality == 0 && args->quality_at_least == NULL);
}

static cli_exit refuse(const char *option, const char *value, const char *choices) {
  fprintf(stderr, "weft: error: --%s %s\n  hint: one of %s\n", option, value, choices);
  return CLI_USAGE;
}

static cli_exit set_ends(const network_args *args, weft_network_options *o) {
  const char *text = args->input_type;
  if (text != NULL && strcmp(text, "int8") != 0 && strcmp(text, "uint8") != 0)
    return refuse("input-type", text, "int8, uint8");
  if (text != NULL && (args->float_ends || args->quality > 0)) {
    fputs("weft: error: --input-type is for ends of integers, not for --float-ends or --quality\n", stderr);
    return CLI_USAGE;
  }
  o->uint8_images = text != NULL && strcmp(text, "uint8") == 0;
  o->float_ends = !has_int8_ends(args);
  if (!args->int8_ends || !args->float_ends) return CLI_OK;
  fputs("weft: error: --int8-ends and --float-ends exclude each other\n", stderr);
  return CLI_USAGE;
}

static bool is_directory(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// A method, a folder, or both of them.
static cli_exit set_ranges(const network_args *args, weft_network_options *o) {
  const char *text = args->calibrate, *comma = text == NULL ? NULL : strchr(text, ',');
  const size_t length = text == NULL ? 0 : comma != NULL ? (size_t)(comma - text) : strlen(text);
  const bool minmax = length == 6 && strncmp(text, "minmax", 6) == 0,
             percentile = length == 10 && strncmp(text, "percentile", 10) == 0;
  if (percentile) o->calibration = "percentile";
  o->samples_from = minmax || percentile ? (comma == NULL ? NULL : comma + 1) : text;
  if (o->samples_from == NULL || is_directory(o->samples_from)) return CLI_OK;
  fprintf(stderr,
          "weft: error: --calibrate %s\n  hint: one of minmax, percentile, or a folder with .npy or .ppm files\n",
          o->samples_from);
  return CLI_USAGE;
}

// "R,G,B" or one number for all; false: neither.
static bool parse_channels(const char *text, float values[3]) {
  char end;
  if (text == NULL) return true;
  const int count = sscanf(text, "%f,%f,%f%c", &values[0], &values[1], &values[2], &end);
  if (count == 1 && strchr(text, ',') == NULL) values[1] = values[2] = values[0];
  return count == 3 || (count == 1 && strchr(text, ',') == NULL);
}

static bool set_pictures(const network_args *args, weft_network_options *o) {
  float deviation[3] = {1, 1, 1};
  if (o->samples_from == NULL) return true;
  bool good = parse_channels(args->mean, o->picture_mean) && parse_channels(args->deviation, deviation);
  for (int i = 0; i < 3; i++) good = good && deviation[i] > 0;
  memcpy(o->picture_deviation, deviation, sizeof deviation);
  if (!good) cli_error(o->samples_from, "--mean and --deviation take R,G,B or one number, deviations above 0");
  return good;
}

static cli_exit set_quality(const network_args *args, lists *l, weft_network_options *o) {
  if (!cli_names_parse(&l->keep, "keep-float", args->keep_float)) return CLI_USAGE;
  o->keep_float = l->keep.names;
  o->keep_count = (uint32_t)l->keep.count;
  char *end = NULL;
  if (args->quality_at_least == NULL) return CLI_OK;
  o->least_db = strtod(args->quality_at_least, &end);
  if (end != args->quality_at_least && *end == '\0' && o->least_db > 0 && o->least_db < 200) return CLI_OK;
  fprintf(stderr, "weft: error: --quality-at-least %s\n  hint: a number of dB, as 25\n", args->quality_at_least);
  return CLI_USAGE;
}

// On where the array has the unit; "on" for an array without one is a mistake.
static cli_exit set_normaliser(const network_args *args, const weft_array *array, weft_network_options *o) {
  const char *text = o->normaliser = args->normaliser;
  weft_array_facts facts = {.size = sizeof facts};
  const bool on = text != NULL && strcmp(text, "on") == 0;
  if (text != NULL && !on && strcmp(text, "off") != 0 && strcmp(text, "auto") != 0)
    return refuse("normaliser", text, "on, off, auto");
  weft_array_describe(array, &facts);
  if (!on || facts.unit_columns > 0) return CLI_OK;
  fprintf(stderr,
          "weft: error: --normaliser on: array %s has none that networks can use\n"
          "  hint: --array transformer-16 has one\n",
          weft_array_name(array));
  return CLI_USAGE;
}

static cli_exit set_fuse(const network_args *args, weft_network_options *o) {
  const char *text = o->fuse = args->fuse;
  if (text == NULL || strcmp(text, "off") == 0 || strcmp(text, "auto") == 0 || strcmp(text, "all") == 0) return CLI_OK;
  return refuse("fuse", text, "off, auto, all");
}

static cli_exit set_cache(const network_args *args, weft_network_options *o) {
  const char *text = o->cache = args->cache;
  if (text == NULL || strcmp(text, "int8") == 0 || strcmp(text, "int4") == 0) return CLI_OK;
  return refuse("cache", text, "int8, int4");
}

static cli_exit set_kernels(const network_args *args, weft_network_options *o) {
  const char *text = o->kernels = args->kernels;
  if (text == NULL || strcmp(text, "rules") == 0 || strcmp(text, "auto") == 0) return CLI_OK;
  return refuse("kernels", text, "rules, auto");
}

static bool is_fused(const network_args *args) { return args->fuse != NULL && strcmp(args->fuse, "off") != 0; }

static cli_exit set_images(const network_args *args, weft_network_options *o) {
  enum { IMAGES_MOST = 64 };
  const char *text = args->overlap;
  if (args->images > IMAGES_MOST) {
    fprintf(stderr, "weft: error: --images %" PRIu64 ": at most %d\n", args->images, IMAGES_MOST);
    return CLI_USAGE;
  }
  o->images = args->images;
  o->overlap = text == NULL ? args->images > 1 && !is_fused(args) : strcmp(text, "auto") == 0;
  if (text != NULL && !o->overlap && strcmp(text, "off") != 0) return refuse("overlap", text, "off, auto");
  if (!o->overlap || !is_fused(args)) return CLI_OK;
  fputs("weft: error: --overlap auto excludes --fuse: steps that are mixed have no loops of the hardware\n", stderr);
  return CLI_USAGE;
}

static bool set_files(const network_args *args, lists *l, weft_network_options *o) {
  if (!cli_dims_parse(&l->dims, args->dims) || !cli_names_parse(&l->outputs, "outputs", args->outputs) ||
      !cli_values_parse(&l->values, args->values) || !cli_names_parse(&l->inputs, "input", args->inputs))
    return false;
  o->dim_names = l->dims.names;
  o->dim_values = l->dims.values;
  o->dims = (uint32_t)l->dims.count;
  o->outputs = l->outputs.names;
  o->output_count = (uint32_t)l->outputs.count;
  o->constants = l->values.files;
  o->constants_for = l->values.inputs;
  o->constant_count = (uint32_t)l->values.entries.count;
  o->input_files = args->inputs == NULL ? NULL : l->inputs.names;
  o->input_count = (uint32_t)l->inputs.count;
  return true;
}

static void set_sizes(const network_args *args, weft_network_options *o) {
  o->image = args->size;
  o->sequence = args->sequence;
  o->past = args->past;
  o->batch = args->batch;
  o->divisor = args->divisor;
  o->depth = args->layers;
  o->prune = args->prune;
  o->seed = &args->seed;
  o->jobs = (uint32_t)args->jobs;
  o->tune = (uint32_t)args->tuning.count;
  o->tune_with = args->tuning.with;
  o->tune_objective = args->tuning.objective;
  o->samples = args->samples;
  o->compare = args->quality;
  o->residual_products = (uint32_t)args->residual_products;
  o->mappings = args->mappings;
  o->for_c = args->for_c;
}

// What depends on the array, too.
static cli_exit set_lowering(const network_args *args, const weft_array *array, weft_network_options *o) {
  cli_exit code = set_normaliser(args, array, o);
  if (code == CLI_OK) code = set_cache(args, o);
  if (code == CLI_OK) code = set_fuse(args, o);
  if (code == CLI_OK) code = set_kernels(args, o);
  if (code == CLI_OK) code = set_images(args, o);
  const bool mixes = args->fuse != NULL && strcmp(args->fuse, "auto") == 0;
  // Ways are chosen by the objective, on engine cycle alone.
  const bool ways = args->normaliser != NULL && strcmp(args->normaliser, "auto") == 0 && args->tuning.with == NULL;
  return code != CLI_OK ? code : tuning_check(&args->tuning, mixes || ways, array);
}

// ---- the job

static cli_exit compile(const cli_common *common, const network_args *args, weft_network_options *o, const char *path,
                        network_job *job) {
  schedule_store store;
  const cli_exit code = schedule_store_open(&store, job->session, args->tuning.schedules, args->tuning.count > 1);
  if (code != CLI_OK) return code;
  cli_stages stages;
  o->schedules = store.store;
  cli_stages_begin(&stages, job->session, common);
  job->network = weft_network_compile(job->session, job->array, path, o);
  cli_stages_end(&stages);
  cli_messages(job->session);
  const cli_exit end = (cli_exit)weft_session_status(job->session);
  const bool compiled = end == CLI_OK || end == CLI_CANNOT_BUILD;
  const bool saved = schedule_store_close(&store, common->quiet || !compiled);
  return end != CLI_OK || saved ? end : CLI_BAD_INPUT;
}

static cli_exit open_with(const cli_common *common, const network_args *args, lists *l, const char *path,
                          network_job *job) {
  weft_network_options o = {.size = sizeof o};
  cli_exit code = set_ends(args, &o);
  if (code == CLI_OK) code = set_ranges(args, &o);
  if (code == CLI_OK) code = set_quality(args, l, &o);
  if (code != CLI_OK) return code;
  set_sizes(args, &o);
  job->array = cli_open_array(common, job->session);
  if (job->array == NULL) return CLI_BAD_INPUT;
  code = set_lowering(args, job->array, &o);
  if (code != CLI_OK) return code;
  if (!set_files(args, l, &o) || !set_pictures(args, &o)) return CLI_BAD_INPUT;
  return compile(common, args, &o, path, job);
}

cli_exit network_job_open(const cli_common *common, const network_args *args, const char *path, network_job *job) {
  lists l = {.dims = {0}};
  *job = (network_job){.session = weft_session_create()};
  const cli_exit code = open_with(common, args, &l, path, job);
  release_lists(&l);
  job->facts.size = sizeof job->facts;
  if (code == CLI_OK) weft_network_describe(job->network, &job->facts);
  return code;
}

void network_job_release(network_job *job) {
  weft_network_destroy(job->network);
  weft_array_destroy(job->array);
  weft_session_destroy(job->session);
  *job = (network_job){0};
}
