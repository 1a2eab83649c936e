// Several command programs, one after the other, on one engine and one memory: what the first leaves in the caches the
// next finds there. Between two programs the accelerator is idle.
#ifndef COMPILER_COMMAND_SESSION_H
#define COMPILER_COMMAND_SESSION_H

#include "compiler/command/run.h"

typedef struct command_session command_session;

// Array and memory are borrowed. NULL after an error was reported.
command_session *command_session_open(const hw_array *array, const sim_engine_ops *engine,
                                      const sim_engine_options *options, arch_memory *memory, wf_diag *diag);
void command_session_close(command_session *session);

// Runs a program to its end; `cycles` and `commands` of the result are those of this program, `units` are of the
// session so far. False after an error was reported.
bool command_session_run(command_session *session, const command_program *program, const command_layout *layout,
                         command_run_result *result, wf_diag *diag);

// For whoever uses the engine between programs: the clock of the session, which they move on.
sim_engine *command_session_engine(command_session *session);
uint64_t command_session_cycle(const command_session *session);
void command_session_advance(command_session *session, uint64_t cycle);
// What the units did so far; false: the engine does not know.
bool command_session_units(const command_session *session, sim_cycle_report *units);

#endif
