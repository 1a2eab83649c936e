// SPDX-License-Identifier: Apache-2.0
// The cells of unrolled LSTMs: of a step's gates the conversion leaves tables of float numbers, products, a sum, a
// hyperbolic tangent and a Quantize. They become QCell and QHidden (docs/networks.md).
#include <math.h>
#include <string.h>

#include "compiler/graph/qcells.h"
#include "compiler/quantise/convert.h"

enum { BYTES = 256, GATES = 4, INPUT = 0, OUTPUT = 1, FORGET = 2, UPDATE = 3 };

typedef struct cells {
  graph *g;
  quantise_rewrite_index index;
  const graph_node *nodes;  // of before
  int tables;               // the last ones, or GRAPH_NONE
} cells;

static const graph_node *maker(const cells *c, int tensor, graph_op op) {
  const int n = tensor == GRAPH_NONE ? GRAPH_NONE : c->index.maker[tensor];
  return n != GRAPH_NONE && c->nodes[n].op == op ? &c->nodes[n] : NULL;
}

static bool has_shape(const cells *c, int a, int b) { return graph_same_shape(&c->g->tensors[a], &c->g->tensors[b]); }

// A table over one of the four parts of rows of int8.
typedef struct gate {
  int gates, part;
  const float *table;
} gate;

static bool find_gate(const cells *c, int tensor, gate *found) {
  const graph_node *table = maker(c, tensor, GRAPH_OP_QLUT);
  const graph_node *split = table == NULL ? NULL : maker(c, table->inputs[0], GRAPH_OP_SPLIT);
  const float *values = table == NULL ? NULL : quantise_rewrite_floats(c->g, table->inputs[1]);
  if (split == NULL || values == NULL || split->output_count != GATES) return false;
  const graph_tensor *whole = &c->g->tensors[split->inputs[0]];
  const int64_t axis = graph_int(split, "axis", 0);
  if (whole->type != GRAPH_I8 || (axis != whole->rank - 1 && axis != -1)) return false;
  *found = (gate){.gates = split->inputs[0], .table = values};
  for (int i = 0; i < GATES; i++) {
    if (c->g->tensors[split->outputs[i]].dim[whole->rank - 1] * GATES != whole->dim[whole->rank - 1]) return false;
    if (split->outputs[i] == table->inputs[0]) found->part = i;
  }
  return true;
}

// Gates `a` and `b` as the operands of a product, in either order.
static bool find_product(const cells *c, int tensor, gate *a, int part_a, gate *b, int part_b) {
  const graph_node *mul = maker(c, tensor, GRAPH_OP_MUL);
  for (int i = 0; mul != NULL && i < 2; i++)
    if (find_gate(c, mul->inputs[i], a) && a->part == part_a && find_gate(c, mul->inputs[1 - i], b) &&
        b->part == part_b && a->gates == b->gates)
      return true;
  return false;
}

typedef struct match {
  int gates, before;  // before: the states, or GRAPH_NONE
  const float *gate, *update;
} match;

static bool find_kept(const cells *c, int tensor, const match *m, int *before) {
  const graph_node *mul = maker(c, tensor, GRAPH_OP_MUL);
  gate forget;
  for (int i = 0; mul != NULL && i < 2; i++) {
    *before = mul->inputs[1 - i];
    if (find_gate(c, mul->inputs[i], &forget) && forget.part == FORGET && forget.gates == m->gates &&
        memcmp(forget.table, m->gate, BYTES * sizeof(float)) == 0)
      return true;
  }
  return false;
}

// sigm(i) tanh(c), or sigm(f) state + sigm(i) tanh(c).
static bool find_cell(const cells *c, int tensor, match *m) {
  const graph_node *add = maker(c, tensor, GRAPH_OP_ADD);
  for (int i = 0; i < 2; i++) {
    gate input, update;
    if (!find_product(c, add == NULL ? tensor : add->inputs[i], &input, INPUT, &update, UPDATE)) continue;
    *m = (match){.gates = input.gates, .before = GRAPH_NONE, .gate = input.table, .update = update.table};
    if (add == NULL) return true;
    if (find_kept(c, add->inputs[1 - i], m, &m->before) && has_shape(c, m->before, tensor)) return true;
  }
  return false;
}

// The last tables have this one from `at` on.
static bool has_table(const cells *c, int at, const float *table) {
  const float *last = c->tables == GRAPH_NONE ? NULL : quantise_rewrite_floats(c->g, c->tables);
  return last != NULL && memcmp(last + at, table, BYTES * sizeof *table) == 0;
}

// The number of a step of the hyperbolic tangent is that of its middle.
static int add_tables(cells *c, const char *name, const float *first, const float *update) {
  float *values = WF_ARENA_ARRAY(c->g->arena, GRAPH_CELL_TABLES, float), *tanhs = values + GRAPH_CELL_TANH;
  memcpy(values, first, BYTES * sizeof *values);
  memcpy(values + GRAPH_CELL_UPDATE, update, BYTES * sizeof *values);
  for (int i = 0; i < GRAPH_CELL_TABLES - GRAPH_CELL_TANH; i++) {
    const double x = (i + 0.5) / GRAPH_CELL_STEPS - GRAPH_CELL_REACH;
    tanhs[i] = (float)(tanh(x) - x);
  }
  const int64_t count = GRAPH_CELL_TABLES;
  return quantise_rewrite_add_floats(c->g, wf_arena_format(c->g->arena, "%s.tables", name), 1, &count, values);
}

static void emit_cell(cells *c, const graph_node *node, const match *m) {
  if (!has_table(c, 0, m->gate) || !has_table(c, GRAPH_CELL_UPDATE, m->update))
    c->tables = add_tables(c, node->name, m->gate, m->update);
  const int inputs[3] = {m->gates, c->tables, m->before};
  graph_add_node(c->g, GRAPH_OP_QCELL, quantise_rewrite_name(c->g, node->name, ""), inputs,
                 m->before == GRAPH_NONE ? 2 : 3, &node->outputs[0], 1);
}

// sigm(o) tanh(state).
static bool find_hidden(const cells *c, int tensor, gate *out, const graph_node **tanh_of) {
  const graph_node *mul = maker(c, tensor, GRAPH_OP_MUL);
  for (int i = 0; mul != NULL && i < 2; i++) {
    *tanh_of = maker(c, mul->inputs[1 - i], GRAPH_OP_TANH);
    if (*tanh_of != NULL && find_gate(c, mul->inputs[i], out) && out->part == OUTPUT &&
        has_shape(c, mul->inputs[1 - i], tensor) && has_shape(c, mul->inputs[i], tensor))
      return true;
  }
  return false;
}

// As int8, in the shape of `like`: the Quantize's own result, or what is reshaped to it.
static int emit_hidden(cells *c, const graph_node *quantize, int like, const gate *out, const graph_node *tanh_of) {
  const char *name = quantize->name;
  const graph_tensor t = c->g->tensors[like], result = c->g->tensors[quantize->outputs[0]];
  int hidden = quantize->outputs[0];
  if (like != quantize->inputs[0]) {
    hidden = quantise_rewrite_tensor(c->g, name, ".row", GRAPH_I8, t.rank, t.dim);
    c->g->tensors[hidden].scale = result.scale;
  }
  if (!has_table(c, 0, out->table)) c->tables = add_tables(c, name, out->table, out->table);
  const int inputs[3] = {out->gates, c->tables, tanh_of->inputs[0]};
  graph_node *node =
      graph_add_node(c->g, GRAPH_OP_QHIDDEN, quantise_rewrite_name(c->g, name, ".hidden"), inputs, 3, &hidden, 1);
  graph_set_float(c->g, node, "scale", 1 / graph_float(quantize, "scale", 1));
  return hidden;
}

// A Quantize of what a step shows, right behind it or behind a Reshape.
static bool replace_quantize(cells *c, const graph_node *node) {
  if (node->op != GRAPH_OP_QUANTIZE || graph_int(node, "zero", 0) != 0 || graph_find_attribute(node, "perm") != NULL ||
      c->g->tensors[node->outputs[0]].type != GRAPH_I8 || !has_shape(c, node->inputs[0], node->outputs[0]))
    return false;
  const graph_node *reshape = maker(c, node->inputs[0], GRAPH_OP_RESHAPE), *tanh_of;
  const int real = reshape == NULL ? node->inputs[0] : reshape->inputs[0];
  gate out;
  if (!find_hidden(c, real, &out, &tanh_of)) return false;
  const int hidden = emit_hidden(c, node, real, &out, tanh_of);
  if (reshape != NULL)
    graph_add_node(c->g, GRAPH_OP_RESHAPE, quantise_rewrite_name(c->g, node->name, ""),
                   (int[]){hidden, reshape->inputs[1]}, 2, &node->outputs[0], 1);
  return true;
}

void quantise_convert_cells(graph *g) {
  cells c = {.g = g, .index = quantise_rewrite_index_of(g), .tables = GRAPH_NONE};
  int count;
  c.nodes = quantise_rewrite_begin(g, &count);
  for (int n = 0; n < count; n++) {
    match m;
    if (find_cell(&c, c.nodes[n].outputs[0], &m))
      emit_cell(&c, &c.nodes[n], &m);
    else if (!replace_quantize(&c, &c.nodes[n]))
      quantise_rewrite_keep(g, &c.nodes[n]);
  }
}
