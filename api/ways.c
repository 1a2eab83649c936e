// SPDX-License-Identifier: Apache-2.0
// See ways.h.
#include "api/ways.h"

#include <string.h>

#include "api/job.h"
#include "compiler/compile.h"
#include "compiler/network/target.h"
#include "sim/cycle/cycle.h"
#include "sim/figures.h"

static const struct {
  const char *name;
  bool normaliser, overlap;
} ways[API_WAYS] = {
    {"hart", false, false},
    {"hart beside the array", false, true},
    {"normaliser", true, false},
};

bool api_ways_asked(const weft_network_options *o) {
  return o->normaliser != NULL && strcmp(o->normaliser, "auto") == 0;
}

// ---- one way

// Why it cannot be, or NULL.
static const char *refusal(int way, const weft_array *array, const weft_network_options *o) {
  const bool mixes = o->fuse != NULL && strcmp(o->fuse, "off") != 0;
  if (ways[way].normaliser && network_unit_columns(&array->array) == 0)
    return "the array has no normaliser that networks can use";
  if (ways[way].overlap && mixes) return "steps that are mixed have no loops of the hardware";
  if (!ways[way].overlap && !ways[way].normaliser && o->overlap)
    return "hart and array at one time, by overlap or several images";
  return NULL;
}

// Cycles and energy of all, the hart's among them; false: the call has ended.
static bool measure(weft_session *s, const api_job *job, compile_verdict *verdict) {
  const sim_engine_options timing = {.timing_only = true, .quiet = true};
  const run_network_config config = {.engine = &sim_cycle_engine,
                                     .options = &timing,
                                     .inputs = (const void *const *)job->inputs,
                                     .hart = RUN_HART_TIMED,
                                     .stop = &s->stop};
  run_network_result result = {0};
  const bool good = run_network(job->net, &config, &result, &s->diag);
  if (good) {
    const sim_figures figures =
        result.has_units ? sim_figures_of(&result.units, &result.hart, &job->array.array) : (sim_figures){0};
    *verdict =
        (compile_verdict){.cycles = result.cycles, .energy_pj = figures.energy_pj, .has_energy = figures.has_energy};
  }
  run_network_release(job->net, &result);
  if (!good) api_end(s, false, WEFT_CANNOT_BUILD);
  return good;
}

static api_loaded *open_way(weft_session *s, const weft_array *array, const char *path, const weft_network_options *o,
                            int way, api_way *to, compile_verdict *verdict) {
  weft_network_options own = *o;
  own.normaliser = ways[way].normaliser ? "on" : "off";
  own.overlap |= ways[way].overlap;
  api_progress(s, 0, 0, ways[way].name);
  api_loaded *loaded = api_network_load(s, array, path, &own);
  if (loaded == NULL) return NULL;
  if (!measure(s, &loaded->job, verdict)) return api_network_drop(loaded), NULL;
  to->cycles = verdict->cycles;
  to->energy_uj = verdict->energy_pj / 1e6;
  to->has_energy = verdict->has_energy;
  return loaded;
}

// ---- the best

api_loaded *api_ways_open(weft_session *s, const weft_array *array, const char *path, const weft_network_options *o) {
  api_way found[API_WAYS];
  api_loaded *best = NULL;
  double least = 0;
  int chosen = 0;
  for (int w = 0; w < API_WAYS; w++) {
    compile_verdict verdict;
    found[w] = (api_way){.name = ways[w].name, .refused = refusal(w, array, o)};
    if (found[w].refused != NULL) continue;
    api_loaded *next = open_way(s, array, path, o, w, &found[w], &verdict);
    if (next == NULL) {
      if (best != NULL) api_network_drop(best);
      return NULL;
    }
    const double value = compile_value(next->job.objective, &verdict);
    const bool better = best == NULL || value < least;
    if (better) {
      least = value;
      chosen = w;
    }
    api_loaded *const worse = better ? best : next;
    if (better) best = next;
    if (worse != NULL) api_network_drop(worse);
  }
  if (best == NULL) return NULL;  // the hart's, or the hart's beside the array, is never refused
  found[chosen].chosen = true;
  memcpy(best->job.ways, found, sizeof found);
  return best;
}
