// SPDX-License-Identifier: Apache-2.0
// Text helpers for messages: see array_text.h.
#include "hw/array_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void hw_text_list(const char *values, char *text, size_t size) {
  size_t used = 0;
  for (; *values != '\0' && used + 3 < size; values++) {
    text[used++] = *values == '|' ? ',' : *values;
    if (*values == '|') text[used++] = ' ';
  }
  text[used] = '\0';
}

void hw_text_shown(const char *word, char *text, size_t size) {
  static const char dots[] = "...";
  assert(size > sizeof dots);
  size_t length = strlen(word), shown = length < size ? length : size - sizeof dots;
  while (shown < length && shown > 0 && ((unsigned char)word[shown] & 0xc0) == 0x80) shown--;  // not inside a character
  for (size_t i = 0; i < shown; i++) text[i] = (unsigned char)word[i] < 0x20 || word[i] == 0x7f ? '?' : word[i];
  snprintf(text + shown, size - shown, "%s", shown < length ? dots : "");
}
