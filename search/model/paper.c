// SPDX-License-Identifier: Apache-2.0
// Cycles and energy of the plain model from the words that move (traffic.c), and the hardware that mappings need.
#include "search/model/paper.h"

#include <math.h>

#include "base/number.h"

static double at_least_1(double x) { return x > 1 ? x : 1; }

// Accesses of each level.
typedef struct accesses {
  double registers, accumulator, scratchpad, dram;
} accesses;

static accesses accesses_of(const paper_traffic *t) {
  return (accesses){
      .registers = at_least_1(t->macs + t->weight_fills0),
      .accumulator = at_least_1(2 * t->macs / t->rows - t->results + t->result_fills1),
      .scratchpad = at_least_1(t->weight_fills0 + t->weight_fills2 + t->macs / t->columns + t->input_fills2),
      .dram = at_least_1(t->weight_fills2 + t->input_fills2 + 2 * t->result_fills1 - t->results),
  };
}

static double whole(double words, double vector) { return ceil(words / vector) * vector; }

// Accesses that energy counts: every tensor's reads and writes in whole vectors.
static void round_up(accesses *a, const paper_traffic *t, const paper_hardware *hardware, const paper_constants *c) {
  const double wide = c->vector_words.dram, side = c->vector_words.scratchpad_per_row * hardware->side;
  if (wide > 0)
    a->dram = whole(t->weight_fills2, wide) + whole(t->input_fills2, wide) + whole(t->result_fills1, wide) +
              whole(t->result_fills1 - t->results, wide);
  if (side > 0)
    a->scratchpad = whole(t->weight_fills0, side) + whole(t->weight_fills2, side) + whole(t->macs / t->columns, side) +
                    whole(t->input_fills2, side);
}

// Words per cycle of all PEs' registers, of a column of the accumulator, of the scratchpad.
typedef struct bandwidths {
  double registers, column, scratchpad, dram;
} bandwidths;

static bandwidths bandwidths_of(const paper_traffic *t, const paper_hardware *hardware, const paper_constants *c) {
  const double side = hardware->side;
  return (bandwidths){
      .registers = c->words_per_cycle.registers + c->words_per_cycle.registers_per_pe * side * side,
      .column = c->words_per_cycle.accumulator_per_used_column +
                c->words_per_cycle.accumulator_per_column * side / t->columns,
      .scratchpad = c->words_per_cycle.scratchpad_per_row * side,
      .dram = c->words_per_cycle.dram,
  };
}

static double cycles_of(const accesses *a, const paper_traffic *t, const bandwidths *words) {
  double cycles = t->macs / (t->rows * t->columns);
  cycles = wf_max(cycles, a->registers / words->registers);
  cycles = wf_max(cycles, a->accumulator / (words->column * t->columns));
  cycles = wf_max(cycles, a->scratchpad / words->scratchpad);
  return wf_max(cycles, a->dram / words->dram);
}

// The same, rounded up as Timeloop does it: what each memory is asked for in a cycle of computing slows computing down.
// Where the quotient is whole its last bit decides, so words are added in Timeloop's order.
static double whole_cycles_of(const paper_traffic *t, const bandwidths *words) {
  const double cycles = t->macs / t->rows / t->columns, updates = t->macs / t->rows;
  const double column = updates / t->columns / cycles + t->result_fills1 / t->columns / cycles +
                        (updates - t->results) / t->columns / cycles;
  const double scratchpad = t->weight_fills0 / cycles + t->macs / t->columns / cycles +
                            (t->weight_fills2 / cycles + t->input_fills2 / cycles);
  const double dram = t->weight_fills2 / cycles + t->input_fills2 / cycles + (t->result_fills1 - t->results) / cycles +
                      t->result_fills1 / cycles;
  const double slowdown = fmin(fmin(words->registers / ((t->macs + t->weight_fills0) / cycles), words->column / column),
                               fmin(words->scratchpad / scratchpad, words->dram / dram));
  return slowdown < 1 ? ceil(cycles / slowdown) : cycles;
}

paper_cost paper_cost_of(const paper_traffic *t, const paper_hardware *hardware, const paper_constants *c) {
  accesses a = accesses_of(t);
  const bandwidths words = bandwidths_of(t, hardware, c);
  const double cycles = c->vector_words.whole_cycles != 0 ? whole_cycles_of(t, &words) : cycles_of(&a, t, &words);
  round_up(&a, t, hardware, c);
  const double accumulator_pj = c->energy_pj.accumulator +
                                c->energy_pj.accumulator_per_kib_of_column * hardware->accumulator_kib / hardware->side;
  const double scratchpad_pj = c->energy_pj.scratchpad + c->energy_pj.scratchpad_per_kib * hardware->scratchpad_kib;
  const double pj = c->energy_pj.mac * t->macs + c->energy_pj.registers * a.registers + accumulator_pj * a.accumulator +
                    scratchpad_pj * a.scratchpad + c->energy_pj.dram * a.dram;
  return (paper_cost){.cycles = cycles, .energy_uj = 1e-6 * pj};
}

paper_hardware paper_minimal_hardware(const paper_need *needs, size_t count) {
  double side = 2, scratchpad = 0, column = 0;
  for (size_t i = 0; i < count; i++) {
    side = wf_max(side, needs[i].side);
    scratchpad = wf_max(scratchpad, needs[i].scratchpad_words);
    column = wf_max(column, needs[i].column_words);
  }
  return (paper_hardware){
      .side = side, .scratchpad_kib = ceil(scratchpad / 1024), .accumulator_kib = ceil(side * column * 4 / 1024)};
}

bool paper_fits(const paper_need *need, const paper_hardware *hardware) {
  return need->side <= hardware->side && need->scratchpad_words <= hardware->scratchpad_kib * 1024 &&
         need->column_words * 4 * hardware->side <= hardware->accumulator_kib * 1024;
}

paper_cost paper_evaluate(const layers_layer *layer, const paper_mapping *mapping, const paper_hardware *hardware,
                          const paper_constants *constants) {
  const paper_traffic traffic = paper_traffic_of(layer, mapping);
  return paper_cost_of(&traffic, hardware, constants);
}

paper_cost paper_network(const layers_network *network, const paper_mapping *mappings, const paper_hardware *hardware,
                         const paper_constants *constants) {
  paper_cost sum = {0};
  for (size_t i = 0; i < network->count; i++) {
    const paper_cost cost = paper_evaluate(&network->layers[i], &mappings[i], hardware, constants);
    sum.cycles += cost.cycles * layers_products(&network->layers[i]);
    sum.energy_uj += cost.energy_uj * layers_products(&network->layers[i]);
  }
  return sum;
}

paper_cost paper_network_minimal(const layers_network *network, const paper_mapping *mappings, paper_hardware *hardware,
                                 const paper_constants *constants) {
  paper_need most = {0};
  for (size_t i = 0; i < network->count; i++) {
    const paper_need need = paper_need_of(&network->layers[i], &mappings[i]);
    most.side = wf_max(most.side, need.side);
    most.scratchpad_words = wf_max(most.scratchpad_words, need.scratchpad_words);
    most.column_words = wf_max(most.column_words, need.column_words);
  }
  *hardware = paper_minimal_hardware(&most, 1);
  return paper_network(network, mappings, hardware, constants);
}
