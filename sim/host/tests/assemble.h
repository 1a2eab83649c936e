// SPDX-License-Identifier: Apache-2.0
// Encoders for the few instruction formats that tests build programs from.
#ifndef SIM_HOST_TESTS_ASSEMBLE_H
#define SIM_HOST_TESTS_ASSEMBLE_H

#include <stdint.h>

enum { LOAD = 0x03, FLOAD = 0x07, IMM = 0x13, AUIPC = 0x17, IMM32 = 0x1b, STORE = 0x23, FSTORE = 0x27, AMO = 0x2f };
enum { OP = 0x33, LUI = 0x37, OP32 = 0x3b, FMADD = 0x43, FP = 0x53, BRANCH = 0x63, JALR = 0x67, JAL = 0x6f };
enum { SYSTEM = 0x73, CUSTOM = 0x7b };
enum { CSR_FFLAGS = 1, CSR_FRM, CSR_FCSR, CSR_MSTATUS = 0x300, CSR_MISA, CSR_MTVEC = 0x305 };
enum { CSR_MSCRATCH = 0x340, CSR_MEPC, CSR_MCAUSE, CSR_MTVAL, CSR_MCYCLE = 0xb00, CSR_MINSTRET = 0xb02 };
enum { CSR_CYCLE = 0xc00, CSR_INSTRET = 0xc02, CSR_MHARTID = 0xf14 };
enum { CSRRW = 1, CSRRS, CSRRC, CSRRWI = 5, CSRRSI, CSRRCI };
#define MRET UINT32_C(0x30200073)
#define ECALL UINT32_C(0x00000073)
#define EBREAK UINT32_C(0x00100073)
#define WFI UINT32_C(0x10500073)
#define FENCE UINT32_C(0x0ff0000f)
#define FENCE_I UINT32_C(0x0000100f)
#define NOP UINT32_C(0x00000013)
#define C_NOP UINT32_C(0x0001)
#define SEMIHOST_BEFORE UINT32_C(0x01f01013)
#define SEMIHOST_AFTER UINT32_C(0x40705013)

static inline uint32_t type_i(uint32_t opcode, uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm) {
  return (uint32_t)imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}

static inline uint32_t type_r(uint32_t opcode, uint32_t f3, uint32_t f7, uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}

static inline uint32_t type_s(uint32_t opcode, uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t imm) {
  uint32_t u = (uint32_t)imm;
  return (u >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (u & 0x1f) << 7 | opcode;
}

static inline uint32_t type_b(uint32_t f3, uint32_t rs1, uint32_t rs2, uint32_t offset) {
  return (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
         (offset >> 1 & 0xf) << 8 | (offset >> 11 & 1) << 7 | BRANCH;
}

static inline uint32_t type_j(uint32_t rd, uint32_t offset) {
  return (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3ff) << 21 | (offset >> 11 & 1) << 20 |
         (offset >> 12 & 0xff) << 12 | rd << 7 | JAL;
}

static inline uint32_t addi(uint32_t rd, uint32_t rs1, int32_t imm) { return type_i(IMM, 0, rd, rs1, imm); }
static inline uint32_t csr_op(uint32_t f3, uint32_t rd, uint32_t number, uint32_t rs1) {
  return type_i(SYSTEM, f3, rd, rs1, (int32_t)number);
}

#endif
