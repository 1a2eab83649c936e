// SPDX-License-Identifier: Apache-2.0
// The schedule store of a verb that compiles: --schedules FILE.
#ifndef CLI_SCHEDULE_STORE_H
#define CLI_SCHEDULE_STORE_H

#include "cli/cli.h"
#include "runner/tune.h"
#include "search/schedules/schedules.h"

typedef struct schedule_store {
  const char *path;  // NULL: none
  schedules *rows;
  schedules_lookup lookup;
  uint64_t added;
} schedule_store;

// Of a verb's options and array, which live as long as the store; `tuning` asks it from then on. With a path of NULL
// nothing is done. Returns an exit code, after errors were reported; close in any case.
cli_exit schedule_store_open(schedule_store *s, const char *path, const hw_array *array, compile_tuning *tuning,
                             wf_diag *diag);
// What tuning found for a network, and for a kernel.
void schedule_store_add_network(schedule_store *s, const char *origin, const run_tune_result *tuned);
void schedule_store_add_kernel(schedule_store *s, const char *origin, const compile_result *result);
// Writes what was added and says on stderr, unless `quiet`, what the store was asked.
bool schedule_store_close(schedule_store *s, bool quiet, wf_diag *diag);

#endif
