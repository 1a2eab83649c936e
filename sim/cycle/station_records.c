// SPDX-License-Identifier: Apache-2.0
// The records of a cycle: see station_records.h.
#include "sim/cycle/station_records.h"

void cycle_records_allocated(cycle_records *r, uint32_t index, const cycle_front_command *command) {
  r->any = r->allocated = true;
  r->index = index;
  r->command = *command;
}

void cycle_records_issued(cycle_records *r, sim_class unit, uint32_t index) {
  r->any = true;
  r->issued |= (uint8_t)(1u << unit);
  r->issued_index[unit] = index;
}

void cycle_records_done(cycle_records *r, sim_class unit, uint32_t index) {
  r->any = r->done = true;
  r->done_class = (uint8_t)unit;
  r->done_index = index;
}

static void tell(const cycle_engine *c, uint64_t now, sim_event event) {
  event.cycle = now;
  c->sink.event(c->sink.context, &event);
}

void cycle_records_tell(cycle_engine *c, uint64_t now, cycle_records *r) {
  if (!r->any) return;
  if (r->allocated)
    tell(c, now,
         (sim_event){.kind = SIM_EVENT_ALLOC,
                     .unit = SIM_CLASSES,
                     .index = r->index,
                     .rs1 = r->command.rs1,
                     .rs2 = r->command.rs2,
                     .funct = (uint8_t)isa_insn_at(r->command.insn)->funct});
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++)
    if ((r->issued >> unit & 1) != 0)
      tell(c, now, (sim_event){.kind = SIM_EVENT_ISSUE, .unit = (sim_class)unit, .index = r->issued_index[unit]});
  if (r->done)
    tell(c, now, (sim_event){.kind = SIM_EVENT_DONE, .unit = (sim_class)r->done_class, .index = r->done_index});
  *r = (cycle_records){0};
}
