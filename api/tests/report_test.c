// SPDX-License-Identifier: Apache-2.0
// The report and the timeline of runs on the cycle engine: random programs, recorded as traces and replayed as
// `weft sim` does it. Units account for every cycle, the documents parse and agree with the run, and the timeline has
// the slices that the records tell, on tracks where none overlap.
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "api/csv.h"
#include "api/program_report.h"
#include "base/alloc.h"
#include "base/test.h"
#include "isa/isa_fields.h"
#include "sim/gen/gen.h"
#include "sim/records.h"
#include "sim/tests/cosim/cosim.h"
#include "sim/timeline.h"

enum { PROGRAMS = 6, RANDOM_ARRAYS = 6 };

// A finished run and what it left.
typedef struct run {
  hw_array array;
  sim_records records;
  sim_timeline *timeline;
  sim_run_result result;
  cJSON *trace;  // the timeline, parsed
} run;

// ---- one run

static void take_event(void *context, const sim_event *event) {
  run *r = context;
  const sim_events sink = sim_records_sink(&r->records);
  sink.event(sink.context, event);
  sim_timeline_event(r->timeline, event);
}

static void watch(void *context, const sim_engine *engine) { sim_timeline_watch(((run *)context)->timeline, engine); }

static char *text_of(FILE *file) {
  long size = ftell(file);
  char *text = wf_calloc((size_t)size + 1, 1);
  rewind(file);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  return text;
}

static cJSON *parsed(FILE *file) {
  char *text = text_of(file);
  cJSON *document = cJSON_Parse(text);
  assert_non_null(document);
  wf_free(text);
  return document;
}

static void replay(run *r, const char *path) {
  wf_diag diag = wf_diag_to(stderr);
  FILE *out = tmpfile();
  assert_non_null(out);
  r->timeline = sim_timeline_open(out, &sim_timeline_json, &r->array, path, SIM_TIMELINE_BURST);
  const sim_events events = {.context = r, .event = take_event};
  const sim_run_config config = {
      .array = &r->array, .engine = &sim_cycle_engine, .events = &events, .watch = watch, .watch_context = r};
  r->result = sim_run_trace(&config, path, &diag);
  assert_int_equal(r->result.status, SIM_RUN_OK);
  assert_true(sim_timeline_close(r->timeline, r->result.units.cycles, &r->result.units));
  r->trace = parsed(out);
  fclose(out);
}

static run *run_program(const hw_array *array, uint64_t seed) {
  char path[] = "report_test.XXXXXX", yaml[] = "report_test.XXXXXX";
  assert_true(close(mkstemp(path)) == 0 && close(mkstemp(yaml)) == 0);
  run *r = WF_NEW(run);
  r->array = *array;
  const sim_gen_options options = {0};
  sim_gen_program *program = sim_gen_program_create(&r->array, seed, &options);
  assert_true(cosim_write(program, path, yaml));
  sim_gen_program_destroy(program);
  replay(r, path);
  remove(path);
  remove(yaml);
  return r;
}

static void free_run(run *r) {
  sim_records_free(&r->records);
  cJSON_Delete(r->trace);
  wf_free(r);
}

// ---- report

static const cJSON *at(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  if (item == NULL) fail_msg("no key %s", key);
  return item;
}

static double number_at(const cJSON *object, const char *key) {
  const cJSON *item = at(object, key);
  assert_true(cJSON_IsNumber(item));
  return item->valuedouble;
}

static void check_near(double got, double want) {
  if (fabs(got - want) > 1e-9 * fabs(want)) fail_msg("%.17g, not %.17g", got, want);
}

static void check_units(const cJSON *document, uint64_t cycles) {
  const cJSON *unit;
  unsigned units = 0;
  cJSON_ArrayForEach(unit, at(document, "units")) {
    double sum = 0;
    const cJSON *cause;
    cJSON_ArrayForEach(cause, unit) sum += cause->valuedouble;
    if (sum != (double)cycles) fail_msg("causes of %s add up to %.0f of %" PRIu64, unit->string, sum, cycles);
    number_at(unit, "idle");
    number_at(unit, "working");
    units++;
  }
  assert_true(units >= 7);
  check_near(number_at(document, "unit_cycles"), (double)cycles);
}

static void check_mesh(const cJSON *document, const run *r) {
  const cJSON *mesh = at(document, "mesh");
  double dim = hw_derive(&r->array).dim, use = number_at(mesh, "utilisation");
  check_near(use, number_at(mesh, "macs") / ((double)r->result.units.cycles * dim * dim));
  assert_true(use >= 0 && use <= 1);
}

// Whole beats hold at least the bytes asked for.
static void check_bus(const cJSON *document, const run *r) {
  const cJSON *bus = at(document, "bus");
  assert_true(number_at(bus, "read_bytes") >= (double)r->result.read_bytes);
  assert_true(number_at(bus, "written_bytes") >= (double)r->result.written_bytes);
  check_near(number_at(bus, "read_bytes_per_cycle"), number_at(bus, "read_bytes") / (double)r->result.units.cycles);
  assert_true(number_at(bus, "read_bytes_per_cycle") <= number_at(bus, "peak_bytes_per_cycle"));
  check_near(number_at(bus, "read_gb_per_s"),
             number_at(bus, "read_bytes_per_cycle") * r->array.chip.clock_mhz * 1e6 / 1e9);
}

// The model's constants, stated again.
static void check_energy(const cJSON *document, const run *r) {
  const cJSON *energy = at(document, "energy_pj"), *rows = at(document, "local_rows"), *bus = at(document, "bus");
  const cJSON *memory = at(document, "memory");
  double macs = number_at(at(document, "mesh"), "macs"), dim = hw_derive(&r->array).dim;
  assert_string_equal(at(document, "technology")->valuestring, "40nm");
  check_near(number_at(energy, "mac"), 0.561 * macs);
  check_near(number_at(energy, "registers"), 0.487 * macs);
  check_near(number_at(energy, "accumulator"),
             (1.94 + 0.1005 * r->array.accumulator.capacity_kib / dim) * dim *
                 (number_at(rows, "accumulator_read") + number_at(rows, "accumulator_written")));
  check_near(number_at(energy, "scratchpad"),
             (0.49 + 0.025 * r->array.scratchpad.capacity_kib) * dim *
                 (number_at(rows, "scratchpad_read") + number_at(rows, "scratchpad_written")));
  check_near(number_at(energy, "main_memory"),
             100 * (number_at(memory, "fetched_bytes") + number_at(memory, "written_back_bytes")));
  const double port_bytes = number_at(bus, "read_bytes") + number_at(bus, "written_bytes");
  check_near(number_at(document, "array_energy_pj"), number_at(energy, "mac") + number_at(energy, "registers") +
                                                         number_at(energy, "accumulator") +
                                                         number_at(energy, "scratchpad") + 100 * port_bytes);
  double sum = -number_at(energy, "total");
  const cJSON *level;
  cJSON_ArrayForEach(level, energy) sum += level->valuedouble;
  check_near(sum, number_at(energy, "total"));
}

static cJSON *document_of(const run *r, const char *path) {
  const api_program_report report = {
      .path = path, .array = &r->array, .engine = &sim_cycle_engine, .result = &r->result};
  return api_program_json(&report);
}

static void check_report(const run *r) {
  assert_true(r->result.has_units && r->result.units.cycles == r->result.host.cycles);
  cJSON *document = document_of(r, "program.trace");
  check_units(document, r->result.host.cycles);
  check_mesh(document, r);
  check_bus(document, r);
  check_energy(document, r);
  cJSON_Delete(document);
}

// ---- timeline

static unsigned process_of(sim_class unit, bool issued) { return 1 + 2 * (unsigned)unit + !issued; }

static bool is(const cJSON *event, const char *phase) { return strcmp(at(event, "ph")->valuestring, phase) == 0; }

// The times of a command as the records tell them, and how often the timeline shows it.
typedef struct life {
  uint64_t when[3];
  bool has[3];
  sim_class unit;
  unsigned waits, works, instants;
} life;

static life *lives_of(const sim_records *records, size_t *count) {
  *count = 0;
  for (size_t n = 0; n < records->count; n++)
    if (records->item[n].index >= *count) *count = records->item[n].index + (size_t)1;
  life *lives = wf_calloc(*count + 1, sizeof *lives);
  for (size_t n = 0; n < records->count; n++) {
    const sim_event *e = &records->item[n];
    life *l = &lives[e->index];
    l->when[e->kind] = e->cycle;
    l->has[e->kind] = true;
    if (e->kind == SIM_EVENT_ISSUE) l->unit = e->unit;
  }
  return lives;
}

static void check_text(const cJSON *event, const run *r) {
  const cJSON *arguments = at(event, "args");
  char want[SIM_EVENT_TEXT];
  const sim_event *allocation = sim_records_command(&r->records, (uint32_t)number_at(arguments, "index"));
  sim_event_command(allocation, r->array.isa.revision, want);
  assert_string_equal(at(arguments, "command")->valuestring, want);
  assert_true(strncmp(want, at(event, "name")->valuestring, strlen(at(event, "name")->valuestring)) == 0);
}

static void check_slice(const cJSON *event, const run *r, life *lives, size_t count) {
  size_t index = (size_t)number_at(at(event, "args"), "index");
  assert_true(index < count);
  life *l = &lives[index];
  check_text(event, r);
  if (is(event, "i")) {
    assert_true((uint64_t)number_at(event, "ts") == l->when[SIM_EVENT_ISSUE] && !l->has[SIM_EVENT_DONE]);
    l->instants++;
    return;
  }
  uint64_t from = (uint64_t)number_at(event, "ts"), to = from + (uint64_t)number_at(event, "dur");
  bool issued = (unsigned)number_at(event, "pid") == process_of(l->unit, true);
  assert_true(issued || (unsigned)number_at(event, "pid") == process_of(l->unit, false));
  assert_true(from == l->when[issued ? SIM_EVENT_ISSUE : SIM_EVENT_ALLOC]);
  assert_true(to == l->when[issued ? SIM_EVENT_DONE : SIM_EVENT_ISSUE]);
  *(issued ? &l->works : &l->waits) += 1;
}

static bool share_time(const cJSON *a, const cJSON *b) {
  double a_from = number_at(a, "ts"), b_from = number_at(b, "ts");
  return a_from < b_from + number_at(b, "dur") && b_from < a_from + number_at(a, "dur");
}

// Slices are written when they end, so only the one before on the same track can overlap.
static void check_tracks(const cJSON *events) {
  const cJSON *last[2 * SIM_CLASSES + 1][64] = {{NULL}};
  const cJSON *event;
  cJSON_ArrayForEach(event, events) {
    if (!is(event, "X")) continue;
    unsigned process = (unsigned)number_at(event, "pid"), track = (unsigned)number_at(event, "tid");
    assert_true(process <= 2 * SIM_CLASSES && track < 64);
    const cJSON **before = &last[process][track];
    assert_true(*before == NULL || !share_time(*before, event));
    *before = event;
  }
}

// Rates times intervals are the bytes that the run moved; every count of commands ends at zero.
static void check_graphs(const cJSON *events, const run *r) {
  double bytes = 0, rate = 0, since = 0, work = 0, left = -1;
  double cycles = (double)r->result.units.cycles, intervals = 0;
  const cJSON *event;
  cJSON_ArrayForEach(event, events) {
    if (!is(event, "C")) continue;
    const char *name = at(event, "name")->valuestring;
    const cJSON *arguments = at(event, "args");
    if (strcmp(name, "bus bytes per cycle") == 0) {
      bytes += rate * (number_at(event, "ts") - since);
      since = number_at(event, "ts");
      rate = number_at(arguments, "read") + number_at(arguments, "written");
      intervals++;
    } else if (strcmp(name, "commands at work") == 0) {
      left = number_at(arguments, "load") + number_at(arguments, "execute") + number_at(arguments, "store");
      work = left > work ? left : work;
    }
  }
  double want = (double)(r->result.units.bus_read_bytes + r->result.units.bus_written_bytes);
  assert_true(intervals > 1 && since == cycles && rate == 0);
  assert_true(fabs(bytes - want) <= 0.001 * cycles + 1);
  assert_true(work > 0 && left == 0);
}

static void check_timeline(const run *r) {
  const cJSON *events = at(r->trace, "traceEvents"), *event;
  size_t count;
  life *lives = lives_of(&r->records, &count);
  cJSON_ArrayForEach(event, events) if (is(event, "X") || is(event, "i")) check_slice(event, r, lives, count);
  for (size_t n = 0; n < count; n++) {
    const life *l = &lives[n];
    assert_true(l->has[SIM_EVENT_ALLOC] && l->has[SIM_EVENT_ISSUE]);
    assert_int_equal(l->waits, 1);
    assert_int_equal(l->works, l->has[SIM_EVENT_DONE]);
    assert_int_equal(l->instants, !l->has[SIM_EVENT_DONE]);
  }
  check_tracks(events);
  check_graphs(events, r);
  wf_free(lives);
}

// ---- tests

static void check_programs(const hw_array *array, unsigned programs) {
  for (unsigned seed = 1; seed <= programs; seed++) {
    run *r = run_program(array, seed);
    check_report(r);
    check_timeline(r);
    free_run(r);
  }
}

static void load(hw_array *array, const char *name) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(array, name, &diag));
}

static void test_builtin_arrays(void **state) {
  (void)state;
  static const char *const names[] = {"dim2", "dim4", "gemmini-default"};
  for (unsigned revision = 1; revision <= 2; revision++)
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
      hw_array array;
      load(&array, names[n]);
      array.isa.revision = revision;
      check_programs(&array, n == 2 ? 1 : PROGRAMS);
    }
}

static void test_random_arrays(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= RANDOM_ARRAYS; seed++) {
    hw_array array;
    sim_gen_array(seed, &array);
    hw_array usual;
    hw_array_default(&usual);
    array.chip.technology = usual.chip.technology;  // check_energy knows one table
    check_programs(&array, 2);
  }
}

static size_t leaves(const cJSON *object) {
  size_t count = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, object) count += cJSON_IsObject(item) ? leaves(item) : 1;
  return count;
}

// Rows that begin like every row of this run must; the file name needs quotes.
static void test_csv(void **state) {
  (void)state;
  hw_array array;
  load(&array, "dim2");
  run *r = run_program(&array, 3);
  cJSON *document = document_of(r, "a \"b\", c.trace");
  FILE *out = tmpfile();
  api_csv_print(document, out);
  char *text = text_of(out), *rest = text, *line, want[128];
  static const char prefix[] = "\"a \"\"b\"\", c.trace\",dim2,cycle,";
  size_t rows = 0;
  assert_string_equal(strtok_r(rest, "\n", &rest), "file,array,engine,key,value");
  snprintf(want, sizeof want, "%sunits.mesh.working,%.0f", prefix,
           number_at(at(at(document, "units"), "mesh"), "working"));
  bool found = false;
  while ((line = strtok_r(rest, "\n", &rest)) != NULL) {
    assert_true(strncmp(line, prefix, sizeof prefix - 1) == 0);
    found |= strcmp(line, want) == 0;
    rows++;
  }
  assert_true(found);
  assert_int_equal(rows, leaves(document));
  wf_free(text);
  fclose(out);
  cJSON_Delete(document);
  free_run(r);
}

// A command that never ends is shown up to the end.
static void test_unfinished(void **state) {
  (void)state;
  hw_array array;
  load(&array, "dim2");
  FILE *out = tmpfile();
  sim_timeline *timeline = sim_timeline_open(out, &sim_timeline_json, &array, "\"quoted\"\\", SIM_TIMELINE_BURST);
  sim_event event = {.kind = SIM_EVENT_ALLOC, .unit = SIM_CLASSES, .index = 7, .cycle = 10, .funct = ISA_FUNCT_MVIN};
  sim_timeline_event(timeline, &event);
  event = (sim_event){.kind = SIM_EVENT_ISSUE, .unit = SIM_CLASS_LOAD, .index = 7, .cycle = 12};
  sim_timeline_event(timeline, &event);
  assert_true(sim_timeline_close(timeline, 100, NULL));
  cJSON *document = parsed(out);
  assert_string_equal(at(at(document, "otherData"), "program")->valuestring, "\"quoted\"\\");
  unsigned slices = 0, unfinished = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, at(document, "traceEvents")) {
    if (!is(item, "X")) continue;
    slices++;
    if (!cJSON_HasObjectItem(at(item, "args"), "unfinished")) continue;
    unfinished++;
    assert_true(number_at(item, "ts") == 12 && number_at(item, "dur") == 88);
  }
  assert_int_equal(slices, 2);
  assert_int_equal(unfinished, 1);
  cJSON_Delete(document);
  fclose(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_builtin_arrays), cmocka_unit_test(test_random_arrays),
                                     cmocka_unit_test(test_csv), cmocka_unit_test(test_unfinished)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
