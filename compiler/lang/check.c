// SPDX-License-Identifier: Apache-2.0
// Names: every NAME and ATTRIBUTE of a function gets its meaning; see check.h.
//
// A name that a function assigns anywhere is a variable of it. Other names are functions of the file with @jit, then
// what imports make known, then the few names that need no import.
#include "compiler/lang/check.h"

#include <string.h>

#include "compiler/lang/builtins.h"

typedef struct checker {
  lang_file *file;
  wf_diag *diag;
  lang_ast *function;
  size_t room;
} checker;

const lang_ast *lang_check_find_function(const lang_file *file, const char *name) {
  for (size_t i = 0; i < file->module.function_count; i++)
    if (strcmp(file->module.functions[i]->name, name) == 0) return file->module.functions[i];
  return NULL;
}

// ---- variables

static int local_slot(const lang_ast *function, const char *name) {
  for (int i = 0; i < function->local_count; i++)
    if (function->locals[i] == name) return i;
  return -1;
}

static void add_local(checker *c, const char *name) {
  lang_ast *f = c->function;
  if (local_slot(f, name) >= 0) return;
  size_t count = (size_t)f->local_count;
  *WF_ARENA_PUSH(c->file->arena, f->locals, count, &c->room) = name;
  f->local_count = (int)count;
}

static void add_targets(checker *c, const lang_ast *target) {
  if (target->kind == AST_NAME) add_local(c, target->name);
  for (int i = 0; i < target->count; i++) add_targets(c, target->items[i]);
}

static void collect_locals(checker *c, const lang_ast *node) {
  if (node == NULL) return;
  if (node->kind == AST_ASSIGN || node->kind == AST_AUGMENT || node->kind == AST_FOR) add_targets(c, node->a);
  if (node->kind == AST_IF || node->kind == AST_FOR || node->kind == AST_BLOCK || node->kind == AST_FUNCTION)
    for (int i = 0; i < node->count; i++) collect_locals(c, node->items[i]);
  if (node->kind == AST_IF) collect_locals(c, node->b);
}

// ---- names of the language

static bool is_language(const char *module) { return strncmp(module, "triton", 6) == 0 || strcmp(module, "weft") == 0; }

static bool set_language_name(lang_ast *node, const char *name) {
  int builtin = lang_builtin_find(name), dtype = lang_dtype_find(name);
  if (builtin < 0 && dtype < 0) return false;
  node->meaning = builtin >= 0 ? AST_BUILTIN : AST_DTYPE;
  node->index = builtin >= 0 ? builtin : dtype;
  return true;
}

// What the imports make of a name; "*" makes known all names of the language.
static bool resolve_import(lang_file *file, lang_ast *node) {
  for (size_t i = file->module.import_count; i-- > 0;) {
    const lang_ast_import *import = &file->module.imports[i];
    if (!is_language(import->module)) continue;
    bool all = import->name != NULL && strcmp(import->name, "*") == 0;
    if (all && set_language_name(node, node->name)) return true;
    if (all || strcmp(import->as, node->name) != 0) continue;
    // `from triton import language as tl` imports a module.
    if (import->name != NULL && set_language_name(node, import->name)) return true;
    node->meaning = AST_MODULE;
    return true;
  }
  return false;
}

void lang_check_module_name(lang_file *file, lang_ast *node) {
  if (node->kind == AST_ATTRIBUTE) {
    lang_check_module_name(file, node->a);
    if (node->a->meaning == AST_MODULE && !set_language_name(node, node->name)) node->meaning = AST_MODULE;
    return;
  }
  if (node->kind != AST_NAME || resolve_import(file, node)) return;
  int plain = lang_builtin_find(node->name);
  if (plain < 0 || !lang_builtin_is_plain(plain)) return;
  node->meaning = AST_BUILTIN;
  node->index = plain;
}

// ---- messages

static void guess_language(lang_source_guess *guess) {
  for (int i = 0; i < BUILTIN_COUNT; i++) lang_source_guess_add(guess, lang_builtin_names[i]);
  for (int i = LANG_INT8; i < LANG_DTYPES; i++) lang_source_guess_add(guess, lang_dtype_names[i]);
}

static void unknown_name(checker *c, const lang_ast *node) {
  lang_source_guess guess = lang_source_guess_for(node->name);
  const char *refusal = lang_builtin_refusal(node->name);
  for (int i = 0; i < c->function->local_count; i++) lang_source_guess_add(&guess, c->function->locals[i]);
  for (size_t i = 0; i < c->file->module.function_count; i++)
    lang_source_guess_add(&guess, c->file->module.functions[i]->name);
  guess_language(&guess);
  bool builtin = lang_builtin_find(node->name) >= 0 || lang_dtype_find(node->name) >= 0;
  lang_source_error(&c->file->s, c->diag, node->span, "'%s' is not known here", node->name);
  if (builtin)
    wf_hint(c->diag, "import it: from weft import *");
  else if (refusal != NULL)
    wf_hint(c->diag, "'%s' of Triton is not supported: %s", node->name, refusal);
  else if (guess.best != NULL)
    wf_hint(c->diag, "did you mean '%s'?", guess.best);
}

static void unknown_member(checker *c, const lang_ast *node) {
  lang_source_guess guess = lang_source_guess_for(node->name);
  const char *refusal = lang_builtin_refusal(node->name);
  guess_language(&guess);
  if (refusal != NULL) {
    lang_source_error(&c->file->s, c->diag, node->name_span, "'%s' is not supported", node->name);
    wf_hint(c->diag, "%s", refusal);
    return;
  }
  lang_source_error(&c->file->s, c->diag, node->name_span, "the kernel language has no '%s'", node->name);
  if (guess.best != NULL) wf_hint(c->diag, "did you mean '%s'?", guess.best);
}

static void unknown_method(checker *c, const lang_ast *node) {
  lang_source_guess guess = lang_source_guess_for(node->name);
  for (int i = 0; i < METHOD_COUNT; i++) lang_source_guess_add(&guess, lang_method_names[i]);
  lang_source_error(&c->file->s, c->diag, node->name_span, "values have no '.%s'", node->name);
  if (guess.best != NULL) wf_hint(c->diag, "did you mean '.%s'?", guess.best);
}

// ---- resolution

static void resolve(checker *c, lang_ast *node);

static void resolve_name(checker *c, lang_ast *node) {
  node->index = local_slot(c->function, node->name);
  if (node->index >= 0) {
    node->meaning = AST_LOCAL;
    return;
  }
  const lang_ast *callee = lang_check_find_function(c->file, node->name);
  if (callee != NULL) {
    node->meaning = AST_CALLEE;
    node->callee = (lang_ast *)callee;
    return;
  }
  lang_check_module_name(c->file, node);
  if (node->meaning == AST_UNRESOLVED) unknown_name(c, node);
}

static void resolve_attribute(checker *c, lang_ast *node, bool member_of_module) {
  if (node->a->kind == AST_ATTRIBUTE)
    resolve_attribute(c, node->a, true);
  else
    resolve(c, node->a);
  if (node->a->meaning == AST_MODULE && (node->a->kind == AST_NAME || node->a->kind == AST_ATTRIBUTE)) {
    if (set_language_name(node, node->name)) return;
    // A submodule (`triton.language`) if something is taken from it.
    if (member_of_module)
      node->meaning = AST_MODULE;
    else
      unknown_member(c, node);
    return;
  }
  if (node->a->meaning == AST_UNRESOLVED && node->a->kind == AST_NAME) return;  // reported
  node->index = lang_method_find(node->name);
  node->meaning = AST_METHOD;
  if (node->index < 0) unknown_method(c, node);
}

static void resolve(checker *c, lang_ast *node) {
  if (node == NULL) return;
  if (node->kind == AST_NAME) {
    resolve_name(c, node);
    return;
  }
  if (node->kind == AST_ATTRIBUTE) {
    resolve_attribute(c, node, false);
    return;
  }
  resolve(c, node->a);
  resolve(c, node->b);
  resolve(c, node->c);
  for (int i = 0; i < node->count; i++) resolve(c, node->items[i]);
}

static void check_function(checker *c, lang_ast *function) {
  c->function = function;
  c->room = 0;
  for (int i = 0; i < function->param_count; i++) {
    add_local(c, function->params[i]->name);
    if (function->params[i]->b != NULL) lang_check_module_name(c->file, function->params[i]->b);  // a type by default
  }
  collect_locals(c, function);
  for (int i = 0; i < function->count; i++) resolve(c, function->items[i]);
}

void lang_check_names(lang_file *file, wf_diag *diag) {
  checker c = {.file = file, .diag = diag};
  for (size_t i = 0; i < file->module.function_count; i++) {
    lang_ast *function = file->module.functions[i];
    const lang_ast *first = lang_check_find_function(file, function->name);
    if (first != function)
      lang_source_error(&file->s, diag, function->name_span, "there is a function '%s' already", function->name);
    check_function(&c, function);
  }
}
