// SPDX-License-Identifier: Apache-2.0
// The results of benches: rows of one type of table, and the writers of text, CSV and JSON.
//
// A report has the tables of one bench in order. Text and CSV are written as rows come, as benches run for hours; JSON
// is written at the end. What a column is called in each of the three, and how its values look there, is data.
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- values

typedef enum { BENCH_NONE, BENCH_TEXT, BENCH_COUNT, BENCH_REAL, BENCH_FLAG, BENCH_HASH } bench_kind;

typedef struct bench_cell {
  bench_kind kind;
  union {
    const char *text;
    uint64_t count;  // and a flag, and a hash
    double real;
  };
} bench_cell;

static inline bench_cell bench_none(void) { return (bench_cell){.kind = BENCH_NONE}; }
static inline bench_cell bench_text(const char *text) { return (bench_cell){.kind = BENCH_TEXT, .text = text}; }
static inline bench_cell bench_count(uint64_t count) { return (bench_cell){.kind = BENCH_COUNT, .count = count}; }
static inline bench_cell bench_real(double real) { return (bench_cell){.kind = BENCH_REAL, .real = real}; }
static inline bench_cell bench_flag(bool flag) { return (bench_cell){.kind = BENCH_FLAG, .count = flag}; }
static inline bench_cell bench_hash(uint64_t hash) { return (bench_cell){.kind = BENCH_HASH, .count = hash}; }
// The cell where the condition holds, else none.
static inline bench_cell bench_if(bool known, bench_cell cell) { return known ? cell : bench_none(); }

// ---- forms

typedef struct bench_column {
  const char *title;        // in the heading of the text
  const char *key;          // in JSON; "warm.rows" is key `rows` of the object `warm`
  const char *csv;          // in the first line of CSV. A column is not where its name is NULL
  const char *gap;          // in front of it in the text; NULL: as the form says
  int width;                // in the text; below 0: values stand on the left; 0: as long as the value
  const char *text_format;  // of printf, for a double; NULL: whole, with thousands separators
  const char *csv_format;   // the same; NULL: "%.9g"
  double scale;             // what numbers of the text are multiplied by; 0: 1
  const char *none;         // in the text in place of no value; NULL: nothing
  const char *csv_none;     // in CSV
} bench_column;

typedef struct bench_form {
  // Of JSON: the list of the document that has the rows. NULL: the only row's values are the document's own. "": the
  // document is this list.
  const char *list;
  // Of JSON: the first `outer` columns belong to a group of rows, which are in a list of this name. The text has them
  // in the first row of a group. NULL, 0: no groups.
  const char *inner;
  size_t outer;
  const char *begin, *between, *end;  // of a line of text; NULL: "", " ", ""
  const bench_column *columns;
  size_t column_count;
} bench_form;

// A column of this name in JSON and CSV.
#define BENCH_DATA(name) .key = (name), .csv = (name)
#define BENCH_FORM(rows) .columns = (rows), .column_count = sizeof(rows) / sizeof *(rows)

// ---- reports

typedef struct bench_report bench_report;
typedef struct bench_table bench_table;

// `name` is key `bench` of a document that is an object. Files are borrowed; NULL: that output is not wanted.
bench_report *bench_report_create(const char *name, FILE *text, FILE *csv);
void bench_report_destroy(bench_report *report);
// Lines of text between rows.
void bench_report_say(bench_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
// NULL: there is no table.
cJSON *bench_report_json(const bench_report *report);

// `form` is borrowed. One table of a report at most has columns in CSV. Tables are destroyed with the report.
bench_table *bench_table_open(bench_report *report, const bench_form *form);
// The line of titles, in the text.
void bench_table_heading(const bench_table *table);
// `count` cells, one for each column; texts are copied. With a remark the text has the first column and the remark.
void bench_table_add(bench_table *table, const char *remark, const bench_cell *cells, size_t count);

#define BENCH_CELLS(...) \
  (const bench_cell[]){__VA_ARGS__}, sizeof((const bench_cell[]){__VA_ARGS__}) / sizeof(bench_cell)
// Adds a row without a remark.
#define BENCH_ROW(table, ...) bench_table_add((table), NULL, BENCH_CELLS(__VA_ARGS__))

#endif
