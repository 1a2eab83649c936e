// SPDX-License-Identifier: Apache-2.0
// Residual add: through single instructions on every array, through the matrix loop on revision 2. Ragged sizes, scales
// of both inputs and of the sum, saturation of each, ReLU.
#include "driver/examples/check.h"
#include "weft/tiled.h"

enum { ROWS = 3 * WEFT_DIM + 1, COLS = 5 * WEFT_DIM + 3, STRIDE = COLS + 2 };

// The loop reads whole blocks of rows of B, so there is memory behind it.
static int8_t a[ROWS * STRIDE], b[(ROWS + WEFT_DIM) * STRIDE], c[ROWS * STRIDE], wanted[ROWS * STRIDE];
static int errors;

static void run(enum weft_status (*add)(const struct weft_resadd *), enum weft_status status, struct weft_resadd r) {
  r.a = a, r.b = b, r.c = c;
  r.a_stride = r.b_stride = r.c_stride = STRIDE;
  for (size_t i = 0; i < sizeof c; i++) c[i] = wanted[i] = 77;
  check_equal("status", add(&r), status, &errors);
  weft_fence();
  if (status != WEFT_OK) return;
  for (size_t i = 0; i < r.m; i++)
    for (size_t j = 0; j < r.n; j++) {
      size_t at = i * STRIDE + j;
      int32_t sum = check_scale(a[at], false, r.a_scale) + check_scale(b[at], false, r.b_scale);
      wanted[at] = check_scale(sum, r.activation == WEFT_RELU, r.c_scale);
    }
  check_int8("sum", c, wanted, ROWS, STRIDE, STRIDE, &errors);
}

static void all(enum weft_status (*add)(const struct weft_resadd *), enum weft_status status) {
  run(add, status, (struct weft_resadd){.m = ROWS, .n = COLS, .a_scale = 1.0f, .b_scale = 1.0f, .c_scale = 1.0f});
  run(add, status, (struct weft_resadd){.m = 1, .n = 1, .a_scale = 1.0f, .b_scale = 1.0f, .c_scale = 0.5f});
  run(add, status,
      (struct weft_resadd){
          .m = ROWS - 2, .n = COLS - 3, .a_scale = 0.5f, .b_scale = 1.5f, .c_scale = 0.7f, .activation = WEFT_RELU});
  run(add, status,
      (struct weft_resadd){.m = WEFT_DIM, .n = WEFT_DIM, .a_scale = -1.0f, .b_scale = 3.0f, .c_scale = 2.0f});
  check_equal("no size", add(&(struct weft_resadd){.a = a, .b = b, .c = c}), WEFT_BAD_ARGUMENT, &errors);
}

int main(void) {
  uint32_t seed = 6;
  check_fill(a, sizeof a, &seed);
  check_fill(b, sizeof b, &seed);
  weft_flush(0);
  all(weft_tiled_resadd, WEFT_OK);
  all(weft_tiled_resadd_loop, WEFT_ISA_REVISION >= 2 && WEFT_HAS_LOOP_MATMUL ? WEFT_OK : WEFT_UNSUPPORTED);
  return check_verdict("resadd", errors);
}
