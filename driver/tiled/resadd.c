// SPDX-License-Identifier: Apache-2.0
// Elementwise sum of two int8 matrices: both are loaded into the accumulator, scaled on the way, the second added to
// the first.
#include "driver/tiled/tile.h"
#include "weft/loops.h"

enum { LOAD_A, LOAD_B };

static enum weft_status check(const struct weft_resadd *r) {
  if (r->m == 0 || r->n == 0 || r->a == NULL || r->b == NULL || r->c == NULL) return WEFT_BAD_ARGUMENT;
  if (weft_dense(r->a_stride, r->n) < r->n || weft_dense(r->b_stride, r->n) < r->n ||
      weft_dense(r->c_stride, r->n) < r->n)
    return WEFT_BAD_ARGUMENT;
  bool scaled = weft_scale_bits(r->a_scale) != weft_f32(1.0f) || weft_scale_bits(r->b_scale) != weft_f32(1.0f);
  return scaled && WEFT_LOAD_SCALE_UNITS == 0 ? WEFT_UNSUPPORTED : WEFT_OK;
}

static struct weft_resadd complete(const struct weft_resadd *add) {
  struct weft_resadd r = *add;
  r.a_stride = weft_dense(r.a_stride, r.n);
  r.b_stride = weft_dense(r.b_stride, r.n);
  r.c_stride = weft_dense(r.c_stride, r.n);
  return r;
}

static void configure(const struct weft_resadd *r) {
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS});
  weft_set_load((struct weft_load){.state = LOAD_A, .stride_bytes = r->a_stride, .scale = r->a_scale, .shrink = true});
  weft_set_load((struct weft_load){.state = LOAD_B, .stride_bytes = r->b_stride, .scale = r->b_scale, .shrink = true});
  weft_set_store((struct weft_store){.stride_bytes = r->c_stride, .activation = r->activation, .scale = r->c_scale});
}

enum weft_status weft_tiled_resadd(const struct weft_resadd *add) {
  enum weft_status status = check(add);
  if (status != WEFT_OK) return status;
  struct weft_resadd r = complete(add);
  // One load of each operand at a time, in as many places of the accumulator as there are.
  size_t width = weft_min(WEFT_MAX_BLOCK_LEN, WEFT_ACC_ROWS / WEFT_DIM) * WEFT_DIM;
  size_t places = WEFT_ACC_ROWS / width, turn = 0;
  if (places == 0) return WEFT_TOO_BIG;
  configure(&r);
  for (size_t i = 0; i < r.m; i += WEFT_DIM)
    for (size_t j = 0; j < r.n; j += width) {
      size_t rows = weft_min(WEFT_DIM, r.m - i), cols = weft_min(width, r.n - j);
      size_t place = turn++ % places * width;
      weft_mvin(weft_dram(r.a + i * r.a_stride + j), weft_local_acc(place, 0), cols, rows);
      weft_mvin2(weft_dram(r.b + i * r.b_stride + j), weft_local_acc(place, WEFT_ACC_ADD), cols, rows);
      weft_mvout(weft_dram(r.c + i * r.c_stride + j), weft_local_acc(place, 0), cols, rows);
    }
  return WEFT_OK;
}

enum weft_status weft_tiled_resadd_loop(const struct weft_resadd *add) {
  enum weft_status status = check(add);
  if (status != WEFT_OK) return status;
  if (WEFT_ISA_REVISION < 2 || !WEFT_HAS_LOOP_MATMUL) return WEFT_UNSUPPORTED;
  struct weft_resadd r = complete(add);
  size_t blocks = WEFT_ACC_ROWS / 2 / WEFT_DIM;
  if (blocks == 0) return WEFT_TOO_BIG;
  size_t tile_n = weft_min(blocks, weft_blocks(r.n)), tile_m = weft_min(blocks / tile_n, weft_blocks(r.m));
  configure(&r);
  for (size_t i = 0; i < r.m; i += tile_m * WEFT_DIM)
    for (size_t j = 0; j < r.n; j += tile_n * WEFT_DIM) {
      size_t m = weft_min(tile_m * WEFT_DIM, r.m - i), n = weft_min(tile_n * WEFT_DIM, r.n - j);
      weft_run_loop_matmul(&(struct weft_loop_matmul){.i = weft_blocks(m),
                                                      .j = weft_blocks(n),
                                                      .k = 1,
                                                      .pad_i = weft_blocks(m) * WEFT_DIM - m,
                                                      .pad_j = weft_blocks(n) * WEFT_DIM - n,
                                                      .a = r.a + i * r.a_stride + j,
                                                      .b = r.b + i * r.b_stride + j,
                                                      .c = r.c + i * r.c_stride + j,
                                                      .a_stride = r.a_stride,
                                                      .b_stride = r.b_stride,
                                                      .c_stride = r.c_stride,
                                                      .activation = r.activation,
                                                      .resadd = true});
    }
  return WEFT_OK;
}
