// SPDX-License-Identifier: Apache-2.0
// Stores: rows, pooled images and whole images from local memory to main memory, and rows of the accumulator to the
// scratchpad. See docs/ref-engine.md.
#include <string.h>

#include "sim/ref/numeric.h"
#include "sim/ref/state.h"

typedef struct store {
  const arch_store_config *state;
  arch_local from;
  uint64_t dram;
  uint32_t rows, cols;
} store;

static ref_stats *current_stats(ref_engine *ref) { return &ref->stats[ref->config->store.stats_id]; }

static ref_narrow narrow_of(const ref_engine *ref) {
  const arch_store_config *c = &ref->config->store;
  return (ref_narrow){.normaliser = ref->array->units.normaliser,
                      .factor_then_scale = ref->array->isa.revision == 1,
                      .activation = c->activation,
                      .scale = c->scale,
                      .qb = c->qb,
                      .qc = c->qc,
                      .qln2 = c->qln2,
                      .qln2_inverse = c->qln2_inverse};
}

// An accumulator row on its way out as int8, with the store configuration.
static void narrow_row(ref_engine *ref, const int32_t *in, uint32_t count, int8_t *out) {
  const ref_narrow how = narrow_of(ref);
  ref_stats *stats = current_stats(ref);
  ref_narrow_row(&how, stats, in, count, out);
  if (how.normaliser) ref_stats_restart(stats);
}

// Lanes [0, count) of one local row as int8.
static void read_narrow(ref_engine *ref, const arch_local *from, int64_t row, uint32_t count, int8_t *out) {
  if (from->accumulator)
    narrow_row(ref, ref_acc_row(ref, row), count, out);
  else
    memcpy(out, ref_spad_row(ref, row), count);
}

// Lanes [0, count) of a row on its way to memory: behind the gate, where that is on.
static void read_gated(ref_engine *ref, const store *s, int64_t row, uint32_t count, int8_t *out) {
  const arch_store_config *c = s->state;
  read_narrow(ref, &s->from, row, count, out);
  if (!c->gate || !arch_local_narrows(&s->from) || arch_config_store_mode(c) != ARCH_STORE_ROWS) return;
  const int8_t *factors = ref_spad_row(ref, row + c->gate_offset);
  const float scale = ref_float_of_bits(c->gate_scale);
  for (uint32_t j = 0; j < count; j++) out[j] = ref_gate(out[j], factors[j], scale);
}

static void write_memory(ref_engine *ref, uint64_t address, const void *bytes, size_t length) {
  arch_memory_write(ref->memory, address, bytes, length);
  ref->counters.written_bytes += (uint32_t)length;
}

static void store_full(ref_engine *ref, uint64_t address, int64_t row, uint32_t count) {
  write_memory(ref, address, ref_acc_row(ref, row), count * sizeof(int32_t));
}

// Row n of the command's source. Row 0 of the garbage address is zeros; the addresses of the rows behind it are no
// longer garbage and count on from accumulator row 0, at full width.
static void store_row(ref_engine *ref, const store *s, uint32_t n, uint64_t address) {
  uint32_t dim = ref->derived.dim;
  if (s->from.garbage && n > 0) {
    store_full(ref, address, n - 1, s->cols);
    return;
  }
  if (s->from.full && s->from.accumulator && !s->from.garbage) {
    store_full(ref, address, (int64_t)s->from.row + n, s->cols);
    return;
  }
  memset(ref->row, 0, s->cols);
  for (uint32_t first = 0; first < s->cols && !s->from.garbage; first += dim) {
    uint32_t count = s->cols - first < dim ? s->cols - first : dim;
    read_gated(ref, s, (int64_t)s->from.row + n + first, count, ref->row + first);
  }
  write_memory(ref, address, ref->row, s->cols);
}

static void norm_row(ref_engine *ref, const store *s, uint32_t n) {
  const ref_narrow how = narrow_of(ref);
  uint32_t dim = ref->derived.dim;
  for (uint32_t first = 0; first < s->cols; first += dim) {
    bool last = s->cols - first <= dim;
    const int32_t *row = ref_acc_row(ref, (int64_t)s->from.row + n + first);
    ref_stats_row(current_stats(ref), last ? s->from.norm : ref_norm_collecting(s->from.norm), &how, row,
                  last ? s->cols - first : dim);
  }
}

static bool is_norm(const store *s) {
  return s->from.accumulator && !s->from.garbage && s->from.norm != ARCH_NORM_NONE;
}

static void one_row(ref_engine *ref, const store *s, uint32_t n, uint64_t address) {
  if (is_norm(s))
    norm_row(ref, s, n);
  else
    store_row(ref, s, n, address);
}

static void store_rows(ref_engine *ref, const store *s) {
  for (uint32_t n = 0; n < s->rows; n++) one_row(ref, s, n, s->dram + n * s->state->stride_bytes);
}

static void store_image(ref_engine *ref, const store *s) {
  const arch_store_config *c = s->state;
  for (uint32_t r = 0; r < c->orows; r++)
    for (uint32_t col = 0; col < c->ocols; col++) {
      uint64_t pixel = (uint64_t)r * c->pool_out_dim + col;
      one_row(ref, s, r * c->ocols + col, s->dram + pixel * c->stride_bytes);
    }
}

// Maximum of one window; elements outside the image count as zero.
static void pool_window(ref_engine *ref, const store *s, uint32_t porow, uint32_t pocol, int8_t *best) {
  const arch_store_config *c = s->state;
  memset(best, INT8_MIN, s->cols);
  for (uint32_t w = 0; w < c->pool_size * c->pool_size; w++) {
    int64_t row = (int64_t)porow * c->pool_stride + w / c->pool_size - c->pool_upad;
    int64_t col = (int64_t)pocol * c->pool_stride + w % c->pool_size - c->pool_lpad;
    int8_t *element = ref->tile_a;
    if (row < 0 || row >= c->orows || col < 0 || col >= c->ocols)
      memset(element, 0, s->cols);
    else
      read_narrow(ref, &s->from, (int64_t)s->from.row + row * c->ocols + col, s->cols, element);
    for (uint32_t j = 0; j < s->cols; j++)
      if (element[j] > best[j]) best[j] = element[j];
  }
}

static void store_pooled(ref_engine *ref, const store *s) {
  const arch_store_config *c = s->state;
  for (uint32_t r = 0; r < c->pool_orows && !is_norm(s); r++)
    for (uint32_t col = 0; col < c->pool_ocols; col++) {
      pool_window(ref, s, r, col, ref->row);
      uint64_t pixel = (uint64_t)r * c->pool_out_dim + col;
      write_memory(ref, s->dram + pixel * c->stride_bytes, ref->row, s->cols);
    }
}

void ref_mvout(ref_engine *ref, uint64_t rs1, uint64_t rs2) {
  store s = {.state = &ref->config->store,
             .from = arch_local_decode(&ref->derived, isa_get_mvout_local(rs1, rs2)),
             .dram = isa_get_mvout_dram(rs1, rs2),
             .rows = (uint32_t)isa_get_mvout_rows(rs1, rs2),
             .cols = (uint32_t)isa_get_mvout_cols(rs1, rs2)};
  if (s.cols == 0) return;
  switch (arch_config_store_mode(s.state)) {
    case ARCH_STORE_POOL:
      store_pooled(ref, &s);
      break;
    case ARCH_STORE_IMAGE:
      store_image(ref, &s);
      break;
    case ARCH_STORE_ROWS:
      store_rows(ref, &s);
      break;
  }
}

void ref_mvout_spad(ref_engine *ref, uint64_t rs1, uint64_t rs2) {
  arch_local from = arch_local_decode(&ref->derived, isa_get_mvout_spad_r2_local(rs1, rs2));
  arch_local to = arch_local_decode(&ref->derived, isa_get_mvout_spad_r2_dest(rs1, rs2));
  int64_t stride = (int64_t)isa_get_mvout_spad_r2_stride(rs1, rs2);
  uint32_t rows = (uint32_t)isa_get_mvout_spad_r2_rows(rs1, rs2);
  uint32_t cols = (uint32_t)isa_get_mvout_spad_r2_cols(rs1, rs2), dim = ref->derived.dim;
  int64_t block_stride = (int64_t)isa_get_mvout_spad_r2_block_stride(rs1, rs2);
  for (uint32_t n = 0; n < rows; n++)
    for (uint32_t first = 0; first < cols; first += dim) {
      uint32_t count = cols - first < dim ? cols - first : dim;
      read_narrow(ref, &from, (int64_t)from.row + n + first, count, ref->row);
      memcpy(ref_spad_row(ref, to.row + n * stride + first / dim * block_stride), ref->row, count);
    }
}
