// SPDX-License-Identifier: Apache-2.0
// The judge's rules: what each primitive reads and writes, as the reference engine does it, and what it needs.
#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"
#include "sim/gen/judge_private.h"

static bool garbage_word(const sim_gen_judge *j, uint64_t word, arch_local *local) {
  *local = arch_local_decode(&j->derived, word);
  return local->garbage;
}

// ---- loads

typedef struct load {
  const arch_load_config *state;
  arch_local to;
  uint64_t dram;
  uint32_t rows, cols, bytes;
} load;

// A copy above the half that its row lies in is dropped.
static bool load_copies(sim_gen_judge *j, const load *l, int64_t row, uint32_t lanes) {
  int64_t half = j->derived.sp_rows / 2, top = row < half ? 0 : half;
  for (uint32_t q = 1; q < l->state->pixel_repeats && !l->to.accumulator; q++)
    if (row - q >= top && !sim_judge_write(j, false, row - q, q * lanes, lanes)) return false;
  return true;
}

static bool load_row(sim_gen_judge *j, const load *l, uint32_t i) {
  for (uint32_t first = 0, b = 0; first < l->cols; first += j->derived.dim, b++) {
    int64_t row = (int64_t)l->to.row + i + (int64_t)b * l->state->block_stride_rows;
    uint32_t lanes = wf_min(l->cols - first, j->derived.dim);
    bool adds = l->to.accumulator && l->to.accumulate;
    if (adds && !sim_judge_read(j, true, row, lanes)) return false;
    if (!sim_judge_write(j, l->to.accumulator, row, 0, lanes) || !load_copies(j, l, row, lanes)) return false;
  }
  return true;
}

static bool judge_load(sim_gen_judge *j, unsigned state, uint64_t rs1, uint64_t rs2) {
  load l = {.state = &sim_gen_judge_config(j)->load[state],
            .to = arch_local_decode(&j->derived, isa_get_mvin_local(rs1, rs2)),
            .dram = isa_get_mvin_dram(rs1, rs2),
            .rows = (uint32_t)isa_get_mvin_rows(rs1, rs2),
            .cols = (uint32_t)isa_get_mvin_cols(rs1, rs2)};
  if (l.rows == 0 || l.cols == 0) return sim_judge_fail(j, "a load of nothing");
  l.bytes = l.to.accumulator && !l.state->shrink ? j->derived.acc_bytes : j->derived.input_bytes;
  // An element that is cut in two by the bus would be added in two halves.
  bool whole = l.dram % l.bytes == 0 && (l.rows == 1 || l.state->stride_bytes % l.bytes == 0);
  if (l.to.accumulator && l.to.accumulate && !whole)
    return sim_judge_fail(j, "adds int32 elements that are not aligned");
  uint64_t length = l.state->packed ? l.cols / 2 : (uint64_t)l.cols * l.bytes;
  for (uint32_t i = 0; i < l.rows; i++) {
    bool fetched = l.dram != 0 && (i == 0 || l.state->stride_bytes != 0);
    if (fetched && !sim_judge_memory(j, l.dram + i * l.state->stride_bytes, length, false)) return false;
    if (!load_row(j, &l, i)) return false;
  }
  return true;
}

// ---- stores

typedef struct store {
  const arch_store_config *state;
  arch_local from;
  uint64_t dram;
  uint32_t rows, cols;
} store;

static bool is_norm(const store *s) {
  return s->from.accumulator && !s->from.garbage && s->from.norm != ARCH_NORM_NONE;
}

static bool store_source(sim_gen_judge *j, const store *s, int64_t row) {
  for (uint32_t first = 0; first < s->cols && !s->from.garbage; first += j->derived.dim)
    if (!sim_judge_read(j, s->from.accumulator, row + first, wf_min(s->cols - first, j->derived.dim))) return false;
  return true;
}

static bool store_bytes(sim_gen_judge *j, const store *s, uint64_t address) {
  bool full = s->from.accumulator && s->from.full && !s->from.garbage;
  return is_norm(s) ||
         sim_judge_memory(j, address, (uint64_t)s->cols * (full ? j->derived.acc_bytes : j->derived.input_bytes), true);
}

// The rows of the scratchpad that a gate multiplies by.
static bool gate_rows(sim_gen_judge *j, const store *s) {
  if (!s->state->gate || !arch_local_narrows(&s->from)) return true;
  const store factors = {.cols = s->cols};
  for (uint32_t i = 0; i < s->rows; i++)
    if (!store_source(j, &factors, (int64_t)s->from.row + s->state->gate_offset + i)) return false;
  return true;
}

static bool store_rows(sim_gen_judge *j, const store *s) {
  if (s->rows == 0) return sim_judge_fail(j, "a store of nothing");
  if (!gate_rows(j, s)) return false;
  if (s->from.garbage && s->rows > 1) return sim_judge_fail(j, "stores garbage behind row 0");
  for (uint32_t i = 0; i < s->rows; i++)
    if (!store_source(j, s, (int64_t)s->from.row + i) || !store_bytes(j, s, s->dram + i * s->state->stride_bytes))
      return false;
  return true;
}

static bool store_image(sim_gen_judge *j, const store *s) {
  const arch_store_config *c = s->state;
  if (s->from.garbage || c->orows * c->ocols == 0) return sim_judge_fail(j, "an image of nothing");
  for (uint32_t n = 0; n < c->orows * c->ocols; n++) {
    uint64_t pixel = (uint64_t)(n / c->ocols) * c->pool_out_dim + n % c->ocols;
    if (!store_source(j, s, (int64_t)s->from.row + n) || !store_bytes(j, s, s->dram + pixel * c->stride_bytes))
      return false;
  }
  return true;
}

static bool pool_window(sim_gen_judge *j, const store *s, uint32_t porow, uint32_t pocol) {
  const arch_store_config *c = s->state;
  for (uint32_t w = 0; w < c->pool_size * c->pool_size; w++) {
    int64_t row = (int64_t)porow * c->pool_stride + w / c->pool_size - c->pool_upad;
    int64_t col = (int64_t)pocol * c->pool_stride + w % c->pool_size - c->pool_lpad;
    bool inside = row >= 0 && row < c->orows && col >= 0 && col < c->ocols;
    if (inside && !store_source(j, s, (int64_t)s->from.row + row * c->ocols + col)) return false;
  }
  return true;
}

static bool store_pooled(sim_gen_judge *j, const store *s) {
  const arch_store_config *c = s->state;
  if (is_norm(s)) return sim_judge_fail(j, "statistics of a pooled store");
  if (c->pool_orows * c->pool_ocols == 0) return sim_judge_fail(j, "a pooled image of nothing");
  for (uint32_t r = 0; r < c->pool_orows; r++)
    for (uint32_t p = 0; p < c->pool_ocols; p++) {
      uint64_t pixel = (uint64_t)r * c->pool_out_dim + p;
      if (!pool_window(j, s, r, p) || !store_bytes(j, s, s->dram + pixel * c->stride_bytes)) return false;
    }
  return true;
}

// ---- statistics

static bool collect(sim_gen_judge *j, sim_judge_stats *t, arch_norm end, bool ready, bool ends) {
  if (!ready) return sim_judge_fail(j, "statistics that need others first");
  if (t->collecting != ARCH_NORM_NONE && t->collecting != end)
    return sim_judge_fail(j, "statistics of two kinds are collected at once");
  t->collecting = ends ? ARCH_NORM_NONE : end;
  return true;
}

static bool judge_statistics(sim_gen_judge *j, const store *s) {
  sim_judge_stats *t = &j->stats[s->state->stats_id];
  bool ends =
      s->from.norm == ARCH_NORM_MEAN || s->from.norm == ARCH_NORM_INV_STDDEV || s->from.norm == ARCH_NORM_INV_SUM_EXP;
  switch (s->from.norm) {
    case ARCH_NORM_SUM:
    case ARCH_NORM_MEAN:
      t->mean |= ends;
      return collect(j, t, ARCH_NORM_MEAN, true, ends);
    case ARCH_NORM_VARIANCE:
    case ARCH_NORM_INV_STDDEV:
      t->deviation |= ends;
      return collect(j, t, ARCH_NORM_INV_STDDEV, t->mean, ends);
    case ARCH_NORM_MAX:
      t->running_max = true;
      return collect(j, t, ARCH_NORM_MAX, t->collecting == ARCH_NORM_NONE, true);
    default:
      if (!collect(j, t, ARCH_NORM_INV_SUM_EXP, t->running_max, ends)) return false;
      t->max = true;
      t->exponentials |= ends;
      t->running_max &= !ends;
      return true;
  }
}

// A row that is stored as int8 passes the normaliser.
static bool judge_activation(sim_gen_judge *j, const store *s) {
  if (!j->array->units.normaliser || !s->from.accumulator || s->from.full) return true;
  const sim_judge_stats *t = &j->stats[s->state->stats_id];
  if (t->collecting != ARCH_NORM_NONE) return sim_judge_fail(j, "stores in the middle of a collection");
  if (s->state->activation == ARCH_ACTIVATION_LAYERNORM && !(t->mean && t->deviation))
    return sim_judge_fail(j, "layer norm without statistics");
  if (s->state->activation == ARCH_ACTIVATION_SOFTMAX && !(t->max && t->exponentials))
    return sim_judge_fail(j, "softmax without statistics");
  return true;
}

static bool judge_store(sim_gen_judge *j, uint64_t rs1, uint64_t rs2) {
  store s = {.state = &sim_gen_judge_config(j)->store,
             .from = arch_local_decode(&j->derived, isa_get_mvout_local(rs1, rs2)),
             .dram = isa_get_mvout_dram(rs1, rs2),
             .rows = (uint32_t)isa_get_mvout_rows(rs1, rs2),
             .cols = (uint32_t)isa_get_mvout_cols(rs1, rs2)};
  if (s.cols == 0) return sim_judge_fail(j, "a store of nothing");
  if (!(is_norm(&s) ? judge_statistics(j, &s) : judge_activation(j, &s))) return false;
  switch (arch_config_store_mode(s.state)) {
    case ARCH_STORE_POOL:
      return store_pooled(j, &s);
    case ARCH_STORE_IMAGE:
      return store_image(j, &s);
    default:
      return store_rows(j, &s);
  }
}

static bool judge_spad_store(sim_gen_judge *j, uint64_t rs1, uint64_t rs2) {
  store s = {.state = &sim_gen_judge_config(j)->store,
             .from = arch_local_decode(&j->derived, isa_get_mvout_spad_r2_local(rs1, rs2)),
             .rows = (uint32_t)isa_get_mvout_spad_r2_rows(rs1, rs2),
             .cols = (uint32_t)isa_get_mvout_spad_r2_cols(rs1, rs2)};
  arch_local to = arch_local_decode(&j->derived, isa_get_mvout_spad_r2_dest(rs1, rs2));
  int64_t stride = (int64_t)isa_get_mvout_spad_r2_stride(rs1, rs2);
  if (s.cols == 0 || s.rows == 0) return sim_judge_fail(j, "a store of nothing");
  if (s.rows > 1 && stride == 0) return sim_judge_fail(j, "a store to one row");
  const uint32_t dim = j->derived.dim, further = (s.cols - 1) / dim;
  const int64_t block_stride = (int64_t)isa_get_mvout_spad_r2_block_stride(rs1, rs2);
  const int64_t last = to.row + (int64_t)(s.rows - 1) * stride + further * block_stride;
  if (!s.from.accumulator && last >= s.from.row && (int64_t)to.row < (int64_t)s.from.row + s.rows + further * dim)
    return sim_judge_fail(j, "a store onto itself");
  if (!judge_activation(j, &s)) return false;
  for (uint32_t i = 0; i < s.rows; i++) {
    if (!store_source(j, &s, (int64_t)s.from.row + i)) return false;
    for (uint32_t b = 0; b <= further; b++)
      if (!sim_judge_write(j, false, to.row + i * stride + b * block_stride, 0, wf_min(s.cols - b * dim, dim)))
        return false;
  }
  return true;
}

// ---- products

typedef struct operand {
  arch_local at;
  uint32_t rows, cols;
} operand;

static bool read_operand(sim_gen_judge *j, const operand *o, bool transposed, uint32_t stride, sim_judge_span *span) {
  *span = (sim_judge_span){0};
  if (o->at.garbage) return true;
  if (o->rows == 0 || o->cols == 0) return sim_judge_fail(j, "an operand of nothing");
  uint32_t steps = transposed ? o->cols : o->rows, lanes = transposed ? o->rows : o->cols;
  for (uint32_t i = 0; i < steps; i++)
    if (!sim_judge_read(j, o->at.accumulator, (int64_t)o->at.row + (int64_t)i * stride, lanes)) return false;
  *span = (sim_judge_span){.used = true,
                           .accumulator = o->at.accumulator,
                           .first = o->at.row,
                           .last = (int64_t)o->at.row + (int64_t)(steps - 1) * stride};
  return true;
}

static bool apart(sim_judge_span a, sim_judge_span b) {
  return !a.used || !b.used || a.accumulator != b.accumulator || a.last < b.first || b.last < a.first;
}

static bool judge_preload(sim_gen_judge *j, uint64_t rs1, uint64_t rs2) {
  const arch_execute_config *config = &sim_gen_judge_config(j)->execute;
  operand loaded = {.rows = (uint32_t)isa_get_preload_rows(rs1, rs2), .cols = (uint32_t)isa_get_preload_cols(rs1, rs2)};
  garbage_word(j, isa_get_preload_local(rs1, rs2), &loaded.at);
  garbage_word(j, isa_get_preload_dest(rs1, rs2), &j->c);
  j->c_rows = (uint32_t)isa_get_preload_dest_rows(rs1, rs2);
  j->c_cols = (uint32_t)isa_get_preload_dest_cols(rs1, rs2);
  if (j->preloaded) return sim_judge_fail(j, "a preload behind a preload");
  if (!j->c.garbage && (j->c_rows == 0 || j->c_cols == 0)) return sim_judge_fail(j, "a C of nothing");
  j->preloaded = true;
  if (!j->dataflow_known || j->weight_stationary != config->weight_stationary) j->weights_known = false;
  j->dataflow_known = true;
  j->weight_stationary = config->weight_stationary;
  return read_operand(j, &loaded, config->weight_stationary && config->b_transpose, 1, &j->loaded);
}

static bool write_result(sim_gen_judge *j, const sim_judge_span *a, const sim_judge_span *bd) {
  const arch_execute_config *config = &sim_gen_judge_config(j)->execute;
  int64_t stride = config->c_stride_rows;
  if (j->c.garbage) return true;
  if (config->weight_stationary ? stride == 0 && j->c_rows > 1 : stride != 1)
    return sim_judge_fail(j, "C rows %" PRId64 " apart", stride);
  sim_judge_span rows = {.used = true,
                         .accumulator = j->c.accumulator,
                         .first = j->c.row,
                         .last = (int64_t)j->c.row + (int64_t)(j->c_rows - 1) * stride};
  if (!apart(rows, *a) || !apart(rows, *bd) || !apart(rows, j->loaded))
    return sim_judge_fail(j, "C overlaps an operand of its own product");
  for (uint32_t i = 0; i < j->c_rows; i++) {
    int64_t row = (int64_t)j->c.row + i * stride;
    bool adds = j->c.accumulator && j->c.accumulate;
    if ((adds && !sim_judge_read(j, true, row, j->c_cols)) || !sim_judge_write(j, j->c.accumulator, row, 0, j->c_cols))
      return false;
  }
  return true;
}

static bool judge_ws(sim_gen_judge *j, bool preloaded, const operand *a) {
  j->weights_known |= preloaded;
  if (!j->weights_known) return sim_judge_fail(j, "multiplies with unknown weights");
  if (a->at.garbage && !j->c.garbage) return sim_judge_fail(j, "multiplies a garbage A");
  if (!j->c.garbage && j->c_rows > a->rows) return sim_judge_fail(j, "C has more rows than A");
  return true;
}

static bool judge_os(sim_gen_judge *j, bool preloaded, const operand *a) {
  if (a->at.garbage) return sim_judge_fail(j, "adds the product of a garbage A");
  if (preloaded == j->chain_open)
    return sim_judge_fail(j, preloaded ? "a chain begins in the middle of one" : "adds to sums that have left");
  if (!preloaded && j->loaded.used) return sim_judge_fail(j, "a bias in the middle of a chain");
  j->chain_open = j->c.garbage;
  return true;
}

static bool judge_compute(sim_gen_judge *j, bool preloaded, uint64_t rs1, uint64_t rs2) {
  const arch_execute_config *config = &sim_gen_judge_config(j)->execute;
  bool ws = config->weight_stationary;
  operand a = {.rows = (uint32_t)isa_get_compute_preloaded_a_rows(rs1, rs2),
               .cols = (uint32_t)isa_get_compute_preloaded_a_cols(rs1, rs2)};
  operand bd = {.rows = (uint32_t)isa_get_compute_preloaded_bd_rows(rs1, rs2),
                .cols = (uint32_t)isa_get_compute_preloaded_bd_cols(rs1, rs2)};
  garbage_word(j, isa_get_compute_preloaded_a(rs1, rs2), &a.at);
  garbage_word(j, isa_get_compute_preloaded_bd(rs1, rs2), &bd.at);
  if (ws && j->array->mesh.bias_garbage) bd.at = arch_local_decode(&j->derived, ARCH_LOCAL_GARBAGE);
  if (!j->preloaded) return sim_judge_fail(j, "a compute without preload");
  if (!(ws ? judge_ws(j, preloaded, &a) : judge_os(j, preloaded, &a))) return false;
  sim_judge_span a_rows, bd_rows;
  j->preloaded = false;
  return read_operand(j, &a, config->a_transpose, config->a_stride_rows, &a_rows) &&
         read_operand(j, &bd, !ws && config->b_transpose, 1, &bd_rows) && write_result(j, &a_rows, &bd_rows);
}

// The configuration has been applied already; what it interrupts was known before.
static bool judge_config_ex(sim_gen_judge *j) {
  if (j->preloaded) return sim_judge_fail(j, "config_ex between a preload and its compute");
  if (j->chain_open) return sim_judge_fail(j, "config_ex in the middle of a chain");
  return true;
}

bool sim_judge_primitive(sim_gen_judge *j, isa_id id, uint64_t rs1, uint64_t rs2) {
  j->primitives++;
  j->completions++;
  switch (id) {
    case ISA_CONFIG_EX:
      return judge_config_ex(j);
    case ISA_CONFIG_LD:
    case ISA_CONFIG_ST:
    case ISA_CONFIG_NORM:
    case ISA_CONFIG_GATE:
      j->completions--;
      return true;
    case ISA_MVIN:
      return judge_load(j, 0, rs1, rs2);
    case ISA_MVIN2:
      return judge_load(j, 1, rs1, rs2);
    case ISA_MVIN3:
      return judge_load(j, 2, rs1, rs2);
    case ISA_MVOUT:
      return judge_store(j, rs1, rs2);
    case ISA_MVOUT_SPAD_R2:
      return judge_spad_store(j, rs1, rs2);
    case ISA_PRELOAD:
      return judge_preload(j, rs1, rs2);
    case ISA_COMPUTE_PRELOADED:
    case ISA_COMPUTE_ACCUMULATED:
      return judge_compute(j, id == ISA_COMPUTE_PRELOADED, rs1, rs2);
    default:  // flush, clock gating, counters, configuration of loops: they enter no reservation station
      j->primitives--;
      j->completions--;
      return true;
  }
}
