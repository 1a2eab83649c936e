// SPDX-License-Identifier: Apache-2.0
// The schedule store of a verb that compiles: --schedules FILE.
#ifndef CLI_SCHEDULE_STORE_H
#define CLI_SCHEDULE_STORE_H

#include "cli/cli.h"

typedef struct schedule_store {
  const char *path;  // NULL: none
  weft_session *session;
  weft_schedules *store;
} schedule_store;

// With a path of NULL nothing is done. Returns an exit code, after errors were reported; close what was opened.
cli_exit schedule_store_open(schedule_store *s, weft_session *session, const char *path, bool may_be_new);
// Writes what was added and says on stderr, unless `quiet`, what the store was asked.
bool schedule_store_close(schedule_store *s, bool quiet);

#endif
