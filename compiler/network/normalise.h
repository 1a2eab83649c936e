// SPDX-License-Identifier: Apache-2.0
// Kernels for the normaliser of the store unit: softmax, layer norm and GELU over rows of int8, as commands.
//
// Groups of rows are loaded into the scratchpad, multiplied by diagonal weights into the accumulator (one copy per
// gain), and stored row by row behind their statistics. While one group is stored, the next one is multiplied and the
// one behind it loaded; where the accumulator holds only one group, they take turns.
#ifndef COMPILER_NETWORK_NORMALISE_H
#define COMPILER_NETWORK_NORMALISE_H

#include "compiler/network/unit.h"
#include "compiler/schedule/schedule.h"

// A program of tensors NETWORK_UNIT_X and NETWORK_UNIT_Y and of buffers in both memories; where they lie the caller may
// say.
typedef struct network_normalise {
  const network_unit *unit;
  block_program *program;  // the caller destroys it
  hw_derived hw;
  block_norm norm;
  bool mixed;       // with other programs in one stream, which bring weights of theirs
  bool transposed;  // its weights are
  uint32_t copies;
  uint32_t rows, cols;        // of a group at most
  uint32_t blocks;            // of the columns of a group
  uint32_t slots, per_plane;  // groups in the accumulator; groups of `rows` rows side by side in its blocks
  uint32_t loaded;            // groups in the scratchpad
} network_normalise;

// Constants, and the rows that are loaded.
enum { NETWORK_NORMALISE_PARTS = 2 };

// Whether a kernel's unit is one of these.
bool network_is_normalised(const network_unit *unit);
// Whether rows have statistics, which the store unit keeps from command to command.
bool network_has_statistics(const network_unit *unit);

// With so many rows of both memories. False: they are too few; there is no program.
bool network_normalise_begin(const network_unit *unit, const hw_array *array, uint32_t sp_rows, uint32_t acc_rows,
                             bool mixed, network_normalise *n);
// Rows of the scratchpad that each part takes.
void network_normalise_rows(const network_normalise *n, uint32_t rows[NETWORK_NORMALISE_PARTS]);
// Where the parts begin. Buffers of the accumulator begin at its first row.
void network_normalise_place(const network_normalise *n, const uint32_t first[NETWORK_NORMALISE_PARTS]);
// The same for a kernel that has all rows of both memories.
void network_normalise_place_alone(const network_normalise *n);
// With weights transposed, like those of a program beside it: configuration in between would empty the mesh.
void network_normalise_transpose(network_normalise *n);
// Its commands; the kernel must live as long.
sched_source network_normalise_source(const network_normalise *n);

// All of it for an array that can do it; NULL after the reason was reported: main memory cannot hold the rows.
command_program *network_normalise_program(const network_unit *unit, const hw_array *array, wf_diag *diag);

#endif
