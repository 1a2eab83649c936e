// SPDX-License-Identifier: Apache-2.0
// The numbers that the walk over stages reckons with: plain ones, or those of a trace (search/tape/trace.h), whose
// maxima are rounded off. machine_walk.c is compiled once for each, with MACHINE_TRACED for the second.
#ifndef SEARCH_MODEL_MACHINE_NUMBER_H
#define SEARCH_MODEL_MACHINE_NUMBER_H

#include <stdbool.h>

#include "base/number.h"
#include "search/model/machine_walk.h"

#ifdef MACHINE_TRACED
typedef tape_number machine_number;
typedef machine_traced_terms machine_walk_terms;
#define machine_walk machine_walk_traced
static inline machine_number fixed(double value) { return tape_fixed(value); }
static inline double value_of(machine_number a) { return a.value; }
static inline bool is_plain(machine_number a) { return a.node == 0; }
static inline machine_number sum(const machine_smooth *s, machine_number a, machine_number b) {
  return tape_trace_add(s->trace, a, b);
}
static inline machine_number less(const machine_smooth *s, machine_number a, machine_number b) {
  return tape_trace_sub(s->trace, a, b);
}
static inline machine_number times(const machine_smooth *s, machine_number a, machine_number b) {
  return tape_trace_mul(s->trace, a, b);
}
static inline machine_number later(const machine_smooth *s, machine_number a, machine_number b) {
  return tape_trace_max(s->trace, a, b, s->cycles);
}
static inline machine_number sooner(const machine_smooth *s, machine_number a, machine_number b) {
  return tape_trace_min(s->trace, a, b, s->cycles);
}
#else
typedef double machine_number;
typedef machine_plain_terms machine_walk_terms;
#define machine_walk machine_walk_plain
static inline machine_number fixed(double value) { return value; }
static inline double value_of(machine_number a) { return a; }
static inline bool is_plain(machine_number a) { return (void)a, true; }
static inline machine_number sum(const machine_smooth *s, machine_number a, machine_number b) { return (void)s, a + b; }
static inline machine_number less(const machine_smooth *s, machine_number a, machine_number b) {
  return (void)s, a - b;
}
static inline machine_number times(const machine_smooth *s, machine_number a, machine_number b) {
  return (void)s, a * b;
}
static inline machine_number later(const machine_smooth *s, machine_number a, machine_number b) {
  return (void)s, wf_max(a, b);
}
static inline machine_number sooner(const machine_smooth *s, machine_number a, machine_number b) {
  return (void)s, wf_min(a, b);
}
#endif

#endif
