// SPDX-License-Identifier: Apache-2.0
// Code for the disassembler test: integer, multiply, float, double, conversions, atomics, branches, calls and registers
// of the machine, so that a compiled program holds most instructions of RV64GC in their natural surroundings.
#include <stdatomic.h>
#include <stdint.h>

typedef struct item {
  int64_t key;
  double weight;
  float scale;
  uint8_t flags;
} item;

int64_t sum_items(const item *items, int count);
int64_t sum_items(const item *items, int count) {
  double total = 0;
  for (int i = 0; i < count; i++) {
    if ((items[i].flags & 3) != 0) continue;
    total += items[i].weight * (double)items[i].scale - (double)items[i].key;
  }
  return (int64_t)total;
}

float polynomial(float x, const float *c, unsigned n);
float polynomial(float x, const float *c, unsigned n) {
  float y = 0;
  while (n-- != 0) y = y * x + c[n];
  return y < 0 ? -y : y > 1e9f ? __builtin_sqrtf(y) : y / x;
}

double mix(double a, double b, float f, int w, unsigned long u);
double mix(double a, double b, float f, int w, unsigned long u) {
  double larger;
  __asm__("fmax.d %0, %1, %2" : "=f"(larger) : "f"(a), "f"(b));
  double m = __builtin_fma(a, b, -(double)f) + larger * w;
  return __builtin_copysign(m, b) / (double)u + (double)(unsigned)a + (double)(uint64_t)b + __builtin_sqrt(a);
}

uint64_t divide(uint64_t a, uint64_t b, int32_t c, int32_t d);
uint64_t divide(uint64_t a, uint64_t b, int32_t c, int32_t d) {
  __uint128_t wide = (__uint128_t)a * b;
  return (uint64_t)(wide >> 64) + a / b + a % b + (uint64_t)(c / d + c % d) + ((uint32_t)c / (uint32_t)d) +
         (uint64_t)((int64_t)a / (int64_t)b) + (a >> (b & 63)) + (uint64_t)((int64_t)a >> (c & 63)) +
         (uint64_t)(c << (d & 31)) + (uint64_t)(c >> (d & 31));
}

long update(atomic_long *counter, atomic_int *word, long by);
long update(atomic_long *counter, atomic_int *word, long by) {
  long old = atomic_fetch_add(counter, by);
  atomic_fetch_or_explicit(word, 5, memory_order_acquire);
  atomic_fetch_xor_explicit(word, 9, memory_order_release);
  atomic_fetch_and_explicit(counter, by, memory_order_relaxed);
  atomic_exchange(word, (int)old);
  atomic_thread_fence(memory_order_acq_rel);
  while (!atomic_compare_exchange_weak(counter, &old, by + 1)) by++;
  return old;
}

uint64_t machine(uint64_t value);
uint64_t machine(uint64_t value) {
  uint64_t cycles, old;
  __asm__ volatile(
      "csrr %0, cycle\n\tcsrrw %1, mscratch, %2\n\tcsrsi mstatus, 8\n\tcsrci mie, 4\n\tfence.i\n\tfence r, rw\n\twfi"
      : "=r"(cycles), "=r"(old)
      : "r"(value));
  return cycles + old;
}

void _start(void);
void _start(void) {
  static item items[4];
  static atomic_long counter;
  static atomic_int word;
  volatile uint64_t keep = (uint64_t)sum_items(items, 4) + divide(3, 4, 5, 6) + (uint64_t)update(&counter, &word, 7);
  keep += (uint64_t)polynomial(2.0f, &items[1].scale, 1) + (uint64_t)mix(1, 2, 3, 4, 5) + machine(keep);
  for (;;) __asm__ volatile("ecall\n\tebreak");
}
