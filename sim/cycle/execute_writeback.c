// Write-back: sends the mesh's result rows to the scratchpad or the accumulator, in the cycle in which they come.
//
// Row n (from 0) of a weight-stationary result goes to C + n * stride; output-stationary results come last row first,
// so row n goes to C + (total - 1) - n * stride. Rows past the product's rows are dropped, columns past its columns
// keep what they hold. To the scratchpad: clipped to int8, then ReLU if wanted. To the accumulator: stored or added.
// The configuration cannot change while a product is on its way, so it is read here and not carried along.
#include <string.h>

#include "sim/cycle/execute.h"
#include "sim/ref/numeric.h"

static inline void write_acc(cycle_engine *c, const execute_tag *tag, uint32_t row, const int32_t *in) {
  uint32_t cols = tag->cols < c->d.dim ? tag->cols : c->d.dim;
  int32_t *to = cycle_acc_row(c, row);
  if (tag->accumulate)
    ref_add_row(cols, in, to);
  else
    memcpy(to, in, cols * sizeof *to);
}

static inline void write_spad(cycle_engine *c, const execute_tag *tag, uint32_t row, const int32_t *in, bool relu) {
  uint32_t cols = tag->cols < c->d.dim ? tag->cols : c->d.dim;
  int32_t floor = relu ? 0 : INT8_MIN;
  int8_t *to = cycle_sp_row(c, row);
  for (uint32_t j = 0; j < cols; j++) to[j] = ref_clip_int8(in[j] < floor ? floor : in[j]);
}

static const int32_t *result_row(const execute_mesh *m, const mesh_request *r, uint32_t index) {
  if (m->busy && m->feeding == m->head) mesh_data_results(m->data, m->fed);
  return mesh_data_row(m->data, r->result, index);
}

static __attribute__((noinline)) void write_data(cycle_engine *c, cycle_execute *x, const mesh_request *r,
                                                 uint32_t index, uint32_t row) {
  const int32_t *in = result_row(&x->mesh, r, index);
  if (r->tag.acc)
    write_acc(c, &r->tag, row, in);
  else
    write_spad(c, &r->tag, row, in, x->has_activation && x->activation == SIM_ACTIVATION_RELU);
}

// Row n of the request goes to its place.
static inline void write_row(cycle_engine *c, cycle_execute *x, const mesh_request *r, uint32_t n) {
  uint32_t last = r->total - 1U, offset = n * x->c_stride, index = n, row = r->tag.base + offset;
  if (x->os) {
    index = last - n;
    row = r->tag.base + last - offset;
  }
  if (index >= r->tag.rows || (r->tag.acc ? !x->writes_acc : !x->writes_sp)) return;
  row &= r->tag.acc ? x->acc_mask : x->sp_mask;
  if (r->tag.acc) {
    c->w.ex_acc_bank = (int32_t)(row >> c->acc_bank_shift);
    c->w.ex_acc_accumulate = r->tag.accumulate;
  } else {
    c->w.ex_sp_bank = (int32_t)(row >> c->sp_bank_shift);
  }
  cycle_local_execute_write(c, r->tag.acc, row, r->tag.acc && r->tag.accumulate);
  if (c->data) write_data(c, x, r, index, row);
}

static __attribute__((noinline)) void product_done(cycle_engine *c, cycle_execute *x, const mesh_request *r) {
  c->w.product_done = true;
  c->w.product_id = r->tag.id;
  execute_hazards_pop(&x->hazards, c->now);
  if (r->result != MESH_NO_RESULT) mesh_data_release(x->mesh.data, r->result);
}

bool cycle_writeback_step(cycle_engine *c) {
  cycle_execute *x = c->execute;
  execute_mesh *m = &x->mesh;
  if (m->next_leaves > c->now) return false;
  assert(m->next_leaves == c->now);
  const mesh_request *r = &m->requests[m->head];
  if (r->tag.valid) {
    write_row(c, x, r, m->left);
    if (m->left + 1 == r->total) product_done(c, x, r);
  }
  execute_mesh_left(m, c->now);
  c->wake[CYCLE_WRITEBACK] = m->next_leaves;
  return true;
}
