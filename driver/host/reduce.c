// SPDX-License-Identifier: Apache-2.0
// Operators over the inner dimensions of a call with one result for all of them. They go in the order of the
// dimensions, one element after the other, so that sums of f32 are the same everywhere.
#include "private.h"

struct reduction {
  float number;
  uint32_t integer;  // sums wrap
  int64_t index, best;
  bool any;
};

// The last dimension at one point of the others, without which (none is inner) it is one element.
struct line {
  const char *x, *y;
  int64_t count, x_step, y_step;
};

static struct line line_of(const struct weft_host_call *call, const struct host_place *p) {
  if (call->outer == call->rank) return (struct line){.x = p->at[1], .y = p->at[2], .count = 1};
  const unsigned d = call->rank - 1;
  return (struct line){p->at[1], p->at[2], call->dim[d], call->operand[1].step[d], call->operand[2].step[d]};
}

static void over_lines(const struct weft_host_call *call, const struct host_place *p, host_visit *visit,
                       struct reduction *r) {
  const unsigned last = call->outer == call->rank ? call->rank : call->rank - 1;
  host_each(call, call->outer, last, p, visit, r);
}

// ---- f32

// X(NAME, number after element x, the first of all if !any)
#define F32_STEPS(X)                        \
  X(SUM, number + x)                        \
  X(SUM_SQUARES, number + x * x)            \
  X(PRODUCT, any ? number *x : x)           \
  X(LARGEST, any &&number > x ? number : x) \
  X(SMALLEST, any &&number < x ? number : x)

#define F32_LINE(NAME, next)                                                                 \
  static enum weft_host_status line_##NAME(void *context, const struct weft_host_call *call, \
                                           const struct host_place *p) {                     \
    struct reduction *r = context;                                                           \
    const struct line l = line_of(call, p);                                                  \
    float number = r->number;                                                                \
    bool any = r->any;                                                                       \
    for (int64_t i = 0; i < l.count; i++, any = true) {                                      \
      const float x = host_f32(l.x + i * l.x_step);                                          \
      number = next;                                                                         \
    }                                                                                        \
    r->number = number;                                                                      \
    r->any = any;                                                                            \
    return WEFT_HOST_OK;                                                                     \
  }
F32_STEPS(F32_LINE)

static host_visit *f32_line(uint32_t op) {
  switch (op) {
#define X(NAME, next)    \
  case WEFT_HOST_##NAME: \
    return line_##NAME;
    F32_STEPS(X)
#undef X
    default:
      return NULL;
  }
}

static enum weft_host_status reduce_f32(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  struct reduction r = {0};
  over_lines(call, p, f32_line(call->op), &r);
  host_put_f32(p->at[0], call->op == WEFT_HOST_SUM ? call->number[0] * r.number : r.number);
  return WEFT_HOST_OK;
}

// ---- int8

static enum weft_host_status line_i8(void *context, const struct weft_host_call *call, const struct host_place *p) {
  struct reduction *r = context;
  const struct line l = line_of(call, p);
  const bool smallest = call->op == WEFT_HOST_SMALLEST;
  for (int64_t i = 0; i < l.count; i++) {
    const int32_t x = host_i8(l.x + i * l.x_step);
    r->integer += (uint32_t)x;
    if (!r->any || (smallest ? x < r->best : x > r->best)) r->best = x;
    r->any = true;
  }
  return WEFT_HOST_OK;
}

static enum weft_host_status reduce_i8(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  struct reduction r = {0};
  over_lines(call, p, line_i8, &r);
  if (call->op == WEFT_HOST_SUM)
    host_put_i32(p->at[0], (int32_t)r.integer);
  else
    host_put_i8(p->at[0], (int8_t)r.best);
  return WEFT_HOST_OK;
}

// ---- places of extremes

static enum weft_host_status line_place(void *context, const struct weft_host_call *call, const struct host_place *p) {
  struct reduction *r = context;
  const struct line l = line_of(call, p);
  const bool smallest = call->op == WEFT_HOST_ARG_SMALLEST, is_float = host_is(call, 1, WEFT_F32);
  for (int64_t i = 0; i < l.count; i++, r->index++) {
    const char *at = l.x + i * l.x_step;
    const float x = is_float ? host_f32(at) : (float)host_i8(at);
    if (r->any && !(smallest ? x < r->number : x > r->number)) continue;
    r->number = x;
    r->best = r->index;
    r->any = true;
  }
  return WEFT_HOST_OK;
}

static enum weft_host_status place_of_extreme(void *context, const struct weft_host_call *call,
                                              const struct host_place *p) {
  (void)context;
  struct reduction r = {0};
  over_lines(call, p, line_place, &r);
  host_put_i64(p->at[0], r.best);
  return WEFT_HOST_OK;
}

// ---- sums of products

static enum weft_host_status line_dot_f32(void *context, const struct weft_host_call *call,
                                          const struct host_place *p) {
  struct reduction *r = context;
  const struct line l = line_of(call, p);
  for (int64_t i = 0; i < l.count; i++) r->number += host_f32(l.x + i * l.x_step) * host_f32(l.y + i * l.y_step);
  return WEFT_HOST_OK;
}

static enum weft_host_status line_dot_i8(void *context, const struct weft_host_call *call, const struct host_place *p) {
  struct reduction *r = context;
  const struct line l = line_of(call, p);
  for (int64_t i = 0; i < l.count; i++)
    r->integer += (uint32_t)(host_i8(l.x + i * l.x_step) * host_i8(l.y + i * l.y_step));
  return WEFT_HOST_OK;
}

static enum weft_host_status dot(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  struct reduction r = {0};
  const bool is_float = host_is(call, 1, WEFT_F32);
  over_lines(call, p, is_float ? line_dot_f32 : line_dot_i8, &r);
  if (is_float)
    host_put_f32(p->at[0], r.number);
  else
    host_put_i32(p->at[0], (int32_t)r.integer);
  return WEFT_HOST_OK;
}

host_visit *host_reduce_visit(const struct weft_host_call *call) {
  const bool is_float = host_is(call, 1, WEFT_F32), is_int8 = host_is(call, 1, WEFT_I8);
  switch (call->op) {
    case WEFT_HOST_SUM:
    case WEFT_HOST_LARGEST:
    case WEFT_HOST_SMALLEST:
      return is_float ? reduce_f32 : is_int8 ? reduce_i8 : NULL;
    case WEFT_HOST_SUM_SQUARES:
    case WEFT_HOST_PRODUCT:
      return is_float ? reduce_f32 : NULL;
    case WEFT_HOST_ARG_LARGEST:
    case WEFT_HOST_ARG_SMALLEST:
      return is_float || is_int8 ? place_of_extreme : NULL;
    case WEFT_HOST_DOT:
      return is_float || is_int8 ? dot : NULL;
    default:
      return NULL;
  }
}
