// SPDX-License-Identifier: Apache-2.0
// See calibration.h.
#include "api/calibration.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "api/npy.h"
#include "base/alloc.h"

enum { FILES_MAX = 4096 };

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length > tail && strcmp(text + length - tail, end) == 0;
}

static int is_sample(const struct dirent *entry) {
  return entry->d_name[0] != '.' && (ends_with(entry->d_name, ".npy") || ends_with(entry->d_name, ".ppm"));
}

static void *read_sample(const char *path, const graph_tensor *t, const api_pictures *pictures, wf_diag *diag) {
  return ends_with(path, ".ppm") ? api_picture_read(path, t, pictures, diag) : api_npy_read(path, t, diag);
}

// Input `i` of each set from one folder. The first input says how many sets there are.
static bool read_folder(const char *folder, const graph *g, int i, const api_pictures *pictures, api_calibration *c,
                        wf_diag *diag) {
  struct dirent **entries;
  const int count = scandir(folder, &entries, is_sample, alphasort);
  bool good = count > 0 && count <= FILES_MAX && (i == 0 || count == c->sets);
  if (count < 1)
    wf_error(diag, wf_in_file(folder), "has no .npy and no .ppm files");
  else if (!good)
    wf_error(diag, wf_in_file(folder), "has %d files, not %d", count, i == 0 ? FILES_MAX : c->sets);
  if (good && i == 0) {
    c->sets = count;
    c->inputs = WF_NEW_ARRAY((size_t)count * (size_t)c->input_count + 1, void *);
  }
  for (int s = 0; s < count; s++) {
    char *path = wf_format("%s/%s", folder, entries[s]->d_name);
    if (good) {
      void *data = read_sample(path, &g->tensors[g->inputs[i]], pictures, diag);
      c->inputs[s * c->input_count + i] = data;
      good = data != NULL;
    }
    wf_free(path);
    free(entries[s]);
  }
  if (count >= 0) free(entries);
  return good;
}

bool api_calibration_read(const char *folder, const graph *g, const api_pictures *pictures, api_calibration *c,
                          wf_diag *diag) {
  *c = (api_calibration){.input_count = g->input_count};
  if (g->input_count == 1) return read_folder(folder, g, 0, pictures, c, diag);
  bool good = true;
  for (int i = 0; i < g->input_count && good; i++) {
    const char *name = g->tensors[g->inputs[i]].name;
    if (strchr(name, '/') != NULL || name[0] == '.') {
      wf_error(diag, wf_in_file(folder), "no folder can have the name of input '%s'", name);
      return false;
    }
    char *inner = wf_format("%s/%s", folder, name);
    good = read_folder(inner, g, i, pictures, c, diag);
    wf_free(inner);
  }
  return good;
}

void api_calibration_release(api_calibration *c) {
  for (int i = 0; c->inputs != NULL && i < c->sets * c->input_count; i++) wf_free(c->inputs[i]);
  wf_free(c->inputs);
  *c = (api_calibration){0};
}
