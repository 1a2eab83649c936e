// Element-wise chains around sums become what the accelerator does on the way in and out.
//
// Each list of statements is run on symbols (fuse_value.h): a buffer has a number, loaded elements or a sum of products
// and loads with an epilogue. A store asks what its block stands for, and the sum is made the way the hardware makes
// it:
//
//   load acc = bias; load acc += residual        loads outside of the sum's loops, the first one overwrites
//   for k { dot acc += a * b }                   products (and loads in loops) stay in place and accumulate; without
//                                                loads before it the first of them overwrites in its first iteration
//   store c = acc relu scale 0.1                 what happened to the sum is the store's epilogue
//
// Everything else of the chain goes away. A chain that is none of this is refused where it stands.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/passes/fuse_value.h"
#include "compiler/passes/passes.h"

// What became of a load or product: kept as it is (operand, or stored as it came), or part of a sum.
typedef struct use {
  const block_statement *statement;
  bool kept, scaled;
  float scale;
  int accumulator;         // of the sum, or BLOCK_NONE
  const fuse_term *terms;  // of the sum
} use;

typedef struct fuser {
  block_program *program;
  fuse_value *value;   // of each buffer
  bool *accumulators;  // buffers that sums were given
  use *uses;
  size_t use_count, use_room;
  fuse_context c;
} fuser;

static bool refuse(fuser *f, wf_location where, const char *what, const char *hint) {
  wf_error(f->c.diag, where, "%s", what);
  wf_hint(f->c.diag, "%s", hint);
  return false;
}

static use *use_of(fuser *f, const block_statement *statement) {
  for (size_t u = 0; u < f->use_count; u++)
    if (f->uses[u].statement == statement) return &f->uses[u];
  use *added = WF_ARENA_PUSH(f->c.arena, f->uses, f->use_count, &f->use_room);
  *added = (use){.statement = statement, .accumulator = BLOCK_NONE};
  return added;
}

// ---- values of views

static bool is_whole(fuser *f, const block_statement *s, const block_view *view) {
  if (block_is_whole(f->program, view)) return true;
  wf_error(f->c.diag, s->where, "a part of the block '%s' cannot be used on its own",
           f->program->buffers[view->buffer].name);
  wf_hint(f->c.diag, "load or compute the part as a block");
  return false;
}

static bool is_loads_only(const fuse_value *v) {
  if (v->kind == FUSE_NUMBER || v->kind == FUSE_LOADED) return true;
  if (v->kind != FUSE_SUM || v->sum.carried != BLOCK_NONE || v->relu || v->scaled) return false;
  for (int t = 0; t < v->sum.count; t++)
    if (v->sum.terms[t].statement->kind != BLOCK_LOAD || v->sum.terms[t].loops != 0) return false;
  return true;
}

static bool is_same_size(const fuser *f, int a, int b) {
  const block_buffer *x = &f->program->buffers[a], *y = &f->program->buffers[b];
  return x->rank == y->rank && memcmp(x->size, y->size, (size_t)x->rank * sizeof *x->size) == 0;
}

static bool value_of(fuser *f, const block_statement *s, const block_operand *operand, fuse_value *v) {
  const block_view *target = &s->elementwise.target;
  if (operand->is_number) {
    *v = fuse_number(operand->number, f->program->buffers[target->buffer].type);
    return true;
  }
  const char *name = f->program->buffers[operand->view.buffer].name;
  if (!is_whole(f, s, &operand->view)) return false;
  *v = f->value[operand->view.buffer];
  if (v->kind == FUSE_NOTHING) {
    wf_error(f->c.diag, s->where, "'%s' has no value here that outlives the loop which sets it", name);
    return false;
  }
  if (is_same_size(f, operand->view.buffer, target->buffer) || is_loads_only(v)) return true;
  wf_error(f->c.diag, s->where, "'%s' is repeated over a larger block, which only loaded blocks can be", name);
  return false;
}

// ---- sums

static bool is_in_place(const fuse_term *term) { return term->loops != 0 || term->statement->kind == BLOCK_DOT; }

// The first term of a list in the order of execution that stays in place, or NULL.
static const fuse_term *first_in_place(const fuse_sum *sum, const block_statement *list) {
  for (; list != NULL; list = list->next) {
    const fuse_term *inner = list->kind == BLOCK_FOR ? first_in_place(sum, list->loop.body) : NULL;
    if (inner != NULL) return inner;
    for (int t = 0; t < sum->count; t++)
      if (sum->terms[t].statement == list && is_in_place(&sum->terms[t])) return &sum->terms[t];
  }
  return NULL;
}

static bool stores_to(const block_statement *list, int tensor) {
  for (; list != NULL; list = list->next)
    if ((list->kind == BLOCK_STORE && list->store.access.tensor == tensor) ||
        (list->kind == BLOCK_FOR && stores_to(list->loop.body, tensor)))
      return true;
  return false;
}

static bool statement_stores_to(const block_statement *s, int tensor) {
  block_statement alone = *s;
  alone.next = NULL;
  return stores_to(&alone, tensor);
}

// Whether a load may move to the place in front of `to`: nobody stores to its tensor in between.
static bool can_move(const fuser *f, const block_statement *list, const block_statement *load,
                     const block_statement *to) {
  int tensor = load->load.access.tensor, met = 0;
  if (!stores_to(f->program->body, tensor)) return true;
  for (const block_statement *s = list; s != NULL && met < 2; s = s->next) {
    met += (s == load) + (s == to);
    if (met == 1 && statement_stores_to(s, tensor)) return false;
  }
  return met == 2;
}

// The access of a block with size 1 in a dimension where the accumulator has more: the element is repeated.
static bool spread(fuser *f, const block_statement *load, const block_buffer *to, block_access *access) {
  for (int d = 0; d < to->rank; d++) {
    block_access_dim *dim = &access->dim[d];
    if (dim->size == to->size[d]) continue;
    bool always_inside =
        block_affine_is_constant(&dim->offset) && dim->offset.constant >= 0 && dim->offset.constant < dim->extent;
    if (access->rank != to->rank || dim->size != 1 || !always_inside)
      return refuse(f, load->where, "a repeated block must be one element wide, and this inside of its tensor",
                    "give it offset 0 in this dimension");
    access->base = block_affine_add(access->base, block_constant(dim->offset.constant * dim->stride));
    *dim = (block_access_dim){.step = 1, .size = to->size[d], .extent = to->size[d]};
  }
  return true;
}

static int accumulator_for(fuser *f, const fuse_term *in_place, int stored) {
  const block_buffer *like = &f->program->buffers[stored];
  if (in_place != NULL) {
    block_view *views[BLOCK_VIEWS_MAX];
    block_views(in_place->statement, views);
    int own = views[0]->buffer;
    if (!f->accumulators[own] && f->program->buffers[own].type == BLOCK_I32 && is_same_size(f, own, stored)) return own;
  }
  int64_t size[BLOCK_RANK_MAX];
  memcpy(size, like->size, sizeof size);
  return block_add_buffer(f->program, block_fresh_name(f->program, "sum", ""), BLOCK_I32, like->rank, size);
}

// Gives the statements of a sum that stay in place to its accumulator.
static bool claim(fuser *f, const fuse_sum *sum, const fuse_term *first, bool overwrite, int accumulator) {
  const block_view whole = block_whole(f->program, accumulator);
  for (int t = 0; t < sum->count; t++) {
    const fuse_term *term = &sum->terms[t];
    block_statement *s = term->statement;
    if (!is_in_place(term)) continue;
    use *u = use_of(f, s);
    if (u->kept || u->accumulator != BLOCK_NONE)
      return refuse(f, s->where, "this block goes into two different results", "compute it for each of them");
    u->accumulator = accumulator;
    u->terms = sum->terms;
    bool overwrites = overwrite && term == first;
    uint32_t loops = overwrites ? term->loops : 0;
    if (s->kind == BLOCK_DOT) {
      s->dot.target = whole;
      s->dot.accumulate = !overwrites;
      s->dot.overwrite_first = loops;
    } else {
      s->load.target = whole;
      s->load.accumulate = !overwrites;
      s->load.overwrite_first = loops;
      s->load.scaled = term->scaled;
      s->load.scale = term->scale;
      if (!spread(f, s, &f->program->buffers[accumulator], &s->load.access)) return false;
    }
  }
  return true;
}

// Puts the loads of a sum that are free to move in front of `place`.
static bool put_loads(fuser *f, block_statement **list, const fuse_sum *sum, const block_statement *place,
                      int accumulator, int *count) {
  block_statement **at = list;
  while (*at != place) at = &(*at)->next;
  for (int t = 0; t < sum->count; t++) {
    const fuse_term *term = &sum->terms[t];
    if (is_in_place(term)) continue;
    if (!can_move(f, *list, term->statement, place))
      return refuse(f, term->statement->where,
                    "the tensor is stored to between this load and the sum that it goes into",
                    "load it right before it is added");
    block_statement *load = WF_ARENA_NEW(f->c.arena, block_statement);
    *load = *term->statement;
    load->load.target = block_whole(f->program, accumulator);
    load->load.scaled = term->scaled;
    load->load.scale = term->scale;
    load->load.accumulate = (*count)++ != 0;
    if (!spread(f, term->statement, &f->program->buffers[accumulator], &load->load.access)) return false;
    use_of(f, load)->accumulator = accumulator;
    load->next = *at;
    *at = load;
    at = &load->next;
  }
  return true;
}

static bool tops_are_in(const fuse_sum *sum, const block_statement *list, const block_statement *end) {
  for (int t = 0; t < sum->count; t++) {
    const block_statement *s = list;
    while (s != end && s != sum->terms[t].top) s = s->next;
    if (s == end && is_in_place(&sum->terms[t])) return false;
  }
  return true;
}

// Makes the sum in front of the store; gives its accumulator, or BLOCK_NONE after an error.
static int make_sum(fuser *f, block_statement **list, block_statement *store, const fuse_sum *sum) {
  const fuse_term *first = first_in_place(sum, *list);
  if (sum->count == 0 || sum->carried != BLOCK_NONE || !tops_are_in(sum, *list, store)) {
    refuse(f, store->where, sum->count == 0 ? "stores numbers" : "stores a sum that is not complete here",
           sum->count == 0 ? "the accelerator has no way to store numbers" : "store it after the loop that adds it up");
    return BLOCK_NONE;
  }
  const use *again = first == NULL ? NULL : use_of(f, first->statement);
  if (again != NULL && again->accumulator != BLOCK_NONE && again->terms == sum->terms) return again->accumulator;
  int accumulator = accumulator_for(f, first, store->store.source.buffer), loads = 0;
  f->accumulators[accumulator] = true;
  if (!put_loads(f, list, sum, first == NULL ? store : first->top, accumulator, &loads) ||
      !claim(f, sum, first, loads == 0, accumulator))
    return BLOCK_NONE;
  return accumulator;
}

// ---- stores

// Keeps a load of int8 whose elements are used as they come.
static bool keep(fuser *f, const block_statement *s, const fuse_value *v) {
  use *u = use_of(f, v->load);
  int buffer = v->load->load.target.buffer;
  if (u->accumulator != BLOCK_NONE || (u->kept && (u->scaled != v->scaled || (u->scaled && u->scale != v->scale))))
    return refuse(f, s->where, "this block is used in two ways", "load it for each of them");
  if (f->value[buffer].kind != FUSE_LOADED || f->value[buffer].load != v->load)
    return refuse(f, s->where, "the block was replaced before it is used here", "load into another name");
  *u = (use){.statement = v->load, .kept = true, .scaled = v->scaled, .scale = v->scale, .accumulator = BLOCK_NONE};
  v->load->load.scaled = v->scaled;
  v->load->load.scale = v->scale;
  return true;
}

// The loop that a dimension of a pooled access advances with by one element, or BLOCK_NONE.
static int window_loop(const fuser *f, const block_access_dim *dim, uint32_t loops) {
  for (int l = 0; l < f->program->loop_count; l++)
    if ((loops >> l & 1) != 0 && dim->offset.per_loop[l] == 1) return l;
  return BLOCK_NONE;
}

static bool only_in(const block_access *access, uint32_t loops, int d1, int l1, int d2, int l2) {
  uint32_t elsewhere = block_affine_loops(&access->base);
  for (int d = 0; d < access->rank; d++) {
    uint32_t used = block_affine_loops(&access->dim[d].offset);
    if (d == d1) used &= ~(UINT32_C(1) << l1);
    if (d == d2) used &= ~(UINT32_C(1) << l2);
    elsewhere |= used;
  }
  return (elsewhere & loops) == 0 && loops == (UINT32_C(1) << l1 | UINT32_C(1) << l2);
}

// The largest of shifted loads: one load of the whole window, pooled by the store. Pooling stands behind scaling, so
// the window lies in the accumulator and leaves with scale 1.
static bool store_largest(fuser *f, block_statement **list, block_statement *store, const fuse_value *v) {
  block_access access = v->load->load.access;
  int rows = access.rank == 4 ? window_loop(f, &access.dim[1], v->loops) : BLOCK_NONE;
  int columns = access.rank == 4 ? window_loop(f, &access.dim[2], v->loops) : BLOCK_NONE;
  bool square = rows != BLOCK_NONE && columns != BLOCK_NONE && v->carried == BLOCK_NONE &&
                f->program->loops[rows].trips == f->program->loops[columns].trips &&
                access.dim[1].step == access.dim[2].step && only_in(&access, v->loops, 1, rows, 2, columns);
  if (!square || store->store.epilogue.pool.stride != 0)
    return refuse(
        f, store->where, "this maximum is no pooling over a square window of rows and columns",
        "blocks of (image, row, column, channel), two loops of equal trips that shift rows and columns by one");
  int64_t window = f->program->loops[rows].trips, stride = access.dim[1].step, size[BLOCK_RANK_MAX];
  for (int d = 0; d < 4; d++) {
    if (d == 1 || d == 2) access.dim[d].size = (access.dim[d].size - 1) * stride + window;
    if (d == 1 || d == 2) access.dim[d].step = 1;
    size[d] = access.dim[d].size;
  }
  access.dim[1].offset.per_loop[rows] = access.dim[2].offset.per_loop[columns] = 0;
  int buffer = block_add_buffer(f->program, block_fresh_name(f->program, "window", ""), BLOCK_I32, 4, size);
  block_statement *load = WF_ARENA_NEW(f->c.arena, block_statement);
  *load = (block_statement){.kind = BLOCK_LOAD, .where = v->load->where, .next = store};
  load->load.target = block_whole(f->program, buffer);
  load->load.access = access;
  *use_of(f, load) = (use){.statement = load, .kept = true, .accumulator = BLOCK_NONE};
  while (*list != store) list = &(*list)->next;
  *list = load;
  store->store.source = load->load.target;
  store->store.epilogue.scaled = true;
  store->store.epilogue.scale = 1;
  store->store.epilogue.pool = (block_pool){.size = (uint32_t)window, .stride = (uint32_t)stride};
  return true;
}

static bool store_sum(fuser *f, block_statement **list, block_statement *store, const fuse_value *v) {
  if (v->type == BLOCK_I32 && (v->relu || v->clamped))
    return refuse(f, store->where, "int32 results leave the accumulator as they are, not clamped",
                  "scale and round to int8, or leave the maximum to the next kernel");
  int accumulator = make_sum(f, list, store, &v->sum);
  if (accumulator == BLOCK_NONE) return false;
  store->store.source = block_whole(f->program, accumulator);
  store->store.epilogue.relu = v->relu;
  store->store.epilogue.scaled = v->scaled;
  store->store.epilogue.scale = v->scale;
  return true;
}

// What the store's own epilogue does to the value.
static bool apply_epilogue(fuser *f, const block_epilogue *epilogue, fuse_value *v) {
  const fuse_value zero = fuse_number(0, v->type), scale = fuse_number((double)epilogue->scale, BLOCK_F32);
  return (!epilogue->relu || fuse_apply(&f->c, BLOCK_OP_MAX, v->type, v, &zero)) &&
         (!epilogue->scaled || (fuse_apply(&f->c, BLOCK_OP_SCALE, BLOCK_F32, v, &scale) &&
                                fuse_apply(&f->c, BLOCK_OP_TO_I8, BLOCK_I8, v, NULL)));
}

static bool fuse_store(fuser *f, block_statement **list, block_statement *s) {
  if (!is_whole(f, s, &s->store.source)) return false;
  fuse_value v = f->value[s->store.source.buffer];
  if (!apply_epilogue(f, &s->store.epilogue, &v)) return false;
  if (v.kind == FUSE_LARGEST) return store_largest(f, list, s, &v);
  if (v.kind == FUSE_LOADED && v.type == BLOCK_I8 &&
      is_same_size(f, s->store.source.buffer, v.load->load.target.buffer)) {
    s->store.source = v.load->load.target;
    s->store.epilogue.relu = s->store.epilogue.scaled = false;
    return keep(f, s, &v);
  }
  if (v.kind == FUSE_LOADED && v.type == BLOCK_I8) fuse_to_i8_sum(&f->c, &v);
  if (v.kind != FUSE_SUM && !fuse_to_sum(&f->c, &v)) return false;
  return store_sum(f, list, s, &v);
}

// ---- the other statements

static bool fuse_load(fuser *f, block_statement *s) {
  int target = s->load.target.buffer;
  if (!is_whole(f, s, &s->load.target)) return false;
  if (s->load.overwrite_first != 0) return refuse(f, s->where, "this load is part of a fused sum", "fuse once only");
  fuse_value v = fuse_loaded(s, f->program->tensors[s->load.access.tensor].type);
  if (f->program->buffers[target].type == BLOCK_I32 && v.type == BLOCK_I8 && !fuse_to_sum(&f->c, &v)) return false;
  if (s->load.accumulate) {
    fuse_value sum = f->value[target];
    if (!fuse_add(&f->c, &sum, &v)) return false;
    v = sum;
  }
  f->value[target] = v;
  return true;
}

static bool fuse_operand(fuser *f, const block_statement *s, block_view *view) {
  const fuse_value *v = &f->value[view->buffer];
  if (v->kind != FUSE_LOADED || v->type != BLOCK_I8 || !is_same_size(f, view->buffer, v->load->load.target.buffer))
    return refuse(f, s->where, "an operand of dot must be an int8 block as it was loaded",
                  "store what was computed and load it in a second kernel");
  view->buffer = v->load->load.target.buffer;
  return keep(f, s, v);
}

static bool fuse_dot(fuser *f, block_statement *s) {
  int target = s->dot.target.buffer;
  if (!is_whole(f, s, &s->dot.target) || !fuse_operand(f, s, &s->dot.a) || !fuse_operand(f, s, &s->dot.b)) return false;
  if (s->dot.overwrite_first != 0) return refuse(f, s->where, "this product is part of a fused sum", "fuse once only");
  fuse_value v = fuse_product(&f->c, s);
  if (s->dot.accumulate) {
    fuse_value sum = f->value[target];
    if (!fuse_add(&f->c, &sum, &v)) return false;
    v = sum;
  }
  f->value[target] = v;
  return true;
}

static bool fuse_elementwise(fuser *f, block_statement *s) {
  int target = s->elementwise.target.buffer;
  fuse_value a, b = {0};
  if (!is_whole(f, s, &s->elementwise.target) || !value_of(f, s, &s->elementwise.a, &a)) return false;
  if (block_op_arity(s->elementwise.op) == 2 && !value_of(f, s, &s->elementwise.b, &b)) return false;
  if (!fuse_apply(&f->c, s->elementwise.op, f->program->buffers[target].type, &a, &b)) return false;
  f->value[target] = a;
  return true;
}

static bool fuse_list(fuser *f, block_statement **list);

static bool is_written_in(block_statement *list, int buffer) {
  for (; list != NULL; list = list->next) {
    block_view *views[BLOCK_VIEWS_MAX];
    if (list->kind == BLOCK_FOR && is_written_in(list->loop.body, buffer)) return true;
    if (block_has_target(list) && block_views(list, views) > 0 && views[0]->buffer == buffer) return true;
  }
  return false;
}

static bool fuse_for(fuser *f, block_statement *s) {
  size_t count = (size_t)f->program->buffer_count;
  fuse_value *before = WF_ARENA_ARRAY(f->c.arena, count, fuse_value);
  bool *written = WF_ARENA_ARRAY(f->c.arena, count, bool);
  memcpy(before, f->value, count * sizeof *before);
  for (int b = 0; b < (int)count; b++) {
    written[b] = is_written_in(s->loop.body, b);
    if (!written[b]) continue;
    f->value[b] = before[b].kind == FUSE_NOTHING ? (fuse_value){.carried = BLOCK_NONE}
                                                 : fuse_carried(b, f->program->buffers[b].type);
  }
  if (!fuse_list(f, &s->loop.body)) return false;
  f->c.where = s->where;
  for (int b = 0; b < (int)count; b++) {
    fuse_value *v = &f->value[b];
    if (!written[b]) continue;
    bool sums = v->kind == FUSE_SUM && v->sum.carried == b, largest = v->kind == FUSE_LARGEST && v->carried == b;
    if ((sums || largest) && !fuse_after_loop(&f->c, s, &before[b], v)) return false;
    if (v->kind == FUSE_CARRIED && v->carried == b)
      *v = before[b];
    else if (!sums && !largest)
      *v = (fuse_value){.carried = BLOCK_NONE};
  }
  return true;
}

static bool fuse_list(fuser *f, block_statement **list) {
  for (block_statement *s = *list; s != NULL; s = s->next) {
    f->c.where = s->where;
    bool ok = s->kind == BLOCK_FOR           ? fuse_for(f, s)
              : s->kind == BLOCK_LOAD        ? fuse_load(f, s)
              : s->kind == BLOCK_DOT         ? fuse_dot(f, s)
              : s->kind == BLOCK_ELEMENTWISE ? fuse_elementwise(f, s)
                                             : fuse_store(f, list, s);
    if (!ok) return false;
  }
  return true;
}

// ---- what is left

static bool is_left(fuser *f, const block_statement *s) {
  if (s->kind == BLOCK_FOR) return s->loop.body != NULL;
  if (s->kind == BLOCK_STORE) return true;
  const use *u = use_of(f, s);
  return s->kind != BLOCK_ELEMENTWISE && (u->kept || u->accumulator != BLOCK_NONE);
}

static void drop_unused(fuser *f, block_statement **list) {
  while (*list != NULL) {
    if ((*list)->kind == BLOCK_FOR) drop_unused(f, &(*list)->loop.body);
    if (is_left(f, *list))
      list = &(*list)->next;
    else
      *list = (*list)->next;
  }
}

static size_t count_stores(const block_statement *list) {
  size_t count = 0;
  for (; list != NULL; list = list->next)
    count += list->kind == BLOCK_FOR ? count_stores(list->loop.body) : list->kind == BLOCK_STORE ? 1 : 0;
  return count;
}

bool pass_fuse(block_program *program, const map_mapping *mapping, const hw_array *array, wf_diag *diag) {
  (void)mapping, (void)array;
  size_t buffers = (size_t)program->buffer_count + count_stores(program->body);  // each store adds one at most
  wf_arena *own = program->arena;
  fuser f = {.program = program, .c = {.arena = own, .diag = diag}};
  f.value = WF_ARENA_ARRAY(own, buffers, fuse_value);
  f.accumulators = WF_ARENA_ARRAY(own, buffers, bool);
  for (size_t b = 0; b < buffers; b++) f.value[b].carried = BLOCK_NONE;
  if (!fuse_list(&f, &program->body)) return false;
  drop_unused(&f, &program->body);
  block_drop_unused_buffers(program);
  return true;
}
