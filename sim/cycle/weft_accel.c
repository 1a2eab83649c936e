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

void cycle_accel_step(cycle_engine *c) {
  begin(c);
  bool changed = false;
  changed |= cycle_bus_step(c);
  changed |= cycle_writeback_step(c);
  changed |= cycle_load_path_step(c);
  changed |= cycle_mesh_step(c);
  changed |= cycle_writer_step(c);
  changed |= cycle_store_path_step(c);
  changed |= cycle_local_step(c);
  changed |= cycle_execute_step(c);
  changed |= cycle_store_dispatch_step(c);
  changed |= cycle_reader_step(c);
  changed |= cycle_load_step(c);
  changed |= cycle_store_step(c);
  changed |= cycle_station_step(c);
  changed |= cycle_front_step(c);
  if (c->counting || changed) changed |= cycle_counters_step(c);
  c->changed = changed || c->eager || c->counting;
  c->now++;
}

uint64_t cycle_accel_wake(const cycle_engine *c) {
  uint64_t next = CYCLE_NEVER;
  for (unsigned unit = 0; unit < CYCLE_UNITS; unit++)
    if (c->wake[unit] < next) next = c->wake[unit];
  return next > c->now ? next : c->now;
}

void cycle_accel_skip(cycle_engine *c, uint64_t cycle) { c->now = cycle; }
