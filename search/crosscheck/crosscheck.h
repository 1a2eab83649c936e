// SPDX-License-Identifier: Apache-2.0
// A layer on engine `cycle` beside a closed form, and the difference as named causes that add up to it.
#ifndef SEARCH_CROSSCHECK_CROSSCHECK_H
#define SEARCH_CROSSCHECK_CROSSCHECK_H

#include "runner/measure.h"
#include "search/crosscheck/forms.h"

// X(NAME, name, what)
#define CROSSCHECK_CAUSES(X)                                                                                    \
  X(FILLS, "fills", "the form fills and empties the array for each fold; here that overlaps with the next one") \
  X(ROWS, "rows", "rows that the mesh takes more or less: padding, taps packed together, tiles below the side") \
  X(GAPS, "gaps", "a product is under way and the mesh takes no row: its operands, and the way of its results") \
  X(LOADS, "loads", "the next product waits for a load")                                                        \
  X(STORES, "stores", "the next product waits for a store")                                                     \
  X(COMMANDS, "commands", "the next product has not come to the station")                                       \
  X(END, "end", "the last product is done, and stores are not")

typedef enum {
#define X(NAME, name, what) CROSSCHECK_##NAME,
  CROSSCHECK_CAUSES(X)
#undef X
      CROSSCHECK_CAUSE_COUNT
} crosscheck_cause;
extern const char *const crosscheck_cause_names[CROSSCHECK_CAUSE_COUNT];
extern const char *const crosscheck_cause_texts[CROSSCHECK_CAUSE_COUNT];

// `cycles` = `said.cycles` + the sum of `by`, always.
typedef struct crosscheck_result {
  run_measure_status status;
  int64_t cycles;       // of engine `cycle`, with cold caches
  int64_t mesh_cycles;  // of these: the mesh takes a row
  int64_t ideal;        // multiplications / (rows x columns), rounded up
  crosscheck_said said;
  int64_t by[CROSSCHECK_CAUSE_COUNT];
} crosscheck_result;

// Status other than RUN_MEASURE_GOOD: the reasons were reported.
crosscheck_result crosscheck_layer(const layers_layer *layer, const hw_array *array, crosscheck_form form,
                                   wf_diag *diag);

// The layers as a topology that SCALE-Sim reads, and layers_load reads back: convolutions as they are, products as
// 1 x 1 windows over a column of rows. It has no counts and no groups: each layer stands there once, with one of its
// groups. Layers that it cannot say (two strides, a dilation, several images) are left out: they were reported, and the
// result is false.
bool crosscheck_write_topology(const layers_network *network, FILE *out, wf_diag *diag);

// The layer as a problem that Timeloop's front end reads, and layers_load reads back: with all of a convolution's
// dimensions, strides and dilations. Of groups it has one; a comment says how many there are, and how often it occurs.
void crosscheck_write_problem(const layers_layer *layer, FILE *out);
// The same in other sizes, by block_dim_id: those of whole blocks (nest.h).
void crosscheck_write_padded(const layers_layer *layer, const int64_t *size, FILE *out);
// What the problems call the dimensions.
extern const char *const crosscheck_dims[BLOCK_DIMS];

#endif
