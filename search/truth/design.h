// What the plain model proposes, as an array that can be built and mappings that the compiler carries out.
#ifndef SEARCH_TRUTH_DESIGN_H
#define SEARCH_TRUTH_DESIGN_H

#include "search/descent/descent.h"
#include "search/truth/runs.h"

typedef struct design {
  hw_array array;
  // One for each layer: the proposed mapping, or one of the mapper's where the model of the machine prefers that or the
  // proposed one does not fit.
  map_mapping *mappings;
  bool *mapped;    // false: left to the mapper, by a kernel that takes no mapping
  size_t own;      // layers with the proposed mapping
  bool predicted;  // every layer, by the model of the machine
  paper_cost prediction;
} design;

// The plain model has no slots that take turns: of memories that just hold what is proposed and such twice the size the
// model of the machine chooses. `tried`: how many of the mapper's mappings compete; 0: none but where the proposed one
// does not fit. Without hardware the array is the base. False: no such array can be built.
bool design_create(const descent_goal *goal, const hw_array *base, const paper_hardware *hardware,
                   const paper_mapping *mappings, unsigned tried, design *d);
void design_release(design *d);

#endif
