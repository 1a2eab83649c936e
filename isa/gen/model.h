// SPDX-License-Identifier: Apache-2.0
// The instruction table in memory, as isagen reads it: gen_read parses, gen_check proves it sound, the emitters print
// it.
//
// Invariants after gen_check: every operand bit of every instruction is covered by exactly one field, ranges and named
// values fit their field, names are unique, instructions that share a funct and a revision differ in their selector,
// and events are numbered from 0 without a gap. All text belongs to the table; gen_table_free releases everything.
#ifndef ISA_GEN_MODEL_H
#define ISA_GEN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"

// X(name, NAME, required width or 0)
#define GEN_TYPES(X)          \
  X(const, CONST, 0)          \
  X(bool, BOOL, 1)            \
  X(uint, UINT, 0)            \
  X(count, COUNT, 0)          \
  X(bytes, BYTES, 0)          \
  X(rows, ROWS, 0)            \
  X(elems, ELEMS, 0)          \
  X(dram, DRAM, 64)           \
  X(local, LOCAL_ADDRESS, 32) \
  X(f32, F32, 32)             \
  X(token, TOKEN, 1)

#define GEN_UNITS(X)          \
  X(execute, EXECUTE)         \
  X(load, LOAD)               \
  X(store, STORE)             \
  X(front, FRONT)             \
  X(loop_matmul, LOOP_MATMUL) \
  X(loop_conv, LOOP_CONV)     \
  X(counter, COUNTER)

// Modules that report performance events.
#define GEN_EVENT_UNITS(X) \
  X(none)                  \
  X(controllers)           \
  X(load_controller)       \
  X(store_controller)      \
  X(execute_controller)    \
  X(preload_unroller)      \
  X(page_filter)           \
  X(dma_reader)            \
  X(dma_writer)            \
  X(reservation_station)   \
  X(loop_matmul)

typedef enum gen_type {
#define X(name, NAME, width) GEN_##NAME,
  GEN_TYPES(X)
#undef X
      GEN_RESERVED  // a line of ignored bits: `-` instead of a name
} gen_type;

// A counter command has six bits for the number of an event.
enum { GEN_LOCAL = 0, GEN_REVISIONS = 2, GEN_FUNCTS = 128, GEN_SELECTOR_BITS = 4, GEN_NAME_MAX = 64, GEN_EVENTS = 64 };

typedef struct gen_value {
  wf_location where;
  const char *name;
  uint64_t value;
} gen_value;

typedef struct gen_field {
  wf_location where;
  const char *name;        // NULL: reserved
  unsigned reg, msb, lsb;  // reg 1 or 2, or GEN_LOCAL for a field of a local address
  gen_type type;
  uint64_t min, max;  // a const field has min == max
  gen_value *values;
  size_t value_count;
  const char *meaning;  // "" when the table gives none
} gen_field;

typedef struct gen_term {
  wf_location where;
  const char *field_name, *value_text;
  size_t field;  // index in the instruction; gen_check resolves both
  uint64_t value;
} gen_term;

typedef struct gen_deny {
  gen_term *terms;
  size_t term_count;
  const char *reason;
} gen_deny;

typedef struct gen_insn {
  wf_location where;
  const char *name;
  unsigned revision;  // 0: both
  unsigned funct;
  unsigned unit;
  bool returns;
  const char *meaning;
  gen_field *fields;
  size_t field_count;
  gen_deny *denies;
  size_t deny_count;
} gen_insn;

typedef struct gen_event {
  wf_location where;
  uint64_t number;
  const char *name;
  unsigned unit;  // of GEN_EVENT_UNITS
  const char *meaning;
} gen_event;

// The events that counters count, or the external values that counters read. gen_check: event i has number i.
typedef struct gen_events {
  gen_event *list;
  size_t count;
} gen_events;

typedef struct gen_table {
  const char *file;
  wf_location opcode_where;
  uint64_t opcode;
  gen_insn local;  // the layout of a local address, as the fields of a nameless instruction
  gen_events events, externals;
  gen_insn *insns;
  size_t insn_count;
  char **texts;
  size_t text_count;
} gen_table;

typedef void gen_emitter(FILE *out, const gen_table *table);

void gen_read(gen_table *table, const char *file, const char *text, size_t length, wf_diag *diag);
void gen_check(gen_table *table, wf_diag *diag);
void gen_table_free(gen_table *table);

extern const char *const gen_type_names[];
extern const char *const gen_unit_names[];
extern const char *const gen_event_unit_names[];

static inline unsigned gen_width(const gen_field *field) { return field->msb - field->lsb + 1; }
static inline uint64_t gen_ones(unsigned width) { return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1; }
static inline bool gen_in_revision(const gen_insn *insn, unsigned revision) {
  return insn->revision == 0 || insn->revision == revision;
}

// The name with which generated identifiers start: `loop_ws_r2`, or `LOOP_WS_R2` in upper case.
typedef struct gen_ident {
  char text[160];
} gen_ident;
gen_ident gen_insn_ident(const gen_insn *insn);
gen_ident gen_upper(const char *name);
// The operand value that the const fields of an instruction put into register `reg`.
uint64_t gen_selector(const gen_insn *insn, unsigned reg);

// Writes text as a C string literal.
void gen_string(FILE *out, const char *text);

gen_emitter gen_emit_fields, gen_emit_table, gen_emit_driver, gen_emit_package, gen_emit_reference, gen_emit_text;

// Decimal or 0x hexadecimal, the whole word, without overflow.
bool gen_number(const char *word, uint64_t *value);
// Whether the instruction is the first of its name, so that names shared by two revisions are written once.
bool gen_first_of_name(const gen_table *table, size_t index);

#endif
