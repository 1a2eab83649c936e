// SPDX-License-Identifier: Apache-2.0
// See normaliser.h. How long a command keeps the unit, from its entry to the next one:
//   REDUCE      1 cycle behind the one of the entry
//   DIVIDE      the start, 32 quotient bits, the result
//   ROOT        the start, 16 root bits, the end
//   RECIPROCAL  the start, 50 quotient bits, the result
#include "sim/cycle/normaliser.h"

#include <assert.h>

#include "arch/local.h"
#include "base/alloc.h"

enum { ENTRY = 1, REDUCE = 1, DIVIDE = 32 + 2, ROOT = 16 + 2, RECIPROCAL = 50 + 2 };

static const uint8_t cycles_of[] = {
    [ARCH_NORM_NONE] = ENTRY,
    [ARCH_NORM_SUM] = ENTRY + REDUCE,
    [ARCH_NORM_MEAN] = ENTRY + REDUCE + DIVIDE,
    [ARCH_NORM_VARIANCE] = ENTRY + REDUCE,
    [ARCH_NORM_INV_STDDEV] = ENTRY + REDUCE + DIVIDE + ROOT + RECIPROCAL,
    [ARCH_NORM_MAX] = ENTRY + REDUCE,
    [ARCH_NORM_SUM_EXP] = ENTRY + REDUCE,
    [ARCH_NORM_INV_SUM_EXP] = ENTRY + REDUCE + RECIPROCAL,
};

uint32_t cycle_normaliser_cycles(arch_norm command) { return cycles_of[command]; }

void cycle_normaliser_init(cycle_normaliser *n, bool enabled, uint32_t sets) {
  assert((sets & (sets - 1)) == 0);
  *n = (cycle_normaliser){.enabled = enabled, .set_mask = sets - 1};
  cycle_queue_init(&n->queue, CYCLE_NORMALISER_QUEUE, 1, false);
  n->sets = WF_NEW_ARRAY(sets, ref_stats);
  for (uint32_t i = 0; i < sets; i++) ref_stats_clear(&n->sets[i]);
}

void cycle_normaliser_free(cycle_normaliser *n) {
  wf_free(n->sets);
  cycle_queue_free(&n->queue);
}

void cycle_normaliser_pass(cycle_normaliser *n, uint64_t now, cycle_unit_row row) {
  n->rows[cycle_queue_push(&n->queue, now)] = row;
}

void cycle_normaliser_command(cycle_normaliser *n, uint64_t now, arch_norm command) {
  assert(n->enabled && now >= n->idle_from && command != ARCH_NORM_NONE);
  n->idle_from = now + cycle_normaliser_cycles(command);
}
