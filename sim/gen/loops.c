// SPDX-License-Identifier: Apache-2.0
// Draws loops: matrix loops in series that chain, alternate and pin halves, and convolution loops of whole small layers
// or parts of them. Sizes that do not fit are refused by the judge.
#include "sim/gen/gen_private.h"

// ---- what both need

static void put_config_ex(sim_gen *g, bool a_transpose, bool b_transpose, int64_t a_stride, int64_t c_stride) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_ex(&rs1, &rs2);
  isa_set_config_ex_dataflow(&rs1, &rs2, ISA_CONFIG_EX_DATAFLOW_WS);
  isa_set_config_ex_a_transpose(&rs1, &rs2, a_transpose);
  isa_set_config_ex_b_transpose(&rs1, &rs2, b_transpose);
  isa_set_config_ex_a_stride(&rs1, &rs2, (uint64_t)a_stride);
  isa_set_config_ex_c_stride(&rs1, &rs2, (uint64_t)c_stride);
  isa_set_config_ex_acc_scale(&rs1, &rs2, ARCH_SCALE_ONE);
  sim_gen_put(g, ISA_FUNCT_CONFIG_EX, rs1, rs2);
}

static void put_config_ld(sim_gen *g, uint64_t state, int64_t stride, bool shrink, uint32_t scale) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_ld(&rs1, &rs2);
  isa_set_config_ld_state(&rs1, &rs2, state);
  isa_set_config_ld_shrink(&rs1, &rs2, shrink);
  isa_set_config_ld_pixel_repeats(&rs1, &rs2, 1);
  isa_set_config_ld_block_stride(&rs1, &rs2, g->d.dim);
  isa_set_config_ld_scale(&rs1, &rs2, scale);
  isa_set_config_ld_stride(&rs1, &rs2, (uint64_t)stride);
  sim_gen_put(g, ISA_FUNCT_CONFIG_LD, rs1, rs2);
}

static void put_config_st(sim_gen *g, int64_t stride, int64_t activation, uint32_t scale) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_st(&rs1, &rs2);
  isa_set_config_st_stride(&rs1, &rs2, (uint64_t)stride);
  isa_set_config_st_activation(&rs1, &rs2, (uint64_t)activation);
  isa_set_config_st_acc_scale(&rs1, &rs2, scale);
  sim_gen_put(g, ISA_FUNCT_CONFIG_ST, rs1, rs2);
}

// Puts items [first, group_count) of the group in random order: configuration of a loop may come in any.
static void shuffle(sim_gen *g, size_t first) {
  for (size_t i = g->group_count; i > first + 1; i--) {
    size_t other = first + (size_t)sim_gen_in(&g->r, 0, (int64_t)(i - 1 - first));
    sim_gen_item kept = g->group[i - 1];
    g->group[i - 1] = g->group[other];
    g->group[other] = kept;
  }
}

static bool fits(int64_t bytes, int64_t room) { return bytes > 0 && bytes <= room; }

static uint64_t place(sim_gen *g, uint64_t region, int64_t region_bytes, int64_t bytes) {
  return region + (uint64_t)sim_gen_in(&g->r, 0, region_bytes - bytes);
}

static uint32_t load_scale(sim_gen *g) {
  bool scale = g->array->load.scale_units != 0 && sim_gen_has(g, GEN_SCALE) && sim_gen_one_in(&g->r, 3);
  return scale ? sim_gen_scale(g) : ARCH_SCALE_ONE;
}

static bool relu(sim_gen *g) { return g->array->units.activation && sim_gen_one_in(&g->r, 2); }

// ---- LOOP_WS

typedef struct matmul {
  int64_t i, j, k, pad_i, pad_j, pad_k;
  bool a_transpose, b_transpose, low_d, full_c, accumulate, resadd;
  int64_t a_stride, b_stride, d_stride, c_stride;  // elements
  uint64_t a, b, d, c;
  int64_t a_id, b_id;
  int64_t activation;
} matmul;

static int64_t draw_pad(sim_gen *g) {
  return sim_gen_one_in(&g->r, 2) ? 0 : sim_gen_in(&g->r, 0, (int64_t)g->d.dim - 1);
}

// Rows and columns of an operand in memory, whole tiles: the loads of B read them whole.
static int64_t region(const sim_gen *g, int64_t rows, int64_t cols, int64_t stride, int64_t bytes) {
  int64_t dim = g->d.dim;
  return ((rows * dim - 1) * stride + cols * dim) * bytes;
}

static void draw_sizes(sim_gen *g, matmul *m) {
  int64_t most = g->d.dim > 8 ? 2 : 3;
  m->i = sim_gen_in(&g->r, 1, most), m->j = sim_gen_in(&g->r, 1, most), m->k = sim_gen_in(&g->r, 1, most);
  if (g->d.dim <= 4 && sim_gen_one_in(&g->r, 6)) m->j = sim_gen_in(&g->r, 1, 8);
  m->pad_i = draw_pad(g), m->pad_j = draw_pad(g), m->pad_k = draw_pad(g);
}

static int64_t draw_stride(sim_gen *g, int64_t cols) {
  int64_t elements = cols * g->d.dim;
  return sim_gen_one_in(&g->r, 2) ? elements : elements + sim_gen_in(&g->r, 0, 9);
}

static void draw_strides(sim_gen *g, matmul *m) {
  m->a_stride = draw_stride(g, m->resadd ? m->j : m->a_transpose ? m->i : m->k);
  m->b_stride = draw_stride(g, m->resadd || !m->b_transpose ? m->j : m->k);
  m->d_stride = sim_gen_one_in(&g->r, 4) ? 0 : draw_stride(g, m->j);
  m->c_stride = draw_stride(g, m->j);
}

static bool place_operands(sim_gen *g, matmul *m) {
  int64_t deep = m->resadd ? m->j : m->k, high = m->resadd ? m->i : m->k;
  int64_t a = m->a_transpose ? region(g, deep, m->i, m->a_stride, 1) : region(g, m->i, deep, m->a_stride, 1);
  int64_t b = m->b_transpose ? region(g, m->j, high, m->b_stride, 1) : region(g, high, m->j, m->b_stride, 1);
  int64_t d = region(g, m->i, m->j, m->d_stride, m->low_d ? 1 : g->d.acc_bytes);
  int64_t c = region(g, m->i, m->j, m->c_stride, m->full_c ? g->d.acc_bytes : 1);
  if (!fits(a, g->input_bytes) || !fits(b, g->input_bytes) || !fits(d, g->input_bytes) || !fits(c, g->output_bytes))
    return false;
  m->a = place(g, g->input, g->input_bytes, a);
  m->b = place(g, g->input, g->input_bytes, b);
  m->d = sim_gen_one_in(&g->r, 2) ? place(g, g->input, g->input_bytes, d) : 0;
  m->c = place(g, g->output, g->output_bytes, c);
  return true;
}

static void draw_flags(sim_gen *g, matmul *m) {
  bool transposes = g->array->units.transposer && sim_gen_has(g, GEN_TRANSPOSE);
  int64_t transpose = transposes ? sim_gen_in(&g->r, 0, 2) : 0;
  m->resadd = g->array->isa.revision == 2 && sim_gen_has(g, GEN_RESADD) && sim_gen_one_in(&g->r, 4);
  m->a_transpose = transpose == 1 && !m->resadd;
  m->b_transpose = transpose == 2 && !m->resadd;
  m->low_d = sim_gen_one_in(&g->r, 3);
  m->full_c = g->array->accumulator.full_reads && (sim_gen_one_in(&g->r, 3) || !g->array->accumulator.narrow_reads);
  m->activation = relu(g);
  bool norm = g->array->units.normaliser && sim_gen_has(g, GEN_NORM);
  if (norm && !m->full_c && sim_gen_one_in(&g->r, 3)) m->activation = ARCH_ACTIVATION_LAYERNORM;
}

static void put_matmul_config(sim_gen *g, const matmul *m) {
  uint32_t scale = load_scale(g);
  put_config_ex(g, m->a_transpose, m->b_transpose, 1, 1);
  put_config_ld(g, 0, m->a_stride, m->resadd, scale);
  put_config_ld(g, 1, m->b_stride, m->resadd, scale);
  put_config_ld(g, 2, m->d_stride * (m->low_d ? 1 : (int64_t)g->d.acc_bytes), m->low_d, load_scale(g));
  put_config_st(g, m->c_stride * (m->full_c ? (int64_t)g->d.acc_bytes : 1), m->activation, sim_gen_scale(g));
}

// Parts of the run command that revision 2 adds: operands that stay where an earlier loop put them.
static uint64_t skips(sim_gen *g, matmul *m, bool first) {
  if (g->array->isa.revision != 2) return 0;
  uint64_t bits = m->resadd ? 1 << 2 : 0;
  if (m->resadd || first) return bits;
  if (m->a_id != 0 && sim_gen_one_in(&g->r, 3)) bits |= 1 << 3;
  if (m->b_id != 0 && sim_gen_one_in(&g->r, 3)) bits |= 1 << 4;
  if (sim_gen_one_in(&g->r, 6)) bits |= 1 << 5;
  return bits;
}

static void put_matmul(sim_gen *g, matmul *m, bool first, bool last) {
  size_t begin = g->group_count;
  bool chain = !last && sim_gen_one_in(&g->r, 2);
  uint64_t d = first || sim_gen_one_in(&g->r, 4) ? m->d : 0;
  sim_gen_put(g, ISA_FUNCT_LOOP_WS_BOUNDS, (uint64_t)m->pad_k << 32 | (uint64_t)m->pad_j << 16 | (uint64_t)m->pad_i,
              (uint64_t)m->k << 32 | (uint64_t)m->j << 16 | (uint64_t)m->i);
  sim_gen_put(g, ISA_FUNCT_LOOP_WS_ADDRS_AB, m->a, m->b);
  sim_gen_put(g, ISA_FUNCT_LOOP_WS_ADDRS_DC, d, chain ? 0 : m->c);
  sim_gen_put(g, ISA_FUNCT_LOOP_WS_STRIDES_AB, (uint64_t)m->a_stride, (uint64_t)m->b_stride);
  sim_gen_put(g, ISA_FUNCT_LOOP_WS_STRIDES_DC, (uint64_t)m->d_stride, (uint64_t)m->c_stride);
  shuffle(g, begin);
  if (g->array->isa.revision == 2 && sim_gen_one_in(&g->r, 2)) {
    m->a_id = sim_gen_in(&g->r, 0, 2);
    m->b_id = sim_gen_in(&g->r, 0, 2);
  }
  bool accumulate = d != 0 || !first || sim_gen_one_in(&g->r, 4);
  uint64_t rs1 = (uint64_t)accumulate | (uint64_t)m->full_c << 1 | (uint64_t)m->low_d << 2 |
                 (uint64_t)m->activation << 8 | (uint64_t)m->b_id << 16 | (uint64_t)m->a_id << 18;
  sim_gen_put(g, ISA_FUNCT_LOOP_WS, rs1, (uint64_t)m->a_transpose | (uint64_t)m->b_transpose << 1 | skips(g, m, first));
}

void sim_gen_loop_ws(sim_gen *g) {
  if (!g->array->units.loop_matmul) return;
  matmul m = {0};
  draw_flags(g, &m);
  draw_sizes(g, &m);
  draw_strides(g, &m);
  if (!place_operands(g, &m)) return;
  put_matmul_config(g, &m);
  if (!sim_gen_commit(g)) return;
  int64_t loops = sim_gen_in(&g->r, 1, 4);
  bool begun = false;
  for (int64_t n = 0; n < loops; n++) {
    if (n != 0 && !place_operands(g, &m)) return;
    put_matmul(g, &m, !begun, n + 1 == loops);
    begun |= sim_gen_commit(g);
  }
}

// ---- LOOP_CONV_WS

typedef struct side {
  int64_t in, out, pool;        // of the image
  int64_t outs, before, after;  // of the tile: outputs before pooling, padding
  int64_t pool_outs, pool_before, pool_after;
} side;

typedef struct conv {
  int64_t batch, in_channels, out_channels, kernel, kernel_rows, kernel_cols, stride, padding, dilation;
  int64_t pool_size, pool_stride, pool_padding;
  int64_t kchs, pochs, pixels;
  int64_t in_stride, weight_stride, out_stride;
  bool depthwise, downsample, dilated, rotate, pooled, no_bias;
  bool out_1203, weight_1203, weight_0132, in_3120;
  side row, col;
  uint64_t input, weights, bias, output;
  bool stores, has_bias;
  int64_t a_id, b_id;
} conv;

static int64_t spread(const conv *c, int64_t pixels) { return c->dilated ? 2 * pixels - 1 : pixels; }
static int64_t window(int64_t kernel, int64_t dilation) { return kernel + (dilation - 1) * (kernel - 1); }

// Sizes along one side; the tile begins at the first output and may end early. False: nothing comes out.
static bool draw_side(sim_gen *g, conv *c, side *s, int64_t kernel) {
  int64_t outs = spread(c, s->in) + 2 * c->padding - window(c->kernel, c->dilation);
  if (outs < 0) return false;
  s->out = outs / c->stride + 1;
  int64_t pools = s->out + 2 * c->pool_padding - c->pool_size;
  if (pools < 0) return false;
  s->pool = pools / c->pool_stride + 1;
  s->pool_outs = sim_gen_one_in(&g->r, 3) ? sim_gen_in(&g->r, 1, s->pool) : s->pool;
  int64_t extent = s->pool_outs * c->pool_stride + c->pool_size - 1;
  s->pool_before = c->pool_padding;
  s->pool_after = wf_max(0, extent - c->pool_padding - s->out);
  s->outs = extent - s->pool_before - s->pool_after;
  if (s->outs < 1) return false;
  int64_t ins = s->outs * c->stride + window(kernel, c->dilation) - 1, end = ins - c->padding;
  s->before = c->padding;
  s->after = wf_max(0, end - spread(c, s->in));
  if (c->dilated && s->after == 0 && end % 2 != 1) s->after = 1;
  return ins - s->before - s->after >= 1;
}

static void draw_transposes(sim_gen *g, conv *c) {
  int64_t which = sim_gen_in(&g->r, 1, 7);
  c->out_1203 = which & 1;
  c->weight_1203 = (which & 2) != 0;
  c->in_3120 = (which & 4) != 0;
  c->weight_0132 = !c->weight_1203 && !c->in_3120 && sim_gen_one_in(&g->r, 2);
  c->rotate = sim_gen_one_in(&g->r, 3);
  if (c->in_3120) c->batch = sim_gen_in(&g->r, 1, 2 * (int64_t)g->d.dim);
}

static void draw_mode(sim_gen *g, conv *c) {
  bool training = g->array->units.training_conv,
       transposes = g->array->units.transposer && sim_gen_has(g, GEN_TRANSPOSE);
  int64_t mode = sim_gen_in(&g->r, 0, 5);
  if (mode == 1 && g->array->units.max_pool && sim_gen_has(g, GEN_POOL)) {
    c->pooled = true;
    c->pool_size = sim_gen_in(&g->r, 1, 3), c->pool_stride = sim_gen_in(&g->r, 1, 3);
    c->pool_padding = c->pool_size > 1 ? sim_gen_in(&g->r, 0, 1) : 0;
  }
  if (mode == 2 && g->array->units.depthwise_conv) {
    c->depthwise = true;
    c->in_channels = c->out_channels = sim_gen_in(&g->r, 1, 5);
  }
  if (mode == 3) {
    c->downsample = true;
    c->kernel = c->dilation = 1, c->stride = 2, c->padding = 0;
    c->row.in += c->row.in % 2, c->col.in += c->col.in % 2;
  }
  if (mode == 4 && training && transposes) draw_transposes(g, c);
  if (mode == 5 && training) {
    c->dilated = true;
    c->stride = 1;
    c->rotate = sim_gen_one_in(&g->r, 2);
    c->weight_0132 = transposes && sim_gen_one_in(&g->r, 2);
  }
}

static void draw_layer(sim_gen *g, conv *c) {
  int64_t dim = g->d.dim, most = dim > 8 ? 6 : 8;
  c->batch = sim_gen_in(&g->r, 1, 2);
  c->row.in = sim_gen_in(&g->r, 1, most);
  c->col.in = g->array->isa.revision == 1 ? c->row.in : sim_gen_in(&g->r, 1, most);
  c->in_channels = sim_gen_in(&g->r, 1, sim_gen_one_in(&g->r, 2) ? 3 : 2 * dim + 1);
  c->out_channels = sim_gen_in(&g->r, 1, 2 * dim + 1);
  c->kernel = sim_gen_in(&g->r, 1, 3);
  c->stride = sim_gen_in(&g->r, 1, 2);
  c->padding = sim_gen_in(&g->r, 0, wf_min(2, c->kernel - 1));
  c->dilation = sim_gen_one_in(&g->r, 3) ? sim_gen_in(&g->r, 1, 3) : 1;
  c->pool_size = c->pool_stride = 1;
  draw_mode(g, c);
}

static void draw_tile(sim_gen *g, conv *c) {
  c->kernel_rows = c->rotate || sim_gen_one_in(&g->r, 2) ? c->kernel : sim_gen_in(&g->r, 1, c->kernel);
  c->kernel_cols = c->rotate || sim_gen_one_in(&g->r, 2) ? c->kernel : sim_gen_in(&g->r, 1, c->kernel);
  c->kchs = c->depthwise ? 1 : sim_gen_one_in(&g->r, 2) ? c->in_channels : sim_gen_in(&g->r, 1, c->in_channels);
  c->pochs = c->depthwise ? 1 : sim_gen_one_in(&g->r, 2) ? c->out_channels : sim_gen_in(&g->r, 1, c->out_channels);
  bool transposed = c->out_1203 || c->weight_1203 || c->weight_0132 || c->in_3120;
  bool stretch = g->array->isa.revision == 2 && !transposed && sim_gen_one_in(&g->r, 2);
  c->in_stride = c->in_channels + (stretch ? sim_gen_in(&g->r, 0, 5) : 0);
  c->out_stride = c->out_channels + (stretch ? sim_gen_in(&g->r, 0, 5) : 0);
  c->weight_stride = c->out_channels + (stretch ? sim_gen_in(&g->r, 0, 5) : 0);
  bool folds = g->array->units.pixel_repeat && sim_gen_has(g, GEN_PIXEL_REPEAT) && !transposed && !c->dilated &&
               !c->downsample && c->dilation == 1 && c->kchs <= g->d.dim;
  c->pixels = folds ? sim_gen_in(&g->r, 0, wf_min(c->kernel_cols, g->d.dim / c->kchs)) : sim_gen_in(&g->r, 0, 1);
}

static bool place_tensors(sim_gen *g, conv *c) {
  int64_t pixels = c->batch * c->row.in * c->col.in, outs = c->batch * c->row.pool * c->col.pool;
  int64_t input = pixels * (c->in_3120 ? c->in_channels : c->in_stride);
  int64_t taps = c->kernel * c->kernel, weights = taps * c->in_channels * wf_max(c->weight_stride, c->out_channels);
  int64_t output = outs * wf_max(c->out_stride, c->out_channels);
  if (!fits(input, g->input_bytes) || !fits(weights, g->input_bytes) || !fits(output, g->output_bytes)) return false;
  c->input = place(g, g->input, g->input_bytes, input);
  c->weights = place(g, g->input, g->input_bytes, weights);
  c->output = place(g, g->output, g->output_bytes, output);
  c->bias = place(g, g->input, g->input_bytes, 4 * c->out_channels);
  return true;
}

#define AT(value, shift) ((uint64_t)(value) << (shift))

static void put_sizes_1(sim_gen *g, const conv *c) {
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_1,
              AT(c->out_channels, 48) | AT(c->in_channels, 32) | AT(c->row.in, 16) | AT(c->batch, 0),
              AT(c->padding, 48) | AT(c->stride, 32) | AT(c->row.pool, 16) | AT(c->row.out, 0));
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_2,
              AT(c->kernel, 48) | AT(c->pool_size, 32) | AT(c->pool_stride, 16) | AT(c->pool_padding, 0),
              AT(c->batch, 48) | AT(c->row.pool_outs, 32) | AT(c->col.pool_outs, 16) | AT(c->pochs, 0));
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_3,
              AT(c->kernel_rows, 48) | AT(c->kernel_cols, 32) | AT(c->kchs, 16) | AT(c->col.before, 0),
              AT(c->col.after, 48) | AT(c->row.before, 32) | AT(c->row.after, 16) | AT(c->col.pool_before, 0));
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_4,
              AT(c->row.outs, 48) | AT(c->col.pool_after, 32) | AT(c->row.pool_before, 16) | AT(c->row.pool_after, 0),
              AT(c->dilation, 16) | AT(c->col.outs, 0));
}

static void put_sizes_2(sim_gen *g, const conv *c) {
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_1,
              AT(c->out_channels, 48) | AT(c->in_channels, 32) | AT(c->row.in, 16) | AT(c->batch, 0),
              AT(c->padding, 56) | AT(c->stride, 48) | AT(c->col.out, 32) | AT(c->row.pool, 16) | AT(c->row.out, 0));
  sim_gen_put(
      g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_2,
      AT(c->kernel, 48) | AT(c->col.pool, 32) | AT(c->pool_size, 16) | AT(c->pool_stride, 8) | AT(c->pool_padding, 0),
      AT(c->batch, 48) | AT(c->row.pool_outs, 32) | AT(c->col.pool_outs, 16) | AT(c->pochs, 0));
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_3,
              AT(c->kernel_rows, 48) | AT(c->kernel_cols, 32) | AT(c->kchs, 16) | AT(c->col.before, 0),
              AT(c->col.after, 48) | AT(c->row.before, 32) | AT(c->row.after, 24) | AT(c->col.pool_before, 16) |
                  AT(c->col.in, 0));
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_4,
              AT(c->row.outs, 48) | AT(c->col.pool_after, 32) | AT(c->row.pool_before, 21) | AT(c->row.pool_after, 10) |
                  AT(c->dilation, 0),
              AT(c->in_stride, 48) | AT(c->weight_stride, 32) | AT(c->out_stride, 16) | AT(c->col.outs, 0));
}

static void put_conv(sim_gen *g, const conv *c) {
  size_t begin = g->group_count;
  if (g->array->isa.revision == 1)
    put_sizes_1(g, c);
  else
    put_sizes_2(g, c);
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_5, c->weights, c->stores ? c->output : 0);
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS_CONFIG_6, c->has_bias ? c->bias : 0, c->input);
  shuffle(g, begin);
  sim_gen_put(g, ISA_FUNCT_LOOP_CONV_WS,
              AT(c->no_bias, 0) | AT(c->rotate, 1) | AT(c->out_1203, 2) | AT(c->weight_1203, 3) |
                  AT(c->weight_0132, 4) | AT(c->in_3120, 5) | AT(c->depthwise, 6) | AT(c->pixels, 8) | AT(c->b_id, 16) |
                  AT(c->a_id, 18),
              AT(!c->pooled, 0) | AT(c->downsample, 1) | AT(c->dilated, 2) | AT(relu(g), 3));
}

static void put_conv_config(sim_gen *g, const conv *c) {
  int64_t out_bytes = c->out_1203 ? c->batch * c->out_channels : c->out_stride;
  put_config_ex(g, c->in_3120, c->weight_0132, c->stride >> c->downsample, c->dilated ? 2 : 1);
  put_config_st(g, out_bytes, relu(g), sim_gen_scale(g));
}

void sim_gen_loop_conv(sim_gen *g) {
  if (!g->array->units.loop_conv || !g->array->accumulator.narrow_reads) return;
  conv c = {0};
  draw_layer(g, &c);
  draw_tile(g, &c);
  if (!draw_side(g, &c, &c.row, c.kernel_rows) || !draw_side(g, &c, &c.col, c.kernel_cols)) return;
  if (!place_tensors(g, &c)) return;
  put_conv_config(g, &c);
  if (!sim_gen_commit(g)) return;
  // A chain over parts of the reduction stays in the accumulator until the loop that stores.
  int64_t loops = sim_gen_in(&g->r, 1, 3);
  for (int64_t n = 0; n < loops; n++) {
    c.has_bias = n == 0 || sim_gen_one_in(&g->r, 3);
    c.no_bias = sim_gen_one_in(&g->r, 3);
    c.stores = n + 1 == loops || sim_gen_one_in(&g->r, 2);
    if (g->array->isa.revision == 2 && sim_gen_one_in(&g->r, 3))
      c.a_id = sim_gen_in(&g->r, 0, 2), c.b_id = sim_gen_in(&g->r, 0, 2);
    if (n != 0 && !place_tensors(g, &c)) return;
    put_conv(g, &c);
    sim_gen_commit(g);
  }
}
