// SPDX-License-Identifier: Apache-2.0
// Kernels by cost: see kernels.h.
//
//   1. Layers are equal if the rules give them the same steps. Their schemes are listed once; what has the same steps
//      as an earlier one is left out, and so is what the estimate finds hopeless.
//   2. In run i of the flow engine every layer has scheme i of its shape: this ranks them. The first of the ranks are
//      left, the rules always.
//   3. Layers stand in the order of their steps, and what one leaves in the caches changes what the next one takes. For
//      each pair (a, b) of places in the ranks a run gives a to layers of even numbers and b to the others, so
//      cost(n, x | y), what layer n takes with place x behind a layer with place y, is known for all of them. With
//
//        best(n, x) = min over y of best(n - 1, y) + cost(n, x | y)
//
//      the cheapest choice for the whole chain is found in one pass.
//   4. It runs on the cycle engine beside the rules. Layers that take longer there, with the next one, go back, some
//      times; the fastest of these networks is the answer.
#include "runner/kernels.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/tasks.h"
#include "runner/candidate.h"
#include "runner/chain.h"
#include "runner/steps.h"

#define HOPELESS 1.5  // times the estimate of the rules' scheme
enum { RANKED = RUN_CHAIN_PLACES, ROUNDS = 4, NONE = -1 };

// Layers of one shape.
typedef struct shape {
  uint64_t hash;
  network_scheme list[NETWORK_SCHEMES_MAX];
  run_kernels_try tries[NETWORK_SCHEMES_MAX];
  uint64_t steps[NETWORK_SCHEMES_MAX];  // hash of the steps of each
  bool judged[NETWORK_SCHEMES_MAX];
  size_t count;
  size_t rank[RANKED];  // numbers of schemes, the rules first
  size_t ranked;
} shape;

typedef struct layer {
  int node;  // number in the graph
  size_t shape;
} layer;

typedef struct chooser {
  const run_kernels_request *request;
  network_options options;
  void **values;
  run_kernels_result *result;
  wf_arena *arena;
  shape *shapes;
  size_t shape_count, shape_room;
  layer *layers;
  size_t layer_count;
  int *layer_of;  // per node, NONE: it has no choice
  pthread_mutex_t lock;
} chooser;

// A network: the number of a scheme for each layer, and what each layer takes with what follows it.
typedef struct trial {
  size_t *pick;
  double *cycles;
  const char **kernels;  // NULL: not asked for
  uint64_t whole;
  run_fidelity fidelity;
  bool all, good;
} trial;

// ---- networks

typedef struct pick_context {
  const chooser *chooser;
  const size_t *pick;
} pick_context;

static int number_of(const chooser *c, const graph_node *node) { return (int)(node - c->request->placed->nodes); }

static const network_scheme *pick_scheme(void *context, const graph_node *node) {
  const pick_context *p = context;
  const int l = p->chooser->layer_of[number_of(p->chooser, node)];
  return l == NONE ? NULL : &p->chooser->shapes[p->chooser->layers[l].shape].list[p->pick[l]];
}

static network *create(const chooser *c, const size_t *pick, bool sketch) {
  pick_context context = {c, pick};
  wf_diag silent = wf_diag_to(NULL);
  network_options options = c->options;
  options.scheme = pick_scheme;
  options.scheme_context = &context;
  return sketch ? network_sketch(c->request->placed, &options, &silent)
                : network_create(c->request->placed, &options, &silent);
}

static trial new_trial(const chooser *c, run_fidelity fidelity, bool all) {
  return (trial){.pick = WF_ARENA_ARRAY(c->arena, c->layer_count + 1, size_t),
                 .cycles = WF_ARENA_ARRAY(c->arena, c->layer_count + 1, double),
                 .fidelity = fidelity,
                 .all = all};
}

// Steps belong to the last layer with a choice that began before them; those before the first to none.
static void take_steps(const chooser *c, trial *t, const network *net, const network_step_list *list,
                       const run_steps_result *run) {
  int at = NONE;
  for (int s = 0; s < net->step_count; s++) {
    const int l = c->layer_of[number_of(c, net->steps[s].node)], e = list->entry_of[s];
    if (l != NONE) at = l;
    if (at != NONE) t->cycles[at] += (double)run->entries[e].cycles / (double)list->entries[e].count;
  }
  t->whole = run->cycles;
}

static void take_kernels(const chooser *c, trial *t, const network *net) {
  for (int s = 0; t->kernels != NULL && s < net->step_count; s++) {
    const int l = c->layer_of[number_of(c, net->steps[s].node)];
    const network_step *step = &net->steps[s];
    if (l == NONE) continue;
    const network_kernel *kernel = step->place == GRAPH_ON_ARRAY ? &net->kernels[step->kernel] : NULL;
    const char *name = kernel != NULL && kernel->call != NULL ? layer_kernels[kernel->call->kernel].name : step->what;
    t->kernels[l] = t->kernels[l] == NULL ? wf_arena_text(c->arena, name, strlen(name))
                                          : wf_arena_format(c->arena, "%s, %s", t->kernels[l], name);
  }
}

static void run_trial(chooser *c, trial *t) {
  const double start = wf_thread_seconds();
  wf_diag silent = wf_diag_to(NULL);
  network *net = create(c, t->pick, false);
  if (net != NULL) {
    network_step_list list = network_list_steps(net);
    const run_steps_request steps = {.net = net,
                                     .list = &list,
                                     .inputs = c->request->inputs,
                                     .values = c->values,
                                     .all = t->all,
                                     .fidelity = t->fidelity};
    run_steps_result run;
    t->good = run_steps(&steps, &run, &silent);
    if (t->good) take_steps(c, t, net, &list, &run);
    if (t->good) take_kernels(c, t, net);
    run_steps_release(&run);
    network_list_release(&list);
  }
  network_destroy(net);
  pthread_mutex_lock(&c->lock);
  c->result->runs++;
  c->result->seconds += wf_thread_seconds() - start;
  pthread_mutex_unlock(&c->lock);
}

typedef struct batch {
  chooser *chooser;
  trial *trials;
} batch;

static void run_one(void *context, size_t number) {
  const batch *b = context;
  run_trial(b->chooser, &b->trials[number]);
}

static void run_batch(chooser *c, trial *trials, size_t count) {
  batch b = {c, trials};
  wf_run_tasks(count, c->request->options->jobs == 0 ? 1 : c->request->options->jobs, run_one, &b);
}

// ---- 1: layers and their schemes

static uint64_t hash_node(const network *net, const graph_node *node) {
  uint64_t hash = WF_HASH_START;
  for (int s = 0; s < net->step_count; s++) {
    if (net->steps[s].node != node) continue;
    const uint64_t one = network_step_shape(net, &net->steps[s]);
    hash = wf_hash(hash, &one, sizeof one);
  }
  return hash;
}

static double estimate_node(const network *net, const graph_node *node) {
  double cycles = 0;
  for (int s = 0; s < net->step_count; s++)
    if (net->steps[s].node == node) cycles += network_step_estimate(net, &net->steps[s]);
  return cycles;
}

static size_t find_shape(const chooser *c, uint64_t hash) {
  size_t s = 0;
  while (s < c->shape_count && c->shapes[s].hash != hash) s++;
  return s;
}

static void add_shape(chooser *c, uint64_t hash, const network_scheme *list, size_t count) {
  shape *one = WF_ARENA_PUSH(c->arena, c->shapes, c->shape_count, &c->shape_room);
  *one = (shape){.hash = hash, .count = count};
  memcpy(one->list, list, count * sizeof *list);
  for (size_t i = 0; i < count; i++) one->tries[i].text = network_scheme_text(&list[i], c->arena);
  c->result->schemes_listed += count;
}

static void add_layer(chooser *c, const network *base, int node) {
  const graph *g = c->request->placed;
  network_scheme list[NETWORK_SCHEMES_MAX];
  const size_t count = network_list_schemes(g, &g->nodes[node], c->options.array, list);
  if (count < 2) return;
  const uint64_t hash = hash_node(base, &g->nodes[node]);
  const size_t s = find_shape(c, hash);
  if (s == c->shape_count) add_shape(c, hash, list, count);
  c->layer_of[node] = (int)c->layer_count;
  c->layers[c->layer_count++] = (layer){node, s};
}

static void find_layers(chooser *c, const network *base) {
  const size_t nodes = (size_t)c->request->placed->node_count + 1;
  c->layers = WF_ARENA_ARRAY(c->arena, nodes, layer);
  for (int s = 0; s < base->step_count; s++) {
    const int node = number_of(c, base->steps[s].node);
    if (c->layer_of[node] == NONE) add_layer(c, base, node);
  }
}

// The first layer of a shape stands for all.
static const layer *first_of(const chooser *c, size_t s) {
  size_t l = 0;
  while (c->layers[l].shape != s) l++;
  return &c->layers[l];
}

static void take_sketch(chooser *c, const network *net, size_t number) {
  for (size_t s = 0; s < c->shape_count; s++) {
    shape *one = &c->shapes[s];
    if (number >= one->count) continue;
    const graph_node *node = &c->request->placed->nodes[first_of(c, s)->node];
    one->steps[number] = hash_node(net, node);
    one->tries[number].estimate = estimate_node(net, node);
    bool is_new = one->tries[number].estimate <= one->tries[0].estimate * HOPELESS;
    for (size_t i = 0; i < number; i++) is_new = is_new && one->steps[i] != one->steps[number];
    one->judged[number] = number == 0 || is_new;
    c->result->schemes_judged += one->judged[number];
  }
}

static size_t most_schemes(const chooser *c) {
  size_t most = 0;
  for (size_t s = 0; s < c->shape_count; s++) most = c->shapes[s].count > most ? c->shapes[s].count : most;
  return most;
}

static void estimate_all(chooser *c) {
  size_t *pick = WF_ARENA_ARRAY(c->arena, c->layer_count + 1, size_t);
  for (size_t i = 0; i < most_schemes(c); i++) {
    for (size_t l = 0; l < c->layer_count; l++) pick[l] = i < c->shapes[c->layers[l].shape].count ? i : 0;
    network *net = create(c, pick, true);
    if (net != NULL) take_sketch(c, net, i);
    network_destroy(net);
  }
}

// ---- 2: ranks

// The scheme of a shape that is judged as number `turn`; 0: there are not so many.
static size_t judged_at(const shape *one, size_t turn) {
  for (size_t i = 0; i < one->count; i++)
    if (one->judged[i] && turn-- == 0) return i;
  return 0;
}

static double mean_of(const chooser *c, const trial *t, size_t s) {
  double sum = 0, count = 0;
  for (size_t l = 0; l < c->layer_count; l++)
    if (c->layers[l].shape == s) sum += t->cycles[l], count++;
  return sum / count;
}

static bool is_before(const shape *one, size_t a, size_t b) { return one->tries[a].cycles < one->tries[b].cycles; }

static void rank(shape *one) {
  one->ranked = 1;
  one->rank[0] = 0;
  for (size_t i = 1; i < one->count; i++) {
    if (one->tries[i].cycles == 0) continue;
    size_t at = one->ranked;
    while (at > 1 && is_before(one, i, one->rank[at - 1])) at--;
    if (at == RANKED) continue;
    if (one->ranked < RANKED) one->ranked++;
    for (size_t k = one->ranked - 1; k > at; k--) one->rank[k] = one->rank[k - 1];
    one->rank[at] = i;
  }
}

static trial turn_of(const chooser *c, size_t turn) {
  trial t = new_trial(c, RUN_FIDELITY_FLOW, false);
  for (size_t l = 0; l < c->layer_count; l++) t.pick[l] = judged_at(&c->shapes[c->layers[l].shape], turn);
  return t;
}

// A network is not there if one scheme cannot be compiled: then each runs by itself.
static void judge_apart(chooser *c, size_t turn) {
  for (size_t s = 0; s < c->shape_count; s++) {
    const size_t i = judged_at(&c->shapes[s], turn);
    if (i == 0) continue;
    trial t = new_trial(c, RUN_FIDELITY_FLOW, false);
    for (size_t l = 0; l < c->layer_count; l++) t.pick[l] = c->layers[l].shape == s ? i : 0;
    run_trial(c, &t);
    if (t.good) c->shapes[s].tries[i].cycles = mean_of(c, &t, s);
  }
}

static void rank_all(chooser *c) {
  size_t most = 0;
  for (size_t s = 0; s < c->shape_count; s++) {
    size_t judged = 0;
    for (size_t i = 0; i < c->shapes[s].count; i++) judged += c->shapes[s].judged[i];
    most = judged > most ? judged : most;
  }
  trial *trials = WF_NEW_ARRAY(most + 1, trial);
  for (size_t turn = 0; turn < most; turn++) trials[turn] = turn_of(c, turn);
  run_batch(c, trials, most);
  for (size_t turn = 0; turn < most; turn++) {
    if (!trials[turn].good) judge_apart(c, turn);
    for (size_t s = 0; s < c->shape_count && trials[turn].good; s++) {
      const size_t i = judged_at(&c->shapes[s], turn);
      if (turn == 0 || i != 0) c->shapes[s].tries[i].cycles = mean_of(c, &trials[turn], s);
    }
  }
  wf_free(trials);
  for (size_t s = 0; s < c->shape_count; s++) rank(&c->shapes[s]);
}

// ---- 3: the chain

static size_t place_of(const shape *one, size_t place) { return place < one->ranked ? place : 0; }

static size_t scheme_at(const chooser *c, size_t l, size_t place) {
  const shape *one = &c->shapes[c->layers[l].shape];
  return one->rank[place_of(one, place)];
}

static void measure_pairs(chooser *c, run_chain_costs *costs) {
  trial trials[RANKED * RANKED];
  for (size_t a = 0; a < RANKED; a++)
    for (size_t b = 0; b < RANKED; b++) {
      trial *t = &trials[a * RANKED + b];
      *t = new_trial(c, RUN_FIDELITY_FLOW, false);
      for (size_t l = 0; l < c->layer_count; l++) t->pick[l] = scheme_at(c, l, l % 2 == 0 ? a : b);
    }
  run_batch(c, trials, RANKED * RANKED);
  for (size_t a = 0; a < RANKED; a++)
    for (size_t b = 0; b < RANKED; b++)
      for (size_t l = 0; l < c->layer_count; l++) {
        const trial *t = &trials[a * RANKED + b];
        costs[l].cycles[l % 2 == 0 ? a : b][l % 2 == 0 ? b : a] = t->good ? t->cycles[l] : INFINITY;
      }
}

static void choose(const chooser *c, const run_chain_costs *costs, size_t *pick) {
  size_t *places = WF_NEW_ARRAY(c->layer_count + 1, size_t);
  run_chain_best(costs, c->layer_count, places);
  for (size_t l = 0; l < c->layer_count; l++) pick[l] = scheme_at(c, l, places[l]);
  wf_free(places);
}

// ---- 4: the answer

static double seen(const chooser *c, const trial *t, size_t l) {
  return t->cycles[l] + (l + 1 < c->layer_count ? t->cycles[l + 1] : 0);
}

// Layers that take longer than by the rules, with the next one, have these again; false: none does.
static bool go_back(const chooser *c, const trial *base, const trial *now, trial *next) {
  bool any = false;
  memcpy(next->pick, now->pick, c->layer_count * sizeof *next->pick);
  for (size_t l = 0; l < c->layer_count; l++) {
    if (now->pick[l] == 0 || seen(c, now, l) < seen(c, base, l)) continue;
    next->pick[l] = 0;
    any = true;
  }
  return any;
}

static trial full_trial(const chooser *c) {
  trial t = new_trial(c, RUN_FIDELITY_CYCLE, true);
  t.kernels = WF_ARENA_ARRAY(c->arena, c->layer_count + 1, const char *);
  return t;
}

static trial settle(chooser *c, const trial *base, const size_t *pick) {
  trial best = *base, now = full_trial(c);
  memcpy(now.pick, pick, c->layer_count * sizeof *pick);
  for (int round = 0; round < ROUNDS; round++) {
    run_trial(c, &now);
    if (!now.good) break;
    if (now.whole < best.whole) best = now;
    trial next = full_trial(c);
    if (!go_back(c, base, &now, &next)) break;
    now = next;
  }
  return best;
}

static void answer(chooser *c, const trial *base, const trial *best) {
  run_kernels_result *r = c->result;
  const graph *g = c->request->placed;
  r->shapes = c->shape_count;
  r->before = base->whole, r->cycles = best->whole;
  r->nodes = g->nodes;
  r->schemes = WF_ARENA_ARRAY(c->arena, (size_t)g->node_count + 1, const network_scheme *);
  r->layers = WF_ARENA_ARRAY(c->arena, c->layer_count + 1, run_kernels_layer);
  r->layer_count = c->layer_count;
  for (size_t l = 0; l < c->layer_count; l++) {
    const shape *one = &c->shapes[c->layers[l].shape];
    const size_t picked = best->pick[l];
    r->schemes[c->layers[l].node] = picked == 0 ? NULL : &one->list[picked];
    r->layers[l] = (run_kernels_layer){.node = &g->nodes[c->layers[l].node],
                                       .scheme = one->tries[picked].text,
                                       .by_rule = base->kernels[l],
                                       .is = best->kernels[l],
                                       .before = (uint64_t)llround(base->cycles[l]),
                                       .cycles = (uint64_t)llround(best->cycles[l]),
                                       .tries = one->tries,
                                       .try_count = one->count};
  }
}

// ---- all of it

static bool choose_all(chooser *c, wf_diag *diag) {
  network *first = network_create(c->request->placed, &c->options, diag);
  if (first == NULL) return false;
  find_layers(c, first);
  network_destroy(first);
  trial base = full_trial(c);
  run_trial(c, &base);
  if (!base.good) return false;
  estimate_all(c);
  rank_all(c);
  run_chain_costs *costs = WF_NEW_ARRAY(c->layer_count + 1, run_chain_costs);
  measure_pairs(c, costs);
  size_t *pick = WF_ARENA_ARRAY(c->arena, c->layer_count + 1, size_t);
  choose(c, costs, pick);
  wf_free(costs);
  const trial best = settle(c, &base, pick);
  answer(c, &base, &best);
  return true;
}

bool run_kernels(const run_kernels_request *request, run_kernels_result *result, wf_diag *diag) {
  *result = (run_kernels_result){.arena = wf_arena_create()};
  chooser c = {.request = request, .options = *request->options, .result = result, .arena = result->arena};
  c.options.fuse = NETWORK_FUSE_OFF;
  c.options.tuning.known = NULL;
  c.options.timing = true;
  c.options.straight = false;
  c.options.jobs = 1;
  const size_t nodes = (size_t)request->placed->node_count + 1;
  c.layer_of = WF_ARENA_ARRAY(c.arena, nodes, int);
  for (size_t n = 0; n < nodes; n++) c.layer_of[n] = NONE;
  c.values = run_steps_values(request->placed, request->inputs, diag);
  pthread_mutex_init(&c.lock, NULL);
  const bool good = c.values != NULL && choose_all(&c, diag);
  pthread_mutex_destroy(&c.lock);
  run_steps_free_values(request->placed, c.values);
  return good;
}

void run_kernels_release(run_kernels_result *result) {
  if (result->arena != NULL) wf_arena_destroy(result->arena);
  *result = (run_kernels_result){0};
}

const network_scheme *run_kernels_scheme(void *context, const graph_node *node) {
  const run_kernels_result *r = context;
  return r->schemes[node - r->nodes];
}

// ---- the network

static bool time_network(run_candidate *c, const void *const *inputs, wf_diag *diag) {
  const sim_engine_options engine = {.timing_only = true, .quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &engine, .inputs = inputs, .hart = RUN_HART_TIMED};
  return c->net != NULL && run_network(c->net, &config, &c->took, diag);
}

static void forget_schemes(network *net) {
  if (net == NULL) return;
  net->options.scheme = NULL;
  net->options.scheme_context = NULL;
}

// Tuned and mixed, both networks, the faster one.
static network *faster(const run_tune_request *by_rules, const run_tune_request *chosen, run_kernels_result *result,
                       wf_diag *diag) {
  run_candidate rules = {.net = run_tune_network(by_rules, diag)}, schemes = {.net = run_tune_network(chosen, diag)};
  const bool good = time_network(&rules, by_rules->inputs, diag) && time_network(&schemes, by_rules->inputs, diag);
  result->kept = good && schemes.took.cycles < rules.took.cycles;
  run_candidate *best = result->kept ? &schemes : &rules, *other = result->kept ? &rules : &schemes;
  network *net = good ? run_candidate_take(best, by_rules->options) : NULL;
  if (!good) run_candidate_drop(best);
  run_candidate_drop(other);
  return net;
}

network *run_kernels_network(const run_tune_request *request, run_kernels_result *result, wf_diag *diag) {
  const run_kernels_request kernels = {request->placed, request->options, request->inputs};
  if (!run_kernels(&kernels, result, diag)) return NULL;
  if (result->cycles == result->before) return run_tune_network(request, diag);
  network_options options = *request->options;
  options.scheme = run_kernels_scheme;
  options.scheme_context = result;
  run_tune_request chosen = *request;
  chosen.options = &options;
  const bool more = options.tuning.count > 1 || options.fuse == NETWORK_FUSE_AUTO || options.overlap;
  network *net = more ? faster(request, &chosen, result, diag) : run_tune_network(&chosen, diag);
  if (!more) result->kept = true;
  forget_schemes(net);
  if (net != NULL) net->compile_seconds += result->seconds;
  return net;
}
