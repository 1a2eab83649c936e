// Tags of the shared L2: see l2.h.
#include "sim/memsys/l2.h"

#include <assert.h>

#include "hw/base/alloc.h"

typedef struct line {
  uint64_t tag;  // line number + 1; 0: empty
  uint64_t used;
  uint64_t available;
  bool dirty;
} line;

struct memsys_l2 {
  line *lines;  // sets x ways
  uint64_t sets, ways, line_bytes;
  uint64_t clock;  // counts accesses
};

memsys_l2 *memsys_l2_create(const hw_array *array) {
  memsys_l2 *l2 = WF_NEW(memsys_l2);
  l2->ways = array->l2.ways;
  l2->line_bytes = array->l2.line_bytes;
  l2->sets = (uint64_t)array->l2.capacity_kib * 1024 / l2->line_bytes / l2->ways;
  l2->lines = WF_NEW_ARRAY(l2->sets * l2->ways, line);
  return l2;
}

void memsys_l2_destroy(memsys_l2 *l2) {
  if (l2 == NULL) return;
  wf_free(l2->lines);
  wf_free(l2);
}

static line *set_of(const memsys_l2 *l2, uint64_t number) { return &l2->lines[number % l2->sets * l2->ways]; }

static line *find(const memsys_l2 *l2, uint64_t number) {
  line *set = set_of(l2, number);
  for (uint64_t way = 0; way < l2->ways; way++)
    if (set[way].tag == number + 1) return &set[way];
  return NULL;
}

static line *oldest(const memsys_l2 *l2, uint64_t number) {
  line *set = set_of(l2, number), *victim = &set[0];
  for (uint64_t way = 1; way < l2->ways; way++)
    if (set[way].used < victim->used) victim = &set[way];
  return victim;
}

bool memsys_l2_holds(const memsys_l2 *l2, uint64_t address) { return find(l2, address / l2->line_bytes) != NULL; }

memsys_l2_result memsys_l2_access(memsys_l2 *l2, uint64_t address, bool write) {
  uint64_t number = address / l2->line_bytes;
  line *found = find(l2, number);
  memsys_l2_result result = {.hit = found != NULL};
  if (found == NULL) {
    found = oldest(l2, number);
    result.victim_dirty = found->tag != 0 && found->dirty;
    *found = (line){.tag = number + 1};
  }
  result.available = found->available;
  found->used = ++l2->clock;
  found->dirty |= write;
  return result;
}

void memsys_l2_arrives(memsys_l2 *l2, uint64_t address, uint64_t cycle) {
  line *found = find(l2, address / l2->line_bytes);
  assert(found != NULL);
  found->available = cycle;
}
