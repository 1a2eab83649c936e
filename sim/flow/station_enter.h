// SPDX-License-Identifier: Apache-2.0
// Entry into the station and issue, to be taken in where commands come: station.c has the equations.
#ifndef SIM_FLOW_STATION_ENTER_H
#define SIM_FLOW_STATION_ENTER_H

#include "sim/flow/operands.h"
#include "sim/flow/station_end.h"
#include "sim/flow/units.h"

// ---- issue

// With one more in the queue the command would wait for the one before that it waits for.
static inline flow_time flow_queue_event(flow_engine *e, const flow_file *f, sim_class unit, flow_time at,
                                         flow_time others) {
  const uint32_t n = f->issued;
  const flow_time room = flow_after(f->leave[(n - f->queue) & f->ring], 1, FLOW_W_QUEUE_LOAD + (flow_weight)unit);
  if (flow_cycle(room) <= flow_cycle(at)) return flow_event(e->log, at);
  const flow_time before = n == f->queue ? (flow_time){0} : f->leave[(n - f->queue - 1) & f->ring];
  return flow_event_released(e->log, room, flow_later(others, flow_after(before, 1, FLOW_NO_WEIGHT)));
}

static inline __attribute__((always_inline)) void flow_find_issue(flow_engine *e, sim_class unit, flow_file *f,
                                                                  unsigned slot) {
  flow_entry *entry = &f->entry[slot];
  flow_time at = flow_later(flow_after(entry->alloc, 1, FLOW_W_ISSUE), entry->ready);
  at = flow_later(at, flow_after(f->last_issue, 1, FLOW_W_ISSUE));
  at = f->issued >= f->queue ? flow_queue_event(e, f, unit, at, at) : flow_event(e->log, at);
  f->of[f->issued++ & f->ring].issue = f->last_issue = at;
  flow_tell(e, SIM_EVENT_ISSUE, unit, entry, flow_cycle(at));
  if (entry->ends_at_issue) flow_station_end(e, unit, slot, at);
}

// Finds the issue of all commands for which it follows. Behind two commands another one is nothing to execute yet.
static inline __attribute__((always_inline)) void flow_settle_here(flow_engine *e, sim_class unit, flow_file *f) {
  if (!flow_issue_follows(f)) return;
  const uint32_t before = f->issued - f->taken;
  do flow_find_issue(e, unit, f, f->slot[f->issued & f->ring]);
  while (flow_issue_follows(f));
  if (unit != SIM_CLASS_EXECUTE || before < 2) flow_unit_wake(e, unit);
}

static __attribute__((noinline, unused)) void flow_settle(flow_engine *e, sim_class unit, flow_file *f) {
  flow_settle_here(e, unit, f);
}

// ---- entry

// The entry that is or becomes free first is used.
static inline __attribute__((always_inline)) unsigned flow_use_first(flow_file *f) {
  const unsigned slot = f->by_end[f->ends_first];
  f->ends_first = (f->ends_first + 1) % FLOW_ENTRIES;
  f->ends--;
  f->passed -= f->passed > 0;
  f->end[slot] = FLOW_AT_NEVER;
  f->there |= flow_slot_bit(slot);
  return slot;
}

static inline __attribute__((always_inline)) flow_time flow_station_room(const flow_engine *e, sim_class unit) {
  const flow_file *f = &e->files[unit];
  if (f->ends == 0) return FLOW_AT_NEVER;
  const flow_time first = f->end[f->by_end[f->ends_first]];
  if (flow_cycle(first) == 0) return first;
  return flow_after(first, 1, FLOW_W_STATION_LOAD + (flow_weight)unit);
}

// With one more entry the command would have had the room that the one before waited for. Only the log asks for it.
static inline flow_time flow_station_event(flow_engine *e, sim_class unit, flow_time at) {
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

// Which of `count` entries of the station, from entry `from` on, use rows that the range shares in the given use: one
// bit for each entry. The compiler makes vector instructions of this loop, where callers give a constant `count`; that
// is why bits come from a table, not from shifts.
static inline uint32_t flow_sharing_of(const flow_file *f, flow_use use, cycle_row_range rows, uint32_t from,
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
static inline uint64_t flow_sharing(const flow_file *f, flow_use use, cycle_row_range rows) {
  if (rows.end == 0 || (f->uses >> use & 1) == 0) return 0;
  if (f->entries <= 8) return flow_sharing_of(f, use, rows, 0, 8);
  if (f->entries <= 16) return flow_sharing_of(f, use, rows, 0, 16);
  return flow_sharing_of(f, use, rows, 0, 32) | (uint64_t)flow_sharing_of(f, use, rows, 32, 32) << 32;
}

// The entries that are there in cycle `at`, which does not go back.
static inline __attribute__((always_inline)) uint64_t flow_there(flow_file *f, uint64_t at) {
  f->asked = at;
  for (; f->passed < f->ends; f->passed++) {
    const unsigned slot = *flow_ends_at(f, f->passed);
    if (flow_cycle(f->end[slot]) > at) break;
    f->there &= ~flow_slot_bit(slot);
  }
  return f->there;
}

static inline __attribute__((always_inline)) uint64_t flow_conflicts(const flow_file *f, const cycle_rows *rows) {
  const uint64_t found = flow_sharing(f, FLOW_WRITES, rows->a) | flow_sharing(f, FLOW_WRITES, rows->b);
  if (!rows->a_writes) return found;
  return found | flow_sharing(f, FLOW_READS, rows->a) | flow_sharing(f, FLOW_READS_TOO, rows->a);
}

static inline void flow_depend(flow_file *other, uint64_t mask, sim_class unit, unsigned slot, flow_entry *entry) {
  for (; mask != 0; mask &= mask - 1) {
    const unsigned older = (unsigned)__builtin_ctzll(mask);
    if (!flow_is_never(other->end[older])) {
      entry->ready = flow_later(entry->ready, flow_after(other->end[older], 1, FLOW_W_DEPENDENCE));
      continue;
    }
    other->entry[older].dependents[unit] |= flow_slot_bit(slot);
    entry->waits++;
  }
}

static inline __attribute__((always_inline)) void flow_depend_on(flow_engine *e, sim_class other, uint64_t at,
                                                                 sim_class unit, unsigned slot,
                                                                 const cycle_rows *rows) {
  flow_file *f = &e->files[other];
  const uint64_t mask = flow_there(f, at);
  if (mask != 0) flow_depend(f, mask & flow_conflicts(f, rows), unit, slot, &e->files[unit].entry[slot]);
}

// The entries of a file that write rows which a command reads.
static inline uint64_t flow_read_conflicts(const flow_file *f, const cycle_rows *rows) {
  return (rows->a_writes ? 0 : flow_sharing(f, FLOW_WRITES, rows->a)) | flow_sharing(f, FLOW_WRITES, rows->b);
}

// Stores write in their order, and may have to end in it.
static inline void flow_depend_on_stores(flow_engine *e, uint64_t at, unsigned slot, const cycle_rows *rows) {
  flow_file *f = &e->files[SIM_CLASS_STORE];
  uint64_t mask = flow_there(f, at) & ~flow_slot_bit(slot);
  if (e->array->store.order != HW_STORE_ORDER_COMPLETED) mask &= flow_read_conflicts(f, rows);
  flow_depend(f, mask, SIM_CLASS_STORE, slot, &f->entry[slot]);
}

static inline __attribute__((always_inline)) void flow_find_dependencies(flow_engine *e, uint64_t at, sim_class unit,
                                                                         unsigned slot, const cycle_rows *rows) {
  if (unit != SIM_CLASS_LOAD) flow_depend_on(e, SIM_CLASS_LOAD, at, unit, slot, rows);
  if (unit != SIM_CLASS_EXECUTE) flow_depend_on(e, SIM_CLASS_EXECUTE, at, unit, slot, rows);
  if (unit != SIM_CLASS_STORE)
    flow_depend_on(e, SIM_CLASS_STORE, at, unit, slot, rows);
  else
    flow_depend_on_stores(e, at, slot, rows);
}

static inline __attribute__((always_inline)) void flow_keep_use(flow_file *f, unsigned slot, flow_use use,
                                                                cycle_row_range rows) {
  f->rows_from[use][slot] = (int32_t)rows.first;
  f->rows_end[use][slot] = (int32_t)rows.end;
}

static inline __attribute__((always_inline)) void flow_keep_rows(flow_file *f, unsigned slot, const cycle_rows *rows) {
  const flow_use use = rows->a_writes ? FLOW_WRITES : FLOW_READS, none = rows->a_writes ? FLOW_READS : FLOW_WRITES;
  flow_keep_use(f, slot, use, rows->a);
  f->rows_end[none][slot] = 0;
  flow_keep_use(f, slot, FLOW_READS_TOO, rows->b);
  f->uses |= UINT32_C(1) << use | (rows->b.end == 0 ? 0 : UINT32_C(1) << FLOW_READS_TOO);
}

// A new entry, the one that is or becomes free first, waits for what it has to and may issue.
static inline __attribute__((always_inline)) void flow_add_entry(flow_engine *e, flow_time at, sim_class unit,
                                                                 const cycle_front_command *command,
                                                                 const cycle_rows *rows, bool config) {
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
    flow_find_dependencies(e, flow_cycle(at), unit, slot, rows);
  } else {
    flow_station_pass_tokens(e, flow_cycle(at), unit, slot, entry->index);
  }
  flow_use_first(f);
  flow_keep_rows(f, slot, rows);
  f->of[f->allocated & f->ring].command = *command;
  f->slot[f->allocated++ & f->ring] = (uint8_t)slot;
  if (e->sink.event != NULL) flow_station_keep_alloc(e, entry, command);
  flow_settle_here(e, unit, f);
}

// `preload` is a constant where it is called.
static inline __attribute__((always_inline)) void flow_enter_product(flow_engine *e, flow_time at,
                                                                     const cycle_front_command *command, bool preload) {
  const flow_file *f = &e->files[SIM_CLASS_EXECUTE];
  flow_operand *operands = e->files[SIM_CLASS_EXECUTE].of[f->allocated & f->ring].operand;
  const cycle_rows rows = flow_take_apart(e, command, preload, operands);
  flow_add_entry(e, at, SIM_CLASS_EXECUTE, command, &rows, false);
}

#endif
