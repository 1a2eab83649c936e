// SPDX-License-Identifier: Apache-2.0
// Statements: assignments, branches, calls of functions.
#include <string.h>

#include "compiler/lang/lower.h"

enum { CALLS_MAX = 16, STEPS_MAX = 1 << 19 };

// ---- assignments

static bool assign(lang_lowerer *l, const lang_ast *target, const lang_lower_value *v) {
  if (target->kind == AST_NAME) {
    l->frame->locals[target->index] = *v;
    return true;
  }
  if (v->kind != VALUE_TUPLE || v->tuple.count != target->count)
    return lang_lower_fail(l, target, "%d names for %s", target->count, lang_lower_kind_text(v));
  for (int i = 0; i < target->count; i++)
    if (!assign(l, target->items[i], &v->tuple.items[i])) return false;
  return true;
}

// The buffer that an assignment to a variable leaves without owner.
static int owned_buffer(const lang_lowerer *l, const lang_ast *target) {
  if (target->kind != AST_NAME) return BLOCK_NONE;
  const lang_lower_value *old = &l->frame->locals[target->index];
  if (old->kind != VALUE_BLOCK || lang_lower_references(l, old->block.buffer, old) != 0) return BLOCK_NONE;
  return old->block.buffer;
}

static bool assignment(lang_lowerer *l, const lang_ast *node) {
  lang_lower_value v;
  if (node->a->kind == AST_NAME) l->hint = node->a->name;
  return lang_lower_eval(l, node->b, owned_buffer(l, node->a), &v) && assign(l, node->a, &v);
}

static bool augmentation(lang_lowerer *l, const lang_ast *node) {
  lang_ast sum = {.kind = AST_BINARY, .span = node->span, .op = node->op, .a = node->a, .b = node->b};
  lang_lower_value v;
  l->hint = node->a->name;
  return lang_lower_eval(l, &sum, owned_buffer(l, node->a), &v) && assign(l, node->a, &v);
}

// ---- functions

static int param_index(const lang_ast *function, const char *name) {
  for (int i = 0; i < function->param_count; i++)
    if (function->params[i]->name == name) return i;
  return -1;
}

static bool bind_arguments(lang_lowerer *l, const lang_ast *node, const lang_ast *function, lang_lower_value *locals) {
  lang_source_guess guess;
  for (int i = 0; i < node->count; i++) {
    const lang_ast *item = node->items[i];
    const bool named = item->kind == AST_KEYWORD;
    const int at = named ? param_index(function, item->name) : i;
    if (at < 0 || at >= function->param_count) {
      lang_lower_fail(l, item, named ? "%s() has no such parameter" : "%s() gets too many arguments", function->name);
      guess = lang_source_guess_for(named ? item->name : "");
      for (int p = 0; p < function->param_count; p++) lang_source_guess_add(&guess, function->params[p]->name);
      if (guess.best != NULL) lang_lower_hint(l, "did you mean '%s'?", guess.best);
      return false;
    }
    if (!lang_lower_eval(l, named ? item->a : item, BLOCK_NONE, &locals[at])) return false;
  }
  for (int p = 0; p < function->param_count; p++) {
    if (locals[p].kind != VALUE_UNSET) continue;
    if (function->params[p]->b == NULL)
      return lang_lower_fail(l, node, "%s() misses its argument '%s'", function->name, function->params[p]->name);
    if (!lang_lower_eval(l, function->params[p]->b, BLOCK_NONE, &locals[p])) return false;
  }
  return true;
}

bool lang_lower_call(lang_lowerer *l, const lang_ast *node, lang_lower_value *result) {
  lang_ast *function = node->a->callee;
  const char *hint = l->hint;
  int depth = 0;
  for (const lang_lower_frame *f = l->frame; f != NULL; f = f->caller) depth++;
  if (depth > CALLS_MAX)
    return lang_lower_fail(l, node, "calls are nested too deeply; functions cannot call themselves");
  lang_lower_frame frame = {.caller = l->frame,
                            .call = node,
                            .function = function,
                            .locals = WF_ARENA_ARRAY(l->run, (size_t)function->local_count + 1, lang_lower_value)};
  if (!bind_arguments(l, node, function, frame.locals)) return false;
  frame.result = (lang_lower_value){.kind = VALUE_SCALAR, .scalar = {.kind = LANG_NONE}};
  l->frame = &frame;
  const bool ok = lang_lower_body(l, function->items, function->count);
  l->frame = frame.caller;
  l->hint = hint;
  *result = frame.result;
  return ok;
}

static bool return_statement(lang_lowerer *l, const lang_ast *node) {
  if (l->frame->loops > 0) return lang_lower_fail(l, node, "'return' cannot stand in a loop");
  if (node->a != NULL && !lang_lower_eval(l, node->a, BLOCK_NONE, &l->frame->result)) return false;
  l->frame->returned = true;
  return true;
}

// ---- statements

static bool if_statement(lang_lowerer *l, const lang_ast *node) {
  bool truth;
  if (!lang_lower_truth(l, node->a, &truth)) return false;
  if (truth) return lang_lower_body(l, node->items, node->count);
  return node->b == NULL || lang_lower_body(l, node->b->items, node->b->count);
}

static bool statement(lang_lowerer *l, const lang_ast *node) {
  lang_lower_value ignored;
  switch (node->kind) {
    case AST_ASSIGN:
      return assignment(l, node);
    case AST_AUGMENT:
      return augmentation(l, node);
    case AST_FOR:
      return lang_lower_loop(l, node);
    case AST_IF:
      return if_statement(l, node);
    case AST_RETURN:
      return return_statement(l, node);
    case AST_EXPRESSION:
      return lang_lower_eval(l, node->a, BLOCK_NONE, &ignored);
    case AST_PASS:
      return true;
    default:
      return lang_lower_fail(l, node, "this has no meaning here");
  }
}

bool lang_lower_body(lang_lowerer *l, lang_ast *const *items, int count) {
  if (count > 0 && (l->steps += (unsigned)count) > STEPS_MAX)
    return lang_lower_fail(l, items[0], "this kernel takes too many steps to compile; unroll less");
  for (int i = 0; i < count && !l->frame->returned; i++)
    if (!statement(l, items[i])) return false;
  return true;
}
