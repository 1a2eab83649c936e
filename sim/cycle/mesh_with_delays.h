// SPDX-License-Identifier: Apache-2.0
// The mesh with its row buffers and the queues of its requests. See mesh_with_delays.c.
#ifndef SIM_CYCLE_MESH_WITH_DELAYS_H
#define SIM_CYCLE_MESH_WITH_DELAYS_H

#include <assert.h>

#include "sim/cycle/engine.h"
#include "sim/cycle/execute_operation.h"
#include "sim/cycle/mesh.h"

struct cycle_execute;

enum { CYCLE_MESH_OPERANDS = CYCLE_WORKING + 1 };  // a cause of the mesh's account
extern const char *const cycle_mesh_causes[CYCLE_CAUSES];

// A request whose rows are in the mesh, or will be.
typedef struct cycle_mesh_request {
  cycle_execute_tag tag;
  bool holds;  // a tag, whether it names a product or not; without one `tag` is not valid
  uint8_t total;
  uint8_t result;  // slot of its result rows, CYCLE_MESH_NO_RESULT: they have no destination
} cycle_mesh_request;

// Rows that were fed in consecutive cycles; the first of them leaves at `first`.
typedef struct cycle_mesh_run {
  uint64_t first;
  uint64_t count;
} cycle_mesh_run;

typedef struct cycle_execute_mesh {
  // the request that is being fed
  bool busy, flush, propagate, os;
  bool sleeps;
  uint64_t at;
  uint8_t shift, via, total, fed, written, op;
  uint32_t feeding;  // its slot among the requests
  // a request is possible in this cycle (not kept up to date while rows stream); a flush was taken
  bool ready, flush_taken;
  // tags
  bool before, before_os, older;
  cycle_execute_tag before_tag, older_tag;
  uint32_t tags, tags_limit;
  // requests in the mesh
  cycle_mesh_request *requests;
  uint32_t head, count, mask, limit;
  uint32_t left;     // rows of the first that have left
  uint64_t left_at;  // cycle of the last pop + 1
  bool left_held;    // and whether it held a tag
  // row_spacing: the last row whose result goes to the accumulator, if it was fed in the cycle before
  uint32_t sub_mask;  // sub-banks - 1
  uint32_t visited_sub;
  uint64_t visited_at;  // its cycle + 1
  bool visited_adds;
  // rows in the mesh
  uint64_t latency;
  cycle_mesh_run *runs;
  uint32_t run_head, run_count, run_mask;
  uint64_t next_leaves;   // of the first run; CYCLE_NEVER: no row is in the mesh
  cycle_mesh_data *data;  // NULL in timing-only mode
} cycle_execute_mesh;

void cycle_mesh_with_delays_create(cycle_engine *c, cycle_execute_mesh *m);
void cycle_mesh_with_delays_destroy(cycle_execute_mesh *m);
// Takes the head of the control queue when its rows are there. True: the store path's operand, or a flush, was taken.
bool cycle_mesh_step(cycle_engine *c, uint64_t now);
// The first row of a request enters: its arithmetic begins.
void cycle_mesh_with_delays_begin(struct cycle_execute *x);
// Banks of the accumulator that rows in the mesh go to.
uint64_t cycle_execute_acc_banks(const cycle_engine *c);

// Rows are fed in `cycle` and those after it.
static inline void cycle_execute_rows_enter(cycle_execute_mesh *m, uint64_t cycle, uint64_t rows) {
  uint64_t leaves = cycle + m->latency;
  cycle_mesh_run *last = &m->runs[(m->run_head + m->run_count - 1) & m->run_mask];
  if (m->run_count != 0 && last->first + last->count == leaves) {
    last->count += rows;
    return;
  }
  assert(m->run_count <= m->run_mask);
  if (m->run_count == 0) m->next_leaves = leaves;
  m->runs[(m->run_head + m->run_count++) & m->run_mask] = (cycle_mesh_run){.first = leaves, .count = rows};
}

// Rows of the first request leave, not its last one.
static inline void cycle_execute_rows_leave(cycle_execute_mesh *m, uint64_t rows) {
  cycle_mesh_run *first = &m->runs[m->run_head];
  m->left += (uint32_t)rows;
  first->first += rows;
  first->count -= rows;
  m->next_leaves = first->first;
  if (first->count != 0) return;
  m->run_head = (m->run_head + 1) & m->run_mask;
  m->next_leaves = --m->run_count == 0 ? CYCLE_NEVER : m->runs[m->run_head].first;
}

// The last row of the first request leaves, and the request with it.
static inline void cycle_execute_request_leaves(cycle_execute_mesh *m, uint64_t now) {
  const cycle_mesh_request *r = &m->requests[m->head];
  cycle_execute_rows_leave(m, 1);
  m->left = 0;
  m->left_at = now + 1;
  m->left_held = r->holds;
  m->tags -= r->holds;
  m->head = (m->head + 1) & m->mask;
  m->count--;
}

#endif
