// SPDX-License-Identifier: Apache-2.0
// Messages with the source line and a caret: see source.h.
#include "compiler/lang/source.h"

#include <stdarg.h>
#include <string.h>

#include "base/name.h"

enum { SHOWN_COLUMNS = 160, NAME_MAX_GUESS = 40, NO_GUESS = 1000 };

void lang_source_init(lang_source *s, wf_arena *arena, const char *name, const char *text, size_t length) {
  *s = (lang_source){
      .name = wf_arena_text(arena, name, strlen(name)), .text = wf_arena_text(arena, text, length), .length = length};
  size_t count = 0, room = 0;
  *WF_ARENA_PUSH(arena, s->lines, count, &room) = s->text;
  for (size_t i = 0; i < length; i++)
    if (s->text[i] == '\n') *WF_ARENA_PUSH(arena, s->lines, count, &room) = s->text + i + 1;
  s->line_count = (unsigned)count;
}

wf_location lang_source_where(const lang_source *s, lang_source_span span) {
  return (wf_location){.file = s->name, .line = span.line, .column = span.column};
}

lang_source_span lang_source_join(lang_source_span first, lang_source_span last) {
  first.end_line = last.end_line;
  first.end_column = last.end_column;
  return first;
}

static size_t line_length(const lang_source *s, unsigned line) {
  const char *start = s->lines[line - 1];
  size_t length = 0, left = (size_t)(s->text + s->length - start);
  while (length < left && start[length] != '\n' && start[length] != '\r') length++;
  return length;
}

// Tabs are kept in the caret's line, so that it stands below its text however wide a tab is.
static void show_caret(FILE *out, const char *line, size_t length, lang_source_span span) {
  size_t first = span.column - 1, last = span.end_line > span.line ? length : span.end_column - 1;
  for (size_t i = 0; i < first && i < length; i++) fputc(line[i] == '\t' ? '\t' : ' ', out);
  fputc('^', out);
  for (size_t i = first + 1; i < last && i < length; i++) fputc('~', out);
  fputc('\n', out);
}

void lang_source_show(const lang_source *s, FILE *out, lang_source_span span) {
  if (out == NULL || span.line == 0 || span.line > s->line_count || span.column == 0) return;
  size_t length = line_length(s, span.line);
  if (length > SHOWN_COLUMNS || span.column > length + 1) return;
  fprintf(out, "%5u | ", span.line);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)s->lines[span.line - 1][i];
    fputc(c == '\t' || c >= ' ' ? c : '?', out);
  }
  fputs("\n      | ", out);
  show_caret(out, s->lines[span.line - 1], length, span);
}

void lang_source_error(const lang_source *s, wf_diag *diag, lang_source_span span, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_error(diag, lang_source_where(s, span), "%s", text);
  lang_source_show(s, diag->out, span);
}

void lang_source_note(const lang_source *s, wf_diag *diag, lang_source_span span, const char *text) {
  if (diag->out == NULL) return;
  wf_name_write(WF_NAME_TERMINAL, s->name, diag->out);
  fprintf(diag->out, ":%u:%u: note: ", span.line, span.column);
  wf_name_write(WF_NAME_MESSAGE, text, diag->out);
  fputc('\n', diag->out);
  lang_source_show(s, diag->out, span);
}

// Letters to insert, drop or change, with one row of the usual table; a swap of neighbours counts as two.
static unsigned edit_distance(const char *a, const char *b) {
  size_t columns = strlen(b);
  if (strlen(a) > NAME_MAX_GUESS || columns > NAME_MAX_GUESS) return NO_GUESS;
  unsigned row[NAME_MAX_GUESS + 1];
  for (size_t j = 0; j <= columns; j++) row[j] = (unsigned)j;
  for (size_t i = 0; a[i] != 0; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i + 1;
    for (size_t j = 0; j < columns; j++) {
      unsigned best = diagonal + (a[i] != b[j]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
      diagonal = row[j + 1];
      row[j + 1] = best;
    }
  }
  return row[columns];
}

lang_source_guess lang_source_guess_for(const char *name) {
  size_t length = strlen(name);
  return (lang_source_guess){.name = name, .distance = length <= 2 ? 2 : (unsigned)(length / 3 + 2)};
}

void lang_source_guess_add(lang_source_guess *guess, const char *candidate) {
  unsigned distance = edit_distance(guess->name, candidate);
  if (distance == 0 || distance >= guess->distance) return;
  guess->distance = distance;
  guess->best = candidate;
}
