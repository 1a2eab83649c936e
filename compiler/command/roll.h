// SPDX-License-Identifier: Apache-2.0
// Finds loops in a straight sequence of commands: what roll.c, roll_short.c and roll_long.c share.
#ifndef COMPILER_COMMAND_ROLL_H
#define COMPILER_COMMAND_ROLL_H

#include "compiler/command/command.h"

// What of a command has to be equal in all iterations of a loop: its instruction, its tensors, and its steps in the
// loops that have been found around it.
typedef struct command_roll_command {
  uint64_t rs1, rs2;
  uint64_t shape;
} command_roll_command;

// A node of a level: a command, or a loop of nodes.
typedef struct command_roll_node {
  uint64_t shape, value;   // value: a linear hash of the operands of the first iteration
  uint32_t first, length;  // commands that it covers, all iterations
  uint32_t leaves;         // commands in its text
  uint32_t loop;           // or ROLL_NO_LOOP
} command_roll_node;

#define ROLL_NO_LOOP UINT32_MAX

typedef struct command_roll_loop {
  uint32_t body, count;  // nodes of the first iteration, in roller.bodies
  uint32_t period;       // commands of an iteration
  uint32_t trips;
  uint32_t depth;
} command_roll_loop;

typedef struct command_roller {
  uint32_t *origin;  // per command: its node in the straight program
  command_roll_command *commands;
  uint32_t total;
  command_roll_node *bodies;
  size_t body_count, body_room;
  command_roll_loop *loops;
  size_t loop_count, loop_room;
  // Scratch, one entry per node.
  uint64_t *coded, *window;
  uint32_t *next, *table;
} command_roller;

// Linear: hashes of differences are differences of hashes.
static inline uint64_t command_roll_value(uint64_t rs1, uint64_t rs2) {
  return rs1 * UINT64_C(0x9e3779b97f4a7c15) + rs2 * UINT64_C(0xc2b2ae3d27d4eb4f);
}

static inline uint64_t command_roll_mix(uint64_t state, uint64_t value) {
  state = (state ^ value) * UINT64_C(0xff51afd7ed558ccd);
  return state ^ state >> 32;
}

// A base for hashes of sequences: odd, otherwise without meaning.
#define ROLL_BASE UINT64_C(0xd6e8feb86659fd93)

// Slots of a hash table for `count` entries: a power of two.
static inline uint32_t command_roll_table_size(uint32_t count) {
  uint32_t size = 64;
  while (size < 2 * count) size *= 2;
  return size;
}

// Nodes from `at` on that are `trips` iterations of `period` nodes.
typedef struct command_roll_run {
  uint32_t at, period, trips;
} command_roll_run;

// A level: nodes, and behind them one whose `first` is the command behind the level.
typedef struct command_roll_level {
  command_roll_node *nodes;
  uint32_t count;
  int depth;  // of the loops around
} command_roll_level;

static inline bool command_roll_continues(const command_roll_node *nodes, uint32_t i, uint32_t period) {
  const command_roll_node *a = &nodes[i], *b = a + period, *c = b + period;
  return a->shape == b->shape && b->shape == c->shape && c->value - b->value == b->value - a->value;
}

// Whether the run is a loop: checked on the commands.
bool command_roll_is_loop(const command_roller *r, const command_roll_level *level, const command_roll_run *run);
// A loop of nodes, the first iteration; they are copied.
command_roll_node command_roll_make_loop(command_roller *r, const command_roll_node *body, uint32_t count,
                                         uint32_t period, uint32_t trips);
// Puts the steps that the nodes have in a loop of this period into their shapes, and into those of their commands.
void command_roll_fix_steps(command_roller *r, command_roll_node *nodes, uint32_t count, uint32_t period);

// Runs of short periods become loops.
void command_roll_short(command_roller *r, command_roll_level *level);

enum { ROLL_RUNS_MAX = 512 };
// Runs that do not overlap, in order, with the largest savings. Returns how many.
uint32_t command_roll_long(command_roller *r, const command_roll_level *level, command_roll_run found[ROLL_RUNS_MAX]);

#endif
