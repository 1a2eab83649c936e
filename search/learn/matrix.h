// SPDX-License-Identifier: Apache-2.0
// Products of matrices for the network (net.h), stored row by row. The same numbers on every machine: sums go in one
// order, and nothing is contracted.
#ifndef SEARCH_LEARN_MATRIX_H
#define SEARCH_LEARN_MATRIX_H

#include <stddef.h>

// y += x w: x has `rows` rows of `in` values, y as many of `out`.
void learn_multiply(const float *x, const float *w, float *y, size_t rows, size_t in, size_t out);
// w += the transpose of x times y.
void learn_multiply_turned(const float *x, const float *y, float *w, size_t rows, size_t in, size_t out);

#endif
