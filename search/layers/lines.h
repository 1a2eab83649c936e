// SPDX-License-Identifier: Apache-2.0
// What the readers of comma-separated layer tables share: lines, cells, numbers, and complaints with their place.
#ifndef SEARCH_LAYERS_LINES_H
#define SEARCH_LAYERS_LINES_H

#include "search/layers/layers.h"

typedef struct layers_lines_reader {
  layers_network *network;
  const char *file;
  wf_diag *diag;
  size_t room;
  unsigned line;  // from 1
} layers_lines_reader;

// Cells of a line that is cut at its commas, without blanks around them.
enum { LINES_CELLS = 16 };
typedef struct layers_lines_cells {
  const char *line;
  char *cell[LINES_CELLS];
  size_t count;
} layers_lines_cells;

// Reports with the column where a cell begins; returns false.
bool layers_lines_refuse(const layers_lines_reader *r, const layers_lines_cells *cells, size_t cell, const char *what);
// A whole number of 0 or more.
bool layers_lines_number(const layers_lines_reader *r, const layers_lines_cells *cells, size_t cell, int64_t *value);

// One line under the column names: its layer.
typedef bool layers_lines_layer(const layers_lines_reader *r, const layers_lines_cells *cells, layers_layer *layer);
// Reads the lines of a text, which is cut up; lines that are empty or begin with # are passed over. `columns` are how
// many cells a line has.
bool layers_lines_read(layers_lines_reader *r, char *text, size_t columns, layers_lines_layer *read);

// "my" of "dir/my.tab.csv", in the arena.
const char *layers_lines_base_name(wf_arena *arena, const char *file);

#endif
