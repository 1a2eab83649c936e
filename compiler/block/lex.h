// SPDX-License-Identifier: Apache-2.0
// Tokens of the text of block programs, and of a parser that stops at its first error: after it every token is the end.
#ifndef COMPILER_BLOCK_LEX_H
#define COMPILER_BLOCK_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

typedef enum { LEX_END, LEX_LINE, LEX_NAME, LEX_NUMBER, LEX_SIGN } block_lex_kind;

typedef struct block_lex_token {
  block_lex_kind kind;
  const char *text;  // in the source; a sign is one character, or "+="
  size_t length;
  wf_location where;
} block_lex_token;

typedef struct block_lexer {
  const char *file, *next, *end, *line_start;
  unsigned line;
  block_lex_token token;  // the current one
  wf_diag *diag;
  bool failed;
} block_lexer;

void block_lex_start(block_lexer *lex, const char *file, const char *text, size_t length, wf_diag *diag);
void block_lex_step(block_lexer *lex);
// Reports an error, the first one only, and moves to the end.
void block_lex_error(block_lexer *lex, wf_location where, const char *format, ...) WF_PRINTF(3, 4);

bool block_lex_is(const block_lexer *lex, const char *text);         // the current token is this name or sign
bool block_lex_take(block_lexer *lex, const char *text);             // and step over it
void block_lex_expect(block_lexer *lex, const char *text);           // or an error
block_lex_token block_lex_name(block_lexer *lex, const char *what);  // a name, or an error
int64_t block_lex_integer(block_lexer *lex, const char *what);       // with an optional minus, or an error
int64_t block_lex_size(block_lexer *lex, const char *what, int64_t min, int64_t max);
double block_lex_number(block_lexer *lex, const char *what);

#endif
