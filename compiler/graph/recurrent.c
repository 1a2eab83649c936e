// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM. Every step is two products (input and state with the weights of all gates) and functions of
// elements.
//
// Gates are in the order of ONNX: LSTM i o f c, GRU z r h. Shapes with layout 0: x [T,N,I], w [D,G*H,I], r [D,G*H,H], b
// [D,2*G*H], states [D,N,H], results y [T,D,N,H] and last states; layout 1 has N in front of T and of D. State and sums
// are binary64.
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

enum { GATES_MAX = 4, FUNCTIONS_MAX = 6 };

typedef struct function {
  int kind;
  double alpha, beta;
} function;

typedef struct cell {
  int gates, directions;
  bool batch_first;
  int64_t steps, batch, inputs, hidden;
  function functions[FUNCTIONS_MAX];
  double clip;  // 0: none
} cell;

// X(NAME, name, alpha, beta, value of x)
#define FUNCTIONS(X)                                                                \
  X(SIGMOID, "Sigmoid", 0, 0, 1 / (1 + exp(-x)))                                    \
  X(TANH, "Tanh", 0, 0, tanh(x))                                                    \
  X(RELU, "Relu", 0, 0, x > 0 ? x : 0)                                              \
  X(AFFINE, "Affine", 1, 0, f->alpha *x + f->beta)                                  \
  X(LEAKY_RELU, "LeakyRelu", 0.01, 0, x < 0 ? f->alpha * x : x)                     \
  X(THRESHOLDED_RELU, "ThresholdedRelu", 1, 0, x > f->alpha ? x : 0)                \
  X(SCALED_TANH, "ScaledTanh", 1, 1, f->alpha *tanh(f->beta *x))                    \
  X(HARD_SIGMOID, "HardSigmoid", 0.2, 0.5, fmax(0, fmin(1, f->alpha *x + f->beta))) \
  X(ELU, "Elu", 1, 0, x < 0 ? f->alpha * expm1(x) : x)                              \
  X(SOFTSIGN, "Softsign", 0, 0, x / (1 + fabs(x)))                                  \
  X(SOFTPLUS, "Softplus", 0, 0, log1p(exp(x)))

enum {
#define X(NAME, name, alpha, beta, value) KIND_##NAME,
  FUNCTIONS(X)
#undef X
};

static double call(const function *f, double x) {
  switch (f->kind) {
#define X(NAME, name, alpha, beta, value) \
  case KIND_##NAME:                       \
    return (value);
    FUNCTIONS(X)
#undef X
    default:
      return x;
  }
}

static const struct {
  const char *name;
  double alpha, beta;
} function_rows[] = {
#define X(NAME, name, alpha, beta, value) {name, alpha, beta},
    FUNCTIONS(X)
#undef X
};

static int gates_of(graph_op op) { return op == GRAPH_OP_LSTM ? 4 : op == GRAPH_OP_GRU ? 3 : 1; }
static int functions_of(graph_op op) { return op == GRAPH_OP_LSTM ? 3 : op == GRAPH_OP_GRU ? 2 : 1; }

static bool find_function(graph_call *c, const char *name, size_t length, function *f) {
  for (size_t k = 0; k < sizeof function_rows / sizeof function_rows[0]; k++)
    if (strlen(function_rows[k].name) == length && strncasecmp(function_rows[k].name, name, length) == 0) {
      *f = (function){(int)k, function_rows[k].alpha, function_rows[k].beta};
      return true;
    }
  return graph_call_fail(c, "activation '%.*s' is unknown", (int)(length < 40 ? length : 40), name);
}

// `activations` is a list with commas; alphas and betas are given to those functions, in order.
static bool find_functions(graph_call *c, cell *v) {
  static const char *const defaults[] = {"Tanh", "Sigmoid,Tanh", "Sigmoid,Tanh,Tanh"};
  int each = functions_of(c->node->op), all = each * v->directions, count = 0;
  const char *text = graph_text(c->node, "activations", ""), *base = defaults[each - 1];
  if (text[0] == '\0') text = base;
  for (const char *at = text; *at != '\0' && count < FUNCTIONS_MAX; at += *at == ',') {
    size_t length = strcspn(at, ",");
    if (!find_function(c, at, length, &v->functions[count++])) return false;
    at += length;
  }
  if (text == base)
    for (; count < all; count++) v->functions[count] = v->functions[count - each];
  if (count != all) return graph_call_fail(c, "it has %d activations instead of %d", count, all);
  float numbers[FUNCTIONS_MAX];
  int alphas = graph_floats(c->node, "activation_alpha", numbers, FUNCTIONS_MAX);
  for (int i = 0; i < alphas && i < all; i++) v->functions[i].alpha = (double)numbers[i];
  int betas = graph_floats(c->node, "activation_beta", numbers, FUNCTIONS_MAX);
  for (int i = 0; i < betas && i < all; i++) v->functions[i].beta = (double)numbers[i];
  return true;
}

static bool has_shape(graph_call *c, int input, int rank, int64_t a, int64_t b, int64_t d) {
  const graph_tensor *t = c->in[input];
  const graph_tensor expected = {.rank = rank, .dim = {a, b, d}};
  if (t == NULL || (graph_same_shape(t, &expected) && (input == 4 ? t->type == GRAPH_I32 : graph_is_real(t->type))))
    return true;
  return graph_call_fail(c, "its input %d has a wrong shape or type", input);
}

static bool check_shapes(graph_call *c, const cell *v) {
  int64_t d = v->directions, h = v->hidden, rows = v->gates * h, n = v->batch;
  if (!has_shape(c, 1, 3, d, rows, v->inputs) || !has_shape(c, 2, 3, d, rows, h) ||
      !has_shape(c, 3, 2, d, 2 * rows, 0) || !has_shape(c, 4, 1, n, 0, 0))
    return false;
  for (int i = 5; i < 7 && i < c->in_count; i++)
    if (!(v->batch_first ? has_shape(c, i, 3, n, d, h) : has_shape(c, i, 3, d, n, h))) return false;
  return c->in_count < 8 || has_shape(c, 7, 2, d, 3 * h, 0);
}

static bool find(graph_call *c, cell *v) {
  const graph_tensor *x = c->in[0], *r = c->in[2];
  const char *direction = graph_text(c->node, "direction", "forward");
  *v = (cell){.gates = gates_of(c->node->op),
              .batch_first = graph_int(c->node, "layout", 0) != 0,
              .clip = (double)graph_float(c->node, "clip", 0)};
  bool both = strcmp(direction, "bidirectional") == 0;
  if (!both && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0)
    return graph_call_fail(c, "direction '%s' is unknown", direction);
  v->directions = both ? 2 : 1;
  if (x->rank != 3 || r->rank != 3) return graph_call_fail(c, "it takes tensors of 3 dimensions");
  v->steps = x->dim[v->batch_first ? 1 : 0];
  v->batch = x->dim[v->batch_first ? 0 : 1];
  v->inputs = x->dim[2];
  v->hidden = r->dim[2];
  if (v->hidden > INT32_MAX || graph_int(c->node, "hidden_size", v->hidden) != v->hidden)
    return graph_call_fail(c, "its hidden_size contradicts its weights");
  if (graph_int(c->node, "input_forget", 0) != 0)
    return graph_call_fail(c, "coupled gates (input_forget) are not supported");
  return check_shapes(c, v) && find_functions(c, v);
}

bool graph_infer_recurrent(graph_call *c) {
  cell v;
  if (!find(c, &v)) return false;
  int64_t t = v.steps, d = v.directions, n = v.batch, h = v.hidden;
  graph_type type = c->in[0]->type;
  if (v.batch_first)
    return graph_call_result(c, 0, type, 4, (int64_t[]){n, t, d, h}) &&
           graph_call_result(c, 1, type, 3, (int64_t[]){n, d, h}) &&
           graph_call_result(c, 2, type, 3, (int64_t[]){n, d, h});
  return graph_call_result(c, 0, type, 4, (int64_t[]){t, d, n, h}) &&
         graph_call_result(c, 1, type, 3, (int64_t[]){d, n, h}) &&
         graph_call_result(c, 2, type, 3, (int64_t[]){d, n, h});
}

// ---- one sequence in one direction

typedef struct sequence {
  const cell *v;
  int direction;
  int64_t sample;
  double *state, *memory, *x_sums, *h_sums, *next;  // memory: c of an LSTM
  const double *w, *r, *b, *p;                      // of the direction; b and p may be NULL
} sequence;

static double clipped(const cell *v, double x) { return v->clip > 0 ? fmax(-v->clip, fmin(v->clip, x)) : x; }

static void dot_rows(const double *weights, const double *x, int64_t rows, int64_t columns, double *sums) {
  for (int64_t i = 0; i < rows; i++) {
    double sum = 0;
    for (int64_t k = 0; k < columns; k++) sum += weights[i * columns + k] * x[k];
    sums[i] = sum;
  }
}

static double gate_sum(const sequence *s, int gate, int64_t i) {
  int64_t at = gate * s->v->hidden + i;
  double bias = s->b != NULL ? s->b[at] + s->b[s->v->gates * s->v->hidden + at] : 0;
  return s->x_sums[at] + s->h_sums[at] + bias;
}

static void lstm_step(sequence *s, const function *f) {
  const cell *v = s->v;
  int64_t h = v->hidden;
  for (int64_t k = 0; k < h; k++) {
    double peep_i = s->p != NULL ? s->p[k] * s->memory[k] : 0,
           peep_f = s->p != NULL ? s->p[2 * h + k] * s->memory[k] : 0;
    double in = call(&f[0], clipped(v, gate_sum(s, 0, k) + peep_i)),
           forget = call(&f[0], clipped(v, gate_sum(s, 2, k) + peep_f));
    s->memory[k] = forget * s->memory[k] + in * call(&f[1], clipped(v, gate_sum(s, 3, k)));
    double peep_o = s->p != NULL ? s->p[h + k] * s->memory[k] : 0;
    s->next[k] = call(&f[0], clipped(v, gate_sum(s, 1, k) + peep_o)) * call(&f[2], clipped(v, s->memory[k]));
  }
}

// linear_before_reset: the reset gate acts on the product instead of on the state.
static void gru_step(sequence *s, const function *f, bool before_reset) {
  const cell *v = s->v;
  int64_t h = v->hidden, rows = v->gates * h;
  double *reset = s->memory;
  for (int64_t k = 0; k < h; k++) reset[k] = call(&f[0], clipped(v, gate_sum(s, 1, k)));
  if (!before_reset) {
    for (int64_t k = 0; k < h; k++) s->next[k] = reset[k] * s->state[k];
    dot_rows(s->r + 2 * h * h, s->next, h, h, s->h_sums + 2 * h);
  }
  for (int64_t k = 0; k < h; k++) {
    double update = call(&f[0], clipped(v, gate_sum(s, 0, k))), candidate = gate_sum(s, 2, k);
    if (before_reset) {
      double inner = s->h_sums[2 * h + k] + (s->b != NULL ? s->b[rows + 2 * h + k] : 0);
      candidate += (reset[k] - 1) * inner;
    }
    s->next[k] = (1 - update) * call(&f[1], clipped(v, candidate)) + update * s->state[k];
  }
}

static void rnn_step(sequence *s, const function *f) {
  for (int64_t k = 0; k < s->v->hidden; k++) s->next[k] = call(&f[0], clipped(s->v, gate_sum(s, 0, k)));
}

static void step(graph_call *c, sequence *s, const double *x) {
  const cell *v = s->v;
  const function *f = &v->functions[s->direction * functions_of(c->node->op)];
  dot_rows(s->w, x, v->gates * v->hidden, v->inputs, s->x_sums);
  dot_rows(s->r, s->state, v->gates * v->hidden, v->hidden, s->h_sums);
  if (c->node->op == GRAPH_OP_LSTM)
    lstm_step(s, f);
  else if (c->node->op == GRAPH_OP_GRU)
    gru_step(s, f, graph_int(c->node, "linear_before_reset", 0) != 0);
  else
    rnn_step(s, f);
  memcpy(s->state, s->next, (size_t)v->hidden * sizeof s->state[0]);
}

// Where the states of a sample and direction are in [D,N,H] or [N,D,H].
static int64_t state_at(const cell *v, int direction, int64_t sample) {
  return (v->batch_first ? sample * v->directions + direction : direction * v->batch + sample) * v->hidden;
}

static void load_state(graph_call *c, const sequence *s, int input, double *to) {
  const graph_tensor *t = input < c->in_count ? c->in[input] : NULL;
  for (int64_t k = 0; k < s->v->hidden; k++)
    to[k] = t == NULL ? 0 : graph_real_at(t->type, t->data, (size_t)(state_at(s->v, s->direction, s->sample) + k));
}

static void store_state(graph_call *c, const sequence *s, int output, const double *from) {
  if (c->to[output] == NULL) return;
  for (int64_t k = 0; k < s->v->hidden; k++)
    graph_put_real(c->out[output]->type, c->to[output], (size_t)(state_at(s->v, s->direction, s->sample) + k), from[k]);
}

static void store_step(graph_call *c, const sequence *s, int64_t t) {
  const cell *v = s->v;
  if (c->to[0] == NULL) return;
  int64_t row = v->batch_first ? (s->sample * v->steps + t) * v->directions + s->direction
                               : (t * v->directions + s->direction) * v->batch + s->sample;
  for (int64_t k = 0; k < v->hidden; k++)
    graph_put_real(c->out[0]->type, c->to[0], (size_t)(row * v->hidden + k), s->state[k]);
}

static bool run_sequence(graph_call *c, sequence *s, double *x) {
  const cell *v = s->v;
  const graph_tensor *input = c->in[0], *lengths = c->in[4];
  bool reverse = s->direction == 1 || strcmp(graph_text(c->node, "direction", "forward"), "reverse") == 0;
  int64_t length = lengths != NULL ? ((const int32_t *)lengths->data)[s->sample] : v->steps;
  if (length < 0 || length > v->steps) return graph_call_fail(c, "a sequence has the length %" PRId64, length);
  load_state(c, s, 5, s->state);
  load_state(c, s, c->node->op == GRAPH_OP_LSTM ? 6 : c->in_count, s->memory);
  for (int64_t i = 0; i < length; i++) {
    int64_t t = reverse ? length - 1 - i : i,
            row = v->batch_first ? s->sample * v->steps + t : t * v->batch + s->sample;
    graph_load_reals(input->type, input->data, row * v->inputs, 1, v->inputs, x);
    step(c, s, x);
    store_step(c, s, t);
  }
  store_state(c, s, 1, s->state);
  if (c->node->op == GRAPH_OP_LSTM) store_state(c, s, 2, s->memory);
  return true;
}

// Weights of one direction as binary64; NULL for an input that is left out.
static double *of_direction(graph_call *c, int input, int direction, int directions, bool *ok) {
  const graph_tensor *t = input < c->in_count ? c->in[input] : NULL;
  if (t == NULL) return NULL;
  int64_t count = graph_elements(t) / directions;
  double *to = graph_call_scratch(c, count, sizeof to[0]);
  if (to == NULL) *ok = false;
  if (to != NULL) graph_load_reals(t->type, t->data, direction * count, 1, count, to);
  return to;
}

static bool run_direction(graph_call *c, const cell *v, int direction, double *work) {
  bool ok = true;
  int64_t rows = v->gates * v->hidden, h = v->hidden;
  double *w = of_direction(c, 1, direction, v->directions, &ok), *r = of_direction(c, 2, direction, v->directions, &ok);
  double *b = of_direction(c, 3, direction, v->directions, &ok);
  double *p = c->node->op == GRAPH_OP_LSTM ? of_direction(c, 7, direction, v->directions, &ok) : NULL;
  sequence s = {v, direction, 0, work, work + h, work + 3 * h, work + 3 * h + rows, work + 2 * h, w, r, b, p};
  for (s.sample = 0; s.sample < v->batch && ok; s.sample++) ok = run_sequence(c, &s, work + 3 * h + 2 * rows);
  wf_free(w);
  wf_free(r);
  wf_free(b);
  wf_free(p);
  return ok;
}

bool graph_run_recurrent(graph_call *c) {
  cell v;
  if (!find(c, &v)) return false;
  double *work = graph_call_scratch(c, (3 + 2 * v.gates) * v.hidden + v.inputs, sizeof work[0]);
  bool ok = work != NULL;
  for (int o = 0; o < 3; o++)
    if (c->to[o] != NULL) memset(c->to[o], 0, graph_bytes(c->out[o]));
  for (int d = 0; d < v.directions && ok; d++) ok = run_direction(c, &v, d, work);
  wf_free(work);
  return ok;
}
