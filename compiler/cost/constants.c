// SPDX-License-Identifier: Apache-2.0
// The constants, and an array with them: see cost.h.
#include <string.h>

#include "compiler/cost/cost.h"

const cost_constants cost_fitted = {
#define NUMBER(judge, field, value, ...) .field = value,
#include "compiler/cost/cost_constants.def"
#undef NUMBER
};

const cost_number cost_numbers[COST_CONSTANTS] = {
#define NUMBER(of, field, value, its_unit, text) \
  {.judge = COST_##of, .name = #field, .unit = its_unit, .meaning = text},
#include "compiler/cost/cost_constants.def"
#undef NUMBER
};

const char *const cost_judge_names[COST_JUDGES] = {"GIVEN", "MODEL", "ESTIMATE", "ORDER"};

double cost_value(const cost_constants *constants, size_t index) {
  double value;
  memcpy(&value, (const char *)constants + index * sizeof value, sizeof value);
  return value;
}

void cost_set_value(cost_constants *constants, size_t index, double value) {
  memcpy((char *)constants + index * sizeof value, &value, sizeof value);
}

void cost_print(const cost_constants *constants, size_t index, const char *note, FILE *out) {
  const cost_number *n = &cost_numbers[index];
  fprintf(out, "NUMBER(%s, %s, %.4g, \"%s\", \"%s\")%s%s\n", cost_judge_names[n->judge], n->name,
          cost_value(constants, index), n->unit, n->meaning, note == NULL ? "" : "  // ", note == NULL ? "" : note);
}

static double dram_latency(const hw_array *a, const cost_constants *c) {
  if (a->memory.model == HW_MEMORY_FIXED) return a->memory.latency_cycles;
  const double nanoseconds = a->memory.model == HW_MEMORY_DDR3 ? c->ddr3_line_ns : c->ddr4_line_ns;
  return (nanoseconds + a->memory.controller_ns) * a->memory.clock_mhz / 1000 + a->memory.path_cycles;
}

cost_model cost_model_of(const hw_array *array, const cost_constants *constants) {
  cost_model m = {.array = array,
                  .c = constants,
                  .hw = hw_derive(array),
                  .bus = (double)array->dma.bus_bits / 8,
                  .peak = (double)array->memory.bytes_per_cycle,
                  .line = array->l2.present ? array->l2.line_bytes : array->dma.max_burst_bytes};
  const double latency = dram_latency(array, constants);
  m.dim = m.hw.dim;
  m.line_cycles = cost_request_cycles(&m, m.line);
  m.hit_latency = array->l2.present ? array->l2.hit_latency : 1 + latency;
  m.miss_latency = m.hit_latency + (array->l2.present ? latency + constants->miss_latency : 0);
  return m;
}
