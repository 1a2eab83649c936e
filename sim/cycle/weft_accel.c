// SPDX-License-Identifier: Apache-2.0
// The accelerator: one cycle of all units, and which units need it. See engine.h for the order.
#include "sim/cycle/weft_accel.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/cycle/counters.h"
#include "sim/cycle/dma_reader.h"
#include "sim/cycle/dma_writer.h"
#include "sim/cycle/execute_controller.h"
#include "sim/cycle/execute_writeback.h"
#include "sim/cycle/front_end.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/reservation_station.h"
#include "sim/cycle/skip/pass.h"
#include "sim/cycle/skip/skip.h"
#include "sim/cycle/store_controller.h"
#include "sim/cycle/store_path.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef struct unit_entry {
  const char *name;
  const char *const *causes;  // NULL: not in the report
} unit_entry;

#define REPORTED(names) names
#define NOT_REPORTED NULL
#define CYCLE_UNIT(ID, NAME, CAUSES, ...) [CYCLE_##ID] = {NAME, CAUSES},
#define CYCLE_PART(ID, NAME, CAUSES, ...) [CYCLE_##ID] = {NAME, CAUSES},
static const unit_entry units[CYCLE_UNITS] = {
#include "sim/cycle/units.def"
};
#undef REPORTED
#undef NOT_REPORTED
#undef CYCLE_UNIT
#undef CYCLE_PART

#define REPORTED(names) +1
#define NOT_REPORTED +0
#define CYCLE_UNIT(ID, NAME, CAUSES, ...) CAUSES
#define CYCLE_PART(ID, NAME, CAUSES, ...) CAUSES
enum {
  REPORTED_UNITS = 0
#include "sim/cycle/units.def"
};
#undef REPORTED
#undef NOT_REPORTED
#undef CYCLE_UNIT
#undef CYCLE_PART
_Static_assert((int)REPORTED_UNITS == (int)SIM_CYCLE_UNITS, "a report has another number of units than units.def");

const char *cycle_unit_name(cycle_unit_id unit) { return units[unit].name; }

const char *const *cycle_unit_causes(cycle_unit_id unit) { return units[unit].causes; }

void cycle_fail(cycle_engine *c, const char *format, ...) {
  if (c->fault.kind != ARCH_FAULT_NONE) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->fault.text, sizeof c->fault.text, format, arguments);
  va_end(arguments);
  c->fault.kind = ARCH_FAULT_STUCK;
}

#define U(unit) (1u << CYCLE_##unit)
#define ALL_UNITS ((1u << CYCLE_STEPPED) - 1)

// ---- wake times

struct cycle_waking {
  uint32_t (*due)(const cycle_engine *c);       // units whose wake time is now or earlier, a bit each
  uint64_t (*earliest)(const cycle_engine *c);  // wake time
};

static uint32_t due_plain(const cycle_engine *c) {
  uint32_t mask = 0;
  for (unsigned unit = 0; unit < CYCLE_STEPPED; unit++) mask |= (uint32_t)(c->wake[unit] <= c->now) << unit;
  return mask;
}

static uint64_t earliest_plain(const cycle_engine *c) {
  uint64_t next = CYCLE_NEVER;
  for (unsigned unit = 0; unit < CYCLE_STEPPED; unit++)
    if (c->wake[unit] < next) next = c->wake[unit];
  return next;
}

static const struct cycle_waking plain = {.due = due_plain, .earliest = earliest_plain};

#if defined(__x86_64__)
// Four wake times at a time; the array is padded with CYCLE_NEVER. Times are below 2^63, but for CYCLE_NEVER, which as
// a signed number would be in the past: its top bit takes it out.
__attribute__((target("avx2"))) static uint32_t due_avx2(const cycle_engine *c) {
  uint32_t mask = 0;
  const __m256i now = _mm256_set1_epi64x((long long)c->now);
  for (unsigned unit = 0; unit < CYCLE_WAKES; unit += 4) {
    const __m256i wake = _mm256_loadu_si256((const __m256i *)(const void *)(c->wake + unit));
    const __m256i later = _mm256_or_si256(_mm256_cmpgt_epi64(wake, now), wake);
    mask |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(later)) << unit;
  }
  return ~mask & ALL_UNITS;
}

static const struct cycle_waking with_avx2 = {.due = due_avx2, .earliest = earliest_plain};

#endif

void cycle_accel_create(cycle_engine *c) {
  for (unsigned unit = 0; unit < CYCLE_UNITS; unit++) c->wake[unit] = CYCLE_NEVER;
  c->waking = &plain;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) c->waking = &with_avx2;
#endif
}

// Any unit but reader and writer.
static bool inside_busy(const cycle_engine *c) {
  return cycle_station_busy(c) || cycle_front_busy(c) || cycle_store_path_busy(c, c->now);
}

// While only the port has something left to do, the accelerator may become idle in any cycle of the port.
static uint64_t next_change(const cycle_engine *c) {
  uint64_t next = c->waking->earliest(c);
  return c->port.next < next && !inside_busy(c) ? c->port.next : next;
}

// A host also waits for room for a command.
static uint64_t or_room(const cycle_engine *c, uint64_t next) {
  const uint64_t room = cycle_pass_ready_at(c);
  return room > c->now && room < next ? room : next;
}

uint64_t cycle_accel_next(const cycle_engine *c) {
  if (c->due != 0) return c->now;
  uint64_t next = or_room(c, next_change(c));
  return next > c->now ? next : c->now;
}

// ---- a cycle

// The station, when a command of this class waits for room at its controller.
static uint32_t issuing(const cycle_engine *c, sim_class unit) {
  return (c->issuable >> unit & 1) != 0 ? U(STATION) : 0;
}

// Rows of the accumulator, or of stores, are on their way from the banks.
static bool storing(const cycle_engine *c, uint64_t now) {
  return c->local->execute_held != 0 || cycle_store_path_busy(c, now);
}

// A unit that asked for something asks again in the next cycle, whether it got it or not: the request itself holds
// other units back. The load path knows when it asks next (load_write).
static uint32_t asking(const cycle_engine *c) {
  uint32_t mask = 0;
  if (c->stores_to_sp && ((c->w.sp_written | c->w.acc_adds) != 0 || c->w.load_adds)) mask |= U(STORE_PATH);
  if ((c->w.sp_asked | c->w.acc_asked) != 0) mask |= U(EXECUTE);
  if (c->w.store_asked) mask |= U(STORE_DISPATCH);
  return mask;
}

// A controller shows a command as done.
static bool completing(const cycle_wires *w) {
  return w->done[SIM_CLASS_LOAD].valid || w->done[SIM_CLASS_EXECUTE].valid || w->done[SIM_CLASS_STORE].valid;
}

static bool waits_for_load(const cycle_engine *c) { return (c->issuable >> SIM_CLASS_LOAD & 1) != 0; }

// Earlier turns of this cycle may wake the port; the load path may ask for a bank.
static bool port_is_due(const cycle_engine *c, uint64_t now) {
  return c->wake[CYCLE_PORT] <= now || (c->load_write <= now && !c->port.lags);
}

// The station may have a command for the room that execute made.
static bool step_execute(cycle_engine *c, uint64_t now) {
  if (!cycle_execute_step(c, now)) return false;
  cycle_station_room(c, now);
  return true;
}

// The station looks at the load controller, whose cycle has to be carried out for that.
static bool step_station(cycle_engine *c, uint64_t now) {
  if (waits_for_load(c)) cycle_lag_through(c, now);
  return cycle_station_step(c, now);
}

// Earlier turns of this cycle may wake it.
static bool front_is_due(const cycle_engine *c, uint64_t now) {
  return c->wake[CYCLE_FRONT_END] <= now || (cycle_station_freed(c, now) && cycle_front_concerned(c));
}

// Steps the units in `left` and the units that they concern: see units.def.
static void carry_out(cycle_engine *c, uint32_t left) {
  const cycle_wires *w = &c->w;
  const uint64_t now = c->now;
  uint32_t next = 0;
  c->w = (cycle_wires){.ex_sp_bank = -1, .ex_acc_bank = -1};
  c->carried_out++;
  if (c->counting) cycle_counters_begin(c, now);
#define CYCLE_UNIT(ID, NAME, CAUSES, STEP, DUE, CONCERNED, NEXT) \
  if ((left & U(ID)) != 0 || (DUE)) {                            \
    const uint32_t changed = STEP(c, now);                       \
    if (changed != 0) {                                          \
      const uint32_t concerned = CONCERNED;                      \
      left |= concerned;                                         \
      next |= concerned | (NEXT);                                \
    }                                                            \
  }
#define CYCLE_PART(...)
#include "sim/cycle/skip/lag.h"
#include "sim/cycle/units.def"
#undef CYCLE_UNIT
#undef CYCLE_PART
  cycle_station_tell(c, now);
  if (waits_for_load(c)) cycle_port_room(c);
  if (w->done[SIM_CLASS_STORE].valid) next |= U(STORE_CONTROLLER);
  cycle_skip_count(c, now + 1);
  c->due = c->eager || c->counting ? ALL_UNITS : next | asking(c);
}

// The clock's only writer.
static void go_to(cycle_engine *c, uint64_t cycle) { c->now = cycle; }

void cycle_accel_step(cycle_engine *c) {
  const uint32_t left = c->eager || c->counting ? ALL_UNITS : c->due | c->waking->due(c);
  if (left != 0) carry_out(c, left);
  go_to(c, c->now + 1);
}

// ---- many cycles

bool cycle_accel_busy(cycle_engine *c) {
  if (inside_busy(c)) return true;
  cycle_lag_catch_up(c, c->now);
  return cycle_reader_busy(c, c->now) || cycle_writer_busy(c);
}

static bool reached(cycle_engine *c, cycle_goal goal) {
  return (goal == CYCLE_TO_IDLE && !cycle_accel_busy(c)) || (goal == CYCLE_TO_ROOM && cycle_front_ready(c, c->now)) ||
         c->fault.kind != ARCH_FAULT_NONE;
}

bool cycle_accel_run(cycle_engine *c, uint64_t limit, cycle_goal goal) {
  while (!reached(c, goal) && c->now < limit) {
    uint32_t left = c->due | c->waking->due(c);
    if (left == 0) {
      uint64_t next = goal == CYCLE_TO_IDLE ? next_change(c) : c->waking->earliest(c);
      if (goal == CYCLE_TO_ROOM) next = or_room(c, next);
      if (next == CYCLE_NEVER && (limit == CYCLE_NEVER || goal == CYCLE_TO_ROOM)) return false;
      go_to(c, next < limit ? next : limit);
      // A unit may become idle by time alone.
      if (c->now == limit || reached(c, goal)) return true;
      left = c->waking->due(c);
      if (left == 0 && goal == CYCLE_TO_ROOM) continue;
    }
    carry_out(c, left);
    go_to(c, c->now + 1);
  }
  return true;
}
