// SPDX-License-Identifier: Apache-2.0
// Comma-separated lines: see lines.h.
#include "search/layers/lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool layers_lines_refuse(const layers_lines_reader *r, const layers_lines_cells *cells, size_t cell, const char *what) {
  const size_t column = cell < cells->count ? (size_t)(cells->cell[cell] - cells->line) : 0;
  wf_error(r->diag, (wf_location){r->file, r->line, (unsigned)column + 1}, "%s", what);
  return false;
}

bool layers_lines_number(const layers_lines_reader *r, const layers_lines_cells *cells, size_t cell, int64_t *value) {
  const char *text = cells->cell[cell];
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  if (errno == 0 && end != text && *end == '\0' && *value >= 0) return true;
  return layers_lines_refuse(r, cells, cell, "not a whole number of 0 or more");
}

// Cuts a line at its commas; an empty cell at its end is none.
static bool cut(const layers_lines_reader *r, char *line, layers_lines_cells *cells) {
  *cells = (layers_lines_cells){.line = line};
  for (char *at = line, *next; at != NULL; at = next) {
    next = strchr(at, ',');
    if (next != NULL) *next++ = '\0';
    while (isspace((unsigned char)*at)) at++;
    for (size_t length = strlen(at); length > 0 && isspace((unsigned char)at[length - 1]);) at[--length] = '\0';
    if (next == NULL && *at == '\0' && cells->count > 0) break;
    if (cells->count == LINES_CELLS) return layers_lines_refuse(r, cells, 0, "more cells than columns");
    cells->cell[cells->count++] = at;
  }
  return true;
}

bool layers_lines_read(layers_lines_reader *r, char *text, size_t columns, layers_lines_layer *read) {
  layers_network *network = r->network;
  bool good = true;
  for (char *line = text; line != NULL && *line != '\0';) {
    char *next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    layers_lines_cells cells;
    layers_layer layer = {0};
    if (r->line++ > 0 && line[strspn(line, " \t\r")] != '\0' && *line != '#') {
      bool whole = cut(r, line, &cells);
      if (whole && cells.count != columns)
        whole = layers_lines_refuse(r, &cells, 0,
                                    cells.count < columns ? "fewer cells than columns" : "more cells than columns");
      good = whole && read(r, &cells, &layer) && good;
      *WF_ARENA_PUSH(network->arena, network->layers, network->count, &r->room) = layer;
    }
    line = next;
  }
  if (good && network->count == 0) wf_error(r->diag, wf_in_file(r->file), "a table without layers");
  return good && network->count != 0;
}

const char *layers_lines_base_name(wf_arena *arena, const char *file) {
  const char *slash = strrchr(file, '/'), *start = slash == NULL ? file : slash + 1;
  return wf_arena_text(arena, start, strcspn(start, "."));
}
