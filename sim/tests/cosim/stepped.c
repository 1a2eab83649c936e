// SPDX-License-Identifier: Apache-2.0
// The cycle engine without leaving out a single cycle or unit: what it must be equal to.
#include "sim/cycle/cycle.h"
#include "sim/tests/cosim/cosim.h"

static sim_engine *create_with(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                               wf_diag *diag) {
  sim_engine_options every = *options;
  every.every_cycle = true;
  return sim_cycle_engine.create_with(array, memory, &every, diag);
}

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  const sim_engine_options defaults = {0};
  return create_with(array, memory, &defaults, diag);
}

const sim_engine_ops *cosim_stepped_engine(void) {
  static sim_engine_ops ops;
  ops = sim_cycle_engine;
  ops.name = "stepped";
  ops.summary = "cycle, with every unit stepped in every cycle";
  ops.create = create;
  ops.create_with = create_with;
  return &ops;
}
