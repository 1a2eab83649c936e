// SPDX-License-Identifier: Apache-2.0
// Files that a run writes: see output.h.
#include "api/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
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

bool api_output_folder(const char *path, wf_diag *diag) {
  if (mkdir(path, 0777) == 0 || (errno == EEXIST && access(path, W_OK | X_OK) == 0)) return true;
  wf_error(diag, wf_in_file(path), "cannot make the folder: %s", strerror(errno));
  return false;
}

bool api_output_json(const char *path, cJSON *document, wf_diag *diag) {
  FILE *out = wf_output_open(path, diag);
  if (out == NULL) return cJSON_Delete(document), false;
  wf_json_write(document, out);
  return wf_output_close(out, path, diag);
}
