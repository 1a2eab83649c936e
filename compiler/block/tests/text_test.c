// SPDX-License-Identifier: Apache-2.0
// The text of block programs: what is printed is read back as the same program, and errors say where they are.
#include "base/test.h"
#include "compiler/block/build.h"

static char *text_of(const block_program *program) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  block_print(program, out);
  fclose(out);
  return text;
}

static char *file_text(const char *name) {
  char path[512], *text = NULL;
  size_t length = 0;
  snprintf(path, sizeof path, "%s/%s", SEEDS, name);
  FILE *in = fopen(path, "r"), *out = open_memstream(&text, &length);
  assert_non_null(in);
  for (int c; (c = getc(in)) != EOF;) putc(c, out);
  fclose(in);
  fclose(out);
  return text;
}

static void reads_what_it_prints(const char *name) {
  wf_diag diag = wf_diag_to(stderr);
  char *text = file_text(name);
  block_program *program = block_parse(name, text, strlen(text), &diag);
  assert_non_null(program);
  char *printed = text_of(program);
  assert_string_equal(printed, text);
  block_program *copy = block_copy(program);
  block_destroy(program);
  char *copied = text_of(copy);
  assert_string_equal(copied, text);
  block_destroy(copy);
  free(printed);
  free(copied);
  free(text);
}

static void gemm_reads_back(void **state) {
  (void)state;
  reads_what_it_prints("gemm.block");
}

static void conv_reads_back(void **state) {
  (void)state;
  reads_what_it_prints("conv.block");
}

static void normalised_rows_read_back(void **state) {
  (void)state;
  reads_what_it_prints("softmax.block");
  reads_what_it_prints("ragged.block");
  reads_what_it_prints("norm.block");
  reads_what_it_prints("gelu.block");
  reads_what_it_prints("gate.block");
}

static void pooled_conv_reads_back(void **state) {
  (void)state;
  reads_what_it_prints("pooled.block");
}

static void constants_and_products_of_blocks_read_back(void **state) {
  (void)state;
  reads_what_it_prints("residual.block");
}

static void statements_know_their_place(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  const char text[] = "program p\nbuffer b i32[2, 3] # a comment\n\n  copy b = -1.5\n";
  block_program *program = block_parse("x.block", text, strlen(text), &diag);
  assert_non_null(program);
  assert_int_equal(program->body->where.line, 4);
  assert_int_equal(program->body->where.column, 3);
  assert_string_equal(program->body->where.file, "x.block");
  assert_true(program->body->elementwise.a.is_number);
  assert_true(program->body->elementwise.a.number == -1.5);
  assert_int_equal(program->buffers[0].size[1], 3);
  block_destroy(program);
}

// An error each; what must be in the message.
static const struct {
  const char *text, *message;
} errors[] = {
    {"", "1:1: error: expected 'program'"},
    {"program p q", "1:11: error: expected the end of the line"},
    {"program p\ntensor t i9[3]", "2:10: error: 'i9' is no type"},
    {"program p\ntensor t i8[0]", "2:13: error: the size of a tensor must be 1"},
    {"program p\ntensor t i8[99999999999999999999]", "2:13: error: '99999999999999999999' is no integer"},
    {"program p\ntensor t i8[1]\ntensor t i8[1]", "3:8: error: there is a tensor 't' already"},
    {"program p\ntensor t i8[4] read = 1 2*2", "2:23: error: fewer elements"},
    {"program p\ntensor t i8[4] read = 1 2*4", "2:23: error: more elements"},
    {"program p\ntensor t i8[4] read = 128*4", "2:23: error: an element must be -128 to 127"},
    {"program p\nloop i 3 split o limit 2", "2:16: error: there is no loop 'o'"},
    {"program p\nloop i 3 dim X", "2:14: error: 'X' is no dimension"},
    {"program p\nbuffer b i8[1,1,1,1,1,1]", "2:23: error: more than 5 dimensions"},
    {"program p\nbuffer b i8[65536, 65536]", "2:8: error: a buffer has at most"},
    {"program p\nfor i {\n}", "2:5: error: there is no loop 'i'"},
    {"program p\nloop i 2\nfor i {\n", "4:1: error: expected '}' at the end of the file"},
    {"program p\nloop i 2\nfor i {\n}\n}", "5:1: error: '}' without a loop"},
    {"program p\nbuffer b i8[4]\ncopy b[0:4, 0:1] = 1", "3:11: error: expected ']' instead of ','"},
    {"program p\nbuffer b i8[4]\ncopy b = 1e999", "3:10: error: '1e999' is no finite number"},
    {"program p\nbuffer b i8[4]\nmake b = 1", "3:1: error: 'make' is no statement"},
    {"program p\nbuffer b i8[4]\ncopy b =", "3:9: error: expected a buffer or number at the end of the file"},
    {"program p\nbuffer b i8[4]\nload b = t[0:4]", "3:10: error: there is no tensor 't'"},
    {"program p\ntensor t i8[4]\nbuffer b i8[4]\nload b = t[0:4 of 4]",
     "4:20: error: expected 'stride' instead of ']'"},
    {"program p\ntensor t i8[4]\nbuffer b i8[4]\nload b = t[0:4 of 4 stride 1] scale 1e39",
     "4:37: error: the scale is beyond binary32"},
};

static void errors_are_located(void **state) {
  (void)state;
  for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
    char *messages = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&messages, &length);
    wf_diag diag = wf_diag_to(out);
    assert_null(block_parse("f", errors[e].text, strlen(errors[e].text), &diag));
    fclose(out);
    assert_int_equal(diag.errors, 1);
    if (strstr(messages, errors[e].message) == NULL) fail_msg("'%s' gave: %s", errors[e].text, messages);
    free(messages);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gemm_reads_back),
      cmocka_unit_test(conv_reads_back),
      cmocka_unit_test(pooled_conv_reads_back),
      cmocka_unit_test(normalised_rows_read_back),
      cmocka_unit_test(constants_and_products_of_blocks_read_back),
      cmocka_unit_test(statements_know_their_place),
      cmocka_unit_test(errors_are_located),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
