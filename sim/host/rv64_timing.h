// SPDX-License-Identifier: Apache-2.0
// When the hart does what: an in-order pipeline that issues one instruction per cycle, after Rocket.
//
//   fetch 2 cycles -> decode -> execute -> memory -> write-back
//
// The clock of the model is the cycle in which an instruction leaves decode (`now`); it is in execute one cycle later,
// in memory two, in write-back three. From there on nothing waits: an instruction that cannot go on (a miss of the data
// cache, a full command queue) is fetched again and waits in decode.
//
// Fetch asks for one block of 4 bytes per cycle and holds as many as its queue has room for; what is asked for when
// follows from the cycles in which earlier blocks left the queue. It follows predicted branches and jumps. A block of a
// line that is not in the instruction cache is passed on empty: the instruction that needs it starts again from
// write-back, because only a fetch that is certain to be needed may fill the cache.
//
// A register is ready when decode may read it so that the value arrives in time over the bypasses. All times are those
// of the accelerator's clock and depend on the program and the answers of the port alone.
//
// The integer registers have one write port. An instruction with an integer destination, x0 as well, has it in its
// write-back; a result of the multiplier and divider or of the accelerator takes the first cycle that is left. The
// instruction that needs the register or the unit leaves decode in that cycle.
#ifndef SIM_HOST_RV64_TIMING_H
#define SIM_HOST_RV64_TIMING_H

#include "base/number.h"
#include "sim/host/rv64.h"
#include "sim/host/rv64_l1.h"
#include "sim/host/rv64_predict.h"

enum {
  RV64_FETCH = 2,   // from asking for a block to its arrival in decode
  RV64_MEMORY = 2,  // from decode to the stage in which branches are settled
  RV64_BACK = 3,    // from decode to write-back
  RV64_BLOCK_SHIFT = 2,
  RV64_READY_F = RV64_SINK + 1,  // floating-point registers stand behind the others
  RV64_READY_COUNT = RV64_READY_F + 32,
  RV64_LEFT = 32,         // blocks remembered: more than the fetch queue holds
  RV64_STORE = 2,         // from decode until a store may be written, when execute then holds no load
  RV64_STORES = 4,        // more than can wait: a store's own cycle in execute is one in which another is written
  RV64_RESULTS = 16,      // that wait for the write port: the unit's and the accelerator's
  RV64_FLOAT_STAGES = 3,  // without bypass: a result is read when its instruction has left the pipeline
};

// A result on its way to an integer register.
typedef struct rv64_late {
  uint64_t at;  // when it is written, unless an instruction takes the port in that cycle
  uint8_t rd;
  bool of_unit;  // the multiplier and divider keeps it until then
} rv64_late;

// A store on its way to the data cache.
typedef struct rv64_store {
  uint64_t left;   // decode
  uint64_t place;  // the doubleword, within a way
  uint8_t bytes;   // of it, as a mask
} rv64_store;

struct rv64_timing {
  uint64_t now;
  uint64_t ready[RV64_READY_COUNT];  // [0], x0, stays 0
  uint64_t unit_free, float_free;    // multiplier and divider; divider of floating point
  uint64_t port_watch;  // an instruction that leaves decode from here on takes the port from the first of `late`, or
                        // finds it written; UINT64_MAX: there is none
  unsigned late_count;
  rv64_late late[RV64_RESULTS];  // by time, no two in one cycle
  // fetch
  uint64_t block;                // last one that decode has seen a part of: address / 4
  uint64_t asked, asked_before;  // cycle of the request for it, and for the one before
  uint64_t certain;              // requests up to this cycle come from a restart: the instruction is needed
  uint64_t line;                 // of `block`; in the instruction cache
  uint64_t left[RV64_LEFT];      // when blocks left the queue, by number of the request
  unsigned count, depth;         // requests; how many blocks the queue holds when fetch stops asking
  unsigned line_blocks_shift;
  rv64_l1 icache;
  rv64_predictor predictor;
  // memory
  rv64_l1 dcache;
  uint64_t recent;  // number of a line in it, and the line
  rv64_line *recent_line;
  uint64_t accessed;  // `now` of the last load or store
  // Stores that the data cache holds back: one is written per cycle in which no load is in execute, the oldest first. A
  // load of bytes that are still waiting starts again.
  uint64_t store_watch;  // a load that leaves decode behind this cycle finds none waiting
  uint64_t settled;      // cycles of decode before this one are accounted for
  unsigned store_count;
  rv64_store stores[RV64_STORES];
  uint64_t way_mask;     // the bits of an address that are compared
  uint64_t after_fence;  // loads, stores and commands behind a fence wait in decode until this cycle
  // latencies
  unsigned branch_miss, load_delay, float_single, float_double, float_move, divide_bits;
  uint8_t product[65],
      word_product[65];  // cycles from decode to the result, by the multiplier's bits up to the last set
  unsigned shortcut;     // cycles by which a line arrives sooner than at the accelerator
  host_counts counts;    // fetches: up to the last return of the interpreter, with `counted` requests
  unsigned counted;
};

rv64_timing *rv64_timing_create(const hw_array *array, uint64_t entry);
void rv64_timing_destroy(rv64_timing *t);
// Another program begins in `cycle`, with the caches and predictions of the last; the data cache may be emptied.
void rv64_timing_restart(rv64_timing *t, uint64_t cycle, uint64_t entry, bool keeps_data);

// ---- what is off the usual path (rv64_timing.c). `blocks` is the number of blocks that the instruction at hand lies
// in.

// The block just asked for arrives at `arrives` and is of another line than the one before; `second`: the instruction
// began in the block before. Returns when it arrives in fact.
uint64_t rv64_timing_line(host *h, uint64_t now, uint64_t arrives, bool second);
// A request that finds the queue full: when it is made.
uint64_t rv64_timing_wait(const rv64_timing *t, unsigned number);
// The instruction that left decode at `now` starts again from write-back: when decode has it. `next` is the address
// behind.
uint64_t rv64_timing_again(host *h, uint64_t now, unsigned blocks, uint64_t next);
// Fetch goes on at `target`, asking in `cycle`; certain: from write-back.
void rv64_timing_refetch(rv64_timing *t, uint64_t cycle, uint64_t target, bool certain);
// A load or store whose line is not there, or lies in two lines. Returns the new `now`.
uint64_t rv64_timing_miss(host *h, uint64_t now, uint64_t address, size_t size, bool stores, unsigned blocks,
                          uint64_t next);
// A store left decode at `now`.
void rv64_timing_store(rv64_timing *t, uint64_t now, uint64_t address, size_t size);
// A load left decode at `now`, not behind store_watch: does it read bytes that are still to be written?
bool rv64_timing_too_early(rv64_timing *t, uint64_t now, uint64_t address, size_t size);
// A load of bytes that a store is about to write: it starts again. Returns the new `now`.
uint64_t rv64_timing_reload(host *h, uint64_t now, unsigned blocks, uint64_t next);
void rv64_timing_jump(rv64_timing *t, uint64_t now, uint64_t target);
void rv64_timing_indirect(host *h, uint64_t now, uint64_t target);
void rv64_timing_return(host *h, uint64_t now, uint64_t target);
void rv64_timing_mispredict(host *h, uint64_t now, uint64_t target, uint64_t other, bool taken);
void rv64_timing_unknown(rv64_timing *t, uint64_t target);  // a taken branch that is not in the target buffer
// A product or quotient of the instruction that left decode at `now`.
void rv64_timing_multiply(rv64_timing *t, uint64_t now, uint8_t rd, uint64_t a, bool high, bool word);
void rv64_timing_divide(rv64_timing *t, uint64_t now, uint8_t rd, uint64_t a, uint64_t b, bool is_signed, bool word);
// An instruction that left decode at `now`, not before port_watch, writes an integer register.
void rv64_timing_port(rv64_timing *t, uint64_t now);
// Cycles until a result can be read.
unsigned rv64_timing_float(const rv64_timing *t, bool arithmetic, bool is_double);
unsigned rv64_timing_float_divide(const rv64_timing *t, bool is_double);
void rv64_timing_flush(rv64_timing *t);  // fence.i

rv64_outcome rv64_timing_command(host *h, const rv64_op *op, uint64_t pc, bool returns, unsigned blocks,
                                 unsigned length);
rv64_outcome rv64_timing_fence(host *h);

// rv64_stray.c: fetch goes on at `pc`, behind the instruction that left decode at `now`, and is turned back in cycle
// `until`.
void rv64_timing_stray(host *h, uint64_t now, uint64_t pc, uint64_t until);

// ---- the usual path

// The instruction that left decode at `now` writes an integer register.
static inline void rv64_timing_writes(rv64_timing *t, uint64_t now) {
  if (__builtin_expect(now >= t->port_watch, 0)) rv64_timing_port(t, now);
}

// The line of the data cache in which the address lies, NULL if it is not there.
static inline rv64_line *rv64_timing_data_line(rv64_timing *t, uint64_t address) {
  uint64_t number = address >> t->dcache.line_shift;
  if (__builtin_expect(number == t->recent, 1)) return t->recent_line;
  rv64_line *line = rv64_l1_find(&t->dcache, number);
  if (line == NULL) return NULL;
  t->recent = number;
  t->recent_line = line;
  return line;
}

// Asks for the next block; returns when it arrives.
static inline uint64_t rv64_timing_ask(rv64_timing *t) {
  unsigned number = ++t->count;
  uint64_t ask = t->asked + 1;
  unsigned on_the_way = t->asked == t->asked_before + 1 ? 2 : 1;
  if (__builtin_expect(t->left[(number - t->depth - on_the_way) % RV64_LEFT] >= ask, 0))
    ask = rv64_timing_wait(t, number);
  t->block++;
  t->asked_before = t->asked;
  t->asked = ask;
  return ask + RV64_FETCH;
}

// Decode needs `blocks` more blocks for an instruction (1 or 2), of which it lies in two if `spans`. Returns the
// earliest `now` minus one, which is at least the given one.
static inline uint64_t rv64_timing_fetch(host *h, rv64_timing *t, uint64_t now, intptr_t blocks, bool spans) {
  uint64_t arrives = rv64_timing_ask(t);
  if (__builtin_expect(t->block >> t->line_blocks_shift != t->line, 0))
    arrives = rv64_timing_line(h, now, arrives, spans && blocks == 1);
  if (__builtin_expect(blocks == 2, 0)) {  // decode takes one block per cycle
    now = t->left[t->count % RV64_LEFT] = wf_max(arrives, now + 1);
    arrives = rv64_timing_ask(t);
    if (__builtin_expect(t->block >> t->line_blocks_shift != t->line, 0))
      arrives = rv64_timing_line(h, now, arrives, true);
  }
  return wf_max(now, arrives - 1);
}

// A conditional branch leaves decode at `now`; `target` is where it goes, `other` where it does not.
static inline void rv64_timing_branch(host *h, rv64_timing *t, uint64_t now, uint64_t target, uint64_t other,
                                      bool taken) {
  bool guess = rv64_predict_branch(&t->predictor, t->block, taken);
  if (__builtin_expect(guess != taken, 0)) {
    rv64_timing_mispredict(h, now, target, other, taken);
  } else if (taken) {
    if (rv64_predict_target(&t->predictor, t->block) != NULL)
      t->block = (target >> RV64_BLOCK_SHIFT) - 1;
    else
      rv64_timing_unknown(t, target);
  }
}

#endif
