// SPDX-License-Identifier: Apache-2.0
// The measured table: which rows are repetitions of one window, and what their errors add up to.
#include "bench/gemmini_table.h"

#include <unistd.h>

#include "base/test.h"

// A window with its end before and behind the fence, one behind it alone, and that with another memory.
static const char text[] =
    "group,memory,name,p1,p2,p3,p4,p5,p6,rep,cycles\n"
    "g,magic,a_issue,1,0,0,0,0,0,0,90\n"
    "g,magic,a_done,1,0,0,0,0,0,0,95\n"
    "g,magic,a_issue,1,0,0,0,0,0,1,40\n"
    "g,magic,a_done,1,0,0,0,0,0,1,50\n"
    "g,magic,a_issue,1,0,0,0,0,0,2,40\n"
    "g,magic,a_done,1,0,0,0,0,0,2,40\n"
    "g,magic,b,1,0,0,0,0,0,0,20\n"
    "g,magic,b,1,0,0,0,0,0,1,10\n"
    "g,magic,b,1,0,0,0,0,0,2,10\n"
    "g,slow,b,1,0,0,0,0,0,1,11\n"
    "g,slow,b,11,0,0,0,0,0,2,12\n";

enum { ROWS = 11 };

static bench_gemmini_table load(void) {
  char path[] = "/tmp/gemmini_table_XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
  close(file);
  wf_diag diag = wf_diag_to(stderr);
  bench_gemmini_table table;
  assert_true(bench_gemmini_table_load(&table, path, &diag));
  unlink(path);
  assert_int_equal(table.count, ROWS);
  return table;
}

static void warm_repetitions_know_each_other(void **state) {
  (void)state;
  bench_gemmini_table table = load();
  const uint64_t again[ROWS] = {0, 0, 40, 40, 40, 50, 0, 10, 10, 0, 0};
  for (size_t i = 0; i < ROWS; i++) assert_int_equal(table.rows[i].again, again[i]);
  bench_gemmini_table_free(&table);
}

static void errors_add_up(void **state) {
  (void)state;
  bench_gemmini_table table = load();
  bench_gemmini_errors errors = {0};
  assert_true(wf_summary_mean(&errors.repeat) == 0);
  const struct {
    size_t row;
    uint64_t simulated;
  } runs[] = {{3, 55}, {5, 40}, {6, 25}};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    table.rows[runs[i].row].simulated = runs[i].simulated;
    bench_gemmini_errors_add(&errors, &table.rows[runs[i].row]);
  }
  assert_int_equal(errors.percent.count, 3);
  assert_int_equal(errors.exact, 1);
  // 50 by 55, 40 by 40, 20 by 25; the other repetitions are 40 of 50 and 50 of 40.
  assert_true(wf_summary_mean(&errors.percent) == (10.0 + 0 + 25) / 3);
  assert_int_equal(errors.repeat.count, 2);
  assert_true(wf_summary_mean(&errors.repeat) == (20.0 + 25) / 2);
  assert_ptr_equal(errors.worst, &table.rows[6]);
  bench_gemmini_table_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(warm_repetitions_know_each_other),
                                     cmocka_unit_test(errors_add_up)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
