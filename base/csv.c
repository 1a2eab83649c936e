// SPDX-License-Identifier: Apache-2.0
// Fields of comma-separated values: see csv.h.
#include "base/csv.h"

#include <stdbool.h>
#include <string.h>

void wf_csv_field(const char *text, FILE *out) {
  const bool plain = text[strcspn(text, ",\"\r\n")] == '\0';
  if (!plain) fputc('"', out);
  for (; *text != '\0'; text++) {
    if (*text == '"') fputc('"', out);
    fputc(*text, out);
  }
  if (!plain) fputc('"', out);
}
