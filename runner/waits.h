// SPDX-License-Identifier: Apache-2.0
// Where the cycles of a program went, from the point of view of its products: each cycle has one cause, so the causes
// add up to the cycles. It is found from the records of the reservation station (sim/engine.h) while they are told.
#ifndef RUNNER_WAITS_H
#define RUNNER_WAITS_H

#include "sim/engine.h"

// X(NAME, name, what)
#define RUN_WAITS(X)                                                                                   \
  X(PRODUCTS, "products", "a product was issued and is not done")                                      \
  X(LOADS, "loads", "the next product waits for a load, or the station has no entry for another load") \
  X(STORES, "stores", "likewise for stores")                                                           \
  X(COMMANDS, "commands", "the next product has not come to the station")                              \
  X(END, "end", "the last product is done, and stores are not")

typedef enum {
#define X(NAME, name, what) RUN_WAIT_##NAME,
  RUN_WAITS(X)
#undef X
      RUN_WAIT_COUNT
} run_wait;
extern const char *const run_wait_names[RUN_WAIT_COUNT];

typedef struct run_waits {
  uint64_t cycles[RUN_WAIT_COUNT];
} run_waits;

typedef struct run_waits_state run_waits_state;

run_waits_state *run_waits_open(const hw_array *array);
// The sink of its records, to be given to an engine before the program starts.
sim_events run_waits_sink(run_waits_state *state);
// The causes of the cycles `start` to before `end`; frees the state.
run_waits run_waits_close(run_waits_state *state, uint64_t end);

#endif
