// SPDX-License-Identifier: Apache-2.0
// What runs of networks and programs share: the choice of an engine, and where its records go.
#ifndef API_RECORDING_H
#define API_RECORDING_H

#include "api/run.h"
#include "api/timeline.h"

// The engine of the options, with what `sensitivity` and `accelerator` make of it; NULL after the call was ended.
// `by_default` has no name.
const sim_engine_ops *api_run_engine(weft_session *session, const weft_run_options *options,
                                     const sim_engine_ops *by_default);
sim_engine_options api_engine_options(weft_session *session, const weft_run_options *options,
                                      const sim_engine_ops *engine);

// Files of records, and what writes to them.
typedef struct api_recording {
  api_timeline_options options;
  api_timeline_choice choice;
  api_timeline_files files;
  api_timeline_sinks sinks;
  FILE *events;
  const char *events_path;
  uint32_t line_bytes;  // of the L2
  sim_events hear;      // of the engine
} api_recording;

// Opens the files. False after the session's call was ended. `usual` is the level of a timeline that none is named for.
bool api_recording_open(weft_session *session, api_recording *r, const weft_run_options *options,
                        const sim_engine_ops *engine, const hw_array *array, const char *title,
                        sim_timeline_level usual);
// The events that the engine is to tell; NULL: none.
const sim_events *api_recording_events(api_recording *r);
// Ends what is written; `cycles` and `last` as in sim_timeline_close. What is not complete is forgotten.
bool api_recording_close(api_recording *r, bool complete, uint64_t cycles, const sim_cycle_report *last, wf_diag *diag);

#endif
