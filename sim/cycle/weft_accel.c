// The accelerator: one cycle of all units, and which units need it. See weft_accel.h for the order.
#include "sim/cycle/weft_accel.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct unit_entry {
  const char *name;
  bool (*step)(cycle_engine *c);
  const char *const *causes;  // NULL: not in the report
} unit_entry;

static const unit_entry units[CYCLE_UNITS] = {
    [CYCLE_BUS] = {"bus", cycle_bus_step, NULL},
    [CYCLE_WRITEBACK] = {"execute_writeback", cycle_writeback_step, NULL},
    [CYCLE_LOAD_PATH] = {"load_path", cycle_load_path_step, NULL},
    [CYCLE_MESH] = {"mesh", cycle_mesh_step, cycle_mesh_causes},
    [CYCLE_DMA_WRITER] = {"dma_writer", cycle_writer_step, cycle_dma_writer_causes},
    [CYCLE_STORE_PATH] = {"store_path", cycle_store_path_step, NULL},
    [CYCLE_LOCAL_MEMORY] = {"local_memory", cycle_local_step, NULL},
    [CYCLE_EXECUTE] = {"execute", cycle_execute_step, cycle_execute_causes},
    [CYCLE_STORE_DISPATCH] = {"store_dispatch", cycle_store_dispatch_step, NULL},
    [CYCLE_DMA_READER] = {"dma_reader", cycle_reader_step, cycle_dma_reader_causes},
    [CYCLE_LOAD_CONTROLLER] = {"load", cycle_load_step, cycle_load_controller_causes},
    [CYCLE_STORE_CONTROLLER] = {"store", cycle_store_step, cycle_store_controller_causes},
    [CYCLE_STATION] = {"reservation_station", cycle_station_step, NULL},
    [CYCLE_FRONT_END] = {"front_end", cycle_front_step, cycle_front_end_causes},
    [CYCLE_COUNTERS] = {"counters", cycle_counters_step, NULL},
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

// Whom a change of the unit concerns in this cycle (those later in the order) and in the next: those that look at its
// registers or wires, or want the room it made. Who asks for something and is refused asks again (asking()), so nobody
// has to be told that a port became free.
static uint32_t concerned(const cycle_engine *c, unsigned unit) {
  switch ((cycle_unit_id)unit) {
    case CYCLE_BUS: {
      uint32_t mask = 0;
      if (c->w.beat != NULL) mask |= c->w.beat->write ? U(DMA_WRITER) | U(STORE_PATH) : U(LOAD_PATH);
      if (c->w.read_granted) mask |= U(DMA_READER);
      if (c->w.write_granted) mask |= U(DMA_WRITER) | U(STORE_PATH);
      return mask;
    }
    case CYCLE_WRITEBACK:
      return U(MESH) | U(EXECUTE);
    case CYCLE_LOAD_PATH:
      return U(BUS) | U(LOAD_PATH) | U(DMA_READER) | U(LOAD_CONTROLLER);
    case CYCLE_MESH:
      return U(WRITEBACK) | U(MESH) | U(LOCAL_MEMORY) | U(EXECUTE) | (c->w.operand_taken ? U(STORE_PATH) : 0);
    case CYCLE_DMA_WRITER:
      return U(BUS) | U(DMA_WRITER) | U(STORE_PATH);
    case CYCLE_STORE_PATH:
      return U(BUS) | U(MESH) | U(DMA_WRITER) | U(STORE_PATH) | U(LOCAL_MEMORY) | U(STORE_DISPATCH) |
             (c->w.store_answered ? U(STORE_CONTROLLER) : 0);
    case CYCLE_LOCAL_MEMORY:
      return U(MESH) | U(STORE_PATH) | U(EXECUTE) | U(STORE_DISPATCH);
    case CYCLE_EXECUTE:
      return U(MESH) | U(LOCAL_MEMORY) | U(EXECUTE) | (c->w.acc_asked != 0 ? U(STORE_PATH) : 0);
    case CYCLE_STORE_DISPATCH:
      return U(STORE_PATH) | U(LOCAL_MEMORY) | U(STORE_DISPATCH) | U(STORE_CONTROLLER);
    case CYCLE_DMA_READER:
      return U(BUS) | U(LOAD_PATH) | U(DMA_READER) | U(LOAD_CONTROLLER);
    case CYCLE_LOAD_CONTROLLER:
      return U(LOAD_PATH) | U(DMA_READER) | U(LOAD_CONTROLLER);
    case CYCLE_STORE_CONTROLLER:
      return U(STORE_PATH) | U(STORE_DISPATCH) | U(STORE_CONTROLLER);
    case CYCLE_STATION:
      return U(EXECUTE) | U(LOAD_CONTROLLER) | U(STORE_CONTROLLER) | U(STATION);
    case CYCLE_FRONT_END:
      return U(STATION) | U(COUNTERS);
    default:
      return U(FRONT_END);
  }
}

// With those whose signals of the same cycle a unit needs.
static uint32_t closure(uint32_t mask) {
  if (mask & U(STORE_PATH)) mask |= U(DMA_WRITER);
  if (mask & (U(STATION) | U(FRONT_END))) mask |= U(STATION) | U(FRONT_END);
  return mask;
}

// A unit that asks for something asks again in the next cycle, given or not: others are held back by the request
// itself.
static uint32_t asking(const cycle_engine *c) {
  uint32_t mask = 0;
  if ((c->w.sp_written | c->w.acc_adds) != 0 || c->w.load_adds) mask |= U(LOAD_PATH) | U(STORE_PATH);
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

// Units whose wake time has come, and the station if it can issue.
static uint32_t due(const cycle_engine *c) {
  uint32_t mask = 0;
  for (unsigned unit = 0; unit < CYCLE_UNITS; unit++) mask |= (uint32_t)(c->wake[unit] <= c->now) << unit;
  if (cycle_station_can_issue(c)) mask |= U(STATION);
  return mask;
}

// Units later in the order.
static uint32_t after(unsigned unit) { return ~((UINT32_C(2) << unit) - 1); }

void cycle_accel_step(cycle_engine *c) {
  begin(c);
  uint32_t left = c->eager || c->counting ? ALL_UNITS : closure(c->due | due(c)), next = 0;
  while (left != 0) {
    unsigned unit = (unsigned)__builtin_ctz(left);
    left &= left - 1;
    if (units[unit].step(c)) {
      uint32_t mask = concerned(c, unit);
      next |= mask;
      left |= closure(mask) & after(unit);
    }
    if (c->wake[CYCLE_LOCAL_MEMORY] <= c->now) left |= U(LOCAL_MEMORY) & after(unit);
    if (completes(c)) left |= (U(STATION) | U(FRONT_END)) & after(unit);
  }
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

void cycle_accel_wake_front(cycle_engine *c) { c->due |= U(STATION) | U(FRONT_END); }
