// SPDX-License-Identifier: Apache-2.0
// Located messages: see diag.h.
#include "base/diag.h"

#include <stdarg.h>

wf_diag wf_diag_to(FILE *out) { return (wf_diag){.out = out}; }

static void print_location(FILE *out, wf_location where) {
  if (where.file == NULL) {
    fputs("weft: ", out);
    return;
  }
  fputs(where.file, out);
  if (where.line != 0) fprintf(out, ":%u", where.line);
  if (where.line != 0 && where.column != 0) fprintf(out, ":%u", where.column);
  fputs(": ", out);
}

static void print_message(wf_diag *diag, wf_location where, const char *kind, const char *format, va_list args) {
  if (diag->out == NULL) return;
  print_location(diag->out, where);
  fprintf(diag->out, "%s: ", kind);
  vfprintf(diag->out, format, args);
  fputc('\n', diag->out);
}

void wf_error(wf_diag *diag, wf_location where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_message(diag, where, "error", format, args);
  va_end(args);
  diag->errors++;
}

void wf_warning(wf_diag *diag, wf_location where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_message(diag, where, "warning", format, args);
  va_end(args);
  diag->warnings++;
}

void wf_hint(wf_diag *diag, const char *format, ...) {
  if (diag->out == NULL) return;
  va_list args;
  va_start(args, format);
  fputs("  hint: ", diag->out);
  vfprintf(diag->out, format, args);
  fputc('\n', diag->out);
  va_end(args);
}
