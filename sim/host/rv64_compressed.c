// SPDX-License-Identifier: Apache-2.0
// Compressed instructions: each is expanded to the 4-byte instruction that it abbreviates. 0, which is no instruction,
// stands for the reserved ones. Hints (rd = x0 where that is useless) expand to instructions that do nothing.
#include "sim/host/rv64.h"

enum { OPCODE_IMM = 0x13, OPCODE_IMM32 = 0x1b, OPCODE_OP = 0x33, OPCODE_OP32 = 0x3b, OPCODE_BRANCH = 0x63 };
enum { OPCODE_LOAD = 0x03, OPCODE_STORE = 0x23, OPCODE_FLOAD = 0x07, OPCODE_FSTORE = 0x27, OPCODE_LUI = 0x37 };
enum { OPCODE_JALR = 0x67, OPCODE_JAL = 0x6f };
enum { WORD = 2, DOUBLE = 3 };  // funct3 of loads and stores

// Bits [low, low + count) of c, moved to bit `to`.
static uint32_t field(uint32_t c, unsigned low, unsigned count, unsigned to) {
  return (c >> low & ((UINT32_C(1) << count) - 1)) << to;
}

static uint32_t type_i(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t imm) {
  return (imm & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t type_r(uint32_t opcode, uint32_t funct3, uint32_t funct7, uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t type_s(uint32_t opcode, uint32_t funct3, uint32_t rs1, uint32_t rs2, uint32_t imm) {
  return field(imm, 5, 7, 25) | rs2 << 20 | rs1 << 15 | funct3 << 12 | field(imm, 0, 5, 7) | opcode;
}

static uint32_t type_b(uint32_t funct3, uint32_t rs1, uint32_t imm) {
  return field(imm, 12, 1, 31) | field(imm, 5, 6, 25) | rs1 << 15 | funct3 << 12 | field(imm, 1, 4, 8) |
         field(imm, 11, 1, 7) | OPCODE_BRANCH;
}

static uint32_t type_j(uint32_t imm) {
  return field(imm, 20, 1, 31) | field(imm, 1, 10, 21) | field(imm, 11, 1, 20) | field(imm, 12, 8, 12) | OPCODE_JAL;
}

static uint32_t full(uint32_t c, unsigned low) { return field(c, low, 5, 0); }       // a 5-bit register
static uint32_t prime(uint32_t c, unsigned low) { return 8 + field(c, low, 3, 0); }  // one of x8..x15

static uint32_t sign(uint32_t value, unsigned width) {
  return (uint32_t)((int32_t)(value << (32 - width)) >> (32 - width));
}

static uint32_t imm6(uint32_t c) { return sign(field(c, 12, 1, 5) | field(c, 2, 5, 0), 6); }
static uint32_t shamt(uint32_t c) { return field(c, 12, 1, 5) | field(c, 2, 5, 0); }
static uint32_t offset_w(uint32_t c) { return field(c, 10, 3, 3) | field(c, 6, 1, 2) | field(c, 5, 1, 6); }
static uint32_t offset_d(uint32_t c) { return field(c, 10, 3, 3) | field(c, 5, 2, 6); }

// Quadrant 0: loads and stores through x8..x15, and addi4spn.
static uint32_t quadrant0(uint32_t c) {
  uint32_t rd = prime(c, 2), rs1 = prime(c, 7);
  switch (c >> 13) {
    case 0: {
      uint32_t imm = field(c, 11, 2, 4) | field(c, 7, 4, 6) | field(c, 6, 1, 2) | field(c, 5, 1, 3);
      return imm == 0 ? 0 : type_i(OPCODE_IMM, 0, rd, 2, imm);
    }
    case 1:
      return type_i(OPCODE_FLOAD, DOUBLE, rd, rs1, offset_d(c));
    case 2:
      return type_i(OPCODE_LOAD, WORD, rd, rs1, offset_w(c));
    case 3:
      return type_i(OPCODE_LOAD, DOUBLE, rd, rs1, offset_d(c));
    case 5:
      return type_s(OPCODE_FSTORE, DOUBLE, rs1, rd, offset_d(c));
    case 6:
      return type_s(OPCODE_STORE, WORD, rs1, rd, offset_w(c));
    case 7:
      return type_s(OPCODE_STORE, DOUBLE, rs1, rd, offset_d(c));
    default:
      return 0;
  }
}

static uint32_t arithmetic(uint32_t c) {
  uint32_t rd = prime(c, 7), rs2 = prime(c, 2);
  static const struct {
    uint32_t opcode, funct3, funct7;
  } pairs[8] = {{OPCODE_OP, 0, 0x20},   {OPCODE_OP, 4, 0},   {OPCODE_OP, 6, 0}, {OPCODE_OP, 7, 0},
                {OPCODE_OP32, 0, 0x20}, {OPCODE_OP32, 0, 0}, {0, 0, 0},         {0, 0, 0}};
  switch (field(c, 10, 2, 0)) {
    case 0:
      return type_i(OPCODE_IMM, 5, rd, rd, shamt(c));
    case 1:
      return type_i(OPCODE_IMM, 5, rd, rd, shamt(c) | 0x400);
    case 2:
      return type_i(OPCODE_IMM, 7, rd, rd, imm6(c));
    default: {
      uint32_t which = field(c, 12, 1, 2) | field(c, 5, 2, 0);
      if (pairs[which].opcode == 0) return 0;
      return type_r(pairs[which].opcode, pairs[which].funct3, pairs[which].funct7, rd, rd, rs2);
    }
  }
}

static uint32_t lui_or_addi16sp(uint32_t c) {
  uint32_t rd = full(c, 7);
  if (rd == 2) {
    uint32_t imm = field(c, 12, 1, 9) | field(c, 6, 1, 4) | field(c, 5, 1, 6) | field(c, 3, 2, 7) | field(c, 2, 1, 5);
    return imm == 0 ? 0 : type_i(OPCODE_IMM, 0, 2, 2, sign(imm, 10));
  }
  return imm6(c) == 0 ? 0 : imm6(c) << 12 | rd << 7 | OPCODE_LUI;
}

// Quadrant 1: immediates, arithmetic on x8..x15, jumps and branches.
static uint32_t quadrant1(uint32_t c) {
  uint32_t rd = full(c, 7);
  uint32_t jump = field(c, 12, 1, 11) | field(c, 11, 1, 4) | field(c, 9, 2, 8) | field(c, 8, 1, 10) |
                  field(c, 7, 1, 6) | field(c, 6, 1, 7) | field(c, 3, 3, 1) | field(c, 2, 1, 5);
  uint32_t branch = field(c, 12, 1, 8) | field(c, 10, 2, 3) | field(c, 5, 2, 6) | field(c, 3, 2, 1) | field(c, 2, 1, 5);
  switch (c >> 13) {
    case 0:
      return type_i(OPCODE_IMM, 0, rd, rd, imm6(c));
    case 1:
      return rd == 0 ? 0 : type_i(OPCODE_IMM32, 0, rd, rd, imm6(c));
    case 2:
      return type_i(OPCODE_IMM, 0, rd, 0, imm6(c));
    case 3:
      return lui_or_addi16sp(c);
    case 4:
      return arithmetic(c);
    case 5:
      return type_j(sign(jump, 12));
    case 6:
      return type_b(0, prime(c, 7), sign(branch, 9));
    default:
      return type_b(1, prime(c, 7), sign(branch, 9));
  }
}

static uint32_t jump_or_move(uint32_t c) {
  uint32_t rd = full(c, 7), rs2 = full(c, 2);
  bool link = field(c, 12, 1, 0) != 0;
  if (rs2 != 0) return type_r(OPCODE_OP, 0, 0, rd, link ? rd : 0, rs2);  // add, mv
  if (rd == 0) return link ? UINT32_C(0x00100073) : 0;                   // ebreak
  return type_i(OPCODE_JALR, 0, link ? 1 : 0, rd, 0);
}

// Quadrant 2: stack-relative loads and stores, slli, jumps through registers, mv and add.
static uint32_t quadrant2(uint32_t c) {
  uint32_t rd = full(c, 7), rs2 = full(c, 2);
  uint32_t load_w = field(c, 12, 1, 5) | field(c, 4, 3, 2) | field(c, 2, 2, 6);
  uint32_t load_d = field(c, 12, 1, 5) | field(c, 5, 2, 3) | field(c, 2, 3, 6);
  uint32_t store_w = field(c, 9, 4, 2) | field(c, 7, 2, 6);
  uint32_t store_d = field(c, 10, 3, 3) | field(c, 7, 3, 6);
  switch (c >> 13) {
    case 0:
      return type_i(OPCODE_IMM, 1, rd, rd, shamt(c));
    case 1:
      return type_i(OPCODE_FLOAD, DOUBLE, rd, 2, load_d);
    case 2:
      return rd == 0 ? 0 : type_i(OPCODE_LOAD, WORD, rd, 2, load_w);
    case 3:
      return rd == 0 ? 0 : type_i(OPCODE_LOAD, DOUBLE, rd, 2, load_d);
    case 4:
      return jump_or_move(c);
    case 5:
      return type_s(OPCODE_FSTORE, DOUBLE, 2, rs2, store_d);
    case 6:
      return type_s(OPCODE_STORE, WORD, 2, rs2, store_w);
    default:
      return type_s(OPCODE_STORE, DOUBLE, 2, rs2, store_d);
  }
}

uint32_t rv64_expand(uint16_t c) {
  switch (c & 3) {
    case 0:
      return quadrant0(c);
    case 1:
      return quadrant1(c);
    default:
      return quadrant2(c);
  }
}
