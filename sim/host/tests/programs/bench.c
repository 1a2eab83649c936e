// SPDX-License-Identifier: Apache-2.0
// Loops for host_bench: KERNEL chooses one. Each exits with 0 if its result is right.
#include <stdint.h>

enum { N = 64, WORDS = 8192 };

#define INITIAL(i) ((int)((i)*7 % 23) - 11)

#if KERNEL == 0  // int8 matrix product, the reference computation of accelerator programs
#define EXPECTED -1384
static int8_t a[N * N], b[N * N];
static int32_t c[N * N];
static uint64_t run(void) {
  for (int i = 0; i < N * N; i++) a[i] = b[i] = (int8_t)INITIAL(i);
  uint64_t sum = 0;
  for (int round = 0; round < 60; round++) {
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        int32_t s = 0;
        for (int k = 0; k < N; k++) s += a[i * N + k] * b[k * N + j];
        c[i * N + j] = s;
      }
    }
    sum += (uint64_t)(int64_t)c[round * N + round];
    __asm__ volatile("" ::: "memory");
  }
  return sum;
}
#elif KERNEL == 1  // single-precision matrix product
#define EXPECTED -1384
static float a[N * N], b[N * N], c[N * N];
static uint64_t run(void) {
  for (int i = 0; i < N * N; i++) a[i] = b[i] = (float)INITIAL(i);
  float sum = 0;
  for (int round = 0; round < 60; round++) {
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        float s = 0;
        for (int k = 0; k < N; k++) s += a[i * N + k] * b[k * N + j];
        c[i * N + j] = s;
      }
    }
    sum += c[round * N + round];
    __asm__ volatile("" ::: "memory");
  }
  return (uint64_t)(int64_t)sum;
}
#elif KERNEL == 2  // unpredictable branches
#define EXPECTED 12497234
static uint64_t run(void) {
  uint64_t x = 12345, count = 0;
  for (int i = 0; i < 10000000; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    if ((x & 1) != 0) count += 3;
    if ((x & 6) == 2) count--;
  }
  return count;
}
#else  // copy in doublewords
#define EXPECTED (WORDS - 1)
static uint64_t from[WORDS], to[WORDS];
static uint64_t run(void) {
  for (int i = 0; i < WORDS; i++) from[i] = (uint64_t)i;
  for (int round = 0; round < 2000; round++) {
    volatile uint64_t *out = to;
    for (int i = 0; i < WORDS; i++) out[i] = from[i];
  }
  return to[WORDS - 1];
}
#endif

int main(void) { return run() == (uint64_t)(EXPECTED) ? 0 : 1; }
