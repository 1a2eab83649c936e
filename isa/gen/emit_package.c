// SPDX-License-Identifier: Apache-2.0
// Writes weft_isa_pkg.sv: localparams for the opcode, functs, events, fields and named values. Plain integers and sized
// vectors only, so that Verilator, yosys and Icarus all read it through scoped names.
#include "isa/gen/model.h"

#define ULL(x) ((unsigned long long)(x))

static void emit_field(FILE *out, const char *prefix, const gen_field *field) {
  gen_ident upper = gen_upper(field->name);
  const char *name = upper.text;
  unsigned width = gen_width(field);
  if (field->reg != GEN_LOCAL)
    fprintf(out, "  // rs%u[%u:%u] %s\n", field->reg, field->msb, field->lsb, field->meaning);
  fprintf(out, "  localparam integer %s_%s_LSB = %u;\n", prefix, name, field->lsb);
  fprintf(out, "  localparam integer %s_%s_WIDTH = %u;\n", prefix, name, width);
  if (field->reg == GEN_LOCAL)
    fprintf(out, "  localparam logic [31:0] %s_%s_MASK = 32'h%08llx;\n", prefix, name,
            ULL(gen_ones(width) << field->lsb));
  if (field->type == GEN_CONST)
    fprintf(out, "  localparam logic [%u:0] %s_%s = %u'd%llu;\n", width - 1, prefix, name, width, ULL(field->min));
  for (size_t i = 0; i < field->value_count; i++)
    fprintf(out, "  localparam logic [%u:0] %s_%s_%s = %u'd%llu;\n", width - 1, prefix, name,
            gen_upper(field->values[i].name).text, width, ULL(field->values[i].value));
}

static void emit_fields(FILE *out, const gen_insn *insn) {
  gen_ident prefix = gen_upper(gen_insn_ident(insn).text);
  for (size_t i = 0; i < insn->field_count; i++)
    if (insn->fields[i].type != GEN_RESERVED) emit_field(out, prefix.text, &insn->fields[i]);
}

// Bit PREFIX_NAME of the event vector, or the number of an external value.
static void emit_events(FILE *out, const gen_events *events, const char *prefix, const char *count, const char *what) {
  if (events->count == 0) return;
  fprintf(out, "\n  // %s\n  localparam integer %s = %zu;\n", what, count, events->count);
  for (size_t i = 0; i < events->count; i++)
    fprintf(out, "  localparam integer %s_%s = %llu;\n", prefix, gen_upper(events->list[i].name).text,
            ULL(events->list[i].number));
}

void gen_emit_package(FILE *out, const gen_table *table) {
  fprintf(out,
          "// Generated from the instruction table by isagen; do not edit.\n"
          "// X_FIELD_LSB and X_FIELD_WIDTH place a field in its operand register: rs1 or rs2, as the comment before "
          "it says.\n"
          "// verilator lint_off UNUSED\n"
          "package weft_isa_pkg;\n");
  fprintf(out, "  localparam logic [6:0] OPCODE = 7'h%llx;\n", ULL(table->opcode));
  fprintf(out, "  localparam logic [2:0] FUNCT3_COMMAND = 3'd3;\n  localparam logic [2:0] FUNCT3_RESULT = 3'd7;\n\n");
  for (size_t i = 0; i < table->insn_count; i++)
    if (gen_first_of_name(table, i))
      fprintf(out, "  localparam logic [6:0] FUNCT_%s = 7'd%u;\n", gen_upper(table->insns[i].name).text,
              table->insns[i].funct);
  emit_events(out, &table->events, "EV", "EVENTS", "events that performance counters count");
  emit_events(out, &table->externals, "EXT", "EXTERNALS", "external values that performance counters read");
  if (table->local.field_count != 0)
    fprintf(out,
            "\n  // parts of a local address; all ones is the garbage address\n"
            "  localparam logic [31:0] LOCAL_GARBAGE = 32'hffffffff;\n");
  emit_fields(out, &table->local);
  for (size_t i = 0; i < table->insn_count; i++) {
    fprintf(out, "\n  // %s: %s\n", gen_insn_ident(&table->insns[i]).text, table->insns[i].meaning);
    emit_fields(out, &table->insns[i]);
  }
  fprintf(out, "endpackage\n// verilator lint_on UNUSED\n");
}
