// SPDX-License-Identifier: Apache-2.0
// What the two halves of the parser share: parser.c reads statements, expression.c expressions.
#ifndef COMPILER_LANG_PARSER_H
#define COMPILER_LANG_PARSER_H

#include <string.h>

#include "compiler/lang/ast.h"
#include "compiler/lang/lexer.h"

enum { PARSER_DEPTH_MAX = 120, PARSER_ERRORS_MAX = 20, PARSER_CHAIN_MAX = 200 };

typedef struct lang_parser {
  const lang_source *s;
  wf_arena *arena;
  wf_diag *diag;
  const lang_lex_token *at;    // the next token
  const lang_lex_token *last;  // the one before
  bool failed;                 // in this statement; reported
  unsigned errors;
  int depth;
} lang_parser;

static inline bool lang_parser_is(const lang_parser *p, lang_lex_kind kind) { return p->at->kind == kind; }
static inline bool lang_parser_is_word(const lang_parser *p, const char *word) {
  return p->at->kind == LEX_NAME && strcmp(p->at->text, word) == 0;
}
void lang_parser_next(lang_parser *p);
bool lang_parser_take(lang_parser *p, lang_lex_kind kind);
bool lang_parser_take_word(lang_parser *p, const char *word);
// Takes `kind` or reports that `what` was expected.
bool lang_parser_expect(lang_parser *p, lang_lex_kind kind, const char *after);
void lang_parser_error(lang_parser *p, lang_source_span span, const char *format, ...) WF_PRINTF(3, 4);
void lang_parser_hint(lang_parser *p, const char *format, ...) WF_PRINTF(2, 3);
lang_ast *lang_parser_node(lang_parser *p, lang_ast_kind kind, lang_source_span from);
// Ends a node at the last token that was taken.
lang_ast *lang_parser_close(lang_parser *p, lang_ast *node);

typedef struct lang_parser_list {
  lang_ast **items;
  size_t count, room;
} lang_parser_list;
void lang_parser_push(lang_parser *p, lang_parser_list *list, lang_ast *node);

// NULL after an error.
lang_ast *lang_parser_expression(lang_parser *p);
// With commas: a tuple.
lang_ast *lang_parser_expressions(lang_parser *p);
bool lang_parser_is_keyword(const char *name);

#endif
