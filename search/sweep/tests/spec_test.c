// SPDX-License-Identifier: Apache-2.0
// The text of a sweep: its points, and what is refused where.
#include "search/sweep/spec.h"

#include "base/test.h"

#define HUGE "huge.yaml"
#define NETWORK "networks: [" TINY "]\n"

static sweep_spec parsed(const char *text) {
  sweep_spec spec;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(sweep_spec_parse(&spec, "s.yaml", text, strlen(text), &diag));
  return spec;
}

static void grid(void **state) {
  (void)state;
  sweep_spec spec = parsed(
      "parameters:\n"
      "  mesh.rows, mesh.columns: [4, 8]\n"
      "  scratchpad.capacity_kib: {from: 16, to: 64, times: 2}\n"
      "  load.queue, store.queue: [[2, 3], [4, 5]]\n" NETWORK);
  assert_int_equal(sweep_point_count(&spec), 12);
  for (size_t i = 0; i < 12; i++) {
    const hw_array a = sweep_point(&spec, i);
    assert_int_equal(a.mesh.rows, i < 6 ? 4 : 8);
    assert_int_equal(a.mesh.columns, a.mesh.rows);
    assert_int_equal(a.scratchpad.capacity_kib, 16 << i / 2 % 3);
    assert_int_equal(a.load.queue, i % 2 == 0 ? 2 : 4);
    assert_int_equal(a.store.queue, i % 2 == 0 ? 3 : 5);
  }
  assert_int_equal(spec.network_count, 1);
  assert_int_equal(spec.networks[0].count, 4);
  sweep_spec_release(&spec);
}

// Every stratum of every axis once: with 8 points, each of 8 values once, each of 4 twice.
static void latin(void **state) {
  (void)state;
  sweep_spec spec = parsed(
      "sample: latin\ncount: 8\nseed: 5\nparameters:\n  load.queue: {from: 1, to: 8}\n"
      "  store.queue: {from: 1, to: 4}\n" NETWORK);
  int loads[9] = {0}, stores[5] = {0};
  for (size_t i = 0; i < 8; i++) {
    const hw_array a = sweep_point(&spec, i), again = sweep_point(&spec, i);
    loads[a.load.queue]++;
    stores[a.store.queue]++;
    assert_int_equal(hw_array_hash(&a), hw_array_hash(&again));
  }
  for (int v = 1; v <= 8; v++) assert_int_equal(loads[v], 1);
  for (int v = 1; v <= 4; v++) assert_int_equal(stores[v], 2);
  sweep_spec_release(&spec);
}

static void random_points(void **state) {
  (void)state;
  static const char text[] = "sample: random\ncount: 500\nparameters:\n  load.queue: {from: 1, to: 64}\n" NETWORK;
  sweep_spec spec = parsed(text);
  bool seen[65] = {false};
  int different = 0;
  for (size_t i = 0; i < 500; i++) {
    const uint32_t queue = sweep_point(&spec, i).load.queue;
    assert_in_range(queue, 1, 64);
    different += !seen[queue];
    seen[queue] = true;
  }
  assert_true(different > 55);
  sweep_spec_release(&spec);
}

static void list(void **state) {
  (void)state;
  sweep_spec spec = parsed("arrays: [dim4, gemmini-default]\nmapping: {tune: 4}\ntimeout: 2.5\n" NETWORK);
  assert_int_equal(sweep_point_count(&spec), 2);
  assert_string_equal(sweep_point(&spec, 1).name, "gemmini-default");
  assert_int_equal(spec.tune, 4);
  assert_true(spec.timeout == 2.5);
  assert_string_equal(spec.name, "s");
  assert_string_equal(sweep_policy(&spec).text, "tune 4");
  sweep_spec_release(&spec);
}

static void searched(void **state) {
  (void)state;
  static const struct {
    const char *text, *policy;
  } cases[] = {{"", "default"},
               {"mapping: default\n", "default"},
               {"mapping: searched\n", "search 8 latency"},
               {"mapping: {search: 3}\nobjective: energy\n", "search 3 energy"},
               {"mapping: searched\nobjective: area-delay\n", "search 8 area-delay"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    snprintf(text, sizeof text, "%s%s", cases[i].text, NETWORK);
    sweep_spec spec = parsed(text);
    assert_string_equal(sweep_policy(&spec).text, cases[i].policy);
    sweep_spec_release(&spec);
  }
}

static void write_huge(void) {
  FILE *out = fopen(HUGE, "w");
  assert_non_null(out);
  fputs("name: huge\nlayers: [{name: a, P: 9999999, K: 9999999, C: 9999999}]\n", out);
  fclose(out);
}

static void refused(void **state) {
  (void)state;
  write_huge();
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"parameters: {}\n", "no networks"},
      {"networks: [no-such]\n", "no-such"},
      {"networks: [no-such, " TINY "]\n", "no-such"},
      {"networks: [" HUGE "]\n", "2^63 is too many"},
      {NETWORK "paramters: {}\n", "s.yaml:2:1: error: unknown key 'paramters'"},
      {NETWORK "parameters: {mesh.rowz: [1]}\n", "no array parameter 'mesh.rowz'"},
      {NETWORK "parameters: {mesh.rows: [3]}\n", "'3' is no value of mesh.rows"},
      {NETWORK "parameters: {mesh.rows: []}\n", "a parameter without values"},
      {NETWORK "parameters: {mesh.rows: 4}\n", "must be a list"},
      {NETWORK "parameters: {load.queue: {from: 4, to: 2}}\n", "to must be"},
      {NETWORK "parameters: {load.queue: {from: 1, to: 2, step: 1, times: 2}}\n", "`step` or `times`"},
      {NETWORK "parameters: {load.queue, load.queue: [1]}\n", "appears twice"},
      {NETWORK "parameters: {\"load.queue, store.queue\": [[1]]}\n", "1 values for 2 parameters"},
      {NETWORK "sample: random\n", "needs `count`"},
      {NETWORK "count: 4\n", "`count` is for"},
      {NETWORK "sample: gird\n", "'gird' is no value for sample"},
      {NETWORK "arrays: [dim4]\nparameters: {load.queue: [1]}\n", "has no `parameters`"},
      {NETWORK "mapping: best\n", "'best' is no value for mapping"},
      {NETWORK "mapping: {tune: 0}\n", "tune must be"},
      {NETWORK "mapping: {search: 513}\n", "search must be"},
      {NETWORK "mapping: {search: 2, tune: 2}\n", "`tune` or `search`"},
      {NETWORK "mapping: searched\nobjective: speed\n", "'speed' is no value for objective"},
      {NETWORK "objective: edp\n", "`objective` is for"},
      {"networks: [" TINY ", " TINY "]\n", "network 'tiny' appears twice"},
      {NETWORK "parameters: {load.queue: {from: 1, to: 64}, store.queue: {from: 1, to: 64}, store.reservation_entries: "
               "{from: 3, to: 64},\n"
               "  load.reservation_entries: {from: 3, to: 64}}\n",
       "more than a million points"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *said;
    size_t length;
    wf_diag diag = wf_diag_to(open_memstream(&said, &length));
    sweep_spec spec;
    assert_false(sweep_spec_parse(&spec, "s.yaml", cases[i].text, strlen(cases[i].text), &diag));
    fclose(diag.out);
    if (strstr(said, cases[i].message) == NULL) fail_msg("case %zu: %s", i, said);
    free(said);
    sweep_spec_release(&spec);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(grid),          cmocka_unit_test(latin),
                                     cmocka_unit_test(random_points), cmocka_unit_test(list),
                                     cmocka_unit_test(searched),      cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
