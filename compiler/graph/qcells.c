// SPDX-License-Identifier: Apache-2.0
// The cells of an LSTM (docs/networks.md): QCell, the states of a step, and QHidden, what it shows of them. The
// gates of a row lie behind each other: input, output, forget, update.
#include "compiler/graph/qcells.h"

#include <math.h>

#include "compiler/graph/call.h"

enum { GATES = 4, INPUT = 0, OUTPUT = 1, FORGET = 2, UPDATE = 3 };

static int64_t width_of(const graph_tensor *gates) { return gates->dim[gates->rank - 1] / GATES; }

static bool has_gates(const graph_tensor *gates) {
  return gates->rank > 0 && width_of(gates) > 0 && gates->dim[gates->rank - 1] % GATES == 0;
}

static bool are_tables(const graph_tensor *t) { return t->type == GRAPH_F32 && graph_elements(t) == GRAPH_CELL_TABLES; }

// A number for each cell of the gates.
static bool is_state(const graph_tensor *t, const graph_tensor *gates) {
  if (t->type != GRAPH_F32 || t->rank != gates->rank || t->dim[t->rank - 1] != width_of(gates)) return false;
  for (int i = 0; i + 1 < t->rank; i++)
    if (t->dim[i] != gates->dim[i]) return false;
  return true;
}

static bool cells_like(graph_call *c, graph_type type) {
  const graph_tensor *gates = c->in[0];
  int64_t dims[GRAPH_RANK_MAX];
  for (int i = 0; i < gates->rank; i++) dims[i] = i + 1 < gates->rank ? gates->dim[i] : width_of(gates);
  return graph_call_result(c, 0, type, gates->rank, dims);
}

static float looked_up(const float *table, int8_t x) { return table[x - INT8_MIN]; }

// ---- QCell

static bool infer(graph_call *c, graph_type type) {
  if (!has_gates(c->in[0])) return graph_call_fail(c, "it takes rows of four gates");
  if (!are_tables(c->in[1])) return graph_call_fail(c, "its tables have to be %d numbers of f32", GRAPH_CELL_TABLES);
  if (c->in[2] != NULL && !is_state(c->in[2], c->in[0])) return graph_call_fail(c, "its states do not fit its gates");
  return cells_like(c, type);
}

bool graph_infer_qcell(graph_call *c) { return infer(c, GRAPH_F32); }

bool graph_run_qcell(graph_call *c) {
  const int64_t width = width_of(c->in[0]), cells = graph_elements(c->in[0]) / GATES;
  const int8_t *gates = c->in[0]->data;
  const float *gate = c->in[1]->data, *update = gate + GRAPH_CELL_UPDATE;
  const float *before = c->in[2] == NULL ? NULL : c->in[2]->data;
  float *y = c->to[0];
  for (int64_t i = 0; i < cells; i++) {
    const int8_t *row = gates + i / width * GATES * width + i % width;
    y[i] = looked_up(gate, row[INPUT * width]) * looked_up(update, row[UPDATE * width]);
    if (before != NULL) y[i] = fmaf(looked_up(gate, row[FORGET * width]), before[i], y[i]);
  }
  return true;
}

// ---- QHidden

bool graph_infer_qhidden(graph_call *c) { return infer(c, GRAPH_I8); }

static float tanh_of(const float *table, float x) {
  x = x < -GRAPH_CELL_REACH ? -GRAPH_CELL_REACH : x < GRAPH_CELL_REACH ? x : GRAPH_CELL_REACH;
  return x + table[(int)floorf(x * GRAPH_CELL_STEPS) + GRAPH_CELL_REACH * GRAPH_CELL_STEPS];
}

static int8_t nearest_byte(float x) {
  const float byte = rintf(x);
  return (int8_t)(byte < INT8_MIN ? INT8_MIN : byte < INT8_MAX ? byte : INT8_MAX);
}

bool graph_run_qhidden(graph_call *c) {
  const int64_t width = width_of(c->in[0]), cells = graph_elements(c->in[0]) / GATES;
  const float factor = graph_float(c->node, "scale", 1);
  const int8_t *gates = c->in[0]->data;
  const float *gate = c->in[1]->data, *state = c->in[2]->data;
  int8_t *y = c->to[0];
  for (int64_t i = 0; i < cells; i++) {
    const int8_t output = gates[i / width * GATES * width + OUTPUT * width + i % width];
    y[i] = nearest_byte(looked_up(gate, output) * tanh_of(gate + GRAPH_CELL_TANH, state[i]) * factor);
  }
  return true;
}
