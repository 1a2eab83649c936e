// SPDX-License-Identifier: Apache-2.0
// The timed hart, one question per test. Programs are words at MACHINE_BASE; the port is a script: memory answers after
// a given time, the command queue has room from a given cycle on, the accelerator is idle from another. What an
// instruction costs is told by two reads of the cycle counter, in code that was run before so that its lines are there.
#include "base/test.h"
#include "sim/host/rv64_timing.h"
#include "sim/host/tests/assemble.h"
#include "sim/host/tests/machine.h"

enum { RA = 1, T0 = 5, T1 = 6, T2 = 7, S0 = 8, S1 = 9, A0 = 10, A1 = 11, A2 = 12, ROUNDS = 3, MEMORY_CYCLES = 40 };
enum { MUL_F7 = 1, DIV_F3 = 4, BEQ = 0, BNE = 1, LB = 0, LD = 3, SD = 3 };

typedef struct script {
  uint64_t memory_cycles;
  uint64_t accesses, writes, last_access, last_address;
  uint64_t room_from, idle_from, response_after;  // response: cycles behind the command
  uint64_t commands, command_cycle[64];
} script;

static uint64_t memory(void *context, uint64_t cycle, uint64_t address, bool write) {
  script *s = context;
  s->accesses++;
  s->writes += write;
  s->last_access = cycle;
  s->last_address = address;
  return cycle + s->memory_cycles;
}

static uint64_t room(void *context, uint64_t cycle) {
  const script *s = context;
  return cycle < s->room_from ? s->room_from : cycle;
}

static host_port_result command(void *context, arch_command *c, uint64_t *cycle, uint64_t *response) {
  script *s = context;
  if (s->commands < 64) s->command_cycle[s->commands] = *cycle;
  s->commands++;
  if (c->returns) *cycle += s->response_after;
  *response = 77;
  return HOST_PORT_DONE;
}

static bool fence(void *context, uint64_t *cycle) {
  const script *s = context;
  if (*cycle < s->idle_from) *cycle = s->idle_from;
  return true;
}

typedef struct bench {
  machine *m;
  hw_array array;
  script s;
} bench;

static bench *begin(void) {
  static bench only;
  only = (bench){.m = machine_create(), .s.memory_cycles = MEMORY_CYCLES};
  hw_array_default(&only.array);
  only.m->config.port =
      (host_port){.context = &only.s, .command = command, .fence = fence, .room = room, .memory = memory};
  return &only;
}

// Registers of the counters: before in S0, after in S1.
#define READ(rd) csr_op(CSRRS, rd, CSR_CYCLE, 0)

// Runs `body` ROUNDS times between two counter reads. The loop's own instructions stand behind the second read.
static host_result run(bench *b, const uint32_t *body, size_t count) {
  uint32_t words[64];
  size_t n = 0;
  words[n++] = addi(T0, 0, ROUNDS);
  size_t top = n;
  words[n++] = READ(S0);
  for (size_t i = 0; i < count; i++) words[n++] = body[i];
  words[n++] = READ(S1);
  words[n++] = addi(T0, T0, -1);
  words[n] = type_b(BNE, T0, 0, (uint32_t)((top - n) * 4));
  n++;
  words[n++] = WFI;
  machine_words(b->m, MACHINE_BASE, words, n);
  b->m->config.timing = &b->array;
  host *h = machine_host(b->m);
  h->x[A0] = MACHINE_DATA;
  h->x[A1] = 3;
  host_result r = machine_run(b->m);
  assert_int_equal(r.end, HOST_STUCK);
  return r;
}

// The cycles of the last time beyond those of one instruction each.
static uint64_t cost(bench *b, const uint32_t *body, size_t count) {
  run(b, body, count);
  const host *h = machine_host(b->m);
  return h->x[S1] - h->x[S0] - 1 - count;
}

#define COST(b, ...) cost(b, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void end(bench *b) { machine_destroy(b->m); }

// ---- pipeline

static void one_instruction_per_cycle(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, addi(T1, A1, 1), addi(T1, T1, 1), addi(T2, T1, 1), addi(T1, T2, 1)), 0);
  end(b);
}

static void a_load_delays_its_user(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, type_i(LOAD, LD, T1, A0, 0), addi(T2, T1, 1)), b->array.host.load_delay);
  end(b);
  b = begin();
  b->array.host.load_delay = 5;
  assert_int_equal(COST(b, type_i(LOAD, LD, T1, A0, 0), addi(T2, T1, 1)), 5);
  end(b);
}

static void a_loaded_byte_is_a_cycle_later(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, type_i(LOAD, LB, T1, A0, 0), addi(T2, T1, 1)), b->array.host.load_delay + 1);
  end(b);
}

static void a_load_that_nobody_uses_is_free(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, type_i(LOAD, LD, T1, A0, 0), addi(T2, A1, 1), addi(T2, A1, 1), addi(T2, T1, 1)), 0);
  end(b);
}

// The load finds the store in the pipeline and starts again.
static void a_load_right_behind_its_store_starts_again(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, type_s(STORE, SD, A0, A1, 0), type_i(LOAD, LD, T1, A0, 0)), RV64_BACK + RV64_FETCH);
  end(b);
  b = begin();
  assert_int_equal(COST(b, type_s(STORE, SD, A0, A1, 8), type_i(LOAD, LD, T1, A0, 0)), 0);
  end(b);
}

#define AGAIN (RV64_BACK + RV64_FETCH)
#define STORE_AT(imm) type_s(STORE, SD, A0, A1, imm)
#define LOAD_AT(imm) type_i(LOAD, LD, 16 + (imm) / 8 % 8, A0, imm)  // each to a register of its own

// A store is written in a cycle in which no load is in execute.
static void loads_hold_a_store_back(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, STORE_AT(0), NOP, LOAD_AT(8), LOAD_AT(16), LOAD_AT(0)), AGAIN);
  end(b);
  b = begin();
  assert_int_equal(COST(b, STORE_AT(0), LOAD_AT(8), NOP, LOAD_AT(0)), 0);
  end(b);
}

// A cycle without load is for the older one.
static void two_stores_wait_in_order(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, STORE_AT(0), STORE_AT(8), LOAD_AT(0)), AGAIN);
  end(b);
  b = begin();
  assert_int_equal(COST(b, STORE_AT(0), STORE_AT(8), LOAD_AT(16), LOAD_AT(24), NOP, LOAD_AT(8)), AGAIN);
  end(b);
  b = begin();
  assert_int_equal(COST(b, STORE_AT(0), STORE_AT(8), LOAD_AT(16), LOAD_AT(24), NOP, LOAD_AT(0)), 0);
  end(b);
}

static void a_load_of_other_bytes_does_not_wait(void **state) {
  (void)state;
  enum { LW = 2, SW = 2 };
  bench *b = begin();
  assert_int_equal(COST(b, type_s(STORE, SW, A0, A1, 0), type_i(LOAD, LW, T1, A0, 4)), 0);
  end(b);
  b = begin();
  assert_int_equal(COST(b, type_s(STORE, SW, A0, A1, 4), type_i(LOAD, LW, T1, A0, 4)), AGAIN);
  end(b);
}

// The cache compares the bits of an address that choose the place in a way.
static void a_load_of_the_same_place_in_a_way_waits(void **state) {
  (void)state;
  bench *b = begin();
  b->array.host.dcache_kib = 4;
  b->array.host.dcache_ways = 4;
  assert_int_equal(COST(b, STORE_AT(0), LOAD_AT(1024)), AGAIN);
  end(b);
  b = begin();
  b->array.host.dcache_kib = 8;
  b->array.host.dcache_ways = 4;
  assert_int_equal(COST(b, STORE_AT(0), LOAD_AT(1024)), 0);
  end(b);
}

// Ends when the rest of the multiplier is zero: 3 takes two steps of 8 bits.
static void a_product_takes_as_long_as_its_multiplier(void **state) {
  (void)state;
  bench *b = begin();
  uint64_t small = COST(b, type_r(OP, 0, MUL_F7, T1, A1, A0), addi(T2, T1, 1));
  assert_int_equal(small, 3);
  end(b);
  b = begin();
  assert_int_equal(COST(b, type_r(OP, 0, MUL_F7, T1, A0, A1), addi(T2, T1, 1)), 6);  // an address of 32 bits: 5 steps
  end(b);
  b = begin();
  assert_int_equal(COST(b, type_r(OP, 0, MUL_F7, T1, A1, A0), addi(T2, A1, 1)), 0);  // no instruction waits
  end(b);
}

static void one_product_at_a_time(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, type_r(OP, 0, MUL_F7, T1, A1, A0), type_r(OP, 0, MUL_F7, T2, A1, A0)), 3);
  end(b);
}

// The multiplier 0 needs a step less, but the product cannot be written before its instruction is out of the pipeline.
static void a_word_product_of_zero_takes_as_long_as_of_one(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, addi(T2, 0, 1), type_r(OP32, 0, MUL_F7, T1, T2, A0), addi(T2, T1, 1)), 3);
  end(b);
  b = begin();
  assert_int_equal(COST(b, addi(T2, 0, 0), type_r(OP32, 0, MUL_F7, T1, T2, A0), addi(T2, T1, 1)), 3);
  end(b);
}

// ---- the write port of the integer registers

#define PRODUCT type_r(OP, 0, MUL_F7, T1, A1, A0)  // there four cycles after it left decode
#define WRITER addi(T2, A1, 1)
#define STORER type_s(STORE, SD, A0, A1, 0)

// Each of the two writers takes the port from the product, which is then there when nothing else is written.
static void a_product_waits_for_the_write_port(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, PRODUCT, STORER, STORER, addi(T2, T1, 1)), 1);
  end(b);
  b = begin();
  assert_int_equal(COST(b, PRODUCT, WRITER, STORER, addi(T2, T1, 1)), 2);
  end(b);
  b = begin();
  assert_int_equal(COST(b, PRODUCT, WRITER, WRITER, addi(T2, T1, 1)), 3);
  end(b);
}

// A write that comes before the product is there does not hold it up.
static void an_earlier_write_is_no_matter(void **state) {
  (void)state;
  bench *b = begin();
  uint64_t alone = COST(b, type_r(OP, 0, MUL_F7, T1, A0, A1), addi(T2, T1, 1));  // five steps
  end(b);
  b = begin();
  assert_int_equal(COST(b, type_r(OP, 0, MUL_F7, T1, A0, A1), WRITER, WRITER, addi(T2, T1, 1)), alone - 2);
  end(b);
}

static void x0_takes_the_write_port(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, PRODUCT, NOP, NOP, addi(T2, T1, 1)), 3);
  end(b);
}

// A product that waits for the port keeps the unit.
static void a_held_up_product_keeps_its_unit(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, PRODUCT, STORER, STORER, type_r(OP, 0, MUL_F7, T2, A1, A0)), 1);
  end(b);
  b = begin();
  assert_int_equal(COST(b, PRODUCT, WRITER, WRITER, type_r(OP, 0, MUL_F7, S0 + 10, A1, A0)), 3);
  end(b);
}

static void a_second_write_waits_for_the_first(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, PRODUCT, addi(T1, A1, 1)), 3);
  end(b);
}

// A quotient of 30 bits (0x80010000 / 3): a step each, with two for what leads and two to set up.
static void a_quotient_takes_a_step_per_bit(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, type_r(OP, DIV_F3, MUL_F7, T1, A0, A1), addi(T2, T1, 1)), 31 + 2 + 2 - 1);
  end(b);
  b = begin();
  b->array.host.divide_bits = 8;
  assert_int_equal(COST(b, type_r(OP, DIV_F3, MUL_F7, T1, A0, A1), addi(T2, T1, 1)), 4 + 2 + 2 - 1);
  end(b);
}

// ---- branches

// A branch that is never taken is predicted from the start.
static void a_predicted_branch_is_free(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, type_b(BEQ, A0, A1, 8), addi(T1, A1, 1)), 0);
  end(b);
}

// The history is part of the index, so after three rounds a taken branch is still a surprise.
static void a_mispredicted_branch_costs(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, type_b(BNE, A0, A1, 4)), b->array.host.branch_miss);
  end(b);
  b = begin();
  b->array.host.branch_miss = 9;
  assert_int_equal(COST(b, type_b(BNE, A0, A1, 4)), 9);
  end(b);
}

// With one outcome of history the second round is known, and the target is in the buffer.
static void a_learnt_branch_is_free(void **state) {
  (void)state;
  bench *b = begin();
  b->array.host.bht_history = 0;
  assert_int_equal(COST(b, type_b(BNE, A0, A1, 4)), 0);
  end(b);
}

// Fetch adds up the target of a jump that is not in the buffer a cycle later than the buffer would give it.
static void a_jump_without_buffer_costs_a_cycle(void **state) {
  (void)state;
  bench *b = begin();
  uint64_t with = COST(b, type_j(0, 4), addi(T1, A1, 1));
  end(b);
  b = begin();
  b->array.host.btb_entries = 0;
  assert_int_equal(with, 0);
  assert_int_equal(COST(b, type_j(0, 4), addi(T1, A1, 1)), 1);
  end(b);
}

// A call and its return: the stack knows where it goes.
static void a_return_is_predicted(void **state) {
  (void)state;
  bench *b = begin();
  // Calls the third, which returns to the second, which leads to the last.
  assert_int_equal(COST(b, type_j(RA, 8), type_j(0, 12), addi(T1, A1, 1), type_i(JALR, 0, 0, RA, 0), NOP), 0);
  end(b);
  b = begin();
  b->array.host.ras_entries = 0;
  b->array.host.btb_entries = 0;
  assert_true(COST(b, type_j(RA, 8), type_j(0, 12), addi(T1, A1, 1), type_i(JALR, 0, 0, RA, 0), NOP) >=
              b->array.host.branch_miss);
  end(b);
}

static bench *begin_without_prediction(void) {
  bench *b = begin();
  b->array.host.branch_prediction = HW_PREDICTION_NONE;
  b->array.host.bht_history = 0;
  return b;
}

static void without_prediction_a_taken_branch_always_costs(void **state) {
  (void)state;
  bench *b = begin_without_prediction();
  assert_int_equal(COST(b, type_b(BNE, A0, A1, 4)), b->array.host.branch_miss);
  end(b);
  b = begin_without_prediction();
  b->array.host.branch_miss = 9;
  assert_int_equal(COST(b, type_b(BNE, A0, A1, 4)), 9);
  end(b);
}

static void without_prediction_a_branch_not_taken_is_free(void **state) {
  (void)state;
  bench *b = begin_without_prediction();
  assert_int_equal(COST(b, type_b(BEQ, A0, A1, 8), addi(T1, A1, 1)), 0);
  end(b);
}

static void without_prediction_a_jump_always_costs(void **state) {
  (void)state;
  bench *b = begin_without_prediction();
  assert_int_equal(COST(b, type_j(0, 4), addi(T1, A1, 1)), b->array.host.branch_miss);
  end(b);
}

// Call, jump and return: nobody keeps the return's address.
static void without_prediction_a_return_always_costs(void **state) {
  (void)state;
  bench *b = begin_without_prediction();
  assert_int_equal(COST(b, type_j(RA, 8), type_j(0, 12), addi(T1, A1, 1), type_i(JALR, 0, 0, RA, 0), NOP),
                   3 * b->array.host.branch_miss);
  end(b);
}

// The link of an indirect call comes from the stage behind execute.
static void a_link_is_a_cycle_late(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, AUIPC | T2 << 7, type_i(JALR, 0, RA, T2, 8), addi(T1, RA, 1)), 1);
  end(b);
  b = begin();
  assert_int_equal(COST(b, AUIPC | T2 << 7, type_i(JALR, 0, RA, T2, 8), addi(T1, A1, 1)), 0);
  end(b);
}

// ---- caches

// A load whose line is nowhere: asked for at write-back, and decode has it again when its last beat is there.
static void a_data_miss_waits_for_its_line(void **state) {
  (void)state;
  bench *b = begin();
  b->array.host.dcache_kib = 1;  // four lines of one set apart by 256 bytes: A0 leaves between two rounds
  b->array.host.dcache_ways = 1;
  uint64_t miss = COST(b, type_i(LOAD, LD, T1, A0, 0), type_i(LOAD, LD, T2, A0, 1024));
  uint64_t once = RV64_BACK + MEMORY_CYCLES - b->array.host.shortcut_cycles;
  assert_int_equal(miss, 2 * once);
  assert_int_equal(b->s.last_address, MACHINE_DATA + 1024);
  assert_int_equal(b->s.writes, 0);
  end(b);
}

static void a_dirty_line_is_written_back(void **state) {
  (void)state;
  bench *b = begin();
  b->array.host.dcache_kib = 1;
  b->array.host.dcache_ways = 1;
  COST(b, type_s(STORE, SD, A0, A1, 0), type_i(LOAD, LD, T2, A0, 1024));
  assert_int_equal(b->s.writes, ROUNDS);
  end(b);
}

// Straight code of two lines: the first instruction of the second line starts again before its line is asked for.
static void an_instruction_miss_starts_again(void **state) {
  (void)state;
  bench *b = begin();
  uint32_t words[40];
  for (size_t i = 0; i < 40; i++) words[i] = NOP;
  words[14] = READ(S0);
  words[17] = READ(S1);
  words[18] = WFI;
  machine_words(b->m, MACHINE_BASE, words, 40);
  b->m->config.timing = &b->array;
  host *h = machine_host(b->m);
  machine_run(b->m);
  uint64_t missed = RV64_BACK + RV64_FETCH, full = MEMORY_CYCLES - b->array.host.shortcut_cycles;
  uint64_t retry = (full + 2) / 2 * 2 + RV64_FETCH;  // every second cycle, from the one behind the last beat on
  assert_int_equal(h->x[S1] - h->x[S0], 3 + missed + retry);
  assert_int_equal(b->s.accesses, 2);
  end(b);
}

// ---- accelerator

#define COMMAND (type_r(CUSTOM, 3, 0, 0, A0, A1))
#define QUESTION (type_r(CUSTOM, 7, 0, T1, A0, A1))

static void one_command_per_cycle(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, COMMAND, COMMAND, COMMAND, COMMAND), 0);
  assert_int_equal(b->s.commands, 4 * ROUNDS);
  for (int i = 1; i < 4; i++) assert_int_equal(b->s.command_cycle[i], b->s.command_cycle[0] + (uint64_t)i);
  end(b);
}

// Without room at write-back the command is fetched again; decode lets it go one cycle after there is room.
static void a_full_queue_makes_it_start_again(void **state) {
  (void)state;
  enum { LATE = 5000 };
  bench *b = begin();
  b->s.room_from = LATE;
  machine_words(b->m, MACHINE_BASE, (const uint32_t[]){COMMAND, COMMAND, WFI}, 3);
  b->m->config.timing = &b->array;
  machine_run(b->m);
  assert_int_equal(b->s.command_cycle[0], LATE + 1 + RV64_BACK);
  assert_int_equal(b->s.command_cycle[1], b->s.command_cycle[0] + 1);
  end(b);
}

static void a_response_is_awaited_by_its_user(void **state) {
  (void)state;
  bench *b = begin();
  assert_int_equal(COST(b, QUESTION, addi(T2, A1, 1)), 0);
  end(b);
  b = begin();
  b->s.response_after = 20;
  // Ready a cycle after it leaves the accelerator, which had the command at write-back.
  assert_int_equal(COST(b, QUESTION, addi(T2, T1, 1)), RV64_BACK + 20 + 1 - 1);
  end(b);
}

// Ready five cycles after its command left decode, when the second writer takes the port, then the third.
static void a_response_waits_for_the_write_port(void **state) {
  (void)state;
  bench *b = begin();
  b->s.response_after = 1;
  assert_int_equal(COST(b, QUESTION, STORER, STORER, STORER, addi(T2, T1, 1)), 1);
  end(b);
  b = begin();
  b->s.response_after = 1;
  assert_int_equal(COST(b, QUESTION, WRITER, WRITER, WRITER, addi(T2, T1, 1)), 3);
  end(b);
}

// Product and response are there in the same cycle: one of them is a cycle late.
static void one_result_is_written_in_a_cycle(void **state) {
  (void)state;
  bench *b = begin();
  b->s.response_after = 1;
  assert_int_equal(COST(b, QUESTION, type_r(OP, 0, MUL_F7, T2, A1, A0), STORER, STORER, addi(S0 + 10, T1, 1)), 1);
  end(b);
  b = begin();
  b->s.response_after = 1;
  assert_int_equal(COST(b, QUESTION, type_r(OP, 0, MUL_F7, T2, A1, A0), STORER, STORER, addi(S0 + 10, T2, 1)), 2);
  end(b);
}

// A fence leaves decode when the accelerator is idle; the next instruction follows.
static void a_fence_waits_in_decode(void **state) {
  (void)state;
  enum { IDLE = 9000 };
  bench *b = begin();
  b->s.idle_from = IDLE;
  machine_words(b->m, MACHINE_BASE, (const uint32_t[]){COMMAND, FENCE, READ(S1), WFI}, 4);
  b->m->config.timing = &b->array;
  host *h = machine_host(b->m);
  machine_run(b->m);
  assert_int_equal(h->x[S1], IDLE + 1 + RV64_BACK);
  end(b);
}

// ---- another run of one hart

static void a_restarted_hart_finds_its_caches(void **state) {
  (void)state;
  bench *b = begin();
  b->m->config.timing = &b->array;
  machine_words(b->m, MACHINE_BASE, (const uint32_t[]){type_i(LOAD, LD, T1, A0, 0), addi(T2, T1, 1), WFI}, 3);
  host *h = machine_host(b->m);
  h->x[A0] = MACHINE_DATA;
  const uint64_t first = machine_run(b->m).cycles;
  assert_int_equal(b->s.accesses, 2);  // code, data
  host_restart(h, true);
  const uint64_t second = machine_run(b->m).cycles - first;
  assert_int_equal(b->s.accesses, 2);
  assert_true(second < MEMORY_CYCLES && first > 2 * MEMORY_CYCLES);
  host_restart(h, false);
  const uint64_t third = machine_run(b->m).cycles - first - second;
  assert_int_equal(b->s.accesses, 3);
  assert_int_equal(b->s.last_address, MACHINE_DATA);
  assert_true(b->s.last_access >= first + second);  // the clock goes on
  assert_true(third > MEMORY_CYCLES && third < first);
  end(b);
}

// ---- counts

// Three rounds of a load, two stores and a product, with the loop around them, and the wait at the end; and the lines
// that the port saw.
static void instructions_are_counted_by_kind(void **state) {
  (void)state;
  bench *b = begin();
  const uint32_t body[] = {type_i(LOAD, LD, T1, A0, 0), type_s(STORE, SD, A0, T1, 8), type_s(STORE, SD, A0, T1, 16),
                           type_r(OP, 0, MUL_F7, T2, A1, A1)};
  const host_counts c = run(b, body, 4).counts;
  assert_int_equal(c.instructions[HOST_LOAD], 3);
  assert_int_equal(c.instructions[HOST_STORE], 6);
  assert_int_equal(c.instructions[HOST_MULTIPLY], 3);
  assert_int_equal(c.instructions[HOST_BRANCH], 3);
  assert_int_equal(c.instructions[HOST_INTEGER], 1 + 3);
  assert_int_equal(c.instructions[HOST_CONTROL], 6 + 1);
  assert_int_equal(c.instructions[HOST_COMMAND] + c.instructions[HOST_DIVIDE] + c.instructions[HOST_JUMP], 0);
  assert_int_equal(c.data_misses, 1);
  assert_int_equal(c.written_back, 0);
  assert_int_equal(c.fetch_misses + c.data_misses, b->s.accesses);
  assert_in_range(c.fetches, 26, 60);  // words, and those of paths that were given up
  end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instructions_are_counted_by_kind),
      cmocka_unit_test(one_instruction_per_cycle),
      cmocka_unit_test(a_load_delays_its_user),
      cmocka_unit_test(a_loaded_byte_is_a_cycle_later),
      cmocka_unit_test(a_load_that_nobody_uses_is_free),
      cmocka_unit_test(a_load_right_behind_its_store_starts_again),
      cmocka_unit_test(loads_hold_a_store_back),
      cmocka_unit_test(two_stores_wait_in_order),
      cmocka_unit_test(a_load_of_other_bytes_does_not_wait),
      cmocka_unit_test(a_load_of_the_same_place_in_a_way_waits),
      cmocka_unit_test(a_product_takes_as_long_as_its_multiplier),
      cmocka_unit_test(one_product_at_a_time),
      cmocka_unit_test(a_word_product_of_zero_takes_as_long_as_of_one),
      cmocka_unit_test(a_product_waits_for_the_write_port),
      cmocka_unit_test(an_earlier_write_is_no_matter),
      cmocka_unit_test(x0_takes_the_write_port),
      cmocka_unit_test(a_held_up_product_keeps_its_unit),
      cmocka_unit_test(a_second_write_waits_for_the_first),
      cmocka_unit_test(a_response_waits_for_the_write_port),
      cmocka_unit_test(one_result_is_written_in_a_cycle),
      cmocka_unit_test(a_quotient_takes_a_step_per_bit),
      cmocka_unit_test(a_predicted_branch_is_free),
      cmocka_unit_test(a_mispredicted_branch_costs),
      cmocka_unit_test(a_learnt_branch_is_free),
      cmocka_unit_test(a_jump_without_buffer_costs_a_cycle),
      cmocka_unit_test(a_return_is_predicted),
      cmocka_unit_test(without_prediction_a_taken_branch_always_costs),
      cmocka_unit_test(without_prediction_a_branch_not_taken_is_free),
      cmocka_unit_test(without_prediction_a_jump_always_costs),
      cmocka_unit_test(without_prediction_a_return_always_costs),
      cmocka_unit_test(a_link_is_a_cycle_late),
      cmocka_unit_test(a_data_miss_waits_for_its_line),
      cmocka_unit_test(a_dirty_line_is_written_back),
      cmocka_unit_test(an_instruction_miss_starts_again),
      cmocka_unit_test(one_command_per_cycle),
      cmocka_unit_test(a_full_queue_makes_it_start_again),
      cmocka_unit_test(a_response_is_awaited_by_its_user),
      cmocka_unit_test(a_fence_waits_in_decode),
      cmocka_unit_test(a_restarted_hart_finds_its_caches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
