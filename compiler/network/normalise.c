// SPDX-License-Identifier: Apache-2.0
// See normalise.h. Statistics commands and results are per row, since each row has statistics of its own; a command
// takes as many columns as a store may have.
#include "compiler/network/normalise.h"

#include "base/number.h"
#include "compiler/cost/cost.h"
#include "compiler/schedule/streams.h"
#include "isa/isa_fields.h"

enum { TENSOR_X, TENSOR_TILES, TENSOR_Y };
enum { BUFFER_TILES, BUFFER_ZEROS, BUFFER_X, BUFFER_SUMS, BUFFER_MEAN };
enum { PART_CONSTANTS, PART_X };
enum { OFFSET_UNIT = 127 };
// Tiles: two diagonals, the weights and the operand of the offset.
enum { DIAGONAL, OFFSET_WEIGHTS = 2, OFFSET_OPERAND, TILES };

// ---- what fits

// Scratchpad rows of the constants: tiles, and zeros for a store.
static uint32_t constant_rows(const hw_derived *d) { return TILES * d->dim + d->max_cols; }

bool network_has_statistics(const network_unit *unit) {
  return network_is_normalised(unit) && unit->what.op != GRAPH_OP_QGELU_UNIT;
}

bool network_is_normalised(const network_unit *unit) {
  const graph_op op = unit->what.op;
  return unit->curve == NULL &&
         (op == GRAPH_OP_QSOFTMAX_UNIT || op == GRAPH_OP_QNORM_UNIT || op == GRAPH_OP_QGELU_UNIT);
}

static bool needs_zero(const network_unit *unit) { return unit->what.op == GRAPH_OP_QNORM_UNIT && !unit->what.centred; }

int64_t network_unit_columns(const hw_array *array) {
  const hw_derived d = hw_derive(array);
  if (!array->units.normaliser || array->mesh.dataflow == HW_DATAFLOW_OS || !array->accumulator.execute_writes)
    return 0;
  enum { SUM_BITS = 17 };  // of 127 * 128 and an offset
  if (array->types.output_bits < SUM_BITS || d.acc_bytes != 4 || d.input_bytes != 1) return 0;
  if (d.sp_rows < constant_rows(&d) + 2 * d.max_cols) return 0;
  const uint32_t rows = d.acc_rows - 1, shared = (d.sp_rows - constant_rows(&d)) / 2;
  return (rows < shared ? rows : shared) / d.dim * d.dim;
}

// The accumulator in planes of as many blocks as a row has, each DIM rows; its last row may have to keep a zero.
static bool choose_sizes(network_normalise *n, uint32_t sp_rows, uint32_t acc_rows) {
  enum { SLOTS = 4, LOADED = 8 };
  const uint32_t dim = n->hw.dim;
  n->copies = n->unit->what.two_copies ? 2 : 1;
  n->cols = (uint32_t)n->unit->cols;
  if (!network_has_statistics(n->unit)) n->cols = wf_min(n->cols, n->hw.max_cols);
  n->blocks = (n->cols + dim - 1) / dim;
  const uint32_t plane = n->blocks * dim, kept = needs_zero(n->unit) ? 1 : 0;
  const uint32_t rows = acc_rows < kept ? 0 : (acc_rows - kept) / plane * dim;  // each of all columns
  if (rows < n->copies || sp_rows < constant_rows(&n->hw) + plane) return false;
  n->rows = dim;
  while (n->rows > 1 && 2 * n->copies * n->rows > rows) n->rows /= 2;
  n->slots = wf_min(rows / (n->copies * n->rows), n->mixed ? SLOTS / 2 : SLOTS);
  n->per_plane = dim / n->rows;
  n->loaded = wf_min((sp_rows - constant_rows(&n->hw)) / plane, n->mixed ? LOADED / 2 : LOADED);
  return true;
}

// ---- constants

// Row k of the offset's weights, all columns: rows of its operand are 1, 127, 127, ..., so that the first one takes
// what the others leave.
static int32_t offset_weight(const network_normalise *n, uint32_t k) {
  const int32_t whole = -n->unit->what.offset, parts = (int32_t)n->hw.dim - 1, times = whole / OFFSET_UNIT;
  if (k == 0) return whole % OFFSET_UNIT;
  return times / parts + ((int32_t)k <= -(times % parts) ? -1 : 0);
}

static int32_t tile_at(const network_normalise *n, int tile, uint32_t row, uint32_t col) {
  if (tile == OFFSET_WEIGHTS) return offset_weight(n, n->transposed ? col : row);
  if (tile == OFFSET_OPERAND) return col == 0 ? 1 : OFFSET_UNIT;
  return row == col ? n->unit->what.gain[tile] : 0;
}

static void fill_tiles(const network_normalise *n, int8_t *to) {
  for (int t = 0; t < TILES; t++)
    for (uint32_t i = 0; i < n->hw.dim; i++)
      for (uint32_t k = 0; k < n->hw.dim; k++) *to++ = (int8_t)tile_at(n, t, i, k);
}

static void add_tensors(const network_normalise *n) {
  block_program *p = n->program;
  const uint32_t dim = n->hw.dim;
  const int64_t elements = n->unit->rows * n->unit->cols;
  int8_t *tiles = WF_ARENA_ARRAY(p->arena, (size_t)TILES * dim * dim, int8_t);
  fill_tiles(n, tiles);
  block_add_tensor(p, NETWORK_UNIT_X, BLOCK_I8, elements);
  block_add_constant(p, "gains", tiles, (int64_t)TILES * dim * dim);
  block_add_tensor(p, NETWORK_UNIT_Y, BLOCK_I8, elements);
  p->tensors[TENSOR_X].read = p->tensors[TENSOR_Y].written = true;
}

static block_norm norm_of(const graph_unit *what) {
  const graph_unit_constants *c = &what->constants;
  if (what->op == GRAPH_OP_QNORM_UNIT) return (block_norm){.kind = BLOCK_LAYER_NORM};
  if (what->op == GRAPH_OP_QGELU_UNIT) return (block_norm){.kind = BLOCK_GELU, .b = c->b, .c = c->c};
  return (block_norm){.kind = BLOCK_SOFTMAX, .b = c->b, .c = c->c, .ln2 = c->ln2, .ln2_inverse = c->ln2_inverse};
}

// ---- buffers

static void add_buffer(const network_normalise *n, const char *name, block_scope scope, uint32_t rows, uint32_t depth) {
  const int64_t size[] = {rows, n->hw.dim};
  const int number = block_add_buffer(n->program, name, scope == BLOCK_ACC ? BLOCK_I32 : BLOCK_I8, 2, size);
  block_buffer *b = &n->program->buffers[number];
  b->scope = scope;
  b->depth = depth;
  b->slot_rows = rows;
}

// Groups of fewer rows than a block has share planes, all in one buffer.
static bool has_planes(const network_normalise *n) { return n->per_plane > 1; }

static void add_buffers(const network_normalise *n) {
  const uint32_t plane = n->blocks * n->hw.dim,
                 planes = has_planes(n) ? wf_ceil_div(n->slots * n->copies, n->per_plane) : n->copies;
  add_buffer(n, "tiles", BLOCK_SP, TILES * n->hw.dim, 1);
  add_buffer(n, "zeros", BLOCK_SP, n->hw.max_cols, 1);
  add_buffer(n, "x", BLOCK_SP, plane, n->loaded);
  add_buffer(n, "sums", BLOCK_ACC, planes * plane, has_planes(n) ? 1 : n->slots);
  if (needs_zero(n->unit)) add_buffer(n, "mean", BLOCK_ACC, 1, 1);
}

static const block_buffer *buffer(const network_normalise *n, int number) { return &n->program->buffers[number]; }

static uint32_t slot_row(const network_normalise *n, int number, size_t turn) {
  const block_buffer *b = buffer(n, number);
  return b->first_row + (uint32_t)(turn % b->depth) * b->slot_rows;
}
static uint32_t tile_row(const network_normalise *n, int tile) {
  return slot_row(n, BUFFER_TILES, 0) + (uint32_t)tile * n->hw.dim;
}

// The first accumulator row of a copy of a group.
static uint32_t copy_row(const network_normalise *n, size_t group, uint32_t copy) {
  const uint32_t plane = n->blocks * n->hw.dim, slot = (uint32_t)(group % n->slots) * n->copies + copy;
  const uint32_t row = has_planes(n)
                           ? slot_row(n, BUFFER_SUMS, 0) + slot / n->per_plane * plane + slot % n->per_plane * n->rows
                           : slot_row(n, BUFFER_SUMS, group) + copy * plane;
  return row | ISA_LOCAL_ACCUMULATOR_MASK;
}

void network_normalise_rows(const network_normalise *n, uint32_t rows[NETWORK_NORMALISE_PARTS]) {
  rows[PART_CONSTANTS] = constant_rows(&n->hw);
  rows[PART_X] = buffer(n, BUFFER_X)->slot_rows * n->loaded;
}

void network_normalise_place(const network_normalise *n, const uint32_t first[NETWORK_NORMALISE_PARTS]) {
  block_buffer *b = n->program->buffers;
  b[BUFFER_TILES].first_row = first[PART_CONSTANTS];
  b[BUFFER_ZEROS].first_row = first[PART_CONSTANTS] + b[BUFFER_TILES].slot_rows;
  b[BUFFER_X].first_row = first[PART_X];
}

void network_normalise_place_alone(const network_normalise *n) {
  network_normalise_place(n, (const uint32_t[]){0, constant_rows(&n->hw)});
}

bool network_normalise_begin(const network_unit *unit, const hw_array *array, uint32_t sp_rows, uint32_t acc_rows,
                             bool mixed, network_normalise *n) {
  *n = (network_normalise){.unit = unit, .hw = hw_derive(array), .norm = norm_of(&unit->what), .mixed = mixed};
  if (!choose_sizes(n, sp_rows, acc_rows)) return false;
  n->program = block_create(network_unit_name(unit));
  add_tensors(n);
  add_buffers(n);
  if (needs_zero(unit)) n->program->buffers[BUFFER_MEAN].first_row = acc_rows - 1;
  return true;
}

void network_normalise_transpose(network_normalise *n) {
  const uint32_t dim = n->hw.dim;
  int8_t *tiles = WF_ARENA_ARRAY(n->program->arena, (size_t)TILES * dim * dim, int8_t);
  n->transposed = true;
  fill_tiles(n, tiles);
  n->program->tensors[TENSOR_TILES].contents = tiles;
}

// ---- groups

typedef struct unit_group {
  size_t number;
  int64_t row, col;
  uint32_t rows, cols;
} unit_group;

typedef struct filler {
  const network_normalise *n;
  sched_streams *s;
  const sched_plan *full, *full_offset;  // of a whole group; with the offset's operand
} filler;

static unit_group group_at(const network_normalise *n, size_t number) {
  const int64_t across = wf_ceil_div(n->unit->cols, (int64_t)n->cols), row = (int64_t)number / across * n->rows,
                col = (int64_t)number % across * n->cols;
  return (unit_group){.number = number,
                      .row = row,
                      .col = col,
                      .rows = (uint32_t)wf_min(n->unit->rows - row, (int64_t)n->rows),
                      .cols = (uint32_t)wf_min(n->unit->cols - col, (int64_t)n->cols)};
}

static void load_group(const filler *f, const unit_group *g) {
  const network_normalise *n = f->n;
  for (uint32_t at = 0; at < g->cols; at += n->hw.max_cols)
    sched_streams_load(f->s, BUFFER_X,
                       &(sched_load){.tensor = TENSOR_X,
                                     .offset = g->row * n->unit->cols + g->col + at,
                                     .stride = n->unit->cols,
                                     .local = slot_row(n, BUFFER_X, g->number) + at,
                                     .rows = (uint16_t)g->rows,
                                     .cols = (uint16_t)wf_min(g->cols - at, n->hw.max_cols),
                                     .block_stride = (uint16_t)n->hw.dim,
                                     .scale = 1,
                                     .instance = (uint32_t)g->number});
}

// ---- products

static void add_run(const filler *f, sched_dot_runs *to, sched_dot_run run) {
  *WF_ARENA_PUSH(f->s->arena, to->runs, to->count, &to->room) = run;
}

// The blocks of a group times one tile; the offset's operand is the same for all blocks.
static const sched_plan *plan_of(const filler *f, const unit_group *g, bool offset) {
  const uint32_t dim = f->n->hw.dim;
  if (f->full != NULL && g->rows == f->n->rows && g->cols == f->n->cols) return offset ? f->full_offset : f->full;
  sched_plan *plan = WF_ARENA_NEW(f->s->arena, sched_plan);
  const sched_dot_run all = {.count = dim, .step = 1};
  for (uint32_t at = 0; at < g->cols; at += dim)
    add_run(f, &plan->m,
            (sched_dot_run){.count = g->rows, .step = 1, .first_local = at, .second_local = offset ? 0 : at});
  add_run(f, &plan->k, all);
  add_run(f, &plan->n, all);
  return plan;
}

static void touch(const filler *f, const sched_nest *nest) {
  const sched_dot_runs *blocks = &nest->plan->m;
  sched_streams_read(f->s, &(sched_span){nest->b, f->n->hw.dim, 1, nest->first, nest->first});
  for (uint32_t i = 0; i < blocks->count; i++) {
    const sched_dot_run *run = &blocks->runs[i];
    const uint32_t rows = (uint32_t)run->count, at = nest->first + i;
    sched_streams_read(f->s, &(sched_span){nest->a + run->second_local, rows, 1, at, at});
    sched_streams_write(f->s, &(sched_span){nest->target + run->first_local, rows, 1, at, at});
  }
}

static void multiply_group(const filler *f, const unit_group *g) {
  const network_normalise *n = f->n;
  const bool has_offset = n->unit->what.offset != 0, one = n->copies == 1 && !has_offset;
  sched_streams_stage(f->s);
  for (uint32_t copy = 0; copy < n->copies; copy++)
    touch(f, sched_streams_products(f->s, &(sched_nest){.plan = plan_of(f, g, false),
                                                        .target = copy_row(n, g->number, copy),
                                                        .a = slot_row(n, BUFFER_X, g->number),
                                                        .b = tile_row(n, DIAGONAL + (int)copy),
                                                        .b_transposed = n->transposed,
                                                        .kept = one && g->number > 0 && !n->mixed}));
  if (!has_offset) return;
  touch(f, sched_streams_products(f->s, &(sched_nest){.plan = plan_of(f, g, true),
                                                      .target = copy_row(n, g->number, 1),
                                                      .a = tile_row(n, OFFSET_OPERAND),
                                                      .b = tile_row(n, OFFSET_WEIGHTS),
                                                      .b_transposed = n->transposed,
                                                      .accumulate = true}));
}

// ---- stores

// From `local` on, `cols` columns of so many rows, cut where a store has no more columns. Of a statistic (tensor
// COMMAND_NO_TENSOR) the last command ends it, and those before it collect.
typedef struct stored {
  int tensor;
  int64_t offset;
  uint32_t local, cols, rows;
  uint32_t collect, last;
} stored;

static void store(const filler *f, const unit_group *g, const stored *what) {
  const network_normalise *n = f->n;
  const bool moves = what->tensor != COMMAND_NO_TENSOR;
  for (uint32_t at = 0; at < what->cols; at += n->hw.max_cols) {
    const bool ends = what->cols - at <= n->hw.max_cols;
    const uint32_t flags = (ends ? what->last : what->collect) * (ISA_LOCAL_NORM_MASK & -ISA_LOCAL_NORM_MASK);
    sched_streams_store(f->s, &(sched_store){.queue = BUFFER_SUMS,
                                             .tensor = what->tensor,
                                             .offset = moves ? what->offset + at : 0,
                                             .stride = n->unit->cols,
                                             .local = (what->local + at) | flags,
                                             .rows = (uint16_t)what->rows,
                                             .cols = (uint16_t)(ends ? what->cols - at : n->hw.max_cols),
                                             .scale = n->unit->what.scale,
                                             .norm = &n->norm,
                                             .instance = (uint32_t)g->number});
  }
}

static void statistic(const filler *f, const unit_group *g, uint32_t row, uint32_t cols, uint32_t collect,
                      uint32_t last) {
  store(f, g, &(stored){COMMAND_NO_TENSOR, 0, row, cols, 1, collect, last});
}

static void pass(const filler *f, const unit_group *g, uint32_t row, int64_t offset, uint32_t cols, uint32_t rows) {
  store(f, g, &(stored){TENSOR_Y, offset, row, cols, rows, ISA_LOCAL_NORM_NONE, ISA_LOCAL_NORM_NONE});
}

static void softmax_row(const filler *f, const unit_group *g, const uint32_t *copy, int64_t row) {
  const network_unit *unit = f->n->unit;
  const graph_unit *what = &unit->what;
  const uint32_t width = (uint32_t)unit->cols,
                 cols = what->lengths == NULL ? width : (uint32_t)what->lengths[row % what->length_count];
  const int64_t offset = row * unit->cols;
  statistic(f, g, copy[0], cols, ISA_LOCAL_NORM_MAX, ISA_LOCAL_NORM_MAX);
  statistic(f, g, copy[f->n->copies - 1], cols, ISA_LOCAL_NORM_SUM_EXP, ISA_LOCAL_NORM_INV_SUM_EXP);
  pass(f, g, copy[0], offset, cols, 1);
  for (uint32_t at = cols; at < width; at += f->n->hw.max_cols)
    pass(f, g, slot_row(f->n, BUFFER_ZEROS, 0), offset + at, wf_min(width - at, f->n->hw.max_cols), 1);
}

static void norm_row(const filler *f, const unit_group *g, const uint32_t *copy, int64_t row) {
  const graph_unit *what = &f->n->unit->what;
  const uint32_t cols = (uint32_t)f->n->unit->cols;
  if (what->centred) statistic(f, g, copy[0], cols, ISA_LOCAL_NORM_SUM, ISA_LOCAL_NORM_MEAN);
  statistic(f, g, copy[0], cols, ISA_LOCAL_NORM_VARIANCE, ISA_LOCAL_NORM_INV_STDDEV);
  if (what->centred && what->two_copies) statistic(f, g, copy[1], cols, ISA_LOCAL_NORM_SUM, ISA_LOCAL_NORM_MEAN);
  pass(f, g, copy[f->n->copies - 1], row * f->n->unit->cols, cols, 1);
}

static void store_group(const filler *f, const unit_group *g) {
  const network_normalise *n = f->n;
  if (!network_has_statistics(n->unit)) {
    pass(f, g, copy_row(n, g->number, 0), g->row * n->unit->cols + g->col, g->cols, g->rows);
    return;
  }
  for (uint32_t r = 0; r < g->rows; r++) {
    const uint32_t copy[2] = {copy_row(n, g->number, 0) + r, n->copies > 1 ? copy_row(n, g->number, 1) + r : 0};
    if (n->unit->what.op == GRAPH_OP_QSOFTMAX_UNIT)
      softmax_row(f, g, copy, g->row + r);
    else
      norm_row(f, g, copy, g->row + r);
  }
}

// ---- order

static void load_tiles(const filler *f) {
  const network_normalise *n = f->n;
  const uint32_t dim = n->hw.dim;
  for (int t = 0; t < TILES; t++)
    sched_streams_load(f->s, BUFFER_TILES,
                       &(sched_load){.tensor = TENSOR_TILES,
                                     .offset = (int64_t)t * dim * dim,
                                     .stride = dim,
                                     .local = tile_row(n, t),
                                     .rows = (uint16_t)dim,
                                     .cols = (uint16_t)dim,
                                     .block_stride = (uint16_t)dim,
                                     .scale = 1});
}

static void load_zeros(const filler *f, int buffer, uint32_t local, uint32_t rows, uint32_t cols) {
  sched_streams_load(f->s, buffer,
                     &(sched_load){.tensor = COMMAND_NO_TENSOR,
                                   .local = local,
                                   .rows = (uint16_t)rows,
                                   .cols = (uint16_t)cols,
                                   .block_stride = (uint16_t)f->n->hw.dim,
                                   .scale = 1});
}

// Without centring the mean has to be 0: that of a zero.
static void clear_mean(const filler *f) {
  const uint32_t row = slot_row(f->n, BUFFER_MEAN, 0) | ISA_LOCAL_ACCUMULATOR_MASK;
  const unit_group first = {0};
  load_zeros(f, BUFFER_MEAN, row, 1, 1);
  statistic(f, &first, row, 1, ISA_LOCAL_NORM_SUM, ISA_LOCAL_NORM_MEAN);
}

static void fill(const void *context, sched_streams *s) {
  const network_normalise *n = context;
  filler f = {.n = n, .s = s};
  const int64_t groups = wf_ceil_div(n->unit->rows, (int64_t)n->rows) * wf_ceil_div(n->unit->cols, (int64_t)n->cols);
  const unit_group whole = {.rows = n->rows, .cols = n->cols};
  const sched_plan *plan = plan_of(&f, &whole, false), *offset = plan_of(&f, &whole, true);
  f.full = plan;
  f.full_offset = offset;
  load_tiles(&f);
  if (n->unit->what.lengths != NULL)
    load_zeros(&f, BUFFER_ZEROS, slot_row(n, BUFFER_ZEROS, 0), n->hw.dim, n->hw.max_cols);
  if (needs_zero(n->unit)) clear_mean(&f);
  for (int64_t number = 0; number < groups; number++) {
    const unit_group g = group_at(n, (size_t)number);
    load_group(&f, &g);
    multiply_group(&f, &g);
    store_group(&f, &g);
  }
}

sched_source network_normalise_source(const network_normalise *n) {
  return (sched_source){.program = n->program, .fill = fill, .context = n};
}

command_program *network_normalise_program(const network_unit *unit, const hw_array *array, wf_diag *diag) {
  const hw_derived d = hw_derive(array);
  network_normalise n;
  if (!network_normalise_begin(unit, array, d.sp_rows, d.acc_rows, false, &n)) return NULL;
  network_normalise_place_alone(&n);
  const sched_source source = network_normalise_source(&n);
  const sched_options options = {.array = array, .costs = &cost_fitted};
  command_program *out = sched_source_commands(&source, &options, diag);
  block_destroy(n.program);
  return out;
}
