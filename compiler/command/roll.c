// Finds loops in a straight sequence of commands: see command.h.
//
// A level is a sequence of nodes: commands, or loops found before. A run is a stretch of a level in which, for a period
// of p nodes, node i + p has the shape of node i and its operands have moved by the same step as those of node i + p
// have moved to node i + 2p. Runs of three periods or more become loops, short periods first; then the same is done
// with the shorter level, until nothing changes. At last two periods of the same shape become a loop when they are
// long.
//
// The shape of a loop is its trips, the shapes in its body, and its steps; the value of a node is a linear hash of the
// operands of its first iteration, so steps are differences of values. Hashes only propose: every loop is checked
// against the commands themselves. Periods up to DENSE_MAX are tried one by one; longer ones come from places where a
// window of shapes occurs again.
#include <assert.h>
#include <string.h>

#include "compiler/command/private.h"
#include "hw/base/alloc.h"

enum { DENSE_MAX = 8, LINKS_MAX = 96, TWICE_LEAVES = 48, TWICE_STEPS = 12, FENCE_CLASS = 0xff };
#define NO_LOOP UINT32_MAX

// Windows and the longest periods that are looked for with them, in this order. Places are a window apart, so that a
// run of periods of two windows or more is not missed.
static const struct search_step {
  uint32_t window, period;
} search_steps[] = {{4, 16},   {8, 32},    {8, 64},     {16, 128},   {32, 256},
                    {64, 512}, {64, 1024}, {256, 2048}, {256, 8192}, {512, UINT32_MAX}};
enum { SEARCH_STEPS = sizeof search_steps / sizeof *search_steps };

// Odd, otherwise without meaning.
#define VALUE_RS1 UINT64_C(0x9e3779b97f4a7c15)
#define VALUE_RS2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define BASE UINT64_C(0xd6e8feb86659fd93)

typedef struct node {
  uint64_t shape, value;
  uint32_t first, length;  // commands that it covers, all iterations
  uint32_t leaves;         // commands in its text
  uint32_t loop;           // or NO_LOOP
} node;

typedef struct loop {
  uint32_t body, count;  // nodes of the first iteration, in roller.bodies
  uint32_t period;       // commands of an iteration
  uint32_t trips;
  uint32_t depth;
} loop;

typedef struct command {
  uint64_t rs1, rs2;
  uint64_t shape;
} command;

typedef struct roller {
  command *commands;
  command_insn *insns;
  size_t total, room;
  node *level;
  uint32_t count;
  uint32_t hashed;  // window of the hashes below, 0: of another level
  node *bodies;
  size_t body_count, body_room;
  loop *loops;
  size_t loop_count, loop_room;
  // For the search with windows.
  uint64_t *window_shape, *window_value;
  uint32_t *next, *table;
} roller;

static uint64_t mix(uint64_t state, uint64_t value) {
  state = (state ^ value) * UINT64_C(0xff51afd7ed558ccd);
  return state ^ state >> 32;
}

// ---- the first level

static bool take(void *context, const command_insn *insn) {
  roller *r = context;
  if (r->total == r->room) {
    r->room = r->room == 0 ? 4096 : 2 * r->room;
    r->insns = wf_realloc(r->insns, r->room, sizeof *r->insns);
  }
  r->insns[r->total++] = insn == NULL ? (command_insn){.funct = FENCE_CLASS} : *insn;
  return true;
}

// Configuration commands share their funct; a step must not lead from one to another.
static uint64_t shape_of(const command_insn *insn) {
  const uint64_t selector = insn->funct == ISA_FUNCT_CONFIG_EX ? insn->rs1 & 3 : 0;
  return mix(mix(1, (uint64_t)insn->funct << 8 | selector),
             (uint64_t)(uint16_t)insn->tensor_rs1 << 16 | (uint16_t)insn->tensor_rs2);
}

static void start(roller *r) {
  r->commands = wf_alloc(r->total + 1, sizeof *r->commands);
  r->level = wf_alloc(r->total + 1, sizeof *r->level);
  r->count = (uint32_t)r->total;
  for (uint32_t n = 0; n < r->count; n++) {
    const command_insn *insn = &r->insns[n];
    const command c = {insn->rs1, insn->rs2, shape_of(insn)};
    r->commands[n] = c;
    r->level[n] = (node){c.shape, c.rs1 * VALUE_RS1 + c.rs2 * VALUE_RS2, n, 1, 1, NO_LOOP};
  }
}

// ---- exact checks on the commands

static bool same_step(const command *a, const command *b, const command *c) {
  return a->shape == b->shape && b->shape == c->shape && c->rs1 - b->rs1 == b->rs1 - a->rs1 &&
         c->rs2 - b->rs2 == b->rs2 - a->rs2;
}

static bool advances(const roller *r, uint32_t first, uint32_t period, uint32_t trips) {
  const command *c = r->commands + first;
  for (size_t k = 0; k < period; k++)
    if (c[k].shape != c[k + period].shape) return false;
  for (size_t k = 0; k < (size_t)period * (trips - 2); k++)
    if (!same_step(&c[k], &c[k + period], &c[k + 2 * (size_t)period])) return false;
  return true;
}

// Whether in a node each command moves by one step over `period`, in whichever iteration of the loops in the node.
static bool moves_as_one(const roller *r, const node *n, uint32_t period) {
  if (n->loop == NO_LOOP) return true;
  const loop *l = &r->loops[n->loop];
  const command *c = r->commands + n->first;
  for (size_t k = l->period; k < n->length; k++) {
    const command *now = &c[k], *before = &c[k - l->period];
    if (now[period].rs1 - now->rs1 != before[period].rs1 - before->rs1) return false;
    if (now[period].rs2 - now->rs2 != before[period].rs2 - before->rs2) return false;
  }
  for (uint32_t b = 0; b < l->count; b++)
    if (!moves_as_one(r, &r->bodies[l->body + b], period)) return false;
  return true;
}

// ---- loops

static uint32_t depth_of(const roller *r, const node *n) { return n->loop == NO_LOOP ? 0 : r->loops[n->loop].depth; }

typedef struct run {
  uint32_t at, period, trips;  // in nodes
} run;

static uint32_t span(const roller *r, uint32_t at, uint32_t period) {
  return r->level[at + period].first - r->level[at].first;
}

static bool is_loop(const roller *r, const run *found) {
  const uint32_t commands = span(r, found->at, found->period), first = r->level[found->at].first;
  if (!advances(r, first, commands, found->trips)) return false;
  for (uint32_t i = 0; i < found->period; i++) {
    const node *n = &r->level[found->at + i];
    if (depth_of(r, n) + 1 >= COMMAND_LOOPS_MAX || !moves_as_one(r, n, commands)) return false;
  }
  return true;
}

static uint64_t steps_of(const roller *r, const node *n, uint32_t period, uint64_t shape) {
  if (n->loop != NO_LOOP) {
    const loop *l = &r->loops[n->loop];
    for (uint32_t b = 0; b < l->count; b++) shape = steps_of(r, &r->bodies[l->body + b], period, shape);
    return shape;
  }
  const command *c = &r->commands[n->first];
  return mix(mix(shape, c[period].rs1 - c->rs1), c[period].rs2 - c->rs2);
}

// The run as one node.
static node make_loop(roller *r, const run *found) {
  const node *body = &r->level[found->at];
  loop l = {.body = (uint32_t)r->body_count,
            .count = found->period,
            .period = span(r, found->at, found->period),
            .trips = found->trips};
  node made = {mix(2, found->trips), 0, body->first, l.period * l.trips, 0, (uint32_t)r->loop_count};
  uint64_t power = 1;
  while (r->body_room < r->body_count + l.count) {
    r->body_room = r->body_room == 0 ? 1024 : 2 * r->body_room;
    r->bodies = wf_realloc(r->bodies, r->body_room, sizeof *r->bodies);
  }
  for (uint32_t i = 0; i < l.count; i++) {
    const node *n = &body[i];
    made.shape = steps_of(r, n, l.period, mix(made.shape, n->shape));
    made.value += n->value * power;
    for (uint32_t k = 0; k < n->leaves; k++) power *= BASE;
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

// ---- runs

static bool continues(const node *level, uint32_t i, uint32_t period) {
  const node *a = &level[i], *b = a + period, *c = b + period;
  return a->shape == b->shape && b->shape == c->shape && c->value - b->value == b->value - a->value;
}

// The level behind the last node has its end as `first` of one more node, so that spans reach to it.
static void close_level(roller *r) {
  r->level[r->count] = (node){.first = (uint32_t)r->total, .loop = NO_LOOP};
  r->hashed = 0;
}

// All runs of one short period. True if there were any.
static bool roll_dense(roller *r, uint32_t period) {
  uint32_t to = 0, n = r->count, before = r->count;
  for (uint32_t i = 0; i < n;) {
    uint32_t length = 0;
    while (i + length + 2 * period < n && continues(r->level, i + length, period)) length++;
    run found = {i, period, (length + 2 * period) / period};
    if (length < period || !is_loop(r, &found)) {
      for (uint32_t k = 0; k <= length && i < n; k++) r->level[to++] = r->level[i++];
      continue;
    }
    // What was written lies before what is read.
    node made = make_loop(r, &found);
    r->level[to++] = made;
    i += found.trips * period;
  }
  r->count = to;
  close_level(r);
  return to != before;
}

// ---- long periods

static uint32_t table_size(uint32_t count) {
  uint32_t size = 64;
  while (size < 2 * count) size *= 2;
  return size;
}

// Hashes of all windows, and for each the next place with the same shapes (0: none).
static void hash_windows(roller *r, uint32_t window) {
  if (r->hashed == window) return;
  r->hashed = window;
  const uint32_t n = r->count, places = n - window + 1, size = table_size(places);
  uint64_t power = 1, shape = 0, value = 0;
  for (uint32_t k = 0; k < window; k++) power *= BASE;
  memset(r->table, 0, size * sizeof *r->table);
  for (uint32_t i = n; i-- > 0;) {
    shape = shape * BASE + r->level[i].shape;
    value = value * BASE + r->level[i].value;
    if (i + window < n) {
      shape -= power * r->level[i + window].shape;
      value -= power * r->level[i + window].value;
    }
    if (i >= places) continue;
    r->window_shape[i] = shape;
    r->window_value[i] = value;
    uint32_t slot = (uint32_t)(mix(0, shape) & (size - 1));
    while (r->table[slot] != 0 && r->window_shape[r->table[slot] - 1] != shape) slot = (slot + 1) & (size - 1);
    r->next[i] = r->table[slot] == 0 ? 0 : r->table[slot] - 1;
    r->table[slot] = i + 1;
  }
}

typedef struct search {
  roller *r;
  uint32_t places;
  uint32_t period;  // at most
  uint32_t from;    // nodes before belong to a run
} search;

// The run of three periods or more around `at`, if there is one.
static bool run_at(const search *s, uint32_t at, uint32_t period, run *found) {
  const roller *r = s->r;
  const uint64_t *shape = r->window_shape, *value = r->window_value;
  const uint64_t last = (uint64_t)at + 2 * (uint64_t)period;
  if (last >= s->places || shape[last] != shape[at]) return false;
  if (value[last] - value[at + period] != value[at + period] - value[at]) return false;
  uint32_t low = at, high = at;
  while (low > s->from && continues(r->level, low - 1, period)) low--;
  while (high + 2 * period < r->count && continues(r->level, high, period)) high++;
  *found = (run){low, period, (high - low + 2 * period) / period};
  return high - low >= period && is_loop(r, found);
}

static uint32_t leaves_of(const roller *r, uint32_t at, uint32_t count) {
  uint32_t leaves = 0;
  for (uint32_t i = 0; i < count; i++) leaves += r->level[at + i].leaves;
  return leaves;
}

// Whether few different steps lead over the period: each costs the program a register.
static bool few_steps(const roller *r, uint32_t first, uint32_t period) {
  uint64_t seen[TWICE_STEPS];
  uint32_t count = 0;
  for (uint32_t k = 0; k < period; k++) {
    const command *c = &r->commands[first + k];
    const uint64_t step = mix(mix(c->shape, c[period].rs1 - c->rs1), c[period].rs2 - c->rs2);
    uint32_t i = 0;
    while (i < count && seen[i] != step) i++;
    if (i == count && count == TWICE_STEPS) return false;
    if (i == count) seen[count++] = step;
  }
  return true;
}

// Two periods around `at`, if they are long.
static bool twice_at(const search *s, uint32_t at, uint32_t period, run *found) {
  const roller *r = s->r;
  uint32_t low = at, high = at;
  while (low > s->from && r->level[low - 1].shape == r->level[low - 1 + period].shape) low--;
  while (high + period < r->count && r->level[high].shape == r->level[high + period].shape) high++;
  *found = (run){low, period, 2};
  return high - low >= period && leaves_of(r, low, period) >= TWICE_LEAVES && is_loop(r, found) &&
         few_steps(r, r->level[low].first, span(r, low, period));
}

typedef bool run_finder(const search *s, uint32_t at, uint32_t period, run *found);

static bool find_run(const search *s, uint32_t at, run *found, run_finder *finder) {
  uint32_t links = 0;
  for (uint32_t b = s->r->next[at]; b != 0 && b - at <= s->period && links < LINKS_MAX; b = s->r->next[b], links++)
    if (finder(s, at, b - at, found)) return true;
  return false;
}

// Replaces the runs, given in order.
static void replace_runs(roller *r, const run *runs, size_t count) {
  uint32_t to = 0, i = 0;
  for (size_t n = 0; n < count; n++) {
    while (i < runs[n].at) r->level[to++] = r->level[i++];
    node made = make_loop(r, &runs[n]);
    r->level[to++] = made;
    i += runs[n].period * runs[n].trips;
  }
  while (i < r->count) r->level[to++] = r->level[i++];
  r->count = to;
  close_level(r);
}

// Runs in which a window of shapes comes again, looked for at every window'th place.
static bool roll_sparse(roller *r, const struct search_step *step, run_finder *finder) {
  const uint32_t window = step->window;
  if (r->count < 2 * window) return false;
  search s = {.r = r, .places = r->count - window + 1, .period = step->period};
  hash_windows(r, window);
  run *runs = NULL;
  size_t count = 0, room = 0;
  for (uint32_t at = 0; at < s.places;) {
    run found;
    if (!find_run(&s, at, &found, finder)) {
      at += window;
      continue;
    }
    if (count == room) {
      room = room == 0 ? 64 : 2 * room;
      runs = wf_realloc(runs, room, sizeof *runs);
    }
    runs[count++] = found;
    s.from = at = found.at + found.period * found.trips;
  }
  if (count != 0) replace_runs(r, runs, count);
  wf_free(runs);
  return count != 0;
}

static bool roll_level(roller *r) {
  bool any = false;
  for (uint32_t period = 1; period <= DENSE_MAX && !any; period++) any |= roll_dense(r, period);
  for (int w = 0; w < SEARCH_STEPS && !any; w++) any |= roll_sparse(r, &search_steps[w], run_at);
  for (int w = SEARCH_STEPS; w-- > 0 && !any;) any |= roll_sparse(r, &search_steps[w], twice_at);
  return any;
}

// ---- the result

typedef struct emitter {
  const roller *r;
  command_program *out;
  uint32_t period[COMMAND_LOOPS_MAX];
} emitter;

static void emit(emitter *e, const node *n);

static void emit_loop(emitter *e, const loop *l) {
  e->period[e->out->open] = l->period;
  command_add_loop(e->out, l->trips);
  for (uint32_t b = 0; b < l->count; b++) emit(e, &e->r->bodies[l->body + b]);
  command_add_end(e->out);
}

static void emit(emitter *e, const node *n) {
  const roller *r = e->r;
  if (n->loop != NO_LOOP) {
    emit_loop(e, &r->loops[n->loop]);
    return;
  }
  if (r->insns[n->first].funct == FENCE_CLASS) {
    command_add_fence(e->out);
    return;
  }
  command_step steps[COMMAND_LOOPS_MAX];
  const command *c = &r->commands[n->first];
  for (int i = 0; i < e->out->open; i++)
    steps[i] = (command_step){c[e->period[i]].rs1 - c->rs1, c[e->period[i]].rs2 - c->rs2};
  command_add_stepped(e->out, &r->insns[n->first], steps);
}

command_program *command_roll(const command_program *program) {
  roller r = {0};
  command_walk(program, take, &r);
  start(&r);
  close_level(&r);
  r.window_shape = wf_alloc(r.total + 1, sizeof *r.window_shape);
  r.window_value = wf_alloc(r.total + 1, sizeof *r.window_value);
  r.next = wf_alloc(r.total + 1, sizeof *r.next);
  r.table = wf_alloc(table_size(r.count), sizeof *r.table);
  while (roll_level(&r)) continue;
  emitter e = {.r = &r, .out = command_create_like(program)};
  for (uint32_t n = 0; n < r.count; n++) emit(&e, &r.level[n]);
  wf_free(r.table), wf_free(r.next), wf_free(r.window_value), wf_free(r.window_shape);
  wf_free(r.loops), wf_free(r.bodies), wf_free(r.level), wf_free(r.commands), wf_free(r.insns);
  return e.out;
}
