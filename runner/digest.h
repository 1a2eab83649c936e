// SPDX-License-Identifier: Apache-2.0
// What a program is to the cycle engine: digests of its commands.
//
// Two programs that differ only in where their rows lie, each row in a bank of the same number and at the same place in
// it, take the same cycles: timing knows local rows by bank, by place in the bank, and by what overlaps. Sizes of the
// scratchpad and the accumulator show in nothing else. So arrays that differ in these sizes alone often run programs
// that need to be simulated once.
#ifndef RUNNER_DIGEST_H
#define RUNNER_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/command/command.h"

typedef struct run_digest {
  uint64_t commands;  // of the commands as they are
  // Of the commands by the banks of their rows, and of the array without the sizes of its memories. Programs with both
  // equal take the same time. Without meaning unless `has_timing`: commands whose rows are not known here have none.
  bool has_timing;
  uint64_t timing, machine;
} run_digest;

run_digest run_digest_of(const command_program *program);
// The machine of it alone.
uint64_t run_digest_machine(const hw_array *array);

#endif
