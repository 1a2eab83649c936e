// SPDX-License-Identifier: Apache-2.0
// See model.h.
#include "hw/rtl/tests/memory/model.h"

#include <math.h>
#include <string.h>

#include "sim/ref/numeric.h"

void model_reset(model *m, uint8_t *memory, uint64_t base) {
  memset(m, 0, sizeof *m);
  m->memory = memory;
  m->base = base;
  for (unsigned i = 0; i < T_NORM_STATS; i++) m->stats[i].running_max = m->stats[i].max = INT32_MIN;
}

static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int8_t clip(float product) {
  if (isnan(product) || product >= 127.0f) return 127;
  return product <= -128.0f ? -128 : (int8_t)rintf(product);
}

int8_t model_scale(int32_t value, uint32_t scale) { return clip((float)value * as_float(scale)); }

static uint8_t *at(model *m, uint64_t address) { return m->memory + (address - m->base); }

static void write_sp(model *m, const model_load_state *s, unsigned row, const int8_t *in, unsigned count) {
  unsigned repeats = s->pixel_repeats == 0 || !T_PIXEL_REPEAT ? 1 : s->pixel_repeats, half = SP_ROWS / 2;
  unsigned floor = row < half ? 0 : half;
  for (unsigned q = repeats; q-- > 0;) {
    if (row < floor + q) continue;
    for (unsigned j = 0; j < count && q * count + j < DIM; j++) m->sp[row - q][q * count + j] = in[j];
  }
}

static int8_t half_byte(model *m, uint64_t row, unsigned n) {
  int bits = n % 2 == 0 ? *at(m, row + n / 2) % 16 : *at(m, row + n / 2) / 16;
  return (int8_t)(bits > 7 ? bits - 16 : bits);
}

void model_mvin(model *m, unsigned state, uint64_t dram, uint32_t local, unsigned cols, unsigned rows) {
  const model_load_state *s = &m->load[state];
  bool is_acc = local >> 31, accumulate = local >> 30 & 1, wide = is_acc && !s->shrink;
  for (unsigned i = 0; i < rows; i++) {
    for (unsigned j = 0; j < cols; j++) {
      uint64_t from = dram + (s->stride != 0 ? i * s->stride : 0);
      unsigned row = (local & 0xffffff) + i + j / DIM * s->block_stride, lane = j % DIM;
      int32_t value = 0;
      if (dram != 0 && wide) memcpy(&value, at(m, from + 4 * j), 4);
      if (dram != 0 && !wide) {
        value = (int8_t)*at(m, from + j);
        if (T_LOAD_SCALE_UNITS != 0) value = model_scale(value, s->scale);
      }
      if (is_acc) {
        m->acc[row][lane] = accumulate ? ref_add(m->acc[row][lane], value) : value;
      } else if (lane == 0) {
        int8_t block[DIM];
        unsigned count = cols - j < DIM ? cols - j : DIM;
        for (unsigned l = 0; l < count; l++) {
          int8_t byte = dram == 0 ? 0 : s->packed ? half_byte(m, from, j + l) : (int8_t)*at(m, from + j + l);
          block[l] = dram != 0 && T_LOAD_SCALE_UNITS != 0 ? model_scale(byte, s->scale) : byte;
        }
        write_sp(m, s, row, block, count);
      }
    }
  }
}

static int32_t exponential(const model_store_state *s, const model_stats *t, int32_t x) {
  return ref_iexp(ref_sub(x, t->max), s->qln2, s->qln2_inverse, s->qb, s->qc);
}

static int8_t narrow(model *m, int32_t x) {
  const model_store_state *s = &m->store;
  const model_stats *t = &m->stats[s->stats_id];
  if (s->act == 1) return model_scale(x < 0 ? 0 : x, s->scale);
  if (!T_NORMALISER || s->act == 0) return model_scale(x, s->scale);
  if (s->act == 3) return model_scale(ref_igelu(x, s->qb, s->qc), s->scale);
  float factor = s->act == 2 ? t->inv_stddev : t->inv_sum_exp;
  int32_t value = s->act == 2 ? ref_sub(x, t->mean) : exponential(s, t, x);
  if (!T_FACTOR_THEN_SCALE) return clip((float)value * factor);
  return model_scale(ref_scale_int32(value, factor), s->scale);
}

static void collect(model *m, unsigned command, const int32_t *row, unsigned count) {
  model_stats *t = &m->stats[m->store.stats_id];
  if (command == 6 || command == 7) t->max = t->running_max;
  for (unsigned j = 0; j < count; j++) {
    int32_t error = ref_sub(row[j], t->mean);
    if (command == 5 && row[j] > t->running_max) t->running_max = row[j];
    if (command == 1 || command == 2) t->sum = ref_add(t->sum, row[j]);
    if (command == 3 || command == 4) t->sum = ref_add(t->sum, ref_mul(error, error));
    if (command == 6 || command == 7) t->sum = ref_add(t->sum, exponential(&m->store, t, row[j]));
  }
  t->count = (uint16_t)(t->count + count);
  if (command == 2 || command == 4) {
    int32_t average = t->count == 0 ? 0 : t->sum / t->count, root = ref_floor_sqrt(average);
    if (command == 2) t->mean = average;
    if (command == 4) t->inv_stddev = 1.0f / (float)(root == 0 ? 1 : root);
    t->sum = 0;
    t->count = 0;
  }
  if (command == 7) {
    t->inv_sum_exp = 127.0f / (float)t->sum;
    t->running_max = INT32_MIN;
  }
}

// Lanes of one row as bytes to store. Returns their number, 0 for a row that only feeds statistics.
static unsigned row_bytes(model *m, uint32_t local, uint32_t row, unsigned count, bool last, uint8_t *out) {
  unsigned command = T_NORMALISER ? local >> 26 & 7 : 0;
  if (local >> 31 == 0) {
    memcpy(out, m->sp[row], count);
    return count;
  }
  if (command != 0) {
    static const unsigned collecting[] = {0, 1, 1, 3, 3, 5, 6, 6};
    collect(m, last ? command : collecting[command], m->acc[row], count);
    return 0;
  }
  if (T_FULL_READS && (local >> 29 & 1)) {
    memcpy(out, m->acc[row], 4 * count);
    return 4 * count;
  }
  for (unsigned j = 0; j < count; j++) out[j] = (uint8_t)narrow(m, m->acc[row][j]);
  m->stats[m->store.stats_id].sum = 0;
  m->stats[m->store.stats_id].count = 0;
  return count;
}

static void pool(model *m, uint64_t dram, uint32_t local, unsigned cols) {
  const model_store_state *s = &m->store;
  for (unsigned r = 0; r < s->porows; r++)
    for (unsigned c = 0; c < s->pocols; c++) {
      int8_t best[DIM];
      memset(best, -128, sizeof best);
      for (unsigned w = 0; w < s->pool_size * s->pool_size; w++) {
        int row = (int)(r * s->pool_stride + w / s->pool_size) - (int)s->upad;
        int col = (int)(c * s->pool_stride + w % s->pool_size) - (int)s->lpad;
        bool inside = row >= 0 && col >= 0 && row < (int)s->orows && col < (int)s->ocols;
        uint8_t bytes[4 * DIM] = {0};
        if (inside)
          row_bytes(m, local, (local & 0xffffff) + (uint32_t)row * s->ocols + (uint32_t)col, cols, true, bytes);
        for (unsigned j = 0; j < cols; j++)
          if ((int8_t)bytes[j] > best[j]) best[j] = (int8_t)bytes[j];
      }
      memcpy(at(m, dram + (uint64_t)(r * s->out_dim + c) * s->stride), best, cols);
    }
}

// Int8 of the accumulator, times a row of the scratchpad.
static void gate(const model *m, uint32_t local, uint32_t row, unsigned count, uint8_t *bytes) {
  const model_store_state *s = &m->store;
  const bool narrow = local >> 31 != 0 && !(T_FULL_READS && (local >> 29 & 1) != 0) && (local >> 26 & 7) == 0;
  for (unsigned j = 0; s->gate && narrow && j < count; j++) {
    const int32_t product = (int8_t)bytes[j] * m->sp[row + (uint32_t)s->gate_offset][j];
    bytes[j] = (uint8_t)model_scale(product, s->gate_scale);
  }
}

void model_mvout(model *m, uint64_t dram, uint32_t local, unsigned cols, unsigned rows) {
  const model_store_state *s = &m->store;
  if (local == GARBAGE) {
    memset(at(m, dram), 0, cols);
    return;
  }
  if (s->pool_stride != 0) {
    pool(m, dram, local, cols);
    return;
  }
  bool image = s->pool_size != 0;
  if (image) rows = s->orows * s->ocols;
  for (unsigned i = 0; i < rows; i++) {
    uint64_t to = dram + (uint64_t)(image ? i / s->ocols * s->out_dim + i % s->ocols : i) * s->stride;
    for (unsigned first = 0; first < cols; first += DIM) {
      unsigned count = cols - first < DIM ? cols - first : DIM;
      uint8_t bytes[4 * DIM];
      unsigned length = row_bytes(m, local, (local & 0xffffff) + i + first, count, cols - first <= DIM, bytes);
      if (!image) gate(m, local, (local & 0xffffff) + i + first, count, bytes);
      memcpy(at(m, to + first), bytes, length);
    }
  }
}

void model_mvout_spad(model *m, const model_spad_place *to, uint32_t local, unsigned cols, unsigned rows) {
  for (unsigned i = 0; i < rows; i++)
    for (unsigned first = 0; first < cols; first += DIM) {
      const unsigned count = cols - first < DIM ? cols - first : DIM;
      uint8_t bytes[4 * DIM];
      row_bytes(m, local, (local & 0xffffff) + i + first, count, true, bytes);
      memcpy(m->sp[to->row + i * to->stride + first / DIM * to->block_stride], bytes, count);
    }
}
