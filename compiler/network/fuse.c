// SPDX-License-Identifier: Apache-2.0
// Which neighbouring steps are mixed (mix.h): of all ways to cut the list of steps into windows the one that saves the
// most cycles (cut.h). What a window saves is the judge's: its steps one behind the other against all of them mixed;
// one that must not be mixed, or does not fit, saves nothing.
//
// Equal windows are judged once. Pairs come first; three steps are judged if two of them gain, else they count as one
// that saves nothing. A window whose steps take little more than their products has nothing to hide and is not judged.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/tasks.h"
#include "compiler/network/cut.h"
#include "compiler/network/mix.h"
#include "compiler/network/private.h"
#include "compiler/network/steps.h"

// Ways to mix: tensors between the steps go through memory, or are forwarded where they can be.
enum { THROUGH, FORWARDED, WAYS };

// The best shares of a way, and what it takes, with the step before; INFINITY: it cannot be mixed so.
typedef struct way {
  double value;
  network_shares shares;
} way;

// A window that was judged.
typedef struct judged {
  network_window window;
  uint64_t key;
  double apart;  // with the step before
  way ways[WAYS];
} judged;

struct network_judgements {
  judged *windows;
  size_t count, room;
  network_mix_facts *measured;
  size_t measured_count, measured_room;
  const compile_verdict *steps;  // of the network without mixes; NULL: not told
  compile_verdict whole;         // all of them
  wf_arena *arena;
};

typedef struct planner {
  network *net;
  network_judgements *known;
  size_t done;  // windows of `known` that were judged
} planner;

network_judgements *network_judgements_create(void) {
  wf_arena *arena = wf_arena_create();
  network_judgements *known = WF_ARENA_NEW(arena, network_judgements);
  *known = (network_judgements){.arena = arena};
  return known;
}

void network_judgements_destroy(network_judgements *known) {
  if (known != NULL) wf_arena_destroy(known->arena);
}

static const network_mix_facts *find_measured(const network_judgements *known, network_window window, bool forwards) {
  for (size_t i = known->measured_count; i-- > 0;) {
    const network_mix_facts *m = &known->measured[i];
    if (m->first == window.first && m->count == window.count && m->forwards == forwards) return m;
  }
  return NULL;
}

void network_tell_mix(network_judgements *known, const network_mix_facts *facts) {
  *WF_ARENA_PUSH(known->arena, known->measured, known->measured_count, &known->measured_room) = *facts;
}

void network_tell_steps(network_judgements *known, const compile_verdict *steps, int count) {
  known->steps =
      memcpy(WF_ARENA_ARRAY(known->arena, (size_t)count + 1, compile_verdict), steps, (size_t)count * sizeof *steps);
  known->whole = (compile_verdict){.has_energy = count > 0};
  for (int s = 0; s < count; s++) {
    known->whole.cycles += steps[s].cycles;
    known->whole.energy_pj += steps[s].energy_pj;
    known->whole.has_energy &= steps[s].has_energy;
  }
}

static double value_of(const planner *p, const compile_verdict *verdict) {
  return compile_part_value(p->net->options.tuning.objective, &p->known->whole, verdict);
}

// Equal parts of the accumulator, or more for one of two steps, or for that between two.
static const network_shares shares[] = {
    {.accumulator = {1, 1, 1, 1, 1, 1}}, {.accumulator = {3, 1}}, {.accumulator = {1, 3}}, {.accumulator = {1, 2, 1}}};
// Of a window by its length: from which one on, and how many behind the first.
static const struct { int from, count; } other_shares[NETWORK_MIXED_MAX + 1] = {[2] = {1, 2}, [3] = {3, 1}};

static network_shares first_shares(bool forward) {
  network_shares first = shares[0];
  first.forward = forward;
  return first;
}

// ---- windows

// The first operand of the window that lies where this one does, counted from 1.
static int first_same(const network *net, network_window window, int step, network_place place) {
  int number = 1;
  for (int s = window.first; s <= step; s++)
    for (int o = 0; o < net->steps[s].operand_count; o++, number++) {
      const network_place other = net->steps[s].operands[o].place;
      if (other.buffer == place.buffer && other.offset == place.offset) return number;
    }
  return 0;
}

static uint64_t hash_shape(const network *net, int step, uint64_t hash) {
  const network_window alone = {step, 1};
  const bool mixed = network_can_mix(net, alone);
  const network_kernel *kernel = mixed ? &net->kernels[net->steps[step].kernel] : NULL;
  const uint64_t shape = mixed ? network_step_shape(net, &net->steps[step]) : 0;
  hash = wf_hash(hash, &shape, sizeof shape);
  return mixed && kernel->weights != NULL ? wf_hash(hash, &net->steps[step].kernel, sizeof(int)) : hash;
}

// Windows are equal if their kernels and the one before are, but for scales, and they share the same operands.
static uint64_t key_of(const network *net, network_window window) {
  uint64_t key = window.first == 0 ? WF_HASH_START : hash_shape(net, window.first - 1, WF_HASH_START);
  for (int s = window.first; s < window.first + window.count; s++) {
    const network_step *step = &net->steps[s];
    key = hash_shape(net, s, key);
    for (int o = 0; o < step->operand_count; o++) {
      const int same = first_same(net, window, s, step->operands[o].place);
      key = wf_hash(key, &same, sizeof same);
    }
  }
  return key;
}

static bool can_be_mixed(const network *net, network_window window) {
  return window.first + window.count <= net->step_count && network_can_mix(net, window) &&
         network_is_linked(net, window);
}

static judged *find(const planner *p, network_window window) {
  const uint64_t key = key_of(p->net, window);
  for (size_t w = 0; w < p->known->count; w++)
    if (p->known->windows[w].key == key) return &p->known->windows[w];
  return NULL;
}

// ---- judging

static double judged_value(const planner *p, compile_judge judge, const network_mix_request *request) {
  network_place places[NETWORK_MIXED_TENSORS];
  wf_diag silent = wf_diag_to(NULL);
  command_program *program = network_mix(p->net, request, places);
  compile_verdict verdict;
  const bool good = program != NULL && judge(program, &verdict, &silent);
  if (program != NULL) command_destroy(program);
  return good ? value_of(p, &verdict) : INFINITY;
}

// A window is judged behind the step before it, where that is a layer, too: what the cache holds then decides.
static network_mix_request in_context(const network *net, network_window window) {
  const network_window behind = {window.first - 1, window.count + 1};
  const bool context = window.first > 0 && network_can_mix(net, behind);
  return (network_mix_request){.window = context ? behind : window, .alone = context ? 1 : 0};
}

// Whether the steps take markedly longer than their products, or more than time counts.
static bool has_waste(const network *net, network_window window, double cycles) {
  static const double waste = 1.05;
  const double dim = hw_derive(net->options.array).dim;
  uint64_t macs = 0;
  if (net->options.tuning.objective != COMPILE_CYCLES) return true;
  for (int s = window.first; s < window.first + window.count; s++)
    macs += command_useful_macs(net->kernels[net->steps[s].kernel].program, net->steps[s].macs);
  return cycles > waste * (double)macs / (dim * dim);
}

// Other shares of the accumulator help where equal ones come near, or do not fit.
static bool is_near(const judged *w, const way *of) {
  static const double near = 1.0 / 16;
  return isinf(of->value) || of->value - of->value * near < w->apart;
}

static void try_shares(const planner *p, compile_judge judge, network_mix_request *request, way *best) {
  const double value = judged_value(p, judge, request);
  if (value >= best->value) return;
  best->value = value;
  best->shares = request->shares;
}

// Tuned: other mappings, of one layer after the other.
static void try_mappings(const planner *p, compile_judge judge, network_mix_request *request, const judged *w,
                         way *best) {
  for (int n = 0; n < w->window.count; n++) {
    if (network_layer_of(p->net, &p->net->steps[w->window.first + n]) == NULL) continue;
    for (uint8_t number = 1; number < NETWORK_MIXED_MAPPINGS; number++) {
      request->shares = best->shares;
      request->shares.mapping[n] = number;
      try_shares(p, judge, request, best);
    }
  }
}

static void judge_way(const planner *p, compile_judge judge, network_mix_request *request, judged *w, bool forward) {
  way *best = &w->ways[forward];
  best->value = INFINITY;
  const int count = other_shares[w->window.count].count, from = other_shares[w->window.count].from;
  for (int i = 0; i <= count && (i == 0 || is_near(w, best)); i++) {
    request->shares = shares[i == 0 ? 0 : from + i - 1];
    request->shares.forward = forward;
    try_shares(p, judge, request, best);
    request->shares.deep = true;
    if (forward) try_shares(p, judge, request, best);
  }
  if (p->net->options.tuning.count > 1 && best->value < w->apart) try_mappings(p, judge, request, w, best);
}

// What the steps take one behind the other, and mixed.
static void judge_by(const planner *p, compile_judge judge, judged *w) {
  const network_mix_request behind = in_context(p->net, w->window);
  network_mix_request apart = behind, mixed = behind;
  apart.alone = behind.window.count;
  for (int i = 0; i < WAYS; i++) w->ways[i].value = INFINITY;
  w->apart = judged_value(p, judge, &apart);
  if (isinf(w->apart) || !has_waste(p->net, behind.window, w->apart)) return;
  judge_way(p, judge, &mixed, w, false);
  if (network_can_forward(p->net->options.array)) judge_way(p, judge, &mixed, w, true);
}

// A quicker judge leaves to the other one what is not clearly slower mixed.
static bool is_worth_judging(const judged *w) {
  static const double clear = 1.0 / 64;
  return fmin(w->ways[THROUGH].value, w->ways[FORWARDED].value) < w->apart * (1 + clear);
}

static bool fits(const planner *p, network_window window, const network_shares *how) {
  network_place places[NETWORK_MIXED_TENSORS];
  command_program *program = network_mix(p->net, &(network_mix_request){.window = window, .shares = *how}, places);
  if (program != NULL) command_destroy(program);
  return program != NULL;
}

// With NETWORK_FUSE_ALL a window that fits is worth its length, and what can be forwarded is.
static void judge_by_fit(const planner *p, judged *w) {
  way *forwarded = &w->ways[FORWARDED], *through = &w->ways[THROUGH];
  w->apart = w->window.count;
  for (int deep = 0; deep < 2 && network_can_forward(p->net->options.array); deep++) {
    forwarded->shares.deep = deep != 0;
    if (!fits(p, w->window, &forwarded->shares)) continue;
    forwarded->value = 0;
    return;
  }
  if (fits(p, w->window, &through->shares)) through->value = 0;
}

static void judge_by_time(const planner *p, judged *w) {
  const compile_tuning *tuning = &p->net->options.tuning;
  if (tuning->screen != NULL) judge_by(p, tuning->screen, w);
  if (tuning->screen == NULL || is_worth_judging(w)) judge_by(p, tuning->judge, w);
}

static void judge_one(void *context, size_t number) {
  const planner *p = context;
  judged *w = &p->known->windows[p->done + number];
  if (p->net->options.fuse == NETWORK_FUSE_ALL)
    judge_by_fit(p, w);
  else
    judge_by_time(p, w);
}

// What mixing a judged window saves. In the network, where caches hold other lines than behind one step, mixes save up
// to some percent less than the judge says. So a mix counts from a thirty-second of the window's value on; from a
// hundred-and-twenty-eighth on where the caller times the network afterwards (runner/settle.c).
static int64_t saved_so(const planner *p, const judged *w, bool forward) {
  static const double least = 1.0 / 32, least_watched = 1.0 / 128;
  const double part = p->net->options.judgements != NULL ? least_watched : least;
  if (w == NULL) return 0;
  const double value = w->ways[forward].value;
  return value + w->apart * part < w->apart ? (int64_t)(w->apart - value) : 0;
}

static int64_t saved(const planner *p, const judged *w) { return wf_max(saved_so(p, w, false), saved_so(p, w, true)); }

// By what its steps take in the network; a window whose steps are not known may have something to hide.
static bool is_told_full(const planner *p, network_window window) {
  uint64_t cycles = 0;
  if (p->known->steps == NULL) return false;
  for (int s = window.first; s < window.first + window.count; s++) cycles += p->known->steps[s].cycles;
  return !has_waste(p->net, window, (double)cycles);
}

static bool may_gain(const planner *p, network_window window) {
  if (is_told_full(p, window)) return false;
  if (window.count == 2 || p->net->options.fuse == NETWORK_FUSE_ALL) return true;
  return saved(p, find(p, (network_window){window.first, window.count - 1})) > 0 ||
         saved(p, find(p, (network_window){window.first + 1, window.count - 1})) > 0;
}

static void judge_windows(planner *p, int count) {
  network_judgements *known = p->known;
  p->done = known->count;
  for (int first = 0; first < p->net->step_count; first++) {
    const network_window window = {first, count};
    if (!can_be_mixed(p->net, window) || find(p, window) != NULL || !may_gain(p, window)) continue;
    *WF_ARENA_PUSH(known->arena, known->windows, known->count, &known->room) =
        (judged){.window = window,
                 .key = key_of(p->net, window),
                 .ways = {{INFINITY, first_shares(false)}, {INFINITY, first_shares(true)}}};
  }
  p->net->planning.judged += known->count - p->done;
  wf_run_tasks(known->count - p->done, p->net->options.jobs == 0 ? 1 : p->net->options.jobs, judge_one, p);
}

// ---- the cut

// What a window saves in a way: what was measured in the network, else what the judge says of it.
static int64_t gain_so(const planner *p, network_window window, bool forward) {
  const network_mix_facts *m = find_measured(p->known, window, forward);
  if (m == NULL) return saved_so(p, find(p, window), forward);
  return (int64_t)(value_of(p, &m->apart) - value_of(p, &m->mixed));
}

// The better way to mix a window.
static bool is_better_forwarded(const planner *p, network_window window) {
  return !p->net->options.through_memory && gain_so(p, window, true) > gain_so(p, window, false);
}

static int64_t gain_of(const void *context, int first, int count) {
  const planner *p = context;
  const network_window window = {first, count};
  return can_be_mixed(p->net, window) ? gain_so(p, window, is_better_forwarded(p, window)) : 0;
}

static network_cut *find_cuts(const planner *p) {
  const network_cut_problem problem = {
      .steps = p->net->step_count, .most = NETWORK_MIXED_MAX, .saved = gain_of, .context = p};
  network_cut *cuts = WF_ARENA_ARRAY(p->known->arena, (size_t)problem.steps + 1, network_cut);
  const double start = wf_thread_seconds();
  network_cut_best(&problem, cuts);
  p->net->planning.cut_seconds = wf_thread_seconds() - start;
  p->net->planning.visited = cuts[0].visited;
  return cuts;
}

static network_shares shares_of(const planner *p, network_window window) {
  const judged *w = find(p, window);
  const bool forward = is_better_forwarded(p, window);
  return w == NULL ? first_shares(forward) : w->ways[forward].shares;
}

// ---- the steps

static void name_step(network *net, network_step *step, network_window window) {
  const network_step *parts = &net->steps[window.first];
  step->name = wf_arena_format(net->arena, "%s..%s", parts[0].name, parts[window.count - 1].name);
  step->what = "mix of";
  for (int n = 0; n < window.count; n++)
    step->what = wf_arena_format(net->arena, "%s%s %s", step->what, n == 0 ? "" : ",", parts[n].what);
}

static void add_nodes(network *net, network_step *step, network_window window) {
  size_t most = 0;
  for (int n = 0; n < window.count; n++) most += 1 + (size_t)net->steps[window.first + n].also_count;
  step->also = WF_ARENA_ARRAY(net->arena, most, const graph_node *);
  step->also_count = 0;
  for (int n = 0; n < window.count; n++) {
    const network_step *part = &net->steps[window.first + n];
    if (part->makes && part->node == step->node) step->makes = true;
    if (part->makes && part->node != step->node) step->also[step->also_count++] = part->node;
    for (int i = 0; i < part->also_count; i++) step->also[step->also_count++] = part->also[i];
  }
}

static int add_kernel(network *net, const network_step *step, command_program *program) {
  size_t count = (size_t)net->kernel_count;
  network_kernel *kernel = WF_ARENA_PUSH(net->arena, net->kernels, count, &net->kernel_room);
  *kernel = (network_kernel){.text = step->what, .program = program, .mapping = map_none()};
  network_add_constants(net, kernel);
  return net->kernel_count++;
}

// A tensor between the steps of a window that is in no memory.
static bool is_inside(const network *net, const command_tensor *tensor, network_place place) {
  return place.buffer >= 0 && net->buffers[place.buffer].contents == NULL && !tensor->read && !tensor->written;
}

static void forget_buffer(network *net, int buffer) {
  net->buffers[buffer].forwarded = true;
  for (int t = 0; t < net->graph->tensor_count; t++)
    if (net->tensors[t].buffer == buffer) net->tensors[t].buffer = -1;
}

// The step that does what the steps of a window do. False: the window does not fit and stays as it is, or, with an
// error, its program is not well formed.
static bool make_step(network *net, network_window window, const network_shares *how, network_step *step,
                      wf_diag *diag) {
  network_place places[NETWORK_MIXED_TENSORS];
  command_program *program = network_mix(net, &(network_mix_request){.window = window, .shares = *how}, places);
  if (program == NULL) return false;
  if (!command_prove(program, diag)) {
    wf_hint(diag, "mixing %s and what follows it for array %s", net->steps[window.first].name,
            net->options.array->name);
    command_destroy(program);
    return false;
  }
  const network_step *parts = &net->steps[window.first];
  *step = (network_step){.node = parts->node, .place = GRAPH_ON_ARRAY, .parts = window.count, .forwards = how->forward};
  for (int n = 0; n < window.count; n++) step->macs += parts[n].macs;
  name_step(net, step, window);
  add_nodes(net, step, window);
  for (int t = 0; t < program->tensor_count; t++) {
    if (program->tensors[t].contents != NULL) continue;
    if (is_inside(net, &program->tensors[t], places[t]))
      forget_buffer(net, places[t].buffer);
    else
      network_lower_bind(step, program->tensors[t].name, places[t]);
  }
  step->kernel = add_kernel(net, step, program);
  network_widen(net, step);
  return true;
}

static bool replace_steps(const planner *p, const network_cut *cuts, wf_diag *diag) {
  network *net = p->net;
  const unsigned errors = diag->errors;
  network_step *steps = WF_ARENA_ARRAY(net->arena, (size_t)net->step_count + 1, network_step);
  int count = 0;
  for (int s = 0; s < net->step_count; s += cuts[s].count) {
    const network_window window = {s, cuts[s].count};
    const network_shares how = shares_of(p, window);
    const bool mixed = window.count > 1 && make_step(net, window, &how, &steps[count], diag);
    if (!mixed) memcpy(&steps[count], &net->steps[s], (size_t)window.count * sizeof *steps);
    count += mixed ? 1 : window.count;
  }
  net->steps = steps;
  net->step_count = count;
  return diag->errors == errors;
}

bool network_fuse(network *net, wf_diag *diag) {
  if (net->options.fuse == NETWORK_FUSE_OFF) return true;
  assert(net->options.tuning.judge != NULL || net->options.fuse == NETWORK_FUSE_ALL);
  network_judgements *own = net->options.judgements == NULL ? network_judgements_create() : NULL;
  planner p = {.net = net, .known = own != NULL ? own : net->options.judgements};
  const double start = wf_process_seconds(), clock = wf_seconds();
  for (int count = 2; count <= NETWORK_MIXED_MAX; count++) judge_windows(&p, count);
  net->planning.judge_seconds = wf_process_seconds() - start;
  net->planning.judge_clock = wf_seconds() - clock;
  const bool good = replace_steps(&p, find_cuts(&p), diag);
  network_judgements_destroy(own);
  return good;
}
