// SPDX-License-Identifier: Apache-2.0
// Reservation station (hw/rtl/weft_reservation_station.sv): holds commands until what they depend on is done, one file
// of entries for each class.
//
// The hardware keeps two bit matrices: which entry waits for the issue of which, and for the completion of which. Here
// they are
//   issue       a queue per class, as every entry waits for the issue of all older ones of its class
//   completion  in each entry a count of what it waits for, and a mask of the entries that wait for it
// so a step costs nothing for entries that wait. An entry leaves the issue queue in the cycle in which it issues, and
// its place in the file when it completes; room is that of the start of the cycle, so a freed place is remembered until
// the next one.
//
// An array with sync.by tokens has none: token_queues.c takes its place behind the same functions.
//
// Order within a cycle: what can issue is looked at first (a completion of this cycle lets others issue in the next
// one), then come the completion port, the issues and, from the front end, the allocation. The records of a cycle are
// told when the front end is through (cycle_station_tell).
#include "sim/cycle/reservation_station.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/number.h"
#include "isa/isa_fields.h"
#include "sim/cycle/command_rows.h"
#include "sim/cycle/execute_controller.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/station_records.h"
#include "sim/cycle/store_controller.h"
#include "sim/cycle/token_queues.h"

enum { ENTRIES_MAX = 64 };

typedef struct entry {
  cycle_issue command;
  uint64_t dependents[SIM_CLASSES];  // entries that wait for the completion of this one
  uint32_t index;                    // in the order of allocation
  uint8_t waits;                     // completions until it may issue
  bool completes_at_issue;
  bool from_matmul, from_conv;
} entry;

// How a range of rows is used: an entry writes at most one and reads at most two. By use and memory.
typedef enum { WRITES, READS, READS_TOO, USES } use;
enum { MEMORIES = 2 };

typedef struct file {
  uint64_t valid;
  uint64_t freed;  // in the cycle in which any entry became free last
  uint64_t all;
  uint64_t users[MEMORIES][USES];  // entries, valid or not, whose last command uses rows in this way
  entry *entries;
  cycle_row_range *ranges[USES];  // by entry
  uint8_t first, waiting;         // the queue of entries that have not issued
  uint8_t order[ENTRIES_MAX];     // a ring
} file;

typedef struct cycle_station {
  uint8_t issuable;   // by class: the oldest entry that has not issued waits for nothing
  uint64_t freed_at;  // cycle in which an entry became free last + 1
  cycle_records records;
  file files[SIM_CLASSES];
  uint64_t allocated_at;  // cycle of the last allocation + 1
  sim_class allocated_class;
  uint32_t allocated;
  cycle_row_config config;
  bool max_pool, pixel_repeat, stores_in_order;
  uint8_t row_bits;
} cycle_station;

static uint64_t bit(unsigned id) { return UINT64_C(1) << id; }

static unsigned take_lowest(uint64_t *mask) {
  unsigned id = (unsigned)__builtin_ctzll(*mask);
  *mask &= *mask - 1;
  return id;
}

// ---- life

static void create_file(file *f, uint32_t entries) {
  f->all = entries == ENTRIES_MAX ? UINT64_MAX : bit(entries) - 1;
  f->entries = WF_NEW_ARRAY(entries, entry);
  for (unsigned u = 0; u < USES; u++) f->ranges[u] = WF_NEW_ARRAY(entries, cycle_row_range);
}

void cycle_station_create(cycle_engine *c) {
  if (c->array->sync.by == HW_SYNC_TOKENS) {
    cycle_tokens_create(c);
    return;
  }
  cycle_station *s = c->station = WF_NEW(cycle_station);
  create_file(&s->files[SIM_CLASS_LOAD], c->array->load.reservation_entries);
  create_file(&s->files[SIM_CLASS_EXECUTE], c->array->execute.reservation_entries);
  create_file(&s->files[SIM_CLASS_STORE], c->array->store.reservation_entries);
  s->row_bits = (uint8_t)c->d.row_bits;
  s->max_pool = c->array->units.max_pool;
  s->pixel_repeat = c->array->units.pixel_repeat;
  s->stores_in_order = c->array->store.order == HW_STORE_ORDER_COMPLETED;
}

void cycle_station_destroy(cycle_engine *c) {
  cycle_tokens_destroy(c);
  if (c->station == NULL) return;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    file *f = &c->station->files[unit];
    wf_free(f->entries);
    for (unsigned u = 0; u < USES; u++) wf_free(f->ranges[u]);
  }
  wf_free(c->station);
}

// ---- completion and issue

static bool is_issuable(const file *f) { return f->waiting > 0 && f->entries[f->order[f->first]].waits == 0; }

static void look_at_oldest(cycle_engine *c, uint64_t now, unsigned unit) {
  const file *f = &c->station->files[unit];
  bool issuable = is_issuable(f);
  c->issuable = (uint8_t)((c->issuable & ~(1u << unit)) | (unsigned)issuable << unit);
  if (!issuable) return;
  uint64_t at = now + 1;
  if (unit == SIM_CLASS_EXECUTE) at = wf_max(at, cycle_execute_ready_at(c));
  if (at < c->wake[CYCLE_STATION]) c->wake[CYCLE_STATION] = at;
}

static void release(cycle_engine *c, uint64_t now, const entry *done) {
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    uint64_t dependents = done->dependents[unit];
    if (dependents == 0) continue;
    while (dependents != 0) c->station->files[unit].entries[take_lowest(&dependents)].waits--;
    look_at_oldest(c, now, unit);
  }
}

bool cycle_station_freed(const cycle_engine *c, uint64_t now) {
  return c->tokens != NULL ? cycle_tokens_freed(c, now) : c->station->freed_at == now + 1;
}

static void note_free(cycle_engine *c, uint64_t now, file *f, unsigned id) {
  cycle_station *s = c->station;
  if (!cycle_station_freed(c, now))
    for (unsigned unit = 0; unit < SIM_CLASSES; unit++) s->files[unit].freed = 0;
  s->freed_at = now + 1;
  f->freed |= bit(id);
}

static void complete(cycle_engine *c, uint64_t now, sim_class unit, unsigned id) {
  cycle_station *s = c->station;
  file *f = &s->files[unit];
  const entry *e = &f->entries[id];
  assert((f->valid & bit(id)) != 0);
  f->valid &= ~bit(id);
  note_free(c, now, f, id);
  release(c, now, e);
  if (e->from_matmul) c->w.matmul_completed[unit]++;
  if (e->from_conv) c->w.conv_completed[unit]++;
}

static void complete_at_port(cycle_engine *c, uint64_t now, sim_class unit) {
  unsigned id = c->w.done[unit].id;
  if (c->sink.event != NULL) cycle_records_done(&c->station->records, unit, c->station->files[unit].entries[id].index);
  complete(c, now, unit, id);
}

// One completion per cycle; execute cannot wait, load and store can.
static void completion_port(cycle_engine *c, uint64_t now) {
  const cycle_done *done = c->w.done;
  if (done[SIM_CLASS_EXECUTE].valid) {
    complete_at_port(c, now, SIM_CLASS_EXECUTE);
  } else if (done[SIM_CLASS_LOAD].valid) {
    complete_at_port(c, now, SIM_CLASS_LOAD);
    cycle_load_done_taken(c, now);
  } else if (done[SIM_CLASS_STORE].valid) {
    complete_at_port(c, now, SIM_CLASS_STORE);
    cycle_store_done_taken(c);
  }
}

// The classes of which a command issues in this cycle.
static unsigned issues(const cycle_engine *c, uint64_t now) {
  unsigned able = c->issuable, classes = 0;
  if ((able & 1u << SIM_CLASS_LOAD) != 0 && cycle_load_ready(c, now)) classes |= 1u << SIM_CLASS_LOAD;
  if ((able & 1u << SIM_CLASS_EXECUTE) != 0 && cycle_execute_ready(c, now)) classes |= 1u << SIM_CLASS_EXECUTE;
  if ((able & 1u << SIM_CLASS_STORE) != 0 && cycle_store_ready(c, now)) classes |= 1u << SIM_CLASS_STORE;
  return classes;
}

static void issue(cycle_engine *c, uint64_t now, sim_class unit) {
  static void (*const take[SIM_CLASSES])(cycle_engine *, uint64_t, const cycle_issue *) = {
      [SIM_CLASS_LOAD] = cycle_load_take,
      [SIM_CLASS_EXECUTE] = cycle_execute_take,
      [SIM_CLASS_STORE] = cycle_store_take};
  cycle_station *s = c->station;
  file *f = &s->files[unit];
  unsigned id = f->order[f->first];
  f->first = (uint8_t)((f->first + 1) % ENTRIES_MAX);
  f->waiting--;
  const entry *e = &f->entries[id];
  if (c->sink.event != NULL) cycle_records_issued(&s->records, unit, e->index);
  take[unit](c, now, &e->command);
  if (e->completes_at_issue) complete(c, now, unit, id);
  look_at_oldest(c, now, unit);
}

void cycle_station_room(cycle_engine *c, uint64_t now) {
  if (c->tokens != NULL) {
    cycle_tokens_room(c, now);
    return;
  }
  if ((c->issuable >> SIM_CLASS_EXECUTE & 1) != 0) look_at_oldest(c, now, SIM_CLASS_EXECUTE);
}

// valid_q != 0, but for a single preload whose compute has not come.
static bool busy(const cycle_station *s, bool solitary_preload) {
  uint64_t loads = s->files[SIM_CLASS_LOAD].valid, products = s->files[SIM_CLASS_EXECUTE].valid;
  uint64_t stores = s->files[SIM_CLASS_STORE].valid;
  if ((loads | products | stores) == 0) return false;
  if (!solitary_preload || (loads | stores) != 0 || (products & (products - 1)) != 0) return true;
  unsigned id = (unsigned)__builtin_ctzll(products);
  return s->files[SIM_CLASS_EXECUTE].entries[id].command.insn != ISA_PRELOAD;
}

bool cycle_station_busy(const cycle_engine *c) {
  const bool solitary = cycle_execute_solitary_preload(c);
  return c->tokens != NULL ? cycle_tokens_busy(c, solitary) : busy(c->station, solitary);
}

bool cycle_station_step(cycle_engine *c, uint64_t now) {
  if (c->tokens != NULL) return cycle_tokens_step(c, now);
  const cycle_done *done = c->w.done;
  if (c->counting && busy(c->station, c->w.solitary_preload)) cycle_event(c, ISA_EVENT_STATION_BUSY);
  c->wake[CYCLE_STATION] = CYCLE_NEVER;
  unsigned issuing = c->issuable == 0 ? 0 : issues(c, now);
  if (issuing != 0 || (done[0].valid | done[1].valid | done[2].valid) != 0) {
    completion_port(c, now);
    for (unsigned unit = 0; issuing >> unit != 0; unit++)
      if ((issuing >> unit & 1) != 0) issue(c, now, (sim_class)unit);
  }
  cycle_station_room(c, now);
  return (issuing >> SIM_CLASS_STORE & 1) != 0;
}

// ---- allocation

sim_class cycle_station_class(isa_id insn) {
  static const uint8_t class_of[ISA_UNIT_COUNT] = {
      [ISA_UNIT_EXECUTE] = SIM_CLASS_EXECUTE, [ISA_UNIT_LOAD] = SIM_CLASS_LOAD,     [ISA_UNIT_STORE] = SIM_CLASS_STORE,
      [ISA_UNIT_FRONT] = SIM_CLASSES,         [ISA_UNIT_LOOP_MATMUL] = SIM_CLASSES, [ISA_UNIT_LOOP_CONV] = SIM_CLASSES,
      [ISA_UNIT_COUNTER] = SIM_CLASSES};
  return class_of[isa_insn_at(insn)->unit];
}

static bool is_config(isa_id insn) { return isa_configures(isa_insn_at(insn)->funct); }

static uint64_t free_entries(const cycle_engine *c, uint64_t now, const file *f) {
  return f->all & ~(f->valid | (cycle_station_freed(c, now) ? f->freed : 0));
}

// The entries among `users` whose range in `ranges` shares rows with this one.
static uint64_t sharing(uint64_t users, const cycle_row_range *ranges, cycle_row_range rows) {
  uint64_t found = 0;
  while (users != 0) {
    unsigned id = take_lowest(&users);
    found |= (uint64_t)cycle_rows_overlap(ranges[id], rows) << id;
  }
  return found;
}

static unsigned memory_of(const cycle_station *s, cycle_row_range rows) { return rows.first >> s->row_bits; }

// The entries of a file that use rows in a way that a command with this use of them has to wait for.
static uint64_t conflicts(const cycle_station *s, const file *f, cycle_row_range rows, bool writes) {
  if (rows.end == 0) return 0;
  const uint64_t *users = f->users[memory_of(s, rows)];
  uint64_t found = sharing(f->valid & users[WRITES], f->ranges[WRITES], rows);
  if (!writes) return found;
  found |= sharing(f->valid & users[READS], f->ranges[READS], rows);
  return found | sharing(f->valid & users[READS_TOO], f->ranges[READS_TOO], rows);
}

static void depend(file *on, uint64_t mask, sim_class unit, unsigned id, entry *e) {
  for (; mask != 0; e->waits++) on->entries[take_lowest(&mask)].dependents[unit] |= bit(id);
}

// The entries of a file that write rows which a command reads.
static uint64_t read_conflicts(const cycle_station *s, const file *f, const cycle_rows *rows) {
  return (rows->a_writes ? 0 : conflicts(s, f, rows->a, false)) | conflicts(s, f, rows->b, false);
}

// Conflicts inside the load and the execute class are the controllers' business; stores write in their order.
static void find_dependencies(cycle_station *s, sim_class unit, unsigned id, const cycle_rows *rows) {
  entry *e = &s->files[unit].entries[id];
  for (unsigned other = 0; other < SIM_CLASSES; other++) {
    file *f = &s->files[other];
    if (f->valid == 0 || (other == unit && unit != SIM_CLASS_STORE)) continue;
    uint64_t mask = other == unit ? read_conflicts(s, f, rows)
                                  : conflicts(s, f, rows->a, rows->a_writes) | conflicts(s, f, rows->b, false);
    if (other == unit && s->stores_in_order) mask = f->valid;
    if (mask != 0) depend(f, mask, unit, id, e);
  }
}

static void use_rows(const cycle_station *s, file *f, unsigned id, use how, cycle_row_range rows) {
  if (rows.end == 0) return;
  f->ranges[how][id] = rows;
  f->users[memory_of(s, rows)][how] |= bit(id);
}

// Those of an older command in this entry are forgotten only now: conflicts are looked for among valid entries.
static void remember_rows(const cycle_station *s, file *f, unsigned id, const cycle_rows *rows) {
  uint64_t others = ~bit(id);
  for (unsigned memory = 0; memory < MEMORIES; memory++)
    for (unsigned how = 0; how < USES; how++) f->users[memory][how] &= others;
  use_rows(s, f, id, rows->a_writes ? WRITES : READS, rows->a);
  use_rows(s, f, id, READS_TOO, rows->b);
}

static void enqueue(cycle_engine *c, uint64_t now, sim_class unit, unsigned id) {
  file *f = &c->station->files[unit];
  f->order[(f->first + f->waiting) % ENTRIES_MAX] = (uint8_t)id;
  f->valid |= bit(id);
  if (f->waiting++ == 0) look_at_oldest(c, now, unit);
}

static void allocate(cycle_engine *c, uint64_t now, const cycle_front_command *from, sim_class unit, unsigned id) {
  cycle_station *s = c->station;
  file *f = &s->files[unit];
  uint64_t rs1 = from->rs1, rs2 = from->rs2;
  bool configures = is_config(from->insn);
  f->entries[id] = (entry){.command = {.insn = from->insn, .id = (uint8_t)id, .rs1 = rs1, .rs2 = rs2},
                           .index = s->allocated++,
                           .completes_at_issue = configures && unit != SIM_CLASS_EXECUTE,
                           .from_matmul = from->from_matmul,
                           .from_conv = from->from_conv};
  cycle_rows rows = cycle_command_rows(&c->d, s->pixel_repeat, &s->config, from->insn, rs1, rs2);
  if (configures) cycle_command_rows_configure(&s->config, s->max_pool, from->insn, rs1, rs2);
  find_dependencies(s, unit, id, &rows);
  remember_rows(s, f, id, &rows);
  enqueue(c, now, unit, id);
}

bool cycle_station_full(const cycle_engine *c, sim_class unit) {
  if (c->tokens != NULL) return cycle_tokens_full(c, unit);
  const file *f = &c->station->files[unit];
  return f->valid == f->all;
}

bool cycle_station_take(cycle_engine *c, uint64_t now, const cycle_front_command *command, sim_class *unit) {
  cycle_station *s = c->station;
  *unit = cycle_station_class(command->insn);
  assert(*unit != SIM_CLASSES && "the checker lets no other command pass");
  if (c->tokens != NULL) return cycle_tokens_take(c, now, command, *unit);
  const file *f = &s->files[*unit];
  uint64_t room = free_entries(c, now, f);
  if (room == 0) return false;
  unsigned id = take_lowest(&room);
  allocate(c, now, command, *unit, id);
  if (c->sink.event != NULL) cycle_records_allocated(&s->records, s->allocated - 1, command);
  s->allocated_at = now + 1;
  s->allocated_class = *unit;
  return true;
}

void cycle_station_counts(const cycle_engine *c, uint64_t now, unsigned counts[SIM_CLASSES]) {
  if (c->tokens != NULL) {
    cycle_tokens_counts(c, now, counts);
    return;
  }
  const cycle_station *s = c->station;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    const file *f = &s->files[unit];
    counts[unit] = (unsigned)__builtin_popcountll(f->valid);
    if (cycle_station_freed(c, now)) counts[unit] += (unsigned)__builtin_popcountll(f->freed);
    if (s->allocated_at > now && s->allocated_class == (sim_class)unit) counts[unit]--;
  }
}

void cycle_station_tell(cycle_engine *c, uint64_t now) {
  cycle_records_tell(c, now, c->tokens != NULL ? cycle_tokens_records(c) : &c->station->records);
}
