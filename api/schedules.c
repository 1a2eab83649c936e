// SPDX-License-Identifier: Apache-2.0
// Stores of tuned mappings. See weft.h.
#include "api/schedules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

_Static_assert(WEFT_LAYER_DIMS == (int)BLOCK_DIMS, "a layer has N, P, Q, K, C, R and S");

weft_schedules *weft_schedules_open(weft_session *s, const char *store, bool may_be_new) {
  if (!api_begin(s, "schedules") || !api_given(s, store, "the store")) return NULL;
  schedules *rows = schedules_open(store, may_be_new, &s->diag);
  if (api_end(s, rows != NULL, WEFT_BAD_INPUT) != WEFT_OK) return NULL;
  weft_schedules *opened = WF_NEW(weft_schedules);
  opened->rows = rows;
  return opened;
}

void weft_schedules_destroy(weft_schedules *tuned) {
  if (tuned == NULL) return;
  schedules_destroy(tuned->rows);
  wf_free(tuned);
}

weft_status weft_schedules_save(weft_session *s, const weft_schedules *tuned, const char *store) {
  if (!api_begin(s, "schedules") || !api_given(s, tuned, "the schedules") || !api_given(s, store, "the store"))
    return WEFT_USAGE;
  return api_end(s, schedules_save(tuned->rows, store, &s->diag), WEFT_BAD_INPUT);
}

size_t weft_schedules_count(const weft_schedules *tuned) { return tuned == NULL ? 0 : schedules_count(tuned->rows); }

weft_status weft_schedules_at(const weft_schedules *tuned, size_t index, weft_schedule *schedule) {
  if (index >= weft_schedules_count(tuned)) return WEFT_USAGE;
  const schedules_row *row = schedules_at(tuned->rows, index);
  weft_schedule full = {.array = row->array_name,
                        .array_hash = row->array,
                        .engine = row->engine,
                        .objective = row->objective,
                        .cycles = row->cycles,
                        .before = row->before,
                        .energy_pj = row->energy_pj,
                        .origin = row->origin,
                        .version = row->version};
  _Static_assert(sizeof full.layer >= SCHEDULES_CLASS, "the class of a layer has room");
  schedules_class(&row->layer, full.layer);
  memcpy(full.dim, row->layer.size, sizeof full.dim);
  return api_give(&full, sizeof full, schedule);
}

char *weft_schedules_mapping(weft_session *s, const weft_schedules *tuned, size_t index) {
  if (!api_begin(s, "schedules") || !api_given(s, tuned, "the schedules")) return NULL;
  if (index >= schedules_count(tuned->rows)) {
    api_refuse(s, "there are %zu schedules", schedules_count(tuned->rows));
    return NULL;
  }
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (out != NULL) {
    map_print(&schedules_at(tuned->rows, index)->mapping, out);
    fclose(out);
  }
  api_end(s, text != NULL, WEFT_CANNOT_BUILD);
  return text;
}

weft_status weft_schedules_used(const weft_schedules *tuned, weft_schedules_use *use) {
  return tuned == NULL ? WEFT_USAGE : api_give(&tuned->use, sizeof tuned->use, use);
}

// ---- rows of others

static bool same_place(const schedules_row *a, const schedules_row *b) {
  return a->array == b->array && map_layer_hash(&a->layer) == map_layer_hash(&b->layer) &&
         strcmp(a->engine, b->engine) == 0 && strcmp(a->objective, b->objective) == 0;
}

// Whether the store has as good a row for the same; rows without a network's cycles cannot be compared and stay.
static bool has_better(const schedules *store, const schedules_row *row) {
  for (size_t i = 0; i < schedules_count(store); i++) {
    const schedules_row *own = schedules_at(store, i);
    if (same_place(own, row)) return strcmp(own->origin, row->origin) != 0 || own->cycles <= row->cycles;
  }
  return false;
}

weft_status weft_schedules_import(weft_session *s, weft_schedules *tuned, const weft_schedules *from, uint64_t *taken) {
  uint64_t count = 0;
  if (!api_begin(s, "schedules") || !api_given(s, tuned, "the schedules") ||
      !api_given(s, from, "the schedules to take from"))
    return WEFT_USAGE;
  for (size_t i = 0; i < schedules_count(from->rows); i++) {
    if (has_better(tuned->rows, schedules_at(from->rows, i))) continue;
    schedules_add(tuned->rows, schedules_at(from->rows, i));
    count++;
  }
  if (taken != NULL) *taken = count;
  return api_end(s, true, WEFT_OK);
}

static bool is_to_go(void *context, const schedules_row *row) {
  const bool *other_versions = context;
  if (*other_versions && strcmp(row->version, weft_version()) != 0) return true;
  return row->before > 0 && row->cycles >= row->before && strcmp(row->objective, "cycles") == 0;
}

weft_status weft_schedules_prune(weft_session *s, weft_schedules *tuned, bool other_versions, uint64_t *removed) {
  if (!api_begin(s, "schedules") || !api_given(s, tuned, "the schedules")) return WEFT_USAGE;
  const size_t gone = schedules_remove(tuned->rows, is_to_go, &other_versions);
  if (removed != NULL) *removed = gone;
  return api_end(s, true, WEFT_OK);
}
