// SPDX-License-Identifier: Apache-2.0
// Measurements in a file, so that a long comparison goes on where it was broken off. What another build of the program
// measured is forgotten; a last entry that was not written to its end, too.
#ifndef SEARCH_TRUTH_RUNS_FILE_H
#define SEARCH_TRUTH_RUNS_FILE_H

#include "base/diag.h"
#include "search/sweep/work.h"

// What a measurement is of: hashes.
typedef struct truth_runs_key {
  uint64_t array, layer, mapping;  // mapping 0: the mapper's
  uint64_t tune, fidelity;
} truth_runs_key;

typedef struct truth_runs_file truth_runs_file;

// NULL after an error was reported.
truth_runs_file *truth_runs_file_open(const char *path, wf_diag *diag);
void truth_runs_file_close(truth_runs_file *f);  // may be NULL
// The next of the entries that were there; false: no more.
bool truth_runs_file_next(truth_runs_file *f, truth_runs_key *key, sweep_work_result *result);
// After the last of them was read.
void truth_runs_file_add(truth_runs_file *f, const truth_runs_key *key, const sweep_work_result *result);

#endif
