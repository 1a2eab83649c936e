// SPDX-License-Identifier: Apache-2.0
// Cycles in which the mesh only takes a row.
//
// From a request's first row to its last but one each step of the control queue is taken in the cycle in which its rows
// are there, or as soon as the one before has been, and fed in the next. The wake time is the earliest cycle in which
// the last row can be fed.
//
// enter     with a request whose rows come from the scratchpad (mesh_with_delays.c)
// catch up  before another unit looks at the mesh or the control queue
// leave     an uneven step enters the control queue, a flush comes (execute_controller.c)
#include "sim/cycle/skip/feed.h"

#include <assert.h>

#include "base/number.h"
#include "sim/cycle/execute.h"
#include "sim/cycle/skip/fetch.h"

// Feeds the row in the buffers in cycle `at`, and as many as follow it before `end`, one from each step that is there
// in time; the steps are taken one cycle before their row is fed.
static uint64_t feed(cycle_execute *x, const cycle_execute_control *entry, uint64_t at, uint64_t end) {
  cycle_execute_mesh *m = &x->mesh;
  uint64_t rows = 1;
  bool follows = entry != NULL && entry->ready <= at;
  if (follows) rows = wf_min(wf_min(end - at, entry->steps), m->total - 1U - m->fed);
  assert(m->fed + rows < m->total);
  if (m->fed == 0 && m->data != NULL) cycle_mesh_with_delays_begin(x);
  cycle_execute_rows_enter(m, at, rows);
  m->fed = (uint8_t)(m->fed + rows);
  m->written = follows ? CYCLE_EXECUTE_ALL : 0;
  if (follows) cycle_execute_control_taken(x, (uint32_t)rows);
  return at + rows;
}

bool cycle_feed_enter(cycle_engine *c, uint64_t from) {
  cycle_execute *x = c->execute;
  cycle_execute_mesh *m = &x->mesh;
  bool buffered = m->written == CYCLE_EXECUTE_ALL;
  uint32_t rows = (uint32_t)m->total - m->fed;
  m->sleeps = cycle_skips(c, FEED) && m->sub_mask == 0 && m->busy && !m->flush && x->control_uneven == 0 &&
              (buffered || m->written == 0) && rows > buffered;
  if (!m->sleeps) return false;
  m->at = from;
  c->wake[CYCLE_MESH] = from + rows - buffered;
  return true;
}

void cycle_feed_catch_up(cycle_engine *c, uint64_t now) {
  cycle_execute *x = c->execute;
  cycle_execute_mesh *m = &x->mesh;
  while (m->sleeps && m->at < now) {
    const cycle_execute_control *entry = x->control_count == 0 ? NULL : &x->control[x->control_head];
    if (m->written == CYCLE_EXECUTE_ALL) {
      cycle_spend(c, m->at, CYCLE_MESH, CYCLE_WORKING);
      m->at = feed(x, entry, m->at, now);
      continue;
    }
    cycle_spend(c, m->at, CYCLE_MESH, CYCLE_MESH_OPERANDS);
    if (entry != NULL && entry->ready > m->at) m->at = wf_min(entry->ready, now);
    if (entry == NULL) m->at = now;
    if (m->at == now) return;
    cycle_execute_control_taken(x, 1);
    m->written = CYCLE_EXECUTE_ALL;
    m->at++;
  }
}

void cycle_feed_leave(cycle_engine *c, uint64_t at) {
  cycle_execute_mesh *m = &c->execute->mesh;
  if (!m->sleeps) return;
  cycle_fetch_catch_up(c, at);  // the control queue as the mesh would see it
  cycle_feed_catch_up(c, at);
  m->sleeps = false;
  c->wake[CYCLE_MESH] = at;
}
