// SPDX-License-Identifier: Apache-2.0
// Functions of one element. Real tensors are computed in binary64 and rounded once, so sums, differences and the like
// are what binary32 arithmetic gives; integers are computed in 64 bits and wrap. A row per operator.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

enum { CHUNK = 512 };

// Parameters of a function: its attributes, by name and default.
typedef struct parameters {
  double a, b;
} parameters;

// X(OP, value of x)
#define REAL_FUNCTIONS(X)                             \
  X(ABS, fabs(x))                                     \
  X(ACOS, acos(x))                                    \
  X(ACOSH, acosh(x))                                  \
  X(ASIN, asin(x))                                    \
  X(ASINH, asinh(x))                                  \
  X(ATAN, atan(x))                                    \
  X(ATANH, atanh(x))                                  \
  X(CEIL, ceil(x))                                    \
  X(CELU, fmax(0, x) + fmin(0, p.a * expm1(x / p.a))) \
  X(COS, cos(x))                                      \
  X(COSH, cosh(x))                                    \
  X(ELU, x < 0 ? p.a * expm1(x) : x)                  \
  X(ERF, erf(x))                                      \
  X(EXP, exp(x))                                      \
  X(FLOOR, floor(x))                                  \
  X(HARD_SIGMOID, fmax(0, fmin(1, p.a *x + p.b)))     \
  X(HARD_SWISH, x *fmax(0, fmin(1, x / 6 + 0.5)))     \
  X(LEAKY_RELU, x < 0 ? p.a * x : x)                  \
  X(LOG, log(x))                                      \
  X(MISH, x *tanh(softplus(x)))                       \
  X(NEG, -x)                                          \
  X(RECIPROCAL, 1 / x)                                \
  X(RELU, x < 0 ? 0 : x)                              \
  X(ROUND, rint(x))                                   \
  X(SELU, p.b *(x > 0 ? x : p.a * expm1(x)))          \
  X(SHRINK, x<-p.a ? x + p.b : x> p.a ? x - p.b : 0)  \
  X(SIGMOID, sigmoid(x))                              \
  X(SIGN, isnan(x) ? x : (double)((x > 0) - (x < 0))) \
  X(SIN, sin(x))                                      \
  X(SINH, sinh(x))                                    \
  X(SOFTPLUS, softplus(x))                            \
  X(SOFTSIGN, x / (1 + fabs(x)))                      \
  X(SQRT, sqrt(x))                                    \
  X(TAN, tan(x))                                      \
  X(TANH, tanh(x))                                    \
  X(THRESHOLDED_RELU, x > p.a ? x : 0)

static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double sigmoid(double x) { return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); }

typedef void real_function(double *values, int64_t count, parameters p);
#define X(OP, value)                                                   \
  static void real_##OP(double *values, int64_t count, parameters p) { \
    (void)p;                                                           \
    for (int64_t i = 0; i < count; i++) {                              \
      double x = values[i];                                            \
      values[i] = (value);                                             \
    }                                                                  \
  }
REAL_FUNCTIONS(X)
#undef X

static void real_GELU(double *values, int64_t count, parameters p) {
  for (int64_t i = 0; i < count; i++) {
    double x = values[i];
    double inner = p.a != 0 ? tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)) : erf(x / sqrt(2));
    values[i] = 0.5 * x * (1 + inner);
  }
}

static real_function *const reals[GRAPH_OP_COUNT] = {
#define X(OP, value) [GRAPH_OP_##OP] = real_##OP,
    REAL_FUNCTIONS(X)
#undef X
        [GRAPH_OP_GELU] = real_GELU};

static uint64_t integer(graph_op op, graph_type type, int64_t x) {
  bool negative = type != GRAPH_U64 && x < 0;
  switch (op) {
    case GRAPH_OP_ABS:
      return negative ? -(uint64_t)x : (uint64_t)x;
    case GRAPH_OP_NEG:
      return -(uint64_t)x;
    case GRAPH_OP_SIGN:
      return negative ? UINT64_MAX : x != 0;
    default:  // RELU
      return negative ? 0 : (uint64_t)x;
  }
}

// Operators that have one or two parameters: names and defaults of ONNX.
static const struct parameter_row {
  graph_op op;
  const char *a, *b;
  float a_default, b_default;
} parameter_rows[] = {
    {GRAPH_OP_CELU, "alpha", NULL, 1, 0},
    {GRAPH_OP_ELU, "alpha", NULL, 1, 0},
    {GRAPH_OP_HARD_SIGMOID, "alpha", "beta", 0.2f, 0.5f},
    {GRAPH_OP_LEAKY_RELU, "alpha", NULL, 0.01f, 0},
    {GRAPH_OP_SELU, "alpha", "gamma", 1.67326319217681884765625f, 1.05070102214813232421875f},
    {GRAPH_OP_SHRINK, "lambd", "bias", 0.5f, 0},
    {GRAPH_OP_THRESHOLDED_RELU, "alpha", NULL, 1, 0},
};

static parameters find_parameters(const graph_node *node) {
  if (node->op == GRAPH_OP_GELU) return (parameters){.a = strcmp(graph_text(node, "approximate", "none"), "tanh") == 0};
  for (size_t i = 0; i < sizeof parameter_rows / sizeof parameter_rows[0]; i++) {
    const struct parameter_row *row = &parameter_rows[i];
    if (row->op != node->op) continue;
    return (parameters){(double)graph_float(node, row->a, row->a_default),
                        row->b != NULL ? (double)graph_float(node, row->b, row->b_default) : 0};
  }
  return (parameters){0};
}

bool graph_infer_same(graph_call *c) { return graph_call_like(c, 0, 0); }

bool graph_infer_truth(graph_call *c) { return graph_call_result(c, 0, GRAPH_BOOL, c->in[0]->rank, c->in[0]->dim); }

bool graph_run_unary(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t elements = graph_elements(x);
  graph_op op = c->node->op;
  parameters p = find_parameters(c->node);
  double values[CHUNK];
  if (graph_is_real(x->type) || reals[op] == real_SHRINK) {
    for (int64_t at = 0; at < elements; at += CHUNK) {
      int64_t count = elements - at < CHUNK ? elements - at : CHUNK;
      graph_load_reals(x->type, x->data, at, 1, count, values);
      reals[op](values, count, p);
      graph_store_reals(x->type, c->to[0], at, count, values);
    }
  } else {
    for (int64_t i = 0; i < elements; i++) {
      int64_t value = graph_int_at(x->type, x->data, (size_t)i);
      graph_put_int(x->type, c->to[0], (size_t)i, (int64_t)integer(op, x->type, value));
    }
  }
  return true;
}

bool graph_run_not(graph_call *c) {
  const uint8_t *x = c->in[0]->data;
  uint8_t *y = c->to[0];
  for (int64_t i = 0, n = graph_elements(c->in[0]); i < n; i++) y[i] = x[i] == 0;
  return true;
}

bool graph_run_is_nan(graph_call *c) {
  uint8_t *y = c->to[0];
  for (int64_t i = 0, n = graph_elements(c->in[0]); i < n; i++)
    y[i] = (uint8_t)(isnan(graph_real_at(c->in[0]->type, c->in[0]->data, (size_t)i)) != 0);
  return true;
}

bool graph_run_is_inf(graph_call *c) {
  bool positive = graph_int(c->node, "detect_positive", 1) != 0,
       negative = graph_int(c->node, "detect_negative", 1) != 0;
  uint8_t *y = c->to[0];
  for (int64_t i = 0, n = graph_elements(c->in[0]); i < n; i++) {
    double x = graph_real_at(c->in[0]->type, c->in[0]->data, (size_t)i);
    y[i] = isinf(x) && (x > 0 ? positive : negative);
  }
  return true;
}

// ---- conversion: `to` is the name of a type; real numbers are truncated

bool graph_infer_cast(graph_call *c) {
  const char *to = graph_text(c->node, "to", "");
  for (int type = 0; type < GRAPH_TYPE_COUNT; type++)
    if (strcmp(graph_type_names[type], to) == 0)
      return graph_call_result(c, 0, (graph_type)type, c->in[0]->rank, c->in[0]->dim);
  return graph_call_fail(c, "it has no attribute 'to' with a known type");
}

static void cast_chunk(graph_type from, graph_type to, int64_t count, double *reals_in, int64_t *ints) {
  if (to == GRAPH_BOOL && graph_is_real(from))
    for (int64_t i = 0; i < count; i++) ints[i] = reals_in[i] != 0;
  if (!graph_is_real(from) && graph_is_real(to))
    for (int64_t i = 0; i < count; i++) reals_in[i] = from == GRAPH_U64 ? (double)(uint64_t)ints[i] : (double)ints[i];
}

bool graph_run_cast(graph_call *c) {
  graph_type from = c->in[0]->type, to = c->out[0]->type;
  double values[CHUNK];
  int64_t ints[CHUNK];
  for (int64_t at = 0, n = graph_elements(c->in[0]); at < n; at += CHUNK) {
    int64_t count = n - at < CHUNK ? n - at : CHUNK;
    if (graph_is_real(from))
      graph_load_reals(from, c->in[0]->data, at, 1, count, values);
    else
      graph_load_ints(from, c->in[0]->data, at, 1, count, ints);
    cast_chunk(from, to, count, values, ints);
    if (graph_is_real(to) || (graph_is_real(from) && to != GRAPH_BOOL))
      graph_store_reals(to, c->to[0], at, count, values);
    else
      graph_store_ints(to, c->to[0], at, count, ints);
  }
  return true;
}
