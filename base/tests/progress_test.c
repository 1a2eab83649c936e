// SPDX-License-Identifier: Apache-2.0
// Lines of progress where stderr is a file: whole lines, no more often than the pause says, none if quiet.
#include "base/progress.h"

#include <math.h>
#include <poll.h>
#include <pty.h>
#include <string.h>
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

// On a terminal the line comes while the work is done, and goes at its end; short or quiet work shows nothing.
static void show_busy(bool quiet, double after, char *text, size_t size) {
  int other, ours;
  assert_int_equal(openpty(&other, &ours, NULL, NULL, NULL), 0);
  const int kept = dup(STDERR_FILENO);
  dup2(ours, STDERR_FILENO);
  wf_busy *busy = wf_busy_begin(quiet, "counting", after);
  usleep(1100000);
  wf_busy_end(busy);
  dup2(kept, STDERR_FILENO);
  close(kept);
  // What was written comes in pieces, some of them late.
  size_t length = 0;
  struct pollfd ready = {.fd = other, .events = POLLIN};
  while (length < size - 1 && poll(&ready, 1, 300) > 0) {
    const ssize_t got = read(other, text + length, size - 1 - length);
    if (got <= 0) break;
    length += (size_t)got;
  }
  text[length] = '\0';
  close(ours);
  close(other);
}

static void work_without_steps_is_shown(void **state) {
  (void)state;
  static const char end[] = "\r\033[K";
  char text[512];
  show_busy(false, 0.3, text, sizeof text);
  assert_non_null(strstr(text, "weft: counting, 1 s"));
  assert_string_equal(text + strlen(text) - strlen(end), end);
  show_busy(false, 10, text, sizeof text);
  assert_string_equal(text, "");
  show_busy(true, 0, text, sizeof text);
  assert_string_equal(text, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines_come_when_they_are_due),
                                     cmocka_unit_test(work_without_steps_is_shown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
