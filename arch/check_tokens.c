// SPDX-License-Identifier: Apache-2.0
// Tokens in program order: a pop finds a token that an older command pushed, and a counter holds what is pushed to it.
// The hardware comes to the end of such a program, whatever the times are: its oldest command that is not done finds
// the tokens that it pops, and room in the counters for the tokens that it pushes. The hardware ends a preload together
// with its compute, so a counter gets the tokens of both in the compute's place.
#include <inttypes.h>

#include "arch/check_private.h"

static bool without_tokens(arch_checker *checker, const arch_command *command) {
  if ((command->rs2 & command->insn->tokens) == 0) return true;
  checker->name = command->insn->name;
  return arch_check_fail(checker, ARCH_FAULT_ILLEGAL,
                         "it pops or pushes tokens, and this array has a reservation station (sync.by station)");
}

static bool pop(arch_checker *checker, arch_unit unit, unsigned pops) {
  for (unsigned from = 0; from < ARCH_UNITS; from++) {
    uint32_t *count = &checker->tokens[from][unit];
    if ((pops >> from & 1) == 0) continue;
    if (*count == 0)
      return arch_check_fail(checker, ARCH_FAULT_ILLEGAL,
                             "it pops a token of %s, and no older command has pushed one to %s", arch_unit_names[from],
                             arch_unit_names[unit]);
    --*count;
  }
  return true;
}

static bool push(arch_checker *checker, arch_unit unit, arch_unit to, uint32_t tokens) {
  uint32_t *count = &checker->tokens[unit][to];
  const uint32_t most = arch_tokens_max(checker->array);
  if (tokens > most - *count)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL,
                           "%" PRIu32 " tokens from %s to %s wait already, and sync.token_bits %" PRIu32
                           " counts to %" PRIu32,
                           *count, arch_unit_names[unit], arch_unit_names[to], checker->array->sync.token_bits, most);
  *count += tokens;
  return true;
}

// A preload and a compute that reads nothing end with a compute behind them.
static bool is_later(const arch_command *command) {
  if (command->insn->id == ISA_PRELOAD) return true;
  if (arch_unit_of(command->insn) != ARCH_UNIT_EXECUTE) return false;
  return isa_get_compute_preloaded_a(command->rs1, command->rs2) == ISA_LOCAL_GARBAGE &&
         isa_get_compute_preloaded_bd(command->rs1, command->rs2) == ISA_LOCAL_GARBAGE;
}

static bool push_all(arch_checker *checker, const arch_command *command, arch_unit unit, unsigned pushes) {
  const bool later = is_later(command);
  for (unsigned to = 0; to < ARCH_UNITS; to++) {
    uint32_t tokens = pushes >> to & 1;
    if (unit == ARCH_UNIT_EXECUTE) {
      checker->later[to] += tokens;
      tokens = checker->later[to];
    }
    if (tokens == 0 || later) continue;
    if (unit == ARCH_UNIT_EXECUTE) checker->later[to] = 0;
    if (!push(checker, unit, (arch_unit)to, tokens)) return false;
  }
  return true;
}

static bool check(arch_checker *checker, const arch_command *command) {
  const isa_insn *insn = command->insn;
  const arch_unit unit = arch_unit_of(insn);
  checker->name = insn->name;
  if (insn->id == ISA_MVOUT_SPAD_R2)
    return arch_check_fail(checker, ARCH_FAULT_ILLEGAL,
                           "no token orders it with another store, and this array has no reservation station "
                           "(sync.by tokens)");
  if (insn->tokens == 0) return true;
  const arch_tokens tokens = arch_tokens_of(insn, command->rs2);
  if (!pop(checker, unit, tokens.pops)) return false;
  return push_all(checker, command, unit, tokens.pushes);
}

bool arch_check_tokens(arch_checker *checker, const arch_command *command) {
  return checker->array->sync.by == HW_SYNC_TOKENS ? check(checker, command) : without_tokens(checker, command);
}
