// SPDX-License-Identifier: Apache-2.0
// A load becomes commands that move what is needed of its buffer: as many column blocks at once as the hardware takes,
// rows in runs that are evenly spaced in memory, which of a packed tensor is half as long. Of rows that are wider, the
// pieces of one run come one after the other: rows that lie far apart may share a bank of main memory, which is slow
// alone. What lies outside the tensor is filled with zeros where it is needed. Of packed weights (zeros.h) there are
// rows of tiles.
#include "base/number.h"
#include "compiler/schedule/expand.h"
#include "compiler/schedule/runs.h"

typedef struct load_piece {
  sched_expand *e;
  const block_layout *layout;
  int queue;
  sched_load load;  // what all commands of the piece have in common
  int64_t column;   // of the buffer
  size_t count;     // pending, of one box, piece by piece
  bool halved;      // a row of a packed tensor begins or ends inside of a byte
} load_piece;

static void put_run(void *context, const sched_run *rows) {
  load_piece *p = context;
  sched_load load = p->load;
  load.local |= block_layout_local(p->layout, load.instance, rows->local, p->column);
  load.rows = (uint16_t)rows->rows;
  load.offset = rows->memory;
  load.stride = rows->stride;
  load.packed = load.tensor != COMMAND_NO_TENSOR && p->e->program->tensors[load.tensor].packed;
  if (load.packed) {
    p->halved |= load.offset % 2 != 0 || load.stride % 2 != 0 || load.cols % 2 != 0;
    load.offset /= 2;
    load.stride /= 2;
  }
  *WF_ARENA_PUSH(p->e->arena, p->e->pending_loads, p->count, &p->e->pending_load_room) = load;
}

// The rows of a box in columns [column, column + columns).
static void put_columns(load_piece *p, const block_statement *s, const sched_box *part, int64_t first_byte,
                        int64_t columns) {
  const block_buffer *buffer = &p->e->program->buffers[p->queue];
  const block_view *view = &s->load.target;
  int64_t bytes = (int64_t)block_type_bytes(p->e->program->tensors[s->load.access.tensor].type);
  sched_run_dim dims[BLOCK_RANK_MAX];
  int64_t local_step = 1;
  for (int d = buffer->rank - 2; d >= 0; d--) {
    const block_access_dim *a = &s->load.access.dim[d];
    dims[d] = (sched_run_dim){.count = (part->hi[d] - part->lo[d] - 1) / view->dim[d].step + 1,
                              .local = local_step * view->dim[d].step,
                              .memory = p->load.tensor == COMMAND_NO_TENSOR ? 0 : a->step * a->stride * bytes};
    local_step *= buffer->size[d];
  }
  p->load.cols = (uint16_t)columns;
  sched_runs_visit(dims, buffer->rank - 1, block_layout_flat(buffer, part->lo), first_byte, p->e->derived.dim,
                   p->layout->tile, put_run, p);
}

// Whether rows begin inside of lines of the cache, with what lies in front of them.
static bool shares_line(const sched_expand *e, const sched_load *load) {
  const int64_t line = e->array->l2.present ? e->array->l2.line_bytes : 1;
  if (load->tensor == COMMAND_NO_TENSOR) return false;
  return load->offset % line != 0 || (load->rows > 1 && load->stride % line != 0);
}

// The pieces of a run one after the other: products need results column by column. A piece that begins in lines that
// the one before it brings comes a run later: then they are there.
static void put_pieces(load_piece *p, size_t pieces) {
  const size_t runs = pieces == 0 ? 0 : p->count / pieces;
  const bool joined = pieces > 1 && shares_line(p->e, &p->e->pending_loads[runs]);
  const size_t behind = joined ? pieces - 1 : 0;
  for (size_t n = 0; n < runs + behind; n++)
    for (size_t piece = 0; piece < pieces; piece++) {
      const size_t at = joined ? n - piece : n;
      if (at >= runs) continue;  // below 0, too
      sched_load *load = &p->e->pending_loads[piece * runs + at];
      load->joined = joined && piece > 0;
      sched_streams_load(&p->e->streams, p->queue, load);
    }
}

// A box of the buffer, wide pieces first to last.
static void put_box(load_piece *p, const block_statement *s, const sched_box *part, int64_t first_byte) {
  const sched_expand *e = p->e;
  int last = e->program->buffers[p->queue].rank - 1;
  int64_t element = (int64_t)block_type_bytes(e->program->tensors[s->load.access.tensor].type);
  bool wide = p->layout->accumulator && !p->load.shrink;
  int64_t most = wide ? e->derived.max_cols_acc : e->derived.max_cols;
  if (p->layout->block_step > UINT16_MAX) most = p->layout->dim;  // does not fit the configuration
  size_t pieces = 0;
  p->count = 0;
  for (int64_t column = part->lo[last]; column < part->hi[last]; column += most) {
    int64_t columns = part->hi[last] - column < most ? part->hi[last] - column : most;
    p->column = column;
    put_columns(p, s, part, p->load.tensor == COMMAND_NO_TENSOR ? 0 : first_byte + (column - part->lo[last]) * element,
                columns);
    pieces++;
  }
  put_pieces(p, pieces);
}

// The part of `need` outside of `inside`, slab by slab. Columns start at a block, so that data may be written over
// them.
static void put_zeros(load_piece *p, const block_statement *s, sched_box need, const sched_box *inside) {
  int rank = p->e->program->buffers[p->queue].rank;
  int64_t dim = p->layout->dim;
  p->load.tensor = COMMAND_NO_TENSOR;
  if (isa_local_accumulate(p->load.local) != 0) return;  // zeros add nothing
  for (int d = 0; d < rank; d++) {
    sched_box before = need, after = need;
    before.hi[d] = inside->lo[d] < need.hi[d] ? inside->lo[d] : need.hi[d];
    after.lo[d] = inside->hi[d] > need.lo[d] ? inside->hi[d] : need.lo[d];
    if (d == rank - 1) after.lo[d] -= after.lo[d] % dim;
    bool left = inside->hi[d] < need.hi[d];
    if (!sched_box_empty(&before, rank)) put_box(p, s, &before, 0);
    if (left && !sched_box_empty(&after, rank)) put_box(p, s, &after, 0);
    if (need.lo[d] < inside->lo[d]) need.lo[d] = inside->lo[d];
    if (need.hi[d] > inside->hi[d]) need.hi[d] = inside->hi[d];
    if (sched_box_empty(&need, rank)) return;
  }
}

// Bytes from the start of the tensor to the element at the low corner of a box.
static int64_t byte_at(const sched_expand *e, const sched_walk *w, const block_statement *s, const sched_box *part) {
  const block_access *access = &s->load.access;
  int64_t at = block_affine_at(&access->base, w->iteration);
  for (int d = 0; d < access->rank; d++) {
    const block_access_dim *a = &access->dim[d];
    const block_view_dim *v = &s->load.target.dim[d];
    int64_t i = (part->lo[d] - block_affine_at(&v->offset, w->iteration)) / v->step;
    at += (block_affine_at(&a->offset, w->iteration) + a->step * i) * a->stride;
  }
  return at * (int64_t)block_type_bytes(e->program->tensors[access->tensor].type);
}

static bool check(sched_expand *e, const block_statement *s) {
  const block_buffer *buffer = &e->program->buffers[s->load.target.buffer];
  const block_access *access = &s->load.access;
  const block_access_dim *last = &access->dim[access->rank - 1];
  block_type type = e->program->tensors[access->tensor].type;
  const char *reason = NULL;
  if (last->size > 1 && (last->stride != 1 || last->step != 1))
    reason = "columns that do not lie side by side in memory cannot be loaded";
  else if (s->load.target.dim[access->rank - 1].step != 1)
    reason = "columns cannot be spread in the buffer";
  else if (e->program->tensors[access->tensor].packed && buffer->scope != BLOCK_SP)
    reason = "packed int4 goes to the scratchpad only";
  else if (e->program->tensors[access->tensor].packed && !e->array->load.packed_int4)
    reason = "this array loads no packed int4 (load.packed_int4)";
  else if (buffer->scope == BLOCK_SP && type != BLOCK_I8)
    reason = "the scratchpad takes int8 only";
  else if ((s->load.accumulate || s->load.overwrite_first != 0) && buffer->scope != BLOCK_ACC)
    reason = "only the accumulator can add a load to what it holds";
  else if (s->load.scaled && (type != BLOCK_I8 || e->array->load.scale_units == 0))
    reason = type != BLOCK_I8 ? "only int8 loads can be scaled" : "this array cannot scale loads";
  if (reason == NULL) return true;
  wf_error(e->diag, s->where, "load of '%s': %s", buffer->name, reason);
  return false;
}

// The tiles of an instance of packed weights, as many side by side as a command loads.
static void load_packed(sched_expand *e, const sched_walk *w, int b) {
  const sched_pack *pack = sched_region_pack(&e->regions, b);
  const sched_known *known = sched_region_known(&e->regions, w, b);
  const sched_pack_region *region = known == NULL ? NULL : sched_pack_find(pack, known);
  const int64_t count = region == NULL ? 0 : (int64_t)region->count;
  sched_load load = {.tensor = e->program->tensor_count,
                     .rows = (uint16_t)pack->dim,
                     .block_stride = (uint16_t)pack->dim,
                     .scale = 1.0F,
                     .instance = w->instance[b]};
  for (int64_t n = 0; n < count; n += pack->across) {
    load.cols = (uint16_t)(wf_min(pack->across, count - n) * pack->dim);
    load.stride = load.cols;
    load.offset = region->offset + n * pack->dim * pack->dim;
    load.local = block_layout_of_instance(&e->layouts[b], load.instance) + (uint32_t)(n * pack->dim);
    sched_streams_load(&e->streams, b, &load);
  }
}

static bool accumulates(const sched_walk *w, const block_statement *s) {
  return s->load.accumulate || sched_walk_repeats(w, s->load.overwrite_first);
}

bool sched_expand_load(sched_expand *e, const sched_walk *w, const block_statement *s) {
  int b = s->load.target.buffer, rank = e->program->buffers[b].rank;
  const block_layout *place = &e->layouts[b];
  if (!check(e, s)) return false;
  if (sched_region_pack(&e->regions, b) != NULL) {
    load_packed(e, w, b);
    return true;
  }
  sched_box inside = sched_region_inside(w, &s->load.target, &s->load.access), view = {0};
  for (int d = 0; d < rank; d++) {
    const block_view_dim *v = &s->load.target.dim[d];
    view.lo[d] = block_affine_at(&v->offset, w->iteration);
    view.hi[d] = view.lo[d] + (v->size - 1) * v->step + 1;
  }
  sched_box need = sched_box_meet(sched_region_need(&e->regions, b, w->instance[b]), &view, rank);
  if (sched_box_empty(&need, rank)) return true;
  need.lo[rank - 1] -= (need.lo[rank - 1] - view.lo[rank - 1]) % place->dim;
  bool narrow = e->program->tensors[s->load.access.tensor].type == BLOCK_I8;
  load_piece piece = {.e = e,
                      .layout = place,
                      .queue = b,
                      .load = {.tensor = s->load.access.tensor,
                               .local = accumulates(w, s) ? ISA_LOCAL_ACCUMULATE_MASK : 0,
                               .block_stride = (uint16_t)place->block_step,
                               .scale = s->load.scaled ? s->load.scale : 1.0F,
                               .shrink = place->accumulator && narrow,
                               .instance = w->instance[b]}};
  sched_box data = sched_box_meet(&need, &inside, rank);
  if (!sched_box_empty(&data, rank) && data.lo[rank - 1] % place->dim != 0) {
    wf_error(e->diag, s->where, "load of '%s': padding to the left of columns must be whole blocks of %u columns",
             e->program->buffers[b].name, place->dim);
    return false;
  }
  put_zeros(&piece, s, need, &inside);
  piece.load.tensor = s->load.access.tensor;
  if (!sched_box_empty(&data, rank)) put_box(&piece, s, &data, byte_at(e, w, s, &data));
  if (!piece.halved) return true;
  wf_error(e->diag, s->where, "load of '%s': a row of a packed tensor begins or ends inside of a byte",
           e->program->buffers[b].name);
  return false;
}
