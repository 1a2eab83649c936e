// SPDX-License-Identifier: Apache-2.0
// Cycles in which operand fetch only reads the next row of each operand.
//
// From the second step of a plain operation to the last but one, or while the same operands have rows, a step fires in
// every cycle, unless a write takes the port of a bank that is read or the control queue fills up because the mesh is
// held up. The scratchpad banks that fetch asks for stand in c->execute_banks until c->execute_until.
//
// enter     after a step that fired (execute_controller.c)
// catch up  before another unit looks at the control queue
// leave     a bank of c->execute_banks is written (local_memory.c), the mesh is held up (mesh_with_delays.c)
#include "sim/cycle/skip/fetch.h"

#include <assert.h>

#include "base/number.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/operand_fetch.h"

bool cycle_fetch_enter(cycle_engine *c, uint64_t from) {
  cycle_execute *x = c->execute;
  const cycle_execute_operation *op = &x->ops[x->op_slot];
  // In a bank that is being loaded, loaded rows may not be left out.
  cycle_local_shared(c, from - 1, op->all_banks);
  uint32_t end = op->run_end < op->total ? op->run_end : op->total - 1U;
  x->streams = cycle_skips(c, FETCH) && op->plain && x->ahead == 0 && x->row != 0 && x->row < end &&
               op->all_banks == c->execute_banks;  // which are those of this cycle, too
  if (!x->streams) return false;
  x->fetch_at = from;
  c->execute_until = x->stream_until = from + end - x->row;
  return true;
}

void cycle_fetch_catch_up(cycle_engine *c, uint64_t now) {
  cycle_execute *x = c->execute;
  if (!x->streams || x->fetch_at >= now) return;
  cycle_execute_operation *op = &x->ops[x->op_slot];
  const uint32_t steps = (uint32_t)(now - x->fetch_at);
  assert(now <= x->stream_until && x->row + steps <= op->total);
  if (c->data) cycle_operand_fetch_copy(c, x, op, op->control.waits, steps);
  cycle_operand_fetch_append(c, x, op, x->fetch_at, steps);
  x->fetch_at = now;
}

void cycle_fetch_leave(cycle_engine *c, uint64_t at) {
  cycle_execute *x = c->execute;
  if (!x->streams || at >= x->stream_until) return;
  c->execute_until = x->stream_until = at;
  c->wake[CYCLE_EXECUTE] = wf_min(c->wake[CYCLE_EXECUTE], at);
}
