// SPDX-License-Identifier: Apache-2.0
// What the platform itself promises: one per process, blocking accesses with the time of the memory system, commands
// from outside of the hart's thread. All tests share the one platform that the process can have.
#include "base/test.h"
#include "isa/isa_fields.h"
#include "sim/memsys/memsys.h"
#include "sim/systemc/systemc.h"

enum { MEMORY_BYTES = 1 << 20 };

typedef struct fixture {
  hw_array array;
  arch_memory *memory;
  sim_engine *engine;
  memsys *timing;  // like the platform's
} fixture;

static int set_up(void **state) {
  static fixture f;
  wf_diag diag = wf_diag_to(stderr);
  hw_array_default(&f.array);
  f.memory = arch_memory_create(MEMORY_BYTES);
  const sim_engine_options options = {.accelerator = "ref"};
  f.engine = sim_systemc_engine.create_with(&f.array, f.memory, &options, &diag);
  f.timing = memsys_create(&f.array);
  *state = &f;
  return f.engine == NULL;
}

static int tear_down(void **state) {
  fixture *f = *state;
  if (f->engine != NULL) f->engine->ops->destroy(f->engine);
  memsys_destroy(f->timing);
  arch_memory_destroy(f->memory);
  return 0;
}

static void test_clock_is_the_accelerators(void **state) {
  const fixture *f = *state;
  wf_diag diag = wf_diag_to(NULL);
  assert_false(f->engine->ops->timed);
  assert_ptr_equal(sim_systemc_engine_with("ref", &diag), f->engine->ops);
  assert_true(sim_systemc_engine_with("rtl", &diag)->timed && sim_systemc_engine_with("c", &diag)->timed);
  assert_ptr_equal(sim_systemc_engine_with(NULL, &diag), sim_systemc_engine_with("c", &diag));
  assert_null(sim_systemc_engine_with("nosuch", &diag));
  assert_int_equal(diag.errors, 1);
}

static void test_one_platform(void **state) {
  const fixture *f = *state;
  wf_diag diag = wf_diag_to(NULL);
  assert_null(sim_systemc_engine.create(&f->array, f->memory, &diag));
  assert_int_equal(diag.errors, 1);
}

// Of lines that are asked for in `at` and the cycles behind it.
static uint64_t lines_there(const fixture *f, uint64_t at, uint64_t address, unsigned lines) {
  uint64_t there, next = at + lines;
  for (unsigned i = 0; i < lines; i++) memsys_host_ask(f->timing, at + i, address + i * f->array.l2.line_bytes, false);
  while ((there = memsys_host_there(f->timing, next, &next)) == MEMSYS_UNKNOWN) continue;
  return there;
}

static void test_access_takes_the_memory_time(void **state) {
  const fixture *f = *state;
  unsigned line = f->array.l2.line_bytes;
  uint64_t at = 100, first, again, two;
  uint8_t bytes[256] = {0};
  assert_true(f->array.l2.present && 2 * line <= sizeof bytes);
  first = sim_systemc_access(f->engine, at, false, ARCH_MEMORY_BASE, bytes, 8);
  assert_int_equal(first, lines_there(f, at, ARCH_MEMORY_BASE, 1));
  assert_true(first > at + f->array.memory.latency_cycles);
  again = sim_systemc_access(f->engine, first, true, ARCH_MEMORY_BASE + 8, bytes, 8);
  memsys_host_ask(f->timing, first, ARCH_MEMORY_BASE, true);
  assert_int_equal(again, first + 1);
  two = sim_systemc_access(f->engine, again, false, ARCH_MEMORY_BASE + 3 * line, bytes, 2 * line);
  assert_int_equal(two, lines_there(f, again, ARCH_MEMORY_BASE + 3 * line, 2));
}

static void test_access_moves_bytes(void **state) {
  const fixture *f = *state;
  uint8_t bytes[4] = {1, 2, 3, 4}, back[4] = {0};
  uint64_t at = 100000, address = ARCH_MEMORY_BASE + 4096;
  at = sim_systemc_access(f->engine, at, true, address, bytes, sizeof bytes);
  assert_memory_equal(arch_memory_at(f->memory, address, sizeof bytes), bytes, sizeof bytes);
  sim_systemc_access(f->engine, at, false, address, back, sizeof back);
  assert_memory_equal(back, bytes, sizeof bytes);
  assert_int_equal(f->memory->written_bytes, 0);  // those are the accelerator's
}

static void test_no_such_address(void **state) {
  const fixture *f = *state;
  uint8_t bytes[8];
  const uint64_t bad[] = {0, ARCH_MEMORY_BASE - 8, ARCH_MEMORY_BASE + MEMORY_BYTES,
                          ARCH_MEMORY_BASE + MEMORY_BYTES - 4};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_true(sim_systemc_access(f->engine, 200000, false, bad[i], bytes, sizeof bytes) == UINT64_MAX);
}

// A row from memory through the scratchpad and back; outside of any body, then inside of one.
static void move_row(const fixture *f, uint8_t value) {
  uint64_t from = ARCH_MEMORY_BASE + 8192, to = ARCH_MEMORY_BASE + 16384, cycle = 300000, response;
  unsigned dim = hw_derive(&f->array).dim;
  arch_command commands[] = {
      {.funct = ISA_FUNCT_CONFIG_LD, .rs1 = UINT64_C(0x3f800000) << 32 | (uint64_t)dim << 16 | 1, .rs2 = dim},
      {.funct = ISA_FUNCT_CONFIG_ST, .rs1 = 2, .rs2 = dim},
      {.funct = ISA_FUNCT_MVIN, .rs1 = from, .rs2 = UINT64_C(1) << 48 | (uint64_t)dim << 32},
      {.funct = ISA_FUNCT_MVOUT, .rs1 = to, .rs2 = UINT64_C(1) << 48 | (uint64_t)dim << 32}};
  memset(arch_memory_at(f->memory, from, dim), value, dim);
  memset(arch_memory_at(f->memory, to, dim), 0, dim);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    arch_command_find(&commands[i], f->array.isa.revision);
    assert_int_equal(f->engine->ops->push(f->engine, cycle, &commands[i], &response), SIM_PUSH_DONE);
  }
  assert_int_equal(f->engine->ops->drain(f->engine, cycle), cycle);
  assert_false(f->engine->ops->busy(f->engine));
  assert_memory_equal(arch_memory_at(f->memory, from, dim), arch_memory_at(f->memory, to, dim), dim);
}

static void move_inside(void *context) { move_row(context, 7); }

static void test_commands_inside_and_outside(void **state) {
  fixture *f = *state;
  uint64_t before = f->memory->read_bytes;
  move_row(f, 3);
  sim_engine_enter(f->engine, move_inside, f);
  assert_int_equal(f->memory->read_bytes - before, 2 * hw_derive(&f->array).dim);
  assert_int_equal(f->memory->written_bytes, 2 * hw_derive(&f->array).dim);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_clock_is_the_accelerators),
                                     cmocka_unit_test(test_one_platform),
                                     cmocka_unit_test(test_access_takes_the_memory_time),
                                     cmocka_unit_test(test_access_moves_bytes),
                                     cmocka_unit_test(test_no_such_address),
                                     cmocka_unit_test(test_commands_inside_and_outside)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
