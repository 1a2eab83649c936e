// SPDX-License-Identifier: Apache-2.0
// The groups of cases. Each function builds one case on a bench that bench_begin prepared and returns bench_finish's
// verdict.
#ifndef SIM_TESTS_ORACLE_GROUPS_H
#define SIM_TESTS_ORACLE_GROUPS_H

#include "sim/tests/oracle/bench.h"

// The seed's digits in base 2*dim are m-1, n-1, k-1: seeds 0 .. (2*dim)^3-1 are the full cross product of sizes.
bool group_gemm_ws(bench *b);
bool group_gemm_os(bench *b);
bool group_loop(bench *b);
bool group_resadd(bench *b);  // revision 2
bool group_conv(bench *b);
bool group_stream(bench *b);  // random primitive commands against the oracle machine
bool group_move(bench *b);    // loads and stores only, against the oracle machine
bool group_corner(bench *b);  // seeds 0 .. group_corner_count()-1 are the listed corners

bool group_refuse(bench *b);  // seeds 0 .. group_refuse_count()-1 are the listed programs

uint64_t group_corner_count(void);
uint64_t group_refuse_count(void);

// Checks of the oracle itself: numerics against figures of the hardware and against the C library. Number of failures.
int selfcheck(void);

#endif
