// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisation over the one inner dimension of a call: a result for each element of it. Of f32; sums go in
// the order of the dimension, block by block, so that what rounding takes away does not grow with its length.
#include "private.h"
#include "weft/host_math.h"

// The inner dimension at one point of the outer ones.
struct line {
  char *to;
  const char *from;
  int64_t count, to_step, from_step;
};

static struct line line_of(const struct weft_host_call *call, const struct host_place *p) {
  const unsigned d = call->outer;
  return (struct line){p->at[0], p->at[1], call->dim[d], call->operand[0].step[d], call->operand[1].step[d]};
}

static float largest_of(const struct line *l) {
  float largest = host_f32(l->from);
  for (int64_t i = 1; i < l->count; i++) {
    const float x = host_f32(l->from + i * l->from_step);
    if (x > largest) largest = x;
  }
  return largest;
}

struct sum {
  float whole, block;
  unsigned count;  // in the block
};

static void add(struct sum *s, float x) {
  enum { BLOCK = 64 };
  s->block += x;
  if (++s->count < BLOCK) return;
  s->whole += s->block;
  s->block = 0;
  s->count = 0;
}

static float total(const struct sum *s) { return s->whole + s->block; }

// ---- softmax: e^(x - largest) / sum

static enum weft_host_status softmax(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct line l = line_of(call, p);
  const float largest = largest_of(&l);
  struct sum sum = {0};
  for (int64_t i = 0; i < l.count; i++) {
    const float power = weft_expf(host_f32(l.from + i * l.from_step) - largest);
    host_put_f32(l.to + i * l.to_step, power);
    add(&sum, power);
  }
  const float factor = 1.0f / total(&sum);
  for (int64_t i = 0; i < l.count; i++) {
    char *to = l.to + i * l.to_step;
    host_put_f32(to, host_f32(to) * factor);
  }
  return WEFT_HOST_OK;
}

static enum weft_host_status log_softmax(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct line l = line_of(call, p);
  const float largest = largest_of(&l);
  struct sum sum = {0};
  for (int64_t i = 0; i < l.count; i++) add(&sum, weft_expf(host_f32(l.from + i * l.from_step) - largest));
  const float shift = weft_logf(total(&sum));
  for (int64_t i = 0; i < l.count; i++)
    host_put_f32(l.to + i * l.to_step, host_f32(l.from + i * l.from_step) - largest - shift);
  return WEFT_HOST_OK;
}

// ---- normalisation

static enum weft_host_status normalize(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct line l = line_of(call, p);
  const int64_t factor_step = call->operand[2].step[call->outer], shift_step = call->operand[3].step[call->outer];
  const float count = (float)l.count;
  struct sum sum = {0}, squares = {0};
  for (int64_t i = 0; i < l.count; i++) add(&sum, host_f32(l.from + i * l.from_step));
  const float mean = total(&sum) / count;
  for (int64_t i = 0; i < l.count; i++) {
    const float x = host_f32(l.from + i * l.from_step) - mean;
    add(&squares, x * x);
  }
  const float factor = 1.0f / weft_sqrtf(total(&squares) / count + call->number[0]);
  for (int64_t i = 0; i < l.count; i++) {
    const float x = (host_f32(l.from + i * l.from_step) - mean) * factor;
    host_put_f32(l.to + i * l.to_step, x * host_f32(p->at[2] + i * factor_step) + host_f32(p->at[3] + i * shift_step));
  }
  return WEFT_HOST_OK;
}

host_visit *host_normalise_visit(const struct weft_host_call *call) {
  if (!host_is(call, 0, WEFT_F32) || !host_is(call, 1, WEFT_F32) || call->outer + 1 != call->rank) return NULL;
  switch (call->op) {
    case WEFT_HOST_SOFTMAX:
      return softmax;
    case WEFT_HOST_LOG_SOFTMAX:
      return log_softmax;
    case WEFT_HOST_NORMALIZE:
      return normalize;
    default:
      return NULL;
  }
}
