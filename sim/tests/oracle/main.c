// SPDX-License-Identifier: Apache-2.0
// The suite's program: generated cases for any engine against the oracle.
//
//   test_oracle [--engine NAME] [--only GROUP] [--dim D] [--seed N] [--count N] [--full] [--commands]
//
// Without --seed every chosen group runs its default plan: the full cross product of sizes for small arrays, a plan in
// which every size of every dimension occurs for large ones, and `count` random cases for the other groups. --full asks
// for the cross product at every size. A failing case prints the command that repeats it. Exit: 0 passed, 1 failed, 2
// usage.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/tests/oracle/groups.h"
#include "sim/tests/oracle/machine.h"

typedef enum {
  PLAN_SIZES,   // all or a covering choice of M, N, K
  PLAN_PAIRS,   // of M, N
  PLAN_RANDOM,  // counted
  PLAN_LISTED,  // numbered by the group
} plan;

typedef struct group {
  const char *name;
  bool (*run)(bench *b);
  plan plan;
  uint32_t revision;   // 0: the seed's choice
  bool not_machine;    // has commands or checks that the oracle machine lacks
  bool needs_machine;  // compares with the oracle machine
  uint64_t count;      // of random cases for dim 8; larger arrays get fewer
  int64_t cross_dim;   // up to this size of array the default plan is the full cross product
  uint64_t (*listed)(void);
} group;

static const group groups[] = {
    {"gemm-ws", group_gemm_ws, PLAN_SIZES, 0, false, false, 0, 16, NULL},
    {"gemm-os", group_gemm_os, PLAN_SIZES, 0, false, false, 0, 16, NULL},
    {"loop-1", group_loop, PLAN_SIZES, 1, true, false, 0, 8, NULL},
    {"loop-2", group_loop, PLAN_SIZES, 2, true, false, 0, 8, NULL},
    {"resadd", group_resadd, PLAN_PAIRS, 2, true, false, 0, 0, NULL},
    {"conv-1", group_conv, PLAN_RANDOM, 1, true, false, 2500, 0, NULL},
    {"conv-2", group_conv, PLAN_RANDOM, 2, true, false, 2500, 0, NULL},
    {"stream", group_stream, PLAN_RANDOM, 0, false, true, 1200, 0, NULL},
    {"move", group_move, PLAN_RANDOM, 0, false, true, 700, 0, NULL},
    {"corner", group_corner, PLAN_LISTED, 0, false, false, 0, 0, group_corner_count},
    {"refuse", group_refuse, PLAN_LISTED, 0, true, false, 0, 0, group_refuse_count},
};
enum { GROUP_COUNT = sizeof groups / sizeof groups[0], MACHINE_CROSS_DIM = 8 };

typedef struct options {
  const char *engine;
  const char *only;
  int64_t dim;  // 0: all
  bool seeded, full, commands;
  uint64_t seed;
  uint64_t count;  // 0: the plan's
} options;

static void run_case(bench *b, const group *g, int64_t dim, uint64_t seed) {
  bench_begin(b, g->name, (uint64_t)(g - groups) + 1, dim, seed, g->revision);
  g->run(b);
}

// A choice of sizes in which each of 1..2*dim stands once in each dimension.
static uint64_t covering_seed(uint64_t span, uint64_t step, uint64_t round) {
  uint64_t n = (step * 5 + 3 + 7 * round) % span;
  uint64_t k = (step * 11 + 1 + 3 * round) % span;
  return step + span * n + span * span * k;
}

static void run_sizes(bench *b, const group *g, int64_t dim, const options *o) {
  uint64_t span = 2 * (uint64_t)dim;
  // The oracle machine is slow on purpose.
  int64_t cross_dim = b->ops == &oracle_machine_ops ? MACHINE_CROSS_DIM : g->cross_dim;
  if (o->full || dim <= cross_dim) {
    for (uint64_t seed = 0; seed < span * span * span; seed++) run_case(b, g, dim, seed);
    return;
  }
  for (uint64_t round = 0; round < 8; round++) {
    for (uint64_t step = 0; step < span; step++) run_case(b, g, dim, covering_seed(span, step, round));
  }
}

static uint64_t random_count(const group *g, int64_t dim, const options *o) {
  if (o->count != 0) return o->count;
  uint64_t count = dim <= 8 ? g->count : g->count * 32 / (uint64_t)(dim * dim);
  return o->full ? 10 * count : count;
}

static void run_plan(bench *b, const group *g, int64_t dim, const options *o) {
  uint64_t pairs = 4 * (uint64_t)(dim * dim);
  switch (g->plan) {
    case PLAN_SIZES:
      run_sizes(b, g, dim, o);
      return;
    case PLAN_PAIRS:
      for (uint64_t seed = 0; seed < pairs; seed++) run_case(b, g, dim, seed);
      return;
    case PLAN_RANDOM:
      for (uint64_t seed = 0; seed < random_count(g, dim, o); seed++) run_case(b, g, dim, seed);
      return;
    case PLAN_LISTED:
      for (uint64_t seed = 0; seed < g->listed(); seed++) run_case(b, g, dim, seed);
  }
}

static void run_group(bench *b, const group *g, const options *o) {
  static const int64_t dims[] = {2, 4, 8, 16, 32};
  uint64_t cases = b->cases, failures = b->failures;
  for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
    if (o->dim != 0 && o->dim != dims[i]) continue;
    if (!o->seeded) {
      run_plan(b, g, dims[i], o);
      continue;
    }
    uint64_t count = o->count == 0 ? 1 : o->count;
    for (uint64_t n = 0; n < count; n++) run_case(b, g, dims[i], o->seed + n);
  }
  printf("%-8s %7llu cases, %llu failed\n", g->name, (unsigned long long)(b->cases - cases),
         (unsigned long long)(b->failures - failures));
  fflush(stdout);
}

static int usage(const char *name) {
  fprintf(stderr,
          "usage: %s [--engine NAME] [--only GROUP] [--dim 2|4|8|16|32] [--seed N] [--count N] [--full] [--commands]\n"
          "groups: selfcheck",
          name);
  for (size_t i = 0; i < GROUP_COUNT; i++) fprintf(stderr, " %s", groups[i].name);
  fprintf(stderr, "\n");
  return 2;
}

static bool parse_number(const char *text, uint64_t *value) {
  char *end = NULL;
  if (text == NULL || *text < '0' || *text > '9') return false;
  *value = strtoull(text, &end, 0);
  return *end == '\0';
}

static bool parse(int argc, char **argv, options *o) {
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    uint64_t dim = 0;
    if (strcmp(argv[i], "--full") == 0) {
      o->full = true;
    } else if (strcmp(argv[i], "--commands") == 0) {
      o->commands = true;
    } else if (strcmp(argv[i], "--engine") == 0 && value != NULL) {
      o->engine = argv[++i];
    } else if (strcmp(argv[i], "--only") == 0 && value != NULL) {
      o->only = argv[++i];
    } else if (strcmp(argv[i], "--seed") == 0 && parse_number(value, &o->seed)) {
      o->seeded = true;
      i++;
    } else if (strcmp(argv[i], "--count") == 0 && parse_number(value, &o->count)) {
      i++;
    } else if (strcmp(argv[i], "--dim") == 0 && parse_number(value, &dim)) {
      o->dim = (int64_t)dim;
      i++;
    } else {
      return false;
    }
  }
  return true;
}

static bool chosen(const group *g, const options *o, bool is_machine) {
  if (o->only != NULL) return strcmp(o->only, g->name) == 0;
  return !(is_machine && (g->not_machine || g->needs_machine));
}

int main(int argc, char **argv) {
  options o = {.engine = "oracle"};
  if (!parse(argc, argv, &o)) return usage(argv[0]);
  bool is_machine = strcmp(o.engine, "oracle") == 0;
  const sim_engine_ops *ops = is_machine ? &oracle_machine_ops : sim_engine_find(o.engine);
  if (ops == NULL) {
    fprintf(stderr, "no engine named %s\n", o.engine);
    return usage(argv[0]);
  }
  int failures = o.only == NULL || strcmp(o.only, "selfcheck") == 0 ? selfcheck() : 0;
  bench b;
  bench_open(&b, ops, argv[0]);
  b.print_commands = o.commands;
  for (size_t i = 0; i < GROUP_COUNT; i++) {
    if (chosen(&groups[i], &o, is_machine)) run_group(&b, &groups[i], &o);
  }
  bool nothing = b.cases == 0 && (o.only == NULL || strcmp(o.only, "selfcheck") != 0);
  bool failed = failures != 0 || b.failures != 0;
  bench_close(&b);
  if (nothing) return usage(argv[0]);
  return failed ? 1 : 0;
}
