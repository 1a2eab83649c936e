// SPDX-License-Identifier: Apache-2.0
// Writes isa_reference.md, and the same text as a C string for the library (isa_reference.inc).
#include <stdlib.h>

#include "base/alloc.h"
#include "isa/gen/model.h"

#define ULL(x) ((unsigned long long)(x))

// A bar would end the table cell.
static void emit_cell(FILE *out, const char *text) {
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '|') fputc('\\', out);
    fputc(*p, out);
  }
}

static const char *revisions(const gen_insn *insn) {
  static const char *const names[GEN_REVISIONS + 1] = {"1 and 2", "1", "2"};
  return names[insn->revision];
}

static void emit_bits(FILE *out, const gen_field *field) {
  static const char *const reg_names[] = {"", "rs1", "rs2"};
  fprintf(out, "| %s", reg_names[field->reg]);
  if (field->msb == field->lsb)
    fprintf(out, "[%u] | ", field->lsb);
  else
    fprintf(out, "[%u:%u] | ", field->msb, field->lsb);
}

static void emit_values(FILE *out, const gen_field *field) {
  if (field->type == GEN_CONST)
    fprintf(out, "%llu", ULL(field->min));
  else if (field->value_count == 0 && (field->min != 0 || field->max != gen_ones(gen_width(field))))
    fprintf(out, "%llu..%llu", ULL(field->min), ULL(field->max));
  for (size_t i = 0; i < field->value_count; i++)
    fprintf(out, "%s%llu %s", i == 0 ? "" : ", ", ULL(field->values[i].value), field->values[i].name);
}

static void emit_field(FILE *out, const gen_field *field) {
  emit_bits(out, field);
  if (field->type == GEN_RESERVED) {
    fprintf(out, "- | | | ");
  } else {
    fprintf(out, "%s | %s | ", field->name, gen_type_names[field->type]);
    emit_values(out, field);
    fprintf(out, " | ");
  }
  emit_cell(out, field->meaning);
  fprintf(out, " |\n");
}

static void emit_fields(FILE *out, const gen_insn *insn) {
  fprintf(out, "\n| bits | field | type | values | meaning |\n| --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; i < insn->field_count; i++) emit_field(out, &insn->fields[i]);
}

static void emit_denies(FILE *out, const gen_insn *insn) {
  if (insn->deny_count != 0) fprintf(out, "\nRefused:\n");
  for (size_t i = 0; i < insn->deny_count; i++) {
    fprintf(out, "- ");
    for (size_t k = 0; k < insn->denies[i].term_count; k++)
      fprintf(out, "%s=%s ", insn->denies[i].terms[k].field_name, insn->denies[i].terms[k].value_text);
    fprintf(out, "(%s)\n", insn->denies[i].reason);
  }
}

static void emit_insn(FILE *out, const gen_insn *insn) {
  fprintf(out, "\n## %s", insn->name);
  if (insn->revision != 0) fprintf(out, " (revision %u)", insn->revision);
  fprintf(out, "\n\nfunct %u, unit %s, revision %s%s: %s.\n", insn->funct, gen_unit_names[insn->unit], revisions(insn),
          insn->returns ? ", returns a value" : "", insn->meaning);
  emit_fields(out, insn);
  emit_denies(out, insn);
}

static void emit_summary(FILE *out, const gen_table *table) {
  fprintf(
      out,
      "\n| funct | selector | instruction | revisions | unit | meaning |\n| ---: | --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; i < table->insn_count; i++) {
    const gen_insn *insn = &table->insns[i];
    fprintf(out, "| %u | ", insn->funct);
    for (size_t k = 0; k < insn->field_count; k++)
      if (insn->fields[k].type == GEN_CONST)
        fprintf(out, "rs1[%u:%u] = %llu", insn->fields[k].msb, insn->fields[k].lsb, ULL(insn->fields[k].min));
    fprintf(out, " | %s | %s | %s | ", insn->name, revisions(insn), gen_unit_names[insn->unit]);
    emit_cell(out, insn->meaning);
    fprintf(out, " |\n");
  }
}

static void emit_events(FILE *out, const gen_events *events, const char *heading) {
  if (events->count == 0) return;
  fprintf(out, "\n## %s\n\n| number | name | unit | meaning |\n| ---: | --- | --- | --- |\n", heading);
  for (size_t i = 0; i < events->count; i++) {
    const gen_event *event = &events->list[i];
    fprintf(out, "| %llu | %s | %s | ", ULL(event->number), event->name, gen_event_unit_names[event->unit]);
    emit_cell(out, event->meaning);
    fprintf(out, " |\n");
  }
}

void gen_emit_reference(FILE *out, const gen_table *table) {
  fprintf(out, "# Instruction reference\n\n");
  fprintf(
      out,
      "Generated from the instruction table. Every command is an R-type instruction with opcode 0x%llx; funct7 is the\n"
      "funct below, funct3 is 3, or 7 for a command that returns a value in rd. Operands are the 64-bit values of the\n"
      "registers rs1 and rs2. Bits without a field (-) are ignored.\n",
      ULL(table->opcode));
  emit_summary(out, table);
  if (table->local.field_count != 0) {
    fprintf(out, "\n## Local addresses\n");
    emit_fields(out, &table->local);
  }
  emit_events(out, &table->events, "Events");
  emit_events(out, &table->externals, "External values of counters");
  for (size_t i = 0; i < table->insn_count; i++) emit_insn(out, &table->insns[i]);
}

// One string literal per line keeps the file readable.
void gen_emit_text(FILE *out, const gen_table *table) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (memory == NULL) exit(WF_EXIT_NO_MEMORY);
  gen_emit_reference(memory, table);
  if (fclose(memory) != 0) exit(WF_EXIT_NO_MEMORY);
  fprintf(out, "// Generated from the instruction table by isagen; do not edit.\n");
  for (char *line = text, *next; *line != '\0'; line = next) {
    next = line;
    while (*next != '\n') next++;
    *next++ = '\0';
    gen_string(out, line);
    fprintf(out, " \"\\n\"\n");
  }
  free(text);
}
