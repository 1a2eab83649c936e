// SPDX-License-Identifier: Apache-2.0
// The plain model (search/model/paper.h) over a tape: the same formulas in the logarithms of the factors, with
// gradients, for TAPE_LANES mappings at a time (docs/search.md).
//
// At whole factors both models agree to rounding. Between them the jumps of the plain model are bridged: a loop of
// factor 1 does not exist and one of factor 2 does, so a loop of factor f exists to the degree ramp(f - 1), and costs
// that depend on which loops exist are weighted with these degrees. The order of the loops at main memory is a softmax
// over the three orders. The rounding to whole vectors and cycles that a table of constants may ask for is left out.
//
// Factors of P and Q at the registers are not searched: the model cannot tell them from those at the accumulator.
#ifndef SEARCH_DESCENT_PLAIN_H
#define SEARCH_DESCENT_PLAIN_H

#include "search/model/paper.h"
#include "search/tape/tape.h"

// A factor that is free: of a dimension at the accumulator, or spatial. What is left goes to main memory.
typedef struct descent_plain_slot {
  block_dim_id dim;
  bool spatial;
} descent_plain_slot;

enum { PLAIN_SLOTS = BLOCK_DIMS + 2 };

// What a layer tells the network: outputs of its program, variables of the network's.
#define PLAIN_FIELDS(FIELD) \
  FIELD(rows)               \
  FIELD(columns)            \
  FIELD(weight_fills0)      \
  FIELD(weight_fills2) FIELD(input_fills2) FIELD(result_fills1) FIELD(scratchpad_words) FIELD(column_words)
typedef enum {
#define FIELD(name) PLAIN_##name,
  PLAIN_FIELDS(FIELD)
#undef FIELD
      PLAIN_OUTPUTS
} descent_plain_output;

// Inputs of a layer's program: the slots' logarithms, then PAPER_ORDERS logits (both variables), then the temperature
// of the softmax over orders (a parameter). Outputs: descent_plain_output.
typedef struct descent_plain_layer {
  const layers_layer *layer;
  size_t slot_count;
  descent_plain_slot slots[PLAIN_SLOTS];
  tape_program *program;
} descent_plain_layer;

descent_plain_layer descent_plain_layer_create(const layers_layer *layer);
void descent_plain_layer_release(descent_plain_layer *layer);

static inline size_t descent_plain_order_input(const descent_plain_layer *layer) { return layer->slot_count; }
static inline size_t descent_plain_temperature_input(const descent_plain_layer *layer) {
  return layer->slot_count + PAPER_ORDERS;
}

// What a network is to be good at.
typedef enum { PLAIN_EDP, PLAIN_LATENCY, PLAIN_ENERGY, PLAIN_AREA_DELAY, PLAIN_OBJECTIVES } descent_plain_objective;
extern const char *const descent_plain_objective_names[PLAIN_OBJECTIVES];

// Hardware that is given rather than inferred: 0 where the mappings decide. Limits bound what they may ask for.
typedef struct descent_plain_limits {
  double side_fixed, scratchpad_kib_fixed, accumulator_kib_fixed;
  double side_max, scratchpad_kib_max, accumulator_kib_max;
} descent_plain_limits;

// What silicon costs, and how fast it runs. The defaults are those published for Gemmini in Intel 22FFL (DAC 2021):
// 16 x 16 PEs of 8 bits in 116,000 um2, 256 KiB of scratchpad in 544,000, 64 KiB of accumulator in 146,000.
typedef struct descent_plain_silicon {
  double pe_um2, scratchpad_um2_per_kib, accumulator_um2_per_kib;
  double clock_mhz;
} descent_plain_silicon;
#define PLAIN_SILICON_DEFAULTS \
  ((descent_plain_silicon){    \
      .pe_um2 = 453.125, .scratchpad_um2_per_kib = 2125, .accumulator_um2_per_kib = 2281.25, .clock_mhz = 1000})

// What is searched for, and within which bounds; 0: no bound. Area and power are bounds on the whole.
typedef struct descent_goal {
  const layers_network *network;
  paper_cost rest;  // of the network besides its layers, whatever the hardware and the mappings
  const paper_constants *constants;
  descent_plain_objective objective;
  descent_plain_limits limits;
  descent_plain_silicon silicon;  // of all zeros: the defaults
  double area_mm2_max, power_mw_max;
} descent_goal;

double descent_plain_area_mm2(const descent_plain_silicon *silicon, const paper_hardware *hardware);
// Mean power of a network, without leakage: the model has none.
double descent_plain_power_mw(const descent_plain_silicon *silicon, paper_cost cost);
descent_plain_silicon descent_plain_silicon_of(const descent_goal *goal);

typedef enum { PLAIN_SIDE_SIZE, PLAIN_SCRATCHPAD_SIZE, PLAIN_ACCUMULATOR_SIZE, PLAIN_SIZES } descent_plain_size;

// Inputs of a network's program: for each layer PLAIN_OUTPUTS variables, then parameters: the temperature of the
// maxima (relative: they are taken of logarithms), the weight of the penalty on what exceeds the bounds, and the bounds
// (logarithms of PEs, KiB, KiB). A size that is fixed is its bound; the others are what the mappings need.
// Outputs: descent_plain_network_output, then cycles and uJ of one occurrence of each layer.
typedef enum {
  PLAIN_LOSS,  // log objective + penalty
  PLAIN_CYCLES,
  PLAIN_ENERGY_UJ,
  PLAIN_SIDE,
  PLAIN_SCRATCHPAD_KIB,
  PLAIN_ACCUMULATOR_KIB,
  PLAIN_AREA_MM2,
  PLAIN_NETWORK_OUTPUTS
} descent_plain_network_output;

typedef struct descent_plain_network {
  size_t layer_count;
  tape_program *program;
} descent_plain_network;

descent_plain_network descent_plain_network_create(const descent_goal *goal, const bool fixed[PLAIN_SIZES]);
void descent_plain_network_release(descent_plain_network *network);

static inline size_t descent_plain_network_input(size_t layer, descent_plain_output field) {
  return layer * PLAIN_OUTPUTS + field;
}
static inline size_t descent_plain_network_temperature(const descent_plain_network *n) {
  return n->layer_count * PLAIN_OUTPUTS;
}
static inline size_t descent_plain_network_penalty(const descent_plain_network *n) {
  return n->layer_count * PLAIN_OUTPUTS + 1;
}
static inline size_t descent_plain_network_bound(const descent_plain_network *n, descent_plain_size size) {
  return n->layer_count * PLAIN_OUTPUTS + 2 + size;
}
static inline size_t descent_plain_layer_cycles(size_t layer) { return PLAIN_NETWORK_OUTPUTS + 2 * layer; }
static inline size_t descent_plain_layer_energy(size_t layer) { return PLAIN_NETWORK_OUTPUTS + 2 * layer + 1; }

#endif
