// SPDX-License-Identifier: Apache-2.0
// The truth loop: hardware that the model proposes is built as an array description, compiled for and simulated, and
// the search goes on around what was best in the simulation (docs/search.md).
//
// Candidates are arrays that the RTL can be built for: sides are powers of two, memories what the description allows.
// The base array is the first of them; all candidates have its memory system and the same mapping effort.
//
// With the model of the machine the loop runs twice: first every layer is predicted, which takes milliseconds, so that
// the search visits a few hundred arrays; the best of them are simulated, with the mappings that it chose. Half
// of the simulations go to other mappings on the best array: each layer keeps the best of what it ran.
#ifndef SEARCH_TRUTH_TRUTH_H
#define SEARCH_TRUTH_TRUTH_H

#include "hw/array.h"
#include "search/descent/descent.h"
#include "search/predict/table.h"
#include "search/truth/runs.h"

enum { TRUTH_ORIGIN = 96 };

// What engine flow says of a layer with a mapping; cycles 0: it was not asked.
typedef struct truth_flow {
  double cycles, energy_pj;
} truth_flow;

typedef struct truth_candidate {
  hw_array array;
  char origin[TRUTH_ORIGIN];  // "base", "model at side 32", "twice the scratchpad of 3"
  paper_cost model;           // of the plain model for its hardware; cycles 0: it was not asked
  bool good;                  // every layer was compiled and ran
  double cycles, energy_uj;   // measured, of the network
  double predicted;           // by the model of the machine, or by engine flow, uJ x cycles; 0: neither was asked
  bool within;                // good, and within the bounds on area and power
  paper_cost rest;            // of these: what is no layer of the table (pooling, copies, the hart), in any mapping
  double value;               // of the objective; far more beyond the bounds, INFINITY unless good
  double seconds;             // since the start, when it was measured
  char reason[WORK_REASON];   // unless good
  sweep_work_result *layers;  // one per layer of the network
  bool by_mapper;             // its mappings are the mapper's, whatever the model of the machine says
  // By the model of the machine, for each layer: mappings, the best first, and which of them the layer has (SIZE_MAX:
  // the mapper's). NULL: it was not asked.
  const predict_result **answers;
  size_t *chosen;
  truth_flow *flow;  // by layer and mapping, PREDICT_KEPT_MAX of each layer; NULL: not asked
} truth_candidate;

typedef struct truth_options {
  descent_goal goal;  // bounds hold for measured figures; sizes that are fixed, for all arrays but the base
  const hw_array *base;
  const layers_program *program;  // of which the goal's network is the table of layers; NULL: there is only the table
  bool machine;                   // the model of the machine chooses arrays and mappings
  bool whole_energy;              // energy is that of the whole; else what models of arrays count (sim/figures.h)
  uint64_t seed;
  double model_seconds;        // for each of the model's searches; 0: until they end by themselves
  uint64_t model_evaluations;  // of layers' mappings, by all of them; 0: no limit
  unsigned candidates;         // simulated at most; 0: 16
  unsigned flow;               // with `machine`: arrays that engine flow runs before the cycle engine; 0: none
  unsigned tune;               // mappings that are tried for each layer; 0: the mapper's best
  unsigned jobs;               // processes; 0: one per processor
  double timeout;              // of one layer on one array
  truth_runs *runs;            // that several searches share, with processes and a timeout of its own; NULL: none
  predict_table *table;        // that several searches share; NULL: none
  const wf_stop *stop;         // wanted: nothing more is proposed; NULL: never
  void (*progress)(void *context, const char *text);  // may be NULL
  void *context;
} truth_options;

typedef struct truth_result {
  truth_candidate *candidates;  // in the order in which they were measured; the first is the base
  size_t count;
  size_t best;
  size_t predicted;  // arrays that the model of the machine was asked about
  double seconds;
  predict_table *table, *own_table;  // where answers are; NULL: not the result's own
} truth_result;

// False after an error was reported: not even the base array can run the network.
bool truth_search(const truth_options *options, truth_result *result, wf_diag *diag);
void truth_release(truth_result *result);

// Hardware and mappings that another search proposes (NULL: the base array): arrays that hold them, with the model of
// the machine choosing among these mappings and the mapper's; a quarter of the candidates are arrays, the others
// mappings on the best of them. False: no such array can be built.
bool truth_judge(const truth_options *options, const paper_hardware *hardware, const paper_mapping *mappings,
                 truth_result *result);
// Layers with mappings that the plain model wanted.
size_t truth_own_layers(const truth_candidate *candidate, size_t layers);

// The objective of measured figures on an array, whatever the bounds.
double truth_objective(const descent_goal *goal, const hw_array *array, paper_cost cost);

// The description nearest to a model's hardware that can be built: nothing smaller than it asks for. False: there is
// none within twice the sizes.
bool truth_array(const hw_array *base, const paper_hardware *hardware, hw_array *array);

#endif
