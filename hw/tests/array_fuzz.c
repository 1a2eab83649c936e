// SPDX-License-Identifier: Apache-2.0
// Any bytes are refused or give an array that passes the check and survives printing with its hash.
#include <stdlib.h>

#include "hw/array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hw_array array, again;
  wf_diag diag = wf_diag_to(NULL);
  if (!hw_array_parse(&array, "fuzz", (const char *)data, size, &diag)) {
    require(diag.errors > 0);
    return 0;
  }
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  require(out != NULL);
  hw_array_print(&array, out);
  fclose(out);
  require(hw_array_check(&array, NULL, &diag));
  require(hw_array_parse(&again, "printed", text, length, &diag));
  require(hw_array_hash(&array) == hw_array_hash(&again));
  free(text);
  return 0;
}
