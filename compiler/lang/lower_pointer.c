// SPDX-License-Identifier: Apache-2.0
// Arithmetic on blocks of indexes and pointers: sums of a number that is affine in loops and, per dimension, a stride
// times the place in the block. Whatever leaves this form is refused. See lower.h.
#include <assert.h>

#include "compiler/lang/lower.h"

static bool too_complex(lang_lowerer *l, const lang_ast *node, const char *what) {
  lang_lower_fail(l, node, "%s", what);
  lang_lower_hint(l, "indexes are sums of start + stride * arange(0, BLOCK), each stride a known integer");
  return false;
}

bool lang_lower_is_indexes(const lang_lower_value *v) {
  return v->kind == VALUE_INDEXES || v->kind == VALUE_POINTERS || v->kind == VALUE_MASK;
}

static lang_lower_value as_value(lang_lowerer *l, lang_lower_value_kind kind, const lang_lower_indexes *x) {
  lang_lower_indexes *kept = WF_ARENA_NEW(l->run, lang_lower_indexes);
  *kept = *x;
  return (lang_lower_value){.kind = kind, .indexes = kept};
}

bool lang_lower_arange(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  int64_t first, end, size;
  if (!lang_lower_eval_constant(l, args[0], "the start of arange()", &first) ||
      !lang_lower_eval_constant(l, args[1], "the end of arange()", &end))
    return false;
  if (__builtin_sub_overflow(end, first, &size) || size < 1 || size > INT32_MAX)
    return lang_lower_fail(l, node, "arange() gives at least one index, this is from %lld to %lld", (long long)first,
                           (long long)end);
  lang_lower_indexes x = {.tensor = BLOCK_NONE, .start = lang_lower_constant(first), .rank = 1};
  x.dim[0].size = size;
  x.dim[0].step = 1;
  *result = as_value(l, VALUE_INDEXES, &x);
  return true;
}

// ---- shapes

static bool shapes_differ(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a,
                          const lang_lower_indexes *b) {
  char x[LOWER_SHAPE_TEXT], y[LOWER_SHAPE_TEXT];
  int64_t m[BLOCK_RANK_MAX], n[BLOCK_RANK_MAX];
  for (int d = 0; d < BLOCK_RANK_MAX; d++) m[d] = a->dim[d].size, n[d] = b->dim[d].size;
  return lang_lower_fail(l, node, "shapes %s and %s do not go together", lang_lower_shape_text(m, a->rank, x),
                         lang_lower_shape_text(n, b->rank, y));
}

// Leading dimensions of 1.
static lang_lower_indexes with_rank(const lang_lower_indexes *x, int rank) {
  lang_lower_indexes r = *x;
  const int more = rank - x->rank;
  for (int d = rank - 1; d >= more; d--) r.dim[d] = x->dim[d - more];
  for (int d = 0; d < more; d++) r.dim[d] = (__typeof__(r.dim[0])){.size = 1};
  r.rank = rank;
  return r;
}

// A dimension of 1 repeats.
static bool repeat(lang_lowerer *l, const lang_ast *node, lang_lower_indexes *x, int d, int64_t size) {
  if (x->dim[d].size == size) return true;
  if (x->dim[d].limited) return too_complex(l, node, "a single index modulo a size cannot be repeated");
  x->dim[d] = (__typeof__(x->dim[0])){.size = size};
  return true;
}

bool lang_lower_index_join(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a,
                           const lang_lower_indexes *b, lang_lower_indexes *joined) {
  const int rank = a->rank > b->rank ? a->rank : b->rank;
  lang_lower_indexes x = with_rank(a, rank), y = with_rank(b, rank);
  for (int d = 0; d < rank; d++) {
    const int64_t m = x.dim[d].size, n = y.dim[d].size, size = m > n ? m : n;
    if (m != n && m != 1 && n != 1) return shapes_differ(l, node, a, b);
    if (!repeat(l, node, &x, d, size) || !repeat(l, node, &y, d, size)) return false;
  }
  joined[0] = x;
  joined[1] = y;
  return true;
}

// x[:, None]
bool lang_lower_index_subscript(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v,
                                lang_lower_value *result) {
  const lang_lower_indexes *x = v->indexes;
  lang_lower_indexes r = {.tensor = x->tensor, .start = x->start};
  int from = 0;
  if (x->ragged)
    return too_complex(l, node, "a mask that ends at another column in each row has its dimensions already");
  for (int i = 0; i < node->count; i++) {
    const lang_ast *item = node->items[i];
    if (item->kind != AST_NONE && item->kind != AST_SLICE)
      return too_complex(l, item, "a block takes ':' and None as indexes");
    if (r.rank == BLOCK_RANK_MAX || (item->kind == AST_SLICE && from == x->rank))
      return lang_lower_fail(l, node, "too many indexes");
    r.dim[r.rank] = (__typeof__(r.dim[0])){.size = 1};
    if (item->kind == AST_SLICE) r.dim[r.rank] = x->dim[from++];
    r.rank++;
  }
  for (; from < x->rank && r.rank < BLOCK_RANK_MAX; from++) r.dim[r.rank++] = x->dim[from];
  if (from < x->rank) return lang_lower_fail(l, node, "too many indexes");
  *result = as_value(l, v->kind, &r);
  return true;
}

// ---- arithmetic

static bool times(lang_lowerer *l, const lang_ast *node, lang_lower_indexes *x, int64_t factor) {
  bool fits = lang_lower_index_times(&x->start, factor, &x->start);
  for (int d = 0; d < x->rank; d++) {
    fits &= !__builtin_mul_overflow(x->dim[d].step, factor, &x->dim[d].step);
    if (factor == 0) x->dim[d].limited = false;
  }
  return fits || lang_lower_too_large(l, node);
}

// What two blocks of indexes are modulo along one dimension must be the same, or only one of them may move there.
static bool add_limit(lang_lower_indexes *sum, const lang_lower_indexes *y, int d) {
  const bool x_moves = sum->dim[d].limited || sum->dim[d].step != 0, y_moves = y->dim[d].limited || y->dim[d].step != 0;
  if (sum->dim[d].limited == y->dim[d].limited)
    return !sum->dim[d].limited ||
           (sum->dim[d].extent == y->dim[d].extent && lang_lower_index_equal(&sum->dim[d].from, &y->dim[d].from));
  if (x_moves && y_moves) return false;
  if (!sum->dim[d].limited) {
    sum->dim[d].limited = true;
    sum->dim[d].extent = y->dim[d].extent;
    sum->dim[d].from = y->dim[d].from;
  }
  return true;
}

static bool add(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a, const lang_lower_indexes *b,
                lang_lower_indexes *sum) {
  lang_lower_indexes joined[2];
  if (!lang_lower_index_join(l, node, a, b, joined)) return false;
  *sum = joined[0];
  bool fits = lang_lower_index_add(&joined[0].start, &joined[1].start, &sum->start);
  for (int d = 0; d < sum->rank; d++) {
    if (!add_limit(sum, &joined[1], d))
      return too_complex(l, node, "these indexes are modulo different sizes along one dimension");
    fits &= !__builtin_add_overflow(joined[0].dim[d].step, joined[1].dim[d].step, &sum->dim[d].step);
  }
  if (sum->tensor == BLOCK_NONE) sum->tensor = joined[1].tensor;
  return fits || lang_lower_too_large(l, node);
}

// x % size: the plain index that ends at the size; lower_wrap.c sees to it that nothing beyond is used.
static bool modulo(lang_lowerer *l, const lang_ast *node, lang_lower_indexes *x, int64_t size) {
  int64_t least, most;
  int moving = BLOCK_NONE, count = 0;
  for (int d = 0; d < x->rank; d++)
    if (x->dim[d].step != 0) moving = d, count++;
  if (count != 1 || x->dim[moving].step != 1 || x->dim[moving].limited)
    return too_complex(l, node, "'%' is for plain indexes: start + arange(0, BLOCK)");
  if (size < 1 || !lang_lower_index_bounds(l->program, &x->start, &least, &most) || least < 0)
    return too_complex(l, node, "'%' needs indexes that are not negative and a size of at least 1");
  x->dim[moving].limited = true;
  x->dim[moving].from = x->start;
  x->dim[moving].extent = size;
  x->start = lang_lower_constant(0);
  return true;
}

// A number or a pointer as indexes without dimensions.
static bool operand(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, lang_lower_indexes *x) {
  int64_t number;
  *x = (lang_lower_indexes){.tensor = BLOCK_NONE};
  if (lang_lower_is_indexes(v)) {
    *x = *v->indexes;
  } else if (v->kind == VALUE_INDEX) {
    x->start = v->index;
  } else if (v->kind == VALUE_POINTER) {
    x->tensor = v->pointer.tensor;
    x->start = v->pointer.offset;
  } else if (lang_lower_is_constant(v, &number)) {
    x->start = lang_lower_constant(number);
  } else if (v->kind == VALUE_BLOCK) {
    return too_complex(l, node, "indexes and pointers do not mix with what was loaded or computed");
  } else {
    return lang_lower_fail(l, node, "indexes cannot be combined with %s", lang_lower_kind_text(v));
  }
  return true;
}

static bool multiply(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a, const lang_lower_indexes *b,
                     lang_lower_indexes *product) {
  const lang_lower_indexes *number = b->rank == 0 ? b : a;
  *product = number == b ? *a : *b;
  if (a->rank != 0 && b->rank != 0) return too_complex(l, node, "the product of two blocks of indexes is not affine");
  if (number->start.loops != 0) return too_complex(l, node, "the stride of these indexes varies with a loop");
  return times(l, node, product, number->start.constant);
}

static bool arithmetic(lang_lowerer *l, const lang_ast *node, lang_lower_indexes *a, lang_lower_indexes *b,
                       lang_lower_indexes *r) {
  switch (node->op) {
    case AST_ADD:
      return add(l, node, a, b, r);
    case AST_SUB:
      return times(l, node, b, -1) && add(l, node, a, b, r);
    case AST_MUL:
      return multiply(l, node, a, b, r);
    case AST_MOD:
      *r = *a;
      if (b->rank != 0 || b->start.loops != 0) return too_complex(l, node, "'%' needs a known size");
      return modulo(l, node, r, b->start.constant);
    default:
      lang_lower_fail(l, node, "'%s' has no meaning for indexes", lang_ast_op_texts[node->op]);
      lang_lower_hint(l, "use + - * by known strides, '%%' by a size, and '<' for masks");
      return false;
  }
}

// Pointers are added to, nothing else.
static bool check_pointers(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a,
                           const lang_lower_indexes *b) {
  const bool left = a->tensor != BLOCK_NONE, right = b->tensor != BLOCK_NONE;
  if (left && right) {
    lang_lower_fail(l, node, "pointers of two bases, '%s' and '%s', cannot be combined",
                    l->program->tensors[a->tensor].name, l->program->tensors[b->tensor].name);
    lang_lower_hint(l, "a block of pointers has one base: load through each and combine what was loaded");
    return false;
  }
  if ((!left && !right) || node->op == AST_ADD || (left && node->op == AST_SUB)) return true;
  return lang_lower_fail(l, node, "'%s' has no meaning for pointers", lang_ast_op_texts[node->op]);
}

// Masks are joined with '&'; a condition that is the same for all elements may stand beside them.
static bool masks(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a, const lang_lower_value *b,
                  lang_lower_value *result) {
  lang_lower_indexes both;
  int64_t truth;
  if (node->kind != AST_BINARY || node->op != AST_BIT_AND) {
    lang_lower_fail(l, node, "'%s' has no meaning for masks", lang_ast_op_texts[node->op]);
    lang_lower_hint(l, "masks are comparisons 'index < bound' joined with '&'");
    return false;
  }
  const lang_lower_value *other = a->kind == VALUE_MASK ? b : a;
  if (other->kind != VALUE_MASK && lang_lower_is_constant(other, &truth) && truth != 0) {
    *result = other == b ? *a : *b;
    return true;
  }
  if (other->kind != VALUE_MASK)
    return lang_lower_fail(l, node, "a mask cannot be joined with %s", lang_lower_kind_text(other));
  if (!lang_lower_and_masks(l, node, a->indexes, b->indexes, &both)) return false;
  *result = as_value(l, VALUE_MASK, &both);
  return true;
}

bool lang_lower_index_operator(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a,
                               const lang_lower_value *b, lang_lower_value *result) {
  lang_lower_indexes x, y, r;
  if (a->kind == VALUE_MASK || b->kind == VALUE_MASK) return masks(l, node, a, b, result);
  if (node->kind == AST_COMPARE) return lang_lower_compare_indexes(l, node, a, b, result);
  if (!operand(l, node, a, &x) || !operand(l, node, b, &y) || !check_pointers(l, node, &x, &y) ||
      !arithmetic(l, node, &x, &y, &r))
    return false;
  *result = as_value(l, r.tensor == BLOCK_NONE ? VALUE_INDEXES : VALUE_POINTERS, &r);
  return true;
}
