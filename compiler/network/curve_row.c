// SPDX-License-Identifier: Apache-2.0
// See curve_row.h. The offset is a ramp that is 127 everywhere, times a weight, and what is added to the sum.
//
// The scratchpad in quarters, so that what a product reads together lies in banks of its own: slopes and weights, x,
// starts and the rest of the offset, ramps.
#include "compiler/network/curve_row.h"

#include "base/number.h"
#include "compiler/network/commands.h"
#include "compiler/network/curve.h"
#include "isa/isa_fields.h"

enum { ELEMENTS_MOST = 768 };  // more are faster as rows of blocks
enum { FULL = INT8_MAX, X_STATE = 0, TILE_STATE = 1, TILES = 2 };

typedef struct row_maker {
  command_program *out;
  const graph_curve *curve;
  hw_derived d;
  uint32_t elements;
  uint32_t ramps;       // with that of the offset
  int x, y, constants;  // tensors
} row_maker;

static uint32_t ramps_of(const graph_curve *curve) { return (uint32_t)curve->count + 1; }

bool network_curve_row_fits(const graph_curve *curve, int64_t elements, const hw_array *array) {
  const hw_derived d = hw_derive(array);
  const int64_t blocks = wf_ceil_div(elements, d.dim);
  return network_curve_fits(curve, array) && elements <= ELEMENTS_MOST && ramps_of(curve) < d.dim &&
         blocks * d.dim <= wf_min(d.acc_rows, d.sp_rows / 4);
}

// ---- constants

// The first tile has a row of its own for each slope, in column 0, and a row of weights; the second one rows of starts
// and a row of what is left of the offset.
static int32_t constant_at(const row_maker *m, int tile, uint32_t row, uint32_t col) {
  const graph_curve *c = m->curve;
  const uint32_t last = m->ramps - 1;
  if (tile == 0 && row <= last) return col == 0 && row < last ? c->slope[row] : 0;
  if (tile == 0) return col < last ? c->weight[col] : col == last ? c->offset / FULL : 0;
  return row < last ? c->start[row] : row == last ? FULL : c->offset % FULL;
}

static const int8_t *contents_of(const row_maker *m) {
  const uint32_t rows = m->ramps + 1, dim = m->d.dim;
  int8_t *bytes = wf_arena_alloc(m->out->arena, (size_t)TILES * rows * dim, 1), *to = bytes;
  for (int tile = 0; tile < TILES; tile++)
    for (uint32_t row = 0; row < rows; row++)
      for (uint32_t col = 0; col < dim; col++) *to++ = (int8_t)constant_at(m, tile, row, col);
  return bytes;
}

static void add_tensors(row_maker *m) {
  const uint64_t bytes = (uint64_t)TILES * (m->ramps + 1) * m->d.dim;
  m->x = command_add_tensor(
      m->out, &(command_tensor){.name = NETWORK_UNIT_X, .element_bytes = 1, .elements = m->elements, .read = true});
  m->constants = command_add_tensor(
      m->out, &(command_tensor){
                  .name = "ramps", .element_bytes = 1, .elements = bytes, .read = true, .contents = contents_of(m)});
  m->y = command_add_tensor(
      m->out, &(command_tensor){.name = NETWORK_UNIT_Y, .element_bytes = 1, .elements = m->elements, .written = true});
}

// ---- commands

static void add(const row_maker *m, command_insn insn) { command_add(m->out, &insn); }

static void configure(const row_maker *m) {
  add(m, network_command_execute(ISA_CONFIG_EX_ACTIVATION_RELU));
  add(m, network_command_load_state(X_STATE, 1, m->elements));
  add(m, network_command_load_state(TILE_STATE, m->d.dim, m->d.dim));
  command_insn i = network_command(ISA_FUNCT_CONFIG_ST);
  isa_init_config_st(&i.rs1, &i.rs2);
  isa_set_config_st_stride(&i.rs1, &i.rs2, m->elements);
  isa_set_config_st_acc_scale(&i.rs1, &i.rs2, network_command_bits(m->curve->scale));
  add(m, i);
}

static uint32_t quarter(const row_maker *m, uint32_t number) { return number * (m->d.sp_rows / 4); }
static uint32_t x_row(const row_maker *m, uint32_t at) { return quarter(m, 1) + at / m->d.dim; }
static uint32_t ramps_row(const row_maker *m, uint32_t at) { return quarter(m, 3) + at; }
static uint32_t sum_row(uint32_t at) { return at | ISA_LOCAL_ACCUMULATOR_MASK; }
static uint32_t up_to(uint32_t left, uint32_t most) { return left < most ? left : most; }

static void load(const row_maker *m) {
  const uint32_t rows = m->ramps + 1, dim = m->d.dim;
  for (uint32_t tile = 0; tile < TILES; tile++)
    add(m, network_command_move(ISA_FUNCT_MVIN2, m->constants, (int64_t)tile * rows * dim,
                                network_command_operand(quarter(m, 2 * tile), dim, rows)));
  for (uint32_t at = 0; at < m->elements; at += m->d.max_cols)
    add(m, network_command_move(ISA_FUNCT_MVIN, m->x, at,
                                network_command_operand(x_row(m, at), up_to(m->elements - at, m->d.max_cols), 1)));
}

static void multiply(const row_maker *m, uint64_t a, uint64_t weights, uint64_t added, uint64_t c) {
  network_command_multiply(m->out, &(network_command_product){.weights = weights, .a = a, .added = added, .c = c});
}

static void make_ramps(const row_maker *m, uint32_t at) {
  const uint32_t cols = up_to(m->elements - at, m->d.dim), ramps = m->ramps;
  multiply(m, network_command_operand(0, 1, ramps), network_command_operand(x_row(m, at), cols, 1),
           network_command_operand(quarter(m, 2), cols, ramps), network_command_operand(ramps_row(m, at), cols, ramps));
}

static void add_ramps(const row_maker *m, uint32_t at) {
  const uint32_t cols = up_to(m->elements - at, m->d.dim), ramps = m->ramps;
  multiply(m, network_command_operand(ramps, ramps, 1), network_command_operand(ramps_row(m, at), cols, ramps),
           network_command_operand(quarter(m, 2) + ramps, cols, 1), network_command_operand(sum_row(at), cols, 1));
}

// As many blocks as a command stores, from element `first` on.
static void sum_and_store(const row_maker *m, uint32_t first) {
  const uint32_t end = first + up_to(m->elements - first, m->d.max_cols);
  for (uint32_t at = first; at < end; at += m->d.dim) add_ramps(m, at);
  add(m, network_command_move(ISA_FUNCT_MVOUT, m->y, first, network_command_operand(sum_row(first), end - first, 1)));
}

// Ramps are one store ahead of their sums.
command_program *network_curve_row_program(const network_unit *unit, const hw_array *array) {
  row_maker m = {.out = command_create(network_unit_name(unit), array),
                 .curve = unit->curve,
                 .d = hw_derive(array),
                 .elements = (uint32_t)unit->cols,
                 .ramps = ramps_of(unit->curve)};
  const uint32_t wide = m.d.max_cols / m.d.dim * m.d.dim;
  add_tensors(&m);
  configure(&m);
  load(&m);
  for (uint32_t at = 0; at < m.elements; at += m.d.dim) {
    if (at >= 2 * wide && at % wide == 0) sum_and_store(&m, at - 2 * wide);
    make_ramps(&m, at);
  }
  const uint32_t stores = (uint32_t)wf_ceil_div(m.elements, wide);
  for (uint32_t s = stores < 2 ? 0 : stores - 2; s < stores; s++) sum_and_store(&m, s * wide);
  return m.out;
}
