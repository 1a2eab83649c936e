// SPDX-License-Identifier: Apache-2.0
// Layers beside closed forms: see crosscheck.h.
#include "search/crosscheck/crosscheck.h"

#include "base/number.h"

#define X(NAME, name, what) name,
const char *const crosscheck_cause_names[CROSSCHECK_CAUSE_COUNT] = {CROSSCHECK_CAUSES(X)};
#undef X
#define X(NAME, name, what) what,
const char *const crosscheck_cause_texts[CROSSCHECK_CAUSE_COUNT] = {CROSSCHECK_CAUSES(X)};
#undef X

// All cycles of the run have a cause of run_waits; those of products are split by what the mesh does.
static void compare(const run_waits *waits, crosscheck_result *r) {
  r->by[CROSSCHECK_FILLS] = -r->said.fills;
  r->by[CROSSCHECK_ROWS] = r->mesh_cycles - r->said.rows;
  r->by[CROSSCHECK_GAPS] = (int64_t)waits->cycles[RUN_WAIT_PRODUCTS] - r->mesh_cycles;
  r->by[CROSSCHECK_LOADS] = (int64_t)waits->cycles[RUN_WAIT_LOADS];
  r->by[CROSSCHECK_STORES] = (int64_t)waits->cycles[RUN_WAIT_STORES];
  r->by[CROSSCHECK_COMMANDS] = (int64_t)waits->cycles[RUN_WAIT_COMMANDS];
  r->by[CROSSCHECK_END] = (int64_t)waits->cycles[RUN_WAIT_END];
}

crosscheck_result crosscheck_layer(const layers_layer *layer, const hw_array *array, crosscheck_form form,
                                   wf_diag *diag) {
  const map_layer map = layers_to_map(layer);
  const unsigned side = hw_derive(array).dim;
  run_waits waits;
  const run_measure_request request = {.layer = &map, .array = array, .waits = &waits};
  const run_measured m = run_measure(&request, diag);
  crosscheck_result r = {.status = m.status, .said = crosscheck_ask(form, layer, side)};
  if (m.status != RUN_MEASURE_GOOD) return r;
  r.cycles = (int64_t)m.cycles;
  r.mesh_cycles = (int64_t)m.mesh_cycles;
  r.ideal = wf_ceil_div((int64_t)m.macs, (int64_t)side * side);
  compare(&waits, &r);
  return r;
}
