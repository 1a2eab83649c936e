// SPDX-License-Identifier: Apache-2.0
// The memory side of the cycle engine (load and store controllers, load and store path, local memory, DMA, page filter)
// in lockstep with the Verilated hw/rtl/tests/memory/weft_memory_bench.sv: behind dut.h, so that
// hw/rtl/tests/memory/data_test.c drives both with its random loads, stores and execute traffic. Handshakes, their
// payload and the events of the units are compared in every cycle, main memory and operands as they are written and
// read.
//
// The testbench's own bus is kept idle: its ports are not connected. Both sides have a memsys of their own, disturbed
// by the same seed, and answer as sim/rtl/bus.c does. Environment: LOCKSTEP_SEED (of the disturbance, 0: none),
// LOCKSTEP_LAZY (1: cycles in which nothing can happen are left out, as the engine does; the hardware must then be
// quiet) and LOCKSTEP_TIMING_ONLY (1: the engine moves no data).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/rtl/tests/memory/bench.h"
#include "hw/rtl/tests/memory/model.h"
#include "sim/cycle/bus.h"
#include "sim/cycle/dma_reader.h"
#include "sim/cycle/dma_writer.h"
#include "sim/cycle/load_controller.h"
#include "sim/cycle/load_path.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/page_filter.h"
#include "sim/cycle/skip/fetch.h"
#include "sim/cycle/skip/results.h"
#include "sim/cycle/store_controller.h"
#include "sim/cycle/store_path.h"
#include "sim/cycle/weft_accel.h"
#include "sim/rtl/bus.h"

// The parameters of weft_memory_bench.sv that model.h does not need.
#ifndef T_SP_SINGLE_PORTED
#define T_SP_SINGLE_PORTED 1
#endif
#ifndef T_READ_DELAY
#define T_READ_DELAY 4
#endif
#ifndef T_READ_FIXED
#define T_READ_FIXED 1
#endif
#ifndef T_ACC_SINGLE_PORTED
#define T_ACC_SINGLE_PORTED 0
#endif
#ifndef T_ACC_LATENCY
#define T_ACC_LATENCY 2
#endif
#ifndef T_ACC_SCALE_UNITS
#define T_ACC_SCALE_UNITS 0
#endif
#ifndef T_ACC_SCALE_LATENCY
#define T_ACC_SCALE_LATENCY 8
#endif
#ifndef T_LOAD_SCALE_LATENCY
#define T_LOAD_SCALE_LATENCY 4
#endif
#ifndef T_BUS_BITS
#define T_BUS_BITS 128
#endif
#ifndef T_READS_IN_FLIGHT
#define T_READS_IN_FLIGHT 16
#endif
#ifndef T_WRITES_IN_FLIGHT
#define T_WRITES_IN_FLIGHT 16
#endif

enum { START = 100, BEAT_BYTES = T_BUS_BITS / 8, OPERANDS = 64 };

// memory/shell.cpp and memory/bench.c, compiled with these names.
dut *rtl_dut_create(void);
void rtl_dut_destroy(dut *d);
void rtl_dut_eval(dut *d);
void *rtl_dut_port(dut *d, const char *name, size_t *bytes);
bench *plain_bench_create(bool random, uint32_t latency, uint64_t seed);

// Scratchpad rows on their way to the execute unit, by bank.
typedef struct operands {
  int8_t rows[OPERANDS][DIM];
  uint32_t head, count;
} operands;

typedef struct lockstep {
  dut *rtl;
  // the hardware's bus
  memsys *timing;
  arch_memory memory;
  sim_rtl_bus *bus;
  weft_rtl_inputs in;
  weft_rtl_outputs out;
  bool clock_was_high;
  // the engine
  hw_array array;
  cycle_engine c;
  arch_memory engine_memory;
  bool started, lazy, changed;
  uint64_t compared, left_out;
  uint64_t read_bytes;  // by the hardware before this cycle
  operands sp[T_SP_BANKS];
} lockstep;

static lockstep *the_lockstep;  // dut.h has no room for a context of the test's own

// ---- ports

typedef struct port {
  uint8_t *data;
  size_t bytes;
} port;

static port find(const lockstep *l, const char *name) {
  port p;
  p.data = rtl_dut_port(l->rtl, name, &p.bytes);
  if (p.data == NULL) {
    fprintf(stderr, "no port %s\n", name);
    exit(2);
  }
  return p;
}

static uint64_t get(const lockstep *l, const char *name) {
  port p = find(l, name);
  uint64_t value = 0;
  memcpy(&value, p.data, p.bytes < 8 ? p.bytes : 8);
  return value;
}

static void set(const lockstep *l, const char *name, uint64_t value) {
  port p = find(l, name);
  memcpy(p.data, &value, p.bytes < 8 ? p.bytes : 8);
}

// Field `index` of `width` bits.
static uint64_t field(const lockstep *l, const char *name, uint32_t index, uint32_t width) {
  port p = find(l, name);
  uint64_t value = 0;
  for (uint32_t i = 0; i < width; i++) {
    size_t bit = (size_t)index * width + i;
    value |= (uint64_t)(p.data[bit / 8] >> (bit % 8) & 1) << i;
  }
  return value;
}

static void compare(lockstep *l, const char *what, uint64_t engine, uint64_t hardware) {
  l->compared++;
  if (engine == hardware) return;
  fprintf(stderr, "cycle %" PRIu64 ": %s is %" PRIx64 " in the engine, %" PRIx64 " in the hardware\n", l->c.now, what,
          engine, hardware);
  exit(1);
}

// ---- the hardware's bus

static bool is_bus_port(const char *name) {
  static const char *const inputs[] = {"arready_i", "rvalid_i", "rid_i",    "rdata_i", "rlast_i",
                                       "awready_i", "wready_i", "bvalid_i", "bid_i"};
  static const char *const outputs[] = {"arvalid_o", "awvalid_o", "wvalid_o"};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (strcmp(name, inputs[i]) == 0) return true;
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
    if (strcmp(name, outputs[i]) == 0) return true;
  return false;
}

static void read_outputs(lockstep *l) {
  weft_rtl_outputs *o = &l->out;
  o->ar_valid = (uint8_t)get(l, "arvalid_o");
  o->ar_id = (uint32_t)get(l, "arid_o");
  o->ar_addr = get(l, "araddr_o");
  o->ar_len = (uint8_t)get(l, "arlen_o");
  o->ar_size = (uint8_t)get(l, "arsize_o");
  o->r_ready = (uint8_t)get(l, "rready_o");
  o->aw_valid = (uint8_t)get(l, "awvalid_o");
  o->aw_id = (uint32_t)get(l, "awid_o");
  o->aw_addr = get(l, "awaddr_o");
  o->aw_len = (uint8_t)get(l, "awlen_o");
  o->aw_size = (uint8_t)get(l, "awsize_o");
  o->aw_user = (uint8_t)get(l, "awuser_o");
  o->w_valid = (uint8_t)get(l, "wvalid_o");
  o->w_last = (uint8_t)get(l, "wlast_o");
  o->b_ready = (uint8_t)get(l, "bready_o");
  port data = find(l, "wdata_o"), strobe = find(l, "wstrb_o");
  memcpy(o->w_data, data.data, BEAT_BYTES);
  memcpy(o->w_strb, strobe.data, strobe.bytes);
}

static void write_inputs(lockstep *l) {
  const weft_rtl_inputs *in = &l->in;
  set(l, "arready_i", in->ar_ready);
  set(l, "awready_i", in->aw_ready);
  set(l, "wready_i", in->w_ready);
  set(l, "rvalid_i", in->r_valid);
  set(l, "rid_i", in->r_id);
  set(l, "rlast_i", in->r_last);
  set(l, "bvalid_i", in->b_valid);
  set(l, "bid_i", in->b_id);
  if (in->r_valid) memcpy(find(l, "rdata_i").data, in->r_data, BEAT_BYTES);
}

static void settle(lockstep *l) {
  sim_rtl_bus_respond(l->bus, l->c.now, &l->in);
  l->in.ar_ready = l->in.aw_ready = l->in.w_ready = 0;
  write_inputs(l);
  rtl_dut_eval(l->rtl);
  read_outputs(l);
  sim_rtl_bus_grant(l->bus, l->c.now, &l->out, &l->in);
  write_inputs(l);
  rtl_dut_eval(l->rtl);
  read_outputs(l);
}

// ---- the engine's cycle, with the execute unit and the station played from the hardware's inputs

static uint32_t bits_of(uint32_t rows) { return (uint32_t)__builtin_ctz(rows); }

static uint32_t row_of(const lockstep *l, const char *name, uint32_t bank, uint32_t bank_rows) {
  return bank * bank_rows + (uint32_t)field(l, name, bank, bits_of(bank_rows));
}

static void ask_for_results(lockstep *l) {
  cycle_engine *c = &l->c;
  for (uint32_t b = 0; b < T_SP_BANKS; b++) {
    if (field(l, "sp_wr_en_i", b, 1) == 0) continue;
    c->w.ex_sp_bank = (int32_t)b;
    cycle_local_execute_write(c, c->now, false, row_of(l, "sp_wr_addr_i", b, T_SP_BANK_ROWS), false);
  }
  for (uint32_t b = 0; b < T_ACC_BANKS; b++) {
    if (field(l, "acc_wr_valid_i", b, 1) == 0) continue;
    c->w.ex_acc_bank = (int32_t)b;
    c->w.ex_acc_accumulate = get(l, "acc_wr_accumulate_i") != 0;
    cycle_local_execute_write(c, c->now, true, row_of(l, "acc_wr_addr_i", b, T_ACC_BANK_ROWS), c->w.ex_acc_accumulate);
  }
}

// After the reads of the cycle: this execute unit reads rows in the cycle in which it writes them, which no hazard
// check keeps apart here.
static void write_results(lockstep *l) {
  cycle_engine *c = &l->c;
  if (!c->data) return;
  for (uint32_t b = 0; b < T_SP_BANKS; b++) {
    if (field(l, "sp_wr_en_i", b, 1) == 0) continue;
    int8_t *to = cycle_sp_row(c, row_of(l, "sp_wr_addr_i", b, T_SP_BANK_ROWS));
    for (uint32_t i = 0; i < DIM; i++)
      if (field(l, "sp_wr_mask_i", i, 1)) to[i] = (int8_t)field(l, "sp_wr_data_i", i, 8);
  }
  for (uint32_t b = 0; b < T_ACC_BANKS; b++) {
    if (field(l, "acc_wr_valid_i", b, 1) == 0) continue;
    int32_t *to = cycle_acc_row(c, row_of(l, "acc_wr_addr_i", b, T_ACC_BANK_ROWS));
    for (uint32_t i = 0; i < DIM; i++) {
      uint32_t old = get(l, "acc_wr_accumulate_i") ? (uint32_t)to[i] : 0;
      if (field(l, "acc_wr_mask_i", i, 1)) to[i] = (int32_t)((uint32_t)field(l, "acc_wr_data_i", i, 32) + old);
    }
  }
}

static void compare_row(lockstep *l, const char *data, uint32_t bank, const int8_t *row) {
  for (uint32_t i = 0; l->c.data && i < DIM; i++) compare(l, data, (uint8_t)row[i], field(l, data, bank * DIM + i, 8));
}

static void take_operands(lockstep *l) {
  cycle_engine *c = &l->c;
  for (uint32_t b = 0; b < T_SP_BANKS; b++) {
    bool valid = cycle_local_sp_execute_answer(c, c->now, b);
    compare(l, "sp_rsp_valid_o", valid, field(l, "sp_rsp_valid_o", b, 1));
    if (!valid) continue;
    operands *o = &l->sp[b];
    compare_row(l, "sp_rsp_data_o", b, o->rows[o->head]);
    if (field(l, "sp_rsp_ready_i", b, 1) == 0) continue;
    cycle_local_sp_execute_taken(c, c->now, b);
    o->head = (o->head + 1) % OPERANDS;
    o->count--;
  }
  for (uint32_t b = 0; b < T_ACC_BANKS; b++) {
    bool valid = T_NARROW_READS && cycle_store_path_operand(c, c->now, b);
    compare(l, "acc_rsp_valid_o", valid, field(l, "acc_rsp_valid_o", b, 1));
    if (!valid || field(l, "acc_rsp_ready_i", b, 1) == 0) continue;
    int8_t row[DIM];
    cycle_store_path_operand_taken(c, c->now, b, row);
    compare_row(l, "acc_rsp_data_o", 0, row);
  }
}

static void read_operands(lockstep *l) {
  cycle_engine *c = &l->c;
  for (uint32_t b = 0; b < T_SP_BANKS; b++) {
    if (field(l, "sp_rd_valid_i", b, 1) == 0) continue;
    uint32_t row = row_of(l, "sp_rd_addr_i", b, T_SP_BANK_ROWS);
    bool taken = cycle_local_execute_read(c, c->now, false, row, 0, 0);
    compare(l, "sp_rd_ready_o", taken, field(l, "sp_rd_ready_o", b, 1));
    if (!taken) continue;
    operands *o = &l->sp[b];
    int8_t *to = o->rows[(o->head + o->count++) % OPERANDS];
    if (c->data) memcpy(to, cycle_sp_row(c, row), DIM);
  }
  for (uint32_t b = 0; b < T_ACC_BANKS; b++) {
    if (field(l, "acc_rd_valid_i", b, 1) == 0) continue;
    uint32_t row = row_of(l, "acc_rd_addr_i", b, T_ACC_BANK_ROWS);
    bool taken = cycle_local_execute_read(c, c->now, true, row, (uint32_t)get(l, "acc_rd_scale_i"),
                                          (uint8_t)get(l, "acc_rd_act_i"));
    compare(l, "acc_rd_ready_o", taken, field(l, "acc_rd_ready_o", b, 1));
  }
}

static cycle_issue command_at(const lockstep *l, const char *const names[4]) {
  const uint64_t rs1 = get(l, names[1]);
  const isa_insn *insn = isa_find(l->c.array->isa.revision, (unsigned)get(l, names[0]), rs1);
  return (cycle_issue){.insn = (uint8_t)insn->id, .rs1 = rs1, .rs2 = get(l, names[2]), .id = (uint8_t)get(l, names[3])};
}

// Returns whether the station took or gave anything.
static bool play_station(lockstep *l) {
  static const char *const load[] = {"ld_funct_i", "ld_rs1_i", "ld_rs2_i", "ld_id_i"};
  static const char *const store[] = {"st_funct_i", "st_rs1_i", "st_rs2_i", "st_id_i"};
  cycle_engine *c = &l->c;
  const cycle_done *ld = &c->w.done[SIM_CLASS_LOAD], *st = &c->w.done[SIM_CLASS_STORE];
  compare(l, "ld_done_valid_o", ld->valid, get(l, "ld_done_valid_o"));
  compare(l, "st_done_valid_o", st->valid, get(l, "st_done_valid_o"));
  if (ld->valid) compare(l, "ld_done_id_o", ld->id, get(l, "ld_done_id_o"));
  if (st->valid) compare(l, "st_done_id_o", st->id, get(l, "st_done_id_o"));
  compare(l, "ld_ready_o", cycle_load_ready(c, c->now), get(l, "ld_ready_o"));
  compare(l, "st_ready_o", cycle_store_ready(c, c->now), get(l, "st_ready_o"));
  bool changed = ld->valid || st->valid;
  if (ld->valid)
    cycle_load_done_taken(c, c->now);
  else if (st->valid)
    cycle_store_done_taken(c);
  cycle_issue command;
  if (get(l, "ld_valid_i") && cycle_load_ready(c, c->now)) {
    command = command_at(l, load);
    cycle_load_take(c, c->now, &command);
    changed = true;
  }
  if (get(l, "st_valid_i") && cycle_store_ready(c, c->now)) {
    command = command_at(l, store);
    cycle_store_take(c, c->now, &command);
    changed = true;
  }
  return changed;
}

static void compare_offers(lockstep *l) {
  const memsys_request *read = cycle_reader_offer(&l->c, l->c.now), *write = cycle_writer_offer(&l->c, l->c.now);
  compare(l, "arvalid_o", read != NULL, l->out.ar_valid);
  compare(l, "wvalid_o", write != NULL, l->out.w_valid);
  if (read != NULL) {
    compare(l, "araddr_o", read->address, l->out.ar_addr);
    compare(l, "arid_o", read->id, l->out.ar_id);
    compare(l, "arlen_o", read->bytes / BEAT_BYTES - 1, l->out.ar_len);
  }
  if (write != NULL && l->out.aw_valid) {
    compare(l, "awaddr_o", write->address, l->out.aw_addr);
    compare(l, "awid_o", write->id, l->out.aw_id);
    compare(l, "awuser_o", write->partial, l->out.aw_user);
    compare(l, "awlen_o", write->bytes / BEAT_BYTES - 1, l->out.aw_len);
  }
}

static void compare_bus(lockstep *l) {
  const cycle_engine *c = &l->c;
  compare(l, "an AR handshake", c->w.read_granted, l->in.ar_ready && l->out.ar_valid);
  compare(l, "a W handshake", c->w.write_granted, l->in.w_ready && l->out.w_valid);
  compare(l, "the bytes read", cycle_bus_read_bytes(c, c->now + 1),
          l->read_bytes + (l->in.r_valid && l->out.r_ready ? BEAT_BYTES : 0));
  uint64_t events = c->ev.bits >> 8 & 7, store = c->ev.bits >> 11 & 11;
  events |= (store & 3) << 3 | (store >> 3) << 5;
  compare(l, "events_o", events, get(l, "events_o"));
}

static bool step_engine(lockstep *l) {
  cycle_engine *c = &l->c;
  c->w = (cycle_wires){.ex_sp_bank = -1, .ex_acc_bank = -1};
  c->ev = (cycle_events){0};
  compare(l, "dma_busy_o", cycle_store_path_busy(c, c->now) || cycle_reader_busy(c, c->now) || cycle_writer_busy(c),
          get(l, "dma_busy_o"));
  compare_offers(l);
  bool changed = cycle_bus_step(c, c->now);
  ask_for_results(l);
  changed |= cycle_load_path_step(c, c->now);
  take_operands(l);
  changed |= cycle_writer_step(c, c->now);
  changed |= cycle_store_path_step(c, c->now);
  changed |= cycle_local_step(c, c->now);
  read_operands(l);
  write_results(l);
  changed |= cycle_store_dispatch_step(c, c->now);
  changed |= cycle_reader_step(c, c->now);
  changed |= cycle_load_step(c, c->now);
  changed |= cycle_store_step(c, c->now);
  changed |= play_station(l);
  if (get(l, "flush_i")) cycle_pages_flush(c, c->now);
  compare_bus(l);
  if (c->fault.kind != ARCH_FAULT_NONE) {
    fprintf(stderr, "%s\n", c->fault.text);
    exit(1);
  }
  return changed;
}

// ---- leaving cycles out

// Something comes from outside: the units that take it would be stepped.
static bool asked_for(const lockstep *l) {
  static const char *const inputs[] = {"sp_rd_valid_i", "acc_rd_valid_i", "sp_wr_en_i", "acc_wr_valid_i", "flush_i"};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (get(l, inputs[i]) != 0) return true;
  if ((get(l, "ld_valid_i") && cycle_load_ready(&l->c, l->c.now)) ||
      (get(l, "st_valid_i") && cycle_store_ready(&l->c, l->c.now)))
    return true;
  return (get(l, "sp_rsp_ready_i") & get(l, "sp_rsp_valid_o")) != 0 ||
         (get(l, "acc_rsp_ready_i") & get(l, "acc_rsp_valid_o")) != 0;
}

// The parts of the port are stepped one by one here.
static bool due(const lockstep *l) {
  for (unsigned unit = 0; unit < CYCLE_UNITS; unit++)
    if (unit != CYCLE_PORT && l->c.wake[unit] <= l->c.now) return true;
  return false;
}

static void expect_quiet(lockstep *l) {
  compare(l, "a left out cycle: AR", false, l->in.ar_ready && l->out.ar_valid);
  compare(l, "a left out cycle: W", false, l->in.w_ready && l->out.w_valid);
  compare(l, "a left out cycle: B", false, l->in.b_valid);
  compare(l, "a left out cycle: load done", false, get(l, "ld_done_valid_o"));
  compare(l, "a left out cycle: store done", false, get(l, "st_done_valid_o"));
  l->left_out++;
}

// ---- a cycle

static void begin(lockstep *l) {
  if (l->started) return;
  l->started = true;
  memcpy(l->engine_memory.bytes, l->memory.bytes, BENCH_MEMORY_BYTES);
}

static void clock_edge(lockstep *l) {
  begin(l);
  bool asked = asked_for(l);
  if (l->lazy && !l->changed && !due(l) && !asked)
    expect_quiet(l);
  else
    l->changed = step_engine(l) || asked;
  if (l->in.r_valid && l->out.r_ready) l->read_bytes += BEAT_BYTES;
  arch_fault fault = {0};
  sim_rtl_bus_transfer(l->bus, l->c.now, &l->in, &l->out, &fault);
  if (fault.kind != ARCH_FAULT_NONE) {
    fprintf(stderr, "%s\n", fault.text);
    exit(1);
  }
  l->c.now++;
}

void dut_eval(dut *d) {
  lockstep *l = the_lockstep;
  bool high = get(l, "clk_i") != 0, reset = get(l, "rst_ni") == 0;
  if (!reset && high) {
    set(l, "clk_i", 0);  // what was settled last still stands
    clock_edge(l);
    set(l, "clk_i", 1);
    rtl_dut_eval(d);
  } else if (!reset && !l->clock_was_high) {
    settle(l);
  } else {
    rtl_dut_eval(d);
  }
  l->clock_was_high = high;
}

// The testbench's bus sees nothing: its ports are memory of the test's own.
void *dut_port(dut *d, const char *name, size_t *bytes) {
  static uint8_t unconnected[32][WEFT_RTL_BUS_BYTES];
  static unsigned used;
  void *data = rtl_dut_port(d, name, bytes);
  return is_bus_port(name) ? unconnected[used++ % 32] : data;
}

// ---- life

static void describe(hw_array *a) {
  hw_array_default(a);
  a->isa.revision = T_SP_STORES ? 2 : 1;
  a->mesh.rows = a->mesh.columns = DIM;
  a->scratchpad.banks = T_SP_BANKS;
  a->scratchpad.single_ported = T_SP_SINGLE_PORTED;
  a->scratchpad.read_delay = T_READ_DELAY;
  a->scratchpad.read_pipeline = T_READ_FIXED ? HW_READ_PIPELINE_FIXED : HW_READ_PIPELINE_QUEUE;
  a->accumulator.banks = T_ACC_BANKS;
  a->accumulator.single_ported = T_ACC_SINGLE_PORTED;
  a->accumulator.sub_banks = T_ACC_SUB_BANKS;
  a->accumulator.latency = T_ACC_LATENCY;
  a->accumulator.full_reads = T_FULL_READS;
  a->accumulator.narrow_reads = a->accumulator.execute_reads = T_NARROW_READS;
  a->accumulator.scale_units = T_ACC_SCALE_UNITS;
  a->accumulator.scale_latency = T_ACC_SCALE_LATENCY;
  a->load.scale_units = T_LOAD_SCALE_UNITS;
  a->load.scale_latency = T_LOAD_SCALE_LATENCY;
  a->load.packed_int4 = T_PACKED_INT4;
  a->units.gate = T_GATE;
  a->dma.bus_bits = T_BUS_BITS;
  a->dma.max_burst_bytes = T_MAX_BURST_BYTES;
  a->dma.reads_in_flight = T_READS_IN_FLIGHT;
  a->dma.writes_in_flight = T_WRITES_IN_FLIGHT;
  a->units.normaliser = T_NORMALISER;
  a->units.pixel_repeat = T_PIXEL_REPEAT;
}

// Local memories may be smaller than an array description can say.
static void derive(hw_derived *d) {
  d->sp_rows = SP_ROWS;
  d->sp_bank_rows = T_SP_BANK_ROWS;
  d->acc_rows = ACC_ROWS;
  d->acc_bank_rows = T_ACC_BANK_ROWS;
  d->row_bits = bits_of(SP_ROWS > ACC_ROWS ? SP_ROWS : ACC_ROWS);
}

static uint64_t setting(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : strtoull(text, NULL, 10);
}

static void create_engine(lockstep *l) {
  cycle_engine *c = &l->c;
  c->array = &l->array;
  c->d = hw_derive(&l->array);
  derive(&c->d);
  c->memory = &l->engine_memory;
  c->timing = memsys_create(&l->array);
  memsys_disturb(c->timing, setting("LOCKSTEP_SEED"));
  c->data = setting("LOCKSTEP_TIMING_ONLY") == 0;
  c->counting = true;
  c->now = START;
  c->sp_bank_shift = bits_of(T_SP_BANK_ROWS);
  c->acc_bank_shift = bits_of(T_ACC_BANK_ROWS);
  if (c->data) {
    c->spad = wf_calloc(SP_ROWS, DIM);
    c->acc = wf_calloc(ACC_ROWS, DIM * sizeof(int32_t));
  }
  for (unsigned unit = 0; unit < CYCLE_UNITS; unit++) c->wake[unit] = CYCLE_NEVER;
  c->results_at = CYCLE_NEVER;
  cycle_bus_create(c);
  cycle_pages_create(c);
  cycle_local_create(c);
  cycle_load_path_create(c);
  cycle_reader_create(c);
  cycle_writer_create(c);
  cycle_store_path_create(c);
  cycle_load_create(c);
  cycle_store_create(c);
}

static void destroy_engine(lockstep *l) {
  cycle_engine *c = &l->c;
  cycle_store_destroy(c);
  cycle_load_destroy(c);
  cycle_store_path_destroy(c);
  cycle_writer_destroy(c);
  cycle_reader_destroy(c);
  cycle_load_path_destroy(c);
  cycle_local_destroy(c);
  cycle_pages_destroy(c);
  cycle_bus_destroy(c);
  wf_free(c->spad);
  wf_free(c->acc);
  memsys_destroy(c->timing);
}

dut *dut_create(void) {
  lockstep *l = the_lockstep = WF_NEW(lockstep);
  l->rtl = rtl_dut_create();
  l->lazy = setting("LOCKSTEP_LAZY") != 0;
  describe(&l->array);
  l->engine_memory = (arch_memory){.bytes = wf_alloc(BENCH_MEMORY_BYTES, 1), .size = BENCH_MEMORY_BYTES};
  l->timing = memsys_create(&l->array);
  memsys_disturb(l->timing, setting("LOCKSTEP_SEED"));
  l->bus = sim_rtl_bus_create(&l->array, &l->memory, l->timing);
  create_engine(l);
  return l->rtl;
}

// The testbench's memory is the hardware's.
bench *bench_create(bool random, uint32_t latency, uint64_t seed) {
  bench *b = plain_bench_create(random, latency, seed);
  the_lockstep->memory = (arch_memory){.bytes = b->memory, .size = BENCH_MEMORY_BYTES};
  return b;
}

void dut_destroy(dut *d) {
  lockstep *l = the_lockstep;
  for (uint32_t i = 0; l->c.data && i < BENCH_MEMORY_BYTES; i++)
    if (l->memory.bytes[i] != l->engine_memory.bytes[i])
      compare(l, "a byte of memory", l->engine_memory.bytes[i], l->memory.bytes[i]);
  printf("%" PRIu64 " values compared, %" PRIu64 " of %" PRIu64 " cycles left out\n", l->compared, l->left_out,
         l->c.now - START);
  destroy_engine(l);
  sim_rtl_bus_destroy(l->bus);
  memsys_destroy(l->timing);
  wf_free(l->engine_memory.bytes);
  rtl_dut_destroy(d);
  wf_free(l);
}

// The execute unit played here goes row by row: it has no streams to be disturbed, no results to catch up.
void cycle_fetch_leave(cycle_engine *c, uint64_t now) { (void)c, (void)now; }
uint64_t cycle_execute_acc_banks(const cycle_engine *c) {
  (void)c;
  return UINT64_MAX;
}
void cycle_results_show(cycle_engine *c, uint64_t now) { (void)c, (void)now; }

void cycle_fail(cycle_engine *c, const char *format, ...) {
  (void)c;
  fprintf(stderr, "cycle_fail: %s\n", format);
  exit(1);
}
