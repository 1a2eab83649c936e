// SPDX-License-Identifier: Apache-2.0
// The state of the flow engine, of fixed size, and what its actors may ask of each other.
//
// Actors (flow_actor) offer the time of their next step; the one with the smallest goes first (flow_run). A step works
// out all times of one thing: a command that enters the station, a burst, an operation of the mesh. FLOW_NEVER: the
// actor waits for something whose time is not known yet; whoever finds that time wakes it.
//
// Times are cycles, as in the records of the cycle engine. Each wait stands in waits.def with its equation; W(NAME) in
// the code marks the place of it.
#ifndef SIM_FLOW_ENGINE_H
#define SIM_FLOW_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/check.h"
#include "arch/config.h"
#include "arch/tokens.h"
#include "base/number.h"
#include "hw/array.h"
#include "sim/cycle/command_rows.h"
#include "sim/cycle/engine.h"
#include "sim/cycle/load_overlap.h"
#include "sim/engine.h"
#include "sim/flow/calendar.h"
#include "sim/flow/pipe.h"

typedef enum { FLOW_FRONT, FLOW_LOAD, FLOW_STORE, FLOW_EXECUTE, FLOW_REPEATS, FLOW_ACTORS } flow_actor;

// ---- the station

enum { FLOW_ENTRIES = 64, FLOW_QUEUE = 256 };

typedef struct flow_entry {
  flow_time alloc;
  flow_time ready;                   // it does not issue before
  uint64_t dependents[SIM_CLASSES];  // entries that wait for its end
  uint32_t index;                    // in the order of allocation
  uint16_t waits;                    // ends that are not known and that it waits for
  bool ends_at_issue;
  bool from_loop, from_conv;
} flow_entry;

// A register of a product, taken apart once: of a preload B or D and C, of a compute A and B or D.
typedef struct flow_operand {
  uint32_t first;       // row of its memory
  uint32_t length;      // from the first row to the one behind the last
  uint16_t rows, cols;  // as they pass the mesh: transposed ones the other way round
  uint8_t bank;         // of the scratchpad + 1; 0: it is in the accumulator
  bool read;            // it has elements
  bool acc, garbage;
} flow_operand;

// What a register of a product says but for its row (operands.h).
typedef struct flow_shape {
  uint64_t word, equal;  // the register that it was found from, and the bits in which another one is like it
  flow_operand operand;
  uint32_t held;  // rows for the station
  bool known;
} flow_shape;

// A command on its way to its unit.
typedef struct flow_issue {
  cycle_front_command command;
  flow_time issue;
  flow_operand operand[2];  // of products: of both registers
} flow_issue;

// How rows are used: one range is written or read, another one read.
typedef enum { FLOW_WRITES, FLOW_READS, FLOW_READS_TOO, FLOW_USES } flow_use;

typedef struct flow_file {
  uint32_t entries;
  uint64_t there;  // entries that had not ended when this was asked last
  // Entries whose end is known, in the order of their ends: a ring. The first `passed` had ended in cycle `asked`.
  uint8_t by_end[FLOW_ENTRIES];
  uint32_t ends_first, ends, passed;
  uint64_t asked;
  uint32_t uses;                // a bit for each flow_use that there was
  uint32_t queue;               // commands that have issued and have not left their unit's queue, at most
  flow_time end[FLOW_ENTRIES];  // 0: never used; FLOW_AT_NEVER: not known
  flow_time room_before;        // what the entry before waited for: with one more entry this one would, too
  flow_entry entry[FLOW_ENTRIES];
  int32_t rows_from[FLOW_USES][FLOW_ENTRIES], rows_end[FLOW_USES][FLOW_ENTRIES];  // end 0: none
  // Commands count from 0 in their class. A ring of those that the unit has not taken, and when commands left.
  uint32_t allocated, issued, taken, left;
  uint32_t ring;  // its length - 1
  flow_issue of[FLOW_QUEUE];
  uint8_t slot[FLOW_QUEUE];  // in the station; that of a configuration may have a new command already
  flow_time leave[FLOW_QUEUE];
  flow_time last_issue;
} flow_file;

// ---- units

enum { FLOW_TRACKED = 260, FLOW_ROWS = 32 };

typedef struct flow_load_state {
  uint64_t stride;
  uint32_t scale;
  uint16_t block_stride;
  uint8_t pixel_repeats;
  bool shrink, packed;
} flow_load_state;

// A mvin, taken apart.
typedef struct flow_load_command {
  uint64_t address, stride;
  uint32_t laddr, bytes, cols, rows_read, repeats, copies;
  uint16_t block_stride;
  bool wide, packed, zeros, empty, scaled;
  uint8_t slot;  // in the station
  cycle_load_rows rows;
} flow_load_command;

// A burst of a row: so many bytes from an offset on.
typedef struct flow_burst {
  uint32_t size, bytes, offset;
} flow_burst;

// How a burst passes the load path, from its first beat on.
typedef struct flow_passage {
  flow_burst burst;
  uint32_t beats, rows;
  uint64_t spacing;  // of its beats
  uint64_t span;     // from the first beat up to the last one
  uint64_t each;     // the path writes a row
  uint64_t merged;   // its last row leaves the merger
  uint64_t taken;    // the path takes the next burst
} flow_passage;

typedef struct flow_tracked {
  cycle_load_rows rows;
  flow_time end;
  uint8_t slot;
} flow_tracked;

typedef struct flow_load {
  flow_load_state states[ARCH_LOAD_STATES];
  bool active;
  bool waking;
  flow_load_command at;           // under way
  uint32_t row;                   // its row
  uint64_t from;                  // of its bytes: address of the next burst
  uint32_t left, done;            // bytes of the row
  bool alike;                     // each row is one burst, and one like the other:
  flow_passage each;              // the burst, as far as known
  flow_time left_queue;           // when the command before left the queue
  flow_time requested;            // the row
  flow_time accepted[FLOW_ROWS];  // rows by the reader, a ring
  uint64_t rows_accepted;
  flow_time chosen, granted, granted_before;  // the last burst, and the grant of the one before
  flow_time candidate;                        // the next burst is chosen
  flow_time next;                             // of the next step
  flow_time end;                              // of the command, as far as known
  uint32_t tracked, limit;
  flow_tracked commands[FLOW_TRACKED];
  flow_ids ids;
  flow_calendar path;      // it holds a burst whose beats are over
  uint64_t path_until;     // the last of these cycles
  flow_time merged_until;  // the merger's row is written
  uint32_t path_room;      // rows between controller and reader
  uint32_t lag;            // from a narrow row's last beat to its write
  uint32_t beat_bytes, max_bytes;
  uint32_t scale_cycles;  // of a narrow row that is scaled
  uint32_t scale_latency;
  flow_time zeros_free;
} flow_load;

// Rows of int32 that are repeated, as biases are, over an accumulator bank that results go to as well; one command
// after the other.
typedef struct flow_repeated {
  flow_time from;  // no write before
  uint64_t count;  // writes to come
  uint8_t slot, bank;
  bool whole;  // no more rows of the command will come
} flow_repeated;

typedef struct flow_repeats {
  uint32_t first, count;
  flow_time at;   // the next write
  uint64_t lead;  // writes of loads and results that come do so at least so long after their actor's time
  flow_repeated of[FLOW_TRACKED];
} flow_repeats;

enum { FLOW_BLOCKS = 64 };

// A block of a row on its way from its bank to the writer.
typedef struct flow_block {
  uint64_t address;  // of the row, if it goes to memory with this block
  uint32_t bytes;    // likewise
  uint8_t slot, bank;
  uint8_t norm;  // arch_norm: what it does at the normaliser
  bool acc : 1, garbage : 1, to_sp : 1;
  bool writes : 1;              // the row goes to memory with this block
  bool statistics : 1;          // ends at the normaliser
  bool gated : 1, factors : 1;  // factors: the row multiplies that of the next block
  bool ends : 1;                // the last one of its command
} flow_block;

// When commands of blocks began, and the cycles in which blocks left each place, by their numbers: rings.
typedef struct flow_way {
  flow_time start[FLOW_BLOCKS], dispatched[FLOW_BLOCKS], entered[FLOW_BLOCKS], scaled[FLOW_BLOCKS], sent[FLOW_BLOCKS];
} flow_way;

// Blocks count from FLOW_BLOCKS; those before have passed the place.
typedef struct flow_places {
  uint32_t requested, dispatched, entered, scaled, sent;
} flow_places;

typedef struct flow_store {
  arch_config config;
  bool active, waking;
  bool full, pooled, image;
  bool usual;        // its blocks are sums of rows, which go to memory as they come
  uint32_t unusual;  // blocks are, up to this one
  uint8_t norm;      // arch_norm of the last block of a row
  flow_block each;   // what all blocks of the command share
  // For a block that passes, for one that it takes.
  flow_time normaliser_free, normaliser_command;
  uint32_t laddr, cols, blocks, rows, count, position;
  uint32_t row, column;  // of the next block; of pooled rows not used
  uint64_t base, stride;
  flow_time start, left_queue;
  flow_places passed;
  flow_block block[FLOW_BLOCKS];
  flow_way way;
  uint32_t norm_room, issue_room, latency, gate_latency;
  uint32_t read;    // a row of the scratchpad is there
  uint32_t passes;  // cycles of a block in the normaliser that does nothing there
  // The row that the writer has.
  bool sending;
  flow_time writer_free, candidate, next;
  uint64_t asks_again;  // for a bank that results are added to; FLOW_NEVER: it does not
  uint64_t from;
  uint32_t bytes;
  flow_ids ids;
  uint32_t beat_bytes, max_bytes;
} flow_store;

enum { FLOW_PRODUCTS = 128, FLOW_REQUESTS = 128 };

// A product whose result goes somewhere.
typedef struct flow_product {
  cycle_row_range rows;  // of its memory, not of both
  flow_time end;         // its last result row is written; FLOW_AT_NEVER: not known
  uint32_t base;
  uint8_t slot, result_rows;
  uint8_t passes;  // operations until its results leave the mesh
  bool acc, accumulate;
} flow_product;

enum { FLOW_CONTROL = 64 };

// An operand of an operation that walks through its rows: row n lies at first + n * step; it has elements from row
// `from` up to `past`.
typedef struct flow_walked {
  uint32_t first, step, from, past;
  bool read, acc;
} flow_walked;

typedef struct flow_walk {
  flow_walked of[3];    // A, B, D
  uint32_t row, total;  // all stand at this row or, a bit each, behind it
  unsigned ahead;
  uint64_t acc_scaled;  // the last row of the accumulator is there
  // Rows between the banks and the mesh, a ring: when they were taken.
  uint64_t taken[FLOW_CONTROL], last_taken;
  bool even;  // the last ones one in a cycle; the ring does not have them
  uint32_t entries, depth;
  uint64_t sp_latency, acc_latency;  // from the read of a row until it may be taken
  uint64_t acc_spacing;              // cycles of the scale units for a row of the accumulator
} flow_walk;

// An operation of the mesh. Commands are those at the head of the queue; NULL: it has none.
typedef struct flow_operation {
  const flow_issue *compute, *preload, *next;
  uint32_t total;
  bool walks;         // through its rows: they do not pass one in a cycle
  uint64_t banks[3];  // what it reads: scratchpad banks + 1; 0: none
} flow_operation;

typedef struct flow_execute {
  bool os, a_transpose, b_transpose, both_dataflows, transposer, bias_garbage, looks_ahead;
  bool usual;        // weight-stationary, nothing transposed
  bool never_usual;  // for tests: no operation is worked out in one go
  bool stepping;
  bool fetching;  // the operation below has rows to fetch, from `at` on
  flow_operation op;
  flow_time at;
  uint64_t started;  // its first row may be fetched
  uint64_t left;
  uint32_t a_stride, c_stride, min_rows;
  flow_time free_at;      // the next operation
  flow_time next;         // of the next step
  uint32_t product_rows;  // of the product that the last preload announced
  uint64_t result_delay;  // from the fetch of a row to its result
  uint64_t enter_delay;   // from the fetch of a row to its entry into the mesh
  flow_walk walk;
  uint64_t fed_from;     // a row that is fetched in this cycle enters the mesh behind those that were
  uint32_t limit, tags;  // products in flight; requests in the mesh
  uint32_t garbage;
  uint32_t first, count;  // products in flight, a ring
  uint32_t out;           // of them, the first ones: those whose end is known
  uint32_t in_sp;         // of them: those that write the scratchpad
  flow_product product[FLOW_PRODUCTS];
  flow_time request[FLOW_REQUESTS];  // when the last row of a request leaves the mesh, a ring
  uint32_t requests;
} flow_execute;

// ---- the front end

enum { FLOW_QUEUES = 4, FLOW_PLACES = 4, FLOW_COMMANDS = 32, FLOW_DONES = 256, FLOW_PASSING = 16 };

// The loop units, in the order of the chain.
typedef enum { FLOW_LOOP_CONV, FLOW_LOOP_MATMUL, FLOW_LOOP_UNITS } flow_loop_unit;

// A queue of two commands. Commands count from 2; rings of the last ones.
typedef struct flow_queue {
  flow_time entered[FLOW_PLACES], left[FLOW_PLACES];
  uint8_t command[FLOW_PLACES];  // its place among those of the chain
  uint32_t in, out;              // commands whose time of entry is known, of leaving
  flow_time floor;               // none passes before it
  bool held;                     // the loop unit behind it is at work: nothing passes
  uint8_t unit;                  // flow_loop_unit, or none
} flow_queue;

// The chain up to the first command of a loop unit: all commands pass, and where they are follows from when they were
// pushed and when they entered the station. Commands count from 0; rings of the last ones.
typedef struct flow_passing {
  flow_time pushed[FLOW_PASSING], entered[FLOW_PASSING];
  cycle_front_command command[FLOW_PASSING];
  uint32_t in, out;  // commands that were pushed, that entered the station
  bool over;         // a command of a loop unit has come
} flow_passing;

// A command of a loop that ended.
typedef struct flow_done {
  flow_time at;
  uint8_t kind;  // sim_class
  bool conv;
} flow_done;

struct flow_loops;

typedef struct flow_front {
  bool moved;        // there may be room for the next command of the host
  bool awaits_room;  // the head waits for an end that is not known
  uint8_t kind;      // sim_class of the head
  uint8_t last;      // queue, whose head enters the station
  flow_passing passing;
  flow_queue queue[FLOW_QUEUES];
  cycle_front_command command[FLOW_COMMANDS];  // those in the chain
  uint32_t places;                             // of commands that are free, a bit each
  flow_time entry;                             // of the head of the last queue
  uint64_t enters;                             // its cycle
  uint32_t loop_commands;                      // of loop units, in the chain
  uint32_t loops_active;                       // loop units at work
  struct flow_loops *loops;
  flow_time pushed;  // the last command
  flow_time room;    // what a command that is pushed has waited for
} flow_front;

struct flow_memory;

// For the energy of a run: counts.c.
typedef struct flow_counts {
  uint64_t macs, sp_reads, sp_writes, acc_reads, acc_writes;
} flow_counts;

// Products whose registers have these shapes, and how many of them were not added to the counts yet.
typedef struct flow_alike {
  flow_shape shape[2];
  uint64_t count;
  flow_counts each;
} flow_alike;

enum { FLOW_ALIKE_BITS = 6, FLOW_ALIKE = 1 << FLOW_ALIKE_BITS };

// Tokens that wait, by giver and taker: the numbers of the commands that push them, a ring.
enum { FLOW_TOKENS = 512 };  // more than a counter holds and a preload keeps back
typedef struct flow_tokens {
  arch_tokens given;  // to the command that enters
  uint32_t pushed[SIM_CLASSES][SIM_CLASSES][FLOW_TOKENS];
  uint32_t oldest[SIM_CLASSES][SIM_CLASSES], waiting[SIM_CLASSES][SIM_CLASSES];
} flow_tokens;

typedef struct flow_engine {
  sim_engine base;
  const hw_array *array;
  hw_derived d;
  arch_memory *memory_space;
  arch_checker *checker;
  flow_log *log;
  arch_fault fault;
  arch_command last;
  uint64_t now;         // the engine was asked about the cycles before
  flow_time idle_at;    // everything known has ended before
  bool waited;          // the caller waits for that
  uint64_t host_there;  // the last line that the hart asked for
  uint64_t next[FLOW_ACTORS];
  uint64_t limit;    // of the steps that are carried out now
  uint64_t step;     // the time of the step that is carried out; no other comes before
  bool every_burst;  // loads step burst by burst
  bool checked;      // commands are legal
  flow_file files[SIM_CLASSES];
  cycle_row_config rows;
  uint8_t class_of[ISA_ID_COUNT];  // by instruction
  uint8_t loop_of[ISA_ID_COUNT];   // likewise: flow_loop_unit, or none
  bool configures[ISA_ID_COUNT];   // likewise
  uint32_t index;                  // commands that entered the station
  flow_tokens *tokens;             // NULL: the array has a station
  flow_counts counts;
  flow_alike alike[2][FLOW_ALIKE];  // of computes, preloads: places follow from their registers
  arch_config counts_config;        // of the commands that were counted
  flow_front front;
  flow_load load;
  flow_repeats repeats;
  flow_store store;
  flow_execute execute;
  struct flow_memory *memory;
  flow_calendar *sp_writes, *acc_results, *acc_adds;  // by bank
  flow_calendar narrow_ends;                          // cycles in which the last row of a burst of int8 is written
  unsigned sp_shift, acc_shift;
  sim_events sink;
  sim_event *events;  // that were not told, in no order
  size_t event_count, event_room;
} flow_engine;

static inline bool flow_failed(const flow_engine *e) { return e->fault.kind != ARCH_FAULT_NONE; }

// Something is busy in the cycles before `t`.
static inline void flow_busy_until(flow_engine *e, flow_time t) { e->idle_at = flow_later(e->idle_at, t); }

// A burst that was answered: beat n in cycle first + n * spacing.
typedef struct flow_seen {
  bool write;
  uint32_t id, bytes, beats;
  uint64_t address, asked, first, spacing;
} flow_seen;
void flow_tell_burst(flow_engine *e, const flow_seen *burst);
void flow_keep_alloc(flow_engine *e, const flow_entry *entry, const cycle_front_command *command);
void flow_keep(flow_engine *e, sim_event_kind kind, sim_class unit, const flow_entry *entry, uint64_t cycle);
static inline void flow_tell(flow_engine *e, sim_event_kind kind, sim_class unit, const flow_entry *entry,
                             uint64_t cycle) {
  if (e->sink.event != NULL) flow_keep(e, kind, unit, entry, cycle);
}

#endif
