// SPDX-License-Identifier: Apache-2.0
// The disassembler against the GNU one, instruction by instruction: compiled code with and without compressed
// instructions, all 16-bit encodings, and random 32-bit ones. Custom instructions have texts of their own.
#include "base/test.h"
#include "isa/isa.h"
#include "isa/tests/process.h"
#include "isa/tests/random.h"

#define PC "0x80000000"
enum { RANDOM_WORDS = 200000, LINE = 160 };

// `name a, b` as the GNU disassembler spaces it, `name\ta,b`; data directives with the value without leading zeros.
static void our_text(uint32_t bits, uint64_t pc, char *text, int *length) {
  char raw[LINE];
  *length = isa_rv64_disasm(bits, pc, raw, sizeof raw);
  unsigned value;
  if (sscanf(raw, ".word 0x%x", &value) == 1) {
    snprintf(text, LINE, ".4byte\t0x%x", value);
  } else if (sscanf(raw, ".half 0x%x", &value) == 1) {
    snprintf(text, LINE, ".2byte\t0x%x", value);
  } else {
    char *out = text;
    bool first = true;
    for (const char *in = raw; *in != '\0'; in++) {
      if (*in == ' ' && in > raw && in[-1] == ',') continue;
      *out++ = *in == ' ' && first ? '\t' : *in;
      if (*in == ' ') first = false;
    }
    *out = '\0';
  }
}

// The instruction text of a line `  80000000:\t00c58533          \tadd\ta0,a1,a2 # comment`; false for other lines.
static bool gnu_text(const char *line, uint64_t *pc, uint32_t *bits, char *text) {
  unsigned long long address;
  int used = 0;
  if (sscanf(line, " %llx:\t%x %n", &address, bits, &used) != 2 || used == 0) return false;
  *pc = address;
  snprintf(text, LINE, "%s", line + used);
  char *comment = strstr(text, " #");
  if (comment != NULL) *comment = '\0';
  size_t length = strlen(text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) text[--length] = '\0';
  return true;
}

// Disassembles disasm.tmp/NAME.bin both ways; returns how many instructions agreed, fails at the first that does not.
static size_t compare(const char *name) {
  char command[400];
  snprintf(command, sizeof command,
           RISCV_OBJDUMP " -D -z -b binary -m riscv:rv64 -M no-aliases --adjust-vma=" PC
                         " disasm.tmp/%s.bin >disasm.tmp/%s.txt",
           name, name);
  assert_int_equal(process_run(command), 0);
  snprintf(command, sizeof command, "disasm.tmp/%s.txt", name);
  size_t length, count = 0;
  char *listing = process_read(command, &length);
  assert_non_null(listing);
  uint64_t next = strtoull(PC, NULL, 0);
  for (char *line = strtok(listing, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    uint64_t pc;
    uint32_t bits;
    char theirs[LINE], ours[LINE];
    int size;
    if (!gnu_text(line, &pc, &bits, theirs)) continue;
    our_text(bits, pc, ours, &size);
    if (pc != next || strcmp(ours, theirs) != 0) fail_msg("%s: %s\nours:   %s", name, line, ours);
    next = pc + (uint64_t)size;
    count++;
  }
  free(listing);
  return count;
}

static size_t compare_program(const char *name, const char *flags) {
  char command[600];
  snprintf(command, sizeof command,
           RISCV_GCC
           " %s -mabi=lp64d -mcmodel=medany -std=c17 -ffreestanding -fno-math-errno -nostdlib "
           "-Wl,--no-warn-rwx-segments,-Ttext=" PC " " GOLDEN_CODE " -o disasm.tmp/%s.elf && " RISCV_OBJCOPY
           " -O binary -j .text disasm.tmp/%s.elf disasm.tmp/%s.bin",
           flags, name, name, name);
  assert_int_equal(process_run(command), 0);
  return compare(name);
}

static void compiled_code_agrees(void **state) {
  (void)state;
  assert_true(compare_program("fast", "-O2 -march=rv64gc") > 100);
  assert_true(compare_program("plain", "-O0 -march=rv64gc") > 300);
  assert_true(compare_program("wide", "-O2 -march=rv64g") > 100);
}

static void every_compressed_encoding_agrees(void **state) {
  (void)state;
  static uint8_t image[3 * 0x4000 * 2];
  size_t used = 0;
  for (unsigned half = 0; half < 0x10000; half++) {
    if ((half & 3) == 3) continue;
    image[used++] = (uint8_t)half;
    image[used++] = (uint8_t)(half >> 8);
  }
  assert_int_equal(used, sizeof image);
  process_write("disasm.tmp/halves.bin", image, sizeof image);
  assert_int_equal(compare("halves"), sizeof image / 2);
}

// A word of the 32-bit length that is not a custom instruction: in half of the cases one with an opcode of the base
// sets.
static uint32_t random_word(uint64_t *seed) {
  static const uint8_t opcodes[] = {0x03, 0x07, 0x0f, 0x13, 0x17, 0x1b, 0x23, 0x27, 0x2f, 0x33, 0x37,
                                    0x3b, 0x43, 0x47, 0x4b, 0x4f, 0x53, 0x63, 0x67, 0x6f, 0x73};
  for (;;) {
    uint32_t word = (uint32_t)(random_next(seed) >> 32);
    if ((word & 0x100) != 0) word = (word & ~0x7fU) | opcodes[random_next(seed) % sizeof opcodes];
    word |= 3;
    if ((word & 0x1f) != 0x1f && (word & 0x7f) != ISA_OPCODE) return word;
  }
}

static void put_word(uint8_t *at, uint32_t word) {
  for (unsigned i = 0; i < 4; i++) at[i] = (uint8_t)(word >> 8 * i);
}

static void random_encodings_agree(void **state) {
  (void)state;
  static uint8_t image[RANDOM_WORDS * 4];
  uint64_t seed = 6;
  for (size_t i = 0; i < RANDOM_WORDS; i++) put_word(&image[4 * i], random_word(&seed));
  process_write("disasm.tmp/words.bin", image, sizeof image);
  assert_int_equal(compare("words"), RANDOM_WORDS);
}

// What random words hit too seldom: every register number of the system instructions and the words next to fixed ones.
static void system_encodings_agree(void **state) {
  (void)state;
  static const uint32_t fixed[] = {0x00000073, 0x00100073, 0x00200073, 0x10200073, 0x30200073, 0x7b200073,
                                   0x10500073, 0x12000073, 0x0000000f, 0x0000100f, 0x8330000f, 0x0ff0000f};
  enum { FIXED = sizeof fixed / sizeof *fixed };
  static uint8_t image[(4096 * 2 + FIXED * 33) * 4];
  uint8_t *at = image;
  for (uint32_t csr = 0; csr < 4096; csr++, at += 8) {
    put_word(at, csr << 20 | 0x000595f3);
    put_word(at + 4, csr << 20 | 0x0003e073);
  }
  for (size_t i = 0; i < FIXED; i++)
    for (unsigned bit = 0; bit <= 32; bit++, at += 4)
      put_word(at, bit < 7 || bit == 32 ? fixed[i] : fixed[i] ^ UINT32_C(1) << bit);
  process_write("disasm.tmp/system.bin", image, sizeof image);
  assert_int_equal(compare("system"), sizeof image / 4);
}

static uint32_t custom(unsigned funct, unsigned funct3, unsigned rd, unsigned rs1, unsigned rs2) {
  return funct << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | ISA_OPCODE;
}

static void expect_custom(uint32_t word, const char *expected) {
  char text[LINE];
  assert_int_equal(isa_rv64_disasm(word, 0, text, sizeof text), 4);
  assert_string_equal(text, expected);
}

static void custom_instructions_have_names(void **state) {
  (void)state;
  expect_custom(custom(2, 3, 0, 10, 11), "mvin a0, a1");
  expect_custom(custom(0, 3, 0, 10, 11), "config a0, a1");
  expect_custom(custom(8, 3, 0, 5, 6), "loop_ws t0, t1");
  expect_custom(custom(16, 3, 0, 5, 0), "loop_conv_ws_config_1 t0, zero");
  expect_custom(custom(23, 3, 0, 1, 2), "mvout_spad ra, sp");
  expect_custom(custom(126, 7, 10, 11, 12), "counter a0, a1, a2");
  expect_custom(custom(126, 3, 10, 11, 12), ".word 0xfcc5b57b");
  expect_custom(custom(2, 7, 10, 11, 12), ".word 0x04c5f57b");
  expect_custom(custom(127, 3, 0, 0, 0), ".word 0xfe00307b");
}

static void lengths_and_short_buffers(void **state) {
  (void)state;
  char text[6];
  assert_int_equal(isa_rv64_disasm(0xffff0001, 0, text, sizeof text), 2);
  assert_string_equal(text, "c.add");
  assert_int_equal(isa_rv64_disasm(0x00c58533, 0, text, sizeof text), 4);
  assert_string_equal(text, "add a");
  assert_int_equal(isa_rv64_disasm(0x00c58533, 0, NULL, 0), 4);
}

int main(void) {
  process_run("rm -rf disasm.tmp && mkdir disasm.tmp");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compiled_code_agrees),           cmocka_unit_test(every_compressed_encoding_agrees),
      cmocka_unit_test(random_encodings_agree),         cmocka_unit_test(system_encodings_agree),
      cmocka_unit_test(custom_instructions_have_names), cmocka_unit_test(lengths_and_short_buffers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
