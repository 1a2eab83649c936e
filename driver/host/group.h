// SPDX-License-Identifier: Apache-2.0
// Loops that take eight elements at a time, step by step: the hart waits for each result that is used at once, so it
// has to have others to work on. EACH does a step for all of a group; the functions of a group stand between two steps.
#ifndef DRIVER_HOST_GROUP_H
#define DRIVER_HOST_GROUP_H

#include "weft/host_math.h"

enum { GROUP = 8 };
#define EACH _Pragma("GCC unroll 8") for (int j = 0; j < GROUP; j++)

#ifdef __riscv
#define HART_STEP(op) op(0) "\n\t" op(1) "\n\t" op(2) "\n\t" op(3) "\n\t" op(4) "\n\t" op(5) "\n\t" op(6) "\n\t" op(7)
#define HART_FMIN(n) "fmin.s %" #n ", %" #n ", %8"
#define HART_FMAX(n) "fmax.s %" #n ", %" #n ", %8"
#define HART_GROUP(kind, v) \
  kind(v[0]), kind(v[1]), kind(v[2]), kind(v[3]), kind(v[4]), kind(v[5]), kind(v[6]), kind(v[7])

// All of a group are there before a step goes on with them: the compiler would start with the first ones.
static inline void numbers_there(float *v) { __asm__("" : HART_GROUP("+f", v)); }
static inline void doubles_there(double *v) { __asm__("" : HART_GROUP("+f", v)); }
static inline void wholes_there(int64_t *v) { __asm__("" : HART_GROUP("+r", v)); }
static inline void number_there(float *v) { __asm__("" : "+f"(*v)); }

// fmin and fmax take the number of two operands; the compiler would not use them.
static inline void not_above(float *v, float limit) {
  __asm__(HART_STEP(HART_FMIN) : HART_GROUP("+f", v) : "f"(limit));
}
static inline void not_below(float *v, float limit) {
  __asm__(HART_STEP(HART_FMAX) : HART_GROUP("+f", v) : "f"(limit));
}

// The largest whole number that is not above, within the range of int32; the largest of all for what is no number.
static inline int64_t lowest(float x) {
  int64_t whole;
  __asm__("fcvt.w.s %0, %1, rdn" : "=r"(whole) : "f"(x));
  return whole;
}

static inline int64_t nearest(float x) {
  int64_t whole;
  __asm__("fcvt.w.s %0, %1, rne" : "=r"(whole) : "f"(x));
  return whole;
}
#else
static inline void numbers_there(float *v) { (void)v; }
static inline void doubles_there(double *v) { (void)v; }
static inline void wholes_there(int64_t *v) { (void)v; }
static inline void number_there(float *v) { (void)v; }
static inline void not_above(float *v, float limit) { EACH v[j] = v[j] < limit ? v[j] : limit; }
static inline void not_below(float *v, float limit) { EACH v[j] = v[j] > limit ? v[j] : limit; }
static inline int64_t nearest(float x) { return __builtin_lrintf(x); }
static inline int64_t lowest(float x) {
  if (!(x < 0x1p31f)) return INT32_MAX;
  return x < -0x1p31f ? INT32_MIN : (int64_t)__builtin_floorf(x);
}
#endif

// Numbers within the range of int8, less `zero`.
static inline void put_group_at(int8_t *to, int64_t step, float *v, int32_t zero) {
  int64_t whole[GROUP];
  numbers_there(v);
  EACH whole[j] = nearest(v[j]);
  wholes_there(whole);
  EACH to[j * step] = (int8_t)(whole[j] + zero);
}
static inline void put_group(int8_t *to, float *v) { put_group_at(to, 1, v, 0); }

static inline void get_group(int64_t *x, const int8_t *from) {
  EACH x[j] = from[j];
  wholes_there(x);
}

#endif
