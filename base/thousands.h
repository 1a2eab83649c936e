// SPDX-License-Identifier: Apache-2.0
// Whole numbers for people: 1,234,567.
#ifndef BASE_THOUSANDS_H
#define BASE_THOUSANDS_H

#include <stdint.h>

enum { WF_THOUSANDS = 32 };

// Writes the number with separators into `text` and returns it.
const char *wf_thousands(uint64_t value, char text[WF_THOUSANDS]);

#endif
