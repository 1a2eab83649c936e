// SPDX-License-Identifier: Apache-2.0
// Block programs for the tests of expansion, written as text.
#include "compiler/schedule/tests/shapes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

typedef struct text {
  char bytes[8192];
  size_t length;
} text;

static void WF_PRINTF(2, 3) add(text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  t->length += (size_t)vsnprintf(t->bytes + t->length, sizeof t->bytes - t->length, format, args);
  va_end(args);
}

static void default_mapping(map_mapping *m) {
  *m = (map_mapping){0};
  for (int d = 0; d < BLOCK_DIMS; d++) m->tile[d] = m->sp[d] = m->dram[d] = 1;
  for (int d = 0; d < BLOCK_DIMS; d++) m->outer[d] = m->inner[d] = (uint8_t)d;
}

static void set_order(map_mapping *m, const block_dim_id order[BLOCK_DIMS]) {
  for (int d = 0; d < BLOCK_DIMS; d++) m->outer[d] = (uint8_t)order[d];
}

static void set_depths(map_mapping *m, const int depth[3]) {
  for (int o = 0; o < MAP_OPERANDS; o++) m->depth[o] = (uint8_t)(depth[o] == 0 ? 1 : depth[o]);
}

block_program *shapes_make_gemm(const shapes_gemm *g, map_mapping *mapping, wf_diag *diag) {
  text t = {.length = 0};
  int64_t tm = g->tile[0], tn = g->tile[1], tk = g->tile[2];
  const char *out_type = g->full ? "i32" : "i8", *sum_over = g->bias ? "" : " sum_over k";
  add(&t, "program gemm%s%s\n", g->loop ? " style loop" : "", g->output_stationary ? " dataflow os" : "");
  add(&t, "tensor a i8[%" PRId64 "] read\ntensor b i8[%" PRId64 "] read\n", g->m * g->k, g->k * g->n);
  add(&t, "tensor bias i32[%" PRId64 "] read\ntensor c %s[%" PRId64 "] write\n", g->n, out_type, g->m * g->n);
  add(&t, "loop m %" PRId64 " parallel dim P\nloop n %" PRId64 " parallel dim K\nloop k %" PRId64 " dim C\n",
      wf_ceil_div(g->m, tm), wf_ceil_div(g->n, tn), wf_ceil_div(g->k, tk));
  add(&t, "buffer at i8[%" PRId64 ", %" PRId64 "] sp\n", g->a_transposed ? tk : tm, g->a_transposed ? tm : tk);
  add(&t, "buffer bt i8[%" PRId64 ", %" PRId64 "] sp\n", g->b_transposed ? tn : tk, g->b_transposed ? tk : tn);
  add(&t, "buffer sum i32[%" PRId64 ", %" PRId64 "] acc\n", tm, tn);
  add(&t, "for %s {\nfor %s {\n", g->n_outside ? "n" : "m", g->n_outside ? "m" : "n");
  if (g->bias)
    add(&t,
        "load sum = bias[0:%" PRId64 " of %" PRId64 " stride 0, n*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1]\n",
        tm, tm, tn, tn, g->n);
  add(&t, "for k {\n");
  if (g->a_transposed)
    add(&t,
        "load at = a[k*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", m*%" PRId64 ":%" PRId64 " of %" PRId64
        " stride 1]\n",
        tk, tk, g->k, g->m, tm, tm, g->m);
  else
    add(&t,
        "load at = a[m*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", k*%" PRId64 ":%" PRId64 " of %" PRId64
        " stride 1]\n",
        tm, tm, g->m, g->k, tk, tk, g->k);
  if (g->b_transposed)
    add(&t,
        "load bt = b[n*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", k*%" PRId64 ":%" PRId64 " of %" PRId64
        " stride 1]\n",
        tn, tn, g->n, g->k, tk, tk, g->k);
  else
    add(&t,
        "load bt = b[k*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", n*%" PRId64 ":%" PRId64 " of %" PRId64
        " stride 1]\n",
        tk, tk, g->k, g->n, tn, tn, g->n);
  add(&t, "dot sum %s at%s * bt%s%s\n}\n", g->bias ? "+=" : "=", g->a_transposed ? ".T" : "",
      g->b_transposed ? ".T" : "", sum_over);
  add(&t,
      "store c[m*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", n*%" PRId64 ":%" PRId64 " of %" PRId64
      " stride 1] = sum",
      tm, tm, g->m, g->n, tn, tn, g->n);
  if (g->relu) add(&t, " relu");
  if (!g->full) add(&t, " scale %g", (double)g->scale);
  add(&t, "\n}\n}\n");
  const block_dim_id order[BLOCK_DIMS] = {g->n_outside ? BLOCK_DIM_K : BLOCK_DIM_P,
                                          g->n_outside ? BLOCK_DIM_P : BLOCK_DIM_K,
                                          BLOCK_DIM_C,
                                          BLOCK_DIM_N,
                                          BLOCK_DIM_Q,
                                          BLOCK_DIM_R,
                                          BLOCK_DIM_S};
  default_mapping(mapping);
  set_order(mapping, order);
  set_depths(mapping, g->depth);
  mapping->tile[BLOCK_DIM_P] = tm;
  mapping->tile[BLOCK_DIM_K] = tn;
  mapping->tile[BLOCK_DIM_C] = tk;
  mapping->residency[MAP_INPUTS] = (uint8_t)(g->loop ? MAP_POSITIONS : g->inputs_outside);
  mapping->residency[MAP_WEIGHTS] = (uint8_t)(g->loop ? MAP_POSITIONS : g->weights_outside);
  return block_parse("gemm", t.bytes, t.length, diag);
}

block_program *shapes_make_conv(const shapes_conv *c, map_mapping *mapping, wf_diag *diag) {
  text t = {.length = 0};
  int64_t rows = (c->p - 1) * c->stride + c->window - 2 * c->padding,
          cols = (c->q - 1) * c->stride + c->window - 2 * c->padding;
  int64_t image = rows * cols * c->c, result = c->p * c->q * c->k;
  add(&t, "program conv\n");
  add(&t, "tensor x i8[%" PRId64 "] read\ntensor w i8[%" PRId64 "] read\n", c->n * image,
      c->window * c->window * c->c * c->k);
  add(&t, "tensor bias i32[%" PRId64 "] read\ntensor y i8[%" PRId64 "] write\n", c->k, c->n * result);
  add(&t, "loop n %" PRId64 " parallel dim N\nloop p %" PRId64 " parallel dim P\nloop k %" PRId64 " parallel dim K\n",
      c->n, wf_ceil_div(c->p, c->tile_p), wf_ceil_div(c->k, c->tile_k));
  add(&t, "loop r %" PRId64 " dim R\nloop s %" PRId64 " dim S\nloop c %" PRId64 " dim C\n", c->window, c->window,
      wf_ceil_div(c->c, c->tile_c));
  add(&t, "buffer xt i8[1, %" PRId64 ", %" PRId64 ", %" PRId64 "] sp\n", c->tile_p, c->q, c->tile_c);
  add(&t, "buffer wt i8[1, 1, %" PRId64 ", %" PRId64 "] sp\n", c->tile_c, c->tile_k);
  add(&t, "buffer sum i32[1, %" PRId64 ", %" PRId64 ", %" PRId64 "] acc\n", c->tile_p, c->q, c->tile_k);
  add(&t, "for n {\nfor %s {\nfor %s {\n", c->k_outside ? "k" : "p", c->k_outside ? "p" : "k");
  add(&t,
      "load sum = bias[0:1 of 1 stride 0, 0:%" PRId64 " of %" PRId64 " stride 0, 0:%" PRId64 " of %" PRId64
      " stride 0, k*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1]\n",
      c->tile_p, c->tile_p, c->q, c->q, c->tile_k, c->tile_k, c->k);
  add(&t, "for r {\nfor s {\nfor c {\n");
  add(&t,
      "load xt = x[n:1 of %" PRId64 " stride %" PRId64 ", p*%" PRId64 "+r-%" PRId64 ":%" PRId64 " step %" PRId64
      " of %" PRId64 " stride %" PRId64,
      c->n, image, c->tile_p * c->stride, c->padding, c->tile_p, c->stride, rows, cols * c->c);
  add(&t,
      ", s-%" PRId64 ":%" PRId64 " step %" PRId64 " of %" PRId64 " stride %" PRId64 ", c*%" PRId64 ":%" PRId64
      " of %" PRId64 " stride 1]\n",
      c->padding, c->q, c->stride, cols, c->c, c->tile_c, c->tile_c, c->c);
  add(&t,
      "load wt = w[r:1 of %" PRId64 " stride %" PRId64 ", s:1 of %" PRId64 " stride %" PRId64 ", c*%" PRId64 ":%" PRId64
      " of %" PRId64 " stride %" PRId64 ", k*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1]\n",
      c->window, c->window * c->c * c->k, c->window, c->c * c->k, c->tile_c, c->tile_c, c->c, c->k, c->tile_k,
      c->tile_k, c->k);
  add(&t, "dot sum += xt * wt\n}\n}\n}\n");
  add(&t,
      "store y[n:1 of %" PRId64 " stride %" PRId64 ", p*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64
      ", 0:%" PRId64 " of %" PRId64 " stride %" PRId64 ", k*%" PRId64 ":%" PRId64 " of %" PRId64
      " stride 1] = sum scale %g\n}\n}\n}\n",
      c->n, result, c->tile_p, c->tile_p, c->p, c->q * c->k, c->q, c->q, c->k, c->tile_k, c->tile_k, c->k,
      (double)c->scale);
  const block_dim_id order[BLOCK_DIMS] = {BLOCK_DIM_N,
                                          c->k_outside ? BLOCK_DIM_K : BLOCK_DIM_P,
                                          c->k_outside ? BLOCK_DIM_P : BLOCK_DIM_K,
                                          BLOCK_DIM_R,
                                          BLOCK_DIM_S,
                                          BLOCK_DIM_C,
                                          BLOCK_DIM_Q};
  default_mapping(mapping);
  set_order(mapping, order);
  set_depths(mapping, c->depth);
  mapping->residency[MAP_INPUTS] = (uint8_t)c->inputs_outside;
  mapping->residency[MAP_WEIGHTS] = (uint8_t)c->weights_outside;
  return block_parse("conv", t.bytes, t.length, diag);
}

command_program *shapes_compile(block_program *program, const map_mapping *mapping, const hw_array *array,
                                wf_diag *diag) {
  if (!pass_hoist(program, mapping, array, diag) || !pass_buffers(program, mapping, array, diag)) return NULL;
  return sched_commands(program, &(sched_options){.array = array, .costs = &cost_fitted}, diag);
}
