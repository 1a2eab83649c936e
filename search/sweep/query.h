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
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"

// A store opened for reading. All questions to one reader see the store at one time, also while a sweep writes it.
typedef struct sweep_reader sweep_reader;

// NULL after an error was reported: it cannot be read, is no store, or its tables are of another version.
sweep_reader *sweep_reader_open(const char *path, wf_diag *diag);
void sweep_reader_close(sweep_reader *r);

typedef struct sweep_query sweep_query;

// A statement on a reader, which must outlive it. NULL after an error was reported.
sweep_query *sweep_query_on(sweep_reader *reader, const char *sql, wf_diag *diag);

// A question to a store of its own reader. `text` may begin with "select": then it is a statement of its own over all
// tables. `limit` 0: all rows. NULL after an error was reported.
sweep_query *sweep_query_open(const char *path, const char *text, const char *network, uint64_t limit, wf_diag *diag);
void sweep_query_close(sweep_query *q);

// The next row; false: no more, or an error was reported.
bool sweep_query_next(sweep_query *q, wf_diag *diag);

typedef enum { QUERY_NULL, QUERY_INTEGER, QUERY_NUMBER, QUERY_TEXT } sweep_query_kind;
int sweep_query_columns(const sweep_query *q);
const char *sweep_query_name(const sweep_query *q, int column);
sweep_query_kind sweep_query_kind_of(const sweep_query *q, int column);
const char *sweep_query_text(const sweep_query *q, int column);  // of the row; "" for NULL
int64_t sweep_query_integer(const sweep_query *q, int column);
double sweep_query_number(const sweep_query *q, int column);
int sweep_query_find(const sweep_query *q, const char *name);  // a column or -1

#endif
