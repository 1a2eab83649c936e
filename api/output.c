// SPDX-License-Identifier: Apache-2.0
// Files that a run writes: see output.h.
#include "api/output.h"

#include <string.h>

#include "base/output.h"

bool api_output_open(FILE **file, const char *path, wf_diag *diag) {
  *file = path == NULL ? NULL : strcmp(path, "-") == 0 ? stdout : wf_output_open(path, diag);
  return path == NULL || *file != NULL;
}

bool api_output_end(FILE *file, const char *path, bool complete, wf_diag *diag) {
  if (file == NULL) return true;
  if (file == stdout) return fflush(file) == 0 && !ferror(file);
  if (complete) return wf_output_close(file, path, diag);
  wf_output_drop(file, path);
  return true;
}
