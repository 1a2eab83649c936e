// SPDX-License-Identifier: Apache-2.0
// Commands for QCurve. Blocks of int8 are loaded, multiplied by a diagonal of slopes with the ramp's start as bias, and
// leave the mesh for the scratchpad behind relu; ramps times diagonals of weights are summed in the accumulator and
// stored with the scale. A batch has several blocks: its sums begin when its first ramps have left the mesh. The next
// batches are loaded meanwhile, and the last one is stored.
//
// The scratchpad in four parts, so that what is read together lies in banks of its own: diagonals and x of odd batches,
// x of even ones, starts, ramps.
#include "compiler/network/curve.h"

#include <stdlib.h>

#include "base/number.h"
#include "compiler/cost/cost.h"
#include "compiler/schedule/streams.h"
#include "isa/isa_fields.h"

enum { BLOCKS = 16, SLOTS = 2, X_BUFFERS = 2, OFFSET_UNIT = 127 };
enum { TENSOR_X, TENSOR_TILES, TENSOR_Y };
enum { BUFFER_DIAGONALS, BUFFER_STARTS, BUFFER_EVEN, BUFFER_ODD, BUFFER_RAMPS, BUFFER_SUMS };
enum { PART_ODD, PART_EVEN, PART_STARTS, PART_RAMPS };

// The offset comes as bias of the sum's products, up to 127 with each, or, where it is larger, as a product of its own.
static bool has_product(const graph_curve *c) { return c->offset / OFFSET_UNIT / c->count != 0; }

// Tiles in memory: slopes, weights, the weights of the offset's product; behind them, all rows alike, starts and what
// the offset needs: the operand of its product, or a bias of 127 and one of the rest.
static int diagonals(const graph_curve *c) { return 2 * c->count + (has_product(c) ? 1 : 0); }
static int starts(const graph_curve *c) { return c->count + (has_product(c) ? 1 : 2); }

uint32_t network_curve_blocks(const graph_curve *curve, const hw_derived *hw, uint32_t sp_rows, uint32_t acc_rows) {
  const uint32_t part = sp_rows / NETWORK_CURVE_PARTS, count = (uint32_t)curve->count,
                 taken = (uint32_t)diagonals(curve) * hw->dim;
  if (part < taken) return 0;
  const uint32_t ramps = part / (SLOTS * count * hw->dim), sums = acc_rows / (SLOTS * hw->dim);
  return wf_min(wf_min(ramps, sums), wf_min((part - taken) / (SLOTS * hw->dim), BLOCKS));
}

uint64_t network_curve_shape(const graph_curve *curve) {
  return (uint64_t)curve->count << 2 | (has_product(curve) ? 2 : 0) | (curve->offset != 0 ? 1 : 0);
}

bool network_curve_fits(const graph_curve *curve, const hw_array *array) {
  enum { SUM_BITS = 17 };
  const hw_derived d = hw_derive(array);
  return array->mesh.dataflow != HW_DATAFLOW_OS && array->accumulator.execute_writes &&
         array->accumulator.narrow_reads && array->scratchpad.execute_writes && d.acc_bytes == 4 &&
         d.input_bytes == 1 && array->types.output_bits >= SUM_BITS &&
         network_curve_blocks(curve, &d, d.sp_rows, d.acc_rows) > 0;
}

// ---- constants

// Row k of the offset's weights, all columns; its operand has 1, 127, 127, ...
static int32_t offset_weight(const network_curve *m, uint32_t k) {
  const int32_t whole = m->curve->offset, parts = (int32_t)m->hw.dim - 1, times = whole / OFFSET_UNIT;
  const int32_t left = times % parts, sign = left < 0 ? -1 : 1;
  if (k == 0) return whole % OFFSET_UNIT;
  return times / parts + ((int32_t)k <= sign * left ? sign : 0);
}

static int32_t tile_at(const network_curve *m, int tile, uint32_t row, uint32_t col) {
  const graph_curve *c = m->curve;
  if (tile < c->count) return row == col ? c->slope[tile] : 0;
  if (tile < 2 * c->count) return row == col ? c->weight[tile - c->count] : 0;
  if (tile < diagonals(c)) return offset_weight(m, row);
  const int start = tile - diagonals(c);
  if (start < c->count) return c->start[start];
  if (has_product(c)) return col == 0 ? 1 : OFFSET_UNIT;
  return start == c->count ? (c->offset < 0 ? -OFFSET_UNIT : OFFSET_UNIT) : c->offset % OFFSET_UNIT;
}

static void add_tensors(const network_curve *m) {
  block_program *p = m->program;
  const uint32_t dim = m->hw.dim;
  const int64_t elements = m->elements_rows * m->elements_cols;
  const int count = diagonals(m->curve) + starts(m->curve);
  int8_t *bytes = WF_ARENA_ARRAY(p->arena, (size_t)count * dim * dim, int8_t), *to = bytes;
  for (int t = 0; t < count; t++)
    for (uint32_t i = 0; i < dim; i++)
      for (uint32_t k = 0; k < dim; k++) *to++ = (int8_t)tile_at(m, t, i, k);
  block_add_tensor(p, NETWORK_UNIT_X, BLOCK_I8, elements);
  block_add_constant(p, "ramps", bytes, (int64_t)count * dim * dim);
  block_add_tensor(p, NETWORK_UNIT_Y, BLOCK_I8, elements);
  p->tensors[TENSOR_X].read = p->tensors[TENSOR_Y].written = true;
}

// ---- buffers

static void add_buffer(const network_curve *m, const char *name, uint32_t tiles, uint32_t depth, block_scope scope) {
  const int64_t size[] = {(int64_t)tiles * m->hw.dim, m->hw.dim};
  block_program *p = m->program;
  const int number = block_add_buffer(p, name, scope == BLOCK_ACC ? BLOCK_I32 : BLOCK_I8, 2, size);
  block_buffer *b = &p->buffers[number];
  b->scope = scope;
  b->depth = depth;
  b->slot_rows = tiles * m->hw.dim;
}

static void add_buffers(const network_curve *m) {
  add_buffer(m, "diagonals", (uint32_t)diagonals(m->curve), 1, BLOCK_SP);
  add_buffer(m, "starts", (uint32_t)starts(m->curve), 1, BLOCK_SP);
  add_buffer(m, "even", m->blocks, SLOTS, BLOCK_SP);
  add_buffer(m, "odd", m->blocks, SLOTS, BLOCK_SP);
  add_buffer(m, "ramps", (uint32_t)m->curve->count * m->blocks, SLOTS, BLOCK_SP);
  add_buffer(m, "sums", m->blocks, SLOTS, BLOCK_ACC);
}

static uint32_t all_rows(const network_curve *m, int buffer) {
  return m->program->buffers[buffer].slot_rows * m->program->buffers[buffer].depth;
}

void network_curve_rows(const network_curve *c, uint32_t rows[NETWORK_CURVE_PARTS]) {
  rows[PART_ODD] = all_rows(c, BUFFER_DIAGONALS) + all_rows(c, BUFFER_ODD);
  rows[PART_EVEN] = all_rows(c, BUFFER_EVEN);
  rows[PART_RAMPS] = all_rows(c, BUFFER_RAMPS);
  rows[PART_STARTS] = all_rows(c, BUFFER_STARTS);
}

void network_curve_place(const network_curve *c, const uint32_t first[NETWORK_CURVE_PARTS], const uint32_t sums[2]) {
  block_buffer *b = c->program->buffers;
  b[BUFFER_DIAGONALS].first_row = first[PART_ODD];
  b[BUFFER_ODD].first_row = first[PART_ODD] + all_rows(c, BUFFER_DIAGONALS);
  b[BUFFER_EVEN].first_row = first[PART_EVEN];
  b[BUFFER_RAMPS].first_row = first[PART_RAMPS];
  b[BUFFER_STARTS].first_row = first[PART_STARTS];
  b[BUFFER_SUMS].first_row = sums[0];
  b[BUFFER_SUMS].slot_rows = sums[1] - sums[0];
}

void network_curve_place_alone(const network_curve *c, const hw_derived *hw) {
  const uint32_t part = hw->sp_rows / NETWORK_CURVE_PARTS;
  const uint32_t first[] = {0, part, 2 * part, 3 * part}, sums[] = {0, hw->acc_rows / 2};
  network_curve_place(c, first, sums);
}

network_curve network_curve_begin(const network_unit *unit, const hw_array *array, uint32_t blocks) {
  network_curve c = {.curve = unit->curve,
                     .program = block_create("curve"),
                     .elements_rows = unit->rows,
                     .elements_cols = unit->cols,
                     .hw = hw_derive(array)};
  const int64_t widest = wf_min(c.hw.max_cols, blocks * c.hw.dim);
  c.cols = (uint32_t)wf_min(c.elements_cols, widest);
  const uint32_t across = wf_ceil_div(c.cols, c.hw.dim);
  c.groups = blocks / across;
  c.blocks = c.groups * across;
  add_tensors(&c);
  add_buffers(&c);
  return c;
}

// ---- batches

typedef struct curve_filler {
  const network_curve *m;
  sched_streams *s;
  uint32_t dim;
  const sched_plan *full, *full_offset;  // of a batch with all its groups; with the offset's operand
} curve_filler;

typedef struct group {
  int64_t offset;
  uint32_t rows, cols;
} group;

static group group_at(const network_curve *m, int64_t number) {
  const int64_t across = wf_ceil_div(m->elements_cols, m->cols), row = number / across * m->hw.dim,
                col = number % across * m->cols;
  const int64_t rows = m->elements_rows - row, cols = m->elements_cols - col;
  if (rows <= 0) return (group){0};
  return (group){row * m->elements_cols + col, rows < m->hw.dim ? (uint32_t)rows : m->hw.dim,
                 cols < m->cols ? (uint32_t)cols : m->cols};
}

static uint32_t blocks_of_group(const network_curve *m) { return wf_ceil_div(m->cols, m->hw.dim); }

static uint32_t slot_row(const curve_filler *f, int buffer, int64_t turn) {
  const block_buffer *b = &f->m->program->buffers[buffer];
  return b->first_row + (uint32_t)(turn % b->depth) * b->slot_rows;
}
static uint32_t tile_row(const curve_filler *f, int tile) {
  const int first = diagonals(f->m->curve);
  return tile < first ? slot_row(f, BUFFER_DIAGONALS, 0) + (uint32_t)tile * f->dim
                      : slot_row(f, BUFFER_STARTS, 0) + (uint32_t)(tile - first) * f->dim;
}
static int x_buffer(int64_t batch) { return batch % X_BUFFERS == 0 ? BUFFER_EVEN : BUFFER_ODD; }
static uint32_t x_row(const curve_filler *f, int64_t batch) { return slot_row(f, x_buffer(batch), batch / X_BUFFERS); }
static uint32_t ramp_row(const curve_filler *f, int64_t batch, int ramp) {
  return slot_row(f, BUFFER_RAMPS, batch) + (uint32_t)ramp * f->m->blocks * f->dim;
}
static uint32_t sum_row(const curve_filler *f, int64_t batch) {
  return slot_row(f, BUFFER_SUMS, batch) | ISA_LOCAL_ACCUMULATOR_MASK;
}

static void load_tiles(const curve_filler *f) {
  const int first = diagonals(f->m->curve);
  for (int t = 0; t < first + starts(f->m->curve); t++)
    sched_streams_load(f->s, t < first ? BUFFER_DIAGONALS : BUFFER_STARTS,
                       &(sched_load){.tensor = TENSOR_TILES,
                                     .offset = (int64_t)t * f->dim * f->dim,
                                     .stride = f->dim,
                                     .local = tile_row(f, t),
                                     .rows = (uint16_t)f->dim,
                                     .cols = (uint16_t)f->dim,
                                     .block_stride = (uint16_t)f->dim,
                                     .scale = 1});
}

static void load_batch(const curve_filler *f, int64_t batch) {
  const network_curve *m = f->m;
  for (uint32_t i = 0; i < m->groups; i++) {
    const group g = group_at(m, batch * m->groups + i);
    if (g.rows == 0) continue;
    sched_streams_load(f->s, x_buffer(batch),
                       &(sched_load){.tensor = TENSOR_X,
                                     .offset = g.offset,
                                     .stride = m->elements_cols,
                                     .local = x_row(f, batch) + i * blocks_of_group(m) * f->dim,
                                     .rows = (uint16_t)g.rows,
                                     .cols = (uint16_t)g.cols,
                                     .block_stride = (uint16_t)f->dim,
                                     .scale = 1,
                                     .instance = (uint32_t)(batch / X_BUFFERS)});
  }
}

static void store_batch(const curve_filler *f, int64_t batch) {
  const network_curve *m = f->m;
  for (uint32_t i = 0; i < m->groups; i++) {
    const group g = group_at(m, batch * m->groups + i);
    if (g.rows == 0) continue;
    sched_streams_store(f->s, &(sched_store){.queue = BUFFER_SUMS,
                                             .tensor = TENSOR_Y,
                                             .offset = g.offset,
                                             .stride = m->elements_cols,
                                             .local = sum_row(f, batch) + i * blocks_of_group(m) * f->dim,
                                             .rows = (uint16_t)g.rows,
                                             .cols = (uint16_t)g.cols,
                                             .scale = m->curve->scale,
                                             .instance = (uint32_t)batch});
  }
}

// ---- products

static void add_run(const curve_filler *f, sched_dot_runs *to, sched_dot_run run) {
  *WF_ARENA_PUSH(f->s->arena, to->runs, to->count, &to->room) = run;
}

// The blocks of a batch times one tile; the offset's operand is the same for all blocks.
static const sched_plan *plan_of(const curve_filler *f, int64_t batch, bool offset) {
  const network_curve *m = f->m;
  const bool whole = group_at(m, (batch + 1) * m->groups - 1).rows == f->dim;
  if (whole && f->full != NULL) return offset ? f->full_offset : f->full;
  sched_plan *plan = WF_ARENA_NEW(f->s->arena, sched_plan);
  const sched_dot_run all = {.count = f->dim, .step = 1};
  for (uint32_t i = 0; i < m->groups; i++) {
    const group g = group_at(m, batch * m->groups + i);
    for (uint32_t at = 0, block = i * blocks_of_group(m); at < g.cols; at += f->dim, block++)
      add_run(
          f, &plan->m,
          (sched_dot_run){
              .count = g.rows, .step = 1, .first_local = block * f->dim, .second_local = offset ? 0 : block * f->dim});
  }
  add_run(f, &plan->k, all);
  add_run(f, &plan->n, all);
  return plan;
}

static void touch(const curve_filler *f, const sched_nest *nest) {
  const sched_dot_runs *blocks = &nest->plan->m;
  const uint32_t first = nest->first, last = first + (uint32_t)blocks->count - 1;
  sched_streams_read(f->s, &(sched_span){nest->b, f->dim, 1, first, first});
  if (nest->biased) sched_streams_read(f->s, &(sched_span){nest->bias, f->dim, 1, first, last});
  for (uint32_t i = 0; i < blocks->count; i++) {
    const sched_dot_run *run = &blocks->runs[i];
    const uint32_t rows = (uint32_t)run->count, at = first + i;
    sched_streams_read(f->s, &(sched_span){nest->a + run->second_local, rows, 1, at, at});
    sched_streams_write(f->s, &(sched_span){nest->target + run->first_local, rows, 1, at, at});
  }
}

static void multiply(const curve_filler *f, const sched_nest *nest) {
  sched_streams_stage(f->s);
  touch(f, sched_streams_products(f->s, nest));
}

static void make_ramp(const curve_filler *f, int64_t batch, int ramp) {
  multiply(f, &(sched_nest){.plan = plan_of(f, batch, false),
                            .target = ramp_row(f, batch, ramp),
                            .a = x_row(f, batch),
                            .b = tile_row(f, ramp),
                            .relu = true,
                            .biased = true,
                            .bias = tile_row(f, diagonals(f->m->curve) + ramp)});
}

// With its part of the offset.
static void add_ramp(const curve_filler *f, int64_t batch, int ramp) {
  const graph_curve *c = f->m->curve;
  const int whole = abs(c->offset) / OFFSET_UNIT, bias = diagonals(c) + c->count + (ramp < whole ? 0 : 1);
  const bool none = has_product(c) || ramp > whole || (ramp == whole && c->offset % OFFSET_UNIT == 0);
  multiply(f, &(sched_nest){.plan = plan_of(f, batch, false),
                            .target = sum_row(f, batch),
                            .a = ramp_row(f, batch, ramp),
                            .b = tile_row(f, c->count + ramp),
                            .accumulate = ramp > 0,
                            .biased = !none,
                            .bias = none ? 0 : tile_row(f, bias)});
}

static void add_offset(const curve_filler *f, int64_t batch) {
  const graph_curve *c = f->m->curve;
  multiply(f, &(sched_nest){.plan = plan_of(f, batch, true),
                            .target = sum_row(f, batch),
                            .a = tile_row(f, diagonals(c) + c->count),
                            .b = tile_row(f, 2 * c->count),
                            .accumulate = true});
}

static void multiply_batch(const curve_filler *f, int64_t batch) {
  const graph_curve *c = f->m->curve;
  for (int ramp = 0; ramp < c->count; ramp++) make_ramp(f, batch, ramp);
  for (int ramp = 0; ramp < c->count; ramp++) add_ramp(f, batch, ramp);
  if (has_product(c)) add_offset(f, batch);
}

static void fill(const void *context, sched_streams *s) {
  const network_curve *m = context;
  curve_filler f = {.m = m, .s = s, .dim = m->hw.dim};
  const int64_t across = wf_ceil_div(m->elements_cols, m->cols), down = wf_ceil_div(m->elements_rows, m->hw.dim),
                batches = wf_ceil_div(down * across, m->groups);
  const sched_plan *first = plan_of(&f, 0, false), *offset = plan_of(&f, 0, true);
  if (group_at(m, m->groups - 1).rows == f.dim && across == 1) f.full = first, f.full_offset = offset;
  load_tiles(&f);
  for (int64_t b = 0; b < batches; b++) {
    load_batch(&f, b);
    multiply_batch(&f, b);
    store_batch(&f, b);
  }
}

// ---- the program

sched_source network_curve_source(const network_curve *c) {
  return (sched_source){.program = c->program, .fill = fill, .context = c};
}

command_program *network_curve_program(const network_unit *unit, const hw_array *array, wf_diag *diag) {
  const hw_derived d = hw_derive(array);
  const network_curve c =
      network_curve_begin(unit, array, network_curve_blocks(unit->curve, &d, d.sp_rows, d.acc_rows));
  network_curve_place_alone(&c, &d);
  const sched_source source = network_curve_source(&c);
  const sched_options options = {.array = array, .costs = &cost_fitted};
  command_program *out = sched_source_commands(&source, &options, diag);
  block_destroy(c.program);
  return out;
}
