// SPDX-License-Identifier: Apache-2.0
// Tokens for a program whose commands come in program order.
//
// A command has to follow, of each other unit, the latest command that uses its rows in a way that conflicts: the rows
// that the reservation station would compare, so the order is that of a station or a stricter one. It pops a token that
// this command pushes, if it does not know yet that the command is done. What it knows is a clock: of each unit the
// number of commands that are certainly done, from its own unit's last command and from each token that it pops. As a
// pushed token says that all older commands of its unit are done, a clock needs no more than these numbers; and as each
// pop names its push when it is made, the n-th pop of a counter takes the token of the n-th push.
//
// A counter holds so many tokens. Where one more would wait than it holds, the token pushed last is pushed later
// instead: its taker waits for this command too, and the newcomer behind it knows.
#include "sim/tokens/give.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/number.h"
#include "sim/cycle/command_rows.h"

// Of each unit, how many commands are done.
typedef struct clock {
  uint32_t of[ARCH_UNITS];
} clock;

// A command of the program.
typedef struct given {
  arch_tokens tokens;
} given;

// A command of a unit: its number in the program, and what is known when it starts.
typedef struct started {
  uint64_t number;
  clock clock;
} started;

// A token: the command of the giver that pushes it (from 1) and the number in the program of the one that pops it.
typedef struct token {
  uint32_t pusher;
  uint64_t popper;
} token;

typedef struct list {
  token *tokens;
  size_t count, room;
} list;

typedef struct unit {
  started *commands;
  uint32_t count;
  size_t room;
  clock clock;
  uint32_t *writes, *reads;  // by row: the last command of this unit, from 1, that used it so
} unit;

struct tokens_giver {
  const hw_array *array;
  hw_derived derived;
  cycle_row_config config;
  unit units[ARCH_UNITS];
  list lists[ARCH_UNITS][ARCH_UNITS];  // by giver and taker, since the last fence
  given *all;
  uint64_t count;
  size_t room;
  tokens_more more;
  void *context;
};

// ---- life

tokens_giver *tokens_giver_create(const hw_array *array) {
  tokens_giver *g = WF_NEW(tokens_giver);
  g->array = array;
  g->derived = hw_derive(array);
  const size_t rows = (size_t)2 << g->derived.row_bits;
  for (unsigned u = 0; u < ARCH_UNITS; u++) {
    g->units[u].writes = WF_NEW_ARRAY(rows, uint32_t);
    g->units[u].reads = WF_NEW_ARRAY(rows, uint32_t);
  }
  return g;
}

void tokens_giver_destroy(tokens_giver *g) {
  if (g == NULL) return;
  for (unsigned u = 0; u < ARCH_UNITS; u++) {
    wf_free(g->units[u].commands);
    wf_free(g->units[u].writes);
    wf_free(g->units[u].reads);
    for (unsigned v = 0; v < ARCH_UNITS; v++) wf_free(g->lists[u][v].tokens);
  }
  wf_free(g->all);
  wf_free(g);
}

void tokens_giver_add(tokens_giver *g, tokens_more more, void *context) {
  g->more = more;
  g->context = context;
}

// ---- rows

static uint32_t latest(const uint32_t *used, cycle_row_range rows) {
  uint32_t last = 0;
  for (uint32_t row = rows.first; row < rows.end; row++) last = wf_max(last, used[row]);
  return last;
}

// The latest command of a unit that has to be done before one with these rows.
static uint32_t conflict(const unit *u, const cycle_rows *rows) {
  uint32_t last = wf_max(latest(u->writes, rows->a), latest(u->writes, rows->b));
  return rows->a_writes ? wf_max(last, latest(u->reads, rows->a)) : last;
}

static void use(uint32_t *used, cycle_row_range rows, uint32_t command) {
  for (uint32_t row = rows.first; row < rows.end; row++) used[row] = command;
}

// ---- tokens

static void join(clock *to, const clock *from) {
  for (unsigned u = 0; u < ARCH_UNITS; u++) to->of[u] = wf_max(to->of[u], from->of[u]);
}

static started *command_of(unit *u, uint32_t number) { return &u->commands[number - 1]; }

// What a token of this command tells.
static clock told(tokens_giver *g, unsigned from, uint32_t pusher) {
  clock all = command_of(&g->units[from], pusher)->clock;
  all.of[from] = pusher;
  return all;
}

static given *given_of(tokens_giver *g, unsigned u, uint32_t number) {
  return &g->all[command_of(&g->units[u], number)->number];
}

// Whether as many tokens as the counter holds wait when this command is done.
static bool is_full(tokens_giver *g, unsigned from, const list *l, uint32_t pusher) {
  const uint32_t most = arch_tokens_max(g->array);
  return l->count >= most && l->tokens[l->count - most].popper > command_of(&g->units[from], pusher)->number;
}

static void append(list *l, token t) {
  if (l->count == l->room) {
    l->room = l->room == 0 ? 64 : 2 * l->room;
    l->tokens = wf_realloc(l->tokens, l->room, sizeof *l->tokens);
  }
  l->tokens[l->count++] = t;
}

static void push_and_pop(tokens_giver *g, unsigned from, unsigned to, uint32_t pusher) {
  list *l = &g->lists[from][to];
  if (is_full(g, from, l, pusher)) {
    given_of(g, from, l->tokens[l->count - 1].pusher)->tokens.pushes &= (uint8_t) ~(1u << to);
    l->tokens[l->count - 1].pusher = pusher;
  } else {
    append(l, (token){.pusher = pusher, .popper = g->count});
    g->all[g->count].tokens.pops |= (uint8_t)(1u << from);
  }
  given_of(g, from, pusher)->tokens.pushes |= (uint8_t)(1u << to);
  const clock more = told(g, from, pusher);
  join(&g->units[to].clock, &more);
}

static void follow(tokens_giver *g, unsigned to, const cycle_rows *rows) {
  for (unsigned from = 0; from < ARCH_UNITS; from++) {
    const unit *u = &g->units[from];
    if (from == to) continue;
    const uint32_t known = g->units[to].clock.of[from];
    uint32_t last = conflict(u, rows);
    if (g->more != NULL && known < u->count && last <= known) last = (uint32_t)g->more(g->context, known, u->count);
    if (last > g->units[to].clock.of[from]) push_and_pop(g, from, to, last);
  }
}

// ---- commands

static void begin(tokens_giver *g, unsigned of) {
  unit *u = &g->units[of];
  if (u->count == u->room) {
    u->room = u->room == 0 ? 1024 : 2 * u->room;
    u->commands = wf_realloc(u->commands, u->room, sizeof *u->commands);
  }
  u->commands[u->count++] = (started){.number = g->count, .clock = u->clock};
}

static void move(tokens_giver *g, unsigned of, const isa_insn *insn, uint64_t rs1, uint64_t rs2) {
  const cycle_rows rows =
      cycle_command_rows(&g->derived, g->array->units.pixel_repeat, &g->config, insn->id, rs1, rs2 & ~insn->tokens);
  follow(g, of, &rows);
  begin(g, of);
  unit *u = &g->units[of];
  use(rows.a_writes ? u->writes : u->reads, rows.a, u->count);
  use(u->reads, rows.b, u->count);
}

uint64_t tokens_giver_command(tokens_giver *g, const isa_insn *insn, uint64_t rs1, uint64_t rs2) {
  if (g->count == g->room) {
    g->room = g->room == 0 ? 1024 : 2 * g->room;
    g->all = wf_realloc(g->all, g->room, sizeof *g->all);
  }
  g->all[g->count] = (given){{0}};
  if (insn->tokens != 0)
    move(g, arch_unit_of(insn), insn, rs1, rs2);
  else if (isa_configures(insn->funct))
    cycle_command_rows_configure(&g->config, g->array->units.max_pool, insn->id, rs1, rs2);
  return g->count++;
}

void tokens_giver_fence(tokens_giver *g) {
  for (unsigned u = 0; u < ARCH_UNITS; u++)
    for (unsigned v = 0; v < ARCH_UNITS; v++) {
      g->units[u].clock.of[v] = g->units[v].count;
      g->lists[u][v].count = 0;
    }
}

arch_tokens tokens_giver_of(const tokens_giver *g, uint64_t number) {
  assert(number < g->count);
  return g->all[number].tokens;
}
