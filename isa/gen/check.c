// SPDX-License-Identifier: Apache-2.0
// Proves that an instruction table is sound: see the invariants in model.h. Reports every violation at its line.
#include <ctype.h>
#include <string.h>

#include "isa/gen/model.h"

gen_ident gen_insn_ident(const gen_insn *insn) {
  gen_ident ident;
  if (insn->revision == 0)
    snprintf(ident.text, sizeof ident.text, "%s", insn->name);
  else
    snprintf(ident.text, sizeof ident.text, "%s_r%u", insn->name, insn->revision);
  return ident;
}

gen_ident gen_upper(const char *name) {
  gen_ident ident;
  snprintf(ident.text, sizeof ident.text, "%s", name);
  for (char *p = ident.text; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
  return ident;
}

uint64_t gen_selector(const gen_insn *insn, unsigned reg) {
  uint64_t value = 0;
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *field = &insn->fields[i];
    if (field->type == GEN_CONST && field->reg == reg) value |= field->min << field->lsb;
  }
  return value;
}

static void check_width(const gen_field *field, wf_diag *diag) {
  static const unsigned required[] = {
#define X(name, NAME, width) width,
      GEN_TYPES(X)
#undef X
  };
  unsigned wanted = required[field->type], width = gen_width(field);
  if (wanted != 0 && wanted != width)
    wf_error(diag, field->where, "field '%s' has %u bits, type %s has %u", field->name, width,
             gen_type_names[field->type], wanted);
}

static void check_values(const gen_field *field, wf_diag *diag) {
  for (size_t i = 0; i < field->value_count; i++) {
    const gen_value *value = &field->values[i];
    if (value->value < field->min || value->value > field->max)
      wf_error(diag, value->where, "value %s=%llu is outside %llu..%llu", value->name, (unsigned long long)value->value,
               (unsigned long long)field->min, (unsigned long long)field->max);
    for (size_t k = 0; k < i; k++) {
      if (strcmp(field->values[k].name, value->name) == 0)
        wf_error(diag, value->where, "value name '%s' is used twice", value->name);
      if (field->values[k].value == value->value)
        wf_error(diag, value->where, "value %llu has two names", (unsigned long long)value->value);
    }
  }
}

static void check_field(const gen_insn *insn, size_t index, wf_diag *diag) {
  const gen_field *field = &insn->fields[index];
  if (field->type == GEN_RESERVED) return;
  check_width(field, diag);
  uint64_t ones = gen_ones(gen_width(field));
  if (field->min > field->max)
    wf_error(diag, field->where, "the range of field '%s' is empty", field->name);
  else if (field->max > ones)
    wf_error(diag, field->where, "value %llu of field '%s' does not fit %u bits", (unsigned long long)field->max,
             field->name, gen_width(field));
  check_values(field, diag);
  for (size_t k = 0; k < index; k++)
    if (insn->fields[k].name != NULL && strcmp(insn->fields[k].name, field->name) == 0)
      wf_error(diag, field->where, "field name '%s' is used twice in '%s'", field->name, insn->name);
}

static void check_coverage(const gen_insn *insn, unsigned reg, wf_diag *diag) {
  static const char *const reg_names[] = {"local", "rs1", "rs2"};
  const char *name = reg_names[reg];
  unsigned bits = reg == GEN_LOCAL ? 32 : 64;
  uint64_t covered = 0;
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *field = &insn->fields[i];
    if (field->reg != reg) continue;
    uint64_t mask = gen_ones(gen_width(field)) << field->lsb;
    if ((covered & mask) != 0)
      wf_error(diag, field->where, "%s[%u:%u] of '%s' overlaps an earlier field", name, field->msb, field->lsb,
               insn->name);
    if (field->msb >= bits) wf_error(diag, field->where, "%s has only %u bits", name, bits);
    covered |= mask;
  }
  for (unsigned lsb = 0; lsb < bits; lsb++) {
    if ((covered >> lsb & 1) != 0) continue;
    unsigned msb = lsb;
    while (msb < bits - 1 && (covered >> (msb + 1) & 1) == 0) msb++;
    wf_error(diag, insn->where, "%s[%u:%u] of '%s' is in no field", name, msb, lsb, insn->name);
    wf_hint(diag, "ignored bits are written as %s[%u:%u] -", name, msb, lsb);
    lsb = msb;
  }
}

static bool resolve_value(const gen_field *field, const char *text, uint64_t *value) {
  for (size_t i = 0; i < field->value_count; i++) {
    if (strcmp(field->values[i].name, text) != 0) continue;
    *value = field->values[i].value;
    return true;
  }
  return gen_number(text, value) && *value >= field->min && *value <= field->max;
}

static void resolve_term(const gen_insn *insn, gen_term *term, wf_diag *diag) {
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *field = &insn->fields[i];
    if (field->name == NULL || strcmp(field->name, term->field_name) != 0) continue;
    term->field = i;
    if (!resolve_value(field, term->value_text, &term->value))
      wf_error(diag, term->where, "field '%s' has no value '%s'", term->field_name, term->value_text);
    return;
  }
  wf_error(diag, term->where, "'%s' has no field '%s'", insn->name, term->field_name);
}

static const gen_field *find_selector(const gen_insn *insn) {
  for (size_t i = 0; i < insn->field_count; i++)
    if (insn->fields[i].type == GEN_CONST) return &insn->fields[i];
  return NULL;
}

// isa_find looks the selector up in rs1 with one shift and mask, so it has to be one short field of rs1.
static void check_selector(const gen_insn *insn, wf_diag *diag) {
  const gen_field *selector = find_selector(insn);
  for (size_t i = 0; i < insn->field_count; i++) {
    const gen_field *field = &insn->fields[i];
    if (field->type != GEN_CONST) continue;
    if (field != selector) wf_error(diag, field->where, "'%s' has more than one const field", insn->name);
    if (field->reg != 1 || gen_width(field) > GEN_SELECTOR_BITS)
      wf_error(diag, field->where, "a const field stands in rs1 and has at most %d bits", GEN_SELECTOR_BITS);
  }
}

static bool share_revision(const gen_insn *a, const gen_insn *b) {
  return a->revision == 0 || b->revision == 0 || a->revision == b->revision;
}

static void check_distinct(const gen_insn *a, const gen_insn *b, wf_diag *diag) {
  if (strcmp(a->name, b->name) == 0) {
    if (share_revision(a, b)) wf_error(diag, b->where, "instruction name '%s' is used twice", b->name);
    if (a->funct != b->funct) wf_error(diag, b->where, "'%s' changes its funct between revisions", b->name);
  }
  if (a->funct != b->funct || !share_revision(a, b)) return;
  const gen_field *of_a = find_selector(a), *of_b = find_selector(b);
  if (of_a == NULL || of_b == NULL || of_a->lsb != of_b->lsb || of_a->msb != of_b->msb)
    wf_error(diag, b->where, "'%s' and '%s' share funct %u and need const fields at the same bits", a->name, b->name,
             a->funct);
  else if (of_a->min == of_b->min)
    wf_error(diag, b->where, "'%s' and '%s' share funct %u and selector %llu", a->name, b->name, a->funct,
             (unsigned long long)of_a->min);
}

// Two fields may give one accessor name through different splits: a_b + c and a + b_c.
static void check_accessors(const gen_table *table, const gen_insn *insn, size_t field, wf_diag *diag) {
  if (insn->fields[field].name == NULL) return;
  char wanted[320], other[320];
  snprintf(wanted, sizeof wanted, "%s_%s", gen_insn_ident(insn).text, insn->fields[field].name);
  for (const gen_insn *before = table->insns; before < insn; before++) {
    for (size_t k = 0; k < before->field_count; k++) {
      if (before->fields[k].name == NULL) continue;
      snprintf(other, sizeof other, "%s_%s", gen_insn_ident(before).text, before->fields[k].name);
      if (strcmp(wanted, other) == 0)
        wf_error(diag, insn->fields[field].where, "accessor name '%s' is used twice", wanted);
    }
  }
}

static bool has_local_field(const gen_table *table) {
  for (size_t i = 0; i < table->insn_count; i++)
    for (size_t k = 0; k < table->insns[i].field_count; k++)
      if (table->insns[i].fields[k].type == GEN_LOCAL_ADDRESS) return true;
  return false;
}

static void check_local(const gen_table *table, wf_diag *diag) {
  if (table->local.field_count == 0 && !has_local_field(table)) return;
  check_coverage(&table->local, GEN_LOCAL, diag);
  for (size_t k = 0; k < table->local.field_count; k++) check_field(&table->local, k, diag);
}

// The numbers are those of the bits of the RTL's event vector, in which a gap would be a bit without a driver.
static void check_events(const gen_events *events, const char *what, wf_diag *diag) {
  for (size_t i = 0; i < events->count; i++) {
    const gen_event *event = &events->list[i];
    if (event->number >= GEN_EVENTS)
      wf_error(diag, event->where, "%s %llu does not fit a counter command, the last number is %d", what,
               (unsigned long long)event->number, GEN_EVENTS - 1);
    else if (event->number != i)
      wf_error(diag, event->where, "%s %llu is out of order, the next number is %zu", what,
               (unsigned long long)event->number, i);
    for (size_t k = 0; k < i; k++)
      if (strcmp(events->list[k].name, event->name) == 0)
        wf_error(diag, event->where, "%s name '%s' is used twice", what, event->name);
  }
}

static void check_insn(gen_table *table, gen_insn *insn, wf_diag *diag) {
  for (unsigned reg = 1; reg <= 2; reg++) check_coverage(insn, reg, diag);
  for (size_t k = 0; k < insn->field_count; k++) {
    check_field(insn, k, diag);
    check_accessors(table, insn, k, diag);
  }
  for (size_t k = 0; k < insn->deny_count; k++)
    for (size_t t = 0; t < insn->denies[k].term_count; t++) resolve_term(insn, &insn->denies[k].terms[t], diag);
  check_selector(insn, diag);
  for (const gen_insn *before = table->insns; before < insn; before++) check_distinct(before, insn, diag);
}

void gen_check(gen_table *table, wf_diag *diag) {
  if (table->opcode_where.line == 0) wf_error(diag, wf_in_file(table->file), "the table gives no opcode");
  if (table->opcode_where.line != 0 && (table->opcode > 127 || (table->opcode & 3) != 3))
    wf_error(diag, table->opcode_where, "opcode 0x%llx is not the opcode of a 32-bit instruction",
             (unsigned long long)table->opcode);
  if (table->insn_count == 0) wf_error(diag, wf_in_file(table->file), "the table gives no instruction");
  check_local(table, diag);
  check_events(&table->events, "event", diag);
  check_events(&table->externals, "external", diag);
  for (size_t i = 0; i < table->insn_count; i++) check_insn(table, &table->insns[i], diag);
}
