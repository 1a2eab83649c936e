// SPDX-License-Identifier: Apache-2.0
// Located messages for the user's input: `file:line:col: error: text` and an optional hint line.
// A diag counts its errors; its owner decides the exit code. It never exits.
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>
#include <stdio.h>

typedef struct wf_location {
  const char *file;  // NULL: no location
  unsigned line;     // 0: the file as a whole
  unsigned column;   // 0: the line as a whole
} wf_location;

typedef struct wf_diag {
  FILE *out;
  unsigned errors;
  unsigned warnings;
  // Behind a message with a line and a column: shows the place in its source. NULL: nothing does.
  void (*show)(const void *source, wf_location where, FILE *out);
  const void *source;
} wf_diag;

#define WF_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

wf_diag wf_diag_to(FILE *out);
void wf_error(wf_diag *diag, wf_location where, const char *format, ...) WF_PRINTF(3, 4);
void wf_warning(wf_diag *diag, wf_location where, const char *format, ...) WF_PRINTF(3, 4);
void wf_hint(wf_diag *diag, const char *format, ...) WF_PRINTF(2, 3);

// A location without line: for messages about a file as a whole.
static inline wf_location wf_in_file(const char *file) { return (wf_location){.file = file}; }

#endif
