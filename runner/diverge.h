// SPDX-License-Identifier: Apache-2.0
// Where the results of two runs of commands part: the first command whose result is another one.
//
// Two programs of the same tensors, or one on two engines, run up to some command; then commands that store every row
// of both local memories follow, so any engine shows what it holds. Where the runs are alike before a command and not
// behind it is found by halves: about log2(commands) runs of each. What a run keeps out of sight (configuration,
// weights in the mesh) shows in the first command that uses it; the commands that set it are told, too.
#ifndef RUNNER_DIVERGE_H
#define RUNNER_DIVERGE_H

#include "runner/program.h"

typedef struct run_diverge_side {
  const command_program *program;
  const run_config *config;
} run_diverge_side;

typedef struct run_diverge_request {
  run_diverge_side judged, reference;  // programs with the same tensors
  void *const *tensors;                // what both begin with, per tensor; NULL: zeros
} run_diverge_request;

typedef enum {
  RUN_DIVERGE_TENSOR,
  RUN_DIVERGE_SCRATCHPAD,
  RUN_DIVERGE_ACCUMULATOR,
  RUN_DIVERGE_FAULT
} run_diverge_place;

enum { RUN_DIVERGE_SETTERS = 8 };

// A command of the judged program, or of the reference where the judged one has a fence in its place or has ended.
typedef struct run_diverge_command {
  uint64_t number;  // of executions, fences not counted
  command_insn insn;
} run_diverge_command;

typedef struct run_divergence {
  bool found;
  run_diverge_command first, last;  // the result is of these: one, or a preload and its product
  run_diverge_command setters[RUN_DIVERGE_SETTERS];
  int setter_count;
  run_diverge_place place;  // FAULT: one of the runs ended with a fault
  int tensor;               // of the first difference
  uint64_t row, column;     // of a local memory; a tensor's byte is `column`
  int64_t expected, value;
  unsigned runs;  // of both sides
} run_divergence;

// False after an error was reported: the programs have other tensors, or there is no such engine.
bool run_diverge(const run_diverge_request *request, run_divergence *found, wf_diag *diag);

#endif
