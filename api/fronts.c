// SPDX-License-Identifier: Apache-2.0
// The fronts of two engines in one store. See weft.h.
#include "search/report/fronts.h"

#include "api/private.h"
#include "base/alloc.h"
#include "runner/fidelity.h"

enum { CYCLE, FLOW, ENGINES };

struct weft_fronts {
  report_data data[ENGINES];
  report_fronts *networks;  // one for each of the store's
};

static bool load(weft_fronts *f, const char *store, wf_diag *diag) {
  return report_load(&f->data[CYCLE], store, run_fidelity_names[RUN_FIDELITY_CYCLE], diag) &&
         report_load(&f->data[FLOW], store, run_fidelity_names[RUN_FIDELITY_FLOW], diag);
}

static void compare(weft_fronts *f) {
  const size_t count = f->data[CYCLE].network_count;
  f->networks = WF_NEW_ARRAY(count + 1, report_fronts);
  for (size_t n = 0; n < count; n++) f->networks[n] = report_compare_fronts(&f->data[CYCLE], &f->data[FLOW], n);
}

weft_fronts *weft_fronts_compare(weft_session *s, const char *store) {
  if (!api_begin(s, "fronts") || !api_given(s, store, "the store")) return NULL;
  weft_fronts *f = WF_NEW(weft_fronts);
  const bool good = load(f, store, &s->diag);
  if (good) compare(f);
  if (api_end(s, good, WEFT_BAD_INPUT) == WEFT_OK) return f;
  weft_fronts_destroy(f);
  return NULL;
}

void weft_fronts_destroy(weft_fronts *f) {
  if (f == NULL) return;
  for (size_t n = 0; f->networks != NULL && n < f->data[CYCLE].network_count; n++) wf_free(f->networks[n].points);
  for (unsigned engine = 0; engine < ENGINES; engine++) report_release(&f->data[engine]);
  wf_free(f->networks);
  wf_free(f);
}

weft_status weft_fronts_network(const weft_fronts *f, size_t index, weft_front *front) {
  if (f == NULL || index >= f->data[CYCLE].network_count) return WEFT_USAGE;
  const report_fronts *of = &f->networks[index];
  const weft_front full = {.network = of->network,
                           .points = of->count,
                           .compared = of->compared,
                           .on_cycle = of->on[CYCLE],
                           .on_flow = of->on[FLOW],
                           .on_both = of->both,
                           .mean_error = of->mean_cycles,
                           .worst_error = of->worst_cycles,
                           .worst_off = of->worst_off};
  return api_give(&full, sizeof full, front);
}

weft_status weft_fronts_point(const weft_fronts *f, size_t network, size_t index, weft_front_point *point) {
  if (f == NULL || network >= f->data[CYCLE].network_count || index >= f->networks[network].count) return WEFT_USAGE;
  const report_fronts_point *of = &f->networks[network].points[index];
  const report_point *row = &f->data[CYCLE].points[of->point];
  const weft_front_point full = {.point = of->point,
                                 .array = row->array,
                                 .parameters = row->parameters,
                                 .on_cycle = of->on[CYCLE],
                                 .on_flow = of->on[FLOW],
                                 .cycles = of->cycles[CYCLE],
                                 .flow_cycles = of->cycles[FLOW],
                                 .energy_pj = of->energy_pj[CYCLE],
                                 .flow_energy_pj = of->energy_pj[FLOW],
                                 .off = of->off};
  return api_give(&full, sizeof full, point);
}
