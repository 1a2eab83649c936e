// SPDX-License-Identifier: Apache-2.0
// The schedule store of a verb that compiles: see schedule_store.h.
#include "cli/schedule_store.h"

#include <inttypes.h>

#include "runner/fidelity.h"
#include "weft_version.h"

cli_exit schedule_store_open(schedule_store *s, const char *path, const hw_array *array, compile_tuning *tuning,
                             wf_diag *diag) {
  *s = (schedule_store){.path = path};
  if (path == NULL) return CLI_OK;
  s->rows = schedules_open(path, tuning->count > 1, diag);
  if (s->rows == NULL) return CLI_BAD_INPUT;
  s->lookup.store = s->rows;
  s->lookup.array = array;
  s->lookup.objective = tuning->objective;
  s->lookup.exact_only = tuning->count <= 1;
  tuning->known = schedules_known;
  tuning->known_context = &s->lookup;
  return CLI_OK;
}

// The last judge is always engine cycle.
static void add(schedule_store *s, const char *origin, const map_layer *layer, schedules_row *row) {
  row->layer = *layer;
  schedules_set_array(row, s->lookup.array);
  snprintf(row->engine, sizeof row->engine, "%s", run_fidelity_names[RUN_FIDELITY_CYCLE]);
  snprintf(row->objective, sizeof row->objective, "%s", compile_objective_names[s->lookup.objective]);
  snprintf(row->origin, sizeof row->origin, "%s", origin);
  snprintf(row->version, sizeof row->version, "%s (%s)", WEFT_VERSION, WEFT_GIT_VERSION);
  schedules_add(s->rows, row);
  s->added++;
}

void schedule_store_add_network(schedule_store *s, const char *origin, const run_tune_result *tuned) {
  for (size_t i = 0; s->rows != NULL && i < tuned->shape_count; i++) {
    const run_tune_shape *one = &tuned->shapes[i];
    schedules_row row = {
        .cycles = one->cycles, .before = one->before, .energy_pj = one->energy_pj, .mapping = one->mapping};
    add(s, origin, &one->call->layer, &row);
  }
}

void schedule_store_add_kernel(schedule_store *s, const char *origin, const compile_result *result) {
  if (s->rows == NULL || !result->mapped || result->tuned_cycles == 0) return;
  schedules_row row = {.cycles = result->tuned_cycles, .mapping = result->mapping};
  add(s, origin, &result->layer, &row);
}

bool schedule_store_close(schedule_store *s, bool quiet, wf_diag *diag) {
  if (s->rows == NULL) return true;
  const bool good = s->added == 0 || schedules_save(s->rows, s->path, diag);
  const schedules_lookup *l = &s->lookup;
  if (good && !quiet)
    fprintf(stderr,
            "weft: schedules %s: %" PRIu64 " layers known, %" PRIu64 " mappings carried over, %" PRIu64
            " more made smaller, %" PRIu64 " refused; %" PRIu64 " written\n",
            s->path, l->exact, l->fitted, l->clamped, l->rejected, s->added);
  schedules_destroy(s->rows);
  *s = (schedule_store){0};
  return good;
}
