// SPDX-License-Identifier: Apache-2.0
// What the examples share: pseudo-random inputs, comparison with the expected values, the verdict.
// The reference computations themselves are plain loops in each example; nothing here comes from the tiled library.
#ifndef WEFT_EXAMPLES_CHECK_H
#define WEFT_EXAMPLES_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pseudo-random numbers; the state is any number.
uint32_t check_random(uint32_t *state);
// Random int8 over the whole range, one in eight an extreme value (-128 or 127).
void check_fill(int8_t *to, size_t count, uint32_t *state);
// Small values, so that sums and scaled sums stay inside int8 now and then.
void check_fill_small(int8_t *to, size_t count, uint32_t *state);
void check_fill_int32(int32_t *to, size_t count, int32_t magnitude, uint32_t *state);

// What the accelerator does to an accumulator value on its way to int8: ReLU, float conversion, scale, rounding to
// nearest even at each step, saturation.
int8_t check_scale(int32_t value, bool relu, float scale);
int8_t check_saturate(int64_t value);

// Compare rows x cols elements (row stride in elements) with what was expected; the first difference is printed with
// `what` and counted in *errors.
void check_int8(const char *what, const int8_t *got, const int8_t *wanted, size_t rows, size_t cols, size_t stride,
                int *errors);
void check_int32(const char *what, const int32_t *got, const int32_t *wanted, size_t rows, size_t cols, size_t stride,
                 int *errors);
void check_equal(const char *what, int64_t got, int64_t wanted, int *errors);

// Prints "PASS name" or the number of differences and returns main's result.
int check_verdict(const char *name, int errors);

#endif
