// SPDX-License-Identifier: Apache-2.0
// The instruction set as data: what exists, how its operands are laid out, and their text form.
//
// Everything here comes from isa/gemmini.isa through isagen; isa/isa_fields.h has fixed-name accessors for code that
// knows which instruction it handles. Instructions are constant data that lives for ever. The library depends on
// nothing.
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa_fields.h"

typedef enum isa_type {
  ISA_TYPE_CONST,  // selects the instruction
  ISA_TYPE_BOOL,
  ISA_TYPE_UINT,
  ISA_TYPE_COUNT,
  ISA_TYPE_BYTES,
  ISA_TYPE_ROWS,
  ISA_TYPE_ELEMS,
  ISA_TYPE_DRAM,           // a 64-bit memory address
  ISA_TYPE_LOCAL_ADDRESS,  // a 32-bit local address, see isa_local_*
  ISA_TYPE_F32,            // a binary32 bit pattern
  ISA_TYPE_TOKEN,          // a bit that pops or pushes a token; absent from text when zero
} isa_type;

typedef struct isa_value {
  const char *name;
  uint64_t value;
} isa_value;

typedef struct isa_field {
  const char *name;
  isa_type type;
  unsigned reg;  // 1 or 2
  unsigned lsb, width;
  uint64_t min, max;  // inclusive; what fits the width is not always legal
  const isa_value *values;
  size_t value_count;
  const char *meaning;  // "" when the name says it all
} isa_field;

typedef struct isa_term {
  size_t field;  // index in the instruction's fields
  uint64_t value;
} isa_term;

// A combination of field values that the hardware does not accept.
typedef struct isa_deny {
  const isa_term *terms;
  size_t term_count;
  const char *reason;
} isa_deny;

typedef struct isa_insn {
  isa_id id;
  const char *name;
  unsigned funct;
  isa_unit unit;
  bool returns;        // writes rd
  unsigned revisions;  // bit r-1 is set when revision r has the instruction
  const isa_field *fields;
  size_t field_count;
  const isa_deny *denies;
  size_t deny_count;
  uint64_t reserved_rs1, reserved_rs2;  // bits that belong to no field
  uint64_t selector_rs1;                // value of the const fields
  uint64_t tokens;                      // bits of rs2 that pop and push tokens; 0: it has none
  const char *meaning;
} isa_insn;

extern const isa_insn isa_insns[ISA_ID_COUNT];
static inline const isa_insn *isa_insn_at(size_t id) {
  assert(id < ISA_ID_COUNT);
  return &isa_insns[id];
}

// The instruction that a command means in a revision (1 or 2), NULL when there is none.
const isa_insn *isa_find(unsigned revision, unsigned funct, uint64_t rs1);
const isa_insn *isa_find_name(unsigned revision, const char *name);
const isa_field *isa_find_field(const isa_insn *insn, const char *name);

static inline uint64_t isa_field_max(const isa_field *field) {
  return field->width == 64 ? UINT64_MAX : (UINT64_C(1) << field->width) - 1;
}
static inline uint64_t isa_field_get(const isa_field *field, uint64_t rs1, uint64_t rs2) {
  return (field->reg == 1 ? rs1 : rs2) >> field->lsb & isa_field_max(field);
}
static inline void isa_field_set(const isa_field *field, uint64_t *rs1, uint64_t *rs2, uint64_t value) {
  uint64_t *reg = field->reg == 1 ? rs1 : rs2, max = isa_field_max(field);
  *reg = (*reg & ~(max << field->lsb)) | (value & max) << field->lsb;
}

// Whether every field is in its range and no denied combination occurs; if not, `reason` (may be NULL with size 0)
// tells which field has which value and what is allowed.
bool isa_check(const isa_insn *insn, uint64_t rs1, uint64_t rs2, char *reason, size_t size);

// The name of a statistics command in a local address, NULL when there is none of this number.
const char *isa_local_norm_name(unsigned norm);

// Whether a funct writes configuration: those of loads and stores are done when they are issued.
static inline bool isa_configures(unsigned funct) {
  return funct == ISA_FUNCT_CONFIG_EX || funct == ISA_FUNCT_CONFIG_GATE;
}

// Room for the text of any command, final zero included.
enum { ISA_TEXT_MAX = 512 };

// Writes a command as text, `mvin dram=0x80010000 local=sp:0x40 cols=64 rows=16`: every field, tokens that are set, and
// bits outside fields as rs1=0x... or rs2=0x... when they are not zero. `insn` is what isa_find gives for the command.
// Returns the length of the whole text, of which at most size - 1 characters are stored.
//   numbers    decimal, named values by name, memory addresses in hexadecimal
//   local      sp:ROW or acc:ROW with +acc (accumulate), +full and the name of a statistics command; or garbage
//   f32        the shortest decimal number that reads back to the same bits; NaN as its bits in hexadecimal
size_t isa_print(const isa_insn *insn, uint64_t rs1, uint64_t rs2, char *text, size_t size);

typedef struct isa_text_error {
  size_t column;  // counted from 1
  char text[160];
} isa_text_error;

// Reads what isa_print writes, exactly; fields may stand in any order and those left out are zero. Values that fit
// their field but are not legal are accepted (isa_check is the judge). NULL and `error` when the text is wrong.
const isa_insn *isa_parse(unsigned revision, const char *text, uint64_t *rs1, uint64_t *rs2, isa_text_error *error);

// The generated Markdown reference of the whole instruction set.
const char *isa_reference_markdown(void);

// Disassembles one RV64IMAFDC_Zicsr_Zifencei instruction, or a custom one by the name of its funct, in the spelling of
// the GNU tools without aliases. `bits` holds at least the bytes of the instruction, lowest address in the low bits.
// Returns its length in bytes: 2 or 4.
int isa_rv64_disasm(uint32_t bits, uint64_t pc, char *text, size_t size);

#endif
