// The accelerator: one cycle of all units, and which units need it. See weft_accel.h for the order.
#include "sim/cycle/weft_accel.h"

#include <stdarg.h>
#include <stdio.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef struct unit_entry {
  const char *name;
  const char *const *causes;  // NULL: not in the report
} unit_entry;

static const unit_entry units[CYCLE_UNITS] = {
    [CYCLE_BUS] = {"bus", NULL},
    [CYCLE_WRITEBACK] = {"execute_writeback", NULL},
    [CYCLE_LOAD_PATH] = {"load_path", NULL},
    [CYCLE_MESH] = {"mesh", cycle_mesh_causes},
    [CYCLE_DMA_WRITER] = {"dma_writer", cycle_dma_writer_causes},
    [CYCLE_STORE_PATH] = {"store_path", NULL},
    [CYCLE_LOCAL_MEMORY] = {"local_memory", NULL},
    [CYCLE_EXECUTE] = {"execute", cycle_execute_causes},
    [CYCLE_STORE_DISPATCH] = {"store_dispatch", NULL},
    [CYCLE_DMA_READER] = {"dma_reader", cycle_dma_reader_causes},
    [CYCLE_LOAD_CONTROLLER] = {"load", cycle_load_controller_causes},
    [CYCLE_STORE_CONTROLLER] = {"store", cycle_store_controller_causes},
    [CYCLE_STATION] = {"reservation_station", NULL},
    [CYCLE_FRONT_END] = {"front_end", cycle_front_end_causes},
    [CYCLE_COUNTERS] = {"counters", NULL},
};

const char *cycle_unit_name(cycle_unit_id unit) { return units[unit].name; }

const char *const *cycle_unit_causes(cycle_unit_id unit) { return units[unit].causes; }

void cycle_fail(cycle_engine *c, const char *format, ...) {
  if (c->fault.kind != SIM_FAULT_NONE) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->fault.text, sizeof c->fault.text, format, arguments);
  va_end(arguments);
  c->fault.kind = SIM_FAULT_STUCK;
}

static void begin(cycle_engine *c) {
  c->w = (cycle_wires){.ex_sp_bank = -1, .ex_acc_bank = -1};
  if (c->counting) cycle_counters_begin(c);
}

#define U(unit) (1u << CYCLE_##unit)
#define ALL_UNITS ((1u << CYCLE_UNITS) - 1)

static uint32_t answered(const cycle_wires *w) {
  if (w->beat == NULL) return 0;
  return w->beat->write ? U(DMA_WRITER) | U(STORE_PATH) : U(LOAD_PATH);
}

// The station, when a command of this class waits for room at its controller.
static uint32_t issuing(const cycle_engine *c, sim_class unit) {
  return (c->issuable >> unit & 1) != 0 ? U(STATION) : 0;
}

// Rows of the accumulator, or of stores, are on their way from the banks.
static bool storing(const cycle_engine *c) { return c->local->execute_held != 0 || cycle_store_path_busy(c); }

// With those whose signals of the same cycle a unit needs.
static uint32_t closure(uint32_t mask) {
  if (mask & U(STORE_PATH)) mask |= U(DMA_WRITER);
  return mask;
}

// A unit that asks for something asks again in the next cycle, given or not: others are held back by the request
// itself. The load path knows when it asks next (load_write).
static uint32_t asking(const cycle_engine *c) {
  uint32_t mask = 0;
  if (c->stores_to_sp && ((c->w.sp_written | c->w.acc_adds) != 0 || c->w.load_adds)) mask |= U(STORE_PATH);
  if ((c->w.sp_asked | c->w.acc_asked) != 0) mask |= U(EXECUTE);
  if (c->w.store_asked) mask |= U(STORE_DISPATCH);
  if (c->w.done[SIM_CLASS_LOAD].valid) mask |= U(LOAD_CONTROLLER) | U(STATION);
  if (c->w.done[SIM_CLASS_EXECUTE].valid) mask |= U(EXECUTE) | U(STATION);
  if (c->w.done[SIM_CLASS_STORE].valid) mask |= U(STORE_CONTROLLER) | U(STATION);
  return mask;
}

static bool completes(const cycle_engine *c) {
  return c->w.done[SIM_CLASS_LOAD].valid || c->w.done[SIM_CLASS_EXECUTE].valid || c->w.done[SIM_CLASS_STORE].valid;
}

// Units whose wake time has come.
static uint32_t woken_plain(const cycle_engine *c) {
  uint32_t mask = 0;
  for (unsigned unit = 0; unit < CYCLE_UNITS; unit++) mask |= (uint32_t)(c->wake[unit] <= c->now) << unit;
  return mask;
}

#if defined(__x86_64__)
// Four wake times at a time; the array is padded with CYCLE_NEVER. Times are below 2^63, but for CYCLE_NEVER, which as
// a signed number would be in the past: its top bit takes it out.
__attribute__((target("avx2"))) static uint32_t woken_avx2(const cycle_engine *c) {
  uint32_t mask = 0;
  const __m256i now = _mm256_set1_epi64x((long long)c->now);
  for (unsigned unit = 0; unit < CYCLE_WAKES; unit += 4) {
    const __m256i wake = _mm256_loadu_si256((const __m256i *)(const void *)(c->wake + unit));
    const __m256i later = _mm256_or_si256(_mm256_cmpgt_epi64(wake, now), wake);
    mask |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(later)) << unit;
  }
  return ~mask & ALL_UNITS;
}
#endif

void cycle_accel_create(cycle_engine *c) {
  for (unsigned unit = 0; unit < CYCLE_WAKES; unit++) c->wake[unit] = CYCLE_NEVER;
  c->woken = woken_plain;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) c->woken = woken_avx2;
#endif
}

// Steps the unit if it is due. `concerned`: whom its change concerns in this cycle (those later in the order) and in
// the next: those that look at its registers or wires, or want the room it made. Who asks for something and is refused
// asks again (asking()), so nobody has to be told that a port became free.
#define STEP(unit, step, concerned)           \
  if ((left & U(unit)) != 0 && step(c)) {     \
    const uint32_t concerned_now = concerned; \
    next |= concerned_now;                    \
    left |= closure(concerned_now);           \
  }

void cycle_accel_step(cycle_engine *c) {
  begin(c);
  const cycle_wires *w = &c->w;
  uint32_t left = ALL_UNITS, next = 0;
  if (!c->eager && !c->counting) left = closure(c->due | c->woken(c));
  STEP(BUS, cycle_bus_step,
       answered(w) | (w->read_granted ? U(DMA_READER) : 0) | (w->write_granted ? U(DMA_WRITER) | U(STORE_PATH) : 0))
  STEP(WRITEBACK, cycle_writeback_step, U(EXECUTE))
  if (c->load_write <= c->now) left |= U(LOAD_PATH);
  STEP(LOAD_PATH, cycle_load_path_step, U(LOAD_CONTROLLER))
  STEP(MESH, cycle_mesh_step, w->operand_taken ? U(STORE_PATH) | U(LOCAL_MEMORY) : 0)
  STEP(DMA_WRITER, cycle_writer_step, U(BUS) | U(DMA_WRITER) | U(STORE_PATH))
  STEP(STORE_PATH, cycle_store_path_step,
       U(BUS) | U(DMA_WRITER) | U(STORE_PATH) | U(LOCAL_MEMORY) | U(STORE_DISPATCH) |
           (w->store_answered ? U(STORE_CONTROLLER) : 0))
  if (c->wake[CYCLE_LOCAL_MEMORY] <= c->now) left |= U(LOCAL_MEMORY);
  STEP(LOCAL_MEMORY, cycle_local_step, storing(c) ? U(STORE_PATH) | U(STORE_DISPATCH) : 0)
  if (c->wake[CYCLE_EXECUTE] <= c->now) left |= U(EXECUTE);
  STEP(EXECUTE, cycle_execute_step,
       (w->acc_asked != 0 ? U(STORE_PATH) | U(LOCAL_MEMORY) : 0) | issuing(c, SIM_CLASS_EXECUTE))
  STEP(STORE_DISPATCH, cycle_store_dispatch_step,
       U(STORE_PATH) | U(LOCAL_MEMORY) | U(STORE_DISPATCH) | U(STORE_CONTROLLER))
  STEP(DMA_READER, cycle_reader_step, U(LOAD_CONTROLLER))
  STEP(LOAD_CONTROLLER, cycle_load_step, issuing(c, SIM_CLASS_LOAD))
  STEP(STORE_CONTROLLER, cycle_store_step,
       U(STORE_PATH) | U(STORE_DISPATCH) | U(STORE_CONTROLLER) | issuing(c, SIM_CLASS_STORE))
  if (completes(c)) left |= U(STATION);
  STEP(STATION, cycle_station_step, U(LOAD_CONTROLLER) | U(STORE_CONTROLLER))
  STEP(FRONT_END, cycle_front_step, U(COUNTERS))
  STEP(COUNTERS, cycle_counters_step, U(FRONT_END))
  c->due = next | asking(c);
  c->changed = c->due != 0 || c->eager || c->counting;
  c->now++;
}

uint64_t cycle_accel_wake(const cycle_engine *c) {
  uint64_t next = CYCLE_NEVER;
  for (unsigned unit = 0; unit < CYCLE_UNITS; unit++)
    if (c->wake[unit] < next) next = c->wake[unit];
  return next > c->now ? next : c->now;
}

void cycle_accel_skip(cycle_engine *c, uint64_t cycle) { c->now = cycle; }

void cycle_accel_wake_front(cycle_engine *c) { c->due |= U(FRONT_END); }
