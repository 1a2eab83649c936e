// SPDX-License-Identifier: Apache-2.0
// Finds loops in a straight sequence of commands: see command.h.
//
// First short periods, from the inside (roll_short.c): which runs there are does not depend on what lies around them,
// so long loops still repeat in the shorter sequence. Then long ones, the largest saving first (roll_long.c); their
// bodies and what lies between them are rolled alike, and the result again, until nothing changes.
//
// What is in the body of a loop gets the steps that it has there into its shape: loops further in must not put commands
// together that the outer loop moves differently. So one iteration stands for all.
#include "compiler/command/roll.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/command/private.h"

enum { LONG_DEPTH = 8 };

typedef struct emitter {
  command_roller r;
  const command_program *straight;
  command_program *out;
  uint32_t period[COMMAND_LOOPS_MAX];  // of the open loops
} emitter;

// Configuration commands share their funct; a step must not lead from one to another.
static uint64_t shape_of(const command_node *node) {
  const command_insn *insn = &node->insn;
  if (node->kind == COMMAND_FENCE) return 0;
  const uint64_t selector = insn->funct == ISA_FUNCT_CONFIG_EX ? insn->rs1 & 3 : 0;
  return command_roll_mix(command_roll_mix(1, (uint64_t)insn->funct << 8 | selector),
                          (uint64_t)(uint16_t)insn->tensor_rs1 << 16 | (uint16_t)insn->tensor_rs2);
}

// ---- the result

static void put_insn(emitter *e, uint32_t at) {
  const command_node *node = &e->straight->nodes[e->r.origin[at]];
  const command_roll_command *c = &e->r.commands[at];
  command_step steps[COMMAND_LOOPS_MAX];
  if (node->kind == COMMAND_FENCE) {
    command_add_fence(e->out);
    return;
  }
  for (int i = 0; i < e->out->open; i++)
    steps[i] = (command_step){c[e->period[i]].rs1 - c->rs1, c[e->period[i]].rs2 - c->rs2};
  command_add_stepped(e->out, &node->insn, steps);
}

static void put_node(emitter *e, const command_roll_node *n) {
  if (n->loop == ROLL_NO_LOOP) {
    put_insn(e, n->first);
    return;
  }
  const command_roll_loop l = e->r.loops[n->loop];
  e->period[e->out->open] = l.period;
  command_add_loop(e->out, l.trips);
  for (uint32_t b = 0; b < l.count; b++) put_node(e, &e->r.bodies[l.body + b]);
  command_add_end(e->out);
}

// ---- levels

static void roll(command_roller *r, command_roll_level *level);

// Rolls nodes in place; their new number.
static uint32_t roll_part(command_roller *r, command_roll_node *nodes, uint32_t count, int depth) {
  command_roll_level part = {nodes, count, depth};
  if (count != 0) roll(r, &part);
  return part.count;
}

// The run as a loop of a rolled body.
static command_roll_node roll_body(command_roller *r, command_roll_node *nodes, const command_roll_run *run,
                                   int depth) {
  const uint32_t period = nodes[run->period].first - nodes->first;
  command_roll_fix_steps(r, nodes, run->period, period);
  const uint32_t count = roll_part(r, nodes, run->period, depth + 1);
  return command_roll_make_loop(r, nodes, count, period, run->trips);
}

// Long runs become loops; true if there were any. What is written lies before what is still to be read.
static bool roll_runs(command_roller *r, command_roll_level *level) {
  command_roll_run *runs = wf_alloc(ROLL_RUNS_MAX, sizeof *runs);
  const uint32_t count = command_roll_long(r, level, runs), end = level->count;
  command_roll_node *nodes = level->nodes;
  const command_roll_node behind = nodes[end];
  uint32_t to = 0, from = 0;
  for (uint32_t n = 0; n <= count; n++) {
    const uint32_t stop = n < count ? runs[n].at : end;
    const command_roll_node head = nodes[stop];  // rolling what lies before it may overwrite it
    const uint32_t left = count == 0 ? stop - from : roll_part(r, nodes + from, stop - from, level->depth);
    memmove(nodes + to, nodes + from, left * sizeof *nodes);
    to += left;
    if (n == count) break;
    nodes[stop] = head;
    from = stop + runs[n].period * runs[n].trips;
    const command_roll_node made = roll_body(r, nodes + stop, &runs[n], level->depth);
    nodes[to++] = made;
  }
  nodes[to] = behind;
  level->count = to;
  wf_free(runs);
  return count != 0;
}

static void roll(command_roller *r, command_roll_level *level) {
  do command_roll_short(r, level);
  while (level->depth < LONG_DEPTH && roll_runs(r, level));
}

static void start(command_roller *r, const command_program *straight, bool products) {
  const size_t count = straight->count;
  const command_sides sides = command_sides_of(straight->array);
  r->commands = wf_alloc(count + 1, sizeof *r->commands);
  r->origin = wf_alloc(count + 1, sizeof *r->origin);
  for (size_t n = 0; n < count; n++) {
    const command_node *node = &straight->nodes[n];
    if (products && (node->kind != COMMAND_INSN || command_side_of(&sides, &node->insn) != COMMAND_PRODUCTS)) continue;
    r->origin[r->total] = (uint32_t)n;
    r->commands[r->total++] = (command_roll_command){node->insn.rs1, node->insn.rs2, shape_of(node)};
  }
  r->coded = wf_alloc(count + 1, sizeof *r->coded);
  r->window = wf_alloc(count + 1, sizeof *r->window);
  r->next = wf_alloc(count + 1, sizeof *r->next);
  r->table = wf_alloc(command_roll_table_size(r->total), sizeof *r->table);
}

static void finish(command_roller *r) {
  wf_free(r->table), wf_free(r->next), wf_free(r->window), wf_free(r->coded);
  wf_free(r->loops), wf_free(r->bodies), wf_free(r->commands), wf_free(r->origin);
}

// Every command a node.
static command_roll_level first_level(const command_roller *r) {
  command_roll_level level = {wf_alloc((size_t)r->total + 1, sizeof *level.nodes), r->total, 0};
  for (uint32_t n = 0; n < r->total; n++) {
    const command_roll_command *c = &r->commands[n];
    level.nodes[n] = (command_roll_node){c->shape, command_roll_value(c->rs1, c->rs2), n, 1, 1, ROLL_NO_LOOP};
  }
  level.nodes[r->total] = (command_roll_node){.first = r->total, .loop = ROLL_NO_LOOP};
  return level;
}

static void put_level(emitter *e) {
  command_roll_level level = first_level(&e->r);
  roll(&e->r, &level);
  for (uint32_t n = 0; n < level.count; n++) put_node(e, &level.nodes[n]);
  wf_free(level.nodes);
  finish(&e->r);
}

command_program *command_roll(const command_program *program) {
  emitter e = {.straight = command_straight(program), .out = command_create_like(program)};
  assert(e.straight->count < UINT32_MAX / 4);
  start(&e.r, e.straight, false);
  put_level(&e);
  if (e.straight != program) command_destroy((command_program *)(uintptr_t)e.straight);
  return e.out;
}

command_program *command_roll_products(const command_program *program) {
  emitter e = {.straight = program, .out = command_create_like(program)};
  assert(program->count < UINT32_MAX / 4 && command_has_sides(program));
  start(&e.r, program, true);
  put_level(&e);
  return e.out;
}
