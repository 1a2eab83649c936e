// SPDX-License-Identifier: Apache-2.0
// Kernels for QCurve: functions of one int8 on the mesh, as commands.
#ifndef COMPILER_NETWORK_CURVE_H
#define COMPILER_NETWORK_CURVE_H

#include "compiler/graph/curve.h"
#include "compiler/network/unit.h"
#include "compiler/schedule/schedule.h"

// Of rows that lie one after the other in memory. A program of tensors NETWORK_UNIT_X and NETWORK_UNIT_Y and of buffers
// in both memories; where they lie the caller may say.
typedef struct network_curve {
  const graph_curve *curve;
  block_program *program;  // the caller destroys it
  int64_t elements_rows, elements_cols;
  hw_derived hw;
  uint32_t blocks, groups;  // of a batch: blocks, and rows of blocks that are loaded together
  uint32_t cols;            // of a group
} network_curve;

// What is read together lies in parts of the scratchpad of their own, best in banks of their own.
enum { NETWORK_CURVE_PARTS = 4 };

// The most blocks of which a batch may have, if it has so many rows of both memories; 0: it does not fit.
uint32_t network_curve_blocks(const graph_curve *curve, const hw_derived *hw, uint32_t sp_rows, uint32_t acc_rows);
// What of a curve says which commands there are: the same number, the same commands but for constants and how many of
// its products have a bias, which lies in a bank of its own.
uint64_t network_curve_shape(const graph_curve *curve);
// Whether the array can: its mesh writes to the scratchpad, and what a batch needs fits.
bool network_curve_fits(const graph_curve *curve, const hw_array *array);

// With batches of at most so many blocks, which fit.
network_curve network_curve_begin(const network_unit *unit, const hw_array *array, uint32_t blocks);
// Rows that each part takes.
void network_curve_rows(const network_curve *c, uint32_t rows[NETWORK_CURVE_PARTS]);
// Gives the buffers rows: where the parts begin, and the two slots of sums in the accumulator.
void network_curve_place(const network_curve *c, const uint32_t first[NETWORK_CURVE_PARTS], const uint32_t sums[2]);
// The same for a curve that has all rows of both memories.
void network_curve_place_alone(const network_curve *c, const hw_derived *hw);
// Its commands; the curve must live as long.
sched_source network_curve_source(const network_curve *c);

// All of it for an array; NULL after the reason was reported.
command_program *network_curve_program(const network_unit *unit, const hw_array *array, wf_diag *diag);

#endif
