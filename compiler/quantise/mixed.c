// SPDX-License-Identifier: Apache-2.0
// Nodes that stay in float: which names mean which nodes, and the choice of as few as hold a quality. Each round keeps
// the nodes that lose most, twice as many as the round before, until the worst output is good enough.
#include "compiler/quantise/mixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

// Whether `name` names the node or the node of the model that a pass wrote as this one: NAME or NAME.PART.
static bool is_named(const char *node, const char *name) {
  const size_t length = strlen(name);
  return strncmp(node, name, length) == 0 && (node[length] == '\0' || node[length] == '.');
}

bool quantise_is_kept(const quantise_options *options, const graph_node *node) {
  for (int i = 0; i < options->keep_count; i++)
    if (is_named(node->name, options->keep[i])) return true;
  return false;
}

// Those that the hart has in float.
static bool can_stay(graph_op op) {
  static const graph_op ops[] = {GRAPH_OP_CONV,       GRAPH_OP_GEMM,    GRAPH_OP_MAT_MUL,
                                 GRAPH_OP_ADD,        GRAPH_OP_MUL,     GRAPH_OP_SUB,
                                 GRAPH_OP_DIV,        GRAPH_OP_SOFTMAX, GRAPH_OP_LAYER_NORMALIZATION,
                                 GRAPH_OP_SIGMOID,    GRAPH_OP_TANH,    GRAPH_OP_GELU,
                                 GRAPH_OP_HARD_SWISH, GRAPH_OP_RELU,    GRAPH_OP_CLIP};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (ops[i] == op) return true;
  return false;
}

static bool takes(const graph *g, const graph_node *node) {
  return can_stay(node->op) && (node->op != GRAPH_OP_CONV || g->tensors[node->inputs[0]].rank == 4);
}

bool quantise_check_kept(const graph *model, const quantise_options *options, wf_diag *diag) {
  bool good = true;
  for (int i = 0; i < options->keep_count; i++) {
    bool found = false;
    for (int n = 0; n < model->node_count; n++)
      found = found || (is_named(model->nodes[n].name, options->keep[i]) && takes(model, &model->nodes[n]));
    if (found) continue;
    good = false;
    wf_error(diag, wf_in_file(model->name), "no node '%s' that could stay in float", options->keep[i]);
    wf_hint(diag,
            "names are those of the table of steps: convolutions, products, sums, norms, functions of one element");
  }
  return good;
}

// ---- the choice

static const graph_node *node_named(const graph *model, const char *name) {
  for (int n = 0; n < model->node_count; n++)
    if (strcmp(model->nodes[n].name, name) == 0) return &model->nodes[n];
  return NULL;
}

static int by_loss(const void *a, const void *b) {
  const quantise_layer *p = a, *q = b;
  return (p->loss < q->loss) - (p->loss > q->loss);
}

// The next nodes to keep, most loss first; how many were added.
static int keep_more(quantise_mixed *m, const quantise_layers *layers, int wanted) {
  int added = 0;
  qsort(layers->rows, (size_t)layers->count, sizeof *layers->rows, by_loss);
  for (int i = 0; i < layers->count && added < wanted && m->options.keep_count < QUANTISE_KEPT_MAX; i++) {
    const graph_node *node = node_named(m->model, layers->rows[i].cause);
    if (node == NULL || !takes(m->model, node) || quantise_is_kept(&m->options, node)) continue;
    if (!(layers->rows[i].loss > 0)) break;
    m->kept[m->options.keep_count++] = node->name;
    added++;
  }
  return added;
}

static double worst_output(const graph *placed, const quantise_quality *rows) {
  double least = INFINITY;
  for (int o = 0; o < placed->output_count; o++)
    if (!isnan(rows[o].sqnr_db)) least = fmin(least, rows[o].sqnr_db);
  return least;
}

// The quality with what is kept now, and what each node loses.
static bool measure(quantise_mixed *m, quantise_layers *layers, double *db, wf_diag *diag) {
  quantise_forms forms;
  quantise_options options = m->options;
  options.forms = &forms;
  options.int8_ends = false;
  graph *placed = quantise_convert(m->model, m->pins, m->ranges, &options, diag);
  if (placed == NULL) return false;
  options.samples = 1;
  quantise_quality *rows = quantise_compare(m->model, placed, &options, diag);
  bool ok = rows != NULL;
  if (ok) *db = worst_output(placed, rows);
  ok = ok && (*db >= m->options.least_db || quantise_compare_layers(m->model, placed, &forms, &options, layers, diag));
  // Names outlive the graph: they are looked up in the model.
  for (int i = 0; ok && i < layers->count; i++)
    layers->rows[i].cause = wf_arena_text(m->model->arena, layers->rows[i].cause, strlen(layers->rows[i].cause));
  wf_free(rows);
  graph_destroy(placed);
  return ok;
}

bool quantise_choose_kept(quantise_mixed *m, wf_diag *diag) {
  enum { ROUNDS = 24 };
  m->kept = WF_ARENA_ARRAY(m->model->arena, QUANTISE_KEPT_MAX, const char *);
  for (int i = 0; i < m->options.keep_count && i < QUANTISE_KEPT_MAX; i++) m->kept[i] = m->options.keep[i];
  m->options.keep = m->kept;
  for (int round = 0, wanted = 1; round < ROUNDS; round++, wanted *= 2) {
    quantise_layers layers = {0};
    if (!measure(m, &layers, &m->last_db, diag)) return false;
    if (round == 0) m->first_db = m->last_db;
    const bool holds = m->last_db >= m->options.least_db;
    const int added = holds ? 0 : keep_more(m, &layers, wanted);
    quantise_layers_release(&layers);
    if (added == 0) break;
  }
  return true;
}
