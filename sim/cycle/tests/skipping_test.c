// SPDX-License-Identifier: Apache-2.0
// Where units do not get in each other's way, most cycles must be left out, and nothing may change by that: products
// beside loads to other banks of the scratchpad and of the accumulator.
#include "arch/config.h"
#include "base/test.h"
#include "isa/isa_fields.h"
#include "sim/cycle/cycle.h"

// Banks of gemmini-default: four of 4096 rows in the scratchpad, two of 512 in the accumulator.
enum { DIM = 16, ROUNDS = 10, PRODUCTS = 64, LOADED = 4 * DIM, SP_BANK = 4096, ACC_BANK = 512, ROW_BYTES = 64 };
enum { REVISION = 1 };
#define ACC UINT32_C(0x80000000)
#define GARBAGE UINT32_C(0xffffffff)

typedef struct machine {
  sim_engine *engine;
  uint64_t cycle;
} machine;

static void push(machine *m, arch_command command) {
  uint64_t response;
  arch_command_find(&command, REVISION);
  sim_push_result result;
  while ((result = m->engine->ops->push(m->engine, m->cycle, &command, &response)) == SIM_PUSH_FULL)
    m->cycle = sim_engine_await_room(m->engine, m->cycle, UINT64_MAX);
  assert_int_equal(result, SIM_PUSH_DONE);
  m->cycle++;
}

static void configure(machine *m, unsigned state, uint64_t stride) {
  arch_command load = {.funct = ISA_FUNCT_CONFIG_EX};
  isa_init_config_ld(&load.rs1, &load.rs2);
  isa_set_config_ld_state(&load.rs1, &load.rs2, state);
  isa_set_config_ld_stride(&load.rs1, &load.rs2, stride);
  isa_set_config_ld_block_stride(&load.rs1, &load.rs2, DIM);
  isa_set_config_ld_scale(&load.rs1, &load.rs2, ARCH_SCALE_ONE);
  push(m, load);
}

static void configure_products(machine *m) {
  arch_command products = {.funct = ISA_FUNCT_CONFIG_EX};
  isa_init_config_ex(&products.rs1, &products.rs2);
  isa_set_config_ex_dataflow(&products.rs1, &products.rs2, ISA_CONFIG_EX_DATAFLOW_WS);
  isa_set_config_ex_a_stride(&products.rs1, &products.rs2, 1);
  isa_set_config_ex_c_stride(&products.rs1, &products.rs2, 1);
  push(m, products);
}

// Sixteen rows of 64 bytes: four blocks; of the accumulator one row of int32, sixteen times.
static void load(machine *m, unsigned number, uint32_t local) {
  const bool bias = (local & ACC) != 0;
  arch_command command = {.funct = bias ? ISA_FUNCT_MVIN2 : ISA_FUNCT_MVIN};
  isa_init_mvin(&command.rs1, &command.rs2);
  isa_set_mvin_dram(&command.rs1, &command.rs2, ARCH_MEMORY_BASE + (uint64_t)number * DIM * ROW_BYTES);
  isa_set_mvin_local(&command.rs1, &command.rs2, local);
  isa_set_mvin_rows(&command.rs1, &command.rs2, DIM);
  isa_set_mvin_cols(&command.rs1, &command.rs2, bias ? DIM : ROW_BYTES);
  push(m, command);
}

static void multiply(machine *m, uint32_t a, uint32_t b, uint32_t to) {
  arch_command preload = {.funct = ISA_FUNCT_PRELOAD}, compute = {.funct = ISA_FUNCT_COMPUTE_PRELOADED};
  isa_init_preload(&preload.rs1, &preload.rs2);
  isa_set_preload_local(&preload.rs1, &preload.rs2, b);
  isa_set_preload_rows(&preload.rs1, &preload.rs2, DIM);
  isa_set_preload_cols(&preload.rs1, &preload.rs2, DIM);
  isa_set_preload_dest(&preload.rs1, &preload.rs2, to);
  isa_set_preload_dest_rows(&preload.rs1, &preload.rs2, DIM);
  isa_set_preload_dest_cols(&preload.rs1, &preload.rs2, DIM);
  push(m, preload);
  isa_init_compute_preloaded(&compute.rs1, &compute.rs2);
  isa_set_compute_preloaded_a(&compute.rs1, &compute.rs2, a);
  isa_set_compute_preloaded_a_rows(&compute.rs1, &compute.rs2, DIM);
  isa_set_compute_preloaded_a_cols(&compute.rs1, &compute.rs2, DIM);
  isa_set_compute_preloaded_bd(&compute.rs1, &compute.rs2, GARBAGE);
  isa_set_compute_preloaded_bd_rows(&compute.rs1, &compute.rs2, DIM);
  isa_set_compute_preloaded_bd_cols(&compute.rs1, &compute.rs2, DIM);
  push(m, compute);
}

// Products of rows in banks 0 and 1 to bank 0 of the accumulator. Rounds in turn load one of two places from `local` on
// and, if it is in bank 1, multiply with the other; products 8 to 31 with rows of bank 3.
static sim_cycle_report run(bool every_cycle, uint32_t local) {
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create((uint64_t)array.memory.capacity_mib << 20);
  const sim_engine_options options = {.timing_only = true, .every_cycle = every_cycle};
  machine m = {.engine = sim_engine_create(&sim_cycle_engine, &array, memory, &options, &diag)};
  configure(&m, 0, ROW_BYTES);
  configure(&m, 1, 0);
  configure_products(&m);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    load(&m, round, local + round % 2 * LOADED);
    for (uint32_t n = 0; n < PRODUCTS; n++) {
      const uint32_t b = n >= 8 && n < 32 ? 3 * SP_BANK : SP_BANK + (round + 1) % 2 * LOADED;
      multiply(&m, n * DIM, b + n * DIM % LOADED, ACC + n * DIM % ACC_BANK);
    }
  }
  m.engine->ops->drain(m.engine, m.cycle);
  sim_cycle_report report;
  sim_cycle_report_of(m.engine, &report);
  m.engine->ops->destroy(m.engine);
  arch_memory_destroy(memory);
  return report;
}

static void at_most(uint32_t cycles_per_product, uint32_t local) {
  const sim_cycle_report quick = run(false, local), every = run(true, local);
  assert_int_equal(quick.cycles, every.cycles);
  assert_int_equal(quick.sp_row_writes, every.sp_row_writes);
  assert_int_equal(quick.acc_row_writes, every.acc_row_writes);
  assert_true(every.carried_out > every.cycles / 10 * 9);
  assert_true(quick.cycles > ROUNDS * PRODUCTS * DIM);
  print_message("%llu of %llu cycles carried out\n", (unsigned long long)quick.carried_out,
                (unsigned long long)quick.cycles);
  assert_true(quick.carried_out < ROUNDS * PRODUCTS * cycles_per_product);
}

static void beside_loads_to_another_bank(void **state) {
  (void)state;
  at_most(7, 2 * SP_BANK);
}

// All but some of those in which the load is under way.
static void beside_loads_to_the_same_bank(void **state) {
  (void)state;
  at_most(8, SP_BANK);
}

static void beside_biases_for_another_bank(void **state) {
  (void)state;
  at_most(7, ACC + ACC_BANK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(beside_loads_to_another_bank),
      cmocka_unit_test(beside_loads_to_the_same_bank),
      cmocka_unit_test(beside_biases_for_another_bank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
