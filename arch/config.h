// SPDX-License-Identifier: Apache-2.0
// The configuration registers that config_ex, config_ld, config_st, config_norm and config_gate write, and their update
// rules. Every engine and the checker use this one copy of the rules. Registers are zero at reset.
#ifndef ARCH_CONFIG_H
#define ARCH_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"
#include "isa/isa_fields.h"

enum { ARCH_LOAD_STATES = 3 };
#define ARCH_SCALE_ONE UINT32_C(0x3f800000)
#define ARCH_SCALE_KEEP UINT32_C(0xffffffff)

typedef enum {
  ARCH_ACTIVATION_NONE,
  ARCH_ACTIVATION_RELU,
  ARCH_ACTIVATION_LAYERNORM,
  ARCH_ACTIVATION_IGELU,
  ARCH_ACTIVATION_SOFTMAX,
} arch_activation;

typedef struct arch_load_config {
  uint64_t stride_bytes;  // 0: one row is fetched and repeated
  uint32_t scale;         // binary32
  uint32_t block_stride_rows;
  uint32_t pixel_repeats;  // as written; 0 means 1
  bool shrink;
  bool packed;  // int4 in memory, two a byte
} arch_load_config;

// Element n of a packed row: in the low half of its byte if n is even, two's complement.
static inline int8_t arch_packed_element(const uint8_t *row, uint32_t n) {
  return (int8_t)((((unsigned)row[n / 2] >> (n % 2 * 4) & 15U) ^ 8U) - 8U);
}

typedef enum { ARCH_STORE_ROWS, ARCH_STORE_POOL, ARCH_STORE_IMAGE } arch_store_mode;

typedef struct arch_store_config {
  uint64_t stride_bytes;
  uint32_t scale;
  uint32_t activation;  // 3 bits; the top one is written by config_norm alone
  uint32_t pool_stride, pool_size;
  uint32_t pool_upad, pool_lpad, pool_out_dim, pool_orows, pool_ocols, orows, ocols;
  uint32_t stats_id;
  int32_t qb, qc, qln2, qln2_inverse;
  bool gate;
  int32_t gate_offset;  // scratchpad row less accumulator row
  uint32_t gate_scale;
} arch_store_config;

typedef struct arch_execute_config {
  bool weight_stationary;
  bool a_transpose, b_transpose;
  uint32_t activation;
  uint32_t in_shift;
  uint32_t acc_scale;
  uint32_t a_stride_rows, c_stride_rows;
} arch_execute_config;

typedef struct arch_config {
  arch_load_config load[ARCH_LOAD_STATES];
  arch_store_config store;
  arch_execute_config execute;
} arch_config;

void arch_config_reset(arch_config *config, const hw_array *array);
// True if the instruction writes configuration registers (which it then did).
bool arch_config_apply(arch_config *config, isa_id id, uint64_t rs1, uint64_t rs2);

// What a mvout does: pooling when the pool stride is set; else with a pool size the 1-D mvout of a whole image.
static inline arch_store_mode arch_config_store_mode(const arch_store_config *store) {
  if (store->pool_stride != 0) return ARCH_STORE_POOL;
  return store->pool_size != 0 ? ARCH_STORE_IMAGE : ARCH_STORE_ROWS;
}

#endif
