// SPDX-License-Identifier: Apache-2.0
// Any text is a mapping, which a layer can have or not, or is refused with a message.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "compiler/mapping/mapping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What is printed of a mapping is that mapping.
static void check_text(const map_mapping *mapping) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  map_print(mapping, out);
  fclose(out);
  map_mapping again;
  wf_diag diag = wf_diag_to(NULL);
  const bool good = map_parse(&again, "again", text, length, &diag);
  assert(good);
  (void)good;
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const map_layer layers[] = {
      {.kind = MAP_GEMM, .size = {1, 64, 1, 96, 128, 1, 1}},
      {.kind = MAP_CONV, .size = {2, 14, 14, 64, 32, 3, 3}, .padding = {1, 1, 1, 1}, .bias = true}};
  wf_diag diag = wf_diag_to(NULL);
  hw_array array;
  map_mapping mapping;
  if (!hw_array_load(&array, "gemmini-default", &diag)) abort();
  if (!map_parse(&mapping, "fuzz.map", (const char *)data, size, &diag)) {
    assert(diag.errors > 0);
    return 0;
  }
  check_text(&mapping);
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) map_check(&layers[i], &mapping, &array, &diag);
  return 0;
}
