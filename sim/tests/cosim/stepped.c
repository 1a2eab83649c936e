// SPDX-License-Identifier: Apache-2.0
// The cycle engine with other ways to leave out cycles: stepped, without leaving out a single cycle or unit, which is
// what it must be equal to; unskipped, with none of the ways of sim/cycle/skip/skip.def; only-NAME, with one of them.
#include <string.h>

#include "sim/cycle/cycle.h"
#include "sim/tests/cosim/cosim.h"

static sim_engine *create_stepped(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                                  wf_diag *diag) {
  sim_engine_options every = *options;
  every.every_cycle = true;
  return sim_cycle_engine.create_with(array, memory, &every, diag);
}

static sim_engine *create_taking(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                                 uint32_t ways, wf_diag *diag) {
  sim_engine_options chosen = *options;
  chosen.without_skips = ~ways;
  return sim_cycle_engine.create_with(array, memory, &chosen, diag);
}

static sim_engine *create_unskipped(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                                    wf_diag *diag) {
  return create_taking(array, memory, options, 0, diag);
}

// Only a port that lags has bursts that are written as a whole.
static uint32_t ways_of(sim_cycle_skip skip) {
  return UINT32_C(1) << skip | (skip == CYCLE_SKIP_WHOLE ? UINT32_C(1) << CYCLE_SKIP_LAG : 0);
}

#define CYCLE_SKIP(ID, NAME, TEXT)                                                                                     \
  static sim_engine *create_only_##NAME(const hw_array *array, arch_memory *memory, const sim_engine_options *options, \
                                        wf_diag *diag) {                                                               \
    return create_taking(array, memory, options, ways_of(CYCLE_SKIP_##ID), diag);                                      \
  }
#include "sim/cycle/skip/skip.def"
#undef CYCLE_SKIP

typedef struct variant {
  const char *name, *summary;
  sim_engine *(*create_with)(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                             wf_diag *diag);
} variant;

static const variant variants[] = {
    {"stepped", "cycle, with every unit stepped in every cycle", create_stepped},
    {"unskipped", "cycle, with none of its ways to leave out cycles", create_unskipped},
#define CYCLE_SKIP(ID, NAME, TEXT) {"only-" #NAME, TEXT, create_only_##NAME},
#include "sim/cycle/skip/skip.def"
#undef CYCLE_SKIP
};
enum { VARIANTS = sizeof variants / sizeof *variants };

const sim_engine_ops *cosim_cycle_variant(const char *name) {
  static sim_engine_ops ops[VARIANTS];
  for (unsigned n = 0; n < VARIANTS; n++) {
    if (strcmp(variants[n].name, name) != 0) continue;
    ops[n] = sim_cycle_engine;
    ops[n].name = variants[n].name;
    ops[n].summary = variants[n].summary;
    ops[n].create_with = variants[n].create_with;
    return &ops[n];
  }
  return NULL;
}
