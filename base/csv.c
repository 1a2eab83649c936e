// SPDX-License-Identifier: Apache-2.0
// Fields of comma-separated values: see csv.h.
#include "base/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"

// A number as programs write them: no letters but that of an exponent.
static bool is_number(const char *text) {
  char *end;
  if (text[strspn(text, "+-.0123456789eE")] != '\0') return false;
  strtod(text, &end);
  return end != text && *end == '\0';
}

// A dash alone is the usual word for nothing.
static bool is_formula(const char *text) {
  return *text != '\0' && strchr("=+-@\t\r\n", *text) != NULL && strcmp(text, "-") != 0 && !is_number(text);
}

void wf_csv_field(const char *text, FILE *out) {
  const bool plain = text[strcspn(text, ",\"\r\n")] == '\0';
  if (!plain) fputc('"', out);
  if (is_formula(text)) fputc('\'', out);
  wf_name_write(WF_NAME_CSV, text, out);
  if (!plain) fputc('"', out);
}
