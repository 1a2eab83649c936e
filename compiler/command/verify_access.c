// SPDX-License-Identifier: Apache-2.0
// Main memory that a primitive touches, and the configuration that it uses: see verify.h. The primitive has passed the
// checker.
#include "arch/local.h"
#include "compiler/command/verify.h"

static command_range load_range(const hw_derived *derived, const arch_load_config *state, const arch_command *c) {
  const arch_local to = arch_local_decode(derived, isa_get_mvin_local(c->rs1, c->rs2));
  const uint64_t rows = isa_get_mvin_rows(c->rs1, c->rs2), cols = isa_get_mvin_cols(c->rs1, c->rs2);
  if (rows == 0 || cols == 0 || c->rs1 == 0) return (command_range){0};
  const uint32_t element = to.accumulator && !state->shrink ? derived->acc_bytes : derived->input_bytes;
  const uint64_t length = state->packed ? cols / 2 : cols * element;
  return (command_range){.address = c->rs1, .bytes = (rows - 1) * state->stride_bytes + length};
}

// Rows that a store writes, the last one's place counted in strides.
static uint64_t last_store_row(const arch_store_config *s, uint64_t rows) {
  switch (arch_config_store_mode(s)) {
    case ARCH_STORE_POOL:
      return (uint64_t)(s->pool_orows - 1) * s->pool_out_dim + s->pool_ocols - 1;
    case ARCH_STORE_IMAGE:
      return (uint64_t)(s->orows - 1) * s->pool_out_dim + s->ocols - 1;
    case ARCH_STORE_ROWS:
      break;
  }
  return rows - 1;
}

static bool store_is_empty(const arch_store_config *s, uint64_t rows, uint64_t cols) {
  switch (arch_config_store_mode(s)) {
    case ARCH_STORE_POOL:
      return cols == 0 || s->pool_orows == 0 || s->pool_ocols == 0;
    case ARCH_STORE_IMAGE:
      return cols == 0 || s->orows == 0 || s->ocols == 0;
    case ARCH_STORE_ROWS:
      break;
  }
  return cols == 0 || rows == 0;
}

static command_range store_range(const hw_derived *derived, const arch_store_config *state, const arch_command *c) {
  const arch_local from = arch_local_decode(derived, isa_get_mvout_local(c->rs1, c->rs2));
  const uint64_t rows = isa_get_mvout_rows(c->rs1, c->rs2), cols = isa_get_mvout_cols(c->rs1, c->rs2);
  const bool statistics = from.accumulator && !from.garbage && from.norm != ARCH_NORM_NONE;
  if (statistics || store_is_empty(state, rows, cols)) return (command_range){0};
  const uint32_t element = from.accumulator && from.full ? derived->acc_bytes : derived->input_bytes;
  return (command_range){
      .address = c->rs1, .bytes = last_store_row(state, rows) * state->stride_bytes + cols * element, .writes = true};
}

command_range command_range_of(const hw_derived *derived, const arch_config *config, const arch_command *primitive) {
  switch (primitive->insn->id) {
    case ISA_MVIN:
      return load_range(derived, &config->load[0], primitive);
    case ISA_MVIN2:
      return load_range(derived, &config->load[1], primitive);
    case ISA_MVIN3:
      return load_range(derived, &config->load[2], primitive);
    case ISA_MVOUT:
      return store_range(derived, &config->store, primitive);
    default:
      return (command_range){0};
  }
}

static const char *missing(bool there, const char *what) { return there ? NULL : what; }

const char *command_use_note(command_use *use, const arch_command *primitive) {
  switch (primitive->insn->id) {
    case ISA_CONFIG_LD:
      use->load[isa_get_config_ld_state(primitive->rs1, primitive->rs2)] = true;
      return NULL;
    case ISA_CONFIG_ST:
      use->store = true;
      return NULL;
    case ISA_CONFIG_EX:
      use->execute |= !isa_get_config_ex_strides_only(primitive->rs1, primitive->rs2);
      return NULL;
    case ISA_MVIN:
      return missing(use->load[0], "uses load state 0");
    case ISA_MVIN2:
      return missing(use->load[1], "uses load state 1");
    case ISA_MVIN3:
      return missing(use->load[2], "uses load state 2");
    case ISA_MVOUT:
    case ISA_MVOUT_SPAD_R2:
      return missing(use->store, "uses the store unit");
    case ISA_PRELOAD:
    case ISA_COMPUTE_PRELOADED:
    case ISA_COMPUTE_ACCUMULATED:
      return missing(use->execute, "uses the execute unit");
    default:
      return NULL;
  }
}
