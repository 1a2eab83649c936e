// SPDX-License-Identifier: Apache-2.0
// Runs of traces and networks with what they leave: reports in all forms, steps as they run, files of records.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tests/session.h"

static void expect_report(weft_session *s, const weft_run *run, const char *form, const char *part) {
  const weft_run_form options = {.size = sizeof options, .form = form, .file = "mine"};
  char *text = weft_run_report(s, run, &options);
  expect(s, WEFT_OK);
  if (part == NULL ? *text != '\0' : strstr(text, part) == NULL) fail_msg("no \"%s\" in: %s", part, text);
  weft_free(text);
}

static size_t size_of(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 ? (size_t)about.st_size : 0;
}

// ---- traces

static weft_run *replay(weft_session *s, const weft_array *array, weft_run_options options) {
  options.size = sizeof options;
  return weft_program_run(s, "kernel.trace", array, &options);
}

static void write_trace(weft_session *s, const weft_array *array) {
  weft_kernel *kernel = compile(s, array, "M=40,N=24,K=56");
  assert_int_equal(weft_kernel_write(s, kernel, "kernel.trace", NULL), WEFT_OK);
  weft_kernel_destroy(kernel);
}

static void test_trace(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8"), *other = load(s, "dim4");
  write_trace(s, array);
  weft_run *run =
      replay(s, array, (weft_run_options){.events = "events.txt", .timeline = "run.json", .konata = "k.log"});
  expect(s, WEFT_OK);
  weft_totals totals = {.size = sizeof totals};
  weft_run_totals(run, &totals);
  assert_true(totals.cycles > 0 && totals.commands > 0);
  assert_int_equal(weft_run_ending(run), WEFT_ENDED);
  assert_true(size_of("events.txt") > 0 && size_of("run.json") > 0 && size_of("k.log") > 0);
  expect_report(s, run, "text", "engine cycle");
  expect_report(s, run, "json", "\"file\":\t\"mine\"");
  expect_report(s, run, "csv", "file,array,engine,key,value\nmine,dim8,cycle,");
  weft_run_destroy(run);
  assert_null(replay(s, other, (weft_run_options){0}));
  expect_message(s, WEFT_BAD_INPUT, "made for array dim8");
  run = replay(s, other, (weft_run_options){.any_array = true, .engine = "ref"});
  if (run == NULL) expect(s, WEFT_BAD_INPUT);
  weft_run_destroy(run);
  weft_array_destroy(other);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// What does not go together is refused, and leaves no file.
static void test_refusals(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  write_trace(s, array);
  static const struct {
    weft_run_options options;
    weft_status status;
    const char *message;
  } cases[] = {
      {{.engine = "nosuch"}, WEFT_USAGE, "engine \"nosuch\" is not known"},
      {{.engine = "ref", .timeline = "none"}, WEFT_USAGE, "no cycles and so no timeline"},
      {{.engine = "ref", .events = "none"}, WEFT_USAGE, "no cycles and so no events"},
      {{.engine = "flow", .trace = "none"}, WEFT_USAGE, "cannot write a trace"},
      {{.engine = "cycle", .trace = "none", .timing_only = true}, WEFT_USAGE, "without timing_only"},
      {{.engine = "ref", .at_recorded_times = true}, WEFT_USAGE, "no at_recorded_times"},
      {{.engine = "ref", .sensitivity = true}, WEFT_USAGE, "does not know what its cycles depend on"},
      {{.accelerator = "c"}, WEFT_USAGE, "takes no accelerator"},
      {{.timeline = "none", .timeline_steps = "1"}, WEFT_USAGE, "steps are of networks"},
      {{.timeline = "none", .timeline_level = "all"}, WEFT_USAGE, "one of step, command, burst"},
      {{.timeline = "no/such/file"}, WEFT_BAD_INPUT, "no/such/file"},
      {{.events = "none", .timeline = "no/such/file"}, WEFT_BAD_INPUT, "no/such/file"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_null(replay(s, array, cases[i].options));
    expect_message(s, cases[i].status, cases[i].message);
    assert_int_equal(access("none", F_OK), -1);
  }
  assert_null(weft_program_run(s, "no-such-program", array, NULL));
  expect_message(s, WEFT_BAD_INPUT, "no-such-program");
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- networks

typedef struct seen {
  size_t steps;
  uint64_t cycles;
} seen;

static void see(void *context, size_t index, const weft_step *step) {
  seen *to = context;
  assert_true(index == to->steps++ && step->timed && step->counted);
  assert_ptr_not_equal(strchr(step->result, '['), NULL);
  to->cycles += step->cycles;
}

static void test_network(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_network *net = network(s, array);
  weft_network_facts facts = {.size = sizeof facts};
  weft_step step = {.size = sizeof step};
  weft_network_describe(net, &facts);
  assert_int_equal(weft_network_step(net, facts.steps - 1, &step), WEFT_OK);
  assert_int_equal(weft_network_step(net, facts.steps, &step), WEFT_USAGE);
  seen all = {0};
  const weft_run_options options = {.size = sizeof options,
                                    .check = true,
                                    .step = see,
                                    .step_context = &all,
                                    .timeline = "steps.json",
                                    .timeline_level = "step",
                                    .timeline_steps = "1-2"};
  weft_run *run = weft_network_run(s, net, &options, NULL);
  expect(s, WEFT_OK);
  weft_totals totals = {.size = sizeof totals};
  weft_run_totals(run, &totals);
  assert_true(all.steps == facts.steps && all.cycles == totals.cycles && size_of("steps.json") > 0);
  weft_network_destroy(net);  // reports outlive it
  expect_report(s, run, NULL, "network      mine\n");
  expect_report(s, run, "json", "\"array\":\t\"dim8\"");
  expect_report(s, run, "csv", "step,node,operator,place,");
  expect_report(s, run, "page", "</html>");
  expect_report(s, run, "wrong", NULL);
  weft_run_destroy(run);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_network_refusals(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_network *net = network(s, array);
  static const struct {
    weft_run_options options;
    const char *message;
  } cases[] = {{{.timeline = "none", .timeline_steps = "400"}, "the network has steps 0 to "},
               {{.timeline = "none", .timeline_steps = "2-1"}, "are no steps"},
               {{.engine = "ref", .timeline = "none"}, "no cycles and so no timeline"},
               {{.trace = "none"}, "a network takes no trace"},
               {{.check = true, .timing_only = true}, "cannot be checked"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    weft_run_options options = cases[i].options;
    options.size = sizeof options;
    assert_null(weft_network_run(s, net, &options, NULL));
    expect_message(s, WEFT_USAGE, cases[i].message);
    assert_int_equal(access("none", F_OK), -1);
  }
  weft_network_destroy(net);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_trace), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_network), cmocka_unit_test(test_network_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
