// SPDX-License-Identifier: Apache-2.0
// Runs the loops of a block program; see walk.h.
#include "compiler/schedule/walk.h"

static bool view_uses(const block_view *view, int buffer) { return view->buffer == buffer; }

static bool statement_uses(const block_statement *s, int buffer) {
  switch (s->kind) {
    case BLOCK_LOAD:
      return view_uses(&s->load.target, buffer);
    case BLOCK_STORE:
      return view_uses(&s->store.source, buffer) || (s->store.apart && view_uses(&s->store.statistics, buffer));
    case BLOCK_DOT:
      return view_uses(&s->dot.target, buffer) || view_uses(&s->dot.a, buffer) || view_uses(&s->dot.b, buffer);
    case BLOCK_ELEMENTWISE:
      return view_uses(&s->elementwise.target, buffer) ||
             (!s->elementwise.a.is_number && view_uses(&s->elementwise.a.view, buffer)) ||
             (!s->elementwise.b.is_number && view_uses(&s->elementwise.b.view, buffer));
    case BLOCK_FOR:
      break;
  }
  for (const block_statement *t = s->loop.body; t != NULL; t = t->next)
    if (statement_uses(t, buffer)) return true;
  return false;
}

// The loop around the innermost list in which more than one statement, or one that is no loop, uses the buffer.
static const block_statement *home_of(const block_statement *list, const block_statement *around, int buffer) {
  const block_statement *user = NULL;
  int users = 0;
  for (const block_statement *s = list; s != NULL; s = s->next)
    if (statement_uses(s, buffer)) {
      user = s;
      users++;
    }
  if (users != 1 || user->kind != BLOCK_FOR) return around;
  return home_of(user->loop.body, user, buffer);
}

void sched_walk_create(sched_walk *w, const block_program *program, wf_arena *arena) {
  size_t buffers = (size_t)program->buffer_count;
  *w = (sched_walk){.program = program};
  w->home = WF_ARENA_ARRAY(arena, buffers + 1, const block_statement *);
  w->instance = WF_ARENA_ARRAY(arena, buffers + 1, uint32_t);
  for (int b = 0; b < program->buffer_count; b++) w->home[b] = home_of(program->body, NULL, b);
}

static void enter(sched_walk *w, const block_statement *loop) {
  for (int b = 0; b < w->program->buffer_count; b++)
    if (w->home[b] == loop) w->instance[b]++;
}

// Whether the loop that was split has this iteration.
static bool exists(const sched_walk *w, const block_loop *loop, int64_t i) {
  return loop->split_of == BLOCK_NONE || w->iteration[loop->split_of] * loop->trips + i < loop->limit;
}

static bool run_list(sched_walk *w, const block_statement *list, sched_walk_visitor *visit, void *context) {
  for (const block_statement *s = list; s != NULL; s = s->next) {
    if (s->kind != BLOCK_FOR) {
      if (!visit(context, w, s)) return false;
      continue;
    }
    const block_loop *loop = &w->program->loops[s->loop.loop];
    for (int64_t i = 0; i < loop->trips && exists(w, loop, i); i++) {
      w->iteration[s->loop.loop] = i;
      enter(w, s);
      if (!run_list(w, s->loop.body, visit, context)) return false;
    }
    w->iteration[s->loop.loop] = 0;
  }
  return true;
}

bool sched_walk_run(sched_walk *w, sched_walk_visitor *visit, void *context) {
  for (int b = 0; b < w->program->buffer_count; b++) w->instance[b] = UINT32_MAX;
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++) w->iteration[l] = 0;
  enter(w, NULL);
  return run_list(w, w->program->body, visit, context);
}

bool sched_walk_repeats(const sched_walk *w, uint32_t loops) {
  for (int l = 0; l < w->program->loop_count; l++)
    if ((loops >> l & 1) != 0 && w->iteration[l] != 0) return true;
  return false;
}
