// DRAM timing: see dram.h for the rules.
#include "sim/memsys/dram.h"

#include <assert.h>
#include <stddef.h>

#include "hw/base/alloc.h"

enum { WRITES = 64, WRITES_HIGH = 32, WRITES_LOW = 8, BURST_BYTES = 64, FOUR = 4, SLOTS_AHEAD = 8 };

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
} transaction;

// First come first: entries stay in the order of their arrival.
typedef struct waiting {
  transaction *entry;
  unsigned count, capacity;
} waiting;

typedef struct bank {
  bool open;
  uint32_t accesses;  // since it was opened
  uint64_t row;
  uint64_t column_from;     // a column command may come
  uint64_t precharge_from;  // the row may be closed
  uint64_t activate_from;   // a row may be opened
} bank;

struct dram {
  timing t;
  uint64_t cycle_ps, controller;
  uint32_t banks, columns;  // columns: bursts in a row
  uint32_t row_accesses;    // of an open row at most
  bank *bank;
  waiting reads, writes;
  uint64_t next_slot;     // of a decision
  uint64_t data_free;     // the data bus
  uint64_t read_from;     // column commands of reads, after writes
  uint64_t opened[FOUR];  // the last four activates, a ring
  unsigned opened_at;
  uint64_t next_refresh;
  bool draining;  // a batch of writes is under way
};

dram *dram_create(const hw_array *array) {
  assert(array->memory.model == HW_MEMORY_DDR3 || array->memory.model == HW_MEMORY_DDR4);
  dram *d = WF_NEW(dram);
  d->t = standards[array->memory.model];
  d->cycle_ps = UINT64_C(1000000) / array->memory.clock_mhz;
  d->controller = UINT64_C(1000) * array->memory.controller_ns;
  d->banks = array->memory.banks;
  d->columns = array->memory.row_bytes / BURST_BYTES;
  d->row_accesses = array->memory.row_accesses;
  d->bank = WF_NEW_ARRAY(d->banks, bank);
  d->reads = (waiting){.entry = WF_NEW_ARRAY(DRAM_READS, transaction), .capacity = DRAM_READS};
  d->writes = (waiting){.entry = WF_NEW_ARRAY(WRITES, transaction), .capacity = WRITES};
  d->next_refresh = d->t.refresh_interval;
  return d;
}

void dram_destroy(dram *d) {
  if (d == NULL) return;
  wf_free(d->bank);
  wf_free(d->reads.entry);
  wf_free(d->writes.entry);
  wf_free(d);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

// ---- refresh

// All refreshes due by `time`: rows are closed, banks rest.
static void refresh(dram *d, uint64_t time) {
  if (time < d->next_refresh) return;
  uint64_t last = d->next_refresh + (time - d->next_refresh) / d->t.refresh_interval * d->t.refresh_interval;
  for (uint32_t b = 0; b < d->banks; b++) {
    d->bank[b].open = false;
    d->bank[b].activate_from = later(d->bank[b].activate_from, last + d->t.refresh);
  }
  d->next_refresh = last + d->t.refresh_interval;
}

// ---- one transaction

// The row is still open: whoever asked for it did so before it could be closed, and it was not used too often.
static bool finds_row(const dram *d, const bank *b, const transaction *x) {
  return b->open && b->row == x->row && b->accesses < d->row_accesses && x->arrival <= b->precharge_from;
}

// A row that nobody waits for is closed as soon as it may be.
static uint64_t open_row(dram *d, bank *b, uint64_t row, uint64_t time) {
  if (b->open) b->activate_from = later(b->activate_from, b->precharge_from + d->t.precharge);
  uint64_t last = d->opened[(d->opened_at + FOUR - 1) % FOUR], fourth = d->opened[d->opened_at];
  uint64_t at = later(time, b->activate_from);
  if (last != 0) at = later(at, last + d->t.row_to_row);
  if (fourth != 0) at = later(at, fourth + d->t.four_rows);
  d->opened[d->opened_at] = at;
  d->opened_at = (d->opened_at + 1) % FOUR;
  b->open = true;
  b->accesses = 0;
  b->row = row;
  b->column_from = at + d->t.activate;
  b->precharge_from = at + d->t.row_active;
  return b->column_from;
}

// Carries the transaction out from `time` on; returns when its last byte is on the pins.
static uint64_t serve(dram *d, const transaction *x, uint64_t time, bool write) {
  bank *b = &d->bank[x->bank];
  uint64_t column = later(time, b->column_from);
  if (!finds_row(d, b, x)) column = later(time, open_row(d, b, x->row, time));
  if (!write) column = later(column, d->read_from);
  uint64_t latency = write ? d->t.write : d->t.read;
  uint64_t data = later(column + latency, d->data_free), end = data + x->bursts * d->t.burst;
  d->data_free = end;
  b->column_from = later(b->column_from, data - latency);
  b->accesses++;
  if (write) {
    d->read_from = end + d->t.write_to_read;
    b->precharge_from = later(b->precharge_from, end + d->t.write_recovery);
  } else {
    b->precharge_from = later(b->precharge_from, data - latency + d->t.read_to_precharge);
  }
  return end;
}

// ---- order

// The oldest row hit that is there at `time`, else the oldest.
static unsigned choose(const dram *d, const waiting *w, uint64_t time) {
  for (unsigned i = 0; i < w->count && w->entry[i].arrival <= time; i++) {
    if (finds_row(d, &d->bank[w->entry[i].bank], &w->entry[i])) return i;
  }
  return 0;
}

static transaction take(waiting *w, unsigned index) {
  transaction taken = w->entry[index];
  w->count--;
  for (unsigned i = index; i < w->count; i++) w->entry[i] = w->entry[i + 1];
  return taken;
}

static void add(waiting *w, const transaction *x) {
  assert(w->count < w->capacity);
  w->entry[w->count++] = *x;
}

static bool write_turn(const dram *d) {
  if (d->writes.count == 0) return false;
  if (d->reads.count == 0) return true;
  return d->draining ? d->writes.count > WRITES_LOW : d->writes.count >= WRITES_HIGH;
}

// When the next decision is made, UINT64_MAX: nothing waits.
static uint64_t decision_time(const dram *d) {
  uint64_t arrival = UINT64_MAX;
  if (d->reads.count > 0) arrival = d->reads.entry[0].arrival;
  if (d->writes.count > 0 && (d->reads.count == 0 || write_turn(d))) {
    uint64_t write = d->writes.entry[0].arrival;
    arrival = d->reads.count == 0 || write < arrival ? write : arrival;
  }
  if (arrival == UINT64_MAX) return UINT64_MAX;
  uint64_t ahead = SLOTS_AHEAD * d->t.burst;
  uint64_t bus = d->data_free > ahead ? d->data_free - ahead : 0;
  return later(later(arrival, d->next_slot), bus);
}

uint64_t dram_next(const dram *d) {
  uint64_t time = decision_time(d);
  return time == UINT64_MAX ? UINT64_MAX : (time + d->cycle_ps - 1) / d->cycle_ps;
}

// ---- interface

static transaction transaction_of(const dram *d, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag) {
  uint64_t line = address / BURST_BYTES;
  return (transaction){.arrival = cycle * d->cycle_ps + d->controller,
                       .row = line / d->banks / d->columns,
                       .bank = (uint32_t)(line % d->banks),
                       .bursts = bytes <= BURST_BYTES ? 1 : bytes / BURST_BYTES,
                       .tag = tag};
}

void dram_read(dram *d, uint64_t cycle, uint64_t address, unsigned bytes, unsigned tag) {
  transaction x = transaction_of(d, cycle, address, bytes, tag);
  add(&d->reads, &x);
}

static uint64_t cycle_after(const dram *d, uint64_t time) { return (time + d->cycle_ps - 1) / d->cycle_ps; }

uint64_t dram_write(dram *d, uint64_t cycle, uint64_t address, unsigned bytes) {
  transaction x = transaction_of(d, cycle, address, bytes, 0);
  // A full queue: the oldest goes at once.
  if (d->writes.count == d->writes.capacity) {
    transaction oldest = take(&d->writes, 0);
    serve(d, &oldest, later(oldest.arrival, d->next_slot), true);
  }
  add(&d->writes, &x);
  return cycle_after(d, x.arrival + d->t.activate + d->t.write + x.bursts * d->t.burst);
}

uint64_t dram_read_first(dram *d, uint64_t cycle, uint64_t address, unsigned bytes) {
  transaction x = transaction_of(d, cycle, address, bytes, 0);
  refresh(d, x.arrival);
  return cycle_after(d, serve(d, &x, x.arrival, false));
}

bool dram_decide(dram *d, uint64_t cycle, unsigned *tag, uint64_t *complete) {
  uint64_t until = cycle * d->cycle_ps, time;
  while ((time = decision_time(d)) <= until) {
    refresh(d, time);
    bool write = d->draining = write_turn(d);
    waiting *w = write ? &d->writes : &d->reads;
    transaction x = take(w, choose(d, w, time));
    uint64_t end = serve(d, &x, time, write);
    d->next_slot = time + d->t.burst;
    if (write) continue;
    *tag = x.tag;
    *complete = cycle_after(d, end);
    return true;
  }
  return false;
}
