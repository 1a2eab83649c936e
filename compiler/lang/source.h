// The text of a file, and messages about places in it: location, source line, caret under the range.
#ifndef COMPILER_LANG_SOURCE_H
#define COMPILER_LANG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

// From a first character to behind a last one; lines and columns count from 1, columns in bytes.
typedef struct source_span {
  unsigned line, column, end_line, end_column;
} source_span;

typedef struct source {
  const char *name;
  const char *text;  // ends with a zero behind `length`
  size_t length;
  const char **lines;  // the start of each
  unsigned line_count;
} source;

void source_init(source *s, wf_arena *arena, const char *name, const char *text, size_t length);
wf_location source_where(const source *s, source_span span);
source_span source_join(source_span first, source_span last);

void source_error(const source *s, wf_diag *diag, source_span span, const char *format, ...) WF_PRINTF(4, 5);
// The line and its caret, for a message that was printed already.
// A line below a message that says more about it, at another place.
void source_note(const source *s, wf_diag *diag, source_span span, const char *text);
void source_show(const source *s, wf_diag *diag, source_span span);

// The candidate that `name` may be a slip of, or NULL. Candidates are added one by one.
typedef struct source_guess {
  const char *name, *best;
  unsigned distance;
} source_guess;
source_guess source_guess_for(const char *name);
void source_guess_add(source_guess *guess, const char *candidate);

#endif
