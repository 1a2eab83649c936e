// SPDX-License-Identifier: Apache-2.0
// What a timeline tells the file it is written to, and the forms of such files. A form keeps what it needs of its own;
// the timeline (timeline.c) decides what is shown, when, and on which track.
#ifndef SIM_TIMELINE_FORM_H
#define SIM_TIMELINE_FORM_H

#include "isa/isa.h"
#include "sim/timeline.h"

// Groups of tracks. A class has one of commands at work and one of commands that wait.
enum {
  TIMELINE_GRAPHS,
  TIMELINE_FIRST_CLASS,
  TIMELINE_BUS = TIMELINE_FIRST_CLASS + 2 * SIM_CLASSES,
  TIMELINE_STEPS,
  TIMELINE_GROUPS
};

typedef struct sim_timeline_command {
  uint32_t index;
  uint8_t funct;
  uint64_t rs1, rs2;
  unsigned group, track;  // tracks of a group count from 0
  uint64_t since;         // of the slice that has begun
} sim_timeline_command;

enum { SIM_TIMELINE_TEXT = ISA_TEXT_MAX };
// The instruction, a constant that is the same pointer each time; and the whole command.
const char *sim_timeline_name(const sim_timeline_command *command, unsigned revision);
const char *sim_timeline_text(const sim_timeline_command *command, unsigned revision, char text[SIM_TIMELINE_TEXT]);

typedef enum {
  TIMELINE_WAITING,
  TIMELINE_AT_WORK,
  TIMELINE_BUS_RATE,
  TIMELINE_MESH,
  TIMELINE_GRAPH_COUNT
} sim_timeline_curve;
enum { TIMELINE_SERIES_MAX = SIM_CLASSES };
typedef struct sim_timeline_graph {
  const char *name;
  unsigned count, decimals;
  const char *series[TIMELINE_SERIES_MAX];
} sim_timeline_graph;
extern const sim_timeline_graph sim_timeline_graphs[TIMELINE_GRAPH_COUNT];

// The first argument is what `open` returned. The group of graphs is there from the start; of the others each is told
// before its tracks, and a track before what is on it.
struct sim_timeline_form {
  void *(*open)(FILE *out, const hw_array *array, const char *title);
  void (*group)(void *form, unsigned group, const char *name);
  void (*track)(void *form, unsigned group, unsigned track, const char *name);
  // A slice of a command from its `since` to `cycle`: told at both ends.
  void (*begin)(void *form, const sim_timeline_command *command);
  void (*end)(void *form, const sim_timeline_command *command, uint64_t cycle, bool unfinished);
  void (*instant)(void *form, const sim_timeline_command *command, uint64_t cycle);
  void (*graph)(void *form, sim_timeline_curve graph, uint64_t cycle, const double *values);
  void (*burst)(void *form, const memsys_seen *burst, const char *kind);
  void (*step)(void *form, const sim_timeline_step_slice *step, unsigned track);
  void (*close)(void *form);  // writes what is left, frees
};

#endif
