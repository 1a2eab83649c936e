// SPDX-License-Identifier: Apache-2.0
// Command traces: what an accelerator program did, as text that a person can read and an engine can replay without
// host.
//
//   weft-trace 1
//   array NAME HASH            the array the program ran on
//   isa REVISION
//   data ADDRESS HEXBYTES      memory that the next commands read and the trace has not given yet
//   mvin dram=0x80010000 ...   a command, in the form of isa_print
//   fence                      the host waited until the accelerator was idle
//   end commands=N written=BYTES digest=HEX
//   end commands=N unrecorded  of a program that has not run yet
//
// With times the first line is `weft-trace 2`, and what the hart did at the accelerator's port begins with the cycle:
//
//   @120 mvin dram=0x80010000 ...  when the hart gave it
//   @130 fence                     when the hart began to wait
//   @134 full                      the hart found no room in the command queue
//   @140 line read 0x80001000      the hart asked for a line of its caches, or wrote one back (line write)
//
// They stand in the order in which the port was asked; a line that an instruction far ahead needs can be asked for in
// an earlier cycle than the command before it. A replay without times leaves out the last two.
//
// `#` starts a comment. Data lines stand before the command that reads them; with
// times before the commands that follow the last fence. The digest covers all memory bytes that
// the accelerator wrote; a replay checks it. A file without its `end` line is incomplete and refused.
#ifndef SIM_TRACE_TRACE_H
#define SIM_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "arch/memory.h"
#include "base/diag.h"
#include "hw/array.h"
#include "sim/engine.h"

typedef struct sim_trace_writer sim_trace_writer;

// Observes `memory` until closed. The file stays the caller's. Meant for engines that execute at push.
sim_trace_writer *sim_trace_writer_open(FILE *out, const hw_array *array, arch_memory *memory);
// The same for an engine with cycles, which reads memory when it comes to it.
sim_trace_writer *sim_trace_writer_open_timed(FILE *out, const hw_array *array, arch_memory *memory);
// The cycle of what is written next.
void sim_trace_writer_time(sim_trace_writer *writer, uint64_t cycle);
void sim_trace_writer_command(sim_trace_writer *writer, const arch_command *command);
void sim_trace_writer_fence(sim_trace_writer *writer);
// What else the hart did at the port; with times only.
typedef enum { SIM_TRACE_FULL, SIM_TRACE_LINE_READ, SIM_TRACE_LINE_WRITE } sim_trace_hart;
void sim_trace_writer_hart(sim_trace_writer *writer, sim_trace_hart what, uint64_t address);
// Writes the last line and stops observing; false if anything could not be written.
bool sim_trace_writer_close(sim_trace_writer *writer);

typedef struct sim_trace_header {
  char array_name[HW_NAME_MAX];
  uint64_t array_hash;
  unsigned revision;
  bool timed;
} sim_trace_header;

typedef struct sim_trace_end {
  uint64_t commands;
  bool recorded;  // of a run; otherwise what a replay will write is unknown, and the rest is zero
  uint64_t written_bytes;
  uint64_t digest;
} sim_trace_end;

// What the reader calls, in file order. A callback that returns false ends the reading (it has said why).
typedef struct sim_trace_sink {
  void *context;
  bool (*header)(void *context, const sim_trace_header *header, wf_location where);
  bool (*data)(void *context, uint64_t address, const uint8_t *bytes, size_t length, wf_location where);
  bool (*command)(void *context, const arch_command *command, wf_location where);
  bool (*fence)(void *context, wf_location where);
  bool (*end)(void *context, const sim_trace_end *end, wf_location where);
  // Of a trace with times; NULL: left out.
  void (*time)(void *context, uint64_t cycle);  // of what comes next
  bool (*hart)(void *context, sim_trace_hart what, uint64_t address, wf_location where);
} sim_trace_sink;

// Reads a whole trace; false after an error was reported or a callback stopped it.
bool sim_trace_read(FILE *in, const char *file, const sim_trace_sink *sink, wf_diag *diag);

// True if the file starts like a trace (and not like an ELF file).
bool sim_trace_recognise(FILE *in);

#endif
