// SPDX-License-Identifier: Apache-2.0
// Kernels on random data beside their interpreter, their reports, and where results part.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/tests/session.h"

static const char arguments[] = "M=40,N=24,K=56";

static weft_run *check(weft_session *s, const weft_kernel *kernel, weft_check_options options) {
  options.size = sizeof options;
  options.seed = 1;
  return weft_kernel_check(s, kernel, &options);
}

static weft_totals totals_of(const weft_run *run) {
  weft_totals totals = {.size = sizeof totals};
  assert_int_equal(weft_run_totals(run, &totals), WEFT_OK);
  return totals;
}

// The report has a text, in a form.
static void expect_report(weft_session *s, const weft_run *run, const char *form, bool units, const char *part) {
  const weft_run_form options = {.size = sizeof options, .form = form, .units = units};
  char *text = weft_run_report(s, run, &options);
  expect(s, WEFT_OK);
  if (part == NULL ? *text != '\0' : strstr(text, part) == NULL) fail_msg("no \"%s\" in: %s", part, text);
  weft_free(text);
}

// Engines agree in the bytes; only some have cycles, units or data.
static void test_engines(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_kernel *kernel = compile(s, array, arguments);
  weft_run *cycle = check(s, kernel, (weft_check_options){0}),
           *ref = check(s, kernel, (weft_check_options){.engine = "ref"}),
           *flow = check(s, kernel, (weft_check_options){.engine = "flow", .sensitivity = true}),
           *timing = check(s, kernel, (weft_check_options){.timing_only = true});
  weft_kernel_destroy(kernel);  // reports outlive it
  weft_array_destroy(array);
  assert_int_equal(weft_run_ending(cycle), WEFT_ENDED);
  assert_true(totals_of(cycle).digest == totals_of(ref).digest && totals_of(cycle).digest != 0);
  assert_true(totals_of(cycle).cycles == totals_of(timing).cycles && totals_of(ref).cycles == 0);
  expect_report(s, cycle, NULL, false, "result       as the oracle's\n");
  expect_report(s, cycle, "text", true, "mesh utilisation");
  expect_report(s, cycle, "json", true, "\"units\"");
  expect_report(s, cycle, "wrong", false, NULL);
  expect_report(s, flow, "json", false, "\"sensitivity\"");
  expect_report(s, flow, "text", false, "not compared: engine flow moves no data");
  expect_report(s, ref, "json", false, "\"wrong_bytes\":\t0");
  expect_report(s, timing, "json", false, "\"compared\":\tfalse");
  const weft_run_form other = {.size = sizeof other, .form = "page"};
  assert_null(weft_run_report(s, cycle, &other));
  expect_message(s, WEFT_USAGE, "one of text, json, wrong");
  weft_run_destroy(timing);
  weft_run_destroy(flow);
  weft_run_destroy(ref);
  weft_run_destroy(cycle);
  weft_session_destroy(s);
}

static void test_refusals(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_kernel *kernel = compile(s, array, arguments);
  static const struct {
    weft_check_options options;
    const char *message;
  } cases[] = {{{.engine = "nosuch"}, "no engine nosuch"},
               {{.engine = "ref", .timing_only = true}, "timing_only is for engine cycle"},
               {{.engine = "flow", .executable = true}, "moves no data"},
               {{.sensitivity = true}, "engine cycle does not know what its cycles depend on"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_null(check(s, kernel, cases[i].options));
    expect_message(s, WEFT_USAGE, cases[i].message);
  }
  assert_null(weft_kernel_check(s, NULL, NULL));
  weft_run *plain = weft_kernel_run(s, kernel, NULL, NULL);
  assert_null(weft_run_report(s, plain, NULL));
  expect_message(s, WEFT_USAGE, "it has no report");
  weft_run_destroy(plain);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// A product that accumulates no more gives another result at that product, and the source's line is known.
static void test_divergence(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_kernel *kernel = compile(s, array, arguments);
  const weft_divergence_options same = {.size = sizeof same, .engine = "ref", .against = "cycle", .seed = 1};
  weft_divergence_facts facts = {.size = sizeof facts};
  weft_divergence *d = weft_kernel_diverge(s, kernel, &same);
  expect(s, WEFT_OK);
  weft_divergence_describe(d, &facts);
  assert_true(facts.equal && facts.runs > 0);
  weft_divergence_destroy(d);
  char *text = weft_kernel_text(s, kernel, "command"), *flag = strstr(text, "+acc");
  assert_non_null(flag);
  memmove(flag, flag + 4, strlen(flag + 4) + 1);
  write_file("bad.command", text);
  weft_free(text);
  const weft_divergence_options bad = {
      .size = sizeof bad, .engine = "ref", .against = "ref", .commands = "bad.command", .seed = 1};
  d = weft_kernel_diverge(s, kernel, &bad);
  expect(s, WEFT_OK);
  weft_divergence_describe(d, &facts);
  assert_true(!facts.equal && facts.value != facts.expected && facts.line > 0 && facts.last >= facts.first);
  assert_string_equal(facts.place, "accumulator");
  text = weft_divergence_report(s, d, NULL);
  assert_non_null(strstr(text, "result      accumulator row "));
  weft_free(text);
  weft_divergence_destroy(d);
  unlink("bad.command");
  assert_null(weft_kernel_diverge(s, kernel, &bad));
  expect_message(s, WEFT_BAD_INPUT, "bad.command: error: ");
  const weft_divergence_options no_data = {.size = sizeof no_data, .against = "flow"};
  assert_null(weft_kernel_diverge(s, kernel, &no_data));
  expect_message(s, WEFT_USAGE, "engine flow is none that has them");
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_engine_facts(void **state) {
  (void)state;
  weft_engine engine = {.size = sizeof engine};
  unsigned found = 0;
  for (size_t i = 0; weft_engine_describe(i, &engine) == WEFT_OK; i++) {
    assert_string_equal(engine.name, weft_engine_at(i, NULL));
    if (strcmp(engine.name, "ref") == 0) found += engine.data && !engine.cycles && !engine.records;
    if (strcmp(engine.name, "cycle") == 0) found += engine.data && engine.cycles && engine.records;
    if (strcmp(engine.name, "flow") == 0) found += !engine.data && engine.cycles;
  }
  assert_int_equal(found, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_engines), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_divergence), cmocka_unit_test(test_engine_facts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
