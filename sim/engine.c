// SPDX-License-Identifier: Apache-2.0
// The engines of this build, in the order they are listed, and their creation with options.
#include "sim/engine.h"

#include <string.h>

#include "sim/cycle/cycle.h"
#include "sim/flow/flow.h"
#include "sim/ref/ref.h"
#include "sim/rtl/rtl.h"
#include "sim/systemc/systemc.h"

static const sim_engine_ops *const engines[] = {&sim_ref_engine, &sim_cycle_engine, &sim_flow_engine, &sim_rtl_engine,
                                                &sim_systemc_engine};

const sim_engine_ops *sim_engine_at(size_t index) {
  return index < sizeof engines / sizeof engines[0] ? engines[index] : NULL;
}

const sim_engine_ops *sim_engine_find(const char *name) {
  for (size_t n = 0; n < sizeof engines / sizeof engines[0]; n++)
    if (strcmp(engines[n]->name, name) == 0) return engines[n];
  return NULL;
}

sim_engine *sim_engine_create(const sim_engine_ops *ops, const hw_array *array, arch_memory *memory,
                              const sim_engine_options *options, wf_diag *diag) {
  if (options == NULL) return ops->create(array, memory, diag);
  if (ops->create_with != NULL) return ops->create_with(array, memory, options, diag);
  if (options->wave != NULL) {
    wf_error(diag, wf_in_file(NULL), "engine %s has no waveforms", ops->name);
    wf_hint(diag, "use --engine rtl with --wave");
    return NULL;
  }
  return ops->create(array, memory, diag);
}

void sim_engine_enter(sim_engine *engine, void (*body)(void *context), void *context) {
  if (engine->ops->enter != NULL)
    engine->ops->enter(engine, body, context);
  else
    body(context);
}

uint64_t sim_engine_await_room(sim_engine *engine, uint64_t cycle, uint64_t limit) {
  if (engine->ops->await_room != NULL) return engine->ops->await_room(engine, cycle + 1, limit);
  uint64_t next = engine->ops->advance(engine, cycle + 1);
  return next > cycle + 1 && next != UINT64_MAX ? next : cycle + 1;
}

sim_push_result sim_engine_push(sim_engine *engine, uint64_t *cycle, const arch_command *command, uint64_t *response) {
  const sim_engine_ops *ops = engine->ops;
  if (ops->push_waiting != NULL) return ops->push_waiting(engine, cycle, command, response);
  sim_push_result result;
  while ((result = ops->push(engine, *cycle, command, response)) == SIM_PUSH_FULL)
    *cycle = sim_engine_await_room(engine, *cycle, UINT64_MAX);
  return result;
}

size_t sim_engine_push_many(sim_engine *engine, uint64_t *cycle, const arch_command *commands, size_t count,
                            sim_push_result *result) {
  if (engine->ops->push_many != NULL) return engine->ops->push_many(engine, cycle, commands, count, result);
  uint64_t response;
  *result = SIM_PUSH_DONE;
  for (size_t n = 0; n < count; n++)
    if ((*result = sim_engine_push(engine, cycle, &commands[n], &response)) != SIM_PUSH_DONE) return n;
  return count;
}
