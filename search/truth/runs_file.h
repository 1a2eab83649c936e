// Measurements in a file, so that a long comparison goes on where it was broken off. What another build of the program
// measured is forgotten; a last entry that was not written to its end, too.
#ifndef SEARCH_TRUTH_RUNS_FILE_H
#define SEARCH_TRUTH_RUNS_FILE_H

#include "base/diag.h"
#include "search/sweep/work.h"

// What a measurement is of: hashes.
typedef struct runs_key {
  uint64_t array, layer, mapping;  // mapping 0: the mapper's
  uint64_t tune;
} runs_key;

typedef struct runs_file runs_file;

// NULL after an error was reported.
runs_file *runs_file_open(const char *path, wf_diag *diag);
void runs_file_close(runs_file *f);  // may be NULL
// The next of the entries that were there; false: no more.
bool runs_file_next(runs_file *f, runs_key *key, work_result *result);
// After the last of them was read.
void runs_file_add(runs_file *f, const runs_key *key, const work_result *result);

#endif
