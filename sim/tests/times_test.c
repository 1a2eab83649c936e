// SPDX-License-Identifier: Apache-2.0
// A program on an engine with cycles, and its trace replayed at the recorded times without the hart: each command
// enters, issues and completes in the same cycle, and each burst on the bus and its answer come in the same cycles.
// Arguments: engine, array, program.
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/test.h"
#include "sim/records.h"
#include "sim/run.h"

typedef struct seen {
  sim_records records;
  sim_events keep;
  uint64_t bursts, digest;  // of the bursts, in any order: engines tell them at their first beat or at the last
} seen;

typedef struct place {
  const sim_engine_ops *engine;
  hw_array array;
  const char *program;
  char trace[64];
} place;

static void see_event(void *context, const sim_event *event) {
  seen *s = context;
  s->keep.event(s->keep.context, event);
}

static void see_burst(void *context, const memsys_seen *burst) {
  seen *s = context;
  uint64_t hash = wf_hash(WF_HASH_START, burst->beat_cycles, burst->beats * sizeof *burst->beat_cycles);
  const uint64_t rest[] = {burst->write, burst->address, burst->bytes, burst->asked};
  s->bursts++;
  s->digest += wf_hash(hash, rest, sizeof rest);
}

static sim_run_result run(const place *p, const char *path, FILE *trace, bool in_time, seen *s, wf_diag *diag) {
  *s = (seen){0};
  s->keep = sim_records_sink(&s->records);
  const sim_events events = {.context = s, .event = see_event, .burst = see_burst};
  const sim_engine_options options = {.quiet = true};
  FILE *console = fopen("/dev/null", "w");
  const sim_run_config config = {.array = &p->array,
                                 .engine = p->engine,
                                 .engine_options = &options,
                                 .at_recorded_times = in_time,
                                 .console = console,
                                 .console_error = console,
                                 .trace = trace,
                                 .events = &events};
  sim_run_result result = sim_run_file(&config, path, diag);
  fclose(console);
  return result;
}

static sim_run_result run_well(const place *p, const char *path, FILE *trace, bool in_time, seen *s) {
  wf_diag diag = wf_diag_to(stderr);
  sim_run_result result = run(p, path, trace, in_time, s, &diag);
  assert_int_equal(result.status, SIM_RUN_OK);
  return result;
}

static void record(place *p, const sim_engine_ops *engine, seen *s) {
  strcpy(p->trace, "/tmp/weft-times-XXXXXX");
  FILE *trace = fdopen(mkstemp(p->trace), "w");
  place recording = *p;
  recording.engine = engine;
  run_well(&recording, p->program, trace, false, s);
  fclose(trace);
}

static void a_replay_takes_the_cycles_of_the_run(void **state) {
  place *p = *state;
  seen hosted, replayed, at_once;
  record(p, p->engine, &hosted);
  assert_true(hosted.records.count > 20 && hosted.bursts != 0);
  sim_run_result result = run_well(p, p->trace, NULL, true, &replayed);
  assert_true(result.compared);
  sim_difference difference;
  assert_false(sim_records_differ(&hosted.records, &replayed.records, &difference));
  assert_int_equal(hosted.bursts, replayed.bursts);
  assert_int_equal(hosted.digest, replayed.digest);
  // Without times the commands come as fast as they are taken.
  result = run_well(p, p->trace, NULL, false, &at_once);
  assert_true(result.compared);
  assert_true(sim_records_differ(&hosted.records, &at_once.records, &difference));
  sim_records_free(&hosted.records);
  sim_records_free(&replayed.records);
  sim_records_free(&at_once.records);
  unlink(p->trace);
}

static void cycle_tells_the_same(void **state) {
  place p = *(place *)*state;
  seen own, cycle;
  run_well(&p, p.program, NULL, false, &own);
  p.engine = sim_engine_find("cycle");
  run_well(&p, p.program, NULL, false, &cycle);
  sim_difference difference;
  assert_false(sim_records_differ(&own.records, &cycle.records, &difference));
  assert_int_equal(own.bursts, cycle.bursts);
  assert_int_equal(own.digest, cycle.digest);
  sim_records_free(&own.records);
  sim_records_free(&cycle.records);
}

static void a_trace_without_times_is_refused(void **state) {
  place *p = *state;
  seen s;
  record(p, sim_engine_find("ref"), &s);
  char *message = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&message, &size);
  wf_diag diag = wf_diag_to(out);
  assert_int_equal(run(p, p->trace, NULL, true, &s, &diag).status, SIM_RUN_BAD_INPUT);
  fclose(out);
  assert_non_null(strstr(message, ": error: the trace has no times\n"));
  assert_non_null(strstr(message, "hint: record it with "));
  free(message);
  sim_records_free(&s.records);
  unlink(p->trace);
}

static void an_engine_without_cycles_is_refused(void **state) {
  place p = *(place *)*state;
  seen s;
  record(&p, p.engine, &s);
  sim_records_free(&s.records);
  p.engine = sim_engine_find("ref");
  char *message = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&message, &size);
  wf_diag diag = wf_diag_to(out);
  assert_int_equal(run(&p, p.trace, NULL, true, &s, &diag).status, SIM_RUN_BAD_INPUT);
  fclose(out);
  assert_non_null(strstr(message, "engine ref cannot replay at recorded times"));
  free(message);
  // What the times say is not needed without them.
  run_well(&p, p.trace, NULL, false, &s);
  sim_records_free(&s.records);
  unlink(p.trace);
}

int main(int argc, char **argv) {
  assert(argc == 4);
  place p = {.engine = sim_engine_find(argv[1]), .program = argv[3]};
  wf_diag diag = wf_diag_to(stderr);
  if (p.engine == NULL || !hw_array_load(&p.array, argv[2], &diag)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(a_replay_takes_the_cycles_of_the_run, &p),
      cmocka_unit_test_prestate(cycle_tells_the_same, &p),
      cmocka_unit_test_prestate(a_trace_without_times_is_refused, &p),
      cmocka_unit_test_prestate(an_engine_without_cycles_is_refused, &p),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
