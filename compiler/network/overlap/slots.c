// SPDX-License-Identifier: Apache-2.0
// The list schedule: see overlap.h. Steps depend on each other by the buffers that they read and write. While a step of
// the hart is ready it takes the steps of the array beside it that are ready without it, for as long as it takes
// itself; else a step goes alone, as its own kernel, which is faster than the loops of the hardware.
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "compiler/network/overlap/overlap.h"

// The calls of a slot lie in the memory that is reserved for calls, all at one time.
enum { CALLS_MAX = (NETWORK_RESERVED - NETWORK_CALLS) / (int)sizeof(struct weft_host_call) - 1 };

typedef enum { WAITS, DONE, IN_ARRAY, IN_HART } state;

typedef struct edge {
  int to;
  struct edge *next;
} edge;

typedef struct scheduler {
  const network *net;
  const network_slot_request *request;
  wf_arena *arena;
  edge **before, **behind;     // by step
  uint64_t *to_end, *to_hart;  // by step: cycles of the longest way to the end, the shortest to a step of the hart
  uint8_t *states;
  network_slots slots;
  int placed;
  int calls;  // of the hart, in the slot at hand
} scheduler;

// ---- what depends on what

typedef struct user {
  int step;
  struct user *next;
} user;

typedef struct buffer_users {
  int writer;     // the last one; -1: none
  user *readers;  // since then
} buffer_users;

static void add_edge(scheduler *s, int from, int to) {
  if (from < 0 || from == to) return;
  edge *before = WF_ARENA_NEW(s->arena, edge), *behind = WF_ARENA_NEW(s->arena, edge);
  *before = (edge){.to = from, .next = s->before[to]};
  *behind = (edge){.to = to, .next = s->behind[from]};
  s->before[to] = before;
  s->behind[from] = behind;
}

static void use(scheduler *s, buffer_users *users, network_place place, int step, bool writes) {
  if (place.buffer < 0 || s->net->buffers[place.buffer].contents != NULL) return;
  buffer_users *u = &users[place.buffer];
  add_edge(s, u->writer, step);
  if (!writes) {
    user *reader = WF_ARENA_NEW(s->arena, user);
    *reader = (user){.step = step, .next = u->readers};
    u->readers = reader;
    return;
  }
  for (const user *r = u->readers; r != NULL; r = r->next) add_edge(s, r->step, step);
  *u = (buffer_users){.writer = step};
}

static bool is_written(const network *net, const network_step *step, const char *param) {
  const command_program *program = net->kernels[step->kernel].program;
  for (int t = 0; t < program->tensor_count; t++)
    if (strcmp(program->tensors[t].name, param) == 0) return program->tensors[t].written;
  return false;
}

// Reads first: a step may read what it overwrites.
static void use_operands(scheduler *s, buffer_users *users, int number, bool writes) {
  const network_step *step = &s->net->steps[number];
  for (int o = 0; o < step->operand_count; o++)
    if (is_written(s->net, step, step->operands[o].param) == writes)
      use(s, users, step->operands[o].place, number, writes);
  for (int c = 0; c < step->call_count; c++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++)
      if ((o == 0) == writes) use(s, users, step->calls[c].place[o], number, writes);
}

// A product whose sums stay waits for all that the step behind it needs, which follows it at once.
static void use_behind(scheduler *s, buffer_users *users, int number) {
  if (!s->net->steps[number].held) return;
  const network_step *leaves = &s->net->steps[number + 1];
  for (int c = 0; c < leaves->call_count; c++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) use(s, users, leaves->calls[c].place[o], number, o == 0);
}

static void find_edges(scheduler *s) {
  buffer_users *users = WF_ARENA_ARRAY(s->arena, (size_t)s->net->buffer_count + 1, buffer_users);
  for (int b = 0; b < s->net->buffer_count; b++) users[b].writer = -1;
  for (int n = 0; n < s->net->step_count; n++) {
    use_operands(s, users, n, false);
    use_operands(s, users, n, true);
    use_behind(s, users, n);
  }
}

static bool is_of_hart(const scheduler *s, int step) { return s->net->steps[step].place == GRAPH_ON_HOST; }

// Steps stand behind those that they need, so ways are known from the end on.
static void find_ways(scheduler *s) {
  for (int n = s->net->step_count - 1; n >= 0; n--) {
    uint64_t end = 0, hart = UINT64_MAX;
    for (const edge *e = s->behind[n]; e != NULL; e = e->next) {
      end = wf_max(end, s->to_end[e->to]);
      hart = wf_min(hart, s->to_hart[e->to]);
    }
    s->to_end[n] = end + s->request->cycles[n];
    s->to_hart[n] = is_of_hart(s, n) ? 0 : hart == UINT64_MAX ? hart : hart + s->request->cycles[n];
  }
}

// ---- choices

// All that a step needs is done, or stands in this slot on its side.
static bool is_ready(const scheduler *s, int step, state side) {
  if (s->states[step] != WAITS) return false;
  for (const edge *e = s->before[step]; e != NULL; e = e->next)
    if (s->states[e->to] != DONE && s->states[e->to] != (uint8_t)side) return false;
  return true;
}

static bool goes_first(const scheduler *s, int a, int b) {
  if (s->request->rule == NETWORK_LONGEST_FIRST && s->to_end[a] != s->to_end[b]) return s->to_end[a] > s->to_end[b];
  if (s->request->rule == NETWORK_NEAREST_FIRST && s->to_hart[a] != s->to_hart[b]) return s->to_hart[a] < s->to_hart[b];
  return a < b;
}

// Steps that may share a slot, on one side and on the other, and any.
typedef enum { BESIDE_ARRAY, BESIDE_HART, OF_ARRAY, OF_HART } kind;

static bool is_kind(const scheduler *s, int step, kind what) {
  const network_step *n = &s->net->steps[step];
  if ((what == OF_HART || what == BESIDE_ARRAY) != is_of_hart(s, step)) return false;
  if (what == OF_HART || what == OF_ARRAY) return true;
  if (s->request->alone != NULL && s->request->alone[step]) return false;
  if (what == BESIDE_ARRAY) return s->calls + n->call_count <= CALLS_MAX;
  return s->net->kernels[n->kernel].loops != NULL;
}

// The step of a kind that goes first; -1: none is ready.
static int choose(const scheduler *s, kind what, state side) {
  int best = -1;
  for (int n = 0; n < s->net->step_count; n++)
    if (is_kind(s, n, what) && is_ready(s, n, side) && (best < 0 || goes_first(s, n, best))) best = n;
  return best;
}

// ---- slots

static void put(scheduler *s, int step, state side) {
  s->calls += s->net->steps[step].call_count;
  s->states[step] = (uint8_t)side;
  s->slots.steps[s->placed++] = step;
  s->slots.counts[s->slots.count]++;
}

static void end_slot(scheduler *s) {
  for (int n = s->placed - s->slots.counts[s->slots.count]; n < s->placed; n++) s->states[s->slots.steps[n]] = DONE;
  s->slots.count++;
  s->calls = 0;
}

static void put_alone(scheduler *s, int step) {
  put(s, step, DONE);
  end_slot(s);
  if (s->net->steps[step].held) put_alone(s, step + 1);
}

// Both sides in turn, the one that is behind next, while it has a step.
static void put_both(scheduler *s, int of_hart) {
  uint64_t hart = s->request->cycles[of_hart], array = 0;
  put(s, of_hart, IN_HART);
  for (;;) {
    const bool behind = array < hart;
    const int step = choose(s, behind ? BESIDE_HART : BESIDE_ARRAY, behind ? IN_ARRAY : IN_HART);
    if (step < 0) break;
    put(s, step, behind ? IN_ARRAY : IN_HART);
    *(behind ? &array : &hart) += s->request->cycles[step];
  }
  end_slot(s);
}

// A step of the hart waits for others of the array while it could have one beside it later.
static void put_next(scheduler *s) {
  const int beside = choose(s, BESIDE_ARRAY, DONE), of_array = choose(s, OF_ARRAY, DONE);
  if (beside >= 0 && choose(s, BESIDE_HART, DONE) >= 0)
    put_both(s, beside);
  else
    put_alone(s, of_array >= 0 ? of_array : choose(s, OF_HART, DONE));
}

network_slots network_find_slots(const network *net, const network_slot_request *request, wf_arena *arena) {
  const size_t steps = (size_t)net->step_count + 1;
  scheduler s = {.net = net,
                 .request = request,
                 .arena = arena,
                 .before = WF_ARENA_ARRAY(arena, steps, edge *),
                 .behind = WF_ARENA_ARRAY(arena, steps, edge *),
                 .to_end = WF_ARENA_ARRAY(arena, steps, uint64_t),
                 .to_hart = WF_ARENA_ARRAY(arena, steps, uint64_t),
                 .states = WF_ARENA_ARRAY(arena, steps, uint8_t),
                 .slots = {.steps = WF_ARENA_ARRAY(arena, steps, int),
                           .counts = WF_ARENA_ARRAY(arena, steps, int),
                           .cycles = request->cycles}};
  find_edges(&s);
  find_ways(&s);
  while (s.placed < net->step_count) put_next(&s);
  return s.slots;
}
