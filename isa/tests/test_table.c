// SPDX-License-Identifier: Apache-2.0
// The table in the library: coverage counted anew, lookup against a search, field access, legality, reference text.
#include "base/test.h"
#include "isa/isa.h"
#include "isa/tests/random.h"

enum { ROUNDS = 10000 };

static void every_bit_has_one_owner(void **state) {
  (void)state;
  for (size_t id = 0; id < ISA_ID_COUNT; id++) {
    const isa_insn *insn = isa_insn_at(id);
    unsigned owners[2][64] = {{0}};
    for (unsigned bit = 0; bit < 64; bit++) {
      owners[0][bit] += (unsigned)(insn->reserved_rs1 >> bit & 1);
      owners[1][bit] += (unsigned)(insn->reserved_rs2 >> bit & 1);
    }
    for (size_t i = 0; i < insn->field_count; i++)
      for (unsigned bit = 0; bit < insn->fields[i].width; bit++)
        owners[insn->fields[i].reg - 1][insn->fields[i].lsb + bit]++;
    for (unsigned bit = 0; bit < 128; bit++) assert_int_equal(owners[bit / 64][bit % 64], 1);
  }
}

// What isa_find means, by looking at every instruction.
static const isa_insn *search(unsigned revision, unsigned funct, uint64_t rs1) {
  const isa_insn *found = NULL;
  for (size_t id = 0; id < ISA_ID_COUNT; id++) {
    const isa_insn *insn = isa_insn_at(id);
    bool match = insn->funct == funct && (insn->revisions >> (revision - 1) & 1) != 0;
    for (size_t i = 0; i < insn->field_count; i++)
      if (insn->fields[i].type == ISA_TYPE_CONST)
        match = match && isa_field_get(&insn->fields[i], rs1, 0) == insn->fields[i].min;
    if (!match) continue;
    assert_null(found);
    found = insn;
  }
  return found;
}

static void find_agrees_with_a_search(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (unsigned revision = 1; revision <= ISA_REVISIONS; revision++)
    for (unsigned funct = 0; funct < 160; funct++)
      for (unsigned i = 0; i < 64; i++) {
        uint64_t rs1 = (random_next(&seed) & ~UINT64_C(15)) | (i & 15);
        assert_ptr_equal(isa_find(revision, funct, rs1), search(revision, funct, rs1));
      }
}

static void known_commands_are_found(void **state) {
  (void)state;
  assert_int_equal(isa_find(1, 0, 0xfff4)->id, ISA_CONFIG_EX);
  assert_int_equal(isa_find(2, 0, 0xfff5)->id, ISA_CONFIG_LD);
  assert_int_equal(isa_find(1, 2, 0)->id, ISA_MVIN);
  assert_int_equal(isa_find(1, 1, 0)->id, ISA_MVIN2);
  assert_int_equal(isa_find(1, 8, 0)->id, ISA_LOOP_WS_R1);
  assert_int_equal(isa_find(2, 8, 0)->id, ISA_LOOP_WS_R2);
  assert_null(isa_find(1, 23, 0));
  assert_int_equal(isa_find(2, 23, 0)->id, ISA_MVOUT_SPAD_R2);
  assert_true(isa_find(1, 126, 0)->returns);
  assert_null(isa_find(2, 127, 0));
  assert_int_equal(isa_find_name(2, "loop_ws")->id, ISA_LOOP_WS_R2);
  assert_null(isa_find_name(1, "mvout_spad"));
  assert_int_equal(ISA_OPCODE, 0x7b);
}

static void fields_round_trip(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (size_t id = 0; id < ISA_ID_COUNT; id++) {
    const isa_insn *insn = isa_insn_at(id);
    for (unsigned round = 0; round < ROUNDS; round++) {
      uint64_t rs1, rs2;
      random_operands(&seed, insn, &rs1, &rs2);
      uint64_t copy1 = rs1 & insn->reserved_rs1, copy2 = rs2 & insn->reserved_rs2;
      for (size_t i = insn->field_count; i-- > 0;)
        isa_field_set(&insn->fields[i], &copy1, &copy2, isa_field_get(&insn->fields[i], rs1, rs2));
      assert_true(copy1 == rs1 && copy2 == rs2);
    }
  }
}

// One accessor of each kind of place against bits counted by hand.
static void named_accessors_read_their_bits(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (unsigned round = 0; round < ROUNDS; round++) {
    uint64_t rs1 = random_next(&seed), rs2 = random_next(&seed), value = random_next(&seed);
    assert_int_equal(isa_get_config_ld_stride(rs1, rs2), rs2);
    assert_int_equal(isa_get_config_ex_a_stride(rs1, rs2), rs1 >> 16 & 0xffff);
    assert_int_equal(isa_get_config_ex_c_stride(rs1, rs2), rs2 >> 48);
    assert_int_equal(isa_get_loop_ws_r2_resadd(rs1, rs2), rs2 >> 2 & 1);
    assert_int_equal(isa_get_loop_conv_ws_config_4_r2_pdpad(rs1, rs2), rs1 >> 10 & 0x7ff);
    assert_int_equal(isa_get_mvin_local(rs1, rs2), rs2 & 0xffffffff);
    uint64_t set1 = rs1, set2 = rs2;
    isa_set_mvin_cols(&set1, &set2, value);
    assert_true(set1 == rs1 && set2 == ((rs2 & ~UINT64_C(0xffff00000000)) | (value & 0xffff) << 32));
  }
  uint64_t rs1, rs2;
  isa_init_config_st(&rs1, &rs2);
  assert_true(rs1 == 2 && rs2 == 0);
}

static void expect_refusal(const isa_insn *insn, uint64_t rs1, uint64_t rs2, const char *reason) {
  char text[200];
  assert_false(isa_check(insn, rs1, rs2, text, sizeof text));
  assert_string_equal(text, reason);
  assert_false(isa_check(insn, rs1, rs2, NULL, 0));
}

static void check_refuses_out_of_range(void **state) {
  (void)state;
  const isa_insn *ex = isa_insn_at(ISA_CONFIG_EX), *ld = isa_insn_at(ISA_CONFIG_LD);
  assert_true(isa_check(ex, 0, 31, NULL, 0));
  expect_refusal(ex, 0, 32, "config_ex: in_shift is 32, allowed are 0 to 31");
  assert_true(isa_check(ld, 1 | 2 << 3, UINT64_MAX, NULL, 0));
  expect_refusal(ld, 1 | 3 << 3, 0, "config_ld: state is 3, allowed are 0 to 2");
  expect_refusal(ld, 2, 0, "config_ld: kind is 2, must be 1");
  assert_true(isa_check(isa_insn_at(ISA_LOOP_WS_R1), 4 << 8, 0, NULL, 0));
  assert_false(isa_check(isa_insn_at(ISA_LOOP_WS_R1), 5 << 8, 0, NULL, 0));
}

static void check_refuses_denied_combinations(void **state) {
  (void)state;
  const isa_insn *ex = isa_insn_at(ISA_CONFIG_EX);
  enum { WS = 4, STRIDES_ONLY = 0x80, A_T = 0x100, B_T = 0x200 };
  static const uint64_t good[] = {0,        A_T,      A_T | B_T,          WS,
                                  WS | A_T, WS | B_T, STRIDES_ONLY | B_T, STRIDES_ONLY | WS | A_T | B_T};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(isa_check(ex, good[i], 0, NULL, 0));
  expect_refusal(
      ex, B_T, 0,
      "config_ex: strides_only=0 dataflow=os a_transpose=0 b_transpose=1: output-stationary B transpose needs A "
      "transpose too");
  assert_false(isa_check(ex, WS | A_T | B_T, 0, NULL, 0));
}

static void check_is_the_range_of_each_field(void **state) {
  (void)state;
  for (size_t id = 0; id < ISA_ID_COUNT; id++) {
    const isa_insn *insn = isa_insn_at(id);
    for (size_t i = 0; i < insn->field_count; i++) {
      const isa_field *field = &insn->fields[i];
      uint64_t rs1 = insn->selector_rs1, rs2 = 0;
      isa_field_set(field, &rs1, &rs2, field->max);
      bool denied = id == ISA_CONFIG_EX && strcmp(field->name, "b_transpose") == 0;
      assert_int_equal(isa_check(insn, rs1, rs2, NULL, 0), !denied);
      if (field->max == isa_field_max(field)) continue;
      isa_field_set(field, &rs1, &rs2, field->max + 1);
      assert_false(isa_check(insn, rs1, rs2, NULL, 0));
    }
  }
}

// One row for each number from 0 on, in the section with this heading.
static void expect_rows(const char *text, const char *heading, unsigned count) {
  const char *section = strstr(text, heading);
  assert_non_null(section);
  const char *end = strstr(section + 1, "\n## ");
  assert_non_null(end);
  for (unsigned i = 0; i <= count; i++) {
    char row[16];
    snprintf(row, sizeof row, "\n| %u | ", i);
    const char *place = strstr(section, row);
    assert_int_equal(place != NULL && place < end, i < count);
  }
}

static void reference_names_everything(void **state) {
  (void)state;
  const char *text = isa_reference_markdown();
  expect_rows(text, "\n## Events\n", ISA_EVENT_COUNT);
  expect_rows(text, "\n## External values of counters\n", ISA_EXTERNAL_COUNT);
  for (size_t id = 0; id < ISA_ID_COUNT; id++) {
    const isa_insn *insn = isa_insn_at(id);
    char heading[80];
    snprintf(heading, sizeof heading, "\n## %s", insn->name);
    const char *section = strstr(text, heading);
    assert_non_null(section);
    for (size_t i = 0; i < insn->field_count; i++) {
      snprintf(heading, sizeof heading, "| %s |", insn->fields[i].name);
      assert_non_null(strstr(section, heading));
    }
  }
}

// Numbers that programs for Gemmini hold in their code.
static void events_have_their_numbers(void **state) {
  (void)state;
  static const struct {
    unsigned got, wanted;
  } cases[] = {{ISA_EVENT_NONE, 0},           {ISA_EVENT_BUSY_LOAD, 1},          {ISA_EVENT_BUSY_ALL, 7},
               {ISA_EVENT_LOAD_DMA_WAIT, 8},  {ISA_EVENT_STORE_SPAD_WAIT, 14},   {ISA_EVENT_PAGE_MISS, 15},
               {ISA_EVENT_READER_ACTIVE, 18}, {ISA_EVENT_WRITER_BUS_WAIT, 23},   {ISA_EVENT_EXECUTE_ACTIVE, 24},
               {ISA_EVENT_SPAD_WAIT_A, 29},   {ISA_EVENT_ACC_WAIT_A, 32},        {ISA_EVENT_GARBAGE_D, 37},
               {ISA_EVENT_STATION_FULL, 41},  {ISA_EVENT_LOOP_MATMUL_BUSY, 43},  {ISA_EVENT_UNROLLER_ACTIVE, 44},
               {ISA_EVENT_COUNT, 45},         {ISA_EXTERNAL_LOAD_ENTRIES, 1},    {ISA_EXTERNAL_BYTES_READ, 4},
               {ISA_EXTERNAL_COUNT, 8},       {ISA_EXTERNAL_WRITES_IN_FLIGHT, 7}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_int_equal(cases[i].got, cases[i].wanted);
}

// Parts of a local address against bits counted by hand.
static void local_addresses_round_trip(void **state) {
  (void)state;
  uint64_t seed = 4;
  for (unsigned round = 0; round < ROUNDS; round++) {
    uint32_t local = (uint32_t)random_next(&seed), value = (uint32_t)random_next(&seed);
    assert_int_equal(isa_local_row(local), local & 0x3ffffff);
    assert_int_equal(isa_local_norm(local), local >> 26 & 7);
    assert_int_equal(isa_local_full(local), local >> 29 & 1);
    assert_int_equal(isa_local_accumulate(local), local >> 30 & 1);
    assert_int_equal(isa_local_accumulator(local), local >> 31);
    assert_int_equal(isa_local_with_norm(local, value), (local & 0xe3ffffff) | (value & 7) << 26);
    assert_int_equal(isa_local_with_accumulator(local, value), (local & 0x7fffffff) | value << 31);
  }
  assert_int_equal(ISA_LOCAL_ROW_MASK | ISA_LOCAL_NORM_MASK | ISA_LOCAL_FULL_MASK | ISA_LOCAL_ACCUMULATE_MASK |
                       ISA_LOCAL_ACCUMULATOR_MASK,
                   ISA_LOCAL_GARBAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_bit_has_one_owner),           cmocka_unit_test(find_agrees_with_a_search),
      cmocka_unit_test(known_commands_are_found),          cmocka_unit_test(fields_round_trip),
      cmocka_unit_test(named_accessors_read_their_bits),   cmocka_unit_test(check_refuses_out_of_range),
      cmocka_unit_test(check_refuses_denied_combinations), cmocka_unit_test(check_is_the_range_of_each_field),
      cmocka_unit_test(reference_names_everything),        cmocka_unit_test(events_have_their_numbers),
      cmocka_unit_test(local_addresses_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
