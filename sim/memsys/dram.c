// SPDX-License-Identifier: Apache-2.0
// DRAM timing: see dram.h for the rules.
//
// Commands are carried out in the order of their ticks when the caller asks for decisions, or for the next one. What is
// issued in a tick depends on transactions that have arrived by then alone, so it does not matter when that is.
#include "sim/memsys/dram.h"

#include <assert.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/number.h"

enum { SLOTS = 32, BURST_BYTES = 64, FOUR = 4, NOBODY = SLOTS };

// In dram_timing.def in picoseconds, here in ticks of the controller.
typedef struct timing {
#define X(field, ddr3, ddr4, doc) uint64_t field;
#include "sim/memsys/dram_timing.def"
#undef X
} timing;

static const timing standards[] = {
    [HW_MEMORY_DDR3] =
        {
#define X(field, ddr3, ddr4, doc) .field = ddr3,
#include "sim/memsys/dram_timing.def"
#undef X
        },
    [HW_MEMORY_DDR4] =
        {
#define X(field, ddr3, ddr4, doc) .field = ddr4,
#include "sim/memsys/dram_timing.def"
#undef X
        },
};

typedef struct transaction {
  uint64_t arrival;
  uint64_t row;
  uint32_t bank, bursts;
  unsigned tag;
  bool write;
  bool opened;  // its row, itself
} transaction;

typedef struct bank {
  uint32_t hits;  // accesses that found it open, since it was opened
  uint64_t row;
  uint64_t column_from;     // a column command may come
  uint64_t precharge_from;  // the row may be closed
  uint64_t activate_from;   // a row may be opened
} bank;

// What is issued next: a row is opened or data asked for, by a transaction; or a row is closed.
typedef struct command {
  uint64_t tick;
  unsigned place;  // in the queue; NOBODY: `bank` is closed
  unsigned bank;
} command;

struct dram {
  timing t;
  uint64_t cycle_ps, tick_ps, controller;
  uint32_t banks, columns;  // columns: bursts in a row
  uint32_t row_hits;        // while a row stays open
  bank *bank;
  uint64_t open;  // banks, a bit each
  // Transactions that may issue commands, in the order of their arrival; each takes two slots, one when it has opened
  // its row.
  transaction queue[SLOTS];
  unsigned count, slots;
  // Those behind them, a ring.
  transaction *waiting;
  unsigned first, waits;
  unsigned places;                 // of each ring, a power of two
  uint64_t tick;                   // the first one whose command has not been issued
  uint64_t enter_from;             // a transaction may leave the ring: one per tick
  uint64_t read_from, write_from;  // column commands to any bank
  uint64_t activate_from;          // any bank
  uint64_t four_from[FOUR];        // when the windows of the last four activates end, a ring
  unsigned four_at;
  unsigned first_closed;  // bank that is looked at first for a row to be closed
  command next;           // is issued unless a transaction enters before; `planned`: it is known
  bool planned;
  uint64_t next_refresh;
  uint64_t data_from;  // earliest question for data; UINT64_MAX: no transaction waits
};

static timing in_ticks(const timing *standard) {
  timing t;
#define X(field, ddr3, ddr4, doc) t.field = (standard->field + standard->clock - 1) / standard->clock;
#include "sim/memsys/dram_timing.def"
#undef X
  return t;
}

dram *dram_create(const hw_array *array, unsigned most) {
  assert(array->memory.model == HW_MEMORY_DDR3 || array->memory.model == HW_MEMORY_DDR4);
  dram *d = WF_NEW(dram);
  d->t = in_ticks(&standards[array->memory.model]);
  d->tick_ps = standards[array->memory.model].clock;
  d->cycle_ps = UINT64_C(1000000) / array->memory.clock_mhz;
  d->controller = UINT64_C(1000) * array->memory.controller_ns;
  d->banks = array->memory.banks;
  d->columns = array->memory.row_bytes / BURST_BYTES;
  d->row_hits = array->memory.row_accesses;
  d->bank = WF_NEW_ARRAY(d->banks, bank);
  for (d->places = 1; d->places < most;) d->places *= 2;
  d->waiting = WF_NEW_ARRAY(d->places, transaction);
  d->next_refresh = d->t.refresh_interval;
  d->data_from = UINT64_MAX;
  return d;
}

void dram_destroy(dram *d) {
  if (d == NULL) return;
  wf_free(d->bank);
  wf_free(d->waiting);
  wf_free(d);
}

static uint64_t cycle_after(const dram *d, uint64_t tick) {
  return (tick * d->tick_ps + d->cycle_ps - 1) / d->cycle_ps;
}

// Ticks up to and including the one that begins in this cycle.
static uint64_t ticks_until(const dram *d, uint64_t cycle) { return cycle * d->cycle_ps / d->tick_ps + 1; }

static unsigned in_ring(const dram *d, unsigned place) { return place & (d->places - 1); }

static uint64_t bit_of(unsigned number) { return UINT64_C(1) << number; }

static bool is_open(const dram *d, unsigned number) { return (d->open & bit_of(number)) != 0; }

// ---- commands

// Who had opened the row has to do it again.
static void close_row(dram *d, unsigned number) {
  d->open &= ~bit_of(number);
  for (unsigned i = 0; i < d->count; i++) {
    transaction *x = &d->queue[i];
    if (x->bank != number || !x->opened) continue;
    x->opened = false;
    d->slots++;
  }
}

static void precharge(dram *d, unsigned number, uint64_t tick) {
  close_row(d, number);
  d->bank[number].activate_from = wf_max(d->bank[number].activate_from, tick + d->t.precharge);
}

// All refreshes due by this tick: rows are closed, banks rest.
static void refresh(dram *d, uint64_t tick) {
  if (tick < d->next_refresh) return;
  uint64_t last = d->next_refresh + (tick - d->next_refresh) / d->t.refresh_interval * d->t.refresh_interval;
  for (unsigned n = 0; n < d->banks; n++) {
    close_row(d, n);
    d->bank[n].activate_from = wf_max(d->bank[n].activate_from, last + d->t.refresh);
  }
  d->next_refresh = last + d->t.refresh_interval;
}

static uint64_t activate_from(const dram *d, const bank *b) {
  return wf_max(b->activate_from, wf_max(d->activate_from, d->four_from[d->four_at]));
}

static void activate(dram *d, unsigned number, uint64_t row, uint64_t tick) {
  bank *b = &d->bank[number];
  d->open |= bit_of(number);
  b->hits = 0;
  b->row = row;
  b->column_from = tick + d->t.activate;
  b->precharge_from = tick + d->t.row_active;
  d->activate_from = tick + d->t.row_to_row;
  d->four_from[d->four_at] = tick + d->t.four_rows;
  d->four_at = (d->four_at + 1) % FOUR;
}

static uint64_t column_from(const dram *d, const bank *b, bool write) {
  return wf_max(b->column_from, write ? d->write_from : d->read_from);
}

// Returns the tick after the last of its data.
static uint64_t access(dram *d, bank *b, const transaction *x, uint64_t tick) {
  const uint64_t data = x->bursts * d->t.burst;
  b->hits += !x->opened;
  if (x->write) {
    const uint64_t end = tick + d->t.write + data;
    d->write_from = tick + data;
    d->read_from = end + d->t.write_to_read;
    b->precharge_from = wf_max(b->precharge_from, end + d->t.write_recovery);
    return end;
  }
  d->read_from = tick + data;
  d->write_from = tick + d->t.read + data + d->t.turn - d->t.write;
  b->precharge_from = wf_max(b->precharge_from, tick + data - d->t.burst + d->t.read_to_precharge);
  return tick + d->t.read + data;
}

// ---- order

static bool finds_row(const dram *d, const transaction *x) {
  const bank *b = &d->bank[x->bank];
  return is_open(d, x->bank) && b->row == x->row && b->hits < d->row_hits;
}

// The transaction that is ready first, the oldest of those. Of each bank only the first one that can do anything comes
// into question. *idle: open banks whose row no waiting transaction may use.
static command first_ready(const dram *d, uint64_t *idle) {
  command next = {.tick = UINT64_MAX, .place = NOBODY};
  uint64_t seen = 0;
  for (unsigned i = 0; i < d->count; i++) {
    const transaction *x = &d->queue[i];
    const bank *b = &d->bank[x->bank];
    const uint64_t bit = bit_of(x->bank), open = d->open & bit;
    if ((seen & bit) != 0 || (open != 0 && (b->row != x->row || b->hits >= d->row_hits))) continue;
    seen |= bit;
    const uint64_t at = wf_max(d->tick, open != 0 ? column_from(d, b, x->write) : activate_from(d, b));
    if (at < next.tick) next = (command){.tick = at, .place = i};
  }
  *idle = d->open & ~seen;
  return next;
}

// A row without waiting transactions is closed when no other command is ready; banks take turns.
static command next_command(const dram *d) {
  uint64_t idle;
  command next = first_ready(d, &idle);
  const uint64_t before = bit_of(d->first_closed) - 1;
  while (idle != 0) {
    const uint64_t turn = (idle & ~before) != 0 ? idle & ~before : idle;
    const unsigned number = (unsigned)__builtin_ctzll(turn);
    const uint64_t at = wf_max(d->tick, d->bank[number].precharge_from);
    if (at < next.tick) next = (command){.tick = at, .place = NOBODY, .bank = number};
    idle &= ~bit_of(number);
  }
  return next;
}

static void leave(dram *d, unsigned place) {
  d->slots -= d->queue[place].opened ? 1 : 2;
  d->count--;
  for (unsigned i = place; i < d->count; i++) d->queue[i] = d->queue[i + 1];
}

// True: data is asked for.
static bool issue(dram *d, const command *next, dram_decision *decision) {
  d->tick = next->tick + 1;
  if (next->place == NOBODY) {
    precharge(d, next->bank, next->tick);
    d->first_closed = next->bank;
    return false;
  }
  transaction *x = &d->queue[next->place];
  if (!is_open(d, x->bank)) {
    activate(d, x->bank, x->row, next->tick);
    x->opened = true;
    d->slots--;
    return false;
  }
  const uint64_t end = access(d, &d->bank[x->bank], x, next->tick);
  *decision = (dram_decision){.tag = x->tag, .write = x->write, .complete = cycle_after(d, end)};
  leave(d, next->place);
  return true;
}

// It stays as it is while time goes on.
static const command *planned(dram *d) {
  if (!d->planned) d->next = next_command(d);
  d->planned = true;
  return &d->next;
}

static uint64_t enters_at(const dram *d) {
  if (d->waits == 0 || d->slots + 2 > SLOTS) return UINT64_MAX;
  return wf_max(d->waiting[d->first].arrival, wf_max(d->enter_from, d->tick));
}

static void enter(dram *d, uint64_t tick) {
  d->queue[d->count++] = d->waiting[d->first];
  d->slots += 2;
  d->first = in_ring(d, d->first + 1);
  d->waits--;
  d->enter_from = tick + 1;
  d->tick = tick;  // whose command may still be issued
}

static bool is_idle(const dram *d) { return d->count + d->waits == 0; }

// Carries ticks before `end` out, until data is asked for (true).
static bool run(dram *d, uint64_t end, dram_decision *decision) {
  while (true) {
    // Who may enter at once does so, whatever is issued then.
    const uint64_t enters = enters_at(d), tick = enters <= d->tick ? enters : wf_min(enters, planned(d)->tick);
    if (tick >= end) {
      d->tick = wf_max(d->tick, end);
      return false;
    }
    d->planned = false;
    if (tick >= d->next_refresh)
      refresh(d, tick);
    else if (enters == tick)
      enter(d, tick);
    else if (issue(d, &d->next, decision))
      return true;
  }
}

// ---- interface

static uint64_t data_ps(const dram *d, bool write) {
  return ((write ? d->t.write : d->t.read) + d->t.burst) * d->tick_ps;
}

uint64_t dram_soonest(const dram *d) { return (d->controller + data_ps(d, false)) / d->cycle_ps; }

uint64_t dram_decided_soonest(const dram *d, bool write) { return data_ps(d, write) / d->cycle_ps; }

// A bound: no tick before in which this transaction asks for its data.
static uint64_t data_bound(const dram *d, const transaction *x) {
  const bank *b = &d->bank[x->bank];
  if (finds_row(d, x)) return column_from(d, b, x->write);
  uint64_t opens = activate_from(d, b);
  if (is_open(d, x->bank)) opens = wf_max(opens, b->precharge_from + d->t.precharge);
  return wf_max(opens + d->t.activate, x->write ? d->write_from : d->read_from);
}

// Of those behind the queue the first one stands for all.
static uint64_t first_data(const dram *d) {
  uint64_t next = d->waits == 0 ? UINT64_MAX : d->waiting[d->first].arrival;
  for (unsigned i = 0; i < d->count; i++) next = wf_min(next, data_bound(d, &d->queue[i]));
  return next;
}

bool dram_decide(dram *d, uint64_t cycle, dram_decision *decision) {
  if (is_idle(d)) return false;
  const bool decided = run(d, ticks_until(d, cycle), decision);
  d->data_from = first_data(d);
  return decided;
}

uint64_t dram_next(const dram *d) {
  return d->data_from == UINT64_MAX ? UINT64_MAX : cycle_after(d, wf_max(d->data_from, d->tick));
}

static transaction transaction_of(const dram *d, uint64_t cycle, uint64_t address, unsigned bytes, bool write) {
  const uint64_t goes_to = write ? address + bytes : address;
  const uint64_t line = goes_to / BURST_BYTES;
  const uint64_t arrival = (cycle * d->cycle_ps + d->controller + d->tick_ps - 1) / d->tick_ps;
  return (transaction){.arrival = wf_max(arrival, ticks_until(d, cycle)),
                       .row = line / d->banks / d->columns,
                       .bank = (uint32_t)(line % d->banks),
                       .bursts = bytes <= BURST_BYTES ? 1 : bytes / BURST_BYTES,
                       .write = write};
}

void dram_ask(dram *d, uint64_t cycle, uint64_t address, unsigned bytes, bool write, unsigned tag) {
  assert(d->count + d->waits < d->places);
  transaction *x = &d->waiting[in_ring(d, d->first + d->waits++)];
  *x = transaction_of(d, cycle, address, bytes, write);
  x->tag = tag;
  if (x->arrival < d->data_from) d->data_from = x->arrival;
}
