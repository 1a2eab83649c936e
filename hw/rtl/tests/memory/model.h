// SPDX-License-Identifier: Apache-2.0
// What loads and stores mean: scratchpad, accumulator and main memory as plain arrays, one command at a time.
// The array's numbers come as macros from the build (T_DIM, T_SP_BANKS, ...), the same as the module's parameters.
#ifndef HW_RTL_TESTS_MEMORY_MODEL_H
#define HW_RTL_TESTS_MEMORY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#ifndef T_DIM
#define T_DIM 16
#endif
#ifndef T_SP_BANKS
#define T_SP_BANKS 4
#endif
#ifndef T_SP_BANK_ROWS
#define T_SP_BANK_ROWS 4096
#endif
#ifndef T_ACC_BANKS
#define T_ACC_BANKS 2
#endif
#ifndef T_ACC_BANK_ROWS
#define T_ACC_BANK_ROWS 512
#endif
#ifndef T_MAX_BURST_BYTES
#define T_MAX_BURST_BYTES 64
#endif
#ifndef T_FULL_READS
#define T_FULL_READS 1
#endif
#ifndef T_NARROW_READS
#define T_NARROW_READS 1
#endif
#ifndef T_NORMALISER
#define T_NORMALISER 0
#endif
#ifndef T_FACTOR_THEN_SCALE
#define T_FACTOR_THEN_SCALE 1
#endif
#ifndef T_GATE
#define T_GATE 0
#endif
#ifndef T_SP_STORES
#define T_SP_STORES 0
#endif
#ifndef T_PIXEL_REPEAT
#define T_PIXEL_REPEAT 1
#endif
#ifndef T_PACKED_INT4
#define T_PACKED_INT4 0
#endif
#ifndef T_LOAD_SCALE_UNITS
#define T_LOAD_SCALE_UNITS 4
#endif
#ifndef T_ACC_SUB_BANKS
#define T_ACC_SUB_BANKS 1
#endif
#ifndef T_NORM_STATS
#define T_NORM_STATS 4
#endif

enum {
  DIM = T_DIM,
  SP_ROWS = T_SP_BANKS * T_SP_BANK_ROWS,
  ACC_ROWS = T_ACC_BANKS * T_ACC_BANK_ROWS,
  MAX_BLOCKS = T_MAX_BURST_BYTES / DIM > 1 ? T_MAX_BURST_BYTES / DIM : 1,
  MAX_BLOCKS_ACC = T_MAX_BURST_BYTES / (4 * DIM) > 1 ? T_MAX_BURST_BYTES / (4 * DIM) : 1,
  LOAD_STATES = 3,
};
#define SCALE_ONE UINT32_C(0x3f800000)
#define GARBAGE UINT32_C(0xffffffff)

typedef struct model_load_state {
  uint64_t stride;
  uint32_t scale, block_stride, pixel_repeats;
  bool shrink, packed;
} model_load_state;

typedef struct model_store_state {
  uint32_t stride, scale, act;
  uint32_t pool_stride, pool_size, upad, lpad, out_dim, porows, pocols, orows, ocols;
  uint32_t stats_id;
  int32_t qb, qc, qln2, qln2_inverse;
  bool gate;
  int32_t gate_offset;  // scratchpad row less accumulator row
  uint32_t gate_scale;
} model_store_state;

typedef struct model_stats {
  int32_t sum, running_max, max, mean;
  uint16_t count;
  float inv_stddev, inv_sum_exp;
} model_stats;

typedef struct model {
  int8_t sp[SP_ROWS][DIM];
  int32_t acc[ACC_ROWS][DIM];
  uint8_t *memory;  // borrowed; at model_base
  uint64_t base;
  model_load_state load[LOAD_STATES];
  model_store_state store;
  model_stats stats[T_NORM_STATS];
} model;

void model_reset(model *m, uint8_t *memory, uint64_t base);
void model_mvin(model *m, unsigned state, uint64_t dram, uint32_t local, unsigned cols, unsigned rows);
void model_mvout(model *m, uint64_t dram, uint32_t local, unsigned cols, unsigned rows);
// Where a mvout_spad puts rows of column blocks.
typedef struct model_spad_place {
  uint32_t row, stride, block_stride;
} model_spad_place;

void model_mvout_spad(model *m, const model_spad_place *to, uint32_t local, unsigned cols, unsigned rows);
int8_t model_scale(int32_t value, uint32_t scale);

#endif
