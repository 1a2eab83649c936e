// SPDX-License-Identifier: Apache-2.0
// Contents for tensors, and what became of them, by arithmetic that the program and the machine that simulates it
// share: both include this file.
#ifndef WEFT_DATA_H
#define WEFT_DATA_H

#include <stddef.h>
#include <stdint.h>

// Bytes for elements of one byte; for wider ones numbers of 16 bits with sign. Every seed gives other contents.
static inline void weft_fill(void *memory, size_t bytes, unsigned element_bytes, uint64_t seed) {
  unsigned char *to = (unsigned char *)memory;
  uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (size_t at = 0; at < bytes; at += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    uint64_t word = state;
    const int64_t low = (int16_t)state, high = (int16_t)(state >> 32);
    if (element_bytes == 4) word = (uint64_t)low << 32 >> 32 | (uint64_t)high << 32;
    if (element_bytes == 8) word = (uint64_t)low;
    __builtin_memcpy(to + at, &word, bytes - at < 8 ? bytes - at : 8);
  }
}

// FNV-1a over doublewords; the last one is filled up with zeros.
static inline uint64_t weft_digest(const void *memory, size_t bytes) {
  const unsigned char *from = (const unsigned char *)memory;
  uint64_t state = UINT64_C(0xcbf29ce484222325);
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    __builtin_memcpy(&word, from + at, bytes - at < 8 ? bytes - at : 8);
    state = (state ^ word) * UINT64_C(0x100000001b3);
  }
  return state;
}

#endif
