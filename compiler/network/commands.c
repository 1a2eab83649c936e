// SPDX-License-Identifier: Apache-2.0
// See commands.h.
#include "compiler/network/commands.h"

#include <string.h>

#include "isa/isa_fields.h"

command_insn network_command(unsigned funct) {
  return (command_insn){.funct = (uint8_t)funct, .tensor_rs1 = COMMAND_NO_TENSOR, .tensor_rs2 = COMMAND_NO_TENSOR};
}

uint64_t network_command_operand(uint32_t local, uint32_t cols, uint32_t rows) {
  return local | (uint64_t)cols << 32 | (uint64_t)rows << 48;
}

command_insn network_command_move(unsigned funct, int tensor, int64_t offset, uint64_t local) {
  command_insn i = network_command(funct);
  i.tensor_rs1 = (int16_t)tensor;
  i.rs1 = (uint64_t)offset;
  i.rs2 = local;
  return i;
}

uint32_t network_command_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

command_insn network_command_load_state(unsigned state, uint32_t block_stride, int64_t stride) {
  command_insn i = network_command(ISA_FUNCT_CONFIG_LD);
  isa_init_config_ld(&i.rs1, &i.rs2);
  isa_set_config_ld_state(&i.rs1, &i.rs2, state);
  isa_set_config_ld_pixel_repeats(&i.rs1, &i.rs2, 1);
  isa_set_config_ld_block_stride(&i.rs1, &i.rs2, block_stride);
  isa_set_config_ld_scale(&i.rs1, &i.rs2, network_command_bits(1.0F));
  isa_set_config_ld_stride(&i.rs1, &i.rs2, (uint64_t)stride);
  return i;
}

command_insn network_command_execute(unsigned activation) {
  command_insn i = network_command(ISA_FUNCT_CONFIG_EX);
  isa_init_config_ex(&i.rs1, &i.rs2);
  isa_set_config_ex_dataflow(&i.rs1, &i.rs2, ISA_CONFIG_EX_DATAFLOW_WS);
  isa_set_config_ex_activation(&i.rs1, &i.rs2, activation);
  isa_set_config_ex_a_stride(&i.rs1, &i.rs2, 1);
  isa_set_config_ex_acc_scale(&i.rs1, &i.rs2, network_command_bits(1.0F));
  isa_set_config_ex_c_stride(&i.rs1, &i.rs2, 1);
  return i;
}

void network_command_multiply(command_program *out, const network_command_product *p) {
  const bool held = (uint32_t)p->weights == ISA_LOCAL_GARBAGE;
  command_insn preload = network_command(ISA_FUNCT_PRELOAD),
               compute = network_command(held ? ISA_FUNCT_COMPUTE_ACCUMULATED : ISA_FUNCT_COMPUTE_PRELOADED);
  preload.rs1 = p->weights;
  preload.rs2 = p->c;
  compute.rs1 = p->a;
  compute.rs2 = p->added;
  command_add(out, &preload);
  command_add(out, &compute);
}
