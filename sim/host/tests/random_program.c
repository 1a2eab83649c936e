// SPDX-License-Identifier: Apache-2.0
// See random_program.h. The program: start-up, then for every block
//   x31 = its initial state; load_state (returns through mret, since no register is left to return through)
//   random instructions
//   save_state: appends all registers to the output
// and at the end one semihosting write of the output and an exit. Traps are counted into a hash, skipped, and survived
// without using a register: mscratch points to the control words below.
#include "sim/host/tests/random_program.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "arch/memory.h"
#include "base/alloc.h"
#include "sim/elf/tests/elf_build.h"
#include "sim/host/tests/assemble.h"

enum { CONTROL_OUTPUT, CONTROL_X30 = 8, CONTROL_X29 = 16, CONTROL_TRAPS = 24, CONTROL_BYTES = 64 };
enum { STATE_BYTES = RANDOM_STATE_WORDS * 8, FCSR_AT = 64 * 8, TRAPS_AT = 65 * 8, CODE_PER_BLOCK = 640 };
typedef struct {
  uint64_t random;
  uint8_t *code;
  size_t length, room;
  uint64_t control, scratch, input, output;  // addresses
} maker;

static uint64_t next(maker *m) {
  m->random ^= m->random >> 12;
  m->random ^= m->random << 25;
  m->random ^= m->random >> 27;
  return m->random * UINT64_C(0x2545f4914f6cdd1d);
}

static uint32_t below(maker *m, uint32_t n) { return (uint32_t)((next(m) >> 32) * n >> 32); }
static bool chance(maker *m, uint32_t percent) { return below(m, 100) < percent; }
static uint32_t any_register(maker *m) { return below(m, 32); }
static uint32_t base_register(maker *m) { return 1 + below(m, 31); }
static uint64_t here(const maker *m) { return ARCH_MEMORY_BASE + m->length; }

static void half(maker *m, uint32_t h) {
  assert(m->length + 2 <= m->room);
  m->code[m->length++] = (uint8_t)h;
  m->code[m->length++] = (uint8_t)(h >> 8);
}

static void word(maker *m, uint32_t w) {
  half(m, w & 0xffff);
  half(m, w >> 16);
}

// The address of `to` into rd: two instructions.
static void address(maker *m, uint32_t rd, uint64_t to) {
  int64_t distance = (int64_t)(to - here(m));
  int64_t high = (distance + 0x800) >> 12;
  word(m, ((uint32_t)high & 0xfffff) << 12 | rd << 7 | AUIPC);
  word(m, type_i(IMM, 0, rd, rd, (int32_t)(distance - high * 4096)));
}

static void csr(maker *m, uint32_t f3, uint32_t rd, uint32_t number, uint32_t rs1) {
  word(m, csr_op(f3, rd, number, rs1));
}

static void load(maker *m, uint32_t rd, uint32_t rs1, int32_t at) { word(m, type_i(LOAD, 3, rd, rs1, at)); }
static void store(maker *m, uint32_t rs2, uint32_t rs1, int32_t at) { word(m, type_s(STORE, 3, rs1, rs2, at)); }

// Random memory addresses are within 4096 + 2048 bytes below and 2048 above this one.
static void scratch_base(maker *m, uint32_t rd) {
  uint64_t distance = m->scratch + RANDOM_SCRATCH_BYTES / 2 - here(m);
  word(m, ((uint32_t)distance & 0xfffff000) | rd << 7 | AUIPC);
}

// Random instructions. Those that write neither memory nor the pc may also stand behind a branch that skips them.

static void alu(maker *m) {
  static const uint32_t f7[] = {0x00, 0x20, 0x01};
  uint32_t pick = chance(m, 3) ? below(m, 128) : f7[below(m, 3)], opcode = chance(m, 50) ? OP : OP32;
  word(m, type_r(opcode, below(m, 8), pick, any_register(m), any_register(m), any_register(m)));
}

static void alu_immediate(maker *m) {
  uint32_t opcode = chance(m, 60) ? IMM : IMM32, f3 = below(m, 8);
  int32_t imm = (int32_t)below(m, 4096);
  if ((f3 & 3) == 1 && chance(m, 95)) imm = (imm & 0x3f) | (chance(m, 50) ? 0x400 : 0);
  word(m, type_i(opcode, f3, any_register(m), any_register(m), imm));
}

static void upper(maker *m) {
  word(m, ((uint32_t)next(m) & 0xfffff000) | any_register(m) << 7 | (chance(m, 50) ? 0x37u : 0x17u));
}

// Mostly instructions that exist; rs2 selects the variant of conversions.
static void fp(maker *m) {
  static const uint32_t f5[] = {0x00, 0x01, 0x02, 0x03, 0x0b, 0x04, 0x05, 0x14, 0x18, 0x1a, 0x1c, 0x1e, 0x08};
  uint32_t f = chance(m, 2) ? below(m, 32) : f5[below(m, 13)], width = chance(m, 98) ? below(m, 2) : below(m, 4);
  uint32_t rs2 = any_register(m), rm = below(m, 8);
  if (f == 0x18 || f == 0x1a || f == 0x08) rs2 = chance(m, 97) ? below(m, 4) : rs2;
  if (f == 0x08) rs2 = chance(m, 90) ? 1 - (width & 1) : rs2;
  if (f == 0x0b || f == 0x1c || f == 0x1e) rs2 = chance(m, 97) ? 0 : rs2;
  if (f == 0x04 || f == 0x05 || f == 0x14 || f == 0x1c || f == 0x1e) rm = chance(m, 95) ? below(m, 3) : rm;
  if ((f == 0x1c || f == 0x05) && rm == 2) rm = 1;
  if (f == 0x1e && chance(m, 95)) rm = 0;
  word(m, type_r(FP, rm, f << 2 | width, any_register(m), any_register(m), rs2));
}

static void fused(maker *m) {
  uint32_t rs3 = any_register(m), width = chance(m, 98) ? below(m, 2) : below(m, 4);
  word(m, type_r(FMADD + 4 * below(m, 4), below(m, 8), rs3 << 2 | width, any_register(m), any_register(m),
                 any_register(m)));
}

static void fp_csr(maker *m) {
  static const uint32_t f3[] = {1, 2, 3, 5, 6, 7};
  uint32_t number = CSR_FFLAGS + below(m, 3);
  // Mostly reads: a random rounding mode is often an invalid one, and then every dynamic operation traps.
  if (chance(m, 70)) {
    csr(m, 2, any_register(m), number, 0);
  } else {
    csr(m, f3[below(m, 6)], any_register(m), number, any_register(m));
  }
}

static void set_rounding(maker *m) { csr(m, 5, any_register(m), CSR_FRM, below(m, 5)); }

// Any 16 bits but loads, stores, jumps, branches and ebreak, and one encoding that the specification reserves and the
// reference executes (addiw to x0).
static bool compressed_simple(uint32_t h) {
  uint32_t quadrant = h & 3, f3 = h >> 13, rd = h >> 7 & 31, rs2 = h >> 2 & 31;
  switch (quadrant) {
    case 0:
      return f3 == 0 || f3 == 4;
    case 1:
      return f3 < 5 && !(f3 == 1 && rd == 0);
    case 2:
      return f3 == 0 || (f3 == 4 && rs2 != 0);
    default:
      return false;
  }
}

static void compressed(maker *m) {
  uint32_t h;
  do h = (uint32_t)next(m) & 0xffff;
  while (!compressed_simple(h));
  half(m, h);
}

static void simple(maker *m) {
  static void (*const kinds[])(maker *) = {
      alu, alu, alu, alu_immediate, alu_immediate, upper,  compressed,  compressed, fp,
      fp,  fp,  fp,  fused,         fused,         fp_csr, set_rounding};
  kinds[below(m, 16)](m);
}

// Memory: the base register is set right before.

static void memory(maker *m) {
  uint32_t rb = base_register(m), f3 = below(m, 8);
  int32_t at = (int32_t)below(m, 4096) - 2048;
  if (chance(m, 50)) at &= -8;
  scratch_base(m, rb);
  switch (below(m, 4)) {
    case 0:
      word(m, type_i(LOAD, f3, any_register(m), rb, at));
      break;
    case 1:
      word(m, type_i(FLOAD, 2 + (f3 & 1), any_register(m), rb, at));
      break;
    case 2:
      word(m, type_s(STORE, f3 & 3, rb, any_register(m), at));
      break;
    default:
      word(m, type_s(FSTORE, 2 + (f3 & 1), rb, any_register(m), at));
  }
}

// Compressed loads and stores, through x8..x15 or x2.
static void compressed_memory(maker *m) {
  static const uint32_t f3[] = {1, 2, 3, 5, 6, 7};
  uint32_t h = ((uint32_t)next(m) & 0x1ffc) | f3[below(m, 6)] << 13;
  if (chance(m, 50)) {
    scratch_base(m, 8 + (h >> 7 & 7));
    half(m, h);
  } else {
    if ((h >> 13 == 2 || h >> 13 == 3) && (h >> 7 & 31) == 0) h |= 1 << 7;  // rd = x0 is reserved
    scratch_base(m, 2);
    half(m, h | 2);
  }
}

static void atomic(maker *m) {
  static const uint32_t f5[] = {0, 1, 4, 8, 12, 16, 20, 24, 28};
  uint32_t rb = base_register(m), f3 = 2 + below(m, 2), order = below(m, 4);
  scratch_base(m, rb);
  word(m, type_i(IMM, 7, rb, rb, -8));
  if (f3 == 2 && chance(m, 50)) word(m, type_i(IMM, 0, rb, rb, 4));
  if (chance(m, 70)) {
    word(m, type_r(AMO, f3, f5[below(m, 9)] << 2 | order, any_register(m), rb, any_register(m)));
    return;
  }
  uint32_t loaded = any_register(m);
  if (loaded == rb) loaded = 0;
  if (chance(m, 80)) word(m, type_r(AMO, f3, 2 << 2 | order, loaded, rb, 0));
  uint32_t success = any_register(m);
  if (success == rb) success = 0;
  word(m, type_r(AMO, f3, 3 << 2 | order, success, rb, any_register(m)));
  // Whether or not that one succeeded, the reservation is gone.
  word(m, type_r(AMO, f3, 3 << 2 | order, any_register(m), rb, any_register(m)));
}

// Forward over a few simple instructions; `at` is patched once their length is known.
static void patch(maker *m, size_t at, uint32_t w, unsigned bytes) { memcpy(m->code + at, &w, bytes); }

static uint32_t skipped(maker *m, size_t from) {
  for (uint32_t n = 1 + below(m, 3); n > 0; n--) simple(m);
  return (uint32_t)(m->length - from);
}

static void branch(maker *m) {
  static const uint32_t f3[] = {0, 1, 4, 5, 6, 7};
  uint32_t rs1 = any_register(m), rs2 = any_register(m), kind = f3[below(m, 6)];
  size_t at = m->length;
  word(m, 0);
  patch(m, at, type_b(kind, rs1, rs2, skipped(m, at)), 4);
}

static void jump(maker *m) {
  uint32_t rd = any_register(m), rb = base_register(m);
  size_t at = m->length;
  word(m, 0);
  if (chance(m, 50)) {
    patch(m, at, type_j(rd, skipped(m, at)), 4);
    return;
  }
  word(m, 0);
  uint32_t odd = below(m, 2);  // jalr ignores bit 0
  uint32_t offset = skipped(m, at) | odd;
  patch(m, at, rb << 7 | AUIPC, 4);
  patch(m, at + 4, type_i(JALR, 0, rd, rb, (int32_t)offset), 4);
}

static void compressed_jump(maker *m) {
  size_t at = m->length;
  uint32_t rs1 = below(m, 8), kind = below(m, 3);
  half(m, 0);
  uint32_t o = skipped(m, at);
  uint32_t j =
      (o >> 5 & 1) << 2 | (o >> 1 & 7) << 3 | (o >> 7 & 1) << 6 | (o >> 6 & 1) << 7 | (o >> 4 & 1) << 11 | 5u << 13 | 1;
  uint32_t b = (o >> 5 & 1) << 2 | (o >> 1 & 3) << 3 | (o >> 6 & 3) << 5 | rs1 << 7 | (o >> 3 & 3) << 10 |
               (kind == 1 ? 6u : 7u) << 13 | 1;
  patch(m, at, kind == 0 ? j : b, 2);
}

// c.jr and c.jalr over simple instructions.
static void compressed_jump_register(maker *m) {
  uint32_t rb = base_register(m), link = below(m, 2);
  size_t at = m->length;
  word(m, rb << 7 | AUIPC);
  word(m, 0);
  half(m, 0x8002 | link << 12 | rb << 7);
  uint32_t offset = skipped(m, at);
  patch(m, at + 4, type_i(IMM, 0, rb, rb, (int32_t)offset), 4);
}

static void instruction(maker *m) {
  static void (*const kinds[])(maker *) = {memory, memory, compressed_memory, atomic,
                                           branch, jump,   compressed_jump,   compressed_jump_register};
  if (chance(m, 70)) {
    simple(m);
  } else {
    kinds[below(m, 8)](m);
  }
}

// Initial values: mostly those at which something changes.

static uint64_t random_integer(maker *m) {
  static const uint64_t edges[] = {0,
                                   1,
                                   2,
                                   UINT64_MAX,
                                   UINT64_MAX - 1,
                                   UINT64_C(1) << 63,
                                   (UINT64_C(1) << 63) - 1,
                                   0x7fffffff,
                                   0x80000000,
                                   UINT64_C(0xffffffff80000000),
                                   UINT32_MAX,
                                   UINT64_C(0x100000000)};
  switch (below(m, 4)) {
    case 0:
      return edges[below(m, 12)];
    case 1:
      return next(m) >> below(m, 64);
    case 2:
      return (uint64_t)((int64_t)next(m) >> below(m, 64));
    default:
      return next(m);
  }
}

// A number of the format: edges, sparse fractions (ties, exact results), exponents that meet each other.
static uint64_t random_float(maker *m, unsigned fraction_bits, unsigned exponent_bits) {
  uint64_t fraction_mask = (UINT64_C(1) << fraction_bits) - 1, top = (UINT64_C(1) << exponent_bits) - 1;
  uint64_t bias = top >> 1, fraction = next(m) & fraction_mask, e = next(m) & top, sign = next(m) & 1;
  switch (below(m, 5)) {
    case 0:
      fraction = 0;
      break;
    case 1:
      fraction = UINT64_C(1) << below(m, fraction_bits);
      break;
    case 2:
      fraction = fraction_mask << below(m, fraction_bits) & fraction_mask;
      break;
    default:
      break;
  }
  switch (below(m, 6)) {
    case 0:
      e = chance(m, 50) ? 0 : top;
      break;
    case 1:
      e = chance(m, 50) ? 1 + below(m, 2) : top - 1 - below(m, 2);
      break;
    case 2:
      e = bias + 20 + below(m, 48);  // around the limits of the integer types
      break;
    case 3:
    case 4:
      e = bias - 4 + below(m, 8);
      break;
    default:
      break;
  }
  return sign << (fraction_bits + exponent_bits) | e << fraction_bits | fraction;
}

static uint64_t random_fp_register(maker *m) {
  if (chance(m, 5)) return next(m);
  if (chance(m, 50)) return random_float(m, 52, 11);
  uint64_t boxed = chance(m, 95) ? UINT64_C(0xffffffff00000000) : next(m) << 32;
  return boxed | random_float(m, 23, 8);
}

static void initial_state(maker *m, uint64_t *state) {
  for (int i = 0; i < 32; i++) state[i] = i == 0 ? 0 : random_integer(m);
  for (int i = 0; i < 32; i++) state[32 + i] = random_fp_register(m);
  state[64] = (chance(m, 50) ? 0 : below(m, 5)) << 5 | (chance(m, 50) ? 0 : below(m, 32));
  state[65] = 0;
}

// The fixed parts of the program.

// x31: the state; x30: the return address. mret needs MPP = machine mode on harts with others.
static void load_state(maker *m) {
  csr(m, 1, 0, CSR_MEPC, 30);
  word(m, 0x000020b7);                      // lui x1, 2
  word(m, type_i(IMM32, 0, 1, 1, -0x800));  // addiw: 0x1800
  csr(m, 2, 0, CSR_MSTATUS, 1);
  load(m, 1, 31, FCSR_AT);
  csr(m, 1, 0, CSR_FCSR, 1);
  for (uint32_t i = 0; i < 32; i++) word(m, type_i(FLOAD, 3, i, 31, (int32_t)(256 + 8 * i)));
  for (uint32_t i = 1; i < 32; i++) load(m, i, 31, (int32_t)(8 * i));
  word(m, MRET);
}

// mscratch holds x31, x31 the control words, CONTROL_X30 holds x30, x30 the return address.
static void save_state(maker *m) {
  store(m, 29, 31, CONTROL_X29);
  load(m, 29, 31, CONTROL_OUTPUT);
  for (uint32_t i = 1; i < 29; i++) store(m, i, 29, (int32_t)(8 * i));
  load(m, 28, 31, CONTROL_X29);
  store(m, 28, 29, 8 * 29);
  load(m, 28, 31, CONTROL_X30);
  store(m, 28, 29, 8 * 30);
  csr(m, 2, 28, CSR_MSCRATCH, 0);
  store(m, 28, 29, 8 * 31);
  for (uint32_t i = 0; i < 32; i++) word(m, type_s(FSTORE, 3, 29, i, (int32_t)(256 + 8 * i)));
  csr(m, 2, 28, CSR_FCSR, 0);
  store(m, 28, 29, FCSR_AT);
  load(m, 28, 31, CONTROL_TRAPS);
  store(m, 28, 29, TRAPS_AT);
  word(m, type_i(IMM, 0, 29, 29, STATE_BYTES));
  store(m, 29, 31, CONTROL_OUTPUT);
  csr(m, 1, 0, CSR_MSCRATCH, 31);
  word(m, type_i(JALR, 0, 0, 30, 0));
}

// Adds cause and value to the hash and goes on behind the instruction.
static void trap_handler(maker *m) {
  csr(m, 1, 31, CSR_MSCRATCH, 31);
  store(m, 30, 31, CONTROL_X30);
  store(m, 29, 31, CONTROL_X29);
  load(m, 29, 31, CONTROL_TRAPS);
  word(m, type_i(IMM, 1, 30, 29, 5));
  word(m, type_r(OP, 0, 0, 29, 29, 30));
  csr(m, 2, 30, CSR_MCAUSE, 0);
  word(m, type_r(OP, 0, 0, 29, 29, 30));
  csr(m, 2, 30, CSR_MTVAL, 0);
  word(m, type_r(OP, 4, 0, 29, 29, 30));
  store(m, 29, 31, CONTROL_TRAPS);
  csr(m, 2, 30, CSR_MEPC, 0);
  word(m, type_i(LOAD, 5, 29, 30, 0));  // lhu
  word(m, type_i(IMM, 7, 29, 29, 3));   // & 3
  word(m, type_i(IMM, 0, 29, 29, 1));   // 4 if it was 3
  word(m, type_i(IMM, 7, 29, 29, 4));
  word(m, type_r(OP, 0, 0, 30, 30, 29));
  // A compressed one: 2 bytes on. (x29 ^ 4) >> 1 is 2 or 0.
  word(m, type_i(IMM, 4, 29, 29, 4));
  word(m, type_i(IMM, 5, 29, 29, 1));
  word(m, type_r(OP, 0, 0, 30, 30, 29));
  csr(m, 1, 0, CSR_MEPC, 30);
  load(m, 29, 31, CONTROL_X29);
  load(m, 30, 31, CONTROL_X30);
  csr(m, 1, 31, CSR_MSCRATCH, 31);
  word(m, MRET);
}

// The reference wants the three instructions in one page.
static void call_semihost(maker *m) {
  while (m->length % 16 != 0) half(m, C_NOP);
  word(m, SEMIHOST_BEFORE);
  word(m, EBREAK);
  word(m, SEMIHOST_AFTER);
}

static void jump_to(maker *m, uint32_t rd, uint64_t to) { word(m, type_j(rd, (uint32_t)(to - here(m)))); }

// open(":tt", write), write(output), exit. The three argument blocks follow the control words.
static void finish(maker *m, uint64_t arguments) {
  uint32_t a0 = 10, a1 = 11;
  word(m, type_i(IMM, 0, a0, 0, 1));
  address(m, a1, arguments);
  call_semihost(m);
  address(m, a1, arguments + 24);
  store(m, a0, a1, 0);
  word(m, type_i(IMM, 0, a0, 0, 5));
  call_semihost(m);
  address(m, a1, arguments + 48);
  word(m, type_i(IMM, 0, a0, 0, 0x20));
  call_semihost(m);
}

static void start(maker *m, uint64_t handler) {
  word(m, 0x000060b7);  // lui x1, 6: mstatus.FS
  csr(m, 2, 0, CSR_MSTATUS, 1);
  address(m, 1, handler);
  csr(m, 1, 0, CSR_MTVEC, 1);
  address(m, 1, m->control);
  csr(m, 1, 0, CSR_MSCRATCH, 1);
}

static void block(maker *m, random_program *p, size_t i, uint64_t load_at, uint64_t save_at) {
  address(m, 31, m->input + i * STATE_BYTES);
  jump_to(m, 30, load_at);
  p->block_pc[i] = here(m);
  for (int n = 0; n < RANDOM_BLOCK_INSTRUCTIONS; n++) instruction(m);
  p->block_end[i] = here(m);
  csr(m, 1, 31, CSR_MSCRATCH, 31);
  store(m, 30, 31, CONTROL_X30);
  jump_to(m, 30, save_at);
}

// Data behind the code: control words and arguments, scratch memory, initial states, output.
static uint8_t *make_data(maker *m, size_t blocks, uint64_t data, size_t *length) {
  uint64_t output_bytes = blocks * STATE_BYTES, name = data + CONTROL_BYTES + 72;
  *length = (size_t)(m->output - data);
  uint8_t *bytes = wf_calloc(*length, 1);
  memcpy(bytes, &m->output, 8);
  // The scratch memory follows the output in the file, so it is written by the same call: see random_program_make.
  const uint64_t arguments[] = {name, 4, 3, 0, m->output, output_bytes + RANDOM_SCRATCH_BYTES, 0x20026, 0};
  memcpy(bytes + CONTROL_BYTES, arguments, sizeof arguments);
  memcpy(bytes + CONTROL_BYTES + 72, ":tt", 4);
  for (size_t i = 0; i < blocks; i++) {
    uint64_t state[RANDOM_STATE_WORDS];
    initial_state(m, state);
    memcpy(bytes + (m->input - data) + i * STATE_BYTES, state, STATE_BYTES);
  }
  return bytes;
}

static void emit_code(maker *m, random_program *p, uint64_t arguments) {
  uint64_t handler = here(m) + 4;
  word(m, 0);  // a jump over the routines, patched
  trap_handler(m);
  uint64_t load_at = here(m);
  load_state(m);
  uint64_t save_at = here(m);
  save_state(m);
  patch(m, 0, type_j(0, (uint32_t)m->length), 4);
  start(m, handler);
  for (size_t i = 0; i < p->blocks; i++) {
    block(m, p, i, load_at, save_at);
    // jal reaches 1 MiB: every so often the routines are repeated.
    if (here(m) - load_at < 900000) continue;
    size_t at = m->length;
    word(m, 0);
    load_at = here(m);
    load_state(m);
    save_at = here(m);
    save_state(m);
    patch(m, at, type_j(0, (uint32_t)(m->length - at)), 4);
  }
  finish(m, arguments);
}

random_program random_program_make(uint64_t seed, size_t blocks) {
  random_program p = {.blocks = blocks, .output_bytes = blocks * STATE_BYTES + RANDOM_SCRATCH_BYTES};
  p.block_pc = WF_NEW_ARRAY(blocks, uint64_t);
  p.block_end = WF_NEW_ARRAY(blocks, uint64_t);
  maker m = {.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, .room = (blocks * CODE_PER_BLOCK + 4096) / 4096 * 4096};
  m.code = wf_calloc(m.room, 1);
  uint64_t data = ARCH_MEMORY_BASE + m.room;
  m.control = data;
  m.input = data + 4096;
  m.output = m.input + blocks * STATE_BYTES;
  m.scratch = m.output + blocks * STATE_BYTES;
  emit_code(&m, &p, data + CONTROL_BYTES);
  size_t data_length;
  uint8_t *bytes = make_data(&m, blocks, data, &data_length);
  elf_build b = {.entry = ARCH_MEMORY_BASE,
                 .segments = {{ARCH_MEMORY_BASE, m.room, m.code, m.room, PF_R | PF_X},
                              {data, data_length + p.output_bytes, bytes, data_length, PF_R | PF_W}}};
  p.elf = elf_build_file(&b, &p.elf_length);
  Elf64_Phdr first;
  memcpy(&first, p.elf + sizeof(Elf64_Ehdr), sizeof first);
  p.code = p.elf + first.p_offset;
  wf_free(m.code);
  wf_free(bytes);
  return p;
}

void random_program_free(random_program *p) {
  wf_free(p->elf);
  wf_free(p->block_pc);
  wf_free(p->block_end);
}
