// SPDX-License-Identifier: Apache-2.0
// The cells of an LSTM: docs/networks.md. A row of gates is four times as long as one of cells: input, output, forget
// and update gates behind each other.
#include "group.h"
#include "private.h"

enum { UPDATES = 256, STEPS = 256, REACH = 4, TANH = 512 + REACH * STEPS, WIDE = sizeof(float) };

static const float *numbers_at(const char *at) { return (const float *)(const void *)at; }

struct gates {
  const int8_t *input, *output, *forget, *update;
  const float *table;  // from the middle of its 256 numbers on
};

static struct gates gates_of(const struct weft_host_call *call, const struct host_place *p) {
  const int64_t width = call->dim[call->outer];
  const int8_t *at = (const int8_t *)p->at[1];
  return (struct gates){at, at + width, at + 2 * width, at + 3 * width, numbers_at(p->at[2]) - INT8_MIN};
}

__attribute__((always_inline)) static inline void look_up(float *to, const float *table, const int8_t *from) {
  int64_t at[GROUP];
  get_group(at, from);
  EACH at[j] = (int64_t)(intptr_t)(table + at[j]);
  wholes_there(at);
  EACH to[j] = *(const float *)(intptr_t)at[j];
  numbers_there(to);
}

// States of `count` cells; `before` is NULL at the first step, and may be `to`.
__attribute__((always_inline)) static inline void run_cells(float *to, const struct gates *g, const float *before,
                                                            int64_t count) {
  int64_t i = 0;
  for (; i + GROUP <= count; i += GROUP) {
    float a[GROUP], b[GROUP], c[GROUP];
    look_up(a, g->table, g->input + i);
    look_up(b, g->table + UPDATES, g->update + i);
    EACH a[j] *= b[j];
    if (before != NULL) {
      look_up(b, g->table, g->forget + i);
      EACH c[j] = before[i + j];
      numbers_there(c);
      EACH a[j] = __builtin_fmaf(b[j], c[j], a[j]);
    }
    numbers_there(a);
    EACH to[i + j] = a[j];
  }
  for (; i < count; i++) {
    const float fresh = g->table[g->input[i]] * g->table[UPDATES + g->update[i]];
    to[i] = before == NULL ? fresh : __builtin_fmaf(g->table[g->forget[i]], before[i], fresh);
  }
}

static enum weft_host_status cell(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct gates g = gates_of(call, p);
  float *to = (float *)(void *)p->at[0];
  if (call->integer[0] != 0)
    run_cells(to, &g, numbers_at(p->at[3]), call->dim[call->outer]);
  else
    run_cells(to, &g, NULL, call->dim[call->outer]);
  return WEFT_HOST_OK;
}

// `table` from that of 0 on.
__attribute__((always_inline)) static inline void tanh_group(float *to, const float *table, const float *from) {
  float x[GROUP];
  int64_t at[GROUP];
  EACH x[j] = from[j];
  numbers_there(x);
  not_below(x, -REACH);
  not_above(x, REACH);
  EACH to[j] = x[j] * STEPS;
  numbers_there(to);
  EACH at[j] = lowest(to[j]);
  wholes_there(at);
  EACH at[j] = (int64_t)(intptr_t)(table + at[j]);
  wholes_there(at);
  EACH to[j] = *(const float *)(intptr_t)at[j];
  numbers_there(to);
  EACH to[j] += x[j];
  numbers_there(to);
}

static float tanh_of(const float *table, float x) {
  x = x < -REACH ? -REACH : x < REACH ? x : REACH;
  return x + table[lowest(x * STEPS)];
}

static enum weft_host_status hidden(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const struct gates g = gates_of(call, p);
  const float *from = numbers_at(p->at[3]), *tanhs = numbers_at(p->at[2]) + TANH, factor = call->number[0];
  const int64_t count = call->dim[call->outer];
  int8_t *to = (int8_t *)p->at[0];
  int64_t i = 0;
  for (; i + GROUP <= count; i += GROUP) {
    float a[GROUP], b[GROUP];
    tanh_group(b, tanhs, from + i);
    look_up(a, g.table, g.output + i);
    EACH a[j] *= b[j];
    numbers_there(a);
    EACH a[j] *= factor;
    numbers_there(a);
    not_below(a, INT8_MIN);
    not_above(a, INT8_MAX);
    put_group(to + i, a);
  }
  for (; i < count; i++) {
    const float x = g.table[g.output[i]] * tanh_of(tanhs, from[i]) * factor;
    to[i] = (int8_t)nearest(x < INT8_MIN ? INT8_MIN : x < INT8_MAX ? x : INT8_MAX);
  }
  return WEFT_HOST_OK;
}

static bool is_dense(const struct weft_host_call *call, unsigned operand, enum weft_host_type type, int64_t bytes) {
  return host_is(call, operand, type) && call->operand[operand].step[call->outer] == bytes;
}

host_visit *host_cells_visit(const struct weft_host_call *call) {
  if ((call->op != WEFT_HOST_QCELL && call->op != WEFT_HOST_QHIDDEN) || call->outer + 1 != call->rank) return NULL;
  const bool has_states = call->op == WEFT_HOST_QHIDDEN || call->integer[0] != 0;
  if (!is_dense(call, 1, WEFT_I8, 1) || !host_is(call, 2, WEFT_F32)) return NULL;
  if (has_states && !is_dense(call, 3, WEFT_F32, WIDE)) return NULL;
  if (call->op == WEFT_HOST_QCELL) return is_dense(call, 0, WEFT_F32, WIDE) ? cell : NULL;
  return is_dense(call, 0, WEFT_I8, 1) ? hidden : NULL;
}
