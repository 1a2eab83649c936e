// SPDX-License-Identifier: Apache-2.0
// Inside of machine_slope: the work of the units with the numbers of a trace.
#ifndef SEARCH_MODEL_MACHINE_TRACED_H
#define SEARCH_MODEL_MACHINE_TRACED_H

#include "search/model/machine_context.h"
#include "search/model/machine_slope.h"
#include "search/model/machine_walk.h"

typedef struct machine_traced {
  const machine_context *x;
  const machine_work *work;  // at the array
  const machine_smooth *s;
  tape_number axis[MACHINE_AXES];
  // What follows from them for all operands.
  tape_number dim, mesh_latency, in_flight, bus, line_cycles, hit_latency, miss_latency, tracked;
} machine_traced;

void machine_trace_array(machine_traced *t);

// What the number says, carried on from a whole count: `blocks` are those that `extent` elements are cut into by DIM.
tape_number machine_trace_blocks(const machine_traced *t, double extent, double blocks);
// Cycles of main memory for a missed line; without L2 for a request of so many bytes.
tape_number machine_trace_line(const machine_traced *t, tape_number bytes);
// Beats of requests that have so many at the array.
tape_number machine_trace_beats(const machine_traced *t, const cost_requests *q);

tape_number machine_trace_mesh(const machine_traced *t, tape_number *products);
void machine_trace_stream(const machine_traced *t, map_operand operand, machine_traced_terms *terms,
                          tape_number *memory);
tape_number machine_trace_bias(const machine_traced *t);
tape_number machine_trace_store(const machine_traced *t);
tape_number machine_trace_written(const machine_traced *t);

// Short words for sums and products of numbers.
static inline tape_number plus(const machine_traced *t, tape_number a, tape_number b) {
  return tape_trace_add(t->s->trace, a, b);
}
static inline tape_number minus(const machine_traced *t, tape_number a, tape_number b) {
  return tape_trace_sub(t->s->trace, a, b);
}
static inline tape_number by(const machine_traced *t, tape_number a, tape_number b) {
  return tape_trace_mul(t->s->trace, a, b);
}
static inline tape_number over(const machine_traced *t, tape_number a, tape_number b) {
  return tape_trace_div(t->s->trace, a, b);
}
static inline tape_number scaled(const machine_traced *t, tape_number a, double factor) {
  return tape_trace_mul(t->s->trace, a, tape_fixed(factor));
}
static inline tape_number offset(const machine_traced *t, tape_number a, double term) {
  return tape_trace_add(t->s->trace, a, tape_fixed(term));
}
static inline tape_number larger(const machine_traced *t, tape_number a, tape_number b) {
  return tape_trace_larger(t->s->trace, a, b, t->s->share);
}
static inline tape_number smaller(const machine_traced *t, tape_number a, tape_number b) {
  return tape_trace_smaller(t->s->trace, a, b, t->s->share);
}
// At least a number, without rounding off.
static inline tape_number at_least(const machine_traced *t, double least, tape_number a) {
  return tape_trace_max(t->s->trace, tape_fixed(least), a, 0);
}

#endif
