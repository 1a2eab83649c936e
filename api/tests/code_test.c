// SPDX-License-Identifier: Apache-2.0
// Code of executables: sections, instructions of both lengths, symbols, names that terminals would act on.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/tests/session.h"
#include "base/alloc.h"
#include "sim/elf/tests/elf_build.h"

enum { BASE = 0x1000 };

// addi a0, zero, 5; c.li a1, 1; the first half of a word that the section's end cuts off.
static const uint8_t text[] = {0x13, 0x05, 0x50, 0x00, 0x85, 0x45, 0x13, 0x05};

static weft_code *open_text(weft_session *s) {
  const elf_build b = {.entry = BASE,
                       .segments = {{BASE, sizeof text, text, sizeof text, PF_R | PF_X},
                                    {2 * BASE, sizeof text, text, sizeof text, PF_R}},
                       .symbols = {{"main", BASE, 4, STT_FUNC}, {"a\x1b[31m", BASE + 4, 4, STT_FUNC}}};
  size_t length;
  uint8_t *bytes = elf_build_file(&b, &length);
  char path[] = "/tmp/weft-code-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0 && write(file, bytes, length) == (ssize_t)length);
  close(file);
  wf_free(bytes);
  weft_code *code = weft_code_open(s, path);
  unlink(path);
  expect(s, WEFT_OK);
  return code;
}

static void test_code(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_code *code = open_text(s);
  weft_section section = {.size = sizeof section};
  assert_int_equal(weft_code_sections(code), 1);
  assert_int_equal(weft_code_section(code, 0, &section), WEFT_OK);
  assert_string_equal(section.name, ".text");
  assert_int_equal(section.address, BASE);
  assert_int_equal(section.bytes, sizeof text);
  weft_instruction i = {.size = sizeof i};
  assert_int_equal(weft_code_instruction(code, 0, 0, &i), WEFT_OK);
  assert_int_equal(i.bytes, 4);
  assert_int_equal(i.bits, 0x00500513);
  assert_non_null(strstr(i.text, "addi"));
  assert_true(i.labelled);
  assert_string_equal(i.symbol, "main");
  assert_int_equal(weft_code_instruction(code, 0, 4, &i), WEFT_OK);
  assert_int_equal(i.bytes, 2);
  assert_int_equal(i.address, BASE + 4);
  assert_true(i.labelled);
  assert_null(strchr(i.symbol, '\x1b'));
  assert_int_equal(weft_code_instruction(code, 0, 6, &i), WEFT_OK);
  assert_int_equal(i.bits, 0x0513);
  assert_false(i.labelled);
  assert_int_equal(weft_code_instruction(code, 0, 7, &i), WEFT_USAGE);
  assert_int_equal(weft_code_instruction(code, 0, UINT64_MAX, &i), WEFT_USAGE);
  assert_int_equal(weft_code_instruction(code, 1, 0, &i), WEFT_USAGE);
  assert_int_equal(weft_code_section(code, 1, &section), WEFT_USAGE);
  weft_code_destroy(code);
  weft_session_destroy(s);
}

static void test_refused(void **state) {
  (void)state;
  weft_session *s = open_session();
  assert_null(weft_code_open(s, "nowhere.elf"));
  expect_message(s, WEFT_BAD_INPUT, "nowhere.elf");
  assert_null(weft_code_open(s, NULL));
  expect(s, WEFT_USAGE);
  assert_int_equal(weft_code_sections(NULL), 0);
  weft_code_destroy(NULL);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_code), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
