// SPDX-License-Identifier: Apache-2.0
// How a convolution from single instructions is cut: shared by its choice (conv_map.c) and its run (conv.c).
#ifndef WEFT_TILED_CONV_PLAN_H
#define WEFT_TILED_CONV_PLAN_H

#include "driver/tiled/conv_tile.h"
#include "driver/tiled/stages.h"

enum { WEFT_PIECES_MAX = WEFT_RUNS_MAX / 2 };

// A tile of the result in pooled rows and columns and in blocks of channels. A step of the reduction takes some blocks
// of input channels and some rows of the kernel.
struct weft_conv_cut {
  size_t rows, cols, out_blocks, in_blocks, kernel_rows;
  size_t row_tiles, col_tiles, kernel_steps;
  // The patch of the image in the scratchpad: `step` pixels from one of an output pixel to that of the next.
  size_t patch_rows, patch_cols, step;
  // Products take `piece` pixels of a row of the result. Flat: rows lie end to end in the patch, and are one.
  bool flat;
  size_t piece, pieces;
  size_t c_piece, c_row, c_block;  // local rows from one to the next
};

// The best of a few. False: not even the smallest tile fits.
bool weft_conv_choose(const struct weft_conv_plan *plan, struct weft_conv_cut *cut, struct weft_tiles *tiles);

enum weft_status weft_tiled_depthwise(const struct weft_conv_plan *plan);

#endif
