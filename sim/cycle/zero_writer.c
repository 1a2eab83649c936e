// SPDX-License-Identifier: Apache-2.0
// The zeros of a mvin without a source: one block of dim lanes per cycle, block b of a row at row + b * block_stride,
// the last block masked to the columns that are left. See hw/rtl/weft_zero_writer.sv.
//
// Invariants: ceil(cols / dim) blocks per request; a request has columns.
#include "sim/cycle/zero_writer.h"

#include <assert.h>

#include "isa/isa_fields.h"

void cycle_zero_writer_init(cycle_engine *c, cycle_zero_writer *z) {
  *z = (cycle_zero_writer){.dim = c->d.dim, .row_mask = (UINT32_C(1) << c->d.row_bits) - 1};
}

void cycle_zero_writer_put(cycle_zero_writer *z, const cycle_load_row *request, uint64_t now) {
  assert(!z->held && z->free_from <= now && request->cols > 0);
  z->held = true;
  z->since = now + 1;
  z->row = request->laddr & z->row_mask;
  z->left = request->cols;
  z->block_stride = request->block_stride;
  z->request = (cycle_row){.cols = request->cols,
                           .answer = (uint16_t)(request->acc_width ? request->cols * 4U : request->cols),
                           .pixel_repeats = request->pixel_repeats,
                           .cmd = request->cmd,
                           .is_acc = isa_local_accumulator(request->laddr) != 0,
                           .accumulate = isa_local_accumulate(request->laddr) != 0};
}

bool cycle_zero_writer_next(cycle_zero_writer *z, cycle_item *item) {
  if (!z->held) return false;
  z->block = z->request;
  z->block.count = (uint16_t)(z->left < z->dim ? z->left : z->dim);
  *item = (cycle_item){.row = &z->block, .to = z->row, .last = z->left <= z->dim, .ready = z->since};
  return true;
}

void cycle_zero_writer_pop(cycle_zero_writer *z, uint64_t at) {
  z->since = at + 1;
  if (z->left <= z->dim) {
    z->held = false;
    z->free_from = at;
    return;
  }
  z->left -= z->dim;
  z->row = (z->row + z->block_stride) & z->row_mask;
}
