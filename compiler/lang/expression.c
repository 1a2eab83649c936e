// SPDX-License-Identifier: Apache-2.0
// Expressions by precedence climbing over one table of operators.
#include <string.h>

#include "compiler/lang/parser.h"

const char *const lang_ast_op_texts[AST_OP_COUNT] = {
#define X(name, text) text,
    AST_OPS(X)
#undef X
};

// From loose to tight; `**` and the unary operators stand apart.
static const struct {
  lang_lex_kind token;
  lang_ast_op op;
  int level;
} binary_operators[] = {
    {LEX_OR, AST_BIT_OR, 1}, {LEX_XOR, AST_BIT_XOR, 2}, {LEX_AND, AST_BIT_AND, 3}, {LEX_LEFT, AST_SHL, 4},
    {LEX_RIGHT, AST_SHR, 4}, {LEX_PLUS, AST_ADD, 5},    {LEX_MINUS, AST_SUB, 5},   {LEX_STAR, AST_MUL, 6},
    {LEX_SLASH, AST_DIV, 6}, {LEX_FLOOR, AST_FLOOR, 6}, {LEX_PERCENT, AST_MOD, 6}, {LEX_AT, AST_MATMUL, 6},
};
static const struct {
  lang_lex_kind token;
  lang_ast_op op;
} comparisons[] = {
    {LEX_LESS, AST_LT},          {LEX_LESS_EQUAL, AST_LE}, {LEX_GREATER, AST_GT},
    {LEX_GREATER_EQUAL, AST_GE}, {LEX_EQUAL, AST_EQ},      {LEX_NOT_EQUAL, AST_NE},
};
static const char *const keywords[] = {
    "and",      "as",     "assert",  "async", "await", "break",  "class", "continue", "def",  "del",  "elif",
    "else",     "except", "finally", "for",   "from",  "global", "if",    "import",   "in",   "is",   "lambda",
    "nonlocal", "not",    "or",      "pass",  "raise", "return", "try",   "while",    "with", "yield"};

bool lang_parser_is_keyword(const char *name) {
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (strcmp(keywords[i], name) == 0) return true;
  return false;
}

static lang_ast *unsupported(lang_parser *p, const char *what, const char *hint) {
  lang_parser_error(p, p->at->span, "%s cannot be used in a kernel", what);
  if (hint != NULL) lang_parser_hint(p, "%s", hint);
  return NULL;
}

static lang_ast *binary(lang_parser *p, lang_ast_kind kind, lang_ast_op op, lang_ast *a, lang_ast *b) {
  if (a == NULL || b == NULL || p->failed) return NULL;
  lang_ast *node = lang_parser_node(p, kind, a->span);
  node->span = lang_source_join(a->span, b->span);
  node->op = op;
  node->a = a;
  node->b = b;
  node->depth = 1 + (a->depth > b->depth ? a->depth : b->depth);
  if (node->depth > PARSER_CHAIN_MAX) lang_parser_error(p, b->span, "this chain of operators is too long");
  return p->failed ? NULL : node;
}

// ---- atoms

static lang_ast *number(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, lang_parser_is(p, LEX_INT) ? AST_INT : AST_FLOAT, p->at->span);
  node->integer = p->at->integer;
  node->number = p->at->number;
  lang_parser_next(p);
  return lang_parser_close(p, node);
}

// Neighbouring strings are one.
static lang_ast *string(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_STRING, p->at->span);
  node->name = p->at->text;
  lang_parser_next(p);
  while (lang_parser_is(p, LEX_STRING)) {
    node->name = wf_arena_format(p->arena, "%s%s", node->name, p->at->text);
    lang_parser_next(p);
  }
  return lang_parser_close(p, node);
}

static lang_ast *name_or_constant(lang_parser *p) {
  const char *text = p->at->text;
  if (strcmp(text, "lambda") == 0) return unsupported(p, "a lambda", "write a function with @jit and call it");
  if (strcmp(text, "await") == 0 || strcmp(text, "yield") == 0) return unsupported(p, text, NULL);
  if (lang_parser_is_keyword(text)) {
    lang_parser_error(p, p->at->span, "expected an expression, found '%s'", text);
    return NULL;
  }
  lang_ast *node = lang_parser_node(p, AST_NAME, p->at->span);
  node->name = text;
  if (strcmp(text, "None") == 0) node->kind = AST_NONE;
  if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0) {
    node->kind = AST_BOOL;
    node->integer = text[0] == 'T';
  }
  lang_parser_next(p);
  return lang_parser_close(p, node);
}

// Elements up to a closing bracket, with a comma allowed behind the last one. *comma: there was one.
static bool elements(lang_parser *p, lang_lex_kind close, lang_ast *node, bool *comma) {
  lang_parser_list list = {0};
  *comma = false;
  while (!lang_parser_is(p, close)) {
    lang_ast *item = lang_parser_expression(p);
    if (item == NULL) return false;
    if (lang_parser_is_word(p, "for")) {
      unsupported(p, "a comprehension", "write the elements out");
      return false;
    }
    lang_parser_push(p, &list, item);
    *comma = lang_parser_take(p, LEX_COMMA);
    if (!*comma) break;
  }
  node->items = list.items;
  node->count = (int)list.count;
  return lang_parser_expect(p, close, "the elements");
}

static lang_ast *parentheses(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_TUPLE, p->at->span);
  bool comma;
  lang_parser_next(p);
  if (!elements(p, LEX_CLOSE, node, &comma)) return NULL;
  // (x) is x; its place stays that of x, so messages about it do not point at the brackets.
  return node->count == 1 && !comma ? node->items[0] : lang_parser_close(p, node);
}

static lang_ast *list_display(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_LIST, p->at->span);
  bool comma;
  lang_parser_next(p);
  return elements(p, LEX_CLOSE_SQUARE, node, &comma) ? lang_parser_close(p, node) : NULL;
}

static lang_ast *dict_display(lang_parser *p) {
  lang_ast *node = lang_parser_node(p, AST_DICT, p->at->span);
  lang_parser_list list = {0};
  lang_parser_next(p);
  while (!lang_parser_is(p, LEX_CLOSE_CURLY)) {
    lang_ast *key = lang_parser_expression(p);
    if (key == NULL || !lang_parser_expect(p, LEX_COLON, "the key")) return NULL;
    lang_ast *value = lang_parser_expression(p);
    if (value == NULL) return NULL;
    lang_parser_push(p, &list, key);
    lang_parser_push(p, &list, value);
    if (!lang_parser_take(p, LEX_COMMA)) break;
  }
  node->items = list.items;
  node->count = (int)list.count;
  return lang_parser_expect(p, LEX_CLOSE_CURLY, "the elements") ? lang_parser_close(p, node) : NULL;
}

static lang_ast *atom(lang_parser *p) {
  switch (p->at->kind) {
    case LEX_INT:
    case LEX_FLOAT:
      return number(p);
    case LEX_STRING:
      return string(p);
    case LEX_NAME:
      return name_or_constant(p);
    case LEX_OPEN:
      return parentheses(p);
    case LEX_OPEN_SQUARE:
      return list_display(p);
    case LEX_OPEN_CURLY:
      return dict_display(p);
    case LEX_ELLIPSIS:
      return unsupported(p, "'...'", "write ':' for each dimension");
    case LEX_STAR:
    case LEX_POWER:
      return unsupported(p, "unpacking with '*'", "write the elements out");
    default:
      lang_parser_error(p, p->at->span, "expected an expression, found %s", lang_lex_kind_text(p->at->kind));
      return NULL;
  }
}

// ---- calls, subscripts, attributes

static lang_ast *argument(lang_parser *p) {
  if (lang_parser_is(p, LEX_NAME) && p->at[1].kind == LEX_ASSIGN) {
    lang_ast *node = lang_parser_node(p, AST_KEYWORD, p->at->span);
    node->name = p->at->text;
    node->name_span = p->at->span;
    lang_parser_next(p);
    lang_parser_next(p);
    node->a = lang_parser_expression(p);
    return node->a == NULL ? NULL : lang_parser_close(p, node);
  }
  return lang_parser_expression(p);
}

static lang_ast *call(lang_parser *p, lang_ast *callee) {
  lang_ast *node = lang_parser_node(p, AST_CALL, callee->span);
  lang_parser_list list = {0};
  lang_parser_next(p);
  while (!lang_parser_is(p, LEX_CLOSE)) {
    lang_ast *item = argument(p);
    if (item == NULL) return NULL;
    if (lang_parser_is_word(p, "for")) return unsupported(p, "a comprehension", "write the elements out");
    if (item->kind != AST_KEYWORD && list.count > 0 && list.items[list.count - 1]->kind == AST_KEYWORD) {
      lang_parser_error(p, item->span, "an argument without a name stands behind one with a name");
      return NULL;
    }
    lang_parser_push(p, &list, item);
    if (!lang_parser_take(p, LEX_COMMA)) break;
  }
  node->a = callee;
  node->items = list.items;
  node->count = (int)list.count;
  return lang_parser_expect(p, LEX_CLOSE, "the arguments") ? lang_parser_close(p, node) : NULL;
}

static lang_ast *index_item(lang_parser *p) {
  if (!lang_parser_is(p, LEX_COLON)) {
    lang_ast *item = lang_parser_expression(p);
    if (item != NULL && lang_parser_is(p, LEX_COLON))
      return unsupported(p, "a part of a block", "load the part that is needed");
    return item;
  }
  lang_ast *node = lang_parser_node(p, AST_SLICE, p->at->span);
  lang_parser_next(p);
  if (!lang_parser_is(p, LEX_COMMA) && !lang_parser_is(p, LEX_CLOSE_SQUARE))
    return unsupported(p, "a part of a block", "load the part that is needed");
  return lang_parser_close(p, node);
}

static lang_ast *subscript(lang_parser *p, lang_ast *of) {
  lang_ast *node = lang_parser_node(p, AST_SUBSCRIPT, of->span);
  lang_parser_list list = {0};
  lang_parser_next(p);
  do {
    if (lang_parser_is(p, LEX_CLOSE_SQUARE)) break;
    lang_ast *item = index_item(p);
    if (item == NULL) return NULL;
    lang_parser_push(p, &list, item);
  } while (lang_parser_take(p, LEX_COMMA));
  node->a = of;
  node->items = list.items;
  node->count = (int)list.count;
  if (node->count == 0) {
    lang_parser_error(p, p->at->span, "expected an index");
    return NULL;
  }
  return lang_parser_expect(p, LEX_CLOSE_SQUARE, "the index") ? lang_parser_close(p, node) : NULL;
}

static lang_ast *attribute(lang_parser *p, lang_ast *of) {
  lang_parser_next(p);
  lang_ast *node = lang_parser_node(p, AST_ATTRIBUTE, of->span);
  node->a = of;
  node->name_span = p->at->span;
  node->name = p->at->text;
  return lang_parser_expect(p, LEX_NAME, "'.'") ? lang_parser_close(p, node) : NULL;
}

static lang_ast *primary(lang_parser *p) {
  lang_ast *node = atom(p);
  int links = 0;
  while (node != NULL && !p->failed) {
    if (lang_parser_is(p, LEX_OPEN))
      node = call(p, node);
    else if (lang_parser_is(p, LEX_OPEN_SQUARE))
      node = subscript(p, node);
    else if (lang_parser_is(p, LEX_DOT))
      node = attribute(p, node);
    else
      break;
    if (++links > PARSER_CHAIN_MAX) lang_parser_error(p, p->last->span, "this chain is too long");
  }
  return p->failed ? NULL : node;
}

// ---- operators

static lang_ast *unary(lang_parser *p);

static lang_ast *power(lang_parser *p) {
  lang_ast *base = primary(p);
  if (base == NULL || !lang_parser_take(p, LEX_POWER)) return base;
  return binary(p, AST_BINARY, AST_POW, base, unary(p));
}

static lang_ast *prefixed(lang_parser *p, lang_ast_op op, lang_ast *(*operand)(lang_parser *)) {
  lang_ast *node = lang_parser_node(p, AST_UNARY, p->at->span);
  if (++p->depth > PARSER_DEPTH_MAX) {
    lang_parser_error(p, p->at->span, "this expression is nested too deeply");
    p->depth--;
    return NULL;
  }
  lang_parser_next(p);
  node->op = op;
  node->a = operand(p);
  p->depth--;
  return node->a == NULL ? NULL : lang_parser_close(p, node);
}

static lang_ast *unary(lang_parser *p) {
  switch (p->at->kind) {
    case LEX_MINUS:
      return prefixed(p, AST_NEG, unary);
    case LEX_PLUS:
      return prefixed(p, AST_PLUS, unary);
    case LEX_TILDE:
      return prefixed(p, AST_INVERT, unary);
    default:
      return power(p);
  }
}

static lang_ast *binaries(lang_parser *p, int level) {
  lang_ast *left = unary(p);
  while (left != NULL) {
    size_t i = 0, count = sizeof binary_operators / sizeof *binary_operators;
    while (i < count && (binary_operators[i].token != p->at->kind || binary_operators[i].level < level)) i++;
    if (i == count) break;
    lang_parser_next(p);
    left = binary(p, AST_BINARY, binary_operators[i].op, left, binaries(p, binary_operators[i].level + 1));
  }
  return left;
}

static bool take_comparison(lang_parser *p, lang_ast_op *op) {
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
    if (lang_parser_take(p, comparisons[i].token)) {
      *op = comparisons[i].op;
      return true;
    }
  if (!lang_parser_take_word(p, "is")) return false;
  *op = lang_parser_take_word(p, "not") ? AST_IS_NOT : AST_IS;
  return true;
}

// a < b < c is a < b and b < c; operands have no effects, so reading b twice is no difference.
static lang_ast *comparison(lang_parser *p) {
  lang_ast *left = binaries(p, 1), *result = NULL;
  lang_ast_op op;
  while (left != NULL && take_comparison(p, &op)) {
    lang_ast *right = binaries(p, 1);
    lang_ast *one = binary(p, AST_COMPARE, op, left, right);
    if (one == NULL) return NULL;
    result = result == NULL ? one : binary(p, AST_BINARY, AST_AND, result, one);
    left = right;
  }
  if (left != NULL && lang_parser_is_word(p, "in")) return unsupported(p, "'in'", NULL);
  return result != NULL ? result : left;
}

static lang_ast *negation(lang_parser *p) {
  return lang_parser_is_word(p, "not") ? prefixed(p, AST_NOT, negation) : comparison(p);
}

static lang_ast *conjunction(lang_parser *p) {
  lang_ast *left = negation(p);
  while (left != NULL && lang_parser_take_word(p, "and")) left = binary(p, AST_BINARY, AST_AND, left, negation(p));
  return left;
}

static lang_ast *disjunction(lang_parser *p) {
  lang_ast *left = conjunction(p);
  while (left != NULL && lang_parser_take_word(p, "or")) left = binary(p, AST_BINARY, AST_OR, left, conjunction(p));
  return left;
}

static lang_ast *conditional(lang_parser *p) {
  lang_ast *value = disjunction(p);
  if (value == NULL || !lang_parser_take_word(p, "if")) return value;
  lang_ast *node = lang_parser_node(p, AST_CONDITIONAL, value->span);
  node->a = value;
  node->b = disjunction(p);
  if (node->b == NULL) return NULL;
  if (!lang_parser_take_word(p, "else")) {
    lang_parser_error(p, p->at->span, "expected 'else'");
    return NULL;
  }
  node->c = lang_parser_expression(p);
  return node->c == NULL ? NULL : lang_parser_close(p, node);
}

lang_ast *lang_parser_expression(lang_parser *p) {
  if (++p->depth > PARSER_DEPTH_MAX) {
    lang_parser_error(p, p->at->span, "this expression is nested too deeply");
    p->depth--;
    return NULL;
  }
  lang_ast *node = conditional(p);
  if (node != NULL && lang_parser_is(p, LEX_WALRUS)) node = unsupported(p, "':='", "assign on a line of its own");
  p->depth--;
  return node;
}

lang_ast *lang_parser_expressions(lang_parser *p) {
  lang_ast *first = lang_parser_expression(p);
  if (first == NULL || !lang_parser_is(p, LEX_COMMA)) return first;
  lang_ast *node = lang_parser_node(p, AST_TUPLE, first->span);
  lang_parser_list list = {0};
  lang_parser_push(p, &list, first);
  while (lang_parser_take(p, LEX_COMMA)) {
    if (lang_parser_is(p, LEX_NEWLINE) || lang_parser_is(p, LEX_ASSIGN)) break;
    lang_ast *item = lang_parser_expression(p);
    if (item == NULL) return NULL;
    lang_parser_push(p, &list, item);
  }
  node->items = list.items;
  node->count = (int)list.count;
  return lang_parser_close(p, node);
}
