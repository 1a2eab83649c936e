// SPDX-License-Identifier: Apache-2.0
// libweft from C, as a program of its own sees it: only the header and the shared library. Results against loops of
// this file, and hostile calls.
#include <stdio.h>
#include <unistd.h>

#include "api/tests/session.h"

// ---- arrays

static void test_arrays(void **state) {
  (void)state;
  weft_session *s = open_session();
  for (size_t i = 0; weft_array_shipped(i) != NULL; i++) weft_array_destroy(load(s, weft_array_shipped(i)));
  weft_array *array = load(s, "gemmini-default"), *copy = weft_array_copy(array);
  uint32_t value;
  char text[16];
  assert_string_equal(weft_array_name(array), "gemmini-default");
  assert_int_equal(weft_array_set(s, array, "scratchpad.capacity_kib", "512"), WEFT_OK);
  assert_int_equal(weft_array_get(s, array, "scratchpad.capacity_kib", &value), WEFT_OK);
  assert_int_equal(value, 512);
  assert_true(weft_array_hash(array) != weft_array_hash(copy));
  assert_int_equal(weft_array_set(s, array, "mesh.dataflow", "ws"), WEFT_OK);
  assert_int_equal(weft_array_get_text(s, array, "mesh.dataflow", text, sizeof text), WEFT_OK);
  assert_string_equal(text, "ws");
  assert_int_equal(weft_array_get_text(s, array, "mesh.dataflow", text, 2), WEFT_USAGE);
  assert_int_equal(weft_array_rename(s, array, "mine"), WEFT_OK);
  char *yaml = weft_array_yaml(s, array);
  weft_array *again = weft_array_parse(s, "mine.yaml", yaml, strlen(yaml));
  expect(s, WEFT_OK);
  assert_true(weft_array_hash(again) == weft_array_hash(array));
  assert_string_equal(weft_array_name(again), "mine");
  weft_free(yaml);
  weft_array_destroy(again);
  weft_array_destroy(copy);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_every_parameter(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_parameter p = {.size = sizeof p};
  size_t count = 0;
  for (; weft_parameter_at(count, &p) == WEFT_OK; count++) {
    char text[64];
    uint32_t value;
    assert_int_equal(weft_array_get(s, array, p.name, &value), WEFT_OK);
    assert_true(value >= p.min && value <= p.max);
    assert_int_equal(weft_array_get_text(s, array, p.name, text, sizeof text), WEFT_OK);
    assert_int_equal(weft_array_set(s, array, p.name, text), WEFT_OK);
  }
  assert_true(count > 50);
  assert_int_equal(p.size, sizeof p);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_bad_arrays(void **state) {
  (void)state;
  static const char bad[] = "name: small\nmesh:\n  rows: 12\n  colums: 4\n";
  weft_session *s = open_session();
  assert_null(weft_array_load(s, "gemini-default"));
  expect_message(s, WEFT_BAD_INPUT, "did you mean \"gemmini-default\"?");
  assert_null(weft_array_load(s, "/nonexistent/a.yaml"));
  expect_message(s, WEFT_BAD_INPUT, "/nonexistent/a.yaml: error:");
  assert_null(weft_array_parse(s, "small.yaml", bad, sizeof bad - 1));
  expect_message(s, WEFT_BAD_INPUT, "small.yaml:3:9: error:");
  expect_message(s, WEFT_BAD_INPUT, "small.yaml:4:3: error:");  // all of them at once
  weft_array *array = load(s, "gemmini-default");
  assert_int_equal(weft_array_set(s, array, "scratchpad.capacity", "512"), WEFT_BAD_INPUT);
  expect_message(s, WEFT_BAD_INPUT, "did you mean scratchpad.capacity_kib?");
  assert_int_equal(weft_array_set(s, array, "mesh.rows", "12"), WEFT_BAD_INPUT);
  expect_message(s, WEFT_BAD_INPUT, "a power of two from 1 to 128");
  assert_int_equal(weft_array_set(s, array, "mesh.rows", "32"), WEFT_OK);  // columns are still 16
  assert_int_equal(weft_array_check(s, array), WEFT_BAD_INPUT);
  const weft_kernel_options options = {.size = sizeof options, .text = session_gemm, .arguments = "M=4,N=4,K=4"};
  assert_null(weft_kernel_compile(s, array, &options));
  expect(s, WEFT_BAD_INPUT);
  assert_int_equal(weft_array_rename(s, array, "No Name"), WEFT_BAD_INPUT);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- kernels

static void test_kernel_on_engines(void **state) {
  (void)state;
  static const char *const engines[] = {NULL, "cycle", "ref"};
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_kernel *kernel = compile(s, array, "M=40,N=24,K=56");
  weft_kernel_facts facts = {.size = sizeof facts};
  assert_int_equal(weft_kernel_describe(kernel, &facts), WEFT_OK);
  assert_string_equal(facts.name, "gemm");
  assert_int_equal(facts.macs, M * N * K);
  int8_t a[M * K], b[K * N];
  int32_t c[M * N], want[M * N];
  fill(a, sizeof a, 1);
  fill(b, sizeof b, 2);
  multiply(a, b, want);
  void *const buffers[] = {a, b, c};
  weft_tensor tensor = {.size = sizeof tensor};
  assert_int_equal(weft_kernel_tensors(kernel), 3);
  assert_int_equal(weft_kernel_tensor(kernel, 2, &tensor), WEFT_OK);
  assert_string_equal(tensor.type, "i32");
  assert_int_equal(tensor.bytes, sizeof c);
  assert_true(tensor.written);
  for (size_t i = 0; i < 3; i++) {
    const weft_run_options options = {.size = sizeof options, .engine = engines[i]};
    memset(c, 1, sizeof c);
    weft_run *run = weft_kernel_run(s, kernel, &options, buffers);
    expect(s, WEFT_OK);
    assert_memory_equal(c, want, sizeof c);
    weft_totals totals = {.size = sizeof totals};
    assert_int_equal(weft_run_totals(run, &totals), WEFT_OK);
    assert_true((totals.cycles > 0) == (i < 2));
    assert_true((weft_run_counters(run) > 0) == (i < 2));
    weft_run_destroy(run);
  }
  memset(c, 1, sizeof c);
  assert_int_equal(weft_kernel_interpret(s, kernel, buffers), WEFT_OK);
  assert_memory_equal(c, want, sizeof c);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static uint64_t cycles_of(weft_session *s, const weft_kernel *kernel, const char *engine, bool timing_only) {
  const weft_run_options options = {.size = sizeof options, .engine = engine, .timing_only = timing_only};
  weft_run *run = weft_kernel_run(s, kernel, &options, NULL);
  expect(s, WEFT_OK);
  weft_totals totals = {.size = sizeof totals};
  weft_run_totals(run, &totals);
  weft_run_destroy(run);
  return totals.cycles;
}

// Without data the cycles are the same, and engine flow is near; the counters of a unit add up to them.
static void test_times(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_kernel *kernel = compile(s, array, "M=128,N=128,K=128");
  const uint64_t cycles = cycles_of(s, kernel, "cycle", false);
  assert_int_equal(cycles_of(s, kernel, "cycle", true), cycles);
  const double flow = (double)cycles_of(s, kernel, "flow", false);
  assert_true(flow > 0.8 * (double)cycles && flow < 1.25 * (double)cycles);
  weft_run *run = weft_kernel_run(s, kernel, NULL, NULL);
  double sum = 0;
  for (size_t i = 0; i < weft_run_counters(run); i++) {
    weft_counter counter = {.size = sizeof counter};
    assert_int_equal(weft_run_counter(run, i, &counter), WEFT_OK);
    if (strcmp(counter.unit, "execute") == 0) sum += counter.value;
  }
  assert_true(sum == (double)cycles);
  weft_run_destroy(run);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// A mapping that comes out goes in again.
static void test_mapping(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_kernel *kernel = compile(s, array, "M=128,N=128,K=128");
  const weft_kernel_options options = {.size = sizeof options,
                                       .text = session_gemm,
                                       .arguments = "M=128,N=128,K=128",
                                       .mapping = weft_kernel_mapping(kernel)};
  weft_kernel *again = weft_kernel_compile(s, array, &options);
  expect(s, WEFT_OK);
  assert_true(strlen(weft_kernel_mapping(kernel)) > 0);
  assert_string_equal(weft_kernel_mapping(again), weft_kernel_mapping(kernel));
  weft_kernel_destroy(again);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void refuse_kernel(const weft_array *array, weft_kernel_options options, weft_status status, const char *part) {
  weft_session *s = open_session();
  options.size = sizeof options;
  assert_null(weft_kernel_compile(s, array, &options));
  expect_message(s, status, part);
  weft_session_destroy(s);
}

static void test_bad_kernels(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  refuse_kernel(array, (weft_kernel_options){.text = "@jit\ndef f(:\n", .file = "bad.py"}, WEFT_BAD_INPUT,
                "bad.py:2:7: error:");
  refuse_kernel(array, (weft_kernel_options){.text = session_gemm, .arguments = "M=4,N=4"}, WEFT_BAD_INPUT, "K");
  refuse_kernel(array, (weft_kernel_options){.text = session_gemm, .arguments = "M=4,,"}, WEFT_BAD_INPUT, "error:");
  refuse_kernel(array, (weft_kernel_options){.text = session_gemm, .arguments = "M=4,N=4,K=4", .mapping = "no"},
                WEFT_BAD_INPUT, "mapping:1");
  refuse_kernel(array, (weft_kernel_options){.text = session_gemm, .language = "pascal"}, WEFT_USAGE,
                "one of kernel, block, command");
  refuse_kernel(array, (weft_kernel_options){.text = session_gemm, .tune = 513}, WEFT_USAGE, "at most 512");
  refuse_kernel(array, (weft_kernel_options){.text = "\xff\x01\x80 garbage", .length = 11}, WEFT_BAD_INPUT, "error:");
  refuse_kernel(array, (weft_kernel_options){.file = "/nonexistent/k.py"}, WEFT_BAD_INPUT, "/nonexistent/k.py");
  refuse_kernel(array, (weft_kernel_options){0}, WEFT_USAGE, "neither a file nor a text");
  refuse_kernel(array, (weft_kernel_options){.text = ""}, WEFT_BAD_INPUT, "error:");
  weft_kernel *kernel = compile(s, array, "M=4,N=4,K=4");
  weft_run_options options = {.size = sizeof options, .engine = "nosuch"};
  assert_null(weft_kernel_run(s, kernel, &options, NULL));
  expect_message(s, WEFT_USAGE, "hint: one of ");
  options = (weft_run_options){.size = sizeof options, .engine = "ref", .timing_only = true};
  assert_null(weft_kernel_run(s, kernel, &options, NULL));
  expect(s, WEFT_USAGE);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- structs of other versions

typedef struct longer {
  weft_kernel_options options;
  uint64_t later;
} longer;

static void test_sizes(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim4");
  longer options = {.options = {.size = sizeof options, .text = session_gemm, .arguments = "M=4,N=4,K=4"}};
  weft_kernel *kernel = weft_kernel_compile(s, array, &options.options);  // unknown fields that are 0
  expect(s, WEFT_OK);
  options.later = 1;
  assert_null(weft_kernel_compile(s, array, &options.options));
  expect_message(s, WEFT_USAGE, "does not know");
  options.options.size = 0;
  assert_null(weft_kernel_compile(s, array, &options.options));
  expect_message(s, WEFT_USAGE, "sizeof");
  // A program that knows only the first fields gets these.
  weft_kernel_facts facts = {.size = offsetof(weft_kernel_facts, commands), .commands = 77};
  assert_int_equal(weft_kernel_describe(kernel, &facts), WEFT_OK);
  assert_string_equal(facts.name, "gemm");
  assert_int_equal(facts.commands, 77);
  facts.size = 0;
  assert_int_equal(weft_kernel_describe(kernel, &facts), WEFT_USAGE);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- NULL everywhere

static void test_null(void **state) {
  (void)state;
  weft_session *s = open_session();
  assert_null(weft_array_load(s, NULL));
  expect(s, WEFT_USAGE);
  assert_null(weft_array_load(NULL, "dim4"));
  assert_null(weft_array_parse(s, "a", NULL, 0));
  assert_null(weft_array_copy(NULL));
  assert_int_equal(weft_array_check(s, NULL), WEFT_USAGE);
  assert_int_equal(weft_array_set(s, NULL, "mesh.rows", "4"), WEFT_USAGE);
  assert_int_equal(weft_array_get(s, NULL, NULL, NULL), WEFT_USAGE);
  assert_null(weft_array_yaml(s, NULL));
  assert_int_equal(weft_array_hash(NULL), 0);
  assert_null(weft_kernel_compile(s, NULL, NULL));
  assert_null(weft_kernel_run(s, NULL, NULL, NULL));
  assert_int_equal(weft_kernel_interpret(s, NULL, NULL), WEFT_USAGE);
  assert_int_equal(weft_kernel_tensors(NULL), 0);
  assert_null(weft_network_compile(s, NULL, NULL, NULL));
  assert_null(weft_network_run(s, NULL, NULL, NULL));
  assert_int_equal(weft_run_steps(NULL), 0);
  assert_int_equal(weft_run_totals(NULL, NULL), WEFT_USAGE);
  assert_null(weft_run_output(NULL, 0, NULL));
  assert_null(weft_search(s, NULL, NULL, NULL));
  assert_null(weft_answer_array(s, NULL));
  assert_int_equal(weft_sweep(s, NULL, NULL, NULL), WEFT_USAGE);
  assert_non_null(strstr(weft_isa_reference(), "mvin2"));
  assert_null(weft_query(s, NULL, NULL, NULL, 0));
  assert_false(weft_rows_next(s, NULL));
  assert_int_equal(weft_rows_columns(NULL), 0);
  assert_int_equal(weft_parameter_at(0, NULL), WEFT_USAGE);
  assert_int_equal(weft_session_status(NULL), WEFT_USAGE);
  weft_session_watch(NULL, NULL, NULL);
  weft_session_cancel(NULL);
  weft_kernel_destroy(NULL);
  weft_network_destroy(NULL);
  weft_run_destroy(NULL);
  weft_answer_destroy(NULL);
  weft_rows_close(NULL);
  weft_array_destroy(NULL);
  weft_session_destroy(NULL);
  weft_session_destroy(s);
}

// ---- networks

static void test_network(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_network *net = network(s, array);
  const weft_run_options options = {.size = sizeof options, .check = true};
  weft_run *run = weft_network_run(s, net, &options, NULL);
  expect(s, WEFT_OK);
  weft_totals totals = {.size = sizeof totals};
  assert_int_equal(weft_run_totals(run, &totals), WEFT_OK);
  assert_true(totals.compared > 0);
  assert_int_equal(totals.wrong, 0);
  assert_int_equal(totals.cycles, totals.array_cycles + totals.host_cycles + totals.edge_cycles + totals.both_cycles);
  uint64_t cycles = 0, macs = 0;
  for (size_t i = 0; i < weft_run_steps(run); i++) {
    weft_step step = {.size = sizeof step};
    assert_int_equal(weft_run_step(run, i, &step), WEFT_OK);
    assert_true(strcmp(step.kind, "array") == 0 || strcmp(step.kind, "host") == 0);
    cycles += step.cycles;
    macs += step.macs;
  }
  assert_int_equal(cycles, totals.cycles);
  assert_int_equal(macs, totals.macs);
  // The same inputs on another engine give the same output.
  weft_tensor in = {.size = sizeof in}, out = {.size = sizeof out};
  assert_int_equal(weft_network_inputs(net), 1);
  assert_int_equal(weft_network_input(net, 0, &in), WEFT_OK);
  int8_t *image = malloc(in.bytes);
  fill(image, in.bytes, 3);
  const void *const inputs[] = {image};
  weft_run *cycle = weft_network_run(s, net, NULL, inputs);
  expect(s, WEFT_OK);
  const weft_run_options on_ref = {.size = sizeof on_ref, .engine = "ref"};
  weft_run *ref = weft_network_run(s, net, &on_ref, inputs);
  expect(s, WEFT_OK);
  weft_network_destroy(net);  // runs keep what they show
  const void *first = weft_run_output(cycle, 0, &out), *second = weft_run_output(ref, 0, NULL);
  assert_int_equal(out.bytes, 1000);
  assert_memory_equal(first, second, out.bytes);
  assert_null(weft_run_output(ref, 1, NULL));
  free(image);
  weft_run_destroy(ref);
  weft_run_destroy(cycle);
  weft_run_destroy(run);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// Each of two images gives what it gives by itself; hart and array work at one time.
static void test_images(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_network_options options = {.size = sizeof options, .sequence = 32, .divisor = 4};
  weft_network *one = weft_network_compile(s, array, "gpt2-block", &options);
  expect(s, WEFT_OK);
  options.images = 2;
  options.overlap = true;
  weft_network *two = weft_network_compile(s, array, "gpt2-block", &options);
  expect(s, WEFT_OK);
  assert_int_equal(weft_network_inputs(two), 2);
  assert_int_equal(weft_network_outputs(two), 2);
  weft_tensor in = {.size = sizeof in}, out = {.size = sizeof out};
  assert_int_equal(weft_network_input(one, 0, &in), WEFT_OK);
  int8_t *images[2];
  for (size_t i = 0; i < 2; i++) fill(images[i] = malloc(in.bytes), in.bytes, 3 + (unsigned)i);
  const weft_run_options checked = {.size = sizeof checked, .check = true};
  weft_run *both = weft_network_run(s, two, &checked, (const void *const *)images);
  expect(s, WEFT_OK);
  weft_totals totals = {.size = sizeof totals};
  assert_int_equal(weft_run_totals(both, &totals), WEFT_OK);
  assert_int_equal(totals.wrong, 0);
  assert_true(totals.both_cycles > 0);
  assert_int_equal(totals.cycles, totals.array_cycles + totals.host_cycles + totals.edge_cycles + totals.both_cycles);
  for (size_t i = 0; i < 2; i++) {
    const void *const input[] = {images[i]};
    weft_run *alone = weft_network_run(s, one, NULL, input);
    expect(s, WEFT_OK);
    const void *result = weft_run_output(alone, 0, &out);
    assert_memory_equal(result, weft_run_output(both, i, NULL), out.bytes);
    weft_run_destroy(alone);
    free(images[i]);
  }
  options.images = 65;
  assert_null(weft_network_compile(s, array, "gpt2-block", &options));
  expect_message(s, WEFT_USAGE, "at most 64");
  weft_run_destroy(both);
  weft_network_destroy(two);
  weft_network_destroy(one);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_bad_networks(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  char path[] = "/tmp/weft-api-XXXXXX.onnx";
  const int file = mkstemps(path, 5);
  assert_true(file >= 0 && write(file, "\x08\x07\x12garbage", 10) == 10);
  close(file);
  assert_null(weft_network_compile(s, array, path, NULL));
  expect_message(s, WEFT_BAD_INPUT, path);
  unlink(path);
  assert_null(weft_network_compile(s, array, path, NULL));
  expect_message(s, WEFT_BAD_INPUT, path);
  assert_null(weft_network_compile(s, array, "resnet", NULL));
  expect_message(s, WEFT_BAD_INPUT, "resnet");
  const weft_network_options huge = {.size = sizeof huge, .image = 1u << 30, .batch = 1u << 30};
  assert_null(weft_network_compile(s, array, "resnet18", &huge));
  expect(s, WEFT_BAD_INPUT);
  const weft_network_options wide = {.size = sizeof wide, .image = UINT64_MAX};
  assert_null(weft_network_compile(s, array, "resnet18", &wide));
  expect(s, WEFT_USAGE);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- searches

static void test_search(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_search_options options = {.size = sizeof options, .starts = 8, .steps = 40, .threads = 1, .side_max = 32};
  weft_answer *answer = weft_search(s, array, "resnet50", &options);
  expect(s, WEFT_OK);
  weft_figures figures = {.size = sizeof figures};
  assert_int_equal(weft_answer_figures(answer, &figures), WEFT_OK);
  assert_true(figures.cycles > 0 && figures.energy_uj > 0 && figures.side <= 32);
  weft_array *found = weft_answer_array(s, answer);
  expect(s, WEFT_OK);
  assert_int_equal(weft_array_check(s, found), WEFT_OK);
  uint32_t kib;
  weft_array_get(s, found, "scratchpad.capacity_kib", &kib);
  assert_true(kib >= figures.scratchpad_kib);
  weft_array_destroy(found);
  weft_answer_destroy(answer);
  options.objective = "beauty";
  assert_null(weft_search(s, array, "resnet50", &options));
  expect_message(s, WEFT_USAGE, "edp");
  options.objective = NULL;
  options.max_area_mm2 = 1e-9;
  assert_null(weft_search(s, array, "resnet50", &options));
  expect(s, WEFT_CANNOT_BUILD);
  assert_null(weft_search(s, array, "resnet49", NULL));
  expect(s, WEFT_BAD_INPUT);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_simulated_search(void **state) {
  (void)state;
  static const char table[] = "name: two\nlayers:\n  - {name: a, P: 32, K: 32, C: 64}\n";
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  char path[] = "/tmp/weft-api-XXXXXX.yaml";
  const int file = mkstemps(path, 5);
  assert_true(file >= 0 && write(file, table, sizeof table - 1) == sizeof table - 1);
  close(file);
  const weft_search_options options = {
      .size = sizeof options, .simulate = true, .candidates = 3, .threads = 1, .max_seconds = 0.2};
  weft_answer *answer = weft_search(s, array, path, &options);
  unlink(path);
  expect(s, WEFT_OK);
  assert_int_equal(weft_answer_candidates(answer), 3);
  weft_candidate base = {.size = sizeof base};
  weft_figures figures = {.size = sizeof figures};
  assert_int_equal(weft_answer_candidate(answer, 0, &base), WEFT_OK);
  assert_string_equal(base.origin, "base: gemmini-default");
  assert_true(base.good && base.gain == 1);
  assert_int_equal(weft_answer_figures(answer, &figures), WEFT_OK);
  assert_true(figures.gain >= 1);
  weft_answer_destroy(answer);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- sweeps and stores

static const char sweep_text[] =
    "name: api\nbase: dim4\nparameters:\n  scratchpad.capacity_kib: [16, 32, 64]\nnetworks: [layers.yaml]\n";
static const char layers_text[] =
    "name: two\nlayers:\n  - {name: a, P: 16, K: 16, C: 32}\n  - {name: b, P: 9, K: 24, C: 16}\n";

static void enter_folder(void) {
  static char folder[] = "/tmp/weft-api-XXXXXX";
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  write_file("sweep.yaml", sweep_text);
  write_file("layers.yaml", layers_text);
}

static void leave_folder(void) {
  char folder[64];
  assert_non_null(getcwd(folder, sizeof folder));
  static const char *const files[] = {"sweep.yaml",
                                      "layers.yaml",
                                      "s.sqlite",
                                      "s.sqlite-lock",
                                      "page/index.html",
                                      "page/figures/points.csv",
                                      "page/figures/layers.csv",
                                      "page/figures/figures.gp",
                                      "page/figures",
                                      "page"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(files[i]);
  assert_int_equal(chdir("/"), 0);
  rmdir(folder);
}

static void expect_rows(weft_session *s, const char *condition, uint64_t limit, int64_t rows) {
  weft_rows *r = weft_query(s, "s.sqlite", condition, NULL, limit);
  expect(s, WEFT_OK);
  int64_t found = 0;
  double last = 0;
  size_t cycles = 0;
  while (cycles < weft_rows_columns(r) && strcmp(weft_rows_name(r, cycles), "cycles") != 0) cycles++;
  for (; weft_rows_next(s, r); found++) {
    assert_true(weft_rows_number(r, cycles) >= last);
    last = weft_rows_number(r, cycles);
  }
  expect(s, WEFT_OK);
  assert_int_equal(found, rows);
  assert_null(weft_rows_name(r, 1000));
  weft_rows_close(r);
}

static bool has_line(const char *path, const char *words) {
  FILE *in = fopen(path, "r");
  assert_non_null(in);
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  while (getline(&line, &room, in) >= 0) found |= strstr(line, words) != NULL;
  free(line);
  fclose(in);
  return found;
}

static void check_report(weft_session *s) {
  const weft_report_options page = {.size = sizeof page, .title = "of its own", .without_pictures = true};
  assert_int_equal(weft_report(s, "s.sqlite", "page", &page), WEFT_OK);
  assert_true(has_line("page/index.html", "{\"title\":\"of its own\""));
  assert_true(has_line("page/figures/points.csv", "network,point"));
  assert_int_equal(weft_report(s, "s.sqlite", "/dev/null/x", &page), WEFT_BAD_INPUT);
  assert_int_equal(weft_report(s, "s.sqlite", NULL, NULL), WEFT_USAGE);
}

static void test_sweep(void **state) {
  (void)state;
  weft_session *s = open_session();
  enter_folder();
  const weft_sweep_options options = {.size = sizeof options, .store = "s.sqlite", .jobs = 1};
  weft_sweep_result result = {.size = sizeof result};
  counting c = {.stop_at = 2};
  weft_session_watch(s, count, &c);
  assert_int_equal(weft_sweep(s, "sweep.yaml", &options, &result), WEFT_CANCELLED);
  assert_false(result.finished);
  assert_true(result.done < 6);
  const uint64_t before = result.done;
  weft_session_watch(s, NULL, NULL);
  assert_int_equal(weft_sweep(s, "sweep.yaml", &options, &result), WEFT_OK);
  assert_true(result.finished);
  assert_int_equal(result.measurements, 6);
  assert_int_equal(result.fresh, 6 - before);
  expect_rows(s, "order by cycles", 0, 3);
  expect_rows(s, "order by cycles", 2, 2);
  expect_rows(s, "cycles < 0", 0, 0);
  check_report(s);
  assert_null(weft_query(s, "s.sqlite", "no such words", NULL, 0));
  expect_message(s, WEFT_BAD_INPUT, "s.sqlite");
  assert_null(weft_query(s, "sweep.yaml", "", NULL, 0));
  expect(s, WEFT_BAD_INPUT);
  assert_int_equal(weft_sweep(s, "layers.yaml", &options, NULL), WEFT_BAD_INPUT);
  expect_message(s, WEFT_BAD_INPUT, "layers.yaml:");
  leave_folder();
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrays),      cmocka_unit_test(test_every_parameter),
      cmocka_unit_test(test_bad_arrays),  cmocka_unit_test(test_kernel_on_engines),
      cmocka_unit_test(test_times),       cmocka_unit_test(test_mapping),
      cmocka_unit_test(test_bad_kernels), cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_null),        cmocka_unit_test(test_network),
      cmocka_unit_test(test_images),      cmocka_unit_test(test_bad_networks),
      cmocka_unit_test(test_search),      cmocka_unit_test(test_simulated_search),
      cmocka_unit_test(test_sweep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
