// SPDX-License-Identifier: Apache-2.0
// The DRAM as sessions (SESSIONS): a session is a row of a bank from its opening to its planned close. The rules are
// those of sim/memsys/dram.h, the times those of dram_timing.def.
//
//   A transaction that arrives before the close of a session of its row, and finds fewer than row_accesses in it,
//   joins: its data comes as soon as the data bus is free, and the close moves on. Else it opens the row: when the
//   bank's last session is closed, in the first of the ticks that tFAW leaves to activates (ACTIVATES). Data of reads
//   and writes share a bus (DATA); behind writes reads wait for tWTR (TURN). Every tREFI all banks rest for tRFC
//   (REFRESH).
// Times inside are ticks of the DRAM's clock.
#include "base/alloc.h"
#include "sim/flow/memory.h"

enum { SESSIONS = 4, BATCHES = 8, LINE_BYTES = 64, FOUR = 4, POSTED = FLOW_REGISTERS, GAP = 3 };

typedef struct timing {
#define X(field, ddr3, ddr4, doc) uint64_t field;
#include "sim/memsys/dram_timing.def"
#undef X
} timing;

static timing timing_of(uint32_t model) {
  timing t;
#define X(field, ddr3, ddr4, doc) t.field = model == HW_MEMORY_DDR3 ? ddr3 : ddr4;
#include "sim/memsys/dram_timing.def"
#undef X
  return t;
}

static timing in_ticks(timing t) {
  const uint64_t tick = t.clock;
#define X(field, ddr3, ddr4, doc) t.field = (t.field + tick - 1) / tick;
#include "sim/memsys/dram_timing.def"
#undef X
  return t;
}

typedef struct session {
  uint64_t row, column_from, close, refresh;
  uint32_t hits;  // that found it open
} session;

typedef struct bank {
  session of[SESSIONS];
  uint32_t last;   // the newest
  uint64_t free;   // a row may be opened
  flow_time user;  // the last transaction: its data
} bank;

// Writes behind one another: their data, and from when on that of reads behind it may come.
typedef struct batch {
  uint64_t from, until, reads_from;
} batch;

// A dirty line of the L2 whose data waits for a gap between reads, its row open.
typedef struct posted {
  flow_posted line;
  flow_time at;   // its column command could be given
  uint64_t from;  // the first tick of its data, if nothing kept it
  bank *bank;
  uint32_t session;
} posted;

struct flow_dram {
  timing t;
  flow_log *log;
  uint64_t tick_ps, cycle_ps, controller, activate_ticks;
  uint32_t banks, row_hits;
  uint32_t bank_shift, column_shift;
  bank *bank;
  flow_pipe activates, data;
  batch batch[BATCHES];  // the last ones, a ring
  uint32_t last;
  posted posted[POSTED];  // a ring
  uint32_t first, waits;
  uint64_t gap;  // where the first of them goes, as far as is known
  flow_registers *registers;
  uint64_t path;
  uint64_t rested, rested_at;  // refreshes up to the tick asked for last, and the tick of the last of them
};

flow_dram *flow_dram_create(const hw_array *array, flow_registers *registers, flow_log *log) {
  flow_dram *d = WF_NEW(flow_dram);
  d->log = log;
  d->registers = registers;
  d->path = array->memory.path_cycles;
  const timing ps = timing_of(array->memory.model);
  d->t = in_ticks(ps);
  d->tick_ps = ps.clock;
  d->cycle_ps = UINT64_C(1000000) / array->memory.clock_mhz;
  d->controller = UINT64_C(1000) * array->memory.controller_ns;
  d->activate_ticks = wf_max((d->t.four_rows + FOUR - 1) / FOUR, d->t.row_to_row);
  d->banks = array->memory.banks;
  d->bank_shift = (uint32_t)__builtin_ctz(d->banks);
  d->column_shift = (uint32_t)__builtin_ctz(array->memory.row_bytes / LINE_BYTES);
  d->row_hits = array->memory.row_accesses;
  d->bank = WF_NEW_ARRAY(d->banks, bank);
  return d;
}

void flow_dram_destroy(flow_dram *d) {
  if (d == NULL) return;
  wf_free(d->bank);
  wf_free(d);
}

// How many times banks have rested up to the tick; a division only where that is another number than the last time.
static uint64_t refreshes(flow_dram *d, uint64_t tick) {
  if (tick - d->rested_at >= d->t.refresh_interval) {
    d->rested = tick / d->t.refresh_interval;
    d->rested_at = d->rested * d->t.refresh_interval;
  }
  return d->rested;
}

static uint64_t behind_refresh(flow_dram *d, uint64_t tick) {
  if (refreshes(d, tick) == 0) return tick;
  const uint64_t past = tick - d->rested_at;
  return past < d->t.refresh ? tick + d->t.refresh - past : tick;
}

// Takes `ticks` of the data bus from `at` on, the first that are free, be they in a row or not.
static void take_scattered(flow_dram *d, uint64_t at, uint64_t ticks) {
  for (; ticks > 0; ticks--) at = flow_calendar_take(&d->data.taken, at, 1) + 1;
}

// The place of the batch that a write in `at` joins; BATCHES: none.
static uint32_t batch_of(const flow_dram *d, uint64_t at, uint64_t tail) {
  for (uint32_t i = 0; i < BATCHES; i++) {
    const uint32_t place = (d->last + BATCHES - i) % BATCHES;
    const batch *b = &d->batch[place];
    if (at < b->reads_from && at + tail >= b->from) return place;
  }
  return BATCHES;
}

// A write that comes while reads wait behind another one goes at once. Reads that have their place already stay in it:
// what the turn costs is taken from those behind.
static uint64_t take_write_data(flow_dram *d, uint64_t at, uint64_t ticks) {
  const uint64_t tail = d->t.write_to_read + d->t.read;
  const uint32_t place = batch_of(d, at, tail);
  if (place == BATCHES) {
    const uint64_t start = flow_calendar_take(&d->data.taken, at, ticks);
    d->last = (d->last + 1) % BATCHES;
    d->batch[d->last] = (batch){.from = start, .until = start + ticks, .reads_from = start + ticks + tail};
    take_scattered(d, start + ticks, tail);
    return start;
  }
  batch *b = &d->batch[place];
  const uint64_t start = wf_max(b->until, at), before = b->reads_from;
  b->until = start + ticks;
  b->reads_from = b->until + tail;
  take_scattered(d, before, b->reads_from - before);
  return start;
}

// The first tick of the data of a column command that could be given in `column`.
static uint64_t take_data(flow_dram *d, uint64_t column, uint64_t ticks, bool write) {
  if (write) return take_write_data(d, column + d->t.write, ticks);
  return flow_calendar_take(&d->data.taken, column + d->t.read, ticks);
}

// ---- a transaction: its way as events

// In the cycle in which a tick ends; earlier than t it is t's own. Only the log asks for it.
static flow_time in_tick(const flow_dram *d, flow_time t, uint64_t tick, flow_weight weight) {
#ifndef FLOW_RECORDS
  (void)d;
  (void)tick;
  (void)weight;
  return t;
#else
  return flow_not_before(t, (tick * d->tick_ps + d->cycle_ps - 1) / d->cycle_ps, weight);
#endif
}

static flow_time open_row(flow_dram *d, bank *b, uint64_t row, uint64_t arrival, flow_time t) {
  if (b->free > arrival) t = in_tick(d, flow_later((flow_time){0}, b->user), b->free, FLOW_W_DRAM_BANKS);
  const uint64_t awake = wf_max(arrival, b->free), from = behind_refresh(d, awake);
  if (from > awake) t = in_tick(d, flow_event(d->log, t), from, FLOW_W_DRAM_REFRESH);
  const uint64_t at = flow_calendar_take(&d->activates.taken, from, d->activate_ticks);
  if (at > from) t = in_tick(d, flow_event(d->log, t), at, FLOW_W_DRAM_ACTIVATES);
  b->last = (b->last + 1) % SESSIONS;
  session *s = &b->of[b->last];
  *s = (session){.row = row, .column_from = at + d->t.activate, .close = at + d->t.row_active};
  s->refresh = refreshes(d, at);
  return in_tick(d, flow_event(d->log, t), s->column_from, FLOW_W_DRAM_LATENCY);
}

static bool joins(flow_dram *d, const session *s, uint64_t row, uint64_t arrival) {
  return s->close != 0 && s->hits < d->row_hits && s->row == row && arrival <= s->close &&
         refreshes(d, wf_max(arrival, s->column_from)) == s->refresh;
}

static session *session_of(flow_dram *d, bank *b, uint64_t row, uint64_t arrival) {
  for (uint32_t i = 0; i < SESSIONS; i++) {
    session *s = &b->of[(b->last + SESSIONS - i) % SESSIONS];
    if (joins(d, s, row, arrival)) return s;
  }
  return NULL;
}

// Data from tick `data` on keep the row open; sessions behind this one move with its close.
static void hold_row(const flow_dram *d, bank *b, session *s, uint64_t data, uint64_t ticks, bool write) {
  const uint64_t column = data - (write ? d->t.write : d->t.read);
  const uint64_t held =
      write ? data + ticks + d->t.write_recovery : column + ticks - d->t.burst + d->t.read_to_precharge;
  s->column_from = wf_max(s->column_from, column + ticks);
  if (held > s->close) {
    const uint64_t more = held - s->close;
    s->close = held;
    if (s != &b->of[b->last]) b->free += more;
  }
  b->free = wf_max(b->free, s->close + d->t.precharge);
}

// The column command's data.
static uint64_t use_row(flow_dram *d, bank *b, session *s, uint64_t arrival, uint64_t ticks, bool write) {
  const uint64_t data = take_data(d, wf_max(arrival, s->column_from), ticks, write);
  hold_row(d, b, s, data, ticks, write);
  return data;
}

uint64_t flow_dram_soonest(const flow_dram *d) {
  return (d->controller + (d->t.read + d->t.burst) * d->tick_ps) / d->cycle_ps;
}

// Data that had to wait for the bus comes behind whoever held it.
static flow_time data_event(flow_dram *d, flow_time t, uint64_t column, uint64_t data, uint64_t ticks, bool write) {
  const uint64_t delay = write ? d->t.write : d->t.read;
  t = in_tick(d, t, column + delay, FLOW_W_DRAM_LATENCY);
#ifdef FLOW_RECORDS
  const uint32_t before = d->data.holder[(data - 1) % FLOW_HOLDERS];
  const flow_time held = {d->log->edge[before] >> FLOW_TIME_SHIFT << FLOW_TIME_SHIFT | (uint64_t)before
                                                                                           << FLOW_WEIGHT_BITS};
  if (data > column + delay && flow_cycle(held) + FLOW_HOLDS_MOST > flow_cycle(t)) t = held;
#endif
  t = flow_event(d->log, in_tick(d, t, data, FLOW_W_DRAM_DATA));
#ifdef FLOW_RECORDS
  d->data.holder[(data + ticks - 1) % FLOW_HOLDERS] = flow_event_of(t.bits);
#else
  (void)ticks;
#endif
  return t;
}

typedef struct place {
  bank *bank;
  uint64_t row, ticks, arrival;
} place;

static place place_of(const flow_dram *d, flow_time t, uint64_t address, uint32_t bytes, bool write) {
  const uint64_t line = (write ? address + bytes : address) / LINE_BYTES;
  return (place){.bank = &d->bank[line & (d->banks - 1)],
                 .row = line >> d->bank_shift >> d->column_shift,
                 .ticks = (bytes <= LINE_BYTES ? 1 : bytes / LINE_BYTES) * d->t.burst,
                 .arrival = (flow_cycle(t) * d->cycle_ps + d->controller + d->tick_ps - 1) / d->tick_ps};
}

static uint64_t end_of(const flow_dram *d, uint64_t data) {
  return (data * d->tick_ps + d->cycle_ps - 1) / d->cycle_ps;
}

// The session that it joins or opens; *t: its column command may come.
static session *enter_session(flow_dram *d, const place *p, flow_time *t) {
  bank *b = p->bank;
  *t = in_tick(d, *t, p->arrival, FLOW_W_MEMORY_LATENCY);
  session *s = session_of(d, b, p->row, p->arrival);
  if (s == NULL) {
    *t = open_row(d, b, p->row, p->arrival, *t);
    return &b->of[b->last];
  }
  s->hits++;
  if (s->column_from > p->arrival) *t = in_tick(d, b->user, s->column_from, FLOW_W_DRAM_DATA);
  return s;
}

static flow_time transact(flow_dram *d, flow_time t, const place *p, bool write) {
  session *s = enter_session(d, p, &t);
  const uint64_t column = wf_max(p->arrival, s->column_from);
  const uint64_t data = use_row(d, p->bank, s, p->arrival, p->ticks, write);
  t = data_event(d, flow_event(d->log, t), column, data, p->ticks, write);
  p->bank->user = t;
  return flow_event(d->log, flow_at(t, end_of(d, data + p->ticks), FLOW_W_DRAM_LATENCY));
}

// ---- writes that wait

// The first tick of data that could come from tick `from` on: behind other writes, or in a gap of the reads known.
static uint64_t gap_from(const flow_dram *d, uint64_t from) {
  const uint32_t joined = batch_of(d, from, 0);
  if (joined != BATCHES) return wf_max(d->batch[joined].until, from);
  return wf_max(from, flow_calendar_find(&d->data.taken, from - 1, GAP) + 1);
}

static flow_time free_behind(const flow_dram *d, const flow_posted *w, flow_time written) {
  const flow_time gone = flow_after(written, d->path, FLOW_W_MEMORY_LATENCY);
  return flow_after(flow_later(w->last, gone), 1, FLOW_W_L2_VICTIMS);
}

// A write that waits ends in cycle `end` as far as is known. The row's user, from which the log's edge comes, may be
// later than that.
static flow_time written_in(const flow_posted *w, flow_time at, uint64_t end) {
  return flow_at(at, wf_max(flow_cycle(w->sent), end), FLOW_W_DRAM_DATA);
}

static void tell(flow_dram *d, const flow_posted *w, flow_time free) {
  if (d->registers->turn[w->reg] == w->turn) flow_registers_free(d->registers, w->reg, free);
}

// What is known of the ends of writes that wait, the first one's data from tick `start` on; returns that of `one`.
static uint64_t expect(flow_dram *d, uint64_t start, const posted *one) {
  uint64_t of_one = 0;
  for (uint32_t n = 0; n < d->waits; n++) {
    const posted *w = &d->posted[(d->first + n) % POSTED];
    start = wf_max(start, w->from) + d->t.burst;
    if (w == one)
      of_one = start;
    else
      tell(d, &w->line, free_behind(d, &w->line, written_in(&w->line, w->at, end_of(d, start))));
  }
  return of_one;
}

// A place among those that wait, which are in the order of `from`.
static posted *make_room(flow_dram *d, uint64_t from) {
  uint32_t n = d->first + d->waits++;
  for (; n != d->first && d->posted[(n - 1) % POSTED].from > from; n--)
    d->posted[n % POSTED] = d->posted[(n - 1) % POSTED];
  return &d->posted[n % POSTED];
}

static void write_first(flow_dram *d, uint64_t start) {
  const posted *w = &d->posted[d->first++ % POSTED];
  d->waits--;
  const uint64_t data = take_write_data(d, start, d->t.burst);
  hold_row(d, w->bank, &w->bank->of[w->session], data, d->t.burst, true);
  const flow_time t = data_event(d, w->at, w->from - d->t.write, data, d->t.burst, true);
  w->bank->user = t;
  tell(d, &w->line,
       flow_event(d->log, free_behind(d, &w->line, flow_at(t, end_of(d, data + d->t.burst), FLOW_W_DRAM_LATENCY))));
}

// Writes whose command comes before one in tick `column` get their data; their registers learn of it.
static void write_before(flow_dram *d, uint64_t column) {
  while (d->waits > 0) {
    const uint64_t start = gap_from(d, d->posted[d->first % POSTED].from);
    if (start >= column + d->t.write) {
      if (start != d->gap) expect(d, start, NULL);
      d->gap = start;
      return;
    }
    write_first(d, start);
  }
}

// Its row is opened. Reads that are ready go first, so the data waits; returns the cycle in which the register is free
// as far as is known.
flow_time flow_dram_post(flow_dram *d, const flow_posted *line) {
  if (d->waits == POSTED) write_before(d, FLOW_NEVER - d->t.write);
  const place p = place_of(d, line->sent, line->address, line->bytes, true);
  flow_time t = line->sent;
  session *s = enter_session(d, &p, &t);
  const uint64_t from = wf_max(p.arrival, s->column_from) + d->t.write, start = gap_from(d, from);
  posted *w = make_room(d, from);
  *w = (posted){
      .line = *line, .at = flow_event(d->log, t), .bank = p.bank, .session = (uint32_t)(s - p.bank->of), .from = from};
  hold_row(d, p.bank, s, start, p.ticks, true);
  const flow_time at = w->at;
  if (w == &d->posted[d->first % POSTED]) d->gap = start;
  const uint64_t end = expect(d, d->gap, w);
  return free_behind(d, line, written_in(line, at, end_of(d, end)));
}

// The first tick in which a column command could come, as things are.
static uint64_t column_of(flow_dram *d, const place *p) {
  const session *s = session_of(d, p->bank, p->row, p->arrival);
  if (s != NULL) return wf_max(p->arrival, s->column_from);
  return wf_max(p->arrival, p->bank->free) + d->t.activate;
}

flow_time flow_dram_ask(flow_dram *d, flow_time t, uint64_t address, uint32_t bytes, bool write) {
  const place p = place_of(d, t, address, bytes, write);
  if (d->waits > 0) write_before(d, column_of(d, &p));
  return transact(d, t, &p, write);
}
