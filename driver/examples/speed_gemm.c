// SPDX-License-Identifier: Apache-2.0
// A matrix product for measurements of engines: by single instructions, then by the loop unroller. Its size grows with
// the array, so that every array is busy for about as many tiles. The result is checked with a random vector,
// C x = A (B x), because a hart that computes the whole product would be what is measured.
#include "driver/examples/check.h"
#include "weft/console.h"
#include "weft/tiled.h"

enum { SIDE = 16 * WEFT_DIM };

static int8_t a[SIDE * SIDE], b[SIDE * SIDE];
static int32_t c[SIDE * SIDE];
static int errors;

// A wrong element escapes when its factor happens to be 0: one in 2^32.
static void check(const char *what) {
  static int64_t x[SIDE], bx[SIDE];
  uint32_t seed = 77;
  int wrong = 0;
  for (size_t i = 0; i < SIDE; i++) {
    x[i] = (int32_t)check_random(&seed);
    bx[i] = 0;
  }
  // Sums modulo 2^64: equal numbers stay equal.
  for (size_t k = 0; k < SIDE; k++)
    for (size_t j = 0; j < SIDE; j++) bx[k] = (int64_t)((uint64_t)bx[k] + (uint64_t)b[k * SIDE + j] * (uint64_t)x[j]);
  for (size_t i = 0; i < SIDE; i++) {
    uint64_t difference = 0;
    for (size_t j = 0; j < SIDE; j++) difference += (uint64_t)c[i * SIDE + j] * (uint64_t)x[j];
    for (size_t k = 0; k < SIDE; k++) difference -= (uint64_t)a[i * SIDE + k] * (uint64_t)bx[k];
    wrong += difference != 0;
  }
  check_equal(what, wrong, 0, &errors);
}

static void run(const char *what, enum weft_status (*gemm)(const struct weft_gemm *)) {
  for (size_t i = 0; i < SIDE * SIDE; i++) c[i] = 0;
  const struct weft_gemm product = {.m = SIDE, .n = SIDE, .k = SIDE, .a = a, .b = b, .c = c, .full = true};
  uint64_t start = weft_cycles();
  check_equal(what, gemm(&product), WEFT_OK, &errors);
  weft_fence();
  weft_printf("%-12s %d^3 %lu cycles\n", what, SIDE, (unsigned long)(weft_cycles() - start));
  check(what);
}

int main(void) {
  uint32_t seed = 8;
  check_fill(a, sizeof a, &seed);
  check_fill(b, sizeof b, &seed);
  weft_flush(0);
  run("instructions", weft_tiled_gemm);
  run("loop", weft_tiled_gemm_loop);
  return check_verdict("speed_gemm", errors);
}
