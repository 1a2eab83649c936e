// Tags of a level-1 cache: see rv64_l1.h.
#include "sim/host/rv64_l1.h"

#include <string.h>

#include "hw/base/alloc.h"

enum { SHIFTER_START = 1, SHIFTER_BITS = 16 };

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

// Of maximal length: taps 16, 14, 13, 11.
static void shift(rv64_l1 *l1) {
  uint32_t s = l1->shifter, in = (s ^ s >> 2 ^ s >> 3 ^ s >> 5) & 1;
  l1->shifter = s >> 1 | in << (SHIFTER_BITS - 1);
}

rv64_line *rv64_l1_victim(rv64_l1 *l1, uint64_t number) {
  shift(l1);
  return &l1->lines[(number & l1->set_mask) * l1->ways + l1->shifter % l1->ways];
}
