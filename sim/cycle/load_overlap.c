// SPDX-License-Identifier: Apache-2.0
// Do two loads write a common byte of local memory? See hw/rtl/weft_load_overlap.sv.
//
// Loads of equal columns write equal copies to equal lanes, so they meet where their own rows do; otherwise a run
// reaches from its lowest copy. Exact when besides the strides are equal or one load has a single block; otherwise the
// enclosing ranges are compared, which may only report too much. With d the distance of the first rows and q = d /
// stride, only the q-th and the (q+1)-th block of the lower load can meet a block of the upper one. Sums have the width
// of the hardware's, which matters for a load without columns (-1 blocks).
#include "sim/cycle/load_overlap.h"

#define WIDTH_MASK ((UINT64_C(1) << 34) - 1)

// What is compared: the runs of rows of a load.
typedef struct runs {
  uint32_t row;
  uint16_t span, blocks, stride;
} runs;

static runs runs_of(const cycle_load_rows *l, bool lanes_equal) {
  uint32_t below = lanes_equal ? 0 : l->copies;
  return (runs){.row = l->row > below ? l->row - below : 0,
                .span = (uint16_t)(l->rows + below),
                .blocks = l->blocks,
                .stride = l->stride};
}

static uint64_t end_of(const runs *r) {
  return (r->row + ((uint64_t)r->blocks - 1) * r->stride + r->span) & WIDTH_MASK;
}

// `low` starts at or below `high`; blocks of both are further apart than they are long.
static bool blocks_meet(const runs *low, const runs *high, uint32_t stride) {
  uint32_t distance = high->row - low->row, quotient = distance / stride;
  uint32_t rest = distance - quotient * stride;
  bool first = rest < low->span && quotient < low->blocks;
  bool next = stride - rest < high->span && quotient + 1 < low->blocks;
  return first || next;
}

static bool runs_meet(const runs *a, const runs *b) {
  if (a->row >= end_of(b) || b->row >= end_of(a)) return false;
  uint32_t stride = a->blocks == 1 ? b->stride : a->stride;
  bool comparable =
      (a->blocks == 1 || b->blocks == 1 || a->stride == b->stride) && stride > a->span && stride > b->span;
  if (!comparable) return true;
  return a->row <= b->row ? blocks_meet(a, b, stride) : blocks_meet(b, a, stride);
}

bool cycle_load_overlap(const cycle_load_rows *a, const cycle_load_rows *b) {
  if (a->is_acc != b->is_acc) return false;
  bool lanes_equal = a->cols == b->cols;
  const runs of_a = runs_of(a, lanes_equal), of_b = runs_of(b, lanes_equal);
  return runs_meet(&of_a, &of_b);
}
