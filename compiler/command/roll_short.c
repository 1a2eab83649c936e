// SPDX-License-Identifier: Apache-2.0
// Loops of nodes, their check, and runs of short periods. See roll.h.
//
// The shape of a loop is its trips, the shapes in its body, and its steps. Hashes only propose: every loop is checked
// against the commands themselves.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/command/roll.h"

enum { SHORT_MAX = 8 };

// ---- exact checks on the commands

static bool same_step(const command_roll_command *a, const command_roll_command *b, const command_roll_command *c) {
  return a->shape == b->shape && b->shape == c->shape && c->rs1 - b->rs1 == b->rs1 - a->rs1 &&
         c->rs2 - b->rs2 == b->rs2 - a->rs2;
}

static bool advances(const command_roller *r, uint32_t first, uint32_t period, uint32_t trips) {
  const command_roll_command *c = r->commands + first;
  for (size_t k = 0; k < period; k++)
    if (c[k].shape != c[k + period].shape) return false;
  for (size_t k = 0; k < (size_t)period * (trips - 2); k++)
    if (!same_step(&c[k], &c[k + period], &c[k + 2 * (size_t)period])) return false;
  return true;
}

// Whether in a command_roll_node each command moves by one step over `period`, in whichever iteration of the loops in
// the node.
static bool moves_as_one(const command_roller *r, const command_roll_node *n, uint32_t period) {
  if (n->loop == ROLL_NO_LOOP) return true;
  const command_roll_loop *l = &r->loops[n->loop];
  const command_roll_command *c = r->commands + n->first;
  for (size_t k = l->period; k < n->length; k++) {
    const command_roll_command *now = &c[k], *before = &c[k - l->period];
    if (now[period].rs1 - now->rs1 != before[period].rs1 - before->rs1) return false;
    if (now[period].rs2 - now->rs2 != before[period].rs2 - before->rs2) return false;
  }
  for (uint32_t b = 0; b < l->count; b++)
    if (!moves_as_one(r, &r->bodies[l->body + b], period)) return false;
  return true;
}

static uint32_t depth_of(const command_roller *r, const command_roll_node *n) {
  return n->loop == ROLL_NO_LOOP ? 0 : r->loops[n->loop].depth;
}

bool command_roll_is_loop(const command_roller *r, const command_roll_level *level, const command_roll_run *run) {
  const command_roll_node *body = &level->nodes[run->at];
  const uint32_t commands = body[run->period].first - body->first;
  if (!advances(r, body->first, commands, run->trips)) return false;
  for (uint32_t i = 0; i < run->period; i++) {
    if (level->depth + (int)depth_of(r, &body[i]) + 1 >= COMMAND_LOOPS_MAX) return false;
    if (!moves_as_one(r, &body[i], commands)) return false;
  }
  return true;
}

// ---- loops

static uint64_t steps_of(const command_roller *r, const command_roll_node *n, uint32_t period, uint64_t shape) {
  if (n->loop != ROLL_NO_LOOP) {
    const command_roll_loop *l = &r->loops[n->loop];
    for (uint32_t b = 0; b < l->count; b++) shape = steps_of(r, &r->bodies[l->body + b], period, shape);
    return shape;
  }
  const command_roll_command *c = &r->commands[n->first];
  return command_roll_mix(command_roll_mix(shape, c[period].rs1 - c->rs1), c[period].rs2 - c->rs2);
}

static uint64_t shape_of_loop(const command_roller *r, const command_roll_loop *l) {
  uint64_t shape = command_roll_mix(2, l->trips);
  for (uint32_t i = 0; i < l->count; i++) {
    const command_roll_node *n = &r->bodies[l->body + i];
    shape = steps_of(r, n, l->period, command_roll_mix(shape, n->shape));
  }
  return shape;
}

static void reserve(command_roller *r, uint32_t count) {
  while (r->body_room < r->body_count + count) {
    r->body_room = r->body_room == 0 ? 1024 : 2 * r->body_room;
    r->bodies = wf_realloc(r->bodies, r->body_room, sizeof *r->bodies);
  }
  if (r->loop_count < r->loop_room) return;
  r->loop_room = r->loop_room == 0 ? 256 : 2 * r->loop_room;
  r->loops = wf_realloc(r->loops, r->loop_room, sizeof *r->loops);
}

command_roll_node command_roll_make_loop(command_roller *r, const command_roll_node *body, uint32_t count,
                                         uint32_t period, uint32_t trips) {
  command_roll_loop l = {.body = (uint32_t)r->body_count, .count = count, .period = period, .trips = trips};
  command_roll_node made = {0, 0, body->first, period * trips, 0, (uint32_t)r->loop_count};
  uint64_t power = 1;
  reserve(r, count);
  for (uint32_t i = 0; i < count; i++) {
    const command_roll_node *n = &body[i];
    made.value += n->value * power;
    for (uint32_t k = 0; k < n->leaves; k++) power *= ROLL_BASE;
    made.leaves += n->leaves;
    if (depth_of(r, n) + 1 > l.depth) l.depth = depth_of(r, n) + 1;
    r->bodies[r->body_count++] = *n;
  }
  made.shape = shape_of_loop(r, &l);
  r->loops[r->loop_count++] = l;
  return made;
}

void command_roll_fix_steps(command_roller *r, command_roll_node *nodes, uint32_t count, uint32_t period) {
  for (uint32_t i = 0; i < count; i++) nodes[i].shape = steps_of(r, &nodes[i], period, nodes[i].shape);
  const uint32_t first = nodes->first, end = nodes[count].first;
  for (uint32_t k = first; k < end; k++) {
    command_roll_command *c = &r->commands[k];
    c->shape = command_roll_mix(command_roll_mix(c->shape, c[period].rs1 - c->rs1), c[period].rs2 - c->rs2);
  }
}

// ---- short periods
//
// One pass: nodes are pushed on a stack, in place. For each period the top of the stack knows for how many nodes a run
// goes on (up to a period, four bits each); a run that ends becomes one node, which is pushed in its stead, so that
// loops of loops are found on the way. Shorter periods go first. The commands of an inner loop seem to end the run
// around it, which then goes on as soon as they have become a node: a loop takes up iterations that follow it.

typedef struct stack {
  command_roller *r;
  command_roll_level *level;
  uint32_t *active;  // per node of the stack
  uint32_t count;
} stack;

static uint32_t active_of(uint32_t active, uint32_t period) { return active >> 4 * (period - 1) & 15; }

// Whether the node at a place has the same distance from the last two of a period.
static bool ends_run(const command_roll_node *nodes, uint32_t at, uint32_t period) {
  const command_roll_node *c = &nodes[at], *b = c - period;
  return c->shape == b->shape && at >= 2 * period && command_roll_continues(nodes, at - 2 * period, period);
}

static uint32_t activity(const command_roll_node *nodes, uint32_t at, uint32_t before) {
  uint32_t active = 0;
  for (uint32_t period = 1; period <= SHORT_MAX && period <= at; period++) {
    if (!ends_run(nodes, at, period)) continue;
    const uint32_t length = active_of(before, period);
    active |= (length < period ? length + 1 : period) << 4 * (period - 1);
  }
  return active;
}

// The shortest period with a run of three iterations that goes to the node before and not on; 0: none.
static uint32_t ended_period(uint32_t before, uint32_t now) {
  for (uint32_t period = 1; before != 0 && period <= SHORT_MAX; period++)
    if (active_of(before, period) == period && active_of(now, period) == 0) return period;
  return 0;
}

static void push(stack *s, command_roll_node node);

// The run of a period that ends at the top. False: the commands say that it is none.
static bool reduce(stack *s, uint32_t period) {
  command_roll_node *nodes = s->level->nodes, rest[SHORT_MAX];
  uint32_t first = s->count;
  while (first > 2 * period && ends_run(nodes, first - 1, period)) first--;
  const command_roll_run run = {first - 2 * period, period, (s->count - first + 2 * period) / period};
  const uint32_t end = run.at + run.trips * period, left = s->count - end;
  const command_roll_node *body = &nodes[run.at];
  if (!command_roll_is_loop(s->r, s->level, &run)) return false;
  const command_roll_node made =
      command_roll_make_loop(s->r, body, period, body[period].first - body->first, run.trips);
  memcpy(rest, &nodes[end], left * sizeof *rest);
  s->count = run.at;
  push(s, made);
  for (uint32_t i = 0; i < left; i++) push(s, rest[i]);
  return true;
}

// Whether the nodes from `at` to the top are one more iteration of the loop before them.
static bool extends(const stack *s, uint32_t at) {
  const command_roller *r = s->r;
  const command_roll_node *nodes = s->level->nodes, *before = &nodes[at - 1], *last = &nodes[s->count];
  if (before->loop == ROLL_NO_LOOP) return false;
  const command_roll_loop *l = &r->loops[before->loop];
  if (l->count != s->count - at + 1 || last->first + last->length - nodes[at].first != l->period) return false;
  for (uint32_t i = 0; i < l->count; i++)
    if (r->bodies[l->body + i].shape != nodes[at + i].shape) return false;
  const command_roll_command *c = &r->commands[nodes[at].first] - 2 * (size_t)l->period;
  for (size_t k = 0; k < l->period; k++)
    if (!same_step(&c[k], &c[k + l->period], &c[k + 2 * (size_t)l->period])) return false;
  return true;
}

// The loop that takes up the top of the stack, which is then taken off; false if there is none.
static bool extend(stack *s, command_roll_node *node) {
  for (uint32_t period = 1; period <= SHORT_MAX && period <= s->count; period++) {
    if (!extends(s, s->count - period + 1)) continue;
    s->count -= period;
    *node = s->level->nodes[s->count];
    command_roll_loop *l = &s->r->loops[node->loop];
    l->trips++;
    node->length += l->period;
    node->shape = shape_of_loop(s->r, l);
    return true;
  }
  return false;
}

static void push(stack *s, command_roll_node node) {
  command_roll_node *nodes = s->level->nodes;
  for (;;) {
    const uint32_t at = s->count, before = at == 0 ? 0 : s->active[at - 1];
    nodes[at] = node;
    if (extend(s, &node)) continue;
    s->active[at] = activity(nodes, at, before);
    const uint32_t period = ended_period(before, s->active[at]);
    if (period == 0 || !reduce(s, period)) break;
  }
  s->count++;
}

void command_roll_short(command_roller *r, command_roll_level *level) {
  const command_roll_node behind = level->nodes[level->count];
  stack s = {.r = r, .level = level, .active = r->next};
  for (uint32_t i = 0; i < level->count; i++) push(&s, level->nodes[i]);
  while (s.count > 0) {
    const uint32_t period = ended_period(s.active[s.count - 1], 0);
    if (period == 0 || !reduce(&s, period)) break;
  }
  level->nodes[s.count] = behind;
  level->count = s.count;
}
