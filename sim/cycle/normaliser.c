// SPDX-License-Identifier: Apache-2.0
// See normaliser.h. How long a command keeps the unit, from its entry to the next row:
//   REDUCE      1 cycle behind the one of the entry; another command may enter in it
//   DIVIDE      the start, 32 quotient bits, two a cycle, the result
//   ROOT        the start, 16 root bits, the end
//   RECIPROCAL  the start, 28 quotient bits, two a cycle, the result
#include "sim/cycle/normaliser.h"

#include <assert.h>

#include "arch/local.h"
#include "base/alloc.h"

enum { ENTRY = 1, REDUCE = 1, DIVIDE = 32 / 2 + 2, ROOT = 16 + 2, RECIPROCAL = 28 / 2 + 2 };
enum { ENDED = ENTRY + REDUCE, MEAN = ENDED + DIVIDE, DEVIATION = MEAN + ROOT + RECIPROCAL, SUM = ENDED + RECIPROCAL };

static const cycle_normaliser_times times_of[] = {
    [ARCH_NORM_NONE] = {ENTRY, ENTRY},
    [ARCH_NORM_SUM] = {ENTRY, ENDED},
    [ARCH_NORM_MEAN] = {MEAN, MEAN},
    [ARCH_NORM_VARIANCE] = {ENTRY, ENDED},
    [ARCH_NORM_INV_STDDEV] = {DEVIATION, DEVIATION},
    [ARCH_NORM_MAX] = {ENTRY, ENDED},
    [ARCH_NORM_SUM_EXP] = {ENTRY, ENDED},
    [ARCH_NORM_INV_SUM_EXP] = {SUM, SUM},
};

cycle_normaliser_times cycle_normaliser_times_of(arch_norm row) { return times_of[row]; }

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
  assert(n->enabled && now >= n->command_from && command != ARCH_NORM_NONE);
  n->command_from = now + times_of[command].command;
  n->idle_from = now + times_of[command].pass;
}
