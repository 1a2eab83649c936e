// SPDX-License-Identifier: Apache-2.0
// The loop of the joint search: see codesign.h. It looks at points with the model of the machine, runs the one with the
// largest expected improvement on engine flow, and confirms the best of these on engine cycle.
#include "search/codesign/codesign.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/codesign/internal.h"

enum { FIRST = 32, BATCH = 12, ROUNDS = 8, DRY = 3 };

static const double gain_wanted = 0.01;  // it stops when a gain of this share
static const double chance_left = 0.02;  // is less likely than this
static const double last_chance =
    0.002;  // the last runs of engine cycle, which errors of flow are left to, go on to this
// Runs of engine flow between two of engine cycle, and what is kept of the budget for the last of these: at most so
// many, at most this share of it.
enum { FLOWS = 8, KEPT = 3 };
static const double share_kept = 0.15;

// ---- layers of all networks

static codesign_layer *find_layer(codesign_result *r, const map_layer *layer) {
  for (size_t i = 0; i < r->layer_count; i++)
    if (map_layer_hash(&r->layers[i].layer) == map_layer_hash(layer)) return &r->layers[i];
  return NULL;
}

static void add_layer(codesign_result *r, const layers_layer *from, double weight) {
  const map_layer layer = layers_to_map(from);
  codesign_layer *same = find_layer(r, &layer);
  if (same == NULL) {
    same = &r->layers[r->layer_count++];
    *same = (codesign_layer){.name = from->name, .layer = layer, .macs = (double)map_macs(&layer)};
  }
  same->times += weight * (double)from->count;
}

static void add_layers(const codesign_options *o, codesign_result *r) {
  size_t room = 1;
  for (size_t n = 0; n < o->network_count; n++) room += o->networks[n].table->count;
  r->layers = WF_NEW_ARRAY(room, codesign_layer);
  for (size_t n = 0; n < o->network_count; n++)
    for (size_t i = 0; i < o->networks[n].table->count; i++)
      add_layer(r, &o->networks[n].table->layers[i], o->networks[n].weight);
}

// ---- expected improvement

static double density(double z) { return exp(-z * z / 2) / sqrt(2 * M_PI); }
static double below(double z) { return erfc(-z / M_SQRT2) / 2; }

// The logarithm that a point has to beat to climb. To engine flow: the least that the corrections give any point that
// flow ran. To engine cycle: the least that cycle gave any point. A front takes the latter for both, since engine cycle
// has to run each of its points.
static double bar(const codesign_loop *l, const codesign_site *site) {
  return site->rungs <= CODESIGN_FLOW && !l->options->front ? fmin(l->believed, l->best) : l->best;
}

double codesign_improvement(double best, double mean, double spread) {
  const double z = (best - mean) / spread;
  return spread * (z * below(z) + density(z));
}

// How much less than the bar a point is expected to be, where it is less.
static double improvement(const codesign_loop *l, const codesign_site *site) {
  const double best = bar(l, site);
  if (best == INFINITY) return exp(-site->mean / 100);  // the best of what is believed
  return codesign_improvement(best, site->mean, site->spread);
}

static double chance(const codesign_loop *l, const codesign_site *site) {
  const double best = bar(l, site);
  return best == INFINITY ? 1 : below((best - gain_wanted - site->mean) / site->spread);
}

// Rungs from which points may climb, one bit each.
enum { FROM_MODEL = 1 << CODESIGN_MODEL, FROM_FLOW = 1 << CODESIGN_FLOW, FROM_ALL = FROM_MODEL | FROM_FLOW };

static bool climbs(const codesign_site *site, unsigned from) {
  return !site->failed && site->rungs > 0 && site->rungs < CODESIGN_RUNGS && (from >> (site->rungs - 1) & 1);
}

static codesign_site *next_of(const codesign_loop *l, unsigned from) {
  codesign_site *best = NULL;
  double most = 0;
  for (size_t i = 0; i < l->result->count; i++) {
    codesign_site *site = &l->result->sites[i];
    if (!climbs(site, from)) continue;
    double cost = 0;
    for (unsigned rung = site->rungs; rung < CODESIGN_RUNGS; rung++) cost += codesign_rung_cost[rung];
    const double rate = improvement(l, site) / cost;
    if (rate > most) most = rate, best = site;
  }
  return best;
}

static double chance_of_any(const codesign_loop *l, unsigned from) {
  double none = 1;
  for (size_t i = 0; i < l->result->count; i++)
    if (climbs(&l->result->sites[i], from)) none *= 1 - chance(l, &l->result->sites[i]);
  return 1 - none;
}

// ---- the best, and the trace

static void find_best(codesign_loop *l) {
  codesign_result *r = l->result;
  l->best = INFINITY;
  r->best = SIZE_MAX;
  for (size_t i = 0; i < r->count; i++) {
    const codesign_site *site = &r->sites[i];
    if (site->failed || site->rungs < CODESIGN_RUNGS) continue;
    const double value = codesign_goal(l, site->cost[CODESIGN_CYCLE]);
    if (value >= l->best) continue;
    l->best = value;
    if (codesign_within(&l->options->bounds, site->cost[CODESIGN_CYCLE])) r->best = i;
  }
}

static double best_value(const codesign_loop *l) {
  const codesign_result *r = l->result;
  if (r->best == SIZE_MAX) return INFINITY;
  return codesign_value(l->options->objective, r->sites[r->best].cost[CODESIGN_CYCLE]);
}

void codesign_note(codesign_loop *l, codesign_event event) {
  codesign_result *r = l->result;
  if (r->event_count == r->event_room) {
    r->event_room = r->event_room == 0 ? 64 : 2 * r->event_room;
    r->events = wf_realloc(r->events, r->event_room, sizeof *r->events);
  }
  event.spent = r->spent;
  event.seconds = codesign_spent_seconds(l);
  r->events[r->event_count++] = event;
}

static void note(codesign_loop *l, size_t site, double mean, double spread) {
  const codesign_site *s = &l->result->sites[site];
  const codesign_rung rung = (codesign_rung)(s->rungs == 0 ? 0 : s->rungs - 1);
  const double value = s->failed ? INFINITY : codesign_value(l->options->objective, s->cost[rung]);
  codesign_note(l, (codesign_event){site, rung, false, mean, spread, value, best_value(l), 0, 0});
}

static void say(const codesign_loop *l, size_t site) {
  const codesign_site *s = &l->result->sites[site];
  char text[256];
  if (l->options->progress == NULL || s->failed || s->rungs < CODESIGN_RUNGS) return;
  snprintf(text, sizeof text, "point %zu of %zu: %.4g ms, %.4g uJ, %.3f mm2, %s %.4g; best %.4g", site,
           l->result->count, s->cost[CODESIGN_CYCLE].ms, s->cost[CODESIGN_CYCLE].energy_uj, s->area_mm2,
           codesign_objective_names[l->options->objective],
           codesign_value(l->options->objective, s->cost[CODESIGN_CYCLE]), best_value(l));
  l->options->progress(l->options->context, text);
}

// Corrects the figures of all points (correct.c), and finds the least of the points that engine flow ran.
static void believe(codesign_loop *l) {
  codesign_correct(l);
  l->believed = INFINITY;
  for (size_t i = 0; i < l->result->count; i++) {
    const codesign_site *site = &l->result->sites[i];
    if (!site->failed && site->rungs > CODESIGN_FLOW) l->believed = fmin(l->believed, site->mean);
  }
}

void codesign_step(codesign_loop *l, size_t index) {
  codesign_site *site = &l->result->sites[index];
  const double mean = site->mean, spread = site->spread;
  codesign_climb(l, site);
  find_best(l);
  note(l, index, mean, spread);
  say(l, index);
  believe(l);
}

// ---- the loop

static bool has_budget(const codesign_loop *l) {
  const codesign_options *o = l->options;
  if (wf_stop_wanted(o->stop)) return false;
  if (o->simulations > 0) return l->result->spent < o->simulations;
  return codesign_spent_seconds(l) < o->seconds;
}

// Whether there is more left than what is kept for the last runs of engine cycle.
static bool has_more(const codesign_loop *l) {
  const codesign_options *o = l->options;
  if (!has_budget(l)) return false;
  if (o->front) return true;
  if (o->simulations > 0) return l->result->spent < o->simulations - fmin(KEPT, share_kept * o->simulations);
  return codesign_spent_seconds(l) < (1 - share_kept / 2) * o->seconds;
}

void codesign_look(codesign_loop *l, size_t first) {
  codesign_predict(l, first);
  for (size_t i = first; i < l->result->count; i++) note(l, i, l->result->sites[i].mean, 0);
  believe(l);
}

static double least_mean(const codesign_loop *l) {
  double least = INFINITY;
  for (size_t i = 0; i < l->result->count; i++) least = fmin(least, l->result->sites[i].mean);
  return least;
}

// Batches of points, for as long as they hold one that is believed to be better than all before.
static size_t propose(codesign_loop *l) {
  size_t all = 0;
  double least = INFINITY, before;
  unsigned rounds = 0;
  do {
    const size_t first = l->result->count, added = codesign_propose(l, BATCH);
    before = rounds == 0 ? least_mean(l) : least;
    if (added > 0) codesign_look(l, first);
    least = least_mean(l);
    all += added;
  } while (++rounds < ROUNDS && least < before - gain_wanted && has_more(l));
  return all;
}

static void begin(codesign_loop *l) {
  const codesign_point base = codesign_space_base(l->options->space);
  codesign_add(l, &base);
  for (unsigned n = 0; n < FIRST * 8 && l->result->count < FIRST; n++) {
    codesign_point point = {.at = {0}};
    for (size_t a = 0; a < l->options->space->axis_count; a++)
      point.at[a] = (uint16_t)(wf_random_next(&l->random) % l->options->space->axes[a].value_count);
    codesign_add(l, &point);
  }
  if (l->result->count > 0) codesign_look(l, 0);
}

// The weights of a front: each climb looks for another mixture of both objectives.
static void turn(codesign_loop *l) {
  static const double shares[] = {0, 0.5, 1, 0.25, 0.75};
  if (!l->options->front) return;
  l->share = shares[l->result->event_count % (sizeof shares / sizeof *shares)];
  find_best(l);
  believe(l);
}

// What goes up next. Engine flow says nearly what engine cycle will, so a point that flow ran waits for FLOWS others,
// and climbs if it is still believed to be better than all that cycle ran.
static codesign_site *next_climber(codesign_loop *l, unsigned *flows) {
  if (l->options->front) return next_of(l, FROM_ALL);
  if (*flows >= FLOWS) {
    codesign_site *site = next_of(l, FROM_FLOW);
    *flows = 0;
    if (site != NULL && site->mean < l->best - gain_wanted) return site;
  }
  ++*flows;
  return next_of(l, FROM_MODEL);
}

static void search(codesign_loop *l) {
  unsigned dry = 0, flows = 0;
  for (bool looks = false; has_more(l); looks = !looks) {
    turn(l);
    if (looks) {
      dry = propose(l) == 0 ? dry + 1 : 0;
      continue;
    }
    codesign_site *next = next_climber(l, &flows);
    if (next == NULL && dry > 0) break;
    if (next == NULL) continue;
    if (dry >= DRY && !l->options->front && chance_of_any(l, FROM_MODEL) < chance_left) {
      l->result->settled = true;
      break;
    }
    codesign_step(l, (size_t)(next - l->result->sites));
  }
}

// The best that flow ran climb to engine cycle, for as long as there is budget and a chance that the next one is
// better; at least one of them, since an answer has to have run there.
static void finish(codesign_loop *l) {
  l->share = 0;
  find_best(l);
  believe(l);
  for (unsigned n = 0; !wf_stop_wanted(l->options->stop); n++) {
    codesign_site *next = next_of(l, l->result->best == SIZE_MAX ? FROM_ALL : FROM_FLOW);
    if (next == NULL) break;
    if (l->result->best != SIZE_MAX && (!has_budget(l) || chance_of_any(l, FROM_FLOW) < last_chance)) break;
    if (l->result->best == SIZE_MAX && !has_budget(l) && n >= CODESIGN_RUNGS) break;
    codesign_step(l, (size_t)(next - l->result->sites));
  }
}

// ---- the front

static bool is_beaten(const codesign_options *o, const codesign_result *r, size_t site) {
  const codesign_cost *a = &r->sites[site].cost[CODESIGN_CYCLE];
  for (size_t i = 0; i < r->count; i++) {
    const codesign_cost *b = &r->sites[i].cost[CODESIGN_CYCLE];
    if (i == site || r->sites[i].failed || r->sites[i].rungs < CODESIGN_RUNGS || !codesign_within(&o->bounds, *b))
      continue;
    const double first = codesign_value(o->objective, *b) - codesign_value(o->objective, *a),
                 second = codesign_value(o->second, *b) - codesign_value(o->second, *a);
    if (first <= 0 && second <= 0 && (first < 0 || second < 0 || i < site)) return true;
  }
  return false;
}

static void insert_front(const codesign_options *o, codesign_result *r, size_t site) {
  size_t place = r->front_count++;
  const double value = codesign_value(o->objective, r->sites[site].cost[CODESIGN_CYCLE]);
  for (; place > 0 && codesign_value(o->objective, r->sites[r->front[place - 1]].cost[CODESIGN_CYCLE]) > value; place--)
    r->front[place] = r->front[place - 1];
  r->front[place] = site;
}

// The area between the front and twice the figures of the first point, in logarithms of both: 0 where nothing is better
// than that.
static double hypervolume(const codesign_options *o, const codesign_result *r) {
  if (r->sites[0].failed || r->sites[0].rungs < CODESIGN_RUNGS) return 0;
  const codesign_cost *base = &r->sites[0].cost[CODESIGN_CYCLE];
  const double right = log(2 * codesign_value(o->objective, *base));
  double top = log(2 * codesign_value(o->second, *base)), volume = 0;
  for (size_t i = 0; i < r->front_count; i++) {
    const codesign_cost *c = &r->sites[r->front[i]].cost[CODESIGN_CYCLE];
    const double first = log(codesign_value(o->objective, *c)), second = log(codesign_value(o->second, *c));
    if (first >= right || second >= top) continue;
    volume += (right - first) * (top - second);
    top = second;
  }
  return volume;
}

static void find_front(const codesign_options *o, codesign_result *r) {
  r->front = WF_NEW_ARRAY(r->count + 1, size_t);
  for (size_t i = 0; i < r->count; i++) {
    const codesign_site *s = &r->sites[i];
    if (s->failed || s->rungs < CODESIGN_RUNGS || !codesign_within(&o->bounds, s->cost[CODESIGN_CYCLE])) continue;
    if (!is_beaten(o, r, i)) insert_front(o, r, i);
  }
  r->hypervolume = hypervolume(o, r);
}

// ----

static void open_loop(const codesign_options *o, codesign_result *result, codesign_loop *l) {
  *result = (codesign_result){.best = SIZE_MAX};
  *l = (codesign_loop){.options = o,
                       .result = result,
                       .runs = o->runs,
                       .predicted = o->predicted,
                       .random = o->seed,
                       .start_clock = (double)clock() / CLOCKS_PER_SEC,
                       .best = INFINITY,
                       .believed = INFINITY};
  if (l->runs == NULL) l->runs = truth_runs_create(o->jobs, 0, sweep_work_measure, NULL);
  if (l->predicted == NULL) l->predicted = predict_table_create(o->jobs, !o->plain_model);
  for (size_t a = 0; a < o->space->axis_count; a++) l->reach[a] = codesign_axis_known(&o->space->axes[a]) ? 1 : 0.35;
  add_layers(o, result);
}

static void close_loop(codesign_loop *l) {
  if (l->options->runs == NULL) truth_runs_destroy(l->runs);
  if (l->options->predicted == NULL) predict_table_destroy(l->predicted);
}

static void report_failure(const codesign_options *o, const codesign_result *r, wf_diag *diag) {
  if (r->count == 0) {
    wf_error(diag, wf_in_file(o->space->name), "no point of the space can be built and holds its constraints");
    return;
  }
  size_t failed = 0;
  for (size_t i = 0; i < r->count; i++) failed += r->sites[i].failed;
  if (failed == r->count)
    wf_error(diag, wf_in_file(o->space->name), "no point runs all layers: %s", r->sites[0].reason);
  else
    wf_error(diag, wf_in_file(o->space->name), "none of %zu points that were looked at is within the bounds", r->count);
}

bool codesign_search(const codesign_options *options, codesign_result *result, wf_diag *diag) {
  codesign_loop l;
  open_loop(options, result, &l);
  begin(&l);
  if (result->count > 0 && !result->sites[0].failed && result->sites[0].rungs > 0) {
    codesign_step(&l, 0);
    if (!result->sites[0].failed) codesign_step(&l, 0);
  }
  search(&l);
  finish(&l);
  result->chance = chance_of_any(&l, FROM_ALL);
  const bool found = result->best != SIZE_MAX, good = found && codesign_run_whole(&l, diag);
  result->seconds = codesign_spent_seconds(&l);
  if (options->front) find_front(options, result);
  close_loop(&l);
  if (!found) report_failure(options, result, diag);
  return good;
}

void codesign_enumerate(const codesign_options *options, double *values) {
  codesign_result result;
  codesign_loop l;
  const size_t points = (size_t)codesign_space_points(options->space);
  open_loop(options, &result, &l);
  for (size_t n = 0; n < points; n++) {
    const codesign_point point = codesign_space_point(options->space, n);
    codesign_site *site = codesign_add(&l, &point);
    values[n] = INFINITY;
    if (site == NULL) continue;
    codesign_predict(&l, result.count - 1);
    while (climbs(site, FROM_ALL)) codesign_climb(&l, site);
    if (!site->failed && codesign_within(&options->bounds, site->cost[CODESIGN_CYCLE]))
      values[n] = codesign_value(options->objective, site->cost[CODESIGN_CYCLE]);
  }
  close_loop(&l);
  codesign_release(&result);
}

void codesign_release(codesign_result *result) {
  for (size_t i = 0; i < result->count; i++) {
    for (int rung = 0; rung < CODESIGN_RUNGS; rung++) wf_free(result->sites[i].layers[rung]);
    wf_free(result->sites[i].mappings);
    wf_free(result->sites[i].mapped);
    wf_free(result->sites[i].slopes);
  }
  codesign_release_wholes(result->wholes, result->whole_count);
  wf_free(result->layers);
  wf_free(result->sites);
  wf_free(result->events);
  wf_free(result->front);
  *result = (codesign_result){0};
}
