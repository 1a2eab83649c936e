// SPDX-License-Identifier: Apache-2.0
// What a word that is none was most likely meant to be.
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

enum { WF_WORD_MAX = 64 };  // longer ones are like no other

// Finds the candidate that a word was most likely meant to be. best is "" while none is near enough.
typedef struct wf_nearest {
  const char *word;
  char best[WF_WORD_MAX];
  size_t distance;  // of best; a later candidate must be strictly nearer
} wf_nearest;

wf_nearest wf_nearest_start(const char *word);
void wf_nearest_offer(wf_nearest *nearest, const char *candidate);
void wf_nearest_offer_list(wf_nearest *nearest, const char *values);  // "a|b|c"

#endif
