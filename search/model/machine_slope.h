// SPDX-License-Identifier: Apache-2.0
// The model of the machine with its gradient: machine_predict over a trace (search/tape/trace.h), and what its cycles
// do when a parameter of the array changes and the mapping stays.
//
// The array is the place at which everything whole is counted: runs of rows, requests, blocks. Counts that follow a
// parameter are carried on from there: blocks of DIM as tiles over DIM, at least one; requests of the bus as the bytes
// that they move, at least a beat each; banks and capacity of the scratchpad by what twice as much would do. At the
// array itself all is as machine_predict says.
#ifndef SEARCH_MODEL_MACHINE_SLOPE_H
#define SEARCH_MODEL_MACHINE_SLOPE_H

#include "search/model/machine.h"
#include "search/tape/trace.h"

typedef enum {
#define AXIS(NAME, ...) MACHINE_AXIS_##NAME,
#include "search/model/machine_axes.def"
#undef AXIS
  MACHINE_AXES
} machine_axis;
extern const char *const machine_axis_parameters[MACHINE_AXES];  // "dma.bus_bits"

// The value that an array has.
double machine_axis_value(const hw_array *array, machine_axis axis);
// Whether the parameter means something there: latencies of a fixed memory, clocks of a DRAM, parts of an L2.
bool machine_axis_counts(const hw_array *array, machine_axis axis);

typedef struct machine_slope_request {
  const map_layer *layer;
  const map_mapping *mapping;
  const hw_array *array;
  const cost_constants *constants;
  const double *values;  // of the axes; NULL: the array's
  // How far maxima are rounded off, as a share of their operands, and of a stage's products where clocks wait for each
  // other; 0: not at all.
  double share;
} machine_slope_request;

typedef struct machine_slope {
  double cycles;
  double by[MACHINE_AXES];  // cycles for one more of the parameter
} machine_slope;

// The trace is cleared.
machine_slope machine_slope_of(const machine_slope_request *request, tape_trace *trace);

#endif
