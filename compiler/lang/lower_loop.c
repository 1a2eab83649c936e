// SPDX-License-Identifier: Apache-2.0
// Loops: see lower.h.
//
// A `range` loop becomes a loop of the block program: its body is run once with the variable as an affine number. A
// number that the body carries from iteration to iteration (`a = advance(a, ...)`) must grow by the same step each
// time. The step is found by running the body once for nothing; that it holds is checked behind the real run.
#include <string.h>

#include "compiler/block/build.h"
#include "compiler/lang/lower.h"

enum { UNROLL_MAX = 4096, GRID_LOOPS = 6 };

// ---- variables of loops

static void mark_assigned(const lang_ast *node, bool *assigned) {
  if (node == NULL) return;
  if (node->kind == AST_NAME && node->meaning == AST_LOCAL) assigned[node->index] = true;
  for (int i = 0; i < node->count; i++) mark_assigned(node->items[i], assigned);
}

static void find_assigned(lang_ast *const *items, int count, bool *assigned) {
  for (int i = 0; i < count; i++) {
    const lang_ast *s = items[i];
    if (s->kind == AST_ASSIGN || s->kind == AST_AUGMENT || s->kind == AST_FOR) mark_assigned(s->a, assigned);
    if (s->kind == AST_FOR || s->kind == AST_IF || s->kind == AST_BLOCK) find_assigned(s->items, s->count, assigned);
    if (s->kind == AST_IF && s->b != NULL) find_assigned(&s->b, 1, assigned);
  }
}

typedef enum { TOUCH_NOT, TOUCH_READ, TOUCH_WRITE } touch;

static bool mentions(const lang_ast *node, int slot) {
  if (node == NULL) return false;
  if (node->kind == AST_NAME) return node->meaning == AST_LOCAL && node->index == slot;
  if (mentions(node->a, slot) || mentions(node->b, slot) || mentions(node->c, slot)) return true;
  for (int i = 0; i < node->count; i++)
    if (mentions(node->items[i], slot)) return true;
  return false;
}

static touch first_touch(lang_ast *const *items, int count, int slot);

static touch touch_of(const lang_ast *s, int slot) {
  touch yes, no;
  switch (s->kind) {
    case AST_ASSIGN:
      return mentions(s->b, slot) ? TOUCH_READ : mentions(s->a, slot) ? TOUCH_WRITE : TOUCH_NOT;
    case AST_FOR:
      if (mentions(s->b, slot)) return TOUCH_READ;
      // The body may not run at all, so what it writes may still be the old value behind it.
      if (mentions(s->a, slot)) return TOUCH_NOT;
      return first_touch(s->items, s->count, slot) == TOUCH_READ ? TOUCH_READ : TOUCH_NOT;
    case AST_IF:
      if (mentions(s->a, slot)) return TOUCH_READ;
      yes = first_touch(s->items, s->count, slot);
      no = s->b == NULL ? TOUCH_NOT : first_touch(s->b->items, s->b->count, slot);
      if (yes == TOUCH_READ || no == TOUCH_READ) return TOUCH_READ;
      return yes == TOUCH_WRITE && no == TOUCH_WRITE ? TOUCH_WRITE : TOUCH_NOT;
    default:
      return mentions(s, slot) ? TOUCH_READ : TOUCH_NOT;
  }
}

// Whether a body reads the value that a variable has before it.
static touch first_touch(lang_ast *const *items, int count, int slot) {
  touch t = TOUCH_NOT;
  for (int i = 0; i < count && t == TOUCH_NOT; i++) t = touch_of(items[i], slot);
  return t;
}

// A loop while it is lowered. `carried`: variables whose value an iteration takes from the one before.
typedef struct loop_state {
  const lang_ast *node;
  int64_t start, step, trips;
  int loop;
  bool *assigned;
  int *carried;
  lang_lower_value *before;  // of the carried ones
  int carried_count;
} loop_state;

static void find_carried(lang_lowerer *l, loop_state *s) {
  const lang_ast *node = s->node;
  const size_t locals = (size_t)l->frame->function->local_count;
  s->assigned = WF_ARENA_ARRAY(l->run, locals, bool);
  s->carried = WF_ARENA_ARRAY(l->run, locals, int);
  s->before = WF_ARENA_ARRAY(l->run, locals, lang_lower_value);
  find_assigned(node->items, node->count, s->assigned);
  for (int i = 0; i < (int)locals; i++) {
    if (!s->assigned[i] || i == node->a->index || l->frame->locals[i].kind == VALUE_UNSET) continue;
    if (first_touch(node->items, node->count, i) == TOUCH_READ) s->carried[s->carried_count++] = i;
  }
}

static lang_lower_value *carried(lang_lowerer *l, const loop_state *s, int i) {
  return &l->frame->locals[s->carried[i]];
}
static const char *carried_name(const lang_lowerer *l, const loop_state *s, int i) {
  return l->frame->function->locals[s->carried[i]];
}

// Blocks that are carried need a buffer of their own; it is what all iterations work in.
static bool own_blocks(lang_lowerer *l, loop_state *s) {
  for (int i = 0; i < s->carried_count; i++) {
    lang_lower_value *v = carried(l, s, i);
    l->hint = carried_name(l, s, i);
    if (v->kind == VALUE_BLOCK && lang_lower_references(l, v->block.buffer, v) != 0 && !lang_lower_copy(l, s->node, v))
      return false;
    if (v->kind == VALUE_BLOCK) v->block.access = NULL, v->block.scaled = NULL, v->block.curve = NULL;
    s->before[i] = *v;
  }
  return true;
}

static void set_variable(lang_lowerer *l, const loop_state *s) {
  lang_lower_value v = {.kind = VALUE_INDEX, .index = lang_lower_constant(s->start)};
  v.index.loops = (uint32_t)1 << s->loop;
  v.index.per_loop[s->loop] = s->step;
  l->frame->locals[s->node->a->index] = v;
}

static bool loop_body(lang_lowerer *l, const loop_state *s) {
  l->frame->loops++;
  const bool ok = lang_lower_body(l, s->node->items, s->node->count);
  l->frame->loops--;
  return ok;
}

// ---- going back

typedef struct snapshot {
  block_statement **tail;
  int buffers, loops, parked;
  size_t events, plans;
  unsigned stores;
  lang_lower_value *locals;
} snapshot;

static snapshot take_snapshot(lang_lowerer *l) {
  const size_t count = (size_t)l->frame->function->local_count;
  snapshot s = {l->tail,
                l->buffer_count,
                l->program->loop_count,
                l->parked,
                l->event_count,
                l->plan_count,
                l->stores,
                WF_ARENA_ARRAY(l->run, count, lang_lower_value)};
  memcpy(s.locals, l->frame->locals, count * sizeof(lang_lower_value));
  return s;
}

static void go_back(lang_lowerer *l, const snapshot *s) {
  l->tail = s->tail;
  *l->tail = NULL;
  l->buffer_count = l->program->buffer_count = s->buffers;
  l->program->loop_count = s->loops;
  l->parked = s->parked;
  l->program->tensor_count = l->param_tensors + s->parked;
  l->event_count = l->event_at = s->events;
  l->plan_count = l->plan_at = s->plans;
  l->stores = s->stores;
  memcpy(l->frame->locals, s->locals, (size_t)l->frame->function->local_count * sizeof(lang_lower_value));
}

// ---- recurrences

// The steps of one carried value over the body, or false if it has none.
static bool find_steps(lang_lowerer *l, lang_lower_value before, lang_lower_value after, int64_t *steps) {
  lang_lower_index *x[LOWER_NUMBERS_MAX], *y[LOWER_NUMBERS_MAX], minus, step;
  if (before.kind == VALUE_LOST || !lang_lower_same_kind(&before, &after)) return false;
  const int count = lang_lower_numbers(l, &before, x);
  lang_lower_numbers(l, &after, y);
  for (int k = 0; k < count; k++) {
    if (!lang_lower_index_times(x[k], -1, &minus) || !lang_lower_index_add(y[k], &minus, &step) || step.loops != 0)
      return false;
    steps[k] = step.constant;
  }
  return true;
}

// Runs the body for nothing.
static bool find_plan(lang_lowerer *l, loop_state *s, lang_lower_plan *plan) {
  const snapshot now = take_snapshot(l);
  const size_t carried_count = (size_t)s->carried_count + 1;
  plan->steps = WF_ARENA_ARRAY(l->arena, carried_count * LOWER_NUMBERS_MAX, int64_t);
  plan->lost = WF_ARENA_ARRAY(l->arena, carried_count, bool);
  set_variable(l, s);
  l->planning++;
  const bool ran = loop_body(l, s);
  l->planning--;
  if (!ran) return false;
  for (int i = 0; i < s->carried_count; i++)
    plan->lost[i] = s->before[i].kind != VALUE_BLOCK &&
                    !find_steps(l, s->before[i], *carried(l, s, i), plan->steps + i * LOWER_NUMBERS_MAX);
  go_back(l, &now);
  return true;
}

// before + factor * step + (loop variable) * step
static bool step_value(lang_lowerer *l, lang_lower_value *v, const int64_t *steps, int64_t factor, int loop) {
  lang_lower_index *numbers[LOWER_NUMBERS_MAX];
  const int count = lang_lower_numbers(l, v, numbers);
  for (int k = 0; k < count; k++) {
    lang_lower_index by = {0};
    if (__builtin_mul_overflow(steps[k], factor, &by.constant)) return false;
    if (loop != BLOCK_NONE && steps[k] != 0) {
      by.loops = (uint32_t)1 << loop;
      by.per_loop[loop] = steps[k];
    }
    if (!lang_lower_index_add(numbers[k], &by, numbers[k])) return false;
  }
  return true;
}

static bool enter(lang_lowerer *l, const loop_state *s, const lang_lower_plan *plan) {
  for (int i = 0; i < s->carried_count; i++) {
    lang_lower_value *v = carried(l, s, i);
    if (plan->lost[i])
      *v = (lang_lower_value){.kind = VALUE_LOST};
    else if (!step_value(l, v, plan->steps + i * LOWER_NUMBERS_MAX, 0, s->loop))
      return lang_lower_fail(l, s->node, "'%s' does not fit in 64 bits", carried_name(l, s, i));
  }
  set_variable(l, s);
  return true;
}

// An operand of a product that the body computes for the next iteration.
static bool refuse_operand(lang_lowerer *l, const loop_state *s, int i) {
  lang_lower_fail(l, s->node, "'%s' is multiplied and computed anew in each iteration", carried_name(l, s, i));
  lang_lower_hint(l, "loop over static_range(), or leave the iterations to a kernel each");
  return false;
}

static bool leave_block(lang_lowerer *l, const loop_state *s, int i) {
  lang_lower_value *v = carried(l, s, i);
  const lang_lower_value *before = &s->before[i];
  if (!lang_lower_same_kind(v, before) ||
      l->program->buffers[v->block.buffer].type != l->program->buffers[before->block.buffer].type)
    return lang_lower_fail(l, s->node, "'%s' changes its shape or type in this loop", carried_name(l, s, i));
  if (lang_lower_is_operand(l, before->block.buffer) && lang_lower_is_computed(l, v->block.buffer))
    return refuse_operand(l, s, i);
  if (v->block.buffer != before->block.buffer && !lang_lower_assign_block(l, s->node, &before->block, &v->block))
    return false;
  *v = *before;
  return true;
}

// Other variables that still hold what the buffer has now get a copy before it is overwritten.
static bool save_others(lang_lowerer *l, const loop_state *s, int buffer, const lang_lower_value *except) {
  for (int i = 0; i < l->frame->function->local_count; i++) {
    lang_lower_value *v = &l->frame->locals[i];
    if (v == except) continue;
    if ((v->kind == VALUE_TUPLE || v->kind == VALUE_ROWS) && lang_lower_mentions(v, buffer))
      *v = (lang_lower_value){.kind = VALUE_LOST};
    if (v->kind != VALUE_BLOCK || v->block.buffer != buffer) continue;
    l->hint = l->frame->function->locals[i];
    if (v->block.transposed || !lang_lower_copy(l, s->node, v))
      return lang_lower_fail(l, s->node, "'%s' cannot keep its value in this loop", l->hint);
  }
  return true;
}

static bool save_overwritten(lang_lowerer *l, const loop_state *s) {
  for (int i = 0; i < s->carried_count; i++) {
    const lang_lower_value *v = carried(l, s, i), *before = &s->before[i];
    if (before->kind != VALUE_BLOCK || (v->kind == VALUE_BLOCK && v->block.buffer == before->block.buffer)) continue;
    if (!save_others(l, s, before->block.buffer, v)) return false;
  }
  return true;
}

// Behind the body: the carried values are what the next iteration starts with.
static bool check_iteration(lang_lowerer *l, const loop_state *s, const lang_lower_plan *plan,
                            const lang_lower_value *entered) {
  int64_t steps[LOWER_NUMBERS_MAX] = {0};
  if (!save_overwritten(l, s)) return false;
  for (int i = 0; i < s->carried_count; i++) {
    lang_lower_index *numbers[LOWER_NUMBERS_MAX];
    if (s->before[i].kind == VALUE_BLOCK) {
      if (!leave_block(l, s, i)) return false;
      continue;
    }
    if (plan->lost[i]) continue;
    lang_lower_value copy = entered[i];
    const int count = lang_lower_numbers(l, &copy, numbers);
    if (!find_steps(l, entered[i], *carried(l, s, i), steps) ||
        memcmp(steps, plan->steps + i * LOWER_NUMBERS_MAX, (size_t)count * sizeof *steps) != 0)
      return lang_lower_fail(l, s->node, "'%s' does not grow by the same step in each iteration",
                             carried_name(l, s, i));
  }
  return true;
}

// The value behind the last iteration: loop variable = trips - 1.
static void settle(lang_lowerer *l, const loop_state *s, lang_lower_value *v) {
  lang_lower_index *numbers[LOWER_NUMBERS_MAX];
  const uint32_t bit = (uint32_t)1 << s->loop;
  if (v->kind == VALUE_TUPLE) {
    lang_lower_value *items = WF_ARENA_ARRAY(l->run, (size_t)v->tuple.count + 1, lang_lower_value);
    for (int i = 0; i < v->tuple.count; i++) {
      items[i] = v->tuple.items[i];
      settle(l, s, &items[i]);
    }
    v->tuple.items = items;
    return;
  }
  const int count = lang_lower_numbers(l, v, numbers);
  for (int k = 0; k < count; k++) {
    int64_t last;
    if ((numbers[k]->loops & bit) == 0) continue;
    numbers[k]->loops &= ~bit;
    if (__builtin_mul_overflow(numbers[k]->per_loop[s->loop], s->trips - 1, &last) ||
        __builtin_add_overflow(numbers[k]->constant, last, &numbers[k]->constant)) {
      *v = (lang_lower_value){.kind = VALUE_LOST};
      return;
    }
    numbers[k]->per_loop[s->loop] = 0;
  }
}

static bool leave(lang_lowerer *l, const loop_state *s, const lang_lower_plan *plan) {
  bool *is_carried = WF_ARENA_ARRAY(l->run, (size_t)l->frame->function->local_count + 1, bool);
  for (int i = 0; i < s->carried_count; i++) {
    lang_lower_value *v = carried(l, s, i);
    is_carried[s->carried[i]] = !plan->lost[i];
    if (plan->lost[i] || s->before[i].kind == VALUE_BLOCK) continue;
    *v = s->before[i];
    if (!step_value(l, v, plan->steps + i * LOWER_NUMBERS_MAX, s->trips, BLOCK_NONE))
      return lang_lower_fail(l, s->node, "'%s' does not fit in 64 bits", carried_name(l, s, i));
  }
  for (int i = 0; i < l->frame->function->local_count; i++)
    if (i == s->node->a->index || (s->assigned[i] && !is_carried[i])) settle(l, s, &l->frame->locals[i]);
  return true;
}

// ---- loops

static bool loop_id(lang_lowerer *l, loop_state *s, lang_lower_plan *plan) {
  if (!l->recording) {
    s->loop = plan->loop;
    if (plan->trips == s->trips) return true;
    lang_lower_fail(l, s->node,
                    "the programs of the grid differ here: this loop runs %lld times in one and %lld in another",
                    (long long)plan->trips, (long long)s->trips);
    return false;
  }
  if (l->program->loop_count >= BLOCK_LOOPS_MAX - GRID_LOOPS)
    return lang_lower_fail(l, s->node, "there are too many loops");
  const char *name = block_fresh_name(l->program, s->node->a->name, "");
  s->loop = plan->loop = block_add_loop(l->program, name, s->trips, false);
  plan->trips = s->trips;
  return true;
}

static bool affine_loop(lang_lowerer *l, loop_state *s, size_t plan_index) {
  lang_lower_plan plan = l->plans[plan_index];
  find_carried(l, s);
  if (!own_blocks(l, s) || !loop_id(l, s, &plan)) return false;
  if (l->recording && !find_plan(l, s, &plan)) return false;
  if (l->recording) l->plans[plan_index] = plan;
  if (!enter(l, s, &plan)) return false;
  lang_lower_value *entered = WF_ARENA_ARRAY(l->run, (size_t)s->carried_count + 1, lang_lower_value);
  for (int i = 0; i < s->carried_count; i++) entered[i] = *carried(l, s, i);
  block_statement statement = {.kind = BLOCK_FOR}, *made;
  statement.loop.loop = s->loop;
  if ((made = lang_lower_emit(l, s->node, &statement)) == NULL) return false;
  if (l->recording) l->tail = &made->loop.body;
  if (!loop_body(l, s) || !check_iteration(l, s, &plan, entered)) return false;
  if (l->recording) l->tail = &made->next;
  return leave(l, s, &plan);
}

static bool unrolled_loop(lang_lowerer *l, const loop_state *s) {
  if (s->trips > UNROLL_MAX)
    return lang_lower_fail(l, s->node, "a loop of %lld iterations is too long to unroll", (long long)s->trips);
  for (int64_t i = 0; i < s->trips; i++) {
    l->frame->locals[s->node->a->index] = lang_lower_int(s->start + i * s->step);
    if (!loop_body(l, s)) return false;
  }
  return true;
}

// A loop of the program if its body is affine in it, else unrolled.
static bool static_loop(lang_lowerer *l, loop_state *s, size_t plan_index) {
  if (!l->recording) return l->plans[plan_index].unrolled ? unrolled_loop(l, s) : affine_loop(l, s, plan_index);
  const snapshot now = take_snapshot(l);
  const loop_state fresh = *s;
  const int loops = l->frame->loops;
  lang_lower_frame *frame = l->frame;
  wf_diag *diag = l->diag, quiet = wf_diag_to(NULL);
  l->diag = &quiet;
  const bool ok = affine_loop(l, s, plan_index);
  l->diag = diag;
  if (ok) return true;
  l->frame = frame;
  l->frame->loops = loops;
  go_back(l, &now);
  l->plans[plan_index].unrolled = true;
  return unrolled_loop(l, &fresh);
}

static bool loop_range(lang_lowerer *l, const lang_ast *call, loop_state *s) {
  const lang_ast *args[BUILTIN_ARGS_MAX];
  int64_t first, stop;
  s->step = 1;
  s->start = 0;
  if (!lang_builtin_bind(l->s, l->diag, (lang_builtin_id)call->a->index, call, args) ||
      !lang_lower_eval_constant(l, args[0], "the range of a loop", &first))
    return false;
  stop = first;
  if (args[1] != NULL) {
    s->start = first;
    if (!lang_lower_eval_constant(l, args[1], "the range of a loop", &stop)) return false;
  }
  if (args[2] != NULL && !lang_lower_eval_constant(l, args[2], "the step of a loop", &s->step)) return false;
  if (s->step == 0) return lang_lower_fail(l, call, "a loop cannot step by 0");
  const __int128 distance = s->step > 0 ? (__int128)stop - s->start : (__int128)s->start - stop;
  const __int128 stride = s->step > 0 ? s->step : -(__int128)s->step;
  const __int128 trips = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  if (trips > INT64_MAX / 4) return lang_lower_fail(l, call, "this loop is too long");
  s->trips = (int64_t)trips;
  return true;
}

bool lang_lower_loop(lang_lowerer *l, const lang_ast *node) {
  const lang_ast *call = node->b;
  const bool range = call->kind == AST_CALL && call->a->meaning == AST_BUILTIN &&
                     (call->a->index == BUILTIN_RANGE || call->a->index == BUILTIN_STATIC_RANGE);
  loop_state s = {.node = node};
  if (!range) return lang_lower_fail(l, call, "loops run over range() or static_range()");
  if (!loop_range(l, call, &s)) return false;
  if (s.trips == 0) return true;
  size_t plan_index = l->plan_at++;
  if (l->recording) {
    plan_index = l->plan_count;
    *WF_ARENA_PUSH(l->arena, l->plans, l->plan_count, &l->plan_room) = (lang_lower_plan){0};
    l->plan_at = l->plan_count;
  } else if (plan_index >= l->plan_count) {
    return lang_lower_fail(l, node, "the programs of the grid differ here");
  }
  return call->a->index == BUILTIN_RANGE ? affine_loop(l, &s, plan_index) : static_loop(l, &s, plan_index);
}
