// The cycle engine's inside: what its units share. One C file per RTL module of hw/rtl, with the module's name.
//
// Time is an argument. A function that depends on the cycle takes it as `now`, right after the context; a caller that
// asks about another cycle passes that one. The clock c->now belongs to the loop in weft_accel.c, which alone moves it
// (go_to); the shell cycle.c reads it to call the units between cycles, and no unit looks at it.
//
// Order. In every cycle each unit that has to is stepped once, in the order of cycle_unit_id: consumers before
// producers. So a unit that looks at another one of higher number sees its registers as they were at the start of the
// cycle, and a unit of lower number has already taken what it wanted. State is updated in place; an entry pushed into a
// queue in this cycle is seen from the next cycle on (its ready time says so).
//
// Waking. A step function returns true when it changed any of its own state or took or gave anything. A unit is stepped
// in a cycle if a change concerns it (cycle_accel_step says whom) in the cycle before or already in this one, or if its
// `wake` time has come. A unit whose state changes by time alone (a delay line, an answer of memory) keeps that time in
// c->wake[unit]; it must be right whenever the unit is not going to be stepped. A step in which nothing can happen must
// change nothing: stepping every unit in every cycle gives the same result (option `eager`, and a test).
//
// Data. In full mode rows are copied at the moment the RTL reads or writes them; in timing-only mode c->data is false
// and no unit touches c->spad, c->acc or main memory.
#ifndef SIM_CYCLE_WEFT_ACCEL_H
#define SIM_CYCLE_WEFT_ACCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/config.h"
#include "arch/local.h"
#include "hw/array.h"
#include "sim/cycle/port.h"
#include "sim/cycle/queue.h"
#include "sim/engine.h"
#include "sim/memsys/memsys.h"

#define CYCLE_NEVER UINT64_MAX

// In the order in which they are stepped.
typedef enum {
  CYCLE_WRITEBACK,         // rows that leave the mesh                                         (execute_writeback.c)
  CYCLE_PORT,              // its parts, below                                                 (port.c)
  CYCLE_MESH,              // operand_select and the mesh's input                              (mesh_with_delays.c)
  CYCLE_STORE_PATH,        // from bank answers to the writer, the scratchpad, the mesh        (store_path.c and below)
  CYCLE_LOCAL_MEMORY,      // read pipelines behind the banks                                  (local_memory.c)
  CYCLE_EXECUTE,           // operand_fetch, control, completions, unroller                    (execute_controller.c)
  CYCLE_STORE_DISPATCH,    // bank reads of the store path and room for its requests           (store_path.c)
  CYCLE_STORE_CONTROLLER,  //                                                                  (store_controller.c)
  CYCLE_STATION,           // completions, issue, allocation; events                           (reservation_station.c)
  CYCLE_FRONT_END,         // unrolled queue, loop units, command queue                        (front_end.c and below)
  CYCLE_COUNTERS,          //                                                                  (counters.c)
  CYCLE_STEPPED,
  // Parts of the port, with wake times of their own.
  CYCLE_BUS = 16,         // grants of this cycle, the answer of this cycle                   (bus.c)
  CYCLE_LOAD_PATH,        // from the beat of this cycle to writes of local memory            (load_path.c and below)
  CYCLE_DMA_WRITER,       // granted beats, answers, room for a row                           (dma_writer.c)
  CYCLE_DMA_READER,       // granted bursts, the next row request                             (dma_reader.c)
  CYCLE_LOAD_CONTROLLER,  //                                                                  (load_controller.c)
  CYCLE_UNITS
} cycle_unit_id;

enum { CYCLE_WAKES = CYCLE_BUS };  // of units that are stepped; those past CYCLE_STEPPED are CYCLE_NEVER

// Why a unit spent a cycle; each unit has its own list of names, 0 is idle and 1 is working.
enum { CYCLE_IDLE, CYCLE_WORKING, CYCLE_CAUSES = 12 };
typedef struct cycle_account {
  uint64_t cycles[CYCLE_CAUSES];
  uint64_t since;
  unsigned cause;
} cycle_account;

typedef struct cycle_done {
  bool valid;
  uint8_t id;  // entry in the file of its class
} cycle_done;

// A command on its way between the reservation station and a controller.
typedef struct cycle_issue {
  uint8_t funct;
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
  bool acc_width, zeros;
} cycle_load_row;

// A row request of the store controller (st_req_*).
typedef struct cycle_store_row {
  uint64_t address;
  uint32_t laddr, scale;
  int32_t qb, qc, qln2, qln2_inverse;
  uint16_t len;
  uint8_t act, block, cmd, stats_id;
  bool to_sp, pool, store;
} cycle_store_row;

// A row on its way to the DMA writer (wr_req_*); the bytes are borrowed until the writer took it.
typedef struct cycle_write_row {
  uint64_t address;
  const uint8_t *bytes;  // NULL in timing-only mode
  uint16_t len;          // bytes
  uint8_t block;
  bool pool, store;
} cycle_write_row;

// Signals between units within one cycle. Each is set by the unit named, every time that unit is stepped, and cleared
// by cycle_begin() at the start of every cycle.
typedef struct cycle_wires {
  // bus
  const memsys_beat *beat;  // answer that is there in this cycle, NULL: none; load_path and dma_writer take it
  // local_memory, while writes are being asked for; a bit for each bank
  uint64_t sp_written;   // some write wants the bank (wr_en)
  uint64_t acc_adds;     // the write that won the bank's port accumulates (wr_valid && wr_accumulate)
  uint64_t acc_written;  // some write has the bank's port (wr_valid)
  uint64_t sp_asked;     // execute asks for a scratchpad read (taken or not)
  uint64_t acc_asked;
  // execute_writeback
  int32_t ex_sp_bank, ex_acc_bank;  // bank written in this cycle; -1: none
  uint16_t load_bytes;              // load_path: the answer to the load controller (ld_resp)
  uint8_t load_cmd;
  bool load_answered;
  bool read_granted;   // bus: AR handshake of dma_reader's offer
  bool write_granted;  // bus: W (and AW with the first beat) handshake of dma_writer's offer
  bool ex_acc_accumulate;
  bool product_done;  // execute_writeback
  uint8_t product_id;
  bool load_adds;      // a loaded row asks for the adder
  bool store_asked;    // the store path asks for a row and somebody else is in its way
  bool operand_taken;  // the mesh took an accumulator operand from the store path
  // store_path (dispatch): the answer to the store controller (st_resp)
  bool store_answered;
  uint8_t store_cmd;
  bool solitary_preload;
  // controllers to the station
  cycle_done done[SIM_CLASSES];
  // station to the front end: loop commands that completed in this cycle
  uint8_t matmul_completed[SIM_CLASSES], conv_completed[SIM_CLASSES];
} cycle_wires;

typedef struct cycle_engine cycle_engine;

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
  uint32_t bytes_read, bytes_written, reads_in_flight, writes_in_flight;
} cycle_events;

struct cycle_engine {
  sim_engine base;
  const hw_array *array;
  hw_derived d;
  arch_memory *memory;
  memsys *timing;
  bool data;          // full mode
  bool stores_to_sp;  // ISA revision 2: the store path may write to the scratchpad
  bool counting;      // a performance counter is in use: every unit is stepped in every cycle and reports its events
  bool eager;         // step every unit in every cycle
  uint32_t due;       // units to step in cycle `now`, a bit each, besides those whose wake time has come
  uint8_t issuable;   // by class: the station's oldest command waits for nothing but its controller
  uint64_t now;          // the clock: the cycle being carried out, between cycles the next one
  uint64_t carried_out;  // cycles
  // Execute's streams: scratchpad banks that it asks for in every cycle before execute_until; the first cycle whose
  // results write-back may not have written yet.
  uint64_t execute_banks, execute_until, results_at;
  uint64_t wake[CYCLE_UNITS];
  cycle_port port;
  uint64_t load_banks;  // load_path: scratchpad banks that its streams will write, perhaps in cycles that are left out
  uint64_t load_write;  // load_path: the first cycle in which it asks for a bank; if that cycle is carried out, it is
                        // stepped
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
  struct cycle_front_end *front;
  struct cycle_counters *counters;
};

static inline int8_t *cycle_sp_row(const cycle_engine *c, uint32_t row) { return c->spad + (size_t)row * c->d.dim; }
static inline int32_t *cycle_acc_row(const cycle_engine *c, uint32_t row) { return c->acc + (size_t)row * c->d.dim; }

// Notes from when on the unit spends its cycles on `cause`.
static inline void cycle_spend(cycle_engine *c, uint64_t now, cycle_unit_id unit, unsigned cause) {
  cycle_account *a = &c->accounts[unit];
  if (a->cause == cause) return;
  a->cycles[a->cause] += now - a->since;
  a->since = now;
  a->cause = cause;
}

static inline void cycle_event(cycle_engine *c, unsigned number) { c->ev.bits |= UINT64_C(1) << number; }

// ---- port.c: bus, load_path, dma_writer, dma_reader and load_controller together
uint32_t cycle_port_step(cycle_engine *c,
                         uint64_t now);  // returns the units that have to look in this cycle, a bit each
void cycle_port_touch(cycle_engine *c);  // somebody else set a wake time of a part
void cycle_port_given(cycle_engine *c, uint64_t now, unsigned part);  // something for a part, in the next cycle
void cycle_port_room(cycle_engine *c);          // the station waits for room in the load controller's queue
void cycle_port_wants_writer(cycle_engine *c);  // the store path has a row that the writer does not take
// Before somebody looks at it: the cycles before this one are carried out, or this one too (not before the port's place
// in the cycle).
void cycle_port_to(cycle_engine *c, uint64_t now);
void cycle_port_through(cycle_engine *c, uint64_t now);
// A scratchpad bank of port.banks is asked for in this cycle: by writeback, before the port's place; by others, after
// it.
void cycle_port_shares_next(cycle_engine *c, uint64_t now);
void cycle_port_shares(cycle_engine *c, uint64_t now);
void cycle_port_end(cycle_engine *c, uint64_t now);  // of lagging, with this cycle carried out
void cycle_port_uses(cycle_engine *c, uint64_t now, cycle_port_use use);
void cycle_port_used(cycle_engine *c, cycle_port_use use);
void cycle_port_wrote(cycle_engine *c, uint32_t row, uint64_t at);  // a row of the scratchpad, while it lags

// ---- bus.c: the memory port. Arbitrates the offers of reader and writer, fetches the data of a granted read, and
// counts bus_read_bytes and bus_written_bytes. With write_granted the writer moves the bytes of its beat to memory; the
// bus has then checked that the burst lies inside.
void cycle_bus_create(cycle_engine *c);
void cycle_bus_destroy(cycle_engine *c);
bool cycle_bus_step(cycle_engine *c, uint64_t now);
void cycle_bus_take(cycle_engine *c, uint64_t now);  // the answer of a write in w.beat is taken in this cycle
// Bytes read and written before `cycle`, which is `now` or the next one: bus_read_bytes counts a burst with its first
// beat, bus_written_bytes one that goes as a whole.
uint64_t cycle_bus_read_bytes(const cycle_engine *c, uint64_t cycle);
uint64_t cycle_bus_written_bytes(const cycle_engine *c, uint64_t cycle);
uint64_t cycle_bus_answer_at(const cycle_engine *c);  // no answer comes before this cycle

// ---- execute_controller.c and what belongs to it (CYCLE_WRITEBACK, CYCLE_MESH, CYCLE_EXECUTE)
void cycle_execute_create(cycle_engine *c);
void cycle_execute_destroy(cycle_engine *c);
bool cycle_writeback_step(cycle_engine *c, uint64_t now);  // sets ex_*, product_*; writes the row
bool cycle_mesh_step(cycle_engine *c, uint64_t now);  // takes the head of the control queue when its rows are there
bool cycle_execute_step(cycle_engine *c,
                        uint64_t now);  // starts operations, reads rows, reports completions, takes an issued command
// The same as its step, which is left out, if that would only report the product that is done in this cycle.
bool cycle_execute_reports(cycle_engine *c, uint64_t now);
bool cycle_execute_ready(const cycle_engine *c, uint64_t now);  // ex_ready: takes a command in this cycle
uint64_t cycle_execute_ready_at(const cycle_engine *c);  // the first cycle in which it is ready; CYCLE_NEVER: not known
// The next cycle after this one in which it takes a command if it is given one, whatever happens until then;
// CYCLE_NEVER: that is not known. The command may be given at once, with `now` in that cycle.
uint64_t cycle_execute_takes_at(const cycle_engine *c, uint64_t now);
void cycle_execute_take(cycle_engine *c, uint64_t now, const cycle_issue *command);
bool cycle_execute_busy(const cycle_engine *c, uint64_t now);
// A scratchpad bank of execute_banks is written in this cycle, before execute_until; before execute is stepped.
void cycle_execute_disturbed(cycle_engine *c, uint64_t now);
// Results of this cycle are needed (c->results_at <= now): they are written, and the wires set.
void cycle_writeback_catch_up(cycle_engine *c, uint64_t now);
// The same results need not be looked at: those of this request, of which more are to come, go to other banks of the
// accumulator.
bool cycle_writeback_elsewhere(const cycle_engine *c, uint64_t now, uint32_t bank);
uint64_t cycle_execute_acc_banks(const cycle_engine *c);     // banks of the accumulator that rows in the mesh go to
bool cycle_execute_solitary_preload(const cycle_engine *c);  // from the registers of cycle `now`

// ---- load_path.c: zero_writer, mvin_scale, pixel_repeater; beat_merger.c
void cycle_load_path_create(cycle_engine *c);
void cycle_load_path_destroy(cycle_engine *c);
bool cycle_load_path_step(cycle_engine *c, uint64_t now);
bool cycle_load_path_ready(const cycle_engine *c, uint64_t now, bool zeros);  // ld_req_ready; after the reader's step
void cycle_load_path_request(cycle_engine *c, uint64_t now, const cycle_load_row *row);
const cycle_load_row *cycle_load_path_offer(const cycle_engine *c,
                                            uint64_t now);  // rd_req: head of the issue queue, NULL: none
bool cycle_load_path_offers(const cycle_engine *c);         // there will be one in the next cycle
void cycle_load_path_offer_taken(cycle_engine *c, uint64_t now);
void cycle_load_path_lag(cycle_engine *c);                    // the port lags after this cycle
void cycle_load_path_end_lag(cycle_engine *c, uint64_t end);  // of the port; `end`: its time
// All that was taken and not answered is streams, written burst by burst; the wake time is that of an answer that ends
// a command.
bool cycle_load_path_whole(const cycle_engine *c);

// ---- dma_reader.c
void cycle_reader_create(cycle_engine *c);
void cycle_reader_destroy(cycle_engine *c);
const memsys_request *cycle_reader_offer(const cycle_engine *c, uint64_t now);  // AR of this cycle, NULL: none
// When there will be one if nothing is offered now, CYCLE_NEVER: not known.
uint64_t cycle_reader_offers_from(const cycle_engine *c, uint64_t now);
void cycle_reader_look_back(cycle_engine *c);  // the port stops lagging: nothing was passed on ahead of its cycle
bool cycle_reader_step(cycle_engine *c, uint64_t now);  // w.read_granted; takes row requests
bool cycle_reader_busy(const cycle_engine *c, uint64_t now);
bool cycle_reader_full(const cycle_engine *c);  // all that may be in flight is with memory, and nothing was answered

// ---- dma_writer.c
void cycle_writer_create(cycle_engine *c);
void cycle_writer_destroy(cycle_engine *c);
const memsys_request *cycle_writer_offer(cycle_engine *c, uint64_t now);  // W of this cycle (with AW), NULL: none
bool cycle_writer_offers_whole(const cycle_engine *c);  // all beats of the burst, if its first is granted
uint64_t cycle_writer_offers_from(const cycle_engine *c, uint64_t now);  // as cycle_reader_offers_from
void cycle_writer_look_back(cycle_engine *c, uint64_t now);  // a flush: pages known in this cycle are not later
bool cycle_writer_step(cycle_engine *c, uint64_t now);       // w.write_granted, answers
bool cycle_writer_ready(cycle_engine *c, uint64_t now);      // wr_req_ready; after its step
// Of a burst that was granted as a whole: what was sent before `cycle` is in main memory.
void cycle_writer_show(cycle_engine *c, uint64_t cycle);
void cycle_writer_take(cycle_engine *c, uint64_t now, const cycle_write_row *row);  // only if it is ready
bool cycle_writer_idle(const cycle_engine *c, uint64_t now);                        // the register behind wr_req_ready
uint64_t cycle_writer_idle_at(const cycle_engine *c);  // when it is if it is not, CYCLE_NEVER: not known
bool cycle_writer_busy(const cycle_engine *c);

// ---- page_filter.c: client 0 is the writer, 1 the reader; cycle_pages_miss is in page_filter.h, included below
void cycle_pages_create(cycle_engine *c);
void cycle_pages_destroy(cycle_engine *c);
void cycle_pages_look(cycle_engine *c, uint64_t now, unsigned client, uint64_t page);  // look_valid_i in this cycle
void cycle_pages_flush(cycle_engine *c, uint64_t now);   // flush_i, after all looks of this cycle
void cycle_pages_report(cycle_engine *c, uint64_t now);  // the events of this cycle

// ---- store_path.c: acc_scale.c, normaliser.c
void cycle_store_path_create(cycle_engine *c);
void cycle_store_path_destroy(cycle_engine *c);
bool cycle_store_path_step(cycle_engine *c, uint64_t now);      // issue stage, scale units, normaliser, their queues
bool cycle_store_dispatch_step(cycle_engine *c, uint64_t now);  // bank reads (after execute's); sets w.store_answered
bool cycle_store_path_ready(const cycle_engine *c, uint64_t now);  // st_req_ready; after the dispatch step
void cycle_store_path_request(cycle_engine *c, uint64_t now, const cycle_store_row *row);
bool cycle_store_path_busy(const cycle_engine *c, uint64_t now);
// Accumulator operands of the execute unit (acc_rsp_*): a scaled row of this bank is there; the mesh takes it before
// store_path is stepped. `row` gets dim bytes in full mode.
bool cycle_store_path_operand(const cycle_engine *c, uint64_t now, unsigned bank);
void cycle_store_path_operand_taken(cycle_engine *c, uint64_t now, unsigned bank, int8_t *row);

// ---- local_memory.c, scratchpad_bank.h, accumulator_bank.c: their functions are in local_memory.h, included below

// ---- load_controller.c: command_tracker.c, load_overlap.c
void cycle_load_create(cycle_engine *c);
void cycle_load_destroy(cycle_engine *c);
bool cycle_load_step(cycle_engine *c, uint64_t now);  // sends a row request, takes w.load_answered, sets w.done[LOAD]
bool cycle_load_ready(const cycle_engine *c, uint64_t now);
void cycle_load_take(cycle_engine *c, uint64_t now, const cycle_issue *command);
void cycle_load_done_taken(cycle_engine *c, uint64_t now);  // the station took w.done[LOAD]
bool cycle_load_busy(const cycle_engine *c);
// Bytes of a command are there: whether they are its last; an answer of a cycle before this one, not the command's
// last.
bool cycle_load_comes(cycle_engine *c, uint8_t cmd, uint32_t bytes);
void cycle_load_answered(cycle_engine *c, uint8_t cmd, uint32_t bytes);
bool cycle_load_waits(const cycle_engine *c);  // has a row request that may have been refused
// The next cycle shows a command as done or, if `room`, room in the queue; the first one in which either may change.
bool cycle_load_shows(const cycle_engine *c, bool room);
uint64_t cycle_load_visible(const cycle_engine *c, bool room);

// ---- store_controller.c
void cycle_store_create(cycle_engine *c);
void cycle_store_destroy(cycle_engine *c);
bool cycle_store_step(cycle_engine *c, uint64_t now);
bool cycle_store_ready(const cycle_engine *c, uint64_t now);
void cycle_store_take(cycle_engine *c, uint64_t now, const cycle_issue *command);
void cycle_store_done_taken(cycle_engine *c);
bool cycle_store_busy(const cycle_engine *c);

// ---- reservation_station.c: command_rows.c
void cycle_station_create(cycle_engine *c);
void cycle_station_destroy(cycle_engine *c);
// Completions (execute, load, store), issue to ready controllers, events. Its wake time is that of a command that may
// issue; one that its controller had no room for (c->issuable) issues after a change of the controller.
bool cycle_station_step(cycle_engine *c, uint64_t now);  // whether a store was issued
bool cycle_station_busy(const cycle_engine *c);
bool cycle_station_can_issue(const cycle_engine *c, uint64_t now);
// The front end offers, after the station's step: room was looked at before this cycle's completions freed entries.
// False: there is none in the command's class, which `unit` tells.
struct cycle_front_command;
bool cycle_station_take(cycle_engine *c, uint64_t now, const struct cycle_front_command *command, sim_class *unit);
// The command that comes in so many cycles, at the end of this one, if none comes before it: takes it now if that is
// the same to everybody.
bool cycle_station_take_early(cycle_engine *c, uint64_t now, const struct cycle_front_command *command, sim_class unit,
                              unsigned cycles);
// At the end of this cycle: the file of the class has no entry for a command in the next one.
bool cycle_station_full(const cycle_engine *c, sim_class unit);
// SIM_CLASSES: of a command that does not go there.
sim_class cycle_station_class(uint8_t funct, uint64_t rs1);
// Valid entries at the start of cycle `now`, also when asked after its steps.
void cycle_station_counts(const cycle_engine *c, uint64_t now, unsigned counts[SIM_CLASSES]);
void cycle_station_room(cycle_engine *c, uint64_t now);  // execute will have room for a command
// Tells the events of the cycles before this one that have not been told.
void cycle_station_tell(cycle_engine *c, uint64_t now);
// The front end, after its allocation: tells the events of this cycle. True if an entry became free in it.
bool cycle_station_report(cycle_engine *c, uint64_t now);

// ---- front_end.c: loop_matmul*.c, loop_conv*.c
void cycle_front_create(cycle_engine *c);
void cycle_front_destroy(cycle_engine *c);
bool cycle_front_step(cycle_engine *c, uint64_t now);
uint64_t cycle_front_ready_at(const cycle_engine *c);  // the first cycle in which it is; CYCLE_NEVER: not known
bool cycle_front_ready(const cycle_engine *c,
                       uint64_t now);  // cmd_ready of cycle `now`, asked for before the cycle is carried out
void cycle_front_push(cycle_engine *c, uint64_t now, const arch_command *command);  // the handshake of cycle `now`
bool cycle_front_busy(const cycle_engine *c);
// Whether the front end has to be stepped in this cycle.
static inline bool cycle_front_awake(const cycle_engine *c, uint64_t now) {
  return c->wake[CYCLE_FRONT_END] <= now || c->eager || c->counting;
}
void cycle_front_settle(cycle_engine *c, uint64_t now);  // what the cycles before this one were spent on is noted
void cycle_front_completed(cycle_engine *c,
                           uint64_t now);  // the station: something completed and the front end is not awake

// ---- counters.c
void cycle_counters_create(cycle_engine *c);
void cycle_counters_destroy(cycle_engine *c);
void cycle_counters_begin(cycle_engine *c,
                          uint64_t now);  // while counting, before the steps of a cycle: clears c->ev, events 1 to 7
bool cycle_counters_step(cycle_engine *c, uint64_t now);  // after all others: needed while counting alone
bool cycle_counters_ready(const cycle_engine *c, uint64_t now);
void cycle_counters_command(cycle_engine *c, uint64_t now, uint64_t rs1, bool returns);  // in the front end's step
// The response of a command taken in t is there once cycle t + 1 was carried out; it is given once.
bool cycle_counters_response(cycle_engine *c, uint64_t now, uint64_t *value);

// ---- weft_accel.c
void cycle_accel_create(cycle_engine *c);
// Carries out cycle `now`.
void cycle_accel_step(cycle_engine *c);
// Where a run ends, if it does not reach its limit: nowhere, where a command can be pushed, where nothing is busy.
typedef enum { CYCLE_TO_LIMIT, CYCLE_TO_ROOM, CYCLE_TO_IDLE } cycle_goal;
// Carries out cycles before `limit` until the goal or a fault, without those in which nothing changes. False: the goal
// is not reached, and nothing will ever change; without a goal only if there is no limit (CYCLE_NEVER) either.
bool cycle_accel_run(cycle_engine *c, uint64_t limit, cycle_goal goal);
bool cycle_accel_busy(cycle_engine *c);
// The first cycle, not before `now`, in which anything can change; CYCLE_NEVER: nothing will.
uint64_t cycle_accel_next(const cycle_engine *c);
// A command was pushed: the front end is stepped in cycle `now`.
const char *cycle_unit_name(cycle_unit_id unit);
// The names of what a unit spends its cycles on, CYCLE_CAUSES of them, NULL past the last; NULL: not reported.
const char *const *cycle_unit_causes(cycle_unit_id unit);
extern const char *const cycle_mesh_causes[CYCLE_CAUSES], *const cycle_dma_writer_causes[CYCLE_CAUSES];
extern const char *const cycle_execute_causes[CYCLE_CAUSES], *const cycle_dma_reader_causes[CYCLE_CAUSES];
extern const char *const cycle_load_controller_causes[CYCLE_CAUSES];
extern const char *const cycle_store_controller_causes[CYCLE_CAUSES];
extern const char *const cycle_front_end_causes[CYCLE_CAUSES];
void cycle_fail(cycle_engine *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#include "sim/cycle/local_memory.h"
#include "sim/cycle/page_filter.h"

#endif
