// SPDX-License-Identifier: Apache-2.0
// Tokens: see lex.h. Spaces and comments (# to the end of the line) separate; empty lines give no token.
#include "compiler/block/lex.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64 };  // characters

static bool is_alpha(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_digit(char c) { return isdigit((unsigned char)c) != 0; }

static char at(const block_lexer *lex, size_t ahead) {
  return (size_t)(lex->end - lex->next) > ahead ? lex->next[ahead] : '\0';
}

static void skip_space(block_lexer *lex) {
  while (lex->next < lex->end) {
    if (*lex->next == '#')
      while (lex->next < lex->end && *lex->next != '\n') lex->next++;
    else if (*lex->next == ' ' || *lex->next == '\t' || *lex->next == '\r')
      lex->next++;
    else
      return;
  }
}

static size_t digits_end(const block_lexer *lex, size_t from) {
  while (is_digit(at(lex, from))) from++;
  return from;
}

static size_t number_length(const block_lexer *lex) {
  size_t length = digits_end(lex, 0);
  if (at(lex, length) == '.' && is_digit(at(lex, length + 1))) length = digits_end(lex, length + 1);
  if (at(lex, length) != 'e') return length;
  size_t sign = at(lex, length + 1) == '-' || at(lex, length + 1) == '+' ? 1 : 0;
  return is_digit(at(lex, length + 1 + sign)) ? digits_end(lex, length + 1 + sign) : length;
}

static size_t token_length(const block_lexer *lex, block_lex_kind kind) {
  size_t length = 0;
  if (kind == LEX_NUMBER) return number_length(lex);
  if (kind != LEX_NAME) return at(lex, 0) == '+' && at(lex, 1) == '=' ? 2 : 1;
  while (is_alpha(at(lex, length)) || is_digit(at(lex, length))) length++;
  return length;
}

void block_lex_step(block_lexer *lex) {
  bool after_line = lex->token.kind == LEX_LINE;
  for (;;) {
    skip_space(lex);
    lex->token = (block_lex_token){.text = lex->next,
                                   .where = {lex->file, lex->line, (unsigned)(lex->next - lex->line_start) + 1}};
    if (lex->failed || lex->next == lex->end) return;
    char c = *lex->next;
    lex->token.kind = c == '\n' ? LEX_LINE : is_alpha(c) ? LEX_NAME : is_digit(c) ? LEX_NUMBER : LEX_SIGN;
    lex->token.length = token_length(lex, lex->token.kind);
    lex->next += lex->token.length;
    if (lex->token.kind != LEX_LINE) return;
    lex->line++;
    lex->line_start = lex->next;
    if (!after_line) return;
  }
}

void block_lex_start(block_lexer *lex, const char *file, const char *text, size_t length, wf_diag *diag) {
  *lex = (block_lexer){.file = file,
                       .next = text,
                       .end = text + length,
                       .line_start = text,
                       .line = 1,
                       .token = {.kind = LEX_LINE},
                       .diag = diag};
  block_lex_step(lex);
}

void block_lex_error(block_lexer *lex, wf_location where, const char *format, ...) {
  if (lex->failed) return;
  char message[256];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  wf_error(lex->diag, where, "%s", message);
  lex->failed = true;
  lex->token = (block_lex_token){.text = lex->next, .where = where};
}

static void unexpected(block_lexer *lex, const char *what) {
  const block_lex_token *token = &lex->token;
  if (token->kind == LEX_END || token->kind == LEX_LINE)
    block_lex_error(lex, token->where, "expected %s at the end of the %s", what,
                    token->kind == LEX_END ? "file" : "line");
  else
    block_lex_error(lex, token->where, "expected %s instead of '%.*s'", what,
                    token->length < 40 ? (int)token->length : 40, token->text);
}

bool block_lex_is(const block_lexer *lex, const char *text) {
  return (lex->token.kind == LEX_NAME || lex->token.kind == LEX_SIGN) && lex->token.length == strlen(text) &&
         memcmp(lex->token.text, text, lex->token.length) == 0;
}

bool block_lex_take(block_lexer *lex, const char *text) {
  if (!block_lex_is(lex, text)) return false;
  block_lex_step(lex);
  return true;
}

void block_lex_expect(block_lexer *lex, const char *text) {
  char quoted[40];
  snprintf(quoted, sizeof quoted, "'%s'", text);
  if (!block_lex_take(lex, text)) unexpected(lex, quoted);
}

block_lex_token block_lex_name(block_lexer *lex, const char *what) {
  block_lex_token token = lex->token;
  if (token.kind == LEX_NAME)
    block_lex_step(lex);
  else
    unexpected(lex, what);
  return token;
}

// The current token's text, which must be a number.
static bool number_text(block_lexer *lex, const char *what, char text[NUMBER_MAX], wf_location *where) {
  *where = lex->token.where;
  bool minus = block_lex_take(lex, "-");
  if (lex->token.kind != LEX_NUMBER || lex->token.length + 2 > NUMBER_MAX) {
    unexpected(lex, what);
    return false;
  }
  snprintf(text, NUMBER_MAX, "%s%.*s", minus ? "-" : "", (int)lex->token.length, lex->token.text);
  block_lex_step(lex);
  return true;
}

int64_t block_lex_integer(block_lexer *lex, const char *what) {
  char text[NUMBER_MAX], *end;
  wf_location where;
  if (!number_text(lex, what, text, &where)) return 0;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || *end != '\0') block_lex_error(lex, where, "'%s' is no integer of 64 bits", text);
  return lex->failed ? 0 : value;
}

int64_t block_lex_size(block_lexer *lex, const char *what, int64_t min, int64_t max) {
  wf_location where = lex->token.where;
  int64_t value = block_lex_integer(lex, what);
  if (!lex->failed && (value < min || value > max))
    block_lex_error(lex, where, "%s must be %" PRId64 " to %" PRId64, what, min, max);
  return lex->failed ? min : value;
}

double block_lex_number(block_lexer *lex, const char *what) {
  char text[NUMBER_MAX], *end;
  wf_location where;
  if (!number_text(lex, what, text, &where)) return 0;
  double value = strtod(text, &end);
  if (*end != '\0' || value - value != 0) block_lex_error(lex, where, "'%s' is no finite number", text);
  return lex->failed ? 0 : value;
}
