// SPDX-License-Identifier: Apache-2.0
// Single elements of tensors of any type, as the widest integer or real number. For small constants (shapes, scales,
// axes); loops over whole tensors convert in chunks (elementwise.h).
#ifndef COMPILER_GRAPH_ELEMENT_H
#define COMPILER_GRAPH_ELEMENT_H

#include "compiler/graph/graph.h"

// Integers of 64 bits are given as their bits; floats are truncated and saturated.
int64_t graph_int_at(graph_type type, const void *data, size_t index);
double graph_real_at(graph_type type, const void *data, size_t index);
// Integers wrap, floats round.
void graph_put_int(graph_type type, void *data, size_t index, int64_t value);
void graph_put_real(graph_type type, void *data, size_t index, double value);

// Runs of elements, `by` apart.
void graph_load_reals(graph_type type, const void *data, int64_t at, int64_t by, int64_t count, double *values);
void graph_load_ints(graph_type type, const void *data, int64_t at, int64_t by, int64_t count, int64_t *values);
void graph_store_reals(graph_type type, void *data, int64_t at, int64_t count, const double *values);
void graph_store_ints(graph_type type, void *data, int64_t at, int64_t count, const int64_t *values);

static inline bool graph_is_real(graph_type type) { return type == GRAPH_F32 || type == GRAPH_F64; }

#endif
