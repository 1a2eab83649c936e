// SPDX-License-Identifier: Apache-2.0
// Without a library: console through tohost, code that a custom instruction ends.
#include <stdint.h>

extern volatile uint64_t tohost, fromhost;

static void print(const char *text, uint64_t length) {
  volatile uint64_t block[8] __attribute__((aligned(64))) = {64, 1, (uint64_t)text, length};
  __sync_synchronize();
  tohost = (uint64_t)block;
  while (fromhost == 0) {
  }
  fromhost = 0;
  if (block[0] != length) tohost = 99 << 1 | 1;
}

static uint64_t collatz(uint64_t n) {
  uint64_t steps = 0;
  for (; n != 1; steps++) n = (n & 1) != 0 ? 3 * n + 1 : n / 2;
  return steps;
}

int main(void) {
  static char text[] = "steps 000\n";
  uint64_t steps = collatz(27);
  for (int i = 8; i > 5; i--, steps /= 10) text[i] = (char)('0' + steps % 10);
  print(text, sizeof text - 1);
  uint64_t ask = 5, answer = 0;
  __asm__ volatile(".insn r 0x7b, 7, 126, %0, %1, x0" : "=r"(answer) : "r"(ask));
  return (int)answer;
}
