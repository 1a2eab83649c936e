// SPDX-License-Identifier: Apache-2.0
// Forms of names: see name.h. A name is taken apart once, by next_piece(); a form only says how to write a piece.
#include "base/name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

// One character, or one byte that is no part of one.
typedef struct piece {
  const char *bytes;
  size_t length;
  uint32_t code;
  bool valid;
} piece;

static size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

// Overlong forms, surrogates and what is beyond U+10FFFF are no characters.
static bool is_character(uint32_t code, size_t length) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

// Takes the next piece; false at the end.
static bool next_piece(const char **text, piece *p) {
  const unsigned char *at = (const unsigned char *)*text;
  if (*at == '\0') return false;
  const size_t length = length_of(*at);
  *p = (piece){.bytes = *text, .length = 1, .code = *at, .valid = length == 1};
  uint32_t code = length > 1 ? *at & (0x7fu >> length) : 0;
  size_t i = 1;
  for (; i < length && (at[i] & 0xc0) == 0x80; i++) code = code << 6 | (at[i] & 0x3fu);
  if (length > 1 && i == length && is_character(code, length))
    *p = (piece){.bytes = *text, .length = length, .code = code, .valid = true};
  *text += p->length;
  return true;
}

static bool is_control(const piece *p) {
  const uint32_t c = p->code;
  return !p->valid || c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

// ---- pieces in a form

static void put_bytes(const piece *p, const char *format, FILE *out) {
  for (size_t i = 0; i < p->length; i++) fprintf(out, format, (unsigned char)p->bytes[i]);
}

static void put_plain(const piece *p, FILE *out) { fwrite(p->bytes, 1, p->length, out); }

static const char *short_escape(uint32_t code) {
  return code == '\n' ? "\\n" : code == '\t' ? "\\t" : code == '\r' ? "\\r" : NULL;
}

static void put_terminal(const piece *p, FILE *out) {
  const char *named = p->valid ? short_escape(p->code) : NULL;
  if (named != NULL)
    fputs(named, out);
  else if (is_control(p))
    put_bytes(p, "\\x%02x", out);
  else
    put_plain(p, out);
}

static void put_message(const piece *p, FILE *out) {
  if (p->code == '\n' || p->code == '\t')
    put_plain(p, out);
  else
    put_terminal(p, out);
}

// A backslash continues the line, "??/" is one, and stars and slashes begin and end comments.
static void put_comment(const piece *p, FILE *out) {
  if (is_control(p) || (p->code < 0x80 && strchr("\\?*", (int)p->code) != NULL))
    put_bytes(p, "%%%02x", out);
  else
    put_plain(p, out);
}

// The terminal's form again, its quotes and backslashes escaped for a compiler.
static void put_string(const piece *p, FILE *out) {
  const char *named = p->valid ? short_escape(p->code) : NULL;
  if (named != NULL)
    fprintf(out, "\\%s", named);
  else if (is_control(p))
    put_bytes(p, "\\\\x%02x", out);
  else if (p->code < 0x80 && strchr("\"\\?", (int)p->code) != NULL)
    fprintf(out, "\\%c", (int)p->code);
  else
    put_plain(p, out);
}

// Gnuplot looks for `commands` and @macros in strings, so all that is not harmless (below) goes as octal numbers.
static void put_gnuplot(const piece *p, FILE *out) {
  if (is_control(p))
    put_bytes(p, "\\134x%02x", out);
  else if (p->code < 0x80)
    fprintf(out, "\\%03o", (unsigned)p->code);
  else
    put_plain(p, out);
}

static void put_document(const piece *p, FILE *out) {
  if (!p->valid)
    fputs("\\ufffd", out);
  else if (is_control(p) && p->code >= 0x20)
    fprintf(out, "\\u%04" PRIx32, p->code);
  else
    put_plain(p, out);
}

static void put_json(const piece *p, FILE *out) {
  if (p->code == '"' || p->code == '\\')
    fprintf(out, "\\%c", (int)p->code);
  else if (p->code < 0x20)
    fprintf(out, "\\u%04" PRIx32, p->code);
  else
    put_document(p, out);
}

// A quote of a field is two.
static void put_csv(const piece *p, FILE *out) {
  if (p->code == '"') fputc('"', out);
  if (p->code == '\n' || p->code == '\t' || p->code == '\r')
    put_plain(p, out);
  else
    put_terminal(p, out);
}

typedef void put_piece(const piece *p, FILE *out);
static put_piece *const forms[] = {
    [WF_NAME_TERMINAL] = put_terminal, [WF_NAME_MESSAGE] = put_message, [WF_NAME_C_COMMENT] = put_comment,
    [WF_NAME_C_STRING] = put_string,   [WF_NAME_GNUPLOT] = put_gnuplot, [WF_NAME_JSON] = put_json,
    [WF_NAME_DOCUMENT] = put_document, [WF_NAME_CSV] = put_csv,
};

// Characters that stand for themselves in every form: written at once.
static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:/+()";

void wf_name_write(wf_name_form form, const char *name, FILE *out) {
  for (piece p; *name != '\0';) {
    const size_t plain = strspn(name, harmless);
    fwrite(name, 1, plain, out);
    name += plain;
    if (next_piece(&name, &p)) forms[form](&p, out);
  }
}

void wf_name_print(wf_name_form form, FILE *out, const char *format, va_list args) {
  char *text = NULL;
  size_t length;
  FILE *whole = open_memstream(&text, &length);
  if (whole == NULL) return;
  vfprintf(whole, format, args);
  fclose(whole);
  char *written = NULL;
  whole = open_memstream(&written, &length);
  if (whole != NULL) {
    wf_name_write(form, text, whole);
    fclose(whole);
    fputs(written, out);  // at once: stderr has no buffer
  }
  free(written);
  free(text);
}

// ---- lines and columns

// The terminal's form of at most `most` characters, and how many there are. What a piece takes is never cut apart.
static unsigned put_at_most(const char *name, unsigned most, FILE *out) {
  unsigned used = 0;
  for (piece p; next_piece(&name, &p);) {
    const bool named = p.valid && short_escape(p.code) != NULL;
    const unsigned takes = named ? 2 : is_control(&p) ? 4 * (unsigned)p.length : 1;
    if (takes > most - used) break;
    put_terminal(&p, out);
    used += takes;
  }
  return used;
}

void wf_name_column(const char *name, unsigned width, bool cut, FILE *out) {
  const unsigned used = put_at_most(name, cut ? width : UINT32_MAX, out);
  fprintf(out, "%*s", used < width ? (int)(width - used) : 0, "");
}

const char *wf_name_shown(const char *name, char line[WF_NAME_LINE]) {
  static const char dots[] = "...";
  size_t used = 0;
  line[0] = '\0';
  FILE *out = fmemopen(line, WF_NAME_LINE, "w");
  if (out == NULL) return line;
  for (piece p; next_piece(&name, &p);) {
    const bool named = p.valid && short_escape(p.code) != NULL;
    used += named ? 2 : is_control(&p) ? 4 * p.length : p.length;
    if (used + sizeof dots > WF_NAME_LINE) {
      fputs(dots, out);
      break;
    }
    put_terminal(&p, out);
  }
  fclose(out);
  return line;
}

// ---- files

static bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

char *wf_name_file(const char *name) {
  enum { HASHED = 9 };  // "-1a2b3c4d"
  const size_t length = strlen(name);
  char text[WF_NAME_FILE + 1] = "";
  bool same = length > 0 && length <= WF_NAME_FILE;
  for (size_t i = 0; i < length && i < WF_NAME_FILE; i++) {
    const bool good = is_safe(name[i]) && (i > 0 || (name[i] != '.' && name[i] != '-'));
    text[i] = good ? name[i] : '_';
    same = same && good;
  }
  if (same) return wf_strdup(text);
  if (length == 0) text[0] = '_';
  const uint64_t hash = wf_hash(WF_HASH_START, name, length);
  return wf_format("%.*s-%08" PRIx32, WF_NAME_FILE - HASHED, text, (uint32_t)(hash ^ hash >> 32));
}
