// SPDX-License-Identifier: Apache-2.0
// The file of --timeline, packed if its name ends in .gz, and the options beside it.
#ifndef CLI_TIMELINE_FILE_H
#define CLI_TIMELINE_FILE_H

#include "cli/cli.h"
#include "sim/timeline.h"

typedef struct timeline_options {
  const char *path, *level, *steps;  // NULL: not given
} timeline_options;
enum { TIMELINE_OPTIONS = 3 };
extern const wf_option timeline_option_rows[TIMELINE_OPTIONS];

// What the options say.
typedef struct timeline_choice {
  sim_timeline_level level;
  uint64_t first, last;  // steps that are recorded
} timeline_choice;
// `usual` is the level that is not named. False after the reason was reported.
bool timeline_choose(const timeline_options *options, sim_timeline_level usual, timeline_choice *choice, wf_diag *diag);

typedef struct timeline_file {
  FILE *out;   // to write to; NULL: none
  FILE *file;  // behind it; the same unless it is packed
} timeline_file;

// With path NULL there is none.
bool timeline_file_open(timeline_file *file, const char *path, wf_diag *diag);
bool timeline_file_close(timeline_file *file, const char *path, bool complete, wf_diag *diag);

#endif
