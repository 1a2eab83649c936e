// SPDX-License-Identifier: Apache-2.0
// Gives the commands of a program the tokens that order them as a reservation station would: see give.c.
#ifndef SIM_TOKENS_GIVE_H
#define SIM_TOKENS_GIVE_H

#include "arch/command.h"
#include "arch/tokens.h"

typedef struct tokens_giver tokens_giver;

// The array is borrowed.
tokens_giver *tokens_giver_create(const hw_array *array);
void tokens_giver_destroy(tokens_giver *g);

// Orders that no rows ask for: the number that a command of another unit, between `least` and `most`, is to come first;
// `least`: none. For programs that try out the hardware.
typedef uint64_t (*tokens_more)(void *context, uint64_t least, uint64_t most);
void tokens_giver_add(tokens_giver *g, tokens_more more, void *context);

// The next command in program order, any but those of loop units; its own tokens do not count. Its number, from 0.
uint64_t tokens_giver_command(tokens_giver *g, const isa_insn *insn, uint64_t rs1, uint64_t rs2);
// All commands before it are done.
void tokens_giver_fence(tokens_giver *g);

// When all commands are given: the tokens of one.
arch_tokens tokens_giver_of(const tokens_giver *g, uint64_t number);

#endif
