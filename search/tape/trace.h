// SPDX-License-Identifier: Apache-2.0
// Traces: tapes of one point, for computations whose course depends on the numbers. A number is its value and, where it
// depends on a variable, the place on the trace; operations are carried out as they are recorded, each with its
// partials, and one pass backwards gives the gradient. A trace without variables records nothing.
//
// Kinks are rounded off by a width: 0 leaves them as they are, and values are those of plain arithmetic.
#ifndef SEARCH_TAPE_TRACE_H
#define SEARCH_TAPE_TRACE_H

#include <stddef.h>
#include <stdint.h>

typedef struct tape_trace tape_trace;

typedef struct tape_number {
  double value;
  uint32_t node;  // 0: a constant
} tape_number;

tape_trace *tape_trace_create(void);
void tape_trace_destroy(tape_trace *trace);
void tape_trace_clear(tape_trace *trace);  // numbers from before mean nothing
size_t tape_trace_size(const tape_trace *trace);

static inline tape_number tape_fixed(double value) { return (tape_number){.value = value, .node = 0}; }
tape_number tape_trace_variable(tape_trace *trace, double value);

// A result with its partials by two operands: for operations that are none of those below.
tape_number tape_trace_of(tape_trace *trace, double value, tape_number a, double da, tape_number b, double db);

static inline tape_number tape_trace_add(tape_trace *t, tape_number a, tape_number b) {
  return tape_trace_of(t, a.value + b.value, a, 1, b, 1);
}
static inline tape_number tape_trace_sub(tape_trace *t, tape_number a, tape_number b) {
  return tape_trace_of(t, a.value - b.value, a, 1, b, -1);
}
static inline tape_number tape_trace_mul(tape_trace *t, tape_number a, tape_number b) {
  return tape_trace_of(t, a.value * b.value, a, b.value, b, a.value);
}
static inline tape_number tape_trace_div(tape_trace *t, tape_number a, tape_number b) {
  return tape_trace_of(t, a.value / b.value, a, 1 / b.value, b, -a.value / b.value / b.value);
}
tape_number tape_trace_exp(tape_trace *trace, tape_number a);
// The larger and the smaller, rounded off where they are no farther apart than some widths: off by width x ln 2 at
// most.
tape_number tape_trace_max(tape_trace *trace, tape_number a, tape_number b, double width);
tape_number tape_trace_min(tape_trace *trace, tape_number a, tape_number b, double width);

// The same of numbers that are not below 0, rounded off where they are no farther apart than by a factor near 1: off by
// a factor of 2 ^ share at most.
tape_number tape_trace_larger(tape_trace *trace, tape_number a, tape_number b, double share);
tape_number tape_trace_smaller(tape_trace *trace, tape_number a, tape_number b, double share);

// The gradient of a number: from here on tape_trace_slope says what it has by each number in front of it.
void tape_trace_back(tape_trace *trace, tape_number of);
double tape_trace_slope(const tape_trace *trace, tape_number by);

#endif
