// SPDX-License-Identifier: Apache-2.0
// The options of timelines and pipeline logs.
#ifndef CLI_TIMELINE_ARGS_H
#define CLI_TIMELINE_ARGS_H

#include "cli/cli.h"

typedef struct timeline_args {
  const char *path, *level, *steps, *konata;  // NULL: not given
} timeline_args;
enum { TIMELINE_ARGS = 4 };
extern const wf_option timeline_arg_rows[TIMELINE_ARGS];

// Whether they say something; else the reason was reported. `first`, of the steps, may be NULL.
bool timeline_args_good(const timeline_args *args, uint64_t *first);
// What is asked for, as messages name it; NULL: nothing.
const char *timeline_args_asked(const timeline_args *args);
// Whether both files can be written.
bool timeline_args_may_write(const timeline_args *args);
void timeline_args_set(const timeline_args *args, weft_run_options *options);

#endif
