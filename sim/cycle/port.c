// SPDX-License-Identifier: Apache-2.0
// The memory port: steps its parts, and decides when. See port.h.
//
// Nothing that the other units do between the place of the port in a cycle and that of the station is seen by a part in
// the same cycle: the writer gets its rows for the next one, the load controller its commands. So the parts can be
// stepped together, and later than the others, as long as no other unit looks at them. While the port lags, its cycles
// are carried out together
//   - when a load may be done, or the station waits for room in the load controller's queue (visible),
//   - when the store path has a row for the writer, the station a load, the front end a flush (cycle_port_through),
//   - when a unit asks for a scratchpad bank that a load on its way may write, or a product on its way goes to an
//     accumulator bank that one may write (cycle_port_shares): from then on the port goes with the other units for some
//     time, and banks are asked for write by write,
//   - before the host looks at main memory (cycle_port_to).
// Loads that add to the accumulator, or go to one with a single port, zeros, counters and requests outside main memory
// do not lag. A load that does not add meets only other writes to its bank.
//
// The earliest cycle in which the port may be needed is found when it is stepped with the other units, or when one of
// them gives it something. The cycles that it carries out in between can only make that cycle later.
//
// Invariants: while the port lags, in the cycles from `time` on no unit has asked for a bank in `banks`, and no row in
// the mesh goes to one in `acc_banks`; in a cycle that was left for later nothing happens that another unit waits for.
#include "sim/cycle/port.h"

#include <assert.h>

#include "sim/cycle/bus.h"
#include "sim/cycle/dma_reader.h"
#include "sim/cycle/dma_writer.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/load_path.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/mesh_with_delays.h"

enum { SHARED_CYCLES = 32, LONGEST_LAG = 256, PARTS = CYCLE_UNITS - CYCLE_BUS };

#define P(part) (1u << (CYCLE_##part - CYCLE_BUS))
#define ALL_PARTS ((1u << PARTS) - 1)

// ---- a cycle

static uint32_t woken(const cycle_engine *c, uint64_t now) {
  uint32_t mask = 0;
  for (unsigned part = 0; part < PARTS; part++) mask |= (uint32_t)(c->wake[CYCLE_BUS + part] <= now) << part;
  return mask;
}

static uint64_t earliest(const cycle_engine *c) {
  uint64_t next = CYCLE_NEVER;
  for (unsigned part = 0; part < PARTS; part++)
    if (c->wake[CYCLE_BUS + part] < next) next = c->wake[CYCLE_BUS + part];
  return next;
}

static void find_next(cycle_engine *c) {
  cycle_port *p = &c->port;
  uint64_t wake = p->due != 0 ? p->time : earliest(c);
  p->next = wake > p->time ? wake : p->time;
}

static void clear_wires(cycle_wires *w) {
  w->beat = NULL;
  w->read_granted = w->write_granted = w->load_answered = false;
  // Between cycles of the engine the wires still say what its last cycle had.
  w->done[SIM_CLASS_LOAD].valid = false;
}

static uint32_t concerned_by_bus(const cycle_wires *w) {
  uint32_t mask = (w->read_granted ? P(DMA_READER) : 0) | (w->write_granted ? P(DMA_WRITER) : 0);
  if (w->beat != NULL) mask |= w->beat->write ? P(DMA_WRITER) : P(LOAD_PATH);
  return mask;
}

// Carries out cycle `now`, see units.def. Returns whether the load controller changed.
static bool carry_out(cycle_engine *c, uint64_t now) {
  cycle_port *p = &c->port;
  cycle_wires *w = &c->w;
  const bool lags = p->lags;
  bool load = false;
  uint32_t next = 0, left = p->due | woken(c, now);
  if (c->eager || c->counting) left = ALL_PARTS;
  if (c->load_write <= now && !p->lags) left |= P(LOAD_PATH);
  clear_wires(w);
#define CYCLE_UNIT(...)
#define CYCLE_PART(ID, NAME, CAUSES, STEP, CONCERNED, NEXT) \
  if ((left & P(ID)) != 0 && STEP(c, now)) {                \
    const uint32_t concerned = CONCERNED;                   \
    left |= concerned;                                      \
    next |= (lags ? 0 : concerned) | (NEXT);                \
    load |= CYCLE_##ID == CYCLE_LOAD_CONTROLLER;            \
  }
#include "sim/cycle/units.def"
#undef CYCLE_UNIT
#undef CYCLE_PART
  if (w->done[SIM_CLASS_LOAD].valid) next |= P(LOAD_CONTROLLER);
  p->due = next;
  p->time = now + 1;
  find_next(c);
  return load;
}

// Cycles before `end`, of which all but the last were before `now`.
static void run(cycle_engine *c, uint64_t now, uint64_t end) {
  cycle_port *p = &c->port;
  uint64_t at = now;
  while (p->next < end) {
    at = p->next > p->time ? p->next : p->time;
    carry_out(c, at);
    assert(!c->w.done[SIM_CLASS_LOAD].valid || at >= now);
  }
  if (p->time < end) p->time = end;
  if (at != now) clear_wires(&c->w);
}

// ---- lagging

static bool may_lag(const cycle_engine *c, uint64_t now) {
  const cycle_port *p = &c->port;
  if (!cycle_skips(c, LAG) || p->never_lags || p->others != 0 || now < p->lags_from) return false;
  if (p->acc_banks != 0 && (cycle_execute_acc_banks(c) & p->acc_banks) != 0) return false;
  return now + 1 >= c->execute_until || !c->local->sp_single_ported || (p->banks & c->execute_banks) == 0;
}

// The earliest cycle in which another unit may have to see what the port does.
static uint64_t visible(const cycle_engine *c) {
  const cycle_port *p = &c->port;
  if (p->writer_wanted) return p->next;
  if (cycle_load_shows(c, p->room_wanted)) return p->time;
  if (p->next == CYCLE_NEVER) return p->next;
  uint64_t done = cycle_load_visible(c, p->room_wanted);
  if (done > p->next + LONGEST_LAG) done = p->next + LONGEST_LAG;
  return done > p->next ? done : p->next;
}

static void set_wake(cycle_engine *c) {
  const cycle_port *p = &c->port;
  c->wake[CYCLE_PORT] = p->lags ? visible(c) : p->next;
}

uint32_t cycle_port_step(cycle_engine *c, uint64_t now) {
  cycle_port *p = &c->port;
  bool load = false;
  if (p->lags) run(c, now, now);
  if (c->eager || c->counting || p->next <= now || (c->load_write <= now && !p->lags)) load = carry_out(c, now);
  if (p->time <= now) p->time = now + 1;
  bool given = p->writer_wanted && cycle_writer_idle(c);
  if (given) p->writer_wanted = false;
  if (!p->lags && may_lag(c, now)) {
    p->lags = true;
    cycle_load_path_lag(c);
    find_next(c);
  }
  set_wake(c);
  return (p->room_wanted && (load || cycle_load_ready(c, now)) ? 1U << CYCLE_STATION : 0) |
         (given ? 1U << CYCLE_STORE_PATH : 0);
}

// The store path has a row, and the writer does not take it in this cycle.
void cycle_port_wants_writer(cycle_engine *c) {
  c->port.writer_wanted = true;
  set_wake(c);
}

// The station's oldest load waits for room alone.
void cycle_port_room(cycle_engine *c) {
  if (c->port.room_wanted) return;
  c->port.room_wanted = true;
  set_wake(c);
}

// A part's wake time was set from outside.
void cycle_port_touch(cycle_engine *c) {
  find_next(c);
  set_wake(c);
}

// A row for the writer, or a command for the load controller, makes nothing come earlier that other units wait for.
void cycle_port_given(cycle_engine *c, uint64_t now, unsigned part) {
  cycle_port *p = &c->port;
  uint64_t next = now + 1, wake = p->lags ? next + LONGEST_LAG : next;
  c->wake[part] = next;
  if (p->next > next) p->next = next;
  if (c->wake[CYCLE_PORT] > wake) c->wake[CYCLE_PORT] = wake;
}

void cycle_port_to(cycle_engine *c, uint64_t now) {
  if (c->port.lags && c->port.time < now) run(c, now, now);
}

void cycle_port_through(cycle_engine *c, uint64_t now) {
  if (c->port.lags && c->port.time <= now) run(c, now, now + 1);
}

static void end_lag(cycle_engine *c, uint64_t now) {
  c->port.lags = false;
  cycle_load_path_end_lag(c, c->port.time);
  find_next(c);
  c->port.lags_from = now + SHARED_CYCLES;
}

void cycle_port_shares_next(cycle_engine *c, uint64_t now) {
  if (!c->port.lags) return;
  run(c, now, now);
  end_lag(c, now);
  set_wake(c);
}

// If this cycle was carried out already, because a unit looked earlier in it, its write asks for the bank now.
void cycle_port_shares(cycle_engine *c, uint64_t now) {
  cycle_port *p = &c->port;
  if (!p->lags) return;
  if (p->time <= now) {
    run(c, now, now);
    end_lag(c, now);
    if (p->next <= now || c->load_write <= now) carry_out(c, now);
    p->time = now + 1;
  } else {
    end_lag(c, now);
    if (p->wrote_at == now) c->w.sp_written |= UINT64_C(1) << p->wrote;
    c->w.beat = NULL;
    if (c->load_write <= now) cycle_load_path_step(c, now);
  }
  cycle_port_touch(c);
}

void cycle_port_end(cycle_engine *c, uint64_t now) {
  cycle_port_through(c, now);
  cycle_port_shares(c, now);
}

void cycle_port_wrote(cycle_engine *c, uint32_t row, uint64_t at) {
  c->port.wrote_at = at;
  c->port.wrote = row >> c->sp_bank_shift & c->local->sp_mask;
}

// ---- loads under way

static void more_users(uint16_t *users, uint64_t *banks, uint64_t of) {
  *banks |= of;
  for (; of != 0; of &= of - 1) users[__builtin_ctzll(of)]++;
}

static void less_users(uint16_t *users, uint64_t *banks, uint64_t of) {
  for (; of != 0; of &= of - 1)
    if (--users[__builtin_ctzll(of)] == 0) *banks &= ~(of & -of);
}

void cycle_port_uses(cycle_engine *c, uint64_t now, cycle_port_use use) {
  cycle_port *p = &c->port;
  p->others += use.other;
  more_users(p->users, &p->banks, use.banks);
  more_users(p->acc_users, &p->acc_banks, use.acc_banks);
  if (p->lags && !may_lag(c, now)) cycle_port_end(c, now);
}

void cycle_port_used(cycle_engine *c, cycle_port_use use) {
  cycle_port *p = &c->port;
  p->others -= use.other;
  less_users(p->users, &p->banks, use.banks);
  less_users(p->acc_users, &p->acc_banks, use.acc_banks);
}
