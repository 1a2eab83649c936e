// SPDX-License-Identifier: Apache-2.0
// Commands for QCurve. Blocks of int8 are loaded, multiplied by a diagonal of slopes with the ramp's start as bias, and
// leave the mesh for the scratchpad behind relu; ramps times diagonals of weights are summed in the accumulator and
// stored with the scale. A batch has several blocks: its sums begin when its first ramps have left the mesh. The next
// batches are loaded meanwhile, and the last one is stored.
//
// The scratchpad in quarters, so that what is read together lies in banks of its own: diagonals and x of odd batches, x
// of even ones, ramps, starts. Three batches are loaded ahead, so loads write to the bank that products do not read.
#include "compiler/network/curve.h"

#include <stdlib.h>

#include "base/number.h"
#include "compiler/network/commands.h"
#include "isa/isa_fields.h"

enum { BLOCKS = 16, X_BATCHES = 4, X_BANKS = 2, TURNS = 2, OFFSET_UNIT = 127, NO_TILE = -1 };
enum { X_STATE = 0, TILE_STATE = 1 };

typedef struct curve_maker {
  const graph_curve *curve;
  int64_t elements_rows, elements_cols;
  command_program *out;
  hw_derived d;
  int x, y, tiles;          // tensors
  uint32_t quarter;         // rows
  uint32_t blocks, groups;  // of a batch: blocks, and rows of blocks that are loaded together
  uint32_t cols;            // of a group
  int held;                 // the diagonal in the mesh
} curve_maker;

// The offset comes as bias of the sum's products, up to 127 with each, or, where it is larger, as a product of its own.
static bool has_product(const graph_curve *c) { return c->offset / OFFSET_UNIT / c->count != 0; }

// Tiles in memory: slopes, weights, the weights of the offset's product; behind them, all rows alike, starts and what
// the offset needs: the operand of its product, or a bias of 127 and one of the rest.
static int diagonals(const graph_curve *c) { return 2 * c->count + (has_product(c) ? 1 : 0); }
static int starts(const graph_curve *c) { return c->count + (has_product(c) ? 1 : 2); }

static uint32_t blocks_that_fit(const graph_curve *c, const hw_derived *d) {
  const uint32_t quarter = d->sp_rows / 4, count = (uint32_t)c->count;
  const uint32_t taken = (uint32_t)diagonals(c) * d->dim;
  if (quarter < taken) return 0;
  uint32_t blocks = wf_min(quarter / (TURNS * count * d->dim), d->acc_rows / (TURNS * d->dim));
  blocks = wf_min(blocks, (quarter - taken) / (X_BATCHES / X_BANKS * d->dim));
  return wf_min(blocks, BLOCKS);
}

bool network_curve_fits(const graph_curve *curve, const hw_array *array) {
  enum { SUM_BITS = 17 };
  const hw_derived d = hw_derive(array);
  return array->mesh.dataflow != HW_DATAFLOW_OS && array->accumulator.execute_writes &&
         array->accumulator.narrow_reads && array->scratchpad.execute_writes && d.acc_bytes == 4 &&
         d.input_bytes == 1 && array->types.output_bits >= SUM_BITS && blocks_that_fit(curve, &d) > 0;
}

// ---- commands

static void move(const curve_maker *m, unsigned funct, int tensor, int64_t offset, uint64_t local) {
  const command_insn i = network_command_move(funct, tensor, offset, local);
  command_add(m->out, &i);
}

static void configure_load(const curve_maker *m, unsigned state, int64_t stride) {
  const command_insn i = network_command_load_state(state, m->d.dim, stride);
  command_add(m->out, &i);
}

static void configure(const curve_maker *m) {
  command_insn i = network_command_execute(ISA_CONFIG_EX_ACTIVATION_RELU);
  command_add(m->out, &i);
  configure_load(m, X_STATE, m->elements_cols);
  configure_load(m, TILE_STATE, m->d.dim);
  i = network_command(ISA_FUNCT_CONFIG_ST);
  isa_init_config_st(&i.rs1, &i.rs2);
  isa_set_config_st_stride(&i.rs1, &i.rs2, (uint64_t)m->elements_cols);
  isa_set_config_st_acc_scale(&i.rs1, &i.rs2, network_command_bits(m->curve->scale));
  command_add(m->out, &i);
}

// ---- constants

// Row k of the offset's weights, all columns; its operand has 1, 127, 127, ...
static int32_t offset_weight(const curve_maker *m, uint32_t k) {
  const int32_t whole = m->curve->offset, parts = (int32_t)m->d.dim - 1, times = whole / OFFSET_UNIT;
  const int32_t left = times % parts, sign = left < 0 ? -1 : 1;
  if (k == 0) return whole % OFFSET_UNIT;
  return times / parts + ((int32_t)k <= sign * left ? sign : 0);
}

static int32_t tile_at(const curve_maker *m, int tile, uint32_t row, uint32_t col) {
  const graph_curve *c = m->curve;
  if (tile < c->count) return row == col ? c->slope[tile] : 0;
  if (tile < 2 * c->count) return row == col ? c->weight[tile - c->count] : 0;
  if (tile < diagonals(c)) return offset_weight(m, row);
  const int start = tile - diagonals(c);
  if (start < c->count) return c->start[start];
  if (has_product(c)) return col == 0 ? 1 : OFFSET_UNIT;
  return start == c->count ? (c->offset < 0 ? -OFFSET_UNIT : OFFSET_UNIT) : c->offset % OFFSET_UNIT;
}

static void add_tensors(curve_maker *m) {
  const uint32_t dim = m->d.dim;
  const uint64_t elements = (uint64_t)(m->elements_rows * m->elements_cols), tile = (uint64_t)dim * dim;
  const int count = diagonals(m->curve) + starts(m->curve);
  int8_t *bytes = wf_arena_alloc(m->out->arena, (uint64_t)count * tile, 1), *to = bytes;
  for (int t = 0; t < count; t++)
    for (uint32_t i = 0; i < dim; i++)
      for (uint32_t k = 0; k < dim; k++) *to++ = (int8_t)tile_at(m, t, i, k);
  m->x = command_add_tensor(
      m->out, &(command_tensor){.name = NETWORK_UNIT_X, .element_bytes = 1, .elements = elements, .read = true});
  m->tiles = command_add_tensor(
      m->out,
      &(command_tensor){
          .name = "ramps", .element_bytes = 1, .elements = (uint64_t)count * tile, .read = true, .contents = bytes});
  m->y = command_add_tensor(
      m->out, &(command_tensor){.name = NETWORK_UNIT_Y, .element_bytes = 1, .elements = elements, .written = true});
}

static uint32_t tile_row(const curve_maker *m, int tile) {
  const int first = diagonals(m->curve);
  return tile < first ? (uint32_t)tile * m->d.dim : 3 * m->quarter + (uint32_t)(tile - first) * m->d.dim;
}

static void load_tiles(const curve_maker *m) {
  const uint32_t dim = m->d.dim;
  for (int t = 0; t < diagonals(m->curve) + starts(m->curve); t++)
    move(m, ISA_FUNCT_MVIN2, m->tiles, (int64_t)t * dim * dim, network_command_operand(tile_row(m, t), dim, dim));
}

// ---- batches

typedef struct group {
  int64_t offset;
  uint32_t rows, cols;
} group;

static group group_at(const curve_maker *m, int64_t number) {
  const int64_t across = wf_ceil_div(m->elements_cols, m->cols), row = number / across * m->d.dim,
                col = number % across * m->cols;
  const int64_t rows = m->elements_rows - row, cols = m->elements_cols - col;
  if (rows <= 0) return (group){0};
  return (group){row * m->elements_cols + col, rows < m->d.dim ? (uint32_t)rows : m->d.dim,
                 cols < m->cols ? (uint32_t)cols : m->cols};
}

static uint32_t blocks_of_group(const curve_maker *m) { return (m->cols + m->d.dim - 1) / m->d.dim; }
static uint32_t x_row(const curve_maker *m, int64_t batch, uint32_t block) {
  const uint32_t first = batch % X_BANKS == 0 ? m->quarter : (uint32_t)diagonals(m->curve) * m->d.dim;
  return first + ((uint32_t)(batch / X_BANKS % (X_BATCHES / X_BANKS)) * m->blocks + block) * m->d.dim;
}
static uint32_t ramp_row(const curve_maker *m, int64_t batch, int ramp, uint32_t block) {
  const uint32_t turn = (uint32_t)(batch % TURNS) * (uint32_t)m->curve->count + (uint32_t)ramp;
  return 2 * m->quarter + (turn * m->blocks + block) * m->d.dim;
}
static uint32_t sum_row(const curve_maker *m, int64_t batch, uint32_t block) {
  return ((uint32_t)(batch % TURNS) * m->blocks + block) * m->d.dim;
}

static void load_batch(const curve_maker *m, int64_t batch) {
  for (uint32_t i = 0; i < m->groups; i++) {
    const group g = group_at(m, batch * m->groups + i);
    if (g.rows != 0)
      move(m, ISA_FUNCT_MVIN, m->x, g.offset,
           network_command_operand(x_row(m, batch, i * blocks_of_group(m)), g.cols, g.rows));
  }
}

static void store_batch(const curve_maker *m, int64_t batch) {
  for (uint32_t i = 0; i < m->groups; i++) {
    const group g = group_at(m, batch * m->groups + i);
    const uint32_t row = sum_row(m, batch, i * blocks_of_group(m)) | ISA_LOCAL_ACCUMULATOR_MASK;
    if (g.rows != 0) move(m, ISA_FUNCT_MVOUT, m->y, g.offset, network_command_operand(row, g.cols, g.rows));
  }
}

static void multiply(curve_maker *m, int tile, uint64_t a, uint64_t bias, uint64_t c) {
  const uint32_t dim = m->d.dim;
  const bool held = m->held == tile;
  command_insn preload = network_command(ISA_FUNCT_PRELOAD),
               compute = network_command(held ? ISA_FUNCT_COMPUTE_ACCUMULATED : ISA_FUNCT_COMPUTE_PRELOADED);
  preload.rs1 = network_command_operand(held ? ISA_LOCAL_GARBAGE : tile_row(m, tile), dim, dim);
  preload.rs2 = c;
  compute.rs1 = a;
  compute.rs2 = bias;
  command_add(m->out, &preload);
  command_add(m->out, &compute);
  m->held = tile;
}

// What of the offset comes with weight number `ramp`.
static uint64_t sum_bias(const curve_maker *m, int ramp, uint32_t rows, uint32_t cols) {
  const graph_curve *c = m->curve;
  const int whole = abs(c->offset) / OFFSET_UNIT, bias = diagonals(c) + c->count + (ramp < whole ? 0 : 1);
  const bool none = has_product(c) || ramp > whole || (ramp == whole && c->offset % OFFSET_UNIT == 0);
  if (none) return network_command_operand(ISA_LOCAL_GARBAGE, m->d.dim, m->d.dim);
  return network_command_operand(tile_row(m, bias), cols, rows);
}

// What happens to each block of a batch: number `product` of them, from the ramps to the last weight.
static void multiply_block(curve_maker *m, int64_t batch, int product, uint32_t block, uint32_t rows, uint32_t cols) {
  const graph_curve *c = m->curve;
  const int ramp = product < c->count ? product : product - c->count;
  if (product < c->count) {
    multiply(m, ramp, network_command_operand(x_row(m, batch, block), cols, rows),
             network_command_operand(tile_row(m, diagonals(c) + ramp), cols, rows),
             network_command_operand(ramp_row(m, batch, ramp, block), cols, rows));
    return;
  }
  const bool offset = ramp == c->count;
  const uint32_t sum =
      sum_row(m, batch, block) | ISA_LOCAL_ACCUMULATOR_MASK | (ramp == 0 ? 0 : ISA_LOCAL_ACCUMULATE_MASK);
  const uint64_t a = offset ? network_command_operand(tile_row(m, diagonals(c) + c->count), m->d.dim, rows)
                            : network_command_operand(ramp_row(m, batch, ramp, block), cols, rows);
  multiply(m, product, a, sum_bias(m, ramp, rows, cols), network_command_operand(sum, cols, rows));
}

static void multiply_batch(curve_maker *m, int64_t batch) {
  const int products = diagonals(m->curve);
  for (int product = 0; product < products; product++)
    for (uint32_t i = 0; i < m->groups; i++) {
      const group g = group_at(m, batch * m->groups + i);
      for (uint32_t at = 0, block = i * blocks_of_group(m); at < g.cols; at += m->d.dim, block++)
        multiply_block(m, batch, product, block, g.rows, g.cols - at < m->d.dim ? g.cols - at : m->d.dim);
    }
}

static void choose_sizes(curve_maker *m) {
  const uint32_t fit = blocks_that_fit(m->curve, &m->d), widest = wf_min(m->d.max_cols, fit * m->d.dim);
  m->quarter = m->d.sp_rows / 4;
  m->cols = m->elements_cols < widest ? (uint32_t)m->elements_cols : widest;
  m->groups = fit / blocks_of_group(m);
  m->blocks = m->groups * blocks_of_group(m);
}

command_program *network_curve_program(const graph_curve *curve, int64_t rows, int64_t cols, const hw_array *array) {
  curve_maker m = {.curve = curve,
                   .elements_rows = rows,
                   .elements_cols = cols,
                   .out = command_create("curve", array),
                   .d = hw_derive(array),
                   .held = NO_TILE};
  choose_sizes(&m);
  add_tensors(&m);
  configure(&m);
  load_tiles(&m);
  const int64_t groups = wf_ceil_div(rows, m.d.dim) * wf_ceil_div(cols, m.cols),
                batches = wf_ceil_div(groups, m.groups);
  for (int64_t b = 0; b < X_BATCHES - 1; b++) load_batch(&m, b);
  for (int64_t b = 0; b < batches; b++) {
    load_batch(&m, b + X_BATCHES - 1);
    multiply_batch(&m, b);
    store_batch(&m, b);
  }
  return m.out;
}
