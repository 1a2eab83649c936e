// SPDX-License-Identifier: Apache-2.0
// Gathers the contents of a store: see data.h.
#include "search/report/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "hw/array.h"
#include "search/sweep/query.h"

enum { BITS = 8 };

typedef struct loader {
  report_data *data;
  const char *path;
  wf_diag *diag;
  const char **layer_hashes;  // of the layers that differ
} loader;

static const char *keep(const loader *l, const sweep_query *q, int column) {
  const char *text = sweep_query_text(q, column);
  return wf_arena_text(l->data->arena, text, strlen(text));
}

// Calls `row` for each row of a statement.
static bool each(loader *l, const char *sql, void (*row)(loader *l, const sweep_query *q)) {
  const unsigned before = l->diag->errors;
  sweep_query *q = sweep_query_open(l->path, sql, NULL, 0, l->diag);
  if (q == NULL) return false;
  while (sweep_query_next(q, l->diag)) row(l, q);
  sweep_query_close(q);
  return l->diag->errors == before;
}

static size_t count_of(loader *l, const char *sql) {
  sweep_query *q = sweep_query_open(l->path, sql, NULL, 0, l->diag);
  const size_t count = q != NULL && sweep_query_next(q, l->diag) ? (size_t)sweep_query_number(q, 0) : 0;
  if (q != NULL) sweep_query_close(q);
  return count;
}

// ---- networks

static void add_network(loader *l, const sweep_query *q) {
  l->data->networks[l->data->network_count++] =
      (report_network){.name = keep(l, q, 0), .description = keep(l, q, 1), .macs = (int64_t)sweep_query_number(q, 2)};
}

static size_t unique_of(loader *l, const char *hash) {
  size_t at = 0;
  while (at < l->data->unique_count && strcmp(l->layer_hashes[at], hash) != 0) at++;
  if (at == l->data->unique_count) l->layer_hashes[l->data->unique_count++] = hash;
  return at;
}

static report_network *network_named(const loader *l, const char *name) {
  for (size_t n = 0; n < l->data->network_count; n++)
    if (strcmp(l->data->networks[n].name, name) == 0) return &l->data->networks[n];
  return NULL;
}

static void add_layer(loader *l, const sweep_query *q) {
  report_network *network = network_named(l, sweep_query_text(q, 0));
  if (network == NULL) return;
  size_t room = network->layer_count;
  network->layers =
      wf_arena_grow(l->data->arena, network->layers, network->layer_count, &room, sizeof *network->layers);
  network->layers[network->layer_count++] = (report_layer){.name = keep(l, q, 1),
                                                           .unique = unique_of(l, keep(l, q, 2)),
                                                           .count = (int64_t)sweep_query_number(q, 3),
                                                           .macs = (int64_t)sweep_query_number(q, 4)};
}

static bool load_networks(loader *l) {
  report_data *d = l->data;
  d->networks = WF_ARENA_ARRAY(d->arena, count_of(l, "SELECT count(*) FROM network") + 1, report_network);
  l->layer_hashes = WF_ARENA_ARRAY(d->arena, count_of(l, "SELECT count(*) FROM layer") + 1, const char *);
  return each(l, "SELECT name, description, macs FROM network ORDER BY name", add_network) &&
         each(l, "SELECT network, name, hash, count, macs FROM layer ORDER BY network, position", add_layer);
}

// ---- points

static double bus_bytes_of(const char *yaml) {
  hw_array array;
  wf_diag silent = wf_diag_to(NULL);
  return hw_array_parse(&array, "array", yaml, strlen(yaml), &silent) ? array.dma.bus_bits / (double)BITS : 0;
}

static void add_point(loader *l, const sweep_query *q) {
  report_data *d = l->data;
  report_point *p = &d->points[d->point_count++];
  *p = (report_point){
      .array = keep(l, q, 0), .parameters = keep(l, q, 1), .status = keep(l, q, 2), .reason = keep(l, q, 3)};
  p->sums = WF_ARENA_ARRAY(d->arena, d->network_count + 1, report_sum);
  if (sweep_query_kind_of(q, 4) == QUERY_NULL) return;
  p->yaml = keep(l, q, 4);
  p->dim = (int64_t)sweep_query_number(q, 5);
  p->scratchpad_kib = (int64_t)sweep_query_number(q, 6);
  p->accumulator_kib = (int64_t)sweep_query_number(q, 7);
  p->logic_um2 = sweep_query_number(q, 8);
  p->memory_bits = (int64_t)sweep_query_number(q, 9);
  p->bus_bytes = bus_bytes_of(p->yaml);
}

static int by_array(const void *a, const void *b) {
  const report_point *const *x = a, *const *y = b;
  return strcmp((*x)->array, (*y)->array);
}

// Points sorted by array, so that measurements find theirs; those of one array share its measurements.
typedef struct point_index {
  report_point **points;
  size_t count;
} point_index;

static point_index index_points(const report_data *d) {
  point_index in = {.points = wf_calloc(d->point_count + 1, sizeof *in.points), .count = d->point_count};
  for (size_t i = 0; i < d->point_count; i++) in.points[i] = &d->points[i];
  qsort(in.points, in.count, sizeof *in.points, by_array);
  report_measurement *shared = NULL;
  for (size_t i = 0; i < in.count; i++) {
    if (i == 0 || strcmp(in.points[i]->array, in.points[i - 1]->array) != 0)
      shared = WF_ARENA_ARRAY(d->arena, d->unique_count + 1, report_measurement);
    in.points[i]->measurements = shared;
  }
  return in;
}

static report_point *find_point(const point_index *in, const char *array) {
  const report_point key = {.array = array};
  const report_point *at = &key;
  report_point **found = bsearch(&at, in->points, in->count, sizeof *in->points, by_array);
  return found == NULL ? NULL : *found;
}

static void take_measurement(loader *l, const point_index *in, const sweep_query *q) {
  report_point *p = find_point(in, sweep_query_text(q, 0));
  size_t unique = 0;
  while (unique < l->data->unique_count && strcmp(l->layer_hashes[unique], sweep_query_text(q, 1)) != 0) unique++;
  if (p == NULL || unique == l->data->unique_count) return;
  l->data->policy = keep(l, q, 11);
  p->measurements[unique] = (report_measurement){.status = keep(l, q, 2),
                                                 .reason = keep(l, q, 3),
                                                 .cycles = (int64_t)sweep_query_number(q, 4),
                                                 .utilisation = sweep_query_number(q, 5),
                                                 .energy_pj = sweep_query_number(q, 6),
                                                 .read_bytes = (int64_t)sweep_query_number(q, 7),
                                                 .written_bytes = (int64_t)sweep_query_number(q, 8),
                                                 .bound = keep(l, q, 9),
                                                 .units = keep(l, q, 10),
                                                 .mapping = keep(l, q, 12)};
  l->data->failure_count += strcmp(sweep_query_text(q, 2), "good") != 0;
}

static bool load_measurements(loader *l) {
  static const char sql[] =
      "SELECT array, layer, status, reason, cycles, utilisation, energy_pj, read_bytes, written_bytes, bound, units, "
      "policy, "
      "mapping FROM measurement";
  point_index in = index_points(l->data);
  sweep_query *q = sweep_query_open(l->path, sql, NULL, 0, l->diag);
  while (q != NULL && sweep_query_next(q, l->diag)) take_measurement(l, &in, q);
  if (q != NULL) sweep_query_close(q);
  wf_free(in.points);
  return q != NULL;
}

static bool load_points(loader *l) {
  report_data *d = l->data;
  d->points = WF_ARENA_ARRAY(d->arena, count_of(l, "SELECT count(*) FROM point") + 1, report_point);
  return each(l,
              "SELECT p.array, p.parameters, p.status, p.reason, a.yaml, a.dim, a.scratchpad_kib, a.accumulator_kib, "
              "a.logic_um2, a.memory_bits FROM point p LEFT JOIN array a ON a.hash = p.array ORDER BY p.id",
              add_point) &&
         load_measurements(l);
}

// ---- sums and the front

static report_sum sum_of(const report_network *network, const report_point *p) {
  report_sum sum = {.good = p->yaml != NULL};
  for (size_t i = 0; i < network->layer_count && sum.good; i++) {
    const report_measurement *m = &p->measurements[network->layers[i].unique];
    sum.good = m->status != NULL && strcmp(m->status, "good") == 0;
    sum.cycles += (double)(network->layers[i].count * m->cycles);
    sum.energy_pj += (double)network->layers[i].count * m->energy_pj;
  }
  return sum;
}

// b is nowhere worse than a and somewhere better.
static bool is_beaten(const report_point *a, const report_point *b, size_t n) {
  const report_sum *x = &a->sums[n], *y = &b->sums[n];
  const bool no_worse = y->cycles <= x->cycles && y->energy_pj <= x->energy_pj && b->logic_um2 <= a->logic_um2 &&
                        b->memory_bits <= a->memory_bits;
  return no_worse && (y->cycles < x->cycles || y->energy_pj < x->energy_pj || b->logic_um2 < a->logic_um2 ||
                      b->memory_bits < a->memory_bits);
}

static void find_front(report_data *d, size_t n) {
  report_point **front = wf_calloc(d->point_count + 1, sizeof *front);
  size_t count = 0;
  for (size_t i = 0; i < d->point_count; i++) {
    report_point *p = &d->points[i];
    bool beaten = !p->sums[n].good;
    for (size_t f = 0; f < count && !beaten; f++) beaten = is_beaten(p, front[f], n);
    if (beaten) continue;
    size_t kept = 0;
    for (size_t f = 0; f < count; f++)
      if (!is_beaten(front[f], p, n)) front[kept++] = front[f];
    count = kept;
    front[count++] = p;
  }
  for (size_t f = 0; f < count; f++) front[f]->front = true;
  wf_free(front);
}

static void add_up(report_data *d) {
  for (size_t n = 0; n < d->network_count; n++) {
    for (size_t i = 0; i < d->point_count; i++) d->points[i].sums[n] = sum_of(&d->networks[n], &d->points[i]);
    find_front(d, n);
  }
}

static void take_key(loader *l, const sweep_query *q) {
  const char *key = sweep_query_text(q, 0);
  if (strcmp(key, "name") == 0) l->data->name = keep(l, q, 1);
  if (strcmp(key, "version") == 0) l->data->version = keep(l, q, 1);
}

bool report_load(report_data *data, const char *store, wf_diag *diag) {
  *data = (report_data){.arena = wf_arena_create(), .name = "", .version = "", .policy = "default"};
  loader l = {.data = data, .path = store, .diag = diag};
  if (!each(&l, "SELECT key, value FROM sweep", take_key) || !load_networks(&l) || !load_points(&l)) return false;
  add_up(data);
  return true;
}

void report_release(report_data *data) {
  if (data->arena != NULL) wf_arena_destroy(data->arena);
  *data = (report_data){0};
}

double report_bound_cycles(const report_point *point, const report_layer *layer, const report_measurement *m) {
  const double compute = (double)layer->macs / ((double)point->dim * (double)point->dim);
  const double most = (double)(m->read_bytes > m->written_bytes ? m->read_bytes : m->written_bytes);
  const double bus = point->bus_bytes > 0 ? most / point->bus_bytes : 0;
  return compute > bus ? compute : bus;
}
