// The configuration registers that config_ex, config_ld, config_st and config_norm write, and their update rules.
// Every engine and the checker use this one copy of the rules. Registers are zero at reset.
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"
#include "isa/isa_fields.h"

enum { SIM_LOAD_STATES = 3 };
#define SIM_SCALE_ONE UINT32_C(0x3f800000)
#define SIM_SCALE_KEEP UINT32_C(0xffffffff)

typedef enum {
  SIM_ACTIVATION_NONE,
  SIM_ACTIVATION_RELU,
  SIM_ACTIVATION_LAYERNORM,
  SIM_ACTIVATION_IGELU,
  SIM_ACTIVATION_SOFTMAX,
} sim_activation;

typedef struct sim_load_config {
  uint64_t stride_bytes;  // 0: one row is fetched and repeated
  uint32_t scale;         // binary32
  uint32_t block_stride_rows;
  uint32_t pixel_repeats;  // as written; 0 means 1
  bool shrink;
} sim_load_config;

typedef enum { SIM_STORE_ROWS, SIM_STORE_POOL, SIM_STORE_IMAGE } sim_store_mode;

typedef struct sim_store_config {
  uint64_t stride_bytes;
  uint32_t scale;
  uint32_t activation;  // 3 bits; the top one is written by config_norm alone
  uint32_t pool_stride, pool_size;
  uint32_t pool_upad, pool_lpad, pool_out_dim, pool_orows, pool_ocols, orows, ocols;
  uint32_t stats_id;
  int32_t qb, qc, qln2, qln2_inverse;
} sim_store_config;

typedef struct sim_execute_config {
  bool weight_stationary;
  bool a_transpose, b_transpose;
  uint32_t activation;
  uint32_t in_shift;
  uint32_t acc_scale;
  uint32_t a_stride_rows, c_stride_rows;
} sim_execute_config;

typedef struct sim_config {
  sim_load_config load[SIM_LOAD_STATES];
  sim_store_config store;
  sim_execute_config execute;
} sim_config;

void sim_config_reset(sim_config *config, const hw_array *array);
// True if the instruction writes configuration registers (which it then did).
bool sim_config_apply(sim_config *config, isa_id id, uint64_t rs1, uint64_t rs2);

// What a mvout does: pooling when the pool stride is set; else with a pool size the 1-D mvout of a whole image.
static inline sim_store_mode sim_config_store_mode(const sim_store_config *store) {
  if (store->pool_stride != 0) return SIM_STORE_POOL;
  return store->pool_size != 0 ? SIM_STORE_IMAGE : SIM_STORE_ROWS;
}

#endif
