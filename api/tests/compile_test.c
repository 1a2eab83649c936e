// SPDX-License-Identifier: Apache-2.0
// What compilations leave through libweft: files, texts, programs after passes, rows of stores; and what options of
// networks and technologies say.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/tests/session.h"

static const char arguments[] = "M=40,N=24,K=56";

static weft_kernel *compile_with(weft_session *s, const weft_array *array, weft_kernel_options options) {
  options.size = sizeof options;
  if (options.text == NULL && options.file == NULL) options.text = session_gemm;
  if (options.arguments == NULL && options.language == NULL) options.arguments = arguments;
  return weft_kernel_compile(s, array, &options);
}

static weft_kernel_facts facts_of(const weft_kernel *kernel) {
  weft_kernel_facts facts = {.size = sizeof facts};
  assert_int_equal(weft_kernel_describe(kernel, &facts), WEFT_OK);
  return facts;
}

static char *read_all(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = NULL;
  size_t length, got = 0;
  FILE *out = open_memstream(&text, &length);
  char buffer[4096];
  while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) fwrite(buffer, 1, got, out);
  fclose(out);
  fclose(file);
  return text;
}

// ---- files of kernels

// A file has what the text of its form has.
static void test_forms(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_kernel *kernel = compile(s, array, arguments);
  static const char *const forms[] = {"c", "trace", "lst", "command"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char path[32];
    snprintf(path, sizeof path, "kernel.%s", forms[i]);
    assert_int_equal(weft_kernel_write(s, kernel, path, NULL), WEFT_OK);
    char *text = weft_kernel_text(s, kernel, forms[i]), *written = read_all(path);
    assert_string_equal(text, written);
    weft_free(text);
    free(written);
    unlink(path);
  }
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// Commands that are written read back as the same program.
static void test_commands_read_back(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_kernel *kernel = compile(s, array, arguments);
  assert_int_equal(weft_kernel_write(s, kernel, "again.command", NULL), WEFT_OK);
  weft_kernel *again = compile_with(s, array, (weft_kernel_options){.file = "again.command", .language = "command"});
  expect(s, WEFT_OK);
  char *first = weft_kernel_text(s, kernel, "lst"), *second = weft_kernel_text(s, again, "lst");
  assert_string_equal(first, second);
  assert_true(facts_of(kernel).commands == facts_of(again).commands);
  assert_true(facts_of(kernel).nodes == facts_of(again).nodes && facts_of(kernel).nodes < facts_of(kernel).commands);
  weft_free(first);
  weft_free(second);
  unlink("again.command");
  weft_kernel_destroy(again);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_refusals(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_kernel *kernel = compile(s, array, arguments);
  assert_int_equal(weft_kernel_write(s, kernel, "kernel.txt", NULL), WEFT_USAGE);
  expect_message(s, WEFT_USAGE, "ends in .elf, .c, .trace, .lst or .command");
  assert_int_equal(weft_kernel_write(s, kernel, "no/such/kernel.c", NULL), WEFT_BAD_INPUT);
  assert_null(weft_kernel_text(s, kernel, "elf"));
  expect_message(s, WEFT_USAGE, "one of trace, c, lst, command, mapping-c");
  assert_int_equal(weft_kernel_write(s, NULL, "kernel.c", NULL), WEFT_USAGE);
  char *mapping = weft_kernel_text(s, kernel, "mapping-c");
  assert_non_null(mapping);
  weft_free(mapping);
  weft_kernel_destroy(kernel);
  assert_null(compile_with(s, array, (weft_kernel_options){.style = "both"}));
  expect_message(s, WEFT_USAGE, "one of primitive, loop");
  assert_null(compile_with(s, array, (weft_kernel_options){.tune = 2, .tune_with = "rtl"}));
  expect_message(s, WEFT_USAGE, "one of cycle, flow");
  assert_null(compile_with(s, array, (weft_kernel_options){.after = "fold"}));
  expect_message(s, WEFT_USAGE, "go together");
  assert_null(compile_with(s, array, (weft_kernel_options){.mapping = "x", .mapping_file = "y"}));
  expect_message(s, WEFT_USAGE, "exclude each other");
  assert_null(compile_with(s, array, (weft_kernel_options){.mapping_file = "no-such-mapping"}));
  expect_message(s, WEFT_BAD_INPUT, "no-such-mapping: error: ");
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- how kernels are compiled

static void keep_text(void *context, const char *text) {
  char **kept = context;
  free(*kept);
  *kept = strdup(text);
}

static void test_after(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  char *text = NULL;
  weft_kernel *kernel =
      compile_with(s, array, (weft_kernel_options){.after = "roll", .tell = keep_text, .context = &text});
  expect(s, WEFT_OK);
  char *commands = weft_kernel_text(s, kernel, "command");
  assert_string_equal(text, commands);
  weft_free(commands);
  free(text);
  weft_kernel_destroy(kernel);
  assert_null(compile_with(s, array, (weft_kernel_options){.after = "melt", .tell = keep_text, .context = &text}));
  expect_message(s, WEFT_USAGE, "no pass");
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// The unrollers of the hardware take far fewer commands.
static void test_style(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_kernel *plain = compile(s, array, "M=64,N=64,K=64"),
              *loop = compile_with(s, array, (weft_kernel_options){.style = "loop", .arguments = "M=64,N=64,K=64"});
  expect(s, WEFT_OK);
  assert_true(10 * facts_of(loop).commands < facts_of(plain).commands);
  assert_true(facts_of(plain).layer_macs == 64 * 64 * 64 && facts_of(plain).config == -1);
  weft_kernel_destroy(loop);
  weft_kernel_destroy(plain);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// A kernel whose blocks are open.
static weft_kernel_options open_blocks(void) {
  weft_file file = {.size = sizeof file};
  for (size_t i = 0; weft_file_at(i, &file) == WEFT_OK && strcmp(file.name, "gemm.py") != 0; i++) continue;
  return (weft_kernel_options){.file = "mine", .text = file.text, .arguments = "M=49,N=31,K=70,scale=0.01"};
}

// What tuning finds is in the store, and taken from there without tuning.
static void test_store(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  unlink("tuned.sqlite");
  weft_schedules *store = weft_schedules_open(s, "tuned.sqlite", true);
  weft_schedules_use use = {.size = sizeof use};
  weft_kernel_options options = open_blocks();
  options.schedules = store;
  options.tune = 6;
  weft_kernel *tuned = compile_with(s, array, options);
  expect(s, WEFT_OK);
  assert_int_equal(weft_schedules_used(store, &use), WEFT_OK);
  assert_true(use.added == 1 && use.known == 0);
  weft_schedule row = {.size = sizeof row};
  assert_int_equal(weft_schedules_at(store, 0, &row), WEFT_OK);
  assert_string_equal(row.origin, "mine");
  assert_string_equal(row.version, weft_version());
  options.tune = 0;
  weft_kernel *taken = compile_with(s, array, options);
  expect(s, WEFT_OK);
  weft_schedules_used(store, &use);
  assert_true(use.added == 1 && use.known == 1);
  assert_string_equal(weft_kernel_mapping(taken), weft_kernel_mapping(tuned));
  weft_kernel_destroy(taken);
  weft_kernel_destroy(tuned);
  weft_schedules_destroy(store);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- technologies

static weft_array_facts describe(const weft_array *array) {
  weft_array_facts facts = {.size = sizeof facts};
  assert_int_equal(weft_array_describe(array, &facts), WEFT_OK);
  return facts;
}

static double energy_of(weft_session *s, const weft_kernel *kernel) {
  weft_totals totals = {.size = sizeof totals};
  weft_run *run = weft_kernel_run(s, kernel, NULL, NULL);
  expect(s, WEFT_OK);
  weft_run_totals(run, &totals);
  weft_run_destroy(run);
  return totals.energy_uj;
}

// A kernel keeps the technology of the array that it was compiled for, which may be gone.
static void test_technology(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  const uint64_t hash = weft_array_hash(array);
  weft_kernel *usual = compile(s, array, arguments);
  assert_true(describe(array).energies && energy_of(s, usual) > 0);
  assert_int_equal(weft_array_technology(s, array, "no-such.yaml"), WEFT_BAD_INPUT);
  assert_int_equal(weft_array_technology(s, array, NULL), WEFT_USAGE);
  assert_true(describe(array).energies);
  write_file("none.yaml", "name: none\ndescription: none\nclock_pj:\n  pe: 1\n  hart: 1\n");
  assert_int_equal(weft_array_technology(s, array, "none.yaml"), WEFT_OK);
  assert_false(describe(array).energies);
  write_file("table.yaml",
             "name: mine\ndescription: mine\nenergy_pj:\n  mac: 7\n  registers: 7\n  accumulator: 7\n"
             "  accumulator_per_kib_of_column: 7\n  scratchpad: 7\n  scratchpad_per_kib: 7\n  dram: 7\n");
  assert_int_equal(weft_array_technology(s, array, "table.yaml"), WEFT_OK);
  weft_array *copy = weft_array_copy(array);
  weft_array_destroy(array);
  weft_kernel *other = compile(s, copy, arguments);
  assert_true(weft_array_hash(copy) == hash);
  weft_array_destroy(copy);
  assert_true(energy_of(s, other) > 0 && energy_of(s, other) != energy_of(s, usual));
  weft_kernel_destroy(other);
  weft_kernel_destroy(usual);
  weft_session_destroy(s);
}

// ---- networks

static weft_network *network_with(weft_session *s, const weft_array *array, weft_network_options options) {
  options.size = sizeof options;
  options.image = 32;
  options.divisor = 8;
  options.jobs = 1;
  return weft_network_compile(s, array, "resnet18", &options);
}

static uint64_t digest_of(weft_session *s, const weft_network *net) {
  weft_totals totals = {.size = sizeof totals};
  const weft_run_options options = {.size = sizeof options, .engine = "ref"};
  weft_run *run = weft_network_run(s, net, &options, NULL);
  expect(s, WEFT_OK);
  weft_run_totals(run, &totals);
  weft_run_destroy(run);
  return totals.digest;
}

static void test_network_text(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  weft_network *net = network(s, array);
  assert_int_equal(weft_network_write(s, net, "net.steps"), WEFT_OK);
  char *text = weft_network_text(s, net), *written = read_all("net.steps");
  assert_string_equal(text, written);
  assert_int_equal(weft_network_write(s, net, "net.txt"), WEFT_USAGE);
  weft_network_facts facts = {.size = sizeof facts};
  weft_network_describe(net, &facts);
  assert_true(facts.arena_least_bytes > 0 && facts.arena_least_bytes <= facts.arena_bytes);
  weft_free(text);
  free(written);
  unlink("net.steps");
  weft_network_destroy(net);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// Weights and inputs are those of the seed; NULL is that of 1.
static void test_seed(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  const uint64_t seeds[] = {1, 0};
  uint64_t digests[3];
  for (int i = 0; i < 3; i++) {
    weft_network *net = network_with(s, array, (weft_network_options){.seed = i == 0 ? NULL : &seeds[i - 1]});
    expect(s, WEFT_OK);
    digests[i] = digest_of(s, net);
    weft_network_destroy(net);
  }
  assert_true(digests[0] == digests[1] && digests[1] != digests[2]);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void test_network_options(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  const struct {
    weft_network_options options;
    weft_status status;
    const char *message;
  } cases[] = {
      {{.fuse = "some"}, WEFT_USAGE, "one of off, auto, all"},
      {{.fuse = "all", .overlap = true}, WEFT_USAGE, "overlap excludes fuse"},
      {{.normaliser = "on"}, WEFT_USAGE, "has none that networks can use"},
      {{.cache = "int2"}, WEFT_USAGE, "one of int8, int4"},
      {{.cache = "int4"}, WEFT_USAGE, "dim8 loads no packed int4 (load.packed_int4)"},
      {{.calibration = "mean"}, WEFT_USAGE, "one of minmax, percentile"},
      {{.samples_from = "no-such-folder"}, WEFT_BAD_INPUT, "no-such-folder"},
      {{.keep_float = (const char *const[]){"nowhere"}, .keep_count = 1}, WEFT_BAD_INPUT, "nowhere"},
      {{.input_files = (const char *const[]){"nowhere.npy"}, .input_count = 1}, WEFT_BAD_INPUT, "nowhere.npy"},
      {{.mappings = "no-such-file"}, WEFT_BAD_INPUT, "no-such-file"},
      {{.picture_deviation = {1, 0, 1}}, WEFT_USAGE, "deviations"},
      {{.keep_count = 1}, WEFT_USAGE, "NULL"},
      {{.prune = "some"}, WEFT_BAD_INPUT, "some"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_null(network_with(s, array, cases[i].options));
    expect_message(s, cases[i].status, cases[i].message);
  }
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// An input from a file is that of the run, and one more file than inputs is refused.
static void test_input_files(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "dim8");
  enum { HEADER = 128, BYTES = 3 * 32 * 32 };
  char file[HEADER + BYTES];
  memset(file, ' ', HEADER);
  memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  const char head[] = "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 32, 32, 3), }";
  memcpy(file + 10, head, sizeof head - 1);
  file[HEADER - 1] = '\n';
  int8_t *image = (int8_t *)file + HEADER;
  fill(image, BYTES, 3);
  write_bytes("image.npy", file, sizeof file);
  const char *const files[] = {"image.npy", "image.npy"};
  weft_network *given = network_with(s, array, (weft_network_options){.input_files = files, .input_count = 1}),
               *usual = network(s, array);
  assert_non_null(given);
  const weft_run_options options = {.size = sizeof options, .engine = "ref"};
  const void *inputs[] = {image};
  weft_run *run = weft_network_run(s, usual, &options, inputs);
  weft_totals totals = {.size = sizeof totals};
  weft_run_totals(run, &totals);
  assert_true(digest_of(s, given) == totals.digest && digest_of(s, usual) != totals.digest);
  weft_run_destroy(run);
  weft_network_destroy(usual);
  weft_network_destroy(given);
  assert_null(network_with(s, array, (weft_network_options){.input_files = files, .input_count = 2}));
  expect_message(s, WEFT_BAD_INPUT, "image.npy,image.npy: error: the network has 1 inputs");
  weft_array_destroy(array);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms),       cmocka_unit_test(test_commands_read_back),
      cmocka_unit_test(test_refusals),    cmocka_unit_test(test_after),
      cmocka_unit_test(test_style),       cmocka_unit_test(test_store),
      cmocka_unit_test(test_technology),  cmocka_unit_test(test_network_text),
      cmocka_unit_test(test_seed),        cmocka_unit_test(test_network_options),
      cmocka_unit_test(test_input_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
