// SPDX-License-Identifier: Apache-2.0
// The DRAM controller beside a plain one, that looks at every tick, at every transaction and at every bank: the same
// data at the same time, however seldom it is asked.
#include "sim/memsys/dram.h"

#include "base/test.h"
#include "hw/array.h"
#include "sim/gen/random.h"

enum { TRANSACTIONS = 600, BANKS_MAX = 64, QUEUE = 32 };

typedef struct standard {
  uint64_t clock, activate, precharge, read, write, row_active, row_to_row, four_rows, burst, read_to_precharge,
      write_recovery, turn, write_to_read, refresh_interval, refresh;
} standard;

static standard standard_of(uint32_t model) {
#define X(field, ddr3, ddr4, doc) .field = model == HW_MEMORY_DDR3 ? ddr3 : ddr4,
  standard s = {
#include "sim/memsys/dram_timing.def"
  };
#undef X
  const uint64_t clock = s.clock;
  for (uint64_t *field = &s.activate; field <= &s.refresh; field++) *field = (*field + clock - 1) / clock;
  return s;
}

typedef struct plain_transaction {
  uint64_t cycle, arrival;  // arrival: tick
  uint64_t address, end;    // end: cycle in which its data is complete
  unsigned bytes, bank;
  uint64_t row;
  bool write, opener, done;
} plain_transaction;

typedef struct plain_bank {
  bool open;
  uint64_t row, hits, opened_at, may_open, may_close;
} plain_bank;

typedef struct plain {
  standard t;
  plain_transaction all[TRANSACTIONS];
  unsigned inside[QUEUE], inside_count;
  plain_bank banks[BANKS_MAX];
  uint64_t may_read, may_write, opened[4];
  unsigned opened_count;
} plain;

static void shut(plain *p, unsigned bank) {
  p->banks[bank].open = false;
  for (unsigned i = 0; i < p->inside_count; i++)
    if (p->all[p->inside[i]].bank == bank) p->all[p->inside[i]].opener = false;
}

static unsigned slots(const plain *p) {
  unsigned taken = 0;
  for (unsigned i = 0; i < p->inside_count; i++) taken += p->all[p->inside[i]].opener ? 1 : 2;
  return taken;
}

static bool may_activate(const plain *p, uint64_t tick, const plain_bank *b) {
  if (tick < b->may_open) return false;
  if (p->opened_count > 0 && tick < p->opened[(p->opened_count - 1) % 4] + p->t.row_to_row) return false;
  return p->opened_count < 4 || tick >= p->opened[p->opened_count % 4] + p->t.four_rows;
}

static void fetch(plain *p, const hw_array *a, uint64_t tick, plain_transaction *x, plain_bank *b) {
  const uint64_t data = x->bytes / 64 * p->t.burst, column = x->write ? p->t.write : p->t.read;
  const uint64_t cycle_ps = 1000000 / a->memory.clock_mhz, end = tick + column + data;
  if (!x->opener) b->hits++;
  x->done = true;
  x->end = (end * p->t.clock + cycle_ps - 1) / cycle_ps;
  uint64_t close = x->write ? end + p->t.write_recovery : tick + data - p->t.burst + p->t.read_to_precharge;
  if (close > b->may_close) b->may_close = close;
  p->may_read = x->write ? end + p->t.write_to_read : tick + data;
  p->may_write = x->write ? tick + data : end + p->t.turn - p->t.write;
}

// An older one goes to the same row.
static bool follows(const plain *p, unsigned place) {
  const plain_transaction *x = &p->all[p->inside[place]];
  for (unsigned i = 0; i < place; i++) {
    const plain_transaction *older = &p->all[p->inside[i]];
    if (older->bank == x->bank && older->row == x->row) return true;
  }
  return false;
}

// The first transaction that can do something does it. False: none can.
static bool serve_one(plain *p, const hw_array *a, uint64_t tick) {
  for (unsigned i = 0; i < p->inside_count; i++) {
    plain_transaction *x = &p->all[p->inside[i]];
    plain_bank *b = &p->banks[x->bank];
    if (!b->open && may_activate(p, tick, b)) {
      *b = (plain_bank){.open = true, .row = x->row, .opened_at = tick, .may_close = tick + p->t.row_active};
      p->opened[p->opened_count++ % 4] = tick;
      x->opener = true;
      return true;
    }
    if (!b->open || b->row != x->row || b->hits >= a->memory.row_accesses || follows(p, i)) continue;
    if (tick < b->opened_at + p->t.activate || tick < (x->write ? p->may_write : p->may_read)) continue;
    fetch(p, a, tick, x, b);
    p->inside_count--;
    memmove(&p->inside[i], &p->inside[i + 1], (p->inside_count - i) * sizeof p->inside[0]);
    return true;
  }
  return false;
}

static bool waited_for(const plain *p, const hw_array *a, unsigned bank) {
  const plain_bank *b = &p->banks[bank];
  for (unsigned i = 0; i < p->inside_count; i++) {
    const plain_transaction *x = &p->all[p->inside[i]];
    if (x->bank == bank && x->row == b->row && b->hits < a->memory.row_accesses) return true;
  }
  return false;
}

static void simulate(plain *p, const hw_array *a) {
  unsigned entered = 0, done = 0, first = 0;
  for (uint64_t tick = 0; done < TRANSACTIONS; tick++) {
    if (tick != 0 && tick % p->t.refresh_interval == 0) {
      for (unsigned b = 0; b < a->memory.banks; b++) {
        if (p->banks[b].open) shut(p, b);
        if (p->banks[b].may_open < tick + p->t.refresh) p->banks[b].may_open = tick + p->t.refresh;
      }
    }
    if (entered < TRANSACTIONS && p->all[entered].arrival <= tick && slots(p) + 2 <= QUEUE)
      p->inside[p->inside_count++] = entered++;
    const unsigned inside = p->inside_count;
    if (serve_one(p, a, tick)) {
      done += inside - p->inside_count;
      continue;
    }
    for (unsigned i = 0; i < a->memory.banks; i++) {
      const unsigned bank = (first + i) % a->memory.banks;
      plain_bank *b = &p->banks[bank];
      if (!b->open || tick < b->may_close || waited_for(p, a, bank)) continue;
      shut(p, bank);
      if (b->may_open < tick + p->t.precharge) b->may_open = tick + p->t.precharge;
      first = bank;
      break;
    }
  }
}

static uint64_t below(sim_gen_random *r, uint64_t limit) { return sim_gen_bits(r) % limit; }

static void choose_array(hw_array *a, sim_gen_random *r) {
  static const uint32_t clocks[] = {50, 100, 333, 1000, 2000};
  hw_array_default(a);
  a->memory.model = below(r, 2) ? HW_MEMORY_DDR3 : HW_MEMORY_DDR4;
  a->memory.clock_mhz = clocks[below(r, 5)];
  a->memory.banks = UINT32_C(1) << below(r, 7);
  a->memory.row_bytes = UINT32_C(256) << below(r, 5);
  a->memory.row_accesses = 1 + (uint32_t)below(r, 6);
  a->memory.controller_ns = (uint32_t)below(r, 20);
}

// Bursts of streams, and single ones; long pauses between some.
static void choose_transactions(plain *p, const hw_array *a, sim_gen_random *r) {
  const uint64_t cycle_ps = 1000000 / a->memory.clock_mhz, spread = UINT64_C(1) << below(r, 14);
  uint64_t cycle = 0, line = 0;
  for (unsigned n = 0; n < TRANSACTIONS; n++) {
    if (below(r, 4) == 0) cycle += below(r, below(r, 50) == 0 ? 20000 : 40);
    line = below(r, 3) == 0 ? below(r, spread) : line + 1;
    plain_transaction *x = &p->all[n];
    x->cycle = cycle;
    x->address = line * 64;
    x->bytes = below(r, 8) == 0 ? 128 : 64;
    x->write = below(r, 3) == 0;
    // A transaction is seen after the cycle in which it comes.
    x->arrival = (cycle * cycle_ps + a->memory.controller_ns * UINT64_C(1000) + p->t.clock - 1) / p->t.clock;
    if (x->arrival <= cycle * cycle_ps / p->t.clock) x->arrival++;
    const uint64_t goes_to = x->write ? line + x->bytes / 64 : line;  // a write goes where the next line is
    x->bank = (unsigned)(goes_to % a->memory.banks);
    x->row = goes_to / a->memory.banks / (a->memory.row_bytes / 64);
  }
}

static void collect(dram *d, uint64_t cycle, const plain *p, uint64_t *got) {
  dram_decision decision;
  while (dram_decide(d, cycle, &decision)) {
    assert_int_equal(got[decision.tag], 0);
    assert_int_equal(decision.write, p->all[decision.tag].write);
    assert_true(decision.complete >= cycle);
    got[decision.tag] = decision.complete;
  }
}

static void the_same_as_tick_by_tick(void **state) {
  (void)state;
  static plain p;
  sim_gen_random r = sim_gen_random_of(7, 0);
  for (unsigned round = 0; round < 80; round++) {
    hw_array a;
    uint64_t got[TRANSACTIONS] = {0};
    choose_array(&a, &r);
    p = (plain){.t = standard_of(a.memory.model)};
    choose_transactions(&p, &a, &r);
    simulate(&p, &a);
    dram *d = dram_create(&a, TRANSACTIONS);
    const bool eager = round % 2 == 0;
    uint64_t cycle = 0;
    for (unsigned n = 0; n < TRANSACTIONS; n++) {
      const plain_transaction *x = &p.all[n];
      for (; cycle < x->cycle; cycle++)
        if (eager || dram_next(d) <= cycle) collect(d, cycle, &p, got);
      dram_ask(d, x->cycle, x->address, x->bytes, x->write, n);
    }
    for (uint64_t next; (next = dram_next(d)) != UINT64_MAX; cycle = next + 1)
      collect(d, next > cycle ? next : cycle, &p, got);
    for (unsigned n = 0; n < TRANSACTIONS; n++) assert_int_equal(got[n], p.all[n].end);
    dram_destroy(d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_as_tick_by_tick),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
