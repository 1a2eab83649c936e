// SPDX-License-Identifier: Apache-2.0
// The four functions that a freestanding compiler may call. Doublewords when both sides allow it, bytes otherwise.
// Compiled with -fno-builtin -fno-tree-loop-distribute-patterns, or the loops would become calls to themselves.
#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((may_alias)) word;

void *memcpy(void *restrict to, const void *restrict from, size_t length);
void *memmove(void *to, const void *from, size_t length);
void *memset(void *to, int value, size_t length);
int memcmp(const void *left, const void *right, size_t length);

// From low to high addresses: also right for a move downwards.
static void copy_up(unsigned char *to, const unsigned char *from, size_t length) {
  if ((((uintptr_t)to ^ (uintptr_t)from) & 7) == 0) {
    for (; length > 0 && ((uintptr_t)to & 7) != 0; length--) *to++ = *from++;
    for (; length >= 8; length -= 8, to += 8, from += 8) *(word *)to = *(const word *)from;
  }
  for (; length > 0; length--) *to++ = *from++;
}

void *memcpy(void *restrict to, const void *restrict from, size_t length) {
  copy_up(to, from, length);
  return to;
}

void *memmove(void *to, const void *from, size_t length) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if ((uintptr_t)t - (uintptr_t)f >= length) {
    copy_up(t, f, length);
    return to;
  }
  while (length-- > 0) t[length] = f[length];
  return to;
}

void *memset(void *to, int value, size_t length) {
  unsigned char *t = to;
  unsigned char byte = (unsigned char)value;
  for (; length > 0 && ((uintptr_t)t & 7) != 0; length--) *t++ = byte;
  for (word all = byte * UINT64_C(0x0101010101010101); length >= 8; length -= 8, t += 8) *(word *)t = all;
  for (; length > 0; length--) *t++ = byte;
  return to;
}

int memcmp(const void *left, const void *right, size_t length) {
  const unsigned char *l = left, *r = right;
  for (; length > 0; length--, l++, r++) {
    if (*l != *r) return *l < *r ? -1 : 1;
  }
  return 0;
}
