// SPDX-License-Identifier: Apache-2.0
// Any text is a study whose sweeps have arrays and layers, or is refused with a message.
#include <assert.h>
#include <stdint.h>

#include "search/layers/tests/runs.h"
#include "search/study/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { ROWS = 10000 };
  if (text_runs_network(data, size)) return 0;
  wf_diag diag = wf_diag_to(NULL);
  study_spec spec;
  if (!study_spec_parse(&spec, "fuzz.yaml", (const char *)data, size, &diag)) {
    assert(diag.errors > 0);
  } else if (study_row_count(&spec) <= ROWS) {
    study_parts parts = study_parts_of(&spec);
    assert(parts.count >= spec.mapping_count);
    study_parts_release(&parts);
  }
  study_spec_release(&spec);
  return 0;
}
