// SPDX-License-Identifier: Apache-2.0
// What the fetch unit guesses: branch history table, branch target buffer, return address stack.
//
// A place in the code is the fetch block (4 bytes) in which the branch or jump ends.
// - Direction: a table of one bit, the last outcome, indexed by the block, its upper bits and the outcomes of the last
//   branches, folded to three bits.
// - Target: the buffer, fully associative, least recently used. A direct branch or jump that is not in it is still
//   followed when its block arrives (the fetch unit adds up the target), one cycle later. An indirect jump is not.
// - Returns: a ring of the last return addresses.
// - host.branch_prediction none: no branch is thought to be taken, no target is known, and jumps are not followed.
// Directions are learnt, and the history moved on, as instructions leave decode; rv64_stray.c adds what paths that are
// given up leave behind.
#ifndef SIM_HOST_RV64_PREDICT_H
#define SIM_HOST_RV64_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

enum { RV64_BTB_HINTS = 256 };

typedef struct rv64_target {
  uint64_t block;  // RV64_NO_BLOCK: empty
  uint64_t target;
  uint64_t used;
} rv64_target;

#define RV64_NO_BLOCK UINT64_MAX

typedef struct rv64_predictor {
  bool follows;  // something is predicted
  // directions
  uint8_t *taken;        // by index
  const uint32_t *fold;  // by history: its part of the index
  uint32_t *folds;       // owns fold
  uint32_t history;      // youngest outcome in the highest bit
  uint32_t newest;       // that bit; 0: no history
  uint64_t index_mask;
  unsigned index_bits;
  // targets
  rv64_target *targets;
  unsigned target_count;
  uint64_t clock;
  uint16_t hint[RV64_BTB_HINTS];  // where a block was found last
  // returns
  uint64_t *returns;
  unsigned return_limit, return_count, return_top;
} rv64_predictor;

void rv64_predictor_create(rv64_predictor *p, const hw_array *array);
void rv64_predictor_destroy(rv64_predictor *p);

static inline uint64_t rv64_predict_index(const rv64_predictor *p, uint64_t block) {
  return ((block ^ (block >> p->index_bits & 3)) & p->index_mask) ^ p->fold[p->history];
}
static inline void rv64_predict_move(rv64_predictor *p, bool taken) {
  p->history = p->history >> 1 | (taken ? p->newest : 0);
}

// The guess for the branch in this block; the outcome is learnt.
static inline bool rv64_predict_branch(rv64_predictor *p, uint64_t block, bool taken) {
  uint64_t index = rv64_predict_index(p, block);
  bool guess = p->taken[index] != 0;
  p->taken[index] = taken & p->follows;
  rv64_predict_move(p, taken);
  return guess;
}

// The guess for a branch that fetch sees and that may never be executed.
static inline bool rv64_predict_guess(rv64_predictor *p, uint64_t block) {
  bool guess = p->taken[rv64_predict_index(p, block)] != 0;
  rv64_predict_move(p, guess);
  return guess;
}

// The buffer's entry for the block, NULL if there is none.
rv64_target *rv64_predict_search(rv64_predictor *p, uint64_t block);
static inline rv64_target *rv64_predict_target(rv64_predictor *p, uint64_t block) {
  if (p->target_count == 0) return NULL;
  rv64_target *found = &p->targets[p->hint[block % RV64_BTB_HINTS]];
  if (__builtin_expect(found->block != block, 0)) return rv64_predict_search(p, block);
  found->used = ++p->clock;
  return found;
}
void rv64_predict_learn(rv64_predictor *p, uint64_t block, uint64_t target);

void rv64_predict_call(rv64_predictor *p, uint64_t back);
// Where the return or the other indirect jump in this block is thought to go; RV64_NO_BLOCK: unknown.
uint64_t rv64_predict_return(rv64_predictor *p, uint64_t block);
uint64_t rv64_predict_indirect(rv64_predictor *p, uint64_t block);

#endif
