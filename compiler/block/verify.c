// SPDX-License-Identifier: Apache-2.0
// Whether a block program is well formed. Each violation is reported where the statement stands.
//
// First what each statement says on its own: names, ranks, types, sizes, and that no index leaves its buffer or tensor.
// If that holds, verify_flow.c looks at the order: what is read was written, and iterations of parallel loops do not
// meet.
#include "compiler/block/verify.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/block/range.h"

typedef struct verifier {
  const block_program *program;
  wf_diag *diag;
  uint32_t open;  // loops around the statement
  bool ok;
} verifier;

#define VIOLATION(v, where, ...)             \
  do {                                       \
    wf_error((v)->diag, where, __VA_ARGS__); \
    (v)->ok = false;                         \
  } while (false)

static const wf_location nowhere = {0};

// ---- declarations

static bool is_name(const char *name) {
  if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
  for (; *name != '\0'; name++)
    if (!isalnum((unsigned char)*name) && *name != '_') return false;
  return true;
}

// `table` has structs of `size` bytes that begin with their name.
static void check_names(verifier *v, const char *what, const void *table, int count, size_t size) {
  for (int i = 0; i < count; i++) {
    const char *name;
    memcpy(&name, (const char *)table + (size_t)i * size, sizeof name);
    if (!is_name(name)) VIOLATION(v, nowhere, "'%s' is no name for a %s", name, what);
    for (int j = 0; j < i; j++) {
      const char *other;
      memcpy(&other, (const char *)table + (size_t)j * size, sizeof other);
      if (strcmp(name, other) == 0) VIOLATION(v, nowhere, "two %ss are named '%s'", what, name);
    }
  }
}

static void check_loop(verifier *v, const block_loop *loop) {
  if (loop->trips < 1) VIOLATION(v, nowhere, "loop '%s' has %" PRId64 " trips", loop->name, loop->trips);
  if (loop->split_of == BLOCK_NONE) return;
  const block_loop *outer = &v->program->loops[loop->split_of];
  if (loop == outer || loop->limit > block_times(outer->trips, loop->trips) ||
      loop->limit <= block_times(outer->trips - 1, loop->trips))
    VIOLATION(v, nowhere, "loop '%s' of %" PRId64 " in '%s' of %" PRId64 " cannot have the limit %" PRId64, loop->name,
              loop->trips, outer->name, outer->trips, loop->limit);
}

static void check_buffer(verifier *v, const block_buffer *buffer) {
  int64_t elements = 1;
  for (int d = 0; d < buffer->rank; d++) {
    if (buffer->size[d] < 1 || buffer->size[d] > INT32_MAX / elements) {
      VIOLATION(v, nowhere, "buffer '%s' has the size %" PRId64 " in dimension %d", buffer->name, buffer->size[d], d);
      return;
    }
    elements *= buffer->size[d];
  }
  if (buffer->depth < 1) VIOLATION(v, nowhere, "buffer '%s' has no slot", buffer->name);
  bool fits = buffer->scope == BLOCK_UNPLACED || buffer->type == (buffer->scope == BLOCK_SP ? BLOCK_I8 : BLOCK_I32);
  if (!fits) VIOLATION(v, nowhere, "buffer '%s' has a type that its memory does not hold", buffer->name);
}

static void check_declarations(verifier *v) {
  const block_program *p = v->program;
  check_names(v, "tensor", p->tensors, p->tensor_count, sizeof *p->tensors);
  check_names(v, "loop", p->loops, p->loop_count, sizeof *p->loops);
  check_names(v, "buffer", p->buffers, p->buffer_count, sizeof *p->buffers);
  for (int t = 0; t < p->tensor_count; t++) {
    if (p->tensors[t].type == BLOCK_F32)
      VIOLATION(v, nowhere, "tensor '%s' is of float32, which no load or store takes", p->tensors[t].name);
    if (p->tensors[t].elements < 1) VIOLATION(v, nowhere, "tensor '%s' is empty", p->tensors[t].name);
    if (p->tensors[t].contents != NULL && (p->tensors[t].type != BLOCK_I8 || p->tensors[t].written))
      VIOLATION(v, nowhere, "tensor '%s' is a constant, which has int8 elements and is not written",
                p->tensors[t].name);
    if (p->tensors[t].packed &&
        (p->tensors[t].type != BLOCK_I8 || p->tensors[t].written || p->tensors[t].contents != NULL))
      VIOLATION(v, nowhere,
                "tensor '%s' is packed: the array unpacks only int8 tensors that the caller gives and no kernel writes",
                p->tensors[t].name);
  }
  for (int l = 0; l < p->loop_count; l++) check_loop(v, &p->loops[l]);
  for (int b = 0; b < p->buffer_count; b++) check_buffer(v, &p->buffers[b]);
}

// ---- views and accesses

static void check_index(verifier *v, const block_statement *s, const block_affine *affine) {
  uint32_t closed = block_affine_loops(affine) & ~v->open;
  for (int l = 0; closed != 0 && l < v->program->loop_count; l++)
    if ((closed >> l & 1) != 0) VIOLATION(v, s->where, "uses loop '%s' outside of it", v->program->loops[l].name);
}

// The first and the last index of a dimension.
static block_range extent_of(const verifier *v, const block_affine *offset, int64_t size, int64_t step) {
  block_range range = block_affine_range(v->program, offset);
  range.max = block_plus(range.max, block_times(size - 1, step));
  return range;
}

static void check_view(verifier *v, const block_statement *s, const block_view *view) {
  const block_buffer *buffer = &v->program->buffers[view->buffer];
  for (int d = 0; d < buffer->rank; d++) {
    const block_view_dim *dim = &view->dim[d];
    check_index(v, s, &dim->offset);
    block_range range = extent_of(v, &dim->offset, dim->size, dim->step);
    if (dim->step < 1 || dim->size < 1)
      VIOLATION(v, s->where, "a view of '%s' has size %" PRId64 " and step %" PRId64, buffer->name, dim->size,
                dim->step);
    else if (range.min < 0 || range.max >= buffer->size[d])
      VIOLATION(v, s->where, "elements %" PRId64 " to %" PRId64 " in dimension %d of '%s', which has %" PRId64,
                range.min, range.max, d, buffer->name, buffer->size[d]);
  }
}

static void check_access(verifier *v, const block_statement *s, const block_access *access) {
  const block_tensor *tensor = &v->program->tensors[access->tensor];
  check_index(v, s, &access->base);
  block_range place = block_affine_range(v->program, &access->base);
  for (int d = 0; d < access->rank; d++) {
    const block_access_dim *dim = &access->dim[d];
    check_index(v, s, &dim->offset);
    if (dim->step < 1 || dim->size < 1 || dim->extent < 1 || dim->stride < 0) {
      VIOLATION(v, s->where, "dimension %d of an access to '%s' has an impossible size", d, tensor->name);
      return;
    }
    block_range range = extent_of(v, &dim->offset, dim->size, dim->step);
    if (range.min <= -BLOCK_FAR / 4 || range.max >= BLOCK_FAR / 4) {
      VIOLATION(v, s->where, "dimension %d of an access to '%s' goes too far", d, tensor->name);
      return;
    }
    if (range.min >= dim->extent || range.max < 0) return;  // nothing but padding
    place.min = block_plus(place.min, block_times(range.min < 0 ? 0 : range.min, dim->stride));
    place.max = block_plus(place.max, block_times(range.max >= dim->extent ? dim->extent - 1 : range.max, dim->stride));
  }
  if (place.min < 0 || place.max >= tensor->elements)
    VIOLATION(v, s->where, "elements %" PRId64 " to %" PRId64 " of '%s', which has %" PRId64, place.min, place.max,
              tensor->name, tensor->elements);
}

// ---- statements

static block_type type_of(const verifier *v, const block_view *view) { return v->program->buffers[view->buffer].type; }
static int rank_of(const verifier *v, const block_view *view) { return v->program->buffers[view->buffer].rank; }

static void check_sizes(verifier *v, const block_statement *s, const block_access *access, const block_view *view) {
  bool same = access->rank == rank_of(v, view);
  for (int d = 0; same && d < access->rank; d++) same = access->dim[d].size == view->dim[d].size;
  if (!same)
    VIOLATION(v, s->where, "'%s' and '%s' differ in rank or size", v->program->tensors[access->tensor].name,
              v->program->buffers[view->buffer].name);
}

static void check_sum_over(verifier *v, const block_statement *s) {
  if (block_overwrite_first(s) != 0 && block_accumulates(s))
    VIOLATION(v, s->where, "accumulates, so that no iteration can overwrite");
  for (int l = 0; l < v->program->loop_count; l++)
    if ((block_overwrite_first(s) >> l & 1) != 0 && v->program->loops[l].parallel)
      VIOLATION(v, s->where, "needs the first iteration of '%s', which is parallel", v->program->loops[l].name);
  if ((block_overwrite_first(s) & ~v->open) != 0) VIOLATION(v, s->where, "sums over a loop that is not around it");
}

static void check_load(verifier *v, const block_statement *s) {
  const block_tensor *tensor = &v->program->tensors[s->load.access.tensor];
  block_type target = type_of(v, &s->load.target);
  check_sizes(v, s, &s->load.access, &s->load.target);
  check_sum_over(v, s);
  if (!tensor->read) VIOLATION(v, s->where, "loads from '%s', which is not read", tensor->name);
  if (target == BLOCK_F32 || (target == BLOCK_I8 && tensor->type != BLOCK_I8))
    VIOLATION(v, s->where, "%s does not go into a block of %s", block_type_names[tensor->type],
              block_type_names[target]);
  if ((s->load.accumulate || s->load.overwrite_first != 0) && target != BLOCK_I32)
    VIOLATION(v, s->where, "only blocks of i32 accumulate");
  if (s->load.scaled && (tensor->type != BLOCK_I8 || !isfinite(s->load.scale)))
    VIOLATION(v, s->where, "only i8 is scaled when it is loaded, by a finite number");
}

static int64_t leading(const verifier *v, const block_view *view) {
  int64_t count = 1;
  for (int d = 0; d < rank_of(v, view) - 1; d++) count = block_times(count, view->dim[d].size);
  return count;
}

static int64_t last(const verifier *v, const block_view *view) { return view->dim[rank_of(v, view) - 1].size; }

static void check_dot(verifier *v, const block_statement *s) {
  const block_view *t = &s->dot.target, *a = &s->dot.a, *b = &s->dot.b;
  int64_t m = s->dot.a_transposed ? last(v, a) : leading(v, a), k = s->dot.a_transposed ? leading(v, a) : last(v, a);
  int64_t k_b = s->dot.b_transposed ? last(v, b) : leading(v, b), n = s->dot.b_transposed ? leading(v, b) : last(v, b);
  check_sum_over(v, s);
  if (s->dot.blocks) {
    const int64_t count = k_b / n, side = b->dim[rank_of(v, b) - 2].size;
    if (m != leading(v, t) || k != last(v, t) || side != n || (count != 1 && count != (k + n - 1) / n) ||
        s->dot.a_transposed || s->dot.b_transposed)
      VIOLATION(v, s->where,
                "a product of blocks takes a square of columns, or one for each block of them, and operands as they "
                "are; the result has the size of the first");
  } else if (m != leading(v, t) || n != last(v, t) || k != k_b)
    VIOLATION(v, s->where,
              "a product of %" PRId64 " x %" PRId64 " and %" PRId64 " x %" PRId64 " is not %" PRId64 " x %" PRId64, m,
              k, k_b, n, leading(v, t), last(v, t));
  if (type_of(v, t) != BLOCK_I32 || type_of(v, a) != BLOCK_I8 || type_of(v, b) != BLOCK_I8)
    VIOLATION(v, s->where, "a product is i32 = i8 * i8");
}

static void check_operand(verifier *v, const block_statement *s, const block_operand *operand, block_type type) {
  const block_view *target = &s->elementwise.target;
  if (operand->is_number) {
    double number = operand->number, limit = type == BLOCK_I8 ? INT8_MAX : INT32_MAX;
    bool fits =
        type == BLOCK_F32 ? isfinite((float)number) : number >= -limit - 1 && number <= limit && number == rint(number);
    if (!fits) VIOLATION(v, s->where, "%.17g is no %s", number, block_type_names[type]);
    return;
  }
  bool same = rank_of(v, &operand->view) == rank_of(v, target);
  for (int d = 0; same && d < rank_of(v, target); d++)
    same = operand->view.dim[d].size == target->dim[d].size || operand->view.dim[d].size == 1;
  if (!same)
    VIOLATION(v, s->where, "'%s' cannot be repeated to the size of '%s'",
              v->program->buffers[operand->view.buffer].name, v->program->buffers[target->buffer].name);
}

// Types of operand a and of the target that an operation takes; b is of a's type, or a number.
static bool takes(block_op op, block_type a, block_type target) {
  switch (op) {
    case BLOCK_OP_COPY:
    case BLOCK_OP_MAX:
    case BLOCK_OP_MIN:
      return a == target;
    case BLOCK_OP_ADD:
    case BLOCK_OP_SUB:
    case BLOCK_OP_MUL:
      return a == target && a != BLOCK_I8;
    case BLOCK_OP_SCALE:
      return a != BLOCK_F32 && target == BLOCK_F32;
    case BLOCK_OP_TO_I8:
      return a != BLOCK_I8 && target == BLOCK_I8;
    case BLOCK_OP_TO_I32:
      return a != BLOCK_I32 && target == BLOCK_I32;
    case BLOCK_OP_COUNT:
      break;
  }
  return false;
}

static void check_elementwise(verifier *v, const block_statement *s) {
  block_op op = s->elementwise.op;
  const block_operand *a = &s->elementwise.a, *b = &s->elementwise.b;
  block_type target = type_of(v, &s->elementwise.target);
  bool binary = block_op_arity(op) == 2;
  block_type type = !a->is_number ? type_of(v, &a->view) : binary && !b->is_number ? type_of(v, &b->view) : target;
  check_operand(v, s, a, type);
  if (binary) check_operand(v, s, b, op == BLOCK_OP_SCALE ? BLOCK_F32 : type);
  bool number = a->is_number && (!binary || b->is_number);
  if (!takes(op, type, target) || (number && op != BLOCK_OP_COPY) ||
      (op == BLOCK_OP_SCALE && (a->is_number || !b->is_number)) ||
      (binary && op != BLOCK_OP_SCALE && !b->is_number && type_of(v, &b->view) != type))
    VIOLATION(v, s->where, "'%s' does not take these types", block_op_names[op]);
}

static void check_pool(verifier *v, const block_statement *s) {
  const block_pool *pool = &s->store.epilogue.pool;
  const block_access *access = &s->store.access;
  bool ok = access->rank == 4 && rank_of(v, &s->store.source) == 4 && pool->size >= 1;
  for (int d = 0; ok && d < 4; d++) {
    int64_t size = s->store.source.dim[d].size, pooled = access->dim[d].size,
            padding = d == 1 ? pool->upper_padding : pool->left_padding;
    ok = pool->border == 0 || d == 0 || d == 3 || (pool->border < pool->size && access->dim[d].step == 1);
    ok = ok && (d == 0 || d == 3 ? size == pooled
                                 : padding < pool->size && block_times(pooled - 1, pool->stride) - padding < size);
  }
  if (!ok)
    VIOLATION(v, s->where, "the sizes of '%s' do not fit the pooling",
              v->program->buffers[s->store.source.buffer].name);
}

static void check_gelu(verifier *v, const block_statement *s) {
  const block_epilogue *e = &s->store.epilogue;
  if (e->relu || e->pool.stride != 0 || !e->scaled || e->norm.b >= 0 || e->norm.c >= 0)
    VIOLATION(v, s->where, "gelu leaves scaled, without relu and pool, with constants below 0");
}

// Rows are normalised as a whole, so they are whole.
static void check_rows(verifier *v, const block_statement *s) {
  const block_epilogue *e = &s->store.epilogue;
  const int last = s->store.access.rank - 1;
  const block_buffer *buffer = &v->program->buffers[s->store.source.buffer];
  const bool whole = buffer->rank == last + 1 && s->store.source.dim[last].size == buffer->size[last];
  const block_buffer *other =
      &v->program->buffers[s->store.apart ? s->store.statistics.buffer : s->store.source.buffer];
  bool alike = other->type == buffer->type && other->rank == buffer->rank;
  for (int d = 0; d <= last && s->store.apart && alike; d++)
    alike = other->size[d] == buffer->size[d] && s->store.statistics.dim[d].size == s->store.source.dim[d].size;
  if (!alike) VIOLATION(v, s->where, "statistics are of rows of the same size");
  if (!whole || e->relu || e->pool.stride != 0 || !e->scaled || e->scale != 1)
    VIOLATION(v, s->where, "%s is for whole rows, without relu, scale and pool", block_norm_names[e->norm.kind]);
}

// At least one column counts in every row.
static void check_lengths(verifier *v, const block_statement *s) {
  const block_lengths *lengths = &s->store.lengths;
  const int last = s->store.access.rank - 1;
  if (lengths->most == 0) return;
  check_index(v, s, &lengths->first);
  const int64_t rows = last == 0 ? 1 : s->store.source.dim[last - 1].size;
  block_range range = block_affine_range(v->program, &lengths->first);
  const bool far = range.min <= -BLOCK_FAR / 4 || range.max >= BLOCK_FAR / 4 || lengths->step > INT32_MAX ||
                   lengths->step < -INT32_MAX;
  range.min = block_plus(range.min, lengths->step < 0 ? block_times(lengths->step, rows - 1) : 0);
  if (s->store.epilogue.norm.kind != BLOCK_SOFTMAX || lengths->most < 1 ||
      lengths->most > s->store.source.dim[last].size)
    VIOLATION(v, s->where, "columns that count are some of the rows of softmax");
  else if (far)
    VIOLATION(v, s->where, "columns that count go too far");
  else if (range.min < 1)
    VIOLATION(v, s->where, "a row of which %" PRId64 " columns count has no softmax", range.min);
}

static void check_gate(verifier *v, const block_statement *s) {
  const block_epilogue *e = &s->store.epilogue;
  const block_view *factors = &s->store.factors;
  bool alike = type_of(v, factors) == BLOCK_I8 && rank_of(v, factors) == rank_of(v, &s->store.source);
  for (int d = 0; alike && d < rank_of(v, factors); d++) alike = factors->dim[d].size == s->store.source.dim[d].size;
  if (!alike) VIOLATION(v, s->where, "a gate takes factors of i8, as many as leave");
  if (!e->scaled || e->pool.stride != 0 || block_norm_is_of_rows(e->norm.kind) || !isfinite(s->store.gate_scale))
    VIOLATION(v, s->where, "a gate is for what leaves scaled, without pool and rows of the normaliser");
}

static void check_store(verifier *v, const block_statement *s) {
  const block_tensor *tensor = &v->program->tensors[s->store.access.tensor];
  const block_epilogue *e = &s->store.epilogue;
  block_type source = type_of(v, &s->store.source);
  if (e->pool.stride == 0)
    check_sizes(v, s, &s->store.access, &s->store.source);
  else
    check_pool(v, s);
  if (block_norm_is_of_rows(e->norm.kind)) check_rows(v, s);
  check_lengths(v, s);
  if (e->norm.kind == BLOCK_GELU) check_gelu(v, s);
  if (s->store.gated) check_gate(v, s);
  if (!tensor->written) VIOLATION(v, s->where, "stores to '%s', which is not written", tensor->name);
  if (e->scaled && (source != BLOCK_I32 || !isfinite(e->scale)))
    VIOLATION(v, s->where, "only i32 is scaled when it is stored, by a finite number");
  if (source == BLOCK_F32 || (e->scaled ? BLOCK_I8 : source) != tensor->type)
    VIOLATION(v, s->where, "a block of %s does not leave as %s", block_type_names[source],
              block_type_names[tensor->type]);
}

static void check_list(verifier *v, block_statement *list);

static void check_for(verifier *v, const block_statement *s) {
  uint32_t bit = UINT32_C(1) << s->loop.loop;
  const block_loop *loop = &v->program->loops[s->loop.loop];
  if ((v->open & bit) != 0) VIOLATION(v, s->where, "loop '%s' inside of itself", loop->name);
  if (loop->split_of != BLOCK_NONE && (v->open >> loop->split_of & 1) == 0)
    VIOLATION(v, s->where, "loop '%s' is not inside of '%s', which it is a part of", loop->name,
              v->program->loops[loop->split_of].name);
  uint32_t open = v->open;
  v->open |= bit;
  check_list(v, s->loop.body);
  v->open = open;
}

static void check_list(verifier *v, block_statement *list) {
  static void (*const check[])(verifier *, const block_statement *) = {[BLOCK_FOR] = check_for,
                                                                       [BLOCK_LOAD] = check_load,
                                                                       [BLOCK_DOT] = check_dot,
                                                                       [BLOCK_ELEMENTWISE] = check_elementwise,
                                                                       [BLOCK_STORE] = check_store};
  for (; list != NULL; list = list->next) {
    block_view *views[BLOCK_VIEWS_MAX];
    int count = block_views(list, views);
    for (int i = 0; i < count; i++) check_view(v, list, views[i]);
    if (block_memory(list) != NULL) check_access(v, list, block_memory(list));
    check[list->kind](v, list);
  }
}

bool block_verify(const block_program *program, wf_diag *diag) {
  verifier v = {.program = program, .diag = diag, .ok = true};
  check_declarations(&v);
  if (v.ok) check_list(&v, program->body);
  return v.ok && block_verify_flow(program, diag);
}
