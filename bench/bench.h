// SPDX-License-Identifier: Apache-2.0
// Benches: measurements that compare parts of the project with each other, as rows of one table.
//
// A bench takes options and arguments and hands over the rows of its tables (table.h). Where these go, and how options
// are read, is the caller's.
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/option.h"
#include "bench/table.h"
#include "hw/array.h"
#include "hw/tech.h"

typedef enum {
  BENCH_DONE,
  BENCH_BAD_INPUT,       // reported
  BENCH_BAD_USAGE,       // reported: options that do not go together or are out of range
  BENCH_CANNOT_BUILD,    // reported: something could not be compiled or built
  BENCH_MISMATCH,        // a result, a cycle or a limit is not as it must be
  BENCH_PROGRAM_FAILED,  // reported: a simulated program ended with an error
} bench_end;

// One run of a bench.
typedef struct bench_job {
  const void *options;  // the struct that the bench's rows of options point into
  char **arguments;
  size_t argument_count;
  const char *array;    // NULL: gemmini-default
  unsigned isa;         // revision; 0: as the array says
  const hw_tech *tech;  // NULL: that of the array's chip.technology
  const char *tool;     // the program weft, by its path or a name in PATH
  const char *version;  // of this program, for what is kept in files
  bool quiet;           // no progress
  wf_diag *diag;
  bench_report *report;
} bench_job;

typedef struct bench {
  const char *name, *summary;
  const char *synopsis, *text;  // of the help
  const wf_option *options;
  size_t option_count;
  const void *defaults;  // of the options
  size_t options_size;
  size_t min_arguments, max_arguments;
  bool takes_array;
  const char *csv_also;  // another name of the option that writes CSV; NULL: none
  bench_end (*run)(const bench_job *job);
} bench;

// All of them, by name; bench_find gives NULL for a name that is none.
extern const bench *const bench_list[];
extern const size_t bench_list_count;
const bench *bench_find(const char *name);

// The array of the job.
bool bench_load_array(const bench_job *job, hw_array *array);

// Whether the job's choice, an option that may be missing, takes this name.
bool bench_takes(const char *choice, const char *name);
// The same of a choice of several, "a,b,c".
bool bench_takes_of(const char *choice, const char *name);
// Whether each name of the option's choice "a,b,c" is one of `names`; reports each that is none.
bool bench_knows(const char *option, const char *choice, const char *const *names, size_t count, wf_diag *diag);

// The text of a file, or of what travels in the program where `path` is NULL, to be freed; NULL after an error was
// reported.
char *bench_read(const char *path, const char *own, wf_diag *diag);

// Seconds of processor that ended child processes have taken.
double bench_children_seconds(void);

#define BENCH_OPTIONS(rows, values)                                                        \
  .options = (rows), .option_count = sizeof(rows) / sizeof *(rows), .defaults = &(values), \
  .options_size = sizeof(values)

extern const bench bench_all, bench_attention, bench_codesign, bench_decode, bench_depth, bench_engines, bench_flow,
    bench_fusion, bench_gemmini, bench_gradient, bench_graph, bench_groups, bench_kernels, bench_learn, bench_model,
    bench_networks, bench_operators, bench_optima, bench_planner, bench_races, bench_rtl, bench_schedule, bench_schemes,
    bench_search, bench_skips, bench_sparse, bench_study, bench_sweep, bench_tokens, bench_transfer;

#endif
