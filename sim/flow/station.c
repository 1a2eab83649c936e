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
#include "sim/flow/station_enter.h"
#include "sim/flow/units.h"

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
    e->configures[insn] = isa_configures(isa_insn_at((isa_id)insn)->funct);
  }
}

void flow_station_release(flow_engine *e, flow_entry *entry, flow_time at) {
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
    flow_settle(e, (sim_class)unit, &e->files[unit]);
  }
}

void flow_station_end(flow_engine *e, sim_class unit, unsigned slot, flow_time at) {
  flow_station_ends(e, unit, slot, at);
}

// The commands of a unit up to number `last` that are there in cycle `at`.
static uint64_t up_to(flow_file *f, uint64_t at, uint32_t last) {
  uint64_t found = 0;
  for (uint64_t left = flow_there(f, at); left != 0; left &= left - 1) {
    const unsigned slot = (unsigned)__builtin_ctzll(left);
    if (f->entry[slot].index <= last) found |= flow_slot_bit(slot);
  }
  return found;
}

static void pop_tokens(flow_engine *e, uint64_t at, sim_class unit, unsigned slot) {
  flow_tokens *t = e->tokens;
  for (unsigned from = 0; from < SIM_CLASSES; from++) {
    if ((t->given.pops >> from & 1) == 0) continue;
    const uint32_t last = t->pushed[from][unit][t->oldest[from][unit]++ % FLOW_TOKENS];
    t->waiting[from][unit]--;
    flow_depend(&e->files[from], up_to(&e->files[from], at, last), unit, slot, &e->files[unit].entry[slot]);
  }
}

static void push_tokens(flow_engine *e, sim_class unit, uint32_t index) {
  flow_tokens *t = e->tokens;
  for (unsigned to = 0; to < SIM_CLASSES; to++)
    if ((t->given.pushes >> to & 1) != 0)
      t->pushed[unit][to][(t->oldest[unit][to] + t->waiting[unit][to]++) % FLOW_TOKENS] = index;
}

void flow_station_pass_tokens(flow_engine *e, uint64_t at, sim_class unit, unsigned slot, uint32_t index) {
  pop_tokens(e, at, unit, slot);
  push_tokens(e, unit, index);
}

void flow_station_keep_alloc(flow_engine *e, const flow_entry *entry, const cycle_front_command *command) {
  const isa_insn *insn = isa_insn_at(command->insn);
  cycle_front_command whole = *command;
  if (e->tokens != NULL && insn->tokens != 0) whole.rs2 = arch_tokens_set(insn, whole.rs2, e->tokens->given);
  flow_keep_alloc(e, entry, &whole);
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
  flow_add_entry(e, at, unit, command, &rows, config);
  flow_counts_command(e, command);
}

static __attribute__((noinline)) void enter_preload(flow_engine *e, flow_time at, const cycle_front_command *command) {
  flow_enter_product(e, at, command, true);
}

static __attribute__((noinline)) void enter_compute(flow_engine *e, flow_time at, const cycle_front_command *command) {
  flow_enter_product(e, at, command, false);
}

static inline void enter(flow_engine *e, flow_time at, sim_class unit, const cycle_front_command *command) {
  if (!flow_is_product(command->insn))
    enter_other(e, at, unit, command);
  else if (command->insn == ISA_PRELOAD)
    enter_preload(e, at, command);
  else
    enter_compute(e, at, command);
}

// On an array with tokens, which are taken off the command.
static __attribute__((noinline)) void enter_with_tokens(flow_engine *e, flow_time at, sim_class unit,
                                                        const cycle_front_command *command) {
  const isa_insn *insn = isa_insn_at(command->insn);
  cycle_front_command plain = *command;
  e->tokens->given = arch_tokens_of(insn, command->rs2);
  plain.rs2 &= ~insn->tokens;
  enter(e, at, unit, &plain);
}

void flow_station_enter(flow_engine *e, flow_time at, sim_class unit, const cycle_front_command *command) {
  if (e->tokens != NULL)
    enter_with_tokens(e, at, unit, command);
  else
    enter(e, at, unit, command);
}

// ---- what units see of it

void flow_station_leave(flow_engine *e, sim_class unit, flow_time at) {
  flow_file *f = &e->files[unit];
  f->leave[f->left++ & f->ring] = flow_event(e->log, at);
  flow_settle(e, unit, f);
}

void flow_station_settle(flow_engine *e, sim_class unit) { flow_settle(e, unit, &e->files[unit]); }
