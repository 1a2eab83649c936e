// SPDX-License-Identifier: Apache-2.0
// Bytes of a store must be in main memory from the cycle of their beat on, also when beats are granted together: memory
// after every cycle, with every unit stepped in every cycle and without.
#include "base/test.h"
#include "isa/isa_fields.h"
#include "sim/cycle/cycle.h"

enum { ROWS = 16, ROW_BYTES = 64, STORES = 4, STRIDE = 72, CYCLES = 3000, REVISION = 1 };

typedef struct machine {
  arch_memory *memory;
  sim_engine *engine;
} machine;

static void push(machine *m, uint64_t cycle, arch_command command) {
  uint64_t response;
  arch_command_find(&command, REVISION);
  sim_push_result result;
  while ((result = m->engine->ops->push(m->engine, cycle, &command, &response)) == SIM_PUSH_FULL)
    cycle = sim_engine_await_room(m->engine, cycle, UINT64_MAX);
  assert_int_equal(result, SIM_PUSH_DONE);
}

static arch_command configuration(void) {
  arch_command command = {.funct = ISA_FUNCT_CONFIG_EX};
  isa_init_config_st(&command.rs1, &command.rs2);
  isa_set_config_st_stride(&command.rs1, &command.rs2, STRIDE);
  return command;
}

// The scratchpad is all zeros, memory is not. Rows start anywhere in a beat.
static arch_command store(unsigned n) {
  arch_command command = {.funct = ISA_FUNCT_MVOUT};
  isa_init_mvout(&command.rs1, &command.rs2);
  isa_set_mvout_dram(&command.rs1, &command.rs2, ARCH_MEMORY_BASE + n * ROWS * STRIDE);
  isa_set_mvout_local(&command.rs1, &command.rs2, n * ROWS);
  isa_set_mvout_rows(&command.rs1, &command.rs2, ROWS);
  isa_set_mvout_cols(&command.rs1, &command.rs2, ROW_BYTES);
  return command;
}

static machine start(const hw_array *array, bool every_cycle) {
  wf_diag diag = wf_diag_to(stderr);
  const sim_engine_options options = {.every_cycle = every_cycle};
  machine m = {.memory = arch_memory_create((uint64_t)array->memory.capacity_mib << 20)};
  memset(m.memory->bytes, 0xff, STORES * ROWS * STRIDE);
  m.engine = sim_engine_create(&sim_cycle_engine, array, m.memory, &options, &diag);
  push(&m, 0, configuration());
  for (unsigned n = 0; n < STORES; n++) push(&m, n + 1, store(n));
  return m;
}

static void bytes_come_with_their_beats(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  machine quick = start(&array, false), every = start(&array, true);
  unsigned changes = 0;
  uint8_t before = 0xff;
  for (uint64_t cycle = STORES + 1; cycle < CYCLES; cycle++) {
    quick.engine->ops->advance(quick.engine, cycle);
    every.engine->ops->advance(every.engine, cycle);
    assert_memory_equal(quick.memory->bytes, every.memory->bytes, STORES * ROWS * STRIDE);
    changes += before != quick.memory->bytes[ROW_BYTES - 1];
    before = quick.memory->bytes[ROW_BYTES - 1];
  }
  assert_int_equal(changes, 1);
  assert_int_equal(quick.memory->bytes[((STORES * ROWS) - 1) * STRIDE + ROW_BYTES - 1], 0);
  quick.engine->ops->destroy(quick.engine);
  every.engine->ops->destroy(every.engine);
  arch_memory_destroy(quick.memory);
  arch_memory_destroy(every.memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_come_with_their_beats)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
