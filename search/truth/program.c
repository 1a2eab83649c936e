// SPDX-License-Identifier: Apache-2.0
// Whole networks on arrays that were found: see program.h.
#include "search/truth/program.h"

#include <string.h>

#include "base/alloc.h"
#include "runner/judge.h"
#include "runner/measure.h"
#include "runner/steps.h"
#include "runner/tune.h"
#include "search/truth/loop.h"

// ---- a run

static truth_program_cost cost_of(const network *net, const network_step_list *list, const run_steps_result *run) {
  run_step_result all = {0};
  for (int e = 0; e < list->count; e++) run_steps_add(&all, &run->entries[e], 1);
  const sim_figures figures = sim_figures_of(&all.units, &all.hart, net->options.array);
  return (truth_program_cost){
      .cycles = (double)run->cycles, .energy_uj = figures.energy_pj * 1e-6, .array_energy_uj = figures.array_pj * 1e-6};
}

// How a network is to run on an array.
typedef struct how {
  const layers_program *program;
  const hw_array *array;
  unsigned tune;
  network_fuse_mode fuse;
  compile_objective least;
  unsigned jobs;
} how;

static void note_mixes(const network *net, truth_program_run *run) {
  run->mixes = 0;
  run->kept_bytes = 0;
  for (int s = 0; s < net->step_count; s++) run->mixes += net->steps[s].parts > 0;
  for (int b = 0; b < net->buffer_count; b++)
    if (net->buffers[b].forwarded) run->kept_bytes += net->buffers[b].bytes;
}

static bool time_network(const layers_form *form, const network *net, truth_program_run *run, wf_diag *diag) {
  network_step_list list = network_list_steps(net);
  const run_steps_request request = {
      .net = net, .list = &list, .inputs = (const void *const *)form->inputs, .values = form->values, .all = true};
  run_steps_result steps;
  const bool good = run_steps(&request, &steps, diag);
  if (good) run->cost = cost_of(net, &list, &steps);
  if (good) note_mixes(net, run);
  run_steps_release(&steps);
  network_list_release(&list);
  return good;
}

// `mappings` NULL: the mapper's.
static bool run_on(const how *h, network_mappings *mappings, truth_program_run *run, wf_diag *diag) {
  const network_options options = {.array = h->array,
                                   .tuning = run_tuning(h->tune, RUN_FIDELITY_CYCLE, h->least),
                                   .fuse = h->fuse,
                                   .jobs = h->jobs,
                                   .timing = true,
                                   .mapping = mappings == NULL ? NULL : network_mappings_find,
                                   .context = mappings};
  const layers_form *form = layers_program_form(h->program, h->array, diag);
  if (form == NULL) return false;
  const run_tune_request tuning = {
      .placed = form->placed, .options = &options, .inputs = (const void *const *)form->inputs, .values = form->values};
  network *net = run_tune_network(&tuning, diag);
  const bool good = net != NULL && time_network(form, net, run, diag);
  network_destroy(net);
  return good;
}

// ---- mappings of layers for kernels

// Whether a kernel computes the products of a layer; padding, bias and residual may be others.
static bool is_alike(const map_layer *kernel, const map_layer *layer) {
  for (int axis = 0; axis < 2; axis++)
    if (kernel->stride[axis] != layer->stride[axis] || kernel->dilation[axis] != layer->dilation[axis]) return false;
  return kernel->kind == layer->kind && memcmp(kernel->size, layer->size, sizeof kernel->size) == 0;
}

// The mapping that a candidate has for a layer, if it is not left to the mapper.
static bool own_mapping(const truth_candidate *c, size_t layer, map_mapping *mapping) {
  return c->answers != NULL && truth_mapping_of(c->answers[layer], c->chosen[layer], mapping);
}

static void add_for(const network *net, const map_layer *layer, const map_mapping *mapping, network_mappings *list) {
  for (int k = 0; k < net->kernel_count; k++) {
    const layer_call *call = net->kernels[k].call;
    if (net->kernels[k].shared || call == NULL || !call->is_layer || !is_alike(&call->layer, layer)) continue;
    if (network_mappings_find(list, call) != NULL || !map_check(&call->layer, mapping, net->options.array, NULL))
      continue;
    network_mappings_add(list, call, mapping);
  }
}

static bool collect(const truth_program_found *found, network_mappings *list, wf_diag *diag) {
  const layers_network *table = found->table;
  const network_options lowering = {.array = found->array, .timing = true};
  const layers_form *form = layers_program_form(found->program, found->array, diag);
  network *net = form == NULL ? NULL : network_create(form->placed, &lowering, diag);
  if (net == NULL) return false;
  for (size_t i = 0; i < table->count; i++) {
    const map_layer map = layers_to_map(&table->layers[i]);
    const layer_desc described = layer_of_table(&map);
    layer_call call;
    if (found->mapped[i] && layer_call_of(&described, found->array, &call, diag))
      add_for(net, &call.layer, &found->mappings[i], list);
  }
  network_destroy(net);
  return true;
}

// ---- the answer

static double value_of_run(const truth_program_found *found, const truth_program_run *run) {
  return found->value(found->context, run->cost);
}

// With the mappings that were found, where that is better than without.
static bool run_mapped(const truth_program_found *found, const how *h, truth_program_run *run, wf_diag *diag) {
  truth_program_run with = {.mixes = 0};
  bool good = collect(found, &with.mappings, diag);
  if (good && with.mappings.count > 0) {
    good = run_on(h, &with.mappings, &with, diag);
    if (good && value_of_run(found, &with) < value_of_run(found, run)) {
      *run = with;
      return true;
    }
  }
  truth_release_run(&with);
  return good;
}

static bool run_mixed(const truth_program_found *found, how *h, truth_program_run *run, wf_diag *diag) {
  truth_program_run mixed = *run;
  h->fuse = found->fuse;
  if (!run_on(h, &mixed.mappings, &mixed, diag)) return false;
  if (value_of_run(found, &mixed) < value_of_run(found, run)) *run = mixed;
  return true;
}

bool truth_run_found(const truth_program_found *found, truth_program_run *run, wf_diag *diag) {
  how h = {.program = found->program,
           .array = found->array,
           .tune = found->tune,
           .least = found->least,
           .jobs = found->jobs};
  *run = (truth_program_run){.mixes = 0};
  if (!run_on(&h, NULL, run, diag) || !run_mapped(found, &h, run, diag)) return false;
  run->apart = run->cost;
  return found->fuse == NETWORK_FUSE_OFF || run_mixed(found, &h, run, diag);
}

void truth_release_run(truth_program_run *run) { network_mappings_release(&run->mappings); }

typedef struct candidate_value {
  const truth_options *options;
  const hw_array *array;
} candidate_value;

static double value_of(const void *context, truth_program_cost cost) {
  const candidate_value *v = context;
  const double energy_uj = v->options->whole_energy ? cost.energy_uj : cost.array_energy_uj;
  return truth_objective(&v->options->goal, v->array, (paper_cost){.cycles = cost.cycles, .energy_uj = energy_uj});
}

static bool run_best(const truth_options *options, const truth_candidate *c, truth_program *p, wf_diag *diag) {
  const layers_network *table = options->goal.network;
  map_mapping *mappings = WF_NEW_ARRAY(table->count + 1, map_mapping);
  bool *mapped = WF_NEW_ARRAY(table->count + 1, bool);
  for (size_t i = 0; i < table->count; i++) mapped[i] = own_mapping(c, i, &mappings[i]);
  const candidate_value value = {options, &c->array};
  const truth_program_found found = {.program = options->program,
                                     .table = table,
                                     .array = &c->array,
                                     .mappings = mappings,
                                     .mapped = mapped,
                                     .tune = options->tune,
                                     .value = value_of,
                                     .context = &value};
  truth_program_run run;
  const bool good = truth_run_found(&found, &run, diag);
  p->best = run.cost;
  p->mappings = run.mappings;
  wf_free(mappings);
  wf_free(mapped);
  return good;
}

bool truth_run_program(const truth_options *options, const truth_result *result, truth_program *program,
                       wf_diag *diag) {
  const how h = {.program = options->program, .array = options->base, .tune = options->tune};
  truth_program_run base = {.mixes = 0};
  *program = (truth_program){.good = false};
  program->good = run_on(&h, NULL, &base, diag) && run_best(options, &result->candidates[result->best], program, diag);
  program->base = base.cost;
  return program->good;
}

void truth_release_program(truth_program *program) { network_mappings_release(&program->mappings); }
