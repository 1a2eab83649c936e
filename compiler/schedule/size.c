// SPDX-License-Identifier: Apache-2.0
// Whether a program can be scheduled at all; see schedule.h. Its loops are multiplied, not run.
//
// Commands are ordered by what they wait for, over all iterations of all loops: the schedule is straight, and loops are
// found in it afterwards (command_roll). A command takes about 48 bytes in the schedule and 107 while loops are found,
// so the bound is about 3 and 7 GB.
#include <inttypes.h>

#include "base/thousands.h"
#include "compiler/schedule/schedule.h"

enum { COMMANDS_MAX = 1 << 26 };

static double blocks(int64_t size, double dim) { return (double)(int64_t)(((double)size + dim - 1) / dim); }

static double rows_of(const block_view *view, int rank) {
  double rows = 1;
  for (int d = 0; d + 1 < rank; d++) rows *= (double)view->dim[d].size;
  return rows;
}

// Two for each product of DIM x DIM.
static double dot_commands(const block_program *p, const block_statement *s, double dim) {
  const block_view *to = &s->dot.target, *a = &s->dot.a;
  const int rank = p->buffers[to->buffer].rank, a_rank = p->buffers[a->buffer].rank;
  const double rows = blocks((int64_t)rows_of(to, rank), dim), columns = blocks(to->dim[rank - 1].size, dim);
  const int64_t depth = a->dim[s->dot.a_transposed ? 0 : a_rank - 1].size;
  return 2 * rows * columns * (s->dot.blocks ? 1 : blocks(depth, dim));
}

// One moves at most four blocks of columns of DIM rows; a store fewer.
static double move_commands(const block_program *p, const block_view *view, double dim) {
  const int rank = p->buffers[view->buffer].rank;
  return blocks((int64_t)rows_of(view, rank), dim) * blocks(view->dim[rank - 1].size, 4 * dim);
}

// At least so many, of one iteration of what is around.
static double commands_of(const block_program *p, const block_statement *list, double dim) {
  double sum = 0;
  for (const block_statement *s = list; s != NULL; s = s->next) {
    if (s->kind == BLOCK_DOT) sum += dot_commands(p, s, dim);
    if (s->kind == BLOCK_LOAD) sum += move_commands(p, &s->load.target, dim);
    if (s->kind == BLOCK_STORE) sum += move_commands(p, &s->store.source, dim);
    if (s->kind != BLOCK_FOR) continue;
    const block_loop *loop = &p->loops[s->loop.loop];
    double trips = (double)loop->trips;
    if (loop->split_of != BLOCK_NONE) trips = (double)loop->limit / (double)p->loops[loop->split_of].trips;
    sum += trips * commands_of(p, s->loop.body, dim);
  }
  return sum;
}

bool sched_check_size(const block_program *program, const hw_array *array, wf_diag *diag) {
  char count[WF_THOUSANDS], most[WF_THOUSANDS];
  const uint64_t memory = (uint64_t)array->memory.capacity_mib << 20;
  double bytes = 0;
  for (int t = 0; t < program->tensor_count; t++)
    bytes += (double)program->tensors[t].elements * (double)block_type_bytes(program->tensors[t].type);
  if (bytes > (double)memory) {
    wf_error(diag, wf_in_file(program->name), "tensors of %.0f bytes do not fit in main memory of %u MiB", bytes,
             array->memory.capacity_mib);
    wf_hint(diag, "raise memory.capacity_mib of the array");
    return false;
  }
  if (program->style == BLOCK_STYLE_LOOP) return true;  // the accelerator has the loops
  const double commands = commands_of(program, program->body, hw_derive(array).dim);
  if (commands <= COMMANDS_MAX) return true;
  wf_error(diag, wf_in_file(program->name), "about %s commands, of which at most %s can be put in order",
           wf_thousands((uint64_t)commands, count), wf_thousands(COMMANDS_MAX, most));
  wf_hint(diag, "--style loop leaves the loops to the accelerator; or compute the product in parts");
  return false;
}
