// SPDX-License-Identifier: Apache-2.0
// Geometry of windows: see window.h. Sizes are limited so that no index overflows.
#include "compiler/graph/window.h"

#include <inttypes.h>
#include <string.h>

#define SIZE_LIMIT (INT64_C(1) << 32)

bool graph_window_list(graph_call *c, const char *name, int rank, int64_t least, int64_t by_default, int64_t *values) {
  int64_t given[GRAPH_AXES];
  int count = graph_ints(c->node, name, given, GRAPH_AXES);
  if (count != 0 && count != rank) return graph_call_fail(c, "%s has %d entries for %d axes", name, count, rank);
  for (int d = 0; d < GRAPH_AXES; d++) values[d] = by_default;
  for (int d = 0; d < count; d++) {
    if (given[d] < least || given[d] > SIZE_LIMIT)
      return graph_call_fail(c, "%s has the entry %" PRId64, name, given[d]);
    values[GRAPH_AXES - rank + d] = given[d];
  }
  return true;
}

static bool read_pads(graph_call *c, graph_window *w, const char *name) {
  int64_t pads[2 * GRAPH_AXES];
  int count = graph_ints(c->node, name, pads, 2 * GRAPH_AXES);
  if (count != 0 && count != 2 * w->rank)
    return graph_call_fail(c, "%s has %d entries for %d axes", name, count, w->rank);
  for (int d = 0; d < count; d++) {
    if (pads[d] < 0 || pads[d] > SIZE_LIMIT) return graph_call_fail(c, "%s has the entry %" PRId64, name, pads[d]);
    (d < w->rank ? w->before : w->after)[GRAPH_AXES - w->rank + d % w->rank] = pads[d];
  }
  return true;
}

static int64_t reach(const graph_window *w, int axis) { return (w->kernel[axis] - 1) * w->dilation[axis] + 1; }

// SAME_UPPER and SAME_LOWER: as many results as strides fit the image.
static void pad_same(graph_window *w, bool upper) {
  for (int d = 0; d < GRAPH_AXES; d++) {
    int64_t out = (w->in[d] + w->stride[d] - 1) / w->stride[d];
    int64_t total = (out - 1) * w->stride[d] + reach(w, d) - w->in[d];
    if (total < 0) total = 0;
    w->before[d] = upper ? total / 2 : total - total / 2;
    w->after[d] = total - w->before[d];
  }
}

static bool find_out(graph_call *c, graph_window *w, bool ceil) {
  for (int d = 0; d < GRAPH_AXES; d++) {
    int64_t room = w->in[d] + w->before[d] + w->after[d] - reach(w, d);
    if (room < 0) return graph_call_fail(c, "its window is larger than the image");
    w->out[d] = room / w->stride[d] + 1;
    // One more that begins inside of the image or of the padding before it.
    if (ceil && room % w->stride[d] != 0 && w->out[d] * w->stride[d] < w->in[d] + w->before[d]) w->out[d]++;
  }
  return true;
}

static bool find(graph_call *c, graph_window *w, const int64_t *in, const int64_t *kernel) {
  if (w->rank < 1 || w->rank > GRAPH_AXES)
    return graph_call_fail(c, "it takes images of 1 to %d dimensions", GRAPH_AXES);
  for (int d = 0; d < GRAPH_AXES; d++) w->in[d] = w->kernel[d] = 1;
  for (int d = 0; d < w->rank; d++) {
    int to = GRAPH_AXES - w->rank + d;
    w->in[to] = in[d];
    w->kernel[to] = kernel[d];
    if (kernel[d] < 1 || kernel[d] > SIZE_LIMIT / 1024 || in[d] < 1 || in[d] > SIZE_LIMIT)
      return graph_call_fail(c, "its image or its window is empty");
  }
  return true;
}

static bool bounded(graph_call *c, const graph_window *w) {
  for (int d = 0; d < GRAPH_AXES; d++)
    if (w->dilation[d] > SIZE_LIMIT / 1024) return graph_call_fail(c, "its dilation is too large");
  return true;
}

bool graph_window_named(graph_call *c, graph_window *w, int rank, const int64_t *in, const int64_t *kernel,
                        const char *strides, const char *pads) {
  *w = (graph_window){.rank = rank, .dilation = {1, 1, 1}};
  return find(c, w, in, kernel) && graph_window_list(c, strides, rank, 1, 1, w->stride) && read_pads(c, w, pads) &&
         find_out(c, w, false);
}

bool graph_window_find(graph_call *c, graph_window *w, int rank, const int64_t *in, const int64_t *kernel) {
  const char *mode = graph_text(c->node, "auto_pad", "NOTSET");
  *w = (graph_window){.rank = rank};
  if (!find(c, w, in, kernel) || !graph_window_list(c, "strides", rank, 1, 1, w->stride) ||
      !graph_window_list(c, "dilations", rank, 1, 1, w->dilation) || !bounded(c, w))
    return false;
  if (strcmp(mode, "NOTSET") == 0 || mode[0] == '\0') {
    if (!read_pads(c, w, "pads")) return false;
  } else if (strcmp(mode, "SAME_UPPER") == 0 || strcmp(mode, "SAME_LOWER") == 0) {
    pad_same(w, mode[5] == 'U');
  } else if (strcmp(mode, "VALID") != 0) {
    return graph_call_fail(c, "auto_pad '%s' is unknown", mode);
  }
  return find_out(c, w, graph_int(c->node, "ceil_mode", 0) != 0);
}

int64_t graph_window_taps(const graph_window *w) { return graph_product(w->kernel, 0, GRAPH_AXES); }
int64_t graph_window_pixels(const graph_window *w) { return graph_product(w->out, 0, GRAPH_AXES); }

void graph_window_inside(const graph_window *w, int axis, int64_t out, int64_t low, int64_t high, int64_t *from,
                         int64_t *to) {
  int64_t first = graph_window_source(w, axis, out, 0), by = w->dilation[axis], kernel = w->kernel[axis];
  int64_t skipped = first >= low ? 0 : (low - first + by - 1) / by,
          end = first >= high ? 0 : (high - 1 - first) / by + 1;
  *from = skipped < kernel ? skipped : kernel;
  *to = end < kernel ? end : kernel;
  if (*to < *from) *to = *from;
}
