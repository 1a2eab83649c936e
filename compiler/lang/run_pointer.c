// SPDX-License-Identifier: Apache-2.0
// Indexes, pointers and masks of the oracle, element by element: every index is a number of its own, '%' wraps around
// and a mask is a truth per element. See run.h.
#include <string.h>

#include "compiler/lang/run.h"

bool lang_run_is_indexes(const lang_run_value *v) {
  return v->kind == RUN_INDEXES || v->kind == RUN_POINTERS || v->kind == RUN_MASK;
}

static lang_run_indexes *new_indexes(lang_runner *r, int tensor, const int64_t *size, int rank) {
  lang_run_indexes *x = WF_ARENA_NEW(r->arena, lang_run_indexes);
  *x = (lang_run_indexes){.tensor = tensor, .rank = rank, .count = 1};
  for (int d = 0; d < rank; d++) x->count *= x->size[d] = size[d];
  x->at = WF_ARENA_ARRAY(r->arena, (size_t)x->count, int64_t);
  return x;
}

bool lang_run_arange(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  int64_t first, end, size;
  if (!lang_run_eval_int(r, args[0], &first) || !lang_run_eval_int(r, args[1], &end)) return false;
  if (__builtin_sub_overflow(end, first, &size) || size < 1 || size > 1 << 24)
    return lang_run_fail(r, node, "no such range");
  lang_run_indexes *x = new_indexes(r, -1, &size, 1);
  for (int64_t e = 0; e < size; e++) x->at[e] = first + e;
  *result = (lang_run_value){.kind = RUN_INDEXES, .indexes = x};
  return true;
}

bool lang_run_index_reshape(lang_runner *r, const lang_ast *node, const lang_run_value *v, const int64_t *size,
                            int rank, lang_run_value *result) {
  lang_run_indexes *x = new_indexes(r, v->indexes->tensor, size, rank);
  if (x->count != v->indexes->count) return lang_run_fail(r, node, "the new shape has another number of elements");
  memcpy(x->at, v->indexes->at, (size_t)x->count * sizeof *x->at);
  *result = (lang_run_value){.kind = v->kind, .indexes = x};
  return true;
}

// Numbers and pointers are blocks without dimensions.
static const lang_run_indexes *operand(lang_runner *r, const lang_ast *node, const lang_run_value *v) {
  lang_run_indexes *x = new_indexes(r, -1, NULL, 0);
  if (lang_run_is_indexes(v)) return v->indexes;
  if (v->kind == RUN_POINTER) {
    x->tensor = v->pointer.tensor;
    x->at[0] = v->pointer.offset;
  } else if (v->kind == RUN_SCALAR && (v->scalar.kind == LANG_INT || v->scalar.kind == LANG_BOOL)) {
    x->at[0] = v->scalar.integer;
  } else {
    lang_run_fail(r, node, "this cannot be combined with indexes");
    return NULL;
  }
  return x;
}

static int64_t element(const lang_run_indexes *x, const int64_t *size, int rank, int64_t e) {
  return x->at[lang_run_matching(x->size, x->rank, size, rank, e)];
}

static bool operation(lang_ast_op op, int64_t a, int64_t b, int64_t *result) {
  lang_value v = {0};
  if (lang_scalar_binary(op, lang_int(a), lang_int(b), &v) != NULL || v.kind == LANG_FLOAT) return false;
  *result = v.integer;
  return true;
}

static lang_run_kind kind_of(const lang_ast *node, const lang_run_value *a, const lang_run_value *b, int tensor) {
  if (node->kind == AST_COMPARE || a->kind == RUN_MASK || b->kind == RUN_MASK) return RUN_MASK;
  return tensor < 0 ? RUN_INDEXES : RUN_POINTERS;
}

bool lang_run_index_operator(lang_runner *r, const lang_ast *node, const lang_run_value *a, const lang_run_value *b,
                             lang_run_value *result) {
  const lang_run_indexes *x = operand(r, node, a), *y;
  int64_t size[RUN_RANK_MAX];
  int rank;
  if (x == NULL || (y = operand(r, node, b)) == NULL) return false;
  if (!lang_run_common_shape(x->size, x->rank, y->size, y->rank, size, &rank))
    return lang_run_fail(r, node, "these shapes do not go together");
  if (x->tensor >= 0 && y->tensor >= 0) return lang_run_fail(r, node, "these pointers have two bases");
  lang_run_indexes *made = new_indexes(r, x->tensor >= 0 ? x->tensor : y->tensor, size, rank);
  for (int64_t e = 0; e < made->count; e++)
    if (!operation(node->op, element(x, size, rank, e), element(y, size, rank, e), &made->at[e]))
      return lang_run_fail(r, node, "this operator has no meaning here");
  *result = (lang_run_value){.kind = kind_of(node, a, b, made->tensor), .indexes = made};
  return true;
}

// A mask for all elements.
static const lang_run_indexes *mask_of(lang_runner *r, const lang_ast *node) {
  lang_run_value v = {.kind = RUN_SCALAR, .scalar = lang_int(1)};
  if (node != NULL && node->kind != AST_NONE && !lang_run_eval(r, node, &v)) return NULL;
  return operand(r, node, &v);
}

bool lang_run_places(lang_runner *r, const lang_ast *node, const lang_run_indexes *pointers, const lang_ast *mask_node,
                     int64_t **places) {
  const lang_run_indexes *mask = mask_of(r, mask_node);
  int64_t size[RUN_RANK_MAX];
  int rank;
  if (mask == NULL) return false;
  if (!lang_run_common_shape(pointers->size, pointers->rank, mask->size, mask->rank, size, &rank) ||
      rank != pointers->rank || memcmp(size, pointers->size, (size_t)rank * sizeof *size) != 0)
    return lang_run_fail(r, mask_node, "the shapes of the pointers and of the mask differ");
  *places = WF_ARENA_ARRAY(r->arena, (size_t)pointers->count, int64_t);
  for (int64_t e = 0; e < pointers->count; e++) {
    const int64_t at = pointers->at[e], elements = r->tensors[pointers->tensor].elements;
    (*places)[e] = element(mask, size, rank, e) != 0 ? at : -1;
    if ((*places)[e] == at && (at < 0 || at >= elements))
      return lang_run_fail(r, node, "element %lld of '%s', which has %lld", (long long)at,
                           r->tensor_names[pointers->tensor], (long long)elements);
  }
  return true;
}
