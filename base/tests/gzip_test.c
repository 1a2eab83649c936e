// SPDX-License-Identifier: Apache-2.0
// What is packed is unpacked to the same bytes, in one piece and in many; a full disk is an error.
#include "base/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/test.h"

enum { MOST = 1 << 20 };

// Packs `count` bytes in pieces, unpacks them with zlib's own reader, and compares.
static void there_and_back(const char *bytes, size_t count, size_t piece) {
  FILE *file = tmpfile(), *packed = wf_gzip_open(file);
  assert_non_null(packed);
  for (size_t at = 0; at < count; at += piece) {
    const size_t now = count - at < piece ? count - at : piece;
    assert_int_equal(fwrite(bytes + at, 1, now, packed), now);
  }
  assert_int_equal(fclose(packed), 0);
  const long size = ftell(file);
  if (count > 1000) assert_true((size_t)size < count / 4);
  rewind(file);
  gzFile reader = gzdopen(dup(fileno(file)), "rb");
  char *found = malloc(MOST + 1);
  assert_int_equal(gzread(reader, found, MOST + 1), count);
  assert_memory_equal(found, bytes, count);
  free(found);
  gzclose(reader);
  fclose(file);
}

static void packs(void **state) {
  (void)state;
  char *text = malloc(MOST);
  for (size_t i = 0; i < MOST; i++) text[i] = "{\"ph\":\"X\",\"ts\":12345}\n"[i % 22];
  there_and_back(text, 0, 1);
  there_and_back(text, 1, 1);
  there_and_back(text, 5000, 7);
  there_and_back(text, MOST, MOST);
  there_and_back(text, MOST, 100000);
  free(text);
}

static void a_full_disk_is_an_error(void **state) {
  (void)state;
  FILE *full = fopen("/dev/full", "w"), *packed = wf_gzip_open(full);
  fputs("text", packed);
  assert_int_equal(fclose(packed), EOF);
  fclose(full);
}

static void names(void **state) {
  (void)state;
  assert_true(wf_gzip_named("t.json.gz"));
  assert_false(wf_gzip_named("t.json"));
  assert_false(wf_gzip_named(".gz"));
  assert_false(wf_gzip_named("-"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(packs), cmocka_unit_test(a_full_disk_is_an_error),
                                     cmocka_unit_test(names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
