// SPDX-License-Identifier: Apache-2.0
// See commands.h.
#include "sim/tests/oracle/commands.h"

#include "base/alloc.h"

void put(command_list *list, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
    list->items = wf_realloc(list->items, list->capacity, sizeof(command));
  }
  list->items[list->count++] = (command){rs1, rs2, funct};
}

static uint64_t at(uint64_t value, unsigned shift) { return value << shift; }

static uint64_t operand_bits(operand o) {
  return at((uint64_t)o.rows, 48) | at((uint64_t)o.cols, 32) | (uint64_t)o.local;
}

void put_config_ex(command_list *list, config_ex c) {
  uint64_t rs1 = at(c.ws, 2) | at(c.activation, 3) | at(c.strides_only, 7) | at(c.a_transpose, 8) |
                 at(c.b_transpose, 9) | at(c.a_stride, 16) | at(c.scale, 32);
  put(list, F_CONFIG, rs1, at(c.c_stride, 48) | c.shift);
}

void put_config_ld(command_list *list, config_ld c) {
  uint64_t rs1 = 1 | at(c.shrink, 2) | at(c.state, 3) | at(c.packed, 5) | at(c.repeats, 8) | at(c.block_stride, 16) |
                 at(c.scale, 32);
  put(list, F_CONFIG, rs1, c.stride);
}

void put_config_st(command_list *list, config_st c) {
  uint64_t rs1 = 2 | at(c.activation, 2) | at(c.pool_stride, 4) | at(c.pool_size, 6) | at(c.upad, 8) | at(c.lpad, 10) |
                 at(c.out_dim, 24) | at(c.porows, 32) | at(c.pocols, 40) | at(c.orows, 48) | at(c.ocols, 56);
  put(list, F_CONFIG, rs1, at(c.scale, 32) | c.stride);
}

void put_config_gate(command_list *list, config_gate c) {
  put(list, F_CONFIG_GATE, at(c.on, 32) | (uint32_t)c.offset, c.scale);
}

void put_mvin(command_list *list, uint32_t state, uint64_t dram, operand to) {
  static const uint8_t functs[] = {F_MVIN, F_MVIN2, F_MVIN3};
  put(list, functs[state], dram, operand_bits(to));
}

void put_mvout(command_list *list, uint64_t dram, operand from) { put(list, F_MVOUT, dram, operand_bits(from)); }

void put_preload(command_list *list, operand stationary, operand c) {
  put(list, F_PRELOAD, operand_bits(stationary), operand_bits(c));
}

void put_compute(command_list *list, bool preloaded, operand a, operand bd) {
  put(list, preloaded ? F_COMPUTE_PRELOADED : F_COMPUTE_ACCUMULATED, operand_bits(a), operand_bits(bd));
}

void put_fence(command_list *list) { put(list, F_FENCE, 0, 0); }

void command_list_clear(command_list *list) { list->count = 0; }

void command_list_free(command_list *list) {
  wf_free(list->items);
  *list = (command_list){0};
}
