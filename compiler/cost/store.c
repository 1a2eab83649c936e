// SPDX-License-Identifier: Apache-2.0
// Stores: what rows take of the store unit.
#include "base/number.h"
#include "compiler/cost/cost.h"
#include "isa/isa_fields.h"

// A row of several column blocks is collected before it is sent.
double cost_store_row(const cost_model *m, double blocks, double beats, bool wide) {
  return blocks > 1 ? blocks + beats - 1 : wf_max(wide ? 1 : m->c->store_row, beats);
}

double cost_store_cycles(const cost_model *m, double bytes, double row_bytes, bool wide) {
  if (wide) return bytes / m->bus * m->c->wide_store;
  return bytes / m->bus * m->c->narrow_store + m->c->row_cycles * bytes / wf_min(row_bytes, m->hw.max_cols);
}

int64_t cost_planned_store(const cost_model *m, const cost_command *store) {
  const int64_t beats = (int64_t)((double)(store->columns * store->element_bytes) / m->bus);
  const int64_t row = wf_ceil_div(store->columns, m->hw.dim) + wf_max(beats, 1);
  return store->rows * row + (int64_t)m->c->planned_store;
}

// A block takes a cycle to enter and one to be added up; behind the last one come divisions and a root.
int64_t cost_statistic_cycles(const cost_model *m, int64_t columns, uint32_t norm) {
  enum { BLOCK = 2, DIVIDE = 34, ROOT = 18, RECIPROCAL = 52 };
  static const uint8_t ends[] = {[ISA_LOCAL_NORM_MEAN] = DIVIDE,
                                 [ISA_LOCAL_NORM_INV_STDDEV] = DIVIDE + ROOT + RECIPROCAL,
                                 [ISA_LOCAL_NORM_INV_SUM_EXP] = RECIPROCAL};
  return BLOCK * wf_ceil_div(columns, (int64_t)m->hw.dim) + (norm < sizeof ends ? ends[norm] : 0);
}
