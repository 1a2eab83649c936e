// SPDX-License-Identifier: Apache-2.0
// isagen refuses tables that are not sound, at the place of the mistake, and writes nothing then.
#include <sys/stat.h>
#include <unistd.h>

#include "base/test.h"
#include "isa/tests/process.h"

#define GOOD                    \
  "opcode 0x7b\n"               \
  "insn one 1 load : first\n"   \
  "  rs1[63:0] a uint : word\n" \
  "  rs2[31:0] b f32\n"         \
  "  rs2[63:32] -\n"

typedef struct bad_table {
  const char *text;
  const char *message;  // what standard error has to contain
} bad_table;

#define EVENTS GOOD "event 0 none none : counts nothing\nevent 1 busy load_controller\nexternal 0 none none\n"

static int generate(const char *text, char **errors) {
  process_write("isagen.tmp/table.isa", text, strlen(text));
  int code = process_run("cd isagen.tmp && " ISAGEN " table.isa out 2>errors");
  size_t length;
  *errors = process_read("isagen.tmp/errors", &length);
  assert_non_null(*errors);
  return code;
}

static void good_tables_are_accepted(void **state) {
  (void)state;
  static const char *const tables[] = {GOOD, EVENTS};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    char *errors;
    process_run("rm -rf isagen.tmp/out && mkdir isagen.tmp/out");
    assert_int_equal(generate(tables[i], &errors), 0);
    assert_string_equal(errors, "");
    free(errors);
    assert_int_equal(access("isagen.tmp/out/isa_fields.h", R_OK), 0);
  }
}

static void expect_in_file(const char *name, const char *wanted) {
  size_t length;
  char *text = process_read(name, &length);
  assert_non_null(text);
  if (strstr(text, wanted) == NULL) fail_msg("%s has no '%s'", name, wanted);
  free(text);
}

// What each generator makes of one event.
static void events_reach_every_output(void **state) {
  (void)state;
  char *errors;
  assert_int_equal(generate(EVENTS, &errors), 0);
  free(errors);
  expect_in_file("isagen.tmp/out/isa_fields.h", "  ISA_EVENT_BUSY = 1,\n  ISA_EVENT_COUNT = 2\n} isa_event;");
  expect_in_file("isagen.tmp/out/isa_fields.h", "  ISA_EXTERNAL_NONE = 0,\n  ISA_EXTERNAL_COUNT = 1\n} isa_external;");
  expect_in_file("isagen.tmp/out/weft_isa.h", "  WEFT_EVENT_BUSY = 1,\n");
  expect_in_file("isagen.tmp/out/weft_isa.h", "  WEFT_EXTERNAL_NONE = 0,\n");
  expect_in_file("isagen.tmp/out/weft_isa_pkg.sv", "localparam integer EVENTS = 2;\n");
  expect_in_file("isagen.tmp/out/weft_isa_pkg.sv", "localparam integer EV_BUSY = 1;\n");
  expect_in_file("isagen.tmp/out/weft_isa_pkg.sv", "localparam integer EXT_NONE = 0;\n");
  expect_in_file("isagen.tmp/out/isa_reference.md",
                 "| 0 | none | none | counts nothing |\n| 1 | busy | load_controller |");
}

static void bad_tables_are_refused(void **state) {
  (void)state;
  static const bad_table cases[] = {
      {"opcode 0x7b\ninsn x 1 load\n rs1[63:0] -\n rs2[63:8] -\n rs2[8:0] a uint\n",
       "table.isa:5:11: error: rs2[8:0] of 'x' overlaps an earlier field"},
      {"opcode 0x7b\ninsn x 1 load\n rs1[63:0] -\n rs2[63:9] -\n rs2[7:0] a uint\n",
       "table.isa:2:6: error: rs2[8:8] of 'x' is in no field"},
      {GOOD "insn x 2 load\n rs1[63:0] a word\n rs2[63:0] -\n", "table.isa:7:14: error: unknown type 'word'"},
      {GOOD "insn x 2 lode\n", "table.isa:6:10: error: unknown unit 'lode'"},
      {GOOD "insn one 2 load\n rs1[63:0] -\n rs2[63:0] -\n",
       "table.isa:6:6: error: instruction name 'one' is used twice"},
      {GOOD "insn x 2 load\n rs1[63:0] a uint\n rs2[63:0] a uint\n",
       "table.isa:8:12: error: field name 'a' is used twice"},
      {GOOD "insn x 1 load\n rs1[63:0] -\n rs2[63:0] -\n", "'one' and 'x' share funct 1 and need const fields"},
      {GOOD "insn x@1 2 load\n rs1[63:0] -\n rs2[63:0] -\ninsn x@2 3 load\n rs1[63:0] -\n rs2[63:0] -\n",
       "table.isa:9:6: error: 'x' changes its funct between revisions"},
      {GOOD "insn x 2 load\n rs1[1:0] k const = 1\n rs1[63:2] -\n rs2[63:0] -\n"
            "insn y 2 load\n rs1[1:0] k const = 1\n rs1[63:2] -\n rs2[63:0] -\n",
       "table.isa:10:6: error: 'x' and 'y' share funct 2 and selector 1"},
      {GOOD "insn x 2 load\n rs1[1:0] k const = 4\n rs1[63:2] -\n rs2[63:0] -\n",
       "table.isa:7:11: error: value 4 of field 'k' does not fit 2 bits"},
      {GOOD "insn x 2 load\n rs1[3:0] k uint in 0..16\n rs1[63:4] -\n rs2[63:0] -\n",
       "table.isa:7:11: error: value 16 of field 'k' does not fit 4 bits"},
      {GOOD "insn x 2 load\n rs1[3:0] k uint in 3..2\n rs1[63:4] -\n rs2[63:0] -\n", "the range of field 'k' is empty"},
      {GOOD "insn x 2 load\n rs1[3:0] k uint in 0..2 {p=3}\n rs1[63:4] -\n rs2[63:0] -\n",
       "table.isa:7:27: error: value p=3 is outside 0..2"},
      {GOOD "insn x 2 load\n rs1[3:0] k bool\n rs1[63:4] -\n rs2[63:0] -\n",
       "table.isa:7:11: error: field 'k' has 4 bits, type bool has 1"},
      {GOOD "  deny c=1 : no\n", "table.isa:6:8: error: 'one' has no field 'c'"},
      {GOOD "  deny a=blue : no\n", "table.isa:6:8: error: field 'a' has no value 'blue'"},
      {GOOD "  deny a=1\n", "a deny line needs ': reason'"},
      {GOOD "insn x 128 load\n", "table.isa:6:8: error: funct 128 does not fit 7 bits"},
      {GOOD "insn x@3 2 load\n", "table.isa:6:8: error: there is no ISA revision 3"},
      {GOOD "  rs1[64:0] -\n", "table.isa:6:7: error: [64:0] is not a bit range"},
      {GOOD "  rs1[0:1] -\n", "[0:1] is not a bit range"},
      {GOOD "  rs1[0] a uint oops\n", "table.isa:6:17: error: unexpected text"},
      {GOOD "  rs1[0] k const\n", "a const field needs '= VALUE'"},
      {GOOD "bogus\n", "table.isa:6:1: error: expected 'opcode'"},
      {"opcode 0x7b\n rs1[63:0] -\n", "table.isa:2:5: error: this line stands before the first 'insn'"},
      {"insn x 1 load\n rs1[63:0] -\n rs2[63:0] -\n", "table.isa: error: the table gives no opcode"},
      {GOOD "opcode 0x7b\n", "table.isa:6:8: error: the opcode is given twice"},
      {GOOD "local[30:0] row uint\n", "local[31:31] of 'local' is in no field"},
      {GOOD "insn x 99999999999999999999 load\n",
       "table.isa:6:8: error: funct '99999999999999999999' is not a 64-bit number"},
      {GOOD "insn Upper 2 load\n", "table.isa:6:6: error: instruction name 'Upper' is not a lower-case identifier"},
      {GOOD "event 1 a none\n", "table.isa:6:7: error: event 1 is out of order, the next number is 0"},
      {EVENTS "event 3 a none\n", "table.isa:9:7: error: event 3 is out of order, the next number is 2"},
      {EVENTS "event 1 a none\n", "table.isa:9:7: error: event 1 is out of order, the next number is 2"},
      {EVENTS "event 2 busy none\n", "table.isa:9:7: error: event name 'busy' is used twice"},
      {EVENTS "external 64 a none\n", "table.isa:9:10: error: external 64 does not fit a counter command"},
      {EVENTS "external 1 none none\n", "table.isa:9:10: error: external name 'none' is used twice"},
      {EVENTS "event x a none\n", "table.isa:9:7: error: event number 'x' is not a 64-bit number"},
      {EVENTS "event 2\n", "table.isa:9:8: error: expected event name"},
      {EVENTS "event 2 Busy none\n", "table.isa:9:9: error: event name 'Busy' is not a lower-case identifier"},
      {EVENTS "event 2 a\n", "table.isa:9:10: error: expected unit"},
      {EVENTS "event 2 a lode\n", "table.isa:9:11: error: unknown unit 'lode'"},
      {EVENTS "event 2 a none none\n", "table.isa:9:16: error: unexpected text"},
      {"", "the table gives no instruction"},
  };
  process_run("rm -rf isagen.tmp/out && mkdir isagen.tmp/out");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *errors;
    int code = generate(cases[i].text, &errors);
    if (code != 1 || strstr(errors, cases[i].message) == NULL)
      fail_msg("exit code %d for:\n%s\nwanted: %s\ngot: %s", code, cases[i].text, cases[i].message, errors);
    free(errors);
    assert_int_not_equal(access("isagen.tmp/out/isa_fields.h", F_OK), 0);
  }
}

static void bad_use_and_files_are_refused(void **state) {
  (void)state;
  assert_int_equal(process_run(ISAGEN " 2>isagen.tmp/errors"), 2);
  assert_int_equal(process_run(ISAGEN " isagen.tmp/absent isagen.tmp/out 2>isagen.tmp/errors"), 1);
  char *errors;
  process_run("rm -rf isagen.tmp/out");
  assert_int_equal(generate(GOOD, &errors), 1);
  assert_non_null(strstr(errors, "out/isa_fields.h: error: cannot write"));
  free(errors);
}

int main(void) {
  process_run("rm -rf isagen.tmp && mkdir -p isagen.tmp/out");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_tables_are_accepted),
      cmocka_unit_test(events_reach_every_output),
      cmocka_unit_test(bad_tables_are_refused),
      cmocka_unit_test(bad_use_and_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
