// SPDX-License-Identifier: Apache-2.0
// Loads and stores: sizes, rows of local memory, bytes of main memory. See check.h.
#include <inttypes.h>

#include "arch/check_private.h"

static uint32_t blocks_of(const arch_checker *checker, uint64_t cols) {
  return (uint32_t)((cols + checker->derived.dim - 1) / checker->derived.dim);
}

static bool check_height(arch_checker *checker, uint64_t rows) {
  if (rows <= checker->derived.dim) return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%" PRIu64 " rows, at most %u", rows, checker->derived.dim);
}

static bool check_width(arch_checker *checker, uint64_t cols, uint32_t most, const char *kind) {
  if (cols <= most) return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%" PRIu64 " columns, at most %u %s", cols, most, kind);
}

// --- loads -----------------------------------------------------------------------------------------------------------

typedef struct load {
  const arch_load_config *state;
  arch_local to;
  uint64_t dram;
  uint32_t rows, cols, bytes;
} load;

static bool check_scale(arch_checker *checker, const load *l) {
  bool scaled = !l->to.accumulator || l->state->shrink;
  if (l->dram == 0 || !scaled || l->state->scale == ARCH_SCALE_ONE || checker->array->load.scale_units != 0)
    return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "scale 0x%08x, and this array cannot scale loads",
                         l->state->scale);
}

static bool check_repeats(arch_checker *checker, const load *l) {
  if (l->state->pixel_repeats <= 1 || l->to.accumulator) return true;
  if (!checker->array->units.pixel_repeat)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%u pixel repeats, and this array has none",
                           l->state->pixel_repeats);
  if ((uint64_t)l->state->pixel_repeats * l->cols <= checker->derived.dim) return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%u repeats of %u columns, a row has %u", l->state->pixel_repeats,
                         l->cols, checker->derived.dim);
}

static bool check_load_shape(arch_checker *checker, const load *l) {
  bool wide = l->to.accumulator && !l->state->shrink;
  uint32_t most = wide ? checker->derived.max_cols_acc : checker->derived.max_cols;
  if (!check_height(checker, l->rows) || !check_width(checker, l->cols, most, wide ? "of int32" : "of int8"))
    return false;
  if (l->cols > checker->derived.dim && l->state->block_stride_rows < l->rows)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "column blocks %u rows apart overlap in %u rows",
                           l->state->block_stride_rows, l->rows);
  return check_scale(checker, l) && check_repeats(checker, l);
}

static bool check_load_memory(arch_checker *checker, const load *l) {
  if (l->dram == 0) return true;
  uint32_t rows = l->state->stride_bytes == 0 ? 1 : l->rows;
  uint64_t length = l->state->packed ? l->cols / 2 : (uint64_t)l->cols * l->bytes;
  return arch_check_byte_rows(checker, "reads", l->dram, rows, l->state->stride_bytes, length);
}

// Zeros are not read. A row is whole bytes, and the loop unrollers count in elements of one byte.
static bool check_packed(arch_checker *checker, const load *l) {
  if (!l->state->packed || l->dram == 0) return true;
  if (l->to.accumulator)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "packed rows go to the scratchpad, not to the accumulator");
  if (l->cols % 2 != 0)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "%u columns of packed rows, which hold two a byte", l->cols);
  if (checker->loop == NULL) return true;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "load state %u is packed, and loops move whole bytes",
                         (unsigned)(l->state - checker->config.load));
}

bool arch_check_mvin(arch_checker *checker, unsigned state, uint64_t rs1, uint64_t rs2) {
  load l = {.state = &checker->config.load[state],
            .to = arch_local_decode(&checker->derived, isa_get_mvin_local(rs1, rs2)),
            .dram = isa_get_mvin_dram(rs1, rs2),
            .rows = (uint32_t)isa_get_mvin_rows(rs1, rs2),
            .cols = (uint32_t)isa_get_mvin_cols(rs1, rs2)};
  l.bytes = l.to.accumulator && !l.state->shrink ? checker->derived.acc_bytes : checker->derived.input_bytes;
  if (l.rows == 0 || l.cols == 0) return true;
  if (l.to.garbage) return arch_check_fail(checker, ARCH_FAULT_LOCAL, "the garbage address has no rows to load into");
  if (!check_packed(checker, &l) || !check_load_shape(checker, &l)) return false;
  for (uint32_t b = 0; b < blocks_of(checker, l.cols); b++)
    if (!arch_check_rows(checker, "", l.to.accumulator, (int64_t)l.to.row + (int64_t)b * l.state->block_stride_rows,
                         l.rows, 1))
      return false;
  return check_load_memory(checker, &l);
}

// --- stores ----------------------------------------------------------------------------------------------------------

typedef struct store {
  const arch_store_config *state;
  arch_store_mode mode;
  arch_local from;
  uint64_t dram;
  uint32_t rows, cols;
} store;

static bool is_norm(const store *s) {
  return s->from.accumulator && !s->from.garbage && s->from.norm != ARCH_NORM_NONE;
}

static bool check_reads(arch_checker *checker, const store *s) {
  if (!s->from.accumulator || s->from.garbage) return true;
  if (is_norm(s) && !checker->array->units.normaliser)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "a statistics command, and this array has no normaliser");
  if (is_norm(s)) return true;
  if (s->from.full && !checker->array->accumulator.full_reads)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array cannot store int32 rows");
  if (!s->from.full && !checker->array->accumulator.narrow_reads)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array stores accumulator rows only as int32");
  return true;
}

static bool check_store_width(arch_checker *checker, const store *s) {
  if (s->mode == ARCH_STORE_POOL) return check_width(checker, s->cols, checker->derived.dim, "when pooling");
  if (s->mode == ARCH_STORE_IMAGE) return check_width(checker, s->cols, checker->derived.dim, "in a 1-D store");
  if (s->from.full && s->from.accumulator) return check_width(checker, s->cols, checker->derived.dim, "of int32");
  return check_width(checker, s->cols, checker->derived.max_cols, "of int8");
}

// After row 0 the garbage address counts on into the accumulator, read at full width: see docs/ref-engine.md.
static bool check_garbage_rows(arch_checker *checker, uint32_t rows) {
  if (rows <= 1) return true;
  if (!checker->array->accumulator.full_reads)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "this array cannot store int32 rows");
  return arch_check_rows(checker, "", true, 0, rows - 1, 1);
}

static bool check_store_rows(arch_checker *checker, const store *s, uint32_t rows) {
  if (s->from.garbage) return check_garbage_rows(checker, rows);
  for (uint32_t b = 0; b < blocks_of(checker, s->cols); b++)
    if (!arch_check_rows(checker, "", s->from.accumulator, (int64_t)s->from.row + (int64_t)b * checker->derived.dim,
                         rows, 1))
      return false;
  return true;
}

static uint64_t row_length(const arch_checker *checker, const store *s, uint32_t row) {
  bool full = s->from.accumulator && s->from.full && (!s->from.garbage || row != 0);
  return (uint64_t)s->cols * (full ? checker->derived.acc_bytes : checker->derived.input_bytes);
}

static bool check_plain_store(arch_checker *checker, const store *s) {
  if (!check_height(checker, s->rows) || !check_store_rows(checker, s, s->rows)) return false;
  if (is_norm(s)) return true;
  if (!s->from.garbage)
    return arch_check_byte_rows(checker, "writes", s->dram, s->rows, s->state->stride_bytes, row_length(checker, s, 0));
  for (uint32_t i = 0; i < s->rows; i++)
    if (!arch_check_bytes(checker, "writes", s->dram + i * s->state->stride_bytes, row_length(checker, s, i)))
      return false;
  return true;
}

static bool check_image_store(arch_checker *checker, const store *s) {
  const arch_store_config *c = s->state;
  uint32_t rows = c->orows * c->ocols;
  if (!check_store_rows(checker, s, rows)) return false;
  if (is_norm(s)) return true;
  for (uint32_t n = 0; n < rows; n++) {
    uint64_t pixel = (uint64_t)(n / c->ocols) * c->pool_out_dim + n % c->ocols;
    if (!arch_check_bytes(checker, "writes", s->dram + pixel * c->stride_bytes, row_length(checker, s, n)))
      return false;
  }
  return true;
}

// Largest coordinate inside the image that a window reaches along one side, -1 if none. Coordinates are count*stride +
// offset - pad for offsets below the window size; with a stride above the window size some are jumped over.
static int64_t last_touched(uint32_t windows, uint32_t stride, uint32_t size, uint32_t pad, uint32_t side) {
  int64_t last = -1;
  for (uint32_t p = 0; p < windows; p++)
    for (uint32_t w = 0; w < size; w++) {
      int64_t at = (int64_t)p * stride + w - pad;
      if (at >= 0 && at < side && at > last) last = at;
    }
  return last;
}

static bool check_pooled_store(arch_checker *checker, const store *s) {
  const arch_store_config *c = s->state;
  if (c->pool_size == 0) return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "the pooling window has no size");
  if (s->from.full && s->from.accumulator)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "pooling works on int8, not on int32 rows");
  int64_t row = last_touched(c->pool_orows, c->pool_stride, c->pool_size, c->pool_upad, c->orows);
  int64_t col = last_touched(c->pool_ocols, c->pool_stride, c->pool_size, c->pool_lpad, c->ocols);
  if (row >= 0 && col >= 0 &&
      !arch_check_rows(checker, "", s->from.accumulator, (int64_t)s->from.row + row * c->ocols + col, 1, 1))
    return false;
  if (is_norm(s)) return true;
  for (uint32_t r = 0; r < c->pool_orows; r++)
    for (uint32_t p = 0; p < c->pool_ocols; p++) {
      uint64_t pixel = (uint64_t)r * c->pool_out_dim + p;
      if (!arch_check_bytes(checker, "writes", s->dram + pixel * c->stride_bytes, s->cols)) return false;
    }
  return true;
}

// Rows of the scratchpad that a gate multiplies by.
static bool check_gate(arch_checker *checker, const store *s) {
  if (!s->state->gate || !arch_local_narrows(&s->from) || s->rows == 0) return true;
  if (s->mode != ARCH_STORE_ROWS)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "the gate is on, and multiplies no pooled or 1-D stores");
  for (uint32_t b = 0; b < blocks_of(checker, s->cols); b++)
    if (!arch_check_rows(checker, "gate", false,
                         (int64_t)s->from.row + s->state->gate_offset + (int64_t)b * checker->derived.dim, s->rows, 1))
      return false;
  return true;
}

bool arch_check_mvout(arch_checker *checker, uint64_t rs1, uint64_t rs2) {
  store s = {.state = &checker->config.store,
             .mode = arch_config_store_mode(&checker->config.store),
             .from = arch_local_decode(&checker->derived, isa_get_mvout_local(rs1, rs2)),
             .dram = isa_get_mvout_dram(rs1, rs2),
             .rows = (uint32_t)isa_get_mvout_rows(rs1, rs2),
             .cols = (uint32_t)isa_get_mvout_cols(rs1, rs2)};
  if (s.cols == 0) return true;
  if (s.from.garbage && s.mode == ARCH_STORE_POOL)
    return arch_check_fail(checker, ARCH_FAULT_LOCAL, "the garbage address is no image to pool");
  if (!check_reads(checker, &s) || !check_store_width(checker, &s) || !check_gate(checker, &s)) return false;
  if (s.mode == ARCH_STORE_POOL) return check_pooled_store(checker, &s);
  return s.mode == ARCH_STORE_IMAGE ? check_image_store(checker, &s) : check_plain_store(checker, &s);
}

bool arch_check_mvout_spad(arch_checker *checker, uint64_t rs1, uint64_t rs2) {
  store s = {.state = &checker->config.store,
             .mode = arch_config_store_mode(&checker->config.store),
             .from = arch_local_decode(&checker->derived, isa_get_mvout_spad_r2_local(rs1, rs2)),
             .rows = (uint32_t)isa_get_mvout_spad_r2_rows(rs1, rs2),
             .cols = (uint32_t)isa_get_mvout_spad_r2_cols(rs1, rs2)};
  arch_local to = arch_local_decode(&checker->derived, isa_get_mvout_spad_r2_dest(rs1, rs2));
  if (s.rows == 0 || s.cols == 0) return true;
  if (s.mode != ARCH_STORE_ROWS)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "pooling and 1-D stores go to main memory only");
  if (s.from.garbage || to.garbage)
    return arch_check_fail(checker, ARCH_FAULT_LOCAL, "the garbage address has no rows");
  if (to.accumulator) return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "the destination is in the accumulator");
  if ((s.from.full && s.from.accumulator) || is_norm(&s))
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL, "only int8 rows can be moved to the scratchpad");
  if (!check_reads(checker, &s) || !check_height(checker, s.rows) ||
      !check_width(checker, s.cols, checker->derived.max_cols, "of int8") || !check_store_rows(checker, &s, s.rows))
    return false;
  const int64_t stride = (int64_t)isa_get_mvout_spad_r2_stride(rs1, rs2),
                block_stride = (int64_t)isa_get_mvout_spad_r2_block_stride(rs1, rs2);
  for (uint32_t b = 0; b < blocks_of(checker, s.cols); b++)
    if (!arch_check_rows(checker, "destination", false, to.row + b * block_stride, s.rows, stride)) return false;
  return true;
}
