// SPDX-License-Identifier: Apache-2.0
// Calls of operators: see call.h. The table joins ops.def's columns.
#include "compiler/graph/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/element.h"

typedef struct row {
  unsigned types;
  graph_call_function *infer, *run;
} row;

static const row rows[GRAPH_OP_COUNT] = {
#define GRAPH_OP(NAME, text, a, b, c, d, of_onnx, types, infer, run) \
  [GRAPH_OP_##NAME] = {GRAPH_SET_##types, graph_infer_##infer, graph_run_##run},
#include "compiler/graph/ops.def"
#undef GRAPH_OP
};

bool graph_call_fail(graph_call *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(c->message, sizeof c->message, format, args);
  va_end(args);
  return false;
}

void *graph_call_scratch(graph_call *c, int64_t count, size_t size) {
  uint64_t bytes;
  if (!__builtin_mul_overflow((uint64_t)count, size, &bytes) && bytes <= GRAPH_SCRATCH_MAX)
    return wf_alloc((size_t)count + 1, size);
  graph_call_fail(c, "it needs too much memory");
  return NULL;
}

void graph_call_prepare(graph_call *c, const graph *g, const graph_node *node, wf_arena *arena) {
  size_t ins = (size_t)node->input_count + GRAPH_CALL_SLOTS, outs = (size_t)node->output_count + GRAPH_CALL_SLOTS;
  *c = (graph_call){.node = node, .in_count = node->input_count, .out_count = node->output_count};
  c->in = WF_ARENA_ARRAY(arena, ins, const graph_tensor *);
  c->out = WF_ARENA_ARRAY(arena, outs, graph_tensor *);
  c->to = WF_ARENA_ARRAY(arena, outs, void *);
  for (int i = 0; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE) c->in[i] = &g->tensors[node->inputs[i]];
  for (int o = 0; o < node->output_count; o++) {
    if (node->outputs[o] == GRAPH_NONE) continue;
    c->out[o] = WF_ARENA_NEW(arena, graph_tensor);
    *c->out[o] = g->tensors[node->outputs[o]];
  }
}

static bool check_inputs(graph_call *c) {
  const graph_op_row *info = graph_op_info(c->node->op);
  if (c->in_count < info->least_inputs || c->in_count > info->most_inputs)
    return graph_call_fail(c, "it has %d inputs instead of %d to %d", c->in_count, info->least_inputs,
                           info->most_inputs);
  if (c->out_count < info->least_outputs || c->out_count > info->most_outputs)
    return graph_call_fail(c, "it has %d outputs instead of %d to %d", c->out_count, info->least_outputs,
                           info->most_outputs);
  if (info->most_outputs == 1 && c->out[0] == NULL) return graph_call_fail(c, "its result is left out");
  int needed = info->most_inputs > 100 ? c->in_count : info->least_inputs;
  for (int i = 0; i < needed; i++)
    if (c->in[i] == NULL) return graph_call_fail(c, "its input %d is missing", i);
  if (needed != 0 && (rows[c->node->op].types >> c->in[0]->type & 1) == 0)
    return graph_call_fail(c, "it does not take %s", graph_type_names[c->in[0]->type]);
  return true;
}

// Functions write results without asking which of them are wanted: each gets a place.
bool graph_call_infer(graph_call *c) {
  graph_tensor unwanted[GRAPH_CALL_SLOTS] = {0};
  graph_tensor *wanted[GRAPH_CALL_SLOTS];
  if (!check_inputs(c)) return false;
  for (int o = 0; o < GRAPH_CALL_SLOTS; o++) {
    wanted[o] = c->out[o];
    if (o >= c->out_count || c->out[o] == NULL) c->out[o] = &unwanted[o];
  }
  bool ok = rows[c->node->op].infer(c);
  memcpy(c->out, wanted, sizeof wanted);
  return ok;
}

bool graph_call_takes_any(graph_op op) { return rows[op].types == GRAPH_SET_ANY; }

bool graph_call_run(graph_call *c) { return rows[c->node->op].run(c); }

bool graph_is_constant(const graph_tensor *t) { return t != NULL && t->data != NULL; }

bool graph_call_axis(graph_call *c, int64_t given, int rank, int *axis) {
  if (given < -rank || given >= rank)
    return graph_call_fail(c, "axis %" PRId64 " is outside of %d dimensions", given, rank);
  *axis = (int)(given < 0 ? given + rank : given);
  return true;
}

int graph_call_values(graph_call *c, int input, int64_t *values, int room) {
  const graph_tensor *t = c->in[input];
  if (!graph_is_constant(t)) {
    graph_call_fail(c, "its input %d decides a shape and has to be constant", input);
    return -1;
  }
  int64_t count = graph_elements(t);
  if (count > room || t->rank > 1 || graph_is_real(t->type)) {
    graph_call_fail(c, "its input %d has to be a short list of integers", input);
    return -1;
  }
  for (int i = 0; i < (int)count; i++) values[i] = graph_int_at(t->type, t->data, (size_t)i);
  return (int)count;
}

bool graph_call_result(graph_call *c, int output, graph_type type, int rank, const int64_t *dim) {
  graph_tensor *t = c->out[output];
  int64_t elements;
  if (rank > GRAPH_RANK_MAX) return graph_call_fail(c, "its result has %d dimensions", rank);
  if (!graph_count_elements(rank, dim, &elements)) return graph_call_fail(c, "its result has an impossible shape");
  t->type = type;
  t->rank = rank;
  memset(t->dim, 0, sizeof t->dim);
  if (rank != 0) memcpy(t->dim, dim, (size_t)rank * sizeof dim[0]);
  return true;
}

bool graph_call_like(graph_call *c, int output, int input) {
  return graph_call_result(c, output, c->in[input]->type, c->in[input]->rank, c->in[input]->dim);
}

bool graph_broadcast(graph_call *c, int *rank, int64_t *dim, const graph_tensor *with) {
  int more = with->rank - *rank;
  if (more > 0) {
    memmove(dim + more, dim, (size_t)*rank * sizeof dim[0]);
    for (int d = 0; d < more; d++) dim[d] = 1;
    *rank = with->rank;
  }
  for (int d = 0; d < with->rank; d++) {
    int64_t *mine = &dim[d + *rank - with->rank];
    if (*mine == 1)
      *mine = with->dim[d];
    else if (with->dim[d] != 1 && with->dim[d] != *mine)
      return graph_call_fail(c, "its inputs have sizes %" PRId64 " and %" PRId64 " in one dimension", *mine,
                             with->dim[d]);
  }
  return true;
}

void graph_steps(int rank, const int64_t *dim, int64_t *steps) {
  int64_t step = 1;
  for (int d = rank - 1; d >= 0; d--) {
    steps[d] = step;
    step *= dim[d];
  }
}

void graph_broadcast_steps(const graph_tensor *t, int rank, int64_t *steps) {
  int64_t own[GRAPH_RANK_MAX];
  assert(t->rank <= rank);
  graph_steps(t->rank, t->dim, own);
  for (int d = 0; d < rank; d++) {
    int mine = d - (rank - t->rank);
    steps[d] = mine < 0 || t->dim[mine] == 1 ? 0 : own[mine];
  }
}

int64_t graph_product(const int64_t *dim, int from, int to) {
  int64_t product = 1;
  for (int d = from; d < to; d++) product *= dim[d];
  return product;
}
