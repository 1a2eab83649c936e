// SPDX-License-Identifier: Apache-2.0
// weft_isa.h under the RISC-V compiler and natively: a program that calls every wrapper with random constant arguments
// is compiled for both; what each issues is compared with operands that the library packs. The RISC-V words are
// executed by an evaluator that knows nothing but materialising constants, so an argument that did not fold fails the
// test.
#include <inttypes.h>

#include "base/test.h"
#include "isa/isa.h"
#include "isa/tests/process.h"
#include "isa/tests/random.h"

enum { ROUNDS = 6, COMMANDS = ISA_ID_COUNT * ROUNDS, BASE = 0x10000, STACK_POINTER = 2 };

typedef struct issued {
  unsigned funct, funct3;
  uint64_t rs1, rs2;
} issued;

static const char *suffix(const isa_insn *insn) {
  return insn->revisions == 1 ? "_r1" : insn->revisions == 2 ? "_r2" : "";
}

// Writes one call with arguments wider than their fields; the expected operands hold what fits.
static issued write_call(FILE *out, const isa_insn *insn, uint64_t *seed) {
  issued expected = {insn->funct, insn->returns ? 7 : 3, insn->selector_rs1, 0};
  fprintf(out, "  %sweft_%s%s(", insn->returns ? "sink = " : "", insn->name, suffix(insn));
  const char *comma = "";
  for (size_t i = 0; i < insn->field_count; i++) {
    const isa_field *field = &insn->fields[i];
    if (field->type == ISA_TYPE_CONST || field->type == ISA_TYPE_TOKEN) continue;
    uint64_t value = random_value(seed);
    if (field->width <= 32) value &= UINT32_MAX;
    if (field->reg == 2 && insn->tokens != 0 && field->lsb == 48) value &= isa_field_max(field);  // below tokens
    isa_field_set(field, &expected.rs1, &expected.rs2, value);
    fprintf(out, "%sUINT64_C(0x%" PRIx64 ")", comma, value);
    comma = ", ";
  }
  fprintf(out, ");\n");
  return expected;
}

static void write_program(issued *expected) {
  FILE *out = fopen("driver.tmp/program.c", "w");
  assert_non_null(out);
  uint64_t seed = 5;
  fprintf(out, "#include \"isa/weft_isa.h\"\nuint64_t sink;\nvoid program(void);\nvoid program(void) {\n");
  for (size_t i = 0; i < COMMANDS; i++) expected[i] = write_call(out, isa_insn_at(i % ISA_ID_COUNT), &seed);
  fprintf(out, "  weft_command(5, 1, 2);\n}\n");
  assert_int_equal(fclose(out), 0);
}

static void expect_command(const issued *expected, size_t index, issued got) {
  issued last = {5, 3, 1, 2};
  const issued *want = index < COMMANDS ? &expected[index] : &last;
  if (got.funct != want->funct || got.funct3 != want->funct3 || got.rs1 != want->rs1 || got.rs2 != want->rs2)
    fail_msg("command %zu: funct %u funct3 %u rs1 %" PRIx64 " rs2 %" PRIx64 ", wanted %u %u %" PRIx64 " %" PRIx64,
             index, got.funct, got.funct3, got.rs1, got.rs2, want->funct, want->funct3, want->rs1, want->rs2);
}

typedef struct machine {
  uint64_t x[32], pc;
  const uint8_t *image;
  size_t size;
} machine;

static uint64_t load(const machine *m, uint64_t address, unsigned bytes) {
  uint64_t value = 0;
  assert_true(address >= BASE && address - BASE + bytes <= m->size);
  for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)m->image[address - BASE + i] << 8 * i;
  return value;
}

static uint64_t extend(uint64_t value, unsigned bits) {
  uint64_t sign = UINT64_C(1) << (bits - 1);
  return (value ^ sign) - sign;
}

// Executes one instruction of constant materialisation, false at the return. Stores (to `sink`, to the stack) and the
// reload of saved registers at the end change no constant.
static bool step(machine *m, uint32_t word) {
  unsigned rd = word >> 7 & 31, funct3 = word >> 12 & 7;
  uint64_t a = m->x[word >> 15 & 31], imm = extend(word >> 20, 12), upper = extend(word & 0xfffff000, 32),
           value = m->x[rd];
  switch (word & 0x7f) {
    case 0x37:
      value = upper;
      break;
    case 0x17:
      value = m->pc + upper;
      break;
    case 0x13:
      assert_true(funct3 <= 1 || (funct3 == 5 && word >> 26 == 0));
      value = funct3 == 0 ? a + imm : funct3 == 1 ? a << (imm & 63) : a >> (imm & 63);
      break;
    case 0x1b:
      assert_int_equal(funct3, 0);
      value = extend((a + imm) & UINT32_MAX, 32);
      break;
    case 0x33:
      assert_int_equal(word & 0xfe007000, 0);
      value = a + m->x[word >> 20 & 31];
      break;
    case 0x03:
      assert_int_equal(funct3, 3);
      if ((word >> 15 & 31) != STACK_POINTER) value = load(m, a + imm, 8);
      break;
    case 0x23:
    case 0x7b:
      break;
    case 0x67:
      return false;
    default:
      fail_msg("0x%08" PRIx32 " at 0x%" PRIx64 " does not build a constant", word, m->pc);
  }
  if (rd != 0 && (word & 0x7f) != 0x23) m->x[rd] = value;
  m->pc += 4;
  return true;
}

static void execute(machine *m, const issued *expected) {
  size_t commands = 0;
  uint32_t word;
  do {
    word = (uint32_t)load(m, m->pc, 4);
    if ((word & 0x7f) == ISA_OPCODE)
      expect_command(expected, commands++,
                     (issued){word >> 25, word >> 12 & 7, m->x[word >> 15 & 31], m->x[word >> 20 & 31]});
  } while (step(m, word));
  assert_int_equal(commands, COMMANDS + 1);
}

static void riscv_words_are_right(void **state) {
  const issued *expected = *state;
  assert_int_equal(
      process_run(RISCV_GCC
                  " -march=rv64imafd -mabi=lp64d -mcmodel=medany -std=c17 -O2 -ffreestanding -nostdlib -Wall "
                  "-Wextra -Werror -I" HEADERS " -Wl,--no-relax,--no-warn-rwx-segments,-Ttext=0x10000,-e,program "
                  "driver.tmp/program.c -o driver.tmp/program.elf"
                  " && " RISCV_OBJCOPY
                  " -O binary -R .comment -R .riscv.attributes driver.tmp/program.elf driver.tmp/program.bin"),
      0);
  machine m = {.pc = BASE};
  char *image = process_read("driver.tmp/program.bin", &m.size);
  assert_non_null(image);
  m.image = (const uint8_t *)image;
  execute(&m, expected);
  free(image);
}

static void unoptimised_code_compiles(void **state) {
  (void)state;
  assert_int_equal(
      process_run(RISCV_GCC " -march=rv64gc -mabi=lp64d -O0 -ffreestanding -Wall -Wextra -Werror -I" HEADERS
                            " -c driver.tmp/program.c -o driver.tmp/unoptimised.o"),
      0);
}

static void native_calls_are_right(void **state) {
  const issued *expected = *state;
  static const char hook[] =
      "#define WEFT_NATIVE 1\n#include \"program.c\"\n#include <inttypes.h>\n#include <stdio.h>\n"
      "uint64_t weft_native_command(unsigned funct, uint64_t rs1, uint64_t rs2) {\n"
      "  printf(\"%u %\" PRIx64 \" %\" PRIx64 \"\\n\", funct, rs1, rs2);\n  return 0;\n}\n"
      "int main(void) { program(); }\n";
  process_write("driver.tmp/native.c", hook, strlen(hook));
  assert_int_equal(
      process_run(NATIVE_CC " -std=c17 -O2 -Wall -Wextra -Wshadow -Werror -I" HEADERS
                            " driver.tmp/native.c -o driver.tmp/native && driver.tmp/native >driver.tmp/issued"),
      0);
  FILE *in = fopen("driver.tmp/issued", "r");
  assert_non_null(in);
  for (size_t i = 0; i <= COMMANDS; i++) {
    issued got = {.funct3 = i < COMMANDS ? expected[i].funct3 : 3};
    assert_int_equal(fscanf(in, "%u %" SCNx64 " %" SCNx64, &got.funct, &got.rs1, &got.rs2), 3);
    expect_command(expected, i, got);
  }
  fclose(in);
}

int main(void) {
  static issued expected[COMMANDS];
  process_run("rm -rf driver.tmp && mkdir driver.tmp");
  write_program(expected);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(riscv_words_are_right, expected),
      cmocka_unit_test(unoptimised_code_compiles),
      cmocka_unit_test_prestate(native_calls_are_right, expected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
