// SPDX-License-Identifier: Apache-2.0
// Widths and colours of streams: see terminal.h.
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MAX = 10000 };

static unsigned columns_said(void) {
  const char *text = getenv("COLUMNS");
  if (text == NULL || *text < '0' || *text > '9') return 0;
  char *end;
  const unsigned long columns = strtoul(text, &end, 10);
  return *end == '\0' && columns <= COLUMNS_MAX ? (unsigned)columns : 0;
}

unsigned wf_terminal_columns(FILE *out) {
  const unsigned said = columns_said();
  if (said != 0) return said;
  struct winsize size = {0};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool wf_terminal_coloured(FILE *out) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  if ((no != NULL && *no != '\0') || term == NULL || strcmp(term, "dumb") == 0) return false;
  return fileno(out) >= 0 && isatty(fileno(out)) != 0;
}

const char *wf_terminal_colour(bool coloured, wf_colour colour) {
  static const char *const sequences[] = {"\033[0m", "\033[1m", "\033[32m", "\033[33m", "\033[1;31m", "\033[2m"};
  return coloured ? sequences[colour] : "";
}
