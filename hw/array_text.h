// SPDX-License-Identifier: Apache-2.0
// Text helpers for messages: the nearest of several names, lists of choices, input that is safe to show.
#ifndef HW_ARRAY_TEXT_H
#define HW_ARRAY_TEXT_H

#include <stddef.h>

enum { HW_WORD_MAX = 64 };

// Finds the candidate that a word was most likely meant to be. best is "" while none is near enough.
typedef struct hw_nearest {
  const char *word;
  char best[HW_WORD_MAX];
  size_t distance;  // of best; a later candidate must be strictly nearer
} hw_nearest;

hw_nearest hw_nearest_start(const char *word);
void hw_nearest_offer(hw_nearest *nearest, const char *candidate);
void hw_nearest_offer_list(hw_nearest *nearest, const char *values);  // "a|b|c"

// "a|b|c" as "a, b, c".
void hw_text_list(const char *values, char *text, size_t size);

// A word of the input for a message: control characters become '?', a long word ends in "...".
void hw_text_shown(const char *word, char *text, size_t size);

#endif
