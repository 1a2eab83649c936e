// SPDX-License-Identifier: Apache-2.0
// Timelines and pipeline logs of a run, each packed if its name ends in .gz.
#ifndef API_TIMELINE_H
#define API_TIMELINE_H

#include "api/private.h"
#include "sim/konata.h"
#include "sim/timeline.h"

typedef struct api_timeline_options {
  const char *path, *level, *steps, *konata;  // NULL: not given
} api_timeline_options;

// What the options say.
typedef struct api_timeline_choice {
  sim_timeline_level level;
  uint64_t first, last;  // steps that are recorded
} api_timeline_choice;
// `usual` is the level that is not named. False after the reason was reported.
bool api_timeline_choose(const api_timeline_options *options, sim_timeline_level usual, api_timeline_choice *choice,
                         wf_diag *diag);

typedef struct api_timeline_file {
  FILE *out;   // to write to; NULL: none
  FILE *file;  // behind it; the same unless it is packed
} api_timeline_file;

typedef struct api_timeline_files {
  api_timeline_file timeline, konata;
} api_timeline_files;

bool api_timeline_files_open(api_timeline_files *files, const api_timeline_options *options, wf_diag *diag);
bool api_timeline_files_close(api_timeline_files *files, const api_timeline_options *options, bool complete,
                              wf_diag *diag);
// What is asked for, as messages name it; NULL: nothing.
const char *api_timeline_asked(const api_timeline_options *options);

// What writes to them; NULL: none.
typedef struct api_timeline_sinks {
  sim_timeline *timeline;
  sim_konata *konata;
} api_timeline_sinks;

// A timeline whose name ends in .pftrace or .pftrace.gz is in Perfetto's form.
api_timeline_sinks api_timeline_sinks_open(const api_timeline_files *files, const api_timeline_options *options,
                                           const hw_array *array, const char *title, sim_timeline_level level);
// Whether they have any use for events of commands.
bool api_timeline_sinks_hear(const api_timeline_sinks *sinks, sim_timeline_level level);
void api_timeline_sinks_event(const api_timeline_sinks *sinks, const sim_event *event);
void api_timeline_sinks_record(const api_timeline_sinks *sinks, bool on);
// `last`: see sim_timeline_close. False after the reason was reported.
bool api_timeline_sinks_close(const api_timeline_sinks *sinks, const api_timeline_options *options, uint64_t cycles,
                              const sim_cycle_report *last, wf_diag *diag);

#endif
