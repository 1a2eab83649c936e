// SPDX-License-Identifier: Apache-2.0
// Operand fetch: walks the rows of A, B and D of one operation and reads them from the banks.
//
// Step n of the walk is row n of A and B and row dim - 1 - n of D. An operand fires step n when no other is still at
// step n - 1, so all operands stand at step `row` or, those in the mask `ahead`, at row + 1. Two operands conflict when
// they read one scratchpad bank, or both the accumulator: A fires before B before D. An operand that is not read, or
// has no row in this step, fires without a request. Nothing fires while the control queue is full; no last row while
// the completion port is wanted by an older operation.
//
// What fired in one cycle becomes one entry of the control queue. Rows of the scratchpad are copied when their read is
// taken; rows of the accumulator come through the store path (operand_select).
//
// The walk of an operation whose scratchpad operands stay in their banks (almost every one) looks at bank masks only.
#include "sim/cycle/operand_fetch.h"

#include <string.h>

#include "sim/cycle/local_memory.h"

// The tile row `to`, cut to `cols` elements; the rest is zero.
static void copy_cut_row(int8_t *to, const int8_t *from, uint32_t dim, uint32_t cols) {
  if (dim >= 16 && cols >= dim) {
    for (uint32_t i = 0; i < dim; i += 16) memcpy(to + i, from + i, 16);
    return;
  }
  if (cols > dim) cols = dim;
  memcpy(to, from, cols);
  memset(to + cols, 0, dim - cols);
}

// ---- preparation

// Row number of operand o in step `row` of the walk.
static uint32_t address_of(const cycle_execute *x, const cycle_execute_operation *op, unsigned o, uint32_t row) {
  return (op->first[o] + op->step[o] * row) & x->row_mask;
}

static bool in_acc(const cycle_execute_operation *op, unsigned o) { return (op->acc >> o & 1) != 0; }

static bool is_read(const cycle_execute_operation *op, unsigned o) { return (op->read >> o & 1) != 0; }

// Whether a scratchpad operand stays in the bank of its first row.
static bool in_one_bank(const cycle_engine *c, const cycle_execute *x, const cycle_execute_operation *op, unsigned o) {
  uint64_t low = op->first[o], high = low + (uint64_t)op->step[o] * (op->total - 1U);
  if (o == CYCLE_MESH_D) {
    if (low < x->dim - 1) return false;  // wraps below row 0
    high = low - (x->dim - 1);
  }
  return high <= x->row_mask && low >> c->sp_bank_shift == high >> c->sp_bank_shift;
}

// Banks of the operands in step `row`; returns whether any two conflict.
static bool find_banks(const cycle_engine *c, const cycle_execute *x, cycle_execute_operation *op, uint32_t row) {
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++) {
    uint32_t bank = (address_of(x, op, o, row) & x->sp_mask) >> c->sp_bank_shift;
    op->banks[o] = !is_read(op, o) || in_acc(op, o) ? 0 : UINT64_C(1) << bank;
  }
  const uint64_t a = op->banks[CYCLE_MESH_A], b = op->banks[CYCLE_MESH_B], d = op->banks[CYCLE_MESH_D];
  const unsigned acc = op->read & op->acc;
  return (acc & (acc - 1)) != 0 || ((a & b) | ((a | b) & d)) != 0;
}

// Which operands fire when those in a mask are waiting.
static void find_conflicts(cycle_execute_operation *op) {
  unsigned before[CYCLE_EXECUTE_OPERANDS] = {0};
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++)
    for (unsigned p = 0; p < o; p++) {
      bool both_acc = is_read(op, o) && is_read(op, p) && in_acc(op, o) && in_acc(op, p);
      if (both_acc || (op->banks[o] & op->banks[p]) != 0) before[o] |= 1U << p;
    }
  for (unsigned waiting = 0; waiting <= CYCLE_EXECUTE_ALL; waiting++) {
    unsigned b_waits = (before[CYCLE_MESH_B] & waiting) != 0, d_waits = (before[CYCLE_MESH_D] & waiting) != 0;
    op->fires[waiting] = (uint8_t)(waiting & ~(b_waits << CYCLE_MESH_B | d_waits << CYCLE_MESH_D));
  }
}

// First row and step of operand o; whether it has a row in every step of the walk.
static bool begin_operand(const cycle_execute *x, cycle_execute_operation *op, unsigned o, uint32_t first,
                          uint32_t step, uint8_t from, uint8_t past) {
  op->first[o] = first & x->row_mask;
  op->step[o] = step;
  op->from[o] = from;
  op->past[o] = op->cols[o] == 0 ? 0 : past;
  return !is_read(op, o) || (from == 0 && op->past[o] >= op->total);
}

// Operands that have a row in this step.
static unsigned live_operands(const cycle_execute_operation *op, unsigned row) {
  if (op->even) return op->read;
  unsigned live = 0;
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++)
    live |= (unsigned)(row >= op->from[o] && row < op->past[o]) << o;
  return live & op->read;
}

// The steps from `row` on in which the same operands have a row.
static void begin_run(const cycle_execute *x, cycle_execute_operation *op, unsigned row) {
  unsigned live = live_operands(op, row), end = op->total;
  op->all_banks = 0;
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++) {
    if ((live >> o & 1) != 0) op->all_banks |= op->banks[o];
    unsigned change = row < op->from[o] ? op->from[o] : op->past[o];
    if (is_read(op, o) && row < change && change < end) end = change;
  }
  op->run_end = (uint8_t)end;
  op->rows_read = (uint8_t)((live & 1) + (live >> 1 & 1) + (live >> 2));
  op->control.waits = (uint8_t)live;
  op->control.ready = live != 0 ? x->sp_latency : 1;
}

void cycle_operand_fetch_begin(const cycle_engine *c, cycle_execute *x, cycle_execute_operation *op,
                               const uint32_t base[3]) {
  const uint8_t dim = (uint8_t)x->dim, d_rows = op->rows[CYCLE_MESH_D];
  x->row = x->ahead = 0;
  op->even = begin_operand(x, op, CYCLE_MESH_A, base[CYCLE_MESH_A], x->a_stride, 0, op->rows[CYCLE_MESH_A]);
  op->even &= begin_operand(x, op, CYCLE_MESH_B, base[CYCLE_MESH_B], 1, 0, op->rows[CYCLE_MESH_B]);
  op->even &=
      begin_operand(x, op, CYCLE_MESH_D, base[CYCLE_MESH_D] + dim - 1U, UINT32_MAX, (uint8_t)(dim - d_rows), dim);
  op->spread = false;
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++)
    op->spread |= is_read(op, o) && !in_acc(op, o) && !in_one_bank(c, x, op, o);
  bool conflict = find_banks(c, x, op, 0);
  op->plain = !op->spread && !conflict && (op->read & op->acc) == 0;
  op->has_conflicts = false;
  op->control = (cycle_execute_control){.op = x->op_slot, .fire = CYCLE_EXECUTE_ALL};
  begin_run(x, op, 0);
}

// ---- the walk

// Asks the accumulator for a row of the operands in `wanted`; returns those that it refuses.
static unsigned read_acc(cycle_engine *c, uint64_t now, const cycle_execute *x, const cycle_execute_operation *op,
                         unsigned wanted, uint8_t banks[3]) {
  unsigned refused = 0;
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++) {
    if ((wanted >> o & 1) == 0) continue;
    uint32_t row = address_of(x, op, o, x->row) & x->acc_mask;
    banks[o] = (uint8_t)(row >> c->acc_bank_shift);
    if (!cycle_local_execute_read(c, now, true, row, x->scale, x->activation)) refused |= 1U << o;
  }
  return refused;
}

// The same of the scratchpad, whose answers have room wherever the control queue has.
static unsigned read_sp(cycle_engine *c, uint64_t now, const cycle_execute_operation *op, unsigned wanted) {
  uint64_t asked = 0;
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++) asked |= (wanted >> o & 1) != 0 ? op->banks[o] : 0;
  const uint64_t busy = cycle_local_busy_ports(c, now, asked);
  c->w.sp_asked |= asked;
  unsigned refused = 0;
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS && (asked & busy) != 0; o++)
    refused |= (unsigned)((op->banks[o] & busy) != 0) << o;
  refused &= wanted;
  c->sp_reads += (unsigned)__builtin_popcount(wanted & ~refused);
  return refused;
}

static void copy_row(cycle_engine *c, const cycle_execute *x, const cycle_execute_operation *op, unsigned o,
                     uint32_t row) {
  uint32_t index = o == CYCLE_MESH_D ? x->dim - 1 - row : row;
  const int8_t *from = cycle_sp_row(c, address_of(x, op, o, row) & x->sp_mask);
  copy_cut_row(op->tile[o] + (size_t)index * x->dim, from, x->dim, op->cols[o]);
}

// Whole rows, one after the other: only plain operations, which stay inside a bank, copy more than one at a time.
static void copy_block(cycle_engine *c, const cycle_execute *x, const cycle_execute_operation *op, unsigned o,
                       uint32_t steps) {
  uint32_t lowest = o == CYCLE_MESH_D ? x->row + steps - 1 : x->row,
           index = o == CYCLE_MESH_D ? x->dim - 1 - lowest : lowest;
  const int8_t *from = cycle_sp_row(c, address_of(x, op, o, lowest) & x->sp_mask);
  memcpy(op->tile[o] + (size_t)index * x->dim, from, (size_t)steps * x->dim);
}

void cycle_operand_fetch_copy(cycle_engine *c, const cycle_execute *x, const cycle_execute_operation *op,
                              unsigned operands, uint32_t steps) {
  for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++) {
    if ((operands >> o & 1) == 0) continue;
    if (steps > 1 && op->cols[o] >= x->dim && (op->step[o] == 1 || o == CYCLE_MESH_D)) {
      copy_block(c, x, op, o, steps);
      continue;
    }
    for (uint32_t row = x->row; row < x->row + steps; row++) copy_row(c, x, op, o, row);
  }
}

void cycle_operand_fetch_append(cycle_engine *c, cycle_execute *x, cycle_execute_operation *op, uint64_t cycle,
                                uint32_t steps) {
  cycle_execute_control *last = &x->control[(x->control_head + x->control_entries - 1) % CYCLE_EXECUTE_CONTROL];
  uint64_t ready = cycle + op->control.ready;
  x->control_count += steps;
  x->row = (uint8_t)(x->row + steps);
  c->sp_reads += steps * op->rows_read;
  if (x->control_entries != 0 && last->op == x->op_slot && !last->uneven && last->waits == op->control.waits &&
      last->ready + last->steps == ready) {
    last->steps += steps;
  } else {
    last = &x->control[(x->control_head + x->control_entries++) % CYCLE_EXECUTE_CONTROL];
    *last = op->control;
    last->ready = ready;
    last->steps = steps;
    last->row = (uint8_t)(x->row - steps);
    last->first = last->row == 0;
  }
  if (x->row == op->run_end && x->row < op->total) begin_run(x, op, x->row);
}

// A step in which operands may stay behind.
unsigned cycle_operand_fetch_step(cycle_engine *c, uint64_t now, cycle_execute *x, cycle_execute_operation *op) {
  if (op->plain && x->ahead == 0 && (op->all_banks & cycle_local_busy_ports(c, now, op->all_banks)) == 0) {
    c->execute_banks = op->all_banks;
    c->execute_until = now + 1;
    if (c->data) cycle_operand_fetch_copy(c, x, op, op->control.waits, 1);
    cycle_operand_fetch_append(c, x, op, now, 1);
    return CYCLE_EXECUTE_ALL;
  }
  if (!op->has_conflicts || (op->spread && x->ahead == 0)) {
    find_banks(c, x, op, x->row);
    find_conflicts(op);
    op->has_conflicts = true;
  }
  unsigned fire = op->fires[CYCLE_EXECUTE_ALL & ~x->ahead], live = fire & live_operands(op, x->row);
  unsigned in_sp = live & ~(unsigned)op->acc, refused = 0;
  uint32_t place = (x->control_head + x->control_entries) % CYCLE_EXECUTE_CONTROL;
  if (in_sp != 0) refused = read_sp(c, now, op, in_sp);
  if (live != in_sp) refused |= read_acc(c, now, x, op, live & ~in_sp, x->control_bank[place]);
  fire &= ~refused;
  if (fire == 0) return 0;
  in_sp &= ~refused;
  live &= ~refused;
  if (c->data) cycle_operand_fetch_copy(c, x, op, in_sp, 1);
  x->control_entries++;
  x->control_count++;
  x->control_uneven++;
  x->control[place] = (cycle_execute_control){.steps = 1,
                                              .ready = now + (in_sp != 0 ? x->sp_latency : 1),
                                              .op = x->op_slot,
                                              .first = x->row == 0 && x->ahead == 0,
                                              .uneven = true,
                                              .fire = (uint8_t)fire,
                                              .waits = (uint8_t)live,
                                              .from_acc = (uint8_t)(live & ~in_sp),
                                              .row = x->row};
  x->ahead |= (uint8_t)fire;
  if (x->ahead == CYCLE_EXECUTE_ALL) {
    x->ahead = 0;
    x->row++;
    if (x->row == op->run_end && x->row < op->total) begin_run(x, op, x->row);
  }
  return fire;
}
