// SPDX-License-Identifier: Apache-2.0
// A network from file to program: see job.h.
#include "api/job.h"

#include <string.h>

#include "api/graph.h"
#include "api/npy.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/tasks.h"
#include "compiler/graph/repeat.h"
#include "compiler/network/mappings.h"
#include "compiler/network/target.h"
#include "compiler/network/unit.h"
#include "compiler/onnx/onnx.h"
#include "workloads/networks/networks.h"

enum { MAPPINGS_MAX = 1 << 24, JOBS_MAX = 1024, SEED = 1 };

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static uint64_t seed_of(const weft_network_options *o) { return o->seed == NULL ? SEED : *o->seed; }

// ---- the model

static graph *generate(const char *name, const weft_network_options *o, wf_diag *diag) {
  const networks_options options = {.size = (int64_t)o->image,
                                    .sequence = (int64_t)o->sequence,
                                    .past = (int64_t)o->past,
                                    .present = o->cache != NULL,
                                    .batch = (int64_t)o->batch,
                                    .divisor = (int64_t)o->divisor,
                                    .layers = (int64_t)o->depth,
                                    .seed = seed_of(o),
                                    .prune = o->prune};
  return networks_create(name, &options, diag);
}

static weft_graph_options of_file(const weft_network_options *o) {
  return (weft_graph_options){.batch = o->batch,
                              .dim_names = o->dim_names,
                              .dim_values = o->dim_values,
                              .outputs = o->outputs,
                              .constants = o->constants,
                              .constants_for = o->constants_for,
                              .dims = o->dims,
                              .output_count = o->output_count,
                              .constant_count = o->constant_count};
}

static graph *read_model(const char *path, const weft_network_options *o, wf_diag *diag) {
  if (networks_find(path) != NULL) return generate(path, o, diag);
  const weft_graph_options file = of_file(o);
  return api_read_model(path, &file, diag);
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
  return ends_with(path, ".pb") ? read_pb(path, tensor, diag) : api_npy_read(path, tensor, diag);
}

// The names of all files, as they were given to the tool.
static void wrong_count(const graph *g, const weft_network_options *o, wf_diag *diag) {
  char *list = wf_strdup(o->input_files[0]);
  for (uint32_t i = 1; i < o->input_count; i++) {
    char *longer = wf_format("%s,%s", list, o->input_files[i]);
    wf_free(list);
    list = longer;
  }
  wf_error(diag, wf_in_file(list), "the network has %d inputs", g->input_count);
  wf_free(list);
}

static bool read_inputs(const weft_network_options *o, api_job *job, wf_diag *diag) {
  const graph *g = job->placed;
  if (o->input_files == NULL || o->input_count == 0) {
    job->inputs = quantise_random_inputs(g, seed_of(o));
    return true;
  }
  job->inputs = WF_NEW_ARRAY((size_t)g->input_count + 1, void *);
  for (int i = 0; i < g->input_count && (uint32_t)i < o->input_count; i++) {
    job->inputs[i] = read_input(o->input_files[i], &g->tensors[g->inputs[i]], diag);
    if (job->inputs[i] == NULL) return false;
  }
  if ((uint32_t)g->input_count == o->input_count) return true;
  wrong_count(g, o, diag);
  return false;
}

// ---- choices

static bool sizes_good(weft_session *s, const weft_network_options *o) {
  const uint64_t sizes[] = {o->image, o->sequence, o->past, o->batch, o->divisor, o->depth};
  enum { SIZE_BITS = 62, SAMPLES_MAX = 1 << 20 };  // generators and files have limits of their own
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i] >> SIZE_BITS != 0) return api_refuse(s, "a size of the network is too large"), false;
  if (o->samples > SAMPLES_MAX || o->compare > SAMPLES_MAX) return api_refuse(s, "samples are too many"), false;
  if (o->jobs > JOBS_MAX) return api_refuse(s, "jobs are at most %d", JOBS_MAX), false;
  if (o->images > GRAPH_REPEAT_MAX) return api_refuse(s, "images are at most %d", GRAPH_REPEAT_MAX), false;
  if (o->float_ends && o->uint8_images) return api_refuse(s, "uint8_images excludes float_ends"), false;
  return true;
}

static bool pictures_good(weft_session *s, const weft_network_options *o, api_pictures *pictures) {
  *pictures = (api_pictures){{0, 0, 0}, {1, 1, 1}};
  memcpy(pictures->mean, o->picture_mean, sizeof pictures->mean);
  const float *deviation = o->picture_deviation;
  if (deviation[0] == 0 && deviation[1] == 0 && deviation[2] == 0) return true;
  memcpy(pictures->deviation, deviation, sizeof pictures->deviation);
  for (int i = 0; i < 3; i++)
    if (!(deviation[i] > 0)) return api_refuse(s, "deviations of pictures are above 0"), false;
  return true;
}

static bool lists_good(weft_session *s, const weft_network_options *o) {
  const weft_graph_options file = of_file(o);
  return api_graph_options(s, &file) && api_names(s, o->keep_float, o->keep_count, "nodes that stay in float") &&
         (o->input_files == NULL || api_names(s, o->input_files, o->input_count, "files of inputs"));
}

// Off, or on where the array has the unit; "on" for an array without one is a mistake.
static bool set_normaliser(weft_session *s, const weft_network_options *o, api_job *job) {
  static const char *const words[] = {"on", "off", "auto"};  // which is one of the others here (ways.c)
  const int word = api_choice(s, "normaliser", o->normaliser, words, 3);
  const int64_t columns = network_unit_columns(&job->array.array);
  if (word < 0) return false;
  if (o->normaliser != NULL && word == 0 && columns == 0)
    return api_refuse(s, "normaliser on: array %s has none that networks can use", job->array.array.name), false;
  job->quantise.target = network_target(&job->array.array);
  if (word == 1) job->quantise.target.unit_columns = 0;
  job->quantise.choice = &job->choice;
  return true;
}

static bool set_cache(weft_session *s, const weft_network_options *o, api_job *job) {
  static const char *const words[] = {"int8", "int4"};
  if (o->cache == NULL) return true;
  const int word = api_choice(s, "cache", o->cache, words, 2);
  if (word < 0) return false;
  job->quantise.cache = word == 1 ? QUANTISE_CACHE_INT4 : QUANTISE_CACHE_INT8;
  if (word == 1) job->quantise.cache_quality = &job->cache_quality;
  if (word == 0 || job->array.array.load.packed_int4) return true;
  return api_refuse(s, "cache int4: array %s loads no packed int4 (load.packed_int4)", job->array.array.name), false;
}

static char **copy_names(const char *const *names, uint32_t count) {
  char **copies = WF_NEW_ARRAY((size_t)count + 1, char *);
  for (uint32_t i = 0; i < count; i++) copies[i] = wf_strdup(names[i]);
  return copies;
}

static bool set_quantisation(weft_session *s, const weft_network_options *o, api_job *job) {
  static const char *const methods[] = {"minmax", "percentile"};
  const int method = api_choice(s, "calibration", o->calibration, methods, 2);
  if (method < 0) return false;
  job->keep = copy_names(o->keep_float, o->keep_count);
  job->quantise = (quantise_options){.samples = (int)o->samples,
                                     .residual_products = (int)o->residual_products,
                                     .seed = seed_of(o),
                                     .int8_ends = !o->float_ends,
                                     .uint8_images = o->uint8_images,
                                     .method = method == 1 ? QUANTISE_PERCENTILE : QUANTISE_MIN_MAX,
                                     .kept = &job->kept,
                                     .forms = &job->forms,
                                     .keep = (const char *const *)job->keep,
                                     .keep_count = (int)o->keep_count,
                                     .least_db = o->least_db};
  return set_normaliser(s, o, job) && set_cache(s, o, job);
}

static bool set_lowering(weft_session *s, const weft_network_options *o, api_job *job, network_options *lowering) {
  static const char *const names[] = {
      [NETWORK_FUSE_OFF] = "off", [NETWORK_FUSE_AUTO] = "auto", [NETWORK_FUSE_ALL] = "all"};
  const int fuse = api_choice(s, "fuse", o->fuse, names, sizeof names / sizeof *names);
  if (fuse < 0) return false;
  static const char *const kernels[] = {"rules", "auto"};
  const int choice = api_choice(s, "kernels", o->kernels, kernels, 2);
  if (choice < 0) return false;
  job->choose_kernels = choice == 1;
  if (o->overlap && fuse != NETWORK_FUSE_OFF)
    return api_refuse(s, "overlap excludes fuse: steps that are mixed have no loops of the hardware"), false;
  job->images = o->images == 0 ? 1 : (int)o->images;
  job->jobs = o->jobs == 0 ? wf_processors() : o->jobs;
  *lowering = (network_options){.array = &job->array.array,
                                .fuse = (network_fuse_mode)fuse,
                                .overlap = o->overlap,
                                .jobs = job->jobs,
                                .straight = o->for_c};
  if (!api_tuning(s, o->tune, o->tune_with, o->tune_objective, &job->array.array, &lowering->tuning)) return false;
  job->objective = lowering->tuning.objective;
  return true;
}

// ---- stages

// What a call does that takes long, for people.
static void tell(weft_session *s, const char *what) { api_progress(s, 0, 0, what); }

static void hint(const quantise_layer *worst, wf_diag *diag) {
  char from[48] = "from exact inputs";
  if (worst->input_db < 300) snprintf(from, sizeof from, "from %.1f dB", worst->input_db);
  wf_hint(diag, "node %s loses most, %s to %.1f dB", worst->cause, from, worst->sqnr_db);
  wf_hint(diag,
          "--calibrate DIR takes ranges from real inputs, --keep-float NODE keeps a product in float, "
          "--quality-at-least %d keeps as many as that needs",
          API_POOR_DB);
}

// The node that loses most is named, so that it can be helped.
static void warn(const api_job *job, wf_diag *diag) {
  const quantise_layer *worst = quantise_worst_layer(&job->layers);
  for (int o = 0; o < job->placed->output_count; o++) {
    if (!(job->quality[o].sqnr_db < API_POOR_DB)) continue;
    wf_warning(diag, wf_in_file(NULL), "output %s is only %.1f dB from the float model", job->quality[o].output,
               job->quality[o].sqnr_db);
    if (worst != NULL) hint(worst, diag);
    return;
  }
}

// On other inputs than those of the calibration.
static bool compare(weft_session *s, uint64_t samples, api_job *job) {
  quantise_options options = job->quantise;
  options.samples = (int)samples;
  options.seed = job->quantise.seed + 1000;
  if (options.input_sets > options.samples) options.input_sets = options.samples;
  tell(s, "comparing with the float model");
  job->quality = quantise_compare(job->model, job->placed, &options, &s->diag);
  if (job->quality == NULL ||
      !quantise_compare_layers(job->model, job->placed, &job->forms, &options, &job->layers, &s->diag))
    return false;
  warn(job, &s->diag);
  return true;
}

static bool quantise(weft_session *s, const weft_network_options *o, api_job *job) {
  const double start = wf_process_seconds();
  tell(s, "quantising the network");
  job->placed = quantise_network(job->model, &job->quantise, QUANTISE_STAGE_PLACED, &s->diag);
  job->quantise_seconds = wf_process_seconds() - start;
  if (job->placed == NULL) return false;
  if (o->compare > 0) return compare(s, o->compare, job);
  job->forms = (quantise_forms){0};
  if (job->kept.count > 0) return true;  // whose names are the model's
  graph_destroy(job->model);
  job->model = NULL;
  return true;
}

static bool load(weft_session *s, const char *path, const weft_network_options *o, const api_pictures *pictures,
                 api_job *job) {
  const double start = wf_process_seconds();
  job->model = read_model(path, o, &s->diag);
  job->read_seconds = wf_process_seconds() - start;
  if (job->model == NULL || !network_check_size(job->model, &job->array.array, !o->float_ends, &s->diag)) return false;
  if (o->samples_from == NULL) return true;
  if (!api_calibration_read(o->samples_from, job->model, pictures, &job->calibration, &s->diag)) return false;
  job->quantise.inputs = (const void *const *)job->calibration.inputs;
  job->quantise.input_sets = job->calibration.sets;
  return true;
}

static void repeat(api_job *job) {
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

// What is made while a network is compiled.
typedef struct compiling {
  const api_job *job;
  api_asking asking;
} compiling;

static void take_tuned(void *context, const run_tune_result *tuned) {
  compiling *c = context;
  api_asking_add_network(&c->asking, c->job->placed->name, tuned);
}

static void compile_job(weft_session *s, const weft_network_options *o, network_options *lowering,
                        network_mappings *mappings, api_job *job) {
  compiling c = {.job = job};
  lowering->mapping = network_mappings_find;
  lowering->context = mappings;
  const run_tune_request request = {.placed = job->placed,
                                    .options = lowering,
                                    .inputs = (const void *const *)job->inputs,
                                    .found = take_tuned,
                                    .context = &c};
  tell(s, "compiling the network");
  api_asking_begin(&c.asking, o->schedules, &job->array.array, &lowering->tuning);
  job->net = job->choose_kernels ? run_kernels_network(&request, &job->kernels, &s->diag)
                                 : run_tune_network(&request, &s->diag);
  api_asking_end(&c.asking);
}

// ---- the job

bool api_job_open(weft_session *s, api_job *job, const char *path, const weft_network_options *o) {
  network_options lowering;
  network_mappings mappings = {0};
  api_pictures pictures;
  if (!sizes_good(s, o) || !lists_good(s, o) || !pictures_good(s, o, &pictures) || !set_quantisation(s, o, job) ||
      !set_lowering(s, o, job, &lowering))
    return false;
  bool good = hw_array_check(&job->array.array, job->array.array.name, &s->diag) && load(s, path, o, &pictures, job) &&
              quantise(s, o, job);
  if (good) repeat(job);
  good = good && read_inputs(o, job, &s->diag) && read_mappings(o->mappings, &mappings, &s->diag);
  if (good) compile_job(s, o, &lowering, &mappings, job);
  network_mappings_release(&mappings);
  if (job->net != NULL) return true;
  api_end(s, false, good ? WEFT_CANNOT_BUILD : WEFT_BAD_INPUT);
  return false;
}

void api_job_release(api_job *job) {
  run_kernels_release(&job->kernels);
  network_destroy(job->net);
  for (int i = 0; job->keep != NULL && i < job->quantise.keep_count; i++) wf_free(job->keep[i]);
  wf_free(job->keep);
  for (int i = 0; job->inputs != NULL && i < job->placed->input_count; i++) wf_free(job->inputs[i]);
  wf_free(job->inputs);
  api_calibration_release(&job->calibration);
  quantise_layers_release(&job->layers);
  wf_free(job->quality);
  if (job->placed != NULL) graph_destroy(job->placed);
  graph_destroy(job->one);
  if (job->model != NULL) graph_destroy(job->model);
}
