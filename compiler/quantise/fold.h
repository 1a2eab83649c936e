// SPDX-License-Identifier: Apache-2.0
// What the files of folding share.
#ifndef COMPILER_QUANTISE_FOLD_H
#define COMPILER_QUANTISE_FOLD_H

#include "compiler/quantise/quantise.h"
#include "compiler/quantise/rewrite.h"

// A constant that has one number, or one per channel (dimension `axis` of the result): all of them.
bool quantise_fold_per_channel(const graph *g, int constant, const graph_tensor *result, int axis, double *values);

// factors.c: in place, one multiplication behind each product; pins: or NULL.
void quantise_fold_factors(graph *g, const quantise_pins *pins);

// channels.c: in place, shuffled channels into gathers, and those into convolutions.
void quantise_fold_channels(graph *g, const quantise_pins *pins);

// positions.c: in place, sums of columns with factors per position into products.
void quantise_fold_positions(graph *g, const quantise_pins *pins);

// repeats.c: in place, products with repeated matrices into products with more rows.
void quantise_fold_repeats(graph *g, const quantise_pins *pins);

#endif
