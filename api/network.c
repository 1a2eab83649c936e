// SPDX-License-Identifier: Apache-2.0
// Networks: read or generate, quantise, compile, run. See weft.h.
#include "api/run.h"
#include "base/alloc.h"
#include "base/tasks.h"
#include "compiler/graph/repeat.h"
#include "compiler/mapping/mapping.h"
#include "compiler/quantise/quantise.h"
#include "runner/judge.h"
#include "runner/tune.h"
#include "search/layers/program.h"
#include "workloads/networks/networks.h"

// Runs show names of it, and may outlive the handle: the last of its users frees it.
typedef struct loaded {
  atomic_uint users;
  hw_array array;
  char *name;
  layers_program program;
  const layers_form *form;
  graph *all;         // of several images; NULL: the form's
  void **all_inputs;  // of them
  network *net;
} loaded;

struct weft_network {
  loaded *loaded;
};

static void drop(void *owner) {
  loaded *n = owner;
  if (atomic_fetch_sub(&n->users, 1) > 1) return;
  network_destroy(n->net);
  for (int i = 0; n->all != NULL && i < n->all->input_count; i++) wf_free(n->all_inputs[i]);
  wf_free(n->all_inputs);
  graph_destroy(n->all);
  layers_program_release(&n->program);
  wf_free(n->name);
  wf_free(n);
}

// ---- compilation

static bool load(loaded *n, const weft_network_options *o, wf_diag *diag) {
  const layers_program_options options = {.network = {.size = (int64_t)o->image,
                                                      .sequence = (int64_t)o->sequence,
                                                      .batch = (int64_t)o->batch,
                                                      .divisor = (int64_t)o->divisor,
                                                      .layers = (int64_t)o->depth},
                                          .array = &n->array,
                                          .float_ends = o->float_ends,
                                          .uint8_images = o->uint8_images};
  if (!hw_array_check(&n->array, n->array.name, diag) ||
      !layers_program_load(&n->program, n->name, n->name, &options, diag))
    return false;
  n->form = layers_program_form(&n->program, &n->array, diag);
  return n->form != NULL;
}

static void repeat(loaded *n, uint64_t images) {
  if (images <= 1) return;
  n->all = graph_repeat(n->form->placed, (int)images);
  n->all_inputs = quantise_random_inputs(n->all, 1);
}

static const void *const *inputs_of(const loaded *n) {
  return (const void *const *)(n->all != NULL ? n->all_inputs : n->form->inputs);
}

static bool lower(loaded *n, const weft_network_options *o, wf_diag *diag) {
  const network_options options = {.array = &n->array,
                                   .tuning = run_tuning(o->tune, RUN_FIDELITY_CYCLE, COMPILE_CYCLES),
                                   .overlap = o->overlap,
                                   .jobs = o->jobs == 0 ? wf_processors() : o->jobs};
  repeat(n, o->images);
  const run_tune_request request = {.placed = n->all != NULL ? n->all : n->form->placed,
                                    .options = &options,
                                    .inputs = inputs_of(n),
                                    .values = n->all != NULL ? NULL : n->form->values};
  n->net = run_tune_network(&request, diag);
  return n->net != NULL;
}

static bool sizes_good(weft_session *s, const weft_network_options *o) {
  const uint64_t sizes[] = {o->image, o->sequence, o->batch, o->divisor, o->depth};
  enum { SIZE_MAX_BITS = 31, JOBS_MAX = 1024 };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i] >> SIZE_MAX_BITS != 0) return api_refuse(s, "a size of the network is too large"), false;
  if (o->tune > MAP_BEST_MAX) return api_refuse(s, "tune is at most %d", MAP_BEST_MAX), false;
  if (o->jobs > JOBS_MAX) return api_refuse(s, "jobs are at most %d", JOBS_MAX), false;
  if (o->images > GRAPH_REPEAT_MAX) return api_refuse(s, "images are at most %d", GRAPH_REPEAT_MAX), false;
  if (o->float_ends && o->uint8_images) return api_refuse(s, "uint8_images excludes float_ends"), false;
  return true;
}

weft_network *weft_network_compile(weft_session *s, const weft_array *array, const char *name_or_path,
                                   const weft_network_options *options) {
  weft_network_options o = {0};
  if (!api_begin(s, "network") || !api_given(s, array, "the array") || !api_given(s, name_or_path, "the network") ||
      !api_take(s, options, &o, sizeof o) || !sizes_good(s, &o))
    return NULL;
  loaded *n = WF_NEW(loaded);
  n->users = 1;
  n->array = array->array;
  n->name = wf_strdup(name_or_path);
  const bool read = load(n, &o, &s->diag), good = read && lower(n, &o, &s->diag);
  if (api_end(s, good, read ? WEFT_CANNOT_BUILD : WEFT_BAD_INPUT) != WEFT_OK) return drop(n), NULL;
  weft_network *handle = WF_NEW(weft_network);
  handle->loaded = n;
  return handle;
}

void weft_network_destroy(weft_network *n) {
  if (n == NULL) return;
  drop(n->loaded);
  wf_free(n);
}

weft_status weft_network_describe(const weft_network *n, weft_network_facts *facts) {
  if (n == NULL) return WEFT_USAGE;
  const weft_network_facts full = {.name = n->loaded->net->graph->name,
                                   .steps = (uint64_t)n->loaded->net->step_count,
                                   .kernels = (uint64_t)n->loaded->net->kernel_count,
                                   .weight_bytes = n->loaded->net->weight_bytes,
                                   .arena_bytes = n->loaded->net->arena_bytes,
                                   .compile_seconds = n->loaded->net->compile_seconds};
  return api_give(&full, sizeof full, facts);
}

// ---- tensors

weft_tensor api_tensor_of(const graph *g, int tensor, bool written) {
  const graph_tensor *from = &g->tensors[tensor];
  weft_tensor to = {.name = from->name,
                    .type = graph_type_names[from->type],
                    .rank = from->rank,
                    .bytes = graph_bytes(from),
                    .read = !written,
                    .written = written};
  for (int d = 0; d < from->rank && d < WEFT_RANK_MAX; d++) to.dim[d] = from->dim[d];
  return to;
}

size_t weft_network_inputs(const weft_network *n) { return n == NULL ? 0 : (size_t)n->loaded->net->graph->input_count; }
size_t weft_network_outputs(const weft_network *n) {
  return n == NULL ? 0 : (size_t)n->loaded->net->graph->output_count;
}

weft_status weft_network_input(const weft_network *n, size_t index, weft_tensor *tensor) {
  if (index >= weft_network_inputs(n)) return WEFT_USAGE;
  const weft_tensor full = api_tensor_of(n->loaded->net->graph, n->loaded->net->graph->inputs[index], false);
  return api_give(&full, sizeof full, tensor);
}

weft_status weft_network_output(const weft_network *n, size_t index, weft_tensor *tensor) {
  if (index >= weft_network_outputs(n)) return WEFT_USAGE;
  const weft_tensor full = api_tensor_of(n->loaded->net->graph, n->loaded->net->graph->outputs[index], true);
  return api_give(&full, sizeof full, tensor);
}

// ---- runs

static void tell(void *context, const network *net, int step, const run_step_result *result) {
  weft_session *s = context;
  (void)result;
  api_progress(s, (uint64_t)step + 1, (uint64_t)net->step_count, net->steps[step].name);
}

static bool inputs_good(weft_session *s, const weft_network *n, const void *const *inputs) {
  for (size_t i = 0; inputs != NULL && i < weft_network_inputs(n); i++)
    if (inputs[i] == NULL) return api_refuse(s, "input %zu is NULL", i), false;
  return true;
}

weft_run *weft_network_run(weft_session *s, const weft_network *n, const weft_run_options *options,
                           const void *const *inputs) {
  weft_run_options o = {0};
  if (!api_begin(s, "network") || !api_given(s, n, "the network") || !api_take(s, options, &o, sizeof o) ||
      !inputs_good(s, n, inputs))
    return NULL;
  const sim_engine_ops *engine = api_engine(s, &o);
  if (engine == NULL) return NULL;
  const sim_engine_options of_engine = {.timing_only = o.timing_only || engine->timing_only, .quiet = true};
  if (o.check && of_engine.timing_only) return api_refuse(s, "a run that moves no data cannot be checked"), NULL;
  const bool hart = !o.native_host && engine->timed && engine->host_access != NULL;
  const run_network_config config = {
      .engine = engine,
      .options = &of_engine,
      .inputs = inputs != NULL ? inputs : inputs_of(n->loaded),
      .check = o.check,
      .hart = hart ? RUN_HART_TIMED : RUN_HART_NATIVE,
      .progress = tell,
      .context = s,
      .stop = &s->stop,
  };
  run_network_result result;
  const bool good = run_network(n->loaded->net, &config, &result, &s->diag);
  if (api_end(s, good, WEFT_CANNOT_BUILD) == WEFT_OK) {
    atomic_fetch_add(&n->loaded->users, 1);
    return api_run_of_network(n->loaded->net, &result, n->loaded, drop);
  }
  run_network_release(n->loaded->net, &result);
  return NULL;
}
