// SPDX-License-Identifier: Apache-2.0
// Networks as they run, every step: the answer's, and with mixes those of the points among which the answer is chosen.
//
// What mixing saves depends on the array: room in the scratchpad is worth nothing to layers by themselves and much to
// tensors that could stay there. So behind the ladder stands a last rung. A point's value there is that of its layers
// times a factor, whose logarithm y is a Gaussian process over the points that have been there, with the covariance of
// corrections (correct.c): mean(x) = m + k(x)^T (K + noise)^-1 (y - m). The point with the largest expected
// improvement is next, among all that the ladder looked at and the neighbours of the best.
#include <math.h>

#include "base/alloc.h"
#include "base/tasks.h"
#include "search/codesign/internal.h"

static const double noise = 0.02;        // of the factors, which settling scatters
static const double prior = 0.1;         // spread of the logarithm of a factor of which nothing is known
static const double least_gain = 0.001;  // an expected improvement that is not worth a run

// ---- a point

static double value_of(const void *context, truth_program_cost cost) {
  const codesign_loop *l = context;
  return codesign_value(
      l->options->objective,
      (codesign_cost){.cycles = cost.cycles, .ms = cost.cycles, .energy_uj = cost.energy_uj, .area_mm2 = 1});
}

static compile_objective least_of(const codesign_loop *l) {
  const double latency = codesign_exponent(l->options->objective, 0),
               energy = codesign_exponent(l->options->objective, 1);
  return energy == 0 ? COMPILE_CYCLES : latency == 0 ? COMPILE_ENERGY : COMPILE_EDP;
}

static size_t place_of(const codesign_result *r, const layers_layer *layer) {
  const map_layer map = layers_to_map(layer);
  size_t i = 0;
  while (map_layer_hash(&r->layers[i].layer) != map_layer_hash(&map)) i++;
  return i;
}

static bool run_program(const codesign_loop *l, const codesign_site *site, size_t n, network_fuse_mode fuse,
                        truth_program_run *run, wf_diag *diag) {
  const codesign_network *of = &l->options->networks[n];
  const layers_network *table = of->table;
  map_mapping *mappings = WF_NEW_ARRAY(table->count + 1, map_mapping);
  bool *mapped = WF_NEW_ARRAY(table->count + 1, bool);
  for (size_t i = 0; i < table->count; i++) {
    const size_t place = place_of(l->result, &table->layers[i]);
    mapped[i] = site->mapped[place];
    mappings[i] = site->mappings[place];
  }
  const truth_program_found found = {.program = of->program,
                                     .table = table,
                                     .array = &site->array,
                                     .mappings = mappings,
                                     .mapped = mapped,
                                     .fuse = fuse,
                                     .least = least_of(l),
                                     .jobs = l->options->jobs == 0 ? wf_processors() : l->options->jobs,
                                     .value = value_of,
                                     .context = l};
  const bool good = truth_run_found(&found, run, diag);
  wf_free(mappings);
  wf_free(mapped);
  return good;
}

void codesign_release_wholes(codesign_whole *wholes, size_t count) {
  for (size_t n = 0; n < count; n++) truth_release_run(&wholes[n].run);
  wf_free(wholes);
}

// All networks that are programs, on a point that has climbed all rungs; NULL after an error was reported.
static codesign_whole *run_all(const codesign_loop *l, const codesign_site *site, network_fuse_mode fuse,
                               wf_diag *diag) {
  const size_t count = l->options->network_count;
  codesign_whole *wholes = WF_NEW_ARRAY(count + 1, codesign_whole);
  for (size_t n = 0; n < count; n++) {
    if (l->options->networks[n].program == NULL) continue;
    wholes[n].known = run_program(l, site, n, fuse, &wholes[n].run, diag);
    if (wholes[n].known) continue;
    codesign_release_wholes(wholes, count);
    return NULL;
  }
  return wholes;
}

// A table is the sum of its layers.
static truth_program_cost cost_of_table(const codesign_loop *l, const codesign_site *site,
                                        const layers_network *table) {
  truth_program_cost cost = {0};
  for (size_t i = 0; i < table->count; i++) {
    const codesign_figure *figure = &site->layers[CODESIGN_CYCLE][place_of(l->result, &table->layers[i])];
    cost.cycles += (double)table->layers[i].count * figure->cycles;
    cost.energy_uj += (double)table->layers[i].count * figure->energy_uj;
  }
  return cost;
}

static codesign_cost cost_of(const codesign_loop *l, const codesign_site *site, const codesign_whole *wholes,
                             bool mixed) {
  codesign_cost sum = {.area_mm2 = site->area_mm2};
  for (size_t n = 0; n < l->options->network_count; n++) {
    const codesign_network *of = &l->options->networks[n];
    const truth_program_run *run = &wholes[n].run;
    const truth_program_cost cost = !wholes[n].known ? cost_of_table(l, site, of->table)
                                    : mixed          ? run->cost
                                                     : run->apart;
    sum.cycles += of->weight * cost.cycles;
    sum.energy_uj += of->weight * cost.energy_uj;
  }
  sum.ms = sum.cycles / (1e3 * site->array.chip.clock_mhz);
  return sum;
}

// ---- the last rung

typedef struct stage {
  codesign_loop *l;
  size_t *ran;  // sites, in the order of their runs
  size_t count;
  size_t best;             // SIZE_MAX: none
  double least;            // its logarithm
  codesign_whole *wholes;  // of the best
  double *inverse, *weights, offset, variance;
} stage;

static const codesign_site *ran_at(const stage *s, size_t i) { return &s->l->result->sites[s->ran[i]]; }

static double factor_of(const stage *s, size_t i) {
  return codesign_goal(s->l, ran_at(s, i)->whole) - codesign_goal(s->l, ran_at(s, i)->cost[CODESIGN_CYCLE]);
}

static void fit(stage *s) {
  const size_t n = s->count;
  s->inverse = wf_realloc(s->inverse, n * n, sizeof *s->inverse);
  s->weights = wf_realloc(s->weights, n, sizeof *s->weights);
  s->offset = 0;
  s->variance = prior * prior;
  for (size_t i = 0; i < n; i++) {
    s->offset += factor_of(s, i) / (double)n;
    for (size_t k = 0; k < n; k++)
      s->inverse[i * n + k] = codesign_covariance(s->l, ran_at(s, i), ran_at(s, k)) + (i == k ? noise : 0);
  }
  codesign_invert(s->inverse, n);
  for (size_t i = 0; i < n; i++) {
    const double away = factor_of(s, i) - s->offset;
    s->variance += away * away;
    s->weights[i] = 0;
    for (size_t k = 0; k < n; k++) s->weights[i] += s->inverse[i * n + k] * (factor_of(s, k) - s->offset);
  }
  s->variance /= (double)n + 1;
}

// The logarithm of a point's value, as is believed.
static void believe(const stage *s, const codesign_site *site, double *mean, double *spread) {
  double doubt = 1, factor = s->offset;
  double *k = WF_NEW_ARRAY(s->count + 1, double);
  for (size_t i = 0; i < s->count; i++) k[i] = codesign_covariance(s->l, site, ran_at(s, i));
  for (size_t i = 0; i < s->count; i++) {
    factor += k[i] * s->weights[i];
    for (size_t j = 0; j < s->count; j++) doubt -= k[i] * s->inverse[i * s->count + j] * k[j];
  }
  wf_free(k);
  *mean = site->mean + factor;
  *spread = sqrt(fmax(doubt, 0) * s->variance + site->spread * site->spread + 1e-12);
}

static unsigned mixes_of(const stage *s, const codesign_whole *wholes) {
  unsigned mixes = 0;
  for (size_t n = 0; n < s->l->options->network_count; n++) mixes += wholes[n].run.mixes;
  return mixes;
}

static void say(const stage *s, const codesign_site *site, unsigned mixes) {
  const codesign_options *o = s->l->options;
  char text[256];
  if (o->progress == NULL) return;
  snprintf(text, sizeof text, "whole networks, point %zu: %.4g ms, %.4g uJ, %u mixes, %s %.4g; best %.4g",
           (size_t)(site - s->l->result->sites), site->whole.ms, site->whole.energy_uj, mixes,
           codesign_objective_names[o->objective], codesign_value(o->objective, site->whole),
           codesign_value(o->objective, s->l->result->sites[s->best].whole));
  o->progress(o->context, text);
}

// The better point stays the best; `wholes` are its networks.
static void keep(stage *s, size_t index, codesign_whole *wholes) {
  const size_t count = s->l->options->network_count;
  const double value = codesign_goal(s->l, s->l->result->sites[index].whole);
  if (s->best != SIZE_MAX && value >= s->least) {
    codesign_release_wholes(wholes, count);
    return;
  }
  codesign_release_wholes(s->wholes, s->wholes == NULL ? 0 : count);
  s->wholes = wholes;
  s->best = index;
  s->least = value;
}

static void note(stage *s, const codesign_site *site) {
  const codesign_result *r = s->l->result;
  const codesign_objective objective = s->l->options->objective;
  codesign_note(s->l, (codesign_event){.site = (size_t)(site - r->sites),
                                       .rung = CODESIGN_CYCLE,
                                       .whole = true,
                                       .mean = site->mean,
                                       .spread = site->spread,
                                       .value = codesign_value(objective, site->whole),
                                       .best = codesign_value(objective, r->sites[s->best].whole)});
}

static bool run_site(stage *s, size_t index, wf_diag *diag) {
  codesign_result *r = s->l->result;
  while (!r->sites[index].failed && r->sites[index].rungs < CODESIGN_RUNGS) codesign_step(s->l, index);
  if (r->sites[index].failed) return true;
  codesign_site *site = &r->sites[index];
  codesign_whole *wholes = run_all(s->l, site, s->l->options->fuse, diag);
  if (wholes == NULL) return false;
  site->ran_whole = true;
  site->whole = cost_of(s->l, site, wholes, true);
  site->apart = cost_of(s->l, site, wholes, false);
  s->ran[s->count++] = index;
  const unsigned mixes = mixes_of(s, wholes);
  keep(s, index, wholes);
  say(s, site, mixes);
  note(s, site);
  fit(s);
  return true;
}

// Steps of one axis from the best.
static void look_around(stage *s) {
  const codesign_space *space = s->l->options->space;
  const size_t first = s->l->result->count;
  for (size_t a = 0; a < space->axis_count; a++)
    for (int step = -1; step <= 1; step += 2) {
      codesign_point point = s->l->result->sites[s->best].point;
      const int at = (int)point.at[a] + step;
      if (at < 0 || (size_t)at >= space->axes[a].value_count) continue;
      point.at[a] = (uint16_t)at;
      codesign_add(s->l, &point);
    }
  if (s->l->result->count > first) codesign_look(s->l, first);
}

static size_t next_of(const stage *s) {
  size_t next = SIZE_MAX;
  double most = least_gain;
  for (size_t i = 0; i < s->l->result->count; i++) {
    const codesign_site *site = &s->l->result->sites[i];
    double mean, spread;
    if (site->failed || site->rungs == 0 || site->ran_whole) continue;
    believe(s, site, &mean, &spread);
    const double gain = codesign_improvement(s->least, mean, spread);
    if (gain > most) most = gain, next = i;
  }
  return next;
}

// A point whose layers run and whose network does not is none to answer with.
static void give_up(const stage *s, codesign_site *site) {
  static const char reason[] = "the whole network cannot be compiled or run";
  const codesign_options *o = s->l->options;
  char text[128];
  site->failed = true;
  snprintf(site->reason, sizeof site->reason, "%s", reason);
  snprintf(text, sizeof text, "point %zu is left out: %s", (size_t)(site - s->l->result->sites), reason);
  if (o->progress != NULL) o->progress(o->context, text);
}

static bool search(stage *s, wf_diag *diag) {
  const codesign_options *o = s->l->options;
  wf_diag silent = wf_diag_to(NULL);
  if (!run_site(s, s->l->result->best, diag)) return false;
  while (s->count < o->whole && !wf_stop_wanted(o->stop)) {
    look_around(s);
    const size_t next = next_of(s);
    if (next == SIZE_MAX) break;
    if (!run_site(s, next, &silent)) give_up(s, &s->l->result->sites[next]);
  }
  return true;
}

// ---- all of it

static bool has_program(const codesign_options *o) {
  for (size_t n = 0; n < o->network_count; n++)
    if (o->networks[n].program != NULL) return true;
  return false;
}

// Layers by themselves may be within bounds that whole networks are beyond.
static bool is_within(const codesign_loop *l, const codesign_site *best, size_t tried, wf_diag *diag) {
  if (codesign_within(&l->options->bounds, best->whole)) return true;
  wf_error(diag, wf_in_file(l->options->space->name),
           "none of %zu points on which whole networks ran is within the bounds", tried);
  wf_hint(diag, "the best of them takes %.4g ms and %.4g uJ", best->whole.ms, best->whole.energy_uj);
  return false;
}

static bool run_mixed(codesign_loop *l, wf_diag *diag) {
  const size_t first = l->result->best;
  stage s = {.l = l, .ran = WF_NEW_ARRAY((size_t)l->options->whole + 1, size_t), .best = SIZE_MAX};
  const bool good = search(&s, diag);
  l->result->whole_tried = s.count;
  l->result->whole_first = first;
  if (s.best != SIZE_MAX) l->result->best = s.best;
  l->result->wholes = s.wholes;
  wf_free(s.ran);
  wf_free(s.inverse);
  wf_free(s.weights);
  return good && is_within(l, &l->result->sites[l->result->best], s.count, diag);
}

bool codesign_run_whole(codesign_loop *l, wf_diag *diag) {
  codesign_result *r = l->result;
  if (!has_program(l->options) || wf_stop_wanted(l->options->stop)) return true;
  r->whole_count = l->options->network_count;
  if (l->options->fuse != NETWORK_FUSE_OFF) return run_mixed(l, diag);
  r->wholes = run_all(l, &r->sites[r->best], NETWORK_FUSE_OFF, diag);
  return r->wholes != NULL;
}
