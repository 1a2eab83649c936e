// SPDX-License-Identifier: Apache-2.0
// Runs of rows: what one command can move, out of a box of several dimensions. Dimensions that continue each other both
// in local rows and in memory are taken as one.
#include "compiler/schedule/runs.h"

#include "compiler/block/block.h"

typedef struct cutter {
  sched_run_dim dim[BLOCK_RANK_MAX];  // with more than one element, outermost first
  int count;
  int64_t limit, tile;
  sched_run_visitor *visit;
  void *context;
} cutter;

static void push(cutter *r, const sched_run_dim *dim) {
  sched_run_dim *last = r->count == 0 ? NULL : &r->dim[r->count - 1];
  if (dim->count == 1) return;
  if (last == NULL || last->local != dim->count * dim->local || last->memory != dim->count * dim->memory)
    r->dim[r->count++] = *dim;
  else
    *last = (sched_run_dim){.count = last->count * dim->count, .local = dim->local, .memory = dim->memory};
}

// A run, cut into pieces.
static void cut(const cutter *r, int64_t local, int64_t memory, const sched_run_dim *dim) {
  for (int64_t i = 0; i < dim->count;) {
    int64_t rows = dim->count - i;
    if (rows > r->limit) rows = r->limit;
    if (r->tile != 0 && rows > r->tile - (local + i) % r->tile) rows = r->tile - (local + i) % r->tile;
    sched_run piece = {.local = local + i, .memory = memory + i * dim->memory, .rows = rows, .stride = dim->memory};
    r->visit(r->context, &piece);
    i += rows;
  }
}

static void visit_from(const cutter *r, int d, const sched_run_dim *one, int64_t local, int64_t memory) {
  if (d == r->count) {
    cut(r, local, memory, one);
  } else if (d + 1 == r->count && r->dim[d].local == 1) {
    cut(r, local, memory, &r->dim[d]);
  } else {
    for (int64_t i = 0; i < r->dim[d].count; i++)
      visit_from(r, d + 1, one, local + i * r->dim[d].local, memory + i * r->dim[d].memory);
  }
}

void sched_runs_visit(const sched_run_dim *dims, int count, int64_t local, int64_t memory, int64_t limit, int64_t tile,
                      sched_run_visitor *visit, void *context) {
  cutter r = {.limit = limit, .tile = tile, .visit = visit, .context = context};
  // A single row keeps the stride that its neighbours have, so that it needs no configuration of its own.
  const sched_run_dim one = {.count = 1, .local = 1, .memory = count == 0 ? 0 : dims[count - 1].memory};
  for (int d = 0; d < count; d++) push(&r, &dims[d]);
  visit_from(&r, 0, &one, local, memory);
}
