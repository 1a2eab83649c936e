// SPDX-License-Identifier: Apache-2.0
// Lines of progress where stderr is a file: whole lines, no more often than the pause says, none if quiet.
#include "base/progress.h"

#include <math.h>
#include <unistd.h>

#include "base/test.h"

// What is written to stderr while the steps run.
static void expect(bool quiet, double pause, const char *expected) {
  FILE *file = tmpfile();
  assert_non_null(file);
  const int kept = dup(STDERR_FILENO);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  wf_progress p = wf_progress_begin(quiet, 0, pause);
  for (int i = 1; i <= 3; i++)
    if (wf_progress_due(&p)) wf_progress_line(&p, "step %d", i);
  wf_progress_end(&p, true);
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  char text[64] = "";
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, expected);
}

static void lines_come_when_they_are_due(void **state) {
  (void)state;
  expect(false, 0, "step 1\nstep 2\nstep 3\n");
  expect(false, INFINITY, "");
  expect(true, 0, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines_come_when_they_are_due)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
