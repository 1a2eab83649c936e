// SPDX-License-Identifier: Apache-2.0
// Streams of the execute unit: cycles in which a unit only moves a row are left out, and carried out together before
// another unit looks. See execute.h.
//
// Fetch. From the second step of a plain operation to the last, or while the same operands have rows, a step fires in
// every cycle, unless a write takes the port of a bank that is read (cycle_execute_disturbed) or the control queue
// fills up because the mesh is held up (cycle_execute_stream_end); fetch is then stepped in that cycle. The scratchpad
// banks that it asks for stand in c->execute_banks until c->execute_until. The last step waits for completions: it
// belongs to the stream only if none is pending. Its operation then ends in the next cycle's step, before that does
// anything else.
//
// Mesh. From the request's first row to its last but one: each step of the control queue is taken in the cycle in which
// its rows are there, or as soon as the one before has been, and fed in the next. The wake time is the earliest cycle
// in which the last row can be fed.
//
// Write-back. A row that goes to a two-ported accumulator, or nowhere, is seen only by units that use the accumulator:
// they ask for it (cycle_writeback_catch_up) from cycle c->results_at on. Write-back is stepped for the
// last row of each request and for rows that go to the scratchpad, or to a single-ported accumulator.
#include "sim/cycle/execute_stream.h"

#include <assert.h>

#include "base/number.h"
#include "sim/cycle/execute_writeback.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/operand_fetch.h"

// ---- fetch

static void fetch(cycle_engine *c, uint64_t now, cycle_execute *x) {
  cycle_execute_operation *op = &x->ops[x->op_slot];
  uint32_t steps = (uint32_t)(now - x->fetch_at);
  assert(now <= x->stream_until && x->row + steps <= op->total);
  if (c->data) cycle_operand_fetch_copy(c, x, op, op->control.waits, steps);
  cycle_operand_fetch_append(c, x, op, x->fetch_at, steps);
  x->fetch_at = now;
}

bool cycle_execute_stream_fetch_from(cycle_engine *c, uint64_t now, cycle_execute *x, uint64_t from) {
  const cycle_execute_operation *op = &x->ops[x->op_slot];
  // In a bank that is being loaded, loaded rows may not be left out.
  cycle_local_shared(c, now, op->all_banks);
  uint32_t end = op->run_end < op->total ? op->run_end : op->total - 1U;
  x->streams = cycle_skips(c, FETCH) && op->plain && x->ahead == 0 && x->row != 0 && x->row < end &&
               op->all_banks == c->execute_banks;  // which are those of this cycle, too
  if (!x->streams) return false;
  x->fetch_at = from;
  c->execute_until = x->stream_until = from + end - x->row;
  return true;
}

void cycle_execute_stream_end(cycle_engine *c, cycle_execute *x, uint64_t cycle) {
  if (!x->streams || cycle >= x->stream_until) return;
  c->execute_until = x->stream_until = cycle;
  c->wake[CYCLE_EXECUTE] = wf_min(c->wake[CYCLE_EXECUTE], cycle);
}

void cycle_execute_disturbed(cycle_engine *c, uint64_t now) { cycle_execute_stream_end(c, c->execute, now); }

// ---- mesh

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

static void mesh_to(cycle_engine *c, cycle_execute *x, uint64_t end) {
  cycle_execute_mesh *m = &x->mesh;
  while (m->at < end) {
    const cycle_execute_control *entry = x->control_count == 0 ? NULL : &x->control[x->control_head];
    if (m->written == CYCLE_EXECUTE_ALL) {
      cycle_spend(c, m->at, CYCLE_MESH, CYCLE_WORKING);
      m->at = feed(x, entry, m->at, end);
      continue;
    }
    cycle_spend(c, m->at, CYCLE_MESH, CYCLE_MESH_OPERANDS);
    if (entry != NULL && entry->ready > m->at) m->at = wf_min(entry->ready, end);
    if (entry == NULL) m->at = end;
    if (m->at == end) return;
    cycle_execute_control_taken(x, 1);
    m->written = CYCLE_EXECUTE_ALL;
    m->at++;
  }
}

bool cycle_execute_stream_mesh_from(cycle_engine *c, cycle_execute *x, uint64_t from) {
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

void cycle_execute_stream_mesh(cycle_engine *c, uint64_t now, cycle_execute *x) {
  if (x->mesh.sleeps) mesh_to(c, x, now + 1);
}

void cycle_execute_stream_to_now(cycle_engine *c, uint64_t now, cycle_execute *x) {
  if (x->streams && x->fetch_at < now) fetch(c, now, x);
  if (x->mesh.sleeps) mesh_to(c, x, now);
}

// ---- write-back

bool cycle_execute_stream_is_quiet(const cycle_execute *x, const cycle_mesh_request *r) {
  return !r->tag.valid || (r->tag.acc ? x->mesh.sub_mask == 0 || !x->writes_acc : !x->writes_sp);
}

void cycle_execute_stream_results(cycle_engine *c, uint64_t now, cycle_execute *x) {
  cycle_execute_mesh *m = &x->mesh;
  while (m->next_leaves < now) {
    const cycle_mesh_request *r = &m->requests[m->head];
    uint64_t rows = wf_min(m->runs[m->run_head].count, now - m->next_leaves);
    assert(m->left + rows < r->total && cycle_execute_stream_is_quiet(x, r));
    if (r->tag.valid) cycle_execute_write_past_rows(c, now, r, m->left, m->next_leaves, (uint32_t)rows);
    cycle_execute_rows_leave(m, rows);
  }
}

void cycle_execute_stream_results_sleep(cycle_engine *c, uint64_t now, cycle_execute *x) {
  const cycle_execute_mesh *m = &x->mesh;
  c->results_at = c->wake[CYCLE_WRITEBACK] = CYCLE_NEVER;
  if (m->count == 0) return;
  const cycle_mesh_request *r = &m->requests[m->head];
  c->results_at = m->run_count != 0 ? m->next_leaves : now + m->latency;
  c->wake[CYCLE_WRITEBACK] =
      c->results_at + (!cycle_skips(c, RESULTS) || !cycle_execute_stream_is_quiet(x, r) ? 0 : r->total - 1U - m->left);
}

void cycle_writeback_catch_up(cycle_engine *c, uint64_t now) {
  cycle_execute *x = c->execute;
  cycle_execute_mesh *m = &x->mesh;
  cycle_execute_stream_to_now(c, now, x);
  cycle_execute_stream_results(c, now, x);
  if (m->next_leaves == now) {
    const cycle_mesh_request *r = &m->requests[m->head];
    if (r->tag.valid) cycle_execute_write_row(c, now, r, m->left);
    cycle_execute_rows_leave(m, 1);
  }
  c->results_at = m->run_count != 0 ? m->next_leaves : m->count != 0 ? now + m->latency : CYCLE_NEVER;
}
