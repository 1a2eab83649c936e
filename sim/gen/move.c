// SPDX-License-Identifier: Apache-2.0
// Draws loads and stores with their configuration: every width, stride, scale and mode that the array has.
#include "sim/gen/gen_private.h"

enum { POOL_SIDE = 6 };

// ---- loads

static uint64_t load_stride(sim_gen *g) {
  int64_t dim = g->d.dim;
  if (sim_gen_one_in(&g->r, 6)) return 0;
  if (sim_gen_one_in(&g->r, 2))
    return (uint64_t)(sim_gen_one_in(&g->r, 2) ? 16 * sim_gen_in(&g->r, 1, 8) : 4 * sim_gen_in(&g->r, 1, 2 * dim));
  return (uint64_t)sim_gen_in(&g->r, 1, sim_gen_one_in(&g->r, 4) ? 16 * dim : 4 * dim);
}

void sim_gen_config_ld(sim_gen *g, unsigned state) {
  static const uint32_t repeats[] = {0, 1, 1, 1, 2, 3};
  bool repeat = g->array->units.pixel_repeat && sim_gen_has(g, GEN_PIXEL_REPEAT);
  bool scale = g->array->load.scale_units != 0 && sim_gen_has(g, GEN_SCALE);
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_ld(&rs1, &rs2);
  isa_set_config_ld_state(&rs1, &rs2, state);
  isa_set_config_ld_shrink(&rs1, &rs2, sim_gen_one_in(&g->r, 3));
  isa_set_config_ld_pixel_repeats(&rs1, &rs2, repeat ? GEN_PICK(&g->r, repeats) : 1);
  isa_set_config_ld_block_stride(&rs1, &rs2, (uint64_t)sim_gen_in(&g->r, g->d.dim, 3 * (int64_t)g->d.dim));
  isa_set_config_ld_scale(&rs1, &rs2, scale && sim_gen_one_in(&g->r, 2) ? sim_gen_wild_scale(g) : ARCH_SCALE_ONE);
  isa_set_config_ld_stride(&rs1, &rs2, load_stride(g));
  bool packs = g->array->load.packed_int4 && sim_gen_has(g, GEN_PACKED);
  if (packs) isa_set_config_ld_packed(&rs1, &rs2, sim_gen_one_in(&g->r, 2));
  sim_gen_put(g, ISA_FUNCT_CONFIG_LD, rs1, rs2);
  sim_gen_commit(g);
}

// An address such that `bytes` from there on lie in a region; often aligned to something.
static uint64_t draw_address(sim_gen *g, uint64_t region, int64_t region_bytes, int64_t bytes) {
  static const uint64_t alignments[] = {1, 1, 4, 16, 64};
  uint64_t address = region + (uint64_t)sim_gen_in(&g->r, 0, region_bytes - bytes);
  uint64_t aligned = address & ~(GEN_PICK(&g->r, alignments) - 1);
  return aligned < region ? address : aligned;
}

static uint64_t load_address(sim_gen *g, bool wide, int64_t bytes) {
  if (wide && !sim_gen_one_in(&g->r, 4)) return draw_address(g, g->input, g->input_bytes, bytes) & ~UINT64_C(3);
  if (sim_gen_one_in(&g->r, 8)) return draw_address(g, g->output, g->output_bytes, bytes);
  return draw_address(g, g->input, g->input_bytes, bytes);
}

static int64_t load_width(sim_gen *g, const arch_load_config *c, bool wide, bool repeats) {
  int64_t dim = g->d.dim, most = wide ? g->d.max_cols_acc : g->d.max_cols;
  if (repeats) most = dim / c->pixel_repeats;
  if (most > dim && sim_gen_one_in(&g->r, 3)) return sim_gen_in(&g->r, 1, most / dim) * dim;
  return sim_gen_one_in(&g->r, 3) ? wf_min(dim, most) : most < 1 ? 0 : sim_gen_in(&g->r, 1, most);
}

void sim_gen_mvin(sim_gen *g) {
  static const uint8_t functs[] = {ISA_FUNCT_MVIN, ISA_FUNCT_MVIN2, ISA_FUNCT_MVIN3};
  unsigned state = (unsigned)sim_gen_in(&g->r, 0, ARCH_LOAD_STATES - 1);
  const arch_load_config *c = &sim_gen_config(g)->load[state];
  bool repeats = c->pixel_repeats > 1, zeros = c->packed && sim_gen_one_in(&g->r, 6), packed = c->packed && !zeros;
  bool acc = !repeats && !packed && sim_gen_one_in(&g->r, 2), wide = acc && !c->shrink;
  int64_t rows = sim_gen_one_in(&g->r, 2) ? g->d.dim : sim_gen_in(&g->r, 1, g->d.dim);
  int64_t cols = load_width(g, c, wide, repeats), element = wide ? g->d.acc_bytes : 1;
  if (packed) cols &= ~INT64_C(1);
  if (cols == 0) return;  // more copies than lanes
  int64_t row_bytes = packed ? cols / 2 : cols * element, bytes = (rows - 1) * (int64_t)c->stride_bytes + row_bytes;
  if (bytes > g->input_bytes) {
    rows = 1;
    bytes = row_bytes;
  }
  uint32_t local = sim_gen_local(g, acc, rows + (cols - 1) / g->d.dim * c->block_stride_rows);
  if (local == ARCH_LOCAL_GARBAGE) return;
  if (acc && sim_gen_one_in(&g->r, 3)) local |= ISA_LOCAL_ACCUMULATE_MASK;
  bool nothing = c->packed ? zeros : sim_gen_one_in(&g->r, 6);
  uint64_t address = nothing ? 0 : load_address(g, wide, bytes);
  sim_gen_put(g, functs[state], address, sim_gen_operand(local, rows, cols));
  sim_gen_commit(g);
}

// ---- stores

static void put_store_mode(sim_gen *g, uint64_t *rs1, uint64_t *rs2) {
  bool pool = g->array->units.max_pool && sim_gen_has(g, GEN_POOL), image = sim_gen_has(g, GEN_IMAGE_STORE);
  if ((!pool && !image) || !sim_gen_one_in(&g->r, 3)) return;
  bool as_image = !pool || (image && sim_gen_one_in(&g->r, 3));
#define SET(field, low, high) isa_set_config_st_##field(rs1, rs2, (uint64_t)sim_gen_in(&g->r, low, high))
  SET(pool_size, 1, 3);
  SET(pool_stride, as_image ? 0 : 1, as_image ? 0 : 3);
  SET(pool_upad, 0, sim_gen_one_in(&g->r, 2) ? 3 : 1);
  SET(pool_lpad, 0, sim_gen_one_in(&g->r, 2) ? 3 : 1);
  SET(orows, 1, POOL_SIDE);
  SET(ocols, 1, POOL_SIDE);
  SET(pool_orows, 1, POOL_SIDE - 2);
  SET(pool_ocols, 1, POOL_SIDE - 2);
  SET(pool_out_dim, 1, POOL_SIDE + 2);
#undef SET
}

void sim_gen_config_st(sim_gen *g) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_st(&rs1, &rs2);
  uint64_t activation = g->array->units.activation ? (uint64_t)sim_gen_in(&g->r, 0, 1) : 0;
  uint64_t polynomial = g->array->units.normaliser ? 3 : (uint64_t)sim_gen_in(&g->r, 2, 3);
  if (sim_gen_one_in(&g->r, 8) && sim_gen_has(g, GEN_NORM)) activation = polynomial;
  isa_set_config_st_activation(&rs1, &rs2, activation);
  isa_set_config_st_stride(&rs1, &rs2, (uint64_t)sim_gen_in(&g->r, 0, 4 * (int64_t)g->d.dim));
  uint32_t scale = sim_gen_one_in(&g->r, 4)   ? ARCH_SCALE_KEEP
                   : sim_gen_one_in(&g->r, 2) ? sim_gen_scale(g)
                                              : sim_gen_wild_scale(g);
  isa_set_config_st_acc_scale(&rs1, &rs2, scale);
  put_store_mode(g, &rs1, &rs2);
  sim_gen_put(g, ISA_FUNCT_CONFIG_ST, rs1, rs2);
  sim_gen_commit(g);
}

static bool draw_full(sim_gen *g, bool acc, bool pool) {
  bool full = g->array->accumulator.full_reads, narrow = g->array->accumulator.narrow_reads;
  if (!acc || pool || !full) return false;
  return !narrow || sim_gen_one_in(&g->r, 3);
}

typedef struct shape {
  int64_t rows, cols, extent, bytes;
} shape;

// Rows, columns, local rows and memory bytes of a store in the mode at hand.
static shape store_shape(sim_gen *g, bool full) {
  const arch_store_config *c = &sim_gen_config(g)->store;
  arch_store_mode mode = arch_config_store_mode(c);
  bool single = full || mode != ARCH_STORE_ROWS;
  int64_t dim = g->d.dim, element = full ? g->d.acc_bytes : 1;
  shape s = {.rows = sim_gen_one_in(&g->r, 2) ? dim : sim_gen_in(&g->r, 1, dim),
             .cols = sim_gen_one_in(&g->r, 3) ? dim : sim_gen_in(&g->r, 1, single ? dim : g->d.max_cols)};
  int64_t rows = mode == ARCH_STORE_ROWS ? s.rows : (int64_t)c->orows * c->ocols, last = s.rows - 1;
  if (mode == ARCH_STORE_POOL) last = ((int64_t)c->pool_orows - 1) * c->pool_out_dim + c->pool_ocols - 1;
  if (mode == ARCH_STORE_IMAGE) last = ((int64_t)c->orows - 1) * c->pool_out_dim + c->ocols - 1;
  s.extent = rows + (s.cols - 1) / dim * dim;
  s.bytes = last * (int64_t)c->stride_bytes + s.cols * element;
  return s;
}

void sim_gen_mvout(sim_gen *g) {
  bool acc = sim_gen_one_in(&g->r, 2), pool = arch_config_store_mode(&sim_gen_config(g)->store) == ARCH_STORE_POOL;
  bool full = draw_full(g, acc, pool);
  if (acc && !full && !g->array->accumulator.narrow_reads) return;
  shape s = store_shape(g, full);
  if (s.bytes > g->output_bytes) return;
  uint32_t local = sim_gen_local(g, acc, s.extent);
  if (local == ARCH_LOCAL_GARBAGE) return;
  if (full) local |= ISA_LOCAL_FULL_MASK;
  sim_gen_put(g, ISA_FUNCT_MVOUT, draw_address(g, g->output, g->output_bytes, s.bytes),
              sim_gen_operand(local, s.rows, s.cols));
  sim_gen_commit(g);
}

// ---- stores through the gate

static void put_config_gate(sim_gen *g, bool on, int64_t offset) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_gate(&rs1, &rs2);
  isa_set_config_gate_on(&rs1, &rs2, on);
  isa_set_config_gate_offset(&rs1, &rs2, (uint64_t)offset & UINT32_MAX);
  isa_set_config_gate_scale(&rs1, &rs2, sim_gen_one_in(&g->r, 2) ? sim_gen_scale(g) : sim_gen_wild_scale(g));
  sim_gen_put(g, ISA_FUNCT_CONFIG_GATE, rs1, rs2);
}

static void put_gated_store(sim_gen *g, uint32_t local, const shape *s) {
  sim_gen_put(g, ISA_FUNCT_MVOUT, draw_address(g, g->output, g->output_bytes, s->bytes),
              sim_gen_operand(local, s->rows, s->cols));
}

// On, a store or two, now and then one that the gate lets through, off. Loops find the gate off.
void sim_gen_gated_stores(sim_gen *g) {
  if (!g->array->units.gate || arch_config_store_mode(&sim_gen_config(g)->store) != ARCH_STORE_ROWS) return;
  for (int64_t n = sim_gen_in(&g->r, 1, 3); n > 0; n--) {
    const shape s = store_shape(g, false);
    const uint32_t from = sim_gen_local(g, true, s.extent), by = sim_gen_local(g, false, s.extent);
    if (s.bytes > g->output_bytes || from == ARCH_LOCAL_GARBAGE || by == ARCH_LOCAL_GARBAGE) break;
    put_config_gate(g, true, (int64_t)isa_local_row(by) - (int64_t)isa_local_row(from));
    put_gated_store(g, from, &s);
    if (sim_gen_one_in(&g->r, 4)) put_gated_store(g, by, &s);
  }
  put_config_gate(g, false, 0);
  sim_gen_commit(g);
}

void sim_gen_mvout_spad(sim_gen *g) {
  bool acc = sim_gen_one_in(&g->r, 2) && g->array->accumulator.narrow_reads;
  if (g->array->isa.revision != 2) return;
  int64_t rows = sim_gen_in(&g->r, 1, g->d.dim),
          cols = sim_gen_in(&g->r, 1, sim_gen_one_in(&g->r, 2) ? g->d.dim : g->d.max_cols),
          stride = sim_gen_in(&g->r, 1, 3), block_stride = sim_gen_in(&g->r, 0, 2 * g->d.dim);
  const int64_t further = (cols - 1) / g->d.dim;
  uint32_t from = sim_gen_local(g, acc, rows + further * g->d.dim),
           to = sim_gen_local(g, false, (rows - 1) * stride + further * block_stride + 1);
  if (from == ARCH_LOCAL_GARBAGE || to == ARCH_LOCAL_GARBAGE) return;
  uint64_t rs1 = 0, rs2 = sim_gen_operand(from, rows, cols);
  isa_set_mvout_spad_r2_dest(&rs1, &rs2, to);
  isa_set_mvout_spad_r2_stride(&rs1, &rs2, (uint64_t)stride);
  isa_set_mvout_spad_r2_block_stride(&rs1, &rs2, (uint64_t)block_stride);
  sim_gen_put(g, ISA_FUNCT_MVOUT_SPAD, rs1, rs2);
  sim_gen_commit(g);
}

// ---- normalisation: statistics of a few rows of the accumulator, then the rows themselves

static void put_config_norm(sim_gen *g, uint64_t set, bool softmax, bool inverse) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_norm(&rs1, &rs2);
  isa_set_config_norm_stats_id(&rs1, &rs2, set);
  isa_set_config_norm_activation_msb(&rs1, &rs2, softmax);
  isa_set_config_norm_qln2_inverse(&rs1, &rs2, inverse);
  isa_set_config_norm_ln2(&rs1, &rs2, (uint64_t)(inverse ? sim_gen_in(&g->r, 1, 4000) : sim_gen_in(&g->r, 1, 2000)));
  isa_set_config_norm_qb(&rs1, &rs2, (uint64_t)sim_gen_in(&g->r, -2000, 2000) & UINT32_MAX);
  isa_set_config_norm_qc(&rs1, &rs2, (uint64_t)sim_gen_in(&g->r, -2000, 20000) & UINT32_MAX);
  sim_gen_put(g, ISA_FUNCT_CONFIG_NORM, rs1, rs2);
}

static void put_norm_store(sim_gen *g, uint32_t local, arch_norm norm, int64_t cols) {
  sim_gen_put(g, ISA_FUNCT_MVOUT, g->output, sim_gen_operand(isa_local_with_norm(local, (uint32_t)norm), 1, cols));
}

static void put_plain_config_st(sim_gen *g, arch_activation activation) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_st(&rs1, &rs2);
  isa_set_config_st_activation(&rs1, &rs2, (uint64_t)activation & 3);
  isa_set_config_st_stride(&rs1, &rs2, g->d.dim);
  isa_set_config_st_acc_scale(&rs1, &rs2, sim_gen_scale(g));
  sim_gen_put(g, ISA_FUNCT_CONFIG_ST, rs1, rs2);
}

void sim_gen_norm_store(sim_gen *g) {
  static const arch_norm layernorm[] = {ARCH_NORM_SUM, ARCH_NORM_MEAN, ARCH_NORM_VARIANCE, ARCH_NORM_INV_STDDEV};
  static const arch_norm softmax[] = {ARCH_NORM_MAX, ARCH_NORM_MAX, ARCH_NORM_SUM_EXP, ARCH_NORM_INV_SUM_EXP};
  if (!g->array->units.normaliser) return;
  bool soft = sim_gen_one_in(&g->r, 2);
  int64_t rows = sim_gen_in(&g->r, 1, wf_min(g->d.dim, 3)), cols = sim_gen_in(&g->r, 1, g->d.dim);
  uint32_t local = sim_gen_local(g, true, rows);
  if (local == ARCH_LOCAL_GARBAGE) return;
  put_plain_config_st(g, soft ? ARCH_ACTIVATION_SOFTMAX : ARCH_ACTIVATION_LAYERNORM);
  for (int64_t row = 0; row < rows; row++) {
    uint64_t set = (uint64_t)sim_gen_in(&g->r, 0, (int64_t)g->d.norm_stats - 1);
    put_config_norm(g, set, soft, sim_gen_one_in(&g->r, 2));
    for (int step = 0; step < 4; step++)
      put_norm_store(g, local + (uint32_t)row, soft ? softmax[step] : layernorm[step], cols);
    put_norm_store(g, local + (uint32_t)row, ARCH_NORM_NONE, cols);
  }
  sim_gen_commit(g);
}
