// SPDX-License-Identifier: Apache-2.0
// The loops of one result, and what the registers of each say: see arch/loops/loop_conv.c for what they mean.
//
// All images of a block are one chain if their places in memory can be told to the unroller, else each is one. Where
// images have one column, as of a convolution in one dimension, rows and columns change places: products take a run of
// columns at a time.
#include <inttypes.h>

#include "base/number.h"
#include "compiler/schedule/loop_conv.h"

// Elements of the kernel that form a grid.
typedef struct grid {
  int64_t count[SCHED_AXES];  // rows, columns
  int64_t first[SCHED_AXES];  // the pixel that the first result meets
  int64_t dilation;
  int64_t weights;           // of the first element
  int64_t step[SCHED_AXES];  // elements of the weights from row to row, column to column
} grid;

// ---- axes

static void swap(int64_t *pair) {
  const int64_t first = pair[SCHED_ROW];
  pair[SCHED_ROW] = pair[SCHED_COLUMN];
  pair[SCHED_COLUMN] = first;
}

static void swap_image(sched_conv_image *image) {
  swap(image->first);
  swap(image->step);
  swap(image->extent);
  swap(image->stride);
  swap(image->size);
}

static bool has_one_column(const sched_conv_chain *chain) {
  bool one = chain->output.extent[SCHED_COLUMN] == 1;
  for (size_t n = 0; n < chain->count; n++) {
    const sched_conv_part *part = &chain->parts[n];
    one = one && part->input.extent[SCHED_COLUMN] == 1;
    for (size_t t = 0; t < part->tap_count; t++) one = one && part->taps[t].at[SCHED_COLUMN] == 0;
  }
  return one;
}

static void swap_axes(sched_conv_chain *chain) {
  swap_image(&chain->output);
  for (size_t n = 0; n < chain->count; n++) {
    sched_conv_part *part = &chain->parts[n];
    swap_image(&part->input);
    swap(part->stride);
    for (size_t t = 0; t < part->tap_count; t++) swap(part->taps[t].at);
  }
}

// ---- the kernel

// The smallest distance from the first element along an axis, 0 if there is none.
static int64_t distance(const sched_conv_part *part, int axis) {
  int64_t found = 0;
  for (size_t t = 0; t < part->tap_count; t++) {
    const int64_t here = part->taps[t].at[axis] - part->taps[0].at[axis];
    if (here > 0 && (found == 0 || here < found)) found = here;
  }
  return found;
}

// Elements of the weights to the element that lies one step further along an axis.
static int64_t weight_step(const sched_conv_part *part, int axis, int64_t dilation) {
  const sched_conv_tap *first = &part->taps[0];
  for (size_t t = 0; t < part->tap_count; t++) {
    const sched_conv_tap *tap = &part->taps[t];
    if (tap->at[axis] - first->at[axis] == dilation && tap->at[1 - axis] == first->at[1 - axis])
      return tap->weights - first->weights;
  }
  return 0;
}

static bool lies_in(const grid *g, const sched_conv_tap *tap, int64_t index[SCHED_AXES]) {
  for (int axis = 0; axis < SCHED_AXES; axis++) {
    const int64_t at = tap->at[axis] - g->first[axis];
    index[axis] = at / g->dilation;
    if (at < 0 || at % g->dilation != 0 || index[axis] >= g->count[axis]) return false;
  }
  return true;
}

// The loops over the kernel count up, so the first element is the upper left one. False: the elements are no grid.
static bool find_grid(const sched_conv_part *part, grid *g) {
  *g = (grid){.count = {1, 1}, .weights = part->taps[0].weights};
  const int64_t apart[SCHED_AXES] = {distance(part, SCHED_ROW), distance(part, SCHED_COLUMN)};
  if (apart[SCHED_ROW] != 0 && apart[SCHED_COLUMN] != 0 && apart[SCHED_ROW] != apart[SCHED_COLUMN]) return false;
  g->dilation = wf_max(1, wf_max(apart[SCHED_ROW], apart[SCHED_COLUMN]));
  for (int axis = 0; axis < SCHED_AXES; axis++) {
    g->first[axis] = part->taps[0].at[axis];
    g->step[axis] = weight_step(part, axis, g->dilation);
    for (size_t t = 0; t < part->tap_count; t++)
      g->count[axis] = wf_max(g->count[axis], (part->taps[t].at[axis] - g->first[axis]) / g->dilation + 1);
  }
  for (size_t t = 0; t < part->tap_count; t++) {
    int64_t index[SCHED_AXES];
    if (!lies_in(g, &part->taps[t], index) || part->taps[t].weights != g->weights +
                                                                           index[SCHED_ROW] * g->step[SCHED_ROW] +
                                                                           index[SCHED_COLUMN] * g->step[SCHED_COLUMN])
      return false;
  }
  return g->count[SCHED_ROW] * g->count[SCHED_COLUMN] == (int64_t)part->tap_count;
}

// The kernel's side and input channels, which say how weights lie: side * channels * stride elements from row to row,
// channels * stride from column to column. Where there is one column only, any product of the two will do.
static bool set_kernel(const grid *g, int64_t weight_stride, sched_conv_registers *r) {
  const int64_t row = g->step[SCHED_ROW], column = g->step[SCHED_COLUMN];
  r->kernel = 1;
  if (g->count[SCHED_COLUMN] > 1) {
    r->in_channels = column / weight_stride;
    if (g->count[SCHED_ROW] > 1) r->kernel = row / wf_max(1, column);
    return column == r->in_channels * weight_stride && (g->count[SCHED_ROW] == 1 || row == r->kernel * column);
  }
  r->in_channels = r->in_stride;
  if (g->count[SCHED_ROW] == 1) return true;
  r->kernel = row / (r->in_channels * weight_stride);
  if (row == r->kernel * r->in_channels * weight_stride) return true;
  r->in_channels = 1;
  r->kernel = row / weight_stride;
  return row == r->kernel * weight_stride;
}

// ---- images

// Rows and columns of images in memory, as far as the addresses of `rows` rows of `images` images depend on them.
static bool set_plane(const sched_conv_image *image, int64_t rows, int64_t images, int64_t *in_rows, int64_t *in_cols) {
  const int64_t pixel = image->stride[SCHED_COLUMN];
  if (pixel <= 0) return false;
  *in_cols = *in_rows = wf_max(1, (rows > 1     ? image->stride[SCHED_ROW]
                                   : images > 1 ? image->image_stride
                                                : pixel) /
                                      pixel);
  if (rows > 1 && image->stride[SCHED_ROW] != *in_cols * pixel) return false;
  if (images == 1) return true;
  *in_rows = image->image_stride / (*in_cols * pixel);
  return image->image_stride == *in_rows * *in_cols * pixel;
}

// The first input that exists, and how many lie outside of the image before and behind the others.
static int64_t set_padding(const sched_conv_part *part, const grid *g, int axis, int64_t results,
                           sched_conv_registers *r) {
  const int64_t stride = r->stride, window = results * stride + g->dilation * (g->count[axis] - 1);
  const int64_t first = g->first[axis], extent = part->input.extent[axis];
  r->pad[axis][0] = first < 0 ? wf_min(-first, window) : 0;
  r->pad[axis][1] = window - r->pad[axis][0] - wf_max(0, wf_min(extent, first + window) - wf_max(first, 0));
  return wf_max(first, 0);
}

static bool set_stride(const sched_conv_chain *chain, const sched_conv_part *part, sched_conv_registers *r) {
  const int64_t *size = chain->output.size;
  r->stride = size[SCHED_COLUMN] > 1 ? part->stride[SCHED_COLUMN] : size[SCHED_ROW] > 1 ? part->stride[SCHED_ROW] : 1;
  return size[SCHED_ROW] == 1 || part->stride[SCHED_ROW] == r->stride;
}

// Kernel columns of few channels side by side in a local row.
static int64_t pixels_of(const sched_loop *l, const sched_conv_registers *r) {
  if (!l->array->units.pixel_repeat || r->dilation != 1 || r->downsample) return 1;
  return wf_max(1, wf_min(r->kcols, l->derived.dim / r->kchs));
}

// ---- one loop

// Which of the results a chain computes: images from `image` on, and of a depthwise convolution one block of channels.
typedef struct slice {
  int64_t image, images, channel, channels;
  bool blocks;  // of channels that have matrices of their own
} slice;

static sched_loop_operand element(const sched_conv_image *image, int64_t offset) {
  return (sched_loop_operand){image->tensor, (uint64_t)offset};
}

static void set_channels(const sched_conv_part *part, const slice *s, const grid *g, sched_conv_registers *r) {
  int64_t weights = g->weights;
  r->pochs = s->channels;
  r->kchs =
      s->blocks ? wf_min(s->channels, part->input.channels - s->channel) : wf_min(part->input.channels, part->rows);
  if (part->block != 0)
    weights += s->channel / part->block * part->block_step;
  else
    weights += s->channel * (part->row_stride + 1);  // the block of a unit matrix
  r->weights = (sched_loop_operand){part->weight_tensor, (uint64_t)weights};
}

// What is not there cannot be told apart from padding.
static const char *reason_of_sizes(const sched_conv_part *part, const slice *s, const sched_conv_registers *r) {
  if (s->image + s->images > part->input.images) return "there are fewer images of inputs than of results";
  if (r->kchs <= 0) return "a loop has no input channels";
  return r->pochs > part->columns ? "there are fewer columns of weights than of results" : NULL;
}

static const char *set_part(const sched_loop *l, const sched_conv_chain *chain, const sched_conv_part *part,
                            const slice *s, sched_conv_registers *r) {
  const sched_conv_image *in = &part->input, *out = &chain->output;
  grid g;
  *r = (sched_conv_registers){
      .batches = s->images, .orows = out->size[SCHED_ROW], .ocols = out->size[SCHED_COLUMN], .relu = chain->relu};
  if (!find_grid(part, &g)) return "the elements of the kernel are no grid with one dilation";
  if (!set_stride(chain, part, r)) return "rows and columns have strides of their own";
  r->krows = g.count[SCHED_ROW], r->kcols = g.count[SCHED_COLUMN], r->dilation = g.dilation;
  r->in_stride = in->stride[SCHED_COLUMN], r->out_stride = out->stride[SCHED_COLUMN],
  r->weight_stride = part->row_stride;
  set_channels(part, s, &g, r);
  const char *reason = reason_of_sizes(part, s, r);
  if (reason != NULL) return reason;
  const int64_t row = set_padding(part, &g, SCHED_ROW, r->orows, r),
                column = set_padding(part, &g, SCHED_COLUMN, r->ocols, r);
  const int64_t window =
      r->orows * r->stride + r->dilation * (r->krows - 1) - r->pad[SCHED_ROW][0] - r->pad[SCHED_ROW][1];
  if (r->weight_stride <= 0 || !set_plane(in, window, s->images, &r->in_rows, &r->in_cols) ||
      !set_plane(out, r->orows, s->images, &r->out_rows, &r->out_cols))
    return "rows of the images are no multiple of their pixels apart";
  if (!set_kernel(&g, part->row_stride, r)) return "the unroller cannot tell where the kernel's elements are";
  const int64_t skipped = row * in->stride[SCHED_ROW] + column * in->stride[SCHED_COLUMN];
  r->input = element(in, in->offset + s->image * in->image_stride + s->channel + (window > 0 ? skipped : 0));
  r->downsample = r->krows == 1 && r->kcols == 1 && r->stride == 2 &&
                  (r->pad[SCHED_ROW][0] | r->pad[SCHED_ROW][1]) == 0 &&
                  (r->pad[SCHED_COLUMN][0] | r->pad[SCHED_COLUMN][1]) == 0;
  r->pixels = part->block != 0 ? 1 : pixels_of(l, r);
  return NULL;
}

// Revision 1 has images of one side, and one stride for all that lies in pixels of inputs, another for results.
static const char *reason_of_revision(const sched_loop *l, const sched_conv_registers *r) {
  if (l->array->isa.revision != 1) return NULL;
  if (r->in_rows != r->in_cols || r->out_rows != r->out_cols) return "revision 1 of the unroller takes square images";
  if (r->in_stride != r->in_channels || r->out_stride != r->weight_stride)
    return "revision 1 of the unroller has one stride for channels of pixels and of weights";
  return NULL;
}

static const char *reason_of_capacity(const sched_loop *l, const sched_conv_registers *r, int64_t *needs,
                                      int64_t *has) {
  const int64_t dim = l->derived.dim, shift = r->downsample ? 1 : 0;
  const int64_t rows = (r->orows * r->stride + r->dilation * (r->krows - 1)) >> shift;
  const int64_t columns = (r->ocols * r->stride + r->dilation * (r->kcols - 1)) >> shift;
  const int64_t outputs = (r->pochs + dim - 1) / dim;
  *needs = (r->kchs + dim - 1) / dim * r->batches * rows * columns + outputs * r->krows * r->kcols * r->kchs;
  *has = wf_min(l->derived.sp_rows / 2, UINT16_MAX);  // rows are counted in 16 bits
  if (*needs > *has) return "scratchpad";
  *needs = outputs * r->batches * r->orows * r->ocols;
  *has = wf_min(l->derived.acc_rows / 2, UINT16_MAX);
  return *needs > *has ? "accumulator" : NULL;
}

// ---- chains

// Zeros are loaded for a bias that has an address and is none.
static void set_bias(const sched_conv_chain *chain, const slice *s, sched_conv_registers *r) {
  r->no_bias = !chain->has_bias;
  r->bias = r->weights;
  if (chain->has_bias)
    r->bias = (sched_loop_operand){chain->bias_tensor, (uint64_t)(chain->bias + s->channel) * sizeof(int32_t)};
}

static sched_loop_operand first_result(const sched_conv_image *out, const slice *s) {
  const int64_t pixel =
      out->first[SCHED_ROW] * out->stride[SCHED_ROW] + out->first[SCHED_COLUMN] * out->stride[SCHED_COLUMN];
  return element(out, out->offset + s->image * out->image_stride + pixel + s->channel);
}

static bool put_part(sched_loop *l, const sched_conv_chain *chain, size_t n, const slice *s) {
  const sched_conv_image *out = &chain->output;
  sched_conv_registers r;
  int64_t needs, has;
  const char *reason = set_part(l, chain, &chain->parts[n], s, &r);
  if (reason == NULL) reason = reason_of_revision(l, &r);
  if (reason != NULL) return sched_loop_refuse(l, chain->parts[n].dot, reason);
  const char *memory = reason_of_capacity(l, &r, &needs, &has);
  if (memory != NULL) {
    wf_error(l->diag, chain->parts[n].dot->where, "half of the %s: needs %" PRId64 " rows of %" PRId64, memory, needs,
             has);
    return false;
  }
  r.bias = r.output = sched_loop_number(0);
  if (n == 0) set_bias(chain, s, &r);
  if (n + 1 == chain->count) r.output = first_result(out, s);
  sched_loop_configure_execute(l, false, false, r.stride >> (r.downsample ? 1 : 0));
  sched_loop_configure_store(l, r.out_stride, chain->relu, chain->scale);
  return sched_conv_put_registers(l, &r) ||
         sched_loop_refuse(l, chain->where, "the registers of the loop unroller are too narrow for this");
}

static bool put_slice(sched_loop *l, const sched_conv_chain *chain, const slice *s) {
  bool good = true;
  for (size_t n = 0; n < chain->count && good; n++) good = put_part(l, chain, n, s);
  return good;
}

// Whether the unroller finds the second image behind the first.
static bool are_together(const sched_loop *l, const sched_conv_chain *chain) {
  const slice all = {.images = chain->output.images, .channels = 1};
  for (size_t n = 0; n < chain->count; n++) {
    sched_conv_registers r;
    if (set_part(l, chain, &chain->parts[n], &all, &r) != NULL) return false;
    if (l->array->isa.revision == 1 && (r.in_rows != r.in_cols || r.out_rows != r.out_cols)) return false;
    if (wf_max(r.in_rows, r.out_rows) > UINT16_MAX || wf_max(r.in_cols, r.out_cols) > UINT16_MAX) return false;
  }
  return true;
}

// The block of channels that have a matrix of their own, 0 if all have one.
static int64_t block_of(const sched_conv_chain *chain) {
  int64_t block = 0;
  for (size_t n = 0; n < chain->count; n++) block = wf_max(block, chain->parts[n].block);
  return block;
}

bool sched_conv_put_chain(sched_loop *l, const sched_conv_chain *given) {
  sched_conv_chain chain = *given;
  if (has_one_column(&chain)) swap_axes(&chain);
  const int64_t all = chain.output.images, channels = chain.output.channels;
  const int64_t images = are_together(l, &chain) ? all : 1, block = block_of(&chain);
  slice s = {.images = images, .blocks = block != 0};
  for (s.image = 0; s.image < all; s.image += images)
    for (s.channel = 0; s.channel < channels; s.channel += s.channels) {
      s.channels = block == 0 ? channels : wf_min(block, channels - s.channel);
      if (!put_slice(l, &chain, &s)) return false;
    }
  return true;
}
