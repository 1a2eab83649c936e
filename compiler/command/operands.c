// SPDX-License-Identifier: Apache-2.0
// Chooses registers for operands, in the order of the text: see operands.h.
//
// An operand takes a register that holds its value already; or else the one that served the same operand of the same
// instruction last, if a short step leads there; or else a new one. At most LIVE registers are candidates: the one not
// used for longest retires, unless a loop around needs it; the C compiler can then forget it.
#include "compiler/command/operands.h"

#include <assert.h>

enum { LIVE = 20, SHORT_STEP = 2048, FIXED_MAX = 10 };

typedef struct candidate {
  uint32_t reg;
  int tensor;
  int stream;  // funct and operand that it served last
  uint64_t value;
  uint64_t used;  // when
  // Per loop around, outermost first: the step, if the register is used in this loop.
  size_t loop[COMMAND_LOOPS_MAX];
  uint64_t step[COMMAND_LOOPS_MAX];
} candidate;

typedef struct planner {
  wf_arena *arena;
  command_operand_plan plan;
  size_t base;  // node that entry 0 of the plan is of
  candidate *live;
  size_t count, room, tensor_room;
  uint64_t time;
  size_t around[COMMAND_LOOPS_MAX];  // nodes of the open loops
  int depth;
} planner;

typedef struct operand {
  int tensor, stream;
  uint64_t value;
  const uint64_t *steps;  // per loop around
} operand;

enum { UNSUITABLE = -1, STEPS = 2 };

// Whether the register may serve the operand: same base, and the same steps in the loops that use it already.
static bool compatible(const planner *p, const candidate *c, const operand *o) {
  if (c->tensor != o->tensor) return false;
  for (int l = 0; l < p->depth; l++)
    if (c->loop[l] == p->around[l] && c->step[l] != o->steps[l]) return false;
  return true;
}

static bool in_open_loop(const planner *p, const candidate *c) { return p->depth > 0 && c->loop[0] == p->around[0]; }

static bool is_short(uint64_t step) { return step + SHORT_STEP < 2 * SHORT_STEP; }

// 0: at no cost; STEPS: with a short step in its own stream; UNSUITABLE if it should not be taken.
static int cost_of(const candidate *c, const operand *o) {
  const uint64_t step = o->value - c->value;
  if (step == 0) return c->stream == o->stream ? 0 : 1;
  if (is_short(step) && c->stream == o->stream) return STEPS;
  return UNSUITABLE;
}

// Whether the operand stays as it is in the loop around, and this loop has not too many of these: then it is worth a
// register of its own.
static bool stays_fixed(const planner *p, const operand *o) {
  if (p->depth == 0 || o->steps[p->depth - 1] != 0) return false;
  const size_t around = p->around[p->depth - 1];
  int fixed = 0, open = 0;
  for (size_t n = 0; n < p->count; n++) {
    fixed += p->live[n].loop[p->depth - 1] == around && p->live[n].step[p->depth - 1] == 0;
    open += in_open_loop(p, &p->live[n]);
  }
  return fixed < FIXED_MAX && open < LIVE;
}

static candidate *best(planner *p, const operand *o) {
  candidate *found = NULL;
  int lowest = 0;
  const bool alone = stays_fixed(p, o);
  for (size_t n = 0; n < p->count; n++) {
    candidate *c = &p->live[n];
    if (!compatible(p, c, o)) continue;
    const int cost = cost_of(c, o);
    if (cost == UNSUITABLE || (alone && cost == STEPS) || (found != NULL && cost >= lowest)) continue;
    found = c;
    lowest = cost;
  }
  return found;
}

// The candidate that retires, NULL if all are needed.
static candidate *oldest(planner *p) {
  candidate *found = NULL;
  for (size_t n = 0; n < p->count; n++) {
    candidate *c = &p->live[n];
    if (!in_open_loop(p, c) && (found == NULL || c->used < found->used)) found = c;
  }
  return found;
}

static candidate *create(planner *p, const operand *o) {
  candidate *c = p->count < LIVE ? NULL : oldest(p);
  if (c == NULL) c = WF_ARENA_PUSH(p->arena, p->live, p->count, &p->room);
  size_t count = p->plan.registers;
  *c = (candidate){.reg = p->plan.registers, .tensor = o->tensor};
  for (int l = 0; l < COMMAND_LOOPS_MAX; l++) c->loop[l] = SIZE_MAX;
  *WF_ARENA_PUSH(p->arena, p->plan.tensor, count, &p->tensor_room) = o->tensor;
  p->plan.registers++;
  return c;
}

// Notes the register in the loops around that have not used it yet.
static void enter_loops(planner *p, candidate *c, const operand *o) {
  for (int l = 0; l < p->depth; l++) {
    if (c->loop[l] == p->around[l]) continue;
    c->loop[l] = p->around[l];
    c->step[l] = o->steps[l];
    command_operand_loop *loop = &p->plan.loops[p->around[l] - p->base];
    *WF_ARENA_PUSH(p->arena, loop->used, loop->count, &loop->room) =
        (command_operand_in_loop){c->reg, o->value, o->steps[l]};
  }
}

static uint32_t assign(planner *p, const operand *o) {
  candidate *c = best(p, o);
  if (c == NULL) c = create(p, o);
  enter_loops(p, c, o);
  c->value = o->value;
  c->stream = o->stream;
  c->used = p->time++;
  return c->reg;
}

static void plan_insn(planner *p, const command_node *node, uint32_t reg[2]) {
  uint64_t steps[2][COMMAND_LOOPS_MAX];
  for (int l = 0; l < p->depth; l++) {
    steps[0][l] = node->steps == NULL ? 0 : node->steps[l].rs1;
    steps[1][l] = node->steps == NULL ? 0 : node->steps[l].rs2;
  }
  const command_insn *insn = &node->insn;
  reg[0] = assign(p, &(operand){insn->tensor_rs1, 2 * insn->funct, insn->rs1, steps[0]});
  reg[1] = assign(p, &(operand){insn->tensor_rs2, 2 * insn->funct + 1, insn->rs2, steps[1]});
}

// Behind a loop its registers have gone all the way.
static void leave_loop(planner *p, const command_program *program) {
  const size_t node = p->around[--p->depth];
  const command_operand_loop *loop = &p->plan.loops[node - p->base];
  for (size_t n = 0; n < p->count; n++) {
    candidate *c = &p->live[n];
    if (c->loop[p->depth] != node) continue;
    for (size_t i = 0; i < loop->count; i++)
      if (loop->used[i].reg == c->reg) c->value = loop->used[i].first + loop->used[i].step * program->nodes[node].trips;
  }
}

command_operand_plan command_plan_operands(wf_arena *arena, const command_program *program, size_t first, size_t end) {
  planner p = {.arena = arena, .base = first};
  p.plan.reg = wf_arena_alloc(arena, end - first + 1, sizeof *p.plan.reg);
  p.plan.loops = WF_ARENA_ARRAY(arena, end - first + 1, command_operand_loop);
  for (size_t n = first; n < end; n++) {
    const command_node *node = &program->nodes[n];
    if (node->kind == COMMAND_INSN) plan_insn(&p, node, p.plan.reg[n - first]);
    if (node->kind == COMMAND_LOOP) p.around[p.depth++] = n;
    if (node->kind == COMMAND_END) leave_loop(&p, program);
  }
  assert(p.depth == 0);
  return p.plan;
}
