// SPDX-License-Identifier: Apache-2.0
// The two sides of a program: products, and what moves data. See private.h.
#include "compiler/command/private.h"

static command_side side_of(const isa_insn *insn) {
  if (insn == NULL) return COMMAND_NO_SIDE;
  switch (insn->unit) {
    case ISA_UNIT_EXECUTE:
      return COMMAND_PRODUCTS;
    case ISA_UNIT_LOAD:
    case ISA_UNIT_STORE:
      return COMMAND_MOVES;
    default:
      return COMMAND_NO_SIDE;
  }
}

command_sides command_sides_of(const hw_array *array) {
  command_sides sides = {{0}, {0}};
  for (unsigned funct = 1; funct < 128; funct++)
    sides.of[funct] = (uint8_t)side_of(isa_find(array->isa.revision, funct, 0));
  for (unsigned select = 0; select < 4; select++)
    sides.of_config[select] = (uint8_t)side_of(isa_find(array->isa.revision, ISA_FUNCT_CONFIG_EX, select));
  return sides;
}

bool command_has_sides(const command_program *program) {
  const command_sides sides = command_sides_of(program->array);
  for (size_t n = 0; n < program->count; n++) {
    const command_node *node = &program->nodes[n];
    if (node->kind == COMMAND_FENCE && n + 1 == program->count) return true;
    if (node->kind != COMMAND_INSN || command_side_of(&sides, &node->insn) == COMMAND_NO_SIDE) return false;
  }
  return true;
}
