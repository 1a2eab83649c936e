// SPDX-License-Identifier: Apache-2.0
// ref with rubbish in its memories, weights and sums before the first command: a program that is well defined cannot
// tell. See cosim.h.
#include "sim/gen/random.h"
#include "sim/ref/state.h"
#include "sim/tests/cosim/cosim.h"

static void fill(sim_gen_random *r, void *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) ((uint8_t *)bytes)[i] = (uint8_t)sim_gen_bits(r);
}

static sim_engine *create_with(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                               wf_diag *diag) {
  sim_engine *engine = sim_ref_engine.create(array, memory, diag);
  if (engine == NULL) return NULL;
  ref_engine *ref = (ref_engine *)engine;
  const hw_derived *d = &ref->derived;
  size_t tile = (size_t)d->dim * d->dim;
  sim_gen_random r = sim_gen_random_of(options->garbage, 5);
  fill(&r, ref->spad, (size_t)d->sp_rows * d->dim);
  fill(&r, ref->acc, (size_t)d->acc_rows * d->dim * sizeof *ref->acc);
  for (size_t n = 0; n < tile; n++) ref->weights[n] = (int8_t)sim_gen_bits(&r);
  for (size_t n = 0; n < tile; n++) ref->shadow_weights[n] = (int8_t)sim_gen_bits(&r);
  fill(&r, ref->sums, tile * sizeof *ref->sums);
  fill(&r, ref->next_sums, tile * sizeof *ref->next_sums);
  for (uint32_t n = 0; n < d->norm_stats; n++) {
    ref->stats[n].mean = (int32_t)sim_gen_bits(&r);
    ref->stats[n].max = (int32_t)sim_gen_bits(&r);
    ref->stats[n].inv_stddev = (float)sim_gen_in(&r, 0, 100);
    ref->stats[n].inv_sum_exp = (float)sim_gen_in(&r, 0, 100);
  }
  return engine;
}

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  const sim_engine_options options = {.garbage = 1};
  return create_with(array, memory, &options, diag);
}

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  return sim_ref_engine.push(engine, cycle, command, response);
}
static void destroy(sim_engine *engine) { sim_ref_engine.destroy(engine); }
static uint64_t advance(sim_engine *engine, uint64_t cycle) { return sim_ref_engine.advance(engine, cycle); }
static bool busy(const sim_engine *engine) { return sim_ref_engine.busy(engine); }
static uint64_t drain(sim_engine *engine, uint64_t cycle) { return sim_ref_engine.drain(engine, cycle); }
static const arch_fault *fault(const sim_engine *engine) { return sim_ref_engine.fault(engine); }

const sim_engine_ops cosim_poisoned_engine = {.name = "poisoned",
                                              .summary = "ref with rubbish in its memories",
                                              .create = create,
                                              .destroy = destroy,
                                              .push = push,
                                              .advance = advance,
                                              .busy = busy,
                                              .drain = drain,
                                              .fault = fault,
                                              .create_with = create_with};
