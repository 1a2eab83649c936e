// SPDX-License-Identifier: Apache-2.0
// reservation_station of the cycle engine in lockstep with the Verilated module: behind dut.h, so that the testbench
// hw/rtl/tests/front/rs_test.c drives both at once. Every output is compared in every cycle, at its clock edge. The
// controllers and the front end of the engine are the testbench's pins; the front end is awake in every other cycle in
// which nothing is offered, as records and completions take another way when it sleeps. The sizes are argv of the
// testbench, which the environment repeats: LOCKSTEP_STATION, "loads executes stores order".
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "hw/rtl/tests/front/dut.h"
#include "sim/cycle/execute_controller.h"
#include "sim/cycle/front_end.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/reservation_station.h"
#include "sim/cycle/store_controller.h"

enum { START = 100, EVENTS_MAX = 8 };

// rs_shell.cpp, compiled with these names.
rs_dut *rtl_rs_create(void);
void rtl_rs_destroy(rs_dut *dut);
void rtl_rs_eval(rs_dut *dut, rs_pins *pins);
void rtl_rs_clock(rs_dut *dut);

// The engine is the first member, so that the stand-ins below find the rest.
struct rs_dut {
  cycle_engine c;
  hw_array array;
  rs_dut *rtl;
  rs_pins pins;  // of this cycle
  cycle_issue issued[SIM_CLASSES];
  bool is_issued[SIM_CLASSES], done_taken[SIM_CLASSES];
  sim_event events[EVENTS_MAX];
  unsigned event_count;
};

// ---- what stands at the station's ports

static rs_dut *of(cycle_engine *c) { return (rs_dut *)c; }
static const rs_dut *of_const(const cycle_engine *c) { return (const rs_dut *)c; }

static void take(cycle_engine *c, sim_class unit, const cycle_issue *command) {
  of(c)->issued[unit] = *command;
  of(c)->is_issued[unit] = true;
}

bool cycle_load_ready(const cycle_engine *c, uint64_t now) {
  (void)now;
  return of_const(c)->pins.issue_ready[SIM_CLASS_LOAD];
}
bool cycle_execute_ready(const cycle_engine *c, uint64_t now) {
  (void)now;
  return of_const(c)->pins.issue_ready[SIM_CLASS_EXECUTE];
}
bool cycle_store_ready(const cycle_engine *c, uint64_t now) {
  (void)now;
  return of_const(c)->pins.issue_ready[SIM_CLASS_STORE];
}
uint64_t cycle_execute_ready_at(const cycle_engine *c) {
  (void)c;
  return CYCLE_NEVER;
}
void cycle_load_take(cycle_engine *c, uint64_t now, const cycle_issue *command) {
  (void)now;
  take(c, SIM_CLASS_LOAD, command);
}
void cycle_execute_take(cycle_engine *c, uint64_t now, const cycle_issue *command) {
  (void)now;
  take(c, SIM_CLASS_EXECUTE, command);
}
void cycle_store_take(cycle_engine *c, uint64_t now, const cycle_issue *command) {
  (void)now;
  take(c, SIM_CLASS_STORE, command);
}
void cycle_load_done_taken(cycle_engine *c, uint64_t now) {
  (void)now;
  of(c)->done_taken[SIM_CLASS_LOAD] = true;
}
void cycle_store_done_taken(cycle_engine *c) { of(c)->done_taken[SIM_CLASS_STORE] = true; }
bool cycle_execute_solitary_preload(const cycle_engine *c) { return of_const(c)->pins.solitary_preload; }

static void on_event(void *context, const sim_event *event) {
  rs_dut *dut = context;
  if (dut->event_count < EVENTS_MAX) dut->events[dut->event_count++] = *event;
}

// ---- life

static void read_sizes(hw_array *array) {
  unsigned order;
  const char *text = getenv("LOCKSTEP_STATION");
  if (text == NULL || sscanf(text, "%u %u %u %u", &array->load.reservation_entries, &array->execute.reservation_entries,
                             &array->store.reservation_entries, &order) != 4) {
    fprintf(stderr, "LOCKSTEP_STATION is not set\n");
    exit(2);
  }
  array->store.order = order == 1 ? HW_STORE_ORDER_COMPLETED : HW_STORE_ORDER_ISSUED;
}

rs_dut *rs_create(void) {
  rs_dut *dut = WF_NEW(rs_dut);
  wf_diag diag = wf_diag_to(stderr);
  if (!hw_array_load(&dut->array, "dim4", &diag)) exit(2);
  read_sizes(&dut->array);
  dut->rtl = rtl_rs_create();
  dut->c.array = &dut->array;
  dut->c.d = hw_derive(&dut->array);
  dut->c.now = START;
  dut->c.sink = (sim_events){.context = dut, .event = on_event};
  cycle_station_create(&dut->c);
  return dut;
}

void rs_destroy(rs_dut *dut) {
  cycle_station_destroy(&dut->c);
  rtl_rs_destroy(dut->rtl);
  wf_free(dut);
}

// ---- a cycle

static void differ(const rs_dut *dut, const char *what, uint64_t cycle, uint64_t rtl) {
  if (cycle == rtl) return;
  fprintf(stderr, "cycle %" PRIu64 ": %s: cycle 0x%" PRIx64 ", rtl 0x%" PRIx64 "\n", dut->c.now - START, what, cycle,
          rtl);
  exit(1);
}

void rs_eval(rs_dut *dut, rs_pins *pins) {
  rtl_rs_eval(dut->rtl, pins);
  dut->pins = *pins;
  differ(dut, "busy", cycle_station_busy(&dut->c), pins->busy);
}

static void compare_class(const rs_dut *dut, unsigned unit, unsigned count) {
  const rs_pins *p = &dut->pins;
  const cycle_issue *issued = &dut->issued[unit];
  differ(dut, "entries", count, p->count[unit]);
  differ(dut, "issue", dut->is_issued[unit], p->issue_valid[unit] && p->issue_ready[unit]);
  differ(dut, "completed matrix loop commands", dut->c.w.matmul_completed[unit], p->matmul_completed[unit]);
  differ(dut, "completed convolution commands", dut->c.w.conv_completed[unit], p->conv_completed[unit]);
  if (unit != SIM_CLASS_EXECUTE)
    differ(dut, "completion taken", dut->done_taken[unit], p->done_valid[unit] && p->done_ready[unit]);
  if (!dut->is_issued[unit]) return;
  differ(dut, "funct", isa_insn_at(issued->insn)->funct, p->issue_funct[unit]);
  differ(dut, "rs1", issued->rs1, p->issue_rs1[unit]);
  differ(dut, "rs2", issued->rs2, p->issue_rs2[unit]);
  differ(dut, "id", issued->id, p->issue_id[unit]);
}

static void compare_event(const rs_dut *dut, unsigned *n, sim_event_kind kind, unsigned unit, uint32_t index) {
  differ(dut, "a record", *n < dut->event_count, true);
  const sim_event *event = &dut->events[(*n)++];
  differ(dut, "kind of record", event->kind, kind);
  differ(dut, "cycle of record", event->cycle, dut->c.now);
  if (kind == SIM_EVENT_ALLOC) return;  // the hardware does not tell the number
  differ(dut, "command of record", event->index, index);
  if (kind == SIM_EVENT_ISSUE) differ(dut, "class of record", event->unit, unit);
}

static void compare_events(const rs_dut *dut) {
  const rs_pins *p = &dut->pins;
  unsigned n = 0;
  if (p->trace_alloc) compare_event(dut, &n, SIM_EVENT_ALLOC, 0, 0);
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++)
    if (p->trace_issue[unit]) compare_event(dut, &n, SIM_EVENT_ISSUE, unit, p->trace_issue_index[unit]);
  if (p->trace_done) compare_event(dut, &n, SIM_EVENT_DONE, 0, p->trace_done_index);
  differ(dut, "records", dut->event_count, n);
}

static void begin(rs_dut *dut) {
  cycle_engine *c = &dut->c;
  c->w = (cycle_wires){.solitary_preload = dut->pins.solitary_preload};
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    c->w.done[unit] = (cycle_done){.valid = dut->pins.done_valid[unit], .id = dut->pins.done_id[unit]};
    dut->is_issued[unit] = dut->done_taken[unit] = false;
  }
  dut->event_count = 0;
}

// The front end offers a command, and the station tells.
static void front(rs_dut *dut) {
  cycle_engine *c = &dut->c;
  const rs_pins *p = &dut->pins;
  if (p->alloc_valid) {
    // The bench draws commands of the last revision, which has all that go to the station.
    const isa_insn *insn = isa_find(ISA_REVISIONS, p->funct, p->rs1);
    const cycle_front_command command = {.insn = (uint8_t)insn->id,
                                         .rs1 = p->rs1,
                                         .rs2 = p->rs2,
                                         .from_matmul = p->from_matmul,
                                         .from_conv = p->from_conv};
    sim_class unit;
    differ(dut, "room", cycle_station_take(c, c->now, &command, &unit), p->alloc_ready);
  }
  cycle_station_tell(c, c->now);
}

void rs_clock(rs_dut *dut) {
  unsigned counts[SIM_CLASSES];
  begin(dut);
  cycle_station_step(&dut->c, dut->c.now);
  front(dut);
  cycle_station_counts(&dut->c, dut->c.now, counts);
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) compare_class(dut, unit, counts[unit]);
  compare_events(dut);
  rtl_rs_clock(dut->rtl);
  dut->c.now++;
}
