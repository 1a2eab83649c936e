// SPDX-License-Identifier: Apache-2.0
// Unrolls short loops for the host: a loop costs it two instructions per iteration and a wrong guess at its end. The
// executions stay the same.
#include <string.h>

#include "compiler/command/private.h"

enum {
  BODY_MAX = 8,        // commands of a body that is copied
  COPIES_MAX = 32,     // commands of all copies
  COMMAND_BYTES = 10,  // code of a command with the steps of its operands, about
};

// Whether these commands take at most half of the host's instruction cache: misses cost more than loops.
static bool fits(const command_program *program, uint64_t commands) {
  return commands * COMMAND_BYTES <= (uint64_t)program->array->host.icache_kib * 1024 / 2;
}

// An enclosing loop of the source: copies of its body stand at `offset` iterations; if it is kept, `factor` iterations
// are one of the copy.
typedef struct level {
  uint64_t offset, factor;
  bool kept;
} level;

typedef struct unroller {
  const command_program *from;
  command_program *to;
  level levels[COMMAND_LOOPS_MAX];
  int depth;
  bool short_program;  // it fits in the cache
  bool copies;         // short loops at this place are copied
} unroller;

static void copy_insn(unroller *u, const command_node *node) {
  command_insn insn = node->insn;
  command_step steps[COMMAND_LOOPS_MAX];
  int kept = 0;
  for (int l = 0; l < u->depth; l++) {
    const level *at = &u->levels[l];
    const command_step step = node->steps == NULL ? (command_step){0, 0} : node->steps[l];
    insn.rs1 += at->offset * step.rs1;
    insn.rs2 += at->offset * step.rs2;
    if (at->kept) steps[kept++] = (command_step){at->factor * step.rs1, at->factor * step.rs2};
  }
  command_add_stepped(u->to, &insn, steps);
}

// Commands of a body without loops or fences, 0 for other bodies.
static size_t plain_commands(const command_program *program, size_t first) {
  size_t n = first;
  while (program->nodes[n].kind == COMMAND_INSN) n++;
  return program->nodes[n].kind == COMMAND_END ? n - first : 0;
}

static size_t copy_nodes(unroller *u, size_t at);

static size_t copy_body(unroller *u, size_t body, level how) {
  u->levels[u->depth++] = how;
  size_t end = copy_nodes(u, body);
  u->depth--;
  return end;
}

// How often a body of that many commands stands in the code; 1: it is not copied.
static uint64_t factor_of(size_t commands, uint64_t trips) {
  const uint64_t most = commands == 0 || commands > BODY_MAX ? 1 : COPIES_MAX / commands;
  return most < trips ? most : trips;
}

// Commands in the text of a loop when all short loops in it are copied.
static uint64_t text_commands(const command_program *program, size_t loop) {
  uint64_t total = 0;
  int depth = 1;
  for (size_t n = loop + 1; depth > 0; n++) {
    const command_node *node = &program->nodes[n];
    total += node->kind == COMMAND_INSN;
    depth += node->kind == COMMAND_LOOP;
    depth -= node->kind == COMMAND_END;
    if (node->kind != COMMAND_LOOP) continue;
    const size_t commands = plain_commands(program, n + 1);
    const uint64_t factor = factor_of(commands, node->trips);
    total += (factor - 1 + node->trips % factor) * commands;
  }
  return total;
}

// Whether a loop and what is in it shall have copies: it stays in the cache with them, and they are used again.
static bool may_copy(const unroller *u, size_t loop, size_t commands) {
  const command_node *node = &u->from->nodes[loop];
  if (commands != 0 && node->trips * commands >= 4 * COPIES_MAX) return true;
  if (commands != 0 || node->trips < 3) return u->copies;
  return u->short_program || fits(u->from, text_commands(u->from, loop));
}

// The END of the loop.
static size_t copy_loop(unroller *u, size_t loop) {
  const uint64_t trips = u->from->nodes[loop].trips;
  const size_t body = loop + 1, commands = plain_commands(u->from, body);
  const bool copies = u->copies;
  u->copies = may_copy(u, loop, commands);
  const uint64_t factor = u->copies ? factor_of(commands, trips) : 1;
  const uint64_t rounds = trips / factor;
  size_t end = body;
  if (rounds > 1) command_add_loop(u->to, rounds);
  for (uint64_t k = 0; k < factor; k++) end = copy_body(u, body, (level){k, factor, rounds > 1});
  if (rounds > 1) command_add_end(u->to);
  for (uint64_t k = rounds * factor; k < trips; k++) end = copy_body(u, body, (level){k, 1, false});
  u->copies = copies;
  return end;
}

// From `at` to the END of the loop around, whose place it returns, or to the end of the program.
static size_t copy_nodes(unroller *u, size_t at) {
  for (; at < u->from->count; at++) {
    const command_node *node = &u->from->nodes[at];
    if (node->kind == COMMAND_END) return at;
    if (node->kind == COMMAND_INSN) copy_insn(u, node);
    if (node->kind == COMMAND_FENCE) command_add_fence(u->to);
    if (node->kind == COMMAND_LOOP) at = copy_loop(u, at);
  }
  return at;
}

bool command_stays_cached(const command_program *program) { return fits(program, program->count); }

command_program *command_unroll(const command_program *program) {
  const bool is_short = fits(program, program->count);
  unroller u = {.from = program, .to = command_create_like(program), .short_program = is_short, .copies = is_short};
  copy_nodes(&u, 0);
  return u.to;
}
