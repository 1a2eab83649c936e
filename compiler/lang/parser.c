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
  lex_kind token;
  ast_op op;
} augmented[] = {
    {LEX_PLUS_ASSIGN, AST_ADD},    {LEX_MINUS_ASSIGN, AST_SUB},   {LEX_STAR_ASSIGN, AST_MUL},
    {LEX_SLASH_ASSIGN, AST_DIV},   {LEX_FLOOR_ASSIGN, AST_FLOOR}, {LEX_PERCENT_ASSIGN, AST_MOD},
    {LEX_POWER_ASSIGN, AST_POW},   {LEX_AND_ASSIGN, AST_BIT_AND}, {LEX_OR_ASSIGN, AST_BIT_OR},
    {LEX_XOR_ASSIGN, AST_BIT_XOR}, {LEX_LEFT_ASSIGN, AST_SHL},    {LEX_RIGHT_ASSIGN, AST_SHR},
    {LEX_AT_ASSIGN, AST_MATMUL},
};

// ---- tokens

void parser_next(parser *p) {
  p->last = p->at;
  if (p->at->kind != LEX_END) p->at++;
}

bool parser_take(parser *p, lex_kind kind) {
  if (p->at->kind != kind) return false;
  parser_next(p);
  return true;
}

bool parser_take_word(parser *p, const char *word) {
  if (!parser_is_word(p, word)) return false;
  parser_next(p);
  return true;
}

void parser_error(parser *p, source_span span, const char *format, ...) {
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
  source_error(p->s, p->diag, span, "%s", text);
}

void parser_hint(parser *p, const char *format, ...) {
  if (p->errors > PARSER_ERRORS_MAX) return;
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_hint(p->diag, "%s", text);
}

bool parser_expect(parser *p, lex_kind kind, const char *after) {
  if (parser_take(p, kind)) return true;
  const char *found = parser_is(p, LEX_NAME) ? p->at->text : NULL;
  if (found != NULL)
    parser_error(p, p->at->span, "expected %s behind %s, found '%s'", lex_kind_text(kind), after, found);
  else
    parser_error(p, p->at->span, "expected %s behind %s, found %s", lex_kind_text(kind), after,
                 lex_kind_text(p->at->kind));
  return false;
}

ast *parser_node(parser *p, ast_kind kind, source_span from) {
  ast *node = WF_ARENA_NEW(p->arena, ast);
  node->kind = kind;
  node->span = from;
  return node;
}

ast *parser_close(parser *p, ast *node) {
  node->span = source_join(node->span, p->last->span);
  return node;
}

void parser_push(parser *p, parser_list *list, ast *node) {
  *WF_ARENA_PUSH(p->arena, list->items, list->count, &list->room) = node;
}

static void skip_line(parser *p) {
  while (!parser_is(p, LEX_NEWLINE) && !parser_is(p, LEX_END)) parser_next(p);
  parser_take(p, LEX_NEWLINE);
}

static void skip_block(parser *p) {
  if (!parser_take(p, LEX_INDENT)) return;
  for (int depth = 1; depth > 0 && !parser_is(p, LEX_END); parser_next(p)) {
    if (parser_is(p, LEX_INDENT)) depth++;
    if (parser_is(p, LEX_DEDENT)) depth--;
  }
}

// Behind the line, and behind the block that hangs on it.
static void skip_statement(parser *p) {
  skip_line(p);
  skip_block(p);
}

// ---- statements

static bool block(parser *p, const char *after, ast *into);

// What can stand left of '=': a name, or names in a tuple.
static bool check_target(parser *p, const ast *target) {
  if (target->kind == AST_NAME) return true;
  if (target->kind == AST_TUPLE || target->kind == AST_LIST) {
    for (int i = 0; i < target->count; i++)
      if (!check_target(p, target->items[i])) return false;
    return true;
  }
  parser_error(p, target->span, "only names can be assigned to");
  if (target->kind == AST_SUBSCRIPT) parser_hint(p, "blocks are values: compute a new one, or store() it");
  return false;
}

static ast *assignment(parser *p, ast *target) {
  ast *node = parser_node(p, AST_ASSIGN, target->span);
  node->a = target;
  if (!check_target(p, target)) return NULL;
  parser_next(p);
  node->b = parser_expressions(p);
  if (node->b == NULL) return NULL;
  if (parser_is(p, LEX_ASSIGN)) {
    parser_error(p, p->at->span, "one '=' to a statement");
    return NULL;
  }
  return parser_close(p, node);
}

static ast *augmentation(parser *p, ast *target, ast_op op) {
  ast *node = parser_node(p, AST_AUGMENT, target->span);
  if (target->kind != AST_NAME) {
    parser_error(p, target->span, "only a name can be changed by '%s='", ast_op_texts[op]);
    return NULL;
  }
  node->op = op;
  node->a = target;
  node->b = parser_expressions(p);
  return node->b == NULL ? NULL : parser_close(p, node);
}

// `x: constexpr = 3` is `x = 3`.
static bool skip_annotation(parser *p) { return !parser_take(p, LEX_COLON) || parser_expression(p) != NULL; }

static ast *expression_statement(parser *p) {
  ast *first = parser_expressions(p);
  if (first == NULL) return NULL;
  if (first->kind == AST_NAME && !skip_annotation(p)) return NULL;
  if (parser_is(p, LEX_ASSIGN)) return assignment(p, first);
  for (size_t i = 0; i < sizeof augmented / sizeof *augmented; i++)
    if (parser_take(p, augmented[i].token)) return augmentation(p, first, augmented[i].op);
  ast *node = parser_node(p, AST_EXPRESSION, first->span);
  node->a = first;
  return parser_close(p, node);
}

static ast *return_statement(parser *p) {
  ast *node = parser_node(p, AST_RETURN, p->at->span);
  parser_next(p);
  if (!parser_is(p, LEX_NEWLINE) && !parser_is(p, LEX_SEMICOLON) && (node->a = parser_expressions(p)) == NULL)
    return NULL;
  return parser_close(p, node);
}

static ast *simple_statement(parser *p) {
  if (parser_is_word(p, "return")) return return_statement(p);
  if (parser_is_word(p, "pass")) {
    ast *node = parser_node(p, AST_PASS, p->at->span);
    parser_next(p);
    return node;
  }
  for (size_t i = 0; i < sizeof unsupported_statements / sizeof *unsupported_statements; i++)
    if (parser_is_word(p, unsupported_statements[i].word)) {
      parser_error(p, p->at->span, "'%s' cannot be used in a kernel", unsupported_statements[i].word);
      if (unsupported_statements[i].hint != NULL) parser_hint(p, "%s", unsupported_statements[i].hint);
      return NULL;
    }
  return expression_statement(p);
}

static ast *for_statement(parser *p) {
  ast *node = parser_node(p, AST_FOR, p->at->span);
  parser_next(p);
  node->a = parser_node(p, AST_NAME, p->at->span);
  node->a->name = p->at->text;
  if (!parser_expect(p, LEX_NAME, "'for'")) return NULL;
  if (!parser_take_word(p, "in")) {
    parser_error(p, p->at->span, "expected 'in' behind the variable of the loop");
    return NULL;
  }
  node->b = parser_expressions(p);
  if (node->b == NULL) return NULL;
  parser_close(p, node);
  if (!block(p, "the range of the loop", node)) return NULL;
  if (parser_is_word(p, "else")) {
    parser_error(p, p->at->span, "'else' cannot be used behind a loop");
    return NULL;
  }
  return node;
}

static ast *if_statement(parser *p) {
  ast *node = parser_node(p, AST_IF, p->at->span);
  parser_next(p);
  node->a = parser_expression(p);
  if (node->a == NULL) return NULL;
  parser_close(p, node);
  if (!block(p, "the condition", node)) return NULL;
  if (parser_is_word(p, "elif")) {
    parser_list list = {0};
    if (++p->depth > PARSER_DEPTH_MAX) parser_error(p, p->at->span, "too many branches");
    ast *other = p->failed ? NULL : if_statement(p);
    p->depth--;
    if (other == NULL) return NULL;
    node->b = parser_node(p, AST_BLOCK, other->span);
    parser_push(p, &list, other);
    node->b->items = list.items;
    node->b->count = 1;
  } else if (parser_is_word(p, "else")) {
    node->b = parser_node(p, AST_BLOCK, p->at->span);
    parser_next(p);
    if (!block(p, "'else'", node->b)) return NULL;
  }
  return node;
}

// A line of simple statements. Returns false after an error.
static bool simple_line(parser *p, parser_list *list) {
  do {
    if (parser_is(p, LEX_NEWLINE)) break;
    ast *node = simple_statement(p);
    if (node == NULL || p->failed) return false;
    parser_push(p, list, node);
  } while (parser_take(p, LEX_SEMICOLON));
  return parser_expect(p, LEX_NEWLINE, "the statement");
}

static void statement(parser *p, parser_list *list) {
  bool done;
  if (parser_is_word(p, "for") || parser_is_word(p, "if")) {
    ast *node = parser_is_word(p, "for") ? for_statement(p) : if_statement(p);
    if (node != NULL) parser_push(p, list, node);
    done = node != NULL && !p->failed;
  } else if (parser_is(p, LEX_INDENT)) {
    parser_error(p, p->at->span, "this line is indented deeper than its block");
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
static bool block(parser *p, const char *after, ast *into) {
  parser_list list = {0};
  if (!parser_expect(p, LEX_COLON, after)) return false;
  if (!parser_is(p, LEX_NEWLINE)) {
    if (!simple_line(p, &list)) return false;
  } else {
    parser_next(p);
    if (!parser_is(p, LEX_INDENT)) {
      parser_error(p, into->span, "an indented block is missing below this line");
      return false;
    }
    parser_next(p);
    if (++p->depth > PARSER_DEPTH_MAX) parser_error(p, p->at->span, "blocks are nested too deeply");
    if (p->failed) {
      p->depth--;
      return false;
    }
    while (!parser_is(p, LEX_DEDENT) && !parser_is(p, LEX_END)) statement(p, &list);
    p->depth--;
    parser_take(p, LEX_DEDENT);
  }
  into->items = list.items;
  into->count = (int)list.count;
  return true;
}

// ---- functions

static ast *parameter(parser *p) {
  if (parser_is(p, LEX_STAR) || parser_is(p, LEX_POWER) || parser_is(p, LEX_SLASH)) {
    parser_error(p, p->at->span, "%s cannot be used in the parameters of a kernel", lex_kind_text(p->at->kind));
    parser_hint(p, "name every parameter");
    return NULL;
  }
  ast *node = parser_node(p, AST_PARAMETER, p->at->span);
  node->name = p->at->text;
  if (!parser_expect(p, LEX_NAME, "'('")) return NULL;
  if (parser_take(p, LEX_COLON) && (node->a = parser_expression(p)) == NULL) return NULL;
  if (parser_take(p, LEX_ASSIGN) && (node->b = parser_expression(p)) == NULL) return NULL;
  return parser_close(p, node);
}

static bool parameters(parser *p, ast *function) {
  parser_list list = {0};
  if (!parser_expect(p, LEX_OPEN, "the name of the function")) return false;
  while (!parser_is(p, LEX_CLOSE)) {
    ast *node = parameter(p);
    if (node == NULL) return false;
    for (size_t i = 0; i < list.count; i++)
      if (list.items[i]->name == node->name) {
        parser_error(p, node->span, "there are two parameters '%s'", node->name);
        return false;
      }
    parser_push(p, &list, node);
    if (!parser_take(p, LEX_COMMA)) break;
  }
  function->params = list.items;
  function->param_count = (int)list.count;
  return parser_expect(p, LEX_CLOSE, "the parameters");
}

static ast *decorators(parser *p) {
  ast *node = parser_node(p, AST_BLOCK, p->at->span);
  parser_list list = {0};
  while (parser_take(p, LEX_AT)) {
    ast *item = parser_expression(p);
    if (item == NULL || !parser_expect(p, LEX_NEWLINE, "the decorator")) return NULL;
    parser_push(p, &list, item);
  }
  node->items = list.items;
  node->count = (int)list.count;
  return node;
}

static ast *function(parser *p) {
  ast *marks = decorators(p);
  if (marks == NULL) return NULL;
  ast *node = parser_node(p, AST_FUNCTION, p->at->span);
  node->b = marks;
  if (!parser_take_word(p, "def")) {
    parser_error(p, p->at->span, "expected 'def' behind the decorators");
    return NULL;
  }
  node->name_span = p->at->span;
  node->name = p->at->text;
  if (!parser_expect(p, LEX_NAME, "'def'") || !parameters(p, node)) return NULL;
  if (parser_take(p, LEX_ARROW) && parser_expression(p) == NULL) return NULL;
  parser_close(p, node);
  return block(p, "the parameters", node) ? node : NULL;
}

// ---- modules

// Whether one of the decorators that start here is jit, by the last name before its arguments.
static bool is_jit(const parser *p) {
  for (const lex_token *t = p->at; t->kind == LEX_AT;) {
    const char *name = NULL;
    for (t++; t->kind == LEX_NAME || t->kind == LEX_DOT; t++)
      if (t->kind == LEX_NAME) name = t->text;
    if (name != NULL && strcmp(name, "jit") == 0) return true;
    while (t->kind != LEX_NEWLINE && t->kind != LEX_END) t++;
    if (t->kind == LEX_NEWLINE) t++;
  }
  return false;
}

static const char *dotted(parser *p) {
  const char *path = p->at->text;
  if (!parser_expect(p, LEX_NAME, "'import'")) return NULL;
  while (parser_take(p, LEX_DOT)) {
    path = wf_arena_format(p->arena, "%s.%s", path, parser_is(p, LEX_NAME) ? p->at->text : "");
    if (!parser_expect(p, LEX_NAME, "'.'")) return NULL;
  }
  return path;
}

typedef struct module_lists {
  ast_module *module;
  size_t function_room, grid_room, import_room;
} module_lists;

static void add_import(parser *p, module_lists *m, const char *module, const char *name, const char *as) {
  *WF_ARENA_PUSH(p->arena, m->module->imports, m->module->import_count, &m->import_room) =
      (ast_import){module, name, as};
}

static const char *import_as(parser *p, const char *otherwise) {
  if (!parser_take_word(p, "as")) return otherwise;
  const char *name = p->at->text;
  return parser_expect(p, LEX_NAME, "'as'") ? name : NULL;
}

static void import_modules(parser *p, module_lists *m) {
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
  } while (parser_take(p, LEX_COMMA));
}

static void import_names(parser *p, module_lists *m) {
  while (parser_take(p, LEX_DOT) || parser_take(p, LEX_ELLIPSIS)) continue;
  const char *path = parser_is_word(p, "import") ? "" : dotted(p);
  if (path == NULL || !parser_take_word(p, "import")) return;
  if (parser_take(p, LEX_STAR)) {
    add_import(p, m, path, "*", "*");
    return;
  }
  bool bracket = parser_take(p, LEX_OPEN);
  do {
    const char *name = p->at->text;
    if (!parser_take(p, LEX_NAME)) break;
    const char *as = import_as(p, name);
    if (as != NULL) add_import(p, m, path, name, as);
  } while (parser_take(p, LEX_COMMA));
  if (bracket) parser_take(p, LEX_CLOSE);
}

static ast *lambda(parser *p) {
  ast *node = parser_node(p, AST_LAMBDA, p->at->span);
  parser_next(p);
  if (parser_is(p, LEX_NAME)) {
    node->name = p->at->text;
    parser_next(p);
  }
  if (!parser_expect(p, LEX_COLON, "the parameter of the lambda")) return NULL;
  node->a = parser_expressions(p);
  return node->a == NULL ? NULL : parser_close(p, node);
}

static void grid(parser *p, module_lists *m) {
  ast_grid found = {.line = p->at->span.line};
  parser_next(p);
  parser_next(p);
  found.value = parser_is_word(p, "lambda") ? lambda(p) : parser_expressions(p);
  if (found.value != NULL && parser_expect(p, LEX_NEWLINE, "the grid"))
    *WF_ARENA_PUSH(p->arena, m->module->grids, m->module->grid_count, &m->grid_room) = found;
  else
    skip_line(p);
}

static void module_line(parser *p, module_lists *m) {
  if (parser_is(p, LEX_AT) && is_jit(p)) {
    ast *node = function(p);
    if (node != NULL)
      *WF_ARENA_PUSH(p->arena, m->module->functions, m->module->function_count, &m->function_room) = node;
    else
      skip_statement(p);
  } else if (parser_take_word(p, "import")) {
    import_modules(p, m);
    skip_line(p);
  } else if (parser_take_word(p, "from")) {
    import_names(p, m);
    skip_line(p);
  } else if (parser_is_word(p, "grid") && p->at[1].kind == LEX_ASSIGN) {
    grid(p, m);
  } else if (parser_is(p, LEX_INDENT) || parser_is(p, LEX_DEDENT)) {
    parser_next(p);
  } else {
    skip_line(p);
  }
}

void ast_parse(const source *s, wf_arena *arena, wf_diag *diag, ast_module *module) {
  lex_tokens tokens = lex_file(s, arena, diag);
  parser p = {.s = s, .arena = arena, .diag = diag, .at = tokens.tokens, .last = tokens.tokens};
  module_lists lists = {.module = module};
  *module = (ast_module){0};
  while (!parser_is(&p, LEX_END)) {
    p.failed = false;
    module_line(&p, &lists);
  }
}

const char *ast_last_name(const ast *a) {
  return a != NULL && (a->kind == AST_NAME || a->kind == AST_ATTRIBUTE) ? a->name : NULL;
}
