// SPDX-License-Identifier: Apache-2.0
// Testbench of the loop unrollers: drives a program of loop and other commands with random back-pressure and compares,
// part by part, what the module emits with what the expander in arch/loops says.
//
// Also checked: commands of the class limits in flight, program order of the other commands, and the order of
// conflicts: of two commands that touch the same local rows, one of them writing, the earlier in program order is
// emitted first.
#ifndef HW_RTL_TESTS_FRONT_LOOP_BENCH_H
#define HW_RTL_TESTS_FRONT_LOOP_BENCH_H

#include "arch/loops/loops.h"
#include "hw/array.h"

enum { BENCH_PARTS = 5, BENCH_CLASSES = 3 };

typedef struct bench bench;

typedef struct bench_unit {
  unsigned parts;
  // The part that emits this command, parts if none does.
  unsigned (*part_of)(const arch_command *command);
} bench_unit;

bench *bench_create(const hw_array *array, const bench_unit *unit, uint64_t seed);
void bench_destroy(bench *b);
uint64_t bench_random(bench *b);                                // 64 random bits
uint32_t bench_between(bench *b, uint32_t low, uint32_t high);  // both included
bool bench_chance(bench *b, uint32_t percent);

// The program: an input command that belongs to the loop unit, or one that passes through.
void bench_input(bench *b, uint8_t funct, uint64_t rs1, uint64_t rs2);
void bench_pass(bench *b, uint8_t funct, uint64_t rs1, uint64_t rs2);
// The next loop: how it reads its operands; the execute unit's strides count from 1 again.
void bench_loop(bench *b, bool a_transposed, bool b_transposed);
// What the module must emit next for a part; loops in program order, in a loop part after part.
void bench_expect(bench *b, unsigned part, const arch_command *command);

// Runs the program; false after a difference was printed.
bool bench_run(bench *b);
size_t bench_expected(const bench *b);

#endif
