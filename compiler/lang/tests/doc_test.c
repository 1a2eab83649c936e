// SPDX-License-Identifier: Apache-2.0
// The examples of docs/kernel-language.md: a block "```python ARGS" is a kernel that must compile and agree with the
// oracle; "```python refused" must give the messages of the "```text" block behind it.
#include "base/test.h"
#include "compiler/lang/tests/kernels.h"

enum { TEXT_MAX = 1 << 16 };

// The next fenced block that starts with `mark`: *info is the rest of that line. NULL: there is none.
static char *next_block(char **at, const char *mark, char **info) {
  char *fence = strstr(*at, mark);
  if (fence == NULL) return NULL;
  *info = fence + strlen(mark);
  char *body = strchr(*info, '\n');
  *body++ = 0;
  char *end = strstr(body, "```");
  *at = end + 3;
  *end = 0;
  return body;
}

static void check_refused(const char *text, const char *expected) {
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  assert_null(lang_parse("copy.py", text, strlen(text), &diag));
  fclose(out);
  assert_string_equal(messages, expected);
  free(messages);
}

static void test_examples(void **state) {
  (void)state;
  static char text[TEXT_MAX];
  FILE *in = fopen(DOCUMENT, "rb");
  assert_non_null(in);
  text[fread(text, 1, sizeof text - 1, in)] = 0;
  fclose(in);
  int kernels = 0, refused = 0;
  char *at = text, *info, *ignored;
  for (char *example; (example = next_block(&at, "```python ", &info)) != NULL;) {
    if (strcmp(info, "refused") == 0) {
      check_refused(example, next_block(&at, "```text", &ignored));
      refused++;
      continue;
    }
    wf_diag diag = wf_diag_to(stderr);
    kernel_case c = open_instance(lang_parse("example.py", example, strlen(example), &diag), NULL, info, 0, 1);
    assert_true(block_verify(c.program, &diag));
    assert_true(agrees(&c));
    close_kernel(&c);
    kernels++;
  }
  assert_true(kernels >= 3 && refused >= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
