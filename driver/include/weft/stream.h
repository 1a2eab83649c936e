// SPDX-License-Identifier: Apache-2.0
// For programs that the compiler made: operands of commands in registers that advance by constants.
//
// Both hide the value from the C compiler, which would otherwise make each operand anew from its parts, up to six
// instructions, instead of adding the step to the last one.
#ifndef WEFT_STREAM_H
#define WEFT_STREAM_H

#include <stdint.h>

#ifdef WEFT_NATIVE
#define WEFT_STEP(operand, step) ((void)((operand) += (uint64_t)(step)))
static inline uint64_t weft_operand(uint64_t value) { return value; }
#else
#define WEFT_STEP(operand, step) __asm__("add %0, %0, %1" : "+r"(operand) : "rI"((uint64_t)(step)))
static inline uint64_t weft_operand(uint64_t value) {
  __asm__("" : "+r"(value));
  return value;
}
#endif

// A move is a load, a store or their configuration; due `after` products, counted from the last one. Products count
// down and stop where a function of the program carries the next moves out:
//
//   weft_command(WEFT_FUNCT_COMPUTE_PRELOADED, r0, r1);
//   WEFT_PRODUCT(next, left, gemm_moves(next, left, tensor));
struct weft_move {
  uint16_t after, kind;
  uint32_t offset;  // of the first operand, from what its kind says
  uint64_t operand;
};

struct weft_moves {
  const struct weft_move *next;
  uint64_t left;  // products before it
};

// A function whose callers know nothing but what it takes and returns.
#if defined(__GNUC__) && !defined(__clang__)
#define WEFT_APART __attribute__((noipa))
#else
#define WEFT_APART __attribute__((noinline))
#endif

#define WEFT_MOVES(move, count, moves)          \
  do {                                          \
    const struct weft_moves weft_now = (moves); \
    (move) = weft_now.next;                     \
    (count) = weft_now.left;                    \
  } while (0)

#define WEFT_PRODUCT(move, count, moves)                                     \
  do {                                                                       \
    if (__builtin_expect(--(count) == 0, 0)) WEFT_MOVES(move, count, moves); \
  } while (0)

#endif
