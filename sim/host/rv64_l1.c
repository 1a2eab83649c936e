// SPDX-License-Identifier: Apache-2.0
// Tags of a level-1 cache: see rv64_l1.h.
#include "sim/host/rv64_l1.h"

#include <string.h>

#include "base/alloc.h"

enum { SHIFTER_START = 1, SHIFTER_MASK = 0xffff };

void rv64_l1_create(rv64_l1 *l1, unsigned kib, unsigned ways, unsigned line_bytes) {
  uint64_t sets = (uint64_t)kib * 1024 / line_bytes / ways;
  *l1 = (rv64_l1){.lines = WF_NEW_ARRAY(sets * ways, rv64_line),
                  .set_mask = sets - 1,
                  .ways = ways,
                  .line_shift = (unsigned)__builtin_ctz(line_bytes),
                  .offset_mask = line_bytes - 1,
                  .shifter = SHIFTER_START};
}

void rv64_l1_destroy(rv64_l1 *l1) { wf_free(l1->lines); }

void rv64_l1_clear(rv64_l1 *l1) { memset(l1->lines, 0, (l1->set_mask + 1) * l1->ways * sizeof *l1->lines); }

// Of maximal length: taps 16, 15, 13, 4.
static void shift(rv64_l1 *l1) {
  uint32_t s = l1->shifter, in = (s >> 15 ^ s >> 14 ^ s >> 12 ^ s >> 3) & 1;
  l1->shifter = (s << 1 | in) & SHIFTER_MASK;
}

rv64_line *rv64_l1_victim(rv64_l1 *l1, uint64_t number) {
  unsigned way = l1->shifter % l1->ways;
  shift(l1);
  return &l1->lines[(number & l1->set_mask) * l1->ways + way];
}
