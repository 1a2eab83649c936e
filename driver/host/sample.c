// SPDX-License-Identifier: Apache-2.0
// SAMPLE: an image, the two inner dimensions, read between its pixels at places from -1 to 1.
#include "private.h"
#include "weft/host_math.h"

struct plane {
  const char *x;
  int64_t size[2], step[2];  // of rows, of columns
  int64_t mode;
};

static bool has_corners(const struct plane *p) { return (p->mode & WEFT_SAMPLE_CORNERS) != 0; }
static int64_t padding(const struct plane *p) { return p->mode & (WEFT_SAMPLE_BORDER | WEFT_SAMPLE_REFLECTION); }

static float in_pixels(const struct plane *p, int d, float place) {
  const float size = (float)p->size[d];
  return has_corners(p) ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
}

// Mirrored at the middle of the outer pixels, or at their edges.
static float reflected(const struct plane *p, int d, float v) {
  const float low = has_corners(p) ? 0 : -0.5f, span = (float)p->size[d] - (has_corners(p) ? 1 : 0);
  if (!(span > 0) || !(weft_absf(v) < 0x1p30f)) return 0;
  const float far = weft_absf(v - low), distance = far - 2 * span * weft_floorf(far / (2 * span));
  return low + (distance > span ? 2 * span - distance : distance);
}

static float within(const struct plane *p, int d, float v) {
  const float last = (float)(p->size[d] - 1);
  return v > 0 ? (v < last ? v : last) : 0;
}

static float pixel(const struct plane *p, float row, float column) {
  float at[2] = {row, column};
  for (int d = 0; d < 2; d++) {
    if (padding(p) == WEFT_SAMPLE_REFLECTION) at[d] = weft_roundf(reflected(p, d, at[d]));
    if (padding(p) != 0) at[d] = within(p, d, at[d]);
    if (!(at[d] >= 0 && at[d] < (float)p->size[d])) return 0;
  }
  return host_f32(p->x + (int64_t)at[0] * p->step[0] + (int64_t)at[1] * p->step[1]);
}

static float linear(const struct plane *p, float row, float column) {
  const float r = weft_floorf(row), c = weft_floorf(column), a = row - r, b = column - c;
  return (1 - a) * ((1 - b) * pixel(p, r, c) + b * pixel(p, r, c + 1)) +
         a * ((1 - b) * pixel(p, r + 1, c) + b * pixel(p, r + 1, c + 1));
}

static float cubic_weight(float t) {
  const float a = -0.75f, x = weft_absf(t);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static float cubic(const struct plane *p, float row, float column) {
  const float r = weft_floorf(row), c = weft_floorf(column);
  float sum = 0;
  for (int i = -1; i < 3; i++)
    for (int j = -1; j < 3; j++) {
      const float y = r + (float)i, x = c + (float)j;
      sum += cubic_weight(row - y) * cubic_weight(column - x) * pixel(p, y, x);
    }
  return sum;
}

// Places outside are brought inside before anything is read, but for cubic, which reads its neighbours one by one.
static float sample(const struct plane *p, float y, float x) {
  float at[2] = {in_pixels(p, 0, y), in_pixels(p, 1, x)};
  if ((p->mode & WEFT_SAMPLE_CUBIC) != 0) return cubic(p, at[0], at[1]);
  for (int d = 0; d < 2; d++) {
    if (padding(p) == WEFT_SAMPLE_REFLECTION) at[d] = reflected(p, d, at[d]);
    if (padding(p) != 0) at[d] = within(p, d, at[d]);
  }
  return (p->mode & WEFT_SAMPLE_LINEAR) != 0 ? linear(p, at[0], at[1])
                                             : pixel(p, weft_roundf(at[0]), weft_roundf(at[1]));
}

static enum weft_host_status visit(void *context, const struct weft_host_call *call, const struct host_place *place) {
  (void)context;
  const unsigned d = call->outer;
  const struct plane p = {place->at[1],
                          {call->dim[d], call->dim[d + 1]},
                          {call->operand[1].step[d], call->operand[1].step[d + 1]},
                          call->integer[0]};
  host_put_f32(place->at[0], sample(&p, host_f32(place->at[3]), host_f32(place->at[2])));
  return WEFT_HOST_OK;
}

host_visit *host_sample_visit(const struct weft_host_call *call) {
  return call->op == WEFT_HOST_SAMPLE && call->outer + 2 == call->rank && host_is(call, 1, WEFT_F32) ? visit : NULL;
}
