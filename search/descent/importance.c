// SPDX-License-Identifier: Apache-2.0
// See importance.h. Costs g are per occurrence; the weight of a layer in the objective is how often it occurs.
#include "search/descent/importance.h"

#include <math.h>

#include "base/alloc.h"

typedef struct record {
  double count, operations;
  double cost, cost_before;
  unsigned efforts, idle;
  unsigned kind;  // similar layers have the same
} record;

struct descent_importance {
  descent_importance_options options;
  size_t count;
  record *records;
};

static bool similar(const layers_layer *a, const layers_layer *b) {
  return a->size[BLOCK_DIM_R] == b->size[BLOCK_DIM_R] && a->size[BLOCK_DIM_S] == b->size[BLOCK_DIM_S] &&
         a->stride[0] == b->stride[0] && a->stride[1] == b->stride[1];
}

descent_importance *descent_importance_create(const layers_network *network, descent_importance_options options) {
  descent_importance *m = WF_NEW(descent_importance);
  m->options = options;
  m->count = network->count;
  m->records = WF_NEW_ARRAY(network->count, record);
  for (size_t i = 0; i < network->count; i++) {
    record *r = &m->records[i];
    r->count = layers_products(&network->layers[i]);
    r->operations = layers_product_macs(&network->layers[i]);
    r->kind = (unsigned)i;
    for (size_t k = 0; k < i && r->kind == i; k++)
      if (similar(&network->layers[i], &network->layers[k])) r->kind = (unsigned)k;
  }
  return m;
}

void descent_importance_destroy(descent_importance *m) {
  if (!m) return;
  wf_free(m->records);
  wf_free(m);
}

void descent_importance_set(descent_importance *m, size_t layer, double cost) {
  record *r = &m->records[layer];
  r->cost_before = r->efforts == 0 ? cost : r->cost_before + cost - r->cost;
  r->cost = cost;
}

void descent_importance_spent(descent_importance *m, size_t layer, double cost) {
  record *r = &m->records[layer];
  r->idle = cost < r->cost * (1 - 1e-9) ? 0 : r->idle + 1;
  r->efforts++;
  r->cost_before = r->cost;
  r->cost = cost;
}

void descent_importance_revive(descent_importance *m) {
  for (size_t i = 0; i < m->count; i++) m->records[i].idle = 0;
}

// Operations per cost of the best similar layer.
static double best_rate(const descent_importance *m, const record *of) {
  double best = 0;
  for (size_t k = 0; k < m->count; k++)
    if (m->records[k].kind == of->kind) best = fmax(best, m->records[k].operations / m->records[k].cost);
  return best;
}

double descent_importance_of(const descent_importance *m, size_t layer) {
  const record *r = &m->records[layer];
  if (r->idle >= m->options.patience || !(r->cost > 0) || !isfinite(r->cost)) return 0;
  const double back = r->cost - r->cost_before;
  const double hope = -r->cost / (r->efforts + 1);
  const double likeness = m->options.beta * r->operations / best_rate(m, r) - r->cost;
  return r->count * fabs(m->options.alpha * back + (1 - m->options.alpha) * fmin(hope, likeness));
}

size_t descent_importance_pick(const descent_importance *m) {
  size_t best = m->count;
  double most = 0;
  for (size_t i = 0; i < m->count; i++) {
    const double value = descent_importance_of(m, i);
    if (value > most) {
      most = value;
      best = i;
    }
  }
  return best;
}
