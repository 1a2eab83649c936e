// SPDX-License-Identifier: Apache-2.0
// See gate.h. A stripe is as many columns (or rows) as one command loads numbers for; its diagonals are made once. A
// piece is a part of a stripe that fills a slot of the accumulator. The next pieces are loaded meanwhile, and the last
// ones are stored.
//
// The scratchpad in quarters, so that what a product reads together lies in banks of its own: ones and numbers,
// diagonals, and what is added to those and x.
#include "compiler/network/gate.h"

#include "base/number.h"
#include "compiler/network/commands.h"
#include "isa/isa_fields.h"

enum { SUM_TURNS = 4, X_TURNS_MAX = 8, X_TURNS_MIN = 2 };
enum { X_STATE = 0, TILE_STATE = 1 };
enum { BESIDE = -127 };  // what is added to numbers beside the diagonal

typedef struct gate_maker {
  command_program *out;
  hw_derived d;
  int64_t rows, cols;
  bool by_rows;
  int x, y, numbers, tiles;  // tensors
  uint32_t wide;             // blocks of a stripe
  uint32_t tall;             // blocks of a piece along the stripe
  uint32_t turns;            // pieces in the scratchpad
  int64_t along;             // pieces of a stripe
} gate_maker;

static bool by_rows(const network_unit *unit) { return unit->what.gain[1] == NETWORK_GATE_ROWS; }

const char *network_gate_name(const network_unit *unit) {
  static const char *const names[] = {
      [NETWORK_GATE_COLUMNS] = "gate_columns", [NETWORK_GATE_ROWS] = "gate_rows", [NETWORK_GATE_ELEMENTS] = "multiply"};
  return names[unit->what.gain[1]];
}

static uint32_t blocks_of_slot(const hw_derived *d) { return d->acc_rows / (SUM_TURNS * d->dim); }
static uint32_t blocks_of_stripe(const hw_derived *d) { return wf_min(d->max_cols / d->dim, blocks_of_slot(d)); }
static uint32_t x_turns(const hw_derived *d, uint32_t blocks) { return (d->sp_rows / 2 / d->dim - 1) / blocks; }

// Of ones and numbers, and of diagonals.
static bool quarters_fit(const hw_derived *d) {
  const uint32_t stripe = blocks_of_stripe(d);
  return d->sp_rows / 4 >= d->dim + X_TURNS_MAX * stripe && d->sp_rows / 4 >= X_TURNS_MAX * stripe * d->dim;
}

bool network_gate_fits(const hw_array *array) {
  enum { SUM_BITS = 17 };
  const hw_derived d = hw_derive(array);
  return array->mesh.dataflow != HW_DATAFLOW_OS && array->accumulator.execute_writes &&
         array->accumulator.narrow_reads && array->scratchpad.execute_writes && d.acc_bytes == 4 &&
         d.input_bytes == 1 && array->types.output_bits >= SUM_BITS && blocks_of_slot(&d) > 0 && quarters_fit(&d) &&
         x_turns(&d, blocks_of_slot(&d)) >= X_TURNS_MIN;
}

static void choose_sizes(gate_maker *m) {
  m->wide = blocks_of_stripe(&m->d);
  m->tall = blocks_of_slot(&m->d) / m->wide;
  m->turns = wf_min(x_turns(&m->d, m->wide * m->tall), X_TURNS_MAX);
  m->along = wf_ceil_div(m->by_rows ? m->cols : m->rows, (int64_t)m->tall * m->d.dim);
}

// ---- commands

static void add(const gate_maker *m, command_insn insn) { command_add(m->out, &insn); }

static void configure(const gate_maker *m, float scale) {
  add(m, network_command_execute(ISA_CONFIG_EX_ACTIVATION_RELU));
  add(m, network_command_load_state(X_STATE, m->d.dim, m->cols));
  add(m, network_command_load_state(TILE_STATE, 1, m->d.dim));
  command_insn i = network_command(ISA_FUNCT_CONFIG_ST);
  isa_init_config_st(&i.rs1, &i.rs2);
  isa_set_config_st_stride(&i.rs1, &i.rs2, (uint64_t)m->cols);
  isa_set_config_st_acc_scale(&i.rs1, &i.rs2, network_command_bits(scale));
  add(m, i);
}

// Ones, and behind them what is added.
static const int8_t *tiles_of(const gate_maker *m) {
  const uint32_t dim = m->d.dim;
  int8_t *tiles = wf_arena_alloc(m->out->arena, 2 * (size_t)dim * dim, 1), *to = tiles;
  for (uint32_t i = 0; i < dim * dim; i++) *to++ = 1;
  for (uint32_t i = 0; i < dim; i++)
    for (uint32_t k = 0; k < dim; k++) *to++ = i == k ? 0 : BESIDE;
  return tiles;
}

static int add_tensor(const gate_maker *m, const char *name, int64_t elements, bool read) {
  return command_add_tensor(
      m->out, &(command_tensor){
                  .name = name, .element_bytes = 1, .elements = (uint64_t)elements, .read = read, .written = !read});
}

static void add_tensors(gate_maker *m) {
  m->x = add_tensor(m, NETWORK_UNIT_X, m->rows * m->cols, true);
  m->numbers = add_tensor(m, NETWORK_GATE_NUMBERS, m->by_rows ? m->rows : m->cols, true);
  m->tiles = command_add_tensor(m->out, &(command_tensor){.name = "tiles",
                                                          .element_bytes = 1,
                                                          .elements = 2 * (uint64_t)m->d.dim * m->d.dim,
                                                          .read = true,
                                                          .contents = tiles_of(m)});
  m->y = add_tensor(m, NETWORK_UNIT_Y, m->rows * m->cols, false);
}

// ---- places

typedef struct piece {
  int64_t row, col;
  uint32_t rows, cols;  // 0: there is none
} piece;

static uint32_t up_to(int64_t left, uint32_t most) { return left < most ? (uint32_t)wf_max(left, 0) : most; }

static piece piece_at(const gate_maker *m, int64_t number) {
  const uint32_t wide = m->wide * m->d.dim, tall = m->tall * m->d.dim;
  const int64_t across = number / m->along * wide, along = number % m->along * tall;
  piece p = {.row = m->by_rows ? across : along, .col = m->by_rows ? along : across};
  p.rows = up_to(m->rows - p.row, m->by_rows ? wide : tall);
  p.cols = up_to(m->cols - p.col, m->by_rows ? tall : wide);
  return p;
}

static uint32_t turn_of(const gate_maker *m, int64_t number) { return (uint32_t)(number / m->along % m->turns); }
static uint32_t number_row(const gate_maker *m, int64_t number) { return m->d.dim + turn_of(m, number) * m->wide; }
static uint32_t diagonal_row(const gate_maker *m, int64_t number) {
  return m->d.sp_rows / 4 + turn_of(m, number) * m->wide * m->d.dim;
}
static uint32_t added_row(const gate_maker *m) { return m->d.sp_rows / 2; }
static uint32_t x_row(const gate_maker *m, int64_t number) {
  return added_row(m) + m->d.dim * (1 + (uint32_t)(number % m->turns) * m->wide * m->tall);
}
static uint32_t sum_row(const gate_maker *m, int64_t number) {
  return ((uint32_t)(number % SUM_TURNS) * m->wide * m->tall * m->d.dim) | ISA_LOCAL_ACCUMULATOR_MASK;
}

// The block of a piece that begins there, `first` being the piece's: blocks side by side, then those below.
static uint32_t block_row(const gate_maker *m, uint32_t first, uint32_t row, uint32_t col) {
  return first + row * (m->by_rows ? m->tall : m->wide) + col;
}

// ---- moves

static void move(const gate_maker *m, unsigned funct, int tensor, const piece *p, uint32_t local) {
  const uint32_t dim = m->d.dim, most = m->d.max_cols;
  for (uint32_t r = 0; r < p->rows; r += dim)
    for (uint32_t c = 0; c < p->cols; c += most)
      add(m, network_command_move(funct, tensor, (p->row + r) * m->cols + p->col + c,
                                  network_command_operand(block_row(m, local, r, c), up_to((int64_t)p->cols - c, most),
                                                          up_to((int64_t)p->rows - r, dim))));
}

static void load(const gate_maker *m, int64_t number) {
  const piece p = piece_at(m, number);
  if (p.rows == 0 || p.cols == 0) return;
  if (number % m->along == 0)
    add(m, network_command_move(ISA_FUNCT_MVIN2, m->numbers, m->by_rows ? p.row : p.col,
                                network_command_operand(number_row(m, number), m->by_rows ? p.rows : p.cols, 1)));
  move(m, ISA_FUNCT_MVIN, m->x, &p, x_row(m, number));
}

static void load_tiles(const gate_maker *m) {
  const uint32_t dim = m->d.dim, to[] = {0, added_row(m)};
  for (int t = 0; t < 2; t++)
    add(m, network_command_move(ISA_FUNCT_MVIN2, m->tiles, (int64_t)t * dim * dim,
                                network_command_operand(to[t], dim, dim)));
}

// ---- products

static void make_diagonals(const gate_maker *m, int64_t number, uint32_t count) {
  const uint32_t dim = m->d.dim;
  for (uint32_t at = 0; at < count; at += dim) {
    const uint32_t n = up_to((int64_t)count - at, dim);
    network_command_multiply(
        m->out, &(network_command_product){.weights = network_command_operand(number_row(m, number) + at / dim, n, 1),
                                           .a = network_command_operand(0, 1, n),
                                           .added = network_command_operand(added_row(m), n, n),
                                           .c = network_command_operand(diagonal_row(m, number) + at, n, n)});
  }
}

// The block of a piece that begins at a row and column of it. Blocks of a column have the same diagonal as weights.
static void multiply_block(const gate_maker *m, int64_t number, const piece *p, uint32_t row, uint32_t col) {
  const uint32_t dim = m->d.dim, rows = up_to((int64_t)p->rows - row, dim), cols = up_to((int64_t)p->cols - col, dim),
                 numbers = m->by_rows ? rows : cols;
  const uint64_t x = network_command_operand(block_row(m, x_row(m, number), row, col), cols, rows),
                 diagonal =
                     network_command_operand(diagonal_row(m, number) + (m->by_rows ? row : col), numbers, numbers),
                 held = network_command_operand(ISA_LOCAL_GARBAGE, dim, dim);
  network_command_multiply(
      m->out,
      &(network_command_product){.weights = m->by_rows ? x
                                            : row > 0  ? held
                                                       : diagonal,
                                 .a = m->by_rows ? diagonal : x,
                                 .added = held,
                                 .c = network_command_operand(block_row(m, sum_row(m, number), row, col), cols, rows)});
}

static void multiply_piece(const gate_maker *m, int64_t number) {
  const piece p = piece_at(m, number);
  if (number % m->along == 0) make_diagonals(m, number, m->by_rows ? p.rows : p.cols);
  for (uint32_t col = 0; col < p.cols; col += m->d.dim)
    for (uint32_t row = 0; row < p.rows; row += m->d.dim) multiply_block(m, number, &p, row, col);
  move(m, ISA_FUNCT_MVOUT, m->y, &p, sum_row(m, number));
}

command_program *network_gate_program(const network_unit *unit, const hw_array *array) {
  gate_maker m = {.out = command_create(network_unit_name(unit), array),
                  .d = hw_derive(array),
                  .rows = unit->rows,
                  .cols = unit->cols,
                  .by_rows = by_rows(unit)};
  choose_sizes(&m);
  add_tensors(&m);
  configure(&m, unit->what.scale);
  load_tiles(&m);
  const int64_t pieces = wf_ceil_div(m.by_rows ? m.rows : m.cols, (int64_t)m.wide * m.d.dim) * m.along;
  for (int64_t p = 0; p < m.turns - 1; p++) load(&m, p);
  for (int64_t p = 0; p < pieces; p++) {
    load(&m, p + m.turns - 1);
    multiply_piece(&m, p);
  }
  return m.out;
}
