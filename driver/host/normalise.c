// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisation over the one inner dimension of a call: a result for each element of it. Of f32; sums go in
// the order of the dimension, block by block, so that what rounding takes away does not grow with its length.
#include "group.h"
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

// The same of elements that lie side by side. Sums of groups go block by block, too.
enum { WIDE = sizeof(float), BLOCK_GROUPS = 64 };

static float sum_of_group(const float *v) { return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }

// Of x - shift, or of its squares; of as many elements as make whole groups.
__attribute__((always_inline)) static inline float sum_of_groups(const char *from, int64_t groups, float shift,
                                                                 bool squares) {
  float whole = 0;
  while (groups > 0) {
    float sum[GROUP] = {0};
    int64_t left = groups < BLOCK_GROUPS ? groups : BLOCK_GROUPS;
    for (groups -= left; left > 0; left--, from += GROUP * WIDE) {
      float v[GROUP];
      EACH v[j] = host_f32(from + j * WIDE);
      numbers_there(v);
      if (squares) {
        EACH v[j] = v[j] - shift;
        numbers_there(v);
      }
      EACH sum[j] = squares ? __builtin_fmaf(v[j], v[j], sum[j]) : sum[j] + v[j];
    }
    whole += sum_of_group(sum);
  }
  return whole;
}

static float mean_of(const struct line *l) {
  const int64_t groups = l->count / GROUP;
  float sum = sum_of_groups(l->from, groups, 0, false);
  for (int64_t i = groups * GROUP; i < l->count; i++) sum += host_f32(l->from + i * WIDE);
  return sum / (float)l->count;
}

static float variance_of(const struct line *l, float mean) {
  const int64_t groups = l->count / GROUP;
  float sum = sum_of_groups(l->from, groups, mean, true);
  for (int64_t i = groups * GROUP; i < l->count; i++) {
    const float x = host_f32(l->from + i * WIDE) - mean;
    sum += x * x;
  }
  return sum / (float)l->count;
}

static enum weft_host_status normalize_dense(void *context, const struct weft_host_call *call,
                                             const struct host_place *p) {
  (void)context;
  const struct line l = line_of(call, p);
  const char *gamma = p->at[2], *beta = p->at[3];
  const float mean = mean_of(&l), factor = 1.0f / weft_sqrtf(variance_of(&l, mean) + call->number[0]);
  int64_t i = 0;
  for (; i + GROUP <= l.count; i += GROUP) {
    float v[GROUP], y[GROUP], z[GROUP];
    EACH v[j] = host_f32(l.from + (i + j) * WIDE);
    EACH y[j] = host_f32(gamma + (i + j) * WIDE);
    numbers_there(v);
    EACH v[j] = v[j] - mean;
    EACH z[j] = host_f32(beta + (i + j) * WIDE);
    numbers_there(v);
    EACH v[j] = v[j] * factor;
    numbers_there(y);
    numbers_there(z);
    numbers_there(v);
    EACH v[j] = __builtin_fmaf(v[j], y[j], z[j]);
    numbers_there(v);
    EACH host_put_f32(l.to + (i + j) * WIDE, v[j]);
  }
  for (; i < l.count; i++)
    host_put_f32(l.to + i * WIDE, __builtin_fmaf((host_f32(l.from + i * WIDE) - mean) * factor,
                                                 host_f32(gamma + i * WIDE), host_f32(beta + i * WIDE)));
  return WEFT_HOST_OK;
}

static bool is_dense(const struct weft_host_call *call) {
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++)
    if (call->operand[o].step[call->outer] != WIDE) return false;
  return true;
}

host_visit *host_normalise_visit(const struct weft_host_call *call) {
  if (!host_is(call, 0, WEFT_F32) || !host_is(call, 1, WEFT_F32) || call->outer + 1 != call->rank) return NULL;
  switch (call->op) {
    case WEFT_HOST_SOFTMAX:
      return softmax;
    case WEFT_HOST_LOG_SOFTMAX:
      return log_softmax;
    case WEFT_HOST_NORMALIZE:
      return is_dense(call) ? normalize_dense : normalize;
    default:
      return NULL;
  }
}
