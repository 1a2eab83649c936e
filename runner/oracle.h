// SPDX-License-Identifier: Apache-2.0
// Judges compiled programs: random tensors, what the source says must become of them, and what an engine made of them.
//
// The source is run by its own interpreter (lang_run for kernels, block_run for block programs), which shares nothing
// with the passes or the engines. Every byte of every tensor is compared, also bytes that no command may write.
#ifndef RUNNER_ORACLE_H
#define RUNNER_ORACLE_H

#include "compiler/compile.h"
#include "runner/program.h"

enum { RUN_ORACLE_TENSORS = 32 };

typedef struct run_oracle {
  int tensors;
  size_t bytes[RUN_ORACLE_TENSORS];
  uint8_t *before[RUN_ORACLE_TENSORS];  // random contents
  uint8_t *after[RUN_ORACLE_TENSORS];   // as the source leaves them
} run_oracle;

typedef struct run_oracle_verdict {
  run_result run;
  uint64_t digest;  // of all tensors that the program writes, as the engine left them
  uint64_t wrong;   // bytes that are not what they must be
  int tensor;       // of the first wrong byte
  size_t at;
  uint8_t expected, found;
} run_oracle_verdict;

// Random tensors for a program: int8 over the full range, so that sums saturate, int32 up to a few of them.
// False after an error was reported.
bool run_oracle_fill(run_oracle *o, const compile_result *program, uint64_t seed, wf_diag *diag);
// The tensors that a program built by command_write_elf has at its start, with all bytes that commands may read.
bool run_oracle_fill_as_elf(run_oracle *o, const compile_result *program, uint64_t seed, wf_diag *diag);
// What the source makes of them. Commands have no source: there is nothing to compare with (false).
bool run_oracle_expect(run_oracle *o, const compile_result *program, wf_diag *diag);
// Runs the commands on an engine and compares. False after an error was reported; a wrong result is no error.
bool run_oracle_judge(const run_oracle *o, const compile_result *program, const run_config *config,
                      run_oracle_verdict *verdict, wf_diag *diag);
void run_oracle_release(run_oracle *o);

#endif
