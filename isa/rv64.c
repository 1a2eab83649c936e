// SPDX-License-Identifier: Apache-2.0
// Disassembler for the host's instructions: RV64IMAFDC_Zicsr_Zifencei, and the custom instructions through the ISA
// table. The tables are in isa/rv64_table.inc; the code here gathers operand bits and prints them.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/isa.h"

typedef enum printer {
  PRINT_X,
  PRINT_F,
  PRINT_X_SHORT,  // x8..x15, from three bits
  PRINT_F_SHORT,
  PRINT_SP,
  PRINT_DECIMAL,
  PRINT_HEX,
  PRINT_LUI,  // the 20 bits that the sign-extended value gives
  PRINT_TARGET,
  PRINT_CSR,
  PRINT_FENCE,
  PRINT_ROUNDING,  // with its comma; the dynamic mode prints nothing
} printer;

// `width` bits from bit `from` of the instruction become bits `to` and up of the operand. Width 0 ends the list.
typedef struct piece {
  uint8_t from, width, to;
} piece;

typedef struct operand {
  char letter;
  printer print;
  uint8_t sign;  // number of the sign bit, 0: unsigned
  piece pieces[8];
} operand;

typedef struct pattern {
  const char *name, *operands;  // operands NULL: a reserved encoding
  uint32_t match, mask;
} pattern;

typedef struct csr_range {
  uint16_t first, count;
  const char *name;
  int start;
  const char *ending;
} csr_range;

#include "isa/rv64_table.inc"

static const char *const x_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                      "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                      "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const f_names[] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                      "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                      "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

typedef struct out {
  char *text;
  size_t size, length;
} out;

static void put(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(out *o, const char *format, ...) {
  va_list args;
  va_start(args, format);
  size_t room = o->length < o->size ? o->size - o->length : 0;
  int length = vsnprintf(room == 0 ? NULL : o->text + o->length, room, format, args);
  va_end(args);
  if (length > 0) o->length += (size_t)length;
}

static int64_t gather(const operand *op, uint32_t bits) {
  uint64_t value = 0;
  for (const piece *p = op->pieces; p < op->pieces + 8 && p->width != 0; p++)
    value |= (uint64_t)(bits >> p->from & ((1U << p->width) - 1)) << p->to;
  if (op->sign == 0) return (int64_t)value;
  uint64_t sign = UINT64_C(1) << op->sign;
  return (int64_t)((value ^ sign) - sign);
}

static void put_csr(out *o, unsigned number) {
  for (size_t i = 0; i < sizeof csr_ranges / sizeof *csr_ranges; i++) {
    const csr_range *r = &csr_ranges[i];
    if (number < r->first || number >= (unsigned)r->first + r->count) continue;
    if (r->start < 0)
      put(o, "%s", r->name);
    else
      put(o, "%s%d%s", r->name, r->start + (int)(number - r->first), r->ending);
    return;
  }
  put(o, "0x%x", number);
}

static void put_fence(out *o, unsigned set) {
  static const char letters[] = "wroi";
  if (set == 0) put(o, "unknown");
  for (int i = 3; i >= 0; i--)
    if ((set >> i & 1) != 0) put(o, "%c", letters[i]);
}

static void put_rounding(out *o, unsigned mode) {
  static const char *const modes[] = {", rne", ", rtz", ", rdn", ", rup", ", rmm", ", unknown", ", unknown", ""};
  put(o, "%s", modes[mode]);
}

static void put_operand(out *o, const operand *op, uint32_t bits, uint64_t pc) {
  int64_t value = gather(op, bits);
  unsigned small = (unsigned)value;
  switch (op->print) {
    case PRINT_X:
      put(o, "%s", x_names[small]);
      break;
    case PRINT_F:
      put(o, "%s", f_names[small]);
      break;
    case PRINT_X_SHORT:
      put(o, "%s", x_names[8 + small]);
      break;
    case PRINT_F_SHORT:
      put(o, "%s", f_names[8 + small]);
      break;
    case PRINT_SP:
      put(o, "sp");
      break;
    case PRINT_DECIMAL:
      put(o, "%" PRId64, value);
      break;
    case PRINT_HEX:
      put(o, "0x%" PRIx64, (uint64_t)value);
      break;
    case PRINT_LUI:
      put(o, "0x%x", small & 0xfffff);
      break;
    case PRINT_TARGET:
      put(o, "0x%" PRIx64, pc + (uint64_t)value);
      break;
    case PRINT_CSR:
      put_csr(o, small);
      break;
    case PRINT_FENCE:
      put_fence(o, small);
      break;
    case PRINT_ROUNDING:
      put_rounding(o, small);
      break;
  }
}

static void put_name(out *o, const char *name, uint32_t bits) {
  static const char *const orders[] = {"", ".rl", ".aq", ".aqrl"};
  for (; *name != '\0'; name++) {
    if (*name == '*')
      put(o, "%s", orders[bits >> 25 & 3]);
    else
      put(o, "%c", *name);
  }
}

static const operand *find_operand(const operand *operands, char letter) {
  for (; operands->letter != 0; operands++)
    if (operands->letter == letter) return operands;
  return NULL;
}

static void put_pattern(out *o, const pattern *p, const operand *operands, uint32_t bits, uint64_t pc) {
  put_name(o, p->name, bits);
  if (*p->operands != '\0') put(o, " ");
  for (const char *c = p->operands; *c != '\0'; c++) {
    const operand *op = find_operand(operands, *c);
    if (op != NULL)
      put_operand(o, op, bits, pc);
    else if (*c == ',')
      put(o, ", ");
    else
      put(o, "%c", *c);
  }
}

static const pattern *find_pattern(const pattern *patterns, uint32_t bits) {
  for (; patterns->name != NULL; patterns++)
    if ((bits & patterns->mask) == patterns->match) return patterns->operands == NULL ? NULL : patterns;
  return NULL;
}

// Operands are in registers, so the word tells the funct but not the selector or the revision: print what the
// instructions of the funct have in common, `config` for config_ex, config_ld, ...
static size_t common_name(unsigned funct, const char **name, bool *returns) {
  size_t length = 0;
  *name = NULL;
  for (size_t i = 0; i < ISA_ID_COUNT; i++) {
    const isa_insn *insn = isa_insn_at(i);
    if (insn->funct != funct) continue;
    if (*name == NULL) {
      *name = insn->name;
      *returns = insn->returns;
      length = strlen(insn->name);
    }
    size_t same = 0;
    while (same < length && insn->name[same] == (*name)[same]) same++;
    if (same < length || insn->name[same] != '\0') length = same;
  }
  while (length > 0 && (*name)[length - 1] == '_') length--;
  return length;
}

static bool put_custom(out *o, uint32_t bits) {
  const char *name;
  bool returns = false;
  size_t length = common_name(bits >> 25, &name, &returns);
  if (length == 0 || (bits >> 12 & 7) != (returns ? 7 : 3)) return false;
  put(o, "%.*s ", (int)length, name);
  if (returns) put(o, "%s, ", x_names[bits >> 7 & 31]);
  put(o, "%s, %s", x_names[bits >> 15 & 31], x_names[bits >> 20 & 31]);
  return true;
}

int isa_rv64_disasm(uint32_t bits, uint64_t pc, char *text, size_t size) {
  out o = {text, size, 0};
  bool half = (bits & 3) != 3;
  if (half) bits &= 0xffff;
  const pattern *p = find_pattern(half ? half_patterns : word_patterns, bits);
  if (p != NULL)
    put_pattern(&o, p, half ? half_operands : word_operands, bits, pc);
  else if (half)
    put(&o, ".half 0x%04" PRIx32, bits);
  else if ((bits & 0x7f) != ISA_OPCODE || !put_custom(&o, bits))
    put(&o, ".word 0x%08" PRIx32, bits);
  return half ? 2 : 4;
}
