// SPDX-License-Identifier: Apache-2.0
// Tuning in the network: see tune.h.
//
//   1. Each run gives every layer the next of its mappings. What they take ranks them; their neighbours change as well,
//      which is a disturbance of a percent or so.
//   2. With the first of all ranks in place, layers of every second shape take the mapper's first and the next of their
//      ranks, while the others stay. A mapping is judged with the step behind its layer, for what it leaves in the
//      caches.
//   3. What is left is run in full beside the mapper's first; shapes that take longer there go back to it, and the
//      best of these runs is the answer. So it is never worse than the mapper's first.
#include "runner/tune.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/tasks.h"
#include "compiler/network/steps.h"
#include "runner/judge.h"
#include "runner/settle.h"
#include "runner/steps.h"
#include "sim/figures.h"

enum { COLOURS = 2, RANKED = 3, ROUNDS = 3 };

// Layers of one shape.
typedef struct shape {
  uint64_t hash;
  const layer_call *call;
  map_mapping *list;  // what may be tried; the mapper's first is number 0
  size_t count;
  double *value;  // of each, by the runs of step 1
  size_t *rank;   // numbers, the best first; what cannot be compiled is not there
  size_t ranked;
} shape;

// A run.
typedef struct trial {
  size_t *pick;    // per shape the number of a mapping
  bool good, all;  // it ran; with all equal steps
  run_fidelity fidelity;
  compile_verdict whole;
  compile_verdict *own, *behind;  // per shape: of its steps; of the steps behind them whose shape has the other colour
  uint64_t steps;
} trial;

typedef struct tuner {
  const run_tune_request *request;
  network_options options;
  void *const *values;
  network *base;
  shape *shapes;
  size_t count;
  compile_verdict unit;  // of the network with the mapper's first: a value is made of parts of it
  run_tune_result *result;
  wf_arena *arena;
  pthread_mutex_t lock;  // of arena and result
} tuner;

// ---- shapes

static size_t find_shape(const tuner *t, uint64_t hash) {
  size_t s = 0;
  while (s < t->count && t->shapes[s].hash != hash) s++;
  return s;
}

// Kernels take the whole window of which the largest is taken.
static const int64_t *fixed_tiles(const map_layer *layer, int64_t fixed[BLOCK_DIMS]) {
  for (int d = 0; d < BLOCK_DIMS; d++)
    fixed[d] = layer->kind == MAP_WINDOW && (d == BLOCK_DIM_R || d == BLOCK_DIM_S) ? layer->size[d] : 0;
  return fixed;
}

// The mapper's first, and those that compile_list_mappings adds; of layers with a given mapping that one.
static void list_mappings(tuner *t, shape *s, const map_mapping *first) {
  const network_options *given = t->request->options;
  map_mapping *tried = WF_NEW_ARRAY(MAP_BEST_MAX + 1, map_mapping);
  int64_t fixed[BLOCK_DIMS];
  size_t count = 0;
  if (given->mapping == NULL || given->mapping(given->context, s->call) == NULL)
    count = compile_list_mappings(&given->tuning, &s->call->layer, given->array, fixed_tiles(&s->call->layer, fixed),
                                  (block_style)first->style, tried);
  s->list = WF_ARENA_ARRAY(t->arena, count + 1, map_mapping);
  s->list[s->count++] = *first;
  for (size_t i = 0; i < count; i++)
    if (!map_equal(&tried[i], first)) s->list[s->count++] = tried[i];
  wf_free(tried);
}

static void add_shape(tuner *t, const network_kernel *kernel) {
  const uint64_t hash = network_shape_of(kernel->call);
  if (find_shape(t, hash) < t->count) return;
  shape *s = &t->shapes[t->count++];
  *s = (shape){.hash = hash, .call = kernel->call};
  list_mappings(t, s, &kernel->mapping);
  s->value = WF_ARENA_ARRAY(t->arena, s->count, double);
  s->rank = WF_ARENA_ARRAY(t->arena, s->count, size_t);
}

// In the order in which the network has them, so that neighbours have different colours.
static void find_shapes(tuner *t) {
  t->shapes = WF_ARENA_ARRAY(t->arena, (size_t)t->base->step_count + 1, shape);
  for (int n = 0; n < t->base->step_count; n++)
    if (network_layer_of(t->base, &t->base->steps[n]) != NULL)
      add_shape(t, &t->base->kernels[t->base->steps[n].kernel]);
}

// ---- a run

typedef struct pick_context {
  const tuner *tuner;
  const size_t *pick;
} pick_context;

static const map_mapping *pick_mapping(void *context, const layer_call *call) {
  const pick_context *p = context;
  const size_t s = call->is_layer ? find_shape(p->tuner, network_shape_of(call)) : p->tuner->count;
  return s == p->tuner->count ? NULL : &p->tuner->shapes[s].list[p->pick[s]];
}

static network *create(const tuner *t, const trial *r, wf_diag *diag) {
  pick_context context = {t, r->pick};
  network_options options = t->options;
  options.mapping = pick_mapping;
  options.context = &context;
  return network_create(t->request->placed, &options, diag);
}

static double value_of(const tuner *t, compile_verdict c) {
  return compile_part_value(t->options.tuning.objective, &t->unit, &c);
}

static void add_cost(compile_verdict *to, compile_verdict more) {
  to->cycles += more.cycles;
  to->energy_pj += more.energy_pj;
  to->has_energy |= more.has_energy;
}

static compile_verdict verdict_of(const tuner *t, const run_step_result *step) {
  compile_verdict took = {.cycles = step->cycles};
  if (step->has_units) {
    const sim_figures figures = sim_figures_of(&step->units, &step->hart, t->options.array);
    took.has_energy = figures.has_energy;
    took.energy_pj = figures.energy_pj;
  }
  return took;
}

// The shape of the step that an entry follows; as many as there are: none.
static size_t shape_before(const tuner *t, const network_step_list *list, const network_entry *entry) {
  return entry->first == 0 ? t->count : find_shape(t, list->entries[list->entry_of[entry->first - 1]].shape);
}

static void take_entry(const tuner *t, trial *r, const network_step_list *list, int e, const run_step_result *step) {
  const compile_verdict took = verdict_of(t, step);
  const size_t own = find_shape(t, list->entries[e].shape), before = shape_before(t, list, &list->entries[e]);
  add_cost(&r->whole, took);
  if (before < t->count && (own == t->count || own % COLOURS != before % COLOURS)) add_cost(&r->behind[before], took);
  if (own < t->count) add_cost(&r->own[own], took);
}

static void take_run(tuner *t, trial *r, const network *net, wf_diag *diag) {
  network_step_list list = network_list_steps(net);
  const run_steps_request steps = {.net = net,
                                   .list = &list,
                                   .inputs = t->request->inputs,
                                   .values = t->values,
                                   .all = r->all,
                                   .fidelity = r->fidelity};
  run_steps_result run;
  r->good = run_steps(&steps, &run, diag);
  for (int e = 0; r->good && e < list.count; e++) take_entry(t, r, &list, e, &run.entries[e]);
  r->steps = run.runs;
  run_steps_release(&run);
  network_list_release(&list);
}

static void run_trial(tuner *t, trial *r, wf_diag *diag) {
  const double start = wf_thread_seconds();
  network *net = create(t, r, diag);
  if (net != NULL) take_run(t, r, net, diag);
  network_destroy(net);
  pthread_mutex_lock(&t->lock);
  t->result->runs++;
  t->result->steps += r->steps;
  t->result->seconds += wf_thread_seconds() - start;
  pthread_mutex_unlock(&t->lock);
}

static trial new_trial(tuner *t) {
  return (trial){.pick = WF_ARENA_ARRAY(t->arena, t->count + 1, size_t),
                 .own = WF_ARENA_ARRAY(t->arena, t->count + 1, compile_verdict),
                 .behind = WF_ARENA_ARRAY(t->arena, t->count + 1, compile_verdict),
                 .fidelity = RUN_FIDELITY_CYCLE};
}

static bool can_compile(const tuner *t, size_t s, size_t number) {
  wf_diag silent = wf_diag_to(NULL);
  compile_request request = layer_request(t->shapes[s].call, t->options.array);
  request.mapping = &t->shapes[s].list[number];
  compile_result result;
  const bool good = compile(&request, &result, &silent);
  compile_release(&result);
  return good;
}

// A network is not there if one mapping cannot be compiled: that one is left out, and the rest runs.
static void run_silently(tuner *t, trial *r) {
  wf_diag silent = wf_diag_to(NULL);
  run_trial(t, r, &silent);
  if (r->good) return;
  for (size_t s = 0; s < t->count; s++)
    if (r->pick[s] != 0 && !can_compile(t, s, r->pick[s])) r->pick[s] = 0;
  run_trial(t, r, &silent);
}

typedef struct batch {
  tuner *tuner;
  trial *trials;
} batch;

static void run_one(void *context, size_t number) {
  const batch *b = context;
  run_silently(b->tuner, &b->trials[number]);
}

static void run_batch(tuner *t, trial *trials, size_t count) {
  batch b = {t, trials};
  wf_run_tasks(count, t->request->options->jobs == 0 ? 1 : t->request->options->jobs, run_one, &b);
}

// ---- 1: ranks

static void put_in_rank(shape *s, size_t number, double value) {
  s->value[number] = value;
  size_t at = s->ranked++;
  for (; at > 0 && s->value[s->rank[at - 1]] > value; at--) s->rank[at] = s->rank[at - 1];
  s->rank[at] = number;
}

// Run i has mapping i of every layer that has so many.
static void rank_all(tuner *t, const trial *base) {
  size_t most = 1;
  for (size_t s = 0; s < t->count; s++) most = t->shapes[s].count > most ? t->shapes[s].count : most;
  trial *trials = WF_NEW_ARRAY(most, trial);
  for (size_t i = 1; i < most; i++) {
    trials[i] = new_trial(t);
    if (t->options.tuning.screen != NULL) trials[i].fidelity = RUN_FIDELITY_FLOW;
    for (size_t s = 0; s < t->count; s++) trials[i].pick[s] = i < t->shapes[s].count ? i : 0;
  }
  trials[0] = *base;
  if (t->options.tuning.screen != NULL) {
    trials[0] = new_trial(t);
    trials[0].fidelity = RUN_FIDELITY_FLOW;
  }
  run_batch(t, trials + (trials[0].good ? 1 : 0), most - (trials[0].good ? 1 : 0));
  for (size_t s = 0; s < t->count; s++)
    for (size_t i = 0; i < t->shapes[s].count; i++)
      if (trials[i].good && trials[i].pick[s] == i) put_in_rank(&t->shapes[s], i, value_of(t, trials[i].own[s]));
  wf_free(trials);
}

// ---- 2: the first of the ranks in place

// What a layer takes with place r of its rank; the mapper's first stands in for place 0.
static size_t ranked_pick(const shape *s, size_t r) {
  if (r == 0 || s->ranked == 0) return 0;
  return s->rank[r < s->ranked ? r : 0];
}

static double seen(const tuner *t, const trial *r, size_t s) {
  return value_of(t, r->own[s]) + value_of(t, r->behind[s]);
}

// The best pick of each shape, beside the picks of the run in which all have the first of their ranks.
static void refine(tuner *t, trial *first, size_t *pick) {
  trial trials[RANKED * COLOURS];
  for (size_t r = 0; r < RANKED; r++)
    for (size_t colour = 0; colour < COLOURS; colour++) {
      trial *one = &trials[r * COLOURS + colour];
      *one = new_trial(t);
      for (size_t s = 0; s < t->count; s++)
        one->pick[s] = s % COLOURS == colour ? ranked_pick(&t->shapes[s], r) : first->pick[s];
    }
  run_batch(t, trials, RANKED * COLOURS);
  for (size_t s = 0; s < t->count; s++) {
    double best = seen(t, first, s);
    pick[s] = first->pick[s];
    for (size_t r = 0; r < RANKED; r++) {
      const trial *one = &trials[r * COLOURS + s % COLOURS];
      if (!one->good || seen(t, one, s) >= best) continue;
      best = seen(t, one, s);
      pick[s] = one->pick[s];
    }
  }
}

// ---- 3: the answer

// Shapes that take longer than with the mapper's first have it again; false: none does.
static bool go_back(const tuner *t, const trial *base, trial *r, const trial *now) {
  bool any = false;
  memcpy(r->pick, now->pick, t->count * sizeof *r->pick);
  for (size_t s = 0; s < t->count; s++) {
    if (r->pick[s] == 0 || value_of(t, now->own[s]) <= value_of(t, base->own[s])) continue;
    r->pick[s] = 0;
    any = true;
  }
  return any;
}

static trial settle(tuner *t, const trial *base, const size_t *pick) {
  trial best = *base, now = new_trial(t);
  memcpy(now.pick, pick, t->count * sizeof *now.pick);
  for (int round = 0; round < ROUNDS; round++) {
    now.all = true;
    run_silently(t, &now);
    if (!now.good) break;
    if (value_of(t, now.whole) < value_of(t, best.whole)) best = now;
    trial next = new_trial(t);
    if (!go_back(t, base, &next, &now)) break;
    now = next;
  }
  return best;
}

static void answer(tuner *t, const trial *base, const trial *best) {
  run_tune_result *r = t->result;
  r->before = base->whole.cycles;
  r->cycles = best->whole.cycles;
  r->shapes = WF_NEW_ARRAY(t->count + 1, run_tune_shape);
  r->shape_count = t->count;
  for (size_t s = 0; s < t->count; s++) {
    const shape *one = &t->shapes[s];
    r->shapes[s] = (run_tune_shape){.call = one->call,
                                    .mapping = one->list[best->pick[s]],
                                    .changed = best->pick[s] != 0,
                                    .cycles = best->own[s].cycles,
                                    .before = base->own[s].cycles,
                                    .energy_pj = best->own[s].energy_pj};
    if (best->pick[s] != 0) network_mappings_add(&r->mappings, one->call, &one->list[best->pick[s]]);
  }
}

// ---- all of it

static bool run_base(tuner *t, trial *base, bool all, wf_diag *diag) {
  *base = new_trial(t);
  base->all = all;
  run_trial(t, base, diag);
  return base->good;
}

static bool tune(tuner *t, wf_diag *diag) {
  trial base, whole, first;
  find_shapes(t);
  if (!run_base(t, &whole, true, diag) || !run_base(t, &base, false, diag)) return false;
  t->unit = whole.whole;
  rank_all(t, &base);
  first = new_trial(t);
  for (size_t s = 0; s < t->count; s++) first.pick[s] = t->shapes[s].ranked == 0 ? 0 : t->shapes[s].rank[0];
  run_silently(t, &first);
  size_t *pick = WF_ARENA_ARRAY(t->arena, t->count + 1, size_t);
  if (first.good) refine(t, &first, pick);
  const trial best = settle(t, &whole, pick);
  answer(t, &whole, &best);
  return true;
}

bool run_tune(const run_tune_request *request, run_tune_result *result, wf_diag *diag) {
  *result = (run_tune_result){0};
  tuner t = {.request = request,
             .options = *request->options,
             .values = request->values,
             .result = result,
             .arena = wf_arena_create()};
  t.options.tuning.known = NULL;  // of which trials know, not the mapper's first
  t.options.fuse = NETWORK_FUSE_OFF;
  t.options.timing = true;
  t.options.straight = false;
  t.options.jobs = 1;
  void **own = NULL;
  if (t.values == NULL) t.values = own = run_steps_values(request->placed, request->inputs, diag);
  pthread_mutex_init(&t.lock, NULL);
  if (t.values != NULL) {
    network_options first = t.options;
    first.mapping = request->options->mapping;
    first.context = request->options->context;
    result->base = t.base = network_create(request->placed, &first, diag);
  }
  const bool good = t.base != NULL && tune(&t, diag);
  pthread_mutex_destroy(&t.lock);
  run_steps_free_values(request->placed, own);
  wf_arena_destroy(t.arena);
  return good;
}

void run_tune_release(run_tune_result *result) {
  network_mappings_release(&result->mappings);
  network_destroy(result->base);
  wf_free(result->shapes);
  *result = (run_tune_result){0};
}

// ---- the network

typedef struct both {
  const network_options *given;
  network_mappings *tuned;
} both;

static const map_mapping *find_in_both(void *context, const layer_call *call) {
  const both *b = context;
  const map_mapping *given = b->given->mapping == NULL ? NULL : b->given->mapping(b->given->context, call);
  return given != NULL ? given : network_mappings_find(b->tuned, call);
}

network *run_tune_network(const run_tune_request *request, wf_diag *diag) {
  if (request->options->tuning.count <= 1)
    return run_settle_network(request->placed, request->options, request->inputs, diag);
  run_tune_result tuned;
  network *net = NULL;
  if (run_tune(request, &tuned, diag)) {
    if (request->found != NULL) request->found(request->context, &tuned);
    both b = {request->options, &tuned.mappings};
    network_options options = *request->options;
    options.mapping = find_in_both;
    options.context = &b;
    options.tuning.known = NULL;
    net = run_settle_network(request->placed, &options, request->inputs, diag);
    if (net != NULL) {
      net->compile_seconds += tuned.seconds;
      net->options = *request->options;
    }
  }
  run_tune_release(&tuned);
  return net;
}
