// SPDX-License-Identifier: Apache-2.0
// Operators that read images between their pixels: GridSample and RoiAlign.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

enum { SAMPLES_MAX = 4096 };  // in a row of a cell of RoiAlign

static double at(const graph_tensor *t, int64_t i) { return graph_real_at(t->type, t->data, (size_t)i); }

static bool text_is(const graph_call *c, const char *name, const char *by_default, const char *value) {
  return strcmp(graph_text(c->node, name, by_default), value) == 0;
}

// ---- GridSample: x [N,C,H,W], grid [N,P,Q,2] of places (x, y) from -1 to 1

typedef struct plane {
  const graph_tensor *x;
  int64_t first, height, width;
  char padding;  // of zeros, border, reflection
  bool corners;  // -1 and 1 are the middle of the outer pixels, not their edge
} plane;

bool graph_infer_grid_sample(graph_call *c) {
  const graph_tensor *x = c->in[0], *grid = c->in[1];
  if (x->rank != 4 || grid->rank != 4 || grid->dim[3] != 2 || grid->dim[0] != x->dim[0] || !graph_is_real(grid->type))
    return graph_call_fail(c, "it takes images and a grid of two coordinates");
  if (graph_elements(x) == 0) return graph_call_fail(c, "its image is empty");
  if (!text_is(c, "mode", "bilinear", "bilinear") && !text_is(c, "mode", "bilinear", "nearest") &&
      !text_is(c, "mode", "bilinear", "bicubic"))
    return graph_call_fail(c, "its mode is unknown");
  if (!text_is(c, "padding_mode", "zeros", "zeros") && !text_is(c, "padding_mode", "zeros", "border") &&
      !text_is(c, "padding_mode", "zeros", "reflection"))
    return graph_call_fail(c, "its padding_mode is unknown");
  return graph_call_result(c, 0, x->type, 4, (int64_t[]){x->dim[0], x->dim[1], grid->dim[1], grid->dim[2]});
}

static double in_pixels(double place, int64_t size, bool corners) {
  return corners ? (place + 1) / 2 * (double)(size - 1) : ((place + 1) * (double)size - 1) / 2;
}

// Mirrored at the middle of the outer pixels, or at their edges.
static double reflected(double v, int64_t size, bool corners) {
  double low = corners ? 0 : -0.5, span = corners ? (double)(size - 1) : (double)size;
  if (span <= 0 || !isfinite(v)) return 0;
  double distance = fmod(fabs(v - low), 2 * span);
  return low + (distance > span ? 2 * span - distance : distance);
}

static double pixel(const plane *p, double row, double column) {
  if (p->padding == 'r')
    row = rint(reflected(row, p->height, p->corners)), column = rint(reflected(column, p->width, p->corners));
  if (p->padding != 'z') {
    row = fmin(fmax(row, 0), (double)(p->height - 1));
    column = fmin(fmax(column, 0), (double)(p->width - 1));
  }
  if (!(row >= 0 && row < (double)p->height && column >= 0 && column < (double)p->width)) return 0;
  return at(p->x, p->first + (int64_t)row * p->width + (int64_t)column);
}

static double linear(const plane *p, double row, double column) {
  double r = floor(row), s = floor(column), a = row - r, b = column - s;
  return (1 - a) * ((1 - b) * pixel(p, r, s) + b * pixel(p, r, s + 1)) +
         a * ((1 - b) * pixel(p, r + 1, s) + b * pixel(p, r + 1, s + 1));
}

static double cubic_weight(double t) {
  const double a = -0.75;
  t = fabs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0;
}

static double cubic(const plane *p, double row, double column) {
  double sum = 0;
  for (int i = -1; i < 3; i++)
    for (int j = -1; j < 3; j++) {
      double r = floor(row) + i, s = floor(column) + j;
      sum += cubic_weight(row - r) * cubic_weight(column - s) * pixel(p, r, s);
    }
  return sum;
}

// Places outside are brought inside before anything is read, but for bicubic, which reads its neighbours one by one.
static double sample(const graph_call *c, const plane *p, double x, double y) {
  double column = in_pixels(x, p->width, p->corners), row = in_pixels(y, p->height, p->corners);
  if (text_is(c, "mode", "bilinear", "bicubic")) return cubic(p, row, column);
  if (p->padding == 'r') row = reflected(row, p->height, p->corners), column = reflected(column, p->width, p->corners);
  if (p->padding != 'z') {
    row = fmin(fmax(row, 0), (double)(p->height - 1));
    column = fmin(fmax(column, 0), (double)(p->width - 1));
  }
  return text_is(c, "mode", "bilinear", "nearest") ? pixel(p, rint(row), rint(column)) : linear(p, row, column);
}

bool graph_run_grid_sample(graph_call *c) {
  const graph_tensor *x = c->in[0], *grid = c->in[1], *y = c->out[0];
  int64_t image = x->dim[2] * x->dim[3], places = y->dim[2] * y->dim[3], to = 0;
  plane p = {x,
             0,
             x->dim[2],
             x->dim[3],
             graph_text(c->node, "padding_mode", "zeros")[0],
             graph_int(c->node, "align_corners", 0) != 0};
  for (int64_t n = 0; n < y->dim[0]; n++)
    for (int64_t ch = 0; ch < y->dim[1]; ch++, p.first += image)
      for (int64_t i = n * places; i < (n + 1) * places; i++)
        graph_put_real(y->type, c->to[0], (size_t)to++, sample(c, &p, at(grid, 2 * i), at(grid, 2 * i + 1)));
  return true;
}

// ---- RoiAlign: x [N,C,H,W], boxes [R,4] (x1, y1, x2, y2), the image of each box [R]

bool graph_infer_roi_align(graph_call *c) {
  const graph_tensor *x = c->in[0], *boxes = c->in[1], *images = c->in[2];
  if (x->rank != 4 || boxes->rank != 2 || boxes->dim[1] != 4 || boxes->type != x->type || images->rank != 1 ||
      images->type != GRAPH_I64 || images->dim[0] != boxes->dim[0])
    return graph_call_fail(c, "it takes images, boxes of four numbers and an image for each box");
  if (!text_is(c, "mode", "avg", "avg") && !text_is(c, "mode", "avg", "max"))
    return graph_call_fail(c, "its mode is unknown");
  int64_t height = graph_int(c->node, "output_height", 1), width = graph_int(c->node, "output_width", 1);
  if (height < 1 || width < 1) return graph_call_fail(c, "its result has no size");
  if (graph_int(c->node, "sampling_ratio", 0) > SAMPLES_MAX)
    return graph_call_fail(c, "its sampling_ratio is too large");
  return graph_call_result(c, 0, x->type, 4, (int64_t[]){boxes->dim[0], x->dim[1], height, width});
}

typedef struct box {
  double top, left, cell_height, cell_width;
  int64_t rows, columns;  // samples in a cell
} box;

// As many as a cell has pixels; none in one that has no size.
static int64_t samples(double size) { return size > 0 && isfinite(size) ? (int64_t)fmin(ceil(size), SAMPLES_MAX) : 0; }

static box box_at(const graph_call *c, int64_t index) {
  const graph_tensor *boxes = c->in[1], *y = c->out[0];
  bool half = text_is(c, "coordinate_transformation_mode", "half_pixel", "half_pixel");
  double scale = (double)graph_float(c->node, "spatial_scale", 1), corner[4];
  for (int k = 0; k < 4; k++) corner[k] = at(boxes, 4 * index + k) * scale - (half ? 0.5 : 0);
  double height = corner[3] - corner[1], width = corner[2] - corner[0];
  if (!half) height = fmax(height, 1), width = fmax(width, 1);
  box b = {corner[1], corner[0], height / (double)y->dim[2], width / (double)y->dim[3], 0, 0};
  int64_t ratio = graph_int(c->node, "sampling_ratio", 0);
  b.rows = ratio > 0 ? ratio : samples(b.cell_height);
  b.columns = ratio > 0 ? ratio : samples(b.cell_width);
  return b;
}

// Weights and pixels of a place: nothing beyond one pixel outside, the nearest pixel up to there.
static double neighbours(const plane *p, double row, double column, double parts[4]) {
  for (int k = 0; k < 4; k++) parts[k] = 0;
  if (!(row >= -1 && row <= (double)p->height && column >= -1 && column <= (double)p->width)) return 0;
  row = fmin(fmax(row, 0), (double)(p->height - 1));
  column = fmin(fmax(column, 0), (double)(p->width - 1));
  double r = floor(row), s = floor(column), a = row - r, b = column - s;
  double below = fmin(r + 1, (double)(p->height - 1)), right = fmin(s + 1, (double)(p->width - 1));
  parts[0] = (1 - a) * (1 - b) * pixel(p, r, s);
  parts[1] = (1 - a) * b * pixel(p, r, right);
  parts[2] = a * (1 - b) * pixel(p, below, s);
  parts[3] = a * b * pixel(p, below, right);
  return parts[0] + parts[1] + parts[2] + parts[3];
}

static double cell(const plane *p, const box *b, int64_t row, int64_t column, bool most) {
  double sum = 0, largest = -INFINITY, parts[4];
  for (int64_t i = 0; i < b->rows; i++)
    for (int64_t j = 0; j < b->columns; j++) {
      double y = b->top + ((double)row + ((double)i + 0.5) / (double)b->rows) * b->cell_height;
      double x = b->left + ((double)column + ((double)j + 0.5) / (double)b->columns) * b->cell_width;
      sum += neighbours(p, y, x, parts);
      for (int k = 0; k < 4; k++) largest = fmax(largest, parts[k]);
    }
  int64_t count = b->rows * b->columns;
  return count == 0 ? 0 : most ? largest : sum / (double)count;
}

bool graph_run_roi_align(graph_call *c) {
  const graph_tensor *x = c->in[0], *y = c->out[0];
  const int64_t *images = c->in[2]->data;
  bool most = text_is(c, "mode", "avg", "max");
  int64_t image = x->dim[2] * x->dim[3], to = 0;
  for (int64_t n = 0; n < y->dim[0]; n++) {
    box b = box_at(c, n);
    if (images[n] < 0 || images[n] >= x->dim[0])
      return graph_call_fail(c, "box %" PRId64 " is in image %" PRId64, n, images[n]);
    for (int64_t ch = 0; ch < x->dim[1]; ch++) {
      plane p = {x, (images[n] * x->dim[1] + ch) * image, x->dim[2], x->dim[3], 'z', false};
      for (int64_t i = 0; i < y->dim[2]; i++)
        for (int64_t j = 0; j < y->dim[3]; j++)
          graph_put_real(y->type, c->to[0], (size_t)to++, cell(&p, &b, i, j, most));
    }
  }
  return true;
}
