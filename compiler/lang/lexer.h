// SPDX-License-Identifier: Apache-2.0
// Tokens of a file: Python's lines and indentation. Inside brackets line ends mean nothing.
#ifndef COMPILER_LANG_LEXER_H
#define COMPILER_LANG_LEXER_H

#include "compiler/lang/source.h"

// X(NAME, text)
#define LEX_OPERATORS(X)  \
  X(PLUS, "+")            \
  X(MINUS, "-")           \
  X(STAR, "*")            \
  X(POWER, "**")          \
  X(SLASH, "/")           \
  X(FLOOR, "//")          \
  X(PERCENT, "%")         \
  X(AT, "@")              \
  X(LESS, "<")            \
  X(GREATER, ">")         \
  X(LESS_EQUAL, "<=")     \
  X(GREATER_EQUAL, ">=")  \
  X(EQUAL, "==")          \
  X(NOT_EQUAL, "!=")      \
  X(ASSIGN, "=")          \
  X(PLUS_ASSIGN, "+=")    \
  X(MINUS_ASSIGN, "-=")   \
  X(STAR_ASSIGN, "*=")    \
  X(SLASH_ASSIGN, "/=")   \
  X(FLOOR_ASSIGN, "//=")  \
  X(PERCENT_ASSIGN, "%=") \
  X(POWER_ASSIGN, "**=")  \
  X(AT_ASSIGN, "@=")      \
  X(AND_ASSIGN, "&=")     \
  X(OR_ASSIGN, "|=")      \
  X(XOR_ASSIGN, "^=")     \
  X(LEFT_ASSIGN, "<<=")   \
  X(RIGHT_ASSIGN, ">>=")  \
  X(WALRUS, ":=")         \
  X(ARROW, "->")          \
  X(LEFT, "<<")           \
  X(RIGHT, ">>")          \
  X(AND, "&")             \
  X(OR, "|")              \
  X(XOR, "^")             \
  X(TILDE, "~")           \
  X(OPEN, "(")            \
  X(CLOSE, ")")           \
  X(OPEN_SQUARE, "[")     \
  X(CLOSE_SQUARE, "]")    \
  X(OPEN_CURLY, "{")      \
  X(CLOSE_CURLY, "}")     \
  X(COMMA, ",")           \
  X(COLON, ":")           \
  X(DOT, ".")             \
  X(ELLIPSIS, "...")      \
  X(SEMICOLON, ";")

typedef enum {
  LEX_END,
  LEX_NEWLINE,
  LEX_INDENT,
  LEX_DEDENT,
  LEX_NAME,  // keywords too
  LEX_INT,
  LEX_FLOAT,
  LEX_STRING,
#define X(name, text) LEX_##name,
  LEX_OPERATORS(X)
#undef X
      LEX_KINDS
} lang_lex_kind;

typedef struct lang_lex_token {
  lang_lex_kind kind;
  lang_source_span span;
  const char *text;  // NAME: the interned name, equal names are one pointer; STRING: its value
  long long integer;
  double number;
} lang_lex_token;

typedef struct lang_lex_tokens {
  lang_lex_token *tokens;  // the last one is LEX_END
  size_t count;
} lang_lex_tokens;

// Reports what is no Python and goes on.
lang_lex_tokens lang_lex_file(const lang_source *s, wf_arena *arena, wf_diag *diag);
// How a message calls a kind: "'+='", "a name", "the end of the line".
const char *lang_lex_kind_text(lang_lex_kind kind);

#endif
