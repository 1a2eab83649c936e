// SPDX-License-Identifier: Apache-2.0
// Scratchpad and accumulator: which unit gets which bank in a cycle, and what is on its way behind and inside the
// banks.
//
// Order of calls within a cycle, from the highest priority to the lowest:
//   writes   execute_writeback, narrow, wide, zero (load_path), stored (store_path)
//   answers  taken by the mesh and the store path, each once per bank
//   cycle_local_step
//   reads    execute, then the store path
// Data is moved by the callers, in the cycle in which a write or a read is taken: a row that is on its way in the RTL
// blocks every read that could see the difference.
//
// What waits by time alone (an answer in a read pipeline, a row in the stages of the accumulator) is noted in `due`, so
// that cycle_local_step tells of a change in the cycle before a unit can act on it. Unit wake-ups are therefore kept
// for the callers of all functions below, refused ones included.
#ifndef SIM_CYCLE_LOCAL_MEMORY_H
#define SIM_CYCLE_LOCAL_MEMORY_H

#include "sim/cycle/accumulator_bank.h"
#include "sim/cycle/engine.h"
#include "sim/cycle/port.h"
#include "sim/cycle/scratchpad_bank.h"
#include "sim/cycle/skip/lag.h"

enum { CYCLE_DUE_CYCLES = 64 };  // more than the longest latency behind a bank

struct cycle_local_memory {
  uint64_t due;           // cycle n at bit n % CYCLE_DUE_CYCLES: something changes in it
  uint64_t execute_held;  // accumulator banks whose response register holds a row for execute
  uint64_t execute_new;   // those of them that were read in cycle `read_at`
  uint64_t read_at;
  uint32_t sp_mask, acc_mask;  // banks - 1
  bool sp_single_ported;
  cycle_scratchpad_bank *sp;
  cycle_accumulator_bank *acc;
};

void cycle_local_create(cycle_engine *c);
void cycle_local_destroy(cycle_engine *c);

// Writes; true: taken in this cycle. Execute's always are, and its unit has set w.ex_*.
void cycle_local_execute_write(cycle_engine *c, uint64_t now, bool acc, uint32_t row, bool accumulate);
// A row of execute went to a two-ported accumulator in an earlier cycle `at`; the bank hears of it only now.
static inline void cycle_local_past_write(cycle_engine *c, uint64_t at, uint32_t row, bool accumulate) {
  cycle_accumulator_bank_write(&c->local->acc[row >> c->acc_bank_shift & c->local->acc_mask], at, row, accumulate);
}
// A loaded row went to the accumulator in cycle `at`, without being added; no other unit asked for its bank.
static inline void cycle_local_past_load(cycle_engine *c, uint32_t row, uint64_t at) {
  cycle_local_past_write(c, at, row, false);
  c->acc_writes++;
}
// A narrow or wide write that asks keeps zeros from the adder, taken or not.
bool cycle_local_narrow_write(cycle_engine *c, uint64_t now, bool acc, uint32_t row, bool accumulate);
bool cycle_local_wide_write(cycle_engine *c, uint64_t now, uint32_t row, bool accumulate);
bool cycle_local_zero_write(cycle_engine *c, uint64_t now, bool acc, uint32_t row, bool accumulate);
bool cycle_local_stored_write(cycle_engine *c, uint64_t now, uint32_t row);

// Reads; true: taken in this cycle. A scratchpad row, and a row of the store path, is copied by the caller now.
bool cycle_local_execute_read(cycle_engine *c, uint64_t now, bool acc, uint32_t row, uint32_t scale, uint8_t act);
bool cycle_local_store_read(cycle_engine *c, uint64_t now, bool acc, uint32_t row);

// Notes a change in cycle `at`, which is this or a later one.
static inline void cycle_local_due(cycle_engine *c, uint64_t at) {
  c->local->due |= UINT64_C(1) << at % CYCLE_DUE_CYCLES;
  if (at < c->wake[CYCLE_LOCAL_MEMORY]) c->wake[CYCLE_LOCAL_MEMORY] = at;
}

// Scratchpad banks that a unit after the port's place in the order asks for in this cycle.
static inline void cycle_local_shared(cycle_engine *c, uint64_t now, uint64_t banks) {
  if ((c->port.banks & banks) != 0 && c->port.lags) cycle_lag_share(c, now);
}

static inline bool cycle_local_step(cycle_engine *c, uint64_t now) {
  struct cycle_local_memory *l = c->local;
  if (l->due == 0) return false;
  unsigned place = (unsigned)(now % CYCLE_DUE_CYCLES);
  uint64_t later = l->due >> place | (place == 0 ? 0 : l->due << (CYCLE_DUE_CYCLES - place));
  bool changed = (later & 1) != 0;
  later &= ~UINT64_C(1);
  if (changed) l->due &= ~(UINT64_C(1) << place);
  c->wake[CYCLE_LOCAL_MEMORY] = later == 0 ? CYCLE_NEVER : now + (unsigned)__builtin_ctzll(later);
  return changed;
}

// The execute unit reads the scratchpad without the two functions above and below: it has never more rows on their way
// than fit behind a bank (its control queue has DELAY + 1 entries of at most one row for each bank), so it needs to
// know the banks whose port is taken by a write, and sets w.sp_asked.
static inline uint64_t cycle_local_busy_ports(cycle_engine *c, uint64_t now, uint64_t banks) {
  cycle_local_shared(c, now, banks);
  return c->local->sp_single_ported ? c->w.sp_written : 0;
}

// ---- answers of the scratchpad, behind the read pipelines

static inline bool cycle_local_sp_execute_answer(const cycle_engine *c, uint64_t now, unsigned bank) {
  return cycle_queue_valid(&c->local->sp[bank].execute, now);
}

static inline void cycle_local_sp_execute_taken(cycle_engine *c, uint64_t now, unsigned bank) {
  cycle_queue_pop(&c->local->sp[bank].execute, now);
}

static inline bool cycle_local_sp_store_answer(const cycle_engine *c, uint64_t now, unsigned bank) {
  return cycle_queue_valid(&c->local->sp[bank].store, now);
}

static inline void cycle_local_sp_store_taken(cycle_engine *c, uint64_t now, unsigned bank) {
  cycle_queue_pop(&c->local->sp[bank].store, now);
}

// ---- answers of the accumulator, in the banks' response registers

// Scale and activation came with the read.
typedef struct cycle_acc_operand {
  uint32_t scale;
  uint8_t act;
  const int32_t *row;  // as it was when it was read, until it is taken; NULL in timing-only mode
} cycle_acc_operand;

static inline bool cycle_local_acc_execute_answer(const cycle_engine *c, uint64_t now, unsigned bank,
                                                  cycle_acc_operand *operand) {
  const cycle_accumulator_bank *b = &c->local->acc[bank];
  if (b->execute_since > now) return false;
  *operand = (cycle_acc_operand){.scale = b->scale, .act = b->act, .row = b->row};
  return true;
}

static inline void cycle_local_acc_execute_taken(cycle_engine *c, uint64_t now, unsigned bank) {
  assert(c->local->acc[bank].execute_since <= now);
  c->local->acc[bank].execute_since = CYCLE_NEVER;
  c->local->execute_held &= ~(UINT64_C(1) << bank);
}

static inline bool cycle_local_acc_store_answer(const cycle_engine *c, uint64_t now, unsigned bank) {
  return c->local->acc[bank].store_since <= now;
}

static inline void cycle_local_acc_store_taken(cycle_engine *c, uint64_t now, unsigned bank) {
  assert(c->local->acc[bank].store_since <= now);
  c->local->acc[bank].store_since = CYCLE_NEVER;
}

#endif
