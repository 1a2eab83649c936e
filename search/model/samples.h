// SPDX-License-Identifier: Apache-2.0
// Samples that the model of the machine is fitted to and judged by: layers, arrays and mappings at random. Drawn for
// fitting or for judging; the two never share a layer or an array.
#ifndef SEARCH_MODEL_SAMPLES_H
#define SEARCH_MODEL_SAMPLES_H

#include "compiler/mapping/mapping.h"
#include "hw/array.h"
#include "search/layers/layers.h"

typedef enum {
  SAMPLES_FIT,    // layers at random
  SAMPLES_JUDGE,  // layers of the shipped tables
} samples_set;

typedef struct samples_sample {
  hw_array array;
  map_layer layer;
  map_mapping mapping;
  bool by_default;  // the heuristic mapper's
} samples_sample;

// The tables that judging draws from; released with samples_close.
typedef struct samples_source {
  samples_set set;
  uint64_t seed;
  layers_network networks[4];
  size_t count;
} samples_source;

// Ideal cycles of a sample's layer lie between SAMPLES_SHORTEST and SAMPLES_LONGEST: long enough to have a middle,
// short enough to be simulated.
enum { SAMPLES_SHORTEST = 500, SAMPLES_LONGEST = 100000 };

bool samples_open(samples_source *source, samples_set set, uint64_t seed, wf_diag *diag);
void samples_close(samples_source *source);
// Mappings of one layer, sometimes with a residual, on the default array: the mapper's, two others of its best, a
// random one.
enum { SAMPLES_GROUP = 4 };
void samples_draw_group(samples_source *source, samples_sample group[SAMPLES_GROUP]);
// The next sample; every fourth has the heuristic mapper's mapping.
void samples_draw(samples_source *source, samples_sample *sample);

// Mappings of one layer on one array, both at random: the mapper's best, as many as there are up to three quarters, and
// random ones. Returns how many there are, at least 2.
size_t samples_draw_family(samples_source *source, samples_sample *family, size_t count);

#endif
