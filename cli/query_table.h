// SPDX-License-Identifier: Apache-2.0
// The answer of `weft query` as a terminal shows it: columns as wide as what is in them, lines as long as the
// terminal's. A column with one value in all rows stands above the table, one for which there is no room is named
// there.
#ifndef CLI_QUERY_TABLE_H
#define CLI_QUERY_TABLE_H

#include "api/include/weft/weft.h"

typedef struct query_table query_table;

query_table *query_table_create(void);
void query_table_destroy(query_table *table);
// The row at which `rows` stand.
void query_table_add(query_table *table, const weft_rows *rows);
// All rows on stdout, for lines of so many characters; 0: of any length.
void query_table_print(const query_table *table, unsigned columns);

#endif
