// SPDX-License-Identifier: Apache-2.0
// The text of a file, and messages about places in it: location, source line, caret under the range.
#ifndef COMPILER_LANG_SOURCE_H
#define COMPILER_LANG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

// From a first character to behind a last one; lines and columns count from 1, columns in bytes.
typedef struct lang_source_span {
  unsigned line, column, end_line, end_column;
} lang_source_span;

typedef struct lang_source {
  const char *name;
  const char *text;  // ends with a zero behind `length`
  size_t length;
  const char **lines;  // the start of each
  unsigned line_count;
} lang_source;

void lang_source_init(lang_source *s, wf_arena *arena, const char *name, const char *text, size_t length);
wf_location lang_source_where(const lang_source *s, lang_source_span span);
lang_source_span lang_source_join(lang_source_span first, lang_source_span last);

void lang_source_error(const lang_source *s, wf_diag *diag, lang_source_span span, const char *format, ...)
    WF_PRINTF(4, 5);
// The line and its caret, for a message that was printed already.
// A line below a message that says more about it, at another place.
void lang_source_note(const lang_source *s, wf_diag *diag, lang_source_span span, const char *text);
void lang_source_show(const lang_source *s, FILE *out, lang_source_span span);

// The candidate that `name` may be a slip of, or NULL. Candidates are added one by one.
typedef struct lang_source_guess {
  const char *name, *best;
  unsigned distance;
} lang_source_guess;
lang_source_guess lang_source_guess_for(const char *name);
void lang_source_guess_add(lang_source_guess *guess, const char *candidate);

#endif
