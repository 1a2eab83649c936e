// SPDX-License-Identifier: Apache-2.0
// See walk.h. Operands A, B and D are 0, 1 and 2; D is walked last row first.
//
//   fires     an operand of a row, when no other is at an earlier row, and no earlier one of this row is in its bank,
//   live
//             or not (ONE_BANK); live: its bank is not written (BANK), and of the accumulator not added to
//   entry     what fires in a cycle; of those that the mesh has not taken there are at most read_delay + 1 (CONTROL)
//   taken     one in a cycle, in order, when its rows are there: those of the accumulator come through the store path
#include "sim/flow/walk.h"

enum { A, B, D, OPERANDS, ALL = 7 };

static uint32_t bank_at(const flow_engine *e, const flow_walked *w, uint32_t row) {
  const uint32_t address = (w->first + w->step * row) & ((UINT32_C(1) << e->d.row_bits) - 1);
  return w->acc ? (address & (e->d.acc_rows - 1)) >> e->acc_shift : (address & (e->d.sp_rows - 1)) >> e->sp_shift;
}

static flow_walked walked(const flow_engine *e, const flow_operand *o, bool last_first, uint32_t step) {
  if (o == NULL) return (flow_walked){.read = false};
  const uint32_t rows = (uint32_t)wf_min(o->rows, e->d.dim);
  if (last_first)
    return (flow_walked){.first = o->first + e->d.dim - 1,
                         .step = UINT32_MAX,
                         .from = e->d.dim - rows,
                         .past = e->d.dim,
                         .read = true,
                         .acc = o->acc};
  return (flow_walked){.first = o->first, .step = step, .past = rows, .read = true, .acc = o->acc};
}

// The bank of a scratchpad operand that stays in it, + 1.
static uint32_t one_bank(const flow_engine *e, const flow_operand *o, uint32_t rows, uint32_t step) {
  const uint64_t end = o->first + (uint64_t)step * (rows - 1);
  return !o->acc && o->first >> e->sp_shift == end >> e->sp_shift ? o->bank : 0;
}

bool flow_walk_is_plain(const flow_engine *e, const flow_operands *o, uint32_t total) {
  uint64_t seen = 0, bit;
  if (o->a != NULL) seen = UINT64_C(1) << one_bank(e, o->a, total, e->execute.a_stride);
  if (o->b != NULL) {
    bit = UINT64_C(1) << one_bank(e, o->b, total, 1);
    if ((seen & bit) != 0) return false;
    seen |= bit;
  }
  if (o->d != NULL) {
    bit = UINT64_C(1) << one_bank(e, o->d, e->d.dim, 1);
    if ((seen & bit) != 0) return false;
    seen |= bit;
  }
  return (seen & 1) == 0;
}

void flow_walk_begin(flow_engine *e, const flow_operands *o, uint32_t total) {
  flow_walk *w = &e->execute.walk;
  w->of[A] = walked(e, o->a, false, e->execute.a_stride);
  w->of[B] = walked(e, o->b, false, 1);
  w->of[D] = walked(e, o->d, true, 1);
  w->row = w->ahead = 0;
  w->total = total;
  for (uint32_t n = 0; w->even && n < w->depth; n++)
    w->taken[(w->entries - 1 - n) % FLOW_CONTROL] = w->last_taken < n ? 0 : w->last_taken - n;
}

static bool meet(const flow_engine *e, const flow_walk *w, unsigned o, unsigned p) {
  const flow_walked *x = &w->of[o], *y = &w->of[p];
  if (!x->read || !y->read || x->acc != y->acc) return false;
  return x->acc || bank_at(e, x, w->row) == bank_at(e, y, w->row);
}

static bool behind_others(const flow_engine *e, const flow_walk *w, unsigned o) {
  for (unsigned p = 0; p < o; p++)
    if ((w->ahead >> p & 1) == 0 && meet(e, w, o, p)) return true;
  return false;
}

static bool refused(const flow_engine *e, const flow_walk *w, const flow_walked *x, uint64_t at) {
  const uint32_t bank = bank_at(e, x, w->row);
  if (x->acc) return flow_calendar_window(&e->acc_adds[bank], at, 1) != 0;
  return e->array->scratchpad.single_ported && flow_calendar_window(&e->sp_writes[bank], at, 1) != 0;
}

// When a row that is read in `at` may be taken. Those of the accumulator pass the scale units one behind the other.
static uint64_t there(flow_walk *w, const flow_walked *x, uint64_t at) {
  if (!x->acc) return at + w->sp_latency;
  w->acc_scaled = wf_max(at + w->acc_latency, w->acc_scaled + w->acc_spacing);
  return w->acc_scaled;
}

// Which operands fire; *ready: the cycle in which the mesh may take them.
static unsigned fires(const flow_engine *e, flow_walk *w, uint64_t at, uint64_t *ready) {
  unsigned fired = 0;
  *ready = at + 1;
  for (unsigned o = 0; o < OPERANDS; o++) {
    const flow_walked *x = &w->of[o];
    if ((w->ahead >> o & 1) != 0 || behind_others(e, w, o)) continue;
    const bool live = x->read && w->row >= x->from && w->row < x->past;
    if (live && refused(e, w, x, at)) continue;
    if (live) *ready = wf_max(*ready, there(w, x, at));
    fired |= 1U << o;
  }
  return fired;
}

uint64_t flow_walk_on(flow_engine *e, uint64_t at, uint64_t known, uint64_t *left, uint64_t *passed) {
  flow_walk *w = &e->execute.walk;
  const uint32_t before = w->row;
  for (; w->row < w->total && at <= known; at++) {
    uint64_t ready;
    if (at < w->taken[(w->entries - w->depth) % FLOW_CONTROL]) continue;
    const unsigned fired = fires(e, w, at, &ready);
    if (fired == 0) continue;
    w->last_taken = wf_max(ready, w->last_taken + 1);
    w->taken[w->entries++ % FLOW_CONTROL] = w->last_taken;
    w->ahead |= fired;
    if (w->ahead != ALL) continue;
    w->ahead = 0;
    w->row++;
  }
  *passed = w->row - before;
  *left = w->total - w->row;
  return at;
}
