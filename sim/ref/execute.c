// SPDX-License-Identifier: Apache-2.0
// Products on the array of processing elements, weight- and output-stationary. See docs/ref-engine.md.
//
// A preload names the stationary operand and the place of the result; the compute behind it multiplies and writes it.
//   weight-stationary  C = D + A * W, W the active weights; compute_preloaded first swaps in the weights of the preload
//   output-stationary  S = S + A * B, compute_preloaded first replaces S by the D of the preload;
//                      C = rounding_shift(S), written with the compute whose preload names a C
// Partial sums have output_bits bits and wrap; wrapping once at the end is the same.
#include <string.h>

#include "sim/ref/numeric.h"
#include "sim/ref/state.h"

typedef struct operand {
  arch_local at;
  uint32_t rows, cols;
} operand;

// `count` elements of one local row; accumulator rows pass activation and scale.
static void read_row(const ref_engine *ref, const arch_local *at, int64_t row, uint32_t count, int8_t *out) {
  const arch_execute_config *c = &ref->config->execute;
  if (at->accumulator)
    ref_scale_row(count, ref_acc_row(ref, row), ref_float_of_bits(c->acc_scale), c->activation == ARCH_ACTIVATION_RELU,
                  out);
  else
    memcpy(out, ref_spad_row(ref, row), count);
}

// The operand as a dim x dim matrix with zeros outside rows x cols. Stored transposed, it has cols rows in local
// memory.
static void read_tile(ref_engine *ref, const operand *o, bool transposed, uint32_t stride, int8_t *out) {
  size_t dim = ref->derived.dim;
  memset(out, 0, dim * dim);
  if (o->at.garbage) return;
  if (!transposed) {
    for (uint32_t i = 0; i < o->rows && o->cols != 0; i++)
      read_row(ref, &o->at, (int64_t)o->at.row + (int64_t)i * stride, o->cols, out + i * dim);
    return;
  }
  for (uint32_t i = 0; i < o->cols && o->rows != 0; i++) {
    read_row(ref, &o->at, (int64_t)o->at.row + (int64_t)i * stride, o->rows, ref->row);
    for (uint32_t j = 0; j < o->rows; j++) out[j * dim + i] = ref->row[j];
  }
}

static void widen_tile(const ref_engine *ref, const int8_t *in, int16_t *out) {
  for (size_t n = 0; n < (size_t)ref->derived.dim * ref->derived.dim; n++) out[n] = in[n];
}

static void write_result_row(ref_engine *ref, const ref_preload *p, int64_t row, const int32_t *in) {
  if (p->c.accumulator) {
    int32_t *to = ref_acc_row(ref, row);
    if (p->c.accumulate)
      ref_add_row(p->c_cols, in, to);
    else
      memcpy(to, in, p->c_cols * sizeof *to);
    return;
  }
  int32_t floor = ref->config->execute.activation == ARCH_ACTIVATION_RELU ? 0 : INT8_MIN;
  int8_t *to = ref_spad_row(ref, row);
  for (uint32_t j = 0; j < p->c_cols; j++) to[j] = ref_clip_int8(in[j] < floor ? floor : in[j]);
}

// Rows of output-stationary results leave from the last one, each c_stride rows before the one that left earlier.
static void write_result(ref_engine *ref, const int32_t *result) {
  const ref_preload *p = &ref->preload;
  const arch_execute_config *c = &ref->config->execute;
  int64_t dim = ref->derived.dim, stride = c->c_stride_rows;
  int64_t first = c->weight_stationary ? p->c.row : (int64_t)p->c.row + (dim - 1) * (1 - stride);
  for (uint32_t i = 0; i < p->c_rows && p->c_cols != 0; i++)
    write_result_row(ref, p, first + i * stride, result + i * dim);
}

// --- weight-stationary -----------------------------------------------------------------------------------------------

static void swap_weights(ref_engine *ref) {
  int16_t *active = ref->weights;
  ref->weights = ref->shadow_weights;
  ref->shadow_weights = active;
}

static void finish_sums(ref_engine *ref, const operand *bias) {
  size_t dim = ref->derived.dim;
  for (uint32_t i = 0; i < ref->preload.c_rows; i++) {
    int32_t *out = ref->tile_c + i * dim;
    memset(ref->row, 0, dim);
    if (!bias->at.garbage && i < bias->rows && bias->cols != 0)
      read_row(ref, &bias->at, (int64_t)bias->at.row + i, bias->cols, ref->row);
    ref_bias_row(dim, ref->row, ref->array->types.output_bits, out);
  }
}

static void compute_ws(ref_engine *ref, bool preloaded, const operand *a, const operand *bias) {
  const arch_execute_config *c = &ref->config->execute;
  if (preloaded) swap_weights(ref);
  if (!ref->preload.armed || ref->preload.c.garbage) return;
  read_tile(ref, a, c->a_transpose, c->a_stride_rows, ref->tile_a);
  size_t depth = a->at.garbage ? 0 : a->cols;
  ref_multiply(ref->derived.dim, ref->preload.c_rows, depth, ref->tile_a, ref->weights, ref->tile_c);
  finish_sums(ref, bias);
  write_result(ref, ref->tile_c);
}

// --- output-stationary -----------------------------------------------------------------------------------------------

static void start_chain(ref_engine *ref) {
  size_t elements = (size_t)ref->derived.dim * ref->derived.dim;
  memcpy(ref->sums, ref->next_sums, elements * sizeof *ref->sums);
  memset(ref->next_sums, 0, elements * sizeof *ref->next_sums);
}

static void accumulate_sums(ref_engine *ref, size_t rows) {
  uint32_t bits = ref->array->types.output_bits;
  for (size_t n = 0; n < rows * ref->derived.dim; n++)
    ref->sums[n] = ref_wrap((uint32_t)ref->sums[n] + (uint32_t)ref->tile_c[n], bits);
}

static void drain_sums(ref_engine *ref) {
  uint32_t shift = ref->config->execute.in_shift;
  for (size_t n = 0; n < (size_t)ref->derived.dim * ref->derived.dim; n++)
    ref->tile_c[n] = ref_rounding_shift(ref->sums[n], shift);
  write_result(ref, ref->tile_c);
}

static void compute_os(ref_engine *ref, bool preloaded, const operand *a, const operand *b) {
  const arch_execute_config *c = &ref->config->execute;
  if (preloaded) start_chain(ref);
  if (!a->at.garbage && !b->at.garbage) {
    read_tile(ref, b, c->b_transpose, 1, ref->tile_a);
    widen_tile(ref, ref->tile_a, ref->tile_b);
    read_tile(ref, a, c->a_transpose, c->a_stride_rows, ref->tile_a);
    ref_multiply(ref->derived.dim, a->rows, a->cols, ref->tile_a, ref->tile_b, ref->tile_c);
    accumulate_sums(ref, a->rows);
  }
  if (ref->preload.armed && !ref->preload.c.garbage) drain_sums(ref);
}

// --- commands --------------------------------------------------------------------------------------------------------

static void compute(ref_engine *ref, bool preloaded, const operand *a, const operand *bd) {
  if (ref->config->execute.weight_stationary)
    compute_ws(ref, preloaded, a, bd);
  else
    compute_os(ref, preloaded, a, bd);
  ref->preload.armed = false;
}

// A preload without compute still passes through the array: its result is the one of a product of zeros.
static void flush_preload(ref_engine *ref) {
  const operand none = {.at.garbage = true};
  if (!ref->preload.armed || ref->preload.c.garbage) return;
  compute(ref, !ref->config->execute.weight_stationary, &none, &none);
}

void ref_preload_command(ref_engine *ref, uint64_t rs1, uint64_t rs2) {
  const arch_execute_config *c = &ref->config->execute;
  operand loaded = {.at = arch_local_decode(&ref->derived, isa_get_preload_local(rs1, rs2)),
                    .rows = (uint32_t)isa_get_preload_rows(rs1, rs2),
                    .cols = (uint32_t)isa_get_preload_cols(rs1, rs2)};
  flush_preload(ref);
  read_tile(ref, &loaded, c->weight_stationary && c->b_transpose, 1, ref->tile_a);
  if (c->weight_stationary)
    widen_tile(ref, ref->tile_a, ref->shadow_weights);
  else
    for (size_t n = 0; n < (size_t)ref->derived.dim * ref->derived.dim; n++) ref->next_sums[n] = ref->tile_a[n];
  ref->preload = (ref_preload){.armed = true,
                               .c = arch_local_decode(&ref->derived, isa_get_preload_dest(rs1, rs2)),
                               .c_rows = (uint32_t)isa_get_preload_dest_rows(rs1, rs2),
                               .c_cols = (uint32_t)isa_get_preload_dest_cols(rs1, rs2)};
}

void ref_compute(ref_engine *ref, bool preloaded, uint64_t rs1, uint64_t rs2) {
  operand a = {.at = arch_local_decode(&ref->derived, isa_get_compute_preloaded_a(rs1, rs2)),
               .rows = (uint32_t)isa_get_compute_preloaded_a_rows(rs1, rs2),
               .cols = (uint32_t)isa_get_compute_preloaded_a_cols(rs1, rs2)};
  operand bd = {.at = arch_local_decode(&ref->derived, isa_get_compute_preloaded_bd(rs1, rs2)),
                .rows = (uint32_t)isa_get_compute_preloaded_bd_rows(rs1, rs2),
                .cols = (uint32_t)isa_get_compute_preloaded_bd_cols(rs1, rs2)};
  if (ref->config->execute.weight_stationary && ref->array->mesh.bias_garbage) bd.at.garbage = true;
  compute(ref, preloaded, &a, &bd);
}
