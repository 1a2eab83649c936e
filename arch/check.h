// SPDX-License-Identifier: Apache-2.0
// The legality checker: every command, given by the program or made by a loop unroller, is checked before it executes.
//
// It knows the array, main memory and the configuration registers as they are in program order, and follows the loop
// unrollers. A command passes if the hardware would give it a defined meaning on this array; what hardware ignores is
// not looked at. Rows and bytes are checked exactly as they would be touched, so that an engine whose commands have
// passed can execute them without a bound in sight.
//
//   ARCH_FAULT_ILLEGAL  no such instruction, a field value without meaning, a size that the array cannot move or
//                      multiply, a unit that it lacks, or tokens that no older command pushed or no counter holds
//   ARCH_FAULT_LOCAL    rows that the scratchpad or accumulator does not have
//   ARCH_FAULT_MEMORY   bytes outside main memory
#ifndef ARCH_CHECK_H
#define ARCH_CHECK_H

#include <stdbool.h>

#include "arch/command.h"
#include "arch/config.h"
#include "arch/memory.h"
#include "isa/isa.h"

typedef struct arch_checker arch_checker;

// A legal primitive, in the order of execution; configuration registers already hold its effect.
typedef void (*arch_primitive_sink)(void *context, const arch_command *primitive);

// Array and memory are borrowed. Without memory (NULL) addresses are not checked.
arch_checker *arch_checker_create(const hw_array *array, const arch_memory *memory);
void arch_checker_destroy(arch_checker *checker);
// Makes `to` know what `from` knows of a program; both of the same array, each keeps its memory.
void arch_checker_copy(arch_checker *to, const arch_checker *from);

// Checks a command of the program and passes it to the sink (which may be NULL); a loop command is expanded and each of
// its primitives is checked and passed. Configuration of loop units goes to the sink as it is. False: *fault says why,
// and primitives before the faulty one have been passed.
bool arch_checker_command(arch_checker *checker, const arch_command *command, arch_primitive_sink sink, void *context,
                          arch_fault *fault);

// How many commands have passed whose data the hardware leaves undefined: an output-stationary compute_accumulated
// after the sums have left with a C.
uint64_t arch_checker_undefined(const arch_checker *checker);

// How many legal loops the checker walked through, primitive by primitive, for commands without a sink. It does not
// walk through a loop that is like one before but for addresses of main memory.
uint64_t arch_checker_walked(const arch_checker *checker);

// The registers after the last command that passed.
const arch_config *arch_checker_config(const arch_checker *checker);

#endif
