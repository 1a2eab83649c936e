// SPDX-License-Identifier: Apache-2.0
// Causes of cycles: see waits.h.
//
// Between two records the state of the station does not change, so the time between them has one cause. While no
// product is under way the cause is known with the next one: what it waited for was done last before it was issued.
// After the last product there is no next one, and all is the end.
#include "runner/waits.h"

#include "base/alloc.h"
#include "base/number.h"
#include "isa/isa.h"

#define X(NAME, name, what) name,
const char *const run_wait_names[RUN_WAIT_COUNT] = {RUN_WAITS(X)};
#undef X

// Commands that are known, by their index: more than the station has entries.
enum { WINDOW = 1024 };

struct run_waits_state {
  unsigned revision;
  unsigned entries[SIM_CLASSES];  // of the station
  uint8_t known[WINDOW];
  unsigned there[SIM_CLASSES];  // commands that entered and are not done
  unsigned queued;              // products that entered and were not issued
  unsigned under_way;           // products that were issued and are not done
  uint64_t now;
  sim_class done_last;            // of loads and stores
  uint64_t open[RUN_WAIT_COUNT];  // since the last product was done
  uint64_t open_for_operand;      // of this time the next product was in the station
  run_waits waits;
};

run_waits_state *run_waits_open(const hw_array *array) {
  run_waits_state *s = WF_NEW(run_waits_state);
  s->revision = array->isa.revision;
  s->entries[SIM_CLASS_LOAD] = array->load.reservation_entries;
  s->entries[SIM_CLASS_EXECUTE] = array->execute.reservation_entries;
  s->entries[SIM_CLASS_STORE] = array->store.reservation_entries;
  return s;
}

// ---- time

static run_wait cause_without_product(const run_waits_state *s) {
  if (s->there[SIM_CLASS_LOAD] >= s->entries[SIM_CLASS_LOAD]) return RUN_WAIT_LOADS;
  return s->there[SIM_CLASS_STORE] >= s->entries[SIM_CLASS_STORE] ? RUN_WAIT_STORES : RUN_WAIT_COMMANDS;
}

static void go_on(run_waits_state *s, uint64_t cycle) {
  const uint64_t passed = cycle - s->now;
  s->now = cycle;
  if (s->under_way != 0)
    s->waits.cycles[RUN_WAIT_PRODUCTS] += passed;
  else if (s->queued != 0)
    s->open_for_operand += passed;
  else
    s->open[cause_without_product(s)] += passed;
}

// The next product is issued: what came before it has its causes.
static void settle(run_waits_state *s) {
  s->open[s->done_last == SIM_CLASS_STORE ? RUN_WAIT_STORES : RUN_WAIT_LOADS] += s->open_for_operand;
  s->open_for_operand = 0;
  for (unsigned wait = 0; wait < RUN_WAIT_COUNT; wait++) {
    s->waits.cycles[wait] += s->open[wait];
    s->open[wait] = 0;
  }
}

// ---- records

// What is known of a command by its place in the window: its class, and whether it is a product, or a configuration of
// loads or stores, which is done when it is issued, and nothing tells of it.
enum { CLASS = 0x0f, IS_PRODUCT = 0x40, ENDS_AT_ISSUE = 0x80 };

static uint8_t known_of(const isa_insn *insn) {
  const bool product = insn->id == ISA_COMPUTE_PRELOADED || insn->id == ISA_COMPUTE_ACCUMULATED;
  const bool ends = insn->id == ISA_CONFIG_LD || insn->id == ISA_CONFIG_ST || insn->id == ISA_CONFIG_NORM;
  const int flags = (product ? IS_PRODUCT : 0) | (ends ? ENDS_AT_ISSUE : 0);
  switch (insn->unit) {
    case ISA_UNIT_LOAD:
      return (uint8_t)(SIM_CLASS_LOAD | flags);
    case ISA_UNIT_EXECUTE:
      return (uint8_t)(SIM_CLASS_EXECUTE | flags);
    case ISA_UNIT_STORE:
      return (uint8_t)(SIM_CLASS_STORE | flags);
    default:
      return SIM_CLASSES;
  }
}

static void enter(run_waits_state *s, const sim_event *event, uint8_t *known) {
  const isa_insn *insn = isa_find(s->revision, event->funct, event->rs1);
  *known = insn == NULL ? SIM_CLASSES : known_of(insn);
  if ((*known & CLASS) != SIM_CLASSES) s->there[*known & CLASS]++;
  if ((*known & IS_PRODUCT) != 0) s->queued++;
}

static void leave(run_waits_state *s, uint8_t known) {
  const unsigned unit = known & CLASS;
  if (unit == SIM_CLASSES) return;
  s->there[unit]--;
  if (unit != SIM_CLASS_EXECUTE) s->done_last = (sim_class)unit;
  if ((known & IS_PRODUCT) != 0) s->under_way--;
}

static void issue(run_waits_state *s, uint8_t known) {
  if ((known & ENDS_AT_ISSUE) != 0) leave(s, known);
  if ((known & IS_PRODUCT) == 0) return;
  settle(s);
  s->queued--;
  s->under_way++;
}

static void take(void *context, const sim_event *event) {
  run_waits_state *s = context;
  uint8_t *known = &s->known[event->index % WINDOW];
  go_on(s, wf_max(event->cycle, s->now));
  switch (event->kind) {
    case SIM_EVENT_ALLOC:
      enter(s, event, known);
      break;
    case SIM_EVENT_ISSUE:
      issue(s, *known);
      break;
    case SIM_EVENT_DONE:
      leave(s, *known);
      break;
  }
}

sim_events run_waits_sink(run_waits_state *state) { return (sim_events){.context = state, .event = take}; }

run_waits run_waits_close(run_waits_state *state, uint64_t end) {
  go_on(state, wf_max(end, state->now));
  run_waits waits = state->waits;
  for (unsigned wait = 0; wait < RUN_WAIT_COUNT; wait++) waits.cycles[RUN_WAIT_END] += state->open[wait];
  waits.cycles[RUN_WAIT_END] += state->open_for_operand;
  wf_free(state);
  return waits;
}
