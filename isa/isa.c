// SPDX-License-Identifier: Apache-2.0
// Lookup and legality of commands over the generated table.
#include "isa/isa.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Where the instructions of one funct stand in `selected`, and which bits of rs1 pick among them. The zero slot leads
// to the entry that says "none".
typedef struct slot {
  uint16_t first;
  uint8_t shift, mask;
} slot;

#include "isa/isa_table.inc"

static const char reference[] =
#include "isa/isa_reference.inc"
    ;

const char *isa_reference_markdown(void) { return reference; }

const isa_insn *isa_find(unsigned revision, unsigned funct, uint64_t rs1) {
  assert(revision >= 1 && revision <= ISA_REVISIONS);
  if (funct >= sizeof slots[0] / sizeof slots[0][0]) return NULL;
  slot s = slots[revision - 1][funct];
  unsigned id = selected[s.first + (rs1 >> s.shift & s.mask)];
  return id == ISA_ID_COUNT ? NULL : &isa_insns[id];
}

const isa_insn *isa_find_name(unsigned revision, const char *name) {
  assert(revision >= 1 && revision <= ISA_REVISIONS);
  for (size_t i = 0; i < ISA_ID_COUNT; i++)
    if ((isa_insns[i].revisions >> (revision - 1) & 1) != 0 && strcmp(isa_insns[i].name, name) == 0)
      return &isa_insns[i];
  return NULL;
}

const isa_field *isa_find_field(const isa_insn *insn, const char *name) {
  for (size_t i = 0; i < insn->field_count; i++)
    if (strcmp(insn->fields[i].name, name) == 0) return &insn->fields[i];
  return NULL;
}

static bool in_range(const isa_insn *insn, const isa_field *field, uint64_t value, char *reason, size_t size) {
  if (value >= field->min && value <= field->max) return true;
  if (field->min == field->max)
    snprintf(reason, size, "%s: %s is %" PRIu64 ", must be %" PRIu64, insn->name, field->name, value, field->min);
  else
    snprintf(reason, size, "%s: %s is %" PRIu64 ", allowed are %" PRIu64 " to %" PRIu64, insn->name, field->name, value,
             field->min, field->max);
  return false;
}

static const char *value_name(const isa_field *field, uint64_t value) {
  for (size_t i = 0; i < field->value_count; i++)
    if (field->values[i].value == value) return field->values[i].name;
  return NULL;
}

const char *isa_local_norm_name(unsigned norm) {
  for (size_t i = 0; i < sizeof local_fields / sizeof *local_fields; i++)
    if (strcmp(local_fields[i].name, "norm") == 0) return value_name(&local_fields[i], norm);
  return NULL;
}

static void explain_deny(const isa_insn *insn, const isa_deny *deny, char *reason, size_t size) {
  size_t used = (size_t)snprintf(reason, size, "%s:", insn->name);
  for (size_t i = 0; i < deny->term_count && used < size; i++) {
    const isa_field *field = &insn->fields[deny->terms[i].field];
    const char *name = value_name(field, deny->terms[i].value);
    if (name != NULL)
      used += (size_t)snprintf(reason + used, size - used, " %s=%s", field->name, name);
    else
      used += (size_t)snprintf(reason + used, size - used, " %s=%" PRIu64, field->name, deny->terms[i].value);
  }
  if (used < size) snprintf(reason + used, size - used, ": %s", deny->reason);
}

static bool matches(const isa_insn *insn, const isa_deny *deny, uint64_t rs1, uint64_t rs2) {
  for (size_t i = 0; i < deny->term_count; i++)
    if (isa_field_get(&insn->fields[deny->terms[i].field], rs1, rs2) != deny->terms[i].value) return false;
  return true;
}

bool isa_check(const isa_insn *insn, uint64_t rs1, uint64_t rs2, char *reason, size_t size) {
  for (size_t i = 0; i < insn->field_count; i++)
    if (!in_range(insn, &insn->fields[i], isa_field_get(&insn->fields[i], rs1, rs2), reason, size)) return false;
  for (size_t i = 0; i < insn->deny_count; i++) {
    if (!matches(insn, &insn->denies[i], rs1, rs2)) continue;
    explain_deny(insn, &insn->denies[i], reason, size);
    return false;
  }
  return true;
}
