// SPDX-License-Identifier: Apache-2.0
// Networks as programs: see program.h.
#include "search/layers/program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/number.h"
#include "compiler/network/network.h"
#include "compiler/network/target.h"
#include "runner/steps.h"
#include "search/layers/graph.h"

enum { SEED = 1 };  // of weights and inputs, as in `weft sim`

static bool is_onnx(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot != NULL && strcmp(dot, ".onnx") == 0;
}

bool layers_is_program(const char *name_or_path) {
  return is_onnx(name_or_path) || networks_find(name_or_path) != NULL;
}

static graph *read_model(const char *path, const layers_program_options *options, wf_diag *diag) {
  networks_options made = options->network;
  if (made.seed == 0) made.seed = SEED;
  if (!is_onnx(path)) return networks_create(path, &made, diag);
  const onnx_options file = {.batch = made.batch,
                             .dims = options->dims,
                             .dim_count = options->dim_count,
                             .outputs = options->outputs,
                             .output_count = options->output_count};
  return onnx_read(path, &file, diag);
}

// The number changes when the same graph becomes other steps.
static uint64_t hash_of(const graph *placed) {
  static const uint64_t version = 2;
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  graph_print(placed, false, out);
  fclose(out);
  const uint64_t hash = wf_hash(wf_hash(WF_HASH_START, &version, sizeof version), text, length);
  free(text);
  return hash;
}

static int64_t macs_of(const graph *placed) {
  layers_network layers;
  double macs = 0;
  layers_of_graph(&layers, placed);
  for (size_t i = 0; i < layers.count; i++) macs += (double)layers.layers[i].count * layers_macs(&layers.layers[i]);
  layers_release(&layers);
  return wf_whole(macs);
}

// ---- forms

struct layers_forms {
  pthread_mutex_t lock;  // of the list; a form does not change
  graph *model;
  quantise_options quantise;
  layers_form *first;
};

static void free_form(layers_form *form) {
  if (form->values != NULL) run_steps_free_values(form->placed, form->values);
  if (form->inputs != NULL) quantise_free_inputs(form->placed, form->inputs);
  if (form->placed != NULL) graph_destroy(form->placed);
  wf_free(form);
}

static layers_form *make_form(const struct layers_forms *forms, const quantise_target *target, wf_diag *diag) {
  quantise_options options = forms->quantise;
  options.target = *target;
  layers_form *form = WF_NEW(layers_form);
  form->target = *target;
  form->placed = quantise_network(forms->model, &options, QUANTISE_STAGE_PLACED, diag);
  if (form->placed != NULL) {
    form->inputs = quantise_random_inputs(form->placed, SEED);
    form->values = run_steps_values(form->placed, (const void *const *)form->inputs, diag);
  }
  if (form->values != NULL) return form;
  free_form(form);
  return NULL;
}

static bool is_same(const quantise_target *a, const quantise_target *b) {
  return a->unit_columns == b->unit_columns && a->near_bytes == b->near_bytes && a->gate == b->gate &&
         a->row_scales == b->row_scales && a->bytes_only == b->bytes_only;
}

static layers_form *find_or_make(struct layers_forms *forms, const quantise_target *target, wf_diag *diag) {
  for (layers_form *form = forms->first; form != NULL; form = form->next)
    if (is_same(&form->target, target)) return form;
  layers_form *form = make_form(forms, target, diag);
  if (form == NULL) return NULL;
  form->next = forms->first;
  return forms->first = form;
}

static const layers_form *form_of(struct layers_forms *forms, const quantise_target *target, wf_diag *diag) {
  pthread_mutex_lock(&forms->lock);
  const layers_form *form = find_or_make(forms, target, diag);
  pthread_mutex_unlock(&forms->lock);
  return form;
}

const layers_form *layers_program_form(const layers_program *program, const hw_array *array, wf_diag *diag) {
  const quantise_target target = network_target(array);
  return form_of(program->forms, &target, diag);
}

// ---- the program

bool layers_program_load(layers_program *program, const char *name_or_path, const char *name,
                         const layers_program_options *options, wf_diag *diag) {
  *program = (layers_program){.name = name, .description = "the steps of a network program"};
  graph *model = read_model(name_or_path, options, diag);
  if (model == NULL) return false;
  if (options->array != NULL && !network_check_size(model, options->array, !options->float_ends, diag)) {
    graph_destroy(model);
    return false;
  }
  program->forms = WF_NEW(struct layers_forms);
  *program->forms = (struct layers_forms){
      .lock = PTHREAD_MUTEX_INITIALIZER,
      .model = model,
      .quantise = {.seed = SEED, .int8_ends = !options->float_ends, .uint8_images = options->uint8_images}};
  const layers_form *plain = form_of(program->forms, &(quantise_target){0}, diag);
  if (plain == NULL) return false;
  program->placed = plain->placed;
  program->hash = hash_of(program->placed);
  program->macs = macs_of(program->placed);
  return true;
}

void layers_program_release(layers_program *program) {
  struct layers_forms *forms = program->forms;
  *program = (layers_program){0};
  if (forms == NULL) return;
  for (layers_form *form = forms->first, *next; form != NULL; form = next) {
    next = form->next;
    free_form(form);
  }
  graph_destroy(forms->model);
  wf_free(forms);
}
