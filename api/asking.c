// SPDX-License-Identifier: Apache-2.0
// Tuning as options choose it, and its store: see schedules.h.
#include "api/schedules.h"
#include "hw/tech.h"
#include "runner/fidelity.h"
#include "runner/judge.h"

// ---- choices

static bool has_energy(const hw_array *array) {
  hw_tech tech;
  hw_tech_of(&tech, array);
  return tech.has.energy_pj;
}

bool api_tuning(weft_session *s, uint32_t count, const char *with, const char *objective, const hw_array *array,
                compile_tuning *tuning) {
  const int engine = api_choice(s, "tune_with", with, run_fidelity_names, RUN_FIDELITY_COUNT);
  if (engine < 0) return false;
  const int least = api_choice(s, "tune_objective", objective, compile_objective_names, COMPILE_OBJECTIVE_COUNT);
  if (least < 0) return false;
  if (count > MAP_BEST_MAX) return api_refuse(s, "tune is at most %d", MAP_BEST_MAX), false;
  if (least != COMPILE_CYCLES && !has_energy(array))
    return api_refuse(s, "tune_objective %s: the technology of array %s has no energies", objective, array->name),
           false;
  *tuning = run_tuning(count, (run_fidelity)engine, (compile_objective)least);
  return true;
}

// ---- the store

void api_asking_begin(api_asking *a, weft_schedules *store, const hw_array *array, compile_tuning *tuning) {
  *a = (api_asking){.store = store};
  if (store == NULL) return;
  a->lookup.store = store->rows;
  a->lookup.array = array;
  a->lookup.objective = tuning->objective;
  a->lookup.exact_only = tuning->count <= 1;
  tuning->known = schedules_known;
  tuning->known_context = &a->lookup;
}

// The last judge is always engine cycle.
static void add(api_asking *a, const char *origin, const map_layer *layer, schedules_row *row) {
  row->layer = *layer;
  schedules_set_array(row, a->lookup.array);
  snprintf(row->engine, sizeof row->engine, "%s", run_fidelity_names[RUN_FIDELITY_CYCLE]);
  snprintf(row->objective, sizeof row->objective, "%s", compile_objective_names[a->lookup.objective]);
  snprintf(row->origin, sizeof row->origin, "%s", origin);
  snprintf(row->version, sizeof row->version, "%s", weft_version());
  schedules_add(a->store->rows, row);
  a->store->use.added++;
}

void api_asking_add_network(api_asking *a, const char *origin, const run_tune_result *tuned) {
  for (size_t i = 0; a->store != NULL && i < tuned->shape_count; i++) {
    const run_tune_shape *one = &tuned->shapes[i];
    schedules_row row = {
        .cycles = one->cycles, .before = one->before, .energy_pj = one->energy_pj, .mapping = one->mapping};
    add(a, origin, &one->call->layer, &row);
  }
}

void api_asking_add_kernel(api_asking *a, const char *origin, const compile_result *result) {
  if (a->store == NULL || !result->mapped || result->tuned_cycles == 0) return;
  schedules_row row = {.cycles = result->tuned_cycles, .mapping = result->mapping};
  add(a, origin, &result->layer, &row);
}

void api_asking_end(api_asking *a) {
  if (a->store == NULL) return;
  weft_schedules_use *use = &a->store->use;
  use->known += a->lookup.exact;
  use->carried += a->lookup.fitted;
  use->made_small += a->lookup.clamped;
  use->refused += a->lookup.rejected;
}
