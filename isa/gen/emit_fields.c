// SPDX-License-Identifier: Apache-2.0
// Writes isa_fields.h: identifiers, events, named values, and an accessor pair for every field of every instruction and
// of local addresses.
#include <string.h>

#include "isa/gen/model.h"

#define ULL(x) ((unsigned long long)(x))

static void emit_ids(FILE *out, const gen_table *table) {
  fprintf(out, "typedef enum isa_id {\n");
  for (size_t i = 0; i < table->insn_count; i++)
    fprintf(out, "  ISA_%s,\n", gen_upper(gen_insn_ident(&table->insns[i]).text).text);
  fprintf(out, "  ISA_ID_COUNT\n} isa_id;\n\ntypedef enum isa_unit {\n");
#define X(name, NAME) fprintf(out, "  ISA_UNIT_" #NAME ",\n");
  GEN_UNITS(X)
#undef X
  fprintf(out, "  ISA_UNIT_COUNT\n} isa_unit;\n\n");
}

bool gen_first_of_name(const gen_table *table, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (strcmp(table->insns[i].name, table->insns[index].name) == 0) return false;
  return true;
}

static void emit_functs(FILE *out, const gen_table *table) {
  fprintf(out, "enum {\n  ISA_OPCODE = 0x%llx,\n  ISA_REVISIONS = %d,\n", ULL(table->opcode), GEN_REVISIONS);
  for (size_t i = 0; i < table->insn_count; i++)
    if (gen_first_of_name(table, i))
      fprintf(out, "  ISA_FUNCT_%s = %u,\n", gen_upper(table->insns[i].name).text, table->insns[i].funct);
  fprintf(out, "};\n\n");
}

static void emit_events(FILE *out, const gen_events *events, const char *name) {
  if (events->count == 0) return;
  fprintf(out, "typedef enum isa_%s {\n", name);
  for (size_t i = 0; i < events->count; i++)
    fprintf(out, "  ISA_%s_%s = %llu,%s%s\n", gen_upper(name).text, gen_upper(events->list[i].name).text,
            ULL(events->list[i].number), *events->list[i].meaning == '\0' ? "" : "  // ", events->list[i].meaning);
  fprintf(out, "  ISA_%s_COUNT = %zu\n} isa_%s;\n\n", gen_upper(name).text, events->count, name);
}

static void emit_named_values(FILE *out, const gen_insn *insn) {
  gen_ident name = gen_upper(gen_insn_ident(insn).text);
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *field = &insn->fields[i];
    if (field->value_count == 0) continue;
    fprintf(out, "enum {\n");
    for (size_t k = 0; k < field->value_count; k++)
      fprintf(out, "  ISA_%s_%s_%s = %llu,\n", name.text, gen_upper(field->name).text,
              gen_upper(field->values[k].name).text, ULL(field->values[k].value));
    fprintf(out, "};\n");
  }
}

static void emit_accessors(FILE *out, const gen_insn *insn, const gen_field *field) {
  gen_ident name = gen_insn_ident(insn);
  unsigned width = gen_width(field);
  unsigned long long ones = ULL(gen_ones(width));
  fprintf(out, "static inline uint64_t isa_get_%s_%s(uint64_t rs1, uint64_t rs2) {\n  (void)rs%u;\n", name.text,
          field->name, 3 - field->reg);
  fprintf(out, "  return rs%u >> %u & UINT64_C(0x%llx);\n}\n", field->reg, field->lsb, ones);
  fprintf(out, "static inline void isa_set_%s_%s(uint64_t *rs1, uint64_t *rs2, uint64_t value) {\n  (void)rs%u;\n",
          name.text, field->name, 3 - field->reg);
  fprintf(out, "  *rs%u = (*rs%u & ~(UINT64_C(0x%llx) << %u)) | (value & UINT64_C(0x%llx)) << %u;\n}\n", field->reg,
          field->reg, ones, field->lsb, ones, field->lsb);
}

static void emit_insn(FILE *out, const gen_insn *insn) {
  gen_ident name = gen_insn_ident(insn);
  fprintf(out, "\n// %s: %s\n", name.text, insn->meaning);
  emit_named_values(out, insn);
  fprintf(out, "static inline void isa_init_%s(uint64_t *rs1, uint64_t *rs2) {\n", name.text);
  fprintf(out, "  *rs1 = UINT64_C(0x%llx);\n  *rs2 = UINT64_C(0x%llx);\n}\n", ULL(gen_selector(insn, 1)),
          ULL(gen_selector(insn, 2)));
  for (size_t i = 0; i < insn->field_count; i++)
    if (insn->fields[i].type != GEN_RESERVED) emit_accessors(out, insn, &insn->fields[i]);
}

static void emit_local(FILE *out, const gen_insn *local) {
  if (local->field_count == 0) return;
  fprintf(
      out,
      "// Parts of a local address: isa_local_FIELD reads one, isa_local_with_FIELD gives the address with another\n"
      "// value of it. Software names the garbage address by all ones.\n");
  fprintf(out, "#define ISA_LOCAL_GARBAGE UINT32_C(0xffffffff)\n");
  emit_named_values(out, local);
  for (size_t i = 0; i < local->field_count; i++) {
    const gen_field *field = &local->fields[i];
    if (field->type == GEN_RESERVED) continue;
    fprintf(out, "#define ISA_LOCAL_%s_MASK UINT32_C(0x%llx)\n", gen_upper(field->name).text,
            ULL(gen_ones(gen_width(field)) << field->lsb));
    fprintf(out, "static inline uint32_t isa_local_%s(uint32_t local) {\n  return local >> %u & UINT32_C(0x%llx);\n}\n",
            field->name, field->lsb, ULL(gen_ones(gen_width(field))));
    fprintf(out,
            "static inline uint32_t isa_local_with_%s(uint32_t local, uint32_t value) {\n"
            "  return (local & ~ISA_LOCAL_%s_MASK) | (value << %u & ISA_LOCAL_%s_MASK);\n}\n",
            field->name, gen_upper(field->name).text, field->lsb, gen_upper(field->name).text);
  }
}

void gen_emit_fields(FILE *out, const gen_table *table) {
  fprintf(
      out,
      "// Generated from the instruction table by isagen; do not edit.\n"
      "// isa_get_X_FIELD reads a field of instruction X, isa_set_X_FIELD replaces it (excess bits of the value are\n"
      "// dropped), isa_init_X gives operands in which all fields are zero and the selector of X is set.\n"
      "#ifndef ISA_ISA_FIELDS_H\n#define ISA_ISA_FIELDS_H\n\n#include <stdint.h>\n\n");
  emit_ids(out, table);
  emit_functs(out, table);
  emit_events(out, &table->events, "event");
  emit_events(out, &table->externals, "external");
  emit_local(out, &table->local);
  for (size_t i = 0; i < table->insn_count; i++) emit_insn(out, &table->insns[i]);
  fprintf(out, "\n#endif\n");
}
