// SPDX-License-Identifier: Apache-2.0
// Layers on engine cycle beside closed forms of other simulators. See weft.h.
#include "search/crosscheck/crosscheck.h"

#include "api/layers.h"
#include "base/alloc.h"

// A row of a layer, whose name is its own.
typedef struct named_row {
  char *name;
  int64_t count;
  crosscheck_result result;
} named_row;

struct weft_crosscheck {
  named_row *rows;
  size_t count;
  weft_crosscheck_row sum;
};

_Static_assert((int)CROSSCHECK_CAUSE_COUNT <= (int)WEFT_CAUSES_MAX, "a row has room for all causes");

const char *weft_crosscheck_form(size_t index) {
  return index < CROSSCHECK_FORM_COUNT ? crosscheck_form_names[index] : NULL;
}

weft_status weft_crosscheck_cause(size_t index, weft_cause *cause) {
  if (index >= CROSSCHECK_CAUSE_COUNT) return WEFT_USAGE;
  const weft_cause full = {.name = crosscheck_cause_names[index], .meaning = crosscheck_cause_texts[index]};
  return api_give(&full, sizeof full, cause);
}

// ---- running

static void add(weft_crosscheck_row *sum, const crosscheck_result *r, int64_t count) {
  sum->cycles += count * r->cycles;
  sum->mesh_cycles += count * r->mesh_cycles;
  sum->ideal += count * r->ideal;
  sum->closed_form += count * r->said.cycles;
  for (int cause = 0; cause < CROSSCHECK_CAUSE_COUNT; cause++) sum->difference[cause] += count * r->by[cause];
}

// False: it was cancelled.
static bool run(weft_session *s, weft_crosscheck *c, const layers_network *network, const hw_array *array,
                crosscheck_form form) {
  for (; c->count < network->count; c->count++) {
    const layers_layer *layer = &network->layers[c->count];
    api_progress(s, c->count, network->count, layer->name);
    if (wf_stop_wanted(&s->stop)) return false;
    const crosscheck_result result = crosscheck_layer(layer, array, form, &s->diag);
    c->rows[c->count] = (named_row){wf_strdup(layer->name), layer->count, result};
    if (result.status == RUN_MEASURE_GOOD) add(&c->sum, &result, layer->count);
  }
  return true;
}

weft_crosscheck *weft_crosscheck_run(weft_session *s, const weft_layers *layers, const weft_array *array,
                                     const char *form) {
  if (!api_begin(s, "crosscheck") || !api_given(s, layers, "the layers") || !api_given(s, array, "the array"))
    return NULL;
  const int chosen = api_choice(s, "form", form, crosscheck_form_names, CROSSCHECK_FORM_COUNT);
  if (chosen < 0) return NULL;
  weft_crosscheck *made = WF_NEW(weft_crosscheck);
  made->rows = WF_NEW_ARRAY(layers->network.count, named_row);
  made->sum = (weft_crosscheck_row){.name = "all", .count = 1, .status = run_measure_status_names[RUN_MEASURE_GOOD]};
  const bool good = hw_array_check(&array->array, array->array.name, &s->diag) &&
                    run(s, made, &layers->network, &array->array, (crosscheck_form)chosen);
  if (api_end(s, good, WEFT_BAD_INPUT) == WEFT_OK) return made;
  weft_crosscheck_destroy(made);
  return NULL;
}

void weft_crosscheck_destroy(weft_crosscheck *c) {
  if (c == NULL) return;
  for (size_t i = 0; i < c->count; i++) wf_free(c->rows[i].name);
  wf_free(c->rows);
  wf_free(c);
}

// ---- rows

weft_status weft_crosscheck_at(const weft_crosscheck *c, size_t index, weft_crosscheck_row *row) {
  if (c == NULL || index >= c->count) return WEFT_USAGE;
  const named_row *from = &c->rows[index];
  weft_crosscheck_row full = {0};
  if (from->result.status == RUN_MEASURE_GOOD) add(&full, &from->result, 1);
  full.closed_form = from->result.said.cycles;
  full.name = from->name;
  full.count = from->count;
  full.status = run_measure_status_names[from->result.status];
  return api_give(&full, sizeof full, row);
}

weft_status weft_crosscheck_sum(const weft_crosscheck *c, weft_crosscheck_row *row) {
  return c == NULL ? WEFT_USAGE : api_give(&c->sum, sizeof c->sum, row);
}
