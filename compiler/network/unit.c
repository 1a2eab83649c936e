// SPDX-License-Identifier: Apache-2.0
// See unit.h. Statistics commands and results are per row, since each row has statistics of its own; a command takes as
// many columns as a store may have. Stores wait for nothing but their operands, so in the list of commands those of the
// next groups stand between them.
#include "compiler/network/unit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "compiler/network/commands.h"
#include "compiler/network/curve.h"
#include "compiler/network/curve_row.h"
#include "compiler/network/gate.h"
#include "compiler/network/mesh_norm.h"
#include "compiler/network/multiply.h"
#include "isa/isa_fields.h"

enum { ROW_STATE = 0, CONSTANT_STATE = 1, WIDE_STATE = 2 };

// ---- what fits

// Scratchpad rows of the constants: two diagonals, the weights and the operand of the offset; zeros for a store.
static uint32_t zero_row(const hw_derived *d) { return 4 * d->dim; }
static uint32_t constant_rows(const hw_derived *d) { return zero_row(d) + d->max_cols; }

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

bool network_unit_equal(const network_unit *a, const network_unit *b) {
  const graph_unit *x = &a->what, *y = &b->what;
  if (a->curve != NULL || b->curve != NULL)
    return a->curve != NULL && b->curve != NULL && a->rows == b->rows && a->cols == b->cols &&
           graph_curve_equal(a->curve, b->curve);
  return a->rows == b->rows && a->cols == b->cols && x->op == y->op && x->two_copies == y->two_copies &&
         memcmp(x->gain, y->gain, sizeof x->gain) == 0 && x->centred == y->centred &&
         memcmp(&x->constants, &y->constants, sizeof x->constants) == 0 && x->offset == y->offset &&
         memcmp(&x->scale, &y->scale, sizeof x->scale) == 0 && x->lengths == y->lengths;
}

const char *network_unit_name(const network_unit *unit) {
  return unit->is_row                              ? "curve_row"
         : unit->curve != NULL                     ? "curve"
         : unit->what.op == GRAPH_OP_QSOFTMAX_UNIT ? "softmax_unit"
         : unit->what.op == GRAPH_OP_QNORM_UNIT    ? "norm_unit"
         : unit->what.op == GRAPH_OP_QNORM_MESH    ? "norm_mesh"
         : unit->what.op == GRAPH_OP_QMUL          ? network_gate_name(unit)
                                                   : "gelu_unit";
}

// ---- lists of commands

typedef struct list {
  command_insn *insns;
  size_t count, room;
} list;

static void add(list *l, const command_insn *insn) {
  if (l->count == l->room) {
    l->room = 2 * l->room + 64;
    l->insns = wf_realloc(l->insns, l->room, sizeof *l->insns);
  }
  l->insns[l->count++] = *insn;
}

// ---- the kernel

typedef struct unit_group {
  int64_t row, col;
  uint32_t rows, cols;
} unit_group;

typedef struct unit_maker {
  const network_unit *unit;
  command_program *out;
  hw_derived d;
  int x, y, constants;  // tensors
  uint32_t copies;
  uint32_t rows, cols;          // of a group at most
  uint32_t blocks;              // of the columns of a group
  uint32_t buffers, per_plane;  // groups in the accumulator; slots of `rows` rows side by side in its blocks
  uint32_t loaded;              // groups in the scratchpad
  uint32_t weights;             // the tile that the array holds, by number; or NO_WEIGHTS
} unit_maker;

static const uint32_t buffers_max = 4, loaded_max = 8;
enum { OFFSET_UNIT = 127 };
enum { DIAGONAL, OFFSET_WEIGHTS = 2, OFFSET_OPERAND, TILES, NO_WEIGHTS = TILES };

static bool has_statistics(const network_unit *unit) { return unit->what.op != GRAPH_OP_QGELU_UNIT; }
static bool has_offset(const network_unit *unit) { return unit->what.offset != 0; }
static bool needs_zero(const network_unit *unit) { return unit->what.op == GRAPH_OP_QNORM_UNIT && !unit->what.centred; }

// The accumulator in planes of as many blocks as a row has, each DIM rows; its last row may have to keep a zero.
static void choose_sizes(unit_maker *m) {
  const uint32_t dim = m->d.dim;
  m->copies = m->unit->what.two_copies ? 2 : 1;
  m->cols = (uint32_t)m->unit->cols;
  if (!has_statistics(m->unit) && m->cols > m->d.max_cols) m->cols = m->d.max_cols;
  m->blocks = (m->cols + dim - 1) / dim;
  const uint32_t planes = (m->d.acc_rows - (needs_zero(m->unit) ? 1 : 0)) / (m->blocks * dim), slots = planes * dim;
  m->rows = dim;
  while (m->rows > 1 && 2 * m->copies * m->rows > slots) m->rows /= 2;
  m->buffers = wf_min(slots / (m->copies * m->rows), buffers_max);
  m->per_plane = dim / m->rows;
  m->loaded = wf_min((m->d.sp_rows - constant_rows(&m->d)) / (m->blocks * dim), loaded_max);
}

// The first accumulator row of a copy of a group.
static uint32_t copy_row(const unit_maker *m, size_t group, uint32_t copy) {
  const uint32_t slot = (uint32_t)(group % m->buffers) * m->copies + copy;
  return slot / m->per_plane * m->blocks * m->d.dim + slot % m->per_plane * m->rows;
}
static uint32_t last_row(const unit_maker *m) { return m->d.acc_rows - 1; }
static uint32_t group_row(const unit_maker *m, size_t group) {
  return constant_rows(&m->d) + (uint32_t)(group % m->loaded) * m->blocks * m->d.dim;
}

// ---- constants

// Row k of the offset's weights, all columns: rows of its operand are 1, 127, 127, ..., so that the first one takes
// what the others leave.
static int32_t offset_weight(const unit_maker *m, uint32_t k) {
  const int32_t whole = -m->unit->what.offset, parts = (int32_t)m->d.dim - 1, times = whole / OFFSET_UNIT;
  if (k == 0) return whole % OFFSET_UNIT;
  return times / parts + ((int32_t)k <= -(times % parts) ? -1 : 0);
}

static void fill_tile(const unit_maker *m, int tile, int8_t *to) {
  const uint32_t dim = m->d.dim;
  for (uint32_t i = 0; i < dim; i++)
    for (uint32_t k = 0; k < dim; k++) {
      int32_t value = i == k && tile < OFFSET_WEIGHTS ? m->unit->what.gain[tile] : 0;
      if (tile == OFFSET_WEIGHTS) value = offset_weight(m, i);
      if (tile == OFFSET_OPERAND) value = k == 0 ? 1 : OFFSET_UNIT;
      to[i * dim + k] = (int8_t)value;
    }
}

static void add_tensors(unit_maker *m) {
  const uint64_t elements = (uint64_t)(m->unit->rows * m->unit->cols), tile = (uint64_t)m->d.dim * m->d.dim;
  int8_t *tiles = wf_arena_alloc(m->out->arena, TILES * tile, 1);
  for (int t = 0; t < TILES; t++) fill_tile(m, t, tiles + (uint64_t)t * tile);
  m->x = command_add_tensor(
      m->out, &(command_tensor){.name = NETWORK_UNIT_X, .element_bytes = 1, .elements = elements, .read = true});
  m->constants = command_add_tensor(
      m->out, &(command_tensor){
                  .name = "gains", .element_bytes = 1, .elements = TILES * tile, .read = true, .contents = tiles});
  m->y = command_add_tensor(
      m->out, &(command_tensor){.name = NETWORK_UNIT_Y, .element_bytes = 1, .elements = elements, .written = true});
}

// ---- configuration

static void configure_load(list *to, unsigned state, uint32_t block_stride, int64_t stride) {
  const command_insn i = network_command_load_state(state, block_stride, stride);
  add(to, &i);
}

static void configure_store(const unit_maker *m, list *to) {
  const graph_unit *what = &m->unit->what;
  command_insn i = network_command(ISA_FUNCT_CONFIG_ST);
  isa_init_config_st(&i.rs1, &i.rs2);
  isa_set_config_st_activation(&i.rs1, &i.rs2,
                               what->op == GRAPH_OP_QNORM_UNIT   ? ISA_CONFIG_ST_ACTIVATION_LAYERNORM
                               : what->op == GRAPH_OP_QGELU_UNIT ? ISA_CONFIG_ST_ACTIVATION_IGELU
                                                                 : ISA_CONFIG_ST_ACTIVATION_NONE);
  isa_set_config_st_stride(&i.rs1, &i.rs2, (uint64_t)m->unit->cols);
  isa_set_config_st_acc_scale(&i.rs1, &i.rs2, network_command_bits(what->scale));
  add(to, &i);
}

static void set_constants(const unit_maker *m, list *to) {
  const graph_unit_constants *c = &m->unit->what.constants;
  const bool exponential = m->unit->what.op == GRAPH_OP_QSOFTMAX_UNIT;
  for (int inverse = 0; inverse < (exponential ? 2 : 1); inverse++) {
    command_insn i = network_command(ISA_FUNCT_CONFIG_NORM);
    isa_init_config_norm(&i.rs1, &i.rs2);
    isa_set_config_norm_activation_msb(&i.rs1, &i.rs2, exponential);
    isa_set_config_norm_qln2_inverse(&i.rs1, &i.rs2, (uint64_t)inverse);
    isa_set_config_norm_ln2(&i.rs1, &i.rs2, (uint32_t)(inverse != 0 ? c->ln2_inverse : c->ln2));
    isa_set_config_norm_qb(&i.rs1, &i.rs2, (uint32_t)c->b);
    isa_set_config_norm_qc(&i.rs1, &i.rs2, (uint32_t)c->c);
    add(to, &i);
  }
}

// ---- loads and products

static void load(unsigned funct, int tensor, int64_t offset, uint64_t where, list *to) {
  const command_insn i = network_command_move(funct, tensor, offset, where);
  add(to, &i);
}

static void load_group(const unit_maker *m, const unit_group *g, size_t number, list *to) {
  for (uint32_t at = 0; at < g->cols; at += m->d.max_cols) {
    const uint32_t cols = g->cols - at < m->d.max_cols ? g->cols - at : m->d.max_cols;
    load(ISA_FUNCT_MVIN, m->x, g->row * m->unit->cols + g->col + at,
         network_command_operand(group_row(m, number) + at, cols, g->rows), to);
  }
}

static void multiply(unit_maker *m, uint32_t tile, uint64_t a, uint64_t c, list *to) {
  const uint32_t dim = m->d.dim;
  const bool held = m->weights == tile;
  command_insn preload = network_command(ISA_FUNCT_PRELOAD);
  preload.rs1 = network_command_operand(held ? ISA_LOCAL_GARBAGE : tile * dim, dim, dim);
  preload.rs2 = c;
  add(to, &preload);
  command_insn compute = network_command(held ? ISA_FUNCT_COMPUTE_ACCUMULATED : ISA_FUNCT_COMPUTE_PRELOADED);
  compute.rs1 = a;
  compute.rs2 = network_command_operand(ISA_LOCAL_GARBAGE, dim, dim);
  add(to, &compute);
  m->weights = tile;
}

// One product per block, of the rows with a diagonal, or of the constant operand that adds the offset.
static void multiply_blocks(unit_maker *m, const unit_group *g, size_t number, uint32_t tile, list *to) {
  const uint32_t dim = m->d.dim;
  const bool offset = tile == OFFSET_WEIGHTS;
  const uint32_t c =
      copy_row(m, number, offset ? 1 : tile) | ISA_LOCAL_ACCUMULATOR_MASK | (offset ? ISA_LOCAL_ACCUMULATE_MASK : 0);
  for (uint32_t at = 0; at < g->cols; at += dim) {
    const uint32_t cols = g->cols - at < dim ? g->cols - at : dim;
    const uint64_t a = offset ? network_command_operand(OFFSET_OPERAND * dim, dim, g->rows)
                              : network_command_operand(group_row(m, number) + at, cols, g->rows);
    multiply(m, tile, a, network_command_operand(c + at, cols, g->rows), to);
  }
}

static void multiply_group(unit_maker *m, const unit_group *g, size_t number, list *to) {
  for (uint32_t copy = 0; copy < m->copies; copy++) multiply_blocks(m, g, number, DIAGONAL + copy, to);
  if (has_offset(m->unit)) multiply_blocks(m, g, number, OFFSET_WEIGHTS, to);
}

// ---- stores

static void store(int tensor, int64_t offset, uint64_t from, list *to) {
  const command_insn i = network_command_move(ISA_FUNCT_MVOUT, tensor, offset, from);
  add(to, &i);
}

static uint32_t with_norm(uint32_t row, uint32_t norm) {
  return row | ISA_LOCAL_ACCUMULATOR_MASK | norm * (ISA_LOCAL_NORM_MASK & -ISA_LOCAL_NORM_MASK);
}

// A statistics command over `cols` columns of a row: `last` ends it, the commands before it collect.
static void statistics(const unit_maker *m, uint32_t row, uint32_t cols, uint32_t collect, uint32_t last, list *to) {
  for (uint32_t at = 0; at < cols; at += m->d.max_cols) {
    const bool ends = cols - at <= m->d.max_cols;
    store(COMMAND_NO_TENSOR, 0,
          network_command_operand(with_norm(row + at, ends ? last : collect), ends ? cols - at : m->d.max_cols, 1), to);
  }
}

static void pass(const unit_maker *m, uint32_t row, int64_t offset, uint32_t cols, uint32_t rows, list *to) {
  for (uint32_t at = 0; at < cols; at += m->d.max_cols)
    store(m->y, offset + at,
          network_command_operand(with_norm(row + at, ISA_LOCAL_NORM_NONE),
                                  cols - at < m->d.max_cols ? cols - at : m->d.max_cols, rows),
          to);
}

static void zeros(const unit_maker *m, int64_t offset, uint32_t cols, list *to) {
  for (uint32_t at = 0; at < cols; at += m->d.max_cols)
    store(m->y, offset + at,
          network_command_operand(zero_row(&m->d), cols - at < m->d.max_cols ? cols - at : m->d.max_cols, 1), to);
}

static void softmax_row(const unit_maker *m, const uint32_t *copy, int64_t row, list *to) {
  const graph_unit *what = &m->unit->what;
  const uint32_t width = (uint32_t)m->unit->cols,
                 cols = what->lengths == NULL ? width : (uint32_t)what->lengths[row % what->length_count];
  const int64_t offset = row * m->unit->cols;
  statistics(m, copy[0], cols, ISA_LOCAL_NORM_MAX, ISA_LOCAL_NORM_MAX, to);
  statistics(m, copy[m->copies - 1], cols, ISA_LOCAL_NORM_SUM_EXP, ISA_LOCAL_NORM_INV_SUM_EXP, to);
  pass(m, copy[0], offset, cols, 1, to);
  zeros(m, offset + cols, width - cols, to);
}

static void norm_row(const unit_maker *m, const uint32_t *copy, int64_t row, list *to) {
  const graph_unit *what = &m->unit->what;
  const uint32_t cols = (uint32_t)m->unit->cols;
  if (what->centred) statistics(m, copy[0], cols, ISA_LOCAL_NORM_SUM, ISA_LOCAL_NORM_MEAN, to);
  statistics(m, copy[0], cols, ISA_LOCAL_NORM_VARIANCE, ISA_LOCAL_NORM_INV_STDDEV, to);
  if (what->centred && what->two_copies) statistics(m, copy[1], cols, ISA_LOCAL_NORM_SUM, ISA_LOCAL_NORM_MEAN, to);
  pass(m, copy[m->copies - 1], row * m->unit->cols, cols, 1, to);
}

static void store_group(const unit_maker *m, const unit_group *g, size_t number, list *to) {
  if (!has_statistics(m->unit)) {
    pass(m, copy_row(m, number, 0), g->row * m->unit->cols + g->col, g->cols, g->rows, to);
    return;
  }
  for (uint32_t r = 0; r < g->rows; r++) {
    const uint32_t copy[2] = {copy_row(m, number, 0) + r, m->copies > 1 ? copy_row(m, number, 1) + r : 0};
    if (m->unit->what.op == GRAPH_OP_QSOFTMAX_UNIT)
      softmax_row(m, copy, g->row + r, to);
    else
      norm_row(m, copy, g->row + r, to);
  }
}

// ---- order

// Without centring the mean has to be 0: that of a zero.
static void clear_mean(const unit_maker *m, list *to) {
  command_insn zero = network_command(ISA_FUNCT_MVIN3);
  zero.rs2 = network_command_operand(last_row(m) | ISA_LOCAL_ACCUMULATOR_MASK, 1, 1);
  add(to, &zero);
  statistics(m, last_row(m), 1, ISA_LOCAL_NORM_SUM, ISA_LOCAL_NORM_MEAN, to);
}

static void begin(unit_maker *m, list *to) {
  const uint32_t dim = m->d.dim;
  const command_insn execute = network_command_execute(ISA_CONFIG_EX_ACTIVATION_NONE);
  add(to, &execute);
  configure_load(to, ROW_STATE, dim, m->unit->cols);
  configure_load(to, CONSTANT_STATE, dim, dim);
  configure_load(to, WIDE_STATE, dim, 4);
  configure_store(m, to);
  if (m->unit->what.op != GRAPH_OP_QNORM_UNIT) set_constants(m, to);
  for (uint32_t t = 0; t < TILES; t++)
    load(ISA_FUNCT_MVIN2, m->constants, (int64_t)t * dim * dim, network_command_operand(t * dim, dim, dim), to);
  if (m->unit->what.lengths != NULL) {
    command_insn zeroes = network_command(ISA_FUNCT_MVIN2);
    zeroes.rs2 = network_command_operand(zero_row(&m->d), m->d.max_cols, dim);
    add(to, &zeroes);
  }
  if (needs_zero(m->unit)) clear_mean(m, to);
}

static unit_group *list_groups(const unit_maker *m, size_t *count) {
  const int64_t down = wf_ceil_div(m->unit->rows, m->rows), across = wf_ceil_div(m->unit->cols, m->cols);
  *count = (size_t)(down * across);
  unit_group *groups = WF_NEW_ARRAY(*count + 1, unit_group);
  for (size_t g = 0; g < *count; g++) {
    const int64_t row = (int64_t)g / across * m->rows, col = (int64_t)g % across * m->cols;
    const int64_t rows = m->unit->rows - row, cols = m->unit->cols - col;
    groups[g] = (unit_group){.row = row,
                             .col = col,
                             .rows = rows < m->rows ? (uint32_t)rows : m->rows,
                             .cols = cols < m->cols ? (uint32_t)cols : m->cols};
  }
  return groups;
}

// Cycles for which a store keeps the normaliser busy (sim/cycle/normaliser.c).
static uint64_t cycles_of(const unit_maker *m, const command_insn *insn) {
  static const uint8_t divisions[] = {[ISA_LOCAL_NORM_MEAN] = 35,
                                      [ISA_LOCAL_NORM_INV_STDDEV] = 104,
                                      [ISA_LOCAL_NORM_MAX] = 0,
                                      [ISA_LOCAL_NORM_INV_SUM_EXP] = 53};
  if (insn->funct != ISA_FUNCT_MVOUT) return 1;
  const uint64_t cols = insn->rs2 >> 32 & UINT16_MAX, rows = insn->rs2 >> 48;
  const uint32_t norm = isa_local_norm((uint32_t)insn->rs2);
  const uint64_t blocks = wf_ceil_div(cols, (uint64_t)m->d.dim) * rows;
  return norm == ISA_LOCAL_NORM_NONE ? blocks : 2 * blocks + divisions[norm];
}

// A preload at the head of the execute unit holds back what is in the array until its product is there. A store between
// the two may have no entry, because the stores before it wait for what is held back: they stay together.
static bool is_product(const command_insn *insn) {
  return insn->funct == ISA_FUNCT_COMPUTE_PRELOADED || insn->funct == ISA_FUNCT_COMPUTE_ACCUMULATED;
}

// The first list with the second one spread over its cycles.
static void emit_together(unit_maker *m, list *stores, list *others) {
  uint64_t all = 0, past = 0;
  size_t next = 0;
  for (size_t s = 0; s < stores->count; s++) all += cycles_of(m, &stores->insns[s]);
  for (size_t s = 0; s < stores->count; s++) {
    past += cycles_of(m, &stores->insns[s]);
    const size_t due = others->count * past / all;
    for (; next < due || (next < others->count && is_product(&others->insns[next])); next++)
      command_add(m->out, &others->insns[next]);
    command_add(m->out, &stores->insns[s]);
  }
  for (; next < others->count; next++) command_add(m->out, &others->insns[next]);
  stores->count = others->count = 0;
}

static void emit(unit_maker *m) {
  size_t count;
  unit_group *groups = list_groups(m, &count);
  list stores = {0}, others = {0};
  begin(m, &others);
  for (size_t g = 0; g < m->loaded && g < count; g++) load_group(m, &groups[g], g, &others);
  if (m->buffers > 1) multiply_group(m, &groups[0], 0, &others);
  emit_together(m, &stores, &others);
  for (size_t g = 0; g < count; g++) {
    const size_t ahead = m->buffers > 1 ? g + 1 : g, next = g + m->loaded - 1;
    if (next < count && next >= m->loaded) load_group(m, &groups[next], next, &others);
    if (ahead < count) multiply_group(m, &groups[ahead], ahead, &others);
    if (m->buffers == 1) emit_together(m, &stores, &others);
    store_group(m, &groups[g], g, &stores);
    emit_together(m, &stores, &others);
  }
  wf_free(stores.insns);
  wf_free(others.insns);
  wf_free(groups);
}

command_program *network_unit_program(const network_unit *unit, const hw_array *array, wf_diag *diag) {
  if (unit->is_row) return network_curve_row_program(unit, array);
  if (unit->curve != NULL) return network_curve_program(unit, array, diag);
  if (unit->what.op == GRAPH_OP_QNORM_MESH) return network_mesh_norm_program(unit, array);
  if (unit->what.op == GRAPH_OP_QMUL && unit->what.gain[1] == NETWORK_GATE_ELEMENTS)
    return network_multiply_program(unit, array);
  if (unit->what.op == GRAPH_OP_QMUL) return network_gate_program(unit, array);
  unit_maker m = {.unit = unit,
                  .out = command_create(network_unit_name(unit), array),
                  .d = hw_derive(array),
                  .weights = NO_WEIGHTS};
  choose_sizes(&m);
  add_tensors(&m);
  emit(&m);
  return m.out;
}
