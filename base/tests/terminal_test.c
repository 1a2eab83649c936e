// SPDX-License-Identifier: Apache-2.0
// Streams that are no terminal have any width and no colours; a terminal has its own, unless the environment says
// otherwise.
#include "base/terminal.h"

#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/test.h"

// A terminal of so many columns; the other end is closed by the caller.
static FILE *terminal(unsigned short columns, int *other) {
  const struct winsize size = {.ws_row = 24, .ws_col = columns};
  int ours;
  assert_int_equal(openpty(other, &ours, NULL, NULL, &size), 0);
  return fdopen(ours, "w");
}

static void set(const char *name, const char *value) {
  if (value == NULL)
    unsetenv(name);
  else
    setenv(name, value, 1);
}

static void widths(void **state) {
  (void)state;
  static const struct {
    const char *columns;
    unsigned of_file, of_terminal;
  } cases[] = {{NULL, 0, 93},  {"70", 70, 70}, {"0", 0, 93}, {"wide", 0, 93},
               {"70x", 0, 93}, {"", 0, 93},    {"-3", 0, 93}};
  int other;
  FILE *file = tmpfile(), *pty = terminal(93, &other);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set("COLUMNS", cases[i].columns);
    assert_int_equal(wf_terminal_columns(file), cases[i].of_file);
    assert_int_equal(wf_terminal_columns(pty), cases[i].of_terminal);
  }
  fclose(file);
  fclose(pty);
  close(other);
}

static void colours(void **state) {
  (void)state;
  static const struct {
    const char *term, *no_color;
    bool of_terminal;
  } cases[] = {
      {"xterm", NULL, true}, {"xterm", "", true}, {"xterm", "1", false}, {"dumb", NULL, false}, {NULL, NULL, false}};
  int other;
  FILE *file = tmpfile(), *pty = terminal(80, &other);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set("TERM", cases[i].term);
    set("NO_COLOR", cases[i].no_color);
    assert_false(wf_terminal_coloured(file));
    assert_int_equal(wf_terminal_coloured(pty), cases[i].of_terminal);
  }
  assert_string_equal(wf_terminal_colour(false, WF_COLOUR_BAD), "");
  assert_string_equal(wf_terminal_colour(true, WF_COLOUR_NONE), "\033[0m");
  fclose(file);
  fclose(pty);
  close(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(widths), cmocka_unit_test(colours)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
