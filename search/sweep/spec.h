// SPDX-License-Identifier: Apache-2.0
// What a sweep is: arrays, networks and how layers are mapped, read from a YAML text (docs/sweeps.md).
//
// The points of a sweep are its arrays in a fixed order: the same text gives the same points on every machine.
#ifndef SEARCH_SWEEP_SPEC_H
#define SEARCH_SWEEP_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "hw/array.h"
#include "hw/tech.h"
#include "hw/yaml_tree.h"
#include "runner/fidelity.h"
#include "search/descent/plain.h"
#include "search/layers/program.h"
#include "search/sweep/axes.h"

typedef enum { SWEEP_GRID, SWEEP_RANDOM, SWEEP_LATIN, SWEEP_LIST } sweep_sample;

enum { SWEEP_POINTS_MAX = 1000000 };

typedef struct sweep_spec {
  wf_arena *arena;
  const char *name;
  const char *text;  // of the file
  sweep_sample sample;
  hw_array base;
  uint64_t count, seed;  // of random samples
  sweep_axis *axes;
  size_t axis_count;
  hw_array *arrays;  // of SWEEP_LIST
  size_t array_count;
  layers_network *networks;  // tables
  size_t network_count;
  layers_program *programs;  // networks as programs
  size_t program_count;
  bool all_steps;     // equal steps of programs run, too
  unsigned tune;      // take the fastest of this number of the mapper's mappings; 0: its best
  unsigned searched;  // take the best of this number that the model of the machine finds, and the mapper's best; 0: no
                      // search
  descent_plain_objective objective;  // what is best of those
  run_fidelity fidelity;              // unless the sweep is told another
  double timeout;                     // seconds of one measurement; 0: none
  const hw_tech *tech;                // of all arrays, from a file; NULL: theirs
} sweep_spec;

// Files that the text names are found relative to its own place, networks also by name (layers/network.h). False
// after errors were reported; release in any case.
bool sweep_spec_load(sweep_spec *spec, const char *path, wf_diag *diag);
bool sweep_spec_parse(sweep_spec *spec, const char *path, const char *text, size_t length, wf_diag *diag);
void sweep_spec_release(sweep_spec *spec);

// A larger text's part of a sweep: `others` (NULL at the end) are the keys that the caller reads, `networks` and
// `mapping` among them. The spec has its arena and text; the path lives as long.
bool sweep_spec_read(sweep_spec *spec, const char *path, const hw_yaml_node *root, const char *const *others,
                     wf_diag *diag);
// A name with a '.' or '/' is a file beside the text: its path, in the arena.
const char *sweep_spec_beside(const sweep_spec *spec, const char *path, const char *name);

// One way to choose mappings: `default`, `searched`, {tune: N} or {search: N}. Numbers as in sweep_spec.
typedef struct sweep_mapping {
  unsigned tune, searched;
} sweep_mapping;
bool sweep_mapping_read(const hw_yaml_node *node, sweep_mapping *mapping, wf_diag *diag);

// How mappings are chosen, as the store says it: "default", "tune 8", "search 8 edp".
typedef struct sweep_policy_text {
  char text[32];
} sweep_policy_text;
sweep_policy_text sweep_policy(const sweep_spec *spec);

// What stands for a program in the store: two that are alike are not the same one.
uint64_t sweep_program_hash(const sweep_spec *spec, const layers_program *program);

// How many points, and the array of one of them. The array may be one that cannot be built (hw_array_check).
size_t sweep_point_count(const sweep_spec *spec);
hw_array sweep_point(const sweep_spec *spec, size_t index);

#endif
