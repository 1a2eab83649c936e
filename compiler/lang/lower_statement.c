// Statements: assignments, branches, calls of functions.
#include <string.h>

#include "compiler/lang/lower.h"

enum { CALLS_MAX = 16, STEPS_MAX = 1 << 19 };

// ---- assignments

static bool assign(lowerer *l, const ast *target, const value *v) {
  if (target->kind == AST_NAME) {
    l->frame->locals[target->index] = *v;
    return true;
  }
  if (v->kind != VALUE_TUPLE || v->tuple.count != target->count)
    return lower_fail(l, target, "%d names for %s", target->count, lower_kind_text(v));
  for (int i = 0; i < target->count; i++)
    if (!assign(l, target->items[i], &v->tuple.items[i])) return false;
  return true;
}

// The buffer that an assignment to a variable leaves without owner.
static int owned_buffer(const lowerer *l, const ast *target) {
  if (target->kind != AST_NAME) return BLOCK_NONE;
  const value *old = &l->frame->locals[target->index];
  if (old->kind != VALUE_BLOCK || lower_references(l, old->block.buffer, old) != 0) return BLOCK_NONE;
  return old->block.buffer;
}

static bool assignment(lowerer *l, const ast *node) {
  value v;
  if (node->a->kind == AST_NAME) l->hint = node->a->name;
  return lower_eval(l, node->b, owned_buffer(l, node->a), &v) && assign(l, node->a, &v);
}

static bool augmentation(lowerer *l, const ast *node) {
  ast sum = {.kind = AST_BINARY, .span = node->span, .op = node->op, .a = node->a, .b = node->b};
  value v;
  l->hint = node->a->name;
  return lower_eval(l, &sum, owned_buffer(l, node->a), &v) && assign(l, node->a, &v);
}

// ---- functions

static int param_index(const ast *function, const char *name) {
  for (int i = 0; i < function->param_count; i++)
    if (function->params[i]->name == name) return i;
  return -1;
}

static bool bind_arguments(lowerer *l, const ast *node, const ast *function, value *locals) {
  source_guess guess;
  for (int i = 0; i < node->count; i++) {
    const ast *item = node->items[i];
    const bool named = item->kind == AST_KEYWORD;
    const int at = named ? param_index(function, item->name) : i;
    if (at < 0 || at >= function->param_count) {
      lower_fail(l, item, named ? "%s() has no such parameter" : "%s() gets too many arguments", function->name);
      guess = source_guess_for(named ? item->name : "");
      for (int p = 0; p < function->param_count; p++) source_guess_add(&guess, function->params[p]->name);
      if (guess.best != NULL) lower_hint(l, "did you mean '%s'?", guess.best);
      return false;
    }
    if (!lower_eval(l, named ? item->a : item, BLOCK_NONE, &locals[at])) return false;
  }
  for (int p = 0; p < function->param_count; p++) {
    if (locals[p].kind != VALUE_UNSET) continue;
    if (function->params[p]->b == NULL)
      return lower_fail(l, node, "%s() misses its argument '%s'", function->name, function->params[p]->name);
    if (!lower_eval(l, function->params[p]->b, BLOCK_NONE, &locals[p])) return false;
  }
  return true;
}

bool lower_call(lowerer *l, const ast *node, value *result) {
  ast *function = node->a->callee;
  const char *hint = l->hint;
  int depth = 0;
  for (const lower_frame *f = l->frame; f != NULL; f = f->caller) depth++;
  if (depth > CALLS_MAX) return lower_fail(l, node, "calls are nested too deeply; functions cannot call themselves");
  lower_frame frame = {.caller = l->frame,
                       .call = node,
                       .function = function,
                       .locals = WF_ARENA_ARRAY(l->run, (size_t)function->local_count + 1, value)};
  if (!bind_arguments(l, node, function, frame.locals)) return false;
  frame.result = (value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_NONE}};
  l->frame = &frame;
  const bool ok = lower_body(l, function->items, function->count);
  l->frame = frame.caller;
  l->hint = hint;
  *result = frame.result;
  return ok;
}

static bool return_statement(lowerer *l, const ast *node) {
  if (l->frame->loops > 0) return lower_fail(l, node, "'return' cannot stand in a loop");
  if (node->a != NULL && !lower_eval(l, node->a, BLOCK_NONE, &l->frame->result)) return false;
  l->frame->returned = true;
  return true;
}

// ---- statements

static bool if_statement(lowerer *l, const ast *node) {
  bool truth;
  if (!lower_truth(l, node->a, &truth)) return false;
  if (truth) return lower_body(l, node->items, node->count);
  return node->b == NULL || lower_body(l, node->b->items, node->b->count);
}

static bool statement(lowerer *l, const ast *node) {
  value ignored;
  switch (node->kind) {
    case AST_ASSIGN:
      return assignment(l, node);
    case AST_AUGMENT:
      return augmentation(l, node);
    case AST_FOR:
      return lower_loop(l, node);
    case AST_IF:
      return if_statement(l, node);
    case AST_RETURN:
      return return_statement(l, node);
    case AST_EXPRESSION:
      return lower_eval(l, node->a, BLOCK_NONE, &ignored);
    case AST_PASS:
      return true;
    default:
      return lower_fail(l, node, "this has no meaning here");
  }
}

bool lower_body(lowerer *l, ast *const *items, int count) {
  if (count > 0 && (l->steps += (unsigned)count) > STEPS_MAX)
    return lower_fail(l, items[0], "this kernel takes too many steps to compile; unroll less");
  for (int i = 0; i < count && !l->frame->returned; i++)
    if (!statement(l, items[i])) return false;
  return true;
}
