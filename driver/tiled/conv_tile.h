// SPDX-License-Identifier: Apache-2.0
// Shared by the convolution forms, not by programs: checked and completed arguments, and tiles with their edges.
#ifndef WEFT_TILED_CONV_TILE_H
#define WEFT_TILED_CONV_TILE_H

#include "driver/tiled/tile.h"

// A run of pixels in one direction, cut at the edges of the image: `before` and `after` fell outside.
struct weft_span {
  size_t first, count, before, after;
};

struct weft_span weft_clip(ptrdiff_t first, size_t count, size_t limit);

// A convolution with every default filled in, and its output size. Without pooling the pool is of size and stride 1.
struct weft_conv_plan {
  struct weft_conv conv;
  struct weft_conv_shape shape;
  bool pooled;
  size_t reach;  // pixels that the dilated kernel covers
};

enum weft_status weft_conv_plan(const struct weft_conv *conv, struct weft_conv_plan *plan);

// Tile sizes: pooled rows and columns, output channels and input channels in blocks.
struct weft_conv_tile {
  size_t rows, cols, out_blocks, in_blocks;
};

// Pixels before pooling that `count` pooled ones need.
static inline size_t weft_before_pool(const struct weft_conv_plan *plan, size_t count) {
  return (count - 1) * plan->conv.pool_stride + plan->conv.pool_size;
}

// Whether the fields of the pooling store hold a tile of that many pooled rows and columns.
bool weft_pool_fields_fit(const struct weft_conv_plan *plan, size_t rows, size_t cols);

// Grows a tile from one pixel and one block as long as `fits` holds. False: the smallest does not fit.
bool weft_conv_grow(const struct weft_conv_plan *plan,
                    bool (*fits)(const struct weft_conv_plan *plan, const struct weft_conv_tile *tile),
                    struct weft_conv_tile *tile);

// The tile being worked on.
struct weft_conv_part {
  size_t image;
  size_t pooled_row, pooled_col, pooled_rows, pooled_cols;
  struct weft_span rows, cols;  // before pooling
  size_t out_channel, out_channels;
};

// Calls `run` for every part of the output, channels innermost.
void weft_conv_parts(const struct weft_conv_plan *plan, const struct weft_conv_tile *tile,
                     void (*run)(void *context, const struct weft_conv_part *part), void *context);

// Where the part's output starts.
int8_t *weft_conv_output(const struct weft_conv_plan *plan, const struct weft_conv_part *part);

#endif
