// SPDX-License-Identifier: Apache-2.0
// An engine with a known bug, for testing the comparison and the shrinker: see cosim.h.
#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/ref/ref.h"
#include "sim/tests/cosim/cosim.h"

enum { WINDOW = 3 };
#define ACCUMULATE (UINT64_C(1) << 30)

typedef struct faulty {
  sim_engine base;
  sim_engine *inner;
  unsigned since;  // commands since the last compute_accumulated
} faulty;

static faulty *of(sim_engine *engine) { return (faulty *)engine; }

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  faulty *f = WF_NEW(faulty);
  f->base.ops = &cosim_faulty_engine;
  f->since = WINDOW;
  f->inner = sim_ref_engine.create(array, memory, diag);
  if (f->inner != NULL) return &f->base;
  wf_free(f);
  return NULL;
}

static void destroy(sim_engine *engine) {
  sim_ref_engine.destroy(of(engine)->inner);
  wf_free(engine);
}

static bool is_load(const arch_command *c) {
  return c->funct == ISA_FUNCT_MVIN || c->funct == ISA_FUNCT_MVIN2 || c->funct == ISA_FUNCT_MVIN3;
}

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  faulty *f = of(engine);
  arch_command told = *command;
  if (f->since < WINDOW && is_load(command)) told.rs2 &= ~ACCUMULATE;
  f->since = command->funct == ISA_FUNCT_COMPUTE_ACCUMULATED ? 0 : f->since + 1;
  return sim_ref_engine.push(f->inner, cycle, &told, response);
}

static uint64_t advance(sim_engine *engine, uint64_t cycle) { return sim_ref_engine.advance(of(engine)->inner, cycle); }
static bool busy(const sim_engine *engine) { return sim_ref_engine.busy(((const faulty *)engine)->inner); }
static uint64_t drain(sim_engine *engine, uint64_t cycle) { return sim_ref_engine.drain(of(engine)->inner, cycle); }
static const arch_fault *fault(const sim_engine *engine) {
  return sim_ref_engine.fault(((const faulty *)engine)->inner);
}

const sim_engine_ops cosim_faulty_engine = {.name = "faulty",
                                            .summary = "ref with a planted bug",
                                            .create = create,
                                            .destroy = destroy,
                                            .push = push,
                                            .advance = advance,
                                            .busy = busy,
                                            .drain = drain,
                                            .fault = fault};
