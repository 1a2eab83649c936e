// SPDX-License-Identifier: Apache-2.0
// See programs.h.
#include "sim/flow/tests/programs.h"

#include <string.h>

#include "base/test.h"
#include "isa/isa_fields.h"

static arch_command *programs_add(programs_program *p, uint8_t funct) {
  arch_command *command = &p->commands[p->count++];
  *command = (arch_command){.funct = funct};
  return command;
}

void programs_config_load(programs_program *p, uint64_t stride) {
  arch_command *k = programs_add(p, ISA_FUNCT_CONFIG_EX);
  isa_init_config_ld(&k->rs1, &k->rs2);
  isa_set_config_ld_stride(&k->rs1, &k->rs2, stride);
  isa_set_config_ld_block_stride(&k->rs1, &k->rs2, 16);
  isa_set_config_ld_scale(&k->rs1, &k->rs2, 0x3f800000);
}

void programs_load(programs_program *p, uint64_t address, uint32_t local, unsigned cols) {
  arch_command *k = programs_add(p, ISA_FUNCT_MVIN);
  isa_init_mvin(&k->rs1, &k->rs2);
  isa_set_mvin_dram(&k->rs1, &k->rs2, ARCH_MEMORY_BASE + address);
  isa_set_mvin_local(&k->rs1, &k->rs2, local);
  isa_set_mvin_rows(&k->rs1, &k->rs2, 16);
  isa_set_mvin_cols(&k->rs1, &k->rs2, cols);
}

void programs_config_store(programs_program *p, uint64_t stride) {
  arch_command *k = programs_add(p, ISA_FUNCT_CONFIG_EX);
  isa_init_config_st(&k->rs1, &k->rs2);
  isa_set_config_st_stride(&k->rs1, &k->rs2, stride);
}

void programs_store(programs_program *p, uint64_t address, uint32_t local) {
  arch_command *k = programs_add(p, ISA_FUNCT_MVOUT);
  isa_init_mvout(&k->rs1, &k->rs2);
  isa_set_mvout_dram(&k->rs1, &k->rs2, ARCH_MEMORY_BASE + address);
  isa_set_mvout_local(&k->rs1, &k->rs2, local);
  isa_set_mvout_rows(&k->rs1, &k->rs2, 16);
  isa_set_mvout_cols(&k->rs1, &k->rs2, 64);
}

void programs_config_execute(programs_program *p) {
  arch_command *k = programs_add(p, ISA_FUNCT_CONFIG_EX);
  isa_init_config_ex(&k->rs1, &k->rs2);
  isa_set_config_ex_dataflow(&k->rs1, &k->rs2, ISA_CONFIG_EX_DATAFLOW_WS);
  isa_set_config_ex_a_stride(&k->rs1, &k->rs2, 1);
  isa_set_config_ex_c_stride(&k->rs1, &k->rs2, 1);
}

// C += A x B of `rows` rows of A; without weights B is the one from before.
void programs_product(programs_program *p, unsigned n, unsigned rows, bool weights) {
  arch_command *k = programs_add(p, ISA_FUNCT_PRELOAD);
  isa_init_preload(&k->rs1, &k->rs2);
  isa_set_preload_local(&k->rs1, &k->rs2, weights ? 8192 : ISA_LOCAL_GARBAGE);
  isa_set_preload_rows(&k->rs1, &k->rs2, 16);
  isa_set_preload_cols(&k->rs1, &k->rs2, 16);
  isa_set_preload_dest(&k->rs1, &k->rs2, ISA_LOCAL_ACCUMULATOR_MASK | 16 * (n % 16));
  isa_set_preload_dest_rows(&k->rs1, &k->rs2, rows);
  isa_set_preload_dest_cols(&k->rs1, &k->rs2, 16);
  k = programs_add(p, weights ? ISA_FUNCT_COMPUTE_PRELOADED : ISA_FUNCT_COMPUTE_ACCUMULATED);
  isa_init_compute_preloaded(&k->rs1, &k->rs2);
  isa_set_compute_preloaded_a(&k->rs1, &k->rs2, 0);
  isa_set_compute_preloaded_a_rows(&k->rs1, &k->rs2, rows);
  isa_set_compute_preloaded_a_cols(&k->rs1, &k->rs2, 16);
  isa_set_compute_preloaded_bd(&k->rs1, &k->rs2, ISA_LOCAL_GARBAGE);
  isa_set_compute_preloaded_bd_rows(&k->rs1, &k->rs2, rows);
  isa_set_compute_preloaded_bd_cols(&k->rs1, &k->rs2, 16);
}

uint64_t programs_cycles_on(const sim_engine_ops *ops, const hw_array *array, programs_program *p) {
  wf_diag diag = wf_diag_to(stderr);
  const sim_engine_options options = {.timing_only = true};
  arch_memory *memory = arch_memory_create((uint64_t)array->memory.capacity_mib << 20);
  sim_engine *engine = sim_engine_create(ops, array, memory, &options, &diag);
  uint64_t cycle = 0;
  for (unsigned n = 0; n < p->count; n++) {
    arch_command_find(&p->commands[n], PROGRAMS_REVISION);
    assert_int_equal(sim_engine_push(engine, &cycle, &p->commands[n], NULL), SIM_PUSH_DONE);
  }
  cycle = ops->drain(engine, cycle);
  ops->destroy(engine);
  arch_memory_destroy(memory);
  return cycle;
}

hw_array programs_bare_array(uint32_t latency) {
  hw_array array;
  hw_array_default(&array);
  array.l2.present = false;
  array.memory.model = HW_MEMORY_FIXED;
  array.memory.latency_cycles = latency;
  array.memory.bytes_per_cycle = 16;
  array.host.poll_cycles = 0;
  return array;
}

// ---- random programs

uint64_t programs_run_random_with(const sim_engine_ops *ops, const sim_engine_options *options,
                                  const sim_gen_program *p, sim_records *records, sim_flow_account *account,
                                  sim_cycle_report *report, bool *kept) {
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create(p->image_bytes);
  memcpy(memory->bytes, p->image, p->image_bytes);
  sim_engine *engine = sim_engine_create(ops, p->array, memory, options, &diag);
  const sim_events sink = sim_records_sink(records);
  ops->set_events(engine, &sink);
  uint64_t cycle = 0;
  for (size_t i = 0; i < p->count; i++) {
    cycle += p->items[i].delay;
    if (p->items[i].fence)
      cycle = ops->drain(engine, cycle);
    else
      assert_int_equal(sim_engine_push(engine, &cycle, &p->items[i].command, NULL), SIM_PUSH_DONE);
  }
  cycle = ops->drain(engine, cycle);
  assert_int_equal(ops->fault(engine)->kind, ARCH_FAULT_NONE);
  assert_false(ops->busy(engine));
  if (account != NULL) sim_flow_account_to(engine, cycle, account);
  *kept = memcmp(memory->bytes, p->image, p->image_bytes) == 0;
  if (report != NULL) assert_true(sim_figures_report(engine, report));
  ops->destroy(engine);
  arch_memory_destroy(memory);
  return cycle;
}

uint64_t programs_run_random(const sim_engine_ops *ops, const sim_gen_program *p, sim_records *records,
                             sim_flow_account *account, sim_cycle_report *report, bool *kept) {
  const sim_engine_options options = {.timing_only = true};
  return programs_run_random_with(ops, &options, p, records, account, report, kept);
}
