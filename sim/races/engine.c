// SPDX-License-Identifier: Apache-2.0
// The engine `races`: see races.h. Each command is taken apart into its primitives; each of them gets its clock, is
// compared with those that it may meet, and is carried out by the reference engine, whose accesses of main memory are
// the primitive's own.
//
// A primitive can meet, in local memory, as many commands of another unit as the station holds; in main memory, all
// since the last fence (bytes.h).
#include <assert.h>

#include "arch/check.h"
#include "arch/settle.h"
#include "arch/tokens.h"
#include "base/alloc.h"
#include "sim/cycle/command_rows.h"
#include "sim/races/bytes.h"
#include "sim/races/pairs.h"
#include "sim/races/races.h"
#include "sim/races/rows.h"
#include "sim/ref/ref.h"

const char *const races_unit_names[RACES_UNITS] = {"hart", "load", "execute", "store", "memory"};
const char *const races_place_names[RACES_PLACES] = {"memory", "scratchpad", "accumulator"};

enum { UNITS = 3, ROOM = 1024, TOKENS = 512 };  // more than a counter holds and a preload keeps back
static const races_unit units[UNITS] = {RACES_LOAD, RACES_EXECUTE, RACES_STORE};

// A primitive that may still be in the station.
typedef struct entry {
  races_access access;
  uint64_t unit_number;  // of its unit, from 1
  races_clock clock;     // what certainly came before its start
  cycle_rows compared;   // by a station
  races_touched touched;
} entry;

// The last ones of a unit, a ring.
typedef struct window {
  entry *entries;
  uint32_t size;
  uint64_t count;  // of the unit, ever
} window;

// One that touched main memory since the last fence.
typedef struct record {
  races_access access;
  uint64_t unit_number;
} record;

typedef struct races_engine {
  sim_engine base;
  const hw_array *array;
  arch_memory *memory;
  hw_derived derived;
  sim_engine *ref;
  arch_checker *checker;
  arch_fault fault;
  arch_settling settling;
  unsigned ignored;  // orders
  cycle_row_config compared;
  races_clock *pushed[ARCH_UNITS][ARCH_UNITS];  // by giver and taker: what the tokens that wait tell, a ring
  uint32_t oldest[ARCH_UNITS][ARCH_UNITS], waiting[ARCH_UNITS][ARCH_UNITS];
  window windows[RACES_UNITS];  // of the three units
  races_clock fenced;           // at the last fence
  bool loops;                   // a loop command came since then
  uint64_t *rows_of_stores;     // of the first n stores
  size_t store_room;
  races_pages pages;
  record *records;
  size_t record_count, record_room;
  races_pairs pairs;
  const arch_command *program;  // the command that is taken apart
  entry *now;                   // the primitive that is carried out
  uint64_t rows_now;            // that it wrote to main memory
  uint64_t response;
  uint64_t hart_number, hart_pc;
  bool hart_writes;
  races_report report;
} races_engine;

static races_engine *of(sim_engine *engine) { return (races_engine *)engine; }

static uint64_t newer(uint64_t a, uint64_t b) { return a > b ? a : b; }

// ---- what certainly comes before

static void wait_for_room(const races_engine *r, races_clock *clock) {
  if (r->loops || (r->ignored & RACES_ROOM) != 0) return;
  for (int u = 0; u < UNITS; u++) {
    const window *w = &r->windows[units[u]];
    if (w->count > w->size) clock->of[units[u]] = newer(clock->of[units[u]], w->count - w->size);
  }
}

static bool conflict(const cycle_rows *a, const cycle_rows *b) {
  return ((a->a_writes || b->a_writes) && cycle_rows_overlap(a->a, b->a)) ||
         (a->a_writes && cycle_rows_overlap(a->a, b->b)) || (b->a_writes && cycle_rows_overlap(a->b, b->a));
}

// The entries of a unit that may be in the station, the newest first: n of 0, 1, ..
static entry *entry_at(const window *w, uint64_t n) {
  if (n >= w->size || n >= w->count) return NULL;
  return &w->entries[(w->count - 1 - n) % w->size];
}

static void wait_in_station(const races_engine *r, const entry *e, races_clock *clock) {
  if ((r->ignored & RACES_STATION) != 0) return;
  for (int u = 0; u < UNITS; u++) {
    if (units[u] == e->access.unit) continue;
    const entry *other;
    for (uint64_t n = 0; (other = entry_at(&r->windows[units[u]], n)) != NULL; n++) {
      if (other->unit_number <= clock->of[units[u]]) break;
      if (!conflict(&other->compared, &e->compared)) continue;
      races_clock_join(clock, &other->clock);
      clock->of[units[u]] = newer(clock->of[units[u]], other->unit_number);
    }
  }
}

// On an array with tokens: what those that it pops tell.
static void wait_for_tokens(races_engine *r, const entry *e, races_clock *clock) {
  const arch_command *p = &e->access.primitive;
  const unsigned to = arch_unit_of(p->insn), pops = arch_tokens_of(p->insn, p->rs2).pops;
  for (unsigned from = 0; from < ARCH_UNITS; from++) {
    if ((pops >> from & 1) == 0) continue;
    const uint32_t at = r->oldest[from][to]++ % TOKENS;
    r->waiting[from][to]--;
    if ((r->ignored & RACES_STATION) == 0) races_clock_join(clock, &r->pushed[from][to][at]);
  }
}

// That it and all older commands of its unit are done.
static void push_tokens(races_engine *r, const entry *e) {
  const arch_command *p = &e->access.primitive;
  const unsigned from = arch_unit_of(p->insn), pushes = arch_tokens_of(p->insn, p->rs2).pushes;
  for (unsigned to = 0; to < ARCH_UNITS; to++) {
    if ((pushes >> to & 1) == 0) continue;
    assert(r->waiting[from][to] < TOKENS);
    races_clock *told = &r->pushed[from][to][(r->oldest[from][to] + r->waiting[from][to]++) % TOKENS];
    *told = e->clock;
    told->of[e->access.unit] = e->unit_number;
  }
}

// Of stores that are done, those whose rows have left the way to memory.
static uint64_t settled(const races_engine *r, uint64_t done) {
  const uint64_t *rows = r->rows_of_stores;
  uint64_t low = 0, high = done;  // low is settled
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    if (rows[middle] + r->settling.rows <= rows[done])
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static void find_clock(races_engine *r, entry *e) {
  races_clock clock = r->fenced;
  wait_for_room(r, &clock);
  // What a unit's last command waited for, the next one need not wait for; loads of a loop have orders of their own.
  const entry *last = entry_at(&r->windows[e->access.unit], 0);
  if (last != NULL && !(r->loops && e->access.unit == RACES_LOAD)) races_clock_join(&clock, &last->clock);
  if (r->array->sync.by == HW_SYNC_TOKENS)
    wait_for_tokens(r, e, &clock);
  else
    wait_in_station(r, e, &clock);
  if (!r->loops && (r->ignored & RACES_ROOM) == 0)
    clock.of[RACES_MEMORY] = newer(clock.of[RACES_MEMORY], settled(r, clock.of[RACES_STORE]));
  e->clock = clock;
}

// ---- pairs in local memory

static void compare_rows(races_engine *r, const entry *earlier, const entry *later, bool ordered) {
  for (unsigned i = 0; i < earlier->touched.count; i++)
    for (unsigned j = 0; j < later->touched.count; j++) {
      const races_rows *a = &earlier->touched.rows[i], *b = &later->touched.rows[j];
      races_pair pair = {.earlier = earlier->access, .later = later->access, .place = a->place};
      if (!(a->writes || b->writes) || !races_rows_meet(a, b, &pair.first, &pair.end)) continue;
      pair.earlier.writes = a->writes;
      pair.later.writes = b->writes;
      if (ordered)
        r->report.ordered++;
      else
        races_pairs_add(&r->pairs, &pair);
    }
}

static void compare_with_window(races_engine *r, const entry *later) {
  if (later->touched.count == 0) return;
  for (int u = 0; u < UNITS; u++) {
    if (units[u] == later->access.unit) continue;
    const entry *other;
    for (uint64_t n = 0; (other = entry_at(&r->windows[units[u]], n)) != NULL; n++)
      compare_rows(r, other, later, other->unit_number <= later->clock.of[units[u]]);
  }
}

// ---- pairs in main memory

// A load is done with main memory when it is done; a store when its rows have come there.
static bool comes_before(const record *earlier, const entry *later) {
  const races_unit event = earlier->access.unit == RACES_STORE ? RACES_MEMORY : earlier->access.unit;
  return earlier->unit_number <= later->clock.of[event];
}

static void meet_command(void *context, uint32_t at, uint64_t first, uint64_t end) {
  races_engine *r = context;
  const record *earlier = &r->records[at];
  if (earlier->access.unit == r->now->access.unit) return;
  if (comes_before(earlier, r->now)) {
    r->report.ordered++;
    return;
  }
  races_pair pair = {
      .earlier = earlier->access, .later = r->now->access, .place = RACES_MAIN_MEMORY, .first = first, .end = end};
  races_pairs_add(&r->pairs, &pair);
}

static void meet_hart(void *context, uint32_t at, uint64_t first, uint64_t end) {
  races_engine *r = context;
  const races_pair pair = {.earlier = r->records[at].access,
                           .later = {.unit = RACES_HART,
                                     .writes = r->hart_writes,
                                     .number = r->hart_number,
                                     .command = {.pc = r->hart_pc, .index = r->report.commands}},
                           .place = RACES_MAIN_MEMORY,
                           .first = first,
                           .end = end};
  races_pairs_add(&r->pairs, &pair);
}

static uint32_t record_of(races_engine *r) {
  const entry *e = r->now;
  if (r->record_count != 0 && r->records[r->record_count - 1].access.number == e->access.number)
    return (uint32_t)(r->record_count - 1);
  if (r->record_count == r->record_room) {
    r->record_room *= 2;
    r->records = wf_realloc(r->records, r->record_room, sizeof *r->records);
  }
  r->records[r->record_count] = (record){.access = e->access, .unit_number = e->unit_number};
  return (uint32_t)r->record_count++;
}

static void on_read(void *context, uint64_t address, size_t length) {
  races_engine *r = context;
  r->now->access.writes = false;
  races_pages_meet(&r->pages, address, length, true, meet_command, r);
  races_pages_add(&r->pages, address, length, false, record_of(r));
}

static void on_write(void *context, uint64_t address, const void *bytes, size_t length) {
  (void)bytes;
  races_engine *r = context;
  r->rows_now++;
  r->now->access.writes = true;
  races_pages_meet(&r->pages, address, length, false, meet_command, r);
  races_pages_add(&r->pages, address, length, true, record_of(r));
}

static void hart_touches(sim_engine *engine, uint64_t pc, uint64_t address, unsigned bytes, bool write) {
  races_engine *r = of(engine);
  r->report.hart_accesses++;
  r->hart_number++;
  r->hart_pc = pc;
  r->hart_writes = write;
  races_pages_meet(&r->pages, address, bytes, true, meet_hart, r);
  if (write) races_pages_meet(&r->pages, address, bytes, false, meet_hart, r);
}

// ---- primitives

static races_unit unit_of(const isa_insn *insn) {
  switch (insn->id) {
    case ISA_MVIN:
    case ISA_MVIN2:
    case ISA_MVIN3:
      return RACES_LOAD;
    case ISA_PRELOAD:
    case ISA_COMPUTE_PRELOADED:
    case ISA_COMPUTE_ACCUMULATED:
      return RACES_EXECUTE;
    case ISA_MVOUT:
    case ISA_MVOUT_SPAD_R2:
      return RACES_STORE;
    default:  // it moves nothing
      return RACES_HART;
  }
}

static void carry_out(races_engine *r, const arch_command *primitive) {
  if (r->ref->ops->push(r->ref, 0, primitive, &r->response) != SIM_PUSH_FAULT) return;
  r->fault = *r->ref->ops->fault(r->ref);
  r->fault.command = *r->program;
}

static void note_rows(races_engine *r, uint64_t store, uint64_t rows) {
  if (store == r->store_room) {
    r->store_room *= 2;
    r->rows_of_stores = wf_realloc(r->rows_of_stores, r->store_room, sizeof *r->rows_of_stores);
  }
  r->rows_of_stores[store] = r->rows_of_stores[store - 1] + rows;
}

static void follow(races_engine *r, races_unit unit, const arch_command *primitive) {
  window *w = &r->windows[unit];
  entry e = {
      .access = {.unit = unit, .number = r->report.primitives, .command = *r->program, .primitive = *primitive},
      .unit_number = w->count + 1,
      .compared = cycle_command_rows(&r->derived, r->array->units.pixel_repeat, &r->compared, primitive->insn->id,
                                     primitive->rs1, primitive->rs2 & ~primitive->insn->tokens),
      .touched = races_touched_by(r->array, &r->derived, arch_checker_config(r->checker), primitive)};
  e.access.command.index = r->report.commands;
  find_clock(r, &e);
  compare_with_window(r, &e);
  r->now = &e;
  r->rows_now = 0;
  carry_out(r, primitive);
  r->now = NULL;
  push_tokens(r, &e);
  w->entries[w->count++ % w->size] = e;
  if (unit == RACES_STORE) note_rows(r, w->count, r->rows_now);
}

static void on_primitive(void *context, const arch_command *primitive) {
  races_engine *r = context;
  if (r->fault.kind != ARCH_FAULT_NONE) return;
  if (primitive->insn->id != r->program->insn->id) r->loops = true;
  const races_unit unit = unit_of(primitive->insn);
  if (unit != RACES_HART) {
    follow(r, unit, primitive);
  } else {
    cycle_command_rows_configure(&r->compared, r->array->units.max_pool, primitive->insn->id, primitive->rs1,
                                 primitive->rs2);
    carry_out(r, primitive);
  }
  r->report.primitives++;
}

// ---- the engine

static void create_windows(races_engine *r) {
  const uint32_t sizes[RACES_UNITS] = {[RACES_LOAD] = r->array->load.reservation_entries,
                                       [RACES_EXECUTE] = r->array->execute.reservation_entries,
                                       [RACES_STORE] = r->array->store.reservation_entries};
  for (int from = 0; from < UNITS; from++)
    for (int to = 0; to < UNITS; to++)
      if (from != to) r->pushed[from][to] = WF_NEW_ARRAY((size_t)TOKENS, races_clock);
  for (int u = 0; u < UNITS; u++) {
    window *w = &r->windows[units[u]];
    w->size = sizes[units[u]];
    w->entries = WF_NEW_ARRAY(w->size, entry);
  }
}

static sim_engine *create_with(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                               wf_diag *diag) {
  races_engine *r = WF_NEW(races_engine);
  r->base.ops = &sim_races_engine;
  r->array = array;
  r->memory = memory;
  r->derived = hw_derive(array);
  r->ref = sim_ref_engine.create(array, memory, diag);
  r->checker = arch_checker_create(array, memory);
  r->settling = arch_settling_of(array);
  r->ignored = options == NULL ? 0 : options->ignored_orders;
  create_windows(r);
  r->store_room = r->record_room = ROOM;
  r->rows_of_stores = WF_NEW_ARRAY(r->store_room, uint64_t);
  r->records = WF_NEW_ARRAY(r->record_room, record);
  r->pages = races_pages_begin(memory->size);
  memory->observer = (arch_memory_observer){.context = r, .on_read = on_read, .on_write = on_write};
  return &r->base;
}

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  return create_with(array, memory, NULL, diag);
}

static void destroy(sim_engine *engine) {
  if (engine == NULL) return;
  races_engine *r = of(engine);
  r->memory->observer = (arch_memory_observer){0};
  for (int u = 0; u < UNITS; u++) {
    wf_free(r->windows[units[u]].entries);
    for (int to = 0; to < UNITS; to++) wf_free(r->pushed[u][to]);
  }
  races_pages_end(&r->pages);
  races_pairs_end(&r->pairs);
  wf_free(r->rows_of_stores);
  wf_free(r->records);
  arch_checker_destroy(r->checker);
  r->ref->ops->destroy(r->ref);
  wf_free(r);
}

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  (void)cycle;
  races_engine *r = of(engine);
  if (r->fault.kind != ARCH_FAULT_NONE) return SIM_PUSH_FAULT;
  r->program = command;
  r->response = 0;
  if (!arch_checker_command(r->checker, command, on_primitive, r, &r->fault)) return SIM_PUSH_FAULT;
  if (r->fault.kind != ARCH_FAULT_NONE) return SIM_PUSH_FAULT;
  if (response != NULL) *response = r->response;
  r->report.commands++;
  return SIM_PUSH_DONE;
}

static uint64_t advance(sim_engine *engine, uint64_t cycle) {
  (void)engine, (void)cycle;
  return UINT64_MAX;
}

static bool busy(const sim_engine *engine) {
  (void)engine;
  return false;
}

// The hart waits until the accelerator is idle.
static uint64_t drain(sim_engine *engine, uint64_t cycle) {
  races_engine *r = of(engine);
  r->report.fences++;
  if ((r->ignored & RACES_FENCES) != 0) return cycle;
  for (int u = 0; u < UNITS; u++) r->fenced.of[units[u]] = r->windows[units[u]].count;
  r->fenced.of[RACES_MEMORY] = r->windows[RACES_STORE].count;
  r->fenced.of[RACES_HART] = r->hart_number;
  r->loops = false;
  r->record_count = 0;
  races_pages_forget(&r->pages);
  return cycle;
}

static const arch_fault *fault(const sim_engine *engine) { return &((const races_engine *)engine)->fault; }

void races_report_of(const sim_engine *engine, races_report *report) {
  assert(engine->ops == &sim_races_engine);
  const races_engine *r = (const races_engine *)engine;
  *report = r->report;
  report->races = r->pairs.races;
  report->pairs = r->pairs.item;
  report->count = r->pairs.count;
}

const sim_engine_ops sim_races_engine = {.name = "races",
                                         .summary = "pairs of accesses that nothing orders",
                                         .timed = false,
                                         .create = create,
                                         .destroy = destroy,
                                         .push = push,
                                         .advance = advance,
                                         .busy = busy,
                                         .drain = drain,
                                         .fault = fault,
                                         .create_with = create_with,
                                         .hart_touches = hart_touches};
