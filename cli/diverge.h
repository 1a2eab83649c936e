// SPDX-License-Identifier: Apache-2.0
// `weft run --against`: the first command whose result is another one than on a second engine, and where it comes from.
#ifndef CLI_DIVERGE_H
#define CLI_DIVERGE_H

#include "cli/kernel.h"
#include "runner/diverge.h"

typedef struct diverge_job {
  const kernel_job *kernel;
  const char *path;      // of the kernel
  const char *commands;  // a file of commands that are judged in place of the compiled ones; NULL: these are
  const char *against;   // the engine of the reference
  const sim_engine_ops *engine;
  uint64_t seed;
} diverge_job;

// CLI_MISMATCH if they part, CLI_OK if not; others after an error was reported.
cli_exit diverge_run(const cli_common *common, const diverge_job *job, wf_diag *diag);

#endif
