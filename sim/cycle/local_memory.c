// SPDX-License-Identifier: Apache-2.0
// Arbitration of the banks and of the adder that the accumulator banks share; see local_memory.h.
//
// A bank's port goes to the first unit that asks in a cycle; the wires remember which banks are spoken for. A write
// that the adder keeps away does not ask for its bank. A read waits for any accumulating write that has the bank's
// port, taken or not.
#include "sim/cycle/local_memory.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/cycle/skip/fetch.h"
#include "sim/cycle/skip/lag.h"
#include "sim/cycle/skip/results.h"
#include "sim/cycle/weft_accel.h"

void cycle_local_create(cycle_engine *c) {
  const hw_array *a = c->array;
  struct cycle_local_memory *l = c->local = WF_NEW(struct cycle_local_memory);
  c->results_at = CYCLE_NEVER;
  l->sp_mask = a->scratchpad.banks - 1;
  l->acc_mask = a->accumulator.banks - 1;
  l->sp_single_ported = a->scratchpad.single_ported;
  l->sp = WF_NEW_ARRAY(a->scratchpad.banks, cycle_scratchpad_bank);
  l->acc = WF_NEW_ARRAY(a->accumulator.banks, cycle_accumulator_bank);
  for (uint32_t n = 0; n <= l->sp_mask; n++) cycle_scratchpad_bank_init(&l->sp[n], a);
  for (uint32_t n = 0; n <= l->acc_mask; n++) cycle_accumulator_bank_init(&l->acc[n], a, c->data);
  assert(l->sp[0].execute.latency < CYCLE_DUE_CYCLES);
}

void cycle_local_destroy(cycle_engine *c) {
  struct cycle_local_memory *l = c->local;
  if (l == NULL) return;
  for (uint32_t n = 0; n <= l->sp_mask; n++) cycle_scratchpad_bank_free(&l->sp[n]);
  for (uint32_t n = 0; n <= l->acc_mask; n++) cycle_accumulator_bank_free(&l->acc[n]);
  wf_free(l->sp);
  wf_free(l->acc);
  wf_free(l);
}

static uint32_t sp_bank(const cycle_engine *c, uint32_t row) { return row >> c->sp_bank_shift & c->local->sp_mask; }
static uint32_t acc_bank(const cycle_engine *c, uint32_t row) { return row >> c->acc_bank_shift & c->local->acc_mask; }

// The callers of a refused request ask again in the next cycle, which must therefore come.
static bool again(cycle_engine *c, uint64_t at) {
  cycle_local_due(c, at);
  return false;
}

// Write-back leaves out cycles until another unit asks the accumulator for something: their results are written first.
static void look_at_results(cycle_engine *c, uint64_t now) {
  if (c->results_at <= now) cycle_results_show(c, now);
}

// ---- writes

static bool write_sp(cycle_engine *c, uint64_t now, uint32_t row) {
  uint64_t bit = UINT64_C(1) << sp_bank(c, row);
  if (now < c->execute_until && (c->execute_banks & bit) != 0 && c->local->sp_single_ported) cycle_fetch_leave(c, now);
  if (c->w.sp_written & bit) return again(c, now);
  c->w.sp_written |= bit;
  c->sp_writes++;
  return true;
}

// The sum reads the row, too.
static void count_acc_write(cycle_engine *c, bool accumulate) {
  c->acc_writes++;
  c->acc_reads += accumulate;
}

// Asks for the bank's port; false: a higher unit has it.
static bool claim_acc(cycle_engine *c, uint32_t bank, bool accumulate) {
  uint64_t bit = UINT64_C(1) << bank;
  if (c->w.acc_written & bit) return false;
  c->w.acc_written |= bit;
  if (accumulate) c->w.acc_adds |= bit;
  return true;
}

static bool write_acc(cycle_engine *c, uint64_t now, uint32_t row, bool accumulate) {
  uint32_t bank = acc_bank(c, row);
  cycle_accumulator_bank *b = &c->local->acc[bank];
  if (!claim_acc(c, bank, accumulate) || !cycle_accumulator_bank_writable(b, now, row, accumulate))
    return again(c, now);
  cycle_accumulator_bank_write(b, now, row, accumulate);
  count_acc_write(c, accumulate);
  return true;
}

static bool execute_adds(const cycle_engine *c) { return c->w.ex_acc_bank >= 0 && c->w.ex_acc_accumulate; }

static void check_sub_banks(cycle_engine *c, const cycle_accumulator_bank *b) {
  if (b->overflow) cycle_fail(c, "accumulator: results of the mesh visit a sub-bank too often");
}

void cycle_local_execute_write(cycle_engine *c, uint64_t now, bool acc, uint32_t row, bool accumulate) {
  if (!acc) {
    if ((c->port.banks >> sp_bank(c, row) & 1) != 0) cycle_lag_share_next(c, now);
    write_sp(c, now, row);
    return;
  }
  uint32_t bank = acc_bank(c, row);
  cycle_accumulator_bank *b = &c->local->acc[bank];
  claim_acc(c, bank, accumulate);
  cycle_accumulator_bank_write(b, now, row, accumulate);
  count_acc_write(c, accumulate);
  check_sub_banks(c, b);
}

static bool load_write_acc(cycle_engine *c, uint64_t now, uint32_t row, bool accumulate) {
  look_at_results(c, now);
  c->w.load_adds |= accumulate;
  if (accumulate && execute_adds(c)) return again(c, now);
  return write_acc(c, now, row, accumulate);
}

bool cycle_local_narrow_write(cycle_engine *c, uint64_t now, bool acc, uint32_t row, bool accumulate) {
  return acc ? load_write_acc(c, now, row, accumulate) : write_sp(c, now, row);
}

bool cycle_local_wide_write(cycle_engine *c, uint64_t now, uint32_t row, bool accumulate) {
  return load_write_acc(c, now, row, accumulate);
}

bool cycle_local_zero_write(cycle_engine *c, uint64_t now, bool acc, uint32_t row, bool accumulate) {
  if (!acc) return write_sp(c, now, row);
  look_at_results(c, now);
  if (accumulate && (execute_adds(c) || c->w.load_adds)) return again(c, now);
  return write_acc(c, now, row, accumulate);
}

bool cycle_local_stored_write(cycle_engine *c, uint64_t now, uint32_t row) {
  cycle_local_shared(c, now, UINT64_C(1) << sp_bank(c, row));
  return write_sp(c, now, row);
}

// ---- reads

// The port is free for reads.
static bool sp_port_free(const cycle_engine *c, uint64_t bit) {
  return !(c->local->sp_single_ported && (c->w.sp_written & bit) != 0);
}

static bool acc_port_free(cycle_engine *c, uint64_t now, cycle_accumulator_bank *b, uint64_t bit, uint32_t row) {
  if (c->w.acc_adds & bit) return false;
  bool readable = cycle_accumulator_bank_readable(b, now, row);
  check_sub_banks(c, b);
  return readable;
}

static void push_sp_read(cycle_engine *c, uint64_t now, cycle_queue *q) {
  cycle_queue_push(q, now);
  cycle_local_due(c, now + q->latency - 1);
  c->sp_reads++;
}

// A full queue needs no note: the step that empties it is a change.
static bool read_sp(cycle_engine *c, uint64_t now, cycle_queue *q, uint64_t bit) {
  if (!cycle_queue_room(q, now)) return false;
  if (!sp_port_free(c, bit)) return again(c, now + 1);
  push_sp_read(c, now, q);
  return true;
}

// Execute's rows enter the scale units in the order of their reads: no read while the row of another bank waits.
static bool waits_elsewhere(const cycle_engine *c, uint64_t now, uint64_t bit) {
  const struct cycle_local_memory *l = c->local;
  uint64_t waiting = l->read_at == now ? l->execute_held & ~l->execute_new : l->execute_held;
  return (waiting & ~bit) != 0;
}

static void hold_for_execute(cycle_engine *c, uint64_t now, cycle_accumulator_bank *b, uint64_t bit, uint32_t row) {
  struct cycle_local_memory *l = c->local;
  if (l->read_at != now) l->execute_new = 0;
  l->read_at = now;
  l->execute_new |= bit;
  l->execute_held |= bit;
  b->execute_since = now + 1;
  if (c->data) memcpy(b->row, cycle_acc_row(c, row), c->d.acc_row_bytes);
}

static bool execute_read_acc(cycle_engine *c, uint64_t now, uint32_t row, uint32_t scale, uint8_t act) {
  look_at_results(c, now);
  uint32_t bank = acc_bank(c, row);
  uint64_t bit = UINT64_C(1) << bank;
  cycle_accumulator_bank *b = &c->local->acc[bank];
  if (waits_elsewhere(c, now, bit)) return false;
  c->w.acc_asked |= bit;
  if (b->execute_since != CYCLE_NEVER) return false;
  if (!acc_port_free(c, now, b, bit, row)) return again(c, now + 1);
  hold_for_execute(c, now, b, bit, row);
  b->scale = scale;
  b->act = act;
  c->acc_reads++;
  return true;
}

bool cycle_local_execute_read(cycle_engine *c, uint64_t now, bool acc, uint32_t row, uint32_t scale, uint8_t act) {
  if (acc) return execute_read_acc(c, now, row, scale, act);
  uint32_t bank = sp_bank(c, row);
  uint64_t bit = UINT64_C(1) << bank;
  c->w.sp_asked |= bit;
  cycle_local_shared(c, now, bit);
  return read_sp(c, now, &c->local->sp[bank].execute, bit);
}

// The store path asks again in the next cycle, since another unit has the bank. (For a row of its own that is still
// there it need not ask again: the step that takes the row concerns the store path.)
static bool store_again(cycle_engine *c, uint64_t now) {
  c->w.store_asked = true;
  return again(c, now + 1);
}

static bool store_read_acc(cycle_engine *c, uint64_t now, uint32_t row) {
  uint32_t bank = acc_bank(c, row);
  uint64_t bit = UINT64_C(1) << bank;
  cycle_accumulator_bank *b = &c->local->acc[bank];
  if (b->store_since != CYCLE_NEVER) return false;
  look_at_results(c, now);
  if ((c->w.acc_asked & bit) != 0 || !acc_port_free(c, now, b, bit, row)) return store_again(c, now);
  b->store_since = now + 1;
  c->acc_reads++;
  return true;
}

bool cycle_local_store_read(cycle_engine *c, uint64_t now, bool acc, uint32_t row) {
  if (acc) return store_read_acc(c, now, row);
  uint32_t bank = sp_bank(c, row);
  uint64_t bit = UINT64_C(1) << bank;
  cycle_queue *q = &c->local->sp[bank].store;
  if (!cycle_queue_room(q, now)) return false;
  cycle_local_shared(c, now, bit);
  uint64_t asked = c->w.sp_asked | (now < c->execute_until ? c->execute_banks : 0);
  if ((asked & bit) != 0 || !sp_port_free(c, bit)) return store_again(c, now);
  push_sp_read(c, now, q);
  return true;
}
