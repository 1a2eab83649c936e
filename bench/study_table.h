// SPDX-License-Identifier: Apache-2.0
// The tables of a study: every row, and what follows from them.
#ifndef BENCH_STUDY_TABLE_H
#define BENCH_STUDY_TABLE_H

#include "bench/table.h"
#include "search/study/rows.h"

void bench_study_print(bench_report *report, const study_rows *rows);

#endif
