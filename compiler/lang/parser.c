// SPDX-License-Identifier: Apache-2.0
// Statements, functions and modules. Functions with @jit are read; of all other lines only imports and `grid = ...`.
//
// After an error in a statement the parser goes on behind its line (and the block below it), so that one run reports
// the errors of several statements.
#include "compiler/lang/parser.h"

#include <stdarg.h>
#include <string.h>

#include "compiler/lang/ast.h"

static const struct {
  const char *word, *hint;
} unsupported_statements[] = {
    {"while", "count with 'for ... in range(...)'"},
    {"with", NULL},
    {"try", NULL},
    {"class", NULL},
    {"def", "write the function at module level with @jit"},
    {"async", NULL},
    {"global", "pass the value as an argument"},
    {"nonlocal", "pass the value as an argument"},
    {"del", NULL},
    {"raise", NULL},
    {"assert", "use static_assert"},
    {"break", NULL},
    {"continue", NULL},
    {"yield", NULL},
    {"import", "import at the top of the file"},
    {"from", "import at the top of the file"},
};

static const struct {
  lang_lex_kind token;
  lang_ast_op op;
} augmented[] = {
    {LEX_PLUS_ASSIGN, AST_ADD},    {LEX_MINUS_ASSIGN, AST_SUB},   {LEX_STAR_ASSIGN, AST_MUL},
    {LEX_SLASH_ASSIGN, AST_DIV},   {LEX_FLOOR_ASSIGN, AST_FLOOR}, {LEX_PERCENT_ASSIGN, AST_MOD},
    {LEX_POWER_ASSIGN, AST_POW},   {LEX_AND_ASSIGN, AST_BIT_AND}, {LEX_OR_ASSIGN, AST_BIT_OR},
    {LEX_XOR_ASSIGN, AST_BIT_XOR}, {LEX_LEFT_ASSIGN, AST_SHL},    {LEX_RIGHT_ASSIGN, AST_SHR},
    {LEX_AT_ASSIGN, AST_MATMUL},
};

// ---- tokens

void lang_parser_next(lang_parser *p) {
  p->last = p->at;
  if (p->at->kind != LEX_END) p->at++;
}

bool lang_parser_take(lang_parser *p, lang_lex_kind kind) {
  if (p->at->kind != kind) return false;
  lang_parser_next(p);
  return true;
}

bool lang_parser_take_word(lang_parser *p, const char *word) {
  if (!lang_parser_is_word(p, word)) return false;
  lang_parser_next(p);
  return true;
}

void lang_parser_error(lang_parser *p, lang_source_span span, const char *format, ...) {
  if (p->failed) return;
  p->failed = true;
  if (p->errors++ >= PARSER_ERRORS_MAX) {
    p->diag->errors++;
    return;
  }
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  lang_source_error(p->s, p->diag, span, "%s", text);
}

void lang_parser_hint(lang_parser *p, const char *format, ...) {
  if (p->errors > PARSER_ERRORS_MAX) return;
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_hint(p->diag, "%s", text);
}

bool lang_parser_expect(lang_parser *p, lang_lex_kind kind, const char *after) {
  if (lang_parser_take(p, kind)) return true;
  const char *found = lang_parser_is(p, LEX_NAME) ? p->at->text : NULL;
  if (found != NULL)
    lang_parser_error(p, p->at->span, "expected %s behind %s, found '%s'", lang_lex_kind_text(kind), after, found);
  else
    lang_parser_error(p, p->at->span, "expected %s behind %s, found %s", lang_lex_kind_text(kind), after,
                      lang_lex_kind_text(p->at->kind));
  return false;
}

lang_ast *lang_parser_node(lang_parser *p, lang_ast_kind kind, lang_source_span from) {
  lang_ast *node = WF_ARENA_NEW(p->arena, lang_ast);
  node->kind = kind;
  node->span = from;
  return node;
}

lang_ast *lang_parser_close(lang_parser *p, lang_ast *node) {
  node->span = lang_source_join(node->span, p->last->span);
  return node;
}

void lang_parser_push(lang_parser *p, lang_parser_list *list, lang_ast *node) {
  *WF_ARENA_PUSH(p->arena, list->items, list->count, &list->room) = node;
}

static void skip_line(lang_parser *p) {
  while (!lang_parser_is(p, LEX_NEWLINE) && !lang_parser_is(p, LEX_END)) lang_parser_next(p);
  lang_parser_take(p, LEX_NEWLINE);
}

static void skip_block(lang_parser *p) {
  if (!lang_parser_take(p, LEX_INDENT)) return;
  for (int depth = 1; depth > 0 && !lang_parser_is(p, LEX_END); lang_parser_next(p)) {
    if (lang_parser_is(p, LEX_INDENT)) depth++;
    if (lang_parser_is(p, LEX_DEDENT)) depth--;
  }
}

// Behind the line, and behind the block that hangs on it.
static void skip_statement(lang_parser *p) {
  skip_line(p);
  skip_block(p);
}

// ---- statements

static bool block(lang_parser *p, const char *after, lang_ast *into);

// What can stand left of '=': a name, or names in a tuple.
static bool check_target(lang_parser *p, const lang_ast *target) {
  if (target->kind == AST_NAME) return true;
  if (target->kind == AST_TUPLE || target->kind == AST_LIST) {
    for (int i = 0; i < target->count; i++)
      if (!check_target(p, target->items[i])) return false;
    return true;
  }
  lang_parser_error(p, target->span, "only names can be assigned to");
  if (target->kind == AST_SUBSCRIPT) lang_parser_hint(p, "blocks are values: compute a new one, or store() it");
  return false;
}

static lang_ast *assignment(lang_parser *p, lang_ast *target) {
  lang_ast *node = lang_parser_node(p, AST_ASSIGN, target->span);
  node->a = target;
  if (!check_target(p, target)) return NULL;
  lang_parser_next(p);
  node->b = lang_parser_expressions(p);
  if (node->b == NULL) return NULL;
  if (lang_parser_is(p, LEX_ASSIGN)) {
    lang_parser_error(p, p->at->span, "one '=' to a statement");
    return NULL;
  }
  return lang_parser_close(p, node);
}

static lang_ast *augmentation(lang_parser *p, lang_ast *target, lang_ast_op op) {
  lang_ast *node = lang_parser_node(p, AST_AUGMENT, target->span);
  if (target->kind != AST_NAME) {
    lang_parser_error(p, target->span, "only a name can be changed by '%s='", lang_ast_op_texts[op]);
    return NULL;
  }
  node->op = op;
  node->a = target;
  node->b = lang_parser_expressions(p);
  return node->b == NULL ? NULL : lang_parser_close(p, node);
}

// `x: constexpr = 3` is `x = 3`.
static bool skip_annotation(lang_parser *p) {
  return !lang_parser_take(p, LEX_COLON) || lang_parser_expression(p) != NULL;
}

static lang_ast *expression_statement(lang_parser *p) {
  lang_ast *first = lang_parser_expressions(p);
  if (first == NULL) return NULL;
  if (first->kind == AST_NAME && !skip_annotation(p)) return NULL;
  if (lang_parser_is(p, LEX_ASSIGN)) return assignment(p, first);
  for (size_t i = 0; i < sizeof augmented / sizeof *augmented; i++)
    if (lang_parser_take(p, augmented[i].token)) return augmentation(p, first, augmented[i].op);
  lang_ast *node = lang_parser_node(p, AST_EXPRESSION, first->span);
  node->a = first;
  return lang_parser_close(p, node);
}

static lang_ast *return_statement(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_RETURN, p->at->span);
  lang_parser_next(p);
  if (!lang_parser_is(p, LEX_NEWLINE) && !lang_parser_is(p, LEX_SEMICOLON) &&
      (node->a = lang_parser_expressions(p)) == NULL)
    return NULL;
  return lang_parser_close(p, node);
}

static lang_ast *simple_statement(lang_parser *p) {
  if (lang_parser_is_word(p, "return")) return return_statement(p);
  if (lang_parser_is_word(p, "pass")) {
    lang_ast *node = lang_parser_node(p, AST_PASS, p->at->span);
    lang_parser_next(p);
    return node;
  }
  for (size_t i = 0; i < sizeof unsupported_statements / sizeof *unsupported_statements; i++)
    if (lang_parser_is_word(p, unsupported_statements[i].word)) {
      lang_parser_error(p, p->at->span, "'%s' cannot be used in a kernel", unsupported_statements[i].word);
      if (unsupported_statements[i].hint != NULL) lang_parser_hint(p, "%s", unsupported_statements[i].hint);
      return NULL;
    }
  return expression_statement(p);
}

static lang_ast *for_statement(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_FOR, p->at->span);
  lang_parser_next(p);
  node->a = lang_parser_node(p, AST_NAME, p->at->span);
  node->a->name = p->at->text;
  if (!lang_parser_expect(p, LEX_NAME, "'for'")) return NULL;
  if (!lang_parser_take_word(p, "in")) {
    lang_parser_error(p, p->at->span, "expected 'in' behind the variable of the loop");
    return NULL;
  }
  node->b = lang_parser_expressions(p);
  if (node->b == NULL) return NULL;
  lang_parser_close(p, node);
  if (!block(p, "the range of the loop", node)) return NULL;
  if (lang_parser_is_word(p, "else")) {
    lang_parser_error(p, p->at->span, "'else' cannot be used behind a loop");
    return NULL;
  }
  return node;
}

static lang_ast *if_statement(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_IF, p->at->span);
  lang_parser_next(p);
  node->a = lang_parser_expression(p);
  if (node->a == NULL) return NULL;
  lang_parser_close(p, node);
  if (!block(p, "the condition", node)) return NULL;
  if (lang_parser_is_word(p, "elif")) {
    lang_parser_list list = {0};
    if (++p->depth > PARSER_DEPTH_MAX) lang_parser_error(p, p->at->span, "too many branches");
    lang_ast *other = p->failed ? NULL : if_statement(p);
    p->depth--;
    if (other == NULL) return NULL;
    node->b = lang_parser_node(p, AST_BLOCK, other->span);
    lang_parser_push(p, &list, other);
    node->b->items = list.items;
    node->b->count = 1;
  } else if (lang_parser_is_word(p, "else")) {
    node->b = lang_parser_node(p, AST_BLOCK, p->at->span);
    lang_parser_next(p);
    if (!block(p, "'else'", node->b)) return NULL;
  }
  return node;
}

// A line of simple statements. Returns false after an error.
static bool simple_line(lang_parser *p, lang_parser_list *list) {
  do {
    if (lang_parser_is(p, LEX_NEWLINE)) break;
    lang_ast *node = simple_statement(p);
    if (node == NULL || p->failed) return false;
    lang_parser_push(p, list, node);
  } while (lang_parser_take(p, LEX_SEMICOLON));
  return lang_parser_expect(p, LEX_NEWLINE, "the statement");
}

static void statement(lang_parser *p, lang_parser_list *list) {
  bool done;
  if (lang_parser_is_word(p, "for") || lang_parser_is_word(p, "if")) {
    lang_ast *node = lang_parser_is_word(p, "for") ? for_statement(p) : if_statement(p);
    if (node != NULL) lang_parser_push(p, list, node);
    done = node != NULL && !p->failed;
  } else if (lang_parser_is(p, LEX_INDENT)) {
    lang_parser_error(p, p->at->span, "this line is indented deeper than its block");
    skip_block(p);
    p->failed = false;
    return;
  } else {
    done = simple_line(p, list);
  }
  if (!done) skip_statement(p);
  p->failed = false;
}

// ':' and the statements that hang on a line, into node->items.
static bool block(lang_parser *p, const char *after, lang_ast *into) {
  lang_parser_list list = {0};
  if (!lang_parser_expect(p, LEX_COLON, after)) return false;
  if (!lang_parser_is(p, LEX_NEWLINE)) {
    if (!simple_line(p, &list)) return false;
  } else {
    lang_parser_next(p);
    if (!lang_parser_is(p, LEX_INDENT)) {
      lang_parser_error(p, into->span, "an indented block is missing below this line");
      return false;
    }
    lang_parser_next(p);
    if (++p->depth > PARSER_DEPTH_MAX) lang_parser_error(p, p->at->span, "blocks are nested too deeply");
    if (p->failed) {
      p->depth--;
      return false;
    }
    while (!lang_parser_is(p, LEX_DEDENT) && !lang_parser_is(p, LEX_END)) statement(p, &list);
    p->depth--;
    lang_parser_take(p, LEX_DEDENT);
  }
  into->items = list.items;
  into->count = (int)list.count;
  return true;
}

// ---- functions

static lang_ast *parameter(lang_parser *p) {
  if (lang_parser_is(p, LEX_STAR) || lang_parser_is(p, LEX_POWER) || lang_parser_is(p, LEX_SLASH)) {
    lang_parser_error(p, p->at->span, "%s cannot be used in the parameters of a kernel",
                      lang_lex_kind_text(p->at->kind));
    lang_parser_hint(p, "name every parameter");
    return NULL;
  }
  lang_ast *node = lang_parser_node(p, AST_PARAMETER, p->at->span);
  node->name = p->at->text;
  if (!lang_parser_expect(p, LEX_NAME, "'('")) return NULL;
  if (lang_parser_take(p, LEX_COLON) && (node->a = lang_parser_expression(p)) == NULL) return NULL;
  if (lang_parser_take(p, LEX_ASSIGN) && (node->b = lang_parser_expression(p)) == NULL) return NULL;
  return lang_parser_close(p, node);
}

static bool parameters(lang_parser *p, lang_ast *function) {
  lang_parser_list list = {0};
  if (!lang_parser_expect(p, LEX_OPEN, "the name of the function")) return false;
  while (!lang_parser_is(p, LEX_CLOSE)) {
    lang_ast *node = parameter(p);
    if (node == NULL) return false;
    for (size_t i = 0; i < list.count; i++)
      if (list.items[i]->name == node->name) {
        lang_parser_error(p, node->span, "there are two parameters '%s'", node->name);
        return false;
      }
    lang_parser_push(p, &list, node);
    if (!lang_parser_take(p, LEX_COMMA)) break;
  }
  function->params = list.items;
  function->param_count = (int)list.count;
  return lang_parser_expect(p, LEX_CLOSE, "the parameters");
}

static lang_ast *decorators(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_BLOCK, p->at->span);
  lang_parser_list list = {0};
  while (lang_parser_take(p, LEX_AT)) {
    lang_ast *item = lang_parser_expression(p);
    if (item == NULL || !lang_parser_expect(p, LEX_NEWLINE, "the decorator")) return NULL;
    lang_parser_push(p, &list, item);
  }
  node->items = list.items;
  node->count = (int)list.count;
  return node;
}

static lang_ast *function(lang_parser *p) {
  lang_ast *marks = decorators(p);
  if (marks == NULL) return NULL;
  lang_ast *node = lang_parser_node(p, AST_FUNCTION, p->at->span);
  node->b = marks;
  if (!lang_parser_take_word(p, "def")) {
    lang_parser_error(p, p->at->span, "expected 'def' behind the decorators");
    return NULL;
  }
  node->name_span = p->at->span;
  node->name = p->at->text;
  if (!lang_parser_expect(p, LEX_NAME, "'def'") || !parameters(p, node)) return NULL;
  if (lang_parser_take(p, LEX_ARROW) && lang_parser_expression(p) == NULL) return NULL;
  lang_parser_close(p, node);
  return block(p, "the parameters", node) ? node : NULL;
}

// ---- modules

// Whether one of the decorators that start here is jit, by the last name before its arguments.
static bool is_jit(const lang_parser *p) {
  for (const lang_lex_token *t = p->at; t->kind == LEX_AT;) {
    const char *name = NULL;
    for (t++; t->kind == LEX_NAME || t->kind == LEX_DOT; t++)
      if (t->kind == LEX_NAME) name = t->text;
    if (name != NULL && strcmp(name, "jit") == 0) return true;
    while (t->kind != LEX_NEWLINE && t->kind != LEX_END) t++;
    if (t->kind == LEX_NEWLINE) t++;
  }
  return false;
}

static const char *dotted(lang_parser *p) {
  const char *path = p->at->text;
  if (!lang_parser_expect(p, LEX_NAME, "'import'")) return NULL;
  while (lang_parser_take(p, LEX_DOT)) {
    path = wf_arena_format(p->arena, "%s.%s", path, lang_parser_is(p, LEX_NAME) ? p->at->text : "");
    if (!lang_parser_expect(p, LEX_NAME, "'.'")) return NULL;
  }
  return path;
}

typedef struct module_lists {
  lang_ast_module *module;
  size_t function_room, grid_room, import_room;
} module_lists;

static void add_import(lang_parser *p, module_lists *m, const char *module, const char *name, const char *as) {
  *WF_ARENA_PUSH(p->arena, m->module->imports, m->module->import_count, &m->import_room) =
      (lang_ast_import){module, name, as};
}

static const char *import_as(lang_parser *p, const char *otherwise) {
  if (!lang_parser_take_word(p, "as")) return otherwise;
  const char *name = p->at->text;
  return lang_parser_expect(p, LEX_NAME, "'as'") ? name : NULL;
}

static void import_modules(lang_parser *p, module_lists *m) {
  do {
    const char *path = dotted(p);
    if (path == NULL) return;
    const char *as = import_as(p, NULL);
    // Without `as`, `import a.b` makes `a` known.
    size_t first = strcspn(path, ".");
    if (as != NULL)
      add_import(p, m, path, NULL, as);
    else
      add_import(p, m, wf_arena_text(p->arena, path, first), NULL, wf_arena_text(p->arena, path, first));
  } while (lang_parser_take(p, LEX_COMMA));
}

static void import_names(lang_parser *p, module_lists *m) {
  while (lang_parser_take(p, LEX_DOT) || lang_parser_take(p, LEX_ELLIPSIS)) continue;
  const char *path = lang_parser_is_word(p, "import") ? "" : dotted(p);
  if (path == NULL || !lang_parser_take_word(p, "import")) return;
  if (lang_parser_take(p, LEX_STAR)) {
    add_import(p, m, path, "*", "*");
    return;
  }
  bool bracket = lang_parser_take(p, LEX_OPEN);
  do {
    const char *name = p->at->text;
    if (!lang_parser_take(p, LEX_NAME)) break;
    const char *as = import_as(p, name);
    if (as != NULL) add_import(p, m, path, name, as);
  } while (lang_parser_take(p, LEX_COMMA));
  if (bracket) lang_parser_take(p, LEX_CLOSE);
}

static lang_ast *lambda(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_LAMBDA, p->at->span);
  lang_parser_next(p);
  if (lang_parser_is(p, LEX_NAME)) {
    node->name = p->at->text;
    lang_parser_next(p);
  }
  if (!lang_parser_expect(p, LEX_COLON, "the parameter of the lambda")) return NULL;
  node->a = lang_parser_expressions(p);
  return node->a == NULL ? NULL : lang_parser_close(p, node);
}

static void grid(lang_parser *p, module_lists *m) {
  lang_ast_grid found = {.line = p->at->span.line};
  lang_parser_next(p);
  lang_parser_next(p);
  found.value = lang_parser_is_word(p, "lambda") ? lambda(p) : lang_parser_expressions(p);
  if (found.value != NULL && lang_parser_expect(p, LEX_NEWLINE, "the grid"))
    *WF_ARENA_PUSH(p->arena, m->module->grids, m->module->grid_count, &m->grid_room) = found;
  else
    skip_line(p);
}

static void module_line(lang_parser *p, module_lists *m) {
  if (lang_parser_is(p, LEX_AT) && is_jit(p)) {
    lang_ast *node = function(p);
    if (node != NULL)
      *WF_ARENA_PUSH(p->arena, m->module->functions, m->module->function_count, &m->function_room) = node;
    else
      skip_statement(p);
  } else if (lang_parser_take_word(p, "import")) {
    import_modules(p, m);
    skip_line(p);
  } else if (lang_parser_take_word(p, "from")) {
    import_names(p, m);
    skip_line(p);
  } else if (lang_parser_is_word(p, "grid") && p->at[1].kind == LEX_ASSIGN) {
    grid(p, m);
  } else if (lang_parser_is(p, LEX_INDENT) || lang_parser_is(p, LEX_DEDENT)) {
    lang_parser_next(p);
  } else {
    skip_line(p);
  }
}

void lang_ast_parse(const lang_source *s, wf_arena *arena, wf_diag *diag, lang_ast_module *module) {
  lang_lex_tokens tokens = lang_lex_file(s, arena, diag);
  lang_parser p = {.s = s, .arena = arena, .diag = diag, .at = tokens.tokens, .last = tokens.tokens};
  module_lists lists = {.module = module};
  *module = (lang_ast_module){0};
  while (!lang_parser_is(&p, LEX_END)) {
    p.failed = false;
    module_line(&p, &lists);
  }
}

const char *lang_ast_last_name(const lang_ast *a) {
  return a != NULL && (a->kind == AST_NAME || a->kind == AST_ATTRIBUTE) ? a->name : NULL;
}
