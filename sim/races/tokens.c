// SPDX-License-Identifier: Apache-2.0
// Runs programs with tokens: see races.h.
//
// Units advance in turn as far as tokens and room let them. A queue has one giver and one taker, so its n-th pop takes
// the token of the n-th push whatever the turns are: clocks, pairs and deadlocks do not depend on them.
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "sim/races/tokens_private.h"

// A queue in the run: the clocks of all pushes and of all pops.
typedef struct channel {
  races_clock *pushed, *popped;
  uint64_t pushes, pops;
} channel;

typedef struct unit {
  size_t next;  // instruction of the unit; the program's count at its end
  races_clock clock;
} unit;

typedef struct run {
  races_tokens *program;
  channel channels[RACES_ACTORS * RACES_ACTORS];
  unit units[RACES_ACTORS];
} run;

// ---- the run

static size_t next_of(const races_tokens *p, size_t which, size_t from) {
  while (from < p->count && p->insns[from].unit != which) from++;
  return from;
}

static void begin(run *r, races_tokens *p) {
  r->program = p;
  for (size_t q = 0; q < p->queue_count; q++) {
    r->channels[q].pushed = WF_NEW_ARRAY(p->count + 1, races_clock);
    r->channels[q].popped = WF_NEW_ARRAY(p->count + 1, races_clock);
  }
  for (size_t u = 0; u < p->units.count; u++) r->units[u].next = next_of(p, u, 0);
}

static void end(run *r) {
  for (size_t q = 0; q < r->program->queue_count; q++) {
    wf_free(r->channels[q].pushed);
    wf_free(r->channels[q].popped);
  }
}

static bool can_go_on(const run *r, const races_insn *i) {
  const channel *c = &r->channels[i->queue];
  const uint64_t room = r->program->queues[i->queue].room;
  if (i->kind == RACES_POP) return c->pops < c->pushes;
  return i->kind == RACES_TOUCH || room == 0 || c->pushes - c->pops < room;
}

// The token of a pop; of a push the pop that made its room.
static void wait_for(const run *r, const races_insn *i, races_clock *clock) {
  const channel *c = &r->channels[i->queue];
  const uint64_t room = r->program->queues[i->queue].room;
  if (i->kind == RACES_POP) races_clock_join(clock, &c->pushed[c->pops]);
  if (i->kind == RACES_PUSH && room != 0 && c->pushes >= room) races_clock_join(clock, &c->popped[c->pushes - room]);
}

static void step(run *r, unit *u) {
  races_insn *i = &r->program->insns[u->next];
  channel *c = &r->channels[i->queue];
  wait_for(r, i, &u->clock);
  u->clock.of[i->unit]++;
  i->clock = u->clock;
  i->done = true;
  if (i->kind == RACES_PUSH) c->pushed[c->pushes++] = u->clock;
  if (i->kind == RACES_POP) c->popped[c->pops++] = u->clock;
  u->next = next_of(r->program, i->unit, u->next + 1);
}

static void run_all(run *r) {
  const races_tokens *p = r->program;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t u = 0; u < p->units.count; u++)
      while (r->units[u].next < p->count && can_go_on(r, &p->insns[r->units[u].next])) {
        step(r, &r->units[u]);
        moved = true;
      }
  }
}

// ---- pairs

static races_side side_of(const races_tokens *p, const races_insn *i, bool writes) {
  return (races_side){
      .unit = p->units.name[i->unit], .number = (size_t)(i - p->insns), .line = i->line, .writes = writes};
}

static bool comes_before(const races_insn *a, const races_insn *b) {
  return b->clock.of[a->unit] >= a->clock.of[a->unit];
}

static void add_conflict(races_tokens_report *report, const races_conflict *conflict) {
  const size_t n = report->conflict_count;
  if ((n & (n - 1)) == 0) report->conflicts = wf_realloc(report->conflicts, n == 0 ? 1 : 2 * n, sizeof *conflict);
  report->conflicts[report->conflict_count++] = *conflict;
}

// One pair for each memory that both touch; a pair of spans that meet decides it.
static void compare(races_tokens *p, const races_insn *a, const races_insn *b) {
  const bool ordered = comes_before(a, b) || comes_before(b, a);
  for (size_t i = a->spans; i < a->spans + a->count; i++)
    for (size_t j = b->spans; j < b->spans + b->count; j++) {
      const races_span *x = &p->spans[i], *y = &p->spans[j];
      if (x->memory != y->memory || !(x->writes || y->writes)) continue;
      if (x->first > y->last || y->first > x->last) continue;
      const races_conflict found = {.a = side_of(p, a, x->writes),
                                    .b = side_of(p, b, y->writes),
                                    .memory = p->memories.name[x->memory],
                                    .first = wf_max(x->first, y->first),
                                    .last = wf_min(x->last, y->last)};
      if (ordered)
        p->report.ordered++;
      else
        add_conflict(&p->report, &found);
    }
}

static void compare_all(races_tokens *p) {
  for (size_t b = 0; b < p->count; b++) {
    if (p->insns[b].kind != RACES_TOUCH || !p->insns[b].done) continue;
    for (size_t a = 0; a < b; a++)
      if (p->insns[a].kind == RACES_TOUCH && p->insns[a].done && p->insns[a].unit != p->insns[b].unit)
        compare(p, &p->insns[a], &p->insns[b]);
  }
}

// ---- the report

static void tell_queues(const run *r, races_tokens_report *report) {
  const races_tokens *p = r->program;
  report->queue_count = p->queue_count;
  report->queues = WF_NEW_ARRAY(p->queue_count + 1, races_queue);
  for (size_t q = 0; q < p->queue_count; q++)
    report->queues[q] = (races_queue){.from = p->units.name[p->queues[q].from],
                                      .to = p->units.name[p->queues[q].to],
                                      .room = p->queues[q].room,
                                      .pushed = r->channels[q].pushes,
                                      .popped = r->channels[q].pops};
}

static void tell_stuck(const run *r, races_tokens_report *report) {
  const races_tokens *p = r->program;
  report->stuck = WF_NEW_ARRAY(p->units.count + 1, races_stuck);
  for (size_t u = 0; u < p->units.count; u++) {
    if (r->units[u].next == p->count) continue;
    const races_insn *i = &p->insns[r->units[u].next];
    report->stuck[report->stuck_count++] = (races_stuck){.at = side_of(p, i, false),
                                                         .pops = i->kind == RACES_POP,
                                                         .from = p->units.name[p->queues[i->queue].from],
                                                         .to = p->units.name[p->queues[i->queue].to]};
  }
}

const races_tokens_report *races_tokens_run(races_tokens *program) {
  run r = {0};
  begin(&r, program);
  run_all(&r);
  program->report = (races_tokens_report){.instructions = program->count, .units = program->units.count};
  compare_all(program);
  tell_queues(&r, &program->report);
  tell_stuck(&r, &program->report);
  end(&r);
  return &program->report;
}
