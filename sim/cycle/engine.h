// SPDX-License-Identifier: Apache-2.0
// The state of the cycle engine and the wires between its units. One C file per RTL module of hw/rtl, with the module's
// name; the header of that name says what the other units may ask of it.
//
// Time is an argument. A function that depends on the cycle takes it as `now`, right after the context; a caller that
// asks about another cycle passes that one. The clock c->now belongs to the loop in weft_accel.c, which alone moves it
// (go_to); the shell cycle.c reads it to call the units between cycles, and no unit looks at it.
//
// Order. In every cycle each unit that has to be stepped is stepped once, in the order of units.def: consumers before
// producers. So a unit that looks at another one of higher number sees its registers as they were at the start of the
// cycle, and a unit of lower number has already taken what it wanted. State is updated in place; an entry pushed into a
// queue in this cycle is seen from the next cycle on (its ready time says so).
//
// Waking. A step function returns true when it changed any of its own state or took or gave anything. A unit is stepped
// in a cycle if a change in the cycle before, or already in this one, concerns it (units.def says which units a change
// concerns), or if its `wake` time has come. A unit whose state changes by time alone (a delay line, an answer of
// memory) keeps that time in c->wake[unit]; it must be right whenever the unit is not going to be stepped. A step in
// which nothing can happen must change nothing: stepping every unit in every cycle gives the same result (option
// `eager`, and a test).
//
// Data. In full mode rows are copied at the moment the RTL reads or writes them; in timing-only mode c->data is false
// and no unit touches c->spad, c->acc or main memory.
#ifndef SIM_CYCLE_ENGINE_H
#define SIM_CYCLE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"
#include "sim/cycle/cycle.h"
#include "sim/engine.h"
#include "sim/memsys/memsys.h"

#define CYCLE_NEVER UINT64_MAX

// From units.def: the units in the order in which they are stepped, then the parts of the port, with wake times of
// their own, from CYCLE_BUS = CYCLE_WAKES on. Wake times between CYCLE_STEPPED and CYCLE_WAKES are CYCLE_NEVER.
enum { CYCLE_WAKES = 16 };
typedef enum {
#define CYCLE_UNIT(ID, ...) CYCLE_##ID,
#define CYCLE_PART(...)
#include "sim/cycle/units.def"
#undef CYCLE_UNIT
#undef CYCLE_PART
  CYCLE_STEPPED,
  CYCLE_BEFORE_PARTS = CYCLE_WAKES - 1,
#define CYCLE_UNIT(...)
#define CYCLE_PART(ID, ...) CYCLE_##ID,
#include "sim/cycle/units.def"
#undef CYCLE_UNIT
#undef CYCLE_PART
  CYCLE_UNITS
} cycle_unit_id;
_Static_assert((unsigned)CYCLE_STEPPED <= (unsigned)CYCLE_WAKES, "more units than wake times");

// Why a unit spent a cycle; each unit has its own list of names, 0 is idle and 1 is working.
enum { CYCLE_IDLE, CYCLE_WORKING, CYCLE_CAUSES = SIM_CYCLE_CAUSES };
typedef struct cycle_account {
  uint64_t cycles[CYCLE_CAUSES];
  uint64_t since;
  unsigned cause;
} cycle_account;

typedef struct cycle_done {
  bool valid;
  uint8_t id;  // entry in the file of its class
} cycle_done;

// A command on its way from the command queue to the reservation station.
typedef struct cycle_front_command {
  uint64_t rs1, rs2;
  uint8_t insn;  // isa_id
  bool returns;
  bool from_matmul, from_conv;
} cycle_front_command;

// A command on its way from the reservation station to a controller.
typedef struct cycle_issue {
  uint8_t insn;  // isa_id
  uint8_t id;
  uint64_t rs1, rs2;
} cycle_issue;

// A row request of the load controller (ld_req_* and rd_req_*).
typedef struct cycle_load_row {
  uint64_t address;
  uint32_t laddr;
  uint32_t scale;
  uint16_t cols, repeats, block_stride;
  uint8_t pixel_repeats, cmd;
  bool acc_width, packed, zeros;
} cycle_load_row;

// A row request of the store controller (st_req_*).
typedef struct cycle_store_row {
  uint64_t address;
  uint32_t laddr, scale;
  int32_t qb, qc, qln2, qln2_inverse;
  uint16_t len;
  uint8_t act, block, cmd, stats_id;
  bool to_sp, pool, store;
  bool factor;  // the row multiplies the next one; the address is the scale of the products
} cycle_store_row;

// A row on its way to the DMA writer (wr_req_*); the bytes are borrowed until the writer took it.
typedef struct cycle_write_row {
  uint64_t address;
  const uint8_t *bytes;  // NULL in timing-only mode
  uint16_t len;          // bytes
  uint8_t block;
  bool pool, store;
} cycle_write_row;

// Signals between units within one cycle. Each is set by the unit named whenever that unit is stepped; all are cleared
// at the start of every cycle that is carried out.
typedef struct cycle_wires {
  // bus
  const memsys_beat *beat;  // answer that is there in this cycle, NULL: none; load_path and dma_writer take it
  // local_memory, while writes are being asked for; a bit for each bank
  uint64_t sp_written;   // some write wants the bank (wr_en)
  uint64_t acc_adds;     // the write that won the bank's port accumulates (wr_valid && wr_accumulate)
  uint64_t acc_written;  // some write has the bank's port (wr_valid)
  // local_memory: banks that execute asks for a read, taken or not
  uint64_t sp_asked, acc_asked;
  // execute_writeback: the bank written in this cycle; -1: none
  int32_t ex_sp_bank, ex_acc_bank;
  // load_path: the answer to the load controller (ld_resp)
  uint16_t load_bytes;
  uint8_t load_cmd;
  bool load_answered;
  bool read_granted;       // bus: AR handshake of dma_reader's offer
  bool write_granted;      // bus: W (and AW with the first beat) handshake of dma_writer's offer
  bool ex_acc_accumulate;  // execute_writeback: the row is added
  bool product_done;       // execute_writeback: the last row of a product is written
  uint8_t product_id;
  bool load_adds;      // local_memory: a loaded row asks for the adder
  bool store_asked;    // local_memory: the store path asks for a row, and another unit has the bank
  bool operand_taken;  // store_path: the mesh took an accumulator operand
  // store_path (dispatch): the answer to the store controller (st_resp)
  bool store_answered;
  uint8_t store_cmd;
  bool solitary_preload;  // execute_controller, while counting
  // controllers to the station
  cycle_done done[SIM_CLASSES];
  // station to the front end: loop commands that completed in this cycle
  uint8_t matmul_completed[SIM_CLASSES], conv_completed[SIM_CLASSES];
} cycle_wires;

// The memory port: bus, load_path, dma_writer, dma_reader and load_controller, stepped together on a clock of their own
// (port.c), which may lag behind that of the engine.
enum { CYCLE_PORT_BANKS = 64 };
typedef struct cycle_port {
  uint64_t time;       // the earliest cycle that was not carried out
  uint64_t next;       // the earliest one that has to be
  uint32_t due;        // parts to be stepped in cycle `next`, a bit each from CYCLE_BUS up
  bool lags;           // its cycles are carried out when another unit looks
  bool never_lags;     // a request leaves main memory
  bool room_wanted;    // the station's oldest load waits for room in the load controller's queue alone
  bool writer_wanted;  // the store path has a row that the writer did not take
  uint64_t lags_from;  // at the earliest in this cycle
  uint32_t others;     // commands queued or under way that add to the accumulator, or write zeros
  uint64_t banks;      // scratchpad banks of the commands queued or under way
  uint64_t acc_banks;  // accumulator banks of the commands queued or under way
  uint64_t wrote_at;   // while it lags: the cycle of the latest known write to the scratchpad, and its bank
  uint32_t wrote;
  uint16_t users[CYCLE_PORT_BANKS], acc_users[CYCLE_PORT_BANKS];  // commands of each bank
} cycle_port;

// A register and the sum of its values over all cycles before one, without looking at it in every cycle. The sum is
// what an external counter reads (docs/microarchitecture.md: Counter events).
typedef struct cycle_level {
  uint64_t sum;    // over the cycles before `since`
  uint64_t since;  // first cycle with the value `level`
  uint32_t level, before;
} cycle_level;

// The register changes at the end of cycle `now`; several changes in a cycle add up.
static inline void cycle_level_add(cycle_level *l, uint64_t now, int32_t difference) {
  if (l->since != now + 1) {
    l->sum += (now + 1 - l->since) * l->level;
    l->since = now + 1;
    l->before = l->level;
  }
  l->level += (uint32_t)difference;
}

// In cycle `now`, also when asked after this cycle's changes.
static inline uint32_t cycle_level_at(const cycle_level *l, uint64_t now) {
  return l->since == now + 1 ? l->before : l->level;
}
static inline uint64_t cycle_level_sum(const cycle_level *l, uint64_t now) {
  return l->since == now + 1 ? l->sum - l->before : l->sum + (now - l->since) * l->level;
}

// What the performance counters see of one cycle (docs/microarchitecture.md: Counter events), set only while counting.
typedef struct cycle_events {
  uint64_t bits;  // event number n at bit n
} cycle_events;

typedef struct cycle_engine {
  sim_engine base;
  const hw_array *array;
  hw_derived d;
  arch_memory *memory;
  memsys *timing;
  bool data;             // full mode
  bool stores_to_sp;     // ISA revision 2: the store path may write to the scratchpad
  bool counting;         // a performance counter is in use: every unit is stepped in every cycle and reports its events
  bool eager;            // step every unit in every cycle
  uint32_t may_skip;     // ways to leave out cycles that may be taken, a bit each (skip/skip.def)
  uint32_t skips;        // ways of skip.def in use: none while counting
  uint32_t due;          // units to step in cycle `now`, a bit each, besides those whose wake time has come
  uint8_t issuable;      // by class: the station's oldest command waits for nothing but its controller
  uint64_t now;          // the clock: the cycle being carried out, between cycles the next one
  uint64_t carried_out;  // cycles
  // Execute's streams: scratchpad banks that it asks for in every cycle before execute_until; the earliest cycle whose
  // results write-back may not have written yet.
  uint64_t execute_banks, execute_until, results_at;
  uint64_t wake[CYCLE_UNITS];
  cycle_port port;
  uint64_t load_write;  // load_path: the earliest cycle in which it asks for a bank; if that cycle is carried out, it
                        // is stepped
  const struct cycle_waking *waking;
  cycle_wires w;
  cycle_events ev;
  cycle_account accounts[CYCLE_UNITS];
  arch_fault fault;
  sim_events sink;
  uint64_t bus_read_bytes, bus_written_bytes;                 // beats times bus width
  cycle_level reads_in_flight, writes_in_flight;              // bursts; kept up to date always, for the counters
  uint64_t macs, sp_reads, sp_writes, acc_reads, acc_writes;  // rows, for the energy report

  // Local memory, rows of dim elements.
  int8_t *spad;
  int32_t *acc;
  // log2 of the rows of a bank.
  unsigned sp_bank_shift, acc_bank_shift;

  struct cycle_bus *bus;
  struct cycle_execute *execute;  // writeback, mesh, execute
  struct cycle_load_path *load_path;
  struct cycle_dma_reader *reader;
  struct cycle_dma_writer *writer;
  struct cycle_page_filter *pages;
  struct cycle_store_path *store_path;
  struct cycle_local_memory *local;
  struct cycle_load_controller *load;
  struct cycle_store_controller *store;
  struct cycle_station *station;
  struct cycle_tokens *tokens;  // NULL: the array has a station
  struct cycle_front_end *front;
  struct cycle_pass *pass;
  struct cycle_counters *counters;
} cycle_engine;

#define cycle_skips(c, ID) (((c)->skips >> CYCLE_SKIP_##ID & 1) != 0)

static inline int8_t *cycle_sp_row(const cycle_engine *c, uint32_t row) { return c->spad + (size_t)row * c->d.dim; }
static inline int32_t *cycle_acc_row(const cycle_engine *c, uint32_t row) { return c->acc + (size_t)row * c->d.dim; }

// The unit spends its cycles on `cause` from cycle `now` on, which may lie ahead for a unit that will not be stepped
// while it waits.
static inline void cycle_spend(cycle_engine *c, uint64_t now, cycle_unit_id unit, unsigned cause) {
  cycle_account *a = &c->accounts[unit];
  if (a->cause == cause) return;
  a->cycles[a->cause] += now - a->since;
  a->since = now;
  a->cause = cause;
}

static inline void cycle_event(cycle_engine *c, unsigned number) { c->ev.bits |= UINT64_C(1) << number; }

#endif
