// SPDX-License-Identifier: Apache-2.0
// Tokens of a program for an array without a reservation station: those that order its commands as a station would
// (sim/tokens/give.h). A program that has some is taken to have all.
#include "compiler/command/private.h"
#include "sim/tokens/give.h"

static bool has_tokens(const command_program *program) {
  for (size_t n = 0; n < program->count; n++) {
    const command_node *node = &program->nodes[n];
    if (node->kind == COMMAND_INSN && (node->insn.rs2 & command_isa(program, &node->insn)->tokens) != 0) return true;
  }
  return false;
}

static void give(const command_program *program, tokens_giver *giver) {
  for (size_t n = 0; n < program->count; n++) {
    const command_insn *insn = &program->nodes[n].insn;
    if (insn->kind == COMMAND_FENCE)
      tokens_giver_fence(giver);
    else
      tokens_giver_command(giver, command_isa(program, insn), insn->rs1, insn->rs2);
  }
}

static void take(command_program *program, const tokens_giver *giver) {
  uint64_t number = 0;
  for (size_t n = 0; n < program->count; n++) {
    command_insn *insn = &program->nodes[n].insn;
    if (insn->kind == COMMAND_FENCE) continue;
    const isa_insn *isa = command_isa(program, insn);
    const arch_tokens tokens = tokens_giver_of(giver, number++);
    if (isa->tokens != 0) insn->rs2 = arch_tokens_set(isa, insn->rs2, tokens);
  }
}

// Nothing orders a program behind this one but a fence.
static void end_with_fence(command_program *program) {
  if (program->count == 0 || program->nodes[program->count - 1].kind == COMMAND_FENCE) return;
  command_add_fence(program);
}

command_program *command_give_tokens(command_program *program) {
  if (program->array->sync.by != HW_SYNC_TOKENS || has_tokens(program)) return program;
  command_program *straight = (command_program *)(uintptr_t)command_straight(program);
  if (straight != program) command_destroy(program);
  straight->verified = false;
  end_with_fence(straight);
  tokens_giver *giver = tokens_giver_create(straight->array);
  give(straight, giver);
  take(straight, giver);
  tokens_giver_destroy(giver);
  return straight;
}
