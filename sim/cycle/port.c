// SPDX-License-Identifier: Apache-2.0
// The memory port: steps its parts, and decides when. See port.h.
//
// Nothing that the other units do between the place of the port in a cycle and that of the station is seen by a part in
// the same cycle: the writer gets its rows for the next one, the load controller its commands. So the parts can be
// stepped together, and later than the others, as long as no other unit looks at them (skip/lag.c).
#include "sim/cycle/port.h"

#include <assert.h>

#include "sim/cycle/bus.h"
#include "sim/cycle/dma_reader.h"
#include "sim/cycle/dma_writer.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/load_path.h"
#include "sim/cycle/skip/lag.h"

enum { PARTS = CYCLE_UNITS - CYCLE_BUS };

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

void cycle_port_find_next(cycle_engine *c) {
  cycle_port *p = &c->port;
  uint64_t wake = p->due != 0 ? p->time : earliest(c);
  p->next = wake > p->time ? wake : p->time;
}

void cycle_port_clear_wires(cycle_wires *w) {
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
bool cycle_port_carry_out(cycle_engine *c, uint64_t now) {
  cycle_port *p = &c->port;
  cycle_wires *w = &c->w;
  const bool lags = p->lags;
  bool load = false;
  uint32_t next = 0, left = p->due | woken(c, now);
  if (c->eager || c->counting) left = ALL_PARTS;
  if (c->load_write <= now && !p->lags) left |= P(LOAD_PATH);
  cycle_port_clear_wires(w);
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
  cycle_port_find_next(c);
  return load;
}

void cycle_port_set_wake(cycle_engine *c) {
  const cycle_port *p = &c->port;
  c->wake[CYCLE_PORT] = p->lags ? cycle_lag_visible(c) : p->next;
}

uint32_t cycle_port_step(cycle_engine *c, uint64_t now) {
  cycle_port *p = &c->port;
  bool load = false;
  cycle_lag_catch_up(c, now);
  if (c->eager || c->counting || p->next <= now || (c->load_write <= now && !p->lags))
    load = cycle_port_carry_out(c, now);
  if (p->time <= now) p->time = now + 1;
  bool given = p->writer_wanted && cycle_writer_idle(c);
  if (given) p->writer_wanted = false;
  cycle_lag_enter(c, now + 1);
  cycle_port_set_wake(c);
  return (p->room_wanted && (load || cycle_load_ready(c, now)) ? 1U << CYCLE_STATION : 0) |
         (given ? 1U << CYCLE_STORE_PATH : 0);
}

// The store path has a row, and the writer does not take it in this cycle.
void cycle_port_wants_writer(cycle_engine *c) {
  c->port.writer_wanted = true;
  cycle_port_set_wake(c);
}

// The station's oldest load waits for room alone.
void cycle_port_room(cycle_engine *c) {
  if (c->port.room_wanted) return;
  c->port.room_wanted = true;
  cycle_port_set_wake(c);
}

// A part's wake time was set from outside.
void cycle_port_touch(cycle_engine *c) {
  cycle_port_find_next(c);
  cycle_port_set_wake(c);
}

// A row for the writer, or a command for the load controller, makes nothing come earlier that other units wait for.
void cycle_port_given(cycle_engine *c, uint64_t now, unsigned part) {
  cycle_port *p = &c->port;
  uint64_t next = now + 1, wake = p->lags ? next + CYCLE_LONGEST_LAG : next;
  c->wake[part] = next;
  if (p->next > next) p->next = next;
  if (c->wake[CYCLE_PORT] > wake) c->wake[CYCLE_PORT] = wake;
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
  if (p->lags && !cycle_lag_may(c, now)) cycle_lag_leave(c, now + 1);
}

void cycle_port_used(cycle_engine *c, cycle_port_use use) {
  cycle_port *p = &c->port;
  p->others -= use.other;
  less_users(p->users, &p->banks, use.banks);
  less_users(p->acc_users, &p->acc_banks, use.acc_banks);
}
