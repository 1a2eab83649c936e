// SPDX-License-Identifier: Apache-2.0
// Masks as extents: `start + i < bound` along one dimension says where that dimension ends. A block of pointers with a
// mask is then a block pointer: the address start + sum of step_d * i_d is
//   (start - sum of step_d * from_d) + sum of step_d * (from_d + i_d),
// with from_d and the extent of dimension d from the mask, or from the size that its index is modulo. See lower.h.
#include "compiler/lang/lower.h"

static bool no_extent(lang_lowerer *l, const lang_ast *node) {
  lang_lower_fail(l, node, "this mask is not the end of a dimension");
  lang_lower_hint(l, "masks are 'start + arange(0, BLOCK) < bound', one per dimension, joined with '&'");
  return false;
}

// ---- comparisons

// The dimension that an index moves along: step 1 and no other. BLOCK_NONE: there is none; -2: not of this form.
enum { NO_FORM = -2 };
static int moving_dim(const lang_lower_indexes *x) {
  int found = BLOCK_NONE;
  for (int d = 0; d < x->rank; d++) {
    if (x->dim[d].step == 0) continue;
    if (found != BLOCK_NONE || x->dim[d].step != 1) return NO_FORM;
    found = d;
  }
  return found;
}

// A column below an edge that moves with the row: x < bound, where x is start + column + step * row.
static bool ragged(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *x, const lang_lower_index *bound,
                   lang_lower_indexes *mask) {
  lang_lower_index minus;
  const int last = x->rank - 1;
  bool good = last > 0 && x->dim[last].step == 1 && !x->dim[last].limited;
  for (int d = 0; d < last && good; d++) good = !x->dim[d].limited && (d == last - 1 || x->dim[d].step == 0);
  if (!good || x->dim[last - 1].step == INT64_MIN) return no_extent(l, node);
  mask->ragged = true;
  mask->edge_step = x->dim[last - 1].size == 1 ? 0 : -x->dim[last - 1].step;
  return (lang_lower_index_times(&x->start, -1, &minus) && lang_lower_index_add(bound, &minus, &mask->edge)) ||
         lang_lower_too_large(l, node);
}

// bound - x < 1 in place of x >= bound
static bool negated(const lang_lower_indexes *x, const lang_lower_index *bound, lang_lower_indexes *minus,
                    lang_lower_index *below) {
  const lang_lower_index one = lang_lower_constant(1);
  *minus = *x;
  bool fits = lang_lower_index_times(&x->start, -1, &minus->start) && lang_lower_index_times(bound, -1, below) &&
              lang_lower_index_add(below, &one, below);
  for (int d = 0; d < x->rank; d++) fits &= !__builtin_mul_overflow(x->dim[d].step, -1, &minus->dim[d].step);
  return fits;
}

static lang_lower_indexes no_limits(const lang_lower_indexes *x) {
  lang_lower_indexes mask = {.tensor = BLOCK_NONE, .rank = x->rank};
  for (int d = 0; d < x->rank; d++) mask.dim[d].size = x->dim[d].size;
  return mask;
}

// start + i < bound: from is the start without what moves the bound, made to be at least 0 throughout.
static bool limit(lang_lowerer *l, const lang_ast *node, const lang_lower_index *start, const lang_lower_index *bound,
                  int d, lang_lower_indexes *mask) {
  lang_lower_index moved = *bound, shift;
  int64_t least, most;
  moved.constant = 0;
  if (!lang_lower_index_times(&moved, -1, &moved) || !lang_lower_index_add(start, &moved, &mask->dim[d].from) ||
      !lang_lower_index_bounds(l->program, &mask->dim[d].from, &least, &most) || least == INT64_MIN)
    return lang_lower_too_large(l, node);
  mask->dim[d].limited = true;
  mask->dim[d].extent = bound->constant;
  shift = lang_lower_constant(least < 0 ? -least : 0);
  if (__builtin_add_overflow(mask->dim[d].extent, shift.constant, &mask->dim[d].extent) ||
      !lang_lower_index_add(&mask->dim[d].from, &shift, &mask->dim[d].from))
    return lang_lower_too_large(l, node);
  if (mask->dim[d].extent < 0) mask->dim[d].extent = 0;
  return true;
}

// x < bound
static bool below(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *x, const lang_lower_index *bound,
                  lang_lower_indexes *mask) {
  int64_t least, most;
  const int d = moving_dim(x);
  *mask = no_limits(x);
  if (d == NO_FORM) return ragged(l, node, x, bound, mask);
  if (d != BLOCK_NONE && !x->dim[d].limited) return limit(l, node, &x->start, bound, d, mask);
  // Modulo a size it is below that size.
  lang_lower_index top = x->start;
  const lang_lower_index size = lang_lower_constant(d == BLOCK_NONE ? 0 : x->dim[d].extent - 1);
  if (!lang_lower_index_add(&top, &size, &top) || !lang_lower_difference(l, &top, bound, &least, &most) || most >= 0)
    return no_extent(l, node);
  return true;
}

// x >= bound: only where that holds for all elements, or where rows end so.
static bool not_below(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *x, const lang_lower_index *bound,
                      lang_lower_indexes *mask) {
  int64_t least, most;
  lang_lower_indexes minus;
  lang_lower_index end;
  *mask = no_limits(x);
  if (moving_dim(x) == NO_FORM)
    return negated(x, bound, &minus, &end) ? ragged(l, node, &minus, &end, mask) : lang_lower_too_large(l, node);
  if (!lang_lower_difference(l, &x->start, bound, &least, &most) || least < 0) return no_extent(l, node);
  return true;
}

// x < y is x - y < 0.
static bool compare_both(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a, const lang_lower_value *b,
                         lang_lower_value *result) {
  const lang_ast less = {.kind = AST_BINARY, .span = node->span, .op = AST_SUB};
  const lang_lower_value zero = lang_lower_int(0);
  lang_lower_value difference;
  return lang_lower_index_operator(l, &less, a, b, &difference) &&
         lang_lower_compare_indexes(l, node, &difference, &zero, result);
}

bool lang_lower_compare_indexes(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a,
                                const lang_lower_value *b, lang_lower_value *result) {
  static const lang_ast_op flipped[AST_OP_COUNT] = {
      [AST_LT] = AST_GT, [AST_GT] = AST_LT, [AST_LE] = AST_GE, [AST_GE] = AST_LE};
  if (a->kind == VALUE_INDEXES && b->kind == VALUE_INDEXES) return compare_both(l, node, a, b, result);
  const bool flip = a->kind == VALUE_INDEX;
  const lang_lower_value *x = flip ? b : a, *y = flip ? a : b;
  const lang_ast_op op = flip ? flipped[node->op] : node->op;
  lang_lower_indexes *mask = WF_ARENA_NEW(l->run, lang_lower_indexes);
  if (x->kind != VALUE_INDEXES || y->kind != VALUE_INDEX) return no_extent(l, node);
  const lang_lower_index one = lang_lower_constant(op == AST_LE || op == AST_GT);
  lang_lower_index bound;
  if (!lang_lower_index_add(&y->index, &one, &bound)) return lang_lower_too_large(l, node);
  *result = (lang_lower_value){.kind = VALUE_MASK, .indexes = mask};
  if (op == AST_LT || op == AST_LE) return below(l, node, x->indexes, &bound, mask);
  if (op == AST_GE || op == AST_GT) return not_below(l, node, x->indexes, &bound, mask);
  return no_extent(l, node);
}

// ---- masks together

// Whether along d the mask a holds only where b holds.
static bool is_within(lang_lowerer *l, const lang_lower_indexes *a, const lang_lower_indexes *b, int d) {
  lang_lower_index x = b->dim[d].from, y = a->dim[d].from;
  int64_t least, most;
  const lang_lower_index a_end = lang_lower_constant(a->dim[d].extent), b_end = lang_lower_constant(b->dim[d].extent);
  // a.extent - a.from <= b.extent - b.from
  return lang_lower_index_add(&x, &a_end, &x) && lang_lower_index_add(&y, &b_end, &y) &&
         lang_lower_difference(l, &x, &y, &least, &most) && most <= 0;
}

// extent - from
bool lang_lower_mask_end(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *mask, int d,
                         lang_lower_index *end) {
  const lang_lower_index extent = lang_lower_constant(mask->dim[d].extent);
  return (lang_lower_index_times(&mask->dim[d].from, -1, end) && lang_lower_index_add(end, &extent, end)) ||
         lang_lower_too_large(l, node);
}

// An end of columns that moves with loops, as an edge.
bool lang_lower_mask_edge(lang_lowerer *l, const lang_ast *node, lang_lower_indexes *mask) {
  lang_lower_index end;
  const int last = mask->rank - 1;
  if (mask->ragged || !mask->dim[last].limited || !lang_lower_mask_end(l, node, mask, last, &end) || end.loops == 0)
    return true;
  mask->dim[last].limited = false;
  mask->ragged = true;
  mask->edge = end;
  mask->edge_step = 0;
  return true;
}

static bool and_edges(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a, lang_lower_indexes *both) {
  if (!a->ragged) return true;
  if (both->ragged && (both->edge_step != a->edge_step || !lang_lower_index_equal(&both->edge, &a->edge)))
    return no_extent(l, node);
  both->ragged = true;
  both->edge = a->edge;
  both->edge_step = a->edge_step;
  return true;
}

// Of two ends of columns, of which neither is always the first, the one that moves becomes an edge.
static bool compare_ends(lang_lowerer *l, const lang_ast *node, lang_lower_indexes *masks) {
  const int last = masks[0].rank - 1;
  if (!masks[0].dim[last].limited || !masks[1].dim[last].limited || is_within(l, &masks[0], &masks[1], last) ||
      is_within(l, &masks[1], &masks[0], last))
    return true;
  return lang_lower_mask_edge(l, node, &masks[0]) && lang_lower_mask_edge(l, node, &masks[1]);
}

bool lang_lower_and_masks(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a,
                          const lang_lower_indexes *b, lang_lower_indexes *both) {
  lang_lower_indexes joined[2];
  // A limit of one element holds for all that it is repeated for, which is no extent.
  if (!lang_lower_index_join(l, node, a, b, joined)) return false;
  if (!compare_ends(l, node, joined)) return false;
  *both = joined[0];
  for (int d = 0; d < both->rank; d++) {
    if (!joined[1].dim[d].limited) continue;
    if (!both->dim[d].limited || is_within(l, &joined[1], &joined[0], d))
      both->dim[d] = joined[1].dim[d];
    else if (!is_within(l, &joined[0], &joined[1], d))
      return no_extent(l, node);
  }
  return and_edges(l, node, &joined[1], both);
}

// ---- pointers with masks

static bool refuse_ragged(lang_lowerer *l, const lang_ast *node) {
  lang_lower_fail(l, node, "this mask ends at another column in each row, which loads and stores cannot");
  lang_lower_hint(l, "load and store whole rows; softmax leaves columns out: where(mask, x, float(\"-inf\"))");
  return false;
}

// The mask with the dimensions of the pointers.
static bool mask_of(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *pointers,
                    const lang_lower_value *v, lang_lower_indexes *mask) {
  lang_lower_indexes joined[2];
  int64_t truth;
  *mask = no_limits(pointers);
  if (v == NULL || (lang_lower_is_constant(v, &truth) && truth != 0)) return true;
  if (v->kind != VALUE_MASK) {
    lang_lower_fail(l, node, "a mask is needed here, not %s", lang_lower_kind_text(v));
    lang_lower_hint(l, "masks are 'start + arange(0, BLOCK) < bound', one per dimension, joined with '&'");
    return false;
  }
  if (v->indexes->ragged) return refuse_ragged(l, node);
  if (!lang_lower_index_join(l, node, mask, v->indexes, joined)) return false;
  for (int d = 0; d < joined[0].rank; d++)
    if (joined[0].rank != pointers->rank || joined[0].dim[d].size != pointers->dim[d].size) {
      lang_lower_fail(l, node, "this mask has more elements than the block of pointers");
      lang_lower_hint(l, "index both alike: [:, None] makes rows of an index, [None, :] columns");
      return false;
    }
  *mask = joined[1];
  return true;
}

static bool negative_stride(lang_lowerer *l, const lang_ast *node, int d, int64_t step) {
  lang_lower_fail(l, node, "dimension %d of these pointers has the stride %lld, which is negative", d, (long long)step);
  lang_lower_hint(l, "the array reads forwards: count the other way, or turn the tensor round on the host");
  return false;
}

// The end of one dimension: by the mask, by what its index is modulo, or the block itself.
static bool set_dim(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *x, const lang_lower_indexes *mask,
                    int d, lang_lower_block_ptr *p) {
  lang_lower_index back;
  p->dim[d].size = x->dim[d].size;
  p->dim[d].step = 1;
  p->dim[d].stride = x->dim[d].step;
  p->dim[d].offset = lang_lower_constant(0);
  p->dim[d].extent = x->dim[d].size;
  if (x->dim[d].step < 0) return negative_stride(l, node, d, x->dim[d].step);
  if (x->dim[d].limited && mask->dim[d].limited && !is_within(l, mask, x, d)) return no_extent(l, node);
  if (!x->dim[d].limited && !mask->dim[d].limited) return true;
  const lang_lower_indexes *end = mask->dim[d].limited ? mask : x;
  p->dim[d].offset = end->dim[d].from;
  p->dim[d].extent = end->dim[d].extent;
  if (end == x) return true;
  // What the pointers start with counts from the first index that the mask lets through.
  if (x->dim[d].limited && !lang_lower_index_equal(&x->dim[d].from, &mask->dim[d].from)) return no_extent(l, node);
  if (x->dim[d].limited) return true;
  return (lang_lower_index_times(&mask->dim[d].from, -x->dim[d].step, &back) &&
          lang_lower_index_add(&p->base, &back, &p->base)) ||
         lang_lower_too_large(l, node);
}

bool lang_lower_masked(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *pointers,
                       const lang_lower_value *v, lang_lower_block_ptr *p, unsigned *checked, unsigned *wrapped) {
  enum { SPREAD = 16 };
  lang_lower_indexes mask;
  *checked = *wrapped = 0;
  if (!mask_of(l, node, pointers, v, &mask)) return false;
  *p = (lang_lower_block_ptr){.tensor = pointers->tensor, .base = pointers->start, .rank = pointers->rank};
  for (int d = 0; d < p->rank; d++) {
    int64_t last;
    if (!set_dim(l, node, pointers, &mask, d, p)) return false;
    if (__builtin_mul_overflow(p->dim[d].extent, p->dim[d].stride, &last) || last > INT64_MAX / SPREAD)
      return lang_lower_fail(l, node, "dimension %d of these pointers has more elements than memory", d);
    *checked |= (unsigned)(pointers->dim[d].limited || mask.dim[d].limited) << d;
    *wrapped |= (unsigned)(pointers->dim[d].limited && !mask.dim[d].limited) << d;
  }
  return true;
}
