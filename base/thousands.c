// SPDX-License-Identifier: Apache-2.0
// Whole numbers for people: see thousands.h.
#include "base/thousands.h"

#include <inttypes.h>
#include <stdio.h>

const char *wf_thousands(uint64_t value, char text[WF_THOUSANDS]) {
  char digits[WF_THOUSANDS];
  const int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
  char *to = text;
  for (int i = 0; i < length; i++) {
    if (i != 0 && (length - i) % 3 == 0) *to++ = ',';
    *to++ = digits[i];
  }
  *to = '\0';
  return text;
}
