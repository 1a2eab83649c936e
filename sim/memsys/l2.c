// Tags of the shared L2: see l2.h. The tags of a set are consecutive: a lookup reads one or two cache lines.
#include "sim/memsys/l2.h"

#include "hw/base/alloc.h"

typedef struct line_state {
  uint64_t used;  // count of accesses when last used
  uint64_t available;
  bool dirty;
} line_state;

struct memsys_l2 {
  uint64_t *tags;     // sets x ways: line number + 1; 0: empty
  line_state *state;  // the same
  uint64_t set_mask;
  uint32_t ways, line_shift;
  uint64_t clock;  // counts accesses
};

memsys_l2 *memsys_l2_create(const hw_array *array) {
  memsys_l2 *l2 = WF_NEW(memsys_l2);
  l2->ways = array->l2.ways;
  l2->line_shift = (uint32_t)__builtin_ctz(array->l2.line_bytes);
  uint64_t lines = (uint64_t)array->l2.capacity_kib * 1024 >> l2->line_shift;
  l2->set_mask = lines / l2->ways - 1;
  l2->tags = WF_NEW_ARRAY(lines, uint64_t);
  l2->state = WF_NEW_ARRAY(lines, line_state);
  return l2;
}

void memsys_l2_destroy(memsys_l2 *l2) {
  if (l2 == NULL) return;
  wf_free(l2->tags);
  wf_free(l2->state);
  wf_free(l2);
}

static uint64_t set_of(const memsys_l2 *l2, uint64_t number) { return (number & l2->set_mask) * l2->ways; }

enum { NOT_THERE = -1 };

static int64_t find(const memsys_l2 *l2, uint64_t number) {
  uint64_t set = set_of(l2, number);
  for (uint64_t at = set; at < set + l2->ways; at++)
    if (l2->tags[at] == number + 1) return (int64_t)at;
  return NOT_THERE;
}

static uint64_t oldest(const memsys_l2 *l2, uint64_t number) {
  uint64_t set = set_of(l2, number), victim = set;
  for (uint64_t at = set + 1; at < set + l2->ways; at++)
    if (l2->state[at].used < l2->state[victim].used) victim = at;
  return victim;
}

bool memsys_l2_holds(const memsys_l2 *l2, uint64_t address) { return find(l2, address >> l2->line_shift) != NOT_THERE; }

memsys_l2_result memsys_l2_access(memsys_l2 *l2, uint64_t address, bool write, bool whole) {
  uint64_t number = address >> l2->line_shift;
  int64_t found = find(l2, number);
  memsys_l2_result result = {.hit = found != NOT_THERE};
  uint64_t at = result.hit ? (uint64_t)found : oldest(l2, number);
  line_state *state = &l2->state[at];
  if (!result.hit) {
    result.victim_dirty = l2->tags[at] != 0 && state->dirty;
    result.victim = (l2->tags[at] - 1) << l2->line_shift;
    l2->tags[at] = number + 1;
    *state = (line_state){.available = write && whole ? 0 : MEMSYS_L2_UNKNOWN};
  }
  result.available = state->available;
  state->used = ++l2->clock;
  state->dirty |= write;
  return result;
}

void memsys_l2_arrives(memsys_l2 *l2, uint64_t address, uint64_t cycle) {
  int64_t found = find(l2, address >> l2->line_shift);
  if (found != NOT_THERE) l2->state[found].available = cycle;
}
