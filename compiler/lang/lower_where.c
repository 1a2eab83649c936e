// SPDX-License-Identifier: Apache-2.0
// Columns that softmax leaves out: see lower.h.
//
//   x = load(pointers, mask, other=float("-inf"))    s = where(mask, x, float("-inf"))
//
// The elements that a mask does not hold for stay what they are in the block, and softmax takes of each row the columns
// before its end: as many in all rows, or in row i as many as start + step * i. Everything else refuses such a block.
#include <math.h>

#include "compiler/lang/lower.h"

static bool refuse(lang_lowerer *l, const lang_ast *node, const char *what) {
  lang_lower_fail(l, node, "%s", what);
  lang_lower_hint(l,
                  "where(mask, x, float(\"-inf\")), with mask columns[None, :] < N or columns[None, :] <= "
                  "rows[:, None], leaves columns out of softmax; where(x > 0, x, 0) is maximum(x, 0)");
  return false;
}

bool lang_lower_is_nothing(const lang_lower_value *v) {
  double number;
  return lang_lower_is_number(v, &number) && isinf(number) && number < 0;
}

// ---- lengths

static const int64_t far = INT64_C(1) << 40;

// Row i has the columns before first + step * i, and before `most`. An end that is the same in all rows is `first`,
// since it may be another one in each program.
static bool find_lengths(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *mask, lang_lower_index *first,
                         int64_t *step, int64_t *most) {
  const int last = mask->rank - 1;
  lang_lower_index end = lang_lower_constant(mask->dim[last].size);
  if (mask->dim[last].limited && !lang_lower_mask_end(l, node, mask, last, &end)) return false;
  if (end.loops != 0) return refuse(l, node, "the columns of these rows have two ends that move");
  *most = mask->dim[last].size;
  if (mask->ragged && end.constant < *most) *most = end.constant;
  *first = mask->ragged ? mask->edge : end;
  *step = mask->ragged ? mask->edge_step : 0;
  return true;
}

// Every row keeps a column.
static bool keeps_some(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *mask,
                       const lang_lower_index *first, int64_t step, int64_t largest) {
  const int64_t rows = mask->rank == 1 ? 1 : mask->dim[mask->rank - 2].size;
  int64_t least, most, down;
  const bool known = lang_lower_index_bounds(l->program, first, &least, &most) &&
                     !__builtin_mul_overflow(step < 0 ? step : 0, rows - 1, &down) &&
                     !__builtin_add_overflow(least, down, &least);
  if (!known) return lang_lower_too_large(l, node);
  if ((least >= 1 && largest >= 1) || l->planning != 0) return true;
  lang_lower_fail(l, node, "there are rows of which no column is left, and no softmax");
  lang_lower_hint(l, "every row needs its first column: columns[None, :] <= rows[:, None] has it, < has not");
  return false;
}

bool lang_lower_lengths(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows, block_lengths *lengths) {
  lang_lower_index first;
  int64_t step, most, least, farthest;
  const lang_lower_indexes *mask = rows->kept;
  *lengths = (block_lengths){0};
  if (mask == NULL) return true;
  if (!find_lengths(l, node, mask, &first, &step, &most) || !keeps_some(l, node, mask, &first, step, most) ||
      !lang_lower_index_bounds(l->program, &first, &least, &farthest))
    return false;
  if (least < -far || farthest > far || step > INT32_MAX || step < -INT32_MAX) return lang_lower_too_large(l, node);
  *lengths = (block_lengths){.most = most, .first = lang_lower_index_affine(&first), .step = step};
  return true;
}

// The last row that is stored: of the block, or before the end of what is stored to.
static bool ends_within(const lang_lowerer *l, const lang_lower_block_ptr *p, const lang_lower_index *first,
                        int64_t step, int64_t columns) {
  lang_lower_index end = *first, row;
  int64_t least, most;
  const int d = p->rank - 2;
  const lang_lower_index before = lang_lower_constant(d < 0 ? 0 : p->dim[d].extent - 1);
  if (!lang_lower_index_bounds(l->program, first, &least, &most)) return false;
  if (d < 0 || step <= 0) return most <= columns;
  if (most + step * (p->dim[d].size - 1) <= columns) return true;
  return p->dim[d].step == 1 && lang_lower_index_times(&p->dim[d].offset, -1, &row) &&
         lang_lower_index_add(&row, &before, &row) && lang_lower_index_times(&row, step, &row) &&
         lang_lower_index_add(&end, &row, &end) && lang_lower_index_bounds(l->program, &end, &least, &most) &&
         most <= columns;
}

bool lang_lower_fit_lengths(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows,
                            const lang_lower_block_ptr *p, block_lengths *lengths) {
  const int last = p->rank - 1;
  lang_lower_index first;
  int64_t step, all, least, most;
  if (!lang_lower_index_bounds(l->program, &p->dim[last].offset, &least, &most) || least < 0) return false;
  const int64_t columns = p->dim[last].extent - most;
  if (lengths->most <= columns) return true;
  if (columns < 1 || !find_lengths(l, node, rows->kept, &first, &step, &all) ||
      !ends_within(l, p, &first, step, columns))
    return false;
  lengths->most = columns;
  return true;
}

// ---- rows

// What the mask leaves of the block's rows along dimension d ends no earlier than what is stored of them.
static bool stores_within(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *mask,
                          const lang_lower_block_ptr *p, int d) {
  lang_lower_index end, stored;
  const lang_lower_index extent = lang_lower_constant(p->dim[d].extent);
  int64_t least, most;
  return lang_lower_mask_end(l, node, mask, d, &end) && p->dim[d].step == 1 &&
         lang_lower_index_times(&p->dim[d].offset, -1, &stored) && lang_lower_index_add(&stored, &extent, &stored) &&
         lang_lower_difference(l, &stored, &end, &least, &most) && most <= 0;
}

bool lang_lower_row_limits(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows,
                           const lang_lower_block_ptr *p) {
  const lang_lower_indexes *mask = rows->kept;
  for (int d = 0; mask != NULL && d < mask->rank - 1; d++) {
    if (!mask->dim[d].limited || (p != NULL && stores_within(l, node, mask, p, d))) continue;
    lang_lower_fail(l, node, "the mask of these rows leaves some out as a whole, which have no softmax");
    lang_lower_hint(l, p != NULL ? "leave the same rows out of the store"
                                 : "leave only columns out of softmax, and rows by the mask of the store");
    return false;
  }
  return true;
}

// ---- blocks with a mask

bool lang_lower_same_mask(const lang_lower_indexes *a, const lang_lower_indexes *b) {
  if (a == b || a == NULL || b == NULL) return a == b;
  bool same = a->rank == b->rank && a->ragged == b->ragged;
  if (same && a->ragged) same = a->edge_step == b->edge_step && lang_lower_index_equal(&a->edge, &b->edge);
  for (int d = 0; d < a->rank && same; d++)
    same = a->dim[d].size == b->dim[d].size && a->dim[d].limited == b->dim[d].limited &&
           (!a->dim[d].limited ||
            (a->dim[d].extent == b->dim[d].extent && lang_lower_index_equal(&a->dim[d].from, &b->dim[d].from)));
  return same;
}

// The mask with the dimensions of the block.
static bool spread_mask(lang_lowerer *l, const lang_ast *node, const lang_lower_block *b,
                        const lang_lower_indexes *mask, lang_lower_indexes *spread) {
  lang_lower_indexes shape = {.tensor = BLOCK_NONE, .rank = b->rank}, joined[2];
  for (int d = 0; d < b->rank; d++) shape.dim[d].size = b->size[d];
  if (!lang_lower_index_join(l, node, &shape, mask, joined)) return false;
  *spread = joined[1];
  bool same = joined[0].rank == b->rank;
  for (int d = 0; d < b->rank && same; d++) same = joined[0].dim[d].size == b->size[d];
  if (mask->ragged) same = same && mask->dim[mask->rank - 1].size == b->size[b->rank - 1];
  return same || refuse(l, node, "this mask has another shape than the block");
}

bool lang_lower_keep(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, const lang_lower_indexes *mask,
                     lang_lower_value *result) {
  lang_lower_rows *rows = WF_ARENA_NEW(l->run, lang_lower_rows);
  lang_lower_indexes *kept = WF_ARENA_NEW(l->run, lang_lower_indexes);
  block_lengths lengths;
  if (!lang_lower_rows_of(l, v, rows) || rows->form != LOWER_ROWS_ALL)
    return refuse(l, node, "columns are left out of a block of integers, perhaps scaled");
  if (!spread_mask(l, node, &rows->block, mask, kept) || !lang_lower_mask_edge(l, node, kept)) return false;
  if (rows->kept != NULL) {
    const lang_lower_indexes more = *kept;
    if (!lang_lower_and_masks(l, node, rows->kept, &more, kept)) return false;
  }
  rows->kept = kept;
  *result = (lang_lower_value){.kind = VALUE_ROWS, .rows = rows};
  return lang_lower_lengths(l, node, rows, &lengths);
}

bool lang_lower_where(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  lang_lower_value mask, v, other;
  if (!lang_lower_eval(l, args[0], BLOCK_NONE, &mask)) return false;
  if (mask.kind != VALUE_MASK) return refuse(l, args[0], "where() takes a mask: a comparison of indexes");
  if (!lang_lower_eval(l, args[1], BLOCK_NONE, &v) || !lang_lower_eval(l, args[2], BLOCK_NONE, &other)) return false;
  if (!lang_lower_is_nothing(&other)) return refuse(l, args[2], "where() puts float(\"-inf\") in, and nothing else");
  return lang_lower_keep(l, node, &v, mask.indexes, result);
}
