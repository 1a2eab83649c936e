// SPDX-License-Identifier: Apache-2.0
// The port of a hart with time of its own, against an engine that is a script: it takes a command every few cycles
// and notes in which cycle it was asked for what.
#include "sim/port.h"

#include "base/test.h"
#include "isa/isa_fields.h"

enum { TAKEN_MAX = 16, RESPONSE_CYCLES = 7, LINE_CYCLES = 30 };

typedef struct scripted {
  sim_engine base;
  uint64_t now, open_from, pace;  // takes a command from open_from on, then every `pace` cycles
  uint64_t taken[TAKEN_MAX];
  unsigned count;
  uint64_t asked_at, reached_then;  // of the last line
  unsigned taken_when_asked;        // commands, then
  arch_fault fault;
  unsigned fault_after;  // commands; 0: never
} scripted;

static scripted *of(sim_engine *engine) { return (scripted *)engine; }

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  scripted *e = of(engine);
  if (e->now < cycle) e->now = cycle;
  if (e->now > cycle || cycle < e->open_from) return SIM_PUSH_FULL;
  e->taken[e->count++ % TAKEN_MAX] = cycle;
  e->open_from = cycle + e->pace;
  e->now = cycle + 1;
  if (e->count == e->fault_after) {
    e->fault.kind = ARCH_FAULT_ILLEGAL;
    return SIM_PUSH_FAULT;
  }
  if (command->returns) {
    e->now = cycle + RESPONSE_CYCLES + 1;
    if (response != NULL) *response = 5;
  }
  return SIM_PUSH_DONE;
}

static uint64_t advance(sim_engine *engine, uint64_t cycle) {
  scripted *e = of(engine);
  if (e->now < cycle) e->now = cycle;
  return e->open_from > e->now ? e->open_from : e->now;
}

static uint64_t drain(sim_engine *engine, uint64_t cycle) {
  uint64_t at = advance(engine, cycle);
  of(engine)->now = at;
  return at;
}

static void host_access(sim_engine *engine, uint64_t cycle, uint64_t address, bool write) {
  (void)address, (void)write;
  scripted *e = of(engine);
  advance(engine, cycle);
  e->asked_at = cycle;
  e->reached_then = e->now;
  e->taken_when_asked = e->count;
}

// Known when the engine has come half of the way.
static uint64_t host_there(sim_engine *engine, uint64_t *next) {
  const scripted *e = of(engine);
  *next = e->asked_at + LINE_CYCLES / 2;
  return e->now < *next ? SIM_UNKNOWN : e->asked_at + LINE_CYCLES;
}

static uint64_t reached(const sim_engine *engine) { return ((const scripted *)engine)->now; }
static const arch_fault *fault(const sim_engine *engine) { return &((const scripted *)engine)->fault; }

static const sim_engine_ops ops = {.name = "script",
                                   .timed = true,
                                   .push = push,
                                   .advance = advance,
                                   .drain = drain,
                                   .fault = fault,
                                   .host_access = host_access,
                                   .host_there = host_there,
                                   .reached = reached};

typedef struct fixture {
  scripted engine;
  sim_port port;
  host_port hosted;
} fixture;

static void begin(fixture *f, uint64_t pace) {
  hw_array array;
  hw_array_default(&array);
  *f = (fixture){.engine = {.base.ops = &ops, .pace = pace}};
  f->port = sim_port_for_hart_of(&f->engine.base, &array);
  f->hosted = sim_port_for_host(&f->port);
}

// What a hart does at write-back in `cycle`.
static host_port_result give(fixture *f, uint64_t cycle, bool returns, uint64_t *end) {
  arch_command flush = {.funct = ISA_FUNCT_FLUSH}, counter = {.funct = ISA_FUNCT_COUNTER, .returns = true};
  uint64_t response = 0;
  *end = cycle;
  return f->hosted.command(f->hosted.context, returns ? &counter : &flush, end, &response);
}

static void give_plain(fixture *f, uint64_t cycle) {
  uint64_t end;
  assert_int_equal(f->hosted.room(f->hosted.context, cycle), cycle);
  assert_int_equal(give(f, cycle, false, &end), HOST_PORT_DONE);
  assert_int_equal(end, cycle);
}

static void commands_arrive_a_cycle_later(void **state) {
  (void)state;
  fixture f;
  begin(&f, 1);
  for (uint64_t cycle = 100; cycle < 105; cycle++) give_plain(&f, cycle);
  assert_true(sim_port_flush(&f.port));
  assert_int_equal(f.engine.count, 5);
  for (unsigned i = 0; i < 5; i++) assert_int_equal(f.engine.taken[i], 101 + i);
}

// Taken at 101, 111, 121: with two in the queue there is room again in the cycle behind the second.
static void a_full_queue_has_room_when_its_oldest_left(void **state) {
  (void)state;
  fixture f;
  begin(&f, 10);
  for (uint64_t cycle = 100; cycle < 103; cycle++) give_plain(&f, cycle);
  assert_int_equal(f.hosted.room(f.hosted.context, 103), 112);
  assert_int_equal(f.port.wait_cycles, 112 - 103);
  give_plain(&f, 115);
  assert_true(sim_port_flush(&f.port));
  assert_int_equal(f.engine.taken[2], 121);
  assert_int_equal(f.engine.taken[3], 131);
}

// The hart asks when the engine has come to its cycle, so what the accelerator asks for later comes later. While the
// hart waits the engine goes on, no further than it must.
static void a_line_meets_the_engine_in_its_cycle(void **state) {
  (void)state;
  fixture f;
  begin(&f, 10);
  for (uint64_t cycle = 100; cycle < 102; cycle++) give_plain(&f, cycle);
  assert_int_equal(f.hosted.memory(f.hosted.context, 105, 0x80000000, false), 105 + LINE_CYCLES);
  assert_int_equal(f.engine.asked_at, 105);
  assert_int_equal(f.engine.reached_then, 105);
  assert_int_equal(f.engine.taken_when_asked, 1);
  assert_in_range(f.engine.now, 105 + LINE_CYCLES / 2, 105 + LINE_CYCLES);
}

// An engine that had to go on is asked in the cycle that it has come to.
static void time_does_not_go_back(void **state) {
  (void)state;
  fixture f;
  begin(&f, 1);
  uint64_t end;
  assert_int_equal(give(&f, 100, true, &end), HOST_PORT_DONE);
  assert_int_equal(end, 101 + RESPONSE_CYCLES);
  assert_int_equal(f.hosted.memory(f.hosted.context, 103, 0x80000000, false), end + 1 + LINE_CYCLES);
}

static void a_fence_waits_for_the_queue(void **state) {
  (void)state;
  fixture f;
  begin(&f, 10);
  for (uint64_t cycle = 100; cycle < 103; cycle++) give_plain(&f, cycle);
  uint64_t cycle = 103;
  assert_true(f.hosted.fence(f.hosted.context, &cycle));
  assert_int_equal(f.engine.count, 3);
  assert_int_equal(cycle, 131);  // the last was taken at 121
}

static void a_late_fault_stops_the_next_command(void **state) {
  (void)state;
  fixture f;
  begin(&f, 1);
  f.engine.fault_after = 1;
  give_plain(&f, 100);
  uint64_t end;
  f.hosted.room(f.hosted.context, 110);
  assert_int_equal(give(&f, 110, false, &end), HOST_PORT_FAULT);
  assert_false(sim_port_flush(&f.port));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commands_arrive_a_cycle_later),
      cmocka_unit_test(a_full_queue_has_room_when_its_oldest_left),
      cmocka_unit_test(a_line_meets_the_engine_in_its_cycle),
      cmocka_unit_test(time_does_not_go_back),
      cmocka_unit_test(a_fence_waits_for_the_queue),
      cmocka_unit_test(a_late_fault_stops_the_next_command),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
