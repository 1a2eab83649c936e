// SPDX-License-Identifier: Apache-2.0
// The records of timed engines (sim/engine.h), kept and compared. Records are equal if they tell the same event of the
// same command in the same cycle; two allocations must also tell the same command, if both tell it.
#ifndef SIM_RECORDS_H
#define SIM_RECORDS_H

#include "sim/engine.h"

typedef struct sim_records {
  sim_event *item;
  size_t count, room;
} sim_records;

// The sink that keeps every record.
sim_events sim_records_sink(sim_records *records);
void sim_records_free(sim_records *records);

// The first record that two engines do not share.
typedef struct sim_difference {
  size_t at;           // its place; the records before it are equal
  sim_event event;     // the earlier one of the two that stand there
  bool found[2];       // whether each engine has this event of this command at all
  uint64_t cycles[2];  // and when
  bool other_command;  // both in the same cycle, but not of the same command
} sim_difference;

// False if the records are equal.
bool sim_records_differ(const sim_records *first, const sim_records *second, sim_difference *difference);

// The command with this index as it was allocated, NULL if no record tells it.
const sim_event *sim_records_command(const sim_records *records, uint32_t index);

const char *sim_event_kind_name(sim_event_kind kind);
const char *sim_class_name(sim_class unit);  // "" for SIM_CLASSES

// The class that the station will give the command, which the record of its allocation does not tell.
sim_class sim_event_class(const sim_event *allocation, unsigned revision);
// Whether a command has no record of its end: configuration of loads and stores.
bool sim_event_done_at_issue(uint8_t funct, sim_class unit);

enum { SIM_EVENT_TEXT = 640 };
// The command of an allocation as text; empty if it does not tell it. Returns `text`.
const char *sim_event_command(const sim_event *allocation, unsigned revision, char text[SIM_EVENT_TEXT]);
// "issue of 41 (load) mvin2 dram=...", the command as `records` tell it; without the cycle.
const char *sim_event_text(const sim_event *event, const sim_records *records, unsigned revision,
                           char text[SIM_EVENT_TEXT]);

// What part of a line of `line_bytes` a burst is: "line", "part" of one, or several "lines".
const char *sim_burst_class(const memsys_seen *burst, uint32_t line_bytes);

#endif
