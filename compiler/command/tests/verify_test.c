// SPDX-License-Identifier: Apache-2.0
// The verifier accepts what the array can do and names what it cannot.
#include "base/test.h"
#include "compiler/command/command.h"

#define HEAD                                                    \
  "program p\ntensor a i8 1024 read\ntensor c i8 256 written\n" \
  "config_ld state=0 scale=1 stride=64 block_stride=16\n"       \
  "config_ex dataflow=ws a_stride=1 c_stride=1 acc_scale=1\n"   \
  "config_st stride=16 acc_scale=1\n"

static char *verdict(const char *text, bool *good) {
  hw_array array;
  hw_array_default(&array);
  char *messages;
  size_t size;
  FILE *out = open_memstream(&messages, &size);
  wf_diag diag = wf_diag_to(out);
  command_program *program = command_parse("t", text, strlen(text), &array, &diag);
  *good = program != NULL && command_verify(program, &diag);
  fclose(out);
  command_destroy(program);
  return messages;
}

static void test_accepts(void **state) {
  (void)state;
  static const char *const texts[] = {
      "program p\n",
      HEAD "mvin dram=a local=sp:0x0 cols=64 rows=16\n",
      HEAD "mvin dram=a+0x30 local=sp:0x0 cols=16 rows=16\n",
      HEAD "mvin dram=0x0 local=sp:0x0 cols=64 rows=16\n",
      HEAD "loop 4 {\nmvin dram=a local=sp:0 cols=16 rows=16 | rs1+0x10 rs2+0x10\n}\nfence\n",
      HEAD "mvout dram=c local=acc:0 cols=16 rows=16\n",
      HEAD
      "preload local=sp:0 cols=16 rows=16 dest=acc:0 dest_cols=16 dest_rows=16\n"
      "compute_preloaded a=sp:0 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    bool good;
    char *messages = verdict(texts[i], &good);
    assert_string_equal(messages, "");
    assert_true(good);
    free(messages);
  }
}

// Of many products one is wrong, in the middle: in one of its four operands, or in its fields.
static void test_products(void **state) {
  (void)state;
  static const struct {
    const char *product, *message;
  } cases[] = {
      {NULL, ""},
      {"preload local=sp:0x3ff8 cols=16 rows=16 dest=acc:0 dest_cols=16 dest_rows=16\n"
       "compute_preloaded a=sp:0 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16\n",
       "scratchpad rows"},
      {"preload local=sp:0 cols=16 rows=16 dest=acc:0x3f8 dest_cols=16 dest_rows=16\n"
       "compute_preloaded a=sp:0 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16\n",
       "accumulator rows"},
      {"preload local=sp:0 cols=16 rows=16 dest=acc:0 dest_cols=16 dest_rows=16\n"
       "compute_preloaded a=sp:0x3ff8 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16\n",
       "scratchpad rows"},
      {"preload local=sp:0 cols=16 rows=16 dest=acc:0 dest_cols=16 dest_rows=16\n"
       "compute_preloaded a=sp:0 a_cols=16 a_rows=17 bd=garbage bd_cols=16 bd_rows=16\n",
       "17"},
      {"compute_preloaded a=sp:0x3ff8 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16\n", "scratchpad rows"},
  };
  static const char usual[] =
      "preload local=sp:0x%x cols=16 rows=16 dest=acc:0x%x dest_cols=16 dest_rows=16\n"
      "compute_preloaded a=sp:0x%x a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16\n";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[16384] = HEAD;
    for (unsigned n = 0; n < 60; n++) {
      const size_t length = strlen(text);
      snprintf(text + length, sizeof text - length, usual, n * 16, n * 16 % 1008, 0x3ff0 - n);
      if (n == 30 && cases[i].product != NULL) strcat(text, cases[i].product);
    }
    bool good;
    char *messages = verdict(text, &good);
    assert_int_equal(good, cases[i].product == NULL);
    if (strstr(messages, cases[i].message) == NULL) fail_msg("case %zu: %s", i, messages);
    free(messages);
  }
}

// Of many loads one is wrong, in the middle: in its row, in what it reads, in its fields, or in the state that it uses.
// The message has the number of the command.
static void test_loads(void **state) {
  (void)state;
  static const struct {
    const char *load, *message;
  } cases[] = {
      {NULL, ""},
      {"config_ld state=0 scale=1 stride=16 block_stride=16\n", ""},
      {"mvin dram=a+0x20 local=sp:0x3ff1 cols=16 rows=16\n", "command 33: mvin dram=a+0x20"},
      {"mvin dram=a+0x31 local=sp:0x100 cols=16 rows=16\n", "reads bytes 49..1024 of tensor a"},
      {"mvin dram=a-0x1 local=sp:0x100 cols=16 rows=16\n", "reads bytes -1..974 of tensor a"},
      {"mvin dram=a local=sp:0x100 cols=16 rows=17\n", "17 rows, at most 16"},
      {"mvin dram=c local=sp:0x100 cols=16 rows=16\n", "of tensor c, which has 256"},
      {"mvin2 dram=a local=sp:0x100 cols=16 rows=16\n", "uses load state 1 before"},
      {"config_ld state=0 scale=1 stride=68 block_stride=16\n", "of tensor a, which has 1024"},
  };
  static const char usual[] = "mvin dram=a+0x%x local=sp:0x%x cols=16 rows=16\n";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[16384] = HEAD;
    for (unsigned n = 0; n < 60; n++) {
      const size_t length = strlen(text);
      snprintf(text + length, sizeof text - length, usual, n % 4 * 16, 0x3ff0 - n * 16);
      if (n == 29 && cases[i].load != NULL) strcat(text, cases[i].load);
    }
    bool good;
    char *messages = verdict(text, &good);
    assert_int_equal(good, *cases[i].message == '\0');
    if (strstr(messages, cases[i].message) == NULL) fail_msg("case %zu: %s", i, messages);
    free(messages);
  }
}

static void test_refuses(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {HEAD "mvin dram=a+0x1 local=sp:0 cols=64 rows=16\n", "reads bytes 1..1024 of tensor a, which has 1024"},
      {HEAD "mvin dram=a-0x1 local=sp:0 cols=1 rows=1\n", "reads bytes -1..-1 of tensor a"},
      {HEAD "mvin dram=a+0x7fffffffffffffff local=sp:0 cols=1 rows=1\n", "far outside of the tensor"},
      {HEAD "mvin dram=0x80000000 local=sp:0 cols=1 rows=1\n", "reads at 0x80000000, which is in no tensor"},
      {HEAD "mvin dram=c local=sp:0 cols=1 rows=1\n", "reads tensor c, which is not declared so"},
      {HEAD "mvout dram=a local=acc:0 cols=16 rows=1\n", "writes tensor a, which is not declared so"},
      {HEAD "mvout dram=c+0x10 local=acc:0 cols=16 rows=16\n", "writes bytes 16..271 of tensor c, which has 256"},
      {HEAD "mvin dram=a local=sp:0x3ff1 cols=16 rows=16\n", "scratchpad rows 16369..16384 of 16384"},
      {HEAD "mvin dram=a local=sp:0 cols=16 rows=17\n", "17 rows, at most 16"},
      {HEAD "loop 5 {\nmvin dram=a local=sp:0 cols=16 rows=16 | rs1+0x10\n}\n", "command 7: mvin dram=a+0x40"},
      {HEAD "mvin2 dram=a local=sp:0 cols=16 rows=16\n", "uses load state 1 before any of the program's own"},
      {"program p\npreload local=sp:0 dest=garbage cols=1 rows=1\n", "uses the execute unit before"},
      {"program p\ntensor c i8 1 written\nmvout dram=c local=sp:0 cols=1 rows=1\n", "uses the store unit before"},
      {"program p\nloop 100000 {\nloop 100000 {\nmvin\n}\n}\n", "more than 1073741824 commands and iterations"},
      {"program p\nloop 18446744073709551615 {\nloop 2 {\nmvin\n}\n}\n",
       "more than 1073741824 commands and iterations"},
      {"program p\nloop 18446744073709551615 {\nfence\n}\n", "more than 1073741824 commands and iterations"},
      {"program p\nloop 18446744073709551615 {\n}\n", "more than 1073741824 commands and iterations"},
      {HEAD "config_ex dataflow=ws a_transpose=1 b_transpose=1\n", "not both"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool good;
    char *messages = verdict(cases[i].text, &good);
    if (good || strstr(messages, cases[i].message) == NULL)
      fail_msg("%s\ngives %s\nnot   %s", cases[i].text, messages, cases[i].message);
    free(messages);
  }
}

// A loop is judged by its ends only where that says all: what carries from field to field is seen in between, too.
static void test_loops(void **state) {
  (void)state;
  static const struct {
    const char *body;
    bool good;
  } cases[] = {
      {"loop 64 {\nmvin dram=a local=sp:0 cols=16 rows=1 | rs1+0x10 rs2+0x100\n}\n", true},
      {"loop 65 {\nmvin dram=a local=sp:0 cols=16 rows=1 | rs1+0x10 rs2+0x100\n}\n", false},
      {"loop 64 {\nmvin dram=a+0x3f0 local=sp:0x3fff cols=16 rows=1 | rs1-0x10 rs2-0x100\n}\n", true},
      {"loop 65 {\nmvin dram=a+0x3f0 local=sp:0x3fff cols=16 rows=1 | rs1-0x10 rs2-0x100\n}\n", false},
      // Up in one loop and down in the other: only the mixed corners leave the tensor.
      {"loop 8 {\nloop 8 {\nmvin dram=a+0x70 local=sp:0 cols=16 rows=1 | rs1+0x80 | rs1-0x10\n}\n}\n", true},
      {"loop 9 {\nloop 8 {\nmvin dram=a+0x70 local=sp:0 cols=16 rows=1 | rs1+0x80 | rs1-0x10\n}\n}\n", false},
      {"loop 8 {\nloop 9 {\nmvin dram=a+0x70 local=sp:0 cols=16 rows=1 | rs1+0x80 | rs1-0x10\n}\n}\n", false},
      // Good in the first and the last iteration, not between: rows of the command, wrapping offsets, configuration.
      {"loop 3 {\nmvin dram=a local=sp:0 cols=16 rows=1 | rs2+0x8000000000000000\n}\n", false},
      {"loop 3 {\nmvin dram=a local=sp:0 cols=1 rows=1 | rs1+0x8000000000000000\n}\n", false},
      // Rows of the command change in one loop, which is gone through in full, and its place in the other.
      {"loop 3 {\nloop 64 {\nmvin dram=a local=sp:0 cols=16 rows=1 | rs2+0x1000000000000 | rs2+0x100\n}\n}\n", true},
      {"loop 3 {\nloop 65 {\nmvin dram=a local=sp:0 cols=16 rows=1 | rs2+0x1000000000000 | rs2+0x100\n}\n}\n", false},
      {"loop 64 {\nloop 3 {\nmvin dram=a local=sp:0 cols=16 rows=1 | rs2+0x100 | rs2+0x1000000000000\n}\n}\n", true},
      {"loop 64 {\nloop 17 {\nmvin dram=a local=sp:0 cols=16 rows=1 | rs2+0x100 | rs2+0x1000000000000\n}\n}\n", false},
      {"loop 5 {\nconfig_ex dataflow=os a_stride=1 c_stride=1 | rs1+0x80\n}\n", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    bool good;
    snprintf(text, sizeof text, HEAD "%s", cases[i].body);
    char *messages = verdict(text, &good);
    if (good != cases[i].good) fail_msg("%s: %s", cases[i].body, messages);
    free(messages);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_accepts), cmocka_unit_test(test_refuses),
                                     cmocka_unit_test(test_products), cmocka_unit_test(test_loads),
                                     cmocka_unit_test(test_loops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
