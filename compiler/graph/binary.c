// SPDX-License-Identifier: Apache-2.0
// Functions of two or more elements with broadcasting: arithmetic, comparisons, selection. Domains as in unary.c: real
// numbers in binary64, integers in 64 bits; u64 has its own functions where the sign matters. A row per operator.
#include <math.h>
#include <string.h>

#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

enum { CHUNK = 512 };

typedef union chunk {
  double real[CHUNK];
  int64_t integer[CHUNK];
} chunk;

// y = f(x, y'): the first operand is x, the second y; the result replaces x.
typedef void binary_function(chunk *x, const chunk *y, int64_t count);

static int64_t int_power(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = (uint64_t)base;
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  for (; exponent != 0; exponent >>= 1, factor *= factor)
    if ((exponent & 1) != 0) result *= factor;
  return (int64_t)result;
}

// Division by zero gives 0, as the result has to be something; INT64_MIN / -1 wraps.
static int64_t int_quotient(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? (int64_t)(-(uint64_t)a) : a / b; }
static int64_t int_remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
// With the sign of the divisor.
static int64_t int_modulo(int64_t a, int64_t b) {
  int64_t r = int_remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static uint64_t left(uint64_t a, uint64_t by) { return by > 63 ? 0 : a << by; }
static uint64_t right(uint64_t a, uint64_t by) { return by > 63 ? 0 : a >> by; }

// Results of comparisons are integers (0 or 1) in either domain.
// X(NAME, member of x and y, member of the result, value)
#define FUNCTIONS(X)                                                             \
  X(add_r, real, real, a + b)                                                    \
  X(sub_r, real, real, a - b)                                                    \
  X(mul_r, real, real, a *b)                                                     \
  X(div_r, real, real, a / b)                                                    \
  X(pow_r, real, real, pow(a, b))                                                \
  X(fmod_r, real, real, fmod(a, b))                                              \
  X(mod_r, real, real, a - b * floor(a / b))                                     \
  X(prelu_r, real, real, a < 0 ? a * b : a)                                      \
  X(max_r, real, real, isnan(a) || a > b ? a : b)                                \
  X(min_r, real, real, isnan(a) || a < b ? a : b)                                \
  X(equal_r, real, integer, a == b)                                              \
  X(greater_r, real, integer, a > b)                                             \
  X(greater_equal_r, real, integer, a >= b)                                      \
  X(less_r, real, integer, a < b)                                                \
  X(less_equal_r, real, integer, a <= b)                                         \
  X(add_i, integer, integer, (int64_t)((uint64_t)a + (uint64_t)b))               \
  X(sub_i, integer, integer, (int64_t)((uint64_t)a - (uint64_t)b))               \
  X(mul_i, integer, integer, (int64_t)((uint64_t)a * (uint64_t)b))               \
  X(div_i, integer, integer, int_quotient(a, b))                                 \
  X(pow_i, integer, integer, int_power(a, b))                                    \
  X(fmod_i, integer, integer, int_remainder(a, b))                               \
  X(mod_i, integer, integer, int_modulo(a, b))                                   \
  X(prelu_i, integer, integer, a < 0 ? (int64_t)((uint64_t)a * (uint64_t)b) : a) \
  X(max_i, integer, integer, a > b ? a : b)                                      \
  X(min_i, integer, integer, a < b ? a : b)                                      \
  X(equal_i, integer, integer, a == b)                                           \
  X(greater_i, integer, integer, a > b)                                          \
  X(greater_equal_i, integer, integer, a >= b)                                   \
  X(less_i, integer, integer, a < b)                                             \
  X(less_equal_i, integer, integer, a <= b)                                      \
  X(and_i, integer, integer, (a & b) != 0)                                       \
  X(or_i, integer, integer, (a | b) != 0)                                        \
  X(xor_i, integer, integer, (a ^ b) != 0)                                       \
  X(left_i, integer, integer, (int64_t)left((uint64_t)a, (uint64_t)b))           \
  X(right_i, integer, integer, (int64_t)right((uint64_t)a, (uint64_t)b))         \
  X(div_u, integer, integer, b == 0 ? 0 : (int64_t)((uint64_t)a / (uint64_t)b))  \
  X(mod_u, integer, integer, b == 0 ? 0 : (int64_t)((uint64_t)a % (uint64_t)b))  \
  X(max_u, integer, integer, (uint64_t)a > (uint64_t)b ? a : b)                  \
  X(min_u, integer, integer, (uint64_t)a < (uint64_t)b ? a : b)                  \
  X(greater_u, integer, integer, (uint64_t)a > (uint64_t)b)                      \
  X(greater_equal_u, integer, integer, (uint64_t)a >= (uint64_t)b)               \
  X(less_u, integer, integer, (uint64_t)a < (uint64_t)b)                         \
  X(less_equal_u, integer, integer, (uint64_t)a <= (uint64_t)b)

#define X(NAME, from, to, value)                              \
  static void NAME(chunk *x, const chunk *y, int64_t count) { \
    for (int64_t i = 0; i < count; i++) {                     \
      __typeof__(x->from[0]) a = x->from[i], b = y->from[i];  \
      x->to[i] = (value);                                     \
    }                                                         \
  }
FUNCTIONS(X)
#undef X

static const struct binary_row {
  binary_function *real, *integer, *large;  // large: u64, where it differs
} rows[GRAPH_OP_COUNT] = {
    [GRAPH_OP_ADD] = {add_r, add_i, NULL},
    [GRAPH_OP_SUB] = {sub_r, sub_i, NULL},
    [GRAPH_OP_MUL] = {mul_r, mul_i, NULL},
    [GRAPH_OP_DIV] = {div_r, div_i, div_u},
    [GRAPH_OP_POW] = {pow_r, pow_i, NULL},
    [GRAPH_OP_MOD] = {mod_r, mod_i, mod_u},
    [GRAPH_OP_PRELU] = {prelu_r, prelu_i, NULL},
    [GRAPH_OP_MAX] = {max_r, max_i, max_u},
    [GRAPH_OP_MIN] = {min_r, min_i, min_u},
    [GRAPH_OP_SUM] = {add_r, NULL, NULL},
    [GRAPH_OP_MEAN] = {add_r, NULL, NULL},
    [GRAPH_OP_EQUAL] = {equal_r, equal_i, NULL},
    [GRAPH_OP_GREATER] = {greater_r, greater_i, greater_u},
    [GRAPH_OP_GREATER_OR_EQUAL] = {greater_equal_r, greater_equal_i, greater_equal_u},
    [GRAPH_OP_LESS] = {less_r, less_i, less_u},
    [GRAPH_OP_LESS_OR_EQUAL] = {less_equal_r, less_equal_i, less_equal_u},
    [GRAPH_OP_AND] = {NULL, and_i, NULL},
    [GRAPH_OP_OR] = {NULL, or_i, NULL},
    [GRAPH_OP_XOR] = {NULL, xor_i, NULL},
    [GRAPH_OP_BIT_SHIFT] = {NULL, left_i, NULL},
};

static binary_function *choose(const graph_call *c, graph_type type) {
  graph_op op = c->node->op;
  if (op == GRAPH_OP_BIT_SHIFT && strcmp(graph_text(c->node, "direction", ""), "RIGHT") == 0) return right_i;
  if (op == GRAPH_OP_MOD && graph_int(c->node, "fmod", 0) != 0) return graph_is_real(type) ? fmod_r : fmod_i;
  if (graph_is_real(type)) return rows[op].real;
  return type == GRAPH_U64 && rows[op].large != NULL ? rows[op].large : rows[op].integer;
}

static bool one_type(graph_call *c) {
  for (int i = 1; i < c->in_count; i++)
    if (c->in[i]->type != c->in[0]->type)
      return graph_call_fail(c, "it is given %s and %s", graph_type_names[c->in[0]->type],
                             graph_type_names[c->in[i]->type]);
  return true;
}

static bool broadcast_all(graph_call *c, graph_type type) {
  int rank = 0;
  int64_t dim[GRAPH_RANK_MAX];
  for (int i = 0; i < c->in_count; i++)
    if (!graph_broadcast(c, &rank, dim, c->in[i])) return false;
  return graph_call_result(c, 0, type, rank, dim);
}

bool graph_infer_broadcast(graph_call *c) {
  if (c->node->op != GRAPH_OP_POW && !one_type(c)) return false;
  const char *direction = graph_text(c->node, "direction", "");
  if (c->node->op == GRAPH_OP_BIT_SHIFT && strcmp(direction, "LEFT") != 0 && strcmp(direction, "RIGHT") != 0)
    return graph_call_fail(c, "its direction is neither LEFT nor RIGHT");
  return broadcast_all(c, c->in[0]->type);
}

bool graph_infer_compare(graph_call *c) { return one_type(c) && broadcast_all(c, GRAPH_BOOL); }

static void load(const graph_tensor *t, bool real, int64_t at, int64_t by, int64_t count, chunk *values) {
  if (real)
    graph_load_reals(t->type, t->data, at, by, count, values->real);
  else
    graph_load_ints(t->type, t->data, at, by, count, values->integer);
}

static void store(graph_type type, void *data, int64_t at, int64_t count, const chunk *values) {
  if (graph_is_real(type))
    graph_store_reals(type, data, at, count, values->real);
  else
    graph_store_ints(type, data, at, count, values->integer);
}

// to = f(a, b), all three broadcast to the shape of the result; `to` may be a.
static void apply(const graph_tensor *result, void *to, binary_function *f, const graph_tensor *a,
                  const graph_tensor *b) {
  int64_t own[GRAPH_RANK_MAX], a_steps[GRAPH_RANK_MAX], b_steps[GRAPH_RANK_MAX];
  bool real = graph_is_real(a->type);
  graph_steps(result->rank, result->dim, own);
  graph_broadcast_steps(a, result->rank, a_steps);
  graph_broadcast_steps(b, result->rank, b_steps);
  graph_rows r;
  graph_rows_start(&r, result->rank, result->dim, 3, (const int64_t *[]){own, a_steps, b_steps});
  chunk x, y;
  while (graph_rows_next(&r)) {
    for (int64_t done = 0; done < r.length; done += CHUNK) {
      int64_t count = r.length - done < CHUNK ? r.length - done : CHUNK;
      load(a, real, r.at[1] + done * r.by[1], r.by[1], count, &x);
      load(b, real, r.at[2] + done * r.by[2], r.by[2], count, &y);
      f(&x, &y, count);
      store(result->type, to, r.at[0] + done, count, &x);
    }
  }
}

bool graph_run_binary(graph_call *c) {
  // Pow takes its exponent in any type; an integer base with a real exponent is computed in real numbers.
  const graph_tensor *a = c->in[0], *b = c->in[1];
  apply(c->out[0], c->to[0], choose(c, a->type), a, b);
  return true;
}

static void pow_chunk(chunk *x, const chunk *y, int64_t count, graph_type type) {
  for (int64_t i = 0; i < count; i++) {
    double value = pow(x->real[i], y->real[i]);
    if (graph_is_real(type))
      x->real[i] = value;
    else
      graph_put_real(GRAPH_I64, x->integer, (size_t)i, value);
  }
}

// Pow with operands of different types.
bool graph_run_pow(graph_call *c) {
  const graph_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
  if (a->type == b->type || (!graph_is_real(a->type) && !graph_is_real(b->type))) return graph_run_binary(c);
  int64_t own[GRAPH_RANK_MAX], a_steps[GRAPH_RANK_MAX], b_steps[GRAPH_RANK_MAX];
  graph_steps(y->rank, y->dim, own);
  graph_broadcast_steps(a, y->rank, a_steps);
  graph_broadcast_steps(b, y->rank, b_steps);
  graph_rows r;
  graph_rows_start(&r, y->rank, y->dim, 3, (const int64_t *[]){own, a_steps, b_steps});
  chunk base, exponent;
  while (graph_rows_next(&r)) {
    for (int64_t i = 0; i < r.length; i++) {
      load(a, true, r.at[1] + i * r.by[1], 0, 1, &base);
      load(b, true, r.at[2] + i * r.by[2], 0, 1, &exponent);
      pow_chunk(&base, &exponent, 1, y->type);
      store(y->type, c->to[0], r.at[0] + i, 1, &base);
    }
  }
  return true;
}

// Max, Min, Sum, Mean of any number of inputs, from the first to the last.
bool graph_run_variadic(graph_call *c) {
  const graph_tensor *y = c->out[0];
  int64_t steps[GRAPH_RANK_MAX];
  int64_t own[GRAPH_RANK_MAX];
  graph_broadcast_steps(c->in[0], y->rank, steps);
  graph_steps(y->rank, y->dim, own);
  graph_copy_strided(y, c->to[0], own, 0, c->in[0]->data, steps, 0);
  graph_tensor so_far = *y;
  so_far.data = c->to[0];
  for (int i = 1; i < c->in_count; i++) apply(y, c->to[0], choose(c, y->type), &so_far, c->in[i]);
  if (c->node->op != GRAPH_OP_MEAN) return true;
  float count = (float)c->in_count;
  const graph_tensor divisor = {.type = GRAPH_F32, .data = &count};
  apply(y, c->to[0], div_r, &so_far, &divisor);
  return true;
}

bool graph_infer_where(graph_call *c) {
  if (c->in[1]->type != c->in[2]->type) return graph_call_fail(c, "its two values have different types");
  return broadcast_all(c, c->in[1]->type);
}

bool graph_run_where(graph_call *c) {
  const graph_tensor *y = c->out[0];
  int64_t own[GRAPH_RANK_MAX], steps[3][GRAPH_RANK_MAX];
  size_t size = graph_type_bytes(y->type);
  graph_steps(y->rank, y->dim, own);
  for (int i = 0; i < 3; i++) graph_broadcast_steps(c->in[i], y->rank, steps[i]);
  graph_rows r;
  graph_rows_start(&r, y->rank, y->dim, 4, (const int64_t *[]){own, steps[0], steps[1], steps[2]});
  const uint8_t *condition = c->in[0]->data;
  while (graph_rows_next(&r)) {
    for (int64_t i = 0; i < r.length; i++) {
      int from = condition[r.at[1] + i * r.by[1]] != 0 ? 1 : 2;
      int64_t at = r.at[from + 1] + i * r.by[from + 1];
      graph_copy(c->to[0], r.at[0] + i, 1, c->in[from]->data, at, 1, 1, size);
    }
  }
  return true;
}

// ---- Clip: limits are scalars, and may be missing

bool graph_infer_clip(graph_call *c) {
  for (int i = 1; i < 3; i++) {
    if (c->in[i] == NULL) continue;
    if (c->in[i]->type != c->in[0]->type || graph_elements(c->in[i]) != 1)
      return graph_call_fail(c, "its limits have to be single numbers of the type that it clips");
  }
  return graph_call_like(c, 0, 0);
}

bool graph_run_clip(graph_call *c) {
  static const graph_op ops[] = {GRAPH_OP_IDENTITY, GRAPH_OP_MAX, GRAPH_OP_MIN};
  const graph_tensor *y = c->out[0];
  memcpy(c->to[0], c->in[0]->data, graph_bytes(y));
  graph_tensor so_far = *y;
  so_far.data = c->to[0];
  for (int i = 1; i < 3; i++) {
    if (c->in[i] == NULL) continue;
    graph_tensor limit = {.type = c->in[i]->type, .data = c->in[i]->data};
    const struct binary_row *row = &rows[ops[i]];
    apply(y, c->to[0],
          graph_is_real(y->type) ? row->real
          : y->type == GRAPH_U64 ? row->large
                                 : row->integer,
          &so_far, &limit);
  }
  return true;
}
