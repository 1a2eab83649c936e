// SPDX-License-Identifier: Apache-2.0
// Performance counters: the counter file and its command (docs/microarchitecture.md: Counter events).
//
// While a counter counts an event (c->counting) every unit is stepped in every cycle and notes its events in c->ev;
// which of the controllers are busy is noted here. External values need no counting: the reservation station knows its
// entries, the bus its bytes, cycle_level the sums of bursts in flight. So a program that reads no event costs nothing.
//
// A command is taken in the front end's step, the events of that cycle are counted after it, in cycle_counters_step:
// counters that the command cleared do not count in this cycle. What a read returns are the values at its start.
#include "sim/cycle/counters.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/bus.h"
#include "sim/cycle/execute_controller.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/port.h"
#include "sim/cycle/reservation_station.h"
#include "sim/cycle/skip/lag.h"
#include "sim/cycle/store_controller.h"

enum {
  COUNTERS_MAX = 8,
  SUMS = ISA_EXTERNAL_COUNT - ISA_EXTERNAL_BYTES_READ  // these external values are sums since the last clear
};

typedef struct counter {
  uint32_t count, frozen;
  uint8_t event;
  bool external;
} counter;

struct cycle_counters {
  uint64_t active;  // internal events that some counter counts, by number
  uint64_t taken;   // cycle of the last command
  uint32_t held;    // counters that the command of cycle `taken` cleared
  uint32_t count;
  bool snapshot;
  bool responds;
  uint32_t value;          // of the response
  uint64_t cleared[SUMS];  // the sums at the last clear
  counter file[COUNTERS_MAX];
};

void cycle_counters_create(cycle_engine *c) {
  c->counters = WF_NEW(struct cycle_counters);
  c->counters->taken = CYCLE_NEVER;
  c->counters->count = c->array->units.counters;
  assert(c->counters->count <= COUNTERS_MAX);
}

void cycle_counters_destroy(cycle_engine *c) { wf_free(c->counters); }

// ---- events

// Indexed by the busy controllers: bit 0 load, bit 1 store, bit 2 execute.
void cycle_counters_begin(cycle_engine *c, uint64_t now) {
  static const uint8_t busy_event[] = {
      ISA_EVENT_NONE,         ISA_EVENT_BUSY_LOAD,         ISA_EVENT_BUSY_STORE,         ISA_EVENT_BUSY_LOAD_STORE,
      ISA_EVENT_BUSY_EXECUTE, ISA_EVENT_BUSY_LOAD_EXECUTE, ISA_EVENT_BUSY_STORE_EXECUTE, ISA_EVENT_BUSY_ALL};
  c->ev = (cycle_events){0};
  unsigned busy =
      (unsigned)cycle_load_busy(c) | (unsigned)cycle_store_busy(c) << 1 | (unsigned)cycle_execute_busy(c, now) << 2;
  if (busy != 0) cycle_event(c, busy_event[busy]);
}

bool cycle_counters_step(cycle_engine *c, uint64_t now) {
  struct cycle_counters *k = c->counters;
  if (c->wake[CYCLE_COUNTERS] <= now) c->wake[CYCLE_COUNTERS] = CYCLE_NEVER;
  if ((c->ev.bits & k->active) == 0) return false;
  uint32_t held = k->taken == now ? k->held : 0;
  for (uint32_t n = 0; n < k->count; n++) {
    counter *e = &k->file[n];
    if (!e->external && (held >> n & 1) == 0) e->count += (uint32_t)(c->ev.bits >> e->event & 1);
  }
  return true;
}

// ISA_EVENT_NONE never happens, so a counter without an event may look at its bit.
static void choose_events(cycle_engine *c) {
  struct cycle_counters *k = c->counters;
  k->active = 0;
  for (uint32_t n = 0; n < k->count; n++)
    if (!k->file[n].external && k->file[n].event < ISA_EVENT_COUNT) k->active |= UINT64_C(1) << k->file[n].event;
  k->active &= ~(UINT64_C(1) << ISA_EVENT_NONE);
  c->counting = k->active != 0;
}

// ---- values

// Sums over the cycles before `now`.
static uint64_t sum(const cycle_engine *c, uint64_t now, unsigned external) {
  switch (external) {
    case ISA_EXTERNAL_BYTES_READ:
      return cycle_bus_read_bytes(c, now);
    case ISA_EXTERNAL_BYTES_WRITTEN:
      return cycle_bus_written_bytes(c, now);
    case ISA_EXTERNAL_READS_IN_FLIGHT:
      return cycle_level_sum(&c->reads_in_flight, now);
    default:
      return cycle_level_sum(&c->writes_in_flight, now);
  }
}

static uint32_t external_value(const cycle_engine *c, uint64_t now, unsigned event) {
  unsigned entries[SIM_CLASSES];
  cycle_station_counts(c, now, entries);
  switch (event) {
    case ISA_EXTERNAL_LOAD_ENTRIES:
      return entries[SIM_CLASS_LOAD];
    case ISA_EXTERNAL_STORE_ENTRIES:
      return entries[SIM_CLASS_STORE];
    case ISA_EXTERNAL_EXECUTE_ENTRIES:
      return entries[SIM_CLASS_EXECUTE];
    case ISA_EXTERNAL_BYTES_READ:
    case ISA_EXTERNAL_BYTES_WRITTEN:
    case ISA_EXTERNAL_READS_IN_FLIGHT:
    case ISA_EXTERNAL_WRITES_IN_FLIGHT:
      return (uint32_t)(sum(c, now, event) - c->counters->cleared[event - ISA_EXTERNAL_BYTES_READ]);
    default:
      return 0;
  }
}

static uint32_t live_value(const cycle_engine *c, uint64_t now, const counter *e) {
  return e->external ? external_value(c, now, e->event) : e->count;
}

// ---- the command

// The sums start again after this cycle, whose own bytes and bursts are lost.
static void clear(cycle_engine *c, uint64_t now) {
  struct cycle_counters *k = c->counters;
  k->snapshot = false;
  k->held = UINT32_MAX;
  for (uint32_t n = 0; n < k->count; n++) k->file[n].count = k->file[n].frozen = 0;
  k->cleared[0] = cycle_bus_read_bytes(c, now + 1);
  k->cleared[1] = cycle_bus_written_bytes(c, now + 1);
  k->cleared[2] = sum(c, now, ISA_EXTERNAL_READS_IN_FLIGHT) + cycle_level_at(&c->reads_in_flight, now);
  k->cleared[3] = sum(c, now, ISA_EXTERNAL_WRITES_IN_FLIGHT) + cycle_level_at(&c->writes_in_flight, now);
}

static void freeze(cycle_engine *c, uint64_t now) {
  struct cycle_counters *k = c->counters;
  k->snapshot = true;
  for (uint32_t n = 0; n < k->count; n++) k->file[n].frozen = live_value(c, now, &k->file[n]);
}

static void configure(struct cycle_counters *k, uint32_t index, uint64_t rs1) {
  k->held |= UINT32_C(1) << index;
  k->file[index].count = 0;
  k->file[index].event = (uint8_t)isa_get_counter_event(rs1, 0);
  k->file[index].external = isa_get_counter_external(rs1, 0) != 0;
}

bool cycle_counters_ready(const cycle_engine *c, uint64_t now) {
  const struct cycle_counters *k = c->counters;
  return !(k->responds && now == k->taken + 1);
}

void cycle_counters_command(cycle_engine *c, uint64_t now, uint64_t rs1, bool returns) {
  struct cycle_counters *k = c->counters;
  uint32_t index = (uint32_t)isa_get_counter_index(rs1, 0);
  cycle_lag_through(c, now);
  k->taken = now;
  k->held = 0;
  k->responds = returns;
  if (returns) c->wake[CYCLE_COUNTERS] = now + 1;  // the response is there behind it
  k->value = 0;
  if (index < k->count) k->value = k->snapshot ? k->file[index].frozen : live_value(c, now, &k->file[index]);
  if (isa_get_counter_reset(rs1, 0))
    clear(c, now);
  else if (isa_get_counter_snapshot_reset(rs1, 0))
    k->snapshot = false;
  else if (isa_get_counter_snapshot(rs1, 0))
    freeze(c, now);
  if (isa_get_counter_configure(rs1, 0) && index < k->count) configure(k, index, rs1);
  choose_events(c);
}

bool cycle_counters_response(cycle_engine *c, uint64_t now, uint64_t *value) {
  struct cycle_counters *k = c->counters;
  if (!k->responds || now < k->taken + 2) return false;
  k->responds = false;
  *value = k->value;
  return true;
}
