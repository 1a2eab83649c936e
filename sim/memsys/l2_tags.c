// SPDX-License-Identifier: Apache-2.0
// Tags of the L2: see l2_tags.h.
#include "sim/memsys/l2_tags.h"

#include "base/alloc.h"

void l2_tags_init(l2_tags *tags, const hw_array *array) {
  tags->ways = array->l2.ways;
  tags->way_shift = L2_RANDOM_BITS - (uint32_t)__builtin_ctz(tags->ways);
  tags->line_shift = (uint32_t)__builtin_ctz(array->l2.line_bytes);
  uint64_t lines = (uint64_t)array->l2.capacity_kib * 1024 >> tags->line_shift;
  tags->set_mask = lines / tags->ways - 1;
  tags->numbers = WF_NEW_ARRAY(lines, uint64_t);
  tags->lines = WF_NEW_ARRAY(lines, l2_line);
  tags->random = 1;
}

void l2_tags_free(l2_tags *tags) {
  wf_free(tags->numbers);
  wf_free(tags->lines);
}

l2_found l2_tags_read(l2_tags *tags, uint64_t number) {
  const uint64_t set = l2_set_of(tags, number) * tags->ways;
  uint64_t *numbers = &tags->numbers[set];
  const uint32_t way = l2_tags_draw(tags);
  for (uint32_t i = 0; i < tags->ways; i++)
    if (numbers[i] == number + 1) return (l2_found){.line = &tags->lines[set + i], .hit = true};
  l2_line *line = &tags->lines[set + way];
  l2_found found = {.line = line, .evicts = numbers[way] != 0, .evicts_dirty = line->dirty, .victim = numbers[way] - 1};
  numbers[way] = number + 1;
  *line = (l2_line){.available = UINT64_MAX};
  return found;
}
