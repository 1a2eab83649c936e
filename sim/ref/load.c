// SPDX-License-Identifier: Apache-2.0
// Loads: rows of main memory, or zeros, to the scratchpad (int8) or the accumulator (int32). See docs/ref-engine.md.
#include <string.h>

#include "sim/ref/numeric.h"
#include "sim/ref/state.h"

typedef struct load {
  const arch_load_config *state;
  arch_local to;
  uint64_t dram;
  uint32_t rows, cols;
  bool wide;  // int32 in memory
} load;

// A scale of exactly one bypasses the multiplier.
static void scale_inputs(ref_engine *ref, uint32_t scale, const int8_t *in, uint32_t count) {
  if (scale == ARCH_SCALE_ONE) {
    memcpy(ref->tile_a, in, count);
    return;
  }
  for (uint32_t j = 0; j < count; j++) ref->tile_c[j] = in[j];
  ref_scale_row(count, ref->tile_c, ref_float_of_bits(scale), false, ref->tile_a);
}

static void write_acc(ref_engine *ref, const load *l, int64_t row, const int32_t *in, uint32_t count) {
  int32_t *to = ref_acc_row(ref, row);
  if (l->to.accumulate)
    ref_add_row(count, in, to);
  else
    memcpy(to, in, count * sizeof *to);
}

// Copy q of a row goes q rows up and q times its width to the right. A copy above the half that the row lies in is
// dropped. The last copy is written first.
static void write_spad(ref_engine *ref, const load *l, int64_t row, const int8_t *in, uint32_t count) {
  int64_t half = ref->derived.sp_rows / 2, top = row < half ? 0 : half;
  for (int64_t q = l->state->pixel_repeats; q-- > 1;)
    if (row - q >= top) memcpy(ref_spad_row(ref, row - q) + (size_t)q * count, in, count);
  memcpy(ref_spad_row(ref, row), in, count);
}

// One memory row, cut into blocks of dim columns.
static void write_row(ref_engine *ref, const load *l, uint32_t i, const uint8_t *bytes) {
  uint32_t dim = ref->derived.dim;
  for (uint32_t first = 0, b = 0; first < l->cols; first += dim, b++) {
    uint32_t count = l->cols - first < dim ? l->cols - first : dim;
    int64_t row = (int64_t)l->to.row + i + (int64_t)b * l->state->block_stride_rows;
    if (l->wide) {
      memcpy(ref->tile_c, bytes + first * sizeof(int32_t), count * sizeof(int32_t));
      write_acc(ref, l, row, ref->tile_c, count);
      continue;
    }
    scale_inputs(ref, l->dram == 0 ? ARCH_SCALE_ONE : l->state->scale, (const int8_t *)bytes + first, count);
    if (!l->to.accumulator) {
      write_spad(ref, l, row, ref->tile_a, count);
      continue;
    }
    for (uint32_t j = 0; j < count; j++) ref->tile_c[j] = ref->tile_a[j];
    write_acc(ref, l, row, ref->tile_c, count);
  }
}

// One row of memory, `length` bytes when it is there. A packed one is read behind the place of its first half, which is
// written while the rest is still to be widened: element n never reaches the byte of an element behind it.
static void read_row(ref_engine *ref, const load *l, uint32_t i, uint8_t *bytes, size_t length) {
  const size_t read = l->state->packed ? length / 2 : length;
  uint8_t *to = bytes + (length - read);
  arch_memory_read(ref->memory, l->dram + i * l->state->stride_bytes, to, read);
  ref->counters.read_bytes += (uint32_t)read;
  for (uint32_t n = 0; l->state->packed && n < l->cols; n++) bytes[n] = (uint8_t)arch_packed_element(to, n);
}

void ref_mvin(ref_engine *ref, unsigned state, uint64_t rs1, uint64_t rs2) {
  load l = {.state = &ref->config->load[state],
            .to = arch_local_decode(&ref->derived, isa_get_mvin_local(rs1, rs2)),
            .dram = isa_get_mvin_dram(rs1, rs2),
            .rows = (uint32_t)isa_get_mvin_rows(rs1, rs2),
            .cols = (uint32_t)isa_get_mvin_cols(rs1, rs2)};
  if (l.rows == 0 || l.cols == 0) return;
  l.wide = l.to.accumulator && !l.state->shrink;
  size_t length = l.cols * (l.wide ? sizeof(int32_t) : sizeof(int8_t));
  uint8_t *bytes = (uint8_t *)ref->row;
  bool repeated = l.state->stride_bytes == 0;
  if (l.dram == 0) memset(bytes, 0, length);
  for (uint32_t i = 0; i < l.rows; i++) {
    if (l.dram != 0 && (i == 0 || !repeated)) read_row(ref, &l, i, bytes, length);
    write_row(ref, &l, i, bytes);
  }
}
