// SPDX-License-Identifier: Apache-2.0
// Runs block programs element by element: what they mean.
//
// A value of a buffer is kept as 32 bits whatever its type. A view or access becomes a table of places, one per
// element, so that each statement is a loop over tables. What a verified program never does, leaving a tensor or
// reading what no statement wrote, is reported at its statement and ends the run.
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "arch/config.h"
#include "base/alloc.h"
#include "compiler/block/build.h"

typedef struct storage {
  int32_t *values;
  bool *written;
} storage;

typedef struct runner {
  const block_program *program;
  void *const *tensors;
  storage *buffers;
  int64_t iteration[BLOCK_LOOPS_MAX];
  wf_diag *diag;
} runner;

// ---- numbers

static float float_of(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int32_t bits_of(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static int32_t clip_i8(int32_t value) { return value > INT8_MAX ? INT8_MAX : value < INT8_MIN ? INT8_MIN : value; }

static int32_t round_to_i32(float value) {
  if (isnan(value) || value >= 0x1p31f) return INT32_MAX;
  if (value < -0x1p31f) return INT32_MIN;
  return (int32_t)rintf(value);
}

static int32_t scale_to_i8(int32_t value, float scale) { return clip_i8(round_to_i32((float)value * scale)); }

static int32_t add_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
static int32_t mul_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }

// ---- places

static const int64_t padding_place = INT64_MIN;

// Where elements lie, or padding_place.
typedef struct places {
  int64_t *at;
  int64_t count;
} places;

typedef struct box_dim {
  int64_t first, step, size, extent, stride;
} box_dim;

static places places_of(const box_dim *dim, int rank, int64_t base) {
  places p = {.count = 1};
  for (int d = 0; d < rank; d++) p.count *= dim[d].size;
  p.at = wf_alloc((size_t)p.count, sizeof *p.at);
  for (int64_t e = 0; e < p.count; e++) {
    int64_t rest = e, place = base;
    bool padding = false;
    for (int d = rank - 1; d >= 0; d--) {
      int64_t index = dim[d].first + rest % dim[d].size * dim[d].step;
      rest /= dim[d].size;
      padding |= index < 0 || index >= dim[d].extent;
      place += index * dim[d].stride;
    }
    p.at[e] = padding ? padding_place : place;
  }
  return p;
}

// Dimensions first .. end - 1 of a view, the others taken as 0: places of leading and last dimensions add up.
static places view_places(const runner *r, const block_view *view, int first, int end) {
  const block_buffer *buffer = &r->program->buffers[view->buffer];
  box_dim dim[BLOCK_RANK_MAX];
  int64_t stride = 1;
  for (int d = buffer->rank - 1; d >= 0; stride *= buffer->size[d], d--) {
    const block_view_dim *v = &view->dim[d];
    dim[d] = (box_dim){block_affine_at(&v->offset, r->iteration), v->step, v->size, buffer->size[d], stride};
    assert(dim[d].first >= 0 && dim[d].first + (v->size - 1) * v->step < buffer->size[d]);
  }
  return places_of(dim + first, end - first, 0);
}

static int rank_of(const runner *r, const block_view *view) { return r->program->buffers[view->buffer].rank; }

static places whole_view(const runner *r, const block_view *view) { return view_places(r, view, 0, rank_of(r, view)); }

// False after an element outside of the tensor was reported.
static bool access_places(const runner *r, const block_statement *s, const block_access *access, places *p) {
  const block_tensor *tensor = &r->program->tensors[access->tensor];
  box_dim dim[BLOCK_RANK_MAX];
  for (int d = 0; d < access->rank; d++) {
    const block_access_dim *a = &access->dim[d];
    dim[d] = (box_dim){block_affine_at(&a->offset, r->iteration), a->step, a->size, a->extent, a->stride};
  }
  *p = places_of(dim, access->rank, block_affine_at(&access->base, r->iteration));
  for (int64_t e = 0; e < p->count; e++)
    if (p->at[e] != padding_place && (p->at[e] < 0 || p->at[e] >= tensor->elements)) {
      wf_error(r->diag, s->where, "element %" PRId64 " of '%s', which has %" PRId64, p->at[e], tensor->name,
               tensor->elements);
      return false;
    }
  return true;
}

// ---- memory

static int32_t read_tensor(const runner *r, int tensor, int64_t at) {
  const block_tensor *t = &r->program->tensors[tensor];
  if (t->contents != NULL) return t->contents[at];
  if (t->packed) return arch_packed_element(r->tensors[tensor], (uint32_t)at);
  if (t->type == BLOCK_I8) return ((const int8_t *)r->tensors[tensor])[at];
  return ((const int32_t *)r->tensors[tensor])[at];
}

static void write_tensor(const runner *r, int tensor, int64_t at, int32_t value) {
  if (r->program->tensors[tensor].type == BLOCK_I8)
    ((int8_t *)r->tensors[tensor])[at] = (int8_t)value;
  else
    ((int32_t *)r->tensors[tensor])[at] = value;
}

static void put(runner *r, int buffer, int64_t at, int32_t value) {
  r->buffers[buffer].values[at] = value;
  r->buffers[buffer].written[at] = true;
}

static bool check_written(const runner *r, const block_statement *s, const block_view *view) {
  places p = whole_view(r, view);
  bool ok = true;
  for (int64_t e = 0; e < p.count && ok; e++) ok = r->buffers[view->buffer].written[p.at[e]];
  wf_free(p.at);
  if (!ok)
    wf_error(r->diag, s->where, "reads elements of '%s' that nobody has written",
             r->program->buffers[view->buffer].name);
  return ok;
}

// ---- statements

static bool accumulates_now(const runner *r, const block_statement *s) {
  uint32_t loops = block_overwrite_first(s);
  bool later = block_accumulates(s);
  for (int l = 0; l < r->program->loop_count; l++) later |= (loops >> l & 1) != 0 && r->iteration[l] != 0;
  return later;
}

static bool run_load(runner *r, const block_statement *s) {
  int buffer = s->load.target.buffer;
  const int32_t *values = r->buffers[buffer].values;
  bool accumulate = accumulates_now(r, s);
  places from;
  bool ok = access_places(r, s, &s->load.access, &from);
  places to = whole_view(r, &s->load.target);
  assert(!ok || from.count == to.count);
  for (int64_t e = 0; ok && e < to.count; e++) {
    int32_t value = from.at[e] == padding_place ? 0 : read_tensor(r, s->load.access.tensor, from.at[e]);
    if (s->load.scaled) value = scale_to_i8(value, s->load.scale);
    put(r, buffer, to.at[e], accumulate ? add_i32(values[to.at[e]], value) : value);
  }
  wf_free(from.at);
  wf_free(to.at);
  return ok;
}

// One operand of a product as two tables: places of its leading dimensions and of its last one.
typedef struct matrix {
  places lead, last;
  const int32_t *values;
} matrix;

static matrix matrix_of(const runner *r, const block_view *view) {
  int rank = rank_of(r, view);
  return (matrix){view_places(r, view, 0, rank - 1), view_places(r, view, rank - 1, rank),
                  r->buffers[view->buffer].values};
}

static void free_matrix(matrix *m) {
  wf_free(m->lead.at);
  wf_free(m->last.at);
}

static int32_t sum_of_products(const matrix *a, bool a_transposed, const matrix *b, bool b_transposed, int64_t m,
                               int64_t n) {
  int32_t sum = 0;
  int64_t depth = a_transposed ? a->lead.count : a->last.count;
  for (int64_t k = 0; k < depth; k++) {
    int64_t a_at = a_transposed ? a->lead.at[k] + a->last.at[m] : a->lead.at[m] + a->last.at[k];
    int64_t b_at = b_transposed ? b->lead.at[n] + b->last.at[k] : b->lead.at[k] + b->last.at[n];
    sum = add_i32(sum, mul_i32(a->values[a_at], b->values[b_at]));
  }
  return sum;
}

// Of column n of a product of blocks.
static int32_t sum_in_block(const matrix *a, const matrix *b, int64_t m, int64_t n) {
  int32_t sum = 0;
  int64_t size = b->last.count, first = n / size * size, own = n / size % (b->lead.count / size) * size;
  for (int64_t k = 0; k < size && first + k < a->last.count; k++)
    sum = add_i32(sum, mul_i32(a->values[a->lead.at[m] + a->last.at[first + k]],
                               b->values[b->lead.at[own + k] + b->last.at[n - first]]));
  return sum;
}

static bool run_dot(runner *r, const block_statement *s) {
  matrix t = matrix_of(r, &s->dot.target), a = matrix_of(r, &s->dot.a), b = matrix_of(r, &s->dot.b);
  bool a_t = s->dot.a_transposed, b_t = s->dot.b_transposed, accumulate = accumulates_now(r, s);
  assert((a_t ? a.last.count : a.lead.count) == t.lead.count);
  assert(s->dot.blocks || (b_t ? b.lead.count : b.last.count) == t.last.count);
  assert(s->dot.blocks || (a_t ? a.lead.count : a.last.count) == (b_t ? b.last.count : b.lead.count));
  for (int64_t m = 0; m < t.lead.count; m++)
    for (int64_t n = 0; n < t.last.count; n++) {
      int64_t at = t.lead.at[m] + t.last.at[n];
      int32_t sum = s->dot.blocks ? sum_in_block(&a, &b, m, n) : sum_of_products(&a, a_t, &b, b_t, m, n);
      put(r, s->dot.target.buffer, at, accumulate ? add_i32(t.values[at], sum) : sum);
    }
  free_matrix(&t);
  free_matrix(&a);
  free_matrix(&b);
  return true;
}

static int32_t integer_op(block_op op, int32_t a, int32_t b) {
  switch (op) {
    case BLOCK_OP_ADD:
      return add_i32(a, b);
    case BLOCK_OP_SUB:
      return (int32_t)((uint32_t)a - (uint32_t)b);
    case BLOCK_OP_MUL:
      return mul_i32(a, b);
    case BLOCK_OP_MAX:
      return a > b ? a : b;
    case BLOCK_OP_MIN:
      return a < b ? a : b;
    default:
      return a;
  }
}

static int32_t float_op(block_op op, float a, float b) {
  switch (op) {
    case BLOCK_OP_ADD:
      return bits_of(a + b);
    case BLOCK_OP_SUB:
      return bits_of(a - b);
    case BLOCK_OP_MUL:
      return bits_of(a * b);
    case BLOCK_OP_MAX:
      return bits_of(a > b ? a : b);
    case BLOCK_OP_MIN:
      return bits_of(a < b ? a : b);
    default:
      return bits_of(a);
  }
}

static int32_t apply(block_op op, block_type type, int32_t a, int32_t b) {
  if (op == BLOCK_OP_SCALE) return bits_of((float)a * float_of(b));
  if (op == BLOCK_OP_TO_I8) return clip_i8(type == BLOCK_F32 ? round_to_i32(float_of(a)) : a);
  if (op == BLOCK_OP_TO_I32) return type == BLOCK_F32 ? round_to_i32(float_of(a)) : a;
  return type == BLOCK_F32 ? float_op(op, float_of(a), float_of(b)) : integer_op(op, a, b);
}

// The operand's elements, one per element of the target; for a number the number in each.
static int32_t *operand_values(const runner *r, const block_operand *operand, const block_view *target, bool as_float,
                               int64_t count) {
  int32_t *values = wf_alloc((size_t)count, sizeof *values);
  if (operand->is_number) {
    int32_t number = as_float ? bits_of((float)operand->number) : (int32_t)operand->number;
    for (int64_t e = 0; e < count; e++) values[e] = number;
    return values;
  }
  int rank = rank_of(r, target);
  block_view repeated = operand->view;
  for (int d = 0; d < rank; d++)
    if (repeated.dim[d].size == 1) repeated.dim[d].step = 0, repeated.dim[d].size = target->dim[d].size;
  places p = whole_view(r, &repeated);
  assert(p.count == count);
  for (int64_t e = 0; e < count; e++) values[e] = r->buffers[operand->view.buffer].values[p.at[e]];
  wf_free(p.at);
  return values;
}

// The type that an operation works in: its view's, or its target's.
static block_type operand_type(const block_program *program, const block_statement *s) {
  const block_operand *a = &s->elementwise.a, *b = &s->elementwise.b;
  if (!a->is_number) return program->buffers[a->view.buffer].type;
  if (block_op_arity(s->elementwise.op) == 2 && !b->is_number) return program->buffers[b->view.buffer].type;
  return program->buffers[s->elementwise.target.buffer].type;
}

static bool run_elementwise(runner *r, const block_statement *s) {
  block_op op = s->elementwise.op;
  block_type type = operand_type(r->program, s);
  places to = whole_view(r, &s->elementwise.target);
  int32_t *a = operand_values(r, &s->elementwise.a, &s->elementwise.target, type == BLOCK_F32, to.count), *b = NULL;
  if (block_op_arity(op) == 2)
    b = operand_values(r, &s->elementwise.b, &s->elementwise.target, type == BLOCK_F32 || op == BLOCK_OP_SCALE,
                       to.count);
  for (int64_t e = 0; e < to.count; e++)
    put(r, s->elementwise.target.buffer, to.at[e], apply(op, type, a[e], b == NULL ? 0 : b[e]));
  wf_free(a);
  wf_free(b);
  wf_free(to.at);
  return true;
}

// What a store takes its elements from.
typedef struct source {
  places places;
  const int32_t *values;
  int64_t size[BLOCK_RANK_MAX];
  places by;  // of a gate
  const int32_t *factors;
} source;

static int32_t leaving(const block_epilogue *e, int32_t value) {
  if (e->relu && value < 0) value = 0;
  return e->scaled ? scale_to_i8(value, e->scale) : value;
}

// The largest of a window around place (n, row, column, channel) of the results; what lies outside counts as zero.
// `before`: rows and columns of the source that lie before the image.
static int32_t pooled(const source *from, const block_epilogue *e, const int64_t *result, const int64_t *before) {
  int32_t best = INT32_MIN;
  for (int64_t w = 0; w < (int64_t)e->pool.size * e->pool.size; w++) {
    int64_t row = result[1] * e->pool.stride + w / e->pool.size - e->pool.upper_padding;
    int64_t column = result[2] * e->pool.stride + w % e->pool.size - e->pool.left_padding;
    bool inside = row >= before[0] && row < from->size[1] && column >= before[1] && column < from->size[2];
    int64_t element = ((result[0] * from->size[1] + row) * from->size[2] + column) * from->size[3] + result[3];
    int32_t value = inside ? leaving(e, from->values[from->places.at[element]]) : 0;
    if (value > best) best = value;
  }
  return best;
}

static void run_pooled(runner *r, const block_statement *s, const source *from, const places *to) {
  const block_access *access = &s->store.access;
  const int64_t before[2] = {block_before_image(s, 1, r->iteration), block_before_image(s, 2, r->iteration)};
  for (int64_t e = 0; e < to->count; e++) {
    int64_t result[4], rest = e;
    for (int d = 3; d >= 0; rest /= access->dim[d].size, d--) result[d] = rest % access->dim[d].size;
    if (to->at[e] != padding_place)
      write_tensor(r, access->tensor, to->at[e], pooled(from, &s->store.epilogue, result, before));
  }
}

// Element e of a store, behind its epilogue; padding is not written.
static void write_element(const runner *r, const block_statement *s, const source *from, const places *to, int64_t e,
                          int32_t value) {
  if (to->at[e] == padding_place) return;
  if (s->store.gated) value = scale_to_i8(value * from->factors[from->by.at[e]], s->store.gate_scale);
  write_tensor(r, s->store.access.tensor, to->at[e], value);
}

// Of the rows' own statistics, or of those of other rows.
static void run_rows(const runner *r, const block_statement *s, const source *from, const places *to) {
  const block_view *of = s->store.apart ? &s->store.statistics : &s->store.source;
  const places others = whole_view(r, of);
  const int32_t *values = r->buffers[of->buffer].values;
  const block_access *access = &s->store.access;
  const int64_t columns = access->dim[access->rank - 1].size;
  const int64_t rows = access->rank == 1 ? 1 : access->dim[access->rank - 2].size;
  int32_t *row = wf_alloc((size_t)columns, sizeof *row), *other = wf_alloc((size_t)columns, sizeof *other);
  int8_t *left = wf_alloc((size_t)columns, sizeof *left);
  for (int64_t first = 0; first < to->count; first += columns) {
    for (int64_t c = 0; c < columns; c++) row[c] = from->values[from->places.at[first + c]];
    for (int64_t c = 0; c < columns; c++) other[c] = values[others.at[first + c]];
    const int64_t length = block_length_of(&s->store.lengths, first / columns % rows, columns, r->iteration);
    for (int64_t c = length; c < columns; c++) left[c] = 0;
    block_norm_row(&s->store.epilogue, row, other, (uint32_t)length, left);
    for (int64_t c = 0; c < columns; c++) write_element(r, s, from, to, first + c, left[c]);
  }
  wf_free(row);
  wf_free(other);
  wf_free(others.at);
  wf_free(left);
}

static bool run_store(runner *r, const block_statement *s) {
  const block_view *view = &s->store.source;
  places to;
  bool ok = access_places(r, s, &s->store.access, &to);
  source from = {.places = whole_view(r, view), .values = r->buffers[view->buffer].values};
  for (int d = 0; d < rank_of(r, view); d++) from.size[d] = view->dim[d].size;
  if (s->store.gated) {
    from.by = whole_view(r, &s->store.factors);
    from.factors = r->buffers[s->store.factors.buffer].values;
  }
  if (ok && s->store.epilogue.pool.stride != 0) {
    run_pooled(r, s, &from, &to);
  } else if (ok && s->store.epilogue.norm.kind != BLOCK_NO_NORM) {
    run_rows(r, s, &from, &to);
  } else if (ok) {
    assert(to.count == from.places.count);
    for (int64_t e = 0; e < to.count; e++)
      write_element(r, s, &from, &to, e, leaving(&s->store.epilogue, from.values[from.places.at[e]]));
  }
  wf_free(to.at);
  wf_free(from.places.at);
  wf_free(from.by.at);
  return ok;
}

static bool run_list(runner *r, block_statement *list);

static bool run_for(runner *r, const block_statement *s) {
  const block_loop *loop = &r->program->loops[s->loop.loop];
  int64_t before = loop->split_of == BLOCK_NONE ? 0 : r->iteration[loop->split_of] * loop->trips;
  int64_t trips = loop->trips;
  if (loop->split_of != BLOCK_NONE && loop->limit - before < trips) trips = loop->limit - before;
  bool ok = true;
  for (int64_t i = 0; ok && i < trips; i++) {
    r->iteration[s->loop.loop] = i;
    ok = run_list(r, s->loop.body);
  }
  r->iteration[s->loop.loop] = 0;
  return ok;
}

static bool reads_what_is_written(runner *r, block_statement *s) {
  block_view *views[BLOCK_VIEWS_MAX];
  int count = block_views(s, views);
  for (int v = block_has_target(s) && !accumulates_now(r, s) ? 1 : 0; v < count; v++)
    if (!check_written(r, s, views[v])) return false;
  return true;
}

static bool run_list(runner *r, block_statement *list) {
  static bool (*const run[])(runner *, const block_statement *) = {[BLOCK_FOR] = run_for,
                                                                   [BLOCK_LOAD] = run_load,
                                                                   [BLOCK_DOT] = run_dot,
                                                                   [BLOCK_ELEMENTWISE] = run_elementwise,
                                                                   [BLOCK_STORE] = run_store};
  for (; list != NULL; list = list->next)
    if (!reads_what_is_written(r, list) || !run[list->kind](r, list)) return false;
  return true;
}

bool block_run(const block_program *program, void *const *tensors, wf_diag *diag) {
  runner r = {.program = program, .tensors = tensors, .diag = diag};
  r.buffers = WF_NEW_ARRAY((size_t)program->buffer_count + 1, storage);
  for (int b = 0; b < program->buffer_count; b++) {
    size_t count = 1;
    for (int d = 0; d < program->buffers[b].rank; d++) count *= (size_t)program->buffers[b].size[d];
    r.buffers[b] = (storage){WF_NEW_ARRAY(count, int32_t), WF_NEW_ARRAY(count, bool)};
  }
  bool ok = run_list(&r, program->body);
  for (int b = 0; b < program->buffer_count; b++) {
    wf_free(r.buffers[b].values);
    wf_free(r.buffers[b].written);
  }
  wf_free(r.buffers);
  return ok;
}
