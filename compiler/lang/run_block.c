// SPDX-License-Identifier: Apache-2.0
// Blocks, element by element: see run.h.
//
// Numbers: products and sums of integers wrap at 32 bits; int8 operands become int32 first, maxima and minima of int8
// alone stay int8; anything with a float is float32; to int8 and int32 from float32 rounds to nearest even, NaN is the
// largest; both saturate.
#include <math.h>
#include <string.h>

#include "compiler/lang/run.h"

lang_run_block *lang_run_new_block(lang_runner *r, const int64_t *size, int rank, lang_dtype dtype) {
  lang_run_block *b = WF_ARENA_NEW(r->arena, lang_run_block);
  *b = (lang_run_block){.dtype = dtype, .rank = rank, .count = 1};
  for (int d = 0; d < rank; d++) {
    b->size[d] = size[d];
    b->count *= size[d];
  }
  b->cells = WF_ARENA_ARRAY(r->arena, (size_t)b->count, lang_run_cell);
  return b;
}

static lang_run_value as_value(const lang_run_block *b) { return (lang_run_value){.kind = RUN_BLOCK, .block = b}; }

static bool needs_block(lang_runner *r, const lang_ast *node, const lang_run_value *v) {
  return v->kind == RUN_BLOCK || lang_run_fail(r, node, "expected a block");
}

// Parts of softmax have no elements that are numbers.
static bool is_value(lang_runner *r, const lang_ast *node, const lang_run_block *b) {
  if (b->left_out != NULL)
    return lang_run_fail(r, node, "columns of this block are left out, which softmax alone takes");
  return b->meaning == RUN_PLAIN || b->meaning == RUN_SCALED || b->meaning == RUN_CURVE ||
         lang_run_fail(r, node, "this is a part of softmax");
}

// ---- memory

static lang_run_cell get(const lang_runner *r, int tensor, int64_t at) {
  const void *data = r->tensors[tensor].data;
  switch (r->tensor_types[tensor]) {
    case LANG_INT8:
      return (lang_run_cell){.i = ((const int8_t *)data)[at]};
    case LANG_INT32:
      return (lang_run_cell){.i = ((const int32_t *)data)[at]};
    default:
      return (lang_run_cell){.f = ((const float *)data)[at]};
  }
}

static void set(const lang_runner *r, int tensor, int64_t at, lang_run_cell cell) {
  void *data = r->tensors[tensor].data;
  if (r->tensor_types[tensor] == LANG_INT8)
    ((int8_t *)data)[at] = (int8_t)cell.i;
  else if (r->tensor_types[tensor] == LANG_INT32)
    ((int32_t *)data)[at] = cell.i;
  else
    ((float *)data)[at] = cell.f;
}

typedef enum { PLACE_BAD, PLACE_PADDING, PLACE_MEMORY } place;

// Where element number `element` of the block lies.
static place place_of(lang_runner *r, const lang_ast *node, const lang_run_block_ptr *p, unsigned checked,
                      int64_t element, int64_t *at) {
  bool padding = false;
  *at = p->base.offset;
  for (int d = p->rank - 1; d >= 0; element /= p->size[d], d--) {
    int64_t index, distance;
    // A sum that does not fit is outside of any tensor.
    const bool too_far = __builtin_add_overflow(p->offset[d], p->step[d] * (element % p->size[d]), &index);
    const bool outside = too_far || index < 0 || index >= p->extent[d];
    if (outside && (checked >> d & 1) == 0) {
      lang_run_fail(r, node, "element %lld of dimension %d is outside of 0 to %lld", (long long)index, d,
                    (long long)p->extent[d] - 1);
      return PLACE_BAD;
    }
    padding |= outside;
    if (outside) continue;
    if (__builtin_mul_overflow(index, p->stride[d], &distance) || __builtin_add_overflow(*at, distance, at)) {
      *at = -1;
      break;
    }
  }
  if (padding) return PLACE_PADDING;
  if (*at >= 0 && *at < r->tensors[p->base.tensor].elements) return PLACE_MEMORY;
  lang_run_fail(r, node, "element %lld of '%s', which has %lld", (long long)*at, r->tensor_names[p->base.tensor],
                (long long)r->tensors[p->base.tensor].elements);
  return PLACE_BAD;
}

static bool memory_args(lang_runner *r, const lang_ast *pointer, const lang_ast *check, const lang_run_value *p,
                        unsigned *checked) {
  int64_t dims[RUN_RANK_MAX];
  int count = 0;
  *checked = 0;
  if (p->kind != RUN_BLOCK_PTR) return lang_run_fail(r, pointer, "expected a block pointer");
  if (check != NULL && !lang_run_eval_ints(r, check, dims, &count)) return false;
  for (int i = 0; i < count; i++) {
    if (dims[i] < 0 || dims[i] >= p->block_ptr->rank) return lang_run_fail(r, check, "there is no such dimension");
    *checked |= 1U << dims[i];
  }
  return true;
}

// The number that stands for what a mask leaves out.
static bool other_of(lang_runner *r, const lang_ast *node, lang_dtype dtype, lang_run_cell *other) {
  const int64_t one[] = {1};
  lang_run_value v = {.kind = RUN_SCALAR, .scalar = lang_int(0)}, made;
  if (node != NULL && node->kind != AST_NONE && !lang_run_eval(r, node, &v)) return false;
  if (v.kind != RUN_SCALAR) return lang_run_fail(r, node, "expected a number");
  if (!lang_run_full(r, node, one, 1, lang_scalar_number(v.scalar), dtype, &made)) return false;
  *other = made.block->cells[0];
  return true;
}

static bool load_or_nothing(lang_runner *r, const lang_ast *node, const lang_run_indexes *p, const int64_t *places,
                            lang_run_value *result) {
  lang_run_block *b = lang_run_new_block(r, p->size, p->rank, r->tensor_types[p->tensor]);
  bool *keeps = WF_ARENA_ARRAY(r->arena, (size_t)b->count + 1, bool);
  for (int64_t e = 0; e < b->count; e++) {
    keeps[e] = places[e] >= 0;
    if (keeps[e]) b->cells[e] = get(r, p->tensor, places[e]);
  }
  return lang_run_keep(r, node, b, keeps, result);
}

static bool load_pointers(lang_runner *r, const lang_ast *node, const lang_run_indexes *p, const lang_ast **args,
                          lang_run_value *result) {
  lang_run_cell other;
  lang_run_value v = {.kind = RUN_UNSET};
  int64_t *places;
  const lang_dtype dtype = r->tensor_types[p->tensor];
  if (!lang_run_places(r, node, p, args[1], &places) || (args[2] != NULL && !lang_run_eval(r, args[2], &v)))
    return false;
  if (lang_run_is_nothing(&v)) return load_or_nothing(r, node, p, places, result);
  if (!other_of(r, args[2], dtype, &other)) return false;
  lang_run_block *b = lang_run_new_block(r, p->size, p->rank, dtype);
  for (int64_t e = 0; e < b->count; e++) b->cells[e] = places[e] < 0 ? other : get(r, p->tensor, places[e]);
  *result = as_value(b);
  return true;
}

static bool store_pointers(lang_runner *r, const lang_ast *node, const lang_run_indexes *p, const lang_ast **args) {
  lang_run_value v;
  int64_t *places;
  if (!lang_run_eval(r, args[1], &v) || !needs_block(r, args[1], &v) || !lang_run_places(r, node, p, args[2], &places))
    return false;
  const lang_run_block *b = v.block;
  if (b->dtype != r->tensor_types[p->tensor]) return lang_run_fail(r, args[1], "the type differs from the pointer's");
  if (b->rank != p->rank || memcmp(b->size, p->size, (size_t)b->rank * sizeof *b->size) != 0)
    return lang_run_fail(r, args[1], "the shape differs from that of the pointers");
  for (int64_t e = 0; e < b->count; e++)
    if (places[e] >= 0) set(r, p->tensor, places[e], b->cells[e]);
  return true;
}

bool lang_run_load(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  lang_run_value pointer;
  unsigned checked;
  if (!lang_run_eval(r, args[0], &pointer)) return false;
  if (pointer.kind == RUN_POINTERS) return load_pointers(r, node, pointer.indexes, args, result);
  if (!memory_args(r, args[0], args[3], &pointer, &checked)) return false;
  const lang_run_block_ptr *p = pointer.block_ptr;
  lang_run_block *b = lang_run_new_block(r, p->size, p->rank, r->tensor_types[p->base.tensor]);
  for (int64_t e = 0; e < b->count; e++) {
    int64_t at;
    const place where = place_of(r, node, p, checked, e, &at);
    if (where == PLACE_BAD) return false;
    if (where == PLACE_MEMORY) b->cells[e] = get(r, p->base.tensor, at);
  }
  *result = as_value(b);
  return true;
}

// What a store pools with: the largest of size x size elements, `stride` apart. Rows and columns of the block begin
// `border` before the element of the image under the first result; those before the image count as zero.
typedef struct pooling {
  int64_t size, stride, border;
} pooling;

static bool pooling_of(lang_runner *r, const lang_ast *node, pooling *p) {
  enum { WINDOW_MAX = 1 << 20 };
  int64_t numbers[RUN_RANK_MAX];
  int count = 0;
  if (node == NULL || !lang_run_eval_ints(r, node, numbers, &count)) return node == NULL;
  if (count != 3 || numbers[0] > WINDOW_MAX || numbers[1] > WINDOW_MAX || numbers[0] < 1 || numbers[1] < 1 ||
      numbers[2] < 0 || numbers[2] >= numbers[0])
    return lang_run_fail(r, node, "expected size, stride and border of a window");
  *p = (pooling){numbers[0], numbers[1], numbers[2]};
  return true;
}

static bool is_pooled_shape(const lang_run_block *b, const lang_run_block_ptr *p, const pooling *pool) {
  if (b->rank != 4 || p->rank != 4 || b->dtype != LANG_INT8) return false;
  for (int d = 0; d < 4; d++) {
    const bool image = d == 1 || d == 2;
    if (b->size[d] != (image ? (p->size[d] - 1) * pool->stride + pool->size : p->size[d])) return false;
    if (image && p->step[d] != 1) return false;
  }
  return true;
}

// Whether row or column `at` of the block is none before the image.
static bool is_in_image(int64_t offset, const pooling *pool, int64_t at) {
  return offset >= pool->border || offset * pool->stride - pool->border + at >= 0;
}

static lang_run_cell largest(const lang_run_block *b, const lang_run_block_ptr *p, const pooling *pool, int64_t e) {
  int64_t at[4];
  lang_run_cell best = {.i = INT8_MIN};
  for (int d = 3; d >= 0; e /= p->size[d], d--) at[d] = e % p->size[d];
  for (int64_t w = 0; w < pool->size * pool->size; w++) {
    const int64_t row = at[1] * pool->stride + w / pool->size, column = at[2] * pool->stride + w % pool->size;
    const bool inside = is_in_image(p->offset[1], pool, row) && is_in_image(p->offset[2], pool, column);
    const int32_t value =
        inside ? b->cells[((at[0] * b->size[1] + row) * b->size[2] + column) * b->size[3] + at[3]].i : 0;
    if (value > best.i) best.i = value;
  }
  return best;
}

bool lang_run_store(lang_runner *r, const lang_ast *node, const lang_ast **args) {
  lang_run_value pointer, v;
  unsigned checked;
  pooling pool = {0};
  if (!lang_run_eval(r, args[0], &pointer)) return false;
  if (pointer.kind == RUN_POINTERS) return store_pointers(r, node, pointer.indexes, args);
  if (!memory_args(r, args[0], args[3], &pointer, &checked) || !lang_run_eval(r, args[1], &v) ||
      !needs_block(r, args[1], &v) || !pooling_of(r, args[4], &pool))
    return false;
  const lang_run_block_ptr *p = pointer.block_ptr;
  const lang_run_block *b = v.block;
  if (b->dtype != r->tensor_types[p->base.tensor])
    return lang_run_fail(r, args[1], "the type differs from the pointer's");
  if (pool.size != 0 && !is_pooled_shape(b, p, &pool))
    return lang_run_fail(r, args[1], "the windows of the block pointer's results do not fill this block");
  if (pool.size == 0 && (b->rank != p->rank || memcmp(b->size, p->size, (size_t)b->rank * sizeof *b->size) != 0))
    return lang_run_fail(r, args[1], "the shape differs from the block pointer's");
  int64_t count = 1;
  for (int d = 0; d < p->rank; d++) count *= p->size[d];
  for (int64_t e = 0; e < count; e++) {
    int64_t at;
    const place where = place_of(r, node, p, checked, e, &at);
    if (where == PLACE_BAD) return false;
    if (where == PLACE_MEMORY) set(r, p->base.tensor, at, pool.size == 0 ? b->cells[e] : largest(b, p, &pool, e));
  }
  return true;
}

// ---- products

static bool product_operand(lang_runner *r, const lang_ast *node, lang_run_value *v) {
  if (!lang_run_eval(r, node, v) || !needs_block(r, node, v) || !is_value(r, node, v->block)) return false;
  return (v->block->dtype == LANG_INT8 && v->block->rank >= 2) ||
         lang_run_fail(r, node, "dot() needs int8 blocks of two dimensions or more");
}

// Adds the product of row m and the matrix of each block of columns.
static void add_blocks(lang_run_block *sum, const lang_run_block *x, const lang_run_block *y, int64_t m) {
  const int64_t depth = x->size[x->rank - 1], size = y->size[2];
  for (int64_t n = 0; n < depth; n++) {
    const int64_t block = n / size, first = block * size;
    for (int64_t k = 0; k < size && first + k < depth; k++) {
      lang_run_cell *cell = &sum->cells[m * depth + n];
      const int32_t weight = y->cells[(block * size + k) * size + n - first].i;
      cell->i = (int32_t)((uint32_t)cell->i + (uint32_t)(x->cells[m * depth + first + k].i * weight));
    }
  }
}

// Whether the right operand is a square matrix for each block of columns of the left one.
static bool are_matrices(const lang_run_block *x, const lang_run_block *y) {
  const int64_t depth = x->size[x->rank - 1];
  return y->rank == 3 && y->size[1] == y->size[2] && (depth + y->size[1] - 1) / y->size[1] == y->size[0];
}

bool lang_run_dot(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result) {
  lang_run_value a, b, acc = {.kind = RUN_UNSET};
  if (!product_operand(r, args[0], &a) || !product_operand(r, args[1], &b)) return false;
  if (args[2] != NULL && !lang_run_eval(r, args[2], &acc)) return false;
  const lang_run_block *x = a.block, *y = b.block;
  const bool blocks = are_matrices(x, y);
  const int64_t depth = x->size[x->rank - 1], rows = x->count / depth;
  const int64_t columns = blocks ? depth : y->size[y->rank - 1];
  if (!blocks && y->count != depth * columns) return lang_run_fail(r, node, "the inner sizes of this product differ");
  int64_t size[RUN_RANK_MAX];
  memcpy(size, x->size, sizeof size);
  size[x->rank - 1] = columns;
  lang_run_block *sum = lang_run_new_block(r, size, x->rank, LANG_INT32);
  if (acc.kind == RUN_BLOCK) {
    const lang_run_block *start = acc.block;
    if (start->dtype != LANG_INT32 || start->rank != sum->rank || memcmp(start->size, sum->size, sizeof size) != 0)
      return lang_run_fail(r, node, "the product cannot be added to this block");
    memcpy(sum->cells, start->cells, (size_t)sum->count * sizeof *sum->cells);
  }
  for (int64_t m = 0; m < rows && blocks; m++) add_blocks(sum, x, y, m);
  for (int64_t m = 0; m < rows && !blocks; m++)
    for (int64_t k = 0; k < depth; k++)
      for (int64_t n = 0; n < columns; n++) {
        lang_run_cell *cell = &sum->cells[m * columns + n];
        const int32_t product = x->cells[m * depth + k].i * y->cells[k * columns + n].i;
        cell->i = (int32_t)((uint32_t)cell->i + (uint32_t)product);
      }
  *result = as_value(sum);
  return true;
}

// ---- conversions

static int32_t clipped(int32_t x) { return x > INT8_MAX ? INT8_MAX : x < INT8_MIN ? INT8_MIN : x; }

static int32_t rounded(float x) {
  if (isnan(x)) return INT32_MAX;
  const float y = nearbyintf(x);
  return y >= 2147483648.0f ? INT32_MAX : y < -2147483648.0f ? INT32_MIN : (int32_t)y;
}

static lang_run_cell converted(lang_run_cell cell, lang_dtype from, lang_dtype to) {
  if (from == to) return cell;
  if (to == LANG_FLOAT32) return (lang_run_cell){.f = (float)cell.i};
  const int32_t integer = from == LANG_FLOAT32 ? rounded(cell.f) : cell.i;
  return (lang_run_cell){.i = to == LANG_INT8 ? clipped(integer) : integer};
}

bool lang_run_convert(lang_runner *r, const lang_ast *node, const lang_run_value *v, lang_dtype dtype,
                      lang_run_value *result) {
  if (!needs_block(r, node, v)) return false;
  if (v->block->left_out != NULL &&
      (dtype == LANG_FLOAT32 || (dtype == LANG_INT32 && v->block->dtype != LANG_FLOAT32))) {
    *result = *v;
    return true;
  }
  if (!is_value(r, node, v->block)) return false;
  if (v->block->meaning == RUN_CURVE) return lang_run_curve_convert(r, node, v->block, dtype, result);
  lang_run_block *b = lang_run_new_block(r, v->block->size, v->block->rank, dtype);
  for (int64_t e = 0; e < b->count; e++) b->cells[e] = converted(v->block->cells[e], v->block->dtype, dtype);
  const lang_run_value one = {.kind = RUN_SCALAR, .scalar = lang_int(1)};
  lang_run_curve_note(r, AST_MUL, v, &one, b);
  *result = as_value(b);
  if (dtype != LANG_FLOAT32 || v->block->dtype == LANG_FLOAT32) return true;
  b->meaning = RUN_SCALED;  // by 1
  b->whole = v->block;
  b->factor = 1;
  return true;
}

// ---- arithmetic

bool lang_run_full(lang_runner *r, const lang_ast *node, const int64_t *size, int rank, double number, lang_dtype dtype,
                   lang_run_value *result) {
  lang_run_block *b = lang_run_new_block(r, size, rank, dtype);
  if (dtype != LANG_FLOAT32 && !(fabs(number) <= 2147483648.0))
    return lang_run_fail(r, node, "this number is too large");
  for (int64_t e = 0; e < b->count; e++) {
    if (dtype == LANG_FLOAT32)
      b->cells[e].f = (float)number;
    else
      b->cells[e].i = (int32_t)number;
  }
  *result = as_value(b);
  return true;
}

// Numbers are blocks of one element. A type for them: what is written with a point is a float; small integers go with
// int8 where the other side is int8.
static const lang_run_block *operand_block(lang_runner *r, const lang_ast *node, const lang_run_value *v,
                                           const lang_run_value *other) {
  const int64_t one[RUN_RANK_MAX] = {1, 1, 1, 1, 1};
  lang_run_value made;
  if (v->kind == RUN_BLOCK) return v->block;
  if (v->kind != RUN_SCALAR || v->scalar.kind == LANG_TEXT || v->scalar.kind == LANG_NONE) {
    lang_run_fail(r, node, "this cannot be combined with a block");
    return NULL;
  }
  const double number = lang_scalar_number(v->scalar);
  const bool small = number >= INT8_MIN && number <= INT8_MAX;
  const lang_dtype dtype = v->scalar.kind == LANG_FLOAT || other->block->dtype == LANG_FLOAT32 ? LANG_FLOAT32
                           : other->block->dtype == LANG_INT8 && small                         ? LANG_INT8
                                                                                               : LANG_INT32;
  return lang_run_full(r, node, one, other->block->rank, number, dtype, &made) ? made.block : NULL;
}

static lang_run_cell integer_cell(lang_ast_op op, int extreme, lang_run_cell a, lang_run_cell b) {
  const uint32_t x = (uint32_t)a.i, y = (uint32_t)b.i;
  if (extreme != 0) return (a.i > b.i) == (extreme > 0) ? a : b;
  return (lang_run_cell){.i = (int32_t)(op == AST_ADD ? x + y : op == AST_SUB ? x - y : x * y)};
}

static lang_run_cell float_cell(lang_ast_op op, int extreme, lang_run_cell a, lang_run_cell b) {
  if (extreme != 0) return extreme > 0 ? (a.f > b.f ? a : b) : (a.f < b.f ? a : b);
  return (lang_run_cell){.f = op == AST_ADD ? a.f + b.f : op == AST_SUB ? a.f - b.f : a.f * b.f};
}

int64_t lang_run_matching(const int64_t *own_size, int own_rank, const int64_t *size, int rank, int64_t e) {
  int64_t at = 0, weight = 1;
  for (int d = rank - 1, own = own_rank - 1; d >= 0 && own >= 0; e /= size[d], d--, own--) {
    if (own_size[own] != 1) at += weight * (e % size[d]);
    weight *= own_size[own];
  }
  return at;
}

bool lang_run_common_shape(const int64_t *a, int a_rank, const int64_t *b, int b_rank, int64_t *size, int *rank) {
  *rank = a_rank > b_rank ? a_rank : b_rank;
  for (int d = 0; d < *rank; d++) {
    const int da = d - (*rank - a_rank), db = d - (*rank - b_rank);
    const int64_t x = da < 0 ? 1 : a[da], y = db < 0 ? 1 : b[db];
    if (x != y && x != 1 && y != 1) return false;
    size[d] = x > y ? x : y;
  }
  return true;
}

// extreme: 1 for maximum, -1 for minimum, 0 for `op`.
bool lang_run_arithmetic(lang_runner *r, const lang_ast *node, lang_ast_op op, int extreme, const lang_run_value *left,
                         const lang_run_value *right, lang_run_value *result) {
  const lang_run_block *a = operand_block(r, node, left, right), *b;
  if (a == NULL || (b = operand_block(r, node, right, left)) == NULL) return false;
  if (!is_value(r, node, a) || !is_value(r, node, b)) return false;
  if (extreme == 0 && op != AST_ADD && op != AST_SUB && op != AST_MUL)
    return lang_run_fail(r, node, "'%s' has no meaning for blocks", lang_ast_op_texts[op]);
  lang_dtype dtype = LANG_INT32;
  if (a->dtype == LANG_FLOAT32 || b->dtype == LANG_FLOAT32) dtype = LANG_FLOAT32;
  if (extreme != 0 && a->dtype == LANG_INT8 && b->dtype == LANG_INT8) dtype = LANG_INT8;
  int64_t size[RUN_RANK_MAX];
  int rank;
  if (!lang_run_common_shape(a->size, a->rank, b->size, b->rank, size, &rank))
    return lang_run_fail(r, node, "these shapes do not go together");
  lang_run_block *made = lang_run_new_block(r, size, rank, dtype);
  for (int64_t e = 0; e < made->count; e++) {
    const lang_run_cell x =
        converted(a->cells[lang_run_matching(a->size, a->rank, made->size, made->rank, e)], a->dtype, dtype);
    const lang_run_cell y =
        converted(b->cells[lang_run_matching(b->size, b->rank, made->size, made->rank, e)], b->dtype, dtype);
    made->cells[e] = dtype == LANG_FLOAT32 ? float_cell(op, extreme, x, y) : integer_cell(op, extreme, x, y);
  }
  if (extreme == 0) lang_run_curve_note(r, op, left, right, made);
  *result = as_value(made);
  return true;
}

// ---- shapes

bool lang_run_transpose(lang_runner *r, const lang_ast *node, const lang_run_value *v, lang_run_value *result) {
  if (!needs_block(r, node, v)) return false;
  const lang_run_block *from = v->block;
  if (from->left_out != NULL) return is_value(r, node, from);
  if (from->rank != 2) return lang_run_fail(r, node, "only blocks of two dimensions can be transposed");
  const int64_t size[] = {from->size[1], from->size[0]};
  lang_run_block *b = lang_run_new_block(r, size, 2, from->dtype);
  for (int64_t i = 0; i < size[0]; i++)
    for (int64_t j = 0; j < size[1]; j++) b->cells[i * size[1] + j] = from->cells[j * size[0] + i];
  *result = as_value(b);
  return true;
}

bool lang_run_reshape(lang_runner *r, const lang_ast *node, const lang_run_value *v, const int64_t *size, int rank,
                      lang_run_value *result) {
  if (!needs_block(r, node, v)) return false;
  lang_run_block *b = lang_run_new_block(r, size, rank, v->block->dtype);
  if (v->block->left_out != NULL) return is_value(r, node, v->block);
  if (b->count != v->block->count) return lang_run_fail(r, node, "the new shape has another number of elements");
  memcpy(b->cells, v->block->cells, (size_t)b->count * sizeof *b->cells);
  if (v->block->meaning == RUN_SHARE) return lang_run_fail(r, node, "this is a part of softmax");
  b->meaning = v->block->meaning;
  b->factor = v->block->factor;
  *result = as_value(b);
  if (b->meaning != RUN_SCALED) return true;
  const lang_run_value whole = as_value(v->block->whole);
  lang_run_value reshaped;
  if (!lang_run_reshape(r, node, &whole, size, rank, &reshaped)) return false;
  b->whole = reshaped.block;
  return true;
}
