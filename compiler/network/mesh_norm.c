// SPDX-License-Identifier: Apache-2.0
// See mesh_norm.h. A piece is a block of rows by some of their columns: its offsets begin the sums, then each block of
// columns becomes the weights of products with the diagonals. The next pieces are loaded meanwhile, and the last ones
// are stored.
//
// The scratchpad: the first quarter has the operand of the offsets and the factors, so that weights and operands of a
// product lie in banks of their own; the others have x.
#include "compiler/network/mesh_norm.h"

#include "base/number.h"
#include "compiler/network/commands.h"
#include "isa/isa_fields.h"

enum { SUM_TURNS = 4, SUM_TURNS_MIN = 2, X_TURNS_MAX = 8, X_TURNS_MIN = 3 };
enum { X_STATE = 0, FACTOR_STATE = 1 };
enum { OFFSET_UNIT = -128 };  // of all bytes of an offset but the first

typedef struct norm_maker {
  command_program *out;
  hw_derived d;
  int64_t rows, cols;
  int x, y, factors, units;     // tensors
  uint32_t copies, blocks;      // blocks: of a piece
  uint32_t x_turns, sum_turns;  // pieces in the scratchpad and in the accumulator
  int64_t across;               // pieces of a block of rows
} norm_maker;

// Blocks of a piece with so many of them in the accumulator.
static uint32_t blocks_in(const hw_derived *d, uint32_t turns) {
  return wf_min(d->acc_rows / (turns * d->dim), 3 * (d->sp_rows / 4) / (X_TURNS_MIN * d->dim));
}

// Blocks of rows whose factors have room.
static uint32_t factor_turns(uint32_t copies, const hw_derived *d) {
  return (d->sp_rows / 4 / d->dim - 1) / (copies + 1);
}

bool network_mesh_norm_fits(int copies, const hw_array *array) {
  enum { SUM_BITS = 20 };  // of eight copies of 127 * 256
  const hw_derived d = hw_derive(array);
  return array->mesh.dataflow != HW_DATAFLOW_OS && array->accumulator.execute_writes &&
         array->accumulator.narrow_reads && d.acc_bytes == 4 && d.input_bytes == 1 &&
         array->types.output_bits >= SUM_BITS && (uint32_t)copies < d.dim && blocks_in(&d, SUM_TURNS_MIN) > 0 &&
         d.sp_rows / 4 >= d.dim && factor_turns((uint32_t)copies, &d) >= X_TURNS_MIN;
}

static void choose_sizes(norm_maker *m) {
  const uint32_t dim = m->d.dim, all = (uint32_t)wf_ceil_div(m->cols, dim), wide = m->d.max_cols / dim;
  m->sum_turns = blocks_in(&m->d, SUM_TURNS) > 0 ? SUM_TURNS : SUM_TURNS_MIN;
  const uint32_t most = wf_min(blocks_in(&m->d, m->sum_turns), all);
  m->blocks = (uint32_t)wf_ceil_div(all, wf_ceil_div(all, most));
  if (m->blocks > wide && most >= wide) m->blocks = wf_min(wf_ceil_div(m->blocks, wide) * wide, most / wide * wide);
  m->across = wf_ceil_div(all, m->blocks);
  m->x_turns = wf_min(3 * (m->d.sp_rows / 4) / (m->blocks * dim), X_TURNS_MAX);
  m->x_turns = wf_min(m->x_turns, factor_turns(m->copies, &m->d));  // each may be of other rows
}

// ---- commands

static void add(const norm_maker *m, command_insn insn) { command_add(m->out, &insn); }

static void configure(const norm_maker *m, float scale) {
  add(m, network_command_execute(ISA_CONFIG_EX_ACTIVATION_NONE));
  add(m, network_command_load_state(X_STATE, m->d.dim, m->cols));
  add(m, network_command_load_state(FACTOR_STATE, m->d.dim, (int64_t)(m->copies + 1) * m->d.dim));
  command_insn i = network_command(ISA_FUNCT_CONFIG_ST);
  isa_init_config_st(&i.rs1, &i.rs2);
  isa_set_config_st_stride(&i.rs1, &i.rs2, (uint64_t)m->cols);
  isa_set_config_st_acc_scale(&i.rs1, &i.rs2, network_command_bits(scale));
  add(m, i);
}

// Rows of the operand of the offsets, with the stride of the factors.
static void add_tensors(norm_maker *m) {
  const uint64_t elements = (uint64_t)(m->rows * m->cols), dim = m->d.dim, width = (m->copies + 1) * dim;
  int8_t *units = wf_arena_alloc(m->out->arena, dim * width, 1);
  for (uint64_t i = 0; i <= m->copies; i++)
    for (uint64_t k = 0; k < dim; k++) units[i * width + k] = i == 0 ? 1 : OFFSET_UNIT;
  m->x = command_add_tensor(
      m->out, &(command_tensor){.name = NETWORK_UNIT_X, .element_bytes = 1, .elements = elements, .read = true});
  m->factors = command_add_tensor(
      m->out,
      &(command_tensor){
          .name = NETWORK_MESH_NORM_FACTORS, .element_bytes = 1, .elements = (uint64_t)m->rows * width, .read = true});
  m->units = command_add_tensor(
      m->out,
      &(command_tensor){.name = "units", .element_bytes = 1, .elements = dim * width, .read = true, .contents = units});
  m->y = command_add_tensor(
      m->out, &(command_tensor){.name = NETWORK_UNIT_Y, .element_bytes = 1, .elements = elements, .written = true});
}

// ---- pieces

typedef struct piece {
  int64_t row, col;
  uint32_t rows, cols;  // 0: there is none
} piece;

static piece piece_at(const norm_maker *m, int64_t number) {
  const int64_t row = number / m->across * m->d.dim, width = (int64_t)m->blocks * m->d.dim,
                col = number % m->across * width;
  const int64_t rows = m->rows - row, cols = m->cols - col;
  if (rows <= 0) return (piece){0};
  return (piece){row, col, rows < m->d.dim ? (uint32_t)rows : m->d.dim,
                 cols < width ? (uint32_t)cols : (uint32_t)width};
}

static uint32_t factor_row(const norm_maker *m, int64_t number) {
  return m->d.dim * (1 + (uint32_t)(number / m->across % m->x_turns) * (m->copies + 1));
}
static uint32_t x_row(const norm_maker *m, int64_t number) {
  return m->d.sp_rows / 4 + (uint32_t)(number % m->x_turns) * m->blocks * m->d.dim;
}
static uint32_t sum_row(const norm_maker *m, int64_t number) {
  return ((uint32_t)(number % m->sum_turns) * m->blocks * m->d.dim) | ISA_LOCAL_ACCUMULATOR_MASK;
}

static uint32_t up_to(uint32_t left, uint32_t most) { return left < most ? left : most; }

static void load_factors(const norm_maker *m, int64_t number, const piece *p) {
  const uint32_t width = (m->copies + 1) * m->d.dim;
  for (uint32_t at = 0; at < width; at += m->d.max_cols)
    add(m, network_command_move(
               ISA_FUNCT_MVIN2, m->factors, p->row * width + at,
               network_command_operand(factor_row(m, number) + at, up_to(width - at, m->d.max_cols), p->rows)));
}

static void load(const norm_maker *m, int64_t number) {
  const piece p = piece_at(m, number);
  if (p.rows != 0 && p.col == 0) load_factors(m, number, &p);
  for (uint32_t at = 0; at < p.cols; at += m->d.max_cols)
    add(m, network_command_move(
               ISA_FUNCT_MVIN, m->x, p.row * m->cols + p.col + at,
               network_command_operand(x_row(m, number) + at, up_to(p.cols - at, m->d.max_cols), p.rows)));
}

static void store(const norm_maker *m, int64_t number) {
  const piece p = piece_at(m, number);
  for (uint32_t at = 0; at < p.cols; at += m->d.max_cols)
    add(m, network_command_move(
               ISA_FUNCT_MVOUT, m->y, p.row * m->cols + p.col + at,
               network_command_operand(sum_row(m, number) + at, up_to(p.cols - at, m->d.max_cols), p.rows)));
}

static void multiply(const norm_maker *m, uint64_t weights, uint64_t a, uint64_t c) {
  const uint64_t none = network_command_operand(ISA_LOCAL_GARBAGE, m->d.dim, m->d.dim);
  network_command_multiply(m->out, &(network_command_product){.weights = weights, .a = a, .added = none, .c = c});
}

static void multiply_piece(const norm_maker *m, int64_t number) {
  const piece p = piece_at(m, number);
  const uint32_t dim = m->d.dim, factors = factor_row(m, number), sums = sum_row(m, number);
  const uint64_t held = network_command_operand(ISA_LOCAL_GARBAGE, dim, dim);
  for (uint32_t at = 0; at < p.cols; at += dim)
    multiply(m, at == 0 ? network_command_operand(0, dim, m->copies + 1) : held,
             network_command_operand(factors + m->copies * dim, m->copies + 1, p.rows),
             network_command_operand(sums + at, up_to(p.cols - at, dim), p.rows));
  for (uint32_t at = 0; at < p.cols; at += dim)
    for (uint32_t copy = 0; copy < m->copies; copy++) {
      const uint32_t cols = up_to(p.cols - at, dim);
      multiply(m, copy == 0 ? network_command_operand(x_row(m, number) + at, cols, p.rows) : held,
               network_command_operand(factors + copy * dim, p.rows, p.rows),
               network_command_operand((sums + at) | ISA_LOCAL_ACCUMULATE_MASK, cols, p.rows));
    }
}

command_program *network_mesh_norm_program(const network_unit *unit, const hw_array *array) {
  norm_maker m = {.out = command_create(network_unit_name(unit), array),
                  .d = hw_derive(array),
                  .rows = unit->rows,
                  .cols = unit->cols,
                  .copies = (uint32_t)unit->what.gain[0]};
  choose_sizes(&m);
  add_tensors(&m);
  configure(&m, unit->what.scale);
  add(&m, network_command_move(ISA_FUNCT_MVIN2, m.units, 0, network_command_operand(0, m.d.dim, m.copies + 1)));
  const int64_t pieces = wf_ceil_div(m.rows, m.d.dim) * m.across;
  for (int64_t p = 0; p < m.x_turns - 1; p++) load(&m, p);
  for (int64_t p = 0; p < pieces; p++) {
    load(&m, p + m.x_turns - 1);
    multiply_piece(&m, p);
    store(&m, p);
  }
  return m.out;
}
