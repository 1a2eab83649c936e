// SPDX-License-Identifier: Apache-2.0
// What units spend their cycles on must not depend on which cycles are left out: loads from main memory, with every
// unit stepped in every cycle and without.
#include "base/test.h"
#include "isa/isa_fields.h"
#include "sim/cycle/cycle.h"

enum { LOADS = 60, ROWS = 16, ROW_BYTES = 64, REVISION = 1 };

static uint64_t push(sim_engine *engine, uint64_t cycle, arch_command command) {
  uint64_t response;
  arch_command_find(&command, REVISION);
  sim_push_result result;
  while ((result = engine->ops->push(engine, cycle, &command, &response)) == SIM_PUSH_FULL)
    cycle = sim_engine_await_room(engine, cycle, UINT64_MAX);
  assert_int_equal(result, SIM_PUSH_DONE);
  return cycle + 1;
}

static arch_command configuration(void) {
  arch_command command = {.funct = ISA_FUNCT_CONFIG_EX};
  isa_init_config_ld(&command.rs1, &command.rs2);
  isa_set_config_ld_stride(&command.rs1, &command.rs2, ROW_BYTES);
  isa_set_config_ld_block_stride(&command.rs1, &command.rs2, ROWS);
  return command;
}

// A third of them bring lines that were loaded before, so there are hits beside misses.
static arch_command load(unsigned n) {
  arch_command command = {.funct = ISA_FUNCT_MVIN};
  const unsigned place = n % 3 == 2 ? n / 2 : n;
  isa_init_mvin(&command.rs1, &command.rs2);
  isa_set_mvin_dram(&command.rs1, &command.rs2, ARCH_MEMORY_BASE + place * ROWS * ROW_BYTES);
  isa_set_mvin_local(&command.rs1, &command.rs2, n % 8 * 128);
  isa_set_mvin_rows(&command.rs1, &command.rs2, ROWS);
  isa_set_mvin_cols(&command.rs1, &command.rs2, ROW_BYTES);
  return command;
}

static sim_cycle_report run(bool every_cycle) {
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create((uint64_t)array.memory.capacity_mib << 20);
  const sim_engine_options options = {.timing_only = true, .every_cycle = every_cycle};
  sim_engine *engine = sim_engine_create(&sim_cycle_engine, &array, memory, &options, &diag);
  uint64_t cycle = push(engine, 0, configuration());
  for (unsigned n = 0; n < LOADS; n++) cycle = push(engine, cycle, load(n));
  engine->ops->drain(engine, cycle);
  sim_cycle_report report;
  sim_cycle_report_of(engine, &report);
  engine->ops->destroy(engine);
  arch_memory_destroy(memory);
  return report;
}

static const sim_cycle_unit_report *unit_of(const sim_cycle_report *report, const char *name) {
  for (unsigned n = 0; n < report->units; n++)
    if (strcmp(report->unit[n].name, name) == 0) return &report->unit[n];
  return NULL;
}

static void loads_are_accounted_for_alike(void **state) {
  (void)state;
  const sim_cycle_report quick = run(false), every = run(true);
  assert_int_equal(quick.cycles, every.cycles);
  const sim_cycle_unit_report *a = unit_of(&quick, "load"), *b = unit_of(&every, "load");
  for (unsigned cause = 0; cause < a->causes; cause++) assert_int_equal(a->cycles[cause], b->cycles[cause]);
  // The reader's: idle and working.
  a = unit_of(&quick, "dma_reader"), b = unit_of(&every, "dma_reader");
  for (unsigned cause = 0; cause < 2; cause++) assert_int_equal(a->cycles[cause], b->cycles[cause]);
  assert_true(a->cycles[1] > LOADS * ROWS && a->cycles[1] < quick.cycles / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loads_are_accounted_for_alike)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
