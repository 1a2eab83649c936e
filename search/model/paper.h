// SPDX-License-Identifier: Apache-2.0
// The plain model: what a layer costs on an accelerator of four memory levels, from the factors of its mapping alone,
// in closed form (docs/search-model.md has the formulas). It knows no instructions and no latencies; the model of the
// machine is machine.h.
//
// Levels: registers in the PEs (weights), accumulator (results), scratchpad (weights, inputs), main memory. Channels C
// are spread over the rows of the array at the accumulator's level, K over its columns at the scratchpad's level.
// temporal[DRAM][d] is what is left of a dimension: the product of all factors of d is its size. A factor below 1
// counts as 1.
#ifndef SEARCH_MODEL_PAPER_H
#define SEARCH_MODEL_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "search/layers/layers.h"

typedef enum { PAPER_REGISTERS, PAPER_ACCUMULATOR, PAPER_SCRATCHPAD, PAPER_DRAM, PAPER_LEVELS } paper_level;

typedef struct paper_mapping {
  double temporal[PAPER_LEVELS][BLOCK_DIMS];
  double rows, columns;                     // the spatial factors of C and of K
  uint8_t order[PAPER_LEVELS][BLOCK_DIMS];  // block_dim_id, innermost loop first
} paper_mapping;

// The three orders of the loops at main memory that are searched: the named operand stays longest.
typedef enum { PAPER_WS, PAPER_IS, PAPER_OS, PAPER_ORDERS } paper_order;
extern const char *const paper_order_names[PAPER_ORDERS];  // "ws", ...
extern const uint8_t paper_dram_orders[PAPER_ORDERS][BLOCK_DIMS];

// Everything at main memory, no spatial factor, weight-stationary; the orders inside are the array's.
paper_mapping paper_mapping_start(const layers_layer *layer);
void paper_set_order(paper_mapping *mapping, paper_order order);
// One that is none of the three counts as weight-stationary.
paper_order paper_order_of(const paper_mapping *mapping);
// Factors are whole, at least 1, and multiply to the layer's sizes; loops at the levels that may have them.
bool paper_mapping_legal(const layers_layer *layer, const paper_mapping *mapping);

// With random perfect factors; `*seed` is the state of the generator.
paper_mapping paper_mapping_random(const layers_layer *layer, int64_t side, uint64_t *seed);

// `L3[WIO] K48 - L2[WI] N1 K16X - L1[O] C48 P16 C16X - L0[W] P8`: outermost first, X marks a spatial factor.
void paper_mapping_print(const paper_mapping *mapping, FILE *out);
// DRAM factors are taken from the text, too. False: no such text.
bool paper_mapping_parse(paper_mapping *mapping, const char *text);

typedef struct paper_hardware {
  double side;  // PEs per side of the array
  double scratchpad_kib, accumulator_kib;
} paper_hardware;

typedef struct paper_constants {
#define GROUP(group) struct {
#define END(group) \
  }                \
  group;
#define NUMBER(group, field, ...) double field;
#include "search/model/paper_constants.def"
#undef GROUP
#undef END
#undef NUMBER
} paper_constants;

// Built-in tables: "dosa" (default), "timeloop", and the technology tables that have energies and bandwidths ("40nm");
// false: no such name.
bool paper_constants_named(paper_constants *constants, const char *name);
bool paper_constants_parse(paper_constants *constants, const char *file, const char *text, size_t length,
                           wf_diag *diag);

// What the hardware must have for a mapping: words of weights and inputs together, and of results in each column.
typedef struct paper_need {
  double side;
  double scratchpad_words, column_words;
} paper_need;
paper_need paper_need_of(const layers_layer *layer, const paper_mapping *mapping);

// The hardware that just holds the largest of the needs: memories in whole KiB, a side of at least 2.
paper_hardware paper_minimal_hardware(const paper_need *needs, size_t count);
bool paper_fits(const paper_need *need, const paper_hardware *hardware);

// Words that move, of a layer and its mapping on any hardware.
typedef struct paper_traffic {
  double macs, results;                // of the layer: products, elements of the output
  double rows, columns;                // of the array in use
  double weight_fills0;                // into the registers
  double weight_fills2, input_fills2;  // into the scratchpad
  double result_fills1;                // into the accumulator
} paper_traffic;
paper_traffic paper_traffic_of(const layers_layer *layer, const paper_mapping *mapping);

typedef struct paper_cost {
  double cycles, energy_uj;
} paper_cost;
paper_cost paper_cost_of(const paper_traffic *traffic, const paper_hardware *hardware,
                         const paper_constants *constants);

// All of it: of one layer; and of a network, one mapping per layer, as sums over all occurrences.
paper_cost paper_evaluate(const layers_layer *layer, const paper_mapping *mapping, const paper_hardware *hardware,
                          const paper_constants *constants);
paper_cost paper_network(const layers_network *network, const paper_mapping *mappings, const paper_hardware *hardware,
                         const paper_constants *constants);
// On the minimal hardware, which *hardware receives.
paper_cost paper_network_minimal(const layers_network *network, const paper_mapping *mappings, paper_hardware *hardware,
                                 const paper_constants *constants);

static inline double paper_edp(paper_cost cost) { return cost.cycles * cost.energy_uj; }  // uJ x cycles

#endif
