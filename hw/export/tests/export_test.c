// SPDX-License-Identifier: Apache-2.0
// The written texts, read back: Scala fields and balance, JSON against the parameter table, YAML against the reader and
// the hash; which parameters the generator cannot express; and which directories are refused.
#include "hw/export/export.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/test.h"
#include "hw/export/tests/export_text.h"

// An array with every value off its default where the rules allow it.
static hw_array unusual(void) {
  static const char text[] =
      "name: odd-one\nisa: {revision: 2}\nmesh: {dataflow: ws, max_matmuls: 9, zero_skip: true}\n"
      "scratchpad: {read_pipeline: queue}\nstore: {order: completed}\nload: {scale_units: 0}\n"
      "dma: {writes_in_flight: 5, max_burst_bytes: 32}\n"
      "units: {transposer: false, loop_matmul: false, loop_conv: false, training_conv: false}\nhost: {divide_bits: "
      "2}\n";
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_parse(&array, "odd", text, strlen(text), &diag));
  return array;
}

// ---- Scala

// The fields of GemminiArrayConfig in v0.7.1.
static const char *const known_fields[] = {
    "opcodes",
    "inputType",
    "spatialArrayOutputType",
    "accType",
    "dataflow",
    "tileRows",
    "tileColumns",
    "meshRows",
    "meshColumns",
    "ld_queue_length",
    "st_queue_length",
    "ex_queue_length",
    "reservation_station_entries_ld",
    "reservation_station_entries_st",
    "reservation_station_entries_ex",
    "sp_banks",
    "sp_singleported",
    "sp_capacity",
    "spad_read_delay",
    "acc_banks",
    "acc_singleported",
    "acc_sub_banks",
    "acc_capacity",
    "acc_latency",
    "dma_maxbytes",
    "dma_buswidth",
    "shifter_banks",
    "aligned_to",
    "mvin_scale_args",
    "mvin_scale_acc_args",
    "mvin_scale_shared",
    "acc_scale_args",
    "acc_read_full_width",
    "acc_read_small_width",
    "use_dedicated_tl_port",
    "tlb_size",
    "use_tlb_register_filter",
    "max_in_flight_mem_reqs",
    "ex_read_from_spad",
    "ex_read_from_acc",
    "ex_write_to_spad",
    "ex_write_to_acc",
    "hardcode_d_to_garbage_addr",
    "use_shared_tlb",
    "tile_latency",
    "mesh_output_delay",
    "use_tree_reduction_if_possible",
    "num_counter",
    "has_training_convs",
    "has_max_pool",
    "has_nonlinear_activations",
    "has_dw_convs",
    "has_normalizations",
    "has_first_layer_optimizations",
    "use_firesim_simulation_counters",
    "use_shared_ext_mem",
    "clock_gate",
    "headerFileName",
};

static bool is_known(const char *field, size_t length) {
  for (size_t i = 0; i < sizeof known_fields / sizeof *known_fields; i++)
    if (strlen(known_fields[i]) == length && strncmp(known_fields[i], field, length) == 0) return true;
  return false;
}

static void check_balance(const char *text) {
  int round = 0, square = 0, curly = 0;
  for (const char *p = text; *p != '\0'; p++) {
    if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
    round += (*p == '(') - (*p == ')');
    square += (*p == '[') - (*p == ']');
    curly += (*p == '{') - (*p == '}');
    assert_true(round >= 0 && square >= 0 && curly >= 0);
  }
  assert_true(round == 0 && square == 0 && curly == 0);
}

// A field's value, as far as the line goes; fails if the field is not there.
static void expect_field(const char *text, const char *field, const char *value) {
  char line[128];
  snprintf(line, sizeof line, "\n    %s = %s", field, value);
  if (strstr(text, line) == NULL) fail_msg("no %s = %s in:\n%s", field, value, text);
}

static void scala_fields_are_known(void **state) {
  (void)state;
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    char *text = text_of(hw_export_scala, &array);
    check_balance(text);
    size_t fields = 0;
    for (const char *line = text; line != NULL; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
      const size_t length = strspn(line, "    ") == 4 ? strcspn(line + 4, " =\n") : 0;
      if (length == 0 || strncmp(line + 4 + length, " = ", 3) != 0) continue;
      if (!is_known(line + 4, length)) fail_msg("unknown field: %.*s", (int)length, line + 4);
      fields++;
    }
    assert_true(fields > 40);
    free(text);
  }
}

static void scala_says_the_default(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  char *text = text_of(hw_export_scala, &array);
  static const char *const expected[][2] = {
      {"meshRows", "16,"},
      {"meshColumns", "16,"},
      {"dataflow", "Dataflow.BOTH"},
      {"sp_capacity", "CapacityInKilobytes(256)"},
      {"sp_banks", "4,"},
      {"spatialArrayOutputType", "SInt(20.W)"},
      {"sp_singleported", "true,"},
      {"max_in_flight_mem_reqs", "16,"},
      {"acc_sub_banks", "1,"},
      {"reservation_station_entries_ex", "16,"},
      {"st_queue_length", "2,"},
      {"has_normalizations", "false,"},
      {"tlb_size", "4,"},
      {"hardcode_d_to_garbage_addr", "false,"},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) expect_field(text, expected[i][0], expected[i][1]);
  assert_non_null(strstr(text, "_.copy(latency = 8, num_scale_units = -1)"));
  assert_non_null(strstr(text, "_.copy(latency = 4, num_scale_units = 4)"));
  assert_non_null(strstr(text, "can express every parameter"));
  free(text);
}

// A new parameter must be given a field or a limit: changed to another value, it must show in the file.
static void no_parameter_is_dropped(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  char *before = text_of(hw_export_scala, &array);
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) {
    const uint32_t value = hw_param_get(&array, &params[i]);
    const uint32_t other = value != params[i].min ? params[i].min : value + 1;
    if (params[i].kind == HW_PARAM_ENUM && params[i].max == 0) continue;  // only one value
    hw_array changed = array;
    hw_param_set(&changed, &params[i], other);
    char *after = text_of(hw_export_scala, &changed);
    // The first line holds the hash, which always changes.
    if (strcmp(strchr(before, '\n'), strchr(after, '\n')) == 0)
      fail_msg("%s.%s has no effect", params[i].section, params[i].name);
    free(after);
  }
  free(before);
}

static void limits_are_named(void **state) {
  (void)state;
  const hw_array array = unusual();
  static const char *const lost[] = {
      "isa.revision",         "mesh.max_matmuls",    "mesh.zero_skip",    "scratchpad.read_pipeline",
      "store.order",          "units.transposer",    "units.loop_matmul", "units.loop_conv",
      "dma.writes_in_flight", "dma.max_burst_bytes", "host.divide_bits",
  };
  hw_export_limit limits[HW_EXPORT_LIMITS_MAX];
  const size_t count = hw_export_limits(&array, limits);
  assert_int_equal(count, sizeof lost / sizeof *lost);
  char *text = text_of(hw_export_scala, &array);
  for (size_t i = 0; i < count; i++) {
    char line[128];
    snprintf(line, sizeof line, "//   %s: ", lost[i]);
    if (strstr(text, line) == NULL) fail_msg("%s is not named", lost[i]);
  }
  expect_field(text, "mvin_scale_args", "None");
  free(text);
}

// ---- JSON and YAML

static void json_agrees_with_the_table(void **state) {
  (void)state;
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    cJSON *written = hw_export_json(&array);
    char *text = cJSON_Print(written);
    cJSON *document = cJSON_Parse(text);
    assert_non_null(document);
    size_t count;
    const hw_param *params = hw_params(&count);
    for (size_t p = 0; p < count; p++) {
      const cJSON *item = cJSON_GetObjectItemCaseSensitive(
          cJSON_GetObjectItemCaseSensitive(document, params[p].section), params[p].name);
      assert_non_null(item);
      char value[64];
      if (cJSON_IsString(item)) snprintf(value, sizeof value, "%s", item->valuestring);
      if (cJSON_IsBool(item)) snprintf(value, sizeof value, "%s", cJSON_IsTrue(item) ? "true" : "false");
      if (cJSON_IsNumber(item)) snprintf(value, sizeof value, "%.0f", item->valuedouble);
      uint32_t number;
      assert_true(hw_param_value(&params[p], value, &number));
      assert_int_equal(number, hw_param_get(&array, &params[p]));
    }
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(document, "derived");
    assert_int_equal(cJSON_GetArraySize(derived), sizeof(hw_derived) / sizeof(uint32_t));
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(derived, "sp_rows")->valueint, hw_derive(&array).sp_rows);
    cJSON_Delete(document);
    cJSON_free(text);
    cJSON_Delete(written);
  }
}

static void yaml_reads_back(void **state) {
  (void)state;
  const hw_array array = unusual();
  char *text = text_of(hw_export_yaml, &array);
  hw_array back;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_parse(&back, "array.yaml", text, strlen(text), &diag));
  assert_true(hw_array_hash(&back) == hw_array_hash(&array));
  free(text);
}

// ---- directories

typedef struct fixture {
  char directory[256];
  FILE *messages;
  wf_diag diag;
} fixture;

static int set_up(void **state) {
  fixture *f = WF_NEW(fixture);
  mkdir(WORK, 0777);
  snprintf(f->directory, sizeof f->directory, "%s/setXXXXXX", WORK);
  f->messages = tmpfile();
  f->diag = wf_diag_to(f->messages);
  *state = f;
  return mkdtemp(f->directory) != NULL && f->messages != NULL ? 0 : -1;
}

static int tear_down(void **state) {
  fixture *f = *state;
  char *command = wf_format("rm -rf '%s'", f->directory);
  const int code = system(command);
  wf_free(command);
  fclose(f->messages);
  wf_free(f);
  return code;
}

static char *in_directory(const fixture *f, const char *name) { return wf_format("%s/%s", f->directory, name); }

static void put(const fixture *f, const char *name, const char *text) {
  char *path = in_directory(f, name);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
  wf_free(path);
}

static bool exists(const fixture *f, const char *name) {
  char *path = in_directory(f, name);
  const bool there = access(path, F_OK) == 0;
  wf_free(path);
  return there;
}

static void an_empty_directory_is_filled(void **state) {
  fixture *f = *state;
  const hw_array array = builtin(0);
  size_t files;
  assert_true(hw_export_write(&array, f->directory, &files, &f->diag));
  assert_true(files > 8 && f->diag.warnings == 0);
  assert_true(exists(f, "array.json") && exists(f, "rtl/weft_isa_pkg.sv") && exists(f, "weft.f"));
}

static void a_foreign_directory_is_refused(void **state) {
  fixture *f = *state;
  const hw_array array = builtin(0);
  put(f, "thesis.tex", "text");
  assert_false(hw_export_write(&array, f->directory, NULL, &f->diag));
  put(f, "array.json", "{\"generator\": \"something else\"}");
  assert_false(hw_export_write(&array, f->directory, NULL, &f->diag));
  assert_int_equal(f->diag.errors, 2);
  assert_false(exists(f, "weft.f"));
}

static void a_second_call_replaces_the_first(void **state) {
  fixture *f = *state;
  hw_array array = builtin(0);
  assert_true(hw_export_write(&array, f->directory, NULL, &f->diag));
  // A file of an earlier version, one of the user, and a list that points outside.
  put(f, "rtl/old_unit.sv", "module old_unit; endmodule");
  put(f, "notes.txt", "mine");
  put(f, "array.json",
      "{\"generator\": \"weft rtl\", \"files\": [\"rtl/old_unit.sv\", \"../outside\", \"weft.f\", 3]}");
  char *outside = wf_format("%s/../outside", f->directory);
  FILE *out = fopen(outside, "w");
  assert_non_null(out);
  fclose(out);
  array = unusual();
  assert_true(hw_export_write(&array, f->directory, NULL, &f->diag));
  assert_int_equal(f->diag.warnings, 11);
  assert_false(exists(f, "rtl/old_unit.sv"));
  assert_true(exists(f, "notes.txt") && exists(f, "weft.f"));
  assert_int_equal(access(outside, F_OK), 0);
  unlink(outside);
  wf_free(outside);
}

static void a_file_in_the_way_is_an_error(void **state) {
  fixture *f = *state;
  const hw_array array = builtin(0);
  put(f, "file", "text");
  char *path = in_directory(f, "file");
  assert_false(hw_export_write(&array, path, NULL, &f->diag));
  assert_int_equal(f->diag.errors, 1);
  wf_free(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scala_fields_are_known),
      cmocka_unit_test(scala_says_the_default),
      cmocka_unit_test(no_parameter_is_dropped),
      cmocka_unit_test(limits_are_named),
      cmocka_unit_test(json_agrees_with_the_table),
      cmocka_unit_test(yaml_reads_back),
      cmocka_unit_test_setup_teardown(an_empty_directory_is_filled, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_foreign_directory_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_second_call_replaces_the_first, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_file_in_the_way_is_an_error, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
