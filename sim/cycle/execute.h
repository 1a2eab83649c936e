// SPDX-License-Identifier: Apache-2.0
// Inside the execute unit: what execute_controller, preload_unroller, operand_fetch, operand_select, mesh_with_delays,
// execute_writeback and execute_hazards share. Vectors of three are A, B, D from element (and bit) 0 up.
//
// Order inside a cycle (engine.h): writeback, mesh, execute. A register of the RTL that an earlier step of the same
// cycle has already changed is looked at through what it was: the hazards and the mesh's queues keep the cycle of their
// last pop, windows that of theirs.
//
// Most cycles only move a row: one step of a plain operation fires, one entry of the control queue is taken, one row is
// fed, one row of results is written. Such cycles are left out (skip/): the units sleep until something else can
// happen, and a unit's state is looked at only after what was left out is carried out.
//   fetch.c    while x->streams: the steps of the cycles from x->fetch_at on, before x->stream_until
//   feed.c     while m->sleeps: the rows of the cycles from m->at on
//   results.c  rows whose time has come, as long as they need no cycle of their own
#ifndef SIM_CYCLE_EXECUTE_H
#define SIM_CYCLE_EXECUTE_H

#include "sim/cycle/engine.h"
#include "sim/cycle/execute_hazards.h"
#include "sim/cycle/execute_operation.h"
#include "sim/cycle/execute_window.h"
#include "sim/cycle/mesh_with_delays.h"
#include "sim/cycle/preload_unroller.h"

typedef enum {
  CYCLE_EXECUTE_WAIT,
  CYCLE_EXECUTE_COMPUTE,
  CYCLE_EXECUTE_FLUSH,
  CYCLE_EXECUTE_FLUSHING
} cycle_execute_state;

typedef struct cycle_execute {
  // the operation that runs
  uint8_t state, op_slot;
  bool streams;
  uint64_t fetch_at, stream_until;
  uint8_t row, ahead;  // operands that have fired step `row`; the others stand before it
  uint8_t pending;     // completions to be reported: bit 0 a compute or a preload alone, bit 1 a preload
  uint8_t pending_id[2];
  bool flush_swaps;
  uint8_t product_rows;  // of C of the product that is computed next
  uint8_t ops_open;
  // configuration
  bool os, a_transpose, b_transpose;
  uint8_t shift, activation;
  uint8_t via;
  uint32_t scale;
  uint32_t a_stride, c_stride;
  // control queue: `control_count` steps in `control_entries` entries, of which `control_uneven` are uneven
  cycle_execute_control control[CYCLE_EXECUTE_CONTROL];
  uint8_t control_bank[CYCLE_EXECUTE_CONTROL][3];  // of accumulator operands
  uint32_t control_head, control_entries, control_count, control_uneven, control_depth;
  uint32_t sp_latency;  // from the read of a scratchpad row until it is there
  // constants
  uint32_t dim, min_rows, row_mask, sp_mask, acc_mask, count_mask;
  uint64_t garbage;
  bool both_dataflows, transposer, has_activation, bias_garbage, reads_acc, writes_sp, writes_acc, raw_possible;
  uint8_t ops_mask;
  cycle_execute_operation *ops;
  cycle_execute_window window;
  cycle_preload_unroller unroller;
  uint64_t ready_at;  // from this cycle on the unroller has room; CYCLE_NEVER: until a command leaves it
  uint64_t taken;     // the cycle in which the last command came, or will, + 1
  cycle_execute_mesh mesh;
  cycle_execute_hazards hazards;
} cycle_execute;

// Units are stepped in every cycle, and nothing is left out.
static inline bool cycle_execute_every_cycle(const cycle_engine *c) { return c->eager || c->counting; }

// The first step of the control queue is taken.
static inline void cycle_execute_control_taken(cycle_execute *x, uint32_t steps) {
  cycle_execute_control *entry = &x->control[x->control_head];
  x->control_count -= steps;
  entry->ready += steps;
  entry->row = (uint8_t)(entry->row + steps);
  entry->first = false;
  x->control_uneven -= entry->uneven;
  entry->steps -= steps;
  if (entry->steps != 0) return;
  x->control_head = (x->control_head + 1) % CYCLE_EXECUTE_CONTROL;
  x->control_entries--;
}

#endif
