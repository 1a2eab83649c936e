// SPDX-License-Identifier: Apache-2.0
// Decoding: the table of instructions (rv64_ops.def) with the masks and fields of its formats (rv64_formats.def).
// Compressed instructions are expanded first. Decoding happens once per instruction executed, so a linear search will
// do.
#include <string.h>

#include "sim/host/rv64.h"

typedef enum { REG_X, REG_F, REG_N } reg_kind;
typedef enum { IMM_NONE, IMM_I, IMM_S, IMM_B, IMM_U, IMM_J, IMM_SHIFT, IMM_CSR, IMM_ROUND, IMM_FUNCT7 } imm_kind;

typedef enum {
#define FORMAT(name, ...) FORMAT_##name,
#include "sim/host/rv64_formats.def"
} format_index;

typedef struct {
  uint32_t mask;
  reg_kind rd;
  imm_kind imm;
} format;

static const format formats[] = {
#define FORMAT(name, mask, rd, rs1, rs2, rs3, imm) {mask, REG_##rd, IMM_##imm},
#include "sim/host/rv64_formats.def"
};

typedef struct {
  const char *name;
  uint32_t match;
  format_index format;
} encoding;

static const encoding encodings[RV64_OP_COUNT] = {
#define OP(name, match, format, ...) [RV64_OP_##name] = {#name, match, FORMAT_##format},
#define OPC OP
#include "sim/host/rv64_ops.def"
};

const char *rv64_op_name(rv64_op_index index) { return encodings[index].name; }

// Bits [low, low + count) of the word, moved to bit `to`.
static uint32_t bits(uint32_t word, unsigned low, unsigned count, unsigned to) {
  return (word >> low & ((UINT32_C(1) << count) - 1)) << to;
}

static int32_t sign_extend(uint32_t value, unsigned width) { return (int32_t)(value << (32 - width)) >> (32 - width); }

static int32_t immediate(uint32_t word, imm_kind kind) {
  switch (kind) {
    case IMM_I:
      return sign_extend(bits(word, 20, 12, 0), 12);
    case IMM_S:
      return sign_extend(bits(word, 25, 7, 5) | bits(word, 7, 5, 0), 12);
    case IMM_B:
      return sign_extend(bits(word, 31, 1, 12) | bits(word, 7, 1, 11) | bits(word, 25, 6, 5) | bits(word, 8, 4, 1), 13);
    case IMM_U:
      return (int32_t)(word & 0xfffff000);
    case IMM_J:
      return sign_extend(bits(word, 31, 1, 20) | bits(word, 12, 8, 12) | bits(word, 20, 1, 11) | bits(word, 21, 10, 1),
                         21);
    case IMM_SHIFT:
      return (int32_t)bits(word, 20, 6, 0);
    case IMM_CSR:
      return (int32_t)bits(word, 20, 12, 0);
    case IMM_ROUND:
      return (int32_t)bits(word, 12, 3, 0);
    case IMM_FUNCT7:
      return (int32_t)bits(word, 25, 7, 0);
    case IMM_NONE:
      break;
  }
  return 0;
}

static rv64_op_index find(uint32_t word) {
  for (rv64_op_index i = RV64_OP_SELF_JUMP + 1; i < RV64_OP_COUNT; i++) {
    if ((word & formats[encodings[i].format].mask) == encodings[i].match) return i;
  }
  return RV64_OP_ILLEGAL;
}

static rv64_op_index decode_word(uint32_t word, rv64_op *op) {
  rv64_op_index index = find(word);
  if (index == RV64_OP_ILLEGAL) return index;
  const format *f = &formats[encodings[index].format];
  op->imm = immediate(word, f->imm);
  op->rd = (uint8_t)bits(word, 7, 5, 0);
  op->rs1 = (uint8_t)bits(word, 15, 5, 0);
  op->rs2 = (uint8_t)bits(word, 20, 5, 0);
  op->rs3 = (uint8_t)bits(word, 27, 5, 0);
  if (f->rd == REG_X && op->rd == 0) op->rd = RV64_SINK;
  if (f->imm == IMM_ROUND && (op->imm == 5 || op->imm == 6)) return RV64_OP_ILLEGAL;
  if (index == RV64_OP_jal && op->imm == 0) return RV64_OP_SELF_JUMP;
  return index;
}

rv64_decoded rv64_decode(const host *h, uint64_t pc, rv64_op *op) {
  uint16_t low, high;
  const uint8_t *at = arch_memory_at(h->memory, pc, sizeof low);
  if (at == NULL) return (rv64_decoded){.index = RV64_OP_ILLEGAL, .fault = pc};
  memcpy(&low, at, sizeof low);
  if ((low & 3) != 3) return (rv64_decoded){.index = decode_word(rv64_expand(low), op), .length = 2};
  at = arch_memory_at(h->memory, pc + 2, sizeof high);
  if (at == NULL) return (rv64_decoded){.index = RV64_OP_ILLEGAL, .fault = pc + 2};
  memcpy(&high, at, sizeof high);
  return (rv64_decoded){.index = decode_word((uint32_t)high << 16 | low, op), .length = 4};
}

uint32_t rv64_fetch(const host *h, uint64_t pc) {
  uint16_t low, high;
  const uint8_t *at = arch_memory_at(h->memory, pc, sizeof low);
  if (at == NULL) return 0;
  memcpy(&low, at, sizeof low);
  if ((low & 3) != 3) return low;
  at = arch_memory_at(h->memory, pc + 2, sizeof high);
  if (at == NULL) return 0;
  memcpy(&high, at, sizeof high);
  return (uint32_t)high << 16 | low;
}
