// SPDX-License-Identifier: Apache-2.0
// How busy the tiled operators keep the mesh, second run of each: with the host, on engines with cycles. Some rows of
// the results are compared with plain loops. Fails below the shares that docs/driver.md tells of.
#include "driver/examples/check.h"
#include "weft/console.h"
#include "weft/tiled.h"

enum { SIDE = 512, IMAGE = 28, CHANNELS = 128, WEIGHTS = 9 * CHANNELS * CHANNELS };
enum { PRODUCT_LEAST = 870, CONVOLUTION_LEAST = 780 };  // per mille

static int8_t a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE], wanted[SIDE];
static int errors;
static const float scale = 0.001f;

// Per mille of the products that the mesh could have done.
static void report(const char *what, uint64_t cycles, uint64_t macs, int64_t least) {
  const int64_t share = (int64_t)(macs * 1000 / (WEFT_DIM * WEFT_DIM) / cycles);
  weft_printf("%-24s %8lu cycles, %ld per mille of the mesh\n", what, (unsigned long)cycles, (long)share);
  if (share < least) check_equal(what, share, least, &errors);
}

static void check_product(size_t row) {
  for (size_t j = 0; j < SIDE; j++) {
    int32_t sum = 0;
    for (size_t k = 0; k < SIDE; k++) sum += a[row * SIDE + k] * b[k * SIDE + j];
    wanted[j] = check_scale(sum, false, scale);
  }
  check_int8("product", c + row * SIDE, wanted, 1, SIDE, SIDE, &errors);
}

static void product(int64_t least) {
  const struct weft_gemm gemm = {.m = SIDE, .n = SIDE, .k = SIDE, .a = a, .b = b, .c = c, .scale = scale};
  uint64_t start = 0;
  for (int run = 0; run < 2; run++) {
    start = weft_cycles();
    check_equal("product", weft_tiled_gemm(&gemm), WEFT_OK, &errors);
    weft_fence();
  }
  report("512 x 512 x 512", weft_cycles() - start, (uint64_t)SIDE * SIDE * SIDE, least);
  check_product(0);
  check_product(SIDE / 2 - 1);
  check_product(SIDE - 1);
}

static void check_pixel(size_t row, size_t col) {
  for (size_t o = 0; o < CHANNELS; o++) {
    int32_t sum = 0;
    for (size_t tap = 0; tap < 9; tap++) {
      const size_t r = row + tap / 3 - 1, q = col + tap % 3 - 1;  // outside: wraps to very large
      if (r >= IMAGE || q >= IMAGE) continue;
      for (size_t i = 0; i < CHANNELS; i++)
        sum += a[(r * IMAGE + q) * CHANNELS + i] * b[(tap * CHANNELS + i) * CHANNELS + o];
    }
    wanted[o] = check_scale(sum, false, scale);
  }
  check_int8("convolution", c + (row * IMAGE + col) * CHANNELS, wanted, 1, CHANNELS, CHANNELS, &errors);
}

static void convolution(int64_t least) {
  const struct weft_conv conv = {.batch = 1,
                                 .in_rows = IMAGE,
                                 .in_cols = IMAGE,
                                 .in_channels = CHANNELS,
                                 .out_channels = CHANNELS,
                                 .kernel = 3,
                                 .padding = 1,
                                 .input = a,
                                 .weights = b,
                                 .output = c,
                                 .scale = scale};
  uint64_t start = 0;
  for (int run = 0; run < 2; run++) {
    start = weft_cycles();
    check_equal("convolution", weft_tiled_conv(&conv), WEFT_OK, &errors);
    weft_fence();
  }
  report("28 x 28 x 128, 3 x 3", weft_cycles() - start, (uint64_t)IMAGE * IMAGE * WEIGHTS, least);
  check_pixel(0, 0);
  check_pixel(13, 14);
  check_pixel(IMAGE - 1, IMAGE - 1);
}

int main(void) {
  uint32_t seed = 21;
  check_fill(a, sizeof a, &seed);
  check_fill(b, sizeof b, &seed);
  weft_flush(0);
  product(PRODUCT_LEAST);
  convolution(CONVOLUTION_LEAST);
  return check_verdict("tiled_speed", errors);
}
