// SPDX-License-Identifier: Apache-2.0
// The moves of a program as a table: loads, stores and their configuration, each with the number of products that come
// between it and the move before. Products keep their few loops that way, which moves would break up, and the host
// reads a move from its data cache, in order, instead of three instructions from its instruction cache.
//
// A move is of a kind: instruction, tensor, and the high part of the address; the table has the rest.
#ifndef COMPILER_COMMAND_MOVES_H
#define COMPILER_COMMAND_MOVES_H

#include "compiler/command/command.h"

enum { MOVE_NOTHING = 0, MOVE_KINDS_MAX = 256, MOVE_AFTER_MAX = UINT16_MAX };

typedef struct command_move_kind {
  command_insn insn;  // rs1: the operand less `offset`; rs2: 0
  uint64_t moves;     // how many are of it
  unsigned place;     // among the kinds: most frequent first
} command_move_kind;

typedef struct command_move {
  uint16_t after;  // products since the last move
  uint16_t kind;   // MOVE_NOTHING: only products are counted
  uint32_t offset;
  uint64_t operand;
} command_move;

typedef struct command_move_table {
  command_move_kind kinds[MOVE_KINDS_MAX];
  unsigned kind_count;  // MOVE_NOTHING is one
  command_move *moves;  // the first comes before all products, the last one never
  size_t count, room;
} command_move_table;

// The moves of a straight program with sides (private.h), in the arena. False: there are too many kinds.
bool command_tabulate_moves(const command_program *program, wf_arena *arena, command_move_table *table);

// The table in C, and the function NAME_moves that carries them out.
void command_put_moves(const command_program *program, command_move_table *table, const char *name, FILE *out);

#endif
