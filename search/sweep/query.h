// Questions to a store: a condition and an order over its points (docs/sweeps.md).
//
//   cycles < 20e6 and dim <= 16 order by edp
//
// The words are the columns of point_network and array and the parameters that the sweep varies; the text is given to
// SQLite, which is allowed to read and nothing else.
#ifndef SEARCH_SWEEP_QUERY_H
#define SEARCH_SWEEP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"

typedef struct query query;

// `text` may begin with "select": then it is a statement of its own over all tables. `limit` 0: all rows. NULL after an
// error was reported.
query *query_open(const char *path, const char *text, const char *network, unsigned limit, wf_diag *diag);
void query_close(query *q);

// The next row; false: no more, or an error was reported.
bool query_next(query *q, wf_diag *diag);

typedef enum { QUERY_NULL, QUERY_INTEGER, QUERY_NUMBER, QUERY_TEXT } query_kind;
int query_columns(const query *q);
const char *query_name(const query *q, int column);
query_kind query_kind_of(const query *q, int column);
const char *query_text(const query *q, int column);  // of the row; "" for NULL
double query_number(const query *q, int column);
int query_find(const query *q, const char *name);  // a column or -1

#endif
