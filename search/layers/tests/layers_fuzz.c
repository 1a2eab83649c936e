// SPDX-License-Identifier: Apache-2.0
// Any text is a table of layers, in each of the forms that are read, or is refused with a message.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "search/layers/layers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FILE *null = fopen("/dev/null", "w");
  wf_diag diag = wf_diag_to(null);
  layers_network network;
  const bool csv = size > 0 && (data[0] == 'l' || data[0] == 'L') && memchr(data, ',', size) != NULL;
  const bool good = csv ? layers_parse_csv(&network, "fuzz", (const char *)data, size, &diag)
                        : layers_parse_yaml(&network, "fuzz", (const char *)data, size, &diag);
  assert(good == (diag.errors == 0));
  layers_release(&network);
  fclose(null);
  return 0;
}
