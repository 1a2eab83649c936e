// SPDX-License-Identifier: Apache-2.0
// Element-wise chains around sums become what the accelerator does on the way in and out.
//
// Each list of statements is run on symbols (fuse_value.h): a buffer has a number, loaded elements or a sum of products
// and loads with an epilogue. A store asks what its block stands for, and the sum is made the way the hardware makes
// it:
//
//   load acc = bias; load acc += residual        loads outside of the sum's loops, the first one overwrites
//   for k { dot acc += a * b }                   products (and loads in loops) stay in place and accumulate; without
//                                                loads before it the first of them overwrites in its first iteration
//   load r = residual; dot acc += r * unit blocks   a load times an integer, behind the others
//   store c = acc relu scale 0.1                 what happened to the sum is the store's epilogue
//
// Everything else of the chain goes away. A chain that is none of this is refused where it stands.
#include "compiler/passes/fuse.h"

#include <string.h>

#include "compiler/passes/passes.h"

bool fuse_refuse(fuse_pass *f, wf_location where, const char *what, const char *hint) {
  wf_error(f->c.diag, where, "%s", what);
  wf_hint(f->c.diag, "%s", hint);
  return false;
}

fuse_use *fuse_use_of(fuse_pass *f, const block_statement *statement) {
  for (size_t u = 0; u < f->use_count; u++)
    if (f->uses[u].statement == statement) return &f->uses[u];
  fuse_use *added = WF_ARENA_PUSH(f->c.arena, f->uses, f->use_count, &f->use_room);
  *added = (fuse_use){.statement = statement, .accumulator = BLOCK_NONE};
  return added;
}

// ---- values of views

static bool is_whole(fuse_pass *f, const block_statement *s, const block_view *view) {
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

bool fuse_is_same_size(const fuse_pass *f, int a, int b) {
  const block_buffer *x = &f->program->buffers[a], *y = &f->program->buffers[b];
  return x->rank == y->rank && memcmp(x->size, y->size, (size_t)x->rank * sizeof *x->size) == 0;
}

static bool value_of(fuse_pass *f, const block_statement *s, const block_operand *operand, fuse_value *v) {
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
    wf_hint(f->c.diag, "set it before the loop, and add to it inside");
    return false;
  }
  if (fuse_is_same_size(f, operand->view.buffer, target->buffer) || is_loads_only(v)) return true;
  wf_error(f->c.diag, s->where, "'%s' is repeated over a larger block, which only loaded blocks can be", name);
  wf_hint(f->c.diag, "store it, and load it in a second kernel");
  return false;
}

// ---- stores

// Keeps a load of int8 whose elements are used as they come.
static bool keep(fuse_pass *f, const block_statement *s, const fuse_value *v) {
  fuse_use *u = fuse_use_of(f, v->load);
  int buffer = v->load->load.target.buffer;
  if (u->accumulator != BLOCK_NONE || (u->kept && (u->scaled != v->scaled || (u->scaled && u->scale != v->scale))))
    return fuse_refuse(f, s->where, "this block is used in two ways", "load it for each of them");
  if (f->value[buffer].kind != FUSE_LOADED || f->value[buffer].load != v->load)
    return fuse_refuse(f, s->where, "the block was replaced before it is used here", "load into another name");
  *u =
      (fuse_use){.statement = v->load, .kept = true, .scaled = v->scaled, .scale = v->scale, .accumulator = BLOCK_NONE};
  v->load->load.scaled = v->scaled;
  v->load->load.scale = v->scale;
  return true;
}

// The other factors of a gate, as they were loaded.
static bool store_gated(fuse_pass *f, block_statement *store, const fuse_value *v) {
  const fuse_value loaded = fuse_loaded(v->gate, BLOCK_I8);
  if (v->type != BLOCK_I8 || store->store.epilogue.pool.stride != 0 ||
      !fuse_is_same_size(f, store->store.source.buffer, v->gate->load.target.buffer))
    return fuse_refuse(f, store->where, "a product of blocks leaves as int8, element by element, and unpooled",
                       "give both blocks the same size, and round with .to(int8)");
  store->store.gated = true;
  store->store.gate_scale = v->gate_scale;
  store->store.factors = v->gate->load.target;
  return keep(f, store, &loaded);
}

static bool store_sum(fuse_pass *f, block_statement **list, block_statement *store, const fuse_value *v) {
  if (v->type == BLOCK_I32 && (v->relu || v->clamped))
    return fuse_refuse(f, store->where, "int32 results leave the accumulator as they are, not clamped",
                       "scale and round to int8, or leave the maximum to the next kernel");
  int accumulator = fuse_make_sum(f, list, store, &v->sum);
  if (accumulator == BLOCK_NONE) return false;
  store->store.source = block_whole(f->program, accumulator);
  store->store.epilogue.relu = v->relu;
  store->store.epilogue.scaled = v->scaled;
  store->store.epilogue.scale = v->scale;
  return v->gate == NULL || store_gated(f, store, v);
}

// What the store's own epilogue does to the value.
static bool apply_epilogue(fuse_pass *f, const block_epilogue *epilogue, fuse_value *v) {
  const fuse_value zero = fuse_number(0, v->type), scale = fuse_number((double)epilogue->scale, BLOCK_F32);
  return (!epilogue->relu || fuse_apply(&f->c, BLOCK_OP_MAX, v->type, v, &zero)) &&
         (!epilogue->scaled || (fuse_apply(&f->c, BLOCK_OP_SCALE, BLOCK_F32, v, &scale) &&
                                fuse_apply(&f->c, BLOCK_OP_TO_I8, BLOCK_I8, v, NULL)));
}

// A sum of int32 in front of a store that takes its rows as they are; `view` becomes its accumulator.
static bool make_rows(fuse_pass *f, block_statement **list, block_statement *s, block_view *view) {
  if (!is_whole(f, s, view)) return false;
  fuse_value v = f->value[view->buffer];
  if (v.kind != FUSE_SUM && !fuse_to_sum(&f->c, &v)) return false;
  if (v.relu || v.scaled || v.clamped)
    return fuse_refuse(f, s->where, "rows are normalised as they were added up, not clamped or rounded before",
                       "store them, and normalise in a second kernel");
  const int accumulator = fuse_make_sum(f, list, s, &v.sum);
  if (accumulator != BLOCK_NONE) *view = block_whole(f->program, accumulator);
  return accumulator != BLOCK_NONE;
}

static bool store_rows(fuse_pass *f, block_statement **list, block_statement *s) {
  if (s->store.apart && !make_rows(f, list, s, &s->store.statistics)) return false;
  return make_rows(f, list, s, &s->store.source);
}

static bool fuse_store(fuse_pass *f, block_statement **list, block_statement *s) {
  if (!is_whole(f, s, &s->store.source)) return false;
  if (s->store.epilogue.norm.kind != BLOCK_NO_NORM) return store_rows(f, list, s);
  fuse_value v = f->value[s->store.source.buffer];
  if (v.widened) return fuse_refuse_widened(&f->c);
  if (!apply_epilogue(f, &s->store.epilogue, &v)) return false;
  if (v.kind == FUSE_LARGEST && s->store.epilogue.pool.stride != 0)
    return fuse_refuse(f, s->where, "a maximum over windows is pooled again", "store it, and pool in a second kernel");
  if (v.kind == FUSE_LARGEST) return fuse_store_largest(f, list, s, &v);
  if (v.kind == FUSE_LOADED && v.type == BLOCK_I8 && s->store.epilogue.pool.stride == 0 &&
      fuse_is_same_size(f, s->store.source.buffer, v.load->load.target.buffer)) {
    s->store.source = v.load->load.target;
    s->store.epilogue.relu = s->store.epilogue.scaled = false;
    return keep(f, s, &v);
  }
  if (v.kind == FUSE_LOADED && v.type == BLOCK_I8) fuse_to_i8_sum(&f->c, &v);
  if (v.kind != FUSE_SUM && !fuse_to_sum(&f->c, &v)) return false;
  return store_sum(f, list, s, &v);
}

// ---- the other statements

// What a load or product leaves in its target: `v`, or this added to what was there.
static bool set_sum(fuse_pass *f, const block_statement *s, int target, fuse_value *v) {
  uint32_t loops = block_overwrite_first(s);
  if (loops != 0 && !fuse_overwrite(&f->c, loops, target, &f->value[target], v)) return false;
  fuse_value sum = f->value[target];
  if (block_accumulates(s) && !fuse_add(&f->c, &sum, v)) return false;
  f->value[target] = block_accumulates(s) ? sum : *v;
  return true;
}

static bool fuse_load(fuse_pass *f, block_statement *s) {
  int target = s->load.target.buffer;
  if (!is_whole(f, s, &s->load.target)) return false;
  fuse_value v = fuse_loaded(s, f->program->tensors[s->load.access.tensor].type);
  if (f->program->buffers[target].type == BLOCK_I32 && v.type == BLOCK_I8 && !fuse_to_sum(&f->c, &v)) return false;
  if (s->load.overwrite_first != 0 && !fuse_to_sum(&f->c, &v)) return false;
  return set_sum(f, s, target, &v);
}

static bool fuse_operand(fuse_pass *f, const block_statement *s, block_view *view) {
  const fuse_value *v = &f->value[view->buffer];
  if (v->kind != FUSE_LOADED || v->type != BLOCK_I8 || !fuse_is_same_size(f, view->buffer, v->load->load.target.buffer))
    return fuse_refuse(f, s->where, "an operand of dot must be an int8 block as it was loaded",
                       "store what was computed and load it in a second kernel");
  view->buffer = v->load->load.target.buffer;
  return keep(f, s, v);
}

static bool fuse_dot(fuse_pass *f, block_statement *s) {
  int target = s->dot.target.buffer;
  if (!is_whole(f, s, &s->dot.target) || !fuse_operand(f, s, &s->dot.a) || !fuse_operand(f, s, &s->dot.b)) return false;
  fuse_value v = fuse_product(&f->c, s);
  return set_sum(f, s, target, &v);
}

static bool fuse_elementwise(fuse_pass *f, block_statement *s) {
  int target = s->elementwise.target.buffer;
  fuse_value a, b = {0};
  if (!is_whole(f, s, &s->elementwise.target) || !value_of(f, s, &s->elementwise.a, &a)) return false;
  if (block_op_arity(s->elementwise.op) == 2 && !value_of(f, s, &s->elementwise.b, &b)) return false;
  if (!fuse_apply(&f->c, s->elementwise.op, f->program->buffers[target].type, &a, &b)) return false;
  f->value[target] = a;
  return true;
}

static bool fuse_list(fuse_pass *f, block_statement **list);

static bool fuse_for(fuse_pass *f, block_statement *s) {
  size_t count = (size_t)f->program->buffer_count;
  fuse_value *before = WF_ARENA_ARRAY(f->c.arena, count, fuse_value);
  bool *written = WF_ARENA_ARRAY(f->c.arena, count, bool);
  memcpy(before, f->value, count * sizeof *before);
  for (int b = 0; b < (int)count; b++) {
    written[b] = block_is_written(s->loop.body, b);
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

static bool fuse_list(fuse_pass *f, block_statement **list) {
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

static bool is_left(fuse_pass *f, const block_statement *s) {
  if (s->kind == BLOCK_FOR) return s->loop.body != NULL;
  if (s->kind == BLOCK_STORE) return true;
  const fuse_use *u = fuse_use_of(f, s);
  return s->kind != BLOCK_ELEMENTWISE && (u->kept || u->accumulator != BLOCK_NONE);
}

static void drop_unused(fuse_pass *f, block_statement **list) {
  while (*list != NULL) {
    if ((*list)->kind == BLOCK_FOR) drop_unused(f, &(*list)->loop.body);
    if (is_left(f, *list))
      list = &(*list)->next;
    else
      *list = (*list)->next;
  }
}

static size_t count_kind(const block_statement *list, block_kind kind) {
  size_t count = 0;
  for (; list != NULL; list = list->next)
    count += list->kind == BLOCK_FOR ? count_kind(list->loop.body, kind) : list->kind == kind ? 1 : 0;
  return count;
}

// Buffers that there can be: each store adds an accumulator, and with each load a block of it and two units.
static size_t count_buffers(const block_program *program) {
  size_t stores = count_kind(program->body, BLOCK_STORE), loads = count_kind(program->body, BLOCK_LOAD);
  return (size_t)program->buffer_count + stores * (1 + 3 * loads);
}

bool pass_fuse(block_program *program, const map_mapping *mapping, const hw_array *array, wf_diag *diag) {
  size_t buffers = count_buffers(program);
  wf_arena *own = program->arena;
  fuse_pass f = {.program = program,
                 .array = array,
                 .mapping = mapping,
                 .c = {.arena = own, .diag = diag, .gate = array != NULL && array->units.gate}};
  f.value = WF_ARENA_ARRAY(own, buffers, fuse_value);
  f.accumulators = WF_ARENA_ARRAY(own, buffers, bool);
  for (size_t b = 0; b < buffers; b++) f.value[b].carried = BLOCK_NONE;
  if (!fuse_list(&f, &program->body)) return false;
  drop_unused(&f, &program->body);
  for (size_t u = 0; u < f.unit_count; u++) {
    f.units[u].load->next = program->body;
    program->body = f.units[u].load;
  }
  block_drop_unused_buffers(program);
  return true;
}
