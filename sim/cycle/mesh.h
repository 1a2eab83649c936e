// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the mesh, at the level of requests (mesh.c), and its kernels (mesh_kernels.c).
//
// A request feeds `total` rows of A, B and D. Every element holds two stationary values, the matrices `shift` and
// `active`, one element of the mesh's row r and column c each:
//   at the first row, if the request swaps   shift and active change places
//   weight-stationary row                    result row = B row + A row * active
//   output-stationary row                    active += (A row)^T * B row; result row = the row that leaves shift
//   each row                                 D enters shift at row 0 and pushes the rest down by one
// Operands that pass the transposer come out, as columns, during the next request that uses it.
#ifndef SIM_CYCLE_MESH_H
#define SIM_CYCLE_MESH_H

#include <stdbool.h>
#include <stdint.h>

enum { CYCLE_MESH_A, CYCLE_MESH_B, CYCLE_MESH_D, CYCLE_MESH_NO_RESULT = 255 };

typedef struct cycle_mesh_data cycle_mesh_data;

// One request. Tiles are in the order of the matrix (D too, although its last row enters first); rows from `rows` on
// are zeros. `tile` is NULL for a request that feeds zeros; the mesh may exchange its pointers for others.
typedef struct cycle_mesh_feed {
  bool os, swap;
  uint8_t shift;  // of output-stationary sums
  uint8_t via;    // operand that passes the transposer, a bit
  uint8_t total;
  uint8_t wanted;   // result rows that have a destination
  uint8_t rows[3];  // of the tiles
  int8_t **tile;
} cycle_mesh_feed;

// Room for `tiles` operand tiles, which belong to the caller in turn, and `results` results at a time.
cycle_mesh_data *cycle_mesh_data_create(uint32_t dim, uint32_t output_bits, uint32_t tiles, uint32_t results);
void cycle_mesh_data_destroy(cycle_mesh_data *d);
int8_t *cycle_mesh_data_tile(cycle_mesh_data *d, uint32_t number);

// The first row of a request enters; returns where its results will be, CYCLE_MESH_NO_RESULT if none are wanted.
uint8_t cycle_mesh_data_begin(cycle_mesh_data *d, const cycle_mesh_feed *feed);
// Results of the first `rows` rows, all of which have entered, of the request that is entering.
void cycle_mesh_data_results(cycle_mesh_data *d, uint32_t rows);
// Its last row has entered.
void cycle_mesh_data_end(cycle_mesh_data *d);
// Row of C (not in the order in which rows leave).
const int32_t *cycle_mesh_data_row(const cycle_mesh_data *d, uint8_t result, uint32_t row);
void cycle_mesh_data_release(cycle_mesh_data *d, uint8_t result);

// ---- kernels

// out[i][j] = the low `bits` bits of start[i][j] + sum over k of a[i][k] * b[k][j], first <= i < past, k < b's rows.
// `start` is out itself (accumulate), or row i of the bias while i < bias_rows, or zero. All are dim wide.
typedef struct cycle_mesh_product {
  uint32_t dim, bits, first, past, bias_rows;
  bool accumulate;
  const int8_t *a, *bias;
  int32_t *out;
} cycle_mesh_product;

// A kernel keeps b in a form of its own, 64-byte aligned: at most two bytes for each element of whole groups of four
// rows, and a row of int32.
typedef struct cycle_mesh_kernel {
  const char *name;
  uint32_t least_dim;  // smallest dim it can do
  bool (*runs_here)(void);
  void (*pack)(uint32_t dim, uint32_t rows, const int8_t *b, void *packed);
  void (*multiply)(const cycle_mesh_product *p, uint32_t rows, const void *packed);
} cycle_mesh_kernel;

// All kernels, the best first; the last is plain C and can do everything. NULL past the end.
const cycle_mesh_kernel *cycle_mesh_kernel_at(unsigned index);
// The best one for this machine.
const cycle_mesh_kernel *cycle_mesh_kernel_choose(uint32_t dim);

#endif
