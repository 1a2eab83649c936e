// SPDX-License-Identifier: Apache-2.0
// The hart's timing off the usual path: see rv64_timing.h.
#include "sim/host/rv64_timing.h"

#include "base/alloc.h"

enum {
  PROBE = 5,           // the L2 asks the data cache for a line that it holds
  RETRY = 2,           // fetch tries again every second cycle while a line is on its way
  QUEUE_MARGIN = 2,    // blocks on their way when fetch stops asking
  PORT_BYTES = 16,     // of the port to the L2, per cycle
  WRITE_BACK = 7,      // cycles that a write-back takes besides its beats
  MULTIPLY_SETUP = 2,  // cycles of an iterative operation besides its steps
  DIVIDE_STEPS = 2,
  SINGLE_BITS = 26,  // of a quotient, with guard bits
  DOUBLE_BITS = 55,
  WORD_BITS = 32,
  LONG_BITS = 64,
};

static void tell_products(rv64_timing *t, unsigned multiply_bits);

// ---- life

rv64_timing *rv64_timing_create(const hw_array *array, uint64_t entry) {
  rv64_timing *t = WF_NEW(rv64_timing);
  t->depth = array->host.fetch_queue - QUEUE_MARGIN;
  t->line_blocks_shift = (unsigned)__builtin_ctz(array->host.line_bytes) - RV64_BLOCK_SHIFT;
  t->line = RV64_NO_BLOCK;
  t->port_watch = UINT64_MAX;
  t->recent = UINT64_MAX;
  t->branch_miss = array->host.branch_miss;
  t->load_delay = array->host.load_delay;
  t->float_single = array->host.float_single;
  t->float_double = array->host.float_double;
  t->float_move = array->host.float_move;
  tell_products(t, array->host.multiply_bits);
  t->divide_bits = array->host.divide_bits;
  t->shortcut = array->host.shortcut_cycles;
  rv64_l1_create(&t->icache, array->host.icache_kib, array->host.icache_ways, array->host.line_bytes);
  rv64_l1_create(&t->dcache, array->host.dcache_kib, array->host.dcache_ways, array->host.line_bytes);
  t->way_mask = ((t->dcache.set_mask + 1) << t->dcache.line_shift) - 1;
  rv64_predictor_create(&t->predictor, array);
  rv64_timing_refetch(t, 1, entry, true);
  return t;
}

void rv64_timing_destroy(rv64_timing *t) {
  if (t == NULL) return;
  rv64_l1_destroy(&t->icache);
  rv64_l1_destroy(&t->dcache);
  rv64_predictor_destroy(&t->predictor);
  wf_free(t);
}

void rv64_timing_restart(rv64_timing *t, uint64_t cycle, uint64_t entry, bool keeps_data) {
  t->now = wf_max(t->now, cycle);
  rv64_timing_refetch(t, t->now + 1, entry, true);
  if (keeps_data) return;
  rv64_l1_clear(&t->dcache);
  t->recent = UINT64_MAX;
}

// ---- fetch

// With `number` blocks asked for before and the last of them in cycle `asked`, those that the queue holds are all but
// the ones still on their way; the request is made as soon as fewer than `depth` of them are left.
uint64_t rv64_timing_wait(const rv64_timing *t, unsigned number) {
  uint64_t ask = t->asked + 2;
  if (t->left[(number - t->depth - 1) % RV64_LEFT] < ask) return ask;
  return wf_max(ask + 1, t->left[(number - t->depth) % RV64_LEFT] + 1);
}

void rv64_timing_refetch(rv64_timing *t, uint64_t cycle, uint64_t target, bool certain) {
  t->block = (target >> RV64_BLOCK_SHIFT) - 1;
  t->asked = cycle - 1;
  t->asked_before = t->asked - 1;
  if (certain) t->certain = cycle + 1;
}

uint64_t rv64_timing_again(host *h, uint64_t now, unsigned blocks, uint64_t next) {
  rv64_timing *t = h->timing;
  uint64_t back = now + RV64_BACK;
  rv64_timing_stray(h, now, next, back - 1);
  rv64_timing_refetch(t, back, (t->block - blocks + 1) << RV64_BLOCK_SHIFT, true);
  uint64_t arrives = 0;
  while (blocks-- != 0) arrives = rv64_timing_ask(t);
  return arrives;
}

// The L2 answers the hart sooner than the accelerator's port.
static uint64_t read_line(host *h, uint64_t cycle, uint64_t address) {
  uint64_t full = rv64_port_memory(h, cycle, address, false);
  return full > cycle + h->timing->shortcut ? full - h->timing->shortcut : cycle + 1;
}

uint64_t rv64_timing_line(host *h, uint64_t now, uint64_t arrives, bool second) {
  rv64_timing *t = h->timing;
  t->line = t->block >> t->line_blocks_shift;
  if (rv64_l1_find(&t->icache, t->line) != NULL) return arrives;
  uint64_t ask = t->asked;
  if (ask > t->certain) ask = wf_max(arrives, now + 1) + RV64_BACK + second;
  uint64_t missed = ask + RV64_FETCH;
  uint64_t full = read_line(h, missed, t->line << (t->line_blocks_shift + RV64_BLOCK_SHIFT));
  if (rv64_l1_find(&t->dcache, t->line) != NULL) full += PROBE;
  t->counts.fetch_misses++;
  *rv64_l1_victim(&t->icache, t->line) = rv64_l1_filled(t->line);
  t->asked = missed + (full - missed + RETRY) / RETRY * RETRY;
  t->asked_before = t->asked - RETRY;
  t->certain = t->asked + 1;
  return t->asked + RV64_FETCH;
}

void rv64_timing_flush(rv64_timing *t) {
  rv64_l1_clear(&t->icache);
  t->line = RV64_NO_BLOCK;
}

// ---- data

static bool present(rv64_timing *t, uint64_t address, bool stores) {
  rv64_line *line = rv64_l1_find(&t->dcache, address >> t->dcache.line_shift);
  if (line == NULL) return false;
  *line |= stores;
  return true;
}

// One line: the access misses, starts again, waits in decode for the line, and hits.
static uint64_t fill(host *h, uint64_t now, uint64_t address, bool stores, unsigned blocks, uint64_t next) {
  rv64_timing *t = h->timing;
  uint64_t back = now + RV64_BACK, ask = back, number = address >> t->dcache.line_shift;
  rv64_line *place = rv64_l1_victim(&t->dcache, number);
  t->counts.data_misses++;
  if (rv64_l1_dirty(*place)) {
    t->counts.written_back++;
    rv64_port_memory(h, back, rv64_l1_number(*place) << t->dcache.line_shift, true);
    ask += (UINT64_C(1) << t->dcache.line_shift) / PORT_BYTES + WRITE_BACK;
  }
  uint64_t full = read_line(h, ask, number << t->dcache.line_shift);
  *place = rv64_l1_filled(number) | stores;
  t->recent = number;
  t->recent_line = place;
  now = wf_max(rv64_timing_again(h, now, blocks, next), full);
  t->left[t->count % RV64_LEFT] = now;
  return now;
}

uint64_t rv64_timing_miss(host *h, uint64_t now, uint64_t address, size_t size, bool stores, unsigned blocks,
                          uint64_t next) {
  if (arch_memory_at(h->memory, address, size) == NULL) return now;  // it will trap
  rv64_timing *t = h->timing;
  uint64_t last = (address + size - 1) >> t->dcache.line_shift << t->dcache.line_shift;
  if (!present(t, address, stores)) now = fill(h, now, address, stores, blocks, next);
  if (last > address && !present(t, last, stores)) now = fill(h, now, last, stores, blocks, next);
  return now;
}

// Cycles before `now` that no load used write a store each.
static inline void settle_stores(rv64_timing *t, uint64_t now) {
  unsigned written = now > t->store_watch ? t->store_count : 0;
  while (written < t->store_count) {
    uint64_t cycle = wf_max(t->settled, t->stores[written].left + RV64_STORE);
    if (cycle >= now) break;
    t->settled = cycle + 1;
    written++;
  }
  t->settled = now;
  if (written == 0) return;
  t->store_count -= written;
  for (unsigned i = 0; i < t->store_count; i++) t->stores[i] = t->stores[written + i];
}

static uint8_t byte_mask(uint64_t address, size_t size) {
  return (uint8_t)(((1U << size) - 1) << address % sizeof(uint64_t));
}

// From the coming cycle on each store takes one to be written.
static void watch_stores(rv64_timing *t, uint64_t now) {
  t->store_watch = now;
  if (t->store_count != 0)
    t->store_watch = wf_max(now, t->stores[t->store_count - 1].left + RV64_STORE - 1) + t->store_count;
}

void rv64_timing_store(rv64_timing *t, uint64_t now, uint64_t address, size_t size) {
  settle_stores(t, now);
  if (t->store_count == RV64_STORES) return;
  t->stores[t->store_count++] =
      (rv64_store){.left = now, .place = (address & t->way_mask) / sizeof(uint64_t), .bytes = byte_mask(address, size)};
  watch_stores(t, now);
}

bool rv64_timing_too_early(rv64_timing *t, uint64_t now, uint64_t address, size_t size) {
  settle_stores(t, now);
  t->settled = now + 1;
  watch_stores(t, now);
  uint64_t place = (address & t->way_mask) / sizeof(uint64_t);
  uint8_t bytes = byte_mask(address, size);
  for (unsigned i = 0; i < t->store_count; i++)
    if (t->stores[i].place == place && (t->stores[i].bytes & bytes) != 0) return true;
  return false;
}

uint64_t rv64_timing_reload(host *h, uint64_t now, unsigned blocks, uint64_t next) {
  rv64_timing *t = h->timing;
  now = rv64_timing_again(h, now, blocks, next);
  t->left[t->count % RV64_LEFT] = now;
  return now;
}

// ---- branches and jumps

// The block that fetch sees a branch or jump in enters the buffer if its going on there costs a cycle: few blocks wait.
static void learn_direct(rv64_timing *t, uint64_t target) {
  bool bubble = t->left[(t->count - 2) % RV64_LEFT] < t->asked + RV64_FETCH;
  if (bubble) rv64_predict_learn(&t->predictor, t->block, target);
}

void rv64_timing_unknown(rv64_timing *t, uint64_t target) {
  learn_direct(t, target);
  t->asked++;
  t->block = (target >> RV64_BLOCK_SHIFT) - 1;
}

static void turn_back(rv64_timing *t, uint64_t now, uint64_t target) {
  rv64_timing_refetch(t, now + 1 + t->branch_miss - RV64_FETCH, target, false);
}

// The history on the wrong path begins with the guess, and is taken back.
void rv64_timing_mispredict(host *h, uint64_t now, uint64_t target, uint64_t other, bool taken) {
  rv64_timing *t = h->timing;
  uint32_t history = t->predictor.history;
  t->predictor.history ^= t->predictor.newest;
  rv64_timing_stray(h, now, other, now + RV64_MEMORY);
  t->predictor.history = history;
  if (taken) rv64_predict_learn(&t->predictor, t->block, target);
  turn_back(t, now, target);
}

void rv64_timing_jump(rv64_timing *t, uint64_t now, uint64_t target) {
  if (!t->predictor.follows)
    turn_back(t, now, target);
  else if (rv64_predict_target(&t->predictor, t->block) == NULL)
    rv64_timing_unknown(t, target);
  else
    t->block = (target >> RV64_BLOCK_SHIFT) - 1;
}

// An indirect jump that was thought to go to `guess`. The history that it finds is restored, the stack of returns is
// not.
static void settle_indirect(host *h, uint64_t now, uint64_t target, uint64_t guess) {
  rv64_timing *t = h->timing;
  if (guess == target) {
    rv64_timing_jump(t, now, target);
    return;
  }
  uint32_t history = t->predictor.history;
  if (guess != RV64_NO_BLOCK) rv64_timing_stray(h, now, guess, now + RV64_MEMORY);
  t->predictor.history = history;
  rv64_predict_learn(&t->predictor, t->block, target);
  turn_back(t, now, target);
}

void rv64_timing_indirect(host *h, uint64_t now, uint64_t target) {
  settle_indirect(h, now, target, rv64_predict_indirect(&h->timing->predictor, h->timing->block));
}

void rv64_timing_return(host *h, uint64_t now, uint64_t target) {
  settle_indirect(h, now, target, rv64_predict_return(&h->timing->predictor, h->timing->block));
}

// ---- the write port of the integer registers

static void set_late(rv64_timing *t, unsigned i, uint64_t at) {
  rv64_late *late = &t->late[i];
  late->at = t->ready[late->rd] = at;
  if (late->of_unit) t->unit_free = at;
}

// Results from the i-th on give way: one in cycle `taken` or, moved there by the one before it, behind that.
static void give_way(rv64_timing *t, unsigned i, uint64_t taken) {
  for (; i < t->late_count && t->late[i].at <= taken; i++) set_late(t, i, ++taken);
}

static void watch_port(rv64_timing *t) { t->port_watch = t->late_count == 0 ? UINT64_MAX : t->late[0].at - RV64_BACK; }

static void forget_written(rv64_timing *t, uint64_t before) {
  unsigned written = 0;
  while (written < t->late_count && t->late[written].at < before) written++;
  t->late_count -= written;
  for (unsigned i = 0; i < t->late_count; i++) t->late[i] = t->late[written + i];
}

void rv64_timing_port(rv64_timing *t, uint64_t now) {
  if (t->late_count == 1 && t->port_watch < now) {  // nearly always
    t->late_count = 0;
    t->port_watch = UINT64_MAX;
    return;
  }
  forget_written(t, now + RV64_BACK);
  give_way(t, 0, now + RV64_BACK);
  watch_port(t);
}

// Those that are there before the new one, or as soon, are written first.
static void insert_late(rv64_timing *t, uint64_t at, rv64_late late) {
  if (t->late_count == RV64_RESULTS) forget_written(t, t->late[0].at + 1);
  unsigned place = t->late_count++;
  for (; place != 0 && t->late[place - 1].at > at; place--) t->late[place] = t->late[place - 1];
  t->late[place] = late;
  set_late(t, place, place != 0 && t->late[place - 1].at == at ? at + 1 : at);
  give_way(t, place + 1, t->late[place].at);
}

// A result that is there in cycle `at`, of the instruction that left decode at `now` and has the port in its own
// write-back.
static inline void add_late(rv64_timing *t, uint64_t now, uint64_t at, rv64_late late) {
  at = wf_max(at, now + RV64_BACK + 1);
  if (__builtin_expect(t->late_count != 0, 0)) forget_written(t, now + RV64_BACK);
  if (__builtin_expect(t->late_count != 0, 0)) {
    insert_late(t, at, late);
  } else {
    t->late_count = 1;
    t->late[0] = late;
    set_late(t, 0, at);
  }
  t->port_watch = t->late[0].at - RV64_BACK;
}

// ---- units

static unsigned bit_count(uint64_t value) { return value == 0 ? 0 : LONG_BITS - (unsigned)__builtin_clzll(value); }

// Steps of multiply_bits; those behind the last set bit of the multiplier are left out, of a product of doublewords
// never the second.
static unsigned product_steps(unsigned multiply_bits, unsigned bits, bool word) {
  unsigned width = word ? WORD_BITS : LONG_BITS, all = (width + multiply_bits - 1) / multiply_bits;
  unsigned needed = (bits + multiply_bits - 1) / multiply_bits + 1;
  if (!word && needed < 2) needed = 2;
  return needed > all ? all : needed;
}

static void tell_products(rv64_timing *t, unsigned multiply_bits) {
  for (unsigned bits = 0; bits <= LONG_BITS; bits++) {
    t->product[bits] = (uint8_t)(MULTIPLY_SETUP + product_steps(multiply_bits, bits, false));
    t->word_product[bits] = (uint8_t)(MULTIPLY_SETUP + product_steps(multiply_bits, bits, true));
  }
}

// The high half of a product needs all steps.
void rv64_timing_multiply(rv64_timing *t, uint64_t now, uint8_t rd, uint64_t a, bool high, bool word) {
  unsigned cycles = word   ? t->word_product[bit_count((uint32_t)a)]
                    : high ? t->product[LONG_BITS]
                           : t->product[bit_count(a)];
  add_late(t, now, now + cycles, (rv64_late){.rd = rd, .of_unit = true});
}

// One step finds divide_bits of the quotient. Steps for its leading zeros are left out, counted by the highest set bits
// of both operands modulo 64: a dividend that is shorter than the divisor gains little.
void rv64_timing_divide(rv64_timing *t, uint64_t now, uint8_t rd, uint64_t a, uint64_t b, bool is_signed, bool word) {
  if (word) {
    a = is_signed ? (uint64_t)(int64_t)(int32_t)(uint32_t)a : (uint32_t)a;
    b = is_signed ? (uint64_t)(int64_t)(int32_t)(uint32_t)b : (uint32_t)b;
  }
  bool negative_a = is_signed && (int64_t)a < 0, negative_b = is_signed && (int64_t)b < 0;
  unsigned signs = negative_a || negative_b ? 1 + (negative_a != negative_b) : 0;
  if (negative_a) a = 0 - a;
  if (negative_b) b = 0 - b;
  unsigned top_a = a == 0 ? 0 : bit_count(a) - 1, top_b = b == 0 ? 0 : bit_count(b) - 1;
  unsigned bits = b == 0 ? LONG_BITS : ((top_a - top_b) % LONG_BITS) + 1;
  unsigned steps = DIVIDE_STEPS + signs + (bits + t->divide_bits - 1) / t->divide_bits;
  add_late(t, now, now + MULTIPLY_SETUP + steps, (rv64_late){.rd = rd, .of_unit = true});
}

// Without bypasses a result is read when its instruction has left the pipeline, or later.
unsigned rv64_timing_float(const rv64_timing *t, bool arithmetic, bool is_double) {
  unsigned latency = !arithmetic ? t->float_move : is_double ? t->float_double : t->float_single;
  return latency > RV64_FLOAT_STAGES ? latency : RV64_FLOAT_STAGES;
}

// A bit of the significand per step, for roots as well.
unsigned rv64_timing_float_divide(const rv64_timing *t, bool is_double) {
  unsigned bits = is_double ? DOUBLE_BITS : SINGLE_BITS;
  return MULTIPLY_SETUP + RV64_FLOAT_STAGES + (bits + t->divide_bits - 1) / t->divide_bits;
}

// ---- the accelerator

// A command leaves at write-back. When its queue is full it starts again and waits in decode, which learns of the room
// one cycle late.
rv64_outcome rv64_timing_command(host *h, const rv64_op *op, uint64_t pc, bool returns, unsigned blocks,
                                 unsigned length) {
  rv64_timing *t = h->timing;
  if (h->config.port.command == NULL) return RV64_TRAP_ILLEGAL;
  uint64_t back = t->now + RV64_BACK, room = rv64_port_room(h, back);
  if (room > back) {
    t->now = wf_max(rv64_timing_again(h, t->now, blocks, pc + length), room + 1);
    t->left[t->count % RV64_LEFT] = t->now;
    if (returns) rv64_timing_writes(t, t->now);
  }
  uint64_t cycle = t->now + RV64_BACK;
  rv64_outcome outcome = rv64_port_timed_command(h, op, pc, returns, &cycle);
  if (returns && outcome == RV64_GO_ON) add_late(t, t->now, cycle + 1, (rv64_late){.rd = op->rd});
  return outcome;
}

// A fence waits in decode until the accelerator is idle; memory accesses before it hold up those behind it until they
// are in write-back.
rv64_outcome rv64_timing_fence(host *h) {
  rv64_timing *t = h->timing;
  t->after_fence = t->accessed + RV64_BACK + 1;
  rv64_outcome outcome = rv64_port_timed_fence(h, &t->now);
  t->left[t->count % RV64_LEFT] = t->now;
  return outcome;
}
