// SPDX-License-Identifier: Apache-2.0
// Write-back: sends the mesh's result rows to the scratchpad or the accumulator, in the cycle in which they come.
//
// Row n (from 0) of a weight-stationary result goes to C + n * stride; output-stationary results come last row first,
// so row n goes to C + (total - 1) - n * stride. Rows past the product's rows are dropped, columns past its columns
// keep what they hold. To the scratchpad: clipped to int8, then ReLU if wanted. To the accumulator: stored or added.
// The configuration cannot change while a product is on its way, so it is read here and not carried along.
#include "sim/cycle/execute_writeback.h"

#include <string.h>

#include "arch/config.h"
#include "sim/cycle/execute.h"
#include "sim/cycle/local_memory.h"
#include "sim/cycle/skip/feed.h"
#include "sim/cycle/skip/fetch.h"
#include "sim/cycle/skip/results.h"
#include "sim/ref/numeric.h"

static inline void write_acc(cycle_engine *c, const cycle_execute_tag *tag, uint32_t row, const int32_t *in) {
  uint32_t cols = tag->cols < c->d.dim ? tag->cols : c->d.dim;
  int32_t *to = cycle_acc_row(c, row);
  if (tag->accumulate)
    ref_add_row(cols, in, to);
  else
    memcpy(to, in, cols * sizeof *to);
}

static inline void write_spad(cycle_engine *c, const cycle_execute_tag *tag, uint32_t row, const int32_t *in,
                              bool relu) {
  uint32_t cols = tag->cols < c->d.dim ? tag->cols : c->d.dim;
  int32_t floor = relu ? 0 : INT8_MIN;
  int8_t *to = cycle_sp_row(c, row);
  for (uint32_t j = 0; j < cols; j++) to[j] = ref_clip_int8(in[j] < floor ? floor : in[j]);
}

static const int32_t *result_row(const cycle_execute_mesh *m, const cycle_mesh_request *r, uint32_t index) {
  if (m->busy && m->feeding == m->head) cycle_mesh_data_results(m->data, m->fed);
  return cycle_mesh_data_row(m->data, r->result, index);
}

static __attribute__((noinline)) void write_data(cycle_engine *c, cycle_execute *x, const cycle_mesh_request *r,
                                                 uint32_t index, uint32_t row) {
  const int32_t *in = result_row(&x->mesh, r, index);
  if (r->tag.acc)
    write_acc(c, &r->tag, row, in);
  else
    write_spad(c, &r->tag, row, in, x->has_activation && x->activation == ARCH_ACTIVATION_RELU);
}

// Where row n of the results goes; false: nowhere.
static inline bool place_of(const cycle_execute *x, const cycle_mesh_request *r, uint32_t n, uint32_t *index,
                            uint32_t *row) {
  uint32_t last = r->total - 1U, offset = n * x->c_stride;
  *index = x->os ? last - n : n;
  *row = (x->os ? r->tag.base + last - offset : r->tag.base + offset) & (r->tag.acc ? x->acc_mask : x->sp_mask);
  return *index < r->tag.rows && (r->tag.acc ? x->writes_acc : x->writes_sp);
}

void cycle_execute_write_row(cycle_engine *c, uint64_t now, const cycle_mesh_request *r, uint32_t n) {
  cycle_execute *x = c->execute;
  uint32_t index, row;
  if (!place_of(x, r, n, &index, &row)) return;
  if (r->tag.acc) {
    c->w.ex_acc_bank = (int32_t)(row >> c->acc_bank_shift);
    c->w.ex_acc_accumulate = r->tag.accumulate;
  } else {
    c->w.ex_sp_bank = (int32_t)(row >> c->sp_bank_shift);
  }
  cycle_local_execute_write(c, now, r->tag.acc, row, r->tag.acc && r->tag.accumulate);
  if (c->data) write_data(c, x, r, index, row);
}

// How many of rows n to end - 1 go anywhere.
static uint32_t rows_placed(const cycle_execute *x, const cycle_mesh_request *r, uint32_t n, uint32_t end) {
  if (r->tag.acc ? !x->writes_acc : !x->writes_sp) return 0;
  uint32_t rows = r->tag.rows < r->total ? r->tag.rows : r->total;
  uint32_t first = x->os ? r->total - rows : 0, past = x->os ? r->total : rows;  // that are placed
  if (n < first) n = first;
  if (end > past) end = past;
  return n < end ? end - n : 0;
}

// Whole rows one after the other, of the accumulator, are one row to the arithmetic. False: they are not.
static bool write_block(cycle_engine *c, cycle_execute *x, const cycle_mesh_request *r, uint32_t n, uint32_t rows) {
  const cycle_execute_tag *tag = &r->tag;
  const uint32_t row = (tag->base + n) & x->acc_mask;
  if (rows == 0 || x->os || x->c_stride != 1 || !tag->acc || tag->cols < x->dim || row + rows - 1 > x->acc_mask)
    return false;
  const int32_t *in = result_row(&x->mesh, r, n);
  int32_t *to = cycle_acc_row(c, row);
  const size_t count = (size_t)rows * x->dim;
  if (tag->accumulate)
    ref_add_row(count, in, to);
  else
    memcpy(to, in, count * sizeof *to);
  return true;
}

void cycle_execute_write_past_rows(cycle_engine *c, uint64_t now, const cycle_mesh_request *r, uint32_t n, uint64_t at,
                                   uint32_t rows) {
  cycle_execute *x = c->execute;
  uint32_t index, row;
  const uint32_t end = n + rows, placed = rows_placed(x, r, n, end);
  const bool data = c->data && !write_block(c, x, r, n, placed);
  c->acc_writes += placed;
  c->acc_reads += r->tag.accumulate ? placed : 0;
  // Rows that have long been through the accumulator's stages need no more than to be counted, and their data.
  const uint32_t stages = c->array->accumulator.latency + 1U, skipped = !data && rows > stages ? rows - stages : 0;
  for (n += skipped, at += skipped; n < end; n++, at++) {
    if (!place_of(x, r, n, &index, &row)) continue;
    if (at + stages >= now) cycle_local_past_write(c, at, row, r->tag.accumulate);
    if (data) write_data(c, x, r, index, row);
  }
}

static void row_leaves(cycle_engine *c, uint64_t now, cycle_execute *x) {
  cycle_execute_mesh *m = &x->mesh;
  const cycle_mesh_request *r = &m->requests[m->head];
  bool last = m->left + 1 == r->total;
  if (!last && cycle_results_quiet(c, r)) return;
  if (r->tag.valid) cycle_execute_write_row(c, now, r, m->left);
  if (!last) {
    cycle_execute_rows_leave(m, 1);
    return;
  }
  if (r->tag.valid) {
    c->w.product_done = true;
    c->w.product_id = r->tag.id;
    cycle_execute_hazards_pop(&x->hazards, now);
    if (r->result != CYCLE_MESH_NO_RESULT) cycle_mesh_data_release(m->data, r->result);
  }
  cycle_execute_request_leaves(m, now);
  // A mesh that only waited for its results is not stepped for the last of them.
  if (m->count == 0 && x->control_count == 0 && x->state != CYCLE_EXECUTE_FLUSH && x->state != CYCLE_EXECUTE_FLUSHING)
    cycle_spend(c, now, CYCLE_MESH, CYCLE_IDLE);
}

// Returns whether a product is done that execute has to report.
bool cycle_writeback_step(cycle_engine *c, uint64_t now) {
  cycle_execute *x = c->execute;
  if (x->mesh.count == 0) return false;
  cycle_fetch_catch_up(c, now);
  cycle_feed_catch_up(c, now);
  cycle_results_catch_up(c, now);
  if (x->mesh.next_leaves == now) row_leaves(c, now, x);
  cycle_results_enter(c, now + 1);
  return c->w.product_done;
}
