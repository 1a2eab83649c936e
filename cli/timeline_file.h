// SPDX-License-Identifier: Apache-2.0
// The files of --timeline and --konata, each packed if its name ends in .gz, and the options beside them.
#ifndef CLI_TIMELINE_FILE_H
#define CLI_TIMELINE_FILE_H

#include "cli/cli.h"
#include "sim/konata.h"
#include "sim/timeline.h"

typedef struct timeline_options {
  const char *path, *level, *steps, *konata;  // NULL: not given
} timeline_options;
enum { TIMELINE_OPTIONS = 4 };
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

typedef struct timeline_files {
  timeline_file timeline, konata;
} timeline_files;

bool timeline_files_open(timeline_files *files, const timeline_options *options, wf_diag *diag);
bool timeline_files_close(timeline_files *files, const timeline_options *options, bool complete, wf_diag *diag);
// What is asked for, as messages name it; NULL: nothing.
const char *timeline_asked(const timeline_options *options);

// What writes to them; NULL: none.
typedef struct timeline_sinks {
  sim_timeline *timeline;
  sim_konata *konata;
} timeline_sinks;

// A timeline whose name ends in .pftrace or .pftrace.gz is in Perfetto's form.
timeline_sinks timeline_sinks_open(const timeline_files *files, const timeline_options *options, const hw_array *array,
                                   const char *title, sim_timeline_level level);
// Whether they have any use for events of commands.
bool timeline_sinks_hear(const timeline_sinks *sinks, sim_timeline_level level);
void timeline_sinks_event(const timeline_sinks *sinks, const sim_event *event);
void timeline_sinks_record(const timeline_sinks *sinks, bool on);
// `last`: see sim_timeline_close. False after the reason was reported.
bool timeline_sinks_close(const timeline_sinks *sinks, const timeline_options *options, uint64_t cycles,
                          const sim_cycle_report *last, wf_diag *diag);

#endif
