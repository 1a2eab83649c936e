// SPDX-License-Identifier: Apache-2.0
// The walk over stages: three clocks, of the load unit, the mesh and the store unit (machine.h). How long each takes
// are terms; how many stages there are, what they touch and which slots they have is the mapping's.
#ifndef SEARCH_MODEL_MACHINE_WALK_H
#define SEARCH_MODEL_MACHINE_WALK_H

#include "search/model/machine_work.h"
#include "search/tape/trace.h"

// X(NAME): of weights and of inputs.
#define MACHINE_STREAM_TERMS(X) X(UNIT) X(DATA) X(LATENCY) X(FIRST) X(REST) X(FREE_AFTER)
// Of all stages. FRONT: of the first command.
#define MACHINE_TERMS(X) X(MESH) X(BIAS) X(STORE) X(LOAD_LATENCY) X(DRAIN) X(ENTRIES) X(DIM) X(FRONT)
enum {
#define X(NAME) MACHINE_STREAM_##NAME,
  MACHINE_STREAM_TERMS(X)
#undef X
      MACHINE_STREAM_TERM_COUNT
};
enum {
#define X(NAME) MACHINE_TERM_##NAME,
  MACHINE_TERMS(X)
#undef X
      MACHINE_TERM_COUNT
};

// How maxima are rounded off: those of clocks by so many cycles, others by a share of their operands.
typedef struct machine_smooth {
  tape_trace *trace;
  double cycles, share;
} machine_smooth;

typedef struct machine_plain_terms {
  double stream[MAP_RESULTS][MACHINE_STREAM_TERM_COUNT], of[MACHINE_TERM_COUNT];
} machine_plain_terms;

typedef struct machine_traced_terms {
  tape_number stream[MAP_RESULTS][MACHINE_STREAM_TERM_COUNT], of[MACHINE_TERM_COUNT];
} machine_traced_terms;

// Of a trimmed mapping, with the loads ahead of their products or just in front of them: cycles. Of the work what has
// no term counts: portions, commands, spread, and how many stages the station holds.
double machine_walk_plain(const map_layer *layer, const map_mapping *mapping, const machine_work *work, bool late,
                          const machine_plain_terms *terms, const machine_smooth *smooth);
tape_number machine_walk_traced(const map_layer *layer, const map_mapping *mapping, const machine_work *work, bool late,
                                const machine_traced_terms *terms, const machine_smooth *smooth);

#endif
