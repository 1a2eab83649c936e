// SPDX-License-Identifier: Apache-2.0
// Whether a sequence of commands means the same on every correct engine, hardware included:
//
//   - every command passes arch_checker (given to the judge as the program goes on);
//   - nothing is read that was not written: lanes of local rows, weights, sums, statistics;
//   - a preload is followed by its compute; C is apart from the operands of its own product and no taller than A;
//     output-stationary chains begin with compute_preloaded and stay whole until their C;
//   - memory that a load reads and a store writes, or the reverse, is apart unless a fence stands between;
//   - the tiles of a loop, and of the loop right behind it, which may be loading already, do not overlap where the
//     unroller does not order them.
//
// Commands of different classes may run in any order that their local rows allow, so nothing else may matter.
#ifndef SIM_GEN_JUDGE_H
#define SIM_GEN_JUDGE_H

#include "arch/memory.h"
#include "sim/gen/gen.h"

typedef struct sim_gen_judge sim_gen_judge;

enum { GEN_WHY = 320 };

// The array is borrowed; memory_bytes: what the program may touch, from ARCH_MEMORY_BASE.
sim_gen_judge *sim_gen_judge_create(const hw_array *array, size_t memory_bytes);
void sim_gen_judge_destroy(sim_gen_judge *judge);
// Both of the same array.
void sim_gen_judge_copy(sim_gen_judge *to, const sim_gen_judge *from);

// Goes on by one item. False: why not; the judge is then of no use but to be copied over or destroyed.
bool sim_gen_judge_item(sim_gen_judge *judge, const sim_gen_item *item, char why[GEN_WHY]);
// Whether the program may end here.
bool sim_gen_judge_end(const sim_gen_judge *judge, char why[GEN_WHY]);
bool sim_gen_judge_program(const sim_gen_program *program, char why[GEN_WHY]);

// What is known so far. Rows of the accumulator count on behind those of the scratchpad.
const struct arch_config *sim_gen_judge_config(const sim_gen_judge *judge);
bool sim_gen_judge_defined(const sim_gen_judge *judge, bool accumulator, int64_t row, uint32_t lanes);
bool sim_gen_judge_dirty(const sim_gen_judge *judge, bool accumulator,
                         int64_t row);  // written since sim_gen_judge_clean
void sim_gen_judge_clean(sim_gen_judge *judge);
uint64_t sim_gen_judge_primitives(const sim_gen_judge *judge);   // commands that enter the reservation station
uint64_t sim_gen_judge_completions(const sim_gen_judge *judge);  // those of them that complete after their issue

#endif
