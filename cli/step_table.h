// SPDX-License-Identifier: Apache-2.0
// The table of a network's steps as `weft sim` prints it: as wide as the terminal, names without what they all begin
// with, columns left out from the least wanted on.
#ifndef CLI_STEP_TABLE_H
#define CLI_STEP_TABLE_H

#include "api/include/weft/weft.h"

enum { STEP_TABLE_COLUMNS = 10 };
typedef struct step_table {
  const weft_network *network;
  size_t prefix;  // bytes that all names begin with and that are left out
  bool coloured;
  bool cut;                            // the last column ends with the line
  unsigned width[STEP_TABLE_COLUMNS];  // 0: the column is left out
} step_table;

// For lines of stdout, or of any length.
step_table step_table_create(const weft_network *network, bool wide);
// The line of heads, above it what is left out.
void step_table_head(const step_table *table);
// One step, as soon as it has run.
void step_table_row(const step_table *table, size_t index, const weft_step *step);

#endif
