// SPDX-License-Identifier: Apache-2.0
// Ranges of indexes: see range.h.
//
// Two boxes at c * i + x and c * j + y with i != j have no element in common in a dimension if |c| is more than what x
// and y, with the sizes of the boxes, can differ by. In a tensor this says something only if different indexes are
// different elements: each stride spans all that smaller strides reach.
#include "compiler/block/range.h"

static void add_terms(block_range *range, int64_t factor, int64_t last) {
  if (factor > 0) range->max = block_plus(range->max, block_times(factor, last));
  if (factor < 0) range->min = block_plus(range->min, block_times(factor, last));
}

// Whether an inner loop and the outer one of its split count on evenly.
static bool is_pair(const block_program *program, const block_affine *affine, int inner) {
  const block_loop *loop = &program->loops[inner];
  return loop->split_of != BLOCK_NONE && affine->per_loop[inner] != 0 &&
         affine->per_loop[loop->split_of] == block_times(affine->per_loop[inner], loop->trips);
}

block_range block_affine_range(const block_program *program, const block_affine *affine) {
  block_range range = {affine->constant, affine->constant};
  uint32_t done = 0;
  for (int l = 0; l < program->loop_count; l++) {
    const block_loop *loop = &program->loops[l];
    if (!is_pair(program, affine, l) || ((done >> l | done >> loop->split_of) & 1) != 0) continue;
    add_terms(&range, affine->per_loop[l], loop->limit - 1);
    done |= UINT32_C(1) << l | UINT32_C(1) << loop->split_of;
  }
  for (int l = 0; l < program->loop_count; l++)
    if ((done >> l & 1) == 0) add_terms(&range, affine->per_loop[l], program->loops[l].trips - 1);
  return range;
}

static block_range plus(block_range a, block_range b) {
  return (block_range){block_plus(a.min, b.min), block_plus(a.max, b.max)};
}
static block_range minus(block_range a, block_range b) {
  return (block_range){block_plus(a.min, -b.max), block_plus(a.max, -b.min)};
}

// What is left of an index without `loop`, split into what is the same for two iterations of it and what is not.
static block_affine part(const block_affine *affine, int loop, uint32_t loops, bool in) {
  block_affine result = {.constant = in ? 0 : affine->constant};
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++)
    if (l != loop && ((loops >> l & 1) != 0) == in) result.per_loop[l] = affine->per_loop[l];
  return result;
}

// Whether c * i + x and c * j + y are more than `width` apart for i != j, where x and y range over a and b without
// `loop`, and widths are what boxes add.
static bool apart(const block_program *program, int loop, uint32_t outside, const block_affine *a, block_range width_a,
                  const block_affine *b, block_range width_b) {
  int64_t factor = a->per_loop[loop];
  if (factor == 0 || factor != b->per_loop[loop]) return false;
  block_affine same_a = part(a, loop, outside, true), same_b = part(b, loop, outside, true);
  block_affine same = block_affine_add(same_a, block_affine_times(same_b, -1));
  block_affine free_a = part(a, loop, outside, false), free_b = part(b, loop, outside, false);
  block_range x = plus(block_affine_range(program, &free_a), width_a);
  block_range y = plus(block_affine_range(program, &free_b), width_b);
  block_range between = plus(block_affine_range(program, &same), minus(x, y));
  int64_t distance = factor < 0 ? -factor : factor;
  return distance > between.max && distance > -between.min;
}

bool block_views_disjoint(const block_program *program, int loop, uint32_t outside, const block_view *a,
                          const block_view *b) {
  if (a->buffer != b->buffer) return true;
  for (int d = 0; d < program->buffers[a->buffer].rank; d++) {
    block_range width_a = {0, block_times(a->dim[d].size - 1, a->dim[d].step)};
    block_range width_b = {0, block_times(b->dim[d].size - 1, b->dim[d].step)};
    if (apart(program, loop, outside, &a->dim[d].offset, width_a, &b->dim[d].offset, width_b)) return true;
  }
  return false;
}

// ---- tensors

// Indexes of a dimension that lie in the tensor.
static block_range clipped(const block_program *program, const block_access_dim *dim) {
  block_range range = block_affine_range(program, &dim->offset);
  range.max = block_plus(range.max, block_times(dim->size - 1, dim->step));
  if (range.min < 0) range.min = 0;
  if (range.max > dim->extent - 1) range.max = dim->extent - 1;
  if (range.max < range.min) range.max = range.min;
  return range;
}

// Elements from the base that the dimensions reach.
static block_range reach(const block_program *program, const block_access *access) {
  block_range range = {0, 0};
  for (int d = 0; d < access->rank; d++) {
    block_range dim = clipped(program, &access->dim[d]);
    range = plus(
        range, (block_range){block_times(dim.min, access->dim[d].stride), block_times(dim.max, access->dim[d].stride)});
  }
  return range;
}

typedef struct stride_term {
  int64_t stride, count;
} stride_term;

// Whether different indexes and different iterations of the loops that move the base are different elements, apart from
// dimensions of stride 0. Loops in `outside` stand still.
static bool is_injective(const block_program *program, uint32_t outside, const block_access *access) {
  stride_term terms[BLOCK_RANK_MAX + BLOCK_LOOPS_MAX];
  int count = 0;
  for (int d = 0; d < access->rank; d++)
    if (access->dim[d].stride != 0) terms[count++] = (stride_term){access->dim[d].stride, access->dim[d].extent};
  for (int l = 0; l < program->loop_count; l++) {
    const int64_t factor = access->base.per_loop[l];
    if (factor == 0 || (outside >> l & 1) != 0) continue;
    terms[count++] = (stride_term){factor < 0 ? block_times(factor, -1) : factor, program->loops[l].trips};
  }
  for (int t = 0; t < count; t++) {
    int64_t below = 0;
    for (int u = 0; u < count; u++) {
      bool before = terms[u].stride < terms[t].stride || (terms[u].stride == terms[t].stride && u > t);
      if (before) below = block_plus(below, block_times(terms[u].stride, terms[u].count - 1));
    }
    if (terms[t].count > 1 && terms[t].stride <= below) return false;
  }
  return true;
}

static bool have_same_shape(const block_access *a, const block_access *b) {
  if (a->rank != b->rank || !block_affine_equal(&a->base, &b->base)) return false;
  for (int d = 0; d < a->rank; d++)
    if (a->dim[d].extent != b->dim[d].extent || a->dim[d].stride != b->dim[d].stride) return false;
  return true;
}

bool block_accesses_disjoint(const block_program *program, int loop, uint32_t outside, const block_access *a,
                             const block_access *b) {
  if (a->tensor != b->tensor) return true;
  if (apart(program, loop, outside, &a->base, reach(program, a), &b->base, reach(program, b))) return true;
  if (!have_same_shape(a, b) || !is_injective(program, outside, a)) return false;
  if (a->base.per_loop[loop] != 0) return true;
  for (int d = 0; d < a->rank; d++) {
    block_range width_a = {0, block_times(a->dim[d].size - 1, a->dim[d].step)};
    block_range width_b = {0, block_times(b->dim[d].size - 1, b->dim[d].step)};
    if (a->dim[d].stride != 0 && apart(program, loop, outside, &a->dim[d].offset, width_a, &b->dim[d].offset, width_b))
      return true;
  }
  return false;
}
