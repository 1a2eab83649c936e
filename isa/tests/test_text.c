// SPDX-License-Identifier: Apache-2.0
// The text form of commands: known texts, exact round trips, located refusals.
#include "base/test.h"
#include "isa/isa.h"
#include "isa/tests/random.h"

enum { ROUNDS = 10000 };

static void expect_text(unsigned revision, unsigned funct, uint64_t rs1, uint64_t rs2, const char *expected) {
  char text[ISA_TEXT_MAX];
  const isa_insn *insn = isa_find(revision, funct, rs1);
  assert_int_equal(isa_print(insn, rs1, rs2, text, sizeof text), strlen(expected));
  assert_string_equal(text, expected);
  uint64_t back1, back2;
  isa_text_error error;
  assert_ptr_equal(isa_parse(revision, text, &back1, &back2, &error), insn);
  assert_true(back1 == rs1 && back2 == rs2);
}

static void known_commands_have_known_texts(void **state) {
  (void)state;
  expect_text(1, 2, 0x80010000, UINT64_C(0x0010004000000040), "mvin dram=0x80010000 local=sp:0x40 cols=64 rows=16");
  expect_text(1, 2, 0x80010000, UINT64_C(0x6010004000000040),
              "mvin dram=0x80010000 local=sp:0x40 cols=64 rows=16 pop_store=1 push_execute=1");
  expect_text(1, 3, 0x1000, UINT64_C(0x00100010e0000001), "mvout dram=0x1000 local=acc:0x1+acc+full cols=16 rows=16");
  expect_text(1, 6, UINT64_C(0x00100010ffffffff), UINT64_C(0x00040008c0000010),
              "preload local=garbage cols=16 rows=16 dest=acc:0x10+acc dest_cols=8 dest_rows=4");
  expect_text(1, 0, UINT64_C(0x3f80000000010104), UINT64_C(0x0001000000000003),
              "config_ex dataflow=ws activation=none strides_only=0 a_transpose=1 b_transpose=0 a_stride=1 acc_scale=1 "
              "in_shift=3 c_stride=1");
  expect_text(1, 0, UINT64_C(0xbe99999a00400009), 64,
              "config_ld shrink=0 state=1 packed=0 pixel_repeats=0 block_stride=64 scale=-0.3 stride=64");
  expect_text(1, 0, 2, UINT64_C(0xffffffff00000000),
              "config_st activation=none pool_stride=0 pool_size=0 pool_upad=0 pool_lpad=0 pool_out_dim=0 pool_orows=0 "
              "pool_ocols=0 orows=0 ocols=0 stride=0 acc_scale=0xffffffff");
  expect_text(1, 7, 1, 0, "flush skip=1");
  expect_text(1, 7, 0xf1, 5, "flush skip=1 rs1=0xf0 rs2=0x5");
  expect_text(1, 3, 0, 0x88000000, "mvout dram=0x0 local=acc:0x0+mean cols=0 rows=0");
}

static void every_command_reads_back(void **state) {
  (void)state;
  uint64_t seed = 4;
  size_t longest = 0;
  for (size_t id = 0; id < ISA_ID_COUNT; id++) {
    const isa_insn *insn = isa_insn_at(id);
    for (unsigned round = 0; round < ROUNDS; round++) {
      uint64_t rs1, rs2, back1, back2;
      random_operands(&seed, insn, &rs1, &rs2);
      char text[ISA_TEXT_MAX];
      size_t length = isa_print(insn, rs1, rs2, text, sizeof text);
      if (length > longest) longest = length;
      isa_text_error error;
      assert_ptr_equal(isa_parse(a_revision(insn), text, &back1, &back2, &error), insn);
      assert_true(back1 == rs1 && back2 == rs2);
    }
  }
  assert_true(longest < ISA_TEXT_MAX);
}

// Every exponent and sign, and the neighbours of the powers of two, in both float fields' printer.
static void every_kind_of_float_reads_back(void **state) {
  (void)state;
  const isa_insn *insn = isa_insn_at(ISA_CONFIG_LD);
  for (uint64_t high = 0; high < 512; high++) {
    static const uint32_t mantissas[] = {0, 1, 2, 0x7fffff, 0x400000, 0x123456};
    for (size_t i = 0; i < sizeof mantissas / sizeof *mantissas; i++) {
      uint64_t rs1 = insn->selector_rs1, rs2 = 0, back1, back2;
      isa_set_config_ld_scale(&rs1, &rs2, high << 23 | mantissas[i]);
      char text[ISA_TEXT_MAX];
      isa_print(insn, rs1, rs2, text, sizeof text);
      isa_text_error error;
      assert_ptr_equal(isa_parse(1, text, &back1, &back2, &error), insn);
      assert_true(back1 == rs1 && back2 == rs2);
    }
  }
}

static void short_buffers_are_cut(void **state) {
  (void)state;
  char text[8] = "xxxxxxx";
  size_t length = isa_print(isa_insn_at(ISA_FLUSH), 1, 0, text, sizeof text);
  assert_int_equal(length, strlen("flush skip=1"));
  assert_string_equal(text, "flush s");
  assert_int_equal(isa_print(isa_insn_at(ISA_FLUSH), 1, 0, NULL, 0), length);
}

static void fields_may_be_left_out_and_reordered(void **state) {
  (void)state;
  uint64_t rs1, rs2;
  isa_text_error error;
  assert_non_null(isa_parse(2, "  mvin rows=0x10\tlocal=garbage  ", &rs1, &rs2, &error));
  assert_true(rs1 == 0 && rs2 == UINT64_C(0x00100000ffffffff));
  assert_non_null(isa_parse(2, "config_ld scale=inf state=3", &rs1, &rs2, &error));
  assert_true(rs1 == (UINT64_C(0x7f800000) << 32 | 3 << 3 | 1) && rs2 == 0);
}

typedef struct bad_text {
  const char *text;
  size_t column;
  const char *message;
} bad_text;

static void bad_texts_are_located(void **state) {
  (void)state;
  static const bad_text cases[] = {
      {"", 1, "ISA revision 1 has no instruction ''"},
      {"mvout_spad dest=sp:0", 1, "ISA revision 1 has no instruction 'mvout_spad'"},
      {"mvin dram=0 colz=3", 13, "mvin has no field 'colz'"},
      {"mvin cols", 6, "expected FIELD=VALUE, not 'cols'"},
      {"mvin cols=65536", 11, "cols has 16 bits, '65536' does not fit"},
      {"mvin cols=-1", 11, "'-1' is not a value of cols"},
      {"mvin cols=", 11, "'' is not a value of cols"},
      {"mvin cols=0x", 11, "'0x' is not a value of cols"},
      {"mvin cols=1f", 11, "'1f' is not a value of cols"},
      {"mvin dram=18446744073709551616", 11, "'18446744073709551616' is not a value of dram"},
      {"mvin cols=1 cols=1", 13, "cols is given twice"},
      {"mvin local=0x10", 12, "'0x10' is not a local address: sp:ROW, acc:ROW or garbage"},
      {"mvin local=sp:0x4000000", 15, "'0x4000000' is not a row number"},
      {"mvin local=acc:3+ful", 18, "unknown flag 'ful': acc, full or a statistics command"},
      {"mvin local=acc:3+", 18, "unknown flag '': acc, full or a statistics command"},
      {"mvin local=acc:3+full+full", 23, "flag 'full' is given twice or contradicts another"},
      {"mvin local=acc:3+max+sum", 22, "flag 'sum' is given twice or contradicts another"},
      {"config_ex dataflow=is", 20, "'is' is not a value of dataflow"},
      {"config_ex kind=0", 11, "config_ex has no field 'kind'"},
      {"config_ex acc_scale=nan", 21, "'nan' is not a 32-bit float: a decimal number, inf or 0x and its bits"},
      {"config_ex acc_scale=1e99", 21, "'1e99' is not a 32-bit float: a decimal number, inf or 0x and its bits"},
      {"config_ex acc_scale=0x1p3", 21, "'0x1p3' is not a 32-bit float: a decimal number, inf or 0x and its bits"},
      {"config_ex acc_scale=-0x1p3", 21, "'-0x1p3' is not a 32-bit float: a decimal number, inf or 0x and its bits"},
      {"config_ex acc_scale=0x100000000", 21,
       "'0x100000000' is not a 32-bit float: a decimal number, inf or 0x and its bits"},
      {"config_ex acc_scale=", 21, "'' is not a 32-bit float: a decimal number, inf or 0x and its bits"},
      {"flush rs1=1", 11, "rs1 gives only bits outside of fields, here 0xfffffffffffffffe"},
      {"mvin rs1=2", 10, "rs1 gives only bits outside of fields, here 0x0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t rs1 = 7, rs2 = 7;
    isa_text_error error;
    assert_null(isa_parse(1, cases[i].text, &rs1, &rs2, &error));
    assert_string_equal(error.text, cases[i].message);
    assert_int_equal(error.column, cases[i].column);
    assert_true(rs1 == 7 && rs2 == 7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_commands_have_known_texts),      cmocka_unit_test(every_command_reads_back),
      cmocka_unit_test(every_kind_of_float_reads_back),       cmocka_unit_test(short_buffers_are_cut),
      cmocka_unit_test(fields_may_be_left_out_and_reordered), cmocka_unit_test(bad_texts_are_located),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
