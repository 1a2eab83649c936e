// SPDX-License-Identifier: Apache-2.0
// What lowering refuses, and what it says: refused.txt holds bodies of kernels, each with the messages that it gets.
#include "base/test.h"
#include "compiler/lang/tests/kernels.h"

enum { TEXT_MAX = 1 << 16 };

// The text up to a line that starts with `mark`; *text moves behind that line.
static char *section(char **text, const char *mark) {
  char *start = *text;
  char *end = strncmp(start, mark, strlen(mark)) == 0 ? start : strstr(start, mark);
  while (end != NULL && end != start && end[-1] != '\n') end = strstr(end + 1, mark);
  if (end == NULL) {
    *text = start + strlen(start);
    return start;
  }
  char *line_end = strchr(end, '\n');
  *text = line_end == NULL ? end + strlen(end) : line_end + 1;
  *end = 0;
  return start;
}

// Compiles prelude + body for a grid of `programs` and gives the messages, to be freed.
static char *messages_of(const char *prelude, const char *body, int programs, bool *compiled) {
  char *text = malloc(TEXT_MAX), *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  snprintf(text, TEXT_MAX, "%s%s", prelude, body);
  lang_file *file = lang_parse("k.py", text, strlen(text), &diag);
  block_program *program = NULL;
  if (file != NULL) {
    lang_instance *instance = lang_instantiate(file, lang_find_kernel(file, "k", &diag));
    assert_true(set_text(instance, "M=4", &diag));
    lang_set_grid(instance, programs, 1, 1);
    if (lang_ready(instance, &diag)) program = lang_lower(instance, &diag);
  }
  fclose(out);
  *compiled = program != NULL;
  assert_int_equal(program == NULL, diag.errors != 0);
  block_destroy(program);
  lang_destroy(file);
  free(text);
  return messages;
}

static void test_refused(void **state) {
  (void)state;
  static char text[TEXT_MAX];
  FILE *in = fopen(REFUSED, "rb");
  assert_non_null(in);
  text[fread(text, 1, sizeof text - 1, in)] = 0;
  fclose(in);
  char *at = text;
  const char *prelude = section(&at, "=== ");
  int cases = 0, bad = 0;
  while (*at != 0) {
    bool compiled;
    const int programs = at[-2] - '0';  // "=== grid N"
    const char *body = section(&at, "---"), *expected = section(&at, "=== ");
    char *messages = messages_of(prelude, body, programs, &compiled);
    if (compiled || strcmp(messages, expected) != 0) {
      fprintf(stderr, "%sshould give\n%sbut gives\n%s\n", body, expected, compiled ? "a program\n" : messages);
      bad++;
    }
    free(messages);
    cases++;
  }
  assert_int_equal(bad, 0);
  assert_true(cases > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
