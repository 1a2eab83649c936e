// SPDX-License-Identifier: Apache-2.0
// The port lags: its cycles are carried out together
//   - when a load may be done, or the station waits for room in the load controller's queue (visible),
//   - when the store path has a row for the writer, the station a load, the front end a flush (cycle_lag_through),
//   - when a unit asks for a scratchpad bank that a load on its way may write, or a product on its way goes to an
//     accumulator bank that one may write (cycle_lag_share): from then on the port goes with the other units for some
//     time, and banks are asked for write by write,
//   - before the host looks at main memory (cycle_lag_catch_up).
// Loads that add to the accumulator, or go to one with a single port, zeros, counters and requests outside main memory
// do not lag. A load that does not add meets only other writes to its bank.
//
// The earliest cycle in which the port may be needed is found when it is stepped with the other units, or when one of
// them gives it something. The cycles that it carries out in between can only make that cycle later.
//
// Invariants: while the port lags, in the cycles from `time` on no unit has asked for a bank in `banks`, and no row in
// the mesh goes to one in `acc_banks`; in a cycle that was left for later nothing happens that another unit waits for.
#include "sim/cycle/skip/lag.h"

#include <assert.h>

#include "sim/cycle/load_controller.h"
#include "sim/cycle/load_path.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/mesh_with_delays.h"
#include "sim/cycle/port.h"
#include "sim/cycle/skip/whole.h"

enum { SHARED_CYCLES = 32 };

// ---- enter

bool cycle_lag_may(const cycle_engine *c, uint64_t now) {
  const cycle_port *p = &c->port;
  if (!cycle_skips(c, LAG) || p->never_lags || p->others != 0 || now < p->lags_from) return false;
  if (p->acc_banks != 0 && (cycle_execute_acc_banks(c) & p->acc_banks) != 0) return false;
  return now + 1 >= c->execute_until || !c->local->sp_single_ported || (p->banks & c->execute_banks) == 0;
}

bool cycle_lag_enter(cycle_engine *c, uint64_t from) {
  if (c->port.lags || !cycle_lag_may(c, from - 1)) return false;
  c->port.lags = true;
  cycle_whole_enter(c, from);
  cycle_port_find_next(c);
  return true;
}

// The earliest cycle in which another unit may have to see what the port does.
uint64_t cycle_lag_visible(const cycle_engine *c) {
  const cycle_port *p = &c->port;
  if (p->writer_wanted) return p->next;
  if (cycle_load_shows(c, p->room_wanted)) return p->time;
  if (p->next == CYCLE_NEVER) return p->next;
  uint64_t done = cycle_load_visible(c, p->room_wanted);
  if (done > p->next + CYCLE_LONGEST_LAG) done = p->next + CYCLE_LONGEST_LAG;
  return done > p->next ? done : p->next;
}

// ---- catch up

// Cycles before `end`, of which all but the last were before `now`.
static void run(cycle_engine *c, uint64_t now, uint64_t end) {
  cycle_port *p = &c->port;
  uint64_t at = now;
  while (p->next < end) {
    at = p->next > p->time ? p->next : p->time;
    cycle_port_carry_out(c, at);
    assert(!c->w.done[SIM_CLASS_LOAD].valid || at >= now);
  }
  if (p->time < end) p->time = end;
  if (at != now) cycle_port_clear_wires(&c->w);
}

void cycle_lag_catch_up(cycle_engine *c, uint64_t now) {
  if (c->port.lags && c->port.time < now) run(c, now, now);
}

void cycle_lag_through(cycle_engine *c, uint64_t now) {
  if (c->port.lags && c->port.time <= now) run(c, now, now + 1);
}

// ---- leave

static void end_lag(cycle_engine *c, uint64_t now) {
  c->port.lags = false;
  cycle_whole_leave(c, c->port.time);
  cycle_port_find_next(c);
  c->port.lags_from = now + SHARED_CYCLES;
}

void cycle_lag_share_next(cycle_engine *c, uint64_t now) {
  if (!c->port.lags) return;
  run(c, now, now);
  end_lag(c, now);
  cycle_port_set_wake(c);
}

// If this cycle was carried out already, because a unit looked earlier in it, its write asks for the bank now.
void cycle_lag_share(cycle_engine *c, uint64_t now) {
  cycle_port *p = &c->port;
  if (!p->lags) return;
  if (p->time <= now) {
    run(c, now, now);
    end_lag(c, now);
    if (p->next <= now || c->load_write <= now) cycle_port_carry_out(c, now);
    p->time = now + 1;
  } else {
    end_lag(c, now);
    if (p->wrote_at == now) c->w.sp_written |= UINT64_C(1) << p->wrote;
    c->w.beat = NULL;
    if (c->load_write <= now) cycle_load_path_step(c, now);
  }
  cycle_port_touch(c);
}

void cycle_lag_leave(cycle_engine *c, uint64_t at) {
  cycle_lag_through(c, at - 1);
  cycle_lag_share(c, at - 1);
}

void cycle_lag_wrote(cycle_engine *c, uint32_t row, uint64_t at) {
  c->port.wrote_at = at;
  c->port.wrote = row >> c->sp_bank_shift & c->local->sp_mask;
}
