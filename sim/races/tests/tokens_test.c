// SPDX-License-Identifier: Apache-2.0
// Programs with tokens: the published listing and its one race, the same without one order at a time, deadlocks, room,
// and files that are refused.
#include "base/test.h"
#include "sim/races/races.h"

enum { TEXT = 1 << 14, LINES = 128 };

static races_tokens *read_text(const char *text, wf_diag *diag) {
  FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
  races_tokens *program = races_tokens_read(in, "test", diag);
  fclose(in);
  return program;
}

static races_tokens *good(const char *text) {
  wf_diag diag = wf_diag_to(stderr);
  races_tokens *program = read_text(text, &diag);
  assert_non_null(program);
  return program;
}

// ---- the published listing

typedef struct listing {
  char text[TEXT];
  char *line[LINES];  // copies, without the end
  size_t count;
} listing;

static void load(listing *l) {
  FILE *in = fopen(LISTING, "r");
  assert_non_null(in);
  l->text[fread(l->text, 1, TEXT - 1, in)] = '\0';
  fclose(in);
  l->count = 0;
  for (char *line = strtok(l->text, "\n"); line != NULL; line = strtok(NULL, "\n")) l->line[l->count++] = line;
}

static char *without(const listing *l, size_t a, size_t b) {
  static char text[TEXT];
  size_t used = 0;
  for (size_t i = 0; i < l->count; i++)
    if (i != a && i != b) used += (size_t)snprintf(text + used, TEXT - used, "%s\n", l->line[i]);
  return text;
}

static void finds_the_one_race_of_the_listing(void **state) {
  (void)state;
  listing l;
  load(&l);
  races_tokens *program = good(without(&l, SIZE_MAX, SIZE_MAX));
  const races_tokens_report *r = races_tokens_run(program);
  assert_int_equal(r->instructions, 42);
  assert_int_equal(r->conflict_count, 1);
  assert_int_equal(r->stuck_count, 0);
  assert_int_equal(r->conflicts[0].a.number, 0x0f);
  assert_int_equal(r->conflicts[0].b.number, 0x16);
  assert_string_equal(r->conflicts[0].memory, "param");
  assert_int_equal(r->conflicts[0].first, 0);
  assert_int_equal(r->conflicts[0].last, 71);
  static const uint64_t pushed[] = {4, 2, 4, 2};  // load to execute, execute to load and to store, store to execute
  assert_int_equal(r->queue_count, 4);
  for (size_t q = 0; q < 4; q++) {
    assert_int_equal(r->queues[q].pushed, pushed[q]);
    assert_int_equal(r->queues[q].popped, pushed[q]);
  }
  races_tokens_destroy(program);
}

static bool is_token(const char *line, const char *from, const char *word, const char *to) {
  char text[64];
  snprintf(text, sizeof text, "%s %s %s", from, word, to);
  return strcmp(line, text) == 0;
}

static size_t nth(const listing *l, const char *from, const char *word, const char *to, int n) {
  for (size_t i = 0; i < l->count; i++)
    if (is_token(l->line[i], from, word, to) && n-- == 0) return i;
  return SIZE_MAX;
}

// Without the n-th token of a queue, its push and its pop.
static size_t races_without(const listing *l, const char *from, const char *to, int n) {
  races_tokens *program = good(without(l, nth(l, from, "push", to, n), nth(l, to, "pop", from, n)));
  const races_tokens_report *r = races_tokens_run(program);
  const size_t races = r->conflict_count;
  assert_int_equal(r->stuck_count, 0);
  assert_int_equal(r->instructions, 40);
  races_tokens_destroy(program);
  return races;
}

static void finds_each_order_that_is_left_out(void **state) {
  (void)state;
  static const struct {
    const char *from, *to;
    int tokens;
  } queues[] = {{"load", "execute", 4}, {"execute", "load", 2}, {"execute", "store", 4}, {"store", "execute", 2}};
  listing l;
  load(&l);
  for (size_t q = 0; q < sizeof queues / sizeof *queues; q++)
    for (int n = 0; n < queues[q].tokens; n++) assert_true(races_without(&l, queues[q].from, queues[q].to, n) > 1);
}

static void finds_each_push_that_is_left_out(void **state) {
  (void)state;
  listing l;
  load(&l);
  for (size_t i = 0; i < l.count; i++) {
    if (strstr(l.line[i], " push ") == NULL) continue;
    races_tokens *program = good(without(&l, i, SIZE_MAX));
    assert_true(races_tokens_run(program)->stuck_count > 0);
    races_tokens_destroy(program);
  }
}

// ---- small programs

static void says_where_units_stand_still(void **state) {
  (void)state;
  races_tokens *program = good(
      "weft-tokens 1\n"
      "a pop b\na writes m 0..3\na push b\n"
      "b pop a\nb reads m 0..3\nb push a\n");
  const races_tokens_report *r = races_tokens_run(program);
  assert_int_equal(r->stuck_count, 2);
  assert_int_equal(r->stuck[0].at.line, 2);
  assert_int_equal(r->stuck[1].at.line, 5);
  assert_true(r->stuck[0].pops);
  assert_string_equal(r->stuck[0].from, "b");
  assert_int_equal(r->conflict_count, 0);
  races_tokens_destroy(program);
}

// With room for one token the second push waits for the first pop, which orders the read before the second write.
static void room_orders_and_can_deadlock(void **state) {
  (void)state;
  static const char *const bounded =
      "weft-tokens 1\nqueue a b 1\n"
      "a push b\na push b\na writes m 0\n"
      "b reads m 0\nb pop a\nb pop a\n";
  races_tokens *program = good(bounded);
  assert_int_equal(races_tokens_run(program)->conflict_count, 0);
  races_tokens_destroy(program);
  program = good(
      "weft-tokens 1\n"
      "a push b\na push b\na writes m 0\n"
      "b reads m 0\nb pop a\nb pop a\n");
  assert_int_equal(races_tokens_run(program)->conflict_count, 1);
  races_tokens_destroy(program);
  program = good("weft-tokens 1\nqueue a b 1\na push b\na push b\na push c\nc pop a\nb pop a\nb pop c\nc push b\n");
  assert_int_equal(races_tokens_run(program)->stuck_count, 0);
  races_tokens_destroy(program);
  program =
      good("weft-tokens 1\nqueue a b 1\na push b\na push b\na push c\nc pop a\nc push b\nb pop c\nb pop a\nb pop a\n");
  const races_tokens_report *r = races_tokens_run(program);
  assert_int_equal(r->stuck_count, 3);
  assert_false(r->stuck[0].pops);
  races_tokens_destroy(program);
}

static void orders_go_through_other_units(void **state) {
  (void)state;
  races_tokens *program = good(
      "weft-tokens 1\n"
      "a writes m 0..9\na push b\n"
      "b pop a\nb push c\n"
      "c pop b\nc reads m 5\nc writes m 20\n"
      "a writes m 20..21\n");
  const races_tokens_report *r = races_tokens_run(program);
  assert_int_equal(r->ordered, 1);
  assert_int_equal(r->conflict_count, 1);
  assert_int_equal(r->conflicts[0].first, 20);
  assert_int_equal(r->conflicts[0].last, 20);
  races_tokens_destroy(program);
}

static void refuses_what_it_cannot_read(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",
      "weft-trace 1\n",
      "weft-tokens 1\na\n",
      "weft-tokens 1\na sleeps\n",
      "weft-tokens 1\na push\n",
      "weft-tokens 1\na push b c\n",
      "weft-tokens 1\na reads m\n",
      "weft-tokens 1\na reads m x\n",
      "weft-tokens 1\na reads m 3..2\n",
      "weft-tokens 1\na reads m 3..\n",
      "weft-tokens 1\na reads m 99999999999999999999999\n",
      "weft-tokens 1\nqueue a b\n",
      "weft-tokens 1\nqueue a b 0\n",
      "weft-tokens 1\na push b\nc push d\ne push f\ng push h\ni push j\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    wf_diag diag = wf_diag_to(NULL);
    FILE *in = bad[i][0] == '\0' ? fopen("/dev/null", "r") : fmemopen((void *)(uintptr_t)bad[i], strlen(bad[i]), "r");
    assert_null(races_tokens_read(in, "test", &diag));
    assert_int_equal(diag.errors, 1);
    fclose(in);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_the_one_race_of_the_listing), cmocka_unit_test(finds_each_order_that_is_left_out),
      cmocka_unit_test(finds_each_push_that_is_left_out),  cmocka_unit_test(says_where_units_stand_still),
      cmocka_unit_test(room_orders_and_can_deadlock),      cmocka_unit_test(orders_go_through_other_units),
      cmocka_unit_test(refuses_what_it_cannot_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
