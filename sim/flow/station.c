// SPDX-License-Identifier: Apache-2.0
// The reservation station as times: hw/rtl/weft_reservation_station.sv, sim/cycle/reservation_station.c.
//
//   enters   in the cycle behind that in which the first entry of its class became free       (ROOM)
//   issues   max(enters + 1, issue of the command before in its class + 1,
//                1 + the cycle in which the command `queue` before left its unit's queue,     (ORDER)
//                1 + the end of each older command whose rows it shares, one of them writing) (ROWS)
// With tokens in place of the station a command waits for those that pushed what it pops, and for all older ones of
// their units (ROWS, in place of the comparison); that places are given back in order is left out.
//
// An entry whose issue waits for ends that are not known counts them; whoever ends tells those that wait.
#include "sim/flow/station.h"

#include <string.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/flow/counts.h"
#include "sim/flow/front.h"
#include "sim/flow/operands.h"
#include "sim/flow/units.h"

static uint64_t bit(unsigned slot) { return UINT64_C(1) << slot; }

static sim_class class_of(isa_id insn) {
  switch (isa_insn_at(insn)->unit) {
    case ISA_UNIT_LOAD:
      return SIM_CLASS_LOAD;
    case ISA_UNIT_EXECUTE:
      return SIM_CLASS_EXECUTE;
    case ISA_UNIT_STORE:
      return SIM_CLASS_STORE;
    default:
      return SIM_CLASSES;
  }
}

void flow_station_create(flow_engine *e) {
  const hw_array *a = e->array;
  if (a->sync.by == HW_SYNC_TOKENS) e->tokens = WF_NEW(flow_tokens);
  enum { UNROLLER = 2 };
  flow_file *f = e->files;
  f[SIM_CLASS_LOAD].entries = a->load.reservation_entries;
  f[SIM_CLASS_EXECUTE].entries = a->execute.reservation_entries;
  f[SIM_CLASS_STORE].entries = a->store.reservation_entries;
  f[SIM_CLASS_LOAD].queue = a->load.queue;
  f[SIM_CLASS_EXECUTE].queue = a->execute.queue + UNROLLER;
  f[SIM_CLASS_STORE].queue = a->store.queue;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    for (uint32_t n = 0; n < f[unit].entries; n++) f[unit].by_end[n] = (uint8_t)n;
    f[unit].ends = f[unit].entries;
    while (f[unit].ring <= f[unit].entries + f[unit].queue) f[unit].ring = 2 * f[unit].ring + 1;
  }
  for (unsigned insn = 0; insn < ISA_ID_COUNT; insn++) {
    e->class_of[insn] = (uint8_t)class_of((isa_id)insn);
    e->configures[insn] = isa_insn_at((isa_id)insn)->funct == ISA_FUNCT_CONFIG_EX;
  }
}

// ---- issue

static bool queue_has_room(const flow_file *f) { return f->issued - f->left < f->queue; }

// With one more in the queue the command would wait for the one before that it waits for.
static flow_time queue_event(flow_engine *e, const flow_file *f, sim_class unit, flow_time at, flow_time others) {
  const uint32_t n = f->issued;
  const flow_time room = flow_after(f->leave[(n - f->queue) & f->ring], 1, FLOW_W_QUEUE_LOAD + (flow_weight)unit);
  if (flow_cycle(room) <= flow_cycle(at)) return flow_event(e->log, at);
  const flow_time before = n == f->queue ? (flow_time){0} : f->leave[(n - f->queue - 1) & f->ring];
  return flow_event_released(e->log, room, flow_later(others, flow_after(before, 1, FLOW_NO_WEIGHT)));
}

static void find_issue(flow_engine *e, sim_class unit, flow_file *f, unsigned slot) {
  flow_entry *entry = &f->entry[slot];
  flow_time at = flow_later(flow_after(entry->alloc, 1, FLOW_W_ISSUE), entry->ready);
  at = flow_later(at, flow_after(f->last_issue, 1, FLOW_W_ISSUE));
  at = f->issued >= f->queue ? queue_event(e, f, unit, at, at) : flow_event(e->log, at);
  f->of[f->issued++ & f->ring].issue = f->last_issue = at;
  flow_tell(e, SIM_EVENT_ISSUE, unit, entry, flow_cycle(at));
  if (entry->ends_at_issue) flow_station_end(e, unit, slot, at);
}

// Whether the issue of the next command follows.
static inline bool issue_follows(const flow_file *f) {
  if (f->issued == f->allocated || !queue_has_room(f)) return false;
  return f->entry[f->slot[f->issued & f->ring]].waits == 0;
}

// Finds the issue of all commands for which it follows.
static inline void settle(flow_engine *e, sim_class unit, flow_file *f) {
  if (!issue_follows(f)) return;
  do find_issue(e, unit, f, f->slot[f->issued & f->ring]);
  while (issue_follows(f));
  flow_unit_wake(e, unit);
}

static void release(flow_engine *e, flow_entry *entry, flow_time at) {
  uint64_t dependents[SIM_CLASSES];
  memcpy(dependents, entry->dependents, sizeof dependents);
  memset(entry->dependents, 0, sizeof dependents);
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    uint64_t left = dependents[unit];
    if (left == 0) continue;
    for (; left != 0; left &= left - 1) {
      flow_entry *w = &e->files[unit].entry[__builtin_ctzll(left)];
      w->ready = flow_later(w->ready, flow_after(at, 1, FLOW_W_DEPENDENCE));
      w->waits--;
    }
    settle(e, (sim_class)unit, &e->files[unit]);
  }
}

static uint8_t *ends_at(flow_file *f, uint32_t n) { return &f->by_end[(f->ends_first + n) % FLOW_ENTRIES]; }

// Whether it is the first that ends.
static inline bool note_end(flow_file *f, unsigned slot, flow_time at) {
  uint32_t n = f->ends++;
  for (; n > 0 && flow_cycle(f->end[*ends_at(f, n - 1)]) > flow_cycle(at); n--) *ends_at(f, n) = *ends_at(f, n - 1);
  *ends_at(f, n) = (uint8_t)slot;
  if (flow_cycle(at) <= f->asked) {
    f->passed++;
    f->there &= ~bit(slot);
  }
  return n == 0;
}

// The entry that is or becomes free first is used.
static unsigned use_first(flow_file *f) {
  const unsigned slot = f->by_end[f->ends_first];
  f->ends_first = (f->ends_first + 1) % FLOW_ENTRIES;
  f->ends--;
  f->passed -= f->passed > 0;
  f->end[slot] = FLOW_AT_NEVER;
  f->there |= bit(slot);
  return slot;
}

void flow_station_end(flow_engine *e, sim_class unit, unsigned slot, flow_time at) {
  flow_file *f = &e->files[unit];
  flow_entry *entry = &f->entry[slot];
  f->end[slot] = at = flow_event(e->log, at);
  flow_busy_until(e, flow_after(at, 1, FLOW_W_DEPENDENCE));
  if (!entry->ends_at_issue) flow_tell(e, SIM_EVENT_DONE, unit, entry, flow_cycle(at));
  if (entry->from_loop) flow_loops_done(e, unit, entry->from_conv, at);
  const bool first = note_end(f, slot, at);
  if (first && e->front.awaits_room && e->front.kind == unit) flow_front_wake(e);
  if ((entry->dependents[0] | entry->dependents[1] | entry->dependents[2]) != 0) release(e, entry, at);
}

// ---- entry

flow_time flow_station_room(const flow_engine *e, sim_class unit) {
  const flow_file *f = &e->files[unit];
  if (f->ends == 0) return FLOW_AT_NEVER;
  const flow_time first = f->end[f->by_end[f->ends_first]];
  if (flow_cycle(first) == 0) return first;
  return flow_after(first, 1, FLOW_W_STATION_LOAD + (flow_weight)unit);
}

// With one more entry the command would have had the room that the one before waited for. Only the log asks for it.
flow_time flow_station_event(flow_engine *e, sim_class unit, flow_time at) {
#ifdef FLOW_RECORDS
  if (unit == SIM_CLASSES) return flow_event(e->log, at);
  flow_file *f = &e->files[unit];
  const flow_time room = flow_station_room(e, unit), before = f->room_before;
  f->room_before = room;
  return room.bits == at.bits ? flow_event_released(e->log, at, before) : flow_event(e->log, at);
#else
  (void)e;
  (void)unit;
  return at;
#endif
}

// Of `count` entries from `from` on, those that share rows in the given use. A loop for vector instructions: `count` is
// a constant where it matters.
static inline uint32_t sharing_of(const flow_file *f, flow_use use, cycle_row_range rows, uint32_t from,
                                  uint32_t count) {
  static const uint32_t bits[32] = {1U,       1U << 1,  1U << 2,  1U << 3,  1U << 4,  1U << 5,  1U << 6,  1U << 7,
                                    1U << 8,  1U << 9,  1U << 10, 1U << 11, 1U << 12, 1U << 13, 1U << 14, 1U << 15,
                                    1U << 16, 1U << 17, 1U << 18, 1U << 19, 1U << 20, 1U << 21, 1U << 22, 1U << 23,
                                    1U << 24, 1U << 25, 1U << 26, 1U << 27, 1U << 28, 1U << 29, 1U << 30, 1U << 31};
  const int32_t *first = &f->rows_from[use][from], *end = &f->rows_end[use][from];
  const int32_t low = (int32_t)rows.first, high = (int32_t)rows.end;
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) found |= ((first[i] < high) & (low < end[i])) != 0 ? bits[i] : 0;
  return found;
}

// The entries of a file that share rows in the given use, those that have ended included.
static inline uint64_t sharing(const flow_file *f, flow_use use, cycle_row_range rows) {
  if (rows.end == 0 || (f->uses >> use & 1) == 0) return 0;
  if (f->entries <= 8) return sharing_of(f, use, rows, 0, 8);
  if (f->entries <= 16) return sharing_of(f, use, rows, 0, 16);
  return sharing_of(f, use, rows, 0, 32) | (uint64_t)sharing_of(f, use, rows, 32, 32) << 32;
}

// The entries that are there in cycle `at`, which does not go back.
static uint64_t there(flow_file *f, uint64_t at) {
  f->asked = at;
  for (; f->passed < f->ends; f->passed++) {
    const unsigned slot = *ends_at(f, f->passed);
    if (flow_cycle(f->end[slot]) > at) break;
    f->there &= ~bit(slot);
  }
  return f->there;
}

static inline __attribute__((always_inline)) uint64_t conflicts(const flow_file *f, const cycle_rows *rows) {
  const uint64_t found = sharing(f, FLOW_WRITES, rows->a) | sharing(f, FLOW_WRITES, rows->b);
  if (!rows->a_writes) return found;
  return found | sharing(f, FLOW_READS, rows->a) | sharing(f, FLOW_READS_TOO, rows->a);
}

static void depend(flow_file *other, uint64_t mask, sim_class unit, unsigned slot, flow_entry *entry) {
  for (; mask != 0; mask &= mask - 1) {
    const unsigned older = (unsigned)__builtin_ctzll(mask);
    if (!flow_is_never(other->end[older])) {
      entry->ready = flow_later(entry->ready, flow_after(other->end[older], 1, FLOW_W_DEPENDENCE));
      continue;
    }
    other->entry[older].dependents[unit] |= bit(slot);
    entry->waits++;
  }
}

static inline __attribute__((always_inline)) void depend_on(flow_engine *e, sim_class other, uint64_t at,
                                                            sim_class unit, unsigned slot, const cycle_rows *rows) {
  flow_file *f = &e->files[other];
  const uint64_t mask = there(f, at);
  if (mask != 0) depend(f, mask & conflicts(f, rows), unit, slot, &e->files[unit].entry[slot]);
}

// Stores may have to end in their order.
static void depend_on_stores(flow_engine *e, uint64_t at, unsigned slot, const cycle_rows *rows) {
  flow_file *f = &e->files[SIM_CLASS_STORE];
  uint64_t mask = there(f, at) & ~bit(slot);
  if (e->array->store.order != HW_STORE_ORDER_COMPLETED) mask &= conflicts(f, rows);
  depend(f, mask, SIM_CLASS_STORE, slot, &f->entry[slot]);
}

static inline __attribute__((always_inline)) void find_dependencies(flow_engine *e, uint64_t at, sim_class unit,
                                                                    unsigned slot, const cycle_rows *rows) {
  if (unit != SIM_CLASS_LOAD) depend_on(e, SIM_CLASS_LOAD, at, unit, slot, rows);
  if (unit != SIM_CLASS_EXECUTE) depend_on(e, SIM_CLASS_EXECUTE, at, unit, slot, rows);
  if (unit != SIM_CLASS_STORE)
    depend_on(e, SIM_CLASS_STORE, at, unit, slot, rows);
  else
    depend_on_stores(e, at, slot, rows);
}

// The commands of a unit up to number `last` that are there in cycle `at`.
static uint64_t up_to(flow_file *f, uint64_t at, uint32_t last) {
  uint64_t found = 0;
  for (uint64_t left = there(f, at); left != 0; left &= left - 1) {
    const unsigned slot = (unsigned)__builtin_ctzll(left);
    if (f->entry[slot].index <= last) found |= bit(slot);
  }
  return found;
}

static void pop_tokens(flow_engine *e, uint64_t at, sim_class unit, unsigned slot) {
  flow_tokens *t = e->tokens;
  for (unsigned from = 0; from < SIM_CLASSES; from++) {
    if ((t->given.pops >> from & 1) == 0) continue;
    const uint32_t last = t->pushed[from][unit][t->oldest[from][unit]++ % FLOW_TOKENS];
    t->waiting[from][unit]--;
    depend(&e->files[from], up_to(&e->files[from], at, last), unit, slot, &e->files[unit].entry[slot]);
  }
}

static void push_tokens(flow_engine *e, sim_class unit, uint32_t index) {
  flow_tokens *t = e->tokens;
  for (unsigned to = 0; to < SIM_CLASSES; to++)
    if ((t->given.pushes >> to & 1) != 0)
      t->pushed[unit][to][(t->oldest[unit][to] + t->waiting[unit][to]++) % FLOW_TOKENS] = index;
}

static inline void keep_use(flow_file *f, unsigned slot, flow_use use, cycle_row_range rows) {
  f->rows_from[use][slot] = (int32_t)rows.first;
  f->rows_end[use][slot] = (int32_t)rows.end;
}

static inline void keep_rows(flow_file *f, unsigned slot, const cycle_rows *rows) {
  const flow_use use = rows->a_writes ? FLOW_WRITES : FLOW_READS, none = rows->a_writes ? FLOW_READS : FLOW_WRITES;
  keep_use(f, slot, use, rows->a);
  f->rows_end[none][slot] = 0;
  keep_use(f, slot, FLOW_READS_TOO, rows->b);
  f->uses |= UINT32_C(1) << use | (rows->b.end == 0 ? 0 : UINT32_C(1) << FLOW_READS_TOO);
}

// With the tokens that it came with.
static void keep_alloc(flow_engine *e, const flow_entry *entry, const cycle_front_command *command) {
  const isa_insn *insn = isa_insn_at(command->insn);
  cycle_front_command whole = *command;
  if (e->tokens != NULL && insn->tokens != 0) whole.rs2 = arch_tokens_set(insn, whole.rs2, e->tokens->given);
  flow_keep_alloc(e, entry, &whole);
}

// A new entry, the one that is or becomes free first, waits for what it has to and may issue.
static inline __attribute__((always_inline)) void add_entry(flow_engine *e, flow_time at, sim_class unit,
                                                            const cycle_front_command *command, const cycle_rows *rows,
                                                            bool config) {
  flow_file *f = &e->files[unit];
  const unsigned slot = f->by_end[f->ends_first];
  flow_entry *entry = &f->entry[slot];
  entry->alloc = at;
  entry->ready = (flow_time){0};
  entry->index = e->index++;
  entry->waits = 0;
  entry->ends_at_issue = config && unit != SIM_CLASS_EXECUTE;
  entry->from_loop = command->from_matmul || command->from_conv;
  entry->from_conv = command->from_conv;
  if (e->tokens == NULL) {
    find_dependencies(e, flow_cycle(at), unit, slot, rows);
  } else {
    pop_tokens(e, flow_cycle(at), unit, slot);
    push_tokens(e, unit, entry->index);
  }
  use_first(f);
  keep_rows(f, slot, rows);
  f->of[f->allocated & f->ring].command = *command;
  f->slot[f->allocated++ & f->ring] = (uint8_t)slot;
  if (e->sink.event != NULL) keep_alloc(e, entry, command);
  settle(e, unit, f);
}

// `preload` is a constant where it is called.
static inline __attribute__((always_inline)) void enter_product(flow_engine *e, flow_time at,
                                                                const cycle_front_command *command, bool preload) {
  const flow_file *f = &e->files[SIM_CLASS_EXECUTE];
  flow_operand *operands = e->files[SIM_CLASS_EXECUTE].of[f->allocated & f->ring].operand;
  const cycle_rows rows = flow_take_apart(e, command, preload, operands);
  add_entry(e, at, SIM_CLASS_EXECUTE, command, &rows, false);
}

static __attribute__((noinline)) void enter_other(flow_engine *e, flow_time at, sim_class unit,
                                                  const cycle_front_command *command) {
  const bool config = e->configures[command->insn];
  const hw_array *a = e->array;
  const cycle_rows rows =
      cycle_command_rows(&e->d, a->units.pixel_repeat, &e->rows, command->insn, command->rs1, command->rs2);
  if (config) {
    cycle_command_rows_configure(&e->rows, a->units.max_pool, command->insn, command->rs1, command->rs2);
    if (command->insn == ISA_CONFIG_EX) flow_shapes_forget(e);
  }
  add_entry(e, at, unit, command, &rows, config);
  flow_counts_command(e, command);
}

static void enter(flow_engine *e, flow_time at, sim_class unit, const cycle_front_command *command) {
  if (!flow_is_product(command->insn))
    enter_other(e, at, unit, command);
  else if (command->insn == ISA_PRELOAD)
    enter_product(e, at, command, true);
  else
    enter_product(e, at, command, false);
}

void flow_station_enter(flow_engine *e, flow_time at, sim_class unit, const cycle_front_command *command) {
  if (e->tokens == NULL) {
    enter(e, at, unit, command);
    return;
  }
  const isa_insn *insn = isa_insn_at(command->insn);
  cycle_front_command plain = *command;
  e->tokens->given = arch_tokens_of(insn, command->rs2);
  plain.rs2 &= ~insn->tokens;
  enter(e, at, unit, &plain);
}

// ---- what units see of it

const flow_issue *flow_station_head(const flow_engine *e, sim_class unit, unsigned place) {
  const flow_file *f = &e->files[unit];
  if (f->issued - f->taken <= place) return NULL;
  return &f->of[(f->taken + place) & f->ring];
}

unsigned flow_station_take(flow_engine *e, sim_class unit) {
  flow_file *f = &e->files[unit];
  return f->slot[f->taken++ & f->ring];
}

void flow_station_leave(flow_engine *e, sim_class unit, flow_time at) {
  flow_file *f = &e->files[unit];
  f->leave[f->left++ & f->ring] = flow_event(e->log, at);
  settle(e, unit, f);
}
