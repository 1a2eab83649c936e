// SPDX-License-Identifier: Apache-2.0
// Digests of programs: see digest.h. The rows of commands are those that the reservation station compares
// (sim/cycle/command_rows.h), which hold all that a command touches.
#include "runner/digest.h"

#include "arch/local.h"
#include "base/hash.h"
#include "isa/isa_fields.h"
#include "sim/cycle/command_rows.h"

// Bits of a local address that do not name a row.
#define LOCAL_FLAGS (~(uint64_t)ISA_LOCAL_ROW_MASK)

typedef struct digester {
  const command_program *program;
  const hw_array *array;
  hw_derived derived;
  cycle_row_config config;
  run_digest digest;
} digester;

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

static void add(digester *d, uint64_t word) { d->digest.timing = mix(d->digest.timing, word); }

static void refuse(digester *d) { d->digest.has_timing = false; }

// ---- commands as they are

static void add_plain(digester *d, const command_insn *insn) {
  const uint64_t words[4] = {
      insn == NULL ? UINT64_MAX : insn->funct, insn == NULL ? 0 : insn->rs1, insn == NULL ? 0 : insn->rs2,
      insn == NULL ? 0 : (uint64_t)(uint16_t)insn->tensor_rs1 << 16 | (uint16_t)insn->tensor_rs2};
  d->digest.commands = wf_hash(d->digest.commands, words, sizeof words);
}

// ---- commands by the banks of their rows

// The mesh walks over as many rows as it has, and chooses banks for those, too, that an operand lacks.
static uint32_t reach_of(const digester *d, uint32_t length) {
  uint32_t stride = d->config.a_stride > d->config.c_stride ? d->config.a_stride : d->config.c_stride;
  if (stride == 0) stride = 1;
  const uint32_t walk = (d->derived.dim - 1) * stride + 1;
  return walk > length ? walk : length;
}

// An operand register with a local address, and the rows it stands for. A range over the end of a bank depends on how
// large banks are.
static void add_local(digester *d, uint64_t operand, cycle_row_range range) {
  const arch_local local = arch_local_decode(&d->derived, operand);
  add(d, operand & LOCAL_FLAGS);
  if (local.garbage) {
    add(d, UINT64_MAX);
    return;
  }
  if (range.end <= range.first) {
    refuse(d);
    return;
  }
  const uint32_t bank_rows = local.accumulator ? d->derived.acc_bank_rows : d->derived.sp_bank_rows;
  const uint32_t length = range.end - range.first, place = local.row % bank_rows;
  add(d, (uint64_t)(local.row / bank_rows) << 32 | place);
  add(d, place + reach_of(d, length) <= bank_rows ? length : (uint64_t)bank_rows << 32 | length);
}

static void add_both(digester *d, const command_insn *insn, cycle_row_range rs1, cycle_row_range rs2) {
  add_local(d, insn->rs1, rs1);
  add_local(d, insn->rs2, rs2);
}

// A move between main memory and the local address of rs2. Rows that are repeated go downwards, as far as the memory's
// size allows.
static void add_move(digester *d, const command_insn *insn, cycle_row_range rows) {
  for (int state = 0; state < ARCH_LOAD_STATES; state++)
    if (d->config.pixel_repeats[state] > 1) refuse(d);
  add(d, insn->rs1);
  add_local(d, insn->rs2, rows);
}

static void add_command(digester *d, const command_insn *insn) {
  const bool repeats = d->array->units.pixel_repeat;
  const isa_id id = command_isa(d->program, insn)->id;
  const cycle_rows rows = cycle_command_rows(&d->derived, repeats, &d->config, id, insn->rs1, insn->rs2);
  add(d, (uint64_t)insn->funct << 32 | (uint64_t)(uint16_t)insn->tensor_rs1 << 16 | (uint16_t)insn->tensor_rs2);
  switch (id) {
    case ISA_CONFIG_EX:
    case ISA_CONFIG_LD:
    case ISA_CONFIG_ST:
    case ISA_CONFIG_NORM:
      cycle_command_rows_configure(&d->config, d->array->units.max_pool, id, insn->rs1, insn->rs2);
      add(d, insn->rs1);
      add(d, insn->rs2);
      return;
    case ISA_MVIN:
    case ISA_MVIN2:
    case ISA_MVIN3:
    case ISA_MVOUT:
      add_move(d, insn, rows.a);
      return;
    case ISA_PRELOAD:
      add_both(d, insn, rows.b, rows.a);
      return;
    case ISA_COMPUTE_PRELOADED:
    case ISA_COMPUTE_ACCUMULATED:
      add_both(d, insn, rows.a, rows.b);
      return;
    default:
      refuse(d);
  }
}

static bool visit(void *context, const command_insn *insn) {
  digester *d = context;
  add_plain(d, insn);
  if (insn == NULL) {
    add(d, UINT64_MAX);
  } else if (d->digest.has_timing) {
    add_command(d, insn);
  }
  return true;
}

// ---- the rest of what takes time

// Where tensors lie follows from their sizes.
static void add_tensors(digester *d, const command_program *program) {
  for (int t = 0; t < program->tensor_count; t++) add(d, command_tensor_bytes(&program->tensors[t]));
}

uint64_t run_digest_machine(const hw_array *array) {
  hw_array without = *array;
  without.scratchpad.capacity_kib = without.accumulator.capacity_kib = 0;
  return hw_array_hash(&without);
}

run_digest run_digest_of(const command_program *program) {
  digester d = {
      .program = program,
      .array = program->array,
      .derived = hw_derive(program->array),
      .digest = {.commands = WF_HASH_START, .has_timing = true, .machine = run_digest_machine(program->array)}};
  command_walk(program, visit, &d);
  add_tensors(&d, program);
  return d.digest;
}
