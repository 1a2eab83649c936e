// SPDX-License-Identifier: Apache-2.0
// The account of a recording engine as others see it: flow.h.
#include "sim/flow/engine.h"
#include "sim/flow/flow.h"

_Static_assert((int)FLOW_WEIGHTS <= (int)SIM_FLOW_WEIGHTS, "room for all weights");

typedef enum { TIME, DEPTH } kind;

const sim_flow_weight *sim_flow_weight_at(unsigned n) {
  static const sim_flow_weight weights[] = {
#define WEIGHT(name, kind, key, what, parameters) {key, what, parameters, (kind) == DEPTH},
#include "sim/flow/weights.def"
#undef WEIGHT
  };
  return n < sizeof weights / sizeof *weights ? &weights[n] : NULL;
}

void sim_flow_account_to(const sim_engine *engine, uint64_t cycle, sim_flow_account *account) {
  const flow_engine *e = (const flow_engine *)engine;
  flow_account own;
  flow_log_account(e->log, e->idle_at, &own);
  const uint64_t idle = flow_cycle(e->idle_at);
  if (cycle > idle) own.cycles[FLOW_W_HOST] += (int64_t)(cycle - idle);
  *account = (sim_flow_account){.lost = e->log->lost};
  for (unsigned w = 0; w + 1 < FLOW_WEIGHTS; w++) {
    account->cycles[w] = own.cycles[w + 1];
    account->edges[w] = own.edges[w + 1];
    account->released[w] = own.released[w + 1];
  }
}
