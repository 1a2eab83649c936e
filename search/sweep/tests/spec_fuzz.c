// SPDX-License-Identifier: Apache-2.0
// Any text is a sweep whose points are arrays, or is refused with a message.
#include <assert.h>
#include <stdint.h>

#include "search/layers/tests/runs.h"
#include "search/sweep/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { POINTS = 20 };
  if (text_runs_network(data, size)) return 0;
  wf_diag diag = wf_diag_to(NULL);
  sweep_spec spec;
  if (sweep_spec_parse(&spec, "fuzz.yaml", (const char *)data, size, &diag)) {
    const size_t count = sweep_point_count(&spec);
    for (size_t i = 0; i < count && i < POINTS; i++) {
      const hw_array array = sweep_point(&spec, i);
      hw_array_check(&array, NULL, &diag);
    }
  } else {
    assert(diag.errors > 0);
  }
  sweep_spec_release(&spec);
  return 0;
}
