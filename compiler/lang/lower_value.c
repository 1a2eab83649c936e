// SPDX-License-Identifier: Apache-2.0
// Values of the lowering: see lower.h.
#include <string.h>

#include "compiler/lang/lower.h"

lang_lower_value lang_lower_int(int64_t number) {
  return (lang_lower_value){.kind = VALUE_INDEX, .index = lang_lower_constant(number)};
}

lang_lower_value lang_lower_bool(bool truth) {
  return (lang_lower_value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_BOOL, .integer = truth}};
}

bool lang_lower_is_constant(const lang_lower_value *v, int64_t *number) {
  if (v->kind == VALUE_SCALAR && v->scalar.kind == LANG_BOOL)
    *number = v->scalar.integer;
  else if (v->kind == VALUE_INDEX && v->index.loops == 0)
    *number = v->index.constant;
  else
    return false;
  return true;
}

bool lang_lower_is_number(const lang_lower_value *v, double *number) {
  int64_t integer;
  if (lang_lower_is_constant(v, &integer))
    *number = (double)integer;
  else if (v->kind == VALUE_SCALAR && v->scalar.kind == LANG_FLOAT)
    *number = v->scalar.number;
  else
    return false;
  return true;
}

const char *lang_lower_kind_text(const lang_lower_value *v) {
  static const char *const texts[] = {[VALUE_UNSET] = "nothing",     [VALUE_LOST] = "nothing",
                                      [VALUE_SCALAR] = "a constant", [VALUE_INDEX] = "an integer",
                                      [VALUE_TUPLE] = "a tuple",     [VALUE_POINTER] = "a pointer",
                                      [VALUE_BLOCK] = "a block",     [VALUE_BLOCK_PTR] = "a block pointer",
                                      [VALUE_DTYPE] = "a type",      [VALUE_ELEMENT] = "a type",
                                      [VALUE_INDEXES] = "indexes",   [VALUE_POINTERS] = "a block of pointers",
                                      [VALUE_MASK] = "a mask",       [VALUE_ROWS] = "rows"};
  if (v->kind == VALUE_SCALAR && v->scalar.kind == LANG_FLOAT) return "a float";
  if (v->kind == VALUE_SCALAR && v->scalar.kind == LANG_NONE) return "None";
  if (v->kind == VALUE_ROWS) return lang_lower_rows_text(v->rows);
  return texts[v->kind];
}

// The start, and where limited dimensions start.
static int numbers_of_indexes(lang_lowerer *l, lang_lower_value *v, lang_lower_index **numbers) {
  lang_lower_indexes *copy = WF_ARENA_NEW(l->run, lang_lower_indexes);
  int count = 0;
  *copy = *v->indexes;
  v->indexes = copy;
  numbers[count++] = &copy->start;
  for (int d = 0; d < copy->rank; d++)
    if (copy->dim[d].limited) numbers[count++] = &copy->dim[d].from;
  if (copy->ragged) numbers[count++] = &copy->edge;
  return count;
}

int lang_lower_numbers(lang_lowerer *l, lang_lower_value *v, lang_lower_index **numbers) {
  if (lang_lower_is_indexes(v)) return numbers_of_indexes(l, v, numbers);
  if (v->kind == VALUE_INDEX) {
    numbers[0] = &v->index;
    return 1;
  }
  if (v->kind == VALUE_POINTER) {
    numbers[0] = &v->pointer.offset;
    return 1;
  }
  if (v->kind != VALUE_BLOCK_PTR) return 0;
  lang_lower_block_ptr *copy = WF_ARENA_NEW(l->run, lang_lower_block_ptr);
  *copy = *v->block_ptr;
  v->block_ptr = copy;
  numbers[0] = &copy->base;
  for (int d = 0; d < copy->rank; d++) numbers[d + 1] = &copy->dim[d].offset;
  return copy->rank + 1;
}

static bool same_block_ptr(const lang_lower_block_ptr *a, const lang_lower_block_ptr *b) {
  if (a->tensor != b->tensor || a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++)
    if (a->dim[d].step != b->dim[d].step || a->dim[d].size != b->dim[d].size || a->dim[d].extent != b->dim[d].extent ||
        a->dim[d].stride != b->dim[d].stride)
      return false;
  return true;
}

static bool same_block(const lang_lower_block *a, const lang_lower_block *b) {
  return a->rank == b->rank && a->transposed == b->transposed &&
         memcmp(a->size, b->size, (size_t)a->rank * sizeof *a->size) == 0;
}

static bool same_indexes(const lang_lower_indexes *a, const lang_lower_indexes *b) {
  bool same = a->tensor == b->tensor && a->rank == b->rank && a->ragged == b->ragged && a->edge_step == b->edge_step;
  for (int d = 0; d < a->rank && same; d++)
    same = a->dim[d].size == b->dim[d].size && a->dim[d].step == b->dim[d].step &&
           a->dim[d].limited == b->dim[d].limited && a->dim[d].extent == b->dim[d].extent;
  return same;
}

static bool same_tuple(const lang_lower_value *a, const lang_lower_value *b) {
  if (a->tuple.count != b->tuple.count) return false;
  for (int i = 0; i < a->tuple.count; i++) {
    const lang_lower_value *x = &a->tuple.items[i], *y = &b->tuple.items[i];
    if (!lang_lower_same_kind(x, y) || (x->kind == VALUE_INDEX && !lang_lower_index_equal(&x->index, &y->index)))
      return false;
  }
  return true;
}

bool lang_lower_same_kind(const lang_lower_value *a, const lang_lower_value *b) {
  if (a->kind != b->kind) return false;
  if (lang_lower_is_indexes(a)) return same_indexes(a->indexes, b->indexes);
  switch (a->kind) {
    case VALUE_SCALAR:
      return lang_value_equal(&a->scalar, &b->scalar);
    case VALUE_POINTER:
      return a->pointer.tensor == b->pointer.tensor;
    case VALUE_BLOCK_PTR:
      return same_block_ptr(a->block_ptr, b->block_ptr);
    case VALUE_BLOCK:
      return same_block(&a->block, &b->block);
    case VALUE_TUPLE:
      return same_tuple(a, b);
    case VALUE_DTYPE:
    case VALUE_ELEMENT:
      return a->dtype == b->dtype;
    case VALUE_ROWS:
      return false;  // which no loop carries
    default:
      return true;
  }
}

static int references_in(const lang_lower_value *v, int buffer) {
  if (v->kind == VALUE_ROWS)
    return v->rows->block.buffer == buffer || (v->rows->form == LOWER_ROWS_NORMED && v->rows->of.buffer == buffer) ||
           (v->rows->kind == BLOCK_LAYER_NORM && v->rows->of.buffer == buffer);
  if (v->kind == VALUE_BLOCK)
    return v->block.buffer == buffer || (v->block.scaled != NULL && v->block.scaled->block.buffer == buffer) ||
           (v->block.curve != NULL && v->block.curve->root.buffer == buffer);
  int count = 0;
  if (v->kind == VALUE_TUPLE)
    for (int i = 0; i < v->tuple.count; i++) count += references_in(&v->tuple.items[i], buffer);
  return count;
}

bool lang_lower_mentions(const lang_lower_value *v, int buffer) { return references_in(v, buffer) > 0; }

int lang_lower_references(const lang_lowerer *l, int buffer, const lang_lower_value *except) {
  int count = 0;
  for (const lang_lower_frame *f = l->frame; f != NULL; f = f->caller)
    for (int i = 0; i < f->function->local_count; i++)
      if (&f->locals[i] != except) count += references_in(&f->locals[i], buffer);
  return count;
}
