// SPDX-License-Identifier: Apache-2.0
// Rows of a study from its stores: see rows.h.
#include "search/study/rows.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "runner/fidelity.h"
#include "search/study/parts.h"
#include "search/sweep/query.h"

// A layer as a store has it; status NULL: there is none.
typedef struct measured {
  const char *status, *reason;
  double cycles, read_bytes, written_bytes;
} measured;

typedef struct reader {
  study_rows *rows;
  const study_part *part;
  measured **layers;  // by point of the part and network of the part, then by layer
  wf_arena *arena;    // of these
} reader;

// ---- stores

static size_t find_network(const study_part *part, const char *name) {
  size_t at = 0;
  while (at < part->spec.network_count && strcmp(part->spec.networks[at].name, name) != 0) at++;
  return at;
}

static measured **slot(const reader *r, size_t point, size_t network) {
  return &r->layers[point * r->part->spec.network_count + network];
}

static void make_slots(reader *r) {
  const sweep_spec *spec = &r->part->spec;
  r->layers = WF_ARENA_ARRAY(r->arena, spec->array_count * spec->network_count + 1, measured *);
  for (size_t p = 0; p < spec->array_count; p++)
    for (size_t n = 0; n < spec->network_count; n++)
      *slot(r, p, n) = WF_ARENA_ARRAY(r->arena, spec->networks[n].count + 1, measured);
}

static const char *keep(wf_arena *arena, const char *text) { return wf_arena_text(arena, text, strlen(text)); }

enum { POINT, NETWORK, POSITION, STATUS, REASON, CYCLES, READ, WRITTEN };

static void take(const reader *r, const sweep_query *q) {
  const size_t point = (size_t)sweep_query_integer(q, POINT), position = (size_t)sweep_query_integer(q, POSITION),
               network = find_network(r->part, sweep_query_text(q, NETWORK));
  if (point >= r->part->spec.array_count || network == r->part->spec.network_count ||
      position >= r->part->spec.networks[network].count)
    return;
  (*slot(r, point, network))[position] = (measured){.status = keep(r->rows->arena, sweep_query_text(q, STATUS)),
                                                    .reason = keep(r->rows->arena, sweep_query_text(q, REASON)),
                                                    .cycles = sweep_query_number(q, CYCLES),
                                                    .read_bytes = sweep_query_number(q, READ),
                                                    .written_bytes = sweep_query_number(q, WRITTEN)};
}

static bool read_store(const reader *r, const char *path, wf_diag *diag) {
  sweep_reader *store = sweep_reader_open(path, diag);
  if (store == NULL) return false;
  char *sql = wf_format(
      "SELECT point, network, position, status, reason, cycles, read_bytes, written_bytes FROM point_layer WHERE "
      "engine "
      "= '%s'",
      run_fidelity_names[r->part->spec.fidelity]);
  sweep_query *q = sweep_query_on(store, sql, diag);
  wf_free(sql);
  const unsigned errors = diag->errors;
  while (q != NULL && sweep_query_next(q, diag)) take(r, q);
  const bool good = q != NULL && diag->errors == errors;
  if (q != NULL) sweep_query_close(q);
  sweep_reader_close(store);
  return good;
}

// ---- rows

static void add_layer(study_row *row, const layers_layer *layer, const measured *m, double copy,
                      const hw_array *array) {
  const study_floors floors = study_floors_of(layer, array);
  const double count = (double)layer->count;
  row->cycles += count * m->cycles;
  row->roof += count * study_roof(&floors);
  row->mesh += count * floors.mesh;
  row->bytes += count * (m->read_bytes + m->written_bytes);
  row->copy += count * copy;
  row->by[study_bound_of(&floors, m->cycles, study_bus_cycles(m->read_bytes, m->written_bytes, array))] +=
      count * m->cycles;
  row->by[STUDY_BY_MEMORY] += count * copy;
}

static bool is_good(const measured *m) { return m->status != NULL && strcmp(m->status, "good") == 0; }

// The first layer without figures says why.
static void fail(study_row *row, const layers_network *network, const measured *layers, wf_arena *arena) {
  for (size_t i = 0; row->good && i < network->count; i++) {
    if (is_good(&layers[i])) continue;
    row->good = false;
    row->status = layers[i].status == NULL ? "missing" : layers[i].status;
    if (layers[i].reason != NULL && layers[i].reason[0] != '\0')
      row->reason = wf_arena_format(arena, "%s: %s", network->layers[i].name, layers[i].reason);
  }
}

static void fill(const reader *r, study_row *row, size_t point) {
  const study_spec *spec = r->rows->spec;
  const size_t at = study_part_network(spec, row->network, row->compression, row->lowering);
  const layers_network *network = &r->part->spec.networks[at];
  const hw_array *array = &r->part->spec.arrays[point];
  const measured *layers = *slot(r, point, at);
  const study_compression *c = &spec->compressions[row->compression];
  study_copy *copies = WF_ARENA_ARRAY(r->arena, network->count + 1, study_copy);
  const size_t own = c->kind == STUDY_WEIGHT ? 0 : row->compression;
  study_variant(&spec->networks[row->network], &spec->compressions[own], spec->lowerings[row->lowering], row->side,
                r->arena, copies);
  fail(row, network, layers, r->rows->arena);
  for (size_t i = 0; i < network->count; i++) {
    row->macs += (double)network->layers[i].count * layers_macs(&network->layers[i]);
    if (row->good)
      add_layer(row, &network->layers[i], &layers[i],
                study_memory_cycles(copies[i].read_bytes, copies[i].written_bytes, array), array);
  }
  if (c->kind == STUDY_WEIGHT) row->macs *= c->density;
  row->time = row->cycles + row->copy;
  for (int b = 0; b < STUDY_BOUND_COUNT; b++)
    if (row->by[b] > row->by[row->binds]) row->binds = (study_bound)b;
}

static study_row *row_of(const study_rows *rows, size_t network, size_t point, size_t compression, size_t lowering,
                         size_t mapping) {
  const study_spec *s = rows->spec;
  const size_t at = ((network * rows->points + point) * s->compression_count + compression) * s->lowering_count;
  return &rows->row[(at + lowering) * s->mapping_count + mapping];
}

const study_row *study_row_at(const study_rows *rows, size_t network, size_t point, size_t compression, size_t lowering,
                              size_t mapping) {
  return row_of(rows, network, point, compression, lowering, mapping);
}

static void fill_point(const reader *r, size_t point) {
  const study_spec *s = r->rows->spec;
  for (size_t n = 0; n < s->network_count; n++)
    for (size_t c = 0; c < s->compression_count; c++)
      for (size_t l = 0; l < s->lowering_count; l++) {
        study_row *row = row_of(r->rows, n, r->part->points[point], c, l, r->part->mapping);
        *row = (study_row){.network = n,
                           .point = r->part->points[point],
                           .compression = c,
                           .lowering = l,
                           .mapping = r->part->mapping,
                           .side = r->part->side,
                           .array = keep(r->rows->arena, r->part->spec.arrays[point].name),
                           .good = true,
                           .status = "good",
                           .reason = ""};
        fill(r, row, point);
      }
}

static void compare(const study_rows *rows, study_row *row) {
  const study_row *whole = study_row_at(rows, row->network, row->point, 0, row->lowering, row->mapping);
  row->expected = whole->macs / row->macs;
  row->left_out = 1 / study_blocks(&rows->spec->compressions[row->compression], row->side);
  row->has_speedup = row->good && whole->good;
  if (!row->has_speedup) return;
  row->achieved = whole->time / row->time;
  row->share = row->achieved / row->expected;
}

static bool read_part(study_rows *rows, const study_part *part, const char *directory, wf_diag *diag) {
  reader r = {.rows = rows, .part = part, .arena = wf_arena_create()};
  char *path = wf_format("%s/%s", directory, part->file);
  make_slots(&r);
  const bool good = read_store(&r, path, diag);
  for (size_t p = 0; good && p < part->spec.array_count; p++) fill_point(&r, p);
  wf_free(path);
  wf_arena_destroy(r.arena);
  return good;
}

bool study_rows_read(study_rows *rows, const study_spec *spec, const char *directory, wf_diag *diag) {
  *rows = (study_rows){.arena = wf_arena_create(), .spec = spec, .points = sweep_point_count(&spec->base)};
  rows->count = study_row_count(spec);
  rows->row = WF_ARENA_ARRAY(rows->arena, rows->count + 1, study_row);
  study_parts parts = study_parts_of(spec);
  bool good = true;
  for (size_t p = 0; p < parts.count && good; p++) good = read_part(rows, &parts.part[p], directory, diag);
  for (size_t i = 0; i < rows->count && good; i++) compare(rows, &rows->row[i]);
  study_parts_release(&parts);
  return good;
}

void study_rows_release(study_rows *rows) {
  if (rows->arena != NULL) wf_arena_destroy(rows->arena);
  *rows = (study_rows){0};
}
