// SPDX-License-Identifier: Apache-2.0
// The nearest of several words: see nearest.h.
#include "base/nearest.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

// Insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal string alignment).
// Three rows of the table are enough: a swap looks back two.
static size_t edit_distance(const char *a, const char *b) {
  const size_t rows = strlen(a), columns = strlen(b);
  assert(rows < WF_WORD_MAX && columns < WF_WORD_MAX);
  size_t table[3][WF_WORD_MAX + 1];
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

wf_nearest wf_nearest_start(const char *word) {
  // A third of the word may be wrong, and at least one letter of two.
  return (wf_nearest){.word = word, .distance = (strlen(word) + 1) / 3 + 1};
}

void wf_nearest_offer(wf_nearest *nearest, const char *candidate) {
  if (strlen(nearest->word) >= WF_WORD_MAX || strlen(candidate) >= WF_WORD_MAX) return;
  size_t distance = edit_distance(nearest->word, candidate);
  if (distance >= nearest->distance) return;
  nearest->distance = distance;
  snprintf(nearest->best, sizeof nearest->best, "%s", candidate);
}

void wf_nearest_offer_list(wf_nearest *nearest, const char *values) {
  while (*values != '\0') {
    char candidate[WF_WORD_MAX];
    size_t length = strcspn(values, "|");
    snprintf(candidate, sizeof candidate, "%.*s", (int)length, values);
    wf_nearest_offer(nearest, candidate);
    values += length + (values[length] == '|');
  }
}
