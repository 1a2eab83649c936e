// SPDX-License-Identifier: Apache-2.0
// What a store knows of a layer: see schedules.h. Nearest are rows whose sizes differ by the smallest factors, and
// whose arrays do, which count half: distance = sum |ln n / n'| + 0.5 sum |ln a / a'|.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "search/schedules/schedules.h"

enum { NEAREST = 8 };

static int64_t or_one(int64_t n) { return n == 0 ? 1 : n; }

void schedules_class(const map_layer *l, char text[SCHEDULES_CLASS]) {
  snprintf(text, SCHEDULES_CLASS,
           "%s %" PRId64 "x%" PRId64 "/%" PRId64 "x%" PRId64 " dilation %" PRId64 "x%" PRId64 "%s%s%s pool %" PRIu32
           "/%" PRIu32,
           map_kind_names[l->kind], l->size[BLOCK_DIM_R], l->size[BLOCK_DIM_S], or_one(l->stride[0]),
           or_one(l->stride[1]), or_one(l->dilation[0]), or_one(l->dilation[1]), l->result_bytes == 4 ? " wide" : "",
           l->bias ? " bias" : "",
           l->residual == 0  ? ""
           : l->residual > 1 ? " times"
                             : " plus",
           l->pool_size, l->pool_stride);
}

static double apart(int64_t a, int64_t b) { return fabs(log((double)a / (double)b)); }

static double distance(const schedules_row *row, const map_layer *layer, const schedules_row *here) {
  double sizes = 0;
  for (int d = 0; d < BLOCK_DIMS; d++) sizes += apart(row->layer.size[d], layer->size[d]);
  return sizes + 0.5 * (apart(row->dim, here->dim) + apart(row->scratchpad_kib, here->scratchpad_kib) +
                        apart(row->accumulator_kib, here->accumulator_kib));
}

typedef struct nearest {
  const schedules_row *rows[NEAREST];
  double distance[NEAREST];
  size_t count;
} nearest;

static void offer(nearest *n, const schedules_row *row, double far) {
  size_t at = n->count < NEAREST ? n->count++ : NEAREST;
  if (at == NEAREST) {
    if (far >= n->distance[NEAREST - 1]) return;
    at--;
  }
  for (; at > 0 && n->distance[at - 1] > far; at--) {
    n->rows[at] = n->rows[at - 1];
    n->distance[at] = n->distance[at - 1];
  }
  n->rows[at] = row;
  n->distance[at] = far;
}

static nearest find_nearest(const schedules_lookup *l, const map_layer *layer) {
  schedules_row here;
  char class[SCHEDULES_CLASS], other[SCHEDULES_CLASS];
  nearest n = {.count = 0};
  schedules_set_array(&here, l->array);
  schedules_class(layer, class);
  for (size_t i = 0; i < schedules_count(l->store); i++) {
    const schedules_row *row = schedules_at(l->store, i);
    if (row->layer.kind != layer->kind || strcmp(row->objective, compile_objective_names[l->objective]) != 0) continue;
    schedules_class(&row->layer, other);
    if (strcmp(class, other) == 0) offer(&n, row, distance(row, layer, &here));
  }
  return n;
}

static bool is_new(const map_mapping *m, const map_mapping *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (map_equal(m, &list[i])) return false;
  return true;
}

size_t schedules_known(void *lookup, const map_layer *layer, map_mapping *list, size_t count, size_t room) {
  schedules_lookup *l = lookup;
  const nearest n = find_nearest(l, layer);
  const uint64_t own = map_layer_hash(layer), array = hw_array_hash(l->array);
  for (size_t i = 0; i < n.count && count < room; i++) {
    const schedules_row *row = n.rows[i];
    map_mapping m;
    const bool same = row->array == array && map_layer_hash(&row->layer) == own;
    if (l->exact_only && !same) continue;
    const map_retargeted how = map_retarget(&row->layer, &row->mapping, row->dim, layer, l->array, &m);
    const bool exact = same && how == MAP_RETARGET_FITS;
    atomic_fetch_add(exact                         ? &l->exact
                     : how == MAP_RETARGET_FITS    ? &l->fitted
                     : how == MAP_RETARGET_CLAMPED ? &l->clamped
                                                   : &l->rejected,
                     1);
    if (how != MAP_RETARGET_REJECTED && is_new(&m, list, count)) list[count++] = m;
  }
  return count;
}
