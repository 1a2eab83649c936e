// SPDX-License-Identifier: Apache-2.0
// The sweeps of a study.
#ifndef SEARCH_STUDY_PARTS_H
#define SEARCH_STUDY_PARTS_H

#include "search/study/study.h"

// The points of one side under one way to choose mappings.
typedef struct study_part {
  size_t mapping;
  unsigned side;
  size_t *points;    // of spec->base: point i of the sweep is points[i]
  sweep_spec spec;   // its networks are those of study_part_network
  const char *file;  // the name of its store
} study_part;

typedef struct study_parts {
  wf_arena *arena;
  study_part *part;
  size_t count;
} study_parts;

study_parts study_parts_of(const study_spec *spec);
void study_parts_release(study_parts *parts);

// Where a network, compressed and lowered, stands in the part's networks: pruned weights leave all layers as they are,
// so they share those of compression 0.
size_t study_part_network(const study_spec *spec, size_t network, size_t compression, size_t lowering);

#endif
