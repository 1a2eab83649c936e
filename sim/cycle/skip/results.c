// SPDX-License-Identifier: Apache-2.0
// Cycles in which only a row of results is written.
//
// A row that goes to a two-ported accumulator, or nowhere, is seen only by units that use the accumulator: they ask for
// it from cycle c->results_at on. Write-back is stepped for the last row of each request and for rows that go to the
// scratchpad, or to a single-ported accumulator.
//
// enter     after each step of write-back
// catch up  with write-back's step
// leave     when a counter counts; a unit that asks for a single row has it shown (cycle_results_show)
#include "sim/cycle/skip/results.h"

#include <assert.h>

#include "base/number.h"
#include "sim/cycle/execute.h"
#include "sim/cycle/execute_writeback.h"
#include "sim/cycle/skip/feed.h"
#include "sim/cycle/skip/fetch.h"

// The rows of the request need no cycle of their own, but for the last.
static bool is_quiet(const cycle_execute *x, const cycle_mesh_request *r) {
  return !r->tag.valid || (r->tag.acc ? x->mesh.sub_mask == 0 || !x->writes_acc : !x->writes_sp);
}

bool cycle_results_quiet(const cycle_engine *c, const cycle_mesh_request *r) {
  return cycle_skips(c, RESULTS) && is_quiet(c->execute, r);
}

bool cycle_results_enter(cycle_engine *c, uint64_t from) {
  const cycle_execute_mesh *m = &c->execute->mesh;
  c->results_at = c->wake[CYCLE_WRITEBACK] = CYCLE_NEVER;
  if (m->count == 0) return false;
  const cycle_mesh_request *r = &m->requests[m->head];
  const bool quiet = cycle_results_quiet(c, r);
  c->results_at = m->run_count != 0 ? m->next_leaves : from - 1 + m->latency;
  c->wake[CYCLE_WRITEBACK] = c->results_at + (quiet ? r->total - 1U - m->left : 0);
  return quiet;
}

void cycle_results_catch_up(cycle_engine *c, uint64_t now) {
  cycle_execute *x = c->execute;
  cycle_execute_mesh *m = &x->mesh;
  while (m->next_leaves < now) {
    const cycle_mesh_request *r = &m->requests[m->head];
    uint64_t rows = wf_min(m->runs[m->run_head].count, now - m->next_leaves);
    assert(m->left + rows < r->total && is_quiet(x, r));
    if (r->tag.valid) cycle_execute_write_past_rows(c, now, r, m->left, m->next_leaves, (uint32_t)rows);
    cycle_execute_rows_leave(m, rows);
  }
}

void cycle_results_leave(cycle_engine *c, uint64_t at) {
  if (c->results_at != CYCLE_NEVER) c->wake[CYCLE_WRITEBACK] = wf_max(c->results_at, at);
}

void cycle_results_show(cycle_engine *c, uint64_t now) {
  cycle_execute_mesh *m = &c->execute->mesh;
  cycle_fetch_catch_up(c, now);
  cycle_feed_catch_up(c, now);
  cycle_results_catch_up(c, now);
  if (m->next_leaves == now) {
    const cycle_mesh_request *r = &m->requests[m->head];
    if (r->tag.valid) cycle_execute_write_row(c, now, r, m->left);
    cycle_execute_rows_leave(m, 1);
  }
  c->results_at = m->run_count != 0 ? m->next_leaves : m->count != 0 ? now + m->latency : CYCLE_NEVER;
}
