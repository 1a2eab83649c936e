// SPDX-License-Identifier: Apache-2.0
// A disassembly of every execution: number, operands (relative to tensors), text. See command.h.
#include <inttypes.h>

#include "compiler/command/private.h"

typedef struct lister {
  const command_program *program;
  FILE *out;
  uint64_t index;
} lister;

static bool list(void *context, const command_insn *insn) {
  lister *l = context;
  if (insn == NULL) {
    fputs("          fence\n", l->out);
    return true;
  }
  char text[COMMAND_TEXT_MAX];
  command_print_insn(l->program, insn, text, sizeof text);
  fprintf(l->out, "%8" PRIu64 "  %3u %016" PRIx64 " %016" PRIx64 "  %s\n", l->index++, insn->funct, insn->rs1,
          insn->rs2, text);
  return true;
}

void command_write_listing(const command_program *program, FILE *out) {
  fprintf(out, "# %s for the array %s (%016" PRIx64 ", ISA revision %u), %" PRIu64 " commands\n", program->name,
          program->array->name, hw_array_hash(program->array), program->array->isa.revision,
          command_executions(program));
  for (int t = 0; t < program->tensor_count; t++)
    fprintf(out, "# tensor %s: %" PRIu64 " bytes\n", program->tensors[t].name,
            command_tensor_bytes(&program->tensors[t]));
  fputs("# command funct rs1 rs2, addresses relative to their tensors\n", out);
  lister l = {.program = program, .out = out};
  command_walk(program, list, &l);
}
