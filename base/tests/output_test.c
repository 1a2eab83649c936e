// SPDX-License-Identifier: Apache-2.0
// Files appear when they are complete, and not before.
#include "base/output.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/test.h"

static int open_folder(void **state) {
  char *folder = wf_strdup("/tmp/weft-output-XXXXXX");
  *state = mkdtemp(folder);
  return chdir(folder);
}

static int close_folder(void **state) {
  const int result = chdir("/") + rmdir(*state);
  wf_free(*state);
  return result;
}

static void write_all(const char *path, const char *text) {
  wf_diag diag = wf_diag_to(stderr);
  FILE *out = wf_output_open(path, &diag);
  assert_non_null(out);
  fputs(text, out);
  assert_true(wf_output_close(out, path, &diag));
}

static void expect(const char *path, const char *text) {
  wf_diag diag = wf_diag_to(stderr);
  size_t length;
  char *got = wf_read_file(path, 0, &length, &diag);
  assert_non_null(got);
  assert_string_equal(got, text);
  wf_free(got);
}

static int files(void) {
  int count = -2;  // . and ..
  DIR *folder = opendir(".");
  while (readdir(folder) != NULL) count++;
  closedir(folder);
  return count;
}

static void a_file_appears_when_it_is_closed(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  FILE *out = wf_output_open("new", &diag);
  fputs("text", out);
  fflush(out);
  assert_int_equal(access("new", F_OK), -1);
  assert_true(wf_output_close(out, "new", &diag));
  expect("new", "text");
  assert_int_equal(files(), 1);
  unlink("new");
}

static void the_file_of_before_stays_until_then(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  write_all("f", "before");
  chmod("f", 0640);
  FILE *out = wf_output_open("f", &diag);
  fputs("after, dropped", out);
  fflush(out);
  expect("f", "before");
  wf_output_drop(out, "f");
  expect("f", "before");
  write_all("f", "after");
  expect("f", "after");
  struct stat status;
  stat("f", &status);
  assert_int_equal(status.st_mode & 0777, 0640);
  assert_int_equal(files(), 1);
  unlink("f");
}

static void a_killed_writer_leaves_no_half_file(void **state) {
  (void)state;
  write_all("f", "before");
  const pid_t pid = fork();
  if (pid == 0) {
    wf_diag diag = wf_diag_to(stderr);
    FILE *out = wf_output_open("f", &diag);
    fputs("half", out);
    fflush(out);
    raise(SIGKILL);
  }
  waitpid(pid, NULL, 0);
  expect("f", "before");
  assert_int_equal(files(), 1);
  unlink("f");
}

static void links_and_devices_are_written_as_they_are(void **state) {
  (void)state;
  write_all("target", "old");
  assert_int_equal(symlink("target", "link"), 0);
  write_all("link", "new");
  expect("target", "new");
  write_all("/dev/null", "x");
  wf_diag diag = wf_diag_to(NULL);
  FILE *out = wf_output_open("/dev/full", &diag);
  fputs("x", out);
  assert_false(wf_output_close(out, "/dev/full", &diag));
  assert_int_equal(access("/dev/full", F_OK), 0);
  unlink("link");
  unlink("target");
}

static void a_check_changes_nothing(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(NULL);
  assert_true(wf_output_check("absent", &diag));
  assert_int_equal(files(), 0);
  write_all("f", "text");
  assert_true(wf_output_check("f", &diag));
  expect("f", "text");
  assert_false(wf_output_check("nowhere/f", &diag));
  assert_false(wf_output_check(".", &diag));
  assert_int_equal(diag.errors, 2);
  unlink("f");
}

static void what_others_write_takes_its_place(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  char *beside = wf_output_beside("f");
  write_all("f", "before");
  write_all(beside, "after");
  expect("f", "before");
  assert_true(wf_output_publish(beside, "f", &diag));
  expect("f", "after");
  assert_int_equal(symlink("f", "link"), 0);
  write_all(beside, "through a link");
  assert_true(wf_output_publish(beside, "link", &diag));
  expect("f", "through a link");
  assert_int_equal(files(), 2);
  wf_free(beside);
  unlink("link");
  unlink("f");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_appears_when_it_is_closed),
                                     cmocka_unit_test(the_file_of_before_stays_until_then),
                                     cmocka_unit_test(a_killed_writer_leaves_no_half_file),
                                     cmocka_unit_test(links_and_devices_are_written_as_they_are),
                                     cmocka_unit_test(a_check_changes_nothing),
                                     cmocka_unit_test(what_others_write_takes_its_place)};
  return cmocka_run_group_tests(tests, open_folder, close_folder);
}
