// SPDX-License-Identifier: Apache-2.0
// See set.h.
#include "search/learn/set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

learn_row learn_row_of(const map_layer *layer, const map_mapping *mapping, const hw_array *array, double cycles,
                       uint32_t group) {
  const machine_prediction p = machine_predict(layer, mapping, array, &cost_fitted);
  learn_row row = {.model = (float)log(p.cycles), .target = (float)log(cycles / p.cycles), .group = group};
  learn_features_of(layer, mapping, array, &p, row.features);
  return row;
}

learn_set learn_set_select(const learn_set *from, bool (*keep)(const learn_row *row, const void *context),
                           const void *context) {
  learn_set set = {.rows = WF_NEW_ARRAY(from->count + 1, learn_row)};
  for (size_t i = 0; i < from->count; i++)
    if (keep(&from->rows[i], context)) set.rows[set.count++] = from->rows[i];
  return set;
}

size_t learn_group_end(const learn_set *set, size_t first) {
  size_t end = first;
  while (end < set->count && set->rows[end].group == set->rows[first].group) end++;
  return end;
}

void learn_set_release(learn_set *set) {
  wf_free(set->rows);
  *set = (learn_set){0};
}

// ---- text

static void write_names(FILE *out) {
  fprintf(out, "group model target");
  for (int f = 0; f < LEARN_FEATURES; f++) fprintf(out, " %s", learn_feature_names[f]);
  fputc('\n', out);
}

void learn_set_write(const learn_set *set, FILE *out) {
  write_names(out);
  for (size_t i = 0; i < set->count; i++) {
    const learn_row *r = &set->rows[i];
    fprintf(out, "%u %.9g %.9g", r->group, (double)r->model, (double)r->target);
    for (int f = 0; f < LEARN_FEATURES; f++) fprintf(out, " %.9g", (double)r->features[f]);
    fputc('\n', out);
  }
}

static bool names_are_ours(const char *line) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) return false;
  write_names(out);
  fclose(out);
  const bool ours = strncmp(line, text, length) == 0;
  free(text);
  return ours;
}

static bool read_number(const char **at, float *number) {
  char *end;
  *number = strtof(*at, &end);
  if (end == *at || !isfinite(*number)) return false;
  *at = end;
  return true;
}

static bool read_row(const char **at, learn_row *row) {
  char *end;
  row->group = (uint32_t)strtoul(*at, &end, 10);
  if (end == *at) return false;
  *at = end;
  if (!read_number(at, &row->model) || !read_number(at, &row->target)) return false;
  for (int f = 0; f < LEARN_FEATURES; f++)
    if (!read_number(at, &row->features[f])) return false;
  return true;
}

bool learn_set_read(learn_set *set, const char *path, wf_diag *diag) {
  size_t length;
  *set = (learn_set){0};
  char *text = wf_read_file(path, 0, &length, diag);
  if (text == NULL) return false;
  if (!names_are_ours(text)) {
    wf_error(diag, (wf_location){.file = path, .line = 1}, "these are not samples of this version");
    wf_hint(diag, "weft bench learn --collect FILE writes some");
    wf_free(text);
    return false;
  }
  size_t lines = 0;
  for (const char *c = text; *c != 0; c++) lines += *c == '\n';
  set->rows = WF_NEW_ARRAY(lines + 1, learn_row);
  const char *at = strchr(text, '\n') + 1;
  bool good = true;
  while (good && *at != 0) {
    good = set->count < lines && read_row(&at, &set->rows[set->count]) && *at == '\n';
    if (good) at++;
    if (!good)
      wf_error(diag, (wf_location){.file = path, .line = (unsigned)set->count + 2}, "a sample is %d numbers",
               LEARN_FEATURES + 3);
    set->count++;
  }
  wf_free(text);
  if (!good) learn_set_release(set);
  return good;
}
