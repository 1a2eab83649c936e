// SPDX-License-Identifier: Apache-2.0
// The reference engine behind the engine interface: checker first, then execution. See ref.h.
#include "sim/ref/ref.h"

#include <string.h>

#include "base/alloc.h"
#include "sim/ref/state.h"

static ref_engine *of(sim_engine *engine) { return (ref_engine *)engine; }

static void allocate(ref_engine *ref) {
  const hw_derived *d = &ref->derived;
  size_t tile = (size_t)d->dim * d->dim;
  size_t widest = d->max_cols > d->max_cols_acc * d->acc_bytes ? d->max_cols : d->max_cols_acc * d->acc_bytes;
  ref->spad = wf_calloc(d->sp_rows, d->dim);
  ref->acc = wf_calloc(d->acc_rows, d->dim * sizeof *ref->acc);
  ref->weights = WF_NEW_ARRAY(tile, int16_t);
  ref->shadow_weights = WF_NEW_ARRAY(tile, int16_t);
  ref->sums = WF_NEW_ARRAY(tile, int32_t);
  ref->next_sums = WF_NEW_ARRAY(tile, int32_t);
  ref->tile_a = WF_NEW_ARRAY(tile, int8_t);
  ref->tile_b = WF_NEW_ARRAY(tile, int16_t);
  ref->tile_c = WF_NEW_ARRAY(tile, int32_t);
  ref->row = WF_NEW_ARRAY(widest, int8_t);
  ref->stats = WF_NEW_ARRAY(d->norm_stats, ref_stats);
  ref->counters.count = ref->array->units.counters;
  ref->counters.file = WF_NEW_ARRAY(ref->counters.count, ref_counter);
}

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  (void)diag;  // every array that can be described can be modelled
  ref_engine *ref = WF_NEW(ref_engine);
  ref->base.ops = &sim_ref_engine;
  ref->array = array;
  ref->memory = memory;
  ref->derived = hw_derive(array);
  ref->checker = arch_checker_create(array, memory);
  ref->config = arch_checker_config(ref->checker);
  allocate(ref);
  for (uint32_t n = 0; n < ref->derived.norm_stats; n++) ref_stats_clear(&ref->stats[n]);
  return &ref->base;
}

static void destroy(sim_engine *engine) {
  if (engine == NULL) return;
  ref_engine *ref = of(engine);
  void *owned[] = {ref->spad,   ref->acc,       ref->weights, ref->shadow_weights,
                   ref->sums,   ref->next_sums, ref->tile_a,  ref->tile_b,
                   ref->tile_c, ref->row,       ref->stats,   ref->counters.file};
  for (size_t n = 0; n < sizeof owned / sizeof owned[0]; n++) wf_free(owned[n]);
  arch_checker_destroy(ref->checker);
  wf_free(ref);
}

static void execute(void *context, const arch_command *command) {
  ref_engine *ref = context;
  const isa_id id = command->insn->id;
  uint64_t rs1 = command->rs1, rs2 = command->rs2;
  switch (id) {
    case ISA_MVIN:
      ref_mvin(ref, 0, rs1, rs2);
      break;
    case ISA_MVIN2:
      ref_mvin(ref, 1, rs1, rs2);
      break;
    case ISA_MVIN3:
      ref_mvin(ref, 2, rs1, rs2);
      break;
    case ISA_MVOUT:
      ref_mvout(ref, rs1, rs2);
      break;
    case ISA_MVOUT_SPAD_R2:
      ref_mvout_spad(ref, rs1, rs2);
      break;
    case ISA_PRELOAD:
      ref_preload_command(ref, rs1, rs2);
      break;
    case ISA_COMPUTE_PRELOADED:
    case ISA_COMPUTE_ACCUMULATED:
      ref_compute(ref, id == ISA_COMPUTE_PRELOADED, rs1, rs2);
      break;
    case ISA_COUNTER:
      ref_counter_command(ref, rs1, rs2);
      break;
    default:  // registers live in the checker; flush and clock gating change nothing that can be seen
      break;
  }
}

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  (void)cycle;
  ref_engine *ref = of(engine);
  if (ref->fault.kind != ARCH_FAULT_NONE) return SIM_PUSH_FAULT;
  ref->response = 0;
  if (!arch_checker_command(ref->checker, command, execute, ref, &ref->fault)) return SIM_PUSH_FAULT;
  if (response != NULL) *response = ref->response;
  return SIM_PUSH_DONE;
}

static uint64_t advance(sim_engine *engine, uint64_t cycle) {
  (void)engine, (void)cycle;
  return UINT64_MAX;
}

static bool busy(const sim_engine *engine) {
  (void)engine;
  return false;
}

static uint64_t drain(sim_engine *engine, uint64_t cycle) {
  (void)engine;
  return cycle;
}

static const arch_fault *fault(const sim_engine *engine) { return &((const ref_engine *)engine)->fault; }

const sim_engine_ops sim_ref_engine = {.name = "ref",
                                       .summary = "bit-exact functional model, without timing",
                                       .timed = false,
                                       .create = create,
                                       .destroy = destroy,
                                       .push = push,
                                       .advance = advance,
                                       .busy = busy,
                                       .drain = drain,
                                       .fault = fault};
