// SPDX-License-Identifier: Apache-2.0
// See multiply.h. Tensors as rows that are as wide as a command moves: x goes to the accumulator, its factors to the
// scratchpad rows of the same numbers, and the store multiplies. A turn is DIM such rows; as many turns are under way
// as both memories hold. What is left are turns of fewer rows, and a row that is shorter.
#include "compiler/network/multiply.h"

#include "base/number.h"
#include "compiler/network/commands.h"
#include "isa/isa_fields.h"

enum { X_STATE = 0, FACTORS_STATE = 1, AHEAD = 2 };

typedef struct multiply_maker {
  command_program *out;
  hw_derived d;
  int64_t elements, width;  // of a row
  uint32_t turns, turn_rows;
  int x, factors, y;  // tensors
} multiply_maker;

bool network_multiply_fits(const hw_array *array) {
  const hw_derived d = hw_derive(array);
  return array->units.gate && d.input_bytes == 1 && wf_min(d.acc_rows, d.sp_rows) >= (AHEAD + 1) * d.max_cols;
}

static void add(const multiply_maker *m, command_insn insn) { command_add(m->out, &insn); }

static int add_tensor(const multiply_maker *m, const char *name, bool read) {
  return command_add_tensor(
      m->out, &(command_tensor){
                  .name = name, .element_bytes = 1, .elements = (uint64_t)m->elements, .read = read, .written = !read});
}

static void configure(const multiply_maker *m, float scale) {
  command_insn x = network_command_load_state(X_STATE, m->d.dim, m->width);
  isa_set_config_ld_shrink(&x.rs1, &x.rs2, 1);
  add(m, x);
  add(m, network_command_load_state(FACTORS_STATE, m->d.dim, m->width));
  command_insn store = network_command(ISA_FUNCT_CONFIG_ST), gate = network_command(ISA_FUNCT_CONFIG_GATE);
  isa_init_config_st(&store.rs1, &store.rs2);
  isa_set_config_st_stride(&store.rs1, &store.rs2, (uint64_t)m->width);
  isa_set_config_st_acc_scale(&store.rs1, &store.rs2, network_command_bits(1.0F));
  add(m, store);
  isa_init_config_gate(&gate.rs1, &gate.rs2);
  isa_set_config_gate_on(&gate.rs1, &gate.rs2, 1);
  isa_set_config_gate_scale(&gate.rs1, &gate.rs2, network_command_bits(scale));
  add(m, gate);
}

// ---- turns: rows of the tensors, the last one perhaps shorter

typedef struct turn {
  int64_t first;        // element
  uint32_t rows, cols;  // 0: there is none
} turn;

static int64_t whole_rows(const multiply_maker *m) { return m->elements / m->width; }
static int64_t whole_turns(const multiply_maker *m) { return wf_ceil_div(whole_rows(m), (int64_t)m->d.dim); }

static turn turn_at(const multiply_maker *m, int64_t number) {
  const int64_t row = number * m->d.dim, whole = whole_rows(m), rest = m->elements % m->width;
  if (row < whole) return (turn){row * m->width, (uint32_t)wf_min(whole - row, (int64_t)m->d.dim), (uint32_t)m->width};
  return number == whole_turns(m) && rest > 0 ? (turn){whole * m->width, 1, (uint32_t)rest} : (turn){0};
}

static uint64_t operand(const multiply_maker *m, int64_t number, const turn *t, uint32_t memory) {
  const uint32_t row = (uint32_t)(number % m->turns) * m->turn_rows;
  return network_command_operand(row | memory, t->cols, t->rows);
}

static void load(const multiply_maker *m, int64_t number) {
  const turn t = turn_at(m, number);
  if (t.rows == 0) return;
  add(m, network_command_move(ISA_FUNCT_MVIN, m->x, t.first, operand(m, number, &t, ISA_LOCAL_ACCUMULATOR_MASK)));
  add(m, network_command_move(ISA_FUNCT_MVIN2, m->factors, t.first, operand(m, number, &t, 0)));
}

static void store(const multiply_maker *m, int64_t number) {
  const turn t = turn_at(m, number);
  add(m, network_command_move(ISA_FUNCT_MVOUT, m->y, t.first, operand(m, number, &t, ISA_LOCAL_ACCUMULATOR_MASK)));
}

command_program *network_multiply_program(const network_unit *unit, const hw_array *array) {
  multiply_maker m = {
      .out = command_create(network_unit_name(unit), array), .d = hw_derive(array), .elements = unit->cols};
  m.width = m.d.max_cols;
  m.turn_rows = m.d.max_cols;  // blocks of DIM rows
  m.turns = wf_min(m.d.acc_rows, m.d.sp_rows) / m.turn_rows;
  m.x = add_tensor(&m, NETWORK_UNIT_X, true);
  m.factors = add_tensor(&m, NETWORK_MULTIPLY_FACTORS, true);
  m.y = add_tensor(&m, NETWORK_UNIT_Y, false);
  configure(&m, unit->what.scale);
  const int64_t turns = whole_turns(&m) + (m.elements % m.width != 0);
  for (int64_t n = 0; n < AHEAD; n++) load(&m, n);
  for (int64_t n = 0; n < turns; n++) {
    load(&m, n + AHEAD);
    store(&m, n);
  }
  command_insn off = network_command(ISA_FUNCT_CONFIG_GATE);
  isa_init_config_gate(&off.rs1, &off.rs2);
  add(&m, off);
  return m.out;
}
