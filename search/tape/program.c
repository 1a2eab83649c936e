// SPDX-License-Identifier: Apache-2.0
// From a tape to a program: what the outputs need, with slots of a workspace for operands and results. Slots:
// constants, inputs, results.
//
// Steps are ordered in runs of one operation that do not need each other, so that a kernel decides once for a run what
// to do. It is known at compile time who is the first to write an adjoint: that one stores and the others add, so
// adjoints need no clearing.
#include <assert.h>

#include "base/alloc.h"
#include "search/tape/tape_internal.h"

// Which operands have adjoints is part of what a run has in common.
enum { A_ACTIVE = 1, B_ACTIVE = 2, ACTIVITIES = 4, KINDS = TAPE_OPS * ACTIVITIES };

typedef struct ready_list {
  uint32_t *nodes;
  uint32_t count, room;
} ready_list;

typedef struct compilation {
  const tape *tape;
  tape_program *program;
  uint8_t *live, *active;         // of nodes
  uint8_t *waits;                 // operands of a node that have no slot yet
  uint32_t *slot;                 // of nodes
  uint32_t *user, *next_user[2];  // lists of the operations that use a node: 2 * node + operand + 1, 0 ends
  ready_list ready[KINDS];
  uint8_t *touched;  // of slots: an adjoint has been written
} compilation;

static bool is_leaf(const tape_node *node) { return node->op <= TAPE_PARAMETER; }

static void mark_live(compilation *c, const tape_ref *outputs, size_t count) {
  for (size_t n = 0; n < count; n++) c->live[outputs[n]] = 1;
  for (uint32_t n = c->tape->count; n-- > 0;) {
    const tape_node *node = &c->tape->nodes[n];
    if (!c->live[n] || is_leaf(node)) continue;
    c->live[node->a] = c->live[node->b] = 1;
  }
}

static void mark_active(compilation *c) {
  for (uint32_t n = 0; n < c->tape->count; n++) {
    const tape_node *node = &c->tape->nodes[n];
    if (node->op == TAPE_VARIABLE)
      c->active[n] = 1;
    else if (!is_leaf(node) && node->op != TAPE_FLOOR)
      c->active[n] = c->active[node->a] | c->active[node->b];
  }
}

// ---- order

static unsigned kind_of(const compilation *c, uint32_t n) {
  const tape_node *node = &c->tape->nodes[n];
  const unsigned a = c->active[node->a] ? A_ACTIVE : 0;
  const unsigned b = c->active[node->b] && tape_op_arity[node->op] == 2 ? B_ACTIVE : 0;
  return (node->op * ACTIVITIES + a) | b;
}

static void make_ready(compilation *c, uint32_t n) {
  ready_list *list = &c->ready[kind_of(c, n)];
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 64;
    list->nodes = wf_realloc(list->nodes, list->room, sizeof *list->nodes);
  }
  list->nodes[list->count++] = n;
}

static void place(compilation *c, uint32_t n) {
  c->slot[n] = c->program->slots++;
  for (uint32_t use = c->user[n]; use != 0; use = c->next_user[(use - 1) % 2][(use - 1) / 2])
    if (--c->waits[(use - 1) / 2] == 0) make_ready(c, (use - 1) / 2);
}

static void link_users(compilation *c) {
  for (uint32_t n = c->tape->count; n-- > 0;) {
    const tape_node *node = &c->tape->nodes[n];
    if (!c->live[n] || is_leaf(node)) continue;
    const uint32_t operands[2] = {node->a, node->b};
    c->waits[n] = 2;
    for (uint32_t o = 0; o < 2; o++) {
      c->next_user[o][n] = c->user[operands[o]];
      c->user[operands[o]] = 2 * n + o + 1;
    }
  }
}

// Inputs keep their slots even if nothing uses them: their owner sets them by number.
static void place_leaves(compilation *c) {
  tape_program *p = c->program;
  const tape *t = c->tape;
  p->constants = wf_alloc(t->count + 1, sizeof *p->constants);
  p->inputs = wf_alloc(t->inputs + 1, sizeof *p->inputs);
  p->variable = wf_alloc(t->inputs + 1, sizeof *p->variable);
  for (uint32_t n = 0; n < t->count; n++)
    if (t->nodes[n].op == TAPE_CONSTANT && c->live[n]) {
      p->constants[p->constant_count++] = t->nodes[n].value;
      place(c, n);
    }
  for (uint32_t n = 0; n < t->count; n++) {
    const tape_node *node = &t->nodes[n];
    if (node->op != TAPE_VARIABLE && node->op != TAPE_PARAMETER) continue;
    p->variable[node->a] = node->op == TAPE_VARIABLE;
    p->inputs[node->a] = p->slots;
    place(c, n);
  }
  p->input_count = t->inputs;
}

static unsigned longest_ready(const compilation *c) {
  unsigned best = 0;
  for (unsigned kind = 1; kind < KINDS; kind++)
    if (c->ready[kind].count > c->ready[best].count) best = kind;
  return best;
}

static void emit_run(compilation *c, unsigned kind) {
  tape_program *p = c->program;
  const ready_list run = c->ready[kind];
  c->ready[kind] = (ready_list){0};  // what becomes ready now belongs to a later run
  p->runs[p->run_count++] = (tape_run){.op = (uint8_t)(kind / ACTIVITIES),
                                       .a_active = (kind & A_ACTIVE) != 0,
                                       .b_active = (kind & B_ACTIVE) != 0,
                                       .first = p->step_count,
                                       .count = run.count};
  for (uint32_t n = 0; n < run.count; n++) {
    const tape_node *node = &c->tape->nodes[run.nodes[n]];
    place(c, run.nodes[n]);
    p->steps[p->step_count++] =
        (tape_step){.a = c->slot[node->a], .b = c->slot[node->b], .result = c->slot[run.nodes[n]]};
  }
  wf_free(run.nodes);
}

static void emit_steps(compilation *c) {
  tape_program *p = c->program;
  p->steps = wf_calloc(c->tape->count + 1, sizeof *p->steps);
  p->runs = wf_calloc(c->tape->count + 1, sizeof *p->runs);
  link_users(c);
  place_leaves(c);
  for (unsigned kind = longest_ready(c); c->ready[kind].count > 0; kind = longest_ready(c)) emit_run(c, kind);
}

// ---- backwards

static uint64_t keep_mask(compilation *c, uint32_t slot) {
  const uint64_t mask = c->touched[slot] ? UINT64_MAX : 0;
  c->touched[slot] = 1;
  return mask;
}

// In the order of the kernels: runs from the last to the first, all first operands of a run before the second ones.
// The caller that seeds outputs has written them.
static void find_first_writers(compilation *c, const tape_ref *outputs, size_t count) {
  tape_program *p = c->program;
  c->touched = wf_calloc(p->slots + 1, sizeof *c->touched);
  for (size_t n = 0; n < count; n++) c->touched[c->slot[outputs[n]]] = 1;
  for (uint32_t r = p->run_count; r-- > 0;) {
    const tape_run *run = &p->runs[r];
    tape_step *steps = &p->steps[run->first];
    for (uint32_t n = 0; run->a_active && n < run->count; n++) steps[n].a_keep = keep_mask(c, steps[n].a);
    for (uint32_t n = 0; run->b_active && n < run->count; n++) steps[n].b_keep = keep_mask(c, steps[n].b);
  }
  wf_free(c->touched);
}

tape_program *tape_compile(const tape *t, const tape_ref *outputs, size_t count) {
  compilation c = {.tape = t, .program = WF_NEW(tape_program)};
  c.live = wf_calloc(t->count + 1, sizeof *c.live);
  c.active = wf_calloc(t->count + 1, sizeof *c.active);
  c.waits = wf_calloc(t->count + 1, sizeof *c.waits);
  uint32_t *const tables = wf_calloc(4 * ((size_t)t->count + 1), sizeof *tables);
  c.slot = tables;
  c.user = c.slot + t->count + 1;
  c.next_user[0] = c.user + t->count + 1;
  c.next_user[1] = c.next_user[0] + t->count + 1;
  mark_live(&c, outputs, count);
  mark_active(&c);
  emit_steps(&c);
  find_first_writers(&c, outputs, count);
  tape_program *p = c.program;
  p->outputs = wf_alloc(count + 1, sizeof *p->outputs);
  p->output_count = (uint32_t)count;
  for (size_t n = 0; n < count; n++) p->outputs[n] = c.slot[outputs[n]];
  wf_free(c.live);
  wf_free(c.active);
  wf_free(c.waits);
  wf_free(tables);
  return p;
}

void tape_program_destroy(tape_program *p) {
  if (!p) return;
  wf_free(p->steps);
  wf_free(p->runs);
  wf_free(p->constants);
  wf_free(p->inputs);
  wf_free(p->variable);
  wf_free(p->outputs);
  wf_free(p);
}

size_t tape_program_operations(const tape_program *p) { return p->step_count; }
