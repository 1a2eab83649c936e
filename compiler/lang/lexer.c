// SPDX-License-Identifier: Apache-2.0
// Characters to tokens: see lexer.h. Names are interned, so later stages compare pointers.
#include "compiler/lang/lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { INDENTS_MAX = 64, BRACKETS_MAX = 200, TAB_COLUMNS = 8, INTERN_BUCKETS = 256, ERRORS_MAX = 20 };

typedef struct interned {
  struct interned *next;
  const char *text;
} interned;

typedef struct lexer {
  const lang_source *s;
  wf_arena *arena;
  wf_diag *diag;
  const char *at, *end, *line_start;
  unsigned line;
  lang_lex_token *tokens;
  size_t count, room;
  unsigned indents[INDENTS_MAX];
  int indent_count;
  struct {
    char open;
    lang_source_span span;
  } brackets[BRACKETS_MAX];
  int bracket_count;
  interned *names[INTERN_BUCKETS];
  unsigned errors;
} lexer;

static const struct {
  const char *text;
  lang_lex_kind kind;
} operators[] = {
#define X(name, text) {text, LEX_##name},
    LEX_OPERATORS(X)
#undef X
};

const char *lang_lex_kind_text(lang_lex_kind kind) {
  static const char *const texts[LEX_KINDS] = {[LEX_END] = "the end of the file",
                                               [LEX_NEWLINE] = "the end of the line",
                                               [LEX_INDENT] = "an indented block",
                                               [LEX_DEDENT] = "the end of the block",
                                               [LEX_NAME] = "a name",
                                               [LEX_INT] = "a number",
                                               [LEX_FLOAT] = "a number",
                                               [LEX_STRING] = "a string",
#define X(name, text) [LEX_##name] = "'" text "'",
                                               LEX_OPERATORS(X)
#undef X
  };
  return texts[kind];
}

static lang_source_span span_from(const lexer *l, const char *start) {
  unsigned column = (unsigned)(start - l->line_start) + 1;
  return (lang_source_span){l->line, column, l->line, column + (unsigned)(l->at - start)};
}

static void lex_error(lexer *l, lang_source_span span, const char *text) {
  if (l->errors++ < ERRORS_MAX) lang_source_error(l->s, l->diag, span, "%s", text);
}

static lang_lex_token *add(lexer *l, lang_lex_kind kind, lang_source_span span) {
  lang_lex_token *t = WF_ARENA_PUSH(l->arena, l->tokens, l->count, &l->room);
  *t = (lang_lex_token){.kind = kind, .span = span};
  return t;
}

static const char *intern(lexer *l, const char *text, size_t length) {
  interned **bucket = &l->names[wf_hash(WF_HASH_START, text, length) % INTERN_BUCKETS];
  for (interned *i = *bucket; i != NULL; i = i->next)
    if (strncmp(i->text, text, length) == 0 && i->text[length] == 0) return i->text;
  interned *i = WF_ARENA_NEW(l->arena, interned);
  *i = (interned){.next = *bucket, .text = wf_arena_text(l->arena, text, length)};
  *bucket = i;
  return i->text;
}

static void new_line(lexer *l) {
  l->line++;
  l->line_start = l->at;
}

// ---- lines

// Indentation of the line that starts here; false if the line is blank or a comment, which then is behind us.
static bool measure_indent(lexer *l, unsigned *indent) {
  *indent = 0;
  for (; l->at < l->end; l->at++) {
    if (*l->at == ' ')
      ++*indent;
    else if (*l->at == '\t')
      *indent = (*indent / TAB_COLUMNS + 1) * TAB_COLUMNS;
    else if (*l->at != '\f' && *l->at != '\r')
      break;
  }
  if (l->at == l->end) return false;
  if (*l->at == '#')
    while (l->at < l->end && *l->at != '\n') l->at++;
  if (l->at == l->end || *l->at != '\n') return l->at < l->end;
  l->at++;
  new_line(l);
  return false;
}

static void change_indent(lexer *l, unsigned indent) {
  lang_source_span here = span_from(l, l->at);
  if (indent > l->indents[l->indent_count - 1]) {
    if (l->indent_count == INDENTS_MAX) {
      lex_error(l, here, "blocks are nested too deeply");
      return;
    }
    l->indents[l->indent_count++] = indent;
    add(l, LEX_INDENT, here);
    return;
  }
  while (indent < l->indents[l->indent_count - 1]) {
    l->indent_count--;
    add(l, LEX_DEDENT, here);
  }
  if (indent != l->indents[l->indent_count - 1]) lex_error(l, here, "this indentation matches no block around it");
}

static void start_line(lexer *l) {
  unsigned indent;
  while (l->at < l->end)
    if (measure_indent(l, &indent)) {
      change_indent(l, indent);
      return;
    }
}

// ---- tokens

static void lex_name(lexer *l) {
  const char *start = l->at;
  while (l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_')) l->at++;
  add(l, LEX_NAME, span_from(l, start))->text = intern(l, start, (size_t)(l->at - start));
}

static bool is_float(const char *start, const char *end) {
  if (start[0] == '0' && end - start > 1 && strchr("xXbBoO", start[1]) != NULL) return false;
  for (; start < end; start++)
    if (*start == '.' || *start == 'e' || *start == 'E') return true;
  return false;
}

static const char *number_end(const lexer *l) {
  const char *p = l->at;
  for (; p < l->end; p++) {
    bool sign = (*p == '+' || *p == '-') && p > l->at && (p[-1] == 'e' || p[-1] == 'E') && is_float(l->at, p);
    if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.' && !sign) break;
  }
  return p;
}

static void lex_number(lexer *l) {
  const char *start = l->at;
  char digits[64], *stop = digits;
  size_t length = 0;
  l->at = number_end(l);
  for (const char *p = start; p < l->at && length + 1 < sizeof digits; p++)
    if (*p != '_') digits[length++] = *p;
  digits[length] = 0;
  lang_source_span span = span_from(l, start);
  lang_lex_token *t = add(l, is_float(start, l->at) ? LEX_FLOAT : LEX_INT, span);
  bool based = digits[0] == '0' && strchr("bBoO", digits[1]) != NULL && digits[1] != 0;
  errno = 0;
  if (t->kind == LEX_FLOAT)
    t->number = strtod(digits, &stop);
  else if (based)
    t->integer = strtoll(digits + 2, &stop, digits[1] == 'b' || digits[1] == 'B' ? 2 : 8);
  else
    t->integer = strtoll(digits, &stop, digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10);
  if (errno == ERANGE && t->kind == LEX_INT)
    lex_error(l, span, "this number does not fit in 64 bits");
  else if (*stop != 0 || stop == digits || length + 1 >= sizeof digits)
    lex_error(l, span, "this is no number");
}

static char escaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    default:
      return c;
  }
}

static void put(char *out, size_t *length, char c) {
  if (out != NULL) out[*length] = c;
  ++*length;
}

// The characters of a string up to its closing quotes. Strings are only compared and shown, so of the escapes only
// those of single characters are known. Without `out` it only counts. Returns false at the end of the line (of the
// file, with triple quotes).
static bool string_body(lexer *l, char quote, bool triple, bool raw, char *out, size_t *length) {
  while (l->at < l->end) {
    char c = *l->at;
    if (c == '\n' && !triple) return false;
    if (c == quote && (!triple || (l->end - l->at >= 3 && l->at[1] == quote && l->at[2] == quote))) {
      l->at += triple ? 3 : 1;
      return true;
    }
    l->at++;
    if (c == '\\' && l->at < l->end) {
      if (raw) put(out, length, c);
      c = raw ? *l->at : escaped(*l->at);
      l->at++;
    }
    if (l->at[-1] == '\n') new_line(l);
    put(out, length, c);
  }
  return false;
}

static void lex_string(lexer *l, size_t prefix) {
  const char *start = l->at;
  lang_source_span span = span_from(l, start);
  bool raw = false;
  for (size_t i = 0; i < prefix; i++) raw |= start[i] == 'r' || start[i] == 'R';
  l->at += prefix;
  char quote = *l->at;
  bool triple = l->end - l->at >= 3 && l->at[1] == quote && l->at[2] == quote;
  l->at += triple ? 3 : 1;
  const lexer before = *l;
  size_t length = 0;
  string_body(l, quote, triple, raw, NULL, &length);
  *l = before;
  char *value = wf_arena_alloc(l->arena, length + 1, 1);
  length = 0;
  bool closed = string_body(l, quote, triple, raw, value, &length);
  span.end_line = l->line;
  span.end_column = (unsigned)(l->at - l->line_start) + 1;
  if (!closed) lex_error(l, span, "this string is not closed");
  value[length] = 0;
  add(l, LEX_STRING, span)->text = value;
}

// Length of the letters before a quote (r"", f"" ...), or -1 if this is no string.
static int string_prefix(const lexer *l) {
  for (int i = 0; i <= 2 && l->at + i < l->end; i++) {
    if (l->at[i] == '"' || l->at[i] == '\'') return i;
    if (l->at[i] == 0 || strchr("rRbBfFuU", l->at[i]) == NULL) return -1;
  }
  return -1;
}

static void track_bracket(lexer *l, lang_lex_kind kind, lang_source_span span) {
  static const char closers[] = ")]}";
  char c = operators[kind - LEX_PLUS].text[0];
  if (kind == LEX_OPEN || kind == LEX_OPEN_SQUARE || kind == LEX_OPEN_CURLY) {
    if (l->bracket_count == BRACKETS_MAX) {
      lex_error(l, span, "brackets are nested too deeply");
      return;
    }
    l->brackets[l->bracket_count].open = c;
    l->brackets[l->bracket_count++].span = span;
  } else if (kind == LEX_CLOSE || kind == LEX_CLOSE_SQUARE || kind == LEX_CLOSE_CURLY) {
    if (l->bracket_count == 0) {
      lex_error(l, span, "this bracket closes none");
      return;
    }
    char open = l->brackets[--l->bracket_count].open;
    if (closers[open == '(' ? 0 : open == '[' ? 1 : 2] != c)
      lex_error(l, span, "this bracket closes one of another kind");
  }
}

static bool lex_operator(lexer *l) {
  size_t longest = 0, left = (size_t)(l->end - l->at);
  lang_lex_kind kind = LEX_END;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    size_t length = strlen(operators[i].text);
    if (length <= longest || length > left || memcmp(l->at, operators[i].text, length) != 0) continue;
    longest = length;
    kind = operators[i].kind;
  }
  if (longest == 0) return false;
  const char *start = l->at;
  l->at += longest;
  lang_source_span span = span_from(l, start);
  track_bracket(l, kind, span);
  add(l, kind, span);
  return true;
}

static void bad_character(lexer *l) {
  const char *start = l->at++;
  // The rest of a UTF-8 sequence belongs to the same character.
  while (l->at < l->end && ((unsigned char)*l->at & 0xc0) == 0x80) l->at++;
  lex_error(l, span_from(l, start), "this character has no meaning here");
}

static void end_line(lexer *l) {
  lang_source_span span = span_from(l, l->at);
  l->at++;
  if (l->bracket_count == 0) add(l, LEX_NEWLINE, span);
  new_line(l);
  if (l->bracket_count == 0) start_line(l);
}

static void lex_token_at(lexer *l) {
  char c = *l->at;
  int prefix = string_prefix(l);
  if (c == '\n') {
    end_line(l);
  } else if (c == ' ' || c == '\t' || c == '\f' || c == '\r') {
    l->at++;
  } else if (c == '#') {
    while (l->at < l->end && *l->at != '\n') l->at++;
  } else if (c == '\\' && l->end - l->at >= 2 && (l->at[1] == '\n' || (l->at[1] == '\r' && l->at[2] == '\n'))) {
    l->at += l->at[1] == '\n' ? 2 : 3;
    new_line(l);
  } else if (prefix >= 0) {
    lex_string(l, (size_t)prefix);
  } else if (isalpha((unsigned char)c) || c == '_') {
    lex_name(l);
  } else if (isdigit((unsigned char)c) || (c == '.' && l->end - l->at >= 2 && isdigit((unsigned char)l->at[1]))) {
    lex_number(l);
  } else if (!lex_operator(l)) {
    bad_character(l);
  }
}

lang_lex_tokens lang_lex_file(const lang_source *s, wf_arena *arena, wf_diag *diag) {
  lexer *l = WF_ARENA_NEW(arena, lexer);
  *l = (lexer){.s = s,
               .arena = arena,
               .diag = diag,
               .at = s->text,
               .end = s->text + s->length,
               .line_start = s->text,
               .line = 1,
               .indent_count = 1};
  start_line(l);
  while (l->at < l->end) lex_token_at(l);
  for (int i = l->bracket_count; i > 0; i--) lex_error(l, l->brackets[i - 1].span, "this bracket is never closed");
  lang_source_span here = span_from(l, l->at);
  if (l->count > 0 && l->tokens[l->count - 1].kind != LEX_NEWLINE) add(l, LEX_NEWLINE, here);
  for (; l->indent_count > 1; l->indent_count--) add(l, LEX_DEDENT, here);
  add(l, LEX_END, here);
  return (lang_lex_tokens){l->tokens, l->count};
}
