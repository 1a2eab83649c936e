// SPDX-License-Identifier: Apache-2.0
// Several command programs, one after the other, on one engine and one memory: what the first leaves in the caches the
// next finds there. Between two programs the accelerator is idle.
#ifndef RUNNER_SESSION_H
#define RUNNER_SESSION_H

#include "runner/program.h"

typedef struct run_session run_session;

// Array and memory are borrowed. NULL after an error was reported.
run_session *run_session_open(const hw_array *array, const sim_engine_ops *engine, const sim_engine_options *options,
                              arch_memory *memory, wf_diag *diag);
void run_session_close(run_session *session);
// Whether sessions of this program and others like it may be opened with `checked` among the options of the engine.
bool run_session_may_trust(const command_program *program);
// Programs of the session end early when that is wanted; `progress` as in run_config. Both may be NULL.
void run_session_watch(run_session *session, const wf_stop *stop, void (*progress)(void *context, uint64_t commands),
                       void *context);

// Runs a program to its end; `cycles` and `commands` of the result are those of this program, `units` are of the
// session so far. False after it was stopped, or after an error was reported.
bool run_session_run(run_session *session, const command_program *program, const command_layout *layout,
                     run_result *result, wf_diag *diag);

// The clock of the session, for a caller that uses the engine between programs and moves the clock on.
sim_engine *run_session_engine(run_session *session);
uint64_t run_session_cycle(const run_session *session);
void run_session_advance(run_session *session, uint64_t cycle);
// What the units did so far; false: the engine does not know.
bool run_session_units(const run_session *session, sim_cycle_report *units);

#endif
