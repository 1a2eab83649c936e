// SPDX-License-Identifier: Apache-2.0
// Zeros in the weights of products and convolutions, as pruning leaves them: single weights, or blocks of the matrix of
// taps and input channels by output channels. What stays is a matter of the seed and of the place alone.
//
// Weights that are left keep their values: random ones would grow without that, and a trained network is not pruned
// here.
#include "workloads/networks/prune.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, BLOCK_MOST = 1 << 12 };

static bool refuse(const char *text, wf_diag *diag) {
  wf_error(diag, wf_in_file("prune"), "'%s' is not weights:DENSITY, blocks:DENSITY or blocks:DENSITY:SIDE", text);
  wf_hint(diag, "DENSITY is the share that is left, from 0 to 1: blocks:0.25 leaves a quarter of the %d x %d blocks",
          BLOCK, BLOCK);
  return false;
}

static bool starts(const char **text, const char *word) {
  const size_t length = strlen(word);
  if (strncmp(*text, word, length) != 0) return false;
  *text += length;
  return true;
}

bool networks_read_pruning(const char *text, uint64_t seed, networks_pruning *pruning, wf_diag *diag) {
  const char *at = text;
  char *end;
  *pruning = (networks_pruning){.block = 1, .seed = seed};
  if (starts(&at, "blocks:"))
    pruning->block = BLOCK;
  else if (!starts(&at, "weights:"))
    return refuse(text, diag);
  pruning->density = strtod(at, &end);
  if (end == at || !(pruning->density >= 0 && pruning->density <= 1)) return refuse(text, diag);
  if (*end == ':' && pruning->block != 1) {
    at = end + 1;
    pruning->block = strtoll(at, &end, 10);
    if (end == at || pruning->block < 1 || pruning->block > BLOCK_MOST) return refuse(text, diag);
  }
  return *end == '\0' || refuse(text, diag);
}

static uint64_t mix(uint64_t state, uint64_t word) {
  state = (state + word + 1) * UINT64_C(0x9e3779b97f4a7c15);
  state = (state ^ state >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  return state ^ state >> 32;
}

bool networks_keeps(const networks_pruning *p, int64_t tap, int64_t input, int64_t output) {
  uint64_t mixed = mix(p->seed, (uint64_t)tap);
  mixed = mix(mixed, (uint64_t)(input / p->block));
  mixed = mix(mixed, (uint64_t)(output / p->block));
  return (double)(mixed >> 11) * 0x1p-53 < p->density;
}

// ---- graphs

// How the weights of a node lie: elements from one output, input and tap to the next.
typedef struct matrix {
  int64_t outputs, inputs, taps, by_output, by_input, by_tap;
} matrix;

static bool is_product(const graph_tensor *t) { return t->rank == 2; }

static bool matrix_of(const graph_node *node, const graph_tensor *t, matrix *m) {
  const int64_t *dim = t->dim;
  *m = (matrix){.taps = 1};
  if (node->op == GRAPH_OP_CONV && graph_int(node, "group", 1) == 1 && t->rank >= 3) {
    *m = (matrix){.outputs = dim[0], .inputs = dim[1], .taps = graph_elements(t) / (dim[0] * dim[1]), .by_tap = 1};
    m->by_input = m->taps;
    m->by_output = m->taps * m->inputs;
    return true;
  }
  if ((node->op != GRAPH_OP_GEMM && node->op != GRAPH_OP_MAT_MUL) || !is_product(t)) return false;
  const bool turned = node->op == GRAPH_OP_GEMM && graph_int(node, "transB", 0) != 0;
  m->outputs = dim[turned ? 0 : 1];
  m->inputs = dim[turned ? 1 : 0];
  m->by_output = turned ? m->inputs : 1;
  m->by_input = turned ? 1 : m->outputs;
  return true;
}

// A copy with zeros.
static const float *pruned(const networks_pruning *p, const matrix *m, graph *g, const graph_tensor *t) {
  float *weights = WF_ARENA_ARRAY(g->arena, (size_t)graph_elements(t), float);
  memcpy(weights, t->data, (size_t)graph_elements(t) * sizeof *weights);
  for (int64_t tap = 0; tap < m->taps; tap++)
    for (int64_t i = 0; i < m->inputs; i++)
      for (int64_t o = 0; o < m->outputs; o++)
        if (!networks_keeps(p, tap, i, o)) weights[o * m->by_output + i * m->by_input + tap * m->by_tap] = 0;
  return weights;
}

void networks_prune(const networks_pruning *pruning, graph *g) {
  networks_pruning own = *pruning;
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    matrix m;
    if (node->input_count < 2) continue;
    graph_tensor *weights = &g->tensors[node->inputs[1]];
    if (weights->data == NULL || weights->type != GRAPH_F32 || !matrix_of(node, weights, &m)) continue;
    own.seed = pruning->seed + (uint64_t)n;
    weights->data = pruned(&own, &m, g, weights);
  }
}
