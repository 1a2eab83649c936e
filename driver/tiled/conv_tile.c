// SPDX-License-Identifier: Apache-2.0
// What the two forms of convolution share: argument checks, output sizes, tile growth and the walk over the tiles.
#include "driver/tiled/conv_tile.h"

// Widths of the pooling fields of config_st.
enum { POOL_WINDOW_MAX = 3, POOL_IMAGE_MAX = 255 };

struct weft_span weft_clip(ptrdiff_t first, size_t count, size_t limit) {
  ptrdiff_t last = first + (ptrdiff_t)count;  // exclusive
  ptrdiff_t low = first < 0 ? 0 : first, high = last > (ptrdiff_t)limit ? (ptrdiff_t)limit : last;
  if (low >= high) return (struct weft_span){.before = count};
  return (struct weft_span){.first = (size_t)low,
                            .count = (size_t)(high - low),
                            .before = (size_t)(low - first),
                            .after = (size_t)(last - high)};
}

static size_t one_if_zero(size_t value) { return value == 0 ? 1 : value; }

static bool output_size(const struct weft_conv_plan *p, size_t in, size_t *out, size_t *pooled) {
  const struct weft_conv *c = &p->conv;
  if (in + 2 * c->padding < p->reach) return false;
  *out = (in + 2 * c->padding - p->reach) / c->stride + 1;
  if (*out + 2 * c->pool_padding < c->pool_size) return false;
  *pooled = (*out + 2 * c->pool_padding - c->pool_size) / c->pool_stride + 1;
  return true;
}

static bool sizes_given(const struct weft_conv *c) {
  return c->batch > 0 && c->in_rows > 0 && c->in_cols > 0 && c->in_channels > 0 && c->out_channels > 0 && c->kernel > 0;
}

static enum weft_status complete(const struct weft_conv *conv, struct weft_conv_plan *p) {
  p->conv = *conv;
  struct weft_conv *c = &p->conv;
  if (!sizes_given(c) || (c->depthwise && c->in_channels != c->out_channels)) return WEFT_BAD_ARGUMENT;
  p->pooled = c->pool_size > 0;
  if (!p->pooled && (c->pool_stride > 0 || c->pool_padding > 0)) return WEFT_BAD_ARGUMENT;
  if (p->pooled && (c->pool_stride == 0 || c->pool_padding >= c->pool_size)) return WEFT_BAD_ARGUMENT;
  c->stride = one_if_zero(c->stride);
  c->dilation = one_if_zero(c->dilation);
  c->pool_size = one_if_zero(c->pool_size);
  c->pool_stride = one_if_zero(c->pool_stride);
  c->in_stride = weft_dense(c->in_stride, c->in_channels);
  c->out_stride = weft_dense(c->out_stride, c->out_channels);
  p->reach = (c->kernel - 1) * c->dilation + 1;
  // A window that lies in the padding altogether has no pixel to start from.
  if (c->padding >= p->reach) return WEFT_BAD_ARGUMENT;
  if (c->in_stride < c->in_channels || c->out_stride < c->out_channels) return WEFT_BAD_ARGUMENT;
  bool some = output_size(p, c->in_rows, &p->shape.rows, &p->shape.pooled_rows) &&
              output_size(p, c->in_cols, &p->shape.cols, &p->shape.pooled_cols);
  return some ? WEFT_OK : WEFT_BAD_ARGUMENT;
}

enum weft_status weft_conv_shape(const struct weft_conv *conv, struct weft_conv_shape *shape) {
  struct weft_conv_plan plan;
  enum weft_status status = complete(conv, &plan);
  if (status == WEFT_OK) *shape = plan.shape;
  return status;
}

enum weft_status weft_conv_plan(const struct weft_conv *conv, struct weft_conv_plan *p) {
  enum weft_status status = complete(conv, p);
  if (status != WEFT_OK) return status;
  if (conv->input == NULL || conv->weights == NULL || conv->output == NULL) return WEFT_BAD_ARGUMENT;
  if (!p->pooled) return WEFT_OK;
  if (!WEFT_HAS_MAX_POOL || p->conv.pool_size > POOL_WINDOW_MAX || p->conv.pool_stride > POOL_WINDOW_MAX ||
      p->shape.pooled_cols > POOL_IMAGE_MAX)
    return WEFT_UNSUPPORTED;
  return WEFT_OK;
}

bool weft_pool_fields_fit(const struct weft_conv_plan *p, size_t rows, size_t cols) {
  return !p->pooled || (weft_before_pool(p, rows) <= POOL_IMAGE_MAX && weft_before_pool(p, cols) <= POOL_IMAGE_MAX);
}

bool weft_conv_grow(const struct weft_conv_plan *p,
                    bool (*fits)(const struct weft_conv_plan *plan, const struct weft_conv_tile *tile),
                    struct weft_conv_tile *tile) {
  struct weft_conv_tile t = {1, 1, 1, 1};
  if (!weft_pool_fields_fit(p, t.rows, t.cols) || !fits(p, &t)) return false;
  // Columns first, so that rows of the image stay whole; a block of each kind of channel in turn with every row.
  struct {
    size_t *size, limit;
  } ways[] = {{&t.cols, p->shape.pooled_cols},
              {&t.in_blocks, p->conv.depthwise ? 1 : weft_blocks(p->conv.in_channels)},
              {&t.out_blocks, p->conv.depthwise ? 1 : weft_blocks(p->conv.out_channels)},
              {&t.rows, p->shape.pooled_rows}};
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      if (*ways[w].size >= ways[w].limit) continue;
      ++*ways[w].size;
      if (weft_pool_fields_fit(p, t.rows, t.cols) && fits(p, &t))
        grown = true;
      else
        --*ways[w].size;
    }
  }
  *tile = t;
  return true;
}

static struct weft_span before_pool(const struct weft_conv_plan *p, size_t pooled, size_t count, size_t limit) {
  ptrdiff_t first = (ptrdiff_t)(pooled * p->conv.pool_stride) - (ptrdiff_t)p->conv.pool_padding;
  return weft_clip(first, weft_before_pool(p, count), limit);
}

void weft_conv_parts(const struct weft_conv_plan *p, const struct weft_conv_tile *tile,
                     void (*run)(void *context, const struct weft_conv_part *part), void *context) {
  struct weft_conv_part at;
  for (at.image = 0; at.image < p->conv.batch; at.image++)
    for (at.pooled_row = 0; at.pooled_row < p->shape.pooled_rows; at.pooled_row += tile->rows)
      for (at.pooled_col = 0; at.pooled_col < p->shape.pooled_cols; at.pooled_col += tile->cols) {
        at.pooled_rows = weft_min(tile->rows, p->shape.pooled_rows - at.pooled_row);
        at.pooled_cols = weft_min(tile->cols, p->shape.pooled_cols - at.pooled_col);
        at.rows = before_pool(p, at.pooled_row, at.pooled_rows, p->shape.rows);
        at.cols = before_pool(p, at.pooled_col, at.pooled_cols, p->shape.cols);
        size_t step = tile->out_blocks * WEFT_DIM;
        for (at.out_channel = 0; at.out_channel < p->conv.out_channels; at.out_channel += step) {
          at.out_channels = weft_min(step, p->conv.out_channels - at.out_channel);
          run(context, &at);
        }
      }
}

int8_t *weft_conv_output(const struct weft_conv_plan *p, const struct weft_conv_part *part) {
  size_t pixel = (part->image * p->shape.pooled_rows + part->pooled_row) * p->shape.pooled_cols + part->pooled_col;
  return p->conv.output + pixel * p->conv.out_stride + part->out_channel;
}
