// SPDX-License-Identifier: Apache-2.0
// A network from file to program: see network_job.h.
#include "cli/network_job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/progress.h"
#include "cli/npy.h"
#include "cli/onnx_file.h"
#include "compiler/graph/repeat.h"
#include "compiler/network/mappings.h"
#include "compiler/onnx/onnx.h"
#include "hw/array_text.h"
#include "runner/tune.h"

enum { MAPPINGS_MAX = 1 << 24 };

const wf_option network_job_rows[NETWORK_JOB_OPTIONS] = {
    {"input", WF_TEXT(network_job_options, inputs), "FILE,..",
     "networks: .npy or .pb files of the inputs (default: random)"},
    {"calibrate", WF_TEXT(network_job_options, calibrate), "minmax|percentile|DIR",
     "networks: ranges of float activations; DIR has .npy or .ppm files to take them from, also percentile,DIR"},
    {"mean", WF_TEXT(network_job_options, mean), "R,G,B", "networks: taken off the pictures of --calibrate, of 0 .. 1"},
    {"deviation", WF_TEXT(network_job_options, deviation), "R,G,B", "networks: what they are divided by"},
    {"keep-float", WF_TEXT(network_job_options, keep_float), "NODE,..",
     "networks: nodes that stay in float, on the hart"},
    {"quality-at-least", WF_TEXT(network_job_options, quality_at_least), "DB",
     "networks: as few nodes stay in float as make every output that good"},
    {"samples", WF_COUNT(network_job_options, samples), "N", "networks: random inputs of the calibration (default 2)"},
    {"residual-products", WF_COUNT(network_job_options, residual_products), "N",
     "networks: the most products that adding a residual may take, 1 to 8 (default: by the length of sums)"},
    {"int8-ends", WF_FLAG(network_job_options, int8_ends), NULL,
     "networks: inputs and outputs are int8, images channels last: nothing is converted at the ends (default, but with "
     "--input and --quality)"},
    {"float-ends", WF_FLAG(network_job_options, float_ends), NULL,
     "networks: inputs and outputs are f32, as in the model; the hart converts them"},
    {"input-type", WF_TEXT(network_job_options, input_type), "int8|uint8",
     "networks: images are int8 (default) or a camera's bytes, 128 more; the ends are int8 then, with --input, too"},
    {"mappings", WF_TEXT(network_job_options, mappings), "FILE",
     "networks: mappings of kernels, as `weft search NET --simulate -o DIR` leaves them"},
    {"fuse", WF_TEXT(network_job_options, fuse), "off|auto|all",
     "networks: mix neighbouring layers into one stream of commands: auto where simulating both ways says that it is "
     "faster, all wherever it is possible (default off)"},
    {"images", WF_POSITIVE(network_job_options, images), "N",
     "networks: N runs, each with inputs of its own, in one program (default 1)"},
    {"overlap", WF_TEXT(network_job_options, overlap), "off|auto",
     "networks: hart and array work at one time where that is faster (default: auto for several images)"},
    {"normaliser", WF_TEXT(network_job_options, normaliser), "on|off",
     "networks: softmax, norms and GELU in the array's normaliser (default: on where the array has one)"},
    {"dims", WF_TEXT(network_job_options, dims), "NAME=N,..",
     "networks: open dimensions of a file (also INPUT:AXIS=N)"},
    {"outputs", WF_TEXT(network_job_options, outputs), "NAME,..",
     "networks: tensors or nodes of a file at which the network ends, instead of its outputs"},
    {"values", WF_TEXT(network_job_options, values), "FILE,..",
     "networks: .pb files of inputs that are constants (also INPUT=FILE)"},
    {"size", WF_POSITIVE(network_job_options, network.size), "N", "generated networks: rows and columns of images"},
    {"seq", WF_POSITIVE(network_job_options, network.sequence), "N", "generated networks: tokens or time steps"},
    {"past", WF_POSITIVE(network_job_options, network.past), "N",
     "generated decoders: keys and values of N tokens are inputs, --seq is 1"},
    {"batch", WF_POSITIVE(network_job_options, network.batch), "N", "networks: batch (of files that leave it open)"},
    {"divisor", WF_POSITIVE(network_job_options, network.divisor), "N", "generated networks: widths are divided by N"},
    {"depth", WF_POSITIVE(network_job_options, network.layers), "N",
     "generated networks: layers of transformers and recurrent ones"},
    {"prune", WF_TEXT(network_job_options, network.prune), "KIND:DENSITY",
     "generated networks: zeros in weights (weights:0.5, blocks:0.25)"},
};

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool network_job_is(const char *path) { return ends_with(path, ".onnx") || networks_find(path) != NULL; }

bool network_job_is_misspelt(const char *path, wf_diag *diag) {
  if (strpbrk(path, "./") != NULL || access(path, F_OK) == 0) return false;
  wf_error(diag, wf_in_file(path), "no such file, and no generated network has this name");
  hw_nearest nearest = hw_nearest_start(path);
  for (size_t i = 0; i < networks_count(); i++) hw_nearest_offer(&nearest, networks_at(i)->name);
  if (nearest.best[0] != '\0') wf_hint(diag, "did you mean %s?", nearest.best);
  wf_hint(diag, "`weft net --list` names them");
  return true;
}

static graph *read_model(const network_job_options *options, const char *path, wf_diag *diag) {
  networks_options made = options->network;
  if (made.seed == 0) made.seed = options->seed;
  if (networks_find(path) != NULL) return networks_create(path, &made, diag);
  cli_dims open;
  cli_names outputs = {0};
  cli_values values = {0};
  cli_constants constants = {0};
  graph *model = NULL;
  if (cli_dims_parse(&open, options->dims) && cli_names_parse(&outputs, "outputs", options->outputs) &&
      cli_values_parse(&values, options->values) && cli_file_values(&values, &constants, diag)) {
    onnx_dim dims[CLI_DIMS_MAX];
    cli_file_dims(&open, dims);
    const onnx_options file = {.batch = made.batch,
                               .dims = dims,
                               .dim_count = open.count,
                               .values = constants.values,
                               .value_count = constants.count,
                               .outputs = outputs.names,
                               .output_count = outputs.count};
    model = onnx_read(path, &file, diag);
  }
  cli_file_release(&constants);
  cli_dims_release(&open);
  cli_names_release(&outputs);
  cli_values_release(&values);
  return model;
}

// ---- inputs

// The elements of a .pb file, as they are published with test models.
static void *read_pb(const char *path, const graph_tensor *tensor, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  graph_tensor found;
  void *elements = NULL;
  if (onnx_read_tensor(path, arena, &found, diag)) {
    if (found.type == tensor->type && graph_same_shape(&found, tensor))
      elements = memcpy(wf_alloc(graph_bytes(tensor) + 1, 1), found.data, graph_bytes(tensor));
    else
      wf_error(diag, wf_in_file(path), "type or shape are not those of input %s", tensor->name);
  }
  wf_arena_destroy(arena);
  return elements;
}

static void *read_input(const char *path, const graph_tensor *tensor, wf_diag *diag) {
  return ends_with(path, ".pb") ? read_pb(path, tensor, diag) : npy_read(path, tensor, diag);
}

static bool read_inputs(const network_job_options *options, network_job *job, wf_diag *diag) {
  const graph *g = job->placed;
  if (options->inputs == NULL) {
    job->inputs = quantise_random_inputs(g, options->seed);
    return true;
  }
  job->inputs = WF_NEW_ARRAY((size_t)g->input_count + 1, void *);
  char *list = wf_strdup(options->inputs), *rest = NULL;
  int count = 0;
  bool good = true;
  for (char *path = strtok_r(list, ",", &rest); path != NULL && good; path = strtok_r(NULL, ",", &rest), count++) {
    if (count == g->input_count) break;
    job->inputs[count] = read_input(path, &g->tensors[g->inputs[count]], diag);
    good = job->inputs[count] != NULL;
  }
  if (good && (count != g->input_count || *rest != '\0')) {
    wf_error(diag, wf_in_file(options->inputs), "the network has %d inputs", g->input_count);
    good = false;
  }
  wf_free(list);
  return good;
}

// ---- stages

// Files hold numbers as the model has them, and the float model is compared with numbers.
static bool has_int8_ends(const network_job_options *options) {
  return options->int8_ends || options->input_type != NULL ||
         (!options->float_ends && options->inputs == NULL && options->quality == 0 &&
          options->quality_at_least == NULL);
}

static cli_exit set_input_type(const network_job_options *options, network_job *job) {
  const char *text = options->input_type;
  if (text != NULL && strcmp(text, "int8") != 0 && strcmp(text, "uint8") != 0) {
    fprintf(stderr, "weft: error: --input-type %s\n  hint: one of int8, uint8\n", text);
    return CLI_USAGE;
  }
  if (text != NULL && (options->float_ends || options->quality > 0)) {
    fputs("weft: error: --input-type is for ends of integers, not for --float-ends or --quality\n", stderr);
    return CLI_USAGE;
  }
  job->quantise.uint8_images = text != NULL && strcmp(text, "uint8") == 0;
  return CLI_OK;
}

static bool is_directory(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// A method, a folder, or both of them.
static cli_exit set_ranges(network_job_options *options, network_job *job) {
  const char *text = options->calibrate, *comma = text == NULL ? NULL : strchr(text, ',');
  const size_t length = text == NULL ? 0 : comma != NULL ? (size_t)(comma - text) : strlen(text);
  const bool minmax = length == 6 && strncmp(text, "minmax", 6) == 0,
             percentile = length == 10 && strncmp(text, "percentile", 10) == 0;
  if (percentile) job->quantise.method = QUANTISE_PERCENTILE;
  options->calibrate = minmax || percentile ? (comma == NULL ? NULL : comma + 1) : text;
  if (options->calibrate == NULL || is_directory(options->calibrate)) return CLI_OK;
  fprintf(stderr,
          "weft: error: --calibrate %s\n  hint: one of minmax, percentile, or a folder with .npy or .ppm files\n",
          options->calibrate);
  return CLI_USAGE;
}

static cli_exit set_quality(const network_job_options *options, network_job *job) {
  job->quantise.kept = &job->kept;
  job->quantise.forms = &job->forms;
  if (!cli_names_parse(&job->keep, "keep-float", options->keep_float)) return CLI_USAGE;
  job->quantise.keep = job->keep.names;
  job->quantise.keep_count = job->keep.count;
  char *end = NULL;
  if (options->quality_at_least == NULL) return CLI_OK;
  job->quantise.least_db = strtod(options->quality_at_least, &end);
  if (end != options->quality_at_least && *end == '\0' && job->quantise.least_db > 0 && job->quantise.least_db < 200)
    return CLI_OK;
  fprintf(stderr, "weft: error: --quality-at-least %s\n  hint: a number of dB, as 25\n", options->quality_at_least);
  return CLI_USAGE;
}

static cli_exit set_calibration(network_job_options *options, network_job *job) {
  job->quantise = (quantise_options){.samples = (int)options->samples,
                                     .residual_products = (int)options->residual_products,
                                     .seed = options->seed,
                                     .int8_ends = has_int8_ends(options)};
  const cli_exit code = set_input_type(options, job);
  if (code != CLI_OK) return code;
  if (options->int8_ends && options->float_ends) {
    fputs("weft: error: --int8-ends and --float-ends exclude each other\n", stderr);
    return CLI_USAGE;
  }
  return set_ranges(options, job);
}

// Inputs from files take the place of random ones, in the calibration and in comparisons.
static bool read_calibration(const network_job_options *options, network_job *job, wf_diag *diag) {
  network_pictures pictures = {{0, 0, 0}, {1, 1, 1}};
  if (options->calibrate == NULL) return true;
  bool parsed = (options->mean == NULL || network_pictures_parse(options->mean, pictures.mean)) &&
                (options->deviation == NULL || network_pictures_parse(options->deviation, pictures.deviation));
  for (int i = 0; i < 3; i++) parsed = parsed && pictures.deviation[i] > 0;
  if (!parsed) {
    wf_error(diag, wf_in_file(options->calibrate),
             "--mean and --deviation take R,G,B or one number, deviations above 0");
    return false;
  }
  if (!network_calibration_read(options->calibrate, job->model, &pictures, &job->calibration, diag)) return false;
  job->quantise.inputs = (const void *const *)job->calibration.inputs;
  job->quantise.input_sets = job->calibration.sets;
  return true;
}

static void hint(const quantise_layer *worst, wf_diag *diag) {
  char from[48] = "from exact inputs";
  if (worst->input_db < 300) snprintf(from, sizeof from, "from %.1f dB", worst->input_db);
  wf_hint(diag, "node %s loses most, %s to %.1f dB", worst->cause, from, worst->sqnr_db);
  wf_hint(diag,
          "--calibrate DIR takes ranges from real inputs, --keep-float NODE keeps a product in float, "
          "--quality-at-least %d keeps as many as that needs",
          NETWORK_JOB_POOR_DB);
}

// The node that loses most is named, so that it can be helped.
static void warn(const network_job *job, wf_diag *diag) {
  const quantise_layer *worst = quantise_worst_layer(&job->layers);
  for (int o = 0; o < job->placed->output_count; o++) {
    if (!(job->quality[o].sqnr_db < NETWORK_JOB_POOR_DB)) continue;
    wf_warning(diag, wf_in_file(NULL), "output %s is only %.1f dB from the float model", job->quality[o].output,
               job->quality[o].sqnr_db);
    if (worst != NULL) hint(worst, diag);
    return;
  }
}

static cli_exit set_fuse(const network_job_options *options, network_job *job) {
  static const char *const names[] = {
      [NETWORK_FUSE_OFF] = "off", [NETWORK_FUSE_AUTO] = "auto", [NETWORK_FUSE_ALL] = "all"};
  if (options->fuse == NULL) return CLI_OK;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(options->fuse, names[i]) != 0) continue;
    job->fuse = (network_fuse_mode)i;
    return CLI_OK;
  }
  fprintf(stderr, "weft: error: --fuse %s\n  hint: one of off, auto, all\n", options->fuse);
  return CLI_USAGE;
}

static cli_exit set_images(const network_job_options *options, network_job *job) {
  const char *text = options->overlap;
  if (options->images > GRAPH_REPEAT_MAX) {
    fprintf(stderr, "weft: error: --images %" PRIu64 ": at most %d\n", options->images, GRAPH_REPEAT_MAX);
    return CLI_USAGE;
  }
  job->images = options->images == 0 ? 1 : (int)options->images;
  job->overlap = text == NULL ? job->images > 1 && job->fuse == NETWORK_FUSE_OFF : strcmp(text, "auto") == 0;
  if (text != NULL && !job->overlap && strcmp(text, "off") != 0) {
    fprintf(stderr, "weft: error: --overlap %s\n  hint: one of off, auto\n", text);
    return CLI_USAGE;
  }
  if (!job->overlap || job->fuse == NETWORK_FUSE_OFF) return CLI_OK;
  fputs("weft: error: --overlap auto excludes --fuse: steps that are mixed have no loops of the hardware\n", stderr);
  return CLI_USAGE;
}

// On where the array has the unit; "on" for an array without one is a mistake.
static cli_exit set_normaliser(const network_job_options *options, network_job *job) {
  const char *text = options->normaliser;
  const int64_t columns = network_unit_columns(&job->array);
  if (text != NULL && strcmp(text, "on") != 0 && strcmp(text, "off") != 0) {
    fprintf(stderr, "weft: error: --normaliser %s\n  hint: one of on, off\n", text);
    return CLI_USAGE;
  }
  if (text != NULL && strcmp(text, "on") == 0 && columns == 0) {
    fprintf(stderr,
            "weft: error: --normaliser on: array %s has none that networks can use\n"
            "  hint: --array transformer-16 has one\n",
            job->array.name);
    return CLI_USAGE;
  }
  job->quantise.unit_columns = text != NULL && strcmp(text, "off") == 0 ? 0 : columns;
  job->quantise.choice = &job->choice;
  return CLI_OK;
}

// What takes long says so on stderr. Messages come behind it, on lines of their own.
static graph *place(const cli_common *common, network_job *job, wf_diag *diag) {
  wf_busy *busy = wf_busy_begin(common->quiet, "quantising the network", CLI_BUSY_AFTER);
  graph *placed = quantise_network(job->model, &job->quantise, QUANTISE_STAGE_PLACED, diag);
  wf_busy_end(busy);
  return placed;
}

static bool quantise(const cli_common *common, const network_job_options *options, network_job *job, wf_diag *diag) {
  const double start = wf_process_seconds();
  job->placed = place(common, job, diag);
  job->quantise_seconds = wf_process_seconds() - start;
  if (job->placed == NULL) return false;
  if (options->quality == 0) {
    job->forms = (quantise_forms){0};
    if (job->kept.count > 0) return true;  // whose names are the model's
    graph_destroy(job->model);
    job->model = NULL;
    return true;
  }
  quantise_options compare = job->quantise;
  compare.samples = (int)options->quality;
  compare.seed = job->quantise.seed + 1000;  // other inputs than those of the calibration
  if (compare.input_sets > compare.samples) compare.input_sets = compare.samples;
  wf_busy *busy = wf_busy_begin(common->quiet, "comparing with the float model", CLI_BUSY_AFTER);
  job->quality = quantise_compare(job->model, job->placed, &compare, diag);
  const bool compared = job->quality != NULL &&
                        quantise_compare_layers(job->model, job->placed, &job->forms, &compare, &job->layers, diag);
  wf_busy_end(busy);
  if (!compared) return false;
  warn(job, diag);
  return true;
}

static void repeat(network_job *job) {
  if (job->images == 1) return;
  job->one = job->placed;
  job->placed = graph_repeat(job->one, job->images);
}

static bool read_mappings(const char *path, network_mappings *mappings, wf_diag *diag) {
  if (path == NULL) return true;
  size_t length;
  char *text = wf_read_file(path, MAPPINGS_MAX, &length, diag);
  if (text == NULL) return false;
  const bool whole = length <= MAPPINGS_MAX;
  if (!whole) wf_error(diag, wf_in_file(path), "is larger than 16 MiB");
  const bool good = whole && network_mappings_parse(mappings, path, text, diag);
  wf_free(text);
  return good;
}

static void take_tuned(void *context, const run_tune_result *tuned) {
  network_job *job = context;
  schedule_store_add_network(&job->schedules, job->placed->name, tuned);
}

static network *create(const network_job_options *options, network_job *job, network_mappings *mappings,
                       wf_diag *diag) {
  const network_options lowering = {.array = &job->array,
                                    .tuning = job->tuning,
                                    .fuse = job->fuse,
                                    .overlap = job->overlap,
                                    .jobs = (unsigned)options->jobs,
                                    .straight = options->straight,
                                    .mapping = network_mappings_find,
                                    .context = mappings};
  const run_tune_request request = {.placed = job->placed,
                                    .options = &lowering,
                                    .inputs = (const void *const *)job->inputs,
                                    .found = take_tuned,
                                    .context = job};
  return run_tune_network(&request, diag);
}

cli_exit network_job_open(const cli_common *common, const network_job_options *asked, const char *path,
                          network_job *job, wf_diag *diag) {
  *job = (network_job){0};
  network_job_options given = *asked, *options = &given;
  cli_exit code = set_calibration(options, job);
  if (code == CLI_OK) code = set_quality(options, job);
  if (code != CLI_OK) return code;
  if (!cli_load_array(common, &job->array, diag)) return CLI_BAD_INPUT;
  code = set_normaliser(options, job);
  if (code == CLI_OK) code = set_fuse(options, job);
  if (code == CLI_OK) code = set_images(options, job);
  const tuning_others others = job->fuse == NETWORK_FUSE_AUTO ? TUNING_OTHERS_BY_TIME : TUNING_NO_OTHERS;
  if (code == CLI_OK) code = tuning_open(&options->tuning, others, &job->array, &job->tuning, diag);
  if (code == CLI_OK)
    code = schedule_store_open(&job->schedules, options->tuning.schedules, &job->array, &job->tuning, diag);
  if (code != CLI_OK) return code;
  const double start = wf_process_seconds();
  job->model = read_model(options, path, diag);
  job->read_seconds = wf_process_seconds() - start;
  if (job->model == NULL || !network_check_size(job->model, &job->array, options->int8_ends, diag) ||
      !read_calibration(options, job, diag) || !quantise(common, options, job, diag))
    return CLI_BAD_INPUT;
  repeat(job);
  if (!read_inputs(options, job, diag)) return CLI_BAD_INPUT;
  network_mappings mappings = {0};
  const bool read = read_mappings(options->mappings, &mappings, diag);
  wf_busy *busy = wf_busy_begin(common->quiet, "compiling the network", CLI_BUSY_AFTER);
  if (read) job->net = create(options, job, &mappings, diag);
  wf_busy_end(busy);
  network_mappings_release(&mappings);
  const bool saved = schedule_store_close(&job->schedules, common->quiet, diag);
  return !read || !saved ? CLI_BAD_INPUT : job->net == NULL ? CLI_CANNOT_BUILD : CLI_OK;
}

void network_job_release(network_job *job) {
  schedules_destroy(job->schedules.rows);
  network_destroy(job->net);
  for (int i = 0; job->inputs != NULL && i < job->placed->input_count; i++) wf_free(job->inputs[i]);
  wf_free(job->inputs);
  network_calibration_release(&job->calibration);
  quantise_layers_release(&job->layers);
  cli_names_release(&job->keep);
  wf_free(job->quality);
  if (job->placed != NULL) graph_destroy(job->placed);
  graph_destroy(job->one);
  if (job->model != NULL) graph_destroy(job->model);
}
