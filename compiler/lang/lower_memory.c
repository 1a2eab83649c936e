// SPDX-License-Identifier: Apache-2.0
// Loads, stores, and the shapes of what was loaded: see lower.h.
#include <string.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

// ---- memory

static bool checked_dims(lang_lowerer *l, const lang_ast *node, int rank, unsigned *dims) {
  const lang_lower_value *items;
  int count;
  *dims = 0;
  if (node == NULL) return true;
  if (!lang_lower_eval_tuple(l, node, &items, &count)) return false;
  for (int i = 0; i < count; i++) {
    int64_t d;
    if (!lang_lower_is_constant(&items[i], &d) || d < 0 || d >= rank)
      return lang_lower_fail(l, node, "boundary_check names dimensions 0 to %d of this block", rank - 1);
    *dims |= 1U << d;
  }
  return true;
}

static bool out_of_range(lang_lowerer *l, const lang_ast *node, int d, int64_t at, int64_t extent) {
  if (at < 0)
    lang_lower_fail(l, node, "the block reaches element %lld of dimension %d", (long long)at, d);
  else
    lang_lower_fail(l, node, "the block reaches element %lld of dimension %d, which has %lld", (long long)at, d,
                    (long long)extent);
  lang_lower_hint(l, "name the dimension in boundary_check: what is outside reads as zero and is not written");
  return false;
}

// Whether all elements are there, and how far the tensor is used.
static bool check_range(lang_lowerer *l, const lang_ast *node, const lang_lower_block_ptr *p, unsigned checked) {
  int64_t least, most, end;
  bool nothing = false;
  if (!lang_lower_index_bounds(l->program, &p->base, &least, &end) || (least < 0 && l->planning == 0))
    return lang_lower_fail(l, node, "the base of this block lies before its tensor");
  for (int d = 0; d < p->rank; d++) {
    const int64_t extent = p->dim[d].extent, reach = p->dim[d].step * (p->dim[d].size - 1);
    int64_t sweep;
    if (extent < 1) return lang_lower_fail(l, node, "dimension %d of this block ends before its first element", d);
    if (!lang_lower_index_bounds(l->program, &p->dim[d].offset, &least, &most) ||
        __builtin_add_overflow(most, reach, &most))
      return lang_lower_fail(l, node, "the offset of dimension %d does not fit in 64 bits", d);
    if ((checked >> d & 1) == 0 && least < 0) return out_of_range(l, node, d, least, extent);
    if ((checked >> d & 1) == 0 && most >= extent) return out_of_range(l, node, d, most, extent);
    if (most >= extent) most = extent - 1;
    nothing |= most < 0;
    if (__builtin_mul_overflow(most < 0 ? 0 : most, p->dim[d].stride, &sweep) ||
        __builtin_add_overflow(end, sweep, &end) || end == INT64_MAX)
      return lang_lower_fail(l, node, "this block reaches behind the end of memory");
  }
  if (!nothing && l->planning == 0 && end + 1 > l->tensor_end[p->tensor]) l->tensor_end[p->tensor] = end + 1;
  return true;
}

static block_access access_of(const lang_lower_block_ptr *p) {
  block_access access = {.tensor = p->tensor, .base = lang_lower_index_affine(&p->base), .rank = p->rank};
  for (int d = 0; d < p->rank; d++)
    access.dim[d] = (block_access_dim){.offset = lang_lower_index_affine(&p->dim[d].offset),
                                       .step = p->dim[d].step,
                                       .size = p->dim[d].size,
                                       .extent = p->dim[d].extent,
                                       .stride = p->dim[d].stride};
  return access;
}

// Where a load or store goes.
typedef struct target {
  const lang_lower_block_ptr *p;
  unsigned checked;                // dimensions that may reach outside
  unsigned wrapped;                // and of those the ones that are read modulo their extent
  const lang_lower_indexes *mask;  // of a block of pointers, or NULL
} target;

static bool refuse_target(lang_lowerer *l, const lang_ast *node, const char *what, const lang_lower_value *pointer) {
  lang_lower_fail(l, node, "%s needs a block pointer, not %s", what, lang_lower_kind_text(pointer));
  if (pointer->kind == VALUE_POINTER)
    lang_lower_hint(l, "make one with make_block_ptr, or add indexes: pointer + arange(0, BLOCK)");
  return false;
}

static bool masked_target(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *pointers,
                          const lang_ast *mask_node, target *t) {
  lang_lower_block_ptr *p = WF_ARENA_NEW(l->run, lang_lower_block_ptr);
  lang_lower_value mask;
  const bool masked = mask_node != NULL && mask_node->kind != AST_NONE;
  if (masked && !lang_lower_eval(l, mask_node, BLOCK_NONE, &mask)) return false;
  t->p = p;
  if (masked && mask.kind == VALUE_MASK) t->mask = mask.indexes;
  return lang_lower_masked(l, masked ? mask_node : node, pointers, masked ? &mask : NULL, p, &t->checked, &t->wrapped);
}

static bool target_of(lang_lowerer *l, const lang_ast *node, const char *what, const lang_ast *check,
                      const lang_ast *mask, target *t) {
  lang_lower_value pointer;
  *t = (target){.p = NULL};
  if (!lang_lower_eval(l, node, BLOCK_NONE, &pointer)) return false;
  if (pointer.kind == VALUE_POINTERS && check == NULL) return masked_target(l, node, pointer.indexes, mask, t);
  if (pointer.kind == VALUE_POINTERS)
    return lang_lower_fail(l, check, "boundary_check is for block pointers; this block of pointers needs a mask");
  if (pointer.kind != VALUE_BLOCK_PTR) return refuse_target(l, node, what, &pointer);
  if (mask != NULL && mask->kind != AST_NONE) {
    lang_lower_fail(l, mask, "block pointers have no masks");
    lang_lower_hint(l, "name the dimensions that may end inside the block in boundary_check");
    return false;
  }
  t->p = pointer.block_ptr;
  return checked_dims(l, check, pointer.block_ptr->rank, &t->checked);
}

// other=0, or minus infinity: softmax leaves out what the mask does.
static bool check_other(lang_lowerer *l, const lang_ast *node, const target *t, bool *nothing) {
  lang_lower_value v;
  double number;
  *nothing = false;
  if (node == NULL || node->kind == AST_NONE) return true;
  if (!lang_lower_eval(l, node, BLOCK_NONE, &v)) return false;
  if (lang_lower_is_number(&v, &number) && number == 0) return true;
  *nothing = lang_lower_is_nothing(&v) && t->mask != NULL;
  if (*nothing) return true;
  lang_lower_fail(l, node,
                  "what a mask leaves out reads as zero, or is left out of softmax: other is 0 or float(\"-inf\")");
  lang_lower_hint(l, "for another number load with other=0 and use maximum() or minimum() where that is enough");
  return false;
}

static bool check_padding(lang_lowerer *l, const lang_ast *node) {
  lang_lower_value v;
  if (node == NULL) return true;
  if (!lang_lower_eval(l, node, BLOCK_NONE, &v)) return false;
  if (v.kind == VALUE_SCALAR && v.scalar.kind == LANG_TEXT &&
      (v.scalar.text[0] == 0 || strcmp(v.scalar.text, "zero") == 0))
    return true;
  return lang_lower_fail(l, node, "elements outside read as zero: padding_option can only be \"zero\"");
}

// A block loaded through a_ptr is called a.
static const char *stem_of(lang_lowerer *l, const char *name) {
  const size_t length = strlen(name);
  const bool suffix = length > 4 && strcmp(name + length - 4, "_ptr") == 0;
  return suffix ? wf_arena_text(l->run, name, length - 4) : name;
}

static void mark(lang_lowerer *l, block_statement *made, unsigned wrapped, unsigned open) {
  if ((wrapped | open) == 0 || !l->recording) return;
  *WF_ARENA_PUSH(l->arena, l->marks, l->mark_count, &l->mark_room) = (lang_lower_mark){made, wrapped, open};
}

// A load into a new buffer.
static bool emit_load(lang_lowerer *l, const lang_ast *node, const block_access *access, unsigned wrapped,
                      unsigned open, lang_lower_value *result) {
  int64_t size[BLOCK_RANK_MAX];
  for (int d = 0; d < access->rank; d++) size[d] = access->dim[d].size;
  const char *hint = l->hint;
  l->hint = stem_of(l, l->program->tensors[access->tensor].name);
  const int buffer = lang_lower_new_buffer(l, node, l->program->tensors[access->tensor].type, size, access->rank);
  l->hint = hint;
  if (buffer == BLOCK_NONE) return false;
  block_statement s = {.kind = BLOCK_LOAD};
  s.load.target = block_whole(l->program, buffer);
  s.load.access = *access;
  block_statement *made = lang_lower_emit(l, node, &s);
  if (made == NULL) return false;
  mark(l, made, wrapped, open);
  block_access *kept = WF_ARENA_NEW(l->run, block_access);
  *kept = *access;
  *result = lang_lower_block_value(buffer, size, access->rank);
  result->block.access = kept;
  result->block.stores = l->stores;
  result->block.wrapped = wrapped;
  result->block.open = open;
  return true;
}

bool lang_lower_load_access(lang_lowerer *l, const lang_ast *node, const block_access *access,
                            lang_lower_value *result) {
  return emit_load(l, node, access, 0, 0, result);
}

// Dimensions of a block of pointers that have no end of their own.
static unsigned open_dims(const target *t) { return t->p->span.line != 0 ? 0 : ((1U << t->p->rank) - 1) & ~t->checked; }

bool lang_lower_load(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result) {
  target t;
  bool nothing;
  lang_lower_value loaded;
  if (!target_of(l, args[0], "load()", args[3], args[1], &t) || !check_other(l, args[2], &t, &nothing) ||
      !check_padding(l, args[4]) || !check_range(l, node, t.p, t.checked))
    return false;
  const block_access access = access_of(t.p);
  if (!emit_load(l, node, &access, t.wrapped, open_dims(&t), &loaded)) return false;
  if (nothing) return lang_lower_keep(l, args[2], &loaded, t.mask, result);
  *result = loaded;
  return true;
}

// What a store pools with: size, stride and border of the window.
static bool pooling_of(lang_lowerer *l, const lang_ast *node, block_pool *pool) {
  enum { WINDOW_MAX = 1 << 20 };
  const lang_lower_value *items;
  int count;
  int64_t numbers[3] = {0};
  if (node == NULL || !lang_lower_eval_tuple(l, node, &items, &count)) return node == NULL;
  bool good = count == 3;
  for (int i = 0; i < 3 && good; i++) good = lang_lower_is_constant(&items[i], &numbers[i]) && numbers[i] <= WINDOW_MAX;
  if (!good || numbers[0] < 1 || numbers[1] < 1 || numbers[2] < 0 || numbers[2] >= numbers[0])
    return lang_lower_fail(l, node, "pool is (size, stride, border) of a window, the border smaller than the size");
  *pool = (block_pool){.size = (uint32_t)numbers[0], .stride = (uint32_t)numbers[1], .border = (uint32_t)numbers[2]};
  return true;
}

// The shape of a block that is stored: that of the pointer, or of what its windows reach over.
static bool stored_shape(lang_lowerer *l, const lang_ast *node, const lang_lower_block_ptr *p, const block_pool *pool,
                         int64_t *size) {
  for (int d = 0; d < p->rank; d++) size[d] = p->dim[d].size;
  if (pool->stride == 0) return true;
  if (p->rank != 4 || p->dim[1].step != 1 || p->dim[2].step != 1)
    return lang_lower_fail(l, node, "pooled results are blocks of image, row, column and channel, without steps");
  for (int d = 1; d <= 2; d++) size[d] = (size[d] - 1) * pool->stride + pool->size;
  return true;
}

// Indexes modulo a size, or a stride of 0, would store several elements to one place.
static bool stores_once(lang_lowerer *l, const lang_ast *node, const target *t) {
  for (int d = 0; d < t->p->rank; d++) {
    const bool repeats = t->p->dim[d].size > 1 && t->p->dim[d].stride == 0 && t->p->span.line == 0;
    if ((t->wrapped >> d & 1) == 0 && !repeats) continue;
    lang_lower_fail(l, node,
                    repeats ? "along dimension %d all elements would be stored to one place"
                            : "dimension %d of these pointers wraps around ('%%'): rows would be stored twice",
                    d);
    lang_lower_hint(l, repeats ? "give the dimension a stride, or store a block without it"
                               : "store through the plain indexes and leave out what is beyond with a mask");
    return false;
  }
  return true;
}

// Statistics are of whole rows, but for columns that are left out.
static bool stores_whole_rows(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows,
                              const lang_lower_block_ptr *p, block_lengths *lengths) {
  int64_t least, most;
  const int last = p->rank - 1;
  const int64_t columns = lengths->most != 0 ? lengths->most : p->dim[last].size;
  if (lengths->most != 0 && lang_lower_fit_lengths(l, node, rows, p, lengths)) return true;
  if (lengths->most == 0 && lang_lower_index_bounds(l->program, &p->dim[last].offset, &least, &most) && least >= 0 &&
      most + p->dim[last].step * (columns - 1) < p->dim[last].extent)
    return true;
  lang_lower_fail(l, node, "statistics are of whole rows: this block of %lld columns is stored to rows of %lld",
                  (long long)columns, (long long)p->dim[last].extent);
  lang_lower_hint(l,
                  "load and store blocks that are as wide as the rows; softmax leaves columns out behind "
                  "load(.., other=float(\"-inf\")) and where(mask, x, float(\"-inf\"))");
  return false;
}

static bool emit_store(lang_lowerer *l, const lang_ast *node, const target *t, block_statement *s) {
  if (!check_range(l, node, t->p, t->checked)) return false;
  s->store.access = access_of(t->p);
  l->stores++;
  block_statement *made = lang_lower_emit(l, node, s);
  if (made != NULL) mark(l, made, 0, open_dims(t));
  return made != NULL;
}

static bool fits_pointer(lang_lowerer *l, const lang_ast *node, const lang_lower_block *block, const int64_t *size,
                         int rank) {
  char a[LOWER_SHAPE_TEXT], b[LOWER_SHAPE_TEXT];
  return lang_lower_same_shape(block->size, block->rank, size, rank) ||
         lang_lower_fail(l, node, "a block of shape %s cannot be stored to one of shape %s",
                         lang_lower_shape_text(block->size, block->rank, a), lang_lower_shape_text(size, rank, b));
}

static bool fits_tensor(lang_lowerer *l, const lang_ast *node, block_type type, const block_tensor *tensor) {
  if (type == tensor->type) return true;
  lang_lower_fail(l, node, "%s cannot be stored to '%s', which is %s", lang_dtype_names[lang_lower_lang_types[type]],
                  tensor->name, lang_dtype_names[lang_lower_lang_types[tensor->type]]);
  lang_lower_hint(l, "convert it: .to(%s)", lang_dtype_names[lang_lower_lang_types[tensor->type]]);
  return false;
}

static bool store_rows(lang_lowerer *l, const lang_ast *node, const lang_ast **args, const target *t,
                       const lang_lower_rows *rows) {
  int64_t size[BLOCK_RANK_MAX];
  block_statement s = {.kind = BLOCK_STORE};
  const block_pool none = {0};
  if (args[4] != NULL) return lang_lower_fail(l, args[4], "%s is not pooled", lang_lower_rows_text(rows));
  return stored_shape(l, args[0], t->p, &none, size) && lang_lower_row_store(l, args[1], rows, &s) &&
         fits_pointer(l, args[1], &rows->block, size, t->p->rank) &&
         fits_tensor(l, args[1], BLOCK_I8, &l->program->tensors[t->p->tensor]) &&
         (rows->kind == BLOCK_GELU || stores_whole_rows(l, args[0], rows, t->p, &s.store.lengths)) &&
         lang_lower_row_limits(l, args[0], rows, t->p) && emit_store(l, node, t, &s);
}

bool lang_lower_store(lang_lowerer *l, const lang_ast *node, const lang_ast **args) {
  lang_lower_value v;
  target t;
  int64_t size[BLOCK_RANK_MAX];
  block_statement s = {.kind = BLOCK_STORE};
  if (!target_of(l, args[0], "store()", args[3], args[2], &t) || !pooling_of(l, args[4], &s.store.epilogue.pool) ||
      !lang_lower_eval(l, args[1], BLOCK_NONE, &v) || !stores_once(l, args[0], &t))
    return false;
  if (v.kind == VALUE_ROWS) return store_rows(l, node, args, &t, v.rows);
  if (!stored_shape(l, args[0], t.p, &s.store.epilogue.pool, size)) return false;
  if (v.kind != VALUE_BLOCK)
    return lang_lower_fail(l, args[1], "store() needs a block, not %s", lang_lower_kind_text(&v));
  s.store.source = block_whole(l->program, v.block.buffer);
  return lang_lower_needs_plain(l, args[1], &v.block) && fits_pointer(l, args[1], &v.block, size, t.p->rank) &&
         fits_tensor(l, args[1], l->program->buffers[v.block.buffer].type, &l->program->tensors[t.p->tensor]) &&
         emit_store(l, node, &t, &s);
}

// ---- shapes

// Dimensions of one that come and go: the rest must be the same in the same order. A dimension that goes moves the
// base, which it can only if it is never outside of the tensor.
bool lang_lower_reshape_access(const lang_lowerer *l, const block_access *from, const int64_t *size, int rank,
                               block_access *to) {
  int f = 0;
  *to = (block_access){.tensor = from->tensor, .base = from->base, .rank = rank};
  for (int t = 0; t <= rank; t++) {
    while (f < from->rank && from->dim[f].size == 1 && (t == rank || size[t] != 1)) {
      const block_access_dim *gone = &from->dim[f++];
      int64_t least = gone->offset.constant, most = least;
      for (int i = 0; i < l->program->loop_count; i++) {
        const int64_t sweep = gone->offset.per_loop[i] * (l->program->loops[i].trips - 1);
        *(sweep < 0 ? &least : &most) += sweep;
      }
      if (least < 0 || most >= gone->extent) return false;
      to->base = block_affine_add(to->base, block_affine_times(gone->offset, gone->stride));
    }
    if (t == rank) break;
    if (f < from->rank && from->dim[f].size == size[t])
      to->dim[t] = from->dim[f++];
    else if (size[t] == 1)
      to->dim[t] = (block_access_dim){.step = 1, .size = 1, .extent = 1};
    else
      return false;
  }
  return f == from->rank;
}

// Where marked dimensions are when dimensions of 1 came or went.
static unsigned moved_dims(const lang_lower_block *b, unsigned of, const int64_t *size, int rank) {
  unsigned dims = 0;
  for (int d = 0, from = 0; d < rank && of != 0; d++) {
    if (size[d] == 1) continue;
    while (from < b->rank && b->size[from] == 1) from++;
    dims |= (of >> from++ & 1) << d;
  }
  return dims;
}

bool lang_lower_reshape(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, const int64_t *size, int rank,
                        lang_lower_value *result) {
  char x[LOWER_SHAPE_TEXT], y[LOWER_SHAPE_TEXT];
  int64_t before = 1, after = 1;
  block_access access;
  if (v->kind != VALUE_BLOCK) return lang_lower_fail(l, node, "%s has no shape", lang_lower_kind_text(v));
  const lang_lower_block *b = &v->block;
  for (int d = 0; d < b->rank; d++) before *= b->size[d];
  for (int d = 0; d < rank; d++) after *= size[d];
  if (before != after)
    return lang_lower_fail(l, node, "a block of shape %s cannot take the shape %s",
                           lang_lower_shape_text(b->size, b->rank, x), lang_lower_shape_text(size, rank, y));
  if (lang_lower_same_shape(b->size, b->rank, size, rank)) {
    *result = *v;
    return true;
  }
  if (!b->transposed && rank > 1 && b->rank > 1 && size[rank - 1] == b->size[b->rank - 1]) {
    *result = lang_lower_block_value(b->buffer, size, rank);
    return true;
  }
  if (b->access == NULL || b->transposed || b->stores != l->stores ||
      !lang_lower_reshape_access(l, b->access, size, rank, &access)) {
    lang_lower_fail(l, node, "a block of shape %s cannot take the shape %s here",
                    lang_lower_shape_text(b->size, b->rank, x), lang_lower_shape_text(size, rank, y));
    lang_lower_hint(l,
                    "the last dimension must stay; of a block that was just loaded, dimensions of 1 can come and go");
    return false;
  }
  return emit_load(l, node, &access, moved_dims(b, b->wrapped, size, rank), moved_dims(b, b->open, size, rank), result);
}
