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

static bool run_on(const layers_program *program, const hw_array *array, unsigned tune, network_mappings *mappings,
                   truth_program_cost *cost, wf_diag *diag) {
  const network_options options = {.array = array,
                                   .tuning = run_tuning(tune, RUN_FIDELITY_CYCLE, COMPILE_CYCLES),
                                   .timing = true,
                                   .mapping = mappings == NULL ? NULL : network_mappings_find,
                                   .context = mappings};
  const layers_form *form = layers_program_form(program, array, diag);
  if (form == NULL) return false;
  const run_tune_request tuning = {
      .placed = form->placed, .options = &options, .inputs = (const void *const *)form->inputs, .values = form->values};
  network *net = run_tune_network(&tuning, diag);
  if (net == NULL) return false;
  network_step_list list = network_list_steps(net);
  const run_steps_request request = {
      .net = net, .list = &list, .inputs = (const void *const *)form->inputs, .values = form->values, .all = true};
  run_steps_result run;
  const bool good = run_steps(&request, &run, diag);
  if (good) *cost = cost_of(net, &list, &run);
  run_steps_release(&run);
  network_list_release(&list);
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

bool truth_run_found(const truth_program_found *found, truth_program_cost *cost, network_mappings *mappings,
                     wf_diag *diag) {
  network_mappings own = {0};
  truth_program_cost with;
  bool good = run_on(found->program, found->array, found->tune, NULL, cost, diag) && collect(found, &own, diag);
  if (good && own.count > 0) {
    good = run_on(found->program, found->array, found->tune, &own, &with, diag);
    if (good && found->value(found->context, with) < found->value(found->context, *cost)) {
      *cost = with;
      *mappings = own;
      return true;
    }
  }
  network_mappings_release(&own);
  return good;
}

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
  const bool good = truth_run_found(&found, &p->best, &p->mappings, diag);
  wf_free(mappings);
  wf_free(mapped);
  return good;
}

bool truth_run_program(const truth_options *options, const truth_result *result, truth_program *program,
                       wf_diag *diag) {
  *program = (truth_program){.good = false};
  program->good = run_on(options->program, options->base, options->tune, NULL, &program->base, diag) &&
                  run_best(options, &result->candidates[result->best], program, diag);
  return program->good;
}

void truth_release_program(truth_program *program) { network_mappings_release(&program->mappings); }
