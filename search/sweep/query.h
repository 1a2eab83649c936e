// SPDX-License-Identifier: Apache-2.0
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

typedef struct sweep_query sweep_query;

// `text` may begin with "select": then it is a statement of its own over all tables. `limit` 0: all rows. NULL after an
// error was reported.
sweep_query *sweep_query_open(const char *path, const char *text, const char *network, unsigned limit, wf_diag *diag);
void sweep_query_close(sweep_query *q);

// The next row; false: no more, or an error was reported.
bool sweep_query_next(sweep_query *q, wf_diag *diag);

typedef enum { QUERY_NULL, QUERY_INTEGER, QUERY_NUMBER, QUERY_TEXT } sweep_query_kind;
int sweep_query_columns(const sweep_query *q);
const char *sweep_query_name(const sweep_query *q, int column);
sweep_query_kind sweep_query_kind_of(const sweep_query *q, int column);
const char *sweep_query_text(const sweep_query *q, int column);  // of the row; "" for NULL
double sweep_query_number(const sweep_query *q, int column);
int sweep_query_find(const sweep_query *q, const char *name);  // a column or -1

#endif
