// SPDX-License-Identifier: Apache-2.0
// Programs that the tests of engine flow make, and how they run them.
#ifndef SIM_FLOW_TESTS_PROGRAMS_H
#define SIM_FLOW_TESTS_PROGRAMS_H

#include "sim/engine.h"
#include "sim/figures.h"
#include "sim/flow/flow.h"
#include "sim/gen/gen.h"
#include "sim/records.h"

enum { PROGRAMS_COMMANDS = 256, PROGRAMS_REVISION = 1 };

typedef struct programs_program {
  arch_command commands[PROGRAMS_COMMANDS];
  unsigned count;
} programs_program;

// Each adds a command, or the two of a product; loads and stores are of 16 rows.
void programs_config_load(programs_program *p, uint64_t stride);
void programs_load(programs_program *p, uint64_t address, uint32_t local, unsigned cols);
void programs_config_store(programs_program *p, uint64_t stride);
void programs_store(programs_program *p, uint64_t address, uint32_t local);
void programs_config_execute(programs_program *p);
void programs_product(programs_program *p, unsigned n, unsigned rows, bool weights);
// The cycles of the whole program, without data.
uint64_t programs_cycles_on(const sim_engine_ops *ops, const hw_array *array, programs_program *p);
// The default array without an L2, on a memory of this latency.
hw_array programs_bare_array(uint32_t latency);
// The cycles of a random program, which must end without a fault. `kept`: main memory is as it was. `account` and
// `report` may be NULL; the second form runs without data.
uint64_t programs_run_random_with(const sim_engine_ops *ops, const sim_engine_options *options,
                                  const sim_gen_program *p, sim_records *records, sim_flow_account *account,
                                  sim_cycle_report *report, bool *kept);
uint64_t programs_run_random(const sim_engine_ops *ops, const sim_gen_program *p, sim_records *records,
                             sim_flow_account *account, sim_cycle_report *report, bool *kept);

#endif
