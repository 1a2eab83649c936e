// SPDX-License-Identifier: Apache-2.0
// The long loops of a program, the largest saving first. See roll.h.
//
// In a nest of loops a node is as far from the last one of the same instruction as it was an iteration before; at
// the end of an inner loop the way back is the same in each iteration of the outer one. So in the sequence of these
// distances each loop is a plain repetition. A window of distances that occurs again proposes a period, and rare
// windows, which lie where inner loops end, propose long ones. The commands themselves decide how far a run goes: as
// long as each moves by the same step in the next period.
#include <stdlib.h>
#include <string.h>

#include "compiler/command/roll.h"

enum { WINDOW = 12, ANCHORS = 256, LINKS = 16, SAVING_MIN = 8, TRIED = 64, TWICE_STEPS = 12, TWICE_LEAVES = 48 };

typedef struct offer {
  command_roll_run run;
  uint64_t saved;
} offer;

typedef struct search {
  command_roller *r;
  const command_roll_level *level;
  offer offers[ROLL_RUNS_MAX];
  uint32_t count;
  // Stretches that were looked at with a period: it need not be tried again inside.
  struct {
    uint32_t period, first, last;
  } tried[TRIED];
  uint32_t tried_count;
} search;

// Shapes alone: for nests in which commands of one shape go different ways.
static void code_shapes(const search *s) {
  for (uint32_t i = 0; i < s->level->count; i++) s->r->coded[i] = s->level->nodes[i].shape;
}

// How far each node is from the last one of its shape.
static void code_distances(const search *s) {
  enum { SHAPES = 256 };
  struct {
    uint64_t shape, value;
  } seen[SHAPES] = {{0}};
  for (uint32_t i = 0; i < s->level->count; i++) {
    const command_roll_node *n = &s->level->nodes[i];
    const uint32_t slot = (n->shape >> 40) % SHAPES;
    const uint64_t before = seen[slot].shape == n->shape ? seen[slot].value : 0;
    s->r->coded[i] = command_roll_mix(n->shape, n->value - before);
    seen[slot].shape = n->shape;
    seen[slot].value = n->value;
  }
}

// For each place the next one with the same window (0: none).
static void link_windows(const search *s) {
  command_roller *r = s->r;
  const uint32_t n = s->level->count, places = n - WINDOW + 1, size = command_roll_table_size(places);
  uint64_t power = 1, state = 0;
  for (uint32_t k = 0; k < WINDOW; k++) power *= ROLL_BASE;
  memset(r->table, 0, size * sizeof *r->table);
  for (uint32_t i = n; i-- > 0;) {
    state = state * ROLL_BASE + r->coded[i];
    if (i + WINDOW < n) state -= power * r->coded[i + WINDOW];
    if (i >= places) continue;
    r->window[i] = state;
    uint32_t slot = (uint32_t)(command_roll_mix(0, state) & (size - 1));
    while (r->table[slot] != 0 && r->window[r->table[slot] - 1] != state) slot = (slot + 1) & (size - 1);
    r->next[i] = r->table[slot] == 0 ? 0 : r->table[slot] - 1;
    r->table[slot] = i + 1;
  }
}

static bool was_tried(const search *s, uint32_t at, uint32_t period) {
  for (uint32_t i = 0; i < s->tried_count && i < TRIED; i++)
    if (s->tried[i].period == period && at >= s->tried[i].first && at <= s->tried[i].last) return true;
  return false;
}

static void note_tried(search *s, uint32_t first, uint32_t last, uint32_t period) {
  const uint32_t slot = s->tried_count++ % TRIED;
  s->tried[slot].period = period;
  s->tried[slot].first = first;
  s->tried[slot].last = last;
}

static uint32_t leaves_of(const command_roll_level *level, const command_roll_run *run) {
  uint32_t leaves = 0;
  for (uint32_t i = 0; i < run->period; i++) leaves += level->nodes[run->at + i].leaves;
  return leaves;
}

// Keeps the best when there is no more room.
static void make_offer(search *s, command_roll_run run) {
  const uint64_t saved = (uint64_t)(run.trips - 1) * leaves_of(s->level, &run);
  if (saved < SAVING_MIN) return;
  uint32_t at = s->count;
  if (s->count < ROLL_RUNS_MAX) {
    s->count++;
  } else {
    at = 0;
    for (uint32_t i = 1; i < s->count; i++)
      if (s->offers[i].saved < s->offers[at].saved) at = i;
    if (s->offers[at].saved >= saved) return;
  }
  s->offers[at] = (offer){run, saved};
}

// The run of a period around a node.
static void try_period(search *s, uint32_t at, uint32_t period) {
  const command_roll_node *nodes = s->level->nodes;
  uint32_t low = at, high = at;
  if (at + 2 * (uint64_t)period >= s->level->count || was_tried(s, at, period)) return;
  while (high + 2 * (uint64_t)period < s->level->count && command_roll_continues(nodes, high, period)) high++;
  while (low > 0 && command_roll_continues(nodes, low - 1, period)) low--;
  note_tried(s, low, high, period);
  if (high - low >= period) make_offer(s, (command_roll_run){low, period, (high - low + 2 * period) / period});
}

// Whether few different steps lead over the period: each costs the program a register.
static bool few_steps(const search *s, const command_roll_run *run) {
  const command_roll_node *nodes = &s->level->nodes[run->at];
  const uint32_t first = nodes->first, end = nodes[run->period].first, period = end - first;
  uint64_t seen[TWICE_STEPS];
  uint32_t count = 0;
  for (uint32_t k = first; k < end; k++) {
    const command_roll_command *c = &s->r->commands[k];
    const uint64_t step = command_roll_mix(command_roll_mix(c->shape, c[period].rs1 - c->rs1), c[period].rs2 - c->rs2);
    uint32_t i = 0;
    while (i < count && seen[i] != step) i++;
    if (i == count && count == TWICE_STEPS) return false;
    if (i == count) seen[count++] = step;
  }
  return true;
}

// Two periods, where there are no three.
static void try_twice(search *s, uint32_t at, uint32_t period) {
  const command_roll_node *nodes = s->level->nodes;
  uint32_t low = at, high = at;
  if (was_tried(s, at, period)) return;
  while (high + (uint64_t)period < s->level->count && nodes[high].shape == nodes[high + period].shape) high++;
  while (low > 0 && nodes[low - 1].shape == nodes[low - 1 + period].shape) low--;
  note_tried(s, low, high, period);
  const command_roll_run run = {low, period, 2};
  if (high - low >= period && leaves_of(s->level, &run) >= TWICE_LEAVES && few_steps(s, &run)) make_offer(s, run);
}

typedef void tryer(search *s, uint32_t at, uint32_t period);

// The place in [at, end) whose window comes again last.
static uint32_t rarest(const search *s, uint32_t at, uint32_t end) {
  const uint32_t *next = s->r->next;
  uint32_t best = at, distance = 0;
  for (uint32_t i = at; i < end; i++) {
    if (next[i] == 0 || next[i] - i <= distance) continue;
    distance = next[i] - i;
    best = i;
  }
  return best;
}

static void look(search *s, tryer *try) {
  const uint32_t places = s->level->count - WINDOW + 1;
  const uint32_t apart = places / ANCHORS < WINDOW ? WINDOW : places / ANCHORS;
  s->tried_count = 0;
  for (uint32_t at = 0; at < places; at += apart) {
    const uint32_t anchor = rarest(s, at, places - at < apart ? places : at + apart);
    uint32_t links = 0;
    for (uint32_t b = s->r->next[anchor]; b != 0 && links < LINKS; b = s->r->next[b], links++)
      if (b - anchor >= WINDOW / 2) try(s, anchor, b - anchor);
  }
}

// ---- the choice

// Largest saving first; of equals the shorter period.
static int by_saving(const void *a, const void *b) {
  const offer *x = a, *y = b;
  if (x->saved != y->saved) return x->saved < y->saved ? 1 : -1;
  return (x->run.period > y->run.period) - (x->run.period < y->run.period);
}

static int by_place(const void *a, const void *b) {
  const command_roll_run *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static bool overlaps(const command_roll_run *a, const command_roll_run *b) {
  return a->at < b->at + b->period * b->trips && b->at < a->at + a->period * a->trips;
}

static bool is_free(const command_roll_run *run, const command_roll_run *chosen, uint32_t count) {
  for (uint32_t k = 0; k < count; k++)
    if (overlaps(run, &chosen[k])) return false;
  return true;
}

uint32_t command_roll_long(command_roller *r, const command_roll_level *level, command_roll_run found[ROLL_RUNS_MAX]) {
  search s = {.r = r, .level = level};
  if (level->count < 2 * WINDOW) return 0;
  code_distances(&s);
  link_windows(&s);
  look(&s, try_period);
  if (s.count == 0) {
    code_shapes(&s);
    link_windows(&s);
    look(&s, try_period);
  }
  if (s.count == 0) look(&s, try_twice);
  qsort(s.offers, s.count, sizeof *s.offers, by_saving);
  uint32_t chosen = 0;
  for (uint32_t i = 0; i < s.count; i++) {
    const command_roll_run *run = &s.offers[i].run;
    if (is_free(run, found, chosen) && command_roll_is_loop(r, level, run)) found[chosen++] = *run;
  }
  qsort(found, chosen, sizeof *found, by_place);
  return chosen;
}
