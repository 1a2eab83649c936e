// What the two halves of the parser share: parser.c reads statements, expression.c expressions.
#ifndef COMPILER_LANG_PARSER_H
#define COMPILER_LANG_PARSER_H

#include <string.h>

#include "compiler/lang/ast.h"
#include "compiler/lang/lexer.h"

enum { PARSER_DEPTH_MAX = 120, PARSER_ERRORS_MAX = 20, PARSER_CHAIN_MAX = 200 };

typedef struct parser {
  const source *s;
  wf_arena *arena;
  wf_diag *diag;
  const lex_token *at;    // the next token
  const lex_token *last;  // the one before
  bool failed;            // in this statement; reported
  unsigned errors;
  int depth;
} parser;

static inline bool parser_is(const parser *p, lex_kind kind) { return p->at->kind == kind; }
static inline bool parser_is_word(const parser *p, const char *word) {
  return p->at->kind == LEX_NAME && strcmp(p->at->text, word) == 0;
}
void parser_next(parser *p);
bool parser_take(parser *p, lex_kind kind);
bool parser_take_word(parser *p, const char *word);
// Takes `kind` or reports that `what` was expected.
bool parser_expect(parser *p, lex_kind kind, const char *after);
void parser_error(parser *p, source_span span, const char *format, ...) WF_PRINTF(3, 4);
void parser_hint(parser *p, const char *format, ...) WF_PRINTF(2, 3);
ast *parser_node(parser *p, ast_kind kind, source_span from);
// Ends a node at the last token that was taken.
ast *parser_close(parser *p, ast *node);

typedef struct parser_list {
  ast **items;
  size_t count, room;
} parser_list;
void parser_push(parser *p, parser_list *list, ast *node);

// NULL after an error.
ast *parser_expression(parser *p);
// With commas: a tuple.
ast *parser_expressions(parser *p);
bool parser_is_keyword(const char *name);

#endif
