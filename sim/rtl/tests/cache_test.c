// SPDX-License-Identifier: Apache-2.0
// Entries of the cache: complete, found again, and built again when their files are not what they were.
#include "sim/rtl/cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/test.h"

static int open_folder(void **state) {
  char *folder = wf_strdup("/tmp/weft-cache-XXXXXX");
  *state = mkdtemp(folder);
  return setenv("WEFT_CACHE", folder, 1);
}

static int close_folder(void **state) {
  char *command = wf_format("rm -r '%s'", (char *)*state);
  const int result = system(command);
  wf_free(command);
  wf_free(*state);
  return result;
}

static void write_file(const char *folder, const char *name, const char *text) {
  char *path = wf_format("%s/%s", folder, name);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs(text, out);
  assert_int_equal(fclose(out), 0);
  wf_free(path);
}

// Opens the entry and builds it if it is not there; whether it was.
static bool find(const char *key) {
  wf_diag diag = wf_diag_to(stderr);
  sim_cache_entry entry;
  assert_true(sim_cache_open(&entry, key, NULL, NULL, &diag));
  const bool present = entry.present;
  if (!present) {
    write_file(entry.building, "model.so", "the model");
    write_file(entry.building, ".seconds", "1.0\n");
    assert_true(sim_cache_publish(&entry, &diag));
  }
  sim_cache_close(&entry);
  return present;
}

static char *path_of(void **state, const char *name) { return wf_format("%s/%s", (char *)*state, name); }

static void an_entry_is_built_once(void **state) {
  (void)state;
  assert_false(find("once"));
  assert_true(find("once"));
  assert_true(find("once"));
}

static void what_is_not_published_is_not_there(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  sim_cache_entry entry;
  assert_true(sim_cache_open(&entry, "half", NULL, NULL, &diag));
  write_file(entry.building, "model.so", "the mo");
  sim_cache_close(&entry);
  assert_false(find("half"));
}

static void a_cut_file_is_built_again(void **state) {
  static const char *const files[] = {"cut/model.so", "cut/.seconds", "cut/.files"};
  find("cut");
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char *path = path_of(state, files[i]);
    assert_int_equal(truncate(path, 2), 0);
    assert_false(find("cut"));
    assert_true(find("cut"));
    assert_int_equal(unlink(path), 0);
    assert_false(find("cut"));
    assert_true(find("cut"));
    wf_free(path);
  }
  char *model = path_of(state, "cut/model.so");
  wf_diag diag = wf_diag_to(stderr);
  size_t length;
  char *text = wf_read_file(model, 0, &length, &diag);
  assert_string_equal(text, "the model");
  wf_free(text);
  wf_free(model);
}

// A file system may give zeros for what it had not written.
static void other_bytes_of_the_same_size_are_seen(void **state) {
  find("bytes");
  char *folder = path_of(state, "bytes");
  write_file(folder, "model.so", "the m\001del");
  assert_false(find("bytes"));
  assert_true(find("bytes"));
  wf_free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_entry_is_built_once), cmocka_unit_test(what_is_not_published_is_not_there),
      cmocka_unit_test(a_cut_file_is_built_again), cmocka_unit_test(other_bytes_of_the_same_size_are_seen)};
  return cmocka_run_group_tests(tests, open_folder, close_folder);
}
