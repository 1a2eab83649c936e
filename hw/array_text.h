// SPDX-License-Identifier: Apache-2.0
// Text helpers for messages: lists of choices, input that is safe to show; the nearest of several names is
// base/nearest.h.
#ifndef HW_ARRAY_TEXT_H
#define HW_ARRAY_TEXT_H

#include <stddef.h>

#include "base/nearest.h"

enum { HW_WORD_MAX = WF_WORD_MAX };

// "a|b|c" as "a, b, c".
void hw_text_list(const char *values, char *text, size_t size);

// A word of the input for a message: control characters become '?', a long word ends in "...".
void hw_text_shown(const char *word, char *text, size_t size);

#endif
