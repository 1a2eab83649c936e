// SPDX-License-Identifier: Apache-2.0
// The statements of a placed block program become commands of the streams.
#ifndef COMPILER_SCHEDULE_EXPAND_H
#define COMPILER_SCHEDULE_EXPAND_H

#include "compiler/cost/cost.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/streams.h"

typedef struct sched_expand {
  const block_program *program;
  const hw_array *array;
  wf_diag *diag;
  wf_arena *arena;
  hw_derived derived;
  cost_model cost;
  const block_layout *layouts;  // per buffer
  sched_regions regions;
  sched_planner planner;
  sched_streams streams;
  size_t products;    // that the statements will have, at most
  double work;        // multiply-accumulates of all product statements
  uint64_t macs;      // of them those with elements of both tensors
  int dots_ahead;     // product statements that come next and have their commands already
  bool pack;          // known weights are packed
  bool whole_stores;  // are not cut so that banks of main memory take turns
  // Room for the commands of one load and of one store at a time.
  sched_load *pending_loads;
  size_t pending_load_room;
  sched_store *pending_stores;
  size_t pending_store_room;
} sched_expand;

// The streams of a placed program in single commands. False after the reason was reported; the arena owns them.
bool sched_expand_source(sched_expand *e, const sched_source *source, const sched_options *options, wf_arena *arena,
                         wf_diag *diag);

// The weights that the program brings along, packed; false: none are.
bool sched_expand_packed(const sched_expand *e, wf_arena *arena, command_tensor *packed);

// A walk before the commands: adds what products read of their operands, and counts products. The context is the
// expansion.
sched_walk_visitor sched_expand_dot_needs;

// Add the commands of one execution of a statement; false after the reason was reported.
bool sched_expand_load(sched_expand *e, const sched_walk *w, const block_statement *statement);
bool sched_expand_dot(sched_expand *e, const sched_walk *w, const block_statement *statement);
bool sched_expand_store(sched_expand *e, const sched_walk *w, const block_statement *statement);
bool sched_expand_pooled_store(sched_expand *e, const sched_walk *w, const block_statement *statement);

#endif
