// SPDX-License-Identifier: Apache-2.0
// The measured table of workloads/gemmini-rtl: rows in the order in which the programs print them, and how far a
// simulation is from them. A row that ends before the fence (its name ends in _issue) measures the hart; so it has a
// group of its own.
#ifndef BENCH_GEMMINI_TABLE_H
#define BENCH_GEMMINI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/statistics.h"

typedef struct bench_gemmini_row {
  const char *group;   // the program
  const char *memory;  // behind the L2
  const char *key;     // "name,p1,...,p6,rep"
  bool issue, cold;
  uint64_t measured, simulated;
  uint64_t again;  // the other warm repetition of the window, as measured; 0: there is none
} bench_gemmini_row;

enum { BENCH_GEMMINI_TEXTS = 3 };

typedef struct bench_gemmini_table {
  char *texts[BENCH_GEMMINI_TEXTS];  // own all strings
  bench_gemmini_row *rows;
  size_t count;
} bench_gemmini_table;

// Without a path the tables that travel in the program. False after an error was reported.
bool bench_gemmini_table_load(bench_gemmini_table *table, const char *path, wf_diag *diag);
void bench_gemmini_table_free(bench_gemmini_table *table);

// The rows of what the random programs printed, a line "seed,commands,style,bytes,cycles of three repetitions,checksum"
// for each: the checksum is part of the key. To free.
char *bench_gemmini_random_rows(const char *printed);

// Takes what the program of a group printed ("key,cycles" per line) as the simulated cycles of its rows with that
// memory. False after an error was reported: other rows than the table's.
bool bench_gemmini_table_fill(bench_gemmini_table *table, const char *group, const char *memory, char *printed,
                              const char *path, wf_diag *diag);

// Errors of some rows. Percents are of the measured cycles.
typedef struct bench_gemmini_errors {
  size_t exact;
  wf_summary cycles, percent;      // of |error|, in cycles and in percent
  wf_summary bias;                 // of the signed error in percent
  wf_summary repeat;               // what the other warm repetition misses a row by, in percent; of rows that have one
  const bench_gemmini_row *worst;  // in percent; NULL: no rows
} bench_gemmini_errors;

void bench_gemmini_errors_add(bench_gemmini_errors *errors, const bench_gemmini_row *row);
double bench_gemmini_percent(const bench_gemmini_row *row);  // signed

#endif
