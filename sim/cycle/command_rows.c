// SPDX-License-Identifier: Apache-2.0
// The local rows that a command touches (hw/rtl/weft_command_rows.sv).
//
// Range a is the destination of commands that have one, else the first operand; range b is the operand of a preload or
// a mvout_spad, the other factors of a gated store, else the second operand. Strides count as rows * stride, so a range
// may end up to a stride late; ranges that run over the row field end with it.
//   mvin          a: destination, with the rows that pixel repetition writes below it
//   mvout         a: source; pooled and image stores read orows * ocols rows; b: gated rows of the scratchpad
//   mvout_spad    a: destination, b: source
//   preload       a: C, b: operand (columns count too where it is read transposed)
//   compute       a: A (rows or, transposed, columns times the stride of A), b: D or B
#include "sim/cycle/command_rows.h"

#include "arch/config.h"
#include "arch/local.h"
#include "isa/isa_fields.h"

// Operand registers of commands on local memory: address, columns, rows.
static uint32_t local_of(uint64_t rs) { return (uint32_t)rs; }
static uint16_t cols_of(uint64_t rs) { return (uint16_t)(rs >> 32); }
static uint16_t rows_of(uint64_t rs) { return (uint16_t)(rs >> 48); }

static uint16_t larger(uint16_t x, uint16_t y) { return x > y ? x : y; }
static uint64_t step_of(uint16_t stride) { return stride == 0 ? 1 : stride; }

// Column blocks after the first.
static uint64_t further_blocks(const hw_derived *d, uint16_t cols) {
  return cols == 0 ? 0 : (cols - 1u) >> __builtin_ctz(d->dim);
}

static cycle_row_range range_of(const hw_derived *d, uint32_t local, uint64_t length) {
  uint32_t memory_rows = UINT32_C(1) << d->row_bits, numbered = 2 * memory_rows - 1;
  uint32_t garbage = ISA_LOCAL_ACCUMULATOR_MASK | ISA_LOCAL_ACCUMULATE_MASK | ISA_LOCAL_FULL_MASK | numbered;
  if (length == 0 || (local & garbage) == garbage) return CYCLE_NO_ROWS;
  uint32_t start = isa_local_accumulator(local) != 0 ? memory_rows : 0, row = local & (memory_rows - 1);
  uint64_t end = row + length;
  return (cycle_row_range){.first = start + row, .end = start + (end > memory_rows ? memory_rows : (uint32_t)end)};
}

// Repeated pixels go to the rows below the first one, down to the start of its half of the scratchpad.
static void reach_down(const hw_derived *d, cycle_row_range *range, uint8_t pixel_repeats) {
  if (pixel_repeats == 0 || range->end == 0) return;
  uint32_t half = d->sp_rows / 2, mask = (UINT32_C(1) << d->row_bits) - 1;
  uint32_t lowest = range->first >= half ? half : 0, copies = (pixel_repeats - 1u) & mask;
  range->first = range->first - lowest < copies ? lowest : range->first - copies;
}

static cycle_row_range loaded_rows(const hw_derived *d, bool pixel_repeat, const cycle_row_config *config,
                                   unsigned state, uint64_t rs2) {
  uint64_t length = further_blocks(d, cols_of(rs2)) * config->block_stride[state] + rows_of(rs2);
  cycle_row_range range = range_of(d, local_of(rs2), length);
  bool accumulator = isa_local_accumulator(local_of(rs2)) != 0;
  if (pixel_repeat && !accumulator) reach_down(d, &range, config->pixel_repeats[state]);
  return range;
}

static cycle_rows stored_rows(const hw_derived *d, const cycle_row_config *config, uint64_t rs2) {
  uint16_t rows = config->image ? config->image_rows : rows_of(rs2);
  uint64_t length = further_blocks(d, cols_of(rs2)) * d->dim + rows;
  cycle_rows touched = {.a = range_of(d, local_of(rs2), length), .b = CYCLE_NO_ROWS};
  const arch_local from = arch_local_decode(d, local_of(rs2));
  if (config->gate && !config->image && arch_local_narrows(&from)) {
    const uint32_t mask = (UINT32_C(1) << d->row_bits) - 1;
    touched.b = range_of(d, (local_of(rs2) + config->gate_offset) & mask, length);
  }
  return touched;
}

static cycle_rows spad_stored_rows(const hw_derived *d, uint64_t rs1, uint64_t rs2) {
  const uint64_t blocks = further_blocks(d, cols_of(rs2)), rows = rows_of(rs2);
  const uint64_t stride = isa_get_mvout_spad_r2_stride(rs1, rs2),
                 block_stride = isa_get_mvout_spad_r2_block_stride(rs1, rs2);
  return (cycle_rows){.a = range_of(d, local_of(rs1), blocks * block_stride + rows * step_of((uint16_t)stride)),
                      .b = range_of(d, local_of(rs2), blocks * d->dim + rows),
                      .a_writes = true};
}

static cycle_rows preload_rows(const hw_derived *d, const cycle_row_config *config, uint64_t rs1, uint64_t rs2) {
  uint16_t rows = rows_of(rs1);
  if (config->b_transpose && config->weight_stationary) rows = larger(rows, cols_of(rs1));
  return (cycle_rows){.a = range_of(d, local_of(rs2), rows_of(rs2) * step_of(config->c_stride)),
                      .b = range_of(d, local_of(rs1), rows),
                      .a_writes = true};
}

static cycle_rows compute_rows(const hw_derived *d, const cycle_row_config *config, uint64_t rs1, uint64_t rs2) {
  uint16_t rows = rows_of(rs2), a_rows = config->a_transpose ? cols_of(rs1) : rows_of(rs1);
  if (config->b_transpose && !config->weight_stationary) rows = larger(rows, cols_of(rs2));
  return (cycle_rows){.a = range_of(d, local_of(rs1), a_rows * step_of(config->a_stride)),
                      .b = range_of(d, local_of(rs2), rows)};
}

cycle_rows cycle_command_rows(const hw_derived *derived, bool pixel_repeat, const cycle_row_config *config, isa_id insn,
                              uint64_t rs1, uint64_t rs2) {
  cycle_rows load = {.b = CYCLE_NO_ROWS, .a_writes = true};
  switch (insn) {
    case ISA_MVIN:
      load.a = loaded_rows(derived, pixel_repeat, config, 0, rs2);
      return load;
    case ISA_MVIN2:
      load.a = loaded_rows(derived, pixel_repeat, config, 1, rs2);
      return load;
    case ISA_MVIN3:
      load.a = loaded_rows(derived, pixel_repeat, config, 2, rs2);
      return load;
    case ISA_MVOUT:
      return stored_rows(derived, config, rs2);
    case ISA_MVOUT_SPAD_R2:
      return spad_stored_rows(derived, rs1, rs2);
    case ISA_PRELOAD:
      return preload_rows(derived, config, rs1, rs2);
    case ISA_COMPUTE_PRELOADED:
    case ISA_COMPUTE_ACCUMULATED:
      return compute_rows(derived, config, rs1, rs2);
    default:
      return (cycle_rows){.a = CYCLE_NO_ROWS, .b = CYCLE_NO_ROWS};
  }
}

static void configure_execute(cycle_row_config *config, uint64_t rs1, uint64_t rs2) {
  config->a_stride = (uint16_t)isa_get_config_ex_a_stride(rs1, rs2);
  config->c_stride = (uint16_t)isa_get_config_ex_c_stride(rs1, rs2);
  if (isa_get_config_ex_strides_only(rs1, rs2)) return;
  config->weight_stationary = isa_get_config_ex_dataflow(rs1, rs2);
  config->a_transpose = isa_get_config_ex_a_transpose(rs1, rs2);
  config->b_transpose = isa_get_config_ex_b_transpose(rs1, rs2);
}

static void configure_load(cycle_row_config *config, uint64_t rs1, uint64_t rs2) {
  uint64_t state = isa_get_config_ld_state(rs1, rs2);
  if (state >= ARCH_LOAD_STATES) return;
  config->block_stride[state] = (uint16_t)isa_get_config_ld_block_stride(rs1, rs2);
  config->pixel_repeats[state] = (uint8_t)isa_get_config_ld_pixel_repeats(rs1, rs2);
}

static void configure_store(cycle_row_config *config, bool max_pool, uint64_t rs1, uint64_t rs2) {
  bool pools = max_pool && isa_get_config_st_pool_stride(rs1, rs2) != 0;
  config->image = pools || isa_get_config_st_pool_size(rs1, rs2) != 0;
  if (config->image)
    config->image_rows = (uint16_t)(isa_get_config_st_orows(rs1, rs2) * isa_get_config_st_ocols(rs1, rs2));
}

void cycle_command_rows_configure(cycle_row_config *config, bool max_pool, isa_id insn, uint64_t rs1, uint64_t rs2) {
  switch (insn) {
    case ISA_CONFIG_EX:
      configure_execute(config, rs1, rs2);
      break;
    case ISA_CONFIG_LD:
      configure_load(config, rs1, rs2);
      break;
    case ISA_CONFIG_ST:
      configure_store(config, max_pool, rs1, rs2);
      break;
    case ISA_CONFIG_GATE:
      config->gate = isa_get_config_gate_on(rs1, rs2);
      config->gate_offset = (uint32_t)isa_get_config_gate_offset(rs1, rs2);
      break;
    default:  // the normaliser has no rows
      break;
  }
}
