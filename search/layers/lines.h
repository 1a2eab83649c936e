// What the readers of comma-separated layer tables share: lines, cells, numbers, and complaints with their place.
#ifndef SEARCH_LAYERS_LINES_H
#define SEARCH_LAYERS_LINES_H

#include "search/layers/layers.h"

typedef struct lines_reader {
  layers_network *network;
  const char *file;
  wf_diag *diag;
  size_t room;
  unsigned line;  // from 1
} lines_reader;

// Cells of a line that is cut at its commas, without blanks around them.
enum { LINES_CELLS = 16 };
typedef struct lines_cells {
  const char *line;
  char *cell[LINES_CELLS];
  size_t count;
} lines_cells;

// Reports with the column where a cell begins; returns false.
bool lines_refuse(const lines_reader *r, const lines_cells *cells, size_t cell, const char *what);
// A whole number of 0 or more.
bool lines_number(const lines_reader *r, const lines_cells *cells, size_t cell, int64_t *value);

// One line under the column names: its layer.
typedef bool lines_layer(const lines_reader *r, const lines_cells *cells, layers_layer *layer);
// Reads the lines of a text, which is cut up; those that are empty or begin with # are passed over. `columns` are how
// many cells a line has.
bool lines_read(lines_reader *r, char *text, size_t columns, lines_layer *read);

// "my" of "dir/my.tab.csv", in the arena.
const char *lines_base_name(wf_arena *arena, const char *file);

#endif
