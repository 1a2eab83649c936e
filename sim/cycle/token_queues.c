// SPDX-License-Identifier: Apache-2.0
// Order between the units by tokens (hw/rtl/weft_token_queues.sv, weft_token_queue.sv): for each unit a ring of
// commands, first those that it works on, then those that wait; for each pair of units and direction a counter of
// tokens.
//
// Order within a cycle: which commands issue is known since the cycle before; what is done then gives back its place
// and pushes its tokens, as the counters were at the start of the cycle; then commands issue and pop theirs. Room in a
// ring is that of the start of the cycle.
#include "sim/cycle/token_queues.h"

#include <assert.h>

#include "arch/tokens.h"
#include "base/alloc.h"
#include "base/number.h"
#include "isa/isa_fields.h"
#include "sim/cycle/execute_controller.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/reservation_station.h"
#include "sim/cycle/store_controller.h"

_Static_assert((int)SIM_CLASS_LOAD == (int)ARCH_UNIT_LOAD && (int)SIM_CLASS_EXECUTE == (int)ARCH_UNIT_EXECUTE &&
                   (int)SIM_CLASS_STORE == (int)ARCH_UNIT_STORE,
               "tokens name units by their class");

typedef struct place {
  cycle_issue command;
  arch_tokens tokens;
  uint32_t index;  // in the order of allocation
  bool instant;    // it is done when it issues
  bool done;
} place;

typedef struct ring {
  uint32_t entries;
  place *places;
  uint32_t oldest, held, waiting;  // the first `held - waiting` were issued
} ring;

typedef struct cycle_tokens {
  ring rings[SIM_CLASSES];
  uint32_t counters[SIM_CLASSES][SIM_CLASSES];  // by giver and taker
  uint32_t most;
  uint64_t left_at;  // cycle in which a place became free last + 1, and of which classes
  unsigned left;
  uint64_t since;  // cycle of the last change + 1, and what there was before
  unsigned before[SIM_CLASSES];
  uint32_t allocated;
  cycle_records records;
} cycle_tokens;

// ---- life

static void create_ring(ring *r, uint32_t entries) {
  r->entries = entries;
  r->places = WF_NEW_ARRAY(entries, place);
}

void cycle_tokens_create(cycle_engine *c) {
  cycle_tokens *t = c->tokens = WF_NEW(cycle_tokens);
  create_ring(&t->rings[SIM_CLASS_LOAD], c->array->load.reservation_entries);
  create_ring(&t->rings[SIM_CLASS_EXECUTE], c->array->execute.reservation_entries);
  create_ring(&t->rings[SIM_CLASS_STORE], c->array->store.reservation_entries);
  t->most = arch_tokens_max(c->array);
}

void cycle_tokens_destroy(cycle_engine *c) {
  if (c->tokens == NULL) return;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) wf_free(c->tokens->rings[unit].places);
  wf_free(c->tokens);
}

// ---- what there is

static place *place_at(const ring *r, uint32_t n) { return &r->places[(r->oldest + n) % r->entries]; }

static place *head_of(const ring *r) { return place_at(r, r->held - r->waiting); }

static void note_change(cycle_tokens *t, uint64_t now) {
  if (t->since == now + 1) return;
  t->since = now + 1;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) t->before[unit] = t->rings[unit].held;
}

void cycle_tokens_counts(const cycle_engine *c, uint64_t now, unsigned counts[SIM_CLASSES]) {
  const cycle_tokens *t = c->tokens;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++)
    counts[unit] = t->since == now + 1 ? t->before[unit] : t->rings[unit].held;
}

// Any command, but for a single preload whose compute has not come.
bool cycle_tokens_busy(const cycle_engine *c, bool solitary_preload) {
  const ring *rings = c->tokens->rings, *products = &rings[SIM_CLASS_EXECUTE];
  const uint32_t others = rings[SIM_CLASS_LOAD].held + rings[SIM_CLASS_STORE].held;
  if (others + products->held == 0) return false;
  return !solitary_preload || others != 0 || products->held != 1 || place_at(products, 0)->command.insn != ISA_PRELOAD;
}

cycle_records *cycle_tokens_records(cycle_engine *c) { return &c->tokens->records; }

bool cycle_tokens_freed(const cycle_engine *c, uint64_t now) { return c->tokens->left_at == now + 1; }

// ---- what can issue

static bool tokens_there(const cycle_tokens *t, unsigned unit, unsigned pops) {
  for (unsigned from = 0; from < SIM_CLASSES; from++)
    if ((pops >> from & 1) != 0 && t->counters[from][unit] == 0) return false;
  return true;
}

static bool can_issue(const cycle_tokens *t, unsigned unit) {
  const ring *r = &t->rings[unit];
  return r->waiting != 0 && tokens_there(t, unit, head_of(r)->tokens.pops);
}

static void wake(cycle_engine *c, uint64_t at) { c->wake[CYCLE_STATION] = wf_min(c->wake[CYCLE_STATION], at); }

// At the end of a change: the next cycle has to look when the head is another one, or may issue now.
static void look(cycle_engine *c, uint64_t now, unsigned unit, bool another) {
  const bool was = (c->issuable >> unit & 1) != 0, can = can_issue(c->tokens, unit);
  c->issuable = (uint8_t)((c->issuable & ~(1u << unit)) | (unsigned)can << unit);
  if (!can || (was && !another)) return;
  wake(c, unit == SIM_CLASS_EXECUTE ? wf_max(now + 1, cycle_execute_ready_at(c)) : now + 1);
}

void cycle_tokens_room(cycle_engine *c, uint64_t now) {
  if ((c->issuable >> SIM_CLASS_EXECUTE & 1) != 0) look(c, now, SIM_CLASS_EXECUTE, true);
}

// The classes of which a command issues in this cycle.
static unsigned issues(const cycle_engine *c, uint64_t now) {
  const unsigned able = c->issuable;
  unsigned classes = 0;
  if ((able & 1u << SIM_CLASS_LOAD) != 0 && cycle_load_ready(c, now)) classes |= 1u << SIM_CLASS_LOAD;
  if ((able & 1u << SIM_CLASS_EXECUTE) != 0 && cycle_execute_ready(c, now)) classes |= 1u << SIM_CLASS_EXECUTE;
  if ((able & 1u << SIM_CLASS_STORE) != 0 && cycle_store_ready(c, now)) classes |= 1u << SIM_CLASS_STORE;
  return classes;
}

// ---- completion

static void complete(cycle_engine *c, sim_class unit) {
  cycle_tokens *t = c->tokens;
  place *p = &t->rings[unit].places[c->w.done[unit].id];
  assert(!p->done);
  p->done = true;
  if (c->sink.event != NULL) cycle_records_done(&t->records, unit, p->index);
}

// One completion per cycle; execute cannot wait, load and store can.
static void completion_port(cycle_engine *c, uint64_t now) {
  const cycle_done *done = c->w.done;
  if (done[SIM_CLASS_EXECUTE].valid) {
    complete(c, SIM_CLASS_EXECUTE);
  } else if (done[SIM_CLASS_LOAD].valid) {
    complete(c, SIM_CLASS_LOAD);
    cycle_load_done_taken(c, now);
  } else if (done[SIM_CLASS_STORE].valid) {
    complete(c, SIM_CLASS_STORE);
    cycle_store_done_taken(c);
  }
}

static bool can_leave(const cycle_tokens *t, unsigned unit) {
  const ring *r = &t->rings[unit];
  if (r->held == r->waiting || !place_at(r, 0)->done) return false;
  for (unsigned to = 0; to < SIM_CLASSES; to++)
    if ((place_at(r, 0)->tokens.pushes >> to & 1) != 0 && t->counters[unit][to] == t->most) return false;
  return true;
}

static void leave(cycle_tokens *t, uint64_t now, unsigned unit) {
  ring *r = &t->rings[unit];
  const unsigned pushes = place_at(r, 0)->tokens.pushes;
  r->oldest = (r->oldest + 1) % r->entries;
  r->held--;
  for (unsigned to = 0; to < SIM_CLASSES; to++) t->counters[unit][to] += pushes >> to & 1;
  t->left = (t->left_at == now + 1 ? t->left : 0) | 1u << unit;
  t->left_at = now + 1;
}

// ---- issue

static void issue(cycle_engine *c, uint64_t now, unsigned unit) {
  static void (*const take[SIM_CLASSES])(cycle_engine *, uint64_t, const cycle_issue *) = {
      [SIM_CLASS_LOAD] = cycle_load_take,
      [SIM_CLASS_EXECUTE] = cycle_execute_take,
      [SIM_CLASS_STORE] = cycle_store_take};
  cycle_tokens *t = c->tokens;
  ring *r = &t->rings[unit];
  place *head = head_of(r);
  for (unsigned from = 0; from < SIM_CLASSES; from++) t->counters[from][unit] -= head->tokens.pops >> from & 1;
  r->waiting--;
  head->done = head->instant;
  if (c->sink.event != NULL) cycle_records_issued(&t->records, (sim_class)unit, head->index);
  take[unit](c, now, &head->command);
}

// ---- the cycle

static void carry_out(cycle_engine *c, uint64_t now, unsigned issuing) {
  cycle_tokens *t = c->tokens;
  note_change(t, now);
  completion_port(c, now);
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++)
    if (can_leave(t, unit)) leave(t, now, unit);
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++)
    if ((issuing >> unit & 1) != 0) issue(c, now, unit);
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    look(c, now, unit, (issuing >> unit & 1) != 0);
    if (can_leave(t, unit)) wake(c, now + 1);
  }
}

bool cycle_tokens_step(cycle_engine *c, uint64_t now) {
  if (c->counting && cycle_tokens_busy(c, c->w.solitary_preload)) cycle_event(c, ISA_EVENT_STATION_BUSY);
  c->wake[CYCLE_STATION] = CYCLE_NEVER;
  const unsigned issuing = c->issuable == 0 ? 0 : issues(c, now);
  carry_out(c, now, issuing);
  cycle_tokens_room(c, now);
  return (issuing >> SIM_CLASS_STORE & 1) != 0;
}

// ---- allocation

static uint32_t held_at_start(const cycle_engine *c, uint64_t now, sim_class unit) {
  const cycle_tokens *t = c->tokens;
  return t->rings[unit].held + (cycle_tokens_freed(c, now) ? t->left >> unit & 1 : 0);
}

bool cycle_tokens_full(const cycle_engine *c, sim_class unit) {
  const ring *r = &c->tokens->rings[unit];
  return r->held == r->entries;
}

static place place_of(cycle_tokens *t, const cycle_front_command *command, sim_class unit, uint32_t id) {
  const isa_insn *insn = isa_insn_at(command->insn);
  const bool configures = isa_configures(insn->funct);
  return (place){
      .command = {.insn = command->insn, .id = (uint8_t)id, .rs1 = command->rs1, .rs2 = command->rs2 & ~insn->tokens},
      .tokens = arch_tokens_of(insn, command->rs2),
      .index = t->allocated++,
      .instant = configures && unit != SIM_CLASS_EXECUTE};
}

bool cycle_tokens_take(cycle_engine *c, uint64_t now, const cycle_front_command *command, sim_class unit) {
  cycle_tokens *t = c->tokens;
  ring *r = &t->rings[unit];
  if (held_at_start(c, now, unit) == r->entries) return false;
  note_change(t, now);
  if (c->sink.event != NULL) cycle_records_allocated(&t->records, t->allocated, command);
  const uint32_t id = (r->oldest + r->held++) % r->entries;
  r->places[id] = place_of(t, command, unit, id);
  if (r->waiting++ == 0) look(c, now, unit, true);
  return true;
}
