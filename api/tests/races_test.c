// SPDX-License-Identifier: Apache-2.0
// Races of a trace whose load reads what a store before it writes, and of a program with tokens; endings of programs.
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/tests/session.h"
#include "base/alloc.h"
#include "sim/elf/tests/elf_build.h"

// ---- traces

static void write_trace(const weft_array *array, const char *between) {
  char text[512];
  snprintf(text, sizeof text,
           "weft-trace 1\narray %s %016" PRIx64
           "\nisa 1\n"
           "config_ld stride=4 scale=1\nconfig_st stride=4 acc_scale=1\n"
           "mvout dram=0x80100000 local=acc:0x0 cols=4 rows=4\n%s"
           "mvin dram=0x80100008 local=sp:0x0 cols=4 rows=2\nend commands=4 unrecorded\n",
           weft_array_name(array), weft_array_hash(array), between);
  write_bytes("store.trace", text, strlen(text));
}

static weft_races *find(weft_session *s, const char *path, const weft_array *array, const weft_races_options *options,
                        weft_races_facts *facts) {
  weft_races *races = weft_races_find(s, path, array, options);
  expect(s, WEFT_OK);
  *facts = (weft_races_facts){.size = sizeof *facts};
  assert_int_equal(weft_races_describe(races, facts), WEFT_OK);
  return races;
}

static void expect_race(const weft_races *races) {
  weft_race race = {.size = sizeof race};
  weft_access earlier = {.size = sizeof earlier}, later = {.size = sizeof later};
  assert_int_equal(weft_races_at(races, 0, &race), WEFT_OK);
  assert_true(race.bytes);
  assert_int_equal(race.first, 0x80100008);
  assert_int_equal(race.last, 0x8010000f);
  assert_int_equal(weft_races_access(races, 0, false, &earlier), WEFT_OK);
  assert_int_equal(weft_races_access(races, 0, true, &later), WEFT_OK);
  assert_string_equal(earlier.unit, "store");
  assert_true(earlier.writes && !later.writes && !later.unrolled);
  assert_int_equal(earlier.number, 2);
  assert_int_equal(later.number, 3);
  assert_string_equal(later.of, "mvin");
  assert_non_null(strstr(later.text, "dram=0x80100008"));
  assert_int_equal(weft_races_at(races, 1, &race), WEFT_USAGE);
  assert_int_equal(weft_races_access(races, 1, true, &later), WEFT_USAGE);
}

static void test_trace(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  weft_races_facts facts;
  bool tokens = true;
  write_trace(array, "");
  assert_int_equal(weft_races_tokens(s, "store.trace", &tokens), WEFT_OK);
  assert_false(tokens);
  weft_races *races = find(s, "store.trace", array, NULL, &facts);
  assert_int_equal(facts.races, 1);
  assert_int_equal(facts.commands, 4);
  assert_int_equal(facts.ending, WEFT_ENDED);
  expect_race(races);
  weft_races_destroy(races);
  write_trace(array, "fence\n");
  races = find(s, "store.trace", array, NULL, &facts);
  assert_int_equal(facts.races, 0);
  assert_int_equal(facts.fences, 1);
  weft_races_destroy(races);
  const weft_races_options ignoring = {.size = sizeof ignoring, .ignore_fences = true};
  races = find(s, "store.trace", array, &ignoring, &facts);
  expect_race(races);
  weft_races_destroy(races);
  unlink("store.trace");
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- programs

// j . : a program that never ends by itself.
static void test_ending(void **state) {
  (void)state;
  enum { BASE = 0x80000000u };
  static const uint8_t code[] = {0x6f, 0x00, 0x00, 0x00};
  const elf_build b = {.entry = BASE, .segments = {{BASE, sizeof code, code, sizeof code, PF_R | PF_X}}};
  size_t length;
  uint8_t *bytes = elf_build_file(&b, &length);
  write_bytes("loop.elf", bytes, length);
  wf_free(bytes);
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  const weft_races_options limited = {.size = sizeof limited, .max_instructions = 100, .any_array = true};
  weft_races_facts facts;
  weft_races_destroy(find(s, "loop.elf", array, &limited, &facts));
  assert_int_equal(facts.ending, WEFT_LIMIT);
  assert_int_equal(facts.races, 0);
  unlink("loop.elf");
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- tokens

static const char program[] =
    "weft-tokens 1\n"
    "queue load execute 4\n"
    "load writes sp 0..7\n"
    "load push execute\n"
    "execute reads sp 4..9\n"
    "execute pop load\n"
    "execute pop load\n";

static void test_tokens(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_races_facts facts;
  bool tokens = false;
  write_bytes("race.tokens", program, strlen(program));
  assert_int_equal(weft_races_tokens(s, "race.tokens", &tokens), WEFT_OK);
  assert_true(tokens);
  weft_races *races = find(s, "race.tokens", NULL, NULL, &facts);
  assert_true(facts.tokens);
  assert_int_equal(facts.instructions, 5);
  assert_int_equal(facts.units, 2);
  assert_int_equal(facts.races, 1);
  weft_race race = {.size = sizeof race};
  weft_access access = {.size = sizeof access};
  weft_token_queue queue = {.size = sizeof queue};
  weft_deadlock deadlock = {.size = sizeof deadlock};
  assert_int_equal(weft_races_at(races, 0, &race), WEFT_OK);
  assert_string_equal(race.place, "sp");
  assert_int_equal(race.first, 4);
  assert_int_equal(race.last, 7);
  assert_int_equal(weft_races_access(races, 0, true, &access), WEFT_OK);
  assert_string_equal(access.unit, "execute");
  assert_int_equal(access.line, 5);
  assert_null(access.of);
  assert_int_equal(weft_races_queue(races, 0, &queue), WEFT_OK);
  assert_int_equal(queue.room, 4);
  assert_int_equal(queue.pushed, 1);
  assert_int_equal(weft_races_queue(races, 1, &queue), WEFT_USAGE);
  assert_int_equal(weft_races_deadlock(races, 0, &deadlock), WEFT_OK);
  assert_true(deadlock.for_token);
  assert_int_equal(deadlock.line, 7);
  assert_string_equal(deadlock.from, "load");
  assert_int_equal(weft_races_deadlock(races, 1, &deadlock), WEFT_USAGE);
  weft_races_destroy(races);
  unlink("race.tokens");
  weft_session_destroy(s);
}

static void test_refused(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  bool tokens;
  assert_int_equal(weft_races_tokens(s, "nowhere.elf", &tokens), WEFT_BAD_INPUT);
  expect_message(s, WEFT_BAD_INPUT, "nowhere.elf");
  assert_null(weft_races_find(s, "nowhere.elf", array, NULL));
  expect_message(s, WEFT_BAD_INPUT, "nowhere.elf");
  assert_null(weft_races_find(s, "nowhere.tokens", NULL, NULL));
  expect_message(s, WEFT_BAD_INPUT, "nowhere.tokens");
  assert_null(weft_races_find(s, NULL, array, NULL));
  expect(s, WEFT_USAGE);
  weft_races_destroy(NULL);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_trace), cmocka_unit_test(test_ending),
                                     cmocka_unit_test(test_tokens), cmocka_unit_test(test_refused)};
  char folder[] = "/tmp/weft-races-XXXXXX";
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return rmdir(folder) == 0 ? failed : 1;
}
