// SPDX-License-Identifier: Apache-2.0
// Writes isa_table.inc, which isa/isa.c includes: the instructions as constant data, and the direct lookup of isa_find:
// per revision and funct a place in a list of identifiers, indexed further by the selector bits of rs1.
#include "isa/gen/model.h"

#define ULL(x) ((unsigned long long)(x))

void gen_string(FILE *out, const char *text) {
  fputc('"', out);
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '"' || *p == '\\') fputc('\\', out);
    fputc(*p, out);
  }
  fputc('"', out);
}

static const char *type_constant(gen_type type) {
  static const char *const names[] = {
#define X(name, NAME, width) "ISA_TYPE_" #NAME,
      GEN_TYPES(X)
#undef X
  };
  return names[type];
}

static void emit_values(FILE *out, const char *insn, const gen_field *field) {
  if (field->value_count == 0) return;
  fprintf(out, "static const isa_value %s_%s_values[] = {", insn, field->name);
  for (size_t i = 0; i < field->value_count; i++)
    fprintf(out, "{\"%s\", UINT64_C(%llu)}, ", field->values[i].name, ULL(field->values[i].value));
  fprintf(out, "};\n");
}

static void emit_field(FILE *out, const char *insn, const gen_field *field) {
  fprintf(out, "    {\"%s\", %s, %u, %u, %u, UINT64_C(0x%llx), UINT64_C(0x%llx), ", field->name,
          type_constant(field->type), field->reg, field->lsb, gen_width(field), ULL(field->min), ULL(field->max));
  if (field->value_count == 0)
    fprintf(out, "NULL, 0, ");
  else
    fprintf(out, "%s_%s_values, %zu, ", insn, field->name, field->value_count);
  gen_string(out, field->meaning);
  fprintf(out, "},\n");
}

static void emit_fields(FILE *out, const gen_insn *insn) {
  gen_ident name = gen_insn_ident(insn);
  size_t named = 0;
  for (size_t i = 0; i < insn->field_count; i++) emit_values(out, name.text, &insn->fields[i]);
  for (size_t i = 0; i < insn->field_count; i++) {
    if (insn->fields[i].type == GEN_RESERVED) continue;
    if (named++ == 0) fprintf(out, "static const isa_field %s_fields[] = {\n", name.text);
    emit_field(out, name.text, &insn->fields[i]);
  }
  if (named != 0) fprintf(out, "};\n");
}

// The library counts named fields only, the model also the reserved ones before it.
static size_t named_index(const gen_insn *insn, size_t index) {
  size_t named = 0;
  for (size_t i = 0; i < index; i++) named += insn->fields[i].type != GEN_RESERVED;
  return named;
}

static void emit_denies(FILE *out, const gen_insn *insn) {
  gen_ident name = gen_insn_ident(insn);
  for (size_t i = 0; i < insn->deny_count; i++) {
    const gen_deny *deny = &insn->denies[i];
    fprintf(out, "static const isa_term %s_terms_%zu[] = {", name.text, i);
    for (size_t k = 0; k < deny->term_count; k++)
      fprintf(out, "{%zu, UINT64_C(%llu)}, ", named_index(insn, deny->terms[k].field), ULL(deny->terms[k].value));
    fprintf(out, "};\n");
  }
  if (insn->deny_count == 0) return;
  fprintf(out, "static const isa_deny %s_denies[] = {\n", name.text);
  for (size_t i = 0; i < insn->deny_count; i++) {
    fprintf(out, "    {%s_terms_%zu, %zu, ", name.text, i, insn->denies[i].term_count);
    gen_string(out, insn->denies[i].reason);
    fprintf(out, "},\n");
  }
  fprintf(out, "};\n");
}

static uint64_t bits_of_type(const gen_insn *insn, unsigned reg, gen_type type) {
  uint64_t bits = 0;
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *field = &insn->fields[i];
    if (field->reg == reg && field->type == type) bits |= gen_ones(gen_width(field)) << field->lsb;
  }
  return bits;
}

static void emit_array(FILE *out, const char *insn, const char *what, size_t count) {
  if (count == 0)
    fprintf(out, "NULL, 0, ");
  else
    fprintf(out, "%s_%s, %zu, ", insn, what, count);
}

static void emit_insn(FILE *out, const gen_insn *insn) {
  static const char *const units[] = {
#define X(name, NAME) "ISA_UNIT_" #NAME,
      GEN_UNITS(X)
#undef X
  };
  gen_ident name = gen_insn_ident(insn);
  fprintf(out, "    {ISA_%s, \"%s\", %u, %s, %s, %u, ", gen_upper(name.text).text, insn->name, insn->funct,
          units[insn->unit], insn->returns ? "true" : "false",
          insn->revision == 0 ? (1U << GEN_REVISIONS) - 1 : 1U << (insn->revision - 1));
  emit_array(out, name.text, "fields", named_index(insn, insn->field_count));
  emit_array(out, name.text, "denies", insn->deny_count);
  fprintf(out, "UINT64_C(0x%llx), UINT64_C(0x%llx), ", ULL(bits_of_type(insn, 1, GEN_RESERVED)),
          ULL(bits_of_type(insn, 2, GEN_RESERVED)));
  fprintf(out, "UINT64_C(0x%llx), UINT64_C(0x%llx), ", ULL(gen_selector(insn, 1)),
          ULL(bits_of_type(insn, 2, GEN_TOKEN)));
  gen_string(out, insn->meaning);
  fprintf(out, "},\n");
}

static const gen_field *selector(const gen_insn *insn) {
  for (size_t i = 0; i < insn->field_count; i++)
    if (insn->fields[i].type == GEN_CONST) return &insn->fields[i];
  return NULL;
}

static const gen_insn *find(const gen_table *table, unsigned revision, unsigned funct, uint64_t value) {
  for (size_t i = 0; i < table->insn_count; i++) {
    const gen_insn *insn = &table->insns[i];
    const gen_field *field = selector(insn);
    if (insn->funct == funct && gen_in_revision(insn, revision) && (field == NULL || field->min == value)) return insn;
  }
  return NULL;
}

// The selector field that the instructions of a funct share: the one of any of them.
static const gen_field *selector_of_funct(const gen_table *table, unsigned revision, unsigned funct, bool *used) {
  *used = false;
  for (size_t i = 0; i < table->insn_count; i++) {
    if (table->insns[i].funct != funct || !gen_in_revision(&table->insns[i], revision)) continue;
    *used = true;
    return selector(&table->insns[i]);
  }
  return NULL;
}

// Two passes over the same order write the slots and the list they point into; list entry 0 means "no instruction".
static void emit_slots(FILE *out, const gen_table *table, bool list) {
  size_t next = 1;
  for (unsigned revision = 1; revision <= GEN_REVISIONS; revision++) {
    if (!list) fprintf(out, "    {\n");
    for (unsigned funct = 0; funct < GEN_FUNCTS; funct++) {
      bool used;
      const gen_field *field = selector_of_funct(table, revision, funct, &used);
      if (!used) continue;
      uint64_t mask = field == NULL ? 0 : gen_ones(gen_width(field));
      if (!list)
        fprintf(out, "        [%u] = {%zu, %u, %llu},\n", funct, next, field == NULL ? 0 : field->lsb, ULL(mask));
      for (uint64_t value = 0; list && value <= mask; value++) {
        const gen_insn *insn = find(table, revision, funct, value);
        fprintf(out, "    ISA_%s,\n", insn == NULL ? "ID_COUNT" : gen_upper(gen_insn_ident(insn).text).text);
      }
      next += mask + 1;
    }
    if (!list) fprintf(out, "    },\n");
  }
}

void gen_emit_table(FILE *out, const gen_table *table) {
  fprintf(out, "// Generated from the instruction table by isagen; do not edit.\n");
  if (table->local.field_count != 0) emit_fields(out, &table->local);
  for (size_t i = 0; i < table->insn_count; i++) {
    emit_fields(out, &table->insns[i]);
    emit_denies(out, &table->insns[i]);
  }
  fprintf(out, "const isa_insn isa_insns[ISA_ID_COUNT] = {\n");
  for (size_t i = 0; i < table->insn_count; i++) emit_insn(out, &table->insns[i]);
  fprintf(out, "};\nstatic const slot slots[ISA_REVISIONS][%d] = {\n", GEN_FUNCTS);
  emit_slots(out, table, false);
  fprintf(out, "};\nstatic const uint16_t selected[] = {\n    ISA_ID_COUNT,\n");
  emit_slots(out, table, true);
  fprintf(out, "};\n");
}
