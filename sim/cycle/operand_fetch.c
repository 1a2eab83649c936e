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
#include <string.h>

#include "sim/cycle/execute.h"

void execute_copy_row(int8_t *to, const int8_t *from, uint32_t dim, uint32_t cols) {
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
static uint32_t address_of(const cycle_execute *x, const execute_operation *op, unsigned o, uint32_t row) {
  return (op->first[o] + op->step[o] * row) & x->row_mask;
}

static bool in_acc(const execute_operation *op, unsigned o) { return (op->acc >> o & 1) != 0; }

static bool is_read(const execute_operation *op, unsigned o) { return (op->read >> o & 1) != 0; }

// Whether a scratchpad operand stays in the bank of its first row.
static bool in_one_bank(const cycle_engine *c, const cycle_execute *x, const execute_operation *op, unsigned o) {
  uint64_t low = op->first[o], high = low + (uint64_t)op->step[o] * (op->total - 1U);
  if (o == MESH_D) {
    if (low < x->dim - 1) return false;  // wraps below row 0
    high = low - (x->dim - 1);
  }
  return high <= x->row_mask && low >> c->sp_bank_shift == high >> c->sp_bank_shift;
}

// Banks and conflicts of the operands in step `row`: which operands fire when those in a mask are waiting.
static void find_banks(const cycle_engine *c, const cycle_execute *x, execute_operation *op, uint32_t row) {
  unsigned before[EXECUTE_OPERANDS] = {0};
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) {
    uint32_t bank = (address_of(x, op, o, row) & x->sp_mask) >> c->sp_bank_shift;
    op->banks[o] = !is_read(op, o) || in_acc(op, o) ? 0 : UINT64_C(1) << bank;
    for (unsigned p = 0; p < o; p++) {
      bool both_acc = is_read(op, o) && is_read(op, p) && in_acc(op, o) && in_acc(op, p);
      if (both_acc || (op->banks[o] & op->banks[p]) != 0) before[o] |= 1U << p;
    }
  }
  for (unsigned waiting = 0; waiting <= EXECUTE_ALL; waiting++) {
    unsigned b_waits = (before[MESH_B] & waiting) != 0, d_waits = (before[MESH_D] & waiting) != 0;
    op->fires[waiting] = (uint8_t)(waiting & ~(b_waits << MESH_B | d_waits << MESH_D));
  }
}

void operand_fetch_begin(const cycle_engine *c, cycle_execute *x, execute_operation *op, const uint32_t base[3]) {
  x->row = x->ahead = 0;
  op->spread = false;
  op->even = true;
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) {
    bool down = o == MESH_D;
    op->first[o] = (base[o] + (down ? x->dim - 1 : 0)) & x->row_mask;
    op->step[o] = o == MESH_A ? x->a_stride : down ? UINT32_MAX : 1;
    op->from[o] = (uint8_t)(down ? x->dim - op->rows[o] : 0);
    op->past[o] = op->cols[o] == 0 ? 0 : (uint8_t)(down ? x->dim : op->rows[o]);
    if (!is_read(op, o)) continue;
    op->even &= op->from[o] == 0 && op->past[o] >= op->total;
    op->spread |= !in_acc(op, o) && !in_one_bank(c, x, op, o);
  }
  find_banks(c, x, op, 0);
  op->all_banks = op->banks[0] | op->banks[1] | op->banks[2];
  op->rows_read = (uint8_t)((op->read & 1) + (op->read >> 1 & 1) + (op->read >> 2));
  op->plain = op->even && !op->spread && op->fires[EXECUTE_ALL] == EXECUTE_ALL && (op->read & op->acc) == 0;
  op->control = (execute_control){
      .ready = op->read != 0 ? x->sp_latency : 1, .op = x->op_slot, .fire = EXECUTE_ALL, .waits = op->read};
}

// ---- the walk

// Operands that have a row in this step.
static unsigned live_operands(const execute_operation *op, unsigned row) {
  if (op->even) return op->read;
  unsigned live = 0;
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) live |= (unsigned)(row >= op->from[o] && row < op->past[o]) << o;
  return live & op->read;
}

// Asks the accumulator for a row of the operands in `wanted`; returns those that it refuses.
static unsigned read_acc(cycle_engine *c, const cycle_execute *x, const execute_operation *op, unsigned wanted,
                         uint8_t banks[3]) {
  unsigned refused = 0;
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) {
    if ((wanted >> o & 1) == 0) continue;
    uint32_t row = address_of(x, op, o, x->row) & x->acc_mask;
    banks[o] = (uint8_t)(row >> c->acc_bank_shift);
    if (!cycle_local_execute_read(c, true, row, x->scale, x->activation)) refused |= 1U << o;
  }
  return refused;
}

// The same of the scratchpad, whose answers have room wherever the control queue has.
static unsigned read_sp(cycle_engine *c, const execute_operation *op, unsigned wanted) {
  uint64_t asked = 0, busy = cycle_local_busy_ports(c);
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) asked |= (wanted >> o & 1) != 0 ? op->banks[o] : 0;
  c->w.sp_asked |= asked;
  unsigned refused = 0;
  for (unsigned o = 0; o < EXECUTE_OPERANDS && (asked & busy) != 0; o++)
    refused |= (unsigned)((op->banks[o] & busy) != 0) << o;
  refused &= wanted;
  c->sp_reads += (unsigned)__builtin_popcount(wanted & ~refused);
  return refused;
}

void operand_fetch_copy(cycle_engine *c, const cycle_execute *x, const execute_operation *op, unsigned taken) {
  for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) {
    if ((taken >> o & 1) == 0) continue;
    uint32_t index = o == MESH_D ? x->dim - 1 - x->row : x->row;
    const int8_t *from = cycle_sp_row(c, address_of(x, op, o, x->row) & x->sp_mask);
    execute_copy_row(op->tile[o] + (size_t)index * x->dim, from, x->dim, op->cols[o]);
  }
}

// A step in which operands may stay behind.
unsigned operand_fetch_step(cycle_engine *c, cycle_execute *x, execute_operation *op) {
  if (op->spread && x->ahead == 0) find_banks(c, x, op, x->row);
  unsigned fire = op->fires[EXECUTE_ALL & ~x->ahead], live = fire & live_operands(op, x->row);
  unsigned in_sp = live & ~(unsigned)op->acc, refused = 0;
  uint8_t *banks = x->control_bank[(x->control_head + x->control_count) % EXECUTE_CONTROL];
  if (in_sp != 0) refused = read_sp(c, op, in_sp);
  if (live != in_sp) refused |= read_acc(c, x, op, live & ~in_sp, banks);
  fire &= ~refused;
  if (fire == 0) return 0;
  in_sp &= ~refused;
  live &= ~refused;
  if (c->data) operand_fetch_copy(c, x, op, in_sp);
  *execute_next_control(x) = (execute_control){.ready = c->now + (in_sp != 0 ? x->sp_latency : 1),
                                               .op = x->op_slot,
                                               .first = x->row == 0 && x->ahead == 0,
                                               .fire = (uint8_t)fire,
                                               .waits = (uint8_t)live,
                                               .from_acc = (uint8_t)(live & ~in_sp),
                                               .row = x->row};
  x->ahead |= (uint8_t)fire;
  if (x->ahead == EXECUTE_ALL) {
    x->ahead = 0;
    x->row++;
  }
  return fire;
}
