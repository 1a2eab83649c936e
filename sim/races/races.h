// SPDX-License-Identifier: Apache-2.0
// Races of accelerator programs: pairs of accesses that share bytes or rows, one of them a write, in no certain order.
//
// The engine `races` takes a program like every other engine. It executes it (on the reference engine, so it needs no
// data of its own), and gives each access a vector clock over
//
//   hart      the program's loads and stores, and the commands that it gives
//   load, execute, store   the units, each in program order
//   memory    rows of stores that have come to main memory
//
// A pair is ordered if the later one's clock has the earlier one's number. Clocks grow along what certainly comes
// first, whatever the times of memory:
//
//   hart      what stands before a command in the program comes before it
//   fence     all commands before it are done, all of their bytes in memory, before the hart goes on
//   station   a command waits for those of other units with which its local rows conflict, as the reservation station
//             compares them, and so for all that those waited for
//   room      a command has entered the station when as many commands of each unit as the station holds may not be
//             done, and bytes of a store have come to memory when enough rows have left behind it (arch/settle.h).
//             Not behind a loop command: an unroller gives its commands in an order of its own
//
// Commands of one unit are taken to be in order: the unit sees to it, in local memory and at its port.
#ifndef SIM_RACES_RACES_H
#define SIM_RACES_RACES_H

#include <stdio.h>

#include "sim/engine.h"

enum { RACES_ACTORS = 8 };
typedef struct races_clock {
  uint64_t of[RACES_ACTORS];  // how many of the actor's events certainly came before
} races_clock;

static inline void races_clock_join(races_clock *to, const races_clock *from) {
  for (int a = 0; a < RACES_ACTORS; a++)
    if (from->of[a] > to->of[a]) to->of[a] = from->of[a];
}

typedef enum { RACES_HART, RACES_LOAD, RACES_EXECUTE, RACES_STORE, RACES_MEMORY, RACES_UNITS } races_unit;
typedef enum { RACES_MAIN_MEMORY, RACES_SCRATCHPAD, RACES_ACCUMULATOR, RACES_PLACES } races_place;
extern const char *const races_unit_names[RACES_UNITS];
extern const char *const races_place_names[RACES_PLACES];

// Orders that can be left out, to see what depends on them (sim_engine_options.ignored_orders).
typedef enum { RACES_STATION = 1, RACES_FENCES = 2, RACES_ROOM = 4 } races_order;

// One side of a pair.
typedef struct races_access {
  races_unit unit;
  bool writes;
  uint64_t number;         // of the primitive in program order; of the hart: of its access
  arch_command command;    // of the program, and
  arch_command primitive;  // what a loop command became, else the same; insn NULL: the hart's own, `pc` alone is set
} races_access;

typedef struct races_pair {
  races_access earlier, later;  // in program order
  races_place place;
  uint64_t first, end;  // bytes or rows that both touch, from the first to behind the last
} races_pair;

typedef struct races_report {
  uint64_t commands, primitives, fences;
  uint64_t hart_accesses;   // looked at
  uint64_t ordered;         // conflicting pairs of commands that are in order
  uint64_t races;           // pairs that are not
  const races_pair *pairs;  // the first of them, the engine's
  size_t count;
} races_report;

enum { RACES_KEPT = 1 << 16 };

extern const sim_engine_ops sim_races_engine;
// Of an engine of sim_races_engine; good until it takes another command or ends.
void races_report_of(const sim_engine *engine, races_report *report);

// ---- programs with tokens

// A program of units without a reservation station, as text:
//
//   weft-tokens 1
//   queue load execute 4                the queue has room for so many tokens; without a line it has room for all
//   load pop execute                    waits for a token of the queue execute -> load
//   load writes param 0..71             accesses of one instruction, of named memories
//   load push execute
//   execute reads activ 0..24 reads param 0..71 writes stbuf 0..7
//
// Each unit carries out its own lines in order; tokens alone order lines of different units. Instructions are numbered
// from 0 in the order of the file.
typedef struct races_tokens races_tokens;

// NULL after an error was reported.
races_tokens *races_tokens_read(FILE *in, const char *file, wf_diag *diag);
void races_tokens_destroy(races_tokens *program);
// True if the file starts like such a program.
bool races_tokens_recognise(FILE *in);

typedef struct races_side {
  const char *unit;
  size_t number;
  unsigned line;
  bool writes;
} races_side;

typedef struct races_conflict {
  races_side a, b;  // a stands before b in the file
  const char *memory;
  uint64_t first, last;  // what both touch
} races_conflict;

typedef struct races_queue {
  const char *from, *to;
  uint64_t room;  // 0: for all
  uint64_t pushed, popped;
} races_queue;

// A unit that does not come to its end.
typedef struct races_stuck {
  races_side at;
  bool pops;  // it waits for a token; else for room
  const char *from, *to;
} races_stuck;

typedef struct races_tokens_report {
  size_t instructions, units;
  uint64_t ordered;  // conflicting pairs of different units
  races_conflict *conflicts;
  size_t conflict_count;
  races_queue *queues;
  size_t queue_count;
  races_stuck *stuck;
  size_t stuck_count;
} races_tokens_report;

// The report is the program's. What a stuck unit did not come to is in no pair.
const races_tokens_report *races_tokens_run(races_tokens *program);

#endif
