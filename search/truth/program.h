// SPDX-License-Identifier: Apache-2.0
// The answer of a search on a network program: the whole network on the array that was found.
#ifndef SEARCH_TRUTH_PROGRAM_H
#define SEARCH_TRUTH_PROGRAM_H

#include "compiler/network/mappings.h"
#include "search/truth/truth.h"

// As `weft sim` runs a network: every step.
typedef struct truth_program_cost {
  double cycles;
  double energy_uj;        // of the whole
  double array_energy_uj;  // as models of arrays count
} truth_program_cost;

typedef struct truth_program {
  bool good;
  truth_program_cost base, best;
  network_mappings mappings;  // of the best; empty: the mapper's
} truth_program;

// Runs the network of the options on the base array and on that of the best candidate, there with the mappings that the
// candidate has for kernels of its layers, and without, and takes what is better. False after an error was reported;
// release in any case.
bool truth_run_program(const truth_options *options, const truth_result *result, truth_program *program, wf_diag *diag);
// A network on an array that was found, with mappings for layers of its table.
typedef struct truth_program_found {
  const layers_program *program;
  const layers_network *table;
  const hw_array *array;
  const map_mapping *mappings;  // of each layer
  const bool *mapped;           // whether the layer's is another than the mapper's
  unsigned tune;
  network_fuse_mode fuse;
  compile_objective least;                                        // in mixes
  unsigned jobs;                                                  // threads that judge mixes
  double (*value)(const void *context, truth_program_cost cost);  // the less, the better
  const void *context;
} truth_program_found;

typedef struct truth_program_run {
  truth_program_cost cost, apart;  // apart: without mixes
  network_mappings mappings;       // `weft sim --mappings` takes these cycles with them
  unsigned mixes;                  // steps of several mixed ones; 0: none, and `weft sim` has no --fuse
  uint64_t kept_bytes;             // of tensors that stay in the scratchpad between them
} truth_program_run;

// Runs every step with the mappings, where kernels take them, and without, and takes what is better; then, if the
// options ask for mixes, with these, and takes that if it is better still. False after an error was reported; release
// in any case.
bool truth_run_found(const truth_program_found *found, truth_program_run *run, wf_diag *diag);
void truth_release_run(truth_program_run *run);

void truth_release_program(truth_program *program);

#endif
