// SPDX-License-Identifier: Apache-2.0
// Banks of main memory that rows visit, and what that costs.
#include <math.h>

#include "base/number.h"
#include "compiler/cost/cost.h"

int64_t cost_line_bytes(const hw_array *array) {
  return array->l2.present ? array->l2.line_bytes : array->dma.bus_bits / 8;
}

static bool has_banks(const hw_array *array) { return array->memory.model != HW_MEMORY_FIXED; }

// Rows until one lies in the bank of the first. Rows that do not start with a line, too, drift through all banks.
static int64_t turn_of(const hw_array *array, int64_t stride) {
  const int64_t banks = array->memory.banks, line = cost_line_bytes(array);
  return stride % line != 0 ? banks : banks / wf_common_factor(stride / line, banks);
}

int64_t cost_banks_of_command(const cost_model *m, const cost_bank_rows *rows) {
  const int64_t lines = wf_ceil_div(rows->bytes, cost_line_bytes(m->array));
  return wf_min(m->array->memory.banks, turn_of(m->array, rows->stride) * lines);
}

int64_t cost_banks_of_pieces(const cost_model *m, const cost_bank_rows *rows) {
  return wf_min(m->array->memory.banks, cost_banks_of_command(m, rows) * rows->pieces);
}

double cost_write_cycles(const cost_model *m, int64_t banks) {
  const hw_array *a = m->array;
  const double bus = (double)cost_line_bytes(a) / m->peak;
  if (!has_banks(a)) return bus / m->c->fixed_write_share;
  const double bank = m->c->write_bank_ns * a->memory.clock_mhz / 1000 / (double)banks;
  return wf_max(bus, m->c->write_bus_share * bus + bank);
}

double cost_first_write_cycles(const cost_model *m, int64_t banks) {
  return m->c->first_bank_ns * m->array->memory.clock_mhz / 1000 / (double)banks;
}

// Rows that share a bank come at its rate; wide rows take the banks in turn.
double cost_read_share(const cost_model *m, double bytes, double stride) {
  const double line = (double)cost_line_bytes(m->array), banks = wf_max(1U, m->array->memory.banks);
  if (stride <= bytes || fmod(stride, line * banks) != 0) return m->c->read_share;
  return wf_min(m->c->read_share, m->c->bank_share * wf_max(1, floor(bytes / line)));
}

int64_t cost_store_rows(const cost_model *m, const cost_bank_rows *rows, double cycles_per_line) {
  const hw_array *a = m->array;
  const int64_t dim = m->hw.dim, turn = turn_of(a, rows->stride), banks = cost_banks_of_command(m, rows);
  if (!has_banks(a) || rows->pieces == 1 || turn >= dim || banks == a->memory.banks) return dim;
  return cost_write_cycles(m, banks) > m->c->busy_share * cycles_per_line ? turn : dim;
}
