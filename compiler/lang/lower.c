// SPDX-License-Identifier: Apache-2.0
// Lowering, the whole of it: runs of the kernel, the grid's loops, then what is left to
// say about loops and tensors. See lower.h.
#include "compiler/lang/lower.h"

#include <stdarg.h>
#include <string.h>

enum { SLOTS_MAX = 1 << 24, NOTES_MAX = 3 };

bool lang_lower_fail(lang_lowerer *l, const lang_ast *node, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  lang_source_error(l->s, l->diag, node->span, "%s", text);
  int notes = 0;
  for (const lang_lower_frame *f = l->frame; f != NULL && f->call != NULL && notes < NOTES_MAX; f = f->caller, notes++)
    lang_source_note(l->s, l->diag, f->call->span, "in this call");
  return false;
}

void lang_lower_hint(lang_lowerer *l, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_hint(l->diag, "%s", text);
}

static bool add_tensors(lang_lowerer *l) {
  const lang_kernel *kernel = l->instance->kernel;
  bool ok = true;
  for (int i = 0; i < kernel->param_count; i++) {
    const lang_param *param = &kernel->params[i];
    if (param->kind != LANG_POINTER) continue;
    if (l->instance->dtypes[i] == LANG_FLOAT32)
      ok = lang_lower_fail(l, kernel->function->params[i],
                           "'%s' points to float32, which the array cannot load or store", param->name);
    block_add_tensor(l->program, param->name, l->instance->dtypes[i] == LANG_INT8 ? BLOCK_I8 : BLOCK_I32, 0);
  }
  l->param_tensors = l->program->tensor_count;
  l->tensor_end = WF_ARENA_ARRAY(l->arena, (size_t)l->program->tensor_count + 1, int64_t);
  return ok;
}

static void set_params(const lang_lowerer *l, lang_lower_value *locals) {
  const lang_kernel *kernel = l->instance->kernel;
  int tensor = 0;
  for (int i = 0; i < kernel->param_count; i++) {
    const lang_value *v = &l->instance->values[i];
    if (kernel->params[i].kind == LANG_POINTER) {
      locals[i] = (lang_lower_value){.kind = VALUE_POINTER};
      locals[i].pointer.tensor = tensor++;
    } else if (v->kind == LANG_INT) {
      locals[i] = lang_lower_int(v->integer);
    } else if (v->kind == LANG_TYPE) {
      locals[i] = (lang_lower_value){.kind = VALUE_DTYPE, .dtype = (lang_dtype)v->integer};
    } else {
      locals[i] = (lang_lower_value){.kind = VALUE_SCALAR, .scalar = *v};
    }
  }
}

// The kernel's integers at the end of a run: candidates for the names of the grid's loops.
static void keep_finals(lang_lowerer *l, const lang_lower_frame *frame, int64_t program) {
  const int count = frame->function->local_count;
  for (int i = frame->function->param_count; i < count; i++) {
    const int64_t at = program * count + i;
    const lang_lower_value *v = &frame->locals[i];
    l->final_known[at] = v->kind == VALUE_INDEX && v->index.loops == 0;
    if (l->final_known[at]) l->finals[at] = v->index.constant;
    if (program == 0 && v->kind == VALUE_INDEX) l->final_index[i] = v->index;
  }
}

// Runs the body; `program` numbers the row for what is kept.
static bool run_body(lang_lowerer *l, int64_t program) {
  const lang_ast *function = l->instance->kernel->function;
  lang_lower_frame frame = {.function = function};
  l->run = wf_arena_create();
  frame.locals = WF_ARENA_ARRAY(l->run, (size_t)function->local_count + 1, lang_lower_value);
  l->frame = &frame;
  l->event_at = l->plan_at = 0;
  l->buffer_count = l->parked = 0;
  l->stores = l->steps = 0;
  l->hint = NULL;
  set_params(l, frame.locals);
  bool ok = lang_lower_body(l, function->items, function->count);
  if (ok && l->event_at != l->event_count)
    ok = lang_lower_fail(l, function, "the programs of the grid differ: one does less than the others");
  if (ok) keep_finals(l, &frame, program);
  wf_arena_destroy(l->run);
  l->frame = NULL;
  return ok;
}

// The offsets of the first run, in the order in which the others take them down.
static size_t take_slots(const lang_lowerer *l, int64_t *slots) {
  size_t count = 0;
  for (size_t e = 0; e < l->event_count; e++) {
    const block_statement *s = l->events[e];
    if (s->kind != BLOCK_LOAD && s->kind != BLOCK_STORE) continue;
    const block_access *a = s->kind == BLOCK_LOAD ? &s->load.access : &s->store.access;
    const block_lengths *lengths = s->kind == BLOCK_STORE && s->store.lengths.most != 0 ? &s->store.lengths : NULL;
    if (slots != NULL && lengths != NULL) slots[count] = lengths->first.constant;
    count += lengths != NULL;
    if (slots != NULL) slots[count] = a->base.constant;
    count++;
    for (int d = 0; d < a->rank; d++, count++)
      if (slots != NULL) slots[count] = a->dim[d].offset.constant;
  }
  return count;
}

static bool run_program(lang_lowerer *l, int64_t program) {
  const int64_t *grid = l->instance->grid;
  l->program_id[0] = program % grid[0];
  l->program_id[1] = program / grid[0] % grid[1];
  l->program_id[2] = program / grid[0] / grid[1];
  for (int a = 0; a < LANG_GRID_AXES; a++) l->axis[a] = lang_lower_constant(l->program_id[a]);
  return run_body(l, program);
}

// Before the first statement of a recording.
static void start_recording(lang_lowerer *l) {
  block_program *p = l->program;
  p->body = NULL;
  p->tensor_count = l->param_tensors;
  p->loop_count = p->buffer_count = 0;
  memset(l->tensor_end, 0, (size_t)p->tensor_count * sizeof *l->tensor_end);
  l->event_count = l->plan_count = l->mark_count = 0;
  l->tail = &p->body;
  l->recording = true;
}

// One run with a loop per axis of the grid, or two where the kernel divides the program id. Says nothing when it fails:
// the runs with concrete ids then say what is wrong, if anything is.
static bool run_symbolic(lang_lowerer *l) {
  wf_diag *diag = l->diag, quiet = wf_diag_to(NULL);
  const size_t variables = (size_t)l->instance->kernel->function->local_count + 1;
  bool ok = false;
  l->finals = WF_ARENA_ARRAY(l->arena, variables, int64_t);
  l->final_known = WF_ARENA_ARRAY(l->arena, variables, bool);
  for (int a = 0; a < LANG_GRID_AXES; a++) l->axes[a] = (lang_lower_axis){.trips = {l->instance->grid[a]}, .count = 1};
  l->diag = &quiet;
  do {
    start_recording(l);
    l->final_index = WF_ARENA_ARRAY(l->arena, variables, lang_lower_index);
    ok = lang_lower_begin_axes(l) && run_body(l, 0);
  } while (!ok && lang_lower_split_axis(l));
  l->diag = diag;
  return ok && l->event_count > 0 && lang_lower_end_axes(l);
}

static bool too_many(lang_lowerer *l, int64_t programs) {
  lang_lower_fail(l, l->instance->kernel->function,
                  "a grid of %lld programs is too large to compile; use larger blocks", (long long)programs);
  return false;
}

static bool run_programs(lang_lowerer *l, int64_t programs) {
  const size_t variables = (size_t)l->instance->kernel->function->local_count * (size_t)programs;
  if (variables > SLOTS_MAX) return too_many(l, programs);
  l->finals = WF_ARENA_ARRAY(l->arena, variables + 1, int64_t);
  l->final_known = WF_ARENA_ARRAY(l->arena, variables + 1, bool);
  start_recording(l);
  if (!run_program(l, 0)) return false;
  l->recording = false;
  l->slot_count = take_slots(l, NULL);
  if (l->event_count == 0) return lang_lower_fail(l, l->instance->kernel->function, "this kernel does nothing");
  if (l->slot_count * (size_t)programs > SLOTS_MAX) return too_many(l, programs);
  l->slots = WF_ARENA_ARRAY(l->arena, l->slot_count * (size_t)programs + 1, int64_t);
  take_slots(l, l->slots);
  for (int64_t p = 1; p < programs; p++) {
    l->slot_at = (size_t)p * l->slot_count;
    if (run_program(l, p)) continue;
    lang_lower_hint(l, "in program (%lld, %lld, %lld) of the grid", (long long)l->program_id[0],
                    (long long)l->program_id[1], (long long)l->program_id[2]);
    return false;
  }
  return lang_lower_grid(l, programs);
}

block_program *lang_lower(const lang_instance *instance, wf_diag *diag) {
  const int64_t programs = instance->grid[0] * instance->grid[1] * instance->grid[2];
  lang_lowerer *l = &(lang_lowerer){.instance = instance,
                                    .s = &instance->file->s,
                                    .diag = diag,
                                    .arena = wf_arena_create(),
                                    .program = block_create(instance->kernel->name)};
  block_program *program = l->program;
  if (!add_tensors(l) || (!run_symbolic(l) && !run_programs(l, programs)) || !lang_lower_finish(l)) {
    block_destroy(program);
    program = NULL;
  }
  wf_arena_destroy(l->arena);
  return program;
}
