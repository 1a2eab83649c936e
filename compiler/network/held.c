// SPDX-License-Identifier: Apache-2.0
// See held.h. Weights lie in the first half of the scratchpad and rows in the second, so the mesh reads weights and
// rows from different banks. Each half has two quarters, which pairs and blocks of rows take in turn: while the mesh
// reads one, the DMA fills the other with the next rows, and with the next pair's weights if a quarter holds them.
#include "compiler/network/held.h"

#include "base/number.h"
#include "compiler/network/commands.h"
#include "isa/isa_fields.h"

enum { X_TURNS_MAX = 8 };
enum { X_STATE = 0, WEIGHT_STATE = 1 };

typedef struct held_maker {
  command_program *out;
  hw_derived d;
  const network_held *what;
  int x, weights;                  // tensors
  uint32_t depth, width;           // blocks
  int64_t whole, blocks;           // of a pair: blocks of DIM rows, and all blocks with the shorter last one
  uint32_t x_turns, weight_turns;  // blocks of rows, and pairs, in the scratchpad
} held_maker;

static uint32_t blocks_of(int64_t elements, uint32_t dim) { return (uint32_t)wf_ceil_div(elements, dim); }

bool network_held_fits(int64_t depth, int64_t cols, const hw_array *array) {
  enum { PRODUCT_BITS = 15 };  // of an exponential and a weight
  const hw_derived d = hw_derive(array);
  uint32_t bits = PRODUCT_BITS;
  for (uint32_t dim = 1; dim < d.dim; dim *= 2) bits++;
  const uint64_t rows = (uint64_t)wf_ceil_div(depth, d.dim) * d.dim;
  return array->mesh.dataflow != HW_DATAFLOW_OS && array->sync.by == HW_SYNC_STATION &&
         array->accumulator.execute_writes && array->accumulator.narrow_reads && d.acc_bytes == 4 &&
         d.input_bytes == 1 && array->types.output_bits >= bits && rows <= d.sp_rows / 4 &&
         rows * (uint64_t)wf_ceil_div(cols, d.dim) <= d.sp_rows / 2 && network_held_blocks(cols, array) > 0;
}

int64_t network_held_blocks(int64_t cols, const hw_array *array) {
  const hw_derived d = hw_derive(array);
  return d.acc_rows / (wf_ceil_div(cols, d.dim) * d.dim);
}

static void choose_sizes(held_maker *m) {
  const uint32_t dim = m->d.dim, quarter = m->d.sp_rows / 4;
  m->depth = blocks_of(m->what->depth, dim);
  m->width = blocks_of(m->what->cols, dim);
  m->whole = m->what->rows / dim;
  m->blocks = blocks_of(m->what->rows, dim);
  m->x_turns = wf_min(quarter / (m->depth * dim) * 2, X_TURNS_MAX);
  m->weight_turns = m->depth * m->width * dim <= quarter ? 2 : 1;
}

// ---- commands

static void add(const held_maker *m, command_insn insn) { command_add(m->out, &insn); }

static uint64_t reach(const network_held_lie *lie, int64_t pairs, int64_t rows, int64_t cols) {
  return (uint64_t)((pairs - 1) * lie->step + (rows - 1) * lie->pitch + cols);
}

static void begin(held_maker *m) {
  const network_held *w = m->what;
  const command_tensor x = {.name = NETWORK_UNIT_X,
                            .element_bytes = 1,
                            .elements = reach(&w->x, w->pairs, w->rows, w->depth),
                            .read = true},
                       weights = {.name = NETWORK_HELD_WEIGHTS,
                                  .element_bytes = 1,
                                  .elements = reach(&w->weights, w->pairs, w->depth, w->cols),
                                  .read = true};
  m->x = command_add_tensor(m->out, &x);
  m->weights = command_add_tensor(m->out, &weights);
  add(m, network_command_execute(ISA_CONFIG_EX_ACTIVATION_NONE));
  add(m, network_command_load_state(X_STATE, m->d.dim, w->x.pitch));
  add(m, network_command_load_state(WEIGHT_STATE, m->d.dim, w->weights.pitch));
}

static uint32_t part(int64_t all, uint32_t block, uint32_t dim) {
  return (uint32_t)wf_min(all - (int64_t)block * dim, (int64_t)dim);
}

static uint32_t weight_row(const held_maker *m, int64_t pair, uint32_t block, uint32_t col) {
  return (uint32_t)(pair % m->weight_turns) * (m->d.sp_rows / 4) + (block * m->width + col) * m->d.dim;
}
static uint32_t x_row(const held_maker *m, int64_t number, uint32_t block) {
  const uint32_t turn = (uint32_t)(number % m->x_turns), quarter = m->d.sp_rows / 4;
  return (2 + turn % 2) * quarter + (turn / 2 * m->depth + block) * m->d.dim;
}

static void load_weights(const held_maker *m, int64_t pair) {
  const network_held *w = m->what;
  const uint32_t dim = m->d.dim, most = m->d.max_cols;
  for (uint32_t k = 0; k < m->depth; k++)
    for (uint32_t at = 0; at < w->cols; at += most)
      add(m, network_command_move(
                 ISA_FUNCT_MVIN2, m->weights, pair * w->weights.step + (int64_t)k * dim * w->weights.pitch + at,
                 network_command_operand(weight_row(m, pair, k, at / dim),
                                         (uint32_t)wf_min(w->cols - at, (int64_t)most), part(w->depth, k, dim))));
}

// Blocks of rows are numbered pair by pair.
static void load(const held_maker *m, int64_t number) {
  const network_held *w = m->what;
  const int64_t pair = number / m->blocks, block = number % m->blocks;
  const uint32_t dim = m->d.dim, most = m->d.max_cols;
  if (pair >= w->pairs) return;
  if (block == 0) load_weights(m, pair);
  for (uint32_t at = 0; at < w->depth; at += most)
    add(m, network_command_move(
               ISA_FUNCT_MVIN, m->x, pair * w->x.step + block * dim * w->x.pitch + at,
               network_command_operand(x_row(m, number, at / dim), (uint32_t)wf_min(w->depth - at, (int64_t)most),
                                       part(w->rows, (uint32_t)block, dim))));
}

static uint32_t sum_row(const held_maker *m, int64_t pair, int64_t block) {
  const int64_t at = block < m->whole ? pair * m->whole + block : m->what->pairs * m->whole + pair;
  return (uint32_t)at * m->width * m->d.dim;
}

static void multiply(const held_maker *m, int64_t number) {
  const network_held *w = m->what;
  const int64_t pair = number / m->blocks, block = number % m->blocks;
  const uint32_t dim = m->d.dim, rows = part(w->rows, (uint32_t)block, dim);
  for (uint32_t col = 0; col < m->width; col++)
    for (uint32_t k = 0; k < m->depth; k++) {
      const uint32_t cols = part(w->cols, col, dim), deep = part(w->depth, k, dim);
      const uint32_t sums = sum_row(m, pair, block) + col * dim,
                     flags = ISA_LOCAL_ACCUMULATOR_MASK | (k > 0 ? ISA_LOCAL_ACCUMULATE_MASK : 0);
      network_command_multiply(m->out, &(network_command_product){
                                           .weights = network_command_operand(weight_row(m, pair, k, col), cols, deep),
                                           .a = network_command_operand(x_row(m, number, k), deep, rows),
                                           .added = network_command_operand(ISA_LOCAL_GARBAGE, dim, dim),
                                           .c = network_command_operand(sums | flags, cols, rows)});
    }
}

// The block of rows up to which is loaded before block n is multiplied: few at first, since the first products wait for
// them, and none of a pair whose weights would take the place of those in use.
static int64_t loaded_to(const held_maker *m, int64_t n) {
  return wf_min(wf_min(n + m->x_turns, 2 * n + 2), (n / m->blocks + m->weight_turns) * m->blocks);
}

command_program *network_held_program(const network_unit *unit, const hw_array *array) {
  held_maker m = {.out = command_create(network_unit_name(unit), array), .d = hw_derive(array), .what = unit->held};
  choose_sizes(&m);
  begin(&m);
  for (int64_t n = 0, next = 0; n < m.what->pairs * m.blocks; n++) {
    for (; next < loaded_to(&m, n); next++) load(&m, next);
    multiply(&m, n);
  }
  return m.out;
}

// ---- the way out, as the hart gives it: driver/host/qleave.c

int64_t network_held_shape(int64_t cols, const hw_array *array) {
  const hw_derived d = hw_derive(array);
  return wf_ceil_div(cols, d.dim) * d.dim | (int64_t)d.max_cols << 32;
}

typedef struct leaver {
  command_program *out;
  const struct weft_host_call *call;
  int64_t cols, most;
  uint32_t local, block;
} leaver;

static void leave_row(leaver *l, int64_t to, int32_t sum) {
  const float scale = sum == 0 ? 0 : l->call->number[0] / (float)sum;
  command_insn store = network_command(ISA_FUNCT_CONFIG_ST);
  isa_init_config_st(&store.rs1, &store.rs2);
  isa_set_config_st_stride(&store.rs1, &store.rs2, (uint64_t)l->cols);
  isa_set_config_st_acc_scale(&store.rs1, &store.rs2, network_command_bits(scale));
  command_add(l->out, &store);
  for (int64_t at = 0; at < l->cols; at += l->most) {
    const uint64_t local = network_command_operand((l->local + (uint32_t)at) | ISA_LOCAL_ACCUMULATOR_MASK,
                                                   (uint32_t)wf_min(l->cols - at, l->most), 1);
    const command_insn move = network_command_move(ISA_FUNCT_MVOUT, 0, to + at, local);
    command_add(l->out, &move);
  }
}

static void leave_rows(leaver *l, unsigned dim, int64_t to, const char *sums) {
  const struct weft_host_call *call = l->call;
  const int64_t *to_step = call->operand[0].step, *sum_step = call->operand[1].step;
  if (dim + 1 == call->outer) {
    for (int64_t r = 0; r < call->dim[dim]; r++, l->local++)
      leave_row(l, to + r * to_step[dim], *(const int32_t *)(const void *)(sums + r * sum_step[dim]));
    l->local += l->block - (uint32_t)call->dim[dim];
    return;
  }
  for (int64_t i = 0; i < call->dim[dim]; i++) leave_rows(l, dim + 1, to + i * to_step[dim], sums + i * sum_step[dim]);
}

command_program *network_held_leave(const struct weft_host_call *call, const hw_array *array) {
  leaver l = {.out = command_create("qleave", array),
              .call = call,
              .cols = call->dim[call->outer],
              .block = (uint32_t)call->integer[1],
              .most = call->integer[1] >> 32,
              .local = (uint32_t)call->integer[0]};
  uint64_t elements = (uint64_t)l.cols;
  for (unsigned d = 0; d < call->outer; d++) elements += (uint64_t)((call->dim[d] - 1) * call->operand[0].step[d]);
  command_add_tensor(l.out, &(command_tensor){.name = "y", .element_bytes = 1, .elements = elements, .written = true});
  leave_rows(&l, 0, 0, call->operand[1].data);
  return l.out;
}
