// SPDX-License-Identifier: Apache-2.0
// The configuration registers: see config.h.
#include "arch/config.h"

void arch_config_reset(arch_config *config, const hw_array *array) {
  *config = (arch_config){.execute.weight_stationary = array->mesh.dataflow == HW_DATAFLOW_WS};
}

static void apply_execute(arch_execute_config *to, uint64_t rs1, uint64_t rs2) {
  to->a_stride_rows = (uint32_t)isa_get_config_ex_a_stride(rs1, rs2);
  to->c_stride_rows = (uint32_t)isa_get_config_ex_c_stride(rs1, rs2);
  if (isa_get_config_ex_strides_only(rs1, rs2)) return;
  to->weight_stationary = isa_get_config_ex_dataflow(rs1, rs2) == ISA_CONFIG_EX_DATAFLOW_WS;
  to->activation = (uint32_t)isa_get_config_ex_activation(rs1, rs2);
  to->a_transpose = isa_get_config_ex_a_transpose(rs1, rs2);
  to->b_transpose = isa_get_config_ex_b_transpose(rs1, rs2);
  to->acc_scale = (uint32_t)isa_get_config_ex_acc_scale(rs1, rs2);
  to->in_shift = (uint32_t)isa_get_config_ex_in_shift(rs1, rs2);
}

static void apply_load(arch_load_config *to, uint64_t rs1, uint64_t rs2) {
  to->stride_bytes = isa_get_config_ld_stride(rs1, rs2);
  to->scale = (uint32_t)isa_get_config_ld_scale(rs1, rs2);
  to->block_stride_rows = (uint32_t)isa_get_config_ld_block_stride(rs1, rs2);
  to->pixel_repeats = (uint32_t)isa_get_config_ld_pixel_repeats(rs1, rs2);
  to->shrink = isa_get_config_ld_shrink(rs1, rs2);
  to->packed = isa_get_config_ld_packed(rs1, rs2);
}

static void apply_image(arch_store_config *to, uint64_t rs1, uint64_t rs2) {
  to->pool_out_dim = (uint32_t)isa_get_config_st_pool_out_dim(rs1, rs2);
  to->orows = (uint32_t)isa_get_config_st_orows(rs1, rs2);
  to->ocols = (uint32_t)isa_get_config_st_ocols(rs1, rs2);
}

static void apply_pool(arch_store_config *to, uint64_t rs1, uint64_t rs2) {
  to->pool_orows = (uint32_t)isa_get_config_st_pool_orows(rs1, rs2);
  to->pool_ocols = (uint32_t)isa_get_config_st_pool_ocols(rs1, rs2);
  to->pool_upad = (uint32_t)isa_get_config_st_pool_upad(rs1, rs2);
  to->pool_lpad = (uint32_t)isa_get_config_st_pool_lpad(rs1, rs2);
}

// The geometry registers keep their values unless the new mode uses them.
static void apply_store(arch_store_config *to, uint64_t rs1, uint64_t rs2) {
  to->stride_bytes = isa_get_config_st_stride(rs1, rs2);
  to->activation = (uint32_t)isa_get_config_st_activation(rs1, rs2);
  to->pool_stride = (uint32_t)isa_get_config_st_pool_stride(rs1, rs2);
  to->pool_size = (uint32_t)isa_get_config_st_pool_size(rs1, rs2);
  uint32_t scale = (uint32_t)isa_get_config_st_acc_scale(rs1, rs2);
  if (scale != ARCH_SCALE_KEEP) to->scale = scale;
  if (arch_config_store_mode(to) != ARCH_STORE_ROWS) apply_image(to, rs1, rs2);
  if (arch_config_store_mode(to) == ARCH_STORE_POOL) apply_pool(to, rs1, rs2);
}

static void apply_norm(arch_store_config *to, uint64_t rs1, uint64_t rs2) {
  to->stats_id = (uint32_t)isa_get_config_norm_stats_id(rs1, rs2);
  if (isa_get_config_norm_stats_id_only(rs1, rs2)) return;
  to->activation = (to->activation & 3) | (uint32_t)isa_get_config_norm_activation_msb(rs1, rs2) << 2;
  int32_t ln2 = (int32_t)isa_get_config_norm_ln2(rs1, rs2);
  if (isa_get_config_norm_qln2_inverse(rs1, rs2))
    to->qln2_inverse = ln2;
  else
    to->qln2 = ln2;
  to->qb = (int32_t)isa_get_config_norm_qb(rs1, rs2);
  to->qc = (int32_t)isa_get_config_norm_qc(rs1, rs2);
}

static void apply_gate(arch_store_config *to, uint64_t rs1, uint64_t rs2) {
  to->gate = isa_get_config_gate_on(rs1, rs2);
  to->gate_offset = (int32_t)(uint32_t)isa_get_config_gate_offset(rs1, rs2);
  to->gate_scale = (uint32_t)isa_get_config_gate_scale(rs1, rs2);
}

bool arch_config_apply(arch_config *config, isa_id id, uint64_t rs1, uint64_t rs2) {
  switch (id) {
    case ISA_CONFIG_EX:
      apply_execute(&config->execute, rs1, rs2);
      return true;
    case ISA_CONFIG_LD:
      apply_load(&config->load[isa_get_config_ld_state(rs1, rs2)], rs1, rs2);
      return true;
    case ISA_CONFIG_ST:
      apply_store(&config->store, rs1, rs2);
      return true;
    case ISA_CONFIG_NORM:
      apply_norm(&config->store, rs1, rs2);
      return true;
    case ISA_CONFIG_GATE:
      apply_gate(&config->store, rs1, rs2);
      return true;
    default:
      return false;
  }
}
