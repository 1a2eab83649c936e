// SPDX-License-Identifier: Apache-2.0
// Products: how they follow each other, and where their operands lie.
#include <math.h>

#include "base/number.h"
#include "compiler/cost/cost.h"

int64_t cost_product_rows(int64_t rows, int64_t dim) {
  enum { ROWS_MIN = 4 };
  return wf_max(rows, wf_min(dim, ROWS_MIN));
}

double cost_pair_cycles(const cost_model *m, double rows) {
  const double in_flight = (m->hw.mesh_latency + m->c->pair_cycles) / m->hw.max_matmuls;
  return wf_max(wf_max(rows, (double)cost_product_rows(0, m->hw.dim)), in_flight);
}

// ---- banks of the scratchpad

bool cost_has_own_banks(const cost_model *m, const cost_slots *s) {
  int64_t banks = 0;
  for (int o = 0; o < COST_OPERANDS; o++) banks += s->depth[o] * wf_ceil_div(s->rows[o], m->hw.sp_bank_rows);
  return banks * m->hw.sp_bank_rows <= m->hw.sp_rows;
}

void cost_limit_slots(const cost_model *m, cost_slots *s) {
  while (!cost_has_own_banks(m, s)) {
    const int most = s->depth[COST_INPUTS] > s->depth[COST_WEIGHTS] ? COST_INPUTS : COST_WEIGHTS;
    if (s->depth[most] <= 2) return;
    s->depth[most]--;
  }
}

cost_places cost_places_of(const cost_model *m, const cost_slots *s) {
  cost_places p = {.apart = true};
  if (!s->unrolled && cost_has_own_banks(m, s)) return p;
  const double bank = m->hw.sp_bank_rows;
  double inputs = (double)s->rows[COST_INPUTS], weights = (double)s->rows[COST_WEIGHTS];
  double room = (double)m->hw.sp_rows / 2;
  if (!s->unrolled && inputs + weights > room) {
    p.apart = false;
    inputs *= s->depth[COST_INPUTS];
    weights *= s->depth[COST_WEIGHTS];
    room = m->hw.sp_rows;
  }
  for (; p.banks < COST_BANKS_MAX && p.banks * bank < room; p.banks++) {
    const double at = p.banks * bank;
    p.share[COST_INPUTS][p.banks] = wf_max(0, wf_min(at + bank, inputs) - at) / inputs;
    p.share[COST_WEIGHTS][p.banks] = wf_max(0, wf_min(at + bank, room) - wf_max(at, room - weights)) / weights;
  }
  return p;
}

double cost_bank_conflicts(const cost_places *p) {
  double shared = 0;
  for (int b = 0; b < p->banks; b++) shared += p->share[COST_INPUTS][b] * p->share[COST_WEIGHTS][b];
  return wf_min(1, shared);
}

double cost_bank_writes(const cost_model *m, const cost_places *p, int operand) {
  if (!m->array->scratchpad.single_ported || p->apart) return 0;
  double shared = 0;
  for (int b = 0; b < p->banks; b++)
    shared += p->share[operand][b] * wf_min(1, p->share[COST_INPUTS][b] + p->share[COST_WEIGHTS][b]);
  return shared;
}
