// SPDX-License-Identifier: Apache-2.0
// Writes weft_isa.h: what a bare-metal RISC-V program includes to issue commands. It stands alone (only <stdint.h>),
// and constant arguments fold into constants because everything is an inline function.
#include "isa/gen/model.h"

#define ULL(x) ((unsigned long long)(x))

static const char preamble[] =
    "// Generated from the instruction table by isagen; do not edit.\n"
    "//\n"
    "// weft_X(...) issues instruction X with its fields as arguments, in the order of the instruction table; argument "
    "bits\n"
    "// beyond a field are dropped (those of rows are tokens). f32 arguments are bit patterns: weft_f32(1.5f). "
    "Instructions whose layout depends "
    "on the\n"
    "// ISA revision end in _r1 or _r2. weft_command issues any command from raw operands.\n"
    "// With WEFT_NATIVE defined every command calls weft_native_command instead, which the program that includes "
    "this\n"
    "// header provides.\n"
    "#ifndef WEFT_ISA_H\n#define WEFT_ISA_H\n\n#include <stdint.h>\n\n"
    "static inline uint32_t weft_f32(float value) {\n"
    "  union {\n    float value;\n    uint32_t bits;\n  } f32 = {.value = value};\n  return f32.bits;\n}\n"
    "static inline uint64_t weft_dram(const volatile void *memory) { return (uint64_t)(uintptr_t)memory; }\n\n";

// %z prints x0 for a constant zero operand, which saves a register. The clobber keeps stores to operands in memory
// before the command that reads them.
static const char issue[] =
    "#ifdef WEFT_NATIVE\n"
    "uint64_t weft_native_command(unsigned funct, uint64_t rs1, uint64_t rs2);\n"
    "#define weft_command(funct, rs1, rs2) ((void)weft_native_command((funct), (rs1), (rs2)))\n"
    "#define weft_command_result(funct, rs1, rs2) weft_native_command((funct), (rs1), (rs2))\n"
    "#else\n"
    "#define weft_command(funct, rs1, rs2)                                    \\\n"
    "  __asm__ volatile(\".insn r 0x%llx, 0x3, %%0, x0, %%z1, %%z2\"              \\\n"
    "                   :                                                     \\\n"
    "                   : \"i\"(funct), \"rJ\"((uint64_t)(rs1)), \"rJ\"((uint64_t)(rs2)) \\\n"
    "                   : \"memory\")\n"
    "#define weft_command_result(funct, rs1, rs2)                               \\\n"
    "  __extension__({                                                        \\\n"
    "    uint64_t weft_result_;                                               \\\n"
    "    __asm__ volatile(\".insn r 0x%llx, 0x7, %%1, %%0, %%z2, %%z3\"            \\\n"
    "                     : \"=r\"(weft_result_)                                \\\n"
    "                     : \"i\"(funct), \"rJ\"((uint64_t)(rs1)), \"rJ\"((uint64_t)(rs2)) \\\n"
    "                     : \"memory\");                                        \\\n"
    "    weft_result_;                                                        \\\n"
    "  })\n"
    "#endif\n";

static void emit_values(FILE *out, const char *prefix, const gen_insn *insn) {
  gen_ident name = gen_upper(gen_insn_ident(insn).text);
  for (size_t i = 0; i < insn->field_count; i++)
    for (size_t k = 0; k < insn->fields[i].value_count; k++)
      fprintf(out, "#define %s_%s_%s_%s %llu\n", prefix, name.text, gen_upper(insn->fields[i].name).text,
              gen_upper(insn->fields[i].values[k].name).text, ULL(insn->fields[i].values[k].value));
}

static void emit_local(FILE *out, const gen_table *table) {
  for (size_t i = 0; i < table->local.field_count; i++) {
    const gen_field *field = &table->local.fields[i];
    if (field->type == GEN_BOOL)
      fprintf(out, "#define WEFT_LOCAL_%s UINT32_C(0x%llx)\n", gen_upper(field->name).text,
              ULL(UINT64_C(1) << field->lsb));
    else if (field->type != GEN_RESERVED && field->lsb != 0)
      fprintf(out, "#define WEFT_LOCAL_%s(value) ((uint32_t)(value) << %u)\n", gen_upper(field->name).text, field->lsb);
  }
  if (table->local.field_count == 0) return;
  emit_values(out, "WEFT", &table->local);
  fprintf(out, "#define WEFT_LOCAL_GARBAGE UINT32_C(0xffffffff)\n\n");
}

static void emit_events(FILE *out, const gen_events *events, const char *name) {
  if (events->count == 0) return;
  fprintf(out, "enum weft_%s {\n", name);
  for (size_t i = 0; i < events->count; i++)
    fprintf(out, "  WEFT_%s_%s = %llu,%s%s\n", gen_upper(name).text, gen_upper(events->list[i].name).text,
            ULL(events->list[i].number), *events->list[i].meaning == '\0' ? "" : "  // ", events->list[i].meaning);
  fprintf(out, "};\n\n");
}

// Wrappers give no tokens: their bits stay zero.
static bool is_argument(const gen_field *field) {
  return field->type != GEN_RESERVED && field->type != GEN_CONST && field->type != GEN_TOKEN;
}

static void emit_arguments(FILE *out, const gen_insn *insn) {
  bool first = true;
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *field = &insn->fields[i];
    if (!is_argument(field)) continue;
    fprintf(out, "%s%s %s", first ? "" : ", ", gen_width(field) > 32 ? "uint64_t" : "uint32_t", field->name);
    first = false;
  }
  if (first) fprintf(out, "void");
}

// True: above the field there are tokens alone. What is too much for it then sets tokens, and is refused.
static bool below_tokens(const gen_insn *insn, const gen_field *field) {
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *other = &insn->fields[i];
    if (other->reg == field->reg && other->lsb > field->msb && other->type != GEN_TOKEN) return false;
  }
  return true;
}

// A field that fills its argument's type, or ends at bit 63 and so loses its excess in the shift, needs no mask.
static void emit_operand(FILE *out, const gen_insn *insn, unsigned reg) {
  uint64_t constant = gen_selector(insn, reg);
  bool first = constant == 0;
  if (!first) fprintf(out, "UINT64_C(0x%llx)", ULL(constant));
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *field = &insn->fields[i];
    if (field->reg != reg || !is_argument(field)) continue;
    fprintf(out, "%s", first ? "" : " | ");
    first = false;
    unsigned width = gen_width(field);
    if (width == 64 || width == 32 || field->msb == 63 || below_tokens(insn, field))
      fprintf(out, "(uint64_t)%s", field->name);
    else
      fprintf(out, "((uint64_t)%s & 0x%llx)", field->name, ULL(gen_ones(width)));
    if (field->lsb != 0) fprintf(out, " << %u", field->lsb);
  }
  if (first) fprintf(out, "0");
}

static void emit_wrapper(FILE *out, const gen_insn *insn) {
  gen_ident name = gen_insn_ident(insn);
  fprintf(out, "\n// %s\n", insn->meaning);
  emit_values(out, "WEFT", insn);
  fprintf(out, "static inline %s weft_%s(", insn->returns ? "uint64_t" : "void", name.text);
  emit_arguments(out, insn);
  fprintf(out, ") {\n  const uint64_t weft_rs1_ = ");
  emit_operand(out, insn, 1);
  fprintf(out, ";\n  const uint64_t weft_rs2_ = ");
  emit_operand(out, insn, 2);
  fprintf(out, ";\n  %s(WEFT_FUNCT_%s, weft_rs1_, weft_rs2_);\n}\n",
          insn->returns ? "return weft_command_result" : "weft_command", gen_upper(insn->name).text);
}

void gen_emit_driver(FILE *out, const gen_table *table) {
  fputs(preamble, out);
  emit_local(out, table);
  emit_events(out, &table->events, "event");
  emit_events(out, &table->externals, "external");
  fprintf(out, "enum {\n");
  for (size_t i = 0; i < table->insn_count; i++)
    if (gen_first_of_name(table, i))
      fprintf(out, "  WEFT_FUNCT_%s = %u,\n", gen_upper(table->insns[i].name).text, table->insns[i].funct);
  fprintf(out, "};\n\n");
  fprintf(out, issue, ULL(table->opcode), ULL(table->opcode));
  for (size_t i = 0; i < table->insn_count; i++) emit_wrapper(out, &table->insns[i]);
  fprintf(out, "\n#endif\n");
}
