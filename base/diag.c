// SPDX-License-Identifier: Apache-2.0
// Located messages: see diag.h.
#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/name.h"
#include "base/terminal.h"

wf_diag wf_diag_to(FILE *out) { return (wf_diag){.out = out}; }

static void print_location(FILE *out, wf_location where) {
  if (where.file == NULL) {
    fputs("weft: ", out);
    return;
  }
  wf_name_write(WF_NAME_TERMINAL, where.file, out);
  if (where.line != 0) fprintf(out, ":%u", where.line);
  if (where.line != 0 && where.column != 0) fprintf(out, ":%u", where.column);
  fputs(": ", out);
}

// What a message quotes may hold any bytes. It is written at once: stderr has no buffer.
static void print_message(wf_diag *diag, wf_location where, const char *kind, wf_colour colour, const char *format,
                          va_list args) {
  char *text = NULL;
  size_t length;
  FILE *out = diag->out == NULL ? NULL : open_memstream(&text, &length);
  if (out == NULL) return;
  print_location(out, where);
  const bool coloured = wf_terminal_coloured(diag->out);
  fprintf(out, "%s%s:%s ", wf_terminal_colour(coloured, colour), kind, wf_terminal_colour(coloured, WF_COLOUR_NONE));
  wf_name_print(WF_NAME_MESSAGE, out, format, args);
  fputc('\n', out);
  fclose(out);
  fwrite(text, 1, length, diag->out);
  free(text);
  if (diag->show != NULL && where.line != 0 && where.column != 0) diag->show(diag->source, where, diag->out);
}

void wf_error(wf_diag *diag, wf_location where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_message(diag, where, "error", WF_COLOUR_BAD, format, args);
  va_end(args);
  diag->errors++;
}

void wf_warning(wf_diag *diag, wf_location where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_message(diag, where, "warning", WF_COLOUR_WARN, format, args);
  va_end(args);
  diag->warnings++;
}

void wf_hint(wf_diag *diag, const char *format, ...) {
  if (diag->out == NULL) return;
  va_list args;
  va_start(args, format);
  fputs("  hint: ", diag->out);
  wf_name_print(WF_NAME_MESSAGE, diag->out, format, args);
  fputc('\n', diag->out);
  va_end(args);
}
