// SPDX-License-Identifier: Apache-2.0
// Programs and their text: what is printed reads back to the same program; wrong text is refused where it is wrong.
#include "base/alloc.h"
#include "base/test.h"
#include "compiler/command/command.h"

static hw_array array;
static int setup(void **state) {
  (void)state;
  hw_array_default(&array);
  return 0;
}

static char *text_of(const command_program *program) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  command_print(program, out);
  fclose(out);
  return text;
}

static command_program *parse(const char *text, char **messages) {
  size_t size;
  FILE *out = open_memstream(messages, &size);
  wf_diag diag = wf_diag_to(out);
  command_program *program = command_parse("t", text, strlen(text), &array, &diag);
  fclose(out);
  return program;
}

static const char sample[] =
    "program sample\n"
    "tensor a i8 4096 read  # what is read\n"
    "tensor c i32 256 written\n"
    "tensor u i8 6 read = -128 0*3 127*2\n"
    "config_ld state=0 scale=1 stride=64 block_stride=16\n"
    "config_st stride=64 acc_scale=1\n"
    "loop 4 {\n"
    "  mvin dram=a+0x10 local=sp:0x0 cols=16 rows=16 | rs1+0x400 rs2+0x10\n"
    "  mvin dram=0x0 local=sp:0x0 cols=16 rows=16\n"
    "  loop 3 {\n"
    "    mvin dram=a local=sp:0x0 cols=16 rows=16 | | rs1+0x10\n"
    "    mvout dram=c-0x40 local=acc:0x0+full cols=16 rows=1 | rs1+0x40 | rs2-1\n"
    "  }\n"
    "}\n"
    "fence\n";

static void test_prints_what_it_read(void **state) {
  (void)state;
  char *messages;
  command_program *program = parse(sample, &messages);
  assert_string_equal(messages, "");
  assert_non_null(program);
  assert_int_equal(program->tensor_count, 3);
  assert_memory_equal(program->tensors[2].contents, ((const int8_t[]){-128, 0, 0, 0, 127, 127}), 6);
  assert_int_equal(command_executions(program), 2 + 4 * (2 + 3 * 2));
  char *first = text_of(program), *more;
  command_program *again = parse(first, &more);
  assert_string_equal(more, "");
  char *second = text_of(again);
  assert_string_equal(first, second);
  assert_non_null(strstr(first, "mvin dram=a+0x10 local=sp:0x0 cols=16 rows=16 | rs1+0x400 rs2+0x10\n"));
  assert_non_null(strstr(first, "dram=c-0x40"));
  free(first), free(second), free(messages), free(more);
  command_destroy(program);
  command_destroy(again);
}

typedef struct log {
  uint64_t rs1[64];
  int count, fences, stop;
} log;

static bool note(void *context, const command_insn *insn) {
  log *l = context;
  if (insn == NULL) {
    l->fences++;
    return true;
  }
  l->rs1[l->count++] = insn->rs1;
  return l->count != l->stop;
}

static void test_walk_steps_and_stops(void **state) {
  (void)state;
  char *messages;
  command_program *program = parse(sample, &messages);
  log l = {.stop = -1};
  assert_true(command_walk(program, note, &l));
  assert_int_equal(l.count, 34);
  assert_int_equal(l.fences, 1);
  assert_int_equal(l.rs1[2], 0x10);
  assert_int_equal(l.rs1[2 + 8], 0x410);      // outer step
  assert_int_equal(l.rs1[2 + 8 + 4], 0x10);   // inner step, started again
  assert_true(l.rs1[2 + 8 * 3 + 3] == 0x80);  // -0x40 + 3 * 0x40
  log cut = {.stop = 5};
  assert_false(command_walk(program, note, &cut));
  assert_int_equal(cut.count, 5);
  command_destroy(program);
  free(messages);
}

static void test_refuses(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "t:1:1: error: no `program NAME` line"},
      {"program p\nfoo\n", "t:2:1: error: ISA revision 1 has no instruction 'foo'"},
      {"program p\nprogram q\n", "t:2:1: error: a second `program` line"},
      {"program 1p\n", "t:1:9: error: '1p' is not a name"},
      {"program p q\n", "t:1:11: error: unexpected text: 'q'"},
      {"program p\narray x 0123 isa 1\n", "t:2:9: error: expected the array's hash"},
      {"program p\narray x 0123456789abcdef isa 1\n", "t:2:7: error: made for array x (0123456789abcdef"},
      {"program p\ntensor a i9 1\n", "t:2:10: error: 'i9' is no type"},
      {"program p\ntensor a i8 4294967297\n", "t:2:13: error: a tensor of more than 4 GiB"},
      {"program p\ntensor a i32 1073741825\n", "t:2:14: error: a tensor of more than 4 GiB"},
      {"program p\ntensor a i32 99999999999999999999\n", "t:2:14: error: expected the number of elements"},
      {"program p\ntensor a i8 1 red\n", "t:2:15: error: expected `read`, `written` or `=`"},
      {"program p\ntensor a i8 1\ntensor a i8 1\n", "t:3:8: error: a second tensor 'a'"},
      {"program p\ntensor a i8 3 read = 1 2\n", "t:2:25: error: fewer elements"},
      {"program p\ntensor a i8 3 read = 1*4\n", "t:2:25: error: more elements"},
      {"program p\ntensor a i8 3 read = -129*3\n", "t:2:22: error: expected an element of -128 to 127"},
      {"program p\ntensor a i32 3 read = 0*3\n", "t:2:22: error: a constant has at most"},
      {"program p\nfence\ntensor a i8 1\n", "t:3:1: error: tensors stand before the first command"},
      {"program p\nmvin dram=a local=sp:0 cols=1 rows=1\n", "t:2:11: error: no tensor 'a'"},
      {"program p\ntensor a i8 1\nmvin dram=a+ local=sp:0\n", "t:3:12: error: expected an offset"},
      {"program p\ntensor a i8 1\nmvin dram=a+0x11111111111111111\n", "t:3:12: error: expected an offset"},
      {"program p\ntensor a i8 1\nmvin dram=a dram=a\n", "t:3:13: error: an address is given twice"},
      {"program p\ntensor a i8 1\nmvin dram=a dram=0x1\n", "t:3:13: error: dram is given twice"},
      {"program p\ntensor a i8 1\nmvin dram=a cols=65536\n", "t:3:18: error: cols has 16 bits, '65536' does not fit"},
      {"program p\nmvin cols=1 | rs1+1\n", "t:2:13: error: steps for more loops than there are around: 0"},
      {"program p\nloop 2 {\nloop 2 {\nmvin cols=1 | rs1+1\n}\n}\n", "t:4:13: error: steps for 1 loops, and 2"},
      {"program p\nloop 2 {\nmvin cols=1 | rs3+1\n}\n", "t:3:15: error: expected rs1+N"},
      {"program p\nloop 2 {\nmvin cols=1 | rs1+1 rs1+1\n}\n", "t:3:21: error: rs1 is given twice"},
      {"program p\nloop 2 {\nmvin cols=1 | rs1*1\n}\n", "t:3:15: error: 'rs1*1' is no step"},
      {"program p\nloop 0 {\n}\n", "t:2:6: error: a loop has at least one trip"},
      {"program p\nloop 2\n", "t:2:7: error: expected `{`"},
      {"program p\nloop 2 {\n", "t:2:1: error: this loop has no `}`"},
      {"program p\n}\n", "t:2:1: error: `}` without a loop"},
      {"program p\nfence now\n", "t:2:7: error: unexpected text: 'now'"},
      {"program p\ncounter\n", "t:2:1: error: counter returns a value"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *messages;
    assert_null(parse(cases[i].text, &messages));
    if (strncmp(messages, cases[i].message, strlen(cases[i].message)) != 0)
      fail_msg("%s\ngives %s\nnot   %s", cases[i].text, messages, cases[i].message);
    free(messages);
  }
}

static void test_listing(void **state) {
  (void)state;
  char *messages, *text;
  size_t size;
  command_program *program = parse(sample, &messages);
  FILE *out = open_memstream(&text, &size);
  command_write_listing(program, out);
  fclose(out);
  unsigned lines = 0;
  for (const char *c = text; *c != '\0'; c++) lines += *c == '\n';
  assert_int_equal(lines, 1 + 3 + 1 + 34 + 1);  // head, tensors, columns, commands, fence
  assert_non_null(strstr(text, "       4    2 0000000000000000 0010001000000000  mvin dram=a+0x0 local=sp:0x0"));
  assert_non_null(
      strstr(text, "       5    3 ffffffffffffffc0 00010010a0000000  mvout dram=c-0x40 local=acc:0x0+full"));
  assert_non_null(strstr(text, "mvout dram=c+0x0 local=acc:0x"));
  assert_non_null(strstr(text, "\n          fence\n"));
  free(text), free(messages);
  command_destroy(program);
}

// Every truncation of a good text is read or refused, without harm; so is a zero byte anywhere.
static void test_truncated(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(NULL);
  char text[sizeof sample];
  for (size_t n = 0; n < sizeof sample - 1; n++) {
    memcpy(text, sample, sizeof sample);
    command_destroy(command_parse("t", text, n, &array, &diag));
    text[n] = '\0';
    command_program *program = command_parse("t", text, sizeof sample - 1, &array, &diag);
    assert_true(program == NULL);
  }
}

static void test_deep_loops(void **state) {
  (void)state;
  char text[1024] = "program p\n", *messages;
  for (int i = 0; i < COMMAND_LOOPS_MAX; i++) strcat(text, "loop 1 {\n");
  strcat(text, "mvin cols=1\n");
  size_t length = strlen(text);
  for (int i = 0; i < COMMAND_LOOPS_MAX; i++) strcat(text, "}\n");
  command_program *program = parse(text, &messages);
  assert_non_null(program);
  assert_int_equal(command_executions(program), 1);
  command_destroy(program);
  free(messages);
  strcpy(text + length, "loop 1 {\n");
  assert_null(parse(text, &messages));
  assert_non_null(strstr(messages, "loops nested deeper than 16"));
  free(messages);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_prints_what_it_read),
      cmocka_unit_test(test_walk_steps_and_stops),
      cmocka_unit_test(test_refuses),
      cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_deep_loops),
      cmocka_unit_test(test_listing),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
