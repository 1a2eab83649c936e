// SPDX-License-Identifier: Apache-2.0
// Rows for the normaliser become commands of one row: for each statistic that it needs one over all of its columns,
// then the stores. A store keeps the order of the program, so that no other row comes between them. Columns that do not
// count are stored before, as the first ones of their row times 0.
//
// A store becomes commands of up to DIM rows, and as many column blocks as lie DIM rows apart. Where stores take much
// of main memory's time and rows would visit few of its banks, commands have fewer rows, and the commands of all
// columns take turns.
#include <string.h>

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/schedule/expand.h"
#include "compiler/schedule/runs.h"

typedef struct store_piece {
  sched_expand *e;
  const block_layout *layout;
  sched_store store;
  int64_t column, rows;  // rows: of a command at most
  size_t count;          // pending, piece by piece
} store_piece;

static void put_run(void *context, const sched_run *rows) {
  store_piece *p = context;
  sched_store store = p->store;
  store.local |= block_layout_local(p->layout, store.instance, rows->local, p->column);
  store.rows = (uint16_t)rows->rows;
  store.offset = rows->memory;
  store.stride = rows->stride;
  *WF_ARENA_PUSH(p->e->arena, p->e->pending_stores, p->count, &p->e->pending_store_room) = store;
}

static bool refuse_norm(sched_expand *e, const block_statement *s) {
  const block_norm_kind kind = s->store.epilogue.norm.kind;
  wf_error(e->diag, s->where, "%s%s needs the normaliser, which array %s has not", block_norm_names[kind],
           block_norm_is_of_rows(kind) ? " of rows" : "", e->array->name);
  wf_hint(e->diag, "take an array with units.normaliser: --array transformer-16");
  return false;
}

static bool refuse_gate(sched_expand *e, const block_statement *s) {
  wf_error(e->diag, s->where, "a product of blocks, element by element, needs the gate, which array %s has not",
           e->array->name);
  wf_hint(e->diag, "take an array with units.gate: --array gated-16");
  return false;
}

// Command by command the factors of a gate lie as far from what is stored.
static bool lie_alike(const sched_expand *e, const block_statement *s) {
  const block_layout *a = &e->layouts[s->store.source.buffer], *b = &e->layouts[s->store.factors.buffer];
  return block_is_whole(e->program, &s->store.source) && block_is_whole(e->program, &s->store.factors) &&
         a->rows == b->rows && a->columns == b->columns && a->tile == b->tile && !b->accumulator;
}

static bool check(sched_expand *e, const block_statement *s) {
  const block_buffer *buffer = &e->program->buffers[s->store.source.buffer];
  const block_access *access = &s->store.access;
  const block_access_dim *last = &access->dim[access->rank - 1];
  const block_epilogue *epilogue = &s->store.epilogue;
  bool accumulator = buffer->scope == BLOCK_ACC;
  const char *reason = NULL;
  if (last->size > 1 && (last->stride != 1 || last->step != 1))
    reason = "columns that do not lie side by side in memory cannot be stored";
  else if (s->store.source.dim[access->rank - 1].step != 1)
    reason = "columns must lie side by side in the buffer";
  else if (!accumulator && (epilogue->scaled || epilogue->relu || epilogue->pool.stride != 0))
    reason = "the scratchpad stores its elements as they are";
  else if (accumulator && !epilogue->scaled && (epilogue->relu || epilogue->pool.stride != 0))
    reason = "int32 results leave as they are";
  else if (accumulator && !(epilogue->scaled ? e->array->accumulator.narrow_reads : e->array->accumulator.full_reads))
    reason = epilogue->scaled ? "this array cannot store scaled rows" : "this array cannot store int32 rows";
  else if (epilogue->relu && !e->array->units.activation)
    reason = "this array has no ReLU unit";
  else if (epilogue->norm.kind != BLOCK_NO_NORM && !e->array->units.normaliser)
    return refuse_norm(e, s);
  else if (s->store.gated && !e->array->units.gate)
    return refuse_gate(e, s);
  else if (s->store.gated && !lie_alike(e, s))
    reason = "the factors of a gate must lie as what it multiplies";
  else if (epilogue->pool.stride != 0 && !e->array->units.max_pool)
    reason = "this array has no pooling unit";
  if (reason == NULL) return true;
  wf_error(e->diag, s->where, "store of '%s': %s", buffer->name, reason);
  return false;
}

static void put_columns(store_piece *p, const sched_walk *w, const block_statement *s, const sched_box *part,
                        int64_t columns) {
  const block_buffer *buffer = &p->e->program->buffers[s->store.source.buffer];
  const block_access *access = &s->store.access;
  int64_t bytes = (int64_t)block_type_bytes(p->e->program->tensors[access->tensor].type);
  int64_t at = block_affine_at(&access->base, w->iteration), local_step = 1;
  sched_run_dim dims[BLOCK_RANK_MAX];
  for (int d = access->rank - 1; d >= 0; d--) {
    const block_access_dim *a = &access->dim[d];
    const block_view_dim *v = &s->store.source.dim[d];
    int64_t low = d == access->rank - 1 ? p->column : part->lo[d];
    int64_t i = (low - block_affine_at(&v->offset, w->iteration)) / v->step;
    at += (block_affine_at(&a->offset, w->iteration) + a->step * i) * a->stride;
    if (d == access->rank - 1) continue;
    dims[d] = (sched_run_dim){.count = (part->hi[d] - part->lo[d] - 1) / v->step + 1,
                              .local = local_step * v->step,
                              .memory = a->step * a->stride * bytes};
    local_step *= buffer->size[d];
  }
  p->store.cols = (uint16_t)columns;
  sched_runs_visit(dims, access->rank - 1, block_layout_flat(buffer, part->lo), at * bytes, p->rows, p->layout->tile,
                   put_run, p);
}

// Rows of a command of `columns` columns, of which `pieces` lie side by side.
static int64_t rows_of(const sched_expand *e, const block_statement *s, int64_t columns, int64_t pieces) {
  const block_access *access = &s->store.access;
  const int64_t bytes = (int64_t)block_type_bytes(e->program->tensors[access->tensor].type);
  if (block_norm_is_of_rows(s->store.epilogue.norm.kind)) return 1;
  if (e->whole_stores || access->rank < 2 || e->products == 0) return e->derived.dim;
  const block_access_dim *row = &access->dim[access->rank - 2];
  const cost_bank_rows rows = {.bytes = columns * bytes, .stride = row->step * row->stride * bytes, .pieces = pieces};
  const double cycles = (double)e->products * e->derived.dim;
  return cost_store_rows(&e->cost, &rows, cycles * (double)cost_line_bytes(e->array) / (double)e->regions.stored_bytes);
}

// The commands of all pieces; where they take turns all of a run's columns before the next run.
static void put_stores(const store_piece *p, size_t pieces) {
  const bool turns = p->rows < p->e->derived.dim;
  const size_t each = pieces == 0 ? 0 : p->count / pieces;
  for (size_t i = 0; i < p->count; i++)
    sched_streams_store(&p->e->streams, &p->e->pending_stores[turns ? i % pieces * each + i / pieces : i]);
}

// Commands that collect a statistic of a row, and the one that ends it; of the rows that are stored, or of those whose
// statistics count.
typedef struct statistic {
  uint32_t collect, last;
  bool own;
} statistic;
enum { STATISTICS = 3 };
static const statistic statistics[BLOCK_NORM_COUNT][STATISTICS] = {
    [BLOCK_SOFTMAX] = {{ISA_LOCAL_NORM_MAX, ISA_LOCAL_NORM_MAX, true},
                       {ISA_LOCAL_NORM_SUM_EXP, ISA_LOCAL_NORM_INV_SUM_EXP, true}},
    [BLOCK_LAYER_NORM] = {{ISA_LOCAL_NORM_SUM, ISA_LOCAL_NORM_MEAN, false},
                          {ISA_LOCAL_NORM_VARIANCE, ISA_LOCAL_NORM_INV_STDDEV, false},
                          {ISA_LOCAL_NORM_SUM, ISA_LOCAL_NORM_MEAN, true}},
};

// Stores of rows, a command each: `pieces` lists, one per piece of the columns. Of a row the first `lengths` columns
// count; NULL: all.
typedef struct row_list {
  const sched_store *stores;
  size_t rows, pieces;
  const int64_t *lengths;
} row_list;

// Piece i of a row, as far as its columns count; false: none of them does.
static bool piece_of_row(const row_list *list, size_t row, size_t i, sched_store *store) {
  *store = list->stores[i * list->rows + row];
  if (list->lengths == NULL) return true;
  const int64_t left = list->lengths[row] - (int64_t)i * list->stores[row].cols;
  if (left < store->cols) store->cols = (uint16_t)wf_max(left, 0);
  return left > 0;
}

static void put_statistic(sched_expand *e, const row_list *list, const statistic *what, size_t row) {
  sched_store store, next;
  for (size_t i = 0; i < list->pieces && piece_of_row(list, row, i, &store); i++) {
    const bool goes_on = i + 1 < list->pieces && piece_of_row(list, row, i + 1, &next);
    store.tensor = COMMAND_NO_TENSOR;
    store.offset = 0;
    store.local |= (goes_on ? what->collect : what->last) * (ISA_LOCAL_NORM_MASK & -ISA_LOCAL_NORM_MASK);
    sched_streams_store(&e->streams, &store);
  }
}

// What does not count of `width` columns of each row: other elements of it, times 0.
static void put_zeros(sched_expand *e, const row_list *list, int64_t width) {
  for (size_t row = 0; row < list->rows; row++) {
    sched_store store = list->stores[row];
    const int64_t first = store.offset, most = store.cols;
    store.norm = NULL;
    store.scale = 0;
    for (int64_t at = list->lengths[row]; at < width; at += store.cols) {
      store.cols = (uint16_t)wf_min(width - at, most);
      store.offset = first + at;
      sched_streams_store(&e->streams, &store);
    }
  }
}

// `of`: the rows whose statistics count, perhaps the same; then the last statistic is there already.
static void put_rows(sched_expand *e, const row_list *list, const row_list *of) {
  const statistic *what = statistics[list->stores[0].norm->kind];
  for (size_t row = 0; row < list->rows; row++) {
    for (int k = 0; k < STATISTICS && what[k].last != 0; k++)
      if (k < 2 || list != of) put_statistic(e, what[k].own ? list : of, &what[k], row);
    sched_store store;
    for (size_t i = 0; i < list->pieces && piece_of_row(list, row, i, &store); i++)
      sched_streams_store(&e->streams, &store);
  }
}

// All that counts of the rows.
static bool is_whole_row(const block_statement *s, const sched_box *part, int last) {
  const int64_t most = s->store.lengths.most, size = s->store.access.dim[last].size;
  return part->lo[last] == 0 && part->hi[last] >= (most == 0 ? size : wf_min(most, size));
}

// Rows from the instance that is stored to that of its factors; both lie alike.
static int32_t gate_offset(const sched_expand *e, const sched_walk *w, const block_statement *s) {
  const int b = s->store.source.buffer, f = s->store.factors.buffer;
  if (!s->store.gated) return 0;
  return (int32_t)isa_local_row(block_layout_of_instance(&e->layouts[f], w->instance[f])) -
         (int32_t)isa_local_row(block_layout_of_instance(&e->layouts[b], w->instance[b]));
}

static store_piece piece_of(sched_expand *e, const sched_walk *w, const block_statement *s) {
  const int b = s->store.source.buffer;
  const block_layout *place = &e->layouts[b];
  const block_epilogue *epilogue = &s->store.epilogue;
  const bool full = place->accumulator && !epilogue->scaled;
  return (store_piece){.e = e,
                       .layout = place,
                       .store = {.queue = b,
                                 .tensor = s->store.access.tensor,
                                 .local = full ? ISA_LOCAL_FULL_MASK : 0,
                                 .relu = epilogue->relu,
                                 .scale = epilogue->scaled ? epilogue->scale : 1.0F,
                                 .norm = epilogue->norm.kind == BLOCK_NO_NORM ? NULL : &epilogue->norm,
                                 .gated = s->store.gated,
                                 .gate_offset = gate_offset(e, w, s),
                                 .gate_scale = s->store.gate_scale,
                                 .instance = w->instance[b]}};
}

// The pending stores of a piece's columns, `most` of them at a time; returns how many pieces.
static size_t list_pieces(store_piece *piece, const sched_walk *w, const block_statement *s, const sched_box *part) {
  const sched_expand *e = piece->e;
  const int last = s->store.access.rank - 1;
  const bool full = isa_local_full(piece->store.local) != 0;
  const int64_t most = !full && piece->layout->block_step == e->derived.dim ? e->derived.max_cols : e->derived.dim;
  size_t pieces = 0;
  piece->rows = rows_of(e, s, most, (part->hi[last] - part->lo[last] + most - 1) / most);
  for (piece->column = part->lo[last]; piece->column < part->hi[last]; piece->column += most, pieces++)
    put_columns(piece, w, s, part, wf_min(part->hi[last] - piece->column, most));
  return pieces;
}

static row_list list_rows(sched_expand *e, const sched_walk *w, const block_statement *s, const sched_box *part) {
  store_piece piece = piece_of(e, w, s);
  row_list list = {.pieces = list_pieces(&piece, w, s, part)};
  sched_store *stores = WF_ARENA_ARRAY(e->arena, piece.count + 1, sched_store);
  memcpy(stores, e->pending_stores, piece.count * sizeof *stores);
  list.rows = list.pieces == 0 ? 0 : piece.count / list.pieces;
  list.stores = stores;
  return list;
}

// Of each row of the list, which are those of the part.
static const int64_t *lengths_of(sched_expand *e, const sched_walk *w, const block_statement *s, const sched_box *part,
                                 size_t rows) {
  const int last = s->store.access.rank - 1;
  const block_view_dim *v = &s->store.source.dim[last == 0 ? 0 : last - 1];
  const int64_t first = last == 0 ? 0 : (part->lo[last - 1] - block_affine_at(&v->offset, w->iteration)) / v->step;
  const int64_t each = last == 0 ? 1 : (part->hi[last - 1] - part->lo[last - 1] - 1) / v->step + 1;
  int64_t *lengths = WF_ARENA_ARRAY(e->arena, rows + 1, int64_t);
  for (size_t row = 0; row < rows; row++)
    lengths[row] =
        block_length_of(&s->store.lengths, first + (int64_t)row % each, s->store.access.dim[last].size, w->iteration);
  return lengths;
}

static bool expand_rows(sched_expand *e, const sched_walk *w, const block_statement *s, const sched_box *part) {
  if (!is_whole_row(s, part, s->store.access.rank - 1)) {
    wf_error(e->diag, s->where, "store of '%s': %s needs whole rows", e->program->buffers[s->store.source.buffer].name,
             block_norm_names[s->store.epilogue.norm.kind]);
    return false;
  }
  row_list list = list_rows(e, w, s, part);
  if (s->store.lengths.most != 0) {
    list.lengths = lengths_of(e, w, s, part, list.rows);
    put_zeros(e, &list, part->hi[s->store.access.rank - 1]);
  }
  if (!s->store.apart) {
    put_rows(e, &list, &list);
    return true;
  }
  block_statement *other = WF_ARENA_NEW(e->arena, block_statement);
  *other = *s;
  other->store.source = s->store.statistics;
  const row_list of = list_rows(e, w, other, part);
  put_rows(e, &list, &of);
  return true;
}

bool sched_expand_store(sched_expand *e, const sched_walk *w, const block_statement *s) {
  int b = s->store.source.buffer, last = s->store.access.rank - 1;
  const block_layout *place = &e->layouts[b];
  const block_epilogue *epilogue = &s->store.epilogue;
  if (!check(e, s)) return false;
  if (epilogue->pool.stride != 0) return sched_expand_pooled_store(e, w, s);
  sched_box part = sched_region_inside(w, &s->store.source, &s->store.access);
  if (sched_box_empty(&part, last + 1)) return true;
  if (part.lo[last] % place->dim != 0) {
    wf_error(e->diag, s->where, "store of '%s': its first column must be the first of a block of %u",
             e->program->buffers[b].name, place->dim);
    return false;
  }
  if (block_norm_is_of_rows(epilogue->norm.kind)) return expand_rows(e, w, s, &part);
  store_piece piece = piece_of(e, w, s);
  put_stores(&piece, list_pieces(&piece, w, s, &part));
  return true;
}
