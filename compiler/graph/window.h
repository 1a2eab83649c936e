// SPDX-License-Identifier: Apache-2.0
// Windows that move over images of one to three dimensions, for convolutions and pooling. Missing dimensions are in
// front, of size 1, so that loops are over three.
#ifndef COMPILER_GRAPH_WINDOW_H
#define COMPILER_GRAPH_WINDOW_H

#include "compiler/graph/call.h"

enum { GRAPH_AXES = 3 };

typedef struct graph_window {
  int rank;  // of the image, 1 to 3
  int64_t in[GRAPH_AXES], kernel[GRAPH_AXES], out[GRAPH_AXES];
  int64_t stride[GRAPH_AXES], dilation[GRAPH_AXES], before[GRAPH_AXES], after[GRAPH_AXES];
} graph_window;

// From strides, dilations, pads, auto_pad, ceil_mode of the node; `in` and `kernel` have `rank` entries.
bool graph_window_find(graph_call *c, graph_window *w, int rank, const int64_t *in, const int64_t *kernel);
// The same with other names of attributes: strides, pads.
bool graph_window_named(graph_call *c, graph_window *w, int rank, const int64_t *in, const int64_t *kernel,
                        const char *strides, const char *pads);
// Of a list of `rank` integers of at least `least`; absent: all `by_default`. In the last entries of `values`.
bool graph_window_list(graph_call *c, const char *name, int rank, int64_t least, int64_t by_default, int64_t *values);
int64_t graph_window_taps(const graph_window *w);
int64_t graph_window_pixels(const graph_window *w);  // of the result
// The taps from *from to *to - 1 read from `low` to `high` - 1 of the input.
void graph_window_inside(const graph_window *w, int axis, int64_t out, int64_t low, int64_t high, int64_t *from,
                         int64_t *to);
static inline int64_t graph_window_source(const graph_window *w, int axis, int64_t out, int64_t tap) {
  return out * w->stride[axis] - w->before[axis] + tap * w->dilation[axis];
}

#endif
