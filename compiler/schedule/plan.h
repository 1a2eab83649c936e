// SPDX-License-Identifier: Apache-2.0
// Plans: what the products of one execution of a product statement are, apart from the places of the instances that it
// works on. Executions that need the same parts of their buffers share one plan.
#ifndef COMPILER_SCHEDULE_PLAN_H
#define COMPILER_SCHEDULE_PLAN_H

#include "compiler/block/layout.h"
#include "compiler/cost/cost.h"
#include "compiler/schedule/region.h"

// Elements that one command handles, along m, n or k.
//
//   list   first            second
//   m      row of result    row of A (transposed: column)
//   n      column of result column of B (transposed: row)
//   k      column of A      row of B (transposed: the other way round)
typedef struct sched_dot_run {
  int64_t first, second;
  int64_t count;
  int64_t step;                        // of `second`
  uint32_t first_local, second_local;  // what they add to the local addresses of the two buffers
} sched_dot_run;

typedef struct sched_dot_runs {
  sched_dot_run *runs;
  size_t count, room;
} sched_dot_runs;

typedef struct sched_plan {
  struct sched_plan *next;
  const int64_t *key;  // what the plan depends on
  size_t key_words;
  sched_dot_runs m, k, n;
  sched_box a, b;  // what the products read of the operands
  uint64_t macs;   // with elements of both tensors, rather than padding
  bool needed;     // there are products
  bool unaligned;  // operands do not start at whole blocks of columns
} sched_plan;

// Blocks of depth; a plan without depth has products with zeros, one block deep.
static inline size_t sched_plan_depth(const sched_plan *plan) { return plan->k.count == 0 ? 1 : plan->k.count; }
static inline size_t sched_plan_products(const sched_plan *plan) {
  return plan->m.count * plan->n.count * sched_plan_depth(plan);
}

// Makes plans and keeps them.
typedef struct sched_planner {
  const block_program *program;
  const block_layout *layouts;   // per buffer
  const sched_regions *regions;  // what is needed and what loads brought, at the time of the call
  const cost_model *cost;
  bool cuts;  // products leave rows of zeros out where that saves time
  int64_t dim;
  wf_arena *arena;
  struct sched_site *sites;  // the plans of each product statement
  sched_dot_runs lists[3];   // room for the lists of the plan that is being made
} sched_planner;

// Whether this execution of a product statement gives its result a first value, rather than adding to it.
bool sched_plan_overwrites(const sched_walk *w, const block_statement *statement);
// A product of blocks is one product per block of columns, each with a plan of its own, and so is one whose weights are
// known (zeros.h); other products have one part.
int64_t sched_plan_parts(const sched_planner *p, const block_statement *statement);
// The plan of one part of a product statement at this place of the walk.
const sched_plan *sched_plan_of(sched_planner *p, const sched_walk *w, const block_statement *statement, int64_t part);
#endif
