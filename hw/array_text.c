// SPDX-License-Identifier: Apache-2.0
// Text helpers for messages: see array_text.h.
#include "hw/array_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

// Insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal string alignment).
// Three rows of the table are enough: a swap looks back two.
static size_t edit_distance(const char *a, const char *b) {
  const size_t rows = strlen(a), columns = strlen(b);
  assert(rows < HW_WORD_MAX && columns < HW_WORD_MAX);
  size_t table[3][HW_WORD_MAX + 1];
  for (size_t j = 0; j <= columns; j++) table[0][j] = j;
  for (size_t i = 1; i <= rows; i++) {
    size_t *now = table[i % 3];
    const size_t *last = table[(i + 2) % 3], *before = table[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= columns; j++) {
      now[j] = wf_min(wf_min(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = wf_min(now[j], before[j - 2] + 1);
    }
  }
  return table[rows % 3][columns];
}

hw_nearest hw_nearest_start(const char *word) {
  // A third of the word may be wrong, and at least one letter of two.
  return (hw_nearest){.word = word, .distance = (strlen(word) + 1) / 3 + 1};
}

void hw_nearest_offer(hw_nearest *nearest, const char *candidate) {
  if (strlen(nearest->word) >= HW_WORD_MAX || strlen(candidate) >= HW_WORD_MAX) return;
  size_t distance = edit_distance(nearest->word, candidate);
  if (distance >= nearest->distance) return;
  nearest->distance = distance;
  snprintf(nearest->best, sizeof nearest->best, "%s", candidate);
}

void hw_nearest_offer_list(hw_nearest *nearest, const char *values) {
  while (*values != '\0') {
    char candidate[HW_WORD_MAX];
    size_t length = strcspn(values, "|");
    snprintf(candidate, sizeof candidate, "%.*s", (int)length, values);
    hw_nearest_offer(nearest, candidate);
    values += length + (values[length] == '|');
  }
}

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
