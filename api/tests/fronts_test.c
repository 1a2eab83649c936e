// SPDX-License-Identifier: Apache-2.0
// Fronts of two engines in a store of three arrays: counts and errors against their points, and points against the
// store.
#include <math.h>
#include <unistd.h>

#include "api/tests/session.h"

static const char sweep_text[] =
    "name: fronts\nbase: dim4\nparameters:\n  scratchpad.capacity_kib: [16, 32, 64]\nnetworks: [layers.yaml]\n";
static const char layers_text[] = "name: one\nlayers:\n  - {name: a, P: 16, K: 16, C: 32}\n";
static const char *const files[] = {"cycle.yaml", "flow.yaml", "layers.yaml", "s.sqlite", "s.sqlite-lock"};

static void write_both(const char *path, const char *text, const char *more) {
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fprintf(out, "%s%s", text, more);
  fclose(out);
}

static void measure(weft_session *s, const char *specification) {
  const weft_sweep_options options = {.size = sizeof options, .store = "s.sqlite", .jobs = 1, .extend = true};
  assert_int_equal(weft_sweep(s, specification, &options, NULL), WEFT_OK);
}

// Of engine cycle, as the store says.
static double cycles_in_store(weft_session *s, uint64_t point) {
  char text[120];
  snprintf(text, sizeof text, "SELECT cycles FROM point_network WHERE engine = 'cycle' AND point = %u",
           (unsigned)point);
  weft_rows *rows = weft_query(s, "s.sqlite", text, NULL, 0);
  expect(s, WEFT_OK);
  assert_true(weft_rows_next(s, rows));
  const double cycles = weft_rows_number(rows, 0);
  weft_rows_close(rows);
  return cycles;
}

static void check_point(weft_session *s, const weft_front *front, const weft_front_point *p) {
  assert_true(p->on_cycle || p->on_flow);
  assert_true(p->off >= 0 && p->off <= front->worst_off);
  if (p->on_cycle && p->on_flow) assert_true(p->off == 0);
  assert_true(fabs(p->flow_cycles / p->cycles - 1) <= front->worst_error);
  assert_true(p->energy_pj > 0 && p->flow_energy_pj > 0);
  assert_true(cycles_in_store(s, p->point) == p->cycles);
  assert_int_equal(strlen(p->array), 16);
  assert_non_null(strstr(p->parameters, "scratchpad.capacity_kib"));
}

static void check_front(weft_session *s, const weft_fronts *fronts) {
  weft_front front = {.size = sizeof front};
  weft_front_point p = {.size = sizeof p};
  uint64_t count = 0, on_cycle = 0, on_flow = 0, both = 0;
  assert_int_equal(weft_fronts_network(fronts, 0, &front), WEFT_OK);
  assert_string_equal(front.network, "one");
  assert_int_equal(front.compared, 3);
  assert_true(front.mean_error <= front.worst_error);
  for (; weft_fronts_point(fronts, 0, count, &p) == WEFT_OK; count++) {
    check_point(s, &front, &p);
    on_cycle += p.on_cycle;
    on_flow += p.on_flow;
    both += p.on_cycle && p.on_flow;
  }
  assert_true(count > 0 && on_cycle > 0 && on_flow > 0);
  assert_int_equal(front.points, count);
  assert_int_equal(front.on_cycle, on_cycle);
  assert_int_equal(front.on_flow, on_flow);
  assert_int_equal(front.on_both, both);
  assert_int_equal(weft_fronts_network(fronts, 1, &front), WEFT_USAGE);
  assert_int_equal(weft_fronts_point(fronts, 1, 0, &p), WEFT_USAGE);
}

// Of a store of one engine.
static void check_empty(const weft_fronts *fronts) {
  weft_front front = {.size = sizeof front};
  assert_int_equal(weft_fronts_network(fronts, 0, &front), WEFT_OK);
  assert_int_equal(front.compared + front.points, 0);
}

static void test_fronts(void **state) {
  (void)state;
  char folder[] = "/tmp/weft-fronts-XXXXXX";
  weft_session *s = open_session();
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  write_both("cycle.yaml", sweep_text, "");
  write_both("flow.yaml", sweep_text, "fidelity: flow\n");
  write_both("layers.yaml", layers_text, "");
  measure(s, "cycle.yaml");
  weft_fronts *fronts = weft_fronts_compare(s, "s.sqlite");
  expect(s, WEFT_OK);
  check_empty(fronts);
  weft_fronts_destroy(fronts);
  measure(s, "flow.yaml");
  fronts = weft_fronts_compare(s, "s.sqlite");
  expect(s, WEFT_OK);
  check_front(s, fronts);
  weft_fronts_destroy(fronts);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
  assert_int_equal(chdir("/"), 0);
  assert_int_equal(rmdir(folder), 0);
  weft_session_destroy(s);
}

static void test_bad_calls(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_front front = {.size = sizeof front};
  assert_null(weft_fronts_compare(s, NULL));
  expect(s, WEFT_USAGE);
  assert_null(weft_fronts_compare(NULL, "s.sqlite"));
  assert_null(weft_fronts_compare(s, "/nonexistent/s.sqlite"));
  expect(s, WEFT_BAD_INPUT);
  assert_int_equal(weft_fronts_network(NULL, 0, &front), WEFT_USAGE);
  assert_int_equal(weft_fronts_point(NULL, 0, 0, NULL), WEFT_USAGE);
  weft_fronts_destroy(NULL);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fronts), cmocka_unit_test(test_bad_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
