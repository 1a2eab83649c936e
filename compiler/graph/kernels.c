// SPDX-License-Identifier: Apache-2.0
// Blocked products: see kernels.h.
//
// f32: a panel of b (DEPTH x WIDTH) is copied together; for four rows of a at a time, 4 x WIDTH sums stay in registers.
// i16: dot products of rows, 4 x 2 at a time; the compiler makes multiply-add of pairs out of them.
#include "compiler/graph/kernels.h"

#include <string.h>

#include "base/machine.h"
#include "base/number.h"

enum { DEPTH = 256, WIDTH = 16, HEIGHT = 4, LANES = 8, ROWS_I16 = 32 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

static void pack(float *panel, const float *b, int64_t ldb, int64_t depth, int64_t width) {
  for (int64_t p = 0; p < depth; p++) {
    memcpy(panel + p * WIDTH, b + p * ldb, (size_t)width * sizeof(float));
    for (int64_t j = width; j < WIDTH; j++) panel[p * WIDTH + j] = 0;
  }
}

// sums[HEIGHT][WIDTH] = rows * panel. Written out, as the sums have to stay in registers.
#define ROW(i)             \
  float a##i = rows[i][p]; \
  s##i##0 += a##i * b0;    \
  s##i##1 += a##i * b1
static inline __attribute__((always_inline)) void tile(const float *const rows[HEIGHT], const float *panel,
                                                       int64_t depth, float *sums) {
  lanes s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0}, s20 = {0}, s21 = {0}, s30 = {0}, s31 = {0};
  for (int64_t p = 0; p < depth; p++) {
    lanes b0, b1;
    memcpy(&b0, panel + p * WIDTH, sizeof b0);
    memcpy(&b1, panel + p * WIDTH + LANES, sizeof b1);
    ROW(0);
    ROW(1);
    ROW(2);
    ROW(3);
  }
  const lanes all[] = {s00, s01, s10, s11, s20, s21, s30, s31};
  memcpy(sums, all, sizeof all);
}

WF_FOR_MACHINE static void panel_rows(int64_t m, int64_t width, int64_t depth, const float *a, int64_t lda,
                                      const float *panel, float *c, int64_t ldc) {
  float sums[HEIGHT * WIDTH];
  for (int64_t i = 0; i < m; i += HEIGHT) {
    const float *rows[HEIGHT];
    int64_t height = wf_min(HEIGHT, m - i);
    for (int64_t r = 0; r < HEIGHT; r++) rows[r] = a + (i + (r < height ? r : 0)) * lda;
    tile(rows, panel, depth, sums);
    for (int64_t r = 0; r < height; r++)
      for (int64_t j = 0; j < width; j++) c[(i + r) * ldc + j] += sums[r * WIDTH + j];
  }
}

void graph_kernel_f32(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
                      float *c, int64_t ldc) {
  float panel[DEPTH * WIDTH];
  for (int64_t p = 0; p < k; p += DEPTH) {
    int64_t depth = wf_min(DEPTH, k - p);
    for (int64_t j = 0; j < n; j += WIDTH) {
      int64_t width = wf_min(WIDTH, n - j);
      pack(panel, b + p * ldb + j, ldb, depth, width);
      panel_rows(m, width, depth, a + p, lda, panel, c + j, ldc);
    }
  }
}

// Four rows of a against two of b.
static inline __attribute__((always_inline)) void dots(int64_t k, const int16_t *a, int64_t a_rows, const int16_t *b,
                                                       int64_t b_rows, int32_t *sums) {
  const int16_t *a0 = a, *a1 = a_rows > 1 ? a + k : a, *a2 = a_rows > 2 ? a + 2 * k : a,
                *a3 = a_rows > 3 ? a + 3 * k : a;
  const int16_t *b0 = b, *b1 = b_rows > 1 ? b + k : b;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
  for (int64_t p = 0; p < k; p++) {
    s0 += a0[p] * b0[p];
    s1 += a1[p] * b0[p];
    s2 += a2[p] * b0[p];
    s3 += a3[p] * b0[p];
    s4 += a0[p] * b1[p];
    s5 += a1[p] * b1[p];
    s6 += a2[p] * b1[p];
    s7 += a3[p] * b1[p];
  }
  const int32_t all[] = {s0, s1, s2, s3, s4, s5, s6, s7};
  memcpy(sums, all, sizeof all);
}

WF_FOR_MACHINE static void rows_i16(int64_t m, int64_t n, int64_t k, const int16_t *a, const int16_t *b, int32_t *c,
                                    int64_t row, int64_t column) {
  int32_t sums[8];
  for (int64_t block = 0; block < m; block += ROWS_I16) {
    int64_t end = wf_min(m, block + ROWS_I16);
    for (int64_t j = 0; j < n; j += 2) {
      int64_t columns = wf_min(2, n - j);
      for (int64_t i = block; i < end; i += 4) {
        int64_t rows = wf_min(4, end - i);
        dots(k, a + i * k, rows, b + j * k, columns, sums);
        for (int64_t q = 0; q < columns; q++)
          for (int64_t r = 0; r < rows; r++) c[(i + r) * row + (j + q) * column] = sums[4 * q + r];
      }
    }
  }
}

void graph_kernel_i16(int64_t m, int64_t n, int64_t k, const int16_t *a, const int16_t *b, int32_t *c, int64_t row,
                      int64_t column) {
  rows_i16(m, n, k, a, b, c, row, column);
}

WF_FOR_MACHINE static void multiply_add(int64_t count, const int8_t *x, const int16_t *w, int32_t *sums) {
  for (int64_t i = 0; i < count; i++) sums[i] += x[i] * w[i];
}

void graph_kernel_multiply_add(int64_t count, const int8_t *x, const int16_t *w, int32_t *sums) {
  multiply_add(count, x, w, sums);
}

// Adding and taking away 1.5 * 2^23 rounds what is smaller than 2^22.
WF_FOR_MACHINE static void scale_sums(int64_t count, const int32_t *sums, float scale, int8_t *to) {
  const float limit = 256, magic = 12582912;
  for (int64_t i = 0; i < count; i++) {
    float value = scale * (float)sums[i];
    value = value > limit ? limit : value;
    value = value < -limit ? -limit : value;
    int32_t rounded = (int32_t)(value == value ? value + magic - magic : 0);
    rounded = rounded > INT8_MAX ? INT8_MAX : rounded;
    to[i] = (int8_t)(rounded < INT8_MIN ? INT8_MIN : rounded);
  }
}

void graph_kernel_scale(int64_t count, const int32_t *sums, float scale, int8_t *to) {
  scale_sums(count, sums, scale, to);
}
