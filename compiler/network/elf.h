// SPDX-License-Identifier: Apache-2.0
// Networks as programs of the RISC-V host: the kernels as C functions, the host's operators as calls, weights and
// inputs in the file.
#ifndef COMPILER_NETWORK_ELF_H
#define COMPILER_NETWORK_ELF_H

#include "compiler/command/elf.h"
#include "compiler/network/network.h"

typedef struct network_elf_config {
  const void *const *inputs;  // per input of the graph
  unsigned jobs;              // compilers at a time; 0: 1
} network_elf_config;

// Builds the program at `path`. It runs the steps, then prints `step N NAME cycles C` for each, `cycles C` for all from
// the first to the last, and `output NAME digest D` (weft_digest) for each output, and ends with code 0, or with the
// status of a host operator that failed. Its note names the array. Errors are reported.
command_elf_result network_write_elf(const network *net, const network_elf_config *config, const char *path,
                                     wf_diag *diag);

// The main program alone. False: writing failed (reported).
bool network_write_main(const network *net, FILE *out, wf_diag *diag);

// The function of a kernel, and the object with the contents of a constant buffer.
char *network_kernel_name(wf_arena *arena, const network *net, int kernel);
char *network_buffer_name(wf_arena *arena, int buffer);
// Where the arena begins.
static inline uint64_t network_arena_start(const network *net) { return net->end - net->arena_bytes; }

#endif
