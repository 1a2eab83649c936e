// SPDX-License-Identifier: Apache-2.0
// Runs a compiled kernel as a program of the RISC-V host.
#ifndef CLI_RUN_ELF_H
#define CLI_RUN_ELF_H

#include "cli/kernel.h"
#include "sim/engine.h"

typedef struct run_elf_result {
  uint64_t cycles;    // of the last run, as the host measures it
  unsigned tensors;   // compared
  const char *wrong;  // the first tensor whose digest is not that of the oracle, or NULL
} run_elf_result;

// Builds the program in a temporary file, simulates it on the engine and compares the digests of all tensors that it
// writes with those of the kernel's interpreter. Returns an exit code; a wrong digest is no error.
cli_exit run_elf(const kernel_job *job, const sim_engine_ops *engine, uint64_t seed, unsigned times,
                 run_elf_result *result, wf_diag *diag);

#endif
