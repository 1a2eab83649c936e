// From a placed block program to commands: three walks over its loops (what stores keep, what products read, the
// commands), then one order for loads, products and stores.
#include "compiler/schedule/expand.h"

bool expand_command(void *context, const walk *w, const block_statement *s) {
  expand *e = context;
  switch (s->kind) {
    case BLOCK_LOAD:
      expand_note_load(e, w, s);
      return expand_load(e, w, s);
    case BLOCK_DOT:
      return expand_dot(e, w, s);
    case BLOCK_STORE:
      return expand_store(e, w, s);
    case BLOCK_ELEMENTWISE:
      break;
    case BLOCK_FOR:
      break;
  }
  wf_error(e->diag, s->where, "the accelerator has no element-wise operations of their own");
  wf_hint(e->diag, "only chains before and after a product become part of its loads and stores");
  return false;
}

static bool check_buffers(const expand *e) {
  for (int b = 0; b < e->program->buffer_count; b++)
    if (e->program->buffers[b].scope == BLOCK_UNPLACED && e->program->buffers[b].name != NULL) {
      wf_error(e->diag, (wf_location){0}, "buffer '%s' has no place", e->program->buffers[b].name);
      return false;
    }
  return true;
}

static bool fill_streams(expand *e) {
  walk w;
  walk_create(&w, e->program, e->arena);
  size_t buffers = (size_t)e->program->buffer_count + 1;
  e->layouts = WF_ARENA_ARRAY(e->arena, buffers, block_layout);
  e->needs = WF_ARENA_ARRAY(e->arena, buffers, expand_needs);
  e->valid = WF_ARENA_ARRAY(e->arena, buffers, expand_valid);
  for (int b = 0; b < e->program->buffer_count; b++)
    e->layouts[b] = block_layout_of(&e->program->buffers[b], &e->derived);
  streams_create(&e->streams, e->program, e->array, e->arena);
  if (!walk_run(&w, expand_store_needs, e) || !walk_run(&w, expand_dot_needs, e)) return false;
  for (size_t b = 0; b < buffers; b++) e->valid[b] = (expand_valid){.set = false};
  if (!walk_run(&w, expand_command, e)) return false;
  streams_finish(&e->streams, e->program);
  return true;
}

command_program *sched_commands(const block_program *program, const hw_array *array, bool whole_stores, wf_diag *diag) {
  if (program->style == BLOCK_STYLE_LOOP) return expand_loop_style(program, array, diag);
  expand e = {.program = program,
              .array = array,
              .diag = diag,
              .arena = wf_arena_create(),
              .derived = hw_derive(array),
              .whole_stores = whole_stores};
  command_program *out = NULL;
  if (check_buffers(&e) && fill_streams(&e)) {
    order all = {0};
    interleave(&e.streams, &all, e.arena);
    out = command_create(program->name, array);
    emit(&e.streams, program, &all, out);
  }
  wf_arena_destroy(e.arena);
  return out;
}
