// SPDX-License-Identifier: Apache-2.0
// Gathers the contents of a store: see data.h.
#include "search/report/data.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text_map.h"
#include "hw/array.h"
#include "search/report/front.h"
#include "search/sweep/query.h"

enum { BITS = 8 };

// One table after the other, all as they were at one time. The first value that is not what the schema says ends it.
typedef struct loader {
  report_data *data;
  sweep_reader *reader;
  const char *path;
  const char *table;  // that is being read
  wf_diag *diag;
  wf_text_map networks, layers;  // places of names, and of hashes
  size_t network_room, point_room;
  bool bad;
} loader;

// ---- values of a row

static void refuse(loader *l, const sweep_query *q, int column, const char *wanted) {
  static const char *const kinds[] = {
      [QUERY_NULL] = "nothing", [QUERY_INTEGER] = "an integer", [QUERY_NUMBER] = "a number", [QUERY_TEXT] = "a text"};
  if (l->bad) return;
  wf_error(l->diag, wf_in_file(l->path), "table %s, column %s: %s where %s was expected", l->table,
           sweep_query_name(q, column), kinds[sweep_query_kind_of(q, column)], wanted);
  l->bad = true;
}

static bool is_null(const sweep_query *q, int column) { return sweep_query_kind_of(q, column) == QUERY_NULL; }

// A copy that stays; "" for nothing.
static const char *any_text(loader *l, const sweep_query *q, int column) {
  if (!is_null(q, column) && sweep_query_kind_of(q, column) != QUERY_TEXT) refuse(l, q, column, "a text");
  const char *text = sweep_query_text(q, column);
  return wf_arena_text(l->data->arena, text, strlen(text));
}

static const char *text_of(loader *l, const sweep_query *q, int column) {
  if (is_null(q, column)) refuse(l, q, column, "a text");
  return any_text(l, q, column);
}

static int64_t whole_of(loader *l, const sweep_query *q, int column, int64_t least) {
  const bool good = sweep_query_kind_of(q, column) == QUERY_INTEGER && sweep_query_integer(q, column) >= least;
  if (!good) refuse(l, q, column, least > 0 ? "an integer above 0" : "an integer from 0");
  return good ? sweep_query_integer(q, column) : least;
}

static double figure_of(loader *l, const sweep_query *q, int column) {
  const sweep_query_kind kind = sweep_query_kind_of(q, column);
  const double number = sweep_query_number(q, column);
  const bool good = (kind == QUERY_INTEGER || kind == QUERY_NUMBER) && isfinite(number) && number >= 0;
  if (!good) refuse(l, q, column, "a number from 0");
  return good ? number : 0;
}

// Calls `row` for each row of a statement about a table.
static bool each(loader *l, const char *table, const char *sql, void (*row)(loader *l, const sweep_query *q)) {
  const unsigned before = l->diag->errors;
  l->table = table;
  sweep_query *q = sweep_query_on(l->reader, sql, l->diag);
  if (q == NULL) return false;
  while (!l->bad && sweep_query_next(q, l->diag)) row(l, q);
  sweep_query_close(q);
  return l->diag->errors == before;
}

// ---- networks

static void add_network(loader *l, const sweep_query *q) {
  report_data *d = l->data;
  const report_network network = {
      .name = text_of(l, q, 0), .description = any_text(l, q, 1), .macs = whole_of(l, q, 2, 0)};
  wf_text_map_add(&l->networks, network.name);
  *WF_ARENA_PUSH(d->arena, d->networks, d->network_count, &l->network_room) = network;
}

static void add_layer(loader *l, const sweep_query *q) {
  size_t place;
  if (!wf_text_map_find(&l->networks, sweep_query_text(q, 0), &place)) return;
  report_network *network = &l->data->networks[place];
  const report_layer layer = {.name = text_of(l, q, 1),
                              .unique = wf_text_map_add(&l->layers, text_of(l, q, 2)),
                              .count = whole_of(l, q, 3, 1),
                              .macs = whole_of(l, q, 4, 0)};
  size_t *room = &network->layer_room;
  *WF_ARENA_PUSH(l->data->arena, network->layers, network->layer_count, room) = layer;
}

// The program that a step belongs to is the one layer of its network until then.
static void add_step(loader *l, const sweep_query *q) {
  size_t place;
  if (!wf_text_map_find(&l->networks, sweep_query_text(q, 0), &place)) return;
  report_network *network = &l->data->networks[place];
  const int64_t count = whole_of(l, q, 3, 1);
  const char *name = text_of(l, q, 1);
  if (count > 1) name = wf_arena_format(l->data->arena, "%s x %" PRId64, name, count);
  if (network->layer_count > 0) network->layers[0].is_program = true;
  *WF_ARENA_PUSH(l->data->arena, network->layers, network->layer_count, &network->layer_room) =
      (report_layer){.is_step = true,
                     .name = name,
                     .unique = wf_text_map_add(&l->layers, text_of(l, q, 2)),
                     .count = 1,
                     .macs = whole_of(l, q, 4, 0)};
}

// What tells steps apart, on all arrays.
#define STEP_KEY "layer || ':' || position || ':' || shape || ':' || count"

static bool load_networks(loader *l) {
  const bool good =
      each(l, "network", "SELECT name, description, macs FROM network ORDER BY name", add_network) &&
      each(l, "layer", "SELECT network, name, hash, count, macs FROM layer ORDER BY network, position", add_layer) &&
      each(l, "step",
           "SELECT l.network, s.name, s.key, s.count, s.macs FROM (SELECT layer, position, count, min(name) AS name, "
           "min(macs) AS macs, " STEP_KEY
           " AS key FROM step GROUP BY key) s JOIN layer l ON l.hash = s.layer "
           "ORDER BY l.network, s.position, s.key",
           add_step);
  l->data->unique_count = l->layers.count;
  return good;
}

// ---- points

static double bus_bytes_of(const char *yaml) {
  hw_array array;
  wf_diag silent = wf_diag_to(NULL);
  return hw_array_parse(&array, "array", yaml, strlen(yaml), &silent) ? array.dma.bus_bits / (double)BITS : 0;
}

static void add_point(loader *l, const sweep_query *q) {
  report_data *d = l->data;
  report_point p = {.array = text_of(l, q, 0),
                    .parameters = text_of(l, q, 1),
                    .status = text_of(l, q, 2),
                    .reason = any_text(l, q, 3)};
  p.sums = WF_ARENA_ARRAY(d->arena, d->network_count + 1, report_sum);
  if (!is_null(q, 4)) {
    p.yaml = text_of(l, q, 4);
    p.dim = whole_of(l, q, 5, 1);
    p.scratchpad_kib = whole_of(l, q, 6, 0);
    p.accumulator_kib = whole_of(l, q, 7, 0);
    p.logic_um2 = figure_of(l, q, 8);
    p.memory_bits = whole_of(l, q, 9, 0);
    p.bus_bytes = bus_bytes_of(p.yaml);
    p.technology = text_of(l, q, 10);
    if (!is_null(q, 11)) p.area_um2 = figure_of(l, q, 11);
    p.area_whole = whole_of(l, q, 12, 0) != 0;
  }
  *WF_ARENA_PUSH(d->arena, d->points, d->point_count, &l->point_room) = p;
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

// {"mesh": 12.5, ...}: what is no part, and no energy, is passed over.
static void take_parts(const char *text, double parts[SIM_PARTS]) {
  cJSON *object = cJSON_Parse(text);
  for (unsigned part = 0; part < SIM_PARTS; part++) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, sim_part_names[part]);
    if (cJSON_IsNumber(item) && isfinite(item->valuedouble) && item->valuedouble > 0) parts[part] = item->valuedouble;
  }
  cJSON_Delete(object);
}

// The figures of a measurement that is good; the others have none.
static void take_figures(loader *l, const sweep_query *q, report_measurement *m) {
  m->cycles = whole_of(l, q, 4, 0);
  m->utilisation = figure_of(l, q, 5);
  m->has_energy = !is_null(q, 6);
  if (m->has_energy) m->energy_pj = figure_of(l, q, 6);
  if (m->has_energy) m->array_pj = figure_of(l, q, 12);
  if (m->has_energy) take_parts(any_text(l, q, 13), m->part_pj);
  m->read_bytes = whole_of(l, q, 7, 0);
  m->written_bytes = whole_of(l, q, 8, 0);
}

static void take_measurement(loader *l, const point_index *in, const sweep_query *q) {
  report_point *p = find_point(in, sweep_query_text(q, 0));
  size_t unique;
  if (p == NULL || !wf_text_map_find(&l->layers, sweep_query_text(q, 1), &unique)) return;
  report_measurement m = {
      .status = text_of(l, q, 2), .reason = any_text(l, q, 3), .bound = any_text(l, q, 9), .units = any_text(l, q, 10)};
  l->data->policy = text_of(l, q, 11);
  const bool good = strcmp(m.status, "good") == 0;
  if (good) take_figures(l, q, &m);
  l->data->failure_count += !good;
  p->measurements[unique] = m;
}

static bool load_rows(loader *l, const point_index *in, const char *table, const char *columns, const char *engine) {
  const unsigned before = l->diag->errors;
  l->table = table;
  char *sql = wf_format("%s WHERE engine = '%s'", columns, engine);
  sweep_query *q = sweep_query_on(l->reader, sql, l->diag);
  wf_free(sql);
  if (q == NULL) return false;
  while (!l->bad && sweep_query_next(q, l->diag)) take_measurement(l, in, q);
  sweep_query_close(q);
  return l->diag->errors == before;
}

static bool load_measurements(loader *l) {
  point_index in = index_points(l->data);
  const bool good =
      load_rows(l, &in, "measurement",
                "SELECT array, layer, status, reason, cycles, utilisation, energy_pj, read_bytes, written_bytes, "
                "bound, units, policy, array_energy_pj, energy FROM measurement",
                l->data->engine) &&
      load_rows(l, &in, "step",
                "SELECT array, " STEP_KEY
                ", 'good', '', cycles, utilisation, energy_pj, read_bytes, written_bytes, "
                "bound, units, policy, array_energy_pj, energy FROM step",
                l->data->engine);
  wf_free(in.points);
  return good;
}

static bool load_points(loader *l) {
  return each(l, "point",
              "SELECT p.array, p.parameters, p.status, p.reason, a.yaml, a.dim, a.scratchpad_kib, a.accumulator_kib, "
              "a.logic_um2, a.memory_bits, a.technology, a.area_um2, a.area_whole FROM point p LEFT JOIN array a ON "
              "a.hash = p.array ORDER BY p.id",
              add_point) &&
         load_measurements(l);
}

// ---- sums and the front

// In floating point, which has no end that a store could be made to reach.
static report_sum sum_of(const report_network *network, const report_point *p) {
  report_sum sum = {.good = p->yaml != NULL, .has_energy = true};
  for (size_t i = 0; i < network->layer_count && sum.good; i++) {
    const report_measurement *m = &p->measurements[network->layers[i].unique];
    if (network->layers[i].is_step) continue;
    sum.good = m->status != NULL && strcmp(m->status, "good") == 0;
    sum.has_energy = sum.has_energy && m->has_energy;
    sum.cycles += (double)network->layers[i].count * (double)m->cycles;
    sum.energy_pj += (double)network->layers[i].count * m->energy_pj;
    sum.array_pj += (double)network->layers[i].count * m->array_pj;
    for (unsigned part = 0; part < SIM_PARTS; part++)
      sum.part_pj[part] += (double)network->layers[i].count * m->part_pj[part];
  }
  if (!sum.has_energy) sum.energy_pj = sum.array_pj = 0;
  return sum;
}

// What has no energy beats nothing that has one.
static void find_front(report_data *d, size_t n) {
  report_rival *rivals = wf_calloc(d->point_count + 1, sizeof *rivals);
  size_t count = 0, at = 0;
  for (size_t i = 0; i < d->point_count; i++) {
    const report_point *p = &d->points[i];
    const report_sum *sum = &p->sums[n];
    if (sum->good)
      rivals[count++] = (report_rival){.cycles = sum->cycles,
                                       .energy_pj = sum->has_energy ? sum->energy_pj : INFINITY,
                                       .logic_um2 = p->logic_um2,
                                       .memory_bits = p->memory_bits};
  }
  report_find_front(rivals, count);
  for (size_t i = 0; i < d->point_count; i++)
    if (d->points[i].sums[n].good && !rivals[at++].beaten) d->points[i].front = true;
  wf_free(rivals);
}

static void add_up(report_data *d) {
  for (size_t n = 0; n < d->network_count; n++) {
    for (size_t i = 0; i < d->point_count; i++) d->points[i].sums[n] = sum_of(&d->networks[n], &d->points[i]);
    find_front(d, n);
  }
}

static void take_key(loader *l, const sweep_query *q) {
  const char *key = sweep_query_text(q, 0);
  if (strcmp(key, "name") == 0) l->data->name = text_of(l, q, 1);
  if (strcmp(key, "version") == 0) l->data->version = text_of(l, q, 1);
}

// The names that the store has are one or several of run_fidelity.
static void take_engine(loader *l, const sweep_query *q) {
  const char **engine = &l->data->engine;
  const char *name = text_of(l, q, 0);
  for (int f = 0; f < RUN_FIDELITY_COUNT && *engine == NULL; f++)
    if (strcmp(name, run_fidelity_names[f]) == 0) *engine = run_fidelity_names[f];
}

// Names are in the order of the alphabet, which is that of exactness.
static bool choose_engine(loader *l, const char *wanted) {
  if (wanted == NULL) return each(l, "engine", "SELECT name FROM engine ORDER BY name", take_engine);
  run_fidelity fidelity;
  if (!run_fidelity_named(wanted, &fidelity, l->diag)) return false;
  l->data->engine = run_fidelity_names[fidelity];
  return true;
}

bool report_load(report_data *data, const char *store, const char *engine, wf_diag *diag) {
  *data = (report_data){.arena = wf_arena_create(), .name = "", .version = "", .policy = "default"};
  loader l = {.data = data, .reader = sweep_reader_open(store, diag), .path = store, .diag = diag};
  if (l.reader == NULL) return false;
  bool good = choose_engine(&l, engine);
  if (data->engine == NULL) data->engine = run_fidelity_names[RUN_FIDELITY_CYCLE];
  good = good && each(&l, "sweep", "SELECT key, value FROM sweep", take_key) && load_networks(&l) && load_points(&l);
  sweep_reader_close(l.reader);
  wf_text_map_release(&l.networks);
  wf_text_map_release(&l.layers);
  if (good) add_up(data);
  return good;
}

void report_release(report_data *data) {
  if (data->arena != NULL) wf_arena_destroy(data->arena);
  *data = (report_data){0};
}

bool report_shows(const report_layer *layer, const report_measurement *m) {
  return !layer->is_program && m->status != NULL && strcmp(m->status, "good") == 0;
}

double report_bound_cycles(const report_point *point, const report_layer *layer, const report_measurement *m) {
  const double compute = (double)layer->macs / ((double)point->dim * (double)point->dim);
  const double most = (double)(m->read_bytes > m->written_bytes ? m->read_bytes : m->written_bytes);
  const double bus = point->bus_bytes > 0 ? most / point->bus_bytes : 0;
  return compute > bus ? compute : bus;
}
