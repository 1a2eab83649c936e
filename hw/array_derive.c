// SPDX-License-Identifier: Apache-2.0
// What follows from the parameters. Every formula that more than one part of the project needs stands here once.
//   dim              = mesh.rows * mesh.tile_rows
//   rows             = capacity / (dim * element bytes)
//   row_bits         = bits of the larger memory's last row number
//   max_block_len    = longest burst / row bytes, at least 1
//   mesh_latency     = mesh.rows * (tile_latency + 1) + (dim - 1) + 1 + output_delay
//                      (registers down the tiles, skew and deskew, input register, output registers)
//   max_matmuls      = ceil(mesh_latency / dim) + 2: a product enters every dim cycles and stays for mesh_latency, one
//   more
//                      is being preloaded and one waits to be tagged. The tag queue has one entry more.
//   commands tracked = requests in flight / dim + 1: one command fills dim requests, one more overlaps its end
// Precondition: every parameter is inside its range. The array need not satisfy hw_array_check.
#include <assert.h>

#include "hw/array.h"

enum { INT8_BYTES = 1, INT32_BYTES = 4, NORM_STATS_REVISION_1 = 4, NORM_STATS_REVISION_2 = 2 };

static uint32_t at_least_one(uint32_t value) { return value == 0 ? 1 : value; }

static uint32_t bits_for_rows(uint32_t rows) {
  uint32_t bits = 0;
  while ((UINT64_C(1) << bits) < rows) bits++;
  return bits;
}

static void derive_memories(const hw_array *array, hw_derived *d) {
  d->input_bytes = INT8_BYTES;
  d->acc_bytes = INT32_BYTES;
  d->sp_row_bytes = d->dim * d->input_bytes;
  d->acc_row_bytes = d->dim * d->acc_bytes;
  d->sp_rows = array->scratchpad.capacity_kib * 1024 / d->sp_row_bytes;
  d->acc_rows = array->accumulator.capacity_kib * 1024 / d->acc_row_bytes;
  d->sp_bank_rows = d->sp_rows / array->scratchpad.banks;
  d->acc_bank_rows = d->acc_rows / array->accumulator.banks;
  uint32_t larger = d->sp_rows > d->acc_rows ? d->sp_rows : d->acc_rows;
  d->row_bits = bits_for_rows(larger);
}

static void derive_blocks(const hw_array *array, hw_derived *d) {
  d->max_block_len = at_least_one(array->dma.max_burst_bytes / d->sp_row_bytes);
  d->max_block_len_acc = at_least_one(array->dma.max_burst_bytes / d->acc_row_bytes);
  d->max_cols = d->max_block_len * d->dim;
  d->max_cols_acc = d->max_block_len_acc * d->dim;
}

static void derive_mesh(const hw_array *array, hw_derived *d) {
  d->mesh_latency = array->mesh.rows * (array->mesh.tile_latency + 1) + (d->dim - 1) + 1 + array->mesh.output_delay;
  uint32_t occupied = (d->mesh_latency + d->dim - 1) / d->dim;
  d->max_matmuls = array->mesh.max_matmuls != 0 ? array->mesh.max_matmuls : occupied + 2;
}

hw_derived hw_derive(const hw_array *array) {
  hw_derived d = {.dim = array->mesh.rows * array->mesh.tile_rows};
  assert(d.dim != 0 && array->scratchpad.banks != 0 && array->accumulator.banks != 0);
  derive_memories(array, &d);
  derive_blocks(array, &d);
  derive_mesh(array, &d);
  d.load_commands_tracked = array->dma.reads_in_flight / d.dim + 1;
  d.store_commands_tracked = array->dma.writes_in_flight / d.dim + 1;
  d.norm_stats = array->isa.revision == 1 ? NORM_STATS_REVISION_1 : NORM_STATS_REVISION_2;
  return d;
}

uint32_t hw_safe_output_bits(const hw_array *array) {
  uint32_t bits = 16;
  for (uint32_t side = array->mesh.rows * array->mesh.tile_rows; side > 1; side /= 2) bits++;
  return bits;
}

void hw_array_widen_sums(hw_array *array) {
  const uint32_t bits = hw_safe_output_bits(array);
  if (array->types.output_bits < bits) array->types.output_bits = bits;
}
