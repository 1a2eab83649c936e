// Loops of nodes, their check, and runs of short periods. See roll.h.
//
// The shape of a loop is its trips, the shapes in its body, and its steps. Hashes only propose: every loop is checked
// against the commands themselves.
#include <assert.h>

#include "compiler/command/roll.h"
#include "hw/base/alloc.h"

enum { SHORT_MAX = 8 };

// ---- exact checks on the commands

static bool same_step(const roll_command *a, const roll_command *b, const roll_command *c) {
  return a->shape == b->shape && b->shape == c->shape && c->rs1 - b->rs1 == b->rs1 - a->rs1 &&
         c->rs2 - b->rs2 == b->rs2 - a->rs2;
}

static bool advances(const roller *r, uint32_t first, uint32_t period, uint32_t trips) {
  const roll_command *c = r->commands + first;
  for (size_t k = 0; k < period; k++)
    if (c[k].shape != c[k + period].shape) return false;
  for (size_t k = 0; k < (size_t)period * (trips - 2); k++)
    if (!same_step(&c[k], &c[k + period], &c[k + 2 * (size_t)period])) return false;
  return true;
}

// Whether in a roll_node each command moves by one step over `period`, in whichever iteration of the loops in the node.
static bool moves_as_one(const roller *r, const roll_node *n, uint32_t period) {
  if (n->loop == ROLL_NO_LOOP) return true;
  const roll_loop *l = &r->loops[n->loop];
  const roll_command *c = r->commands + n->first;
  for (size_t k = l->period; k < n->length; k++) {
    const roll_command *now = &c[k], *before = &c[k - l->period];
    if (now[period].rs1 - now->rs1 != before[period].rs1 - before->rs1) return false;
    if (now[period].rs2 - now->rs2 != before[period].rs2 - before->rs2) return false;
  }
  for (uint32_t b = 0; b < l->count; b++)
    if (!moves_as_one(r, &r->bodies[l->body + b], period)) return false;
  return true;
}

static uint32_t depth_of(const roller *r, const roll_node *n) {
  return n->loop == ROLL_NO_LOOP ? 0 : r->loops[n->loop].depth;
}

bool roll_is_loop(const roller *r, const roll_level *level, const roll_run *run) {
  const roll_node *body = &level->nodes[run->at];
  const uint32_t commands = body[run->period].first - body->first;
  if (!advances(r, body->first, commands, run->trips)) return false;
  for (uint32_t i = 0; i < run->period; i++) {
    if (level->depth + (int)depth_of(r, &body[i]) + 1 >= COMMAND_LOOPS_MAX) return false;
    if (!moves_as_one(r, &body[i], commands)) return false;
  }
  return true;
}

// ---- loops

static uint64_t steps_of(const roller *r, const roll_node *n, uint32_t period, uint64_t shape) {
  if (n->loop != ROLL_NO_LOOP) {
    const roll_loop *l = &r->loops[n->loop];
    for (uint32_t b = 0; b < l->count; b++) shape = steps_of(r, &r->bodies[l->body + b], period, shape);
    return shape;
  }
  const roll_command *c = &r->commands[n->first];
  return roll_mix(roll_mix(shape, c[period].rs1 - c->rs1), c[period].rs2 - c->rs2);
}

roll_node roll_make_loop(roller *r, const roll_node *body, uint32_t count, uint32_t period, uint32_t trips) {
  roll_loop l = {.body = (uint32_t)r->body_count, .count = count, .period = period, .trips = trips};
  roll_node made = {roll_mix(2, trips), 0, body->first, period * trips, 0, (uint32_t)r->loop_count};
  uint64_t power = 1;
  while (r->body_room < r->body_count + count) {
    r->body_room = r->body_room == 0 ? 1024 : 2 * r->body_room;
    r->bodies = wf_realloc(r->bodies, r->body_room, sizeof *r->bodies);
  }
  for (uint32_t i = 0; i < count; i++) {
    const roll_node *n = &body[i];
    made.shape = steps_of(r, n, period, roll_mix(made.shape, n->shape));
    made.value += n->value * power;
    for (uint32_t k = 0; k < n->leaves; k++) power *= ROLL_BASE;
    made.leaves += n->leaves;
    if (depth_of(r, n) + 1 > l.depth) l.depth = depth_of(r, n) + 1;
    r->bodies[r->body_count++] = *n;
  }
  if (r->loop_count == r->loop_room) {
    r->loop_room = r->loop_room == 0 ? 256 : 2 * r->loop_room;
    r->loops = wf_realloc(r->loops, r->loop_room, sizeof *r->loops);
  }
  r->loops[r->loop_count++] = l;
  return made;
}

void roll_fix_steps(roller *r, roll_node *nodes, uint32_t count, uint32_t period) {
  for (uint32_t i = 0; i < count; i++) nodes[i].shape = steps_of(r, &nodes[i], period, nodes[i].shape);
  const uint32_t first = nodes->first, end = nodes[count].first;
  for (uint32_t k = first; k < end; k++) {
    roll_command *c = &r->commands[k];
    c->shape = roll_mix(roll_mix(c->shape, c[period].rs1 - c->rs1), c[period].rs2 - c->rs2);
  }
}

// ---- short periods

// All runs of one period, three iterations or more. True if there were any.
static bool roll_period(roller *r, roll_level *level, uint32_t period) {
  roll_node *nodes = level->nodes;
  uint32_t to = 0;
  const uint32_t n = level->count;
  for (uint32_t i = 0; i < n;) {
    uint32_t length = 0;
    while (i + length + 2 * period < n && roll_continues(nodes, i + length, period)) length++;
    const roll_run found = {i, period, (length + 2 * period) / period};
    if (length < period || !roll_is_loop(r, level, &found)) {
      for (uint32_t k = 0; k <= length && i < n; k++) nodes[to++] = nodes[i++];
      continue;
    }
    // What was written lies before what is read.
    const roll_node made = roll_make_loop(r, &nodes[i], period, nodes[i + period].first - nodes[i].first, found.trips);
    nodes[to++] = made;
    i += found.trips * period;
  }
  if (to == n) return false;
  nodes[to] = nodes[n];
  level->count = to;
  return true;
}

void roll_short(roller *r, roll_level *level) {
  for (uint32_t period = 1; period <= SHORT_MAX; period++)
    if (roll_period(r, level, period)) period = 0;  // what is shorter now may repeat with a shorter period
}
