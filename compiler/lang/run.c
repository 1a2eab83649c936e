// SPDX-License-Identifier: Apache-2.0
// The oracle: programs, statements, functions. See run.h.
#include "compiler/lang/run.h"

#include <stdarg.h>
#include <string.h>

enum { CALLS_MAX = 16 };

bool lang_run_fail(lang_runner *r, const lang_ast *node, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  lang_source_error(r->s, r->diag, node->span, "%s", text);
  wf_hint(r->diag, "in program (%lld, %lld, %lld) of the grid", (long long)r->program_id[0],
          (long long)r->program_id[1], (long long)r->program_id[2]);
  return false;
}

static bool body(lang_runner *r, lang_ast *const *items, int count);

static bool assign(lang_runner *r, const lang_ast *target, const lang_run_value *v) {
  if (target->kind == AST_NAME) {
    r->frame->locals[target->index] = *v;
    return true;
  }
  if (v->kind != RUN_TUPLE || v->tuple.count != target->count)
    return lang_run_fail(r, target, "the number of names and values differs");
  for (int i = 0; i < target->count; i++)
    if (!assign(r, target->items[i], &v->tuple.items[i])) return false;
  return true;
}

// ---- functions

static bool bind(lang_runner *r, const lang_ast *node, const lang_ast *function, lang_run_value *locals) {
  for (int i = 0; i < node->count; i++) {
    const lang_ast *item = node->items[i];
    int at = i;
    if (item->kind == AST_KEYWORD)
      for (at = 0; at < function->param_count && function->params[at]->name != item->name; at++) continue;
    if (at >= function->param_count) return lang_run_fail(r, item, "there is no such parameter");
    if (!lang_run_eval(r, item->kind == AST_KEYWORD ? item->a : item, &locals[at])) return false;
  }
  for (int i = 0; i < function->param_count; i++) {
    const lang_ast *otherwise = function->params[i]->b;
    if (locals[i].kind != RUN_UNSET) continue;
    if (otherwise == NULL) return lang_run_fail(r, node, "an argument is missing");
    if (!lang_run_eval(r, otherwise, &locals[i])) return false;
  }
  return true;
}

bool lang_run_call(lang_runner *r, const lang_ast *node, lang_run_value *result) {
  const lang_ast *function = node->a->callee;
  int depth = 0;
  for (const lang_run_frame *f = r->frame; f != NULL; f = f->caller) depth++;
  if (depth > CALLS_MAX) return lang_run_fail(r, node, "calls are nested too deeply");
  lang_run_frame frame = {.caller = r->frame,
                          .function = function,
                          .locals = WF_ARENA_ARRAY(r->arena, (size_t)function->local_count + 1, lang_run_value)};
  if (!bind(r, node, function, frame.locals)) return false;
  frame.result = (lang_run_value){.kind = RUN_SCALAR, .scalar = {.kind = LANG_NONE}};
  r->frame = &frame;
  const bool ok = body(r, function->items, function->count);
  r->frame = frame.caller;
  *result = frame.result;
  return ok;
}

// ---- statements

static bool for_statement(lang_runner *r, const lang_ast *node) {
  const lang_ast *call = node->b, *args[BUILTIN_ARGS_MAX];
  int64_t first = 0, stop, step = 1;
  const bool range = call->kind == AST_CALL && call->a->meaning == AST_BUILTIN &&
                     (call->a->index == BUILTIN_RANGE || call->a->index == BUILTIN_STATIC_RANGE);
  if (!range) return lang_run_fail(r, call, "loops run over range() or static_range()");
  if (!lang_builtin_bind(r->s, r->diag, (lang_builtin_id)call->a->index, call, args) ||
      !lang_run_eval_int(r, args[0], &stop))
    return false;
  if (args[1] != NULL) {
    first = stop;
    if (!lang_run_eval_int(r, args[1], &stop)) return false;
  }
  if (args[2] != NULL && !lang_run_eval_int(r, args[2], &step)) return false;
  if (step == 0) return lang_run_fail(r, call, "a loop cannot step by 0");
  for (int64_t i = first; step > 0 ? i < stop : i > stop;) {
    r->frame->locals[node->a->index] = (lang_run_value){.kind = RUN_SCALAR, .scalar = lang_int(i)};
    if (!body(r, node->items, node->count)) return false;
    if (r->frame->returned || __builtin_add_overflow(i, step, &i)) break;
  }
  return true;
}

static bool statement(lang_runner *r, const lang_ast *node) {
  lang_run_value v;
  bool truth;
  switch (node->kind) {
    case AST_ASSIGN:
      return lang_run_eval(r, node->b, &v) && assign(r, node->a, &v);
    case AST_AUGMENT: {
      const lang_ast sum = {.kind = AST_BINARY, .span = node->span, .op = node->op, .a = node->a, .b = node->b};
      return lang_run_eval(r, &sum, &v) && assign(r, node->a, &v);
    }
    case AST_FOR:
      return for_statement(r, node);
    case AST_IF:
      if (!lang_run_truth(r, node->a, &truth)) return false;
      if (truth) return body(r, node->items, node->count);
      return node->b == NULL || body(r, node->b->items, node->b->count);
    case AST_RETURN:
      r->frame->returned = true;
      return node->a == NULL || lang_run_eval(r, node->a, &r->frame->result);
    case AST_EXPRESSION:
      return lang_run_eval(r, node->a, &v);
    default:
      return node->kind == AST_PASS || lang_run_fail(r, node, "this has no meaning here");
  }
}

static bool body(lang_runner *r, lang_ast *const *items, int count) {
  for (int i = 0; i < count && !r->frame->returned; i++)
    if (!statement(r, items[i])) return false;
  return true;
}

// ---- programs

static void name_tensors(lang_runner *r, wf_arena *arena) {
  const lang_kernel *kernel = r->instance->kernel;
  int tensor = 0;
  r->tensor_types = WF_ARENA_ARRAY(arena, (size_t)kernel->param_count + 1, lang_dtype);
  r->tensor_names = WF_ARENA_ARRAY(arena, (size_t)kernel->param_count + 1, const char *);
  for (int i = 0; i < kernel->param_count; i++) {
    if (kernel->params[i].kind != LANG_POINTER) continue;
    r->tensor_types[tensor] = r->instance->dtypes[i];
    r->tensor_names[tensor++] = kernel->params[i].name;
  }
}

static bool run_program(lang_runner *r) {
  const lang_kernel *kernel = r->instance->kernel;
  lang_run_frame frame = {.function = kernel->function};
  int tensor = 0;
  r->arena = wf_arena_create();
  frame.locals = WF_ARENA_ARRAY(r->arena, (size_t)kernel->function->local_count + 1, lang_run_value);
  for (int i = 0; i < kernel->param_count; i++) {
    if (kernel->params[i].kind == LANG_POINTER)
      frame.locals[i] = (lang_run_value){.kind = RUN_POINTER, .pointer = {.tensor = tensor++}};
    else if (r->instance->values[i].kind == LANG_TYPE)
      frame.locals[i] = (lang_run_value){.kind = RUN_DTYPE, .dtype = (lang_dtype)r->instance->values[i].integer};
    else
      frame.locals[i] = (lang_run_value){.kind = RUN_SCALAR, .scalar = r->instance->values[i]};
  }
  r->frame = &frame;
  const bool ok = body(r, kernel->function->items, kernel->function->count);
  wf_arena_destroy(r->arena);
  return ok;
}

bool lang_run(const lang_instance *instance, const lang_tensor *tensors, wf_diag *diag) {
  const int64_t *grid = instance->grid;
  wf_arena *names = wf_arena_create();
  lang_runner r = {.instance = instance, .s = &instance->file->s, .diag = diag, .tensors = tensors};
  bool ok = true;
  name_tensors(&r, names);
  for (int64_t p = 0; p < grid[0] * grid[1] * grid[2] && ok; p++) {
    r.program_id[0] = p % grid[0];
    r.program_id[1] = p / grid[0] % grid[1];
    r.program_id[2] = p / grid[0] / grid[1];
    ok = run_program(&r);
  }
  wf_arena_destroy(names);
  return ok;
}
