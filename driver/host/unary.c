// SPDX-License-Identifier: Apache-2.0
// Functions of one f32, element by element.
#include "private.h"
#include "weft/host_math.h"

static float softplus(float x) { return x > 20.0f ? x : weft_logf(1.0f + weft_expf(x)); }
static float gelu(float x) { return 0.5f * x * (1.0f + weft_erff(x * 0.707106781f)); }
static float gelu_tanh(float x) { return 0.5f * x * (1.0f + weft_tanhf(0.797884561f * (x + 0.044715f * x * x * x))); }
static float clip(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

// X(NAME, value of x with a, b)
#define FUNCTIONS(X)                            \
  X(ABS, weft_absf(x))                          \
  X(NEG, -x)                                    \
  X(EXP, weft_expf(x))                          \
  X(LOG, weft_logf(x))                          \
  X(SQRT, weft_sqrtf(x))                        \
  X(ERF, weft_erff(x))                          \
  X(TANH, weft_tanhf(x))                        \
  X(SIN, weft_sinf(x))                          \
  X(COS, weft_cosf(x))                          \
  X(SIGMOID, weft_sigmoidf(x))                  \
  X(GELU, gelu(x))                              \
  X(GELU_TANH, gelu_tanh(x))                    \
  X(RECIPROCAL, 1.0f / x)                       \
  X(FLOOR, weft_floorf(x))                      \
  X(CEIL, -weft_floorf(-x))                     \
  X(ROUND, weft_roundf(x))                      \
  X(SOFTPLUS, softplus(x))                      \
  X(CLIP, clip(x, a, b))                        \
  X(LEAKY_RELU, x < 0 ? a * x : x)              \
  X(ELU, x < 0 ? a * (weft_expf(x) - 1.0f) : x) \
  X(HARD_SIGMOID, clip(a *x + b, 0.0f, 1.0f))   \
  X(HARD_SWISH, x *clip(x / 6.0f + 0.5f, 0.0f, 1.0f))

#define FUNCTION_ROW(NAME, value)                                                                                      \
  static enum weft_host_status row_##NAME(const struct weft_host_call *call, size_t count, const struct host_place *p, \
                                          const int64_t *step) {                                                       \
    const float a = call->number[0], b = call->number[1];                                                              \
    (void)a, (void)b;                                                                                                  \
    char *to = p->at[0];                                                                                               \
    const char *from = p->at[1];                                                                                       \
    const int64_t in = step[1], out = step[0];                                                                         \
    for (size_t i = 0; i < count; i++, to += out, from += in) {                                                        \
      const float x = host_f32(from);                                                                                  \
      host_put_f32(to, value);                                                                                         \
    }                                                                                                                  \
    return WEFT_HOST_OK;                                                                                               \
  }
FUNCTIONS(FUNCTION_ROW)

host_row *host_unary_row(const struct weft_host_call *call) {
  if (!host_is(call, 0, WEFT_F32) || !host_is(call, 1, WEFT_F32)) return NULL;
  switch (call->op) {
#define X(NAME, value)   \
  case WEFT_HOST_##NAME: \
    return row_##NAME;
    FUNCTIONS(X)
#undef X
    default:
      return NULL;
  }
}
