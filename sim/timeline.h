// SPDX-License-Identifier: Apache-2.0
// A run for a viewer of traces: as a Chrome trace, which Perfetto (ui.perfetto.dev) and chrome://tracing open, or as
// Perfetto's own, which is smaller. Its level says what it has:
//   step     the steps of a network, those of the array and those of the hart
//   command  also, per class of commands, a group of tracks with commands at work, from issue to done; with the cycle
//            engine graphs of bytes on the bus and of the mesh
//   burst    also commands that wait in the reservation station, from allocation to issue; bursts on the bus, each from
//            its request to the last beat of its answer; graphs of commands in flight
//
// One cycle is shown as one microsecond. Events are written as they come, so memory does not grow with the run. Slices
// on a track must nest, so commands that overlap go to tracks of their own: the lowest that is free.
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include <stdio.h>

#include "hw/array.h"
#include "sim/cycle/cycle.h"
#include "sim/engine.h"

enum { SIM_TIMELINE_INTERVAL = 1024 };  // least cycles between two samples of the graphs of bus and mesh

typedef enum { SIM_TIMELINE_STEP, SIM_TIMELINE_COMMAND, SIM_TIMELINE_BURST, SIM_TIMELINE_LEVELS } sim_timeline_level;
extern const char *const sim_timeline_level_names[SIM_TIMELINE_LEVELS];

typedef struct sim_timeline sim_timeline;
typedef struct sim_timeline_form sim_timeline_form;
extern const sim_timeline_form sim_timeline_json, sim_timeline_perfetto;

// Writes to `out`, which stays the caller's, as does the array.
sim_timeline *sim_timeline_open(FILE *out, const sim_timeline_form *form, const hw_array *array, const char *title,
                                sim_timeline_level level);
// Whether events and bursts from here on are written; at first they are. A command that is on its way then ends as
// "unfinished".
void sim_timeline_record(sim_timeline *timeline, bool on);
// A step that is over, recorded or not: a slice on the array's track or the hart's.
typedef struct sim_timeline_argument {
  const char *name, *text;  // without a text it is the value
  double value;             // at least 0
  unsigned decimals;
} sim_timeline_argument;
typedef struct sim_timeline_step_slice {
  const char *name;
  const sim_timeline_argument *arguments;
  size_t argument_count;
  bool on_array;
  uint64_t start, cycles;
} sim_timeline_step_slice;
void sim_timeline_step(sim_timeline *timeline, const sim_timeline_step_slice *step);
// The graphs of bus and mesh, from this engine if it is the cycle engine; it must live as long as events come.
void sim_timeline_watch(sim_timeline *timeline, const sim_engine *engine);
// A sink of sim_events; the context is the timeline.
void sim_timeline_event(void *context, const sim_event *event);
// A sink of bursts on the bus; the context is the timeline.
void sim_timeline_burst(void *context, const memsys_seen *burst);
// Ends the trace at `cycles`; commands that are not done end there with "unfinished" among their arguments. `last` is
// the final state of the watched engine, NULL if there was none. False: writing failed.
bool sim_timeline_close(sim_timeline *timeline, uint64_t cycles, const sim_cycle_report *last);

#endif
