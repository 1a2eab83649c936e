// SPDX-License-Identifier: Apache-2.0
// The table, the derived numbers, the built-in arrays, the canonical text and the hash.
// Expected numbers are Gemmini's published configuration and measured latencies, written out here on purpose.
#include "hw/array.h"

#include "base/test.h"

typedef struct expected_parameter {
  const char *name, *text;
} expected_parameter;

static hw_array default_array(void) {
  hw_array array;
  hw_array_default(&array);
  return array;
}

static hw_array builtin(const char *name) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  assert_int_equal(diag.warnings, 0);
  return array;
}

static char *printed(const hw_array *array) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  hw_array_print(array, out);
  fclose(out);
  return text;
}

static void assert_parameters(const hw_array *array, const expected_parameter *expected, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const hw_param *param = hw_param_find(expected[i].name);
    char text[32];
    assert_non_null(param);
    hw_param_text(param, hw_param_get(array, param), text, sizeof text);
    if (strcmp(text, expected[i].text) != 0) fail_msg("%s is %s, not %s", expected[i].name, text, expected[i].text);
  }
}
#define ASSERT_PARAMETERS(array, list) assert_parameters(array, list, sizeof list / sizeof *list)

static void default_is_gemminis(void **state) {
  (void)state;
  static const expected_parameter expected[] = {
      {"isa.revision", "1"},
      {"mesh.rows", "16"},
      {"mesh.columns", "16"},
      {"mesh.tile_rows", "1"},
      {"mesh.tile_columns", "1"},
      {"mesh.dataflow", "both"},
      {"mesh.tile_latency", "0"},
      {"mesh.output_delay", "1"},
      {"mesh.bias_garbage", "false"},
      {"types.input", "int8"},
      {"types.accumulator", "int32"},
      {"types.output_bits", "20"},
      {"scratchpad.capacity_kib", "256"},
      {"scratchpad.banks", "4"},
      {"scratchpad.single_ported", "true"},
      {"scratchpad.read_delay", "4"},
      {"scratchpad.execute_writes", "true"},
      {"accumulator.capacity_kib", "64"},
      {"accumulator.banks", "2"},
      {"accumulator.single_ported", "false"},
      {"accumulator.latency", "2"},
      {"accumulator.execute_reads", "true"},
      {"accumulator.execute_writes", "true"},
      {"accumulator.full_reads", "true"},
      {"accumulator.narrow_reads", "true"},
      {"accumulator.scale_units", "0"},
      {"accumulator.scale_latency", "8"},
      {"load.queue", "8"},
      {"store.queue", "2"},
      {"execute.queue", "8"},
      {"load.reservation_entries", "8"},
      {"store.reservation_entries", "4"},
      {"execute.reservation_entries", "16"},
      {"load.scale_units", "4"},
      {"load.scale_latency", "4"},
      {"dma.bus_bits", "128"},
      {"dma.max_burst_bytes", "64"},
      {"dma.reads_in_flight", "16"},
      {"dma.writes_in_flight", "16"},
      {"dma.tlb_entries", "4"},
      {"units.max_pool", "true"},
      {"units.activation", "true"},
      {"units.normaliser", "false"},
      {"units.training_conv", "true"},
      {"units.depthwise_conv", "true"},
      {"units.pixel_repeat", "true"},
      {"units.counters", "8"},
      {"l2.capacity_kib", "512"},
      {"l2.ways", "8"},
      {"l2.line_bytes", "64"},
  };
  hw_array array = default_array();
  ASSERT_PARAMETERS(&array, expected);
  assert_string_equal(array.name, "gemmini-default");
}

static void chip_and_lean_are_gemminis(void **state) {
  (void)state;
  static const expected_parameter chip[] = {
      {"mesh.dataflow", "ws"},
      {"mesh.output_delay", "2"},
      {"mesh.bias_garbage", "true"},
      {"scratchpad.capacity_kib", "64"},
      {"accumulator.capacity_kib", "32"},
      {"accumulator.scale_latency", "4"},
      {"accumulator.sub_banks", "2"},
      {"accumulator.single_ported", "true"},
      {"dma.reads_in_flight", "16"},
      {"accumulator.execute_reads", "false"},
      {"accumulator.full_reads", "true"},
      {"scratchpad.execute_writes", "false"},
  };
  static const expected_parameter lean[] = {
      {"mesh.dataflow", "ws"},
      {"mesh.output_delay", "1"},
      {"mesh.bias_garbage", "true"},
      {"scratchpad.capacity_kib", "256"},
      {"accumulator.capacity_kib", "64"},
      {"accumulator.full_reads", "false"},
      {"dma.reads_in_flight", "64"},
      {"accumulator.execute_reads", "false"},
      {"dma.writes_in_flight", "64"},
      {"scratchpad.execute_writes", "false"},
  };
  hw_array array = builtin("gemmini-chip");
  ASSERT_PARAMETERS(&array, chip);
  array = builtin("gemmini-lean");
  ASSERT_PARAMETERS(&array, lean);
}

static void default_derives_gemminis_constants(void **state) {
  (void)state;
  hw_array array = default_array();
  hw_derived d = hw_derive(&array);
  assert_int_equal(d.dim, 16);
  assert_int_equal(d.sp_rows, 16384);
  assert_int_equal(d.sp_bank_rows, 4096);
  assert_int_equal(d.acc_rows, 1024);
  assert_int_equal(d.acc_bank_rows, 512);
  assert_int_equal(d.row_bits, 14);
  assert_int_equal(d.input_bytes, 1);
  assert_int_equal(d.acc_bytes, 4);
  assert_int_equal(d.sp_row_bytes, 16);
  assert_int_equal(d.acc_row_bytes, 64);
  assert_int_equal(d.max_block_len, 4);
  assert_int_equal(d.max_block_len_acc, 1);
  assert_int_equal(d.max_cols, 64);
  assert_int_equal(d.max_cols_acc, 16);
  assert_int_equal(d.mesh_latency, 33);
  assert_int_equal(d.max_matmuls, 5);
  assert_int_equal(d.load_commands_tracked, 2);
  assert_int_equal(d.store_commands_tracked, 2);
  assert_int_equal(d.norm_stats, 4);
}

static void derived_numbers_follow_parameters(void **state) {
  (void)state;
  hw_array array = default_array();
  array.isa.revision = 2;
  array.mesh.rows = array.mesh.columns = 4;
  array.mesh.tile_rows = array.mesh.tile_columns = 8;
  array.mesh.tile_latency = 1;
  array.mesh.output_delay = 2;
  array.dma.reads_in_flight = 64;
  array.dma.writes_in_flight = 31;
  hw_derived d = hw_derive(&array);
  assert_int_equal(d.dim, 32);
  assert_int_equal(d.mesh_latency, 4 * 2 + 31 + 1 + 2);
  assert_int_equal(d.max_matmuls, 4);  // 42 cycles are a product and a part of the next
  assert_int_equal(d.max_block_len, 2);
  assert_int_equal(d.max_block_len_acc, 1);  // a row is two bursts, still one block
  assert_int_equal(d.max_cols_acc, 32);
  assert_int_equal(d.load_commands_tracked, 3);
  assert_int_equal(d.store_commands_tracked, 1);
  assert_int_equal(d.norm_stats, 2);
  array.mesh.max_matmuls = 9;
  assert_int_equal(hw_derive(&array).max_matmuls, 9);
  array.scratchpad.capacity_kib = 32;
  array.accumulator.capacity_kib = 1024;
  assert_int_equal(hw_derive(&array).row_bits, 13);  // of the accumulator's 8192 rows
}

static void enumerations_match_the_table(void **state) {
  (void)state;
  static const struct {
    const char *param, *value;
    uint32_t index;
  } cases[] = {
      {"mesh.dataflow", "ws", HW_DATAFLOW_WS},
      {"mesh.dataflow", "os", HW_DATAFLOW_OS},
      {"mesh.dataflow", "both", HW_DATAFLOW_BOTH},
      {"scratchpad.read_pipeline", "fixed", HW_READ_PIPELINE_FIXED},
      {"scratchpad.read_pipeline", "queue", HW_READ_PIPELINE_QUEUE},
      {"store.order", "issued", HW_STORE_ORDER_ISSUED},
      {"store.order", "completed", HW_STORE_ORDER_COMPLETED},
      {"host.branch_prediction", "tables", HW_PREDICTION_TABLES},
      {"host.branch_prediction", "none", HW_PREDICTION_NONE},
      {"memory.model", "fixed", HW_MEMORY_FIXED},
      {"memory.model", "ddr3", HW_MEMORY_DDR3},
      {"memory.model", "ddr4", HW_MEMORY_DDR4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t value;
    assert_true(hw_param_value(hw_param_find(cases[i].param), cases[i].value, &value));
    assert_int_equal(value, cases[i].index);
  }
}

static void parameters_are_found_by_their_whole_name(void **state) {
  (void)state;
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) {
    char name[128];
    snprintf(name, sizeof name, "%s.%s", params[i].section, params[i].name);
    assert_ptr_equal(hw_param_find(name), &params[i]);
  }
  static const char *const wrong[] = {"",         ".",        "mesh",       "mesh.",   ".rows",
                                      "mes.rows", "mesh.row", "mesh.rowsx", "meshrows"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_null(hw_param_find(wrong[i]));
}

static void values_are_exactly_the_files_words(void **state) {
  (void)state;
  static const expected_parameter wrong[] = {
      {"mesh.rows", "0"},
      {"mesh.rows", "256"},
      {"mesh.rows", "3"},
      {"mesh.rows", "016"},
      {"mesh.rows", "+16"},
      {"mesh.rows", "16 "},
      {"mesh.rows", ""},
      {"mesh.rows", "0x10"},
      {"load.queue", "65"},
      {"load.queue", "4294967297"},
      {"load.queue", "-1"},
      {"load.queue", "1e1"},
      {"units.activation", "yes"},
      {"units.activation", "1"},
      {"units.activation", "True"},
      {"mesh.dataflow", "2"},
      {"mesh.dataflow", "bot"},
      {"mesh.dataflow", "ws|os"},
      {"mesh.dataflow", ""},
      {"load.queue", "18446744073709551617"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint32_t value = 77;
    assert_false(hw_param_value(hw_param_find(wrong[i].name), wrong[i].text, &value));
    assert_int_equal(value, 77);
  }
}

// Another value of the parameter than its default; the default where there is no other.
static uint32_t other_value(const hw_param *param) { return param->initial != param->max ? param->max : param->min; }

static void every_parameter_changes_the_hash(void **state) {
  (void)state;
  size_t count, used = 0;
  const hw_param *params = hw_params(&count);
  uint64_t *hashes = calloc(count + 1, sizeof *hashes);
  hw_array array = default_array();
  hashes[used++] = hw_array_hash(&array);
  for (size_t i = 0; i < count; i++) {
    if (params[i].min == params[i].max) continue;
    hw_param_set(&array, &params[i], other_value(&params[i]));
    assert_int_equal(hw_param_get(&array, &params[i]), other_value(&params[i]));
    hashes[used++] = hw_array_hash(&array);
    hw_param_set(&array, &params[i], params[i].initial);
  }
  assert_int_equal(used, count + 1 - 2);  // types.input and types.accumulator have one value
  assert_true(hw_array_hash(&array) == hashes[0]);
  for (size_t i = 0; i < used; i++) {
    for (size_t j = 0; j < i; j++) assert_true(hashes[i] != hashes[j]);
  }
  free(hashes);
}

// The hash is stamped on binaries and result rows: these values must never change.
static void hash_is_fixed_for_ever(void **state) {
  (void)state;
  hw_array array = default_array();
  assert_true(hw_array_hash(&array) == UINT64_C(0xe2ba4f793c68f901));
  array.mesh.dataflow = HW_DATAFLOW_WS;
  array.units.normaliser = true;
  array.load.queue = 3;
  assert_true(hw_array_hash(&array) == UINT64_C(0xa695868a0d8fc060));
  snprintf(array.name, sizeof array.name, "other");
  snprintf(array.description, sizeof array.description, "other");
  assert_true(hw_array_hash(&array) == UINT64_C(0xa695868a0d8fc060));
}

static void hash_ignores_the_order_of_keys(void **state) {
  (void)state;
  static const char one[] = "mesh: {rows: 8, columns: 8}\nload: {queue: 2}\n";
  static const char two[] = "load:\n  queue: 2\nmesh:\n  columns: 8\n  rows: 8\n  tile_rows: 1\nname: x\n";
  hw_array a, b;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_parse(&a, "one", one, strlen(one), &diag));
  assert_true(hw_array_parse(&b, "two", two, strlen(two), &diag));
  assert_true(hw_array_hash(&a) == hw_array_hash(&b));
  assert_string_equal(a.name, "unnamed");
  assert_string_equal(b.name, "x");
}

static void assert_survives_print(const hw_array *array) {
  char *text = printed(array);
  hw_array again;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_parse(&again, "printed", text, strlen(text), &diag));
  char *text_again = printed(&again);
  assert_string_equal(text, text_again);
  assert_string_equal(array->description, again.description);
  assert_true(hw_array_hash(array) == hw_array_hash(&again));
  free(text);
  free(text_again);
}

static void builtins_are_good_and_survive_print(void **state) {
  (void)state;
  assert_string_equal(hw_builtin_name(0), "gemmini-default");
  size_t count = 0;
  for (const char *name; (name = hw_builtin_name(count)) != NULL; count++) {
    hw_array array = builtin(name);
    wf_diag diag = wf_diag_to(stderr);
    assert_string_equal(array.name, name);
    assert_true(array.description[0] != '\0');
    assert_non_null(strstr(hw_builtin_yaml(count), array.description));
    assert_true(hw_array_check(&array, NULL, &diag));
    assert_survives_print(&array);
  }
  assert_int_equal(count, 15);
  assert_null(hw_builtin_yaml(count));
}

static void sizes_are_what_their_names_say(void **state) {
  (void)state;
  for (uint32_t dim = 2; dim <= 128; dim *= 2) {
    char name[16];
    snprintf(name, sizeof name, "dim%u", dim);
    hw_array array = builtin(name);
    assert_int_equal(hw_derive(&array).dim, dim);
  }
  hw_array dim16 = builtin("dim16"), reference = default_array();
  assert_true(hw_array_hash(&dim16) == hw_array_hash(&reference));
}

static void odd_descriptions_survive_print(void **state) {
  (void)state;
  static const char *const odd[] = {
      "",
      "\"quoted\" \\ back",
      "two\nlines",
      "tab\tbell\x07",
      "# no comment: [a, b] &c *d",
      "~",
      "caf\xc3\xa9 \xf0\x9f\x98\x80",
      " spaced ",
      "\xe2\x80\xa8 line separator",
      "\xef\xbb\xbf mark \xc2\x85 next line",
  };
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    hw_array array = default_array();
    snprintf(array.description, sizeof array.description, "%s", odd[i]);
    assert_survives_print(&array);
  }
}

static void every_parameter_is_printed(void **state) {
  (void)state;
  size_t count;
  const hw_param *params = hw_params(&count);
  hw_array array = default_array();
  for (size_t i = 0; i < count; i++) hw_param_set(&array, &params[i], other_value(&params[i]));
  char *text = printed(&array);
  for (size_t i = 0; i < count; i++) {
    char line[128], value[32];
    hw_param_text(&params[i], other_value(&params[i]), value, sizeof value);
    snprintf(line, sizeof line, "\n  %s: %s\n", params[i].name, value);
    if (strstr(text, line) == NULL) fail_msg("no line%s in\n%s", line, text);
  }
  free(text);
}

// Every YAML example of the concept page is a good description.
static void examples_of_the_page_are_good(void **state) {
  (void)state;
  static const char start[] = "```yaml\n";
  char page[32768];
  FILE *in = fopen(CONCEPT_PAGE, "rb");
  assert_non_null(in);
  size_t length = fread(page, 1, sizeof page - 1, in);
  fclose(in);
  assert_true(length < sizeof page - 1);
  page[length] = '\0';
  size_t examples = 0;
  for (const char *p = page; (p = strstr(p, start)) != NULL; examples++) {
    p += strlen(start);
    hw_array array;
    wf_diag diag = wf_diag_to(stderr);
    assert_true(hw_array_parse(&array, "docs/array.md", p, (size_t)(strstr(p, "```") - p), &diag));
    assert_int_equal(diag.warnings, 0);
  }
  assert_true(examples > 0);
}

// The committed page is what the table says; `weft_array_header --parameters docs/array-parameters.md` renews it.
static void committed_table_is_the_generated_one(void **state) {
  (void)state;
  char *generated = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&generated, &length);
  assert_true(hw_write_markdown(out));
  fclose(out);
  FILE *in = fopen(PARAMETER_PAGE, "rb");
  assert_non_null(in);
  char *committed = calloc(length + 2, 1);
  size_t committed_length = fread(committed, 1, length + 1, in);
  fclose(in);
  assert_int_equal(committed_length, length);
  assert_string_equal(committed, generated);
  free(committed);
  free(generated);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(default_is_gemminis),
      cmocka_unit_test(chip_and_lean_are_gemminis),
      cmocka_unit_test(default_derives_gemminis_constants),
      cmocka_unit_test(derived_numbers_follow_parameters),
      cmocka_unit_test(enumerations_match_the_table),
      cmocka_unit_test(parameters_are_found_by_their_whole_name),
      cmocka_unit_test(values_are_exactly_the_files_words),
      cmocka_unit_test(every_parameter_changes_the_hash),
      cmocka_unit_test(hash_is_fixed_for_ever),
      cmocka_unit_test(hash_ignores_the_order_of_keys),
      cmocka_unit_test(builtins_are_good_and_survive_print),
      cmocka_unit_test(sizes_are_what_their_names_say),
      cmocka_unit_test(odd_descriptions_survive_print),
      cmocka_unit_test(every_parameter_is_printed),
      cmocka_unit_test(examples_of_the_page_are_good),
      cmocka_unit_test(committed_table_is_the_generated_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
