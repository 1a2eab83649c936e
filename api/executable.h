// SPDX-License-Identifier: Apache-2.0
// Compiled kernels as programs of the host: built, simulated, and what they print compared with the oracle.
#ifndef API_EXECUTABLE_H
#define API_EXECUTABLE_H

#include "api/kernel.h"
#include "sim/engine.h"
#include "sim/run.h"

typedef struct api_executable_result {
  uint64_t cycles;    // of the last time
  unsigned tensors;   // whose digests the program printed
  const char *wrong;  // the first tensor with another digest than the oracle's; NULL: none
  sim_run_result run;
} api_executable_result;

// False after the reason was reported: it could not be built. How it ended is in result->run.
bool api_executable_run(const weft_kernel *kernel, const sim_engine_ops *engine, uint64_t seed, unsigned times,
                        api_executable_result *result, wf_diag *diag);

#endif
