// SPDX-License-Identifier: Apache-2.0
// The table of a network's steps as `weft sim` prints it: as wide as the terminal, names without what they all begin
// with, columns left out from the least wanted on.
#ifndef CLI_STEP_TABLE_H
#define CLI_STEP_TABLE_H

#include "runner/network.h"

enum { STEP_TABLE_COLUMNS = 10 };
typedef struct step_table {
  const network *net;
  size_t prefix;  // bytes that all names begin with and that are left out
  bool coloured;
  bool cut;                            // the last column ends with the line
  unsigned width[STEP_TABLE_COLUMNS];  // 0: the column is left out
} step_table;

// For lines of so many characters; 0: of any length.
step_table step_table_create(const network *net, unsigned columns, bool coloured);
// The line of heads, above it what is left out.
void step_table_head(const step_table *table, FILE *out);
// One step, as soon as it has run.
void step_table_row(const step_table *table, int step, const run_step_result *result, FILE *out);

// i8[1,56,56,256]: type and shape of a node's first result.
void step_table_shape(const graph *g, const graph_node *node, char *text, size_t size);
void step_table_tensor(const graph_tensor *tensor, char *text, size_t size);  // the same of one tensor
// The bytes of their names that all steps begin with, up to the last '/' or '.'; those of ends do not count.
size_t step_table_prefix(const network *net);

#endif
