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
#include <string.h>

#include "sim/cycle/execute.h"

static unsigned bank_of(const cycle_engine *c, const cycle_execute *x, bool acc, uint32_t address) {
  return acc ? (address & x->acc_mask) >> c->acc_bank_shift : (address & x->sp_mask) >> c->sp_bank_shift;
}

static bool in_one_bank(const cycle_engine *c, const cycle_execute *x, const execute_operation *op, unsigned o) {
  uint64_t first = op->address[o], last = first + (uint64_t)op->step[o] * (op->total - 1U);
  if (o == MESH_D) last = first - (x->dim - 1);  // no wrap below zero: see operand_fetch_begin
  return (op->acc >> o & 1) != 0 || (last <= x->row_mask && first >> c->sp_bank_shift == last >> c->sp_bank_shift);
}

// Operands of lower number that read the same bank, where the rows stand now.
static void find_conflicts(const cycle_engine *c, const cycle_execute *x, execute_operation *op) {
  for (unsigned o = 1; o < EXECUTE_OPERANDS; o++) {
    op->conflicts[o] = 0;
    for (unsigned p = 0; p < o; p++) {
      unsigned both = 1U << o | 1U << p, acc = op->acc & both;
      if ((op->read & both) != both || (acc != 0 && acc != both)) continue;
      if (acc != 0 || bank_of(c, x, false, op->address[o]) == bank_of(c, x, false, op->address[p]))
        op->conflicts[o] |= (uint8_t)(1U << p);
    }
  }
}

void operand_fetch_begin(const cycle_engine *c, cycle_execute *x, execute_operation *op, const uint32_t base[3]) {
  x->row = x->ahead = 0;
  bool wraps = base[MESH_D] + (x->dim - 1) > x->row_mask;
  op->spread = false;
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) {
    bool down = o == MESH_D;
    uint32_t rows = op->rows[o];
    op->address[o] = (base[o] + (down ? x->dim - 1 : 0)) & x->row_mask;
    op->step[o] = o == MESH_A ? x->a_stride : down ? UINT32_MAX : 1;
    op->from[o] = (uint8_t)(down ? x->dim - rows : 0);
    op->past[o] = (uint8_t)(down ? x->dim : rows);
    if (op->cols[o] == 0) op->past[o] = 0;
    if ((op->read >> o & 1) != 0) op->spread |= (down && wraps) || !in_one_bank(c, x, op, o);
  }
  find_conflicts(c, x, op);
}

// Asks for the row of operand o in this step; false: the bank does not take the read. `bank` tells which.
static bool read_row(cycle_engine *c, cycle_execute *x, execute_operation *op, unsigned o, uint8_t *bank) {
  bool acc = (op->acc >> o & 1) != 0;
  uint32_t row = op->address[o] & (acc ? x->acc_mask : x->sp_mask);
  if (!cycle_local_execute_read(c, acc, row, x->scale, x->activation)) return false;
  *bank = (uint8_t)(row >> (acc ? c->acc_bank_shift : c->sp_bank_shift));
  if (c->data && !acc) {
    uint32_t index = o == MESH_D ? x->dim - 1 - x->row : x->row;
    execute_copy_row(op->tile[o] + (size_t)index * x->dim, cycle_sp_row(c, row), x->dim, op->cols[o]);
  }
  return true;
}

void execute_copy_row(int8_t *to, const int8_t *from, uint32_t dim, uint32_t cols) {
  if (dim >= 16 && cols >= dim) {
    for (uint32_t i = 0; i < dim; i += 16) memcpy(to + i, from + i, 16);
    return;
  }
  if (cols > dim) cols = dim;
  memcpy(to, from, cols);
  memset(to + cols, 0, dim - cols);
}

// Operands that may fire in this cycle: those not ahead that no conflict holds back.
static unsigned may_fire(const execute_operation *op, unsigned waiting) {
  unsigned held = 0;
  if ((op->conflicts[1] & waiting) != 0) held |= 2;
  if ((op->conflicts[2] & waiting) != 0) held |= 4;
  return waiting & ~held;
}

static void advance(cycle_execute *x, execute_operation *op, unsigned fire) {
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++)
    if ((fire >> o & 1) != 0) op->address[o] = (op->address[o] + op->step[o]) & x->row_mask;
  x->ahead |= (uint8_t)fire;
  if (x->ahead != EXECUTE_ALL) return;
  x->ahead = 0;
  x->row++;
}

static bool has_row(const execute_operation *op, unsigned o, unsigned row) {
  return (op->read >> o & 1) != 0 && row >= op->from[o] && row < op->past[o];
}

unsigned operand_fetch_step(cycle_engine *c, bool hold_last, bool *done) {
  cycle_execute *x = c->execute;
  execute_operation *op = &x->ops[x->op_slot];
  if (x->control_count == x->control_depth || (hold_last && x->row + 1 == op->total)) return 0;
  if (op->spread && x->ahead == 0) find_conflicts(c, x, op);
  unsigned fire = may_fire(op, EXECUTE_ALL & ~x->ahead), live = 0;
  execute_control *entry = &x->control[(x->control_head + x->control_count) % EXECUTE_CONTROL];
  entry->first = x->row == 0 && x->ahead == 0;
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) {
    if ((fire >> o & 1) == 0 || !has_row(op, o, x->row)) continue;
    if (read_row(c, x, op, o, &entry->bank[o]))
      live |= 1U << o;
    else
      fire &= ~(1U << o);
  }
  if (fire == 0) return 0;
  entry->op = x->op_slot;
  entry->fire = (uint8_t)fire;
  entry->live = (uint8_t)live;
  entry->row = x->row;
  x->control_count++;
  advance(x, op, fire);
  *done = x->row == op->total;
  return fire;
}
