// SPDX-License-Identifier: Apache-2.0
// The mesh with what is around it: row buffers, the rows on their way through it, and the queues that tell which
// product a result row belongs to. The arithmetic stands in mesh.c.
//
// A request announces a product of `total` rows; its rows of A, B and D follow, the first together with the request. A
// row is fed when all three operands of it are in the buffers; a flush feeds dim rows of zeros. A row fed in cycle t
// leaves in t + latency, never held up. The tag of request n is handed out with the rows of request n + 1 when n is
// weight-stationary and with those of n + 2 when it is output-stationary; flushes carry tags but have none.
//
// In a cycle: what is in the buffers is fed; then the head of the control queue is taken if its rows are there, its
// buffers are free and, with the first row of an operation, a request is possible; without an entry a flush is.
// Invariant: at most tags_limit tags are outstanding.
#include "sim/cycle/mesh_with_delays.h"

#include <assert.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/operand_select.h"
#include "sim/cycle/port.h"
#include "sim/cycle/skip/feed.h"
#include "sim/cycle/skip/fetch.h"
#include "sim/cycle/skip/lag.h"

enum { MESH_OPERANDS_WAIT = CYCLE_MESH_OPERANDS, MESH_PRODUCTS_WAIT, MESH_FLUSHES, MESH_DRAINS };
const char *const cycle_mesh_causes[CYCLE_CAUSES] = {[CYCLE_IDLE] = "idle",
                                                     [CYCLE_WORKING] = "working",
                                                     [MESH_OPERANDS_WAIT] = "operands",
                                                     [MESH_PRODUCTS_WAIT] = "products in flight",
                                                     [MESH_FLUSHES] = "flush",
                                                     [MESH_DRAINS] = "results on their way"};

// ---- life

static uint32_t power_of_two(uint32_t least) {
  uint32_t slots = 1;
  while (slots < least) slots *= 2;
  return slots;
}

void cycle_mesh_with_delays_create(cycle_engine *c, cycle_execute_mesh *m) {
  uint32_t step = c->array->mesh.tile_latency + 1;
  *m = (cycle_execute_mesh){.total = (uint8_t)c->d.dim, .next_leaves = CYCLE_NEVER, .tags_limit = c->d.max_matmuls + 1};
  m->latency = (uint64_t)(c->array->mesh.rows + c->array->mesh.columns - 1) * step + c->array->mesh.output_delay;
  m->sub_mask = c->array->accumulator.sub_banks - 1;
  m->limit = m->tags_limit + (uint32_t)m->latency / c->d.dim + 3;
  // Write-back may not have looked at any of the rows yet: each may be a run of its own.
  uint32_t slots = power_of_two(m->limit), runs = power_of_two(m->limit * c->d.dim + 1);
  m->requests = WF_NEW_ARRAY(slots, cycle_mesh_request);
  m->mask = slots - 1;
  m->runs = WF_NEW_ARRAY(runs, cycle_mesh_run);
  m->run_mask = runs - 1;
}

void cycle_mesh_with_delays_destroy(cycle_execute_mesh *m) {
  wf_free(m->requests);
  wf_free(m->runs);
}

// ---- requests

// Registers of the start of the cycle: what left in this cycle still counts.
static bool room_for_request(const cycle_execute_mesh *m, uint64_t now) {
  bool left = m->left_at == now + 1;
  return m->tags + (left && m->left_held) != m->tags_limit && m->count + left != m->limit;
}

// Between the first and the last row of its results.
static uint64_t acc_banks_of(const cycle_engine *c, const cycle_execute *x, const cycle_mesh_request *r) {
  if (!r->tag.valid || !r->tag.acc || !x->writes_acc) return 0;
  const uint64_t last = r->tag.base + (r->total - UINT64_C(1)) * x->c_stride;
  if (last > x->acc_mask) return UINT64_MAX;
  const unsigned low = r->tag.base >> c->acc_bank_shift, high = (unsigned)last >> c->acc_bank_shift;
  return (UINT64_MAX >> (63 - (high - low))) << low;
}

uint64_t cycle_execute_acc_banks(const cycle_engine *c) {
  const cycle_execute *x = c->execute;
  const cycle_execute_mesh *m = &x->mesh;
  uint64_t banks = 0;
  for (uint32_t n = 0; n < m->count; n++) banks |= acc_banks_of(c, x, &m->requests[(m->head + n) & m->mask]);
  return banks;
}

// The request of this cycle; `op` is NULL for a flush.
static void take_request(cycle_engine *c, uint64_t now, cycle_execute *x, const cycle_execute_operation *op,
                         uint8_t slot) {
  cycle_execute_mesh *m = &x->mesh;
  bool ws_before = m->before && !m->before_os;
  m->feeding = (m->head + m->count++) & m->mask;
  m->requests[m->feeding] = (cycle_mesh_request){.tag = ws_before ? m->before_tag : m->older_tag,
                                                 .holds = ws_before || m->older,
                                                 .total = op == NULL ? (uint8_t)x->dim : op->total,
                                                 .result = CYCLE_MESH_NO_RESULT};
  m->requests[m->feeding].tag.valid &= m->requests[m->feeding].holds;
  // Only after a change of dataflow are both there; the older names no product then.
  m->tags += (op != NULL) - (uint32_t)(ws_before && m->older);
  m->older = m->before && m->before_os;
  m->older_tag = m->before_tag;
  m->before = op != NULL;
  m->before_os = op == NULL ? x->os : op->os;
  if (op != NULL) m->before_tag = op->tag;
  m->busy = true;
  m->flush = op == NULL;
  m->fed = 0;
  m->total = m->requests[m->feeding].total;
  m->op = slot;
  // The first request in an empty mesh wakes write-back, which then knows better.
  if (m->count == 1) c->wake[CYCLE_WRITEBACK] = c->results_at = now + 1 + m->latency;
  m->os = m->before_os;
  m->propagate = op == NULL ? x->flush_swaps : op->swaps;
  m->shift = op == NULL ? x->shift : op->shift;
  m->via = op == NULL ? x->via : op->via;
  if (c->port.acc_banks != 0 && (acc_banks_of(c, x, &m->requests[m->feeding]) & c->port.acc_banks) != 0)
    cycle_lag_share(c, now);
}

// ---- rows that are fed

static uint8_t rows_in_tile(const cycle_execute *x, const cycle_execute_operation *op, unsigned o) {
  if ((op->read >> o & 1) == 0 || op->cols[o] == 0) return 0;
  uint8_t most = o == CYCLE_MESH_D ? (uint8_t)x->dim : op->total;
  return op->rows[o] < most ? op->rows[o] : most;
}

void cycle_mesh_with_delays_begin(cycle_execute *x) {
  cycle_execute_mesh *m = &x->mesh;
  cycle_mesh_request *r = &m->requests[m->feeding];
  bool wanted = r->tag.valid;
  cycle_mesh_feed feed = {.os = m->os, .swap = m->propagate, .shift = m->shift, .via = m->via, .total = m->total};
  if (wanted) feed.wanted = r->tag.rows < m->total ? r->tag.rows : m->total;
  if (!m->flush) {
    cycle_execute_operation *op = &x->ops[m->op];
    for (unsigned o = 0; o < CYCLE_EXECUTE_OPERANDS; o++) feed.rows[o] = rows_in_tile(x, op, o);
    feed.tile = op->tile;
  }
  r->result = cycle_mesh_data_begin(m->data, &feed);
}

// row_spacing: with a single-ported accumulator a result that is added takes two accesses to its sub-bank, and must not
// be followed by another row to the same one. The row that would push that out is held for a cycle. False: it goes
// elsewhere.
static bool visits_sub_bank(const cycle_execute *x, uint32_t *sub) {
  const cycle_execute_mesh *m = &x->mesh;
  const cycle_mesh_request *r = &m->requests[m->feeding];
  uint32_t last = m->total - 1U, index = x->os ? last - m->fed : m->fed, offset = m->fed * x->c_stride;
  *sub = (r->tag.base + (x->os ? last - offset : offset)) & m->sub_mask;
  return r->tag.valid && r->tag.acc && index < r->tag.rows;
}

static bool row_held(const cycle_execute *x, uint64_t now) {
  const cycle_execute_mesh *m = &x->mesh;
  uint32_t sub;
  if (m->visited_at != now || !visits_sub_bank(x, &sub) || sub != m->visited_sub) return false;
  return m->requests[m->feeding].tag.accumulate || m->visited_adds;
}

static void note_visit(cycle_execute_mesh *m, const cycle_execute *x, uint64_t now) {
  if (!visits_sub_bank(x, &m->visited_sub)) return;
  m->visited_at = now + 1;
  m->visited_adds = m->requests[m->feeding].tag.accumulate;
}

static void feed_row(cycle_engine *c, uint64_t now, cycle_execute *x, bool last) {
  cycle_execute_mesh *m = &x->mesh;
  cycle_execute_rows_enter(m, now, 1);
  if (m->fed == 0 && c->data) cycle_mesh_with_delays_begin(x);
  if (m->sub_mask != 0) note_visit(m, x, now);
  m->fed++;
  m->written = 0;
  if (!last) return;
  if (c->data) cycle_mesh_data_end(m->data);
  m->busy = false;
  if (!m->flush) x->ops_open--;
}

// ---- the cycle

// `free` are the operand buffers that have room.
static void count_waits(cycle_engine *c, const cycle_execute_operation *op, const cycle_execute_control *entry,
                        unsigned waits, bool taken) {
  unsigned garbage = taken ? entry->fire & (unsigned)~op->read : 0;
  c->ev.bits |= (uint64_t)(waits & ~op->acc & 7U) << ISA_EVENT_SPAD_WAIT_A |
                (uint64_t)(waits & op->acc) << ISA_EVENT_ACC_WAIT_A | (uint64_t)garbage << ISA_EVENT_GARBAGE_A;
}

// Takes the head of the control queue if it can be taken. `free` are the operand buffers that have room.
static bool take_entry(cycle_engine *c, uint64_t now, cycle_execute *x, unsigned free, unsigned *cause) {
  cycle_execute_mesh *m = &x->mesh;
  const cycle_execute_control *entry = &x->control[x->control_head];
  unsigned missing = entry->ready <= now && entry->from_acc == 0 ? 0 : cycle_operand_select_missing(c, now, x);
  bool takes = missing == 0 && (entry->fire & ~free) == 0 && (!entry->first || m->ready);
  if (c->counting) count_waits(c, &x->ops[entry->op], entry, missing & free, takes);
  *cause = missing == 0 && !takes ? MESH_PRODUCTS_WAIT : MESH_OPERANDS_WAIT;
  if (!takes) return false;
  if (entry->from_acc != 0) cycle_operand_select_take(c, now, x);
  if (entry->first) take_request(c, now, x, &x->ops[entry->op], entry->op);
  m->written |= entry->fire;
  cycle_execute_control_taken(x, 1);
  return true;
}

static bool flushes(const cycle_execute *x) {
  return x->state == CYCLE_EXECUTE_FLUSH || x->state == CYCLE_EXECUTE_FLUSHING;
}

static unsigned cause_without_row(const cycle_execute_mesh *m) {
  return m->busy ? MESH_OPERANDS_WAIT : m->run_count != 0 ? MESH_DRAINS : CYCLE_IDLE;
}

// The head of the control queue is there and cannot be taken: fetch may go on only while the queue has room.
static void held_up(cycle_engine *c, uint64_t now, cycle_execute *x) {
  assert(x->control_count <= x->control_depth);
  if (x->control[x->control_head].ready <= now) cycle_fetch_leave(c, now + x->control_depth - x->control_count);
}

// The earliest cycle in which the head of the control queue can be taken.
static uint64_t next_entry(const cycle_execute *x, uint64_t now) {
  uint64_t ready = x->control[x->control_head].ready;
  return ready > now ? ready : now + 1;
}

// One cycle; whether the control queue's head or a flush was taken. Without a flush and without rows to come there is
// one cycle more, in which the mesh notes that it only waits for its results.
static bool whole_step(cycle_engine *c, uint64_t now, cycle_execute *x) {
  cycle_execute_mesh *m = &x->mesh;
  bool entry = x->control_count != 0, taken = false, flush = m->flush;
  bool feeds = m->busy && (m->flush || m->written == CYCLE_EXECUTE_ALL) && !row_held(x, now);
  bool last = feeds && m->fed + 1 == m->total;
  unsigned free = feeds ? CYCLE_EXECUTE_ALL : CYCLE_EXECUTE_ALL & ~m->written, cause = cause_without_row(m);
  m->ready = (!m->busy || last) && room_for_request(m, now);
  if (feeds) feed_row(c, now, x, last);
  if (entry) {
    taken = take_entry(c, now, x, free, &cause);
    if (!taken) held_up(c, now, x);
  } else if (x->state == CYCLE_EXECUTE_FLUSH && m->ready) {
    m->flush_taken = taken = true;
    take_request(c, now, x, NULL, 0);
  }
  if (feeds) cause = flush ? MESH_FLUSHES : CYCLE_WORKING;
  cycle_spend(c, now, CYCLE_MESH, cause);
  bool goes_on = m->busy || feeds || flushes(x);
  c->wake[CYCLE_MESH] = goes_on ? now + 1 : x->control_count != 0 ? next_entry(x, now) : CYCLE_NEVER;
  return taken;
}

// Returns whether an operand was taken from the store path, or a flush: what other units see of the mesh.
bool cycle_mesh_step(cycle_engine *c, uint64_t now) {
  cycle_execute *x = c->execute;
  cycle_fetch_catch_up(c, now);
  cycle_feed_catch_up(c, now);
  if (cycle_feed_enter(c, now)) return false;
  bool taken = whole_step(c, now, x);
  cycle_feed_enter(c, now + 1);
  return taken && (c->w.operand_taken || x->mesh.flush_taken);
}
