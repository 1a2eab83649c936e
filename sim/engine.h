// SPDX-License-Identifier: Apache-2.0
// The one interface of all accelerator engines (ref, cycle, flow, rtl, systemc).
//
// Time is counted in accelerator cycles and owned by the caller: it pushes a command at a cycle, advances the engine to
// a cycle, or lets it run until idle. Cycles never go back. An engine without timing (ops->timed false) executes a
// command inside `push`, is never busy and ignores every cycle. Host, memory, loader and traces do not know which
// engine they drive.
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/command.h"
#include "arch/memory.h"
#include "hw/array.h"
#include "sim/memsys/memsys.h"

typedef enum {
  SIM_PUSH_DONE,   // accepted; a response, if any, is in *response
  SIM_PUSH_FULL,   // no room in this cycle; advance and push again
  SIM_PUSH_FAULT,  // see ops->fault
} sim_push_result;

#define SIM_UNKNOWN UINT64_MAX

typedef struct sim_engine sim_engine;

// What became of a command in a timed engine. Commands are numbered 0, 1, 2, ... as they enter the reservation station;
// a loop command does not enter it, the primitives it is unrolled into do. All timed engines produce the same records
// in the same order: by cycle, within a cycle alloc, issue (load, execute, store), done. Configuration of loads and
// stores is complete when it is issued and has no record of it.
typedef enum { SIM_EVENT_ALLOC, SIM_EVENT_ISSUE, SIM_EVENT_DONE } sim_event_kind;
typedef enum { SIM_CLASS_LOAD, SIM_CLASS_EXECUTE, SIM_CLASS_STORE, SIM_CLASSES } sim_class;
typedef struct sim_event {
  sim_event_kind kind;
  sim_class unit;  // SIM_CLASSES (not known yet) for SIM_EVENT_ALLOC
  uint32_t index;
  uint64_t cycle;
  uint64_t rs1, rs2;  // with SIM_EVENT_ALLOC: the command, as it entered
  uint8_t funct;
} sim_event;

// What the accelerator asked of memory is told with the answer, so not in the order of the records.
typedef struct sim_events {
  void *context;
  void (*event)(void *context, const sim_event *event);
  memsys_observer *burst;  // NULL: not told
} sim_events;

// Zero is the default of every option.
typedef struct sim_engine_options {
  const char *wave;                               // waveforms of the hardware to this file
  unsigned jobs;                                  // processes that build a model; 0: 2
  bool quiet;                                     // no progress on stderr
  bool (*tell)(void *context, const char *text);  // takes the progress of a build; false ends it. NULL: see `quiet`
  void *tell_context;
  uint64_t disturb;         // seed of random delays on top of the memory timing; 0: none
  uint64_t garbage;         // seed of what registers and memories hold before reset; 0: zeros
  uint64_t patience;        // cycles without progress until ARCH_FAULT_STUCK; 0: some millions
  const char *accelerator;  // of the systemc engine: which one sits in the platform; NULL: the first it has
  uint64_t quantum;         // of the systemc engine: cycles that the hart may run ahead of the platform; 0: none
  bool timing_only;         // of the cycle engine: no data is moved, memory keeps its contents
  // Each command is legal where it comes, as arch/check.h says: whoever gives commands has had the checker pass all of
  // them, and knows that the tensors they were checked with lie in main memory. flow does not check such commands
  // again.
  bool checked;
  unsigned ignored_orders;  // of the engine races: what it takes not to order anything (races_order)
  // For tests; results are the same. cycle: no cycle is skipped; flow: loads burst by burst, queues are kept.
  bool every_cycle;
  // For tests, ways to leave out work that an engine does not take, a bit each: cycle's of cycles, flow's SIM_FLOW_*.
  uint32_t without_skips;
} sim_engine_options;

typedef struct sim_engine_ops {
  const char *name;
  const char *summary;
  bool timed;
  bool timing_only;  // it never moves data: memory keeps its contents
  // The array and the memory are borrowed for the engine's life. NULL after an error was reported.
  sim_engine *(*create)(const hw_array *array, arch_memory *memory, wf_diag *diag);
  void (*destroy)(sim_engine *engine);
  sim_push_result (*push)(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response);
  // Brings the engine to `cycle`; returns the next cycle at which its state can change (UINT64_MAX: never, it is idle).
  uint64_t (*advance)(sim_engine *engine, uint64_t cycle);
  bool (*busy)(const sim_engine *engine);
  // Runs from `cycle` until idle or fault and returns the cycle reached.
  uint64_t (*drain)(sim_engine *engine, uint64_t cycle);
  const arch_fault *(*fault)(const sim_engine *engine);  // kind ARCH_FAULT_NONE while all is well
  // Optional (NULL): creation with options, and the records of the reservation station (timed engines). The sink is
  // copied; NULL ends the records.
  sim_engine *(*create_with)(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                             wf_diag *diag);
  void (*set_events)(sim_engine *engine, const sim_events *events);
  // Optional (NULL): calls the body in the thread of the engine's own kernel that stands for the hart. Commands may
  // come from outside of it too, but each then enters and leaves the kernel.
  void (*enter)(sim_engine *engine, void (*body)(void *context), void *context);
  // For a hart with time of its own (timed engines; NULL: there can be none).
  // A line of the hart's caches, asked for or written back (`write`) at `cycle`: brings the engine to `cycle`, so that
  // what the accelerator asked for before then comes first. An engine that is past `cycle` takes the line at the cycle
  // it has come to.
  void (*host_access)(sim_engine *engine, uint64_t cycle, uint64_t address, bool write);
  // The cycle in which the last beat of the lines asked for is there, if the cycles up to the one reached decide it.
  // Else SIM_UNKNOWN, and *next is the cycle to bring the engine to before the next question.
  uint64_t (*host_there)(sim_engine *engine, uint64_t *next);
  // Optional (NULL), without timing: a load or store of the hart's program at `pc`, before it happens. With it the hart
  // tells all of them.
  void (*hart_touches)(sim_engine *engine, uint64_t pc, uint64_t address, unsigned bytes, bool write);
  // The cycle that the engine has come to: the first that was not carried out. A response has left in the cycle before
  // the one that the engine has come to when `push` returns.
  uint64_t (*reached)(const sim_engine *engine);
  // Optional (NULL): what the memory system did in the cycles before the one reached.
  memsys_counts (*memory_counts)(const sim_engine *engine);
  // Optional (NULL): sim_engine_await_room in one call, not one for each cycle.
  uint64_t (*await_room)(sim_engine *engine, uint64_t cycle, uint64_t limit);
  // Optional (NULL): sim_engine_push in one call.
  sim_push_result (*push_waiting)(sim_engine *engine, uint64_t *cycle, const arch_command *command, uint64_t *response);
  // Optional (NULL): sim_engine_push_many in one call.
  size_t (*push_many)(sim_engine *engine, uint64_t *cycle, const arch_command *commands, size_t count,
                      sim_push_result *result);
} sim_engine_ops;

struct sim_engine {
  const sim_engine_ops *ops;
};

// The engine with options (NULL: all defaults). Reports and returns NULL where the engine has no such option.
sim_engine *sim_engine_create(const sim_engine_ops *ops, const hw_array *array, arch_memory *memory,
                              const sim_engine_options *options, wf_diag *diag);

// Calls the body in the thread from which the engine takes commands (see ops->enter).
void sim_engine_enter(sim_engine *engine, void (*body)(void *context), void *context);

// After a push that found no room: goes on from `cycle` until the engine may take a command or `limit` has come, at
// least one cycle, or until a fault, and returns the cycle in which to push again.
uint64_t sim_engine_await_room(sim_engine *engine, uint64_t cycle, uint64_t limit);

// Pushes in *cycle or, without room, in the first cycle with room, and sets *cycle to it. Never SIM_PUSH_FULL.
sim_push_result sim_engine_push(sim_engine *engine, uint64_t *cycle, const arch_command *command, uint64_t *response);

// Pushes commands one behind the other, as sim_engine_push each, up to the first fault; what they return is lost.
// Returns how many were taken.
size_t sim_engine_push_many(sim_engine *engine, uint64_t *cycle, const arch_command *commands, size_t count,
                            sim_push_result *result);

// Engines that this build has, in the order they are listed; NULL past the end.
const sim_engine_ops *sim_engine_at(size_t index);
const sim_engine_ops *sim_engine_find(const char *name);

#endif
